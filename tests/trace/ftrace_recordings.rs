//! Traces of real kernels: what the reader makes of them against what the kernel's own clocks and
//! the tests' tasks said at the same time. Data: tests/data/traces, facts.json beside the traces.

use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use reweight_lab::model::units::Ns;
use reweight_lab::trace::read::{Options, Trace, TraceReport, Window, read};
use serde_json::Value;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/traces")
}

fn facts() -> Vec<Value> {
    let text = std::fs::read_to_string(folder().join("facts.json")).unwrap();
    serde_json::from_str::<Vec<Value>>(&text).unwrap()
}

fn open(fact: &Value, windows: Vec<Window>) -> Trace {
    let name = fact["file"].as_str().unwrap();
    let options = Options {
        windows,
        ..Options::default()
    };
    read(File::open(folder().join(name)).unwrap(), options)
        .unwrap_or_else(|e| panic!("{name}: {e}"))
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().unwrap()
}

/// CPU time by pid in the window `name`.
fn cpu_in(report: &TraceReport, name: &str) -> HashMap<u64, u64> {
    let pid: HashMap<&str, u64> = report
        .tasks
        .iter()
        .map(|t| (t.name.as_str(), u64::from(t.pid)))
        .collect();
    let window = report.windows.iter().find(|w| w.name == name).unwrap();
    window
        .tasks
        .iter()
        .map(|(name, t)| (pid[name.as_str()], t.cpu_ns))
        .collect()
}

#[test]
fn every_line_is_read_and_every_pause_of_the_recording_found() {
    for fact in facts() {
        let report = open(&fact, Vec::new()).report;
        let file = &fact["file"];
        assert_eq!(
            report.reading.unread, 0,
            "{file}: {:?}",
            report.reading.unread_lines
        );
        assert!(
            report.reading.other.is_empty() && !report.reading.unfinished,
            "{file}"
        );
        let pauses = list(&fact, "stretches").len() - 1;
        assert_eq!(
            report.reading.gaps.len(),
            pauses,
            "{file}: {:?}",
            report.notices
        );
    }
}

/// Two readings of a task's CLOCK_THREAD_CPUTIME_ID, taken by itself, in one recorded stretch: the
/// trace gives the same difference to 20 us, any two of them.
#[test]
fn cpu_time_between_any_two_readings_agrees_to_20_us() {
    let mut pairs = 0;
    for fact in facts() {
        let mut by_task: HashMap<(usize, u64), Vec<(u64, u64)>> = HashMap::new();
        for event in list(&fact, "events") {
            let (at, pid, cpu) = (
                event[0].as_u64().unwrap(),
                event[1].as_u64().unwrap(),
                event[2].as_u64().unwrap(),
            );
            let inside = |s: &Value| s[0].as_u64().unwrap() < at && at < s[1].as_u64().unwrap();
            let stretch = list(&fact, "stretches").iter().position(inside).unwrap();
            by_task.entry((stretch, pid)).or_default().push((at, cpu));
        }
        let mut windows = Vec::new();
        for ((stretch, pid), readings) in &by_task {
            for (n, reading) in readings.iter().enumerate().skip(1) {
                let name = format!("{stretch} {pid} {n}");
                windows.push(Window {
                    name,
                    from: Ns(readings[0].0),
                    to: Ns(reading.0),
                });
            }
        }
        let report = open(&fact, windows).report;
        let tolerance = fact
            .get("tolerance_ns")
            .and_then(Value::as_i64)
            .unwrap_or(20_000);
        for ((stretch, pid), readings) in &by_task {
            let mut off = vec![0i64];
            for (n, reading) in readings.iter().enumerate().skip(1) {
                let told = cpu_in(&report, &format!("{stretch} {pid} {n}"))
                    .get(pid)
                    .copied()
                    .unwrap_or(0);
                off.push(told as i64 - (reading.1 - readings[0].1) as i64);
            }
            let spread = off.iter().max().unwrap() - off.iter().min().unwrap();
            assert!(
                spread <= tolerance,
                "{} task {pid}: {spread} ns",
                fact["file"]
            );
            pairs += off.len() * (off.len() - 1) / 2;
        }
    }
    assert!(pairs > 5_000, "{pairs}");
}

#[test]
fn shares_of_phases_recorded_whole_agree_to_a_tenth_of_a_point() {
    let mut shares = 0;
    for fact in facts() {
        let windows = list(&fact, "phases").iter().map(|p| Window {
            name: p["name"].as_str().unwrap().into(),
            from: Ns(p["from"].as_u64().unwrap()),
            to: Ns(p["to"].as_u64().unwrap()),
        });
        let report = open(&fact, windows.collect()).report;
        for phase in list(&fact, "phases") {
            let cpu = cpu_in(&report, phase["name"].as_str().unwrap());
            let recorded = phase["shares"].as_object().unwrap();
            let of =
                |pid: &String| cpu.get(&pid.parse::<u64>().unwrap()).copied().unwrap_or(0) as f64;
            let sum: f64 = recorded.keys().map(of).sum();
            for (pid, share) in recorded {
                let off = (of(pid) / sum - share.as_f64().unwrap()).abs();
                assert!(off <= 0.001, "{} task {pid}: {off}", fact["file"]);
                shares += 1;
            }
        }
    }
    assert!(shares >= 8, "{shares}");
}

/// Stock kernels: prio-only; patched: share-follows; and where a fact says `why`, what that kernel
/// did is something else, and the reader must see that.
#[test]
fn verdicts_say_what_each_kernel_did() {
    for fact in facts() {
        let report = open(&fact, Vec::new()).report;
        let told: Vec<_> = report
            .boosts
            .iter()
            .map(|b| {
                (
                    u64::from(b.pid),
                    b.by_pid.map(u64::from),
                    i64::from(b.from_prio),
                    i64::from(b.to_prio),
                    b.verdict,
                )
            })
            .collect();
        let expected: Vec<_> = list(&fact, "boosts")
            .iter()
            .map(|b| {
                let number = |key: &str| b[key].as_i64().unwrap();
                (
                    b["pid"].as_u64().unwrap(),
                    b["by"].as_u64(),
                    number("from"),
                    number("to"),
                    b["verdict"].as_str().unwrap(),
                )
            })
            .collect();
        assert_eq!(told, expected, "{}", fact["file"]);
        for b in report.boosts.iter().filter(|b| b.class == "fair") {
            let told = b.verdict != "not-enough-contention";
            assert!(
                !told || b.contended_ns >= 100_000_000,
                "{}: {b:?}",
                fact["file"]
            );
        }
    }
}

fn named(file: &str) -> TraceReport {
    let fact = facts().into_iter().find(|f| f["file"] == file).unwrap();
    open(&fact, Vec::new()).report
}

/// high waits from its boost of low to the hand-over: 4.5 s, of which the two recorded parts count.
#[test]
fn the_lender_is_blocked_from_the_boost_to_the_hand_over() {
    let report = named("6.12hz1000-reweight-base.trace.txt.gz");
    let boost = &report.boosts[0];
    assert_eq!(
        (boost.task.as_str(), boost.by.as_deref(), boost.end),
        ("low", Some("high"), "released")
    );
    let high = report.tasks.iter().find(|t| t.name == "high").unwrap();
    let length = boost.to_ns - boost.from_ns - report.untraced_ns;
    assert!(
        high.blocked_ns.abs_diff(length) < 50_000,
        "{} of {length}",
        high.blocked_ns
    );
    let ctl = report.tasks.iter().find(|t| t.name == "ctl").unwrap();
    assert_eq!(ctl.blocked_ns, 0);
}

/// A timed lock gives up: the waiter takes the loan back itself, and that was no sleep.
#[test]
fn a_waiter_that_gives_up_was_blocked_too() {
    let report = named("6.12hz1000-reweight-timeout.trace.txt.gz");
    let high = report.tasks.iter().find(|t| t.name == "high").unwrap();
    let boost = &report.boosts[0];
    assert!(high.blocked_ns > 100_000_000, "{}", high.blocked_ns);
    assert!(
        high.blocked_ns
            .abs_diff(boost.to_ns - boost.from_ns - report.untraced_ns)
            < 1_000_000
    );
}

/// sched_setattr on the boosted holder sets its weight back: the share followed at first.
#[test]
fn a_share_that_turns_while_boosted_is_noted() {
    let report = named("6.1hz1000-reweight-setattr_low15.trace.txt.gz");
    let boost = &report.boosts[0];
    assert_eq!(boost.verdict, "share-follows");
    assert!(boost.turned_ns.is_some() && boost.note.is_some());
}

/// The host's trace was filtered to the tests' tasks: who else was queued is not known, so the
/// holder is held against bg alone. The ratio is the weights' to a tenth of a point.
#[test]
fn with_missing_lines_the_holder_is_compared_with_one_rival() {
    let report = named("host-6.18.44hz250-stock-low5.trace.txt.gz");
    let boost = &report.boosts[0];
    assert_eq!(boost.against.as_deref(), Some("bg"));
    let (share, stock) = (boost.share.unwrap(), boost.share_if_stock.unwrap());
    assert!((share - stock).abs() < 0.001, "{share} {stock}");
}

/// The sum over a task's states is the recorded time, for tasks seen from the first line on.
#[test]
fn every_recorded_nanosecond_of_a_task_is_accounted_for() {
    for file in [
        "6.12hz1000-stock-base.trace.txt.gz",
        "6.12hz1000-smp2-stock-smp_high_cpu1.trace.txt.gz",
    ] {
        let report = named(file);
        let recorded = report.duration_ns - report.untraced_ns;
        for name in ["low", "bg", "ctl"] {
            let t = report.tasks.iter().find(|t| t.name == name).unwrap();
            let sum = t.cpu_ns + t.wait_ns + t.sleep_ns + t.blocked_ns;
            // Before the first line about it nothing is known of a waiting task.
            assert!(
                sum <= recorded && recorded - sum < 20_000_000,
                "{file} {name}: {sum} of {recorded}"
            );
        }
        for c in &report.cpus {
            assert_eq!(
                c.busy_ns + c.idle_ns + c.unknown_ns,
                recorded,
                "{file} CPU {}",
                c.cpu
            );
        }
    }
}
