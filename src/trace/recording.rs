//! A recording: what a run did, kept compactly, asked exactly.
//!
//! Of each task its states, of each CPU its picks with rule and cause, of each lock its owners,
//! and the marks. Integers in columns of 4 to 9 bytes an entry (`column`); every question
//! is a binary search and a few additions, whatever the distance. Memory is bounded: when the
//! limit is reached the oldest quarter of the time is forgotten, and [`Recording::start`] says
//! from when on everything is known. So an endless run keeps its latest stretch.

use super::column::Column;
use super::mark::Mark;
use super::segments::{Segment, Segments, Spent};
use crate::model::machine::Machine;
use crate::model::observer::{Cause, Event, LockEvent, Observer, Pick, Rule};
use crate::model::units::{CpuId, LockId, Ns, TaskId};

/// The bytes a recording takes if not told otherwise: 256 MiB, an hour of some tasks.
pub const DEFAULT_LIMIT: usize = 256 << 20;

/// A pick as recorded.
///
/// ```
/// # use reweight_lab::trace;
/// # use reweight_lab::workload::{Options, Workload, presets};
/// # let text = presets::named("patch-test").ok_or("no such preset")?.text;
/// # let workload = Workload::parse(text, "patch-test.json")?;
/// # let run = trace::simulate(workload.build(&Options::default())?, true)?;
/// # let recording = run.recording.as_ref().ok_or("not recorded")?;
/// use reweight_lab::model::units::Ns;
/// let here = recording.decision_at(Ns::from_secs(2)).ok_or("no decision")?;
/// let next = recording.next_decision(here.at).ok_or("none after it")?;
/// assert!(here.at < next.at);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// When.
    pub at: Ns,
    /// The pick.
    pub pick: Pick,
}

/// A stretch of a lock's life. It lasts until the next one begins.
///
/// ```
/// # use reweight_lab::trace;
/// # use reweight_lab::workload::{Options, Workload, presets};
/// # let text = presets::named("patch-test").ok_or("no such preset")?.text;
/// # let workload = Workload::parse(text, "patch-test.json")?;
/// # let run = trace::simulate(workload.build(&Options::default())?, true)?;
/// # let recording = run.recording.as_ref().ok_or("not recorded")?;
/// use reweight_lab::model::units::{LockId, Ns};
/// let owners = recording.owners(LockId(0), Ns(0), Ns::from_secs(10));
/// let owners: Vec<_> = owners.filter_map(|stretch| stretch.owner).collect();
/// assert_eq!(run.names.task(&run.machine, owners[0]), "low");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ownership {
    /// When it begins.
    pub at: Ns,
    /// Who has the lock.
    pub owner: Option<TaskId>,
    /// Without an owner: who was woken to take it.
    pub heir: Option<TaskId>,
}

/// How all tasks spent a stretch of time.
///
/// ```
/// # use reweight_lab::trace;
/// # use reweight_lab::workload::{Options, Workload, presets};
/// # let text = presets::named("patch-test").ok_or("no such preset")?.text;
/// # let workload = Workload::parse(text, "patch-test.json")?;
/// # let run = trace::simulate(workload.build(&Options::default())?, true)?;
/// # let recording = run.recording.as_ref().ok_or("not recorded")?;
/// use reweight_lab::model::units::Ns;
/// let range = recording.range(Ns(0), Ns::from_secs(1), run.machine.cpus());
/// let ran: u64 = range.tasks.iter().map(|t| t.spent.run).sum();
/// assert_eq!(ran + range.idle, 1_000_000_000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Range {
    /// By task.
    pub tasks: Vec<TaskRange>,
    /// CPU time nobody used, over all CPUs, ns.
    pub idle: u64,
}

/// How one task spent a stretch of time.
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
/// let range = recording.task_range(low, Ns::from_secs(4), Ns::from_secs(5));
/// assert_eq!(range.spent.run + range.spent.wait, 1_000_000_000);
/// assert!(range.longest_wait < 100_000_000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TaskRange {
    /// Running, waiting and blocked time, and how often it was set running.
    pub spent: Spent,
    /// Sleeping, ns. Neither the time before it came to be nor that after its end counts.
    pub sleep: u64,
    /// The longest wait for its CPU, cut at the ends of the stretch, ns.
    pub longest_wait: u64,
}

const NOBODY: u32 = (1 << 24) - 1;
/// The code of a pick under proxy execution: who runs is in `runs`.
const RUNS_ANOTHER: u8 = 1;
const FREE: u8 = 0;
const OWNED: u8 = 1;
const HANDED: u8 = 2;

const RULES: [Rule; 11] = [
    Rule::Idle,
    Rule::Class,
    Rule::FairServer,
    Rule::Only,
    Rule::Leftmost,
    Rule::NextBuddy,
    Rule::LastBuddy,
    Rule::SkipBuddy,
    Rule::Protected,
    Rule::EarliestDeadline,
    Rule::CurrentDeadline,
];
const CAUSES: [Cause; 14] = [
    Cause::Start,
    Cause::Sleep,
    Cause::Exit,
    Cause::SliceEnd,
    Cause::LeftmostBehind,
    Cause::NotEligible,
    Cause::Wakeup,
    Cause::IdleWakeup,
    Cause::PrioChanged,
    Cause::Yield,
    Cause::Quantum,
    Cause::Throttle,
    Cause::FairServer,
    Cause::Proxy,
];

/// The picks of a CPU: beside each instant `rule << 28 | cause << 24 | next`.
#[derive(Clone, Debug, Default)]
struct Picks {
    column: Column,
    values: Vec<u32>,
    runs: Vec<(u64, Option<TaskId>)>,
}

impl Picks {
    fn push(&mut self, at: Ns, pick: &Pick) {
        let code = if pick.runs == pick.next {
            0
        } else {
            self.runs.push((self.column.end(), pick.runs));
            RUNS_ANOTHER
        };
        self.column.push(at, code);
        let next = pick.next.map_or(NOBODY, |t| t.0);
        self.values
            .push((pick.rule as u32) << 28 | (pick.cause as u32) << 24 | next);
    }

    fn next_of(&self, i: u64) -> Option<TaskId> {
        let next = self.values[(i - self.column.start()) as usize] & NOBODY;
        (next != NOBODY).then_some(TaskId(next))
    }

    fn get(&self, cpu: CpuId, i: u64) -> Decision {
        let entry = self.column.get(i);
        let value = self.values[(i - self.column.start()) as usize];
        let next = self.next_of(i);
        let runs = if entry.code == RUNS_ANOTHER {
            self.runs[self.runs.partition_point(|(j, _)| *j < i)].1
        } else {
            next
        };
        let pick = Pick {
            cpu,
            prev: (i > self.column.start())
                .then(|| self.next_of(i - 1))
                .flatten(),
            next,
            runs,
            rule: RULES[(value >> 28) as usize],
            cause: CAUSES[(value >> 24 & 15) as usize],
        };
        Decision { at: entry.at, pick }
    }

    fn forget_before(&mut self, at: Ns) {
        let (_, entries) = self.column.forget_before(at);
        self.values.drain(..entries);
        let start = self.column.start();
        self.runs
            .drain(..self.runs.partition_point(|(i, _)| *i < start));
        self.column.shrink();
        if self.values.capacity() > 2 * self.values.len() + 1024 {
            self.values
                .shrink_to(self.values.len() + self.values.len() / 2);
        }
    }

    fn bytes(&self) -> usize {
        self.column.bytes() + self.values.len() * 4 + self.runs.len() * 16
    }
}

/// The owners of a lock.
#[derive(Clone, Debug, Default)]
struct Owners {
    column: Column,
    values: Vec<u32>,
}

impl Owners {
    fn push(&mut self, at: Ns, code: u8, who: Option<TaskId>) {
        self.column.push(at, code);
        self.values.push(who.map_or(0, |t| t.0));
    }

    fn get(&self, i: u64) -> Ownership {
        let entry = self.column.get(i);
        let who = TaskId(self.values[(i - self.column.start()) as usize]);
        Ownership {
            at: entry.at,
            owner: (entry.code == OWNED).then_some(who),
            heir: (entry.code == HANDED).then_some(who),
        }
    }

    fn forget_before(&mut self, at: Ns) {
        let (_, entries) = self.column.forget_before(at);
        self.values.drain(..entries);
        self.column.shrink();
    }

    fn bytes(&self) -> usize {
        self.column.bytes() + self.values.len() * 4
    }
}

/// The recording of a run. Give it to [`Machine::run_until`] as the observer, from time zero on.
///
/// ```
/// use reweight_lab::model::units::Ns;
/// use reweight_lab::trace;
/// use reweight_lab::workload::{Options, Workload, presets};
/// let text = presets::named("patch-test").ok_or("no such preset")?.text;
/// let workload = Workload::parse(text, "patch-test.json")?;
/// let run = trace::simulate(workload.build(&Options::default())?, true)?;
/// let recording = run.recording.ok_or("not recorded")?;
/// let low = run.names.find_task("low").ok_or("no such task")?;
/// assert!(recording.spent(low, Ns::from_secs(5)).run > 0);
/// assert!(recording.segments(low, Ns(0), Ns::from_secs(5)).count() > 10);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Recording {
    tasks: Vec<Segments>,
    born: Vec<Ns>,
    cpus: Vec<Picks>,
    locks: Vec<Owners>,
    marks: Vec<Mark>,
    /// Everything from here on is known.
    start: Ns,
    limit: usize,
    /// Bytes at which to look again, and about how many there are.
    full: usize,
    used: usize,
}

impl Default for Recording {
    fn default() -> Recording {
        Recording::new(DEFAULT_LIMIT)
    }
}

impl Observer for Recording {
    fn event(&mut self, machine: &Machine, event: &Event) {
        let now = machine.now();
        match *event {
            Event::State { task, state } => {
                if let Some(segments) = self.tasks.get_mut(task.index()) {
                    segments.push(now, state);
                    self.used += 6;
                }
            }
            Event::Pick(ref pick) => {
                while self.cpus.len() <= pick.cpu.index() {
                    self.cpus.push(Picks::default());
                }
                self.cpus[pick.cpu.index()].push(now, pick);
                self.used += 9;
            }
            Event::Wakeup { .. } | Event::Tick { .. } | Event::Switch { .. } => return,
            _ => self.rare(machine, event),
        }
        if self.used >= self.full {
            self.forget(now);
        }
    }
}

impl Recording {
    /// An empty recording that takes about `limit` bytes at most (what a single block of every
    /// task and CPU needs is the least it can do with).
    pub fn new(limit: usize) -> Recording {
        Recording {
            tasks: Vec::new(),
            born: Vec::new(),
            cpus: Vec::new(),
            locks: Vec::new(),
            marks: Vec::new(),
            start: Ns(0),
            limit,
            full: limit,
            used: 0,
        }
    }

    fn rare(&mut self, machine: &Machine, event: &Event) {
        let now = machine.now();
        if let Event::Spawn { task, .. } = *event {
            debug_assert_eq!(task.index(), self.tasks.len());
            self.tasks.push(Segments::new(now));
            self.born.push(now);
            self.used += size_of::<Segments>();
        }
        if let Event::Lock { lock, task, what } = *event {
            let change = match what {
                LockEvent::Acquired => Some((OWNED, Some(task))),
                LockEvent::Released { next } | LockEvent::OwnerDied { next } => {
                    Some((if next.is_some() { HANDED } else { FREE }, next))
                }
                _ => None,
            };
            if let Some((code, who)) = change {
                while self.locks.len() <= lock.index() {
                    self.locks.push(Owners::default());
                }
                self.locks[lock.index()].push(now, code, who);
                self.used += 9;
            }
        }
        let weight = |t| machine.task(t).weight();
        if let Some(mark) = Mark::of(now, event, weight) {
            self.marks.push(mark);
            self.used += size_of::<Mark>();
        }
    }

    /// Forgets the oldest quarter of the kept time, again and again while it is too much.
    #[cold]
    fn forget(&mut self, now: Ns) {
        self.used = self.bytes();
        let mut tries = 0;
        while self.used > self.limit / 4 * 3 && tries < 16 {
            let kept = now.0 - self.start.0;
            self.start = Ns(now.0 - kept / 4 * 3);
            let start = self.start;
            self.tasks.iter_mut().for_each(|t| t.forget_before(start));
            self.cpus.iter_mut().for_each(|c| c.forget_before(start));
            self.locks.iter_mut().for_each(|l| l.forget_before(start));
            self.marks
                .drain(..self.marks.partition_point(|m| m.at < start));
            if self.marks.capacity() > 2 * self.marks.len() + 1024 {
                self.marks
                    .shrink_to(self.marks.len() + self.marks.len() / 2);
            }
            self.used = self.bytes();
            tries += 1;
        }
        self.full = self.limit.max(self.used + self.used / 4);
    }

    /// Bytes in use, spare capacity not counted.
    pub fn bytes(&self) -> usize {
        self.tasks.iter().map(Segments::bytes).sum::<usize>()
            + self.cpus.iter().map(Picks::bytes).sum::<usize>()
            + self.locks.iter().map(Owners::bytes).sum::<usize>()
            + self.marks.len() * size_of::<Mark>()
    }

    /// From when on everything is known: zero until the limit was reached. Questions about
    /// earlier instants are answered as if the oldest known state had always been.
    pub fn start(&self) -> Ns {
        self.start
    }

    /// How many tasks there have been.
    pub fn tasks(&self) -> usize {
        self.tasks.len()
    }

    /// When a task came to be.
    pub fn born(&self, task: TaskId) -> Ns {
        self.born[task.index()]
    }

    /// The states of a task that touch `from..to`, in order; the first may begin before `from`.
    /// Several may begin at one instant.
    pub fn segments(&self, task: TaskId, from: Ns, to: Ns) -> impl Iterator<Item = Segment> + '_ {
        self.tasks[task.index()].between(from, to)
    }

    /// What a task had spent by `at`, since it came to be.
    pub fn spent(&self, task: TaskId, at: Ns) -> Spent {
        self.tasks[task.index()].spent(at)
    }

    /// What a task spent in `from..to`.
    pub fn spent_between(&self, task: TaskId, from: Ns, to: Ns) -> Spent {
        let segments = &self.tasks[task.index()];
        segments.spent(to.max(from)).since(segments.spent(from))
    }

    /// How a task spent `from..to`. Both lie within what was run.
    pub fn task_range(&self, task: TaskId, from: Ns, to: Ns) -> TaskRange {
        let spent = self.spent_between(task, from, to);
        let segments = &self.tasks[task.index()];
        let end = segments
            .between(to, to)
            .next()
            .filter(|s| s.doing == super::segments::Doing::Ended)
            .map_or(to, |s| s.at.min(to));
        let alive = end.0.saturating_sub(from.max(self.born(task)).0);
        TaskRange {
            spent,
            sleep: alive.saturating_sub(spent.run + spent.wait + spent.blocked),
            longest_wait: segments.longest_wait(from.max(segments.start()), to),
        }
    }

    /// How everybody spent `from..to` on a machine of `cpus` CPUs.
    pub fn range(&self, from: Ns, to: Ns, cpus: u32) -> Range {
        let tasks: Vec<TaskRange> = (0..self.tasks.len())
            .map(|t| self.task_range(TaskId(t as u32), from, to))
            .collect();
        let ran: u64 = tasks.iter().map(|t| t.spent.run).sum();
        let idle = to.0.saturating_sub(from.0) * u64::from(cpus);
        Range {
            tasks,
            idle: idle.saturating_sub(ran),
        }
    }

    /// What a task spent in each of `bins.len()` equal parts of `from..to`: for drawing. Costs a
    /// search for each part, however much happened in it.
    pub fn bins(&self, task: TaskId, from: Ns, to: Ns, bins: &mut [Spent]) {
        let n = bins.len() as u128;
        let length = u128::from(to.0.saturating_sub(from.0));
        let segments = &self.tasks[task.index()];
        let mut before = segments.spent(from);
        for (i, bin) in bins.iter_mut().enumerate() {
            let edge = Ns(from.0 + (length * (i as u128 + 1) / n) as u64);
            let until = segments.spent(edge);
            *bin = until.since(before);
            before = until;
        }
    }

    /// The share of a CPU a task had in the `window` before each of `points` instants, evenly
    /// spaced over `from..=to`. Near the start of the run the window is what there is.
    pub fn share_curve(
        &self,
        task: TaskId,
        from: Ns,
        to: Ns,
        window: Ns,
        points: usize,
    ) -> Vec<f32> {
        let length = u128::from(to.0.saturating_sub(from.0));
        let gaps = points.saturating_sub(1).max(1) as u128;
        let share = |i: usize| {
            let at = Ns(from.0 + (length * i as u128 / gaps) as u64);
            let since = at.saturating_sub(window).max(self.start);
            let span = at.saturating_sub(since).0;
            if span == 0 {
                return 0.0;
            }
            let ran = self.spent_between(task, since, at).run;
            (ran as f64 / span as f64) as f32
        };
        (0..points).map(share).collect()
    }

    /// The marks in `from..to`.
    pub fn marks(&self, from: Ns, to: Ns) -> &[Mark] {
        let first = self.marks.partition_point(|m| m.at < from);
        let last = self.marks.partition_point(|m| m.at < to);
        &self.marks[first..last.max(first)]
    }

    /// How many locks have ever been taken, and a little more: lock ids below this are known.
    pub fn locks(&self) -> usize {
        self.locks.len()
    }

    /// Who had a lock over `from..to`: stretches in order; the first may begin before `from`.
    pub fn owners(&self, lock: LockId, from: Ns, to: Ns) -> impl Iterator<Item = Ownership> + '_ {
        let owners = self.locks.get(lock.index());
        let range = owners.map_or(0..0, |o| {
            let first = o
                .column
                .at_or_before(from)
                .map_or(o.column.start(), |(_, i)| i);
            first..o.column.at_or_after(to).max(first)
        });
        range.filter_map(move |i| owners.map(|o| o.get(i)))
    }

    /// The decisions on one CPU in `from..to`.
    pub fn decisions(&self, cpu: CpuId, from: Ns, to: Ns) -> impl Iterator<Item = Decision> + '_ {
        let picks = self.cpus.get(cpu.index());
        let range = picks.map_or(0..0, |p| {
            p.column.at_or_after(from)..p.column.at_or_after(to)
        });
        range.filter_map(move |i| picks.map(|p| p.get(cpu, i)))
    }

    /// The latest decision at or before `at`, on any CPU (of several at once, the lowest CPU's).
    pub fn decision_at(&self, at: Ns) -> Option<Decision> {
        self.each_cpu(|p| p.column.at_or_before(at).map(|(_, i)| i))
            .max_by_key(|d| (d.at, std::cmp::Reverse(d.pick.cpu)))
    }

    /// The latest decision before `at`.
    pub fn previous_decision(&self, at: Ns) -> Option<Decision> {
        self.decision_at(Ns(at.0.checked_sub(1)?))
    }

    /// The first decision after `at`.
    pub fn next_decision(&self, at: Ns) -> Option<Decision> {
        let after = Ns(at.0.saturating_add(1));
        self.each_cpu(|p| Some(p.column.at_or_after(after)).filter(|i| *i < p.column.end()))
            .min_by_key(|d| (d.at, d.pick.cpu))
    }

    fn each_cpu(&self, find: impl Fn(&Picks) -> Option<u64>) -> impl Iterator<Item = Decision> {
        self.cpus
            .iter()
            .enumerate()
            .filter_map(move |(c, p)| find(p).map(|i| p.get(CpuId(c as u32), i)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::pi::Variant;
    use crate::trace::mark::What;

    #[test]
    fn a_mark_at_the_first_kept_instant_stays() {
        // Full enough to forget once: the oldest quarter of 1600 ns.
        let mut recording = Recording::new(20 * size_of::<Mark>());
        recording.marks = (0..=16)
            .map(|i| Mark {
                at: Ns(100 * i),
                task: None,
                what: What::Variant(Variant::Stock),
            })
            .collect();
        recording.forget(Ns(1600));
        assert_eq!(recording.start(), Ns(400));
        assert_eq!(recording.marks.first().map(|m| m.at), Some(Ns(400)));
    }
}
