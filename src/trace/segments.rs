//! What one task did: its states in order of time, with running sums.
//!
//! Every 64 changes the sums up to there are kept, so "how long had it run, waited, been blocked
//! by instant t" is a binary search and at most 64 additions, at any distance: a picture of an
//! hour costs its pixels, not its events, and every sum is exact. Memory: about 5 bytes a change.

use super::column::{Column, Entry};
use crate::model::task::State;
use crate::model::units::{LockId, Ns};

/// What a task does, as a code: the same numbers the page gets.
///
/// ```
/// use reweight_lab::model::task::State;
/// use reweight_lab::trace::Doing;
/// assert_eq!(Doing::of(State::Runnable), Doing::Waiting);
/// assert_eq!(Doing::Running as u8, 0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Doing {
    /// On a CPU.
    Running = 0,
    /// Runnable, waiting for its CPU.
    Waiting = 1,
    /// Waiting for a lock.
    Blocked = 2,
    /// Waiting for anything else, or not yet begun.
    Sleeping = 3,
    /// Gone.
    Ended = 4,
}

impl Doing {
    const ALL: [Doing; 5] = [
        Doing::Running,
        Doing::Waiting,
        Doing::Blocked,
        Doing::Sleeping,
        Doing::Ended,
    ];

    /// Of a state of the model.
    pub const fn of(state: State) -> Doing {
        match state {
            State::Running => Doing::Running,
            State::Runnable => Doing::Waiting,
            State::Blocked(_) => Doing::Blocked,
            State::Sleeping => Doing::Sleeping,
            State::Ended => Doing::Ended,
        }
    }
}

/// A stretch in which a task did one thing. It lasts until the next one begins.
///
/// ```
/// # use reweight_lab::trace;
/// # use reweight_lab::workload::{Options, Workload, presets};
/// # let text = presets::named("patch-test").ok_or("no such preset")?.text;
/// # let workload = Workload::parse(text, "patch-test.json")?;
/// # let run = trace::simulate(workload.build(&Options::default())?, true)?;
/// # let recording = run.recording.as_ref().ok_or("not recorded")?;
/// use reweight_lab::model::units::Ns;
/// use reweight_lab::trace::Doing;
/// let high = run.names.find_task("high").ok_or("no such task")?;
/// let mut segments = recording.segments(high, Ns(0), Ns::from_secs(10));
/// let blocked = segments.find(|s| s.doing == Doing::Blocked).ok_or("never blocked")?;
/// assert_eq!(run.names.lock(blocked.lock.ok_or("on no lock")?), "M");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// When it begins.
    pub at: Ns,
    /// What it does.
    pub doing: Doing,
    /// For which lock it waits, if it does.
    pub lock: Option<LockId>,
}

/// How a task spent its time up to an instant, or between two.
///
/// ```
/// # use reweight_lab::trace;
/// # use reweight_lab::workload::{Options, Workload, presets};
/// # let text = presets::named("patch-test").ok_or("no such preset")?.text;
/// # let workload = Workload::parse(text, "patch-test.json")?;
/// # let run = trace::simulate(workload.build(&Options::default())?, true)?;
/// # let recording = run.recording.as_ref().ok_or("not recorded")?;
/// use reweight_lab::model::units::Ns;
/// let low = run.names.find_task("low").ok_or("no such task")?;
/// let (one, two) = (Ns::from_secs(1), Ns::from_secs(2));
/// let between = recording.spent(low, two).since(recording.spent(low, one));
/// assert_eq!(between, recording.spent_between(low, one, two));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Running, ns.
    pub run: u64,
    /// Runnable and waiting, ns.
    pub wait: u64,
    /// Blocked on a lock, ns.
    pub blocked: u64,
    /// How often it was set running.
    pub switches: u64,
}

impl Spent {
    fn add(&mut self, code: u8, ns: u64) {
        match Doing::ALL[code as usize] {
            Doing::Running => self.run += ns,
            Doing::Waiting => self.wait += ns,
            Doing::Blocked => self.blocked += ns,
            Doing::Sleeping | Doing::Ended => {}
        }
    }

    /// What was spent since `earlier`.
    #[must_use]
    pub fn since(self, earlier: Spent) -> Spent {
        Spent {
            run: self.run - earlier.run,
            wait: self.wait - earlier.wait,
            blocked: self.blocked - earlier.blocked,
            switches: self.switches - earlier.switches,
        }
    }
}

/// Before a block: what was spent. In it: the longest wait that began there and has ended.
#[derive(Clone, Copy, Debug)]
struct Sums {
    before: Spent,
    longest_wait: u64,
}

/// The states of one task.
#[derive(Clone, Debug)]
pub(super) struct Segments {
    column: Column,
    sums: Vec<Sums>,
    total: Spent,
    last: Entry,
    /// The locks of the blocked segments, by position.
    locks: Vec<(u64, LockId)>,
}

impl Segments {
    /// A task that comes to be at `at`; it sleeps until told otherwise.
    pub fn new(at: Ns) -> Segments {
        let mut segments = Segments {
            column: Column::default(),
            sums: Vec::new(),
            total: Spent::default(),
            last: Entry {
                at,
                code: Doing::Sleeping as u8,
            },
            locks: Vec::new(),
        };
        segments.push(at, State::Sleeping);
        segments
    }

    #[inline]
    pub fn push(&mut self, at: Ns, state: State) {
        let lasted = at.0 - self.last.at.0;
        self.total.add(self.last.code, lasted);
        if self.last.code == Doing::Waiting as u8
            && let Some(sums) = self.sums.last_mut()
        {
            sums.longest_wait = sums.longest_wait.max(lasted);
        }
        let code = Doing::of(state) as u8;
        if self.column.push(at, code) {
            self.sums.push(Sums {
                before: self.total,
                longest_wait: 0,
            });
        }
        match state {
            State::Running => self.total.switches += 1,
            State::Blocked(lock) => self.locks.push((self.column.end() - 1, lock)),
            _ => {}
        }
        self.last = Entry { at, code };
    }

    /// The entry in force at `at` and its block; of several at one instant the last. Before the
    /// oldest that is kept, the oldest.
    fn in_force(&self, at: Ns) -> (usize, u64) {
        self.column
            .at_or_before(at)
            .unwrap_or((0, self.column.start()))
    }

    /// What was spent before `at` (switches at `at` itself do not count).
    pub fn spent(&self, at: Ns) -> Spent {
        let Some(last) = at.0.checked_sub(1).map(Ns) else {
            return Spent::default();
        };
        let Some((block, i)) = self.column.at_or_before(last) else {
            return self.sums[0].before;
        };
        let range = self.column.block(block);
        let mut spent = self.sums[block].before;
        let mut prev = self.column.entry(block, range.start);
        spent.switches += u64::from(prev.code == Doing::Running as u8);
        for j in range.start + 1..=i {
            let entry = self.column.entry(block, j);
            spent.add(prev.code, entry.at.0 - prev.at.0);
            spent.switches += u64::from(entry.code == Doing::Running as u8);
            prev = entry;
        }
        spent.add(prev.code, at.0 - prev.at.0);
        spent
    }

    /// The longest stretch of waiting within `from..to`, cut at both ends.
    pub fn longest_wait(&self, from: Ns, to: Ns) -> u64 {
        if from >= to {
            return 0;
        }
        let (first, i) = self.in_force(from);
        let (last, _) = self.in_force(to);
        let mut longest = 0;
        let mut in_block = |block: usize, start: u64| {
            let range = self.column.block(block);
            for j in start..range.end {
                let entry = self.column.entry(block, j);
                if entry.at >= to {
                    break;
                }
                if entry.code == Doing::Waiting as u8 {
                    let end = self.end_of(j, to).min(to);
                    longest = longest.max(end.0.saturating_sub(entry.at.max(from).0));
                }
            }
        };
        in_block(first, i);
        if last > first {
            in_block(last, self.column.block(last).start);
            // What begins in a whole block between has ended by the last one's first entry.
            let whole = self.sums[first + 1..last].iter().map(|s| s.longest_wait);
            longest = longest.max(whole.max().unwrap_or(0));
        }
        longest
    }

    /// When entry `i` ends; `open` if it is the last.
    fn end_of(&self, i: u64, open: Ns) -> Ns {
        if i + 1 < self.column.end() {
            self.column.get(i + 1).at
        } else {
            open
        }
    }

    /// The segments that touch `from..to`, the one in force at `from` first.
    pub fn between(&self, from: Ns, to: Ns) -> impl Iterator<Item = Segment> + '_ {
        let (_, i) = self.in_force(from);
        let mut locks = self.locks.partition_point(|(j, _)| *j < i);
        self.column
            .from(i)
            .take_while(move |(j, e)| e.at < to || *j == i)
            .map(move |(j, e)| {
                let doing = Doing::ALL[e.code as usize];
                let lock = (doing == Doing::Blocked).then(|| {
                    while self.locks[locks].0 < j {
                        locks += 1;
                    }
                    self.locks[locks].1
                });
                Segment {
                    at: e.at,
                    doing,
                    lock,
                }
            })
    }

    pub fn forget_before(&mut self, at: Ns) {
        let (blocks, _) = self.column.forget_before(at);
        self.sums.drain(..blocks);
        let start = self.column.start();
        let gone = self.locks.partition_point(|(i, _)| *i < start);
        self.locks.drain(..gone);
        self.column.shrink();
    }

    /// The first instant of which anything is known.
    pub fn start(&self) -> Ns {
        self.column.base(0)
    }

    pub fn bytes(&self) -> usize {
        self.column.bytes()
            + self.sums.len() * size_of::<Sums>()
            + self.locks.len() * size_of::<(u64, LockId)>()
            + size_of::<Segments>()
    }
}
