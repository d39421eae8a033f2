//! Shares, weights and prios of real kernels: every recorded configuration, every workload.
//!
//! Shares are of the CPU time of the scenario's tasks, within the tolerance its window states;
//! weights and prios at the end of every window and of the run are exact. Known gaps are listed
//! with their reason and told in `docs/realism.md`.
#![cfg(not(target_arch = "wasm32"))]

#[path = "common/recording.rs"]
#[allow(dead_code)]
mod recording;

use reweight_lab::model::kernel::Kernel;
use reweight_lab::model::pi::Variant;
use reweight_lab::model::task::Policy;
use reweight_lab::model::units::{Ns, TaskId};
use reweight_lab::workload::{Options, Workload};
use serde_json::Value;

/// Where model and recording are known to differ by more than the tolerance, and why.
const KNOWN: [(&str, &str, &str); 1] = [
    // The sleeper's phase against the 4 ms tick decides which wakeups preempt; the workload's
    // CPU time is corrected for HZ 1000 (four times as many tick interrupts), so the phase drifts
    // at another pace than it did.
    ("linux-6.12-hz250-reweight", "bg_sleeper", "B"),
];

/// A task's weight, prio and policy.
type Seen = (u32, i32, Policy);

fn states(want: &Value, racy: &Value, got: &dyn Fn(&str) -> Option<Seen>, at: &str) {
    let racy: Vec<&str> = racy
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    for (task, want) in want.as_object().into_iter().flatten() {
        if racy.contains(&&**task) {
            continue;
        }
        let (weight, prio, policy) = got(task).unwrap_or_else(|| panic!("{at}: no task {task}"));
        if policy != Policy::Deadline {
            let want = (
                want[0].as_u64().unwrap() as u32,
                want[1].as_i64().unwrap() as i32,
            );
            assert_eq!((weight, prio), want, "{at}: weight and prio of {task}");
        }
    }
}

/// Holds one workload against what one kernel did; the differences of its shares, in points.
fn hold(config: &str, name: &str, expected: &Value, scenario: &Value, kernel: Kernel) -> Vec<f64> {
    let file = recording::folder("workloads").join(format!("{name}.json"));
    let text = std::fs::read_to_string(&file).expect("a recorded workload");
    let workload = Workload::parse(&text, name).expect("a sound workload");
    let pi = scenario["pi"]
        .as_str()
        .unwrap_or(expected["pi"].as_str().unwrap());
    let options = Options {
        kernel: Some(kernel),
        hz: Some(expected["hz"].as_u64().unwrap() as u32),
        cpus_online: Some(expected["cpus_online"].as_u64().unwrap_or(1) as u32),
        pi: Variant::named(pi),
        ..Options::default()
    };
    let mut built = workload.build(&options).expect("a sound workload");
    let machine = &mut built.machine;
    let mut instants: Vec<Ns> = built.windows.iter().flat_map(|w| [w.from, w.to]).collect();
    instants.sort();
    instants.dedup();
    let mut at_instant = Vec::new();
    for &at in &instants {
        machine.run_until(at, &mut ()).expect("it makes progress");
        let tasks: Vec<(String, u64, Seen)> = (0..machine.tasks().len() as u32)
            .map(|i| {
                let task = machine.task(TaskId(i));
                let state = (task.weight(), task.prio(), task.policy());
                (
                    built.names.task(machine, TaskId(i)),
                    machine.cpu_time(TaskId(i)).0,
                    state,
                )
            })
            .collect();
        at_instant.push(tasks);
    }
    let snapshot = |at: Ns| &at_instant[instants.binary_search(&at).expect("a window's edge")];
    let cpu = |at: Ns, task: &str| snapshot(at).iter().find(|t| t.0 == task).map_or(0, |t| t.1);
    let mut differences = Vec::new();
    for (window, want) in scenario["windows"].as_object().expect("windows") {
        let at = format!("{config} {name} {window}");
        let w = built
            .windows
            .iter()
            .find(|w| w.name == *window)
            .expect("the window");
        let shares = want["share"].as_object().expect("shares");
        let total: u64 = shares.keys().map(|t| cpu(w.to, t) - cpu(w.from, t)).sum();
        let tolerance = want["tolerance_pp"]
            .as_f64()
            .or(expected["tolerance_pp"].as_f64())
            .unwrap_or(0.5);
        let known = KNOWN.contains(&(config, name, window));
        let mut beyond = 0;
        for (task, share) in shares {
            let got = (cpu(w.to, task) - cpu(w.from, task)) as f64 / total.max(1) as f64;
            let difference = (got - share.as_f64().unwrap()).abs() * 100.0;
            let within = difference <= tolerance;
            beyond += u32::from(!within);
            assert!(
                within || known,
                "{at}: {task} {:.2} %, recorded {:.2} % (tolerance {tolerance})",
                got * 100.0,
                share.as_f64().unwrap() * 100.0
            );
            if want["outside"].is_null() {
                differences.push(difference);
            }
        }
        // A gap that has closed shall not stay on the list.
        assert!(
            !known || beyond > 0,
            "{at}: within its tolerance now: take it off KNOWN"
        );
        let got = |task: &str| snapshot(w.to).iter().find(|t| t.0 == task).map(|t| t.2);
        states(&want["end"], &want["racy"], &got, &format!("{at}, end"));
    }
    machine
        .run_until(built.duration, &mut ())
        .expect("it makes progress");
    let machine = &built.machine;
    let got = |task: &str| {
        let id = built.names.find_task_in(machine, task)?;
        let task = machine.task(id);
        Some((task.weight(), task.prio(), task.policy()))
    };
    let at = format!("{config} {name}, end of the run");
    states(&scenario["final"], &scenario["racy_final"], &got, &at);
    differences
}

fn configuration(config: &str, kernel: Option<Kernel>) {
    let path = recording::folder("expected").join(format!("{config}.json.gz"));
    let expected: Value = serde_json::from_str(&recording::gunzip(&path)).expect("JSON");
    let named = expected["kernel"].as_str().unwrap();
    let kernel = kernel.unwrap_or_else(|| Kernel::named(named).expect("a kernel"));
    let mut differences = Vec::new();
    let mut count = 0;
    for (name, scenario) in expected["scenarios"].as_object().expect("scenarios") {
        let file = recording::folder("workloads").join(format!("{name}.json"));
        if file.exists() {
            differences.extend(hold(config, name, &expected, scenario, kernel));
            count += 1;
        }
    }
    let mean = differences.iter().sum::<f64>() / differences.len() as f64;
    println!(
        "{config}: {count} workloads, {} shares, mean difference {mean:.3} points",
        differences.len()
    );
    assert!(count >= 10, "{count} workloads");
    assert!(mean <= 0.1, "mean difference {mean}");
}

macro_rules! configurations {
    ($($test:ident: $config:literal $(as $kernel:expr)?;)*) => {$(
        #[test]
        fn $test() {
            #[allow(unused_mut, unused_assignments)]
            let mut kernel = None;
            $(kernel = Some($kernel);)?
            configuration($config, kernel);
        }
    )*};
}

configurations! {
    shares_of_6_1_at_1000_hz_stock: "linux-6.1-hz1000-stock";
    shares_of_6_1_at_1000_hz_with_the_patch: "linux-6.1-hz1000-reweight";
    shares_of_6_1_at_250_hz_stock: "linux-6.1-hz250-stock";
    shares_of_6_1_at_250_hz_with_the_patch: "linux-6.1-hz250-reweight";
    shares_of_6_12_at_1000_hz_stock: "linux-6.12-hz1000-stock";
    shares_of_6_12_at_1000_hz_with_the_patch: "linux-6.12-hz1000-reweight";
    shares_of_6_12_at_250_hz_stock: "linux-6.12-hz250-stock";
    shares_of_6_12_at_250_hz_with_the_patch: "linux-6.12-hz250-reweight";
    shares_of_6_1_new_scenarios_stock: "linux-6.1-hz1000-stock-new";
    shares_of_6_1_new_scenarios_with_the_patch: "linux-6.1-hz1000-reweight-new";
    shares_of_6_1_with_the_second_version: "linux-6.1-hz1000-reweight-v2";
    shares_of_6_12_new_scenarios_stock: "linux-6.12-hz1000-stock-new";
    shares_of_6_12_new_scenarios_with_the_patch: "linux-6.12-hz1000-reweight-new";
    shares_of_6_12_with_the_second_version: "linux-6.12-hz1000-reweight-v2";
    shares_of_6_12_with_the_relative_deadline_scaled:
        "linux-6.12-hz1000-reweight-reldeadline" as Kernel::V6_13;
    shares_of_a_live_6_18: "host-6.18.44-hz250-stock";
}
