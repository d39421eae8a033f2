//! The numbers of `docs/model.md` are those of the model.

use std::path::Path;
use std::sync::Arc;

use reweight_lab::model::kernel::{Kernel, Settings};
use reweight_lab::model::machine::Machine;
use reweight_lab::model::program::Step;
use reweight_lab::model::task::{Policy, Scheduling, TaskSpec};
use reweight_lab::model::units::{CpuId, Ns, TaskId};
use reweight_lab::model::weight::{LoadWeight, calc_delta_fair};

fn document() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/model.md");
    std::fs::read_to_string(path).expect("docs/model.md")
}

/// `12345` as people write it.
fn grouped(n: u64) -> String {
    if n < 1000 {
        n.to_string()
    } else {
        format!("{},{:03}", grouped(n / 1000), n % 1000)
    }
}

/// Share of the first of some tasks that compute for 20 s, in percent.
fn share(kernel: Kernel, tasks: &[Scheduling]) -> f64 {
    let mut m = Machine::new(Settings::new(kernel));
    for sched in tasks {
        m.add_task(TaskSpec {
            scheduling: Some(*sched),
            cpu: Some(CpuId(0)),
            program: Arc::from([Step::Run(Ns::from_secs(1000))]),
            resume_at: None,
        });
    }
    m.run_until(Ns::from_secs(20), &mut ()).expect("it goes on");
    m.cpu_time(TaskId(0)).0 as f64 / 20e9 * 100.0
}

#[test]
fn the_weights_are_the_kernels() {
    let text = document().split_whitespace().collect::<Vec<_>>().join(" ");
    for nice in [-20, -10, -5, 5, 10, 19] {
        let weight = LoadWeight::of_nice(nice).table_weight();
        let said = format!("nice {nice} is {}", grouped(u64::from(weight)));
        assert!(text.contains(&said), "{said}");
    }
    assert_eq!(LoadWeight::of_nice(0).table_weight(), 1024);
    assert_eq!(LoadWeight::IDLE.table_weight(), 3);
}

/// Each row of the table of shares: its fraction gives its percentage, and so does a run.
#[test]
fn the_shares_are_those_of_a_run() {
    let idle = Scheduling {
        policy: Policy::Idle,
        ..Scheduling::normal(0)
    };
    let nice = Scheduling::normal;
    let runs = [
        ("110 / 1134", vec![nice(10), nice(0)]),
        ("1024 / 2048", vec![nice(0), nice(0)]),
        ("335 / 1359", vec![nice(5), nice(0)]),
        ("9548 / 10572", vec![nice(-10), nice(0)]),
        ("88761 / 89785", vec![nice(-20), nice(0)]),
        ("3 / 1027", vec![idle, nice(0)]),
        ("110 / 2158", vec![nice(10), nice(0), nice(0)]),
    ];
    let text = document();
    let rows: Vec<Vec<&str>> = text
        .lines()
        .filter(|l| l.starts_with("| ") && l.contains(" % |"))
        .map(|l| l.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    // One more: proxy execution, which presets hold.
    assert_eq!(rows.len(), runs.len() + 1);
    for row in &rows {
        let (part, whole) = row[1].split_once(" / ").expect("a fraction");
        let exact = 100.0 * part.parse::<f64>().unwrap() / whole.parse::<f64>().unwrap();
        assert_eq!(format!("{exact:.2} %"), row[2], "{row:?}");
        let Some((_, tasks)) = runs.iter().find(|(fraction, _)| *fraction == row[1]) else {
            assert!(row[0].starts_with("proxy"));
            continue;
        };
        for kernel in [Kernel::V6_1, Kernel::V6_12] {
            let got = share(kernel, tasks);
            assert!(
                (got - exact).abs() < 0.05,
                "{row:?} on {}: {got}",
                kernel.name
            );
        }
    }
}

#[test]
fn virtual_time_and_the_worked_boost_are_the_models() {
    let text = document();
    let low = LoadWeight::of_nice(10);
    let virtual_ms = calc_delta_fair(1_000_000, &low);
    assert!(text.contains(&grouped(virtual_ms)), "{virtual_ms}");
    let request = calc_delta_fair(700_000, &low);
    assert!(text.contains(&grouped(request)), "{request}");
    assert_eq!(Kernel::V6_12.base_slice, 700_000);
    // The golden trace, which `tests/model/golden.rs` holds the model against.
    let boost = include_str!("../data/golden/eevdf-on.txt")
        .lines()
        .find(|l| l.contains("setprio low 130->120"))
        .expect("the boost");
    let columns: Vec<&str> = boost.split(" | ").collect();
    let (v, deadline) = columns[3]
        .split_once(" / ")
        .expect("low's clock and deadline");
    let number = |s: &str| s.parse::<u64>().expect("a number");
    let (v, deadline, mean) = (number(v), number(deadline), number(columns[5]));
    assert_eq!(deadline - v, request);
    let lag = mean - v;
    assert_eq!(lag, 177_991 * 110 / 1024);
    for n in [177_991, lag, v] {
        assert!(text.contains(&grouped(n)), "{}", grouped(n));
    }
}
