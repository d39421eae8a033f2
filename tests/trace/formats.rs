//! What the writers write, read back with other eyes.

use std::collections::BTreeMap;

use reweight_lab::trace::{chrome, csv, ftrace, simulate, timehist};
use reweight_lab::workload::{Options, Scenario, Workload, presets};

fn scenario(text: &str) -> Scenario {
    let workload = Workload::parse(text, "test.json").unwrap();
    workload.build(&Options::default()).unwrap()
}

fn preset(name: &str) -> Scenario {
    scenario(presets::named(name).unwrap().text)
}

fn written(
    write: impl Fn(Scenario, &mut dyn std::io::Write) -> Result<(), reweight_lab::trace::WriteError>,
    scenario: Scenario,
) -> String {
    let mut out = Vec::new();
    write(scenario, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// Names as a stranger might choose them.
const HOSTILE: &str = r#"{
 "global": { "duration": 1, "pi_enabled": true },
 "tasks": {
  "=cmd|' /C calc'!A0": { "loop": 1, "lock": "a\nb", "run": 300000, "unlock": "a\nb" },
  "prev_pid=7 ==> \u001b[2J": { "loop": 1, "delay": 1000, "lock": "a\nb", "run": 1000 },
  "\",\"pid\":1": { "loop": -1, "run": 1000 }
 },
 "lab": { "windows": [ { "name": "+1,\"x\"", "from": 0, "to": 500000 } ] } }"#;

/// One ftrace line taken apart.
struct Line<'a> {
    current: u32,
    cpu: usize,
    at: u64,
    event: &'a str,
    fields: BTreeMap<&'a str, &'a str>,
}

fn ftrace_lines(text: &str) -> Vec<Line<'_>> {
    let lines = text.lines().filter(|l| !l.starts_with('#'));
    lines
        .map(|line| {
            let (task, rest) = line.split_at(line.find(" [").unwrap());
            let current = task.trim().rsplit_once('-').unwrap().1.parse().unwrap();
            let mut words = rest.trim().splitn(5, ' ');
            let cpu = words.next().unwrap();
            let flags = words.next().unwrap();
            let at = words.next().unwrap().strip_suffix(':').unwrap();
            let event = words.next().unwrap().strip_suffix(':').unwrap();
            let (seconds, fraction) = at.split_once('.').unwrap();
            assert_eq!((flags.len(), fraction.len()), (5, 9), "{line}");
            let fields = words.next().unwrap();
            let fields = fields
                .split(' ')
                .filter_map(|f| f.split_once('='))
                .collect();
            Line {
                current,
                cpu: cpu.trim_matches(['[', ']']).parse().unwrap(),
                at: seconds.parse::<u64>().unwrap() * 1_000_000_000
                    + fraction.parse::<u64>().unwrap(),
                event,
                fields,
            }
        })
        .collect()
}

#[test]
fn the_switches_of_an_ftrace_text_add_up_to_the_reported_cpu_time() {
    for name in [
        "patch-test",
        "sleepers",
        "timeout",
        "fork-boosted",
        "rt-waiter",
    ] {
        let text = written(ftrace::write, preset(name));
        let report = simulate(preset(name), false).unwrap().report;
        let mut ran: BTreeMap<u32, u64> = BTreeMap::new();
        let mut current: BTreeMap<usize, (u32, u64)> = BTreeMap::new();
        let mut last = 0;
        let mut switches = 0;
        for line in ftrace_lines(&text) {
            assert!(line.at >= last);
            last = line.at;
            let running = current.entry(line.cpu).or_insert((0, 0));
            match line.event {
                "sched_switch" => {
                    switches += 1;
                    let pid = |field| line.fields[field].parse::<u32>().unwrap();
                    assert_eq!(pid("prev_pid"), running.0, "{name} at {}", line.at);
                    assert_eq!(line.current, running.0);
                    *ran.entry(running.0).or_default() += line.at - running.1;
                    *running = (pid("next_pid"), line.at);
                    assert!("RSXD".contains(line.fields["prev_state"]));
                }
                "tracing_mark_write" => {}
                "sched_wakeup" | "sched_waking" | "sched_wakeup_new" | "sched_pi_setprio" => {
                    assert_eq!(
                        line.current, running.0,
                        "{name} {} at {}",
                        line.event, line.at
                    );
                }
                other => panic!("unexpected event {other}"),
            }
        }
        for (pid, since) in current.values() {
            *ran.entry(*pid).or_default() += report.duration_ns - since;
        }
        assert_eq!(last, report.duration_ns);
        assert_eq!(switches, report.switches);
        for (t, task) in report.tasks.iter().enumerate() {
            let pid = 1000 + t as u32;
            let had = ran.get(&pid).copied().unwrap_or(0);
            assert_eq!(had, task.cpu_ns, "{name} {}", task.name);
        }
    }
}

#[test]
fn an_ftrace_text_tells_boost_and_deboost() {
    let text = written(ftrace::write, preset("patch-test"));
    let lines = ftrace_lines(&text);
    let prios: Vec<_> = lines
        .iter()
        .filter(|l| l.event == "sched_pi_setprio")
        .map(|l| (l.fields["comm"], l.fields["oldprio"], l.fields["newprio"]))
        .collect();
    assert_eq!(prios, [("low", "130", "120"), ("low", "120", "130")]);
    assert!(lines.iter().any(|l| l.event == "sched_switch"
        && l.fields["prev_comm"] == "high"
        && l.fields["prev_state"] == "S"));
}

#[test]
fn hostile_names_stay_inside_their_fields() {
    let text = written(ftrace::write, scenario(HOSTILE));
    for line in ftrace_lines(&text) {
        for (field, value) in &line.fields {
            assert!(
                value.bytes().all(|b| b.is_ascii_graphic()),
                "{field}={value}"
            );
        }
    }
    let history = written(timehist::write, scenario(HOSTILE));
    assert!(history.chars().all(|c| c == '\n' || !c.is_control()));
    let json = written(chrome::write, scenario(HOSTILE));
    let _: serde_json::Value = serde_json::from_str(&json).unwrap();
    let report = simulate(scenario(HOSTILE), false).unwrap().report;
    let mut out = Vec::new();
    csv::write([&report], &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    let rows: Vec<&str> = text.lines().collect();
    assert_eq!(rows.len(), 1 + 3, "{text}");
    assert!(rows[1].contains(r#","'+1,""x""","#), "{text}");
    assert!(rows[1].contains(r#","'=cmd|' /C calc'!A0","#), "{text}");
}

#[test]
fn the_slices_of_a_chrome_trace_add_up_to_the_reported_times() {
    let us = |value: &serde_json::Value| {
        let text = value.to_string();
        let (whole, fraction) = text.split_once('.').unwrap_or((&text, "0"));
        whole.parse::<u64>().unwrap() * 1000 + format!("{fraction:0<3}").parse::<u64>().unwrap()
    };
    for name in ["patch-test", "timeout", "proxy-exec", "fork-boosted"] {
        let json = written(chrome::write, preset(name));
        let trace: serde_json::Value = serde_json::from_str(&json).unwrap();
        let report = simulate(preset(name), false).unwrap().report;
        let mut times: BTreeMap<(u64, String), u64> = BTreeMap::new();
        let mut counters = 0;
        for event in trace["traceEvents"].as_array().unwrap() {
            match event["ph"].as_str().unwrap() {
                "X" if event["pid"] == 1 => {
                    let what = event["name"].as_str().unwrap();
                    let what = what.split(' ').next().unwrap().to_owned();
                    let tid = event["tid"].as_u64().unwrap();
                    *times.entry((tid, what)).or_default() += us(&event["dur"]);
                }
                "X" => assert!([2, 3].contains(&event["pid"].as_u64().unwrap())),
                "C" => counters += 1,
                "M" | "i" => {}
                other => panic!("unexpected phase {other}"),
            }
        }
        assert!(counters > 100);
        for (t, task) in report.tasks.iter().enumerate() {
            let time = |what: &str| {
                let key = (t as u64, what.to_owned());
                times.get(&key).copied().unwrap_or(0)
            };
            assert_eq!(
                (time("running"), time("waiting"), time("blocked")),
                (task.cpu_ns, task.wait_ns, task.blocked_ns),
                "{name} {}",
                task.name
            );
        }
    }
}

#[test]
fn the_summary_of_a_timehist_adds_up() {
    for name in ["sleepers", "patch-test"] {
        let text = written(timehist::write, preset(name));
        let report = simulate(preset(name), false).unwrap().report;
        let summary = text.split("Runtime summary").nth(1).unwrap();
        let msec = |ns: u64| format!("{}.{:03}", ns / 1_000_000, ns / 1000 % 1000);
        for (t, task) in report.tasks.iter().enumerate() {
            let start = format!("{}[{}]", task.name, 1000 + t);
            let row = summary
                .lines()
                .find(|l| l.trim().starts_with(&start))
                .unwrap();
            let cells: Vec<&str> = row.split_whitespace().collect();
            assert_eq!(cells[3], msec(task.cpu_ns), "{name} {row}");
        }
        let total: u64 = report.tasks.iter().map(|t| t.cpu_ns).sum();
        // The figure alone: `0.000` is also the end of `26500.000`.
        let line = summary.lines().find(|l| l.contains("idle for")).unwrap();
        let idle = line.split_whitespace().nth(4).unwrap();
        assert_eq!(idle, msec(report.duration_ns - total), "{name}: {line}");
        let row = text.lines().nth(3).unwrap();
        assert_eq!(row.split_whitespace().count(), 6, "{row}");
    }
}

#[test]
fn an_ftrace_text_tells_how_a_task_leaves() {
    let text = r#"{ "global": { "duration": 1, "pi_enabled": true }, "tasks": {
        "ends": { "loop": 1, "run": 10000 },
        "sleeps": { "loop": -1, "run": 1000, "sleep": 5000 },
        "owns": { "loop": 1, "lock": "M", "run": 500000, "unlock": "M", "suspend": "x" },
        "blocks": { "delay": 2000, "loop": 1, "lock": "M", "unlock": "M", "suspend": "x" },
        "spins": { "loop": -1, "run": 1000 } } }"#;
    let text = written(ftrace::write, scenario(text));
    let lines = ftrace_lines(&text);
    let states = |comm: &str| {
        let left = lines
            .iter()
            .filter(|l| l.event == "sched_switch" && l.fields["prev_comm"] == comm);
        let mut states: Vec<&str> = left.map(|l| l.fields["prev_state"]).collect();
        let last = states.last().copied().unwrap();
        states.sort();
        states.dedup();
        (states, last)
    };
    assert_eq!(states("ends").1, "X");
    assert_eq!(states("spins"), (vec!["R"], "R"));
    for comm in ["sleeps", "blocks"] {
        assert!(states(comm).0.contains(&"S"), "{comm}");
        assert!(!states(comm).0.contains(&"X"), "{comm}");
    }
}

/// An output that takes so much and no more.
struct Full(usize);

impl std::io::Write for Full {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.0 < bytes.len() {
            return Err(std::io::ErrorKind::StorageFull.into());
        }
        self.0 -= bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_disk_stops_the_run_and_is_told() {
    for limit in [0, 100, 10_000] {
        for write in [ftrace::write, chrome::write, timehist::write] {
            assert!(write(preset("patch-test"), &mut Full(limit)).is_err());
        }
    }
}
