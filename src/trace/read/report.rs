//! The answer as plain data: the shape of the command line's JSON (docs/traces.md).
//!
//! Times `*_ns` of spans are measured from the first line; `start_ns` is that line's time on the
//! trace's clock. What a trace does not tell is `null`.

use std::collections::{HashMap, HashSet};

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::analysis::Analysis;
use super::boosts::{self, End, Record};
use super::contention::{ENOUGH, Verdict};
use super::notices;
use super::samples::Samples;
use super::tally::Tally;
use super::tasks::Task;
use super::windows::{Span, Tally as Sum};
use crate::model::units::Ns;

/// What a trace tells.
///
/// ```
/// # use reweight_lab::model::pi::Variant;
/// # use reweight_lab::trace::{self, read::{Options, read}};
/// # use reweight_lab::workload::{self, Workload, presets};
/// # let text = presets::named("patch-test").ok_or("no such preset")?.text;
/// # let patched = workload::Options { pi: Some(Variant::Reweight), ..workload::Options::default() };
/// # let scenario = Workload::parse(text, "patch-test.json")?.build(&patched)?;
/// # let mut ftrace = Vec::new();
/// # trace::ftrace::write(scenario, &mut ftrace)?;
/// let trace = read(&ftrace[..], Options::default())?;
/// assert_eq!(trace.report.format, 1);
/// assert_eq!(trace.report.windows[0].name, "all");
/// assert_eq!(trace.report.boosts.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Serialize)]
pub struct TraceReport {
    /// Version of this shape: 1.
    pub format: u32,
    /// `trace`: a recording, not a simulation.
    pub source: &'static str,
    /// Not told by a trace.
    pub kernel: Option<String>,
    /// Not told by a trace.
    pub hz: Option<u32>,
    /// From the header, if it says.
    pub cpus_online: Option<u32>,
    /// Not told by a trace: it is what the verdicts are about.
    pub pi: Option<String>,
    /// The first line on the trace's clock, ns.
    pub start_ns: u64,
    /// From the first to the last line, ns.
    pub duration_ns: u64,
    /// Of that, not recorded, ns.
    pub untraced_ns: u64,
    /// Changes of a running task.
    pub switches: u64,
    /// Not told by a trace.
    pub decisions: Option<u64>,
    /// By CPU time, most first.
    pub tasks: Vec<TaskReport>,
    /// `all`, those asked for, then one per boost.
    pub windows: Vec<WindowReport>,
    /// In order of beginning.
    pub boosts: Vec<BoostReport>,
    /// CPUs that wrote a line.
    pub cpus: Vec<CpuReport>,
    /// What was read and what was not.
    pub reading: ReadingReport,
    /// Markers that programs wrote.
    pub marks: Vec<MarkReport>,
    /// What a reader should know before trusting the numbers.
    pub notices: Vec<String>,
}

/// One task.
///
/// ```
/// # use reweight_lab::model::pi::Variant;
/// # use reweight_lab::trace::{self, read::{Options, read}};
/// # use reweight_lab::workload::{self, Workload, presets};
/// # let text = presets::named("patch-test").ok_or("no such preset")?.text;
/// # let patched = workload::Options { pi: Some(Variant::Reweight), ..workload::Options::default() };
/// # let scenario = Workload::parse(text, "patch-test.json")?.build(&patched)?;
/// # let mut ftrace = Vec::new();
/// # trace::ftrace::write(scenario, &mut ftrace)?;
/// let trace = read(&ftrace[..], Options::default())?;
/// let low = trace.report.tasks.iter().find(|task| task.name == "low").ok_or("no such task")?;
/// assert_eq!((low.policy, low.nice, low.weight), (Some("fair"), Some(10), Some(110)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Serialize)]
pub struct TaskReport {
    /// Its last name; with `-PID` when several tasks have it.
    pub name: String,
    /// Kernel thread id.
    pub pid: u32,
    /// `fair`, `rt` or `deadline`, from its own prio. A prio does not tell SCHED_BATCH and
    /// SCHED_IDLE from SCHED_OTHER, nor RR from FIFO.
    pub policy: Option<&'static str>,
    /// -20..=19 for fair tasks.
    pub nice: Option<i32>,
    /// Running, ns.
    pub cpu_ns: u64,
    /// Runnable and not running, ns.
    pub wait_ns: u64,
    /// Everything else but waiting for a lock, ns.
    pub sleep_ns: u64,
    /// Waiting for a lock, as far as the trace tells, ns.
    pub blocked_ns: u64,
    /// Part of `sleep_ns`: in state D.
    pub uninterruptible_ns: u64,
    /// Kernel prio at the end, boosted or not: 120 is nice 0, 0..99 RT, -1 deadline.
    pub prio: Option<i32>,
    /// The weight of its own nice.
    pub weight: Option<u32>,
    /// Times it was switched to.
    pub switches: u64,
    /// Begin of the longest wait, ns from the first line.
    pub longest_wait_from_ns: u64,
    /// Waits for a CPU, after wakeups and preemptions.
    pub wait: SpreadReport,
    /// From wakeup (sched_waking where recorded) to running.
    pub wakeup: SpreadReport,
}

/// How durations spread.
///
/// ```
/// # use reweight_lab::model::pi::Variant;
/// # use reweight_lab::trace::{self, read::{Options, read}};
/// # use reweight_lab::workload::{self, Workload, presets};
/// # let text = presets::named("patch-test").ok_or("no such preset")?.text;
/// # let patched = workload::Options { pi: Some(Variant::Reweight), ..workload::Options::default() };
/// # let scenario = Workload::parse(text, "patch-test.json")?.build(&patched)?;
/// # let mut ftrace = Vec::new();
/// # trace::ftrace::write(scenario, &mut ftrace)?;
/// let trace = read(&ftrace[..], Options::default())?;
/// for task in &trace.report.tasks {
///     assert!(task.wait.p50_ns <= task.wait.p90_ns && task.wait.p90_ns <= task.wait.max_ns);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, Serialize)]
pub struct SpreadReport {
    /// How many.
    pub count: u64,
    /// Mean, ns.
    pub mean_ns: u64,
    /// Median, ns.
    pub p50_ns: u64,
    /// 90 of 100 are no longer, ns.
    pub p90_ns: u64,
    /// 99 of 100 are no longer, ns.
    pub p99_ns: u64,
    /// The longest, ns.
    pub max_ns: u64,
    /// Whether the percentiles are exact; otherwise they are within 1.6 %.
    pub exact: bool,
}

/// One window.
///
/// ```
/// # use reweight_lab::model::pi::Variant;
/// # use reweight_lab::trace::{self, read::{Options, read}};
/// # use reweight_lab::workload::{self, Workload, presets};
/// # let text = presets::named("patch-test").ok_or("no such preset")?.text;
/// # let patched = workload::Options { pi: Some(Variant::Reweight), ..workload::Options::default() };
/// # let scenario = Workload::parse(text, "patch-test.json")?.build(&patched)?;
/// # let mut ftrace = Vec::new();
/// # trace::ftrace::write(scenario, &mut ftrace)?;
/// let trace = read(&ftrace[..], Options::default())?;
/// let all = &trace.report.windows[0];
/// assert_eq!((all.from_ns, all.untraced_ns), (0, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Serialize)]
pub struct WindowReport {
    /// `all`, a name that was asked for, or `boost-N`.
    pub name: String,
    /// Begin.
    pub from_ns: u64,
    /// End.
    pub to_ns: u64,
    /// Idle, summed over the CPUs that were seen.
    pub idle_ns: u64,
    /// Not recorded.
    pub untraced_ns: u64,
    /// By CPU time, most first.
    #[serde(serialize_with = "as_map")]
    pub tasks: Vec<(String, ShareReport)>,
}

fn as_map<S: Serializer>(tasks: &[(String, ShareReport)], to: S) -> Result<S::Ok, S::Error> {
    let mut map = to.serialize_map(Some(tasks.len()))?;
    for (name, share) in tasks {
        map.serialize_entry(name, share)?;
    }
    map.end()
}

/// One task in a window.
///
/// ```
/// # use reweight_lab::model::pi::Variant;
/// # use reweight_lab::trace::{self, read::{Options, read}};
/// # use reweight_lab::workload::{self, Workload, presets};
/// # let text = presets::named("patch-test").ok_or("no such preset")?.text;
/// # let patched = workload::Options { pi: Some(Variant::Reweight), ..workload::Options::default() };
/// # let scenario = Workload::parse(text, "patch-test.json")?.build(&patched)?;
/// # let mut ftrace = Vec::new();
/// # trace::ftrace::write(scenario, &mut ftrace)?;
/// let trace = read(&ftrace[..], Options::default())?;
/// let boost = trace.report.windows.iter().find(|w| w.name == "boost-1").ok_or("no boost")?;
/// let (_, low) = boost.tasks.iter().find(|(name, _)| name == "low").ok_or("no such task")?;
/// assert!((low.share - 0.5).abs() < 0.01);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Serialize)]
pub struct ShareReport {
    /// Running, ns.
    pub cpu_ns: u64,
    /// `cpu_ns` by the recorded length of the window.
    pub share: f64,
    /// Times it was switched to.
    pub switches: u64,
    /// Longest wait, as far as it lies in the window, ns.
    pub max_wait_ns: u64,
}

/// One boost: a stretch at one better prio.
///
/// ```
/// # use reweight_lab::model::pi::Variant;
/// # use reweight_lab::trace::{self, read::{Options, read}};
/// # use reweight_lab::workload::{self, Workload, presets};
/// # let text = presets::named("patch-test").ok_or("no such preset")?.text;
/// # let patched = workload::Options { pi: Some(Variant::Reweight), ..workload::Options::default() };
/// # let scenario = Workload::parse(text, "patch-test.json")?.build(&patched)?;
/// # let mut ftrace = Vec::new();
/// # trace::ftrace::write(scenario, &mut ftrace)?;
/// let trace = read(&ftrace[..], Options::default())?;
/// let boost = &trace.report.boosts[0];
/// assert_eq!((boost.task.as_str(), boost.by.as_deref()), ("low", Some("high")));
/// assert_eq!((boost.from_prio, boost.to_prio), (130, 120));
/// assert_eq!(boost.verdict, "share-follows");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Serialize)]
pub struct BoostReport {
    /// Its window, if its begin was seen.
    pub window: Option<String>,
    /// The holder.
    pub task: String,
    /// Its thread id.
    pub pid: u32,
    /// The task in whose context the prio was raised: the waiter, or who changed the waiter.
    /// `null` when the boost is what was left of another.
    pub by: Option<String>,
    /// Its thread id.
    pub by_pid: Option<u32>,
    /// `fair`, `rt` or `deadline`, of the lent prio.
    pub class: &'static str,
    /// Prio before.
    pub from_prio: i32,
    /// Prio while it lasted.
    pub to_prio: i32,
    /// The holder's own prio.
    pub own_prio: i32,
    /// Begin.
    pub from_ns: u64,
    /// End.
    pub to_ns: u64,
    /// `released`, `changed`, `reniced`, `unmoved`, `gone` or `trace-end`.
    pub end: &'static str,
    /// The trace begins in the midst of it.
    pub began_before: bool,
    /// Time in which the share could tell, ns.
    pub contended_ns: u64,
    /// The holder's share of the contended time; of the whole recorded boost where there was none.
    pub share: Option<f64>,
    /// What everybody's own weight gives over the contended time.
    pub share_if_stock: Option<f64>,
    /// What the weights of the prios give.
    pub share_if_reweighted: Option<f64>,
    /// `prio-only`, `share-follows`, `not-enough-contention` or `rt-boost`.
    pub verdict: &'static str,
    /// When a later part showed the other side.
    pub turned_ns: Option<u64>,
    /// Lines of the holder's CPU are missing, so the shares are those of the time that the holder
    /// and this task got together.
    pub against: Option<String>,
    /// A sentence on what is odd about it.
    pub note: Option<String>,
}

/// One CPU.
///
/// ```
/// # use reweight_lab::model::pi::Variant;
/// # use reweight_lab::trace::{self, read::{Options, read}};
/// # use reweight_lab::workload::{self, Workload, presets};
/// # let text = presets::named("patch-test").ok_or("no such preset")?.text;
/// # let patched = workload::Options { pi: Some(Variant::Reweight), ..workload::Options::default() };
/// # let scenario = Workload::parse(text, "patch-test.json")?.build(&patched)?;
/// # let mut ftrace = Vec::new();
/// # trace::ftrace::write(scenario, &mut ftrace)?;
/// let trace = read(&ftrace[..], Options::default())?;
/// let cpu = &trace.report.cpus[0];
/// assert_eq!((cpu.cpu, cpu.lost_events, cpu.contradictions), (0, 0, 0));
/// assert!(cpu.busy_ns > 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Serialize)]
pub struct CpuReport {
    /// Its number.
    pub cpu: u32,
    /// Idle, ns.
    pub idle_ns: u64,
    /// Running tasks, ns.
    pub busy_ns: u64,
    /// Not known for missing lines, ns.
    pub unknown_ns: u64,
    /// Lines the writer says were lost.
    pub lost_events: u64,
    /// Lines that contradict the line before.
    pub contradictions: u64,
}

/// What was read.
///
/// ```
/// # use reweight_lab::model::pi::Variant;
/// # use reweight_lab::trace::{self, read::{Options, read}};
/// # use reweight_lab::workload::{self, Workload, presets};
/// # let text = presets::named("patch-test").ok_or("no such preset")?.text;
/// # let patched = workload::Options { pi: Some(Variant::Reweight), ..workload::Options::default() };
/// # let scenario = Workload::parse(text, "patch-test.json")?.build(&patched)?;
/// # let mut ftrace = Vec::new();
/// # trace::ftrace::write(scenario, &mut ftrace)?;
/// let trace = read(&ftrace[..], Options::default())?;
/// let reading = &trace.report.reading;
/// assert_eq!((reading.bytes, reading.unread), (ftrace.len() as u64, 0));
/// assert!(reading.events <= reading.lines);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Serialize)]
pub struct ReadingReport {
    /// Of text, unpacked.
    pub bytes: u64,
    /// Lines.
    pub lines: u64,
    /// Lines that are events.
    pub events: u64,
    /// Events of no use here, by name.
    pub other: Vec<NameCount>,
    /// Lines that could not be read.
    pub unread: u64,
    /// The first 20 of them.
    pub unread_lines: Vec<LineReport>,
    /// Lines longer than the bound, part of `unread`.
    pub too_long: u64,
    /// The last line had no end and was left out.
    pub unfinished: bool,
    /// Events lost, as the writer says.
    pub lost_events: u64,
    /// Events overwritten in the ring before the first line.
    pub overwritten: u64,
    /// Where the clock went back.
    pub clock: ClockReport,
    /// Stretches that were not recorded; the first 1000.
    pub gaps: Vec<GapReport>,
}

/// An event's name and how often it came.
///
/// ```
/// # use reweight_lab::model::pi::Variant;
/// # use reweight_lab::trace::{self, read::{Options, read}};
/// # use reweight_lab::workload::{self, Workload, presets};
/// # let text = presets::named("patch-test").ok_or("no such preset")?.text;
/// # let patched = workload::Options { pi: Some(Variant::Reweight), ..workload::Options::default() };
/// # let scenario = Workload::parse(text, "patch-test.json")?.build(&patched)?;
/// # let mut ftrace = Vec::new();
/// # trace::ftrace::write(scenario, &mut ftrace)?;
/// let trace = read(&ftrace[..], Options::default())?;
/// for other in &trace.report.reading.other {
///     assert!(other.count > 0, "{}", other.name);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Serialize)]
pub struct NameCount {
    /// The event.
    pub name: String,
    /// How often.
    pub count: u64,
}

/// A line that could not be read.
///
/// ```
/// # use reweight_lab::model::pi::Variant;
/// # use reweight_lab::trace::{self, read::{Options, read}};
/// # use reweight_lab::workload::{self, Workload, presets};
/// # let text = presets::named("patch-test").ok_or("no such preset")?.text;
/// # let patched = workload::Options { pi: Some(Variant::Reweight), ..workload::Options::default() };
/// # let scenario = Workload::parse(text, "patch-test.json")?.build(&patched)?;
/// # let mut ftrace = Vec::new();
/// # trace::ftrace::write(scenario, &mut ftrace)?;
/// ftrace.extend(b"this is no event\n");
/// let trace = read(&ftrace[..], Options::default())?;
/// assert_eq!(trace.report.reading.unread, 1);
/// let line = &trace.report.reading.unread_lines[0];
/// assert_eq!(line.line, trace.report.reading.lines);
/// assert_eq!(line.text, "this is no event");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Serialize)]
pub struct LineReport {
    /// From 1.
    pub line: u64,
    /// What was expected.
    pub why: String,
    /// How it begins.
    pub text: String,
}

/// Time going backward.
///
/// ```
/// # use reweight_lab::model::pi::Variant;
/// # use reweight_lab::trace::{self, read::{Options, read}};
/// # use reweight_lab::workload::{self, Workload, presets};
/// # let text = presets::named("patch-test").ok_or("no such preset")?.text;
/// # let patched = workload::Options { pi: Some(Variant::Reweight), ..workload::Options::default() };
/// # let scenario = Workload::parse(text, "patch-test.json")?.build(&patched)?;
/// # let mut ftrace = Vec::new();
/// # trace::ftrace::write(scenario, &mut ftrace)?;
/// let trace = read(&ftrace[..], Options::default())?;
/// let clock = &trace.report.reading.clock;
/// assert_eq!((clock.back_small, clock.back_large), (0, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Serialize)]
pub struct ClockReport {
    /// Steps of up to 10 ms, held at the time before.
    pub back_small: u64,
    /// Larger ones: a new stretch begins there.
    pub back_large: u64,
    /// The largest step, ns.
    pub back_most_ns: u64,
}

/// A stretch that was not recorded.
///
/// ```
/// # use reweight_lab::model::pi::Variant;
/// # use reweight_lab::trace::{self, read::{Options, read}};
/// # use reweight_lab::workload::{self, Workload, presets};
/// # let text = presets::named("patch-test").ok_or("no such preset")?.text;
/// # let patched = workload::Options { pi: Some(Variant::Reweight), ..workload::Options::default() };
/// # let scenario = Workload::parse(text, "patch-test.json")?.build(&patched)?;
/// # let mut ftrace = Vec::new();
/// # trace::ftrace::write(scenario, &mut ftrace)?;
/// let trace = read(&ftrace[..], Options::default())?;
/// let gaps = &trace.report.reading.gaps;
/// let untraced: u64 = gaps.iter().map(|gap| gap.to_ns - gap.from_ns).sum();
/// assert_eq!(untraced, trace.report.untraced_ns);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Serialize)]
pub struct GapReport {
    /// Begin.
    pub from_ns: u64,
    /// End.
    pub to_ns: u64,
}

/// A marker.
///
/// ```
/// # use reweight_lab::model::pi::Variant;
/// # use reweight_lab::trace::{self, read::{Options, read}};
/// # use reweight_lab::workload::{self, Workload, presets};
/// # let text = presets::named("patch-test").ok_or("no such preset")?.text;
/// # let patched = workload::Options { pi: Some(Variant::Reweight), ..workload::Options::default() };
/// # let scenario = Workload::parse(text, "patch-test.json")?.build(&patched)?;
/// # let mut ftrace = Vec::new();
/// # trace::ftrace::write(scenario, &mut ftrace)?;
/// let trace = read(&ftrace[..], Options::default())?;
/// for mark in &trace.report.marks {
///     assert!(mark.at_ns <= trace.report.duration_ns && mark.text.len() <= 128);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Serialize)]
pub struct MarkReport {
    /// When.
    pub at_ns: u64,
    /// Who wrote it.
    pub pid: u32,
    /// The text, at most 128 bytes.
    pub text: String,
}

pub(super) fn class(prio: i32) -> &'static str {
    match prio {
        100.. => "fair",
        0..=99 => "rt",
        _ => "deadline",
    }
}

fn spread(s: &Samples) -> SpreadReport {
    SpreadReport {
        count: s.count(),
        mean_ns: s.sum().0.checked_div(s.count()).unwrap_or(0),
        p50_ns: s.percentile(50).0,
        p90_ns: s.percentile(90).0,
        p99_ns: s.percentile(99).0,
        max_ns: s.max().0,
        exact: s.is_exact(),
    }
}

/// The sum of tasks that were folded away.
const ENDED: &str = "(ended)";

/// Names that tell tasks apart.
pub(super) struct Names {
    /// By serial number.
    by_serial: HashMap<u32, String>,
    by_pid: HashMap<u32, String>,
}

impl Names {
    pub(super) fn of(seen: &Analysis) -> Names {
        let mut uses: HashMap<String, u32> = HashMap::new();
        for t in seen.tasks.listed() {
            *uses.entry(t.comm.text()).or_default() += 1;
        }
        let mut taken: HashSet<String> = HashSet::from([ENDED.to_string()]);
        let mut names = Names {
            by_serial: HashMap::new(),
            by_pid: HashMap::new(),
        };
        for t in seen.tasks.listed() {
            let comm = t.comm.text();
            let mut name = if uses[&comm] == 1 && !comm.is_empty() {
                comm
            } else {
                format!("{comm}-{}", t.pid)
            };
            while !taken.insert(name.clone()) {
                name.push_str("-again");
            }
            names.by_pid.insert(t.pid, name.clone());
            names.by_serial.insert(t.serial, name);
        }
        names
    }

    pub(super) fn task(&self, t: &Task) -> String {
        self.by_serial[&t.serial].clone()
    }

    fn named(&self, n: &boosts::Named) -> String {
        self.by_pid
            .get(&n.pid)
            .cloned()
            .unwrap_or_else(|| format!("{}-{}", n.comm.text(), n.pid))
    }
}

pub(super) fn of(seen: &Analysis, tally: &Tally, lines: u64) -> TraceReport {
    let start = seen.first.unwrap_or_default();
    let rel = |at: Ns| at.saturating_sub(start).0;
    let names = Names::of(seen);
    let mut tasks: Vec<TaskReport> = seen
        .tasks
        .listed()
        .map(|t| task(t, names.task(t), start))
        .collect();
    tasks.sort_by(|a, b| {
        b.cpu_ns
            .cmp(&a.cpu_ns)
            .then(a.pid.cmp(&b.pid))
            .then(a.name.cmp(&b.name))
    });
    let mut windows = vec![all(seen, tally, &names)];
    let mut closed: Vec<&Span> = seen.windows.closed.iter().collect();
    closed.sort_by_key(|w| (w.from, w.name.len(), w.name.clone()));
    windows.extend(
        seen.windows
            .asked
            .iter()
            .chain(closed)
            .map(|w| window(w, &names, start, seen.last)),
    );
    let of_boost: HashMap<&str, &WindowReport> =
        windows.iter().map(|w| (w.name.as_str(), w)).collect();
    let boosts: Vec<BoostReport> = seen
        .boosts
        .done
        .iter()
        .map(|(id, r)| boost(*id, r, &names, &of_boost, start))
        .collect();
    let mut report = TraceReport {
        format: 1,
        source: "trace",
        kernel: None,
        hz: None,
        cpus_online: (tally.cpus_told > 0).then_some(tally.cpus_told),
        pi: None,
        start_ns: start.0,
        duration_ns: rel(seen.last),
        untraced_ns: tally.gap_time.0,
        switches: seen.switches,
        decisions: None,
        tasks,
        boosts,
        windows,
        cpus: cpus(seen),
        reading: reading(tally, lines, start),
        marks: seen
            .marks
            .iter()
            .map(|m| MarkReport {
                at_ns: rel(m.at),
                pid: m.pid,
                text: m.text.clone(),
            })
            .collect(),
        notices: Vec::new(),
    };
    report.notices = notices::of(&report, seen, tally);
    report
}

fn task(t: &Task, name: String, start: Ns) -> TaskReport {
    let weight = t.base.and_then(boosts::weight);
    TaskReport {
        name,
        pid: t.pid,
        policy: t.base.map(class),
        nice: t.base.filter(|_| weight.is_some()).map(|prio| prio - 120),
        cpu_ns: t.totals.run.0,
        wait_ns: t.totals.wait.0,
        sleep_ns: t.totals.sleep.0,
        blocked_ns: t.totals.blocked.0,
        uninterruptible_ns: t.totals.uninterruptible.0,
        prio: t.prio,
        weight,
        switches: t.totals.switches,
        longest_wait_from_ns: t.longest_wait_from.saturating_sub(start).0,
        wait: spread(&t.waits),
        wakeup: spread(&t.latencies),
    }
}

fn share(run: Ns, length: Ns) -> f64 {
    if length == Ns(0) {
        0.0
    } else {
        run.0 as f64 / length.0 as f64
    }
}

fn sorted(mut tasks: Vec<(String, ShareReport)>) -> Vec<(String, ShareReport)> {
    tasks.sort_by(|a, b| b.1.cpu_ns.cmp(&a.1.cpu_ns).then_with(|| a.0.cmp(&b.0)));
    tasks
}

fn all(seen: &Analysis, tally: &Tally, names: &Names) -> WindowReport {
    let whole = seen.last.saturating_sub(seen.first.unwrap_or_default());
    let traced = whole.saturating_sub(tally.gap_time);
    let mut tasks: Vec<(String, ShareReport)> = seen
        .tasks
        .listed()
        .map(|t| {
            let share = ShareReport {
                cpu_ns: t.totals.run.0,
                share: share(t.totals.run, traced),
                switches: t.totals.switches,
                max_wait_ns: t.waits.max().0,
            };
            (names.task(t), share)
        })
        .collect();
    let ended = &seen.tasks.ended;
    if ended.count > 0 {
        let share = ShareReport {
            cpu_ns: ended.totals.run.0,
            share: share(ended.totals.run, traced),
            switches: ended.totals.switches,
            max_wait_ns: ended.longest.0,
        };
        tasks.push((ENDED.to_string(), share));
    }
    WindowReport {
        name: "all".into(),
        from_ns: 0,
        to_ns: whole.0,
        idle_ns: seen
            .cpus
            .iter()
            .fold(0u64, |sum, cpu| sum.saturating_add(cpu.idle.0)),
        untraced_ns: tally.gap_time.0,
        tasks: sorted(tasks),
    }
}

fn window(w: &Span, names: &Names, start: Ns, last: Ns) -> WindowReport {
    let to = w.to.min(last.max(w.from));
    let traced = to.saturating_sub(w.from).saturating_sub(w.untraced);
    let told = |t: &Sum| ShareReport {
        cpu_ns: t.run.0,
        share: share(t.run, traced),
        switches: t.switches,
        max_wait_ns: t.max_wait.0,
    };
    let mut tasks = Vec::new();
    let mut ended = Sum::default();
    for (serial, t) in &w.tallies {
        match names.by_serial.get(serial) {
            Some(name) => tasks.push((name.clone(), told(t))),
            None => ended.add(t),
        }
    }
    if ended.switches > 0 || ended.run > Ns(0) {
        tasks.push((ENDED.to_string(), told(&ended)));
    }
    WindowReport {
        name: w.name.clone(),
        from_ns: w.from.saturating_sub(start).0,
        to_ns: to.saturating_sub(start).0,
        idle_ns: w.idle.0,
        untraced_ns: w.untraced.0,
        tasks: sorted(tasks),
    }
}

fn boost(
    id: u32,
    r: &Record,
    names: &Names,
    windows: &HashMap<&str, &WindowReport>,
    start: Ns,
) -> BoostReport {
    let task = names.named(&r.task);
    let window = windows.get(format!("boost-{}", id + 1).as_str());
    let plain = window
        .and_then(|w| w.tasks.iter().find(|(name, _)| *name == task))
        .map(|(_, s)| s.share);
    let shares = r.sums.shares();
    BoostReport {
        window: window.map(|w| w.name.clone()),
        pid: r.task.pid,
        by: r.by.as_ref().map(|by| names.named(by)),
        by_pid: r.by.as_ref().map(|by| by.pid),
        class: class(r.to_prio),
        from_prio: r.from_prio,
        to_prio: r.to_prio,
        own_prio: r.base,
        from_ns: r.from.saturating_sub(start).0,
        to_ns: r.to.saturating_sub(start).0,
        end: r.end.name(),
        began_before: r.began_before,
        contended_ns: r.sums.contended.0,
        share: shares.map(|s| s.0).or(plain),
        share_if_stock: shares.map(|s| s.1),
        share_if_reweighted: shares.map(|s| s.2),
        verdict: r.verdict.name(),
        turned_ns: r.turned.map(|at| at.saturating_sub(start).0),
        against: r.against.as_ref().map(|n| names.named(n)),
        note: note(r),
        task,
    }
}

/// What is odd about a boost, in a sentence.
fn note(r: &Record) -> Option<String> {
    if r.began_before {
        return Some("it began before the trace, so its contention was not followed".into());
    }
    if r.end == End::Unmoved {
        return Some("the lock was handed on and the prio stayed: its own nice was moved there meanwhile, so whose weight gave the share is not known".into());
    }
    let (measured, stock, reweighted) = r.sums.shares()?;
    if r.turned.is_some() {
        return Some("later the share went to the other side: a renice or sched_setattr of the holder does that".into());
    }
    if r.verdict == Verdict::NotEnoughContention && r.sums.contended >= ENOUGH {
        let apart = (reweighted - stock) * r.sums.contended.0 as f64 / 1e6;
        return Some(format!(
            "the two expectations are only {apart:.0} ms of CPU apart, or the measured share lies between them"
        ));
    }
    if r.verdict == Verdict::PrioOnly && measured < 0.5 * stock {
        return Some("less than even its own nice gives: SCHED_IDLE, a cgroup, or a weight set while boosted".into());
    }
    None
}

fn cpus(seen: &Analysis) -> Vec<CpuReport> {
    let reports = seen
        .cpus
        .iter()
        .enumerate()
        .filter(|(_, cpu)| cpu.seen)
        .map(|(number, cpu)| CpuReport {
            cpu: number as u32,
            idle_ns: cpu.idle.0,
            busy_ns: cpu.busy.0,
            unknown_ns: cpu.unknown.0,
            lost_events: cpu.lost_events,
            contradictions: cpu.contradictions,
        });
    reports.collect()
}

fn reading(tally: &Tally, lines: u64, start: Ns) -> ReadingReport {
    let rel = |at: Ns| at.saturating_sub(start).0;
    let mut other: Vec<NameCount> = tally
        .other
        .iter()
        .map(|(name, &count)| NameCount {
            name: super::event::printable(name),
            count,
        })
        .collect();
    other.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.name.cmp(&b.name)));
    if tally.other_names_left_out > 0 {
        other.push(NameCount {
            name: "(further names)".into(),
            count: tally.other_names_left_out,
        });
    }
    ReadingReport {
        bytes: tally.bytes,
        lines,
        events: tally.events,
        other,
        unread: tally.unread,
        unread_lines: tally
            .quoted
            .iter()
            .map(|(line, why, text)| LineReport {
                line: *line,
                why: why.clone(),
                text: text.clone(),
            })
            .collect(),
        too_long: tally.too_long,
        unfinished: tally.unfinished,
        lost_events: tally.lost_events,
        overwritten: tally.overwritten,
        clock: ClockReport {
            back_small: tally.back_small,
            back_large: tally.back_large,
            back_most_ns: tally.back_most.0,
        },
        gaps: tally
            .gaps
            .iter()
            .map(|&(from, to)| GapReport {
                from_ns: rel(from),
                to_ns: rel(to),
            })
            .collect(),
    }
}
