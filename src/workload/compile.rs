//! Compiles a workload: tables into locks and the like, phases into steps, names into numbers.
//! Linear in events and instances.

use std::collections::HashMap;
use std::sync::Arc;

use super::Workload;
use super::lab::Action;
use super::names::{Names, Targets, thread_name};
use super::task::{Asked, Event, PhaseChange, Task};
use crate::model::kernel::Settings;
use crate::model::machine::{Control, Machine, Protocol};
use crate::model::program::{Program, Step};
use crate::model::task::{Scheduling, TaskSpec};
use crate::model::units::{
    BarrierId, CondId, CpuId, LockId, Ns, SemId, TaskId, TemplateId, TimerId,
};

/// Puts a workload on a machine.
pub(super) struct Compiler<'w> {
    workload: &'w Workload,
    pub machine: Machine,
    pub names: Names,
    /// By index in `timers`; those of a task alone are made with it.
    timers: Vec<TimerId>,
    /// Conditions whose name is also a mutex's.
    guarded: Vec<Option<u32>>,
    /// First task of each description.
    first: Vec<TaskId>,
}

impl<'w> Compiler<'w> {
    pub fn new(workload: &'w Workload, settings: Settings) -> Compiler<'w> {
        Compiler {
            workload,
            machine: Machine::new(settings),
            names: Names::default(),
            timers: Vec::new(),
            guarded: Vec::new(),
            first: Vec::new(),
        }
    }

    /// Locks, tasks and all the like.
    pub fn run(&mut self) {
        let w = self.workload;
        let default = if w.pi_enabled {
            Protocol::Inherit
        } else {
            Protocol::None
        };
        let mut locks = HashMap::new();
        for (n, lock) in w.locks.iter().enumerate() {
            self.machine.add_lock(lock.protocol.unwrap_or(default));
            self.names.locks.push(lock.name.clone());
            locks.insert(lock.name.as_str(), n as u32);
        }
        for condition in &w.conditions {
            self.machine.add_condition();
            self.names.conditions.push(condition.clone());
            self.guarded.push(locks.get(condition.as_str()).copied());
        }
        let (users, starts) = self.uses();
        for (barrier, users) in w.barriers.iter().zip(users) {
            // Only forks come here: rt-app lets them wait for ever.
            self.machine
                .add_barrier(if users == 0 { u32::MAX } else { users });
            self.names.barriers.push(barrier.clone());
        }
        for semaphore in &w.semaphores {
            self.machine.add_semaphore(0);
            self.names.semaphores.push(semaphore.clone());
        }
        for start in starts {
            let timer = self.machine.add_timer_from(start);
            self.timers.push(timer);
        }
        let by_name: HashMap<&str, &Task> = w.tasks.iter().map(|t| (t.name.as_str(), t)).collect();
        for name in &w.forks {
            let Some(task) = by_name.get(name.as_str()) else {
                continue;
            };
            let program = self.program(task);
            self.machine.add_template(TaskSpec {
                scheduling: task.asked.map(|asked| asked.scheduling),
                cpu: task.cpu.map(CpuId),
                program,
                resume_at: None,
            });
            self.names.templates.push((name.clone(), task.instances));
        }
        for task in &w.tasks {
            self.first.push(TaskId(self.names.tasks.len() as u32));
            let own_timers = task
                .phases
                .iter()
                .flat_map(|p| &p.events)
                .any(|e| matches!(e, Event::Timer { timer, .. } if w.timers[*timer as usize].is_unique()));
            let mut program = None;
            for n in 0..task.instances {
                if own_timers || program.is_none() {
                    program = Some(self.program(task));
                }
                self.machine.add_task(TaskSpec {
                    scheduling: Some(w.start_of(task).scheduling),
                    cpu: Some(CpuId(task.cpu.unwrap_or(0))),
                    program: program.clone().unwrap_or_default(),
                    resume_at: None,
                });
                self.names
                    .tasks
                    .push(thread_name(&task.name, task.instances, n));
            }
        }
    }

    /// Users of each barrier, and when each timer starts.
    ///
    /// rt-app counts every use of a barrier by every thread of time zero. A timer starts with
    /// the task that uses it, delay included; a shared one with the first of them.
    fn uses(&self) -> (Vec<u32>, Vec<Ns>) {
        let mut users = vec![0u32; self.workload.barriers.len()];
        let mut starts = vec![Ns::NEVER; self.workload.timers.len()];
        for task in &self.workload.tasks {
            for event in task.phases.iter().flat_map(|p| &p.events) {
                match *event {
                    Event::Barrier(n) => {
                        let users = &mut users[n as usize];
                        *users = users.saturating_add(task.instances);
                    }
                    Event::Timer { timer, .. } => {
                        let start = &mut starts[timer as usize];
                        *start = task.delay.min(*start);
                    }
                    _ => {}
                }
            }
        }
        (users, starts)
    }

    /// The steps of a thread of a task.
    fn program(&mut self, task: &Task) -> Program {
        let w = self.workload;
        let mut own: HashMap<u32, TimerId> = HashMap::new();
        for event in task.phases.iter().flat_map(|p| &p.events) {
            if let Event::Timer { timer, .. } = *event
                && w.timers[timer as usize].is_unique()
            {
                own.entry(timer)
                    .or_insert_with(|| self.machine.add_timer_from(task.delay));
            }
        }
        let mut steps = Vec::new();
        if task.delay.0 > 0 {
            steps.push(Step::SleepUntil(task.delay));
        }
        looped(&mut steps, task.rounds, None, |steps| {
            for phase in &task.phases {
                match phase.change {
                    Some(PhaseChange::Nice(nice)) => steps.push(Step::SetNice { task: None, nice }),
                    Some(PhaseChange::Policy(asked)) => {
                        steps.push(Step::SetScheduler(asked.scheduling))
                    }
                    None => {}
                }
                looped(steps, phase.rounds, phase.until, |steps| {
                    for event in &phase.events {
                        self.event(*event, &own, steps);
                    }
                });
            }
        });
        Arc::from(steps)
    }

    fn event(&self, event: Event, own: &HashMap<u32, TimerId>, steps: &mut Vec<Step>) {
        let mutex = |mutex: Option<u32>| mutex.map(LockId);
        match event {
            Event::Run(ns) => steps.push(Step::Run(ns)),
            Event::Runtime(ns) => steps.push(Step::Runtime(ns)),
            Event::Sleep(ns) => steps.push(Step::Sleep(ns)),
            Event::Timer { timer, period } => steps.push(Step::Timer {
                timer: own
                    .get(&timer)
                    .copied()
                    .unwrap_or(self.timers[timer as usize]),
                period,
                relative: !self.workload.timers[timer as usize].absolute,
            }),
            Event::Lock(n) => steps.push(Step::Lock(LockId(n))),
            Event::LockTimed { lock, timeout } => steps.push(Step::LockTimed {
                lock: LockId(lock),
                timeout,
            }),
            Event::Unlock(n) => steps.push(Step::Unlock(LockId(n))),
            Event::Wait {
                condition,
                mutex: m,
            } => steps.push(Step::Wait {
                cond: CondId(condition),
                mutex: mutex(m),
            }),
            Event::Signal(n) => steps.push(Step::Signal(CondId(n))),
            Event::Broad(n) => steps.push(Step::Broadcast(CondId(n))),
            Event::Sync {
                condition,
                mutex: m,
            } => steps.push(Step::Sync {
                cond: CondId(condition),
                mutex: mutex(m),
            }),
            Event::Barrier(n) => steps.push(Step::Barrier(BarrierId(n))),
            // rt-app holds the mutex of the same name around both. It is free but for the
            // instant, unless events lock it too.
            Event::Suspend(n) => match self.guarded[n as usize] {
                None => steps.push(Step::Suspend(CondId(n))),
                Some(guard) => steps.extend([
                    Step::Lock(LockId(guard)),
                    Step::Wait {
                        cond: CondId(n),
                        mutex: Some(LockId(guard)),
                    },
                    Step::Unlock(LockId(guard)),
                ]),
            },
            Event::Resume(n) => match self.guarded[n as usize] {
                None => steps.push(Step::Resume(CondId(n))),
                Some(guard) => steps.extend([
                    Step::Lock(LockId(guard)),
                    Step::Resume(CondId(n)),
                    Step::Unlock(LockId(guard)),
                ]),
            },
            Event::SemPost(n) => steps.push(Step::SemPost(SemId(n))),
            Event::SemWait(n) => steps.push(Step::SemWait(SemId(n))),
            Event::Yield => steps.push(Step::Yield),
            Event::Fork(n) => steps.push(Step::Fork(TemplateId(n))),
            Event::Mem(_) | Event::IoRun(_) => {}
        }
    }

    /// Changes from outside. A policy without a nice level keeps the one that is in force.
    pub fn controls(&mut self, targets: &Targets) {
        let w = self.workload;
        let mut in_order: Vec<_> = w.controls.iter().collect();
        in_order.sort_by_key(|change| change.at);
        let mut nice: Vec<Option<i32>> = vec![None; self.names.tasks.len()];
        for change in in_order {
            if let Action::Pi(variant) = change.action {
                self.machine.control(change.at, Control::Variant(variant));
                continue;
            }
            let Some((number, one)) = change.action.task().and_then(|t| targets.get(t)) else {
                continue;
            };
            let task = &w.tasks[number];
            let start = w.start_of(task).scheduling;
            let threads = match one {
                Some(n) => n..n + 1,
                None => 0..task.instances,
            };
            for n in threads {
                let id = TaskId(self.first[number].0 + n);
                let in_force = &mut nice[id.index()];
                let control = match change.action {
                    Action::Nice { nice, .. } => {
                        *in_force = Some(nice);
                        Control::Nice { task: id, nice }
                    }
                    Action::Policy {
                        policy, priority, ..
                    } => {
                        let had = in_force.unwrap_or(start.nice);
                        let default = if policy.is_rt() {
                            Asked::default_priority(policy)
                        } else {
                            had
                        };
                        let mut asked = Asked::with(policy, priority.unwrap_or(default));
                        if policy.is_rt() {
                            asked.scheduling.nice = had;
                        } else {
                            *in_force = Some(asked.scheduling.nice);
                        }
                        let scheduling = Scheduling {
                            // The call has no slice and no deadline: those stay.
                            slice: if policy.is_rt() { None } else { start.slice },
                            deadline: start.deadline,
                            ..asked.scheduling
                        };
                        Control::Scheduler {
                            task: id,
                            scheduling,
                        }
                    }
                    Action::Timeout { after, .. } => Control::LockTimeout {
                        task: id,
                        at: change.at.saturating_add(after),
                    },
                    Action::Signal { .. } => Control::Signal { task: id },
                    Action::Pi(variant) => Control::Variant(variant),
                };
                self.machine.control(change.at, control);
            }
        }
    }
}

/// Wraps steps into a loop, where one is needed.
fn looped(
    steps: &mut Vec<Step>,
    rounds: Option<u64>,
    until: Option<Ns>,
    body: impl FnOnce(&mut Vec<Step>),
) {
    if rounds == Some(1) && until.is_none() {
        return body(steps);
    }
    let head = steps.len() as u32;
    steps.push(Step::Loop {
        times: rounds,
        until,
        end: 0,
    });
    body(steps);
    steps.push(Step::Next { head });
    let after = steps.len() as u32;
    if let Step::Loop { end, .. } = &mut steps[head as usize] {
        *end = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::kernel::Kernel;

    /// The steps of the first task of a workload.
    fn steps(text: &str) -> Vec<Step> {
        let workload = Workload::parse(text, "test").unwrap_or_else(|e| panic!("{e}"));
        let mut compiler = Compiler::new(&workload, Settings::new(Kernel::V6_12));
        compiler.run();
        compiler.program(&workload.tasks[0]).to_vec()
    }

    fn task(body: &str) -> Vec<Step> {
        steps(&["{\"tasks\":{\"t\":{", body, "}}}"].concat())
    }

    const US: Ns = Ns(1000);

    fn forever(end: u32) -> Step {
        Step::Loop {
            times: None,
            until: None,
            end,
        }
    }

    fn rounds(times: u64, end: u32) -> Step {
        Step::Loop {
            times: Some(times),
            until: None,
            end,
        }
    }

    #[test]
    fn a_task_without_loop_begins_again_for_ever() {
        assert_eq!(
            task(r#""run":1"#),
            [forever(3), Step::Run(US), Step::Next { head: 0 }]
        );
    }

    #[test]
    fn a_task_with_loop_1_runs_once() {
        assert_eq!(task(r#""loop":1,"run":1"#), [Step::Run(US)]);
    }

    /// Of the tool: a phase counts up to its `loop` and never meets 0; a task starts at 0.
    #[test]
    fn loop_0_is_for_ever_in_a_phase_and_never_in_a_task() {
        assert_eq!(
            task(r#""loop":1,"phases":{"p":{"loop":0,"run":1}}"#),
            [forever(3), Step::Run(US), Step::Next { head: 0 }]
        );
        assert_eq!(
            task(r#""loop":0,"phases":{"p":{"run":1}}"#),
            [rounds(0, 3), Step::Run(US), Step::Next { head: 0 }]
        );
    }

    #[test]
    fn phases_run_in_order_with_their_rounds_inside_the_task_s() {
        assert_eq!(
            task(r#""loop":2,"phases":{"a":{"loop":3,"run":1},"b":{"sleep":1}}"#),
            [
                rounds(2, 6),
                rounds(3, 4),
                Step::Run(US),
                Step::Next { head: 1 },
                Step::Sleep(US),
                Step::Next { head: 0 },
            ]
        );
    }

    #[test]
    fn until_is_tested_before_each_round_even_of_a_single_one() {
        assert_eq!(
            task(r#""loop":1,"phases":{"a":{"until":7,"run":1}}"#),
            [
                Step::Loop {
                    times: Some(1),
                    until: Some(Ns(7000)),
                    end: 3
                },
                Step::Run(US),
                Step::Next { head: 0 },
            ]
        );
    }

    #[test]
    fn a_delay_is_an_instant_of_the_run() {
        assert_eq!(
            task(r#""loop":1,"run":1,"delay":5"#),
            [Step::SleepUntil(Ns(5000)), Step::Run(US)]
        );
    }

    #[test]
    fn event_keys_are_matched_by_prefix_and_kept_in_order() {
        assert_eq!(
            task(
                r#""loop":1,"run":1,"runtime_x":1,"run":1,"run0":1,"lock_a":"M","lock_timed_b":
                {"timeout":1,"ref":"M"},"unlock":"M","sleepy":1,"broadcast":"c","signal1":"c""#
            ),
            [
                Step::Run(US),
                Step::Runtime(US),
                Step::Run(US),
                Step::Run(US),
                Step::Lock(LockId(0)),
                Step::LockTimed {
                    lock: LockId(0),
                    timeout: US
                },
                Step::Unlock(LockId(0)),
                Step::Sleep(US),
                Step::Broadcast(CondId(0)),
                Step::Signal(CondId(0)),
            ]
        );
    }

    #[test]
    fn sync_is_signal_and_wait_and_the_mutex_is_that_of_lock() {
        assert_eq!(
            task(
                r#""loop":1,"lock":"M","wait":{"ref":"c","mutex":"M"},"sync":{"ref":"c","mutex":"M"},
                "wait2":{"ref":"d"}"#
            ),
            [
                Step::Lock(LockId(0)),
                Step::Wait {
                    cond: CondId(0),
                    mutex: Some(LockId(0))
                },
                Step::Sync {
                    cond: CondId(0),
                    mutex: Some(LockId(0))
                },
                Step::Wait {
                    cond: CondId(1),
                    mutex: None
                },
            ]
        );
    }

    /// workgen writes the task's name where a `suspend` has none.
    #[test]
    fn a_bare_suspend_is_the_task_s_own_name() {
        let named = task(r#""loop":1,"suspend":"t","resume":"t""#);
        assert_eq!(named, [Step::Suspend(CondId(0)), Step::Resume(CondId(0))]);
        assert_eq!(task(r#""loop":1,"suspend","resume":"t","#), named);
        assert_eq!(task(r#""loop":1,"suspend":"","resume":"t""#), named);
    }

    /// The tool suspends under a mutex of the same name, which events may hold.
    #[test]
    fn suspend_and_resume_take_the_mutex_of_their_name_if_events_use_it() {
        let m = LockId(0);
        assert_eq!(
            task(r#""loop":1,"lock":"x","unlock":"x","suspend":"x","resume":"x""#),
            [
                Step::Lock(m),
                Step::Unlock(m),
                Step::Lock(m),
                Step::Wait {
                    cond: CondId(0),
                    mutex: Some(m)
                },
                Step::Unlock(m),
                Step::Lock(m),
                Step::Resume(CondId(0)),
                Step::Unlock(m),
            ]
        );
    }

    #[test]
    fn one_absolute_use_makes_a_timer_absolute() {
        let timer = |relative| Step::Timer {
            timer: TimerId(0),
            period: US,
            relative,
        };
        let relative = r#""loop":1,"timer":{"ref":"x","period":1},"timer":{"ref":"x","period":1}"#;
        assert_eq!(task(relative), [timer(true), timer(true)]);
        let absolute = r#""loop":1,"timer":{"ref":"x","period":1},"timer":{"ref":"x","period":1,"mode":"absolute"}"#;
        assert_eq!(task(absolute), [timer(false), timer(false)]);
    }

    #[test]
    fn a_unique_timer_is_each_instance_s_own_and_one_within_it() {
        let text = r#"{"tasks":{"t":{"instance":2,"loop":1,"phases":{
            "a":{"timer":{"ref":"unique","period":1}},
            "b":{"timer":{"ref":"unique","period":1}},
            "c":{"timer":{"ref":"uniqueB","period":1}},
            "d":{"timer":{"ref":"shared","period":1}}}}}}"#;
        let timers = |steps: Vec<Step>| -> Vec<u32> {
            let timer = |s: &Step| match s {
                Step::Timer { timer, .. } => Some(timer.0),
                _ => None,
            };
            steps.iter().filter_map(timer).collect()
        };
        let ids = timers(steps(text));
        assert_eq!(ids[0], ids[1]);
        assert_ne!(ids[0], ids[2]);
        let workload = Workload::parse(text, "test").unwrap_or_else(|e| panic!("{e}"));
        let mut compiler = Compiler::new(&workload, Settings::new(Kernel::V6_12));
        compiler.run();
        let one = timers(compiler.program(&workload.tasks[0]).to_vec());
        let other = timers(compiler.program(&workload.tasks[0]).to_vec());
        assert_ne!(one[0], other[0]);
        assert_eq!(one[3], other[3]);
    }

    #[test]
    fn a_priority_alone_is_a_new_nice_level_and_a_policy_is_set_with_its_own() {
        let changes: Vec<Step> = task(
            r#""loop":1,"priority":3,"phases":{
            "a":{"priority":5,"run":1},
            "b":{"policy":"SCHED_FIFO","run":1},
            "c":{"priority":20,"run":1},
            "d":{"run":1},
            "e":{"policy":"SCHED_OTHER","priority":5,"run":1}}"#,
        );
        let set = |policy, priority| Step::SetScheduler(Asked::with(policy, priority).scheduling);
        use crate::model::task::Policy::{Fifo, Normal};
        assert_eq!(
            changes,
            [
                Step::SetNice {
                    task: None,
                    nice: 5
                },
                Step::Run(US),
                set(Fifo, 10),
                Step::Run(US),
                set(Fifo, 20),
                Step::Run(US),
                Step::Run(US),
                set(Normal, 5),
                Step::Run(US),
            ]
        );
    }

    /// The first phase comes again after the last, whose policy it must undo.
    #[test]
    fn in_a_task_that_begins_again_the_first_change_sets_the_policy_too() {
        let text = r#""phases":{"a":{"priority":5,"run":1},"b":{"policy":"SCHED_IDLE","run":1}}"#;
        let set = |policy, nice| Step::SetScheduler(Asked::with(policy, nice).scheduling);
        use crate::model::task::Policy::{Idle, Normal};
        assert_eq!(task(text)[1], set(Normal, 5));
        assert_eq!(task(text)[3], set(Idle, 0));
    }

    #[test]
    fn what_is_not_modelled_takes_no_step() {
        assert_eq!(
            task(r#""loop":1,"mem":5,"run":1,"iorun1":7"#),
            [Step::Run(US)]
        );
    }

    #[test]
    fn barriers_count_every_use_by_every_instance() {
        let text = r#"{"tasks":{"a":{"instance":3,"barrier":"x","barrier1":"y"},
            "b":{"barrier":"x"},"c":{"instance":0,"barrier":"x","barrier2":"z"}}}"#;
        let workload = Workload::parse(text, "test").unwrap_or_else(|e| panic!("{e}"));
        let compiler = Compiler::new(&workload, Settings::new(Kernel::V6_12));
        assert_eq!(compiler.uses().0, [4, 3, 0]);
    }
}
