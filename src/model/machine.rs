//! The machine: the event loop over CPUs, locks and timers.

use super::kernel::Settings;
use super::observer::{Observer, QueueView};
use super::pi::Variant;
use super::task::{Scheduling, Task, TaskSpec};
use super::units::*;

/// What a mutex does when somebody waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// PTHREAD_PRIO_INHERIT.
    Inherit,
    /// PTHREAD_PRIO_NONE.
    None,
}

/// A change from outside, at an instant of the run.
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
    /// The timed lock a task waits for now expires then.
    LockTimeout {
        /// Whose wait.
        task: TaskId,
        /// When it expires.
        at: Ns,
    },
}

/// A run that makes no progress: too many steps at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stalled {
    /// When.
    pub at: Ns,
    /// Who was running.
    pub task: Option<TaskId>,
}

/// A machine: CPUs, tasks, locks, and the instant it has come to.
#[derive(Clone, Debug)]
pub struct Machine {
    settings: Settings,
    now: Ns,
    tasks: Vec<Task>,
}

#[allow(unused_variables)]
impl Machine {
    /// A machine with nothing on it, at time zero. CPUs come to be as tasks name them.
    pub fn new(settings: Settings) -> Machine {
        Machine { settings, now: Ns(0), tasks: Vec::new() }
    }
    /// A mutex.
    pub fn add_lock(&mut self, protocol: Protocol) -> LockId {
        unreachable!()
    }
    /// A condition.
    pub fn add_condition(&mut self) -> CondId {
        unreachable!()
    }
    /// A barrier for `users` tasks.
    pub fn add_barrier(&mut self, users: u32) -> BarrierId {
        unreachable!()
    }
    /// A semaphore.
    pub fn add_semaphore(&mut self, value: u32) -> SemId {
        unreachable!()
    }
    /// A periodic timer.
    pub fn add_timer(&mut self) -> TimerId {
        unreachable!()
    }
    /// What a `fork` step starts.
    pub fn add_template(&mut self, spec: TaskSpec) -> TemplateId {
        unreachable!()
    }
    /// A task that exists from time zero; those added first are started first.
    pub fn add_task(&mut self, spec: TaskSpec) -> TaskId {
        unreachable!()
    }
    /// A change at an instant not yet past. Equal instants: in the order added.
    pub fn control(&mut self, at: Ns, control: Control) {
        unreachable!()
    }
    /// Runs up to (not including) the events of `until`.
    pub fn run_until<O: Observer + ?Sized>(&mut self, until: Ns, observer: &mut O) -> Result<(), Stalled> {
        unreachable!()
    }
    /// The instant it has come to.
    pub fn now(&self) -> Ns {
        self.now
    }
    /// The settings (the variant in force included).
    pub fn settings(&self) -> &Settings {
        &self.settings
    }
    /// All tasks, forked ones included.
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }
    /// One task.
    pub fn task(&self, id: TaskId) -> &Task {
        &self.tasks[id.index()]
    }
    /// CPU time a task has had up to now.
    pub fn cpu_time(&self, id: TaskId) -> Ns {
        unreachable!()
    }
    /// Who runs on a CPU.
    pub fn current(&self, cpu: CpuId) -> Option<TaskId> {
        unreachable!()
    }
    /// How many CPUs there are.
    pub fn cpus(&self) -> u32 {
        unreachable!()
    }
    /// Who owns a mutex. A mutex handed over has no owner until its new one runs.
    pub fn owner(&self, lock: LockId) -> Option<TaskId> {
        unreachable!()
    }
    /// Who waits for a mutex, first in line first.
    pub fn waiters(&self, lock: LockId) -> Vec<TaskId> {
        unreachable!()
    }
    /// The fair queue of a CPU, brought up to now without touching it.
    pub fn queue_view(&self, cpu: CpuId) -> QueueView {
        unreachable!()
    }
    /// Picks made so far, re-picks included.
    pub fn decisions(&self) -> u64 {
        unreachable!()
    }
    /// Changes of the running task so far.
    pub fn switches(&self) -> u64 {
        unreachable!()
    }
}
