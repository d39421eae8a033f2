//! Compiles a workload: tables into locks and the like, phases into steps, names into numbers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::bounds;
use super::error::Error;
use super::lab::{Action, Window};
use super::names::{Names, Targets, thread_name};
use super::read::{check_priority, check_window};
use super::task::{Asked, Event, PhaseChange, Task};
use super::text::{push_plain, quoted};
use super::{Workload, notice};
use crate::model::kernel::{HZ, Kernel, Settings};
use crate::model::machine::{Control, Machine, Protocol};
use crate::model::pi::Variant;
use crate::model::program::{Program, Step};
use crate::model::task::{Policy, Scheduling, TaskSpec};
use crate::model::units::{
    BarrierId, CondId, CpuId, LockId, Ns, SemId, TaskId, TemplateId, TimerId,
};

/// What the caller wants otherwise than the file says. `None` leaves the file's word.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The kernel.
    pub kernel: Option<Kernel>,
    /// Ticks a second.
    pub hz: Option<u32>,
    /// Online CPUs.
    pub cpus_online: Option<u32>,
    /// The variant of priority inheritance at the start.
    pub pi: Option<Variant>,
    /// The length of the run.
    pub duration: Option<Ns>,
    /// Windows to add; one of the same name is replaced.
    pub windows: Vec<Window>,
}

/// A workload ready to run.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The machine at time zero.
    pub machine: Machine,
    /// The names of its tasks and locks.
    pub names: Names,
    /// The windows, all inside the run; at least one.
    pub windows: Vec<Window>,
    /// Whether file or options gave windows; else the one there is is `all`, and whoever runs
    /// the scenario adds `boosted`.
    pub windows_given: bool,
    /// The run covers `[0, duration)`.
    pub duration: Ns,
    /// Whose share is told, if that is said.
    pub holder: Option<String>,
    /// The notices of the file, and those of this build.
    pub notices: Vec<String>,
}

impl Workload {
    /// Makes the machine.
    ///
    /// # Errors
    /// An option that does not fit the workload, or an edit that left it unsound; without options
    /// and edits, whatever [`Workload::parse`] gave builds.
    pub fn build(&self, options: &Options) -> Result<Scenario, Error> {
        let mut notices = self.notices.clone();
        let settings = self.settings(options)?;
        let targets = self.check()?;
        let duration = self.duration(options, &mut notices)?;
        let windows = self.place_windows(options, duration, &mut notices)?;
        let mut compiler = Compiler::new(self, settings);
        compiler.run();
        for (n, change) in self.controls.iter().enumerate() {
            if change.at >= duration {
                let path = ["lab.controls[", &n.to_string(), "]"].concat();
                notice(&mut notices, &path, "the run has ended by then");
            }
        }
        compiler.controls(&targets);
        if !settings.kernel.custom_slice {
            for task in &self.tasks {
                if task.asked.is_some_and(|a| a.scheduling.slice.is_some()) {
                    let path = [&super::read::task_path(task), ".dl-runtime"].concat();
                    let what = [
                        "kernel ",
                        settings.kernel.name,
                        " has no slices of a task's own",
                    ]
                    .concat();
                    notice(&mut notices, &path, &what);
                }
            }
        }
        Ok(Scenario {
            machine: compiler.machine,
            names: compiler.names,
            windows_given: !self.windows.is_empty() || !options.windows.is_empty(),
            windows,
            duration,
            holder: self.holder.clone(),
            notices,
        })
    }

    fn refuse(&self, path: &str, message: &str) -> Error {
        Error::of(&self.file, path, message.to_owned())
    }

    fn settings(&self, options: &Options) -> Result<Settings, Error> {
        let kernel = options.kernel.or(self.kernel).unwrap_or(Kernel::V6_12);
        let mut settings = Settings::new(kernel);
        settings.hz = options.hz.or(self.hz).unwrap_or(settings.hz);
        if !HZ.contains(&settings.hz) {
            let message = [
                "expected one of 100, 250, 300 and 1000, found ",
                &settings.hz.to_string(),
            ];
            return Err(self.refuse("hz", &message.concat()));
        }
        let pinned = self.cpus_pinned();
        settings.cpus_online = options.cpus_online.or(self.cpus_online).unwrap_or(pinned);
        if settings.cpus_online == 0 || settings.cpus_online > bounds::CPUS {
            let found = settings.cpus_online.to_string();
            let message = ["expected a number of CPUs from 1 to 256, found ", &found].concat();
            return Err(self.refuse("cpus_online", &message));
        }
        if pinned > settings.cpus_online {
            let message = [
                "the workload names CPU",
                &(pinned - 1).to_string(),
                ", which is beyond the ",
                &settings.cpus_online.to_string(),
                " CPUs online",
            ];
            return Err(self.refuse("cpus_online", &message.concat()));
        }
        settings.pi = options.pi.or(self.pi).unwrap_or(settings.pi);
        settings.fair_group_sched = self.fair_group_sched.unwrap_or(settings.fair_group_sched);
        settings.resched_delay = self.resched_delay.unwrap_or(settings.resched_delay);
        settings.irq_cost = self.irq_cost.unwrap_or(settings.irq_cost);
        settings.rt_throttle = self.rt_throttle.unwrap_or(settings.rt_throttle);
        settings.tick_phase = self.tick_phase.unwrap_or(settings.tick_phase);
        for (path, ns) in [
            ("tick_phase_ns", settings.tick_phase),
            ("irq_cost_ns", settings.irq_cost),
            ("resched_delay_ns", settings.resched_delay),
        ] {
            if ns.0 >= settings.tick() {
                let tick = settings.tick().to_string();
                let message = [
                    "expected less than a tick, which is ",
                    &tick,
                    " ns, found ",
                    &ns.0.to_string(),
                ];
                return Err(self.refuse(path, &message.concat()));
            }
        }
        Ok(settings)
    }

    /// What the reader has checked, once more: fields are public and may have been changed.
    fn check(&self) -> Result<Targets, Error> {
        let targets = Targets::new(&self.tasks).map_err(|(_, name)| {
            self.refuse(
                "tasks",
                &["two tasks would run as ", &quoted(&name)].concat(),
            )
        })?;
        for task in &self.tasks {
            let asked = self.start_of(task);
            let policy = asked.scheduling.policy;
            check_priority(policy, i64::from(asked.priority()))
                .or_else(|message| {
                    if policy == Policy::Deadline {
                        Ok(())
                    } else {
                        Err(message)
                    }
                })
                .map_err(|message| self.refuse(&super::read::task_path(task), &message))?;
        }
        for (n, change) in self.controls.iter().enumerate() {
            let path = || ["lab.controls[", &n.to_string(), "]"].concat();
            if let Some(task) = change.action.task() {
                targets
                    .check(task)
                    .map_err(|message| self.refuse(&path(), &message))?;
            }
            let priority = match change.action {
                Action::Nice { nice, .. } => Some((Policy::Normal, nice)),
                Action::Policy {
                    policy, priority, ..
                } if policy != Policy::Deadline => priority.map(|priority| (policy, priority)),
                _ => None,
            };
            if let Some((policy, priority)) = priority {
                check_priority(policy, i64::from(priority))
                    .map_err(|message| self.refuse(&path(), &message))?;
            }
        }
        for name in &self.forks {
            if targets.get(name).is_none() {
                let message = ["expected the name of a task, found ", &quoted(name)].concat();
                return Err(self.refuse("fork", &message));
            }
        }
        if let Some(holder) = &self.holder
            && !targets.contains(holder)
        {
            let message = ["expected the name of a task, found ", &quoted(holder)].concat();
            return Err(self.refuse("lab.holder", &message));
        }
        Ok(targets)
    }

    fn duration(&self, options: &Options, notices: &mut Vec<String>) -> Result<Ns, Error> {
        let duration = options.duration.unwrap_or_else(|| self.run_length());
        if duration.0 == 0 || duration > bounds::DURATION {
            let message = "expected a duration above 0 and at most 604800 seconds";
            return Err(self.refuse("duration", message));
        }
        if options.duration.or(self.duration).is_none() {
            let what = if self.windows.is_empty() {
                "the workload has no end; the run stops after ten seconds"
            } else {
                "the workload has no end; the run stops with the last window"
            };
            notice(notices, "duration", what);
        }
        Ok(duration)
    }

    /// The windows of file and options, cut to the run.
    fn place_windows(
        &self,
        options: &Options,
        duration: Ns,
        notices: &mut Vec<String>,
    ) -> Result<Vec<Window>, Error> {
        let mut windows = self.windows.clone();
        let mut asked_for = BTreeSet::new();
        for window in &options.windows {
            asked_for.insert(window.name.as_str());
            match windows.iter_mut().find(|w| w.name == window.name) {
                Some(same) => *same = window.clone(),
                None => windows.push(window.clone()),
            }
        }
        let mut placed = Vec::new();
        for (n, window) in windows.iter().enumerate() {
            let mut path = String::from("windows.");
            push_plain(&mut path, &window.name);
            check_window(&windows, n).map_err(|message| self.refuse(&path, message))?;
            if window.from >= duration {
                // A shorter run than the file's leaves out its late windows; all else is a slip.
                let shortened = options.duration.is_some() && !asked_for.contains(&*window.name);
                if shortened {
                    notice(
                        notices,
                        &path,
                        "the window begins when the run has ended; it is left out",
                    );
                    continue;
                }
                return Err(self.refuse(&path, "the window begins when the run has ended"));
            }
            let mut window = window.clone();
            if window.to > duration {
                window.to = duration;
                notice(notices, &path, "the window is cut at the end of the run");
            }
            placed.push(window);
        }
        if placed.is_empty() {
            placed.push(Window {
                name: "all".to_owned(),
                from: Ns(0),
                to: duration,
            });
        }
        Ok(placed)
    }
}

/// Puts a workload on a machine.
struct Compiler<'w> {
    workload: &'w Workload,
    machine: Machine,
    names: Names,
    /// By index in `timers`; those of a task alone are made with it.
    timers: Vec<TimerId>,
    /// Conditions whose name is also a mutex's.
    guarded: Vec<Option<u32>>,
    /// First task of each description.
    first: Vec<TaskId>,
}

impl<'w> Compiler<'w> {
    fn new(workload: &'w Workload, settings: Settings) -> Compiler<'w> {
        Compiler {
            workload,
            machine: Machine::new(settings),
            names: Names::default(),
            timers: Vec::new(),
            guarded: Vec::new(),
            first: Vec::new(),
        }
    }

    fn run(&mut self) {
        let w = self.workload;
        let default = if w.pi_enabled {
            Protocol::Inherit
        } else {
            Protocol::None
        };
        let mut locks = BTreeMap::new();
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
        let by_name: BTreeMap<&str, &Task> = w.tasks.iter().map(|t| (t.name.as_str(), t)).collect();
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
        let mut own: BTreeMap<u32, TimerId> = BTreeMap::new();
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

    fn event(&self, event: Event, own: &BTreeMap<u32, TimerId>, steps: &mut Vec<Step>) {
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
    fn controls(&mut self, targets: &Targets) {
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
