//! What the lab writes, the real rt-app runs, and its logs say of who got more what `record` says.
//!
//! Needs rt-app 1.0 (Debian: `apt-get install rt-app`), which `.ci/run` installs. Where it is
//! missing, the tests say so and prove nothing.

use std::path::Path;
use std::process::{Command, Output};

use crate::command::{Scratch, command};
use reweight_lab::model::task::Policy;
use reweight_lab::model::units::Ns;
use reweight_lab::workload::{Event, Workload, presets};
use serde_json::Value;

/// Whether the tool is there; else a line that says so.
fn installed() -> bool {
    let there = Command::new("rt-app").arg("--help").output().is_ok();
    if !there {
        println!("rt-app is not installed: what we write was not tried with it");
    }
    there
}

/// Runs the tool on what we write, with a load that need not be calibrated and logs in `dir`.
fn rt_app(written: &str, dir: &Path) -> Output {
    // Its log lines are kept in memory (MiB) and written at the end, so that they take no time.
    let logs = format!(
        r#""global": {{ "logdir": {:?}, "log_basename": "t", "log_size": 8, "#,
        dir.to_str().unwrap()
    );
    let calibrates = "\"calibration\": \"CPU0\"";
    assert!(
        written.contains(calibrates),
        "the writer says otherwise now"
    );
    let text =
        written
            .replacen("\"global\": {", &logs, 1)
            .replacen(calibrates, "\"calibration\": 100", 1);
    let file = dir.join("workload.json");
    std::fs::write(&file, text).unwrap();
    Command::new("timeout")
        .args(["60", "rt-app"])
        .arg(&file)
        .output()
        .unwrap()
}

/// Asserts that the tool read a workload, started its threads and came to the end of the run.
///
/// Version 1.0 ends a thread that holds a PI mutex without releasing it; the C library then aborts
/// whoever locks it next. That is after the run, and of the tool's making.
fn ran(output: &Output, what: &str) {
    let said = String::from_utf8_lossy(&output.stderr);
    let ended = output.status.code() == Some(0)
        || said.contains("Exiting.") && said.contains("(oldval & FUTEX_OWNER_DIED) == 0");
    assert!(ended, "{what}: {:?}: {said}", output.status);
    assert!(said.contains("starting thread"), "{what}: {said}");
    for word in ["error", "crit"] {
        assert!(!said.contains(&format!("<{word}>")), "{what}: {said}");
    }
}

/// SCHED_BATCH and SCHED_IDLE came to the tool after 1.0, `lock_timed` is ours. It gives up where
/// the system does not permit a policy or a nice level.
fn is_for_the_tool(workload: &Workload, text: &str) -> bool {
    let root = rustix::process::geteuid().is_root();
    let mut asked = workload.tasks.iter().filter_map(|t| t.asked);
    let takes = asked.all(|a| match a.scheduling.policy {
        Policy::Batch | Policy::Idle => false,
        Policy::Normal => root || a.scheduling.nice >= 0,
        _ => root,
    });
    takes && !text.contains("lock_timed")
}

/// The same workload in less time: the tool ends only between two events.
fn shortened(mut workload: Workload) -> Workload {
    workload.windows.clear();
    workload.controls.clear();
    workload.duration = Some(Ns(1_000_000_000));
    for task in &mut workload.tasks {
        task.delay = task.delay.min(Ns::from_ms(100));
        for event in task.phases.iter_mut().flat_map(|p| &mut p.events) {
            match event {
                Event::Run(span) => *span = Ns::from_ms(1).min(*span),
                Event::Runtime(span) => *span = Ns::from_ms(300).min(*span),
                _ => {}
            }
        }
    }
    workload
}

#[test]
fn rt_app_accepts_what_we_write_of_every_preset() {
    if !installed() {
        return;
    }
    let workloads: Vec<(&str, Workload)> = presets::ALL
        .iter()
        .map(|p| (p.name, p.text, Workload::parse(p.text, p.name).unwrap()))
        .filter(|(_, text, workload)| is_for_the_tool(workload, text))
        .map(|(name, _, workload)| (name, shortened(workload)))
        .collect();
    assert!(workloads.len() >= 8, "{}", workloads.len());
    for some in workloads.chunks(8) {
        std::thread::scope(|scope| {
            for (name, workload) in some {
                scope.spawn(move || {
                    let scratch = Scratch::new(&format!("tool-{name}"));
                    ran(&rt_app(&workload.to_json(), &scratch.0), name);
                });
            }
        });
    }
}

/// The work of a thread by the tool's log: the column `perf` counts its loops.
fn work(dir: &Path, task: &str) -> u64 {
    let logs = std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path());
    let begins = format!("t-{task}-");
    let log = logs
        .into_iter()
        .find(|p| {
            p.file_name()
                .unwrap()
                .to_string_lossy()
                .starts_with(&begins)
        })
        .unwrap_or_else(|| panic!("no log of {task}"));
    let text = std::fs::read_to_string(log).unwrap();
    let lines = text.lines().filter(|l| !l.starts_with('#'));
    lines
        .filter_map(|l| l.split_ascii_whitespace().nth(1)?.parse::<u64>().ok())
        .sum()
}

/// Three tasks at nice levels far apart, and the holder of a lock that a fourth waits for: who got
/// more, both say; how much is for a quiet machine.
#[test]
fn its_logs_agree_with_record_on_who_got_more() {
    if !installed() {
        return;
    }
    let spin = r#""loop": 1, "phases": { "spin": { "loop": -1, "run": 500 } }"#;
    let contended = format!(
        r#"{{ "global": {{ "pi_enabled": true }}, "tasks": {{
         "low": {{ "priority": 10, "loop": 1, "phases": {{ "hold": {{ "lock": "M", "runtime": 1500000, "unlock": "M" }}, "spin": {{ "loop": -1, "run": 500 }} }} }},
         "bg": {{ {spin} }},
         "high": {{ "delay": 200000, "loop": 1, "phases": {{ "block": {{ "lock": "M", "unlock": "M", "suspend": "end" }} }} }} }},
         "lab": {{ "duration": 2000000 }} }}"#
    );
    let weights = format!(
        r#"{{ "tasks": {{
         "weak": {{ "priority": 15, {spin} }}, "middle": {{ "priority": 8, {spin} }}, "strong": {{ "priority": 0, {spin} }} }},
         "lab": {{ "duration": 2000000 }} }}"#
    );
    for (text, order) in [
        (contended, &["low", "bg"][..]),
        (weights, &["weak", "middle", "strong"][..]),
    ] {
        let workload = Workload::parse(&text, "test").unwrap();
        let scratch = Scratch::new(&format!("agree-{}", order.len()));
        let written = workload.to_json();
        ran(&rt_app(&written, &scratch.0), order[0]);
        let file = scratch.0.join("ours.json");
        std::fs::write(&file, &written).unwrap();
        let output = command()
            .args(["record", "--format", "json"])
            .arg(&file)
            .output()
            .unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let tasks = report["tasks"].as_array().unwrap();
        let cpu = |name: &str| {
            let task = tasks.iter().find(|t| t["name"] == name).unwrap();
            task["cpu_ns"].as_u64().unwrap()
        };
        let sums = |of: &dyn Fn(&str) -> u64| order.iter().map(|n| of(n)).sum::<u64>() as f64;
        let tool = |name: &str| work(&scratch.0, name);
        for name in order {
            println!(
                "{name}: record {:.2} %, rt-app {:.2} %",
                cpu(name) as f64 * 100.0 / sums(&cpu),
                tool(name) as f64 * 100.0 / sums(&tool)
            );
        }
        for pair in order.windows(2) {
            assert!(cpu(pair[0]) < cpu(pair[1]), "record: {pair:?}");
            assert!(tool(pair[0]) < tool(pair[1]), "rt-app: {pair:?}");
        }
    }
}
