//! The workload a trace implies, and what it does under every variant, beside what the kernel did.

use std::fs::File;
use std::path::Path;

use reweight_lab::model::kernel::Kernel;
use reweight_lab::trace::read::{ModelReport, Options, WhatIf, read};
use reweight_lab::workload::Workload;

fn what_if(file: &str) -> WhatIf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/traces")
        .join(file);
    let options = Options {
        story: 100_000,
        ..Options::default()
    };
    read(File::open(path).unwrap(), options)
        .unwrap()
        .what_if(file)
        .unwrap_or_else(|e| panic!("{e}"))
}

fn run(file: &str) -> (WhatIf, Vec<ModelReport>) {
    let what_if = what_if(file);
    let version = if file.starts_with("6.12") {
        "6.12"
    } else {
        "6.1"
    };
    let models = what_if
        .run(Kernel::named(version), None)
        .unwrap_or_else(|e| panic!("{file}: {e}"));
    (what_if, models)
}

fn gap(models: &[ModelReport], pi: &str) -> f64 {
    models.iter().find(|m| m.pi == pi).unwrap().gap
}

fn blocked(models: &[ModelReport], pi: &str, task: &str) -> u64 {
    let model = models.iter().find(|m| m.pi == pi).unwrap();
    model
        .tasks
        .iter()
        .find(|t| t.name == task)
        .unwrap()
        .blocked_ns
}

/// The variant that the recorded kernel had gives its CPU times to half a percent; the other does
/// not.
#[test]
fn the_variant_that_was_recorded_comes_closest() {
    for (file, right, wrong) in [
        ("6.12hz1000-stock-base.trace.txt.gz", "stock", "reweight"),
        ("6.12hz1000-reweight-base.trace.txt.gz", "reweight", "stock"),
        (
            "6.12hz1000-reweight-timeout.trace.txt.gz",
            "reweight",
            "stock",
        ),
        ("6.12hz1000-stock-crit200.trace.txt.gz", "stock", "reweight"),
        (
            "6.1hz1000-reweight-new-relock.trace.txt.gz",
            "reweight",
            "stock",
        ),
    ] {
        let (_, models) = run(file);
        let (right, wrong) = (gap(&models, right), gap(&models, wrong));
        assert!(
            right < 0.005 && wrong > 2.0 * right,
            "{file}: {right} {wrong}"
        );
    }
}

/// What the patch would have changed for the waiter of a stock kernel's trace: low's work under
/// the lock is the same, at half of the CPU instead of a tenth.
#[test]
fn a_stock_trace_tells_how_long_the_waiter_would_have_waited() {
    let (what_if, models) = run("6.12hz1000-stock-base.trace.txt.gz");
    let high = what_if
        .real
        .iter()
        .find(|t| t.name == "high")
        .unwrap()
        .blocked_ns;
    assert!(blocked(&models, "stock", "high").abs_diff(high) < 20_000_000);
    assert!(blocked(&models, "reweight", "high") * 4 < high);
    assert_eq!(what_if.workload.holder.as_deref(), Some("low"));
}

#[test]
fn every_recording_gives_a_workload_that_reads_back_and_runs() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/traces");
    let mut files = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if !name.contains(".trace.txt") {
            continue;
        }
        let (what_if, models) = run(&name);
        let again = Workload::parse(&what_if.workload.to_json(), &name).unwrap();
        assert_eq!(again.tasks, what_if.workload.tasks, "{name}");
        assert_eq!(what_if.real.len(), what_if.workload.tasks.len(), "{name}");
        for model in &models {
            assert!((0.0..=1.0).contains(&model.gap), "{name}: {}", model.gap);
        }
        let mut text = Vec::new();
        what_if.write_text(&models, &mut text).unwrap();
        files += 1;
    }
    assert!(files >= 25);
}
