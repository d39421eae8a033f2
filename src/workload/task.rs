//! What a workload says of a task: rt-app's phases and events, resolved but not yet compiled.
//!
//! Names of locks, conditions and the like stand once in the tables of [`super::Workload`];
//! events hold their index there, so that a million events stay small.

use crate::model::task::{Policy, Scheduling};
use crate::model::units::Ns;

/// A task, or the pattern of several.
///
/// ```
/// # let text = r#"{ "tasks": { "low": { "priority": 10, "loop": 1,
/// #     "lock": "M", "run": 5000, "unlock": "M" } },
/// #     "lab": { "duration": 20000 } }"#;
/// use reweight_lab::workload::Workload;
/// let workload = Workload::parse(text, "mine.json")?;
/// let low = workload.task("low").ok_or("no such task")?;
/// assert_eq!((low.instances, low.rounds), (1, Some(1)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// rt-app's name of it.
    pub name: String,
    /// How many of it start at time zero. Zero: it only starts when forked.
    pub instances: u32,
    /// It sleeps until this instant of the run before its first event. A fork later than that
    /// does not sleep.
    pub delay: Ns,
    /// Policy and priority as stated. `None`: the default policy, or the parent's in a fork.
    pub asked: Option<Asked>,
    /// The CPU it is pinned to. `None` only if it is forked: its parent's then, else CPU0.
    pub cpu: Option<u32>,
    /// Rounds of all phases; `None` is for ever.
    pub rounds: Option<u64>,
    /// The phases, in order.
    pub phases: Vec<Phase>,
}

/// A policy with its parameters, as rt-app asks for it.
///
/// ```
/// use reweight_lab::model::task::Policy;
/// use reweight_lab::workload::Asked;
/// assert_eq!(Asked::default_of(Policy::Normal).priority(), 0);
/// assert_eq!(Asked::default_of(Policy::Fifo).priority(), 10);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// What the model takes of it.
    pub scheduling: Scheduling,
    /// `dl-runtime`: of SCHED_DEADLINE the budget, which the model does not enforce; of a fair
    /// policy the custom slice.
    pub dl_runtime: Ns,
    /// `dl-period`, kept for the file that is written.
    pub dl_period: Ns,
}

impl Asked {
    /// A policy with the priority rt-app gives where none is stated: nice 0, or 10 of 99.
    pub const fn default_of(policy: Policy) -> Asked {
        Asked::with(policy, Asked::default_priority(policy))
    }

    /// The priority where none is stated.
    pub(super) const fn default_priority(policy: Policy) -> i32 {
        if policy.is_rt() { 10 } else { 0 }
    }

    /// A policy with a nice level (fair policies, SCHED_IDLE) or a real-time priority.
    pub(crate) const fn with(policy: Policy, priority: i32) -> Asked {
        let rt = policy.is_rt();
        Asked {
            scheduling: Scheduling {
                policy,
                nice: if rt { 0 } else { priority },
                rt_priority: if rt { priority as u8 } else { 0 },
                slice: None,
                deadline: Ns(0),
            },
            dl_runtime: Ns(0),
            dl_period: Ns(0),
        }
    }

    /// rt-app's `priority`: the nice level, or the real-time priority.
    pub const fn priority(&self) -> i32 {
        if self.scheduling.policy.is_rt() {
            self.scheduling.rt_priority as i32
        } else {
            self.scheduling.nice
        }
    }
}

/// A phase of a task.
///
/// ```
/// # let text = r#"{ "tasks": { "low": { "priority": 10, "loop": 1,
/// #     "lock": "M", "run": 5000, "unlock": "M" } },
/// #     "lab": { "duration": 20000 } }"#;
/// use reweight_lab::workload::Workload;
/// let workload = Workload::parse(text, "mine.json")?;
/// let phase = &workload.tasks[0].phases[0];
/// assert_eq!(phase.events.len(), 3);
/// assert_eq!(phase.until, None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phase {
    /// rt-app's name of it.
    pub name: String,
    /// Rounds; `None` is for ever.
    pub rounds: Option<u64>,
    /// An instant that is tested before each round: from then on the phase is left.
    pub until: Option<Ns>,
    /// What the task asks the kernel for when the phase begins.
    pub change: Option<PhaseChange>,
    /// What it does, in order.
    pub events: Vec<Event>,
}

/// A change of one's own scheduling at the start of a phase, as rt-app makes it.
///
/// ```
/// use reweight_lab::workload::{PhaseChange, Workload};
/// let text = r#"{ "tasks": { "a": { "phases": {
///     "first": { "loop": 1, "run": 1000 },
///     "second": { "loop": 1, "priority": 5, "run": 1000 } } } } }"#;
/// let workload = Workload::parse(text, "mine.json")?;
/// assert_eq!(workload.tasks[0].phases[1].change, Some(PhaseChange::Nice(5)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhaseChange {
    /// The policy stays: `setpriority()`.
    Nice(i32),
    /// `sched_setscheduler()`.
    Policy(Asked),
}

/// An event of a task. Indices point into the tables of the workload.
///
/// ```
/// # let text = r#"{ "tasks": { "low": { "priority": 10, "loop": 1,
/// #     "lock": "M", "run": 5000, "unlock": "M" } },
/// #     "lab": { "duration": 20000 } }"#;
/// use reweight_lab::model::units::Ns;
/// use reweight_lab::workload::{Event, Workload};
/// let workload = Workload::parse(text, "mine.json")?;
/// let events = &workload.tasks[0].phases[0].events;
/// assert_eq!(events[..], [Event::Lock(0), Event::Run(Ns::from_ms(5)), Event::Unlock(0)]);
/// assert_eq!(workload.locks[0].name, "M");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Compute for this much CPU time.
    Run(Ns),
    /// Compute until this much wall time has passed.
    Runtime(Ns),
    /// Sleep for this long.
    Sleep(Ns),
    /// Sleep until the timer's next expiry.
    Timer {
        /// Index into `timers`.
        timer: u32,
        /// Time from one expiry to the next.
        period: Ns,
    },
    /// Take the mutex (index into `locks`).
    Lock(u32),
    /// Take the mutex or give up; then the next `unlock` of it is skipped. Ours, not rt-app's.
    LockTimed {
        /// Index into `locks`.
        lock: u32,
        /// How long to wait.
        timeout: Ns,
    },
    /// Release the mutex.
    Unlock(u32),
    /// Sleep on the condition (index into `conditions`), the mutex released meanwhile.
    Wait {
        /// Index into `conditions`.
        condition: u32,
        /// Index into `locks`.
        mutex: Option<u32>,
    },
    /// Wake one sleeper of the condition.
    Signal(u32),
    /// Wake all sleepers of the condition.
    Broad(u32),
    /// Wake one sleeper of the condition, then sleep on it.
    Sync {
        /// Index into `conditions`.
        condition: u32,
        /// Index into `locks`.
        mutex: Option<u32>,
    },
    /// Wait until all users of the barrier (index into `barriers`) are there.
    Barrier(u32),
    /// Sleep until somebody resumes this name (index into `conditions`).
    Suspend(u32),
    /// Wake all who are suspended under this name.
    Resume(u32),
    /// Raise the semaphore (index into `semaphores`).
    SemPost(u32),
    /// Lower the semaphore, or sleep until it can be.
    SemWait(u32),
    /// `sched_yield()`.
    Yield,
    /// Start another thread of a task (index into `forks`).
    Fork(u32),
    /// Memory traffic of so many bytes: kept for the file, takes no time here.
    Mem(u64),
    /// Writing of so many bytes to a device: kept for the file, takes no time here.
    IoRun(u64),
}

/// A timer of rt-app.
///
/// ```
/// use reweight_lab::workload::Workload;
/// let text = r#"{ "tasks": { "a": { "run": 1000,
///     "timer": { "ref": "unique", "period": 5000 } } } }"#;
/// let workload = Workload::parse(text, "mine.json")?;
/// assert!(workload.timers[0].is_unique());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timer {
    /// Its name. One that begins with `unique` is every task's own.
    pub name: String,
    /// An expiry that was missed does not move the later ones.
    pub absolute: bool,
}

impl Timer {
    /// Whether every task has its own.
    pub fn is_unique(&self) -> bool {
        self.name.starts_with("unique")
    }
}
