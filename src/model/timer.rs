//! Armed timers, earliest first; equal instants in the order armed.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::machine::Machine;
use super::units::{CpuId, Ns, TaskId, TimerId};

/// What a timer does when it expires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TimerKind {
    /// A sleeper wakes, if the token is still its own.
    Wake(TaskId, u64),
    /// A timed lock expires, if the token is still the task's own.
    LockTimeout(TaskId, u64),
    /// The n-th control is due.
    Control(u32),
    /// RT throttling's period ends.
    RtPeriod(CpuId),
    /// The fair server's timer, if the token is still its own.
    FairServer(CpuId, u64),
}

impl Machine {
    /// A periodic timer of rt-app that counts from `start`, whenever it is first used.
    pub fn add_timer_from(&mut self, start: Ns) -> TimerId {
        self.timers.push(Some(start));
        TimerId(self.timers.len() as u32 - 1)
    }
}

/// The armed timers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Timers {
    heap: BinaryHeap<Reverse<(Ns, u64, TimerKind)>>,
    armed: u64,
}

impl Timers {
    pub fn arm(&mut self, at: Ns, kind: TimerKind) {
        self.armed += 1;
        self.heap.push(Reverse((at, self.armed, kind)));
    }

    /// When the next one expires.
    pub fn next(&self) -> Ns {
        self.heap.peek().map_or(Ns::NEVER, |Reverse((at, ..))| *at)
    }

    /// The next one that has expired by `now`.
    pub fn pop(&mut self, now: Ns) -> Option<TimerKind> {
        if self.next() > now {
            return None;
        }
        self.heap.pop().map(|Reverse((.., kind))| kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_instants_expire_in_the_order_armed() {
        let mut timers = Timers::default();
        timers.arm(Ns(5), TimerKind::Control(2));
        timers.arm(Ns(5), TimerKind::Control(1));
        timers.arm(Ns(3), TimerKind::Control(3));
        assert_eq!(timers.next(), Ns(3));
        assert_eq!(timers.pop(Ns(2)), None);
        let order: Vec<_> = std::iter::from_fn(|| timers.pop(Ns(5))).collect();
        assert_eq!(order, [3, 2, 1].map(TimerKind::Control));
        assert_eq!(timers.next(), Ns::NEVER);
    }
}
