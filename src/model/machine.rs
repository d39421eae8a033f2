//! The machine: the event loop over CPUs, locks and timers.
//!
//! Between events nothing is computed. At equal instants: the tick, then timers and controls in
//! the order armed, then pending decisions and what tasks do without time (specification G).
//! [`Machine`] is `Clone`: a checkpoint is a copy.

use std::collections::VecDeque;

use super::cpu::Cpu;
use super::fair::{Flags, Tunables};
use super::kernel::Settings;
use super::observer::{Cause, Event, Observer, Refusal};
use super::pi::Variant;
use super::program::{Cursor, Doing, Program, Step};
use super::rt::RR_TIMESLICE;
use super::rt_mutex::{Lock, Mode, WaiterKey};
use super::task::{Class, Entity, Policy, Scheduling, State, Task, TaskSpec};
pub(crate) use super::timer::TimerKind;
use super::timer::Timers;
use super::tree::Slot;
use super::units::*;

/// Tasks a machine takes, forked ones included.
pub const MAX_TASKS: usize = 200_000;
/// Steps done at one instant before the run counts as stalled, for each task there is.
const MAX_STEPS_AT_ONCE: u64 = 100_000;

/// What a mutex does when somebody waits.
///
/// ```
/// use reweight_lab::model::kernel::{Kernel, Settings};
/// use reweight_lab::model::machine::{Machine, Protocol};
/// let mut machine = Machine::new(Settings::new(Kernel::V6_12));
/// let lends = machine.add_lock(Protocol::Inherit);
/// let lends_nothing = machine.add_lock(Protocol::None);
/// assert_ne!(lends, lends_nothing);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// PTHREAD_PRIO_INHERIT.
    Inherit,
    /// PTHREAD_PRIO_NONE.
    None,
}

/// A change from outside, at an instant of the run.
///
/// ```
/// # use reweight_lab::model::kernel::{Kernel, Settings};
/// # use reweight_lab::model::machine::Machine;
/// # use reweight_lab::model::program::Step;
/// # use reweight_lab::model::task::{Scheduling, TaskSpec};
/// # use reweight_lab::model::units::{CpuId, Ns, TaskId};
/// # let spin = |nice| TaskSpec {
/// #     scheduling: Some(Scheduling::normal(nice)),
/// #     cpu: None,
/// #     program: [Step::Run(Ns::from_secs(9))].into(),
/// #     resume_at: None,
/// # };
/// use reweight_lab::model::machine::Control;
/// let mut machine = Machine::new(Settings::new(Kernel::V6_12));
/// let task = machine.add_task(spin(0));
/// machine.control(Ns::from_ms(5), Control::Nice { task, nice: 10 });
/// machine.run_until(Ns::from_ms(6), &mut ())?;
/// assert_eq!(machine.task(task).nice(), 10);
/// # Ok::<(), reweight_lab::model::machine::Stalled>(())
/// ```
#[derive(Clone, Debug)]
pub enum Control {
    /// `setpriority()`.
    Nice {
        /// On whom.
        task: TaskId,
        /// The new nice level, -20..=19.
        nice: i32,
    },
    /// `sched_setattr()`.
    Scheduler {
        /// On whom.
        task: TaskId,
        /// What.
        scheduling: Scheduling,
    },
    /// The variant of priority inheritance is switched.
    Variant(Variant),
    /// A task is forked in the context of whoever runs.
    Spawn(Box<TaskSpec>),
    /// The lock a task waits for now is given up at this instant.
    LockTimeout {
        /// Whose wait.
        task: TaskId,
        /// When it expires.
        at: Ns,
    },
    /// A signal with a handler, which takes no time: a wait for a lock is broken off and begun anew (D.7).
    Signal {
        /// To whom.
        task: TaskId,
    },
    /// An interrupt keeps a CPU busy: the current task is charged, decisions wait (replays).
    Interrupt {
        /// Where.
        cpu: CpuId,
        /// For how long.
        lasts: Ns,
    },
}

/// A run that makes no progress: too many steps at one instant.
///
/// ```
/// # use reweight_lab::model::kernel::{Kernel, Settings};
/// # use reweight_lab::model::machine::Machine;
/// # use reweight_lab::model::program::Step;
/// # use reweight_lab::model::task::{Scheduling, TaskSpec};
/// # use reweight_lab::model::units::{CpuId, Ns, TaskId};
/// let mut machine = Machine::new(Settings::new(Kernel::V6_12));
/// let task = machine.add_task(TaskSpec {
///     scheduling: Some(Scheduling::normal(0)),
///     cpu: None,
///     // A loop that neither runs nor sleeps.
///     program: [
///         Step::Loop { times: None, until: None, end: 3 },
///         Step::Yield,
///         Step::Next { head: 0 },
///     ]
///     .into(),
///     resume_at: None,
/// });
/// let stalled = machine.run_until(Ns::from_ms(1), &mut ()).unwrap_err();
/// assert_eq!(stalled.task, Some(task));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stalled {
    /// When.
    pub at: Ns,
    /// Who was running.
    pub task: Option<TaskId>,
}

#[derive(Clone, Debug)]
pub(crate) struct Barrier {
    pub users: u32,
    pub waiting: Vec<TaskId>,
}

#[derive(Clone, Debug)]
pub(crate) struct Semaphore {
    pub value: u32,
    pub waiting: VecDeque<TaskId>,
}

/// A machine: CPUs, tasks, locks, and the instant it has come to.
///
/// ```
/// use reweight_lab::model::kernel::{Kernel, Settings};
/// use reweight_lab::model::machine::Machine;
/// use reweight_lab::model::program::Step;
/// use reweight_lab::model::task::{Scheduling, TaskSpec};
/// use reweight_lab::model::units::Ns;
/// let mut machine = Machine::new(Settings::new(Kernel::V6_12));
/// let spin = |nice| TaskSpec {
///     scheduling: Some(Scheduling::normal(nice)),
///     cpu: None,
///     program: [Step::Run(Ns::from_secs(9))].into(),
///     resume_at: None,
/// };
/// let (zero, ten) = (machine.add_task(spin(0)), machine.add_task(spin(10)));
/// machine.run_until(Ns::from_secs(1), &mut ())?;
/// // 1024 to 110: nine tenths of the CPU.
/// let share = machine.cpu_time(zero).0 as f64 / 1e9;
/// assert!((share - 1024.0 / 1134.0).abs() < 0.01);
/// assert_eq!(machine.cpu_time(zero) + machine.cpu_time(ten), Ns::from_secs(1));
/// # Ok::<(), reweight_lab::model::machine::Stalled>(())
/// ```
#[derive(Clone, Debug)]
pub struct Machine {
    pub(crate) settings: Settings,
    pub(crate) tunables: Tunables,
    pub(crate) now: Ns,
    pub(crate) tasks: Vec<Task>,
    /// Each task's place in its fair tree.
    pub(crate) slots: Vec<Slot>,
    pub(crate) cpus: Vec<Cpu>,
    pub(crate) locks: Vec<Lock>,
    pub(crate) conds: Vec<VecDeque<TaskId>>,
    pub(crate) barriers: Vec<Barrier>,
    pub(crate) sems: Vec<Semaphore>,
    pub(crate) timers: Vec<Option<Ns>>,
    pub(crate) templates: Vec<TaskSpec>,
    pub(crate) controls: Vec<Control>,
    pub(crate) armed: Timers,
    pub(crate) tokens: u64,
    pub(crate) initial: Vec<TaskSpec>,
    next_tick: Ns,
    pub(crate) in_interrupt: bool,
    pub(crate) throttle_changed: Option<CpuId>,
    pub(crate) wants_decisions: bool,
    pub(crate) decisions: u64,
    pub(crate) switches: u64,
    steps_at_once: u64,
    /// The variant was switched on the way: weights of an earlier one may remain.
    pub(crate) variant_switched: bool,
}

impl Machine {
    /// A machine with nothing on it, at time zero. CPUs come to be as tasks name them.
    pub fn new(settings: Settings) -> Machine {
        let tick = Ns(settings.tick());
        Machine {
            settings,
            tunables: Tunables::new(&settings),
            now: Ns(0),
            tasks: Vec::new(),
            slots: Vec::new(),
            cpus: vec![Cpu::new()],
            locks: Vec::new(),
            conds: Vec::new(),
            barriers: Vec::new(),
            sems: Vec::new(),
            timers: Vec::new(),
            templates: Vec::new(),
            controls: Vec::new(),
            armed: Timers::default(),
            tokens: 0,
            initial: Vec::new(),
            next_tick: if settings.tick_phase.0 == 0 {
                tick
            } else {
                settings.tick_phase
            },
            in_interrupt: false,
            throttle_changed: None,
            wants_decisions: true,
            decisions: 0,
            switches: 0,
            steps_at_once: 0,
            variant_switched: false,
        }
    }

    /// A mutex.
    pub fn add_lock(&mut self, protocol: Protocol) -> LockId {
        let lock = Lock {
            protocol,
            mode: Mode::Plain,
            owner: None,
            waiters: Vec::new(),
        };
        self.locks.push(lock);
        LockId(self.locks.len() as u32 - 1)
    }

    /// A condition.
    pub fn add_condition(&mut self) -> CondId {
        self.conds.push(VecDeque::new());
        CondId(self.conds.len() as u32 - 1)
    }

    /// A barrier for `users` tasks.
    pub fn add_barrier(&mut self, users: u32) -> BarrierId {
        self.barriers.push(Barrier {
            users,
            waiting: Vec::new(),
        });
        BarrierId(self.barriers.len() as u32 - 1)
    }

    /// A semaphore.
    pub fn add_semaphore(&mut self, value: u32) -> SemId {
        self.sems.push(Semaphore {
            value,
            waiting: VecDeque::new(),
        });
        SemId(self.sems.len() as u32 - 1)
    }

    /// A periodic timer.
    pub fn add_timer(&mut self) -> TimerId {
        self.timers.push(None);
        TimerId(self.timers.len() as u32 - 1)
    }

    /// What a `fork` step starts.
    pub fn add_template(&mut self, spec: TaskSpec) -> TemplateId {
        self.templates.push(spec);
        TemplateId(self.templates.len() as u32 - 1)
    }

    /// A task that exists from time zero; those added first are started first. To be called
    /// before the first [`Machine::run_until`]; later, [`Control::Spawn`] starts tasks.
    pub fn add_task(&mut self, spec: TaskSpec) -> TaskId {
        self.initial.push(spec);
        TaskId((self.tasks.len() + self.initial.len()) as u32 - 1)
    }

    /// A change at an instant not yet past. Equal instants: in the order added.
    pub fn control(&mut self, at: Ns, control: Control) {
        self.controls.push(control);
        let n = self.controls.len() as u32 - 1;
        self.arm(at.max(self.now), TimerKind::Control(n));
    }

    pub(crate) fn arm(&mut self, at: Ns, kind: TimerKind) {
        self.armed.arm(at, kind);
    }

    /// Runs up to (not including) the events of `until`.
    ///
    /// # Errors
    /// [`Stalled`] when tasks do more than some 100,000 steps each without time going on.
    pub fn run_until(&mut self, until: Ns, observer: &mut dyn Observer) -> Result<(), Stalled> {
        self.wants_decisions = observer.wants_decisions();
        while self.now < until {
            if !self.initial.is_empty() {
                self.start(observer);
                self.settle_instant(observer)?;
            }
            let (next, busy) = self.next_event();
            if !busy {
                self.skip_ticks(next.min(until));
            }
            if next >= until {
                self.now = until;
                break;
            }
            // A timer that is due at once is no progress: a lock given up after 0 ns, say.
            if next > self.now {
                self.steps_at_once = 0;
            }
            self.now = next;
            self.interrupts(observer);
            self.settle_instant(observer)?;
        }
        Ok(())
    }

    /// Time zero: every initial task is new, in order.
    pub(crate) fn start(&mut self, obs: &mut dyn Observer) {
        for spec in std::mem::take(&mut self.initial) {
            self.spawn(spec, None, None, obs);
        }
        // Controls of time zero act before anything runs.
        self.timers_due(obs);
    }

    /// When something happens next, and whether any CPU has a task (only then do ticks matter).
    fn next_event(&self) -> (Ns, bool) {
        let mut next = self.armed.next();
        let mut busy = false;
        for cpu in &self.cpus {
            if cpu.resched.is_some() {
                next = next.min(cpu.resched_at);
            } else if let Some(t) = cpu.curr {
                next = next.min(self.due(t));
            }
            busy |= cpu.curr.is_some();
        }
        if busy {
            next = next.min(self.next_tick);
        }
        (next, busy)
    }

    /// Ticks on idle CPUs do nothing: the next one that may is the first at `at` or later.
    fn skip_ticks(&mut self, at: Ns) {
        let tick = self.settings.tick();
        let behind = at.saturating_sub(self.next_tick).0;
        let skipped = behind.div_ceil(tick).saturating_mul(tick);
        self.next_tick = self.next_tick.saturating_add(Ns(skipped));
    }

    fn interrupts(&mut self, obs: &mut dyn Observer) {
        if self.now >= self.next_tick {
            self.next_tick = self.next_tick.saturating_add(Ns(self.settings.tick()));
            self.in_interrupt = true;
            for i in 0..self.cpus.len() {
                self.tick(CpuId(i as u32), obs);
            }
            self.in_interrupt = false;
        }
        self.timers_due(obs);
        self.verify();
    }

    /// H.3, after every event, in debug builds and with the oracle. Looking at everything is too
    /// much for crowds; those have their own tests.
    fn verify(&self) {
        #[cfg(any(debug_assertions, feature = "oracle"))]
        if self.tasks.len() <= 256
            && let Err(violation) = super::invariants::check(self)
        {
            panic!("at {} ns: {violation:?}", self.now.0);
        }
    }

    fn timers_due(&mut self, obs: &mut dyn Observer) {
        while let Some(kind) = self.armed.pop(self.now) {
            // A wakeup that preempts keeps the clock it was accounted at (the queue's clock is not
            // read again), so the rest of its interrupt is charged to the woken task.
            self.in_interrupt = matches!(kind, TimerKind::RtPeriod(_) | TimerKind::FairServer(..));
            match kind {
                TimerKind::Wake(t, token) => {
                    if self.tasks[t.index()].timer_token == token {
                        self.wake(t, None, false, obs);
                    }
                }
                TimerKind::LockTimeout(t, token) => {
                    if self.tasks[t.index()].timer_token == token {
                        self.lock_timeout(t, obs);
                    }
                }
                TimerKind::Control(n) => self.act(n, obs),
                TimerKind::RtPeriod(cpu) => self.rt_period(cpu),
                TimerKind::FairServer(cpu, token) => self.server_timer(cpu, token),
            }
            self.in_interrupt = false;
        }
    }

    /// Decisions and what takes no time, until every CPU computes, idles or waits.
    fn settle_instant(&mut self, obs: &mut dyn Observer) -> Result<(), Stalled> {
        loop {
            let mut progress = false;
            for i in 0..self.cpus.len() {
                loop {
                    let cpu = &self.cpus[i];
                    if cpu.resched.is_some() {
                        if cpu.resched_at > self.now {
                            break;
                        }
                        self.schedule(CpuId(i as u32), obs);
                    } else if let Some(t) = cpu.curr {
                        if !self.advance(t, obs) {
                            break;
                        }
                        self.steps_at_once += 1;
                        if self.steps_at_once > MAX_STEPS_AT_ONCE + 64 * self.tasks.len() as u64 {
                            return Err(Stalled {
                                at: self.now,
                                task: Some(t),
                            });
                        }
                    } else {
                        break;
                    }
                    progress = true;
                    self.verify();
                }
            }
            if let Some(cpu) = self.throttle_changed.take() {
                let on = self.cpus[cpu.index()].rt.throttled;
                obs.event(self, &Event::Throttled { cpu, on });
            }
            self.verify();
            if !progress {
                return Ok(());
            }
        }
    }

    fn act(&mut self, n: u32, obs: &mut dyn Observer) {
        match self.controls[n as usize].clone() {
            Control::Nice { task, nice } => {
                if self.exists(task, obs) {
                    self.set_user_nice(task, nice, obs);
                }
            }
            Control::Scheduler { task, scheduling } => {
                if self.exists(task, obs) {
                    self.set_scheduler(task, scheduling, obs);
                }
            }
            Control::Variant(variant) => self.set_variant(variant, obs),
            Control::Spawn(spec) => {
                if self.tasks.len() < MAX_TASKS {
                    self.spawn(*spec, None, None, obs);
                } else {
                    let task = TaskId(self.tasks.len() as u32);
                    obs.event(
                        self,
                        &Event::Refused {
                            task,
                            refusal: Refusal::TooManyTasks,
                        },
                    );
                }
            }
            Control::Interrupt { cpu, lasts } => {
                let until = self.now.saturating_add(lasts);
                if let Some(cpu) = self.cpus.get_mut(cpu.index()) {
                    cpu.interrupted_until = until;
                    cpu.resched_at = cpu.resched_at.max(until);
                }
            }
            Control::LockTimeout { task, at } => {
                if self.exists(task, obs) {
                    self.change_lock_timeout(task, at);
                }
            }
            Control::Signal { task } => {
                if self.exists(task, obs) {
                    self.send_signal(task, obs);
                }
            }
        }
    }

    pub(crate) fn exists(&self, task: TaskId, obs: &mut dyn Observer) -> bool {
        let exists = task.index() < self.tasks.len();
        if !exists {
            obs.event(
                self,
                &Event::Refused {
                    task,
                    refusal: Refusal::NoSuchTask,
                },
            );
        }
        exists
    }

    /// A new task by itself: its load is that of its own parameters.
    fn spawn(
        &mut self,
        spec: TaskSpec,
        parent: Option<TaskId>,
        template: Option<TemplateId>,
        obs: &mut dyn Observer,
    ) -> TaskId {
        let sched = spec.scheduling.unwrap_or(Scheduling::normal(0)).clamped();
        let cpu = spec.cpu.unwrap_or(CpuId(0));
        let t = self.new_task(sched, cpu, spec.program, parent, template);
        self.set_slice(t, sched);
        self.tasks[t.index()].se.load = sched.load();
        if let Some(state) = spec.resume_at {
            let task = &mut self.tasks[t.index()];
            task.resumed = true;
            task.prio = state.prio;
            task.se.load = state.load;
            task.se.vruntime = state.vruntime;
            task.se.deadline = state.deadline;
            task.se.vlag = state.lag;
            if state.slice.0 > 0 {
                task.se.slice = state.slice.0;
            }
            self.resume_entity(t, state.asleep_until, obs);
        } else {
            self.wake_new(t, obs);
        }
        t
    }

    /// `fork` (A.8): the child copies the parent's load; that is where a lent weight leaks.
    pub(crate) fn fork(&mut self, parent: TaskId, template: TemplateId, obs: &mut dyn Observer) {
        let spec = self.templates[template.index()].clone();
        let p = &self.tasks[parent.index()];
        let (sched, se, cpu) = (p.sched, p.se, spec.cpu.unwrap_or(p.cpu));
        // A thread is started first and then asks for its own policy.
        let program: Program = match spec.scheduling {
            Some(own) if own != sched => std::iter::once(Step::SetScheduler(own))
                .chain(spec.program.iter().map(|s| s.shifted(1)))
                .collect(),
            _ => spec.program,
        };
        let t = self.new_task(sched, cpu, program, Some(parent), Some(template));
        let fixed = self.settings.pi == Variant::ReweightFixed;
        let child = &mut self.tasks[t.index()].se;
        child.load = if fixed { sched.load() } else { se.load };
        child.slice = se.slice;
        child.custom_slice = se.custom_slice;
        self.wake_new(t, obs);
    }

    fn new_task(
        &mut self,
        sched: Scheduling,
        cpu: CpuId,
        program: Program,
        parent: Option<TaskId>,
        template: Option<TemplateId>,
    ) -> TaskId {
        while self.cpus.len() <= cpu.index() {
            let mut fresh = Cpu::new();
            fresh.idle_since = self.now;
            fresh.idle = self.now.0;
            self.cpus.push(fresh);
        }
        let prio = sched.normal_prio();
        let se = Entity {
            load: sched.load(),
            vruntime: Vtime(0),
            deadline: Vtime(0),
            vlag: 0,
            vprot: Vtime(0),
            slice: self.tunables.base_slice,
            custom_slice: false,
            rel_deadline: false,
            sched_delayed: false,
            on_rq: false,
            exec_start: self.now,
            charged: 0,
            prev_charged: 0,
        };
        self.tasks.push(Task {
            sched,
            normal_prio: prio,
            prio,
            se,
            sum_exec: 0,
            cpu,
            state: State::Sleeping,
            on_rq: false,
            quantum_end: RR_TIMESLICE.0,
            dl_deadline: Ns::NEVER,
            dl_own: Ns::NEVER,
            pi_top_task: None,
            pi_blocked_on: None,
            waiter_key: WaiterKey {
                prio,
                deadline: Ns(0),
            },
            pi_waiters: Vec::new(),
            held: Vec::new(),
            blocked_donor: None,
            signal_pending: false,
            resumed: false,
            timer_token: 0,
            parent,
            template,
            cursor: Cursor::new(program),
        });
        self.slots.push(Slot::MAX);
        TaskId(self.tasks.len() as u32 - 1)
    }

    fn wake_new(&mut self, t: TaskId, obs: &mut dyn Observer) {
        let Task {
            parent,
            template,
            cpu,
            ..
        } = self.tasks[t.index()];
        obs.event(
            self,
            &Event::Spawn {
                task: t,
                parent,
                template,
            },
        );
        if self.tasks[t.index()].class() == Class::Fair {
            self.fair(cpu).fork_entity(t);
        }
        self.renew_deadline(t);
        self.set_state(t, State::Runnable, obs);
        self.enqueue_task(
            t,
            Flags {
                initial: true,
                ..Flags::default()
            },
        );
        obs.event(
            self,
            &Event::Wakeup {
                task: t,
                waker: parent,
                new: true,
            },
        );
        self.wakeup_preempt(t, Cause::Wakeup);
    }

    /// Puts an entity into its queue just as a recording found it.
    fn resume_entity(&mut self, t: TaskId, asleep_until: Option<Ns>, obs: &mut dyn Observer) {
        let cpu = self.tasks[t.index()].cpu;
        obs.event(
            self,
            &Event::Spawn {
                task: t,
                parent: None,
                template: None,
            },
        );
        if let Some(at) = asleep_until {
            self.tasks[t.index()].cursor.doing = Doing::Asleep { relock: None };
            self.arm_wake(t, at);
            return;
        }
        self.set_state(t, State::Runnable, obs);
        self.tasks[t.index()].on_rq = true;
        self.tasks[t.index()].se.on_rq = true;
        let mut fair = self.fair(cpu);
        let v = fair.task(t).se.vruntime;
        if fair.q.nr_running == 0 {
            fair.q.zero_vruntime = v;
            fair.q.min_vruntime = v;
        }
        fair.account_entity(t, true);
        fair.add_to_tree(t);
        self.resched_cpu(cpu, Cause::Start);
    }

    /// Replays: sets what 6.1 printed as min_vruntime.
    pub fn set_min_vruntime(&mut self, cpu: CpuId, v: Vtime) {
        if let Some(cpu) = self.cpus.get_mut(cpu.index()) {
            cpu.fair.min_vruntime = v;
        }
    }

    /// A deadline task's request starts anew when it wakes.
    pub(crate) fn renew_deadline(&mut self, t: TaskId) {
        let now = self.now;
        let task = &mut self.tasks[t.index()];
        if task.sched.policy == Policy::Deadline {
            task.dl_own = now.saturating_add(task.sched.deadline);
            if task.prio < 0 && task.pi_top_task.is_none() {
                task.dl_deadline = task.dl_own;
            }
        }
    }

    /// try_to_wake_up. Does nothing to a task that is awake, or has ended.
    pub(crate) fn wake(
        &mut self,
        t: TaskId,
        waker: Option<TaskId>,
        new: bool,
        obs: &mut dyn Observer,
    ) {
        if !matches!(
            self.tasks[t.index()].state,
            State::Blocked(_) | State::Sleeping
        ) {
            return;
        }
        if !matches!(self.tasks[t.index()].cursor.doing, Doing::Locking { .. }) {
            self.disarm_timer(t);
        }
        self.renew_deadline(t);
        self.set_state(t, State::Runnable, obs);
        obs.event(
            self,
            &Event::Wakeup {
                task: t,
                waker,
                new,
            },
        );
        let cpu = self.tasks[t.index()].cpu;
        if self.tasks[t.index()].on_rq {
            if self.tasks[t.index()].se.sched_delayed {
                // C.9: still in the queue. The current task is not accounted first, so V is as
                // old as its last accounting.
                self.fair(cpu).requeue_delayed(t);
            }
            if self.is_donor(t) {
                // Proxy: it lent its turn and can use it itself now.
                self.resched_cpu(cpu, Cause::Proxy);
            } else {
                self.wakeup_preempt(t, Cause::Wakeup);
            }
        } else {
            self.enqueue_task(
                t,
                Flags {
                    wakeup: true,
                    ..Flags::default()
                },
            );
            self.wakeup_preempt(t, Cause::Wakeup);
        }
        if !self.tasks[t.index()].held.is_empty() {
            self.reactivate_donors(t);
        }
    }

    pub(crate) fn set_state(&mut self, t: TaskId, state: State, obs: &mut dyn Observer) {
        if self.tasks[t.index()].state != state {
            self.tasks[t.index()].state = state;
            obs.event(self, &Event::State { task: t, state });
        }
    }
}
