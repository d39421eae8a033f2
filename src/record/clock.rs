//! The clocks of a recorded run: monotonic time, a thread's own CPU time, and what of the first
//! is not in the second.

use rustix::time::{ClockId, Timespec, clock_getres, clock_gettime};

use crate::model::units::Ns;

fn ns(time: Timespec) -> Ns {
    Ns(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

/// A point of time as system calls take it.
pub(super) fn timespec(at: Ns) -> Timespec {
    Timespec {
        tv_sec: (at.0 / 1_000_000_000) as _,
        tv_nsec: (at.0 % 1_000_000_000) as _,
    }
}

/// CLOCK_MONOTONIC.
pub(super) fn monotonic() -> Ns {
    ns(clock_gettime(ClockId::Monotonic))
}

/// The CPU time of the calling thread.
pub(super) fn own_cpu() -> Ns {
    ns(clock_gettime(ClockId::ThreadCPUTime))
}

/// The same instant by the wall clock.
pub(super) fn monotonic_to_real(at: Ns) -> Ns {
    let real = ns(clock_gettime(ClockId::Realtime));
    real.saturating_add(at.saturating_sub(monotonic()))
}

/// The kernel's ticks a second: the resolution of its coarse clock is one tick.
pub(super) fn hz() -> u32 {
    hz_of(ns(clock_getres(ClockId::MonotonicCoarse)))
}

fn hz_of(tick: Ns) -> u32 {
    let tick = tick.0.max(1);
    ((1_000_000_000 + tick / 2) / tick) as u32
}

/// Longer between two looks at the clock than a loop takes: an interrupt, or another task ran.
const GAP: u64 = 15_000;

/// Shorter than this off the CPU is not called a wait: reading two clocks is not one instant.
const WAIT: u64 = 5_000;

/// A thread's own account: at the last reading so much time had gone on, so much of it on a CPU.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meter {
    pub wall: Ns,
    pub cpu: Ns,
}

/// What ends a stretch of computing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Until {
    /// The thread's CPU time.
    Cpu(Ns),
    /// An instant of the monotonic clock.
    Wall(Ns),
}

impl Meter {
    /// Begins now.
    pub fn new() -> Meter {
        Meter {
            wall: monotonic(),
            cpu: own_cpu(),
        }
    }

    /// Reads both clocks: how long the thread was off the CPU since the last reading.
    pub fn read(&mut self) -> Ns {
        let now = Meter::new();
        let off = now.off_since(self);
        *self = now;
        off
    }

    fn off_since(&self, before: &Meter) -> Ns {
        let wall = self.wall.saturating_sub(before.wall);
        wall.saturating_sub(self.cpu.saturating_sub(before.cpu))
    }

    /// Computes. The CPU clock, a system call, is only read when it may have come far enough, or
    /// when a gap shows that something else ran; each such wait is told with its end.
    ///
    /// `stopped` ends it early.
    pub fn compute(
        &mut self,
        until: Until,
        mut stopped: impl FnMut() -> bool,
        mut waited: impl FnMut(Ns, Ns),
    ) {
        let mut settle = |meter: &mut Meter| {
            let off = meter.read();
            if off.0 >= WAIT {
                waited(off, meter.wall);
            }
        };
        settle(self);
        let mut last = self.wall;
        loop {
            let now = monotonic();
            if now.saturating_sub(last).0 >= GAP {
                settle(self);
            }
            last = now;
            let done = match until {
                Until::Wall(at) => now >= at,
                Until::Cpu(target) => {
                    // More CPU time than this it cannot have had.
                    if self.cpu + now.saturating_sub(self.wall) >= target {
                        settle(self);
                    }
                    self.cpu >= target
                }
            };
            if done || stopped() {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tick_of_four_milliseconds_is_250_hertz_and_thirds_are_rounded() {
        for (tick, hz) in [
            (4_000_000, 250),
            (1_000_000, 1000),
            (10_000_000, 100),
            (3_333_333, 300),
            (976_562, 1024),
        ] {
            assert_eq!(hz_of(Ns(tick)), hz);
        }
        assert!((24..=10_000).contains(&hz_of(ns(clock_getres(ClockId::MonotonicCoarse)))));
    }

    #[test]
    fn time_off_the_cpu_is_what_the_wall_has_and_the_cpu_lacks() {
        let at = |wall, cpu| Meter {
            wall: Ns(wall),
            cpu: Ns(cpu),
        };
        assert_eq!(at(100, 30).off_since(&at(40, 10)), Ns(40));
        // Clocks read one after the other may disagree by a little.
        assert_eq!(at(100, 75).off_since(&at(40, 10)), Ns(0));
    }

    #[test]
    fn computing_ends_when_the_cpu_clock_has_come_far_enough_and_not_before() {
        let mut meter = Meter::new();
        let begun = own_cpu();
        let mut off = 0;
        let target = meter.cpu + Ns(3_000_000);
        meter.compute(Until::Cpu(target), || false, |ns, _| off += ns.0);
        assert!(own_cpu() - begun >= Ns(3_000_000));
        assert!(meter.cpu >= target);
    }

    #[test]
    fn computing_by_the_wall_ends_at_its_instant_or_when_stopped() {
        let mut meter = Meter::new();
        let at = monotonic() + Ns(2_000_000);
        meter.compute(Until::Wall(at), || false, |_, _| {});
        assert!(monotonic() >= at);
        let mut looks = 0;
        let stopped = || {
            looks += 1;
            looks > 3
        };
        meter.compute(Until::Wall(Ns::NEVER), stopped, |_, _| {});
        assert_eq!(looks, 4);
    }
}
