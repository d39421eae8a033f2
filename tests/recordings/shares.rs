//! Shares, weights and prios of real kernels: every recorded configuration, every workload.
//!
//! Shares are of the CPU time of the scenario's tasks, within the tolerance its window states;
//! weights and prios at the end of every window and of the run are exact. The machine is the
//! ideal one of the command line, but for [`BY_PHASE`]. What is known to differ is told in
//! `docs/realism.md`.

use std::path::Path;

use crate::recording;
use crate::run::{self, Run, Seen, Told};
use reweight_lab::model::kernel::Kernel;
use reweight_lab::model::pi::Variant;
use reweight_lab::model::task::Policy;
use serde_json::Value;

/// The window whose shares depend on microseconds that no recording tells: it is held over all
/// phases of the tick, by [`at_250_hz_a_sleepers_share_is_a_matter_of_phase`].
const BY_PHASE: (&str, &str, &str) = ("linux-6.12-hz250-reweight", "bg_sleeper", "B");

fn states<'a>(want: &Value, racy: &Value, got: &dyn Fn(&str) -> Option<&'a Seen>, at: &str) {
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
        let got = got(task).unwrap_or_else(|| panic!("{at}: no task {task}"));
        if got.policy != Policy::Deadline {
            let want = (
                want[0].as_u64().unwrap() as u32,
                want[1].as_i64().unwrap() as i32,
            );
            let got = (got.weight, got.prio);
            assert_eq!(got, want, "{at}: weight and prio of {task}");
        }
    }
}

/// The workload's run on that machine.
fn ran(name: &str, told: Told) -> Run {
    run::run(
        &recording::folder("workloads").join(format!("{name}.json")),
        told,
    )
}

/// Holds one workload against what one kernel did; the differences of its shares, in points.
fn hold(config: &str, name: &str, expected: &Value, scenario: &Value, told: Told) -> Vec<f64> {
    let mut told = told;
    if let Some(pi) = scenario["pi"].as_str() {
        told.pi = Variant::named(pi).expect("a variant");
    }
    let run = ran(name, told);
    let mut differences = Vec::new();
    for (window, want) in scenario["windows"].as_object().expect("windows") {
        let at = format!("{config} {name} {window}");
        let shares = want["share"].as_object().expect("shares");
        let tasks: Vec<&str> = shares.keys().map(String::as_str).collect();
        let tolerance = want["tolerance_pp"]
            .as_f64()
            .or(expected["tolerance_pp"].as_f64())
            .unwrap_or(0.5);
        for (task, share) in shares {
            let got = run.share(window, task, &tasks);
            let difference = (got - share.as_f64().unwrap()).abs() * 100.0;
            assert!(
                difference <= tolerance || (config, name, &**window) == BY_PHASE,
                "{at}: {task} {:.2} %, recorded {:.2} % (tolerance {tolerance})",
                got * 100.0,
                share.as_f64().unwrap() * 100.0
            );
            if want["outside"].is_null() {
                differences.push(difference);
            }
        }
        let to = run.window(window).to;
        let got = |task: &str| run.at(to, task);
        states(&want["end"], &want["racy"], &got, &format!("{at}, end"));
    }
    let at = format!("{config} {name}, end of the run");
    let got = |task: &str| run.last(task);
    states(&scenario["final"], &scenario["racy_final"], &got, &at);
    differences
}

fn expected(config: &str) -> Value {
    let path = recording::folder("expected").join(format!("{config}.json.gz"));
    serde_json::from_str(&recording::gunzip(&path)).expect("JSON")
}

fn configuration(config: &str, kernel: Option<Kernel>) {
    let expected = expected(config);
    let told = Told::new(&expected, kernel);
    let mut differences = Vec::new();
    let mut count = 0;
    for (name, scenario) in expected["scenarios"].as_object().expect("scenarios") {
        differences.extend(hold(config, name, &expected, scenario, told));
        count += 1;
    }
    let mean = differences.iter().sum::<f64>() / differences.len() as f64;
    let row = format!(
        "| {config} | {count} | {} | {mean:.3} |\n",
        differences.len()
    );
    println!("{row}");
    assert!(count >= 10, "{count} workloads");
    assert!(mean <= 0.1, "mean difference {mean}");
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/realism.md");
    let document = std::fs::read_to_string(document).expect("docs/realism.md");
    assert!(
        document.contains(&row),
        "docs/realism.md tells no such row: {row}"
    );
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

/// The share of `per` in window B with the first tick at each of `n` places in the tick, sorted.
fn by_phase(config: &str, n: u64) -> Vec<f64> {
    let told = Told::new(&expected(config), None);
    let tick = 1_000_000_000 / u64::from(told.hz);
    let mut shares: Vec<f64> = (0..n)
        .map(|i| {
            let told = Told {
                first_tick: Some(i * tick / n),
                ..told
            };
            100.0 * ran("bg_sleeper", told).share("B", "per", &["low", "bg", "per", "high"])
        })
        .collect();
    shares.sort_by(f64::total_cmp);
    println!("{config} bg_sleeper B, per: {shares:.2?}");
    shares
}

fn recorded_share(config: &str) -> f64 {
    let expected = expected(config);
    let scenario = &expected["scenarios"]["bg_sleeper"];
    100.0 * scenario["windows"]["B"]["share"]["per"].as_f64().unwrap()
}

/// Of three tasks of one weight, two spin and one computes 2 ms and sleeps 8 ms. With ticks of
/// 4 ms that falls into step with the ticks in one of several ways; which one depends on where in
/// the tick it began, to some microseconds. The recorded share is one that occurs, and seven phases
/// of eight are within the tolerance of it.
#[test]
fn at_250_hz_a_sleepers_share_is_a_matter_of_phase() {
    let (config, name, window) = BY_PHASE;
    let shares = by_phase(config, 40);
    let expected = expected(config);
    let tolerance = &expected["scenarios"][name]["windows"][window]["tolerance_pp"];
    let tolerance = tolerance.as_f64().expect("a tolerance of its own");
    let recorded = recorded_share(config);
    assert!(shares[39] - shares[0] > tolerance);
    assert!(shares[0] < recorded && recorded < shares[39]);
    let near = shares.iter().filter(|s| (*s - recorded).abs() <= tolerance);
    assert!(near.count() >= 35);
}

/// With ticks of 1 ms it does not matter, and the model is where the recording is.
#[test]
fn at_1000_hz_a_sleepers_share_is_no_matter_of_phase() {
    let config = "linux-6.12-hz1000-reweight";
    let shares = by_phase(config, 20);
    let recorded = recorded_share(config);
    assert!(shares.iter().all(|s| (s - recorded).abs() < 0.1));
}
