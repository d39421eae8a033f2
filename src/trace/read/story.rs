//! Who slept, how long, and who woke them: what a workload is built from. Kept on request.
//!
//! Times here are recorded time: the clock stands still while nothing is recorded. A place in a
//! task's doing is told by the CPU time it has had so far, which is what a program counts in.

use super::analysis::Analysis;
use super::event::Event;
use super::tasks::{Sleep, State};
use crate::model::units::Ns;

/// Why a sleep ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// A timer, a device, somebody unknown.
    Outside,
    /// A task (by serial number), after so much CPU time of its own.
    Task { waker: u32, ran: Ns },
    /// The same, and it handed a lock over.
    Lock { waker: u32, ran: Ns, inherit: bool },
    /// A timed wait for a lock that this task held.
    GaveUp { holder: u32 },
}

/// One sleep.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nap {
    pub sleeper: u32,
    /// CPU time of the sleeper until then.
    pub ran: Ns,
    pub from: Ns,
    pub to: Ns,
    pub cause: Cause,
}

/// A prio of its own that a task was given.
#[derive(Clone, Copy, Debug)]
pub(super) struct Renice {
    pub task: u32,
    pub at: Ns,
    pub prio: i32,
}

#[derive(Debug, Default)]
pub(super) struct Story {
    pub naps: Vec<Nap>,
    pub renices: Vec<Renice>,
    /// Sleeps beyond the limit.
    pub left_out: u64,
    limit: usize,
    /// Pauses of the recording: their end and their length with all before.
    pauses: Vec<(Ns, Ns)>,
}

impl Story {
    /// Keeps up to `limit` sleeps.
    pub(super) fn new(limit: usize) -> Story {
        Story {
            limit,
            ..Story::default()
        }
    }

    pub(super) fn is_on(&self) -> bool {
        self.limit > 0
    }

    /// Recorded time at `at`; `first` is the first line.
    pub(super) fn recorded(&self, first: Ns, at: Ns) -> Ns {
        let before = self.pauses.partition_point(|p| p.0 <= at);
        let paused = before.checked_sub(1).map_or(Ns(0), |i| self.pauses[i].1);
        at.saturating_sub(first).saturating_sub(paused)
    }

    pub(super) fn pause(&mut self, from: Ns, to: Ns) {
        if self.is_on() && to > from {
            let all = self.pauses.last().map_or(Ns(0), |p| p.1);
            self.pauses.push((to, all + to.saturating_sub(from)));
        }
    }

    fn take(&mut self, nap: Nap) {
        if self.naps.len() < self.limit {
            self.naps.push(nap);
        } else {
            self.left_out += 1;
        }
    }

    pub(super) fn renice(&mut self, task: u32, at: Ns, prio: i32) {
        if self.is_on() && self.renices.len() < self.limit {
            self.renices.push(Renice { task, at, prio });
        }
    }

    /// The task's last sleep was a timed wait for a lock of `holder`.
    pub(super) fn gave_up(&mut self, task: u32, holder: u32) {
        let mut recent = self.naps.iter_mut().rev().take(1000);
        if let Some(nap) = recent.find(|nap| nap.sleeper == task) {
            nap.cause = Cause::GaveUp { holder };
        }
    }
}

impl Analysis {
    /// Recorded time at `at`.
    pub(super) fn recorded(&self, at: Ns) -> Ns {
        self.story.recorded(self.first.unwrap_or_default(), at)
    }

    /// CPU time of a task up to `at`.
    fn ran(&self, i: usize, at: Ns) -> Ns {
        let t = &self.tasks.all[i];
        let now = if t.state == State::Running {
            at.saturating_sub(t.since)
        } else {
            Ns(0)
        };
        t.totals.run.saturating_add(now)
    }

    /// The sleep of task `i` ends in the line `e`, before anything of it is booked.
    pub(super) fn tell_wake(
        &mut self,
        i: usize,
        e: &Event<'_>,
        speaks: Option<usize>,
        handed: bool,
        new: bool,
    ) {
        if !self.story.is_on() {
            return;
        }
        let t = &self.tasks.all[i];
        let from = match t.state {
            _ if new => Ns(0),
            State::Asleep => t.slept_at,
            State::Unseen | State::Waiting if t.state == State::Unseen || t.assumed => {
                self.recorded(t.since)
            }
            _ => return,
        };
        let by = speaks.filter(|&s| s != i && (handed || e.interrupt == Some(false)));
        let cause = match by {
            Some(s) => {
                let (waker, ran) = (self.tasks.all[s].serial, self.ran(s, e.at));
                match t.sleep {
                    Sleep::Lock if t.state == State::Asleep => Cause::Lock {
                        waker,
                        ran,
                        inherit: t.futex.is_none_or(|f| f.inherit),
                    },
                    Sleep::Perhaps(_) if handed => Cause::Lock {
                        waker,
                        ran,
                        inherit: true,
                    },
                    _ => Cause::Task { waker, ran },
                }
            }
            None => Cause::Outside,
        };
        let nap = Nap {
            sleeper: t.serial,
            ran: t.totals.run,
            from,
            to: self.recorded(e.at),
            cause,
        };
        self.story.take(nap);
    }

    /// A sleeper runs without a recorded wakeup.
    pub(super) fn tell_missed(&mut self, i: usize, at: Ns) {
        if self.story.is_on() {
            let t = &self.tasks.all[i];
            let to = self.recorded(at);
            let nap = Nap {
                sleeper: t.serial,
                ran: t.totals.run,
                from: t.slept_at,
                to,
                cause: Cause::Outside,
            };
            self.story.take(nap);
        }
    }
}
