//! `record` as a user meets it: short workloads on the kernel the tests run on.
//!
//! Nothing here depends on how busy the machine is: structure, sums and notices are asserted, not
//! shares or times.

use std::process::{Command, Output, Stdio};

use crate::command::{Scratch, command, reading};
use crate::schema;
use serde_json::Value;

fn lab(wrapper: &[&str], args: &[&str], input: &str) -> Output {
    let mut lab = match wrapper {
        [] => command(),
        [tool, words @ ..] => {
            let mut tool = Command::new(tool);
            tool.args(words).arg(command().get_program());
            tool
        }
    };
    reading(lab.args(args), input.as_bytes())
}

/// The first CPU these tests may use.
fn cpu() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let list = status
        .lines()
        .find_map(|l| l.strip_prefix("Cpus_allowed_list:"))
        .unwrap();
    list.trim().split([',', '-']).next().unwrap().to_owned()
}

fn report_of(output: &Output) -> Value {
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{error}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Records a workload on one CPU; its report has been held against the schema.
fn record(workload: &str, more: &[&str]) -> Value {
    let cpu = cpu();
    let args = [&["record", "-", "--format", "json", "--cpu", &cpu], more].concat();
    let report = report_of(&lab(&[], &args, workload));
    fits(&report);
    report
}

fn fits(report: &Value) {
    let text = std::fs::read_to_string("docs/schema/record-1.json").unwrap();
    let schema: Value = serde_json::from_str(&text).unwrap();
    schema::check(&schema, report).unwrap_or_else(|e| panic!("{e}"));
}

fn ns(value: &Value, name: &str) -> u64 {
    value[name]
        .as_u64()
        .unwrap_or_else(|| panic!("{name} in {value}"))
}

fn task<'a>(report: &'a Value, name: &str) -> &'a Value {
    let tasks = report["tasks"].as_array().unwrap();
    tasks.iter().find(|t| t["name"] == name).unwrap()
}

fn notices(report: &Value) -> Vec<&str> {
    let list = report["notices"].as_array().unwrap();
    list.iter().map(|n| n.as_str().unwrap()).collect()
}

/// Records a workload in which times stand as `<ms>`, slower and slower until `enough` holds: a CPU
/// that others take for most of the time needs longer to come to the point.
fn record_until(text: &str, more: &[&str], enough: impl Fn(&Value) -> bool) -> Value {
    let mut report = Value::Null;
    for pace in [1, 2, 4, 8, 16] {
        report = record(&paced(text, pace), more);
        if enough(&report) {
            break;
        }
    }
    report
}

/// Times in us where the text has `<ms>`, so many times slower.
fn paced(text: &str, pace: u64) -> String {
    let mut parts = text.split('<');
    let mut out = parts.next().unwrap().to_owned();
    for part in parts {
        let (ms, rest) = part.split_once('>').unwrap();
        out += &(ms.parse::<u64>().unwrap() * 1000 * pace).to_string();
        out += rest;
    }
    out
}

/// The patch's test in a second.
const SHORT: &str = r#"{
 "global": { "pi_enabled": true },
 "tasks": {
  "low":  { "priority": 10, "loop": 1, "phases": { "hold": { "lock": "M", "runtime": <600>, "unlock": "M" }, "rest": { "loop": -1, "run": 1000 } } },
  "bg":   { "run": 1000 },
  "high": { "delay": <200>, "loop": 1, "lock": "M", "unlock": "M", "suspend" }
 },
 "lab": { "holder": "low", "duration": <1000>,
  "windows": [ { "name": "boosted", "from": <300>, "to": <500> }, { "name": "late", "from": <800>, "to": <1000> } ] }
}"#;

#[test]
fn a_recording_has_the_shape_of_a_simulation_and_the_machine_beside_it() {
    let short = paced(SHORT, 1);
    let recorded = record(&short, &[]);
    let simulated = report_of(&lab(&[], &["simulate", "-", "--format", "json"], &short));
    let members = |v: &Value| -> Vec<String> { v.as_object().unwrap().keys().cloned().collect() };
    let mut expected = members(&simulated);
    expected.push("machine".into());
    expected.sort();
    let mut found = members(&recorded);
    found.sort();
    assert_eq!(found, expected);
    let names = |v: &Value, list: &str| -> Vec<String> {
        let list = v[list].as_array().unwrap();
        list.iter()
            .map(|t| t["name"].as_str().unwrap().to_owned())
            .collect()
    };
    for list in ["tasks", "windows"] {
        assert_eq!(names(&recorded, list), names(&simulated, list));
    }
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    let machine = &recorded["machine"];
    assert_eq!(machine["release"], release.trim());
    let kernel = recorded["kernel"].as_str().unwrap();
    assert!(release.starts_with(kernel), "{kernel} of {release}");
    assert_eq!(machine["hz"], recorded["hz"]);
    assert_eq!(machine["cpus"][0].to_string(), cpu());
    for (name, policy, nice) in [("low", "SCHED_OTHER", 10), ("bg", "SCHED_OTHER", 0)] {
        assert_eq!(task(&recorded, name)["policy"], policy);
        assert_eq!(task(&recorded, name)["nice"], nice);
        assert_eq!(task(&recorded, name)["prio"], 120 + nice);
    }
}

#[test]
fn the_times_of_a_task_are_its_life_and_those_of_a_window_its_length() {
    let report = record_until(SHORT, &[], |r| ns(task(r, "high"), "blocked_ns") > 0);
    let duration = ns(&report, "duration_ns");
    assert!(duration >= 1_000_000_000);
    for task in report["tasks"].as_array().unwrap() {
        let parts = ["cpu_ns", "wait_ns", "sleep_ns", "blocked_ns"];
        let sum: u64 = parts.iter().map(|part| ns(task, part)).sum();
        assert_eq!(sum, duration, "{task}");
    }
    let ran: u64 = report["tasks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|task| ns(task, "cpu_ns"))
        .sum();
    // One CPU has no more time than there is; the clocks are read one after the other.
    assert!(ran > 0 && ran <= duration + duration / 5, "{ran}");
    for window in report["windows"].as_array().unwrap() {
        let length = ns(window, "to_ns") - ns(window, "from_ns");
        let tasks = window["tasks"].as_object().unwrap();
        let ran: u64 = tasks.values().map(|t| ns(t, "cpu_ns")).sum();
        assert!(
            ns(window, "idle_ns") + ran.min(length) <= length,
            "{window}"
        );
        for task in tasks.values() {
            let share = ns(task, "cpu_ns") as f64 / length as f64;
            assert!((task["share"].as_f64().unwrap() - share).abs() < 1e-9);
            assert!(ns(task, "max_wait_ns") <= length);
        }
    }
    // It blocked when it woke, until the lock was let go; before, it slept.
    let high = task(&report, "high");
    assert!(
        ns(high, "blocked_ns") > 0 && ns(high, "sleep_ns") > 0,
        "{high}"
    );
    assert!(ns(high, "cpu_ns") < 100_000_000, "{high}");
    assert_eq!(ns(task(&report, "bg"), "blocked_ns"), 0);
}

/// Each of three workers adds to its own count inside the lock; were two inside at once, one would
/// give back what it does not own, which is a notice.
#[test]
fn locks_exclude_and_nobody_gives_back_what_is_another_s() {
    for pi in ["true", "false"] {
        let worker = r#""loop": 300, "phases": { "p": { "lock": "M", "run": 200, "unlock": "M", "yield", "sleep": 50 } }"#;
        let text = format!(
            r#"{{ "global": {{ "pi_enabled": {pi} }}, "tasks": {{ "w": {{ "instance": 3, {worker} }} }}, "lab": {{ "duration": 700000 }} }}"#
        );
        let report = record(&text, &[]);
        assert_eq!(report["tasks"].as_array().unwrap().len(), 3);
        let told = notices(&report);
        assert!(
            !told
                .iter()
                .any(|n| n.contains("EPERM") || n.contains("EDEADLK")),
            "{told:?}"
        );
        for task in report["tasks"].as_array().unwrap() {
            assert!(ns(task, "cpu_ns") > 0, "{task}");
        }
    }
}

/// A signal without a handler would end the process; the wait goes on, and so does a sleep.
#[test]
fn a_signal_breaks_off_no_wait_for_good() {
    let text = r#"{ "global": { "pi_enabled": true }, "tasks": {
      "low": { "priority": 10, "loop": 1, "lock": "M", "sleep": <200>, "unlock": "M", "suspend": "end" },
      "high": { "delay": <30>, "loop": 1, "lock": "M", "run": 3000, "unlock": "M", "suspend": "end" },
      "sleeper": { "loop": 1, "sleep": <150>, "run": 2000, "suspend": "end" } },
      "lab": { "duration": <400>, "controls": [
        { "at": <80>, "task": "high", "signal": true }, { "at": <100>, "task": "sleeper", "signal": true },
        { "at": <120>, "task": "high", "signal": true } ] } }"#;
    let through = |r: &Value| {
        ns(task(r, "high"), "cpu_ns") >= 3_000_000 && ns(task(r, "sleeper"), "cpu_ns") >= 2_000_000
    };
    let report = record_until(text, &[], through);
    let (high, sleeper) = (task(&report, "high"), task(&report, "sleeper"));
    assert!(ns(high, "blocked_ns") >= 150_000_000, "{high}");
    assert!(ns(sleeper, "cpu_ns") >= 2_000_000, "{sleeper}");
}

#[test]
fn every_kind_of_step_is_run_and_the_run_ends_when_it_should() {
    let text = r#"{ "global": { "pi_enabled": true }, "tasks": {
      "a": { "loop": 1, "phases": {
        "p": { "run": 500, "runtime": 500, "sleep": 500, "timer": { "ref": "unique", "period": 3000 }, "yield",
               "lock": "M", "wait": { "ref": "c", "mutex": "M" }, "unlock": "M", "barrier": "b", "sem_post": "s",
               "fork": "child", "suspend": "go" },
        "q": { "until": <400>, "loop": -1, "run": 100, "sleep": 1000 } } },
      "b": { "loop": 1, "phases": {
        "p": { "sleep": 20000, "lock": "M", "signal": "c", "unlock": "M", "barrier": "b", "sem_wait": "s", "sleep": 20000, "resume": "go" },
        "q": { "policy": "SCHED_BATCH", "priority": 5, "lock": "M", "sleep": 30000, "unlock": "M", "suspend": "never" } } },
      "c": { "delay": <60>, "loop": 1, "lock_timed": { "ref": "M", "timeout": 5000 }, "unlock": "M", "run": 200 },
      "child": { "instance": 0, "loop": 1, "run": 1000 } },
      "lab": { "duration": <500>, "controls": [ { "at": <100>, "task": "c", "nice": 7 }, { "at": <300>, "task": "b", "nice": 9 }, { "at": <350>, "pi": "reweight" } ] } }"#;
    let through = |r: &Value| {
        let tasks = r["tasks"].as_array().unwrap();
        tasks.len() == 4
            && ns(&tasks[3], "cpu_ns") >= 1_000_000
            && task(r, "b")["policy"] == "SCHED_BATCH"
    };
    let report = record_until(text, &[], through);
    let told = notices(&report).join("\n");
    assert!(
        !told.contains("EPERM") && !told.contains("EDEADLK"),
        "{told}"
    );
    assert!(told.contains("switches to reweight"), "{told}");
    let names: Vec<&str> = report["tasks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|t| t["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["a", "b", "c", "child"]);
    let child = task(&report, "child");
    assert!(ns(child, "cpu_ns") >= 1_000_000, "{child}");
    // It is gone, and its times are those of its life alone.
    let life: u64 = ["cpu_ns", "wait_ns", "sleep_ns", "blocked_ns"]
        .iter()
        .map(|part| ns(child, part))
        .sum();
    assert!(life < ns(&report, "duration_ns"), "{child}");
    let b = task(&report, "b");
    assert_eq!(
        (&b["policy"], &b["nice"]),
        (&"SCHED_BATCH".into(), &9.into())
    );
}

#[test]
fn without_windows_there_is_all_and_boosted_if_somebody_was() {
    let text = SHORT.replace("\"windows\"", "\"look\": \"no windows\", \"x\"");
    let two = |r: &Value| r["windows"].as_array().unwrap().len() == 2;
    let report = record_until(&text, &[], two);
    let windows = report["windows"].as_array().unwrap();
    assert_eq!(windows[0]["name"], "all");
    assert_eq!(windows[1]["name"], "boosted");
    assert!(ns(&windows[1], "from_ns") >= 200_000_000);
    assert!(ns(&windows[1], "to_ns") <= ns(&report, "duration_ns"));
}

/// Two threads that wait for each other on plain mutexes never end; the command does.
#[test]
fn threads_that_hang_do_not_hang_the_command() {
    let text = r#"{ "tasks": {
      "a": { "loop": 1, "lock": "A", "sleep": 20000, "lock": "B", "unlock": "B" },
      "b": { "loop": 1, "lock": "B", "sleep": 20000, "lock": "A", "unlock": "A" } },
      "lab": { "duration": 200000 } }"#;
    let report = record(text, &[]);
    for name in ["a", "b"] {
        assert!(ns(task(&report, name), "blocked_ns") > 0);
    }
    // The kernel sees such a circle of PI mutexes, and one of the two is refused.
    let inherit = text.replacen('{', r#"{ "global": { "pi_enabled": true },"#, 1);
    let report = record(&inherit, &[]);
    let told = notices(&report);
    assert_eq!(
        told.iter().filter(|n| n.contains("EDEADLK")).count(),
        1,
        "{told:?}"
    );
}

#[test]
fn unlocking_what_one_does_not_own_is_the_model_s_notice() {
    let text = r#"{ "tasks": { "t": { "loop": 1, "unlock": "M", "run": 100 } }, "lab": { "duration": 50000 } }"#;
    let report = record(text, &[]);
    let told = notices(&report);
    assert!(
        told.iter()
            .any(|n| n.contains("unlock of M did nothing: it does not own it (EPERM)")),
        "{told:?}"
    );
}

/// Without rights: one sentence each, and the rest goes on.
#[test]
fn what_is_not_permitted_is_one_sentence_each_and_the_rest_goes_on() {
    let text = r#"{ "tasks": {
      "nice": { "instance": 2, "priority": -5, "run": 1000 },
      "fifo": { "policy": "SCHED_FIFO", "priority": 10, "loop": 20, "run": 100, "sleep": 1000 } },
      "lab": { "duration": 200000 } }"#;
    let cpu = cpu();
    let args = ["record", "-", "--format", "json", "--cpu", &cpu];
    let root = rustix::process::geteuid().is_root();
    // Of root the right is taken away; anybody else has none.
    let wrapper: &[&str] = if root {
        &[
            "setpriv",
            "--bounding-set=-sys_nice,-sys_admin",
            "--inh-caps=-all",
            "--",
        ]
    } else {
        &[]
    };
    let report = report_of(&lab(wrapper, &args, text));
    fits(&report);
    let told = notices(&report);
    let one = |words: &str| {
        let found: Vec<_> = told.iter().filter(|n| n.contains(words)).collect();
        assert_eq!(found.len(), 1, "{words} in {told:?}");
        found[0].to_string()
    };
    let nice = one("a lower nice level is not permitted");
    assert!(nice.ends_with(": nice-0, nice-1"), "{nice}");
    assert!(one("SCHED_FIFO is not permitted (operation not permitted; it takes").contains("fifo"));
    assert_eq!(task(&report, "nice-1")["nice"], 0);
    assert_eq!(task(&report, "fifo")["policy"], "SCHED_OTHER");
    assert!(ns(task(&report, "nice-0"), "cpu_ns") > 0);
}

#[test]
fn what_cannot_be_recorded_is_one_sentence() {
    for (args, input, code, words) in [
        (
            vec!["record", "no-such"],
            "",
            1,
            "neither a preset nor a file",
        ),
        (vec!["record"], "", 2, "WHAT"),
        (vec!["record", "patch-test", "--cpu", "x"], "", 2, "--cpu"),
        (
            vec!["record", "patch-test", "--cpu", "0,0"],
            "",
            2,
            "CPU0 is there twice",
        ),
        (
            vec!["record", "patch-test", "--cpu", "1000"],
            "",
            1,
            "CPU1000 is not there",
        ),
        (vec!["record", "patch-test", "--pi", "stock"], "", 2, "--pi"),
        (
            vec!["record", "-", "--duration", "1ms"],
            r#"{"tasks":{"t":{"instance":1001,"sleep":1}}}"#,
            1,
            "1000 threads at most",
        ),
        (
            vec!["record", "-", "--duration", "1ms", "--cpu", "0"],
            r#"{"tasks":{"t":{"cpus":[1],"sleep":1}}}"#,
            1,
            "uses 2 CPUs",
        ),
        (
            vec![
                "record",
                "patch-test",
                "--duration",
                "1ms",
                "--window",
                "w=2s..3s",
            ],
            "",
            1,
            "windows.w",
        ),
        (vec!["record", "-"], "{", 1, "standard input:1:2"),
    ] {
        let output = lab(&[], &args, input);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {error}");
        assert_eq!(error.lines().count(), 1, "{error}");
        assert!(error.contains(words), "{words:?} is not in {error}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn an_interrupted_recording_says_so_and_leaves_no_file() {
    let scratch = Scratch::new("record");
    let out = scratch.path("out.json");
    let child = command()
        .args([
            "record",
            "patch-test",
            "--format",
            "json",
            "--cpu",
            &cpu(),
            "-o",
        ])
        .arg(&out)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let pid = child.id();
    // It has caught the signals by the time its threads are there.
    let threads = || std::fs::read_dir(format!("/proc/{pid}/task")).map_or(0, Iterator::count);
    while threads() < 4 {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let process = rustix::process::Pid::from_raw(pid as i32).unwrap();
    rustix::process::kill_process(process, rustix::process::Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(
        error.starts_with("reweight-lab: interrupted after "),
        "{error}"
    );
    assert_eq!(scratch.files().len(), 0);
}

#[test]
fn csv_has_a_line_for_each_task_and_window_and_text_names_the_kernel() {
    let cpu = cpu();
    let short = ["--duration", "300ms", "--cpu", &cpu];
    let text = paced(SHORT, 1).replace("\"windows\"", "\"look\": \"no windows\", \"x\"");
    let output = lab(
        &[],
        &[&["record", "-", "--format", "csv"], &short[..]].concat(),
        &text,
    );
    let csv = String::from_utf8(output.stdout).unwrap();
    let mut lines = csv.lines();
    assert!(
        lines
            .next()
            .unwrap()
            .starts_with("kernel,hz,cpus_online,pi,window")
    );
    assert!(lines.all(|l| l.contains(",kernel,")), "{csv}");
    let output = lab(&[], &[&["record", "-"], &short[..]].concat(), &text);
    let told = String::from_utf8(output.stdout).unwrap();
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    assert!(
        told.contains(&format!("kernel {}, HZ", release.trim())),
        "{told}"
    );
}

/// Where tracefs can be used the kernel's own text comes out and `trace` reads it; elsewhere one
/// sentence, before anything has run.
#[test]
fn the_kernel_s_events_are_used_or_it_is_said_why_not() {
    let report = record(&paced(SHORT, 1), &["--duration", "500ms"]);
    let said = notices(&report)
        .iter()
        .filter(|n| n.contains("by the threads' own clocks"))
        .count();
    let figures = report["machine"]["figures"].as_str().unwrap();
    assert_eq!(said, usize::from(figures == "clocks"), "{report}");
    let cpu = cpu();
    let args = [
        "record",
        "-",
        "--format",
        "ftrace",
        "--cpu",
        &cpu,
        "--duration",
        "500ms",
    ];
    let output = lab(&[], &args, &paced(SHORT, 1));
    let error = String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(1) {
        assert!(error.contains("ftrace text needs tracefs"), "{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
        return;
    }
    assert_eq!(output.status.code(), Some(0), "{error}");
    let text = String::from_utf8(output.stdout).unwrap();
    let trace = report_of(&lab(&[], &["trace", "-", "--format", "json"], &text));
    let tasks = trace["tasks"].as_array().unwrap();
    assert!(tasks.iter().any(|t| t["name"] == "bg"), "{tasks:?}");
}
