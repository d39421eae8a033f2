//! What a task does: a list of steps and a cursor into it.
//!
//! Steps other than `Run` and `Runtime` take no time by themselves. A program that runs off its
//! end exits; one that should stay ends in [`Step::Suspend`]. Steps carry the meaning of the
//! events of rt-app 1.0.

use super::task::Scheduling;
use super::units::{BarrierId, CondId, LockId, Ns, SemId, TaskId, TemplateId, TimerId};

/// One step of a program.
///
/// ```
/// use reweight_lab::model::program::Step;
/// use reweight_lab::model::units::{LockId, Ns};
/// // Three times: lock, compute 1 ms, unlock. The program's end ends the task.
/// let program = [
///     Step::Loop { times: Some(3), until: None, end: 5 },
///     Step::Lock(LockId(0)),
///     Step::Run(Ns::from_ms(1)),
///     Step::Unlock(LockId(0)),
///     Step::Next { head: 0 },
/// ];
/// assert_eq!(program.len(), 5);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Compute for this much CPU time.
    Run(Ns),
    /// Compute until this much wall time has passed since the step began.
    Runtime(Ns),
    /// Sleep for this long. Zero is a syscall that returns at once.
    Sleep(Ns),
    /// Sleep until an instant of the run.
    SleepUntil(Ns),
    /// rt-app's `timer`: the next expiry moves on by `period` (the first: from the timer's start,
    /// or from when the step is first reached); sleep until then. When already late: go on at once, and a `relative` timer
    /// counts from now on.
    Timer {
        /// Which timer.
        timer: TimerId,
        /// Time between expiries.
        period: Ns,
        /// Whether a late timer starts afresh.
        relative: bool,
    },
    /// Take a mutex.
    Lock(LockId),
    /// Take a mutex, or give up after `timeout`; the matching [`Step::Unlock`] is then skipped.
    LockTimed {
        /// Which mutex.
        lock: LockId,
        /// How long to wait.
        timeout: Ns,
    },
    /// Release a mutex. Not the owner: EPERM, a notice, nothing else.
    Unlock(LockId),
    /// Release `mutex` (if any), sleep on the condition, take `mutex` again.
    Wait {
        /// Which condition.
        cond: CondId,
        /// The mutex to release meanwhile.
        mutex: Option<LockId>,
    },
    /// Wake the longest-waiting task of a condition.
    Signal(CondId),
    /// Wake all tasks of a condition.
    Broadcast(CondId),
    /// Signal, then wait.
    Sync {
        /// Which condition.
        cond: CondId,
        /// The mutex to release meanwhile.
        mutex: Option<LockId>,
    },
    /// Wait until all users have arrived.
    Barrier(BarrierId),
    /// Sleep until somebody resumes this condition.
    Suspend(CondId),
    /// Wake whoever is suspended there.
    Resume(CondId),
    /// Raise a semaphore.
    SemPost(SemId),
    /// Lower a semaphore, or sleep until it can be.
    SemWait(SemId),
    /// `sched_yield()`.
    Yield,
    /// Start a task from a template, in this task's context.
    Fork(TemplateId),
    /// `sched_setattr()` on oneself.
    SetScheduler(Scheduling),
    /// `setpriority()` on a task by oneself.
    SetNice {
        /// On whom; `None` is oneself.
        task: Option<TaskId>,
        /// The new nice level.
        nice: i32,
    },
    /// Head of a loop: leave for `end` when `times` rounds are done or `until` has come.
    Loop {
        /// Rounds; `None` is for ever.
        times: Option<u64>,
        /// An instant tested before each round.
        until: Option<Ns>,
        /// The step after the loop.
        end: u32,
    },
    /// Foot of a loop: back to its head.
    Next {
        /// The head's position.
        head: u32,
    },
    /// End the task without releasing anything (a robust owner's death).
    Exit,
}

impl Step {
    /// The step in a program that got `by` steps put before it.
    pub(crate) fn shifted(self, by: u32) -> Step {
        match self {
            Step::Loop { times, until, end } => Step::Loop {
                times,
                until,
                end: end + by,
            },
            Step::Next { head } => Step::Next { head: head + by },
            other => other,
        }
    }
}

/// A program: steps shared by all tasks that follow it.
///
/// ```
/// use reweight_lab::model::program::{Program, Step};
/// use reweight_lab::model::units::Ns;
/// let program: Program = [Step::Run(Ns::from_ms(1))].into();
/// let same = program.clone();
/// assert_eq!(same[0], Step::Run(Ns(1_000_000)));
/// ```
pub type Program = std::sync::Arc<[Step]>;

/// [`Step::Timer`] at `now`: its next expiry, kept in `timer` for the one after.
pub(crate) fn next_expiry(timer: &mut Option<Ns>, now: Ns, period: Ns, relative: bool) -> Ns {
    let next = timer.unwrap_or(now).saturating_add(period);
    let late = next <= now;
    *timer = Some(if late && relative { now } else { next });
    next
}

/// Where a task stands in its program.
#[derive(Clone, Debug)]
pub(crate) struct Cursor {
    pub program: Program,
    pub pc: u32,
    /// Rounds begun, innermost loop last; positions of the heads beside them.
    pub loops: Vec<(u32, u64)>,
    /// What remains of the step that was begun.
    pub doing: Doing,
    /// Locks whose timed lock failed, to skip their next unlock.
    pub skip_unlock: Vec<LockId>,
}

/// The part of a step that outlives an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doing {
    /// The next step has not begun.
    Nothing,
    /// Computing until the task's CPU time reaches this many ns.
    Run { until_exec: u64 },
    /// Computing until an instant.
    Runtime { until: Ns },
    /// Waiting for a lock; on a timed lock the expiry, and whether it has come.
    Locking {
        lock: LockId,
        expires: Option<Ns>,
        expired: bool,
    },
    /// Spinning on a lock whose owner runs on another CPU.
    Spinning { lock: LockId, expires: Option<Ns> },
    /// It gave up the mutex of a condition, in a call of its own, and goes to sleep by the next.
    Waiting { cond: CondId, relock: LockId },
    /// Asleep, nothing left to do but to be woken; a mutex to take first.
    Asleep { relock: Option<LockId> },
}

impl Cursor {
    /// The next step with its position; the cursor goes on. `None`: the program is over.
    pub fn advance(&mut self) -> Option<(u32, Step)> {
        let pc = self.pc;
        let step = *self.program.get(pc as usize)?;
        self.pc += 1;
        Some((pc, step))
    }

    /// [`Step::Loop`] at `head`: into another round, or to the loop's end.
    pub fn round(&mut self, head: u32, now: Ns, times: Option<u64>, until: Option<Ns>, end: u32) {
        let begun = match self.loops.last() {
            Some(&(at, begun)) if at == head => begun,
            _ => {
                self.loops.push((head, 0));
                0
            }
        };
        if times.is_some_and(|n| begun >= n) || until.is_some_and(|at| now >= at) {
            self.loops.pop();
            self.pc = end;
        } else if let Some(top) = self.loops.last_mut() {
            top.1 += 1;
        }
    }

    /// Whether an unlock belongs to a lock that was not taken, and is passed over.
    pub fn passes_over_unlock(&mut self, lock: LockId) -> bool {
        let skipped = self.skip_unlock.iter().rposition(|&l| l == lock);
        if let Some(at) = skipped {
            self.skip_unlock.remove(at);
        }
        skipped.is_some()
    }

    /// The lock was not taken: its next unlock is passed over. A program that goes on without
    /// unlocking must not grow for ever; so many pending ones say the same.
    pub fn skip_next_unlock(&mut self, lock: LockId) {
        const PENDING: usize = 64;
        if self.skip_unlock.len() < PENDING {
            self.skip_unlock.push(lock);
        }
    }

    pub fn new(program: Program) -> Cursor {
        Cursor {
            program,
            pc: 0,
            loops: Vec::new(),
            doing: Doing::Nothing,
            skip_unlock: Vec::new(),
        }
    }
}
