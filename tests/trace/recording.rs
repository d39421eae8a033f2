//! The recording against the report, and both against a plain list of what the model told.

use reweight_lab::model::machine::Machine;
use reweight_lab::model::observer::{Event, LockEvent, Observer, Pick};
use reweight_lab::model::task::State;
use reweight_lab::model::units::{CpuId, LockId, Ns, TaskId};
use reweight_lab::trace::recording::TaskRange;
use reweight_lab::trace::{
    Doing, Recording, Run, Spent, Watching, What, simulate, simulate_watching,
};
use reweight_lab::workload::{Options, Scenario, Workload, presets};

fn scenario(text: &str) -> Scenario {
    let workload = Workload::parse(text, "test.json").unwrap();
    workload.build(&Options::default()).unwrap()
}

fn preset(name: &str) -> Scenario {
    scenario(presets::named(name).unwrap().text)
}

/// Everything as it was told, in lists: the oracle.
#[derive(Default)]
struct List {
    born: Vec<Ns>,
    states: Vec<Vec<(Ns, State)>>,
    switched_in: Vec<(Ns, TaskId)>,
    picks: Vec<(Ns, Pick)>,
    locks: Vec<(Ns, LockId, TaskId, LockEvent)>,
}

impl Observer for List {
    fn event(&mut self, machine: &Machine, event: &Event) {
        let now = machine.now();
        match *event {
            Event::Spawn { .. } => {
                self.born.push(now);
                self.states.push(vec![(now, State::Sleeping)]);
            }
            Event::State { task, state } => self.states[task.index()].push((now, state)),
            Event::Switch {
                next: Some(task), ..
            } => self.switched_in.push((now, task)),
            Event::Pick(pick) => self.picks.push((now, pick)),
            Event::Lock { lock, task, what } => self.locks.push((now, lock, task, what)),
            _ => {}
        }
    }
}

impl List {
    fn range(&self, task: TaskId, from: Ns, to: Ns) -> TaskRange {
        let mut range = TaskRange::default();
        let states = &self.states[task.index()];
        for (i, &(at, state)) in states.iter().enumerate() {
            let end = states.get(i + 1).map_or(to, |s| s.0).min(to);
            let ns = end.saturating_sub(at.max(from)).0;
            match state {
                State::Running => range.spent.run += ns,
                State::Runnable => {
                    range.spent.wait += ns;
                    range.longest_wait = range.longest_wait.max(ns);
                }
                State::Blocked(_) => range.spent.blocked += ns,
                State::Sleeping => range.sleep += ns,
                State::Ended => {}
            }
        }
        range.spent.switches = self
            .switched_in
            .iter()
            .filter(|(at, t)| *t == task && *at >= from && *at < to)
            .count() as u64;
        range
    }
}

/// Runs a scenario under both observers.
fn record(scenario: &Scenario, limit: usize) -> (Recording, List, Machine) {
    struct Both(Recording, List);
    impl Observer for Both {
        fn event(&mut self, machine: &Machine, event: &Event) {
            self.0.event(machine, event);
            self.1.event(machine, event);
        }
    }
    let mut both = Both(Recording::new(limit), List::default());
    let mut machine = scenario.machine.clone();
    machine.run_until(scenario.duration, &mut both).unwrap();
    (both.0, both.1, machine)
}

/// Reproducible numbers below `below`.
struct Dice(u64);

impl Dice {
    fn below(&mut self, below: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        ((u128::from(self.0) * u128::from(below)) >> 64) as u64
    }
}

/// Short sleeps, lock loops, forks, an end, two CPUs.
const BUSY: &str = r#"{
 "global": { "duration": 3, "pi_enabled": true },
 "tasks": {
  "a": { "loop": -1, "run": 700, "lock": "M", "run2": 300, "unlock": "M", "sleep": 100 },
  "b": { "loop": 300, "lock": "M", "run": 1000, "unlock": "M", "sleep": 2000, "fork": "c" },
  "c": { "instance": 0, "priority": 5, "loop": 1, "run": 1500, "sleep": 40, "run2": 900 },
  "d": { "cpus": [1], "loop": -1, "timer": { "ref": "tick", "period": 1500 }, "lock": "M", "run": 200, "unlock": "M" },
  "e": { "loop": -1, "priority": 10, "run": 5000, "yield": "" }
 } }"#;

#[test]
fn a_recording_answers_what_a_list_of_the_events_answers() {
    let mut dice = Dice(1);
    let all = ["patch-test", "timeout", "sleepers", "proxy-exec", "leak"];
    let scenarios = all.map(preset).into_iter().chain([scenario(BUSY)]);
    for scenario in scenarios {
        let (recording, list, machine) = record(&scenario, usize::MAX);
        assert_eq!(recording.tasks(), machine.tasks().len());
        let end = scenario.duration.0;
        for t in (0..recording.tasks() as u32).map(TaskId).take(40) {
            for _ in 0..60 {
                let from = dice.below(end);
                let wide = from + dice.below(end - from + 1);
                let narrow = (from + dice.below(3_000_000)).min(end);
                for (from, to) in [(from, wide), (from, narrow), (0, end), (from, from)] {
                    let (from, to) = (Ns(from), Ns(to));
                    assert_eq!(
                        recording.task_range(t, from, to),
                        list.range(t, from, to),
                        "task {} from {} to {}",
                        t.0,
                        from.0,
                        to.0
                    );
                }
            }
        }
    }
}

#[test]
fn segments_are_the_states_as_told() {
    let scenario = scenario(BUSY);
    let (recording, list, _) = record(&scenario, usize::MAX);
    for (t, states) in list.states.iter().enumerate() {
        let task = TaskId(t as u32);
        let told: Vec<(Ns, Doing, Option<LockId>)> = recording
            .segments(task, Ns(0), scenario.duration)
            .map(|s| (s.at, s.doing, s.lock))
            .collect();
        let expected: Vec<_> = states
            .iter()
            .map(|&(at, state)| {
                let lock = match state {
                    State::Blocked(lock) => Some(lock),
                    _ => None,
                };
                (at, Doing::of(state), lock)
            })
            .collect();
        // The first entry in force at 0 is the last of those at 0.
        let skipped = expected.len() - told.len();
        assert_eq!(told, expected[skipped..]);
        assert!(
            expected[..skipped]
                .iter()
                .all(|e| e.0 == recording.born(task))
        );
    }
}

/// The report's books and the recording are two observers; they must agree to the integer.
fn agrees(name: &str, run: &Run) {
    let recording = run.recording.as_ref().unwrap();
    let report = &run.report;
    for window in &report.windows {
        let (from, to) = (Ns(window.from_ns), Ns(window.to_ns));
        let range = recording.range(from, to, run.machine.cpus());
        assert_eq!(range.idle, window.idle_ns, "{name} {}", window.name);
        for (t, (task, share)) in window.tasks.0.iter().enumerate() {
            let r = range.tasks[t];
            assert_eq!(
                (share.cpu_ns, share.switches, share.max_wait_ns),
                (r.spent.run, r.spent.switches, r.longest_wait),
                "{name} {} {task}",
                window.name
            );
        }
    }
    let whole = recording.range(Ns(0), Ns(report.duration_ns), run.machine.cpus());
    for (t, task) in report.tasks.iter().enumerate() {
        let r = whole.tasks[t];
        assert_eq!(
            (task.cpu_ns, task.wait_ns, task.blocked_ns, task.sleep_ns),
            (r.spent.run, r.spent.wait, r.spent.blocked, r.sleep),
            "{name} {}",
            task.name
        );
        assert!(task.cpu_ns + task.wait_ns + task.blocked_ns + task.sleep_ns <= report.duration_ns);
    }
}

#[test]
fn report_and_recording_agree_on_every_preset() {
    for p in presets::ALL {
        let run = simulate(preset(p.name), true).unwrap();
        assert!(!run.report.windows.is_empty());
        agrees(p.name, &run);
    }
    agrees("busy", &simulate(scenario(BUSY), true).unwrap());
}

/// Vector 73: who watches, and where the run pauses, changes nothing.
#[test]
fn recording_and_progress_change_nothing() {
    for name in ["patch-test", "timeout", "sleepers", "fork-boosted"] {
        let plain = simulate(preset(name), false).unwrap().report;
        assert_eq!(plain, simulate(preset(name), true).unwrap().report);
        let mut calls = 0;
        let mut count = |_| calls += 1;
        let watching = Watching {
            recording: None,
            progress: Some(&mut count),
        };
        assert_eq!(
            plain,
            simulate_watching(preset(name), watching).unwrap().report
        );
        assert!(calls > 500);
    }
}

#[test]
fn decisions_are_found_forward_and_backward() {
    let scenario = scenario(BUSY);
    let (recording, list, machine) = record(&scenario, usize::MAX);
    assert_eq!(list.picks.len() as u64, machine.decisions());
    for cpu in 0..machine.cpus() {
        let told: Vec<_> = recording
            .decisions(CpuId(cpu), Ns(0), scenario.duration)
            .map(|d| (d.at, d.pick))
            .collect();
        let listed = list.picks.iter().filter(|(_, p)| p.cpu.0 == cpu);
        let listed: Vec<_> = listed.copied().collect();
        assert_eq!(told.len(), listed.len());
        for (i, (told, listed)) in told.iter().zip(&listed).enumerate() {
            let (mut told, mut listed) = (*told, *listed);
            // Whoever ended is not current any more; the recording names who was picked before.
            if told.1.prev != listed.1.prev {
                assert!(i == 0 || listed.1.prev.is_none(), "pick {i} of CPU{cpu}");
                told.1.prev = None;
                listed.1.prev = None;
            }
            assert_eq!(told, listed);
        }
    }
    let mut instants: Vec<Ns> = list.picks.iter().map(|p| p.0).collect();
    instants.dedup();
    let mut at = instants[0];
    for next in &instants[1..] {
        let found = recording.next_decision(at).unwrap().at;
        assert_eq!(found, *next);
        assert_eq!(recording.previous_decision(found).unwrap().at, at);
        assert_eq!(recording.decision_at(Ns(found.0 - 1)).unwrap().at, at);
        at = found;
    }
    assert_eq!(recording.next_decision(at), None);
    assert_eq!(recording.previous_decision(instants[0]), None);
}

#[test]
fn owners_follow_the_lock() {
    let scenario = scenario(BUSY);
    let (recording, list, _) = record(&scenario, usize::MAX);
    let told: Vec<_> = recording
        .owners(LockId(0), Ns(0), scenario.duration)
        .collect();
    let expected: Vec<_> = list
        .locks
        .iter()
        .filter_map(|&(at, _, task, what)| match what {
            LockEvent::Acquired => Some((at, Some(task), None)),
            LockEvent::Released { next } => Some((at, None, next)),
            _ => None,
        })
        .collect();
    assert!(told.len() > 1000);
    let told: Vec<_> = told.iter().map(|o| (o.at, o.owner, o.heir)).collect();
    // At time zero only the last of several is in force.
    assert_eq!(told, expected[expected.len() - told.len()..]);
    let middle = Ns(scenario.duration.0 / 2);
    let first = recording
        .owners(LockId(0), middle, scenario.duration)
        .next()
        .unwrap();
    assert!(first.at <= middle);
}

#[test]
fn bins_and_curve_add_up() {
    let scenario = preset("patch-test");
    let (recording, list, _) = record(&scenario, usize::MAX);
    let (from, to) = (Ns(1_234_567), Ns(20_000_000_001));
    let task = TaskId(0);
    let mut bins = vec![Spent::default(); 777];
    recording.bins(task, from, to, &mut bins);
    let mut edge = from;
    for (i, bin) in bins.iter().enumerate() {
        let next = Ns(from.0 + ((to.0 - from.0) as u128 * (i as u128 + 1) / 777) as u64);
        assert_eq!(*bin, list.range(task, edge, next).spent);
        edge = next;
    }
    let curve = recording.share_curve(task, Ns(0), scenario.duration, Ns::from_secs(1), 100);
    assert_eq!(curve.len(), 100);
    assert_eq!(curve[0], 0.0);
    for (i, share) in curve.iter().enumerate().skip(1) {
        let at = Ns((scenario.duration.0 as u128 * i as u128 / 99) as u64);
        let since = at.saturating_sub(Ns::from_secs(1));
        let ran = list.range(task, since, at).spent.run;
        assert_eq!(*share, (ran as f64 / (at.0 - since.0) as f64) as f32);
    }
}

#[test]
fn a_full_ring_keeps_the_latest_exactly_and_grows_no_more() {
    let text = BUSY.replace("\"duration\": 3", "\"duration\": 60");
    let scenario = scenario(&text);
    let (whole, _, _) = record(&scenario, usize::MAX);
    let limit = whole.bytes() / 8;
    let (ring, _, machine) = record(&scenario, limit);
    assert_eq!(whole.start(), Ns(0));
    assert!(
        ring.bytes() <= limit + limit / 4,
        "{} of {limit}",
        ring.bytes()
    );
    assert!(ring.start() > Ns(0));
    assert!(ring.start() < scenario.duration);
    let mut dice = Dice(7);
    let span = scenario.duration.0 - ring.start().0;
    for _ in 0..300 {
        let from = Ns(ring.start().0 + dice.below(span));
        let to = Ns(from.0 + dice.below(scenario.duration.0 - from.0 + 1));
        for t in 0..5 {
            assert_eq!(
                ring.task_range(TaskId(t), from, to),
                whole.task_range(TaskId(t), from, to)
            );
        }
        assert_eq!(ring.marks(from, to), whole.marks(from, to));
        let owners = |r: &Recording| r.owners(LockId(0), from, to).collect::<Vec<_>>();
        assert_eq!(owners(&ring), owners(&whole));
        assert_eq!(
            ring.next_decision(from).map(|d| d.at),
            whole.next_decision(from).map(|d| d.at)
        );
    }
    // The very first instant that is kept is kept whole.
    let (from, to) = (ring.start(), scenario.duration);
    assert_eq!(ring.marks(from, to), whole.marks(from, to));
    // Questions about what is forgotten are answered without a panic.
    for t in (0..machine.tasks().len() as u32).map(TaskId) {
        ring.task_range(t, Ns(0), scenario.duration);
        assert!(ring.segments(t, Ns(0), Ns(1)).count() >= 1);
    }
    assert!(ring.decision_at(Ns(0)).is_none());
}

#[test]
fn a_tiny_limit_still_works() {
    let scenario = preset("sleepers");
    let (ring, _, _) = record(&scenario, 1);
    assert!(ring.bytes() < 200_000);
}

/// The strong waiter gives up; the weak one that stays is no better than the holder, so the loan
/// ends then, though there still is a donor.
#[test]
fn a_boost_ends_when_only_a_weaker_waiter_stays() {
    let text = r#"{ "global": { "duration": 4, "pi_enabled": true }, "tasks": {
        "low": { "priority": 10, "loop": 1, "lock": "M", "runtime": 3500000, "unlock": "M", "suspend": "x" },
        "weak": { "priority": 15, "delay": 500000, "loop": 1, "lock": "M", "unlock": "M", "suspend": "x" },
        "strong": { "priority": 0, "delay": 1000000, "loop": 1,
                    "lock_timed": { "ref": "M", "timeout": 1000000 }, "unlock": "M", "suspend": "x" } },
        "lab": { "pi": "reweight-fixed" } }"#;
    let run = simulate(scenario(text), true).unwrap();
    assert_eq!(run.holder.as_deref(), Some("low"));
    let boost = run.boost.unwrap();
    let end = boost.to.unwrap();
    let near = |at: Ns, ms: u64| at >= Ns::from_ms(ms) && at < Ns::from_ms(ms + 100);
    assert!(near(boost.from, 1000), "from {}", boost.from.0);
    assert!(near(end, 2000), "to {}", end.0);
    // It is the remaining waiter's case: a donor is still named at the deboost.
    let recording = run.recording.unwrap();
    let donor = recording
        .marks(end, Ns(end.0 + 1))
        .iter()
        .find_map(|m| match m.what {
            What::SetPrio { donor, .. } if m.task == Some(boost.task) => Some(donor),
            _ => None,
        });
    assert_eq!(donor, Some(Some(TaskId(1))));
}
