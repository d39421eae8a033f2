//! rt_mutex: waiters, pi_waiters, chain walk, hand-over.

use super::units::{LockId, Ns, TaskId};

/// Under which a waiter is ordered (D.1): lower is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaiterKey {
    /// The prio; every fair one counts as 120 (not in the second version of the patch).
    pub prio: i32,
    /// Absolute deadline of a deadline task, else 0.
    pub deadline: Ns,
}

/// A task's pi_waiters: the top waiter of each lock it owns, best first.
pub type PiWaiters = Vec<(WaiterKey, u64, LockId, TaskId)>;
