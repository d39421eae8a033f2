//! What the model tells: every change of state, and every decision with its reason.
//!
//! An observer sees; it never touches. It gets the machine by shared reference, so reading it
//! (shares, queue views) cannot change a run (specification A.5, vector 73).

use super::machine::Machine;
use super::pi::{Steps, Variant};
use super::task::{Scheduling, State};
use super::units::{CpuId, LockId, Ns, TaskId, TemplateId};

/// Receives the events of a run, in order; the machine's clock says when.
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
/// use reweight_lab::model::observer::{Event, Observer};
/// /// Counts the changes of the running task.
/// struct Switches(u64);
/// impl Observer for Switches {
///     fn event(&mut self, _: &Machine, event: &Event) {
///         if matches!(event, Event::Switch { .. }) {
///             self.0 += 1;
///         }
///     }
/// }
/// let mut machine = Machine::new(Settings::new(Kernel::V6_12));
/// machine.add_task(spin(0));
/// machine.add_task(spin(0));
/// let mut seen = Switches(0);
/// machine.run_until(Ns::from_ms(50), &mut seen)?;
/// assert_eq!(seen.0, machine.switches());
/// # Ok::<(), reweight_lab::model::machine::Stalled>(())
/// ```
pub trait Observer {
    /// Something happened at `machine.now()`.
    fn event(&mut self, machine: &Machine, event: &Event);

    /// Whether picks, ticks and resched causes are wanted. Saying no makes a run faster.
    fn wants_decisions(&self) -> bool {
        true
    }
}

/// Nobody watches.
impl Observer for () {
    fn event(&mut self, _: &Machine, _: &Event) {}
    fn wants_decisions(&self) -> bool {
        false
    }
}

/// Why a decision was called for.
///
/// ```
/// # use reweight_lab::trace;
/// # use reweight_lab::workload::{Options, Workload, presets};
/// # let text = presets::named("patch-test").ok_or("no such preset")?.text;
/// # let workload = Workload::parse(text, "patch-test.json")?;
/// # let run = trace::simulate(workload.build(&Options::default())?, true)?;
/// # let recording = run.recording.as_ref().ok_or("not recorded")?;
/// use reweight_lab::model::observer::Cause;
/// use reweight_lab::model::units::Ns;
/// let first = recording.decision_at(Ns(0)).ok_or("no decision")?;
/// assert_ne!(first.pick.cause, Cause::SliceEnd);
/// let all = recording.decisions(first.pick.cpu, Ns(0), Ns::from_secs(1));
/// assert!(all.into_iter().any(|d| d.pick.cause == Cause::SliceEnd));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The machine starts.
    Start,
    /// The current task sleeps or blocks.
    Sleep,
    /// The current task ended.
    Exit,
    /// A tick found the slice used up (CFS: more than `ideal`; EEVDF: the deadline moved).
    SliceEnd,
    /// A tick found the leftmost task too far behind (CFS).
    LeftmostBehind,
    /// A tick found the current task no longer eligible and unprotected (EEVDF).
    NotEligible,
    /// A task that woke (or was forked) preempts.
    Wakeup,
    /// The CPU was idle and something came.
    IdleWakeup,
    /// A priority changed.
    PrioChanged,
    /// `sched_yield()`.
    Yield,
    /// RT: the round-robin quantum ended.
    Quantum,
    /// RT throttling began or ended.
    Throttle,
    /// The fair server's turn began or ended.
    FairServer,
    /// Proxy execution: the chain of blocked tasks changed.
    Proxy,
}

/// The rule that made a pick.
///
/// ```
/// # use reweight_lab::trace;
/// # use reweight_lab::workload::{Options, Workload, presets};
/// # let text = presets::named("patch-test").ok_or("no such preset")?.text;
/// # let workload = Workload::parse(text, "patch-test.json")?;
/// # let run = trace::simulate(workload.build(&Options::default())?, true)?;
/// # let recording = run.recording.as_ref().ok_or("not recorded")?;
/// use reweight_lab::model::observer::Rule;
/// use reweight_lab::model::units::{CpuId, Ns};
/// let mut picks = recording.decisions(CpuId(0), Ns(0), Ns::from_secs(1));
/// assert!(picks.any(|d| d.pick.rule == Rule::EarliestDeadline));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Nothing is runnable.
    Idle,
    /// A better class has a task.
    Class,
    /// The fair server's turn.
    FairServer,
    /// It is the only one.
    Only,
    /// CFS: the least vruntime.
    Leftmost,
    /// CFS: the task that preempted on wakeup goes first if not too far ahead.
    NextBuddy,
    /// CFS: the task that was preempted comes back first.
    LastBuddy,
    /// CFS: the one that yielded is passed over.
    SkipBuddy,
    /// EEVDF: the current task is eligible and its slice is protected.
    Protected,
    /// EEVDF: the earliest deadline among the eligible.
    EarliestDeadline,
    /// EEVDF: the current task's deadline is the earliest.
    CurrentDeadline,
}

/// A pick.
///
/// ```
/// # use reweight_lab::trace;
/// # use reweight_lab::workload::{Options, Workload, presets};
/// # let text = presets::named("patch-test").ok_or("no such preset")?.text;
/// # let workload = Workload::parse(text, "patch-test.json")?;
/// # let run = trace::simulate(workload.build(&Options::default())?, true)?;
/// # let recording = run.recording.as_ref().ok_or("not recorded")?;
/// use reweight_lab::model::units::{CpuId, Ns};
/// for decision in recording.decisions(CpuId(0), Ns(0), Ns::from_secs(1)) {
///     // Without proxy execution the chosen one runs itself.
///     assert_eq!(decision.pick.runs, decision.pick.next);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pick {
    /// The CPU.
    pub cpu: CpuId,
    /// Who was current.
    pub prev: Option<TaskId>,
    /// Who was chosen; `None` is idle.
    pub next: Option<TaskId>,
    /// Who runs for it: differs from `next` only under proxy execution.
    pub runs: Option<TaskId>,
    /// By which rule.
    pub rule: Rule,
    /// Why a decision was due.
    pub cause: Cause,
}

/// What happened to a lock.
///
/// ```
/// # use reweight_lab::model::kernel::{Kernel, Settings};
/// # use reweight_lab::model::machine::Machine;
/// # use reweight_lab::model::observer::Observer;
/// # use reweight_lab::model::program::Step;
/// # use reweight_lab::model::task::{Scheduling, TaskSpec};
/// # use reweight_lab::model::units::Ns;
/// # #[derive(Default)]
/// # struct Seen(Vec<Event>);
/// # impl Observer for Seen {
/// #     fn event(&mut self, _: &Machine, event: &Event) {
/// #         self.0.push(*event);
/// #     }
/// # }
/// # let mut machine = Machine::new(Settings::new(Kernel::V6_12));
/// # let mut seen = Seen::default();
/// # let mut add = |steps: &[Step]| machine.add_task(TaskSpec {
/// #     scheduling: Some(Scheduling::normal(0)),
/// #     cpu: None,
/// #     program: steps.into(),
/// #     resume_at: None,
/// # });
/// use reweight_lab::model::observer::{Event, LockEvent};
/// use reweight_lab::model::units::LockId;
/// let lock = LockId(0);
/// let task = add(&[Step::Lock(lock), Step::Unlock(lock)]);
/// # machine.add_lock(reweight_lab::model::machine::Protocol::Inherit);
/// machine.run_until(Ns::from_ms(1), &mut seen)?;
/// assert!(seen.0.contains(&Event::Lock { lock, task, what: LockEvent::Acquired }));
/// assert!(seen.0.contains(&Event::Lock { lock, task, what: LockEvent::Released { next: None } }));
/// # Ok::<(), reweight_lab::model::machine::Stalled>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockEvent {
    /// The task owns it now.
    Acquired,
    /// The task waits for it now; `owner` has it.
    Blocked {
        /// Who has it (`None`: handed over, the new owner has not run yet).
        owner: Option<TaskId>,
    },
    /// The task gave it up; `next` was woken to take it.
    Released {
        /// The top waiter, if any.
        next: Option<TaskId>,
    },
    /// The task no longer waits: its timeout acted.
    TimedOut,
    /// The task left the line: a signal broke its wait off, which it begins anew at once.
    Interrupted,
    /// The call was refused: it would have closed a cycle (or the chain is deeper than 1024).
    Deadlock,
    /// Unlock by a task that does not own it (EPERM).
    NotOwner,
    /// The owner ended without unlocking; `next` gets it as EOWNERDEAD.
    OwnerDied {
        /// The top waiter, if any.
        next: Option<TaskId>,
    },
}

/// A request the kernel would have answered with an error. The run goes on.
///
/// ```
/// # use reweight_lab::model::kernel::{Kernel, Settings};
/// # use reweight_lab::model::machine::Machine;
/// # use reweight_lab::model::observer::Observer;
/// # use reweight_lab::model::program::Step;
/// # use reweight_lab::model::task::{Scheduling, TaskSpec};
/// # use reweight_lab::model::units::Ns;
/// # #[derive(Default)]
/// # struct Seen(Vec<Event>);
/// # impl Observer for Seen {
/// #     fn event(&mut self, _: &Machine, event: &Event) {
/// #         self.0.push(*event);
/// #     }
/// # }
/// # let mut machine = Machine::new(Settings::new(Kernel::V6_12));
/// # let mut seen = Seen::default();
/// # let mut add = |steps: &[Step]| machine.add_task(TaskSpec {
/// #     scheduling: Some(Scheduling::normal(0)),
/// #     cpu: None,
/// #     program: steps.into(),
/// #     resume_at: None,
/// # });
/// use reweight_lab::model::observer::{Event, Refusal};
/// use reweight_lab::model::units::LockId;
/// let lock = LockId(0);
/// let task = add(&[Step::Unlock(lock)]);
/// # machine.add_lock(reweight_lab::model::machine::Protocol::Inherit);
/// machine.run_until(Ns::from_ms(1), &mut seen)?;
/// let refusal = Refusal::UnlockNotOwner(lock);
/// assert!(seen.0.contains(&Event::Refused { task, refusal }));
/// # Ok::<(), reweight_lab::model::machine::Stalled>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Unlock of a lock one does not own.
    UnlockNotOwner(LockId),
    /// Lock of a lock one owns, or a cycle of waiters.
    Deadlock(LockId),
    /// A control or a step names a task that has ended.
    NoSuchTask,
    /// A fork beyond the machine's limit on tasks.
    TooManyTasks,
}

/// One event of a run.
///
/// ```
/// # use reweight_lab::model::kernel::{Kernel, Settings};
/// # use reweight_lab::model::machine::Machine;
/// # use reweight_lab::model::observer::Observer;
/// # use reweight_lab::model::program::Step;
/// # use reweight_lab::model::task::{Scheduling, TaskSpec};
/// # use reweight_lab::model::units::Ns;
/// # #[derive(Default)]
/// # struct Seen(Vec<Event>);
/// # impl Observer for Seen {
/// #     fn event(&mut self, _: &Machine, event: &Event) {
/// #         self.0.push(*event);
/// #     }
/// # }
/// # let mut machine = Machine::new(Settings::new(Kernel::V6_12));
/// # let mut seen = Seen::default();
/// # let mut add = |steps: &[Step]| machine.add_task(TaskSpec {
/// #     scheduling: Some(Scheduling::normal(0)),
/// #     cpu: None,
/// #     program: steps.into(),
/// #     resume_at: None,
/// # });
/// use reweight_lab::model::observer::Event;
/// let task = add(&[Step::Run(Ns::from_ms(3))]);
/// machine.run_until(Ns::from_ms(5), &mut seen)?;
/// assert!(matches!(seen.0[0], Event::Spawn { task: t, parent: None, .. } if t == task));
/// # Ok::<(), reweight_lab::model::machine::Stalled>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A task came to be.
    Spawn {
        /// The new task.
        task: TaskId,
        /// Who forked it, if anyone.
        parent: Option<TaskId>,
        /// From what, if forked by a program.
        template: Option<TemplateId>,
    },
    /// A task's state changed. Told once for each change, `State::Ended` last.
    State {
        /// Whose.
        task: TaskId,
        /// To what.
        state: State,
    },
    /// A task woke.
    Wakeup {
        /// Who.
        task: TaskId,
        /// By whom, if a task did it.
        waker: Option<TaskId>,
        /// Whether it is a new task's first.
        new: bool,
    },
    /// A tick was handled.
    Tick {
        /// Where.
        cpu: CpuId,
    },
    /// A decision: re-picks of the running task included.
    Pick(Pick),
    /// Another task runs now. `prev_state` is what the old one does from here on.
    Switch {
        /// Where.
        cpu: CpuId,
        /// Who ran.
        prev: Option<TaskId>,
        /// Who runs.
        next: Option<TaskId>,
    },
    /// `rt_mutex_setprio` went past its early return.
    SetPrio {
        /// The lock holder.
        task: TaskId,
        /// Whose priority it gets.
        donor: Option<TaskId>,
        /// Effective prio before.
        old_prio: i32,
        /// Effective prio after.
        prio: i32,
        /// Table weight before.
        old_weight: u32,
        /// Table weight after.
        weight: u32,
        /// Which steps ran.
        steps: Steps,
    },
    /// `setpriority` acted.
    Nice {
        /// On whom.
        task: TaskId,
        /// Nice before.
        old: i32,
        /// Nice after.
        nice: i32,
    },
    /// `sched_setscheduler` acted.
    Scheduler {
        /// On whom.
        task: TaskId,
        /// What was asked.
        scheduling: Scheduling,
    },
    /// The variant of priority inheritance was switched.
    Variant(Variant),
    /// Something happened to a lock.
    Lock {
        /// Which.
        lock: LockId,
        /// By whom.
        task: TaskId,
        /// What.
        what: LockEvent,
    },
    /// A request was refused, as the kernel would.
    Refused {
        /// Whose request.
        task: TaskId,
        /// Which.
        refusal: Refusal,
    },
    /// RT throttling (6.1) began (`true`) or ended.
    Throttled {
        /// Where.
        cpu: CpuId,
        /// Began.
        on: bool,
    },
}

/// A queued entity as an observer sees it, brought up to `now` without accounting.
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
/// let mut machine = Machine::new(Settings::new(Kernel::V6_12));
/// machine.add_task(spin(0));
/// machine.add_task(spin(0));
/// machine.run_until(Ns::from_ms(10), &mut ())?;
/// let queue = machine.queue_view(CpuId(0));
/// // What one is owed the other has had too much.
/// assert!(queue.entities.iter().map(|e| e.lag).sum::<i64>().abs() <= 1);
/// # Ok::<(), reweight_lab::model::machine::Stalled>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntityView {
    /// Who.
    pub task: TaskId,
    /// Whether it is the current entity of its queue.
    pub current: bool,
    /// Virtual runtime, ns.
    pub vruntime: i64,
    /// Virtual deadline, ns (EEVDF; else equal to `vruntime`).
    pub deadline: i64,
    /// V - vruntime, ns: what it is owed (CFS: min_vruntime - vruntime).
    pub lag: i64,
    /// EEVDF: not had more than its due. CFS: whether it is the leftmost.
    pub eligible: bool,
    /// EEVDF: its slice is protected.
    pub protected: bool,
    /// Asleep but still queued.
    pub delayed: bool,
    /// Table weight.
    pub weight: u32,
    /// The slice, real ns.
    pub slice: u64,
}

/// A fair queue as an observer sees it.
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
/// let mut machine = Machine::new(Settings::new(Kernel::V6_12));
/// machine.add_task(spin(0));
/// machine.add_task(spin(10));
/// machine.run_until(Ns::from_ms(10), &mut ())?;
/// let queue = machine.queue_view(CpuId(0));
/// assert_eq!(queue.at, machine.now());
/// assert_eq!(queue.weight, 1024 + 110);
/// # Ok::<(), reweight_lab::model::machine::Stalled>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueView {
    /// When.
    pub at: Ns,
    /// EEVDF: V, the weighted mean of the vruntimes. CFS: min_vruntime.
    pub v: i64,
    /// Sum of the table weights of the queued entities.
    pub weight: u64,
    /// The entities, by vruntime then task.
    pub entities: Vec<EntityView>,
}
