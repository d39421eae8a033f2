//! The events of a run that are worth a mark on its timeline: loans, changes from outside, locks.

use crate::model::observer::{Event, LockEvent, Refusal};
use crate::model::pi::{Steps, Variant};
use crate::model::task::Scheduling;
use crate::model::units::{CpuId, LockId, Ns, TaskId};

/// Something that happened to a task (or to the whole machine) at an instant.
///
/// ```
/// # use reweight_lab::trace;
/// # use reweight_lab::workload::{Options, Workload, presets};
/// # let text = presets::named("patch-test").ok_or("no such preset")?.text;
/// # let workload = Workload::parse(text, "patch-test.json")?;
/// # let run = trace::simulate(workload.build(&Options::default())?, true)?;
/// # let recording = run.recording.as_ref().ok_or("not recorded")?;
/// use reweight_lab::model::units::Ns;
/// let marks = recording.marks(Ns(0), Ns::NEVER);
/// assert!(marks.is_sorted_by_key(|mark| mark.at));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// When.
    pub at: Ns,
    /// To whom. For a machine-wide event nobody.
    pub task: Option<TaskId>,
    /// What.
    pub what: What,
}

/// What happened.
///
/// ```
/// # use reweight_lab::trace;
/// # use reweight_lab::workload::{Options, Workload, presets};
/// # let text = presets::named("patch-test").ok_or("no such preset")?.text;
/// # let workload = Workload::parse(text, "patch-test.json")?;
/// # let run = trace::simulate(workload.build(&Options::default())?, true)?;
/// # let recording = run.recording.as_ref().ok_or("not recorded")?;
/// use reweight_lab::model::units::Ns;
/// use reweight_lab::trace::What;
/// let boosts = recording.marks(Ns(0), Ns::NEVER).iter();
/// let boosts = boosts.filter(|m| matches!(m.what, What::SetPrio { old_prio: 130, prio: 120, .. }));
/// assert_eq!(boosts.count(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A task came to be.
    Spawn {
        /// Who forked it, if anyone.
        parent: Option<TaskId>,
    },
    /// A lock lent or took back a priority. A boost lowers the number, a deboost raises it.
    SetPrio {
        /// Whose priority the task has now, if not its own.
        donor: Option<TaskId>,
        /// Effective prio before.
        old_prio: i32,
        /// Effective prio after.
        prio: i32,
        /// Table weight before.
        old_weight: u32,
        /// Table weight after.
        weight: u32,
        /// Which steps of `rt_mutex_setprio` ran.
        steps: Steps,
    },
    /// `setpriority()` from outside or by the task.
    Nice {
        /// Nice before.
        old: i32,
        /// Nice after.
        nice: i32,
        /// Table weight after.
        weight: u32,
    },
    /// `sched_setattr()` from outside or by the task.
    Scheduler {
        /// What was asked for.
        scheduling: Scheduling,
        /// Table weight after.
        weight: u32,
    },
    /// The variant of priority inheritance was switched.
    Variant(Variant),
    /// Something happened to a lock.
    Lock {
        /// Which.
        lock: LockId,
        /// What.
        what: LockEvent,
    },
    /// A request was refused.
    Refused(Refusal),
    /// RT throttling began or ended on a CPU.
    Throttled {
        /// Where.
        cpu: CpuId,
        /// Began.
        on: bool,
    },
}

impl Mark {
    /// The mark of an event, if it is worth one. `weight` tells a task's table weight now.
    pub(super) fn of(at: Ns, event: &Event, weight: impl Fn(TaskId) -> u32) -> Option<Mark> {
        let (task, what) = match *event {
            Event::Spawn { task, parent, .. } => (Some(task), What::Spawn { parent }),
            Event::SetPrio {
                task,
                donor,
                old_prio,
                prio,
                old_weight,
                weight,
                steps,
            } => (
                Some(task),
                What::SetPrio {
                    donor,
                    old_prio,
                    prio,
                    old_weight,
                    weight,
                    steps,
                },
            ),
            Event::Nice { task, old, nice } => (
                Some(task),
                What::Nice {
                    old,
                    nice,
                    weight: weight(task),
                },
            ),
            Event::Scheduler { task, scheduling } => (
                Some(task),
                What::Scheduler {
                    scheduling,
                    weight: weight(task),
                },
            ),
            Event::Variant(variant) => (None, What::Variant(variant)),
            Event::Lock { lock, task, what } => (Some(task), What::Lock { lock, what }),
            Event::Refused { task, refusal } => (Some(task), What::Refused(refusal)),
            Event::Throttled { cpu, on } => (None, What::Throttled { cpu, on }),
            Event::State { .. }
            | Event::Wakeup { .. }
            | Event::Tick { .. }
            | Event::Pick(_)
            | Event::Switch { .. } => return None,
        };
        Some(Mark { at, task, what })
    }
}
