//! The order of decisions: the model starts from a queue state that a real kernel printed and
//! has to predict every stint that follows (who, how many ticks), up to the end of the trace or
//! the next change from outside.
//!
//! Foreign tasks (the recorder, kernel threads) are fed in at their recorded wakeups. Nothing is
//! fitted but the 1.85 us between a tick and its switch. What the recordings hold is told in
//! `docs/realism.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use crate::recording::{self, Line};
use reweight_lab::model::kernel::{Kernel, Settings};
use reweight_lab::model::machine::{Control, Machine};
use reweight_lab::model::observer::{Event, Observer};
use reweight_lab::model::pi::Variant;
use reweight_lab::model::program::Step;
use reweight_lab::model::task::{EntityState, Policy, Scheduling, TaskSpec};
use reweight_lab::model::units::{CpuId, Ns, TaskId, Vtime};
use reweight_lab::model::weight::LoadWeight;
use serde_json::Value;

/// Samples that show a queue at rest between changes.
const LABELS: [&str; 8] = ["post+50", "op+50", "rel+50", "B0", "B2", "B3", "C0", "H1"];
const TICK_US: u64 = 1000;
/// The longest from a wakeup to the switch that it calls for, us.
const PREEMPTS_US: u64 = 5;
/// A spinner, the lock holder, and a task that computes 2 ms and sleeps 8 ms.
const SLEEPER: &str = "bg_sleeper";

/// One task's state in a sample.
struct Queued {
    name: String,
    pid: u64,
    state: EntityState,
    policy: Policy,
    nice: i32,
    /// Of a task that sleeps in between: when it woke, us since the start, and the CPU time it
    /// then had until it slept, ns. The first burst is under way at the start.
    bursts: Vec<(u64, u64)>,
}

struct Replay {
    label: String,
    queued: Vec<Queued>,
    min_vruntime: Option<Vtime>,
    start_us: u64,
    stop_us: u64,
}

fn ns(ms: &str) -> Vtime {
    let (whole, frac) = ms.split_once('.').expect("ms with six decimals");
    let sign = if whole.starts_with('-') { -1 } else { 1 };
    let whole: i64 = whole.trim_start_matches('-').parse().expect("a number");
    let frac: i64 = frac.parse().expect("a number");
    assert!(frac < 1_000_000);
    Vtime((sign * (whole * 1_000_000 + frac)) as u64)
}

fn load_of(weight: u32) -> LoadWeight {
    if weight == 3 {
        return LoadWeight::IDLE;
    }
    (-20..20)
        .map(LoadWeight::of_nice)
        .find(|l| l.table_weight() == weight)
        .expect("a table weight")
}

/// The queue state of a sample, or nothing if it cannot be replayed.
fn queued(sample: &Value, eevdf: bool) -> Option<(Vec<Queued>, Option<Vtime>)> {
    let rq = sample.get("rq")?.as_array()?;
    let mut min_vruntime = None;
    let mut load = 0;
    let mut queued = Vec::new();
    for line in rq.iter().filter_map(Value::as_str) {
        if let Some((key, value)) = line.split_once(" : ") {
            match key {
                ".min_vruntime" => min_vruntime = Some(ns(value)),
                ".load" => load = value.parse::<u64>().ok()?,
                _ => {}
            }
            continue;
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        if !matches!(words[0], "R" | ">R") {
            continue;
        }
        let task = &sample["tasks"][words[1]];
        let prio = task["prio"].as_i64()? as i32;
        if prio < 100 {
            return None;
        }
        let weight = task["weight"].as_f64()? as u32;
        let policy = match task["policy"].as_i64()? {
            0 => Policy::Normal,
            3 => Policy::Batch,
            5 => Policy::Idle,
            _ => return None,
        };
        let (deadline, slice) = if eevdf {
            let slice = (words[6].parse::<f64>().ok()? * 1e6).round() as u64;
            (ns(words[5]), Ns(slice))
        } else {
            (Vtime(0), Ns(0))
        };
        queued.push(Queued {
            name: words[1].to_owned(),
            pid: words[2].parse().ok()?,
            state: EntityState {
                vruntime: ns(words[3]),
                deadline,
                slice,
                prio,
                load: load_of(weight),
                asleep_until: None,
                lag: 0,
            },
            policy,
            nice: prio - 120,
            bursts: Vec::new(),
        });
    }
    let sum: u64 = queued.iter().map(|q| q.state.load.weight).sum();
    if queued.is_empty() || sum != load {
        return None;
    }
    // In the tree's order, so that ties fall as they did.
    queued.sort_by_key(|q| {
        if eevdf {
            q.state.deadline.signed()
        } else {
            q.state.vruntime.signed()
        }
    });
    Some((queued, min_vruntime))
}

fn replays(scenario: &Value, trace: &[Line], eevdf: bool) -> Vec<Replay> {
    let t0 = scenario["t0_mono_ns"].as_u64().expect("t0");
    let mut found = Vec::new();
    for sample in scenario["samples"].as_array().into_iter().flatten() {
        let label = sample["label"].as_str().unwrap_or("");
        if !LABELS.contains(&label) {
            continue;
        }
        let Some((queued, min_vruntime)) = queued(sample, eevdf) else {
            continue;
        };
        let at_us = (t0 + sample["t"].as_u64().expect("t")) / 1000;
        // The recorder goes to sleep soon after it has looked.
        let start = trace.iter().find(|l| {
            let within = (at_us..at_us + 3000).contains(&l.us());
            within
                && matches!(l, Line::Switch { prev_sleeps: true, prev, .. }
                    if !queued.iter().any(|q| q.pid == *prev))
        });
        let Some(start_us) = start.map(Line::us) else {
            continue;
        };
        let mut stop_us = trace.last().map_or(0, Line::us);
        for action in scenario["actions"].as_array().into_iter().flatten() {
            let us = (t0 + action["t"].as_u64().unwrap_or(0)) / 1000;
            let op = action["op"]
                .as_str()
                .unwrap_or("")
                .split(' ')
                .next()
                .unwrap_or("");
            if us > start_us && !matches!(op, "sample" | "begin" | "end" | "trace") {
                stop_us = stop_us.min(us);
            }
        }
        let mut last = start_us;
        for line in trace.iter().filter(|l| l.us() > start_us) {
            match line {
                Line::SetPrio { us } => stop_us = stop_us.min(*us),
                Line::Switch { us, .. } => {
                    if us - last > 150_000 {
                        stop_us = stop_us.min(last);
                    }
                    last = *us;
                }
                Line::Wakeup { .. } | Line::Runtime { .. } => {}
            }
        }
        let mut queued = queued;
        for q in &mut queued {
            q.bursts = bursts_of(trace, q.pid, start_us, stop_us);
        }
        found.push(Replay {
            label: label.to_owned(),
            queued,
            min_vruntime,
            start_us,
            stop_us,
        });
    }
    found
}

/// When a queued task slept and woke after the start; nothing if it never slept.
fn bursts_of(trace: &[Line], pid: u64, start_us: u64, stop_us: u64) -> Vec<(u64, u64)> {
    let mut bursts = vec![(0, 0)];
    let mut slept = false;
    // The timer's interrupt charges the current task first; the wakeup is told a little later.
    let mut charged_us = start_us;
    for line in trace
        .iter()
        .filter(|l| (start_us..=stop_us).contains(&l.us()))
    {
        if let Line::Runtime { us, .. } = line {
            charged_us = *us;
        }
        match *line {
            Line::Runtime { pid: p, ns, .. } if p == pid => bursts.last_mut().unwrap().1 += ns,
            Line::Wakeup { us, pid: p } if p == pid => {
                let us = if us - charged_us <= 2 { charged_us } else { us };
                bursts.push((us - start_us, 0));
            }
            Line::Switch {
                prev,
                prev_sleeps: true,
                ..
            } => slept |= prev == pid,
            _ => {}
        }
    }
    if slept { bursts } else { Vec::new() }
}

/// A foreign task: its wakeups and how long it ran after each, us since the start.
#[derive(Default)]
struct Foreign {
    prio: i32,
    bursts: Vec<(u64, u64)>,
}

/// How far a wakeup lies behind the tick whose interrupt made it on its way out, us.
fn after_tick(us: u64) -> Option<u64> {
    let after = (us + TICK_US - 2) % TICK_US;
    (after < 10).then_some(after)
}

fn foreign(trace: &[Line], replay: &Replay) -> BTreeMap<u64, Foreign> {
    let own = |pid: u64| pid == 0 || replay.queued.iter().any(|q| q.pid == pid);
    let mut tasks: BTreeMap<u64, Foreign> = BTreeMap::new();
    // Who woke while the recorder still ran is there from the start.
    for line in trace.iter().filter(|l| l.us() < replay.start_us) {
        match line {
            Line::Wakeup { pid, .. } if !own(*pid) => {
                tasks.entry(*pid).or_default().bursts = vec![(0, 0)];
            }
            Line::Switch {
                prev,
                prev_sleeps: true,
                ..
            } => {
                tasks.remove(prev);
            }
            _ => {}
        }
    }
    // The recorder itself goes to sleep at the start.
    for line in trace.iter().filter(|l| l.us() == replay.start_us) {
        if let Line::Switch {
            prev,
            prev_sleeps: true,
            ..
        } = line
        {
            tasks.remove(prev);
        }
    }
    let mut on_cpu: Option<(u64, u64)> = None;
    for line in trace
        .iter()
        .filter(|l| (replay.start_us..=replay.stop_us).contains(&l.us()))
    {
        match line {
            Line::Wakeup { us, pid } if !own(*pid) => {
                let at = us - replay.start_us;
                tasks.entry(*pid).or_default().bursts.push((at, 0));
            }
            Line::Switch {
                us,
                next,
                next_prio,
                ..
            } => {
                if let Some((pid, since)) = on_cpu.take()
                    && let Some(burst) = tasks.get_mut(&pid).and_then(|f| f.bursts.last_mut())
                {
                    burst.1 += us - since;
                }
                if !own(*next) {
                    let task = tasks.entry(*next).or_default();
                    task.prio = *next_prio;
                    // One that preempts as it wakes is charged from its wakeup on.
                    let woke = task.bursts.last().map(|b| b.0 + replay.start_us);
                    let since = woke.filter(|w| us - w <= PREEMPTS_US).unwrap_or(*us);
                    on_cpu = Some((*next, since));
                }
            }
            _ => {}
        }
    }
    tasks.retain(|_, f| !f.bursts.is_empty());
    tasks
}

type Stint = (String, u64);

fn ticks(us: u64) -> u64 {
    (us + TICK_US / 2) / TICK_US
}

/// What really followed: the stints of the queued tasks.
fn recorded(trace: &[Line], replay: &Replay) -> Vec<Stint> {
    let mut stints = Vec::new();
    let mut current: Option<(&str, u64)> = None;
    let end = replay.stop_us.saturating_sub(2 * TICK_US);
    for line in trace
        .iter()
        .filter(|l| (replay.start_us..=end).contains(&l.us()))
    {
        if let Line::Switch { us, next, .. } = line {
            if let Some((name, since)) = current {
                stints.push((name.to_owned(), ticks(us - since)));
            }
            current = replay
                .queued
                .iter()
                .find(|q| q.pid == *next)
                .map(|q| (&*q.name, *us));
        }
    }
    stints
}

struct Stints<'a> {
    replay: &'a Replay,
    current: Option<(usize, u64)>,
    end_ns: u64,
    stints: Vec<Stint>,
}

impl Observer for Stints<'_> {
    fn event(&mut self, m: &Machine, event: &Event) {
        if let Event::Switch { next, .. } = *event {
            let now = m.now().0;
            if now > self.end_ns {
                return;
            }
            if let Some((i, since)) = self.current {
                self.stints.push((
                    self.replay.queued[i].name.clone(),
                    ticks((now - since) / 1000),
                ));
            }
            self.current = next
                .map(TaskId::index)
                .filter(|&i| i < self.replay.queued.len())
                .map(|i| (i, now));
        }
    }
}

/// What the model says follows.
fn predicted(trace: &[Line], replay: &Replay, kernel: Kernel, pi: Variant) -> Vec<Stint> {
    let mut settings = Settings::new(kernel);
    settings.pi = pi;
    settings.fair_group_sched = false;
    settings.resched_delay = Ns(1850);
    // Ticks come 2 us after the whole millisecond.
    let into = (replay.start_us + TICK_US - 2) % TICK_US;
    settings.tick_phase = Ns::from_us(TICK_US - into);
    let mut m = Machine::new(settings);
    let spin: Arc<[Step]> = Arc::from([Step::Run(Ns::from_secs(1000))]);
    for q in &replay.queued {
        let sched = Scheduling {
            policy: q.policy,
            ..Scheduling::normal(q.nice)
        };
        let program = if q.bursts.is_empty() {
            spin.clone()
        } else {
            let mut steps = Vec::new();
            for &(wake, ns) in &q.bursts {
                if wake > 0 {
                    steps.push(Step::SleepUntil(Ns::from_us(wake)));
                }
                steps.push(Step::Run(Ns(ns)));
            }
            Arc::from(steps)
        };
        m.add_task(TaskSpec {
            scheduling: Some(sched),
            cpu: Some(CpuId(0)),
            program,
            resume_at: Some(q.state),
        });
    }
    for task in foreign(trace, replay).values() {
        // What an interrupt wakes on its way out comes before the switch its tick called for.
        for &(wake, _) in &task.bursts {
            if let Some(after) = after_tick(replay.start_us + wake)
                && wake >= after
            {
                let lasts = Ns::from_us(after);
                m.control(
                    Ns::from_us(wake - after),
                    Control::Interrupt {
                        cpu: CpuId(0),
                        lasts,
                    },
                );
            }
        }
        let mut steps = Vec::new();
        for (i, &(wake, run)) in task.bursts.iter().enumerate() {
            if i > 0 {
                steps.push(Step::SleepUntil(Ns::from_us(wake)));
            }
            steps.push(Step::Run(Ns::from_us(run)));
        }
        steps.push(Step::SleepUntil(Ns::from_secs(100)));
        let sched = if task.prio < 100 {
            Scheduling::fifo((99 - task.prio).clamp(1, 99) as u8)
        } else {
            Scheduling::normal(task.prio - 120)
        };
        // It slept for long: no lag, and a vruntime far behind.
        let behind = replay
            .queued
            .iter()
            .map(|q| q.state.vruntime)
            .reduce(Vtime::min);
        m.add_task(TaskSpec {
            scheduling: Some(sched),
            cpu: Some(CpuId(0)),
            program: Arc::from(steps),
            resume_at: Some(EntityState {
                vruntime: behind.expect("somebody is queued").plus(-1_000_000_000),
                deadline: Vtime(0),
                slice: Ns(0),
                prio: sched.normal_prio(),
                load: sched.load(),
                asleep_until: Some(Ns::from_us(task.bursts[0].0)),
                // They ran at once whenever they woke: they were owed, and a short burst uses up
                // next to nothing of it.
                lag: 1_400_000,
            }),
        });
    }
    if let Some(min) = replay.min_vruntime {
        m.set_min_vruntime(CpuId(0), min);
    }
    let end_ns = replay.stop_us.saturating_sub(replay.start_us + 2 * TICK_US) * 1000;
    let mut stints = Stints {
        replay,
        current: None,
        end_ns,
        stints: Vec::new(),
    };
    m.run_until(Ns(end_ns + 1), &mut stints)
        .expect("it makes progress");
    stints.stints
}

/// What replays of some scenarios gave.
#[derive(Clone, Copy, Default)]
struct Score {
    replays: usize,
    /// Those without any difference.
    exact: usize,
    /// Those whose first difference is the same task, a tick more or less.
    by_a_tick: usize,
    /// Stints recorded.
    all: usize,
    /// Equal ones, place by place.
    equal: usize,
    /// Equal ones in order: what a swap puts out of step counts again.
    in_order: usize,
}

impl Score {
    fn of(want: &[Stint], got: &[Stint]) -> Score {
        let mut pairs = want.iter().zip(got);
        let first = pairs.clone().find(|(a, b)| a != b);
        let by_a_tick = first.is_some_and(|(a, b)| a.0 == b.0 && a.1.abs_diff(b.1) == 1);
        Score {
            replays: 1,
            exact: usize::from(want.len() <= got.len() && first.is_none()),
            by_a_tick: usize::from(by_a_tick),
            all: want.len(),
            equal: pairs.by_ref().filter(|(a, b)| a == b).count(),
            in_order: common(want, got),
        }
    }

    fn add(self, o: Score) -> Score {
        Score {
            replays: self.replays + o.replays,
            exact: self.exact + o.exact,
            by_a_tick: self.by_a_tick + o.by_a_tick,
            all: self.all + o.all,
            equal: self.equal + o.equal,
            in_order: self.in_order + o.in_order,
        }
    }
}

/// A recorded configuration that is replayed.
struct Config {
    /// As tables head it.
    name: &'static str,
    folder: &'static str,
    kernel: Kernel,
    pi: Variant,
    /// Decisions that have to be equal, of a thousand.
    at_least: usize,
    /// Replays there are.
    replays: usize,
}

const CONFIGS: [Config; 5] = [
    Config {
        name: "6.1 stock",
        folder: "linux-6.1-hz1000-stock",
        kernel: Kernel::V6_1,
        pi: Variant::Stock,
        at_least: 995,
        replays: 42,
    },
    Config {
        name: "6.1 patched",
        folder: "linux-6.1-hz1000-reweight",
        kernel: Kernel::V6_1,
        pi: Variant::Reweight,
        at_least: 995,
        replays: 42,
    },
    Config {
        name: "6.12 stock",
        folder: "linux-6.12-hz1000-stock",
        kernel: Kernel::V6_12,
        pi: Variant::Stock,
        at_least: 965,
        replays: 130,
    },
    Config {
        name: "6.12 patched",
        folder: "linux-6.12-hz1000-reweight",
        kernel: Kernel::V6_12,
        pi: Variant::Reweight,
        at_least: 990,
        replays: 132,
    },
    Config {
        name: "6.12 scaled",
        folder: "linux-6.12-hz1000-reweight-reldeadline",
        kernel: Kernel::V6_13,
        pi: Variant::Reweight,
        at_least: 990,
        replays: 22,
    },
];

/// The scores of a configuration's scenarios.
fn scores(config: &Config) -> BTreeMap<String, Score> {
    let mut scores = BTreeMap::new();
    for name in recording::scenarios(config.folder) {
        if name == SLEEPER {
            continue;
        }
        let scenario = recording::scenario(config.folder, &name);
        let trace = recording::trace(config.folder, &name);
        for replay in replays(&scenario, &trace, config.kernel.name != "6.1") {
            let want = recorded(&trace, &replay);
            if want.len() < 5 {
                continue;
            }
            let got = predicted(&trace, &replay, config.kernel, config.pi);
            let score = Score::of(&want, &got);
            if score.exact == 0 {
                let first = want.iter().zip(&got).position(|(a, b)| a != b);
                println!(
                    "{} {name} {}: {} of {} (first difference at {first:?}: recorded {:?}, model \
                     {:?})",
                    config.folder,
                    replay.label,
                    score.equal,
                    want.len(),
                    first.map(|i| &want[i]),
                    first.map(|i| &got[i]),
                );
            }
            let sum: &mut Score = scores.entry(name.clone()).or_default();
            *sum = sum.add(score);
        }
    }
    scores
}

fn per_cent(part: usize, all: usize) -> String {
    format!("{:.2} %", 100.0 * part as f64 / all as f64)
}

/// The tables of `docs/realism.md`: by configuration, by scenario.
fn tables(all: &[BTreeMap<String, Score>]) -> [String; 2] {
    let mut text = "| | replays | exact | stints | equal, place by place | equal, in order | \
                    first differs by a tick |\n|---|---|---|---|---|---|---|\n"
        .to_owned();
    for (config, scores) in CONFIGS.iter().zip(all) {
        let sum = scores.values().copied().fold(Score::default(), Score::add);
        text += &format!(
            "| {} | {} | {} | {} | {} | {} | {} of {} |\n",
            config.name,
            sum.replays,
            sum.exact,
            sum.all,
            per_cent(sum.equal, sum.all),
            per_cent(sum.in_order, sum.all),
            sum.by_a_tick,
            sum.replays - sum.exact,
        );
    }
    let sums = std::mem::replace(&mut text, "| scenario |".to_owned());
    for config in &CONFIGS {
        text += &format!(" {} |", config.name);
    }
    text += "\n|---|---|---|---|---|---|\n";
    let names: BTreeSet<&String> = all.iter().flat_map(BTreeMap::keys).collect();
    for name in names {
        text += &format!("| {name} |");
        for scores in all {
            text += &match scores.get(name) {
                None => " |".to_owned(),
                Some(s) if s.equal == s.all => format!(" {} |", s.all),
                Some(s) => format!(" {} of {} |", s.equal, s.all),
            };
        }
        text += "\n";
    }
    [sums, text]
}

#[test]
fn decisions_are_predicted_and_the_document_says_how_many() {
    let all: Vec<_> = std::thread::scope(|scope| {
        let runs: Vec<_> = CONFIGS
            .iter()
            .map(|config| scope.spawn(|| scores(config)))
            .collect();
        runs.into_iter()
            .map(|run| run.join().expect("a replay"))
            .collect()
    });
    let tables = tables(&all);
    println!("{}\n{}", tables[0], tables[1]);
    for (config, scores) in CONFIGS.iter().zip(&all) {
        let sum = scores.values().copied().fold(Score::default(), Score::add);
        assert_eq!(sum.replays, config.replays, "{}", config.name);
        assert!(
            sum.equal * 1000 >= sum.all * config.at_least,
            "{}: {} of {}",
            config.name,
            sum.equal,
            sum.all
        );
    }
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/realism.md");
    let document = std::fs::read_to_string(document).expect("docs/realism.md");
    assert!(
        tables.iter().all(|table| document.contains(table)),
        "docs/realism.md tells other figures; cargo test --test recordings document -- --nocapture \
         prints those that are true"
    );
}

/// The length of the longest common subsequence.
fn common(a: &[Stint], b: &[Stint]) -> usize {
    let mut row = vec![0; b.len() + 1];
    for x in a {
        let mut diagonal = 0;
        for (j, y) in b.iter().enumerate() {
            let above = row[j + 1];
            row[j + 1] = if x == y {
                diagonal + 1
            } else {
                above.max(row[j])
            };
            diagonal = above;
        }
    }
    row[b.len()]
}

/// A task that sleeps and wakes between the others, in order to hold wakeup preemption, lag kept
/// over a sleep and delayed dequeue. Its wakeups and the CPU time of each burst are fed in.
#[test]
fn a_periodic_task_goes_to_sleep_and_comes_back_as_recorded() {
    let (mut equal, mut all, mut count) = (0, 0, 0);
    for (config, kernel, pi) in [
        ("linux-6.12-hz1000-stock", Kernel::V6_12, Variant::Stock),
        (
            "linux-6.12-hz1000-reweight",
            Kernel::V6_12,
            Variant::Reweight,
        ),
        (
            "linux-6.12-hz1000-reweight-reldeadline",
            Kernel::V6_13,
            Variant::Reweight,
        ),
    ] {
        let scenario = recording::scenario(config, SLEEPER);
        let trace = recording::trace(config, SLEEPER);
        for replay in replays(&scenario, &trace, true) {
            // Asleep at the sample: what it was owed is not printed.
            if replay.queued.iter().all(|q| q.bursts.is_empty()) {
                continue;
            }
            let want = recorded(&trace, &replay);
            let got = predicted(&trace, &replay, kernel, pi);
            let same = common(&want, &got);
            println!(
                "{config} {SLEEPER} {}: {same} of {} in order",
                replay.label,
                want.len()
            );
            equal += same;
            all += want.len();
            count += 1;
        }
    }
    println!(
        "{SLEEPER}: {count} replays, {equal} of {all}, {:.2} %",
        100.0 * equal as f64 / all as f64
    );
    assert_eq!(count, 6);
    assert!(equal * 1000 >= all * 970, "{equal} of {all}");
}

/// I.1, and what the recordings add to it: a tick's switch comes later and the old task is charged
/// for the time between; a wakeup that preempts is charged to the woken task from the wakeup on.
#[test]
fn a_ticks_switch_is_late_and_a_wakeups_is_not() {
    let mut settings = Settings::new(Kernel::V6_12);
    settings.resched_delay = Ns(1900);
    let mut m = Machine::new(settings);
    let task = |steps: &[Step]| TaskSpec {
        scheduling: Some(Scheduling::normal(0)),
        cpu: Some(CpuId(0)),
        program: Arc::from(steps),
        resume_at: None,
    };
    let spin = Step::Run(Ns::from_secs(1));
    // The first runs; the second comes at its slice's end, a tick; the third wakes in between and
    // is owed.
    m.add_task(task(&[spin]));
    m.add_task(task(&[spin]));
    m.add_task(task(&[Step::SleepUntil(Ns(2_500_000)), spin]));
    #[derive(Default)]
    struct Switches(Vec<u64>);
    impl Observer for Switches {
        fn event(&mut self, m: &Machine, event: &Event) {
            if matches!(event, Event::Switch { .. }) {
                self.0.push(m.now().0);
            }
        }
    }
    let mut seen = Switches::default();
    m.run_until(Ns(2_600_000), &mut seen).expect("it goes on");
    println!("{:?}", seen.0);
    assert!(seen.0.contains(&2_500_000), "{:?}", seen.0);
    assert!(seen.0.contains(&1_001_900), "{:?}", seen.0);
}
