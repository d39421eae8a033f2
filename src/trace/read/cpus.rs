//! The CPUs a trace has named: who has each, and what is queued on it.

use crate::model::units::Ns;

use super::tasks::Load;

/// Who has a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Current {
    Unknown,
    Idle,
    Task(usize),
    /// A task for which the table had no room.
    Untracked,
}

#[derive(Clone, Debug)]
pub(super) struct Cpu {
    /// A line of this CPU has been read.
    pub seen: bool,
    pub current: Current,
    /// Since when, for what is not a followed task.
    pub since: Ns,
    /// Its last line.
    pub last: Ns,
    /// That line was the switch to `current`.
    pub just_switched: bool,
    /// A wakeup that asked the running task to make way, and whom it woke.
    pub preempted_at: Option<(Ns, u32)>,
    /// Its waiters may have gone without a line saying so.
    pub suspect: bool,
    /// When they were last looked over.
    pub swept: Ns,
    /// Nothing is known of it before this; [`Ns::NEVER`]: before its next line.
    pub known_from: Ns,
    pub idle: Ns,
    pub busy: Ns,
    /// Between lines that contradict each other, or where the kernel says it lost some.
    pub unknown: Ns,
    pub lost_events: u64,
    pub contradictions: u64,
    /// Runnable tasks, the running one included.
    pub queued: u32,
    pub fair: u32,
    /// Sum of the queued fair tasks' weights by their own nice.
    pub base_sum: u64,
    /// The same by prio.
    pub now_sum: u64,
}

impl Cpu {
    pub(super) fn new(from: Ns) -> Cpu {
        Cpu {
            seen: false,
            current: Current::Unknown,
            since: from,
            last: from,
            just_switched: false,
            preempted_at: None,
            suspect: false,
            swept: from,
            known_from: from,
            idle: Ns(0),
            busy: Ns(0),
            unknown: Ns(0),
            lost_events: 0,
            contradictions: 0,
            queued: 0,
            fair: 0,
            base_sum: 0,
            now_sum: 0,
        }
    }

    pub(super) fn enqueue(&mut self, load: &Load) {
        self.queued += 1;
        if load.fair {
            self.fair += 1;
            self.base_sum += u64::from(load.base);
            self.now_sum += u64::from(load.now);
        }
    }

    pub(super) fn dequeue(&mut self, load: &Load) {
        self.queued -= 1;
        if load.fair {
            self.fair -= 1;
            self.base_sum -= u64::from(load.base);
            self.now_sum -= u64::from(load.now);
        }
    }
}
