//! rt-app's events do what rt-app does: small workloads, and who has had how much CPU at the end.
//!
//! The meaning is that of the tool's sources and of version 1.0, run by hand.

use std::fs;
use std::path::PathBuf;

use reweight_lab::model::kernel::Kernel;
use reweight_lab::model::task::{Policy, State};
use reweight_lab::model::units::{Ns, TaskId};
use reweight_lab::workload::{Options, Scenario, Workload};

fn text(file: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/workloads")
        .join(file);
    fs::read_to_string(path).unwrap_or_else(|e| panic!("{file}: {e}"))
}

fn scenario(file: &str, kernel: Kernel) -> Scenario {
    let options = Options {
        kernel: Some(kernel),
        ..Options::default()
    };
    Workload::parse(&text(file), file)
        .and_then(|w| w.build(&options))
        .unwrap_or_else(|e| panic!("{e}"))
}

/// CPU time of every task at an instant, us.
fn cpu_at(scenario: &Scenario, at: Ns) -> Vec<(String, u64)> {
    let mut machine = scenario.machine.clone();
    machine.run_until(at, &mut ()).expect("a run that goes on");
    let names = scenario.names.all_tasks(&machine);
    let us = |n: usize| machine.cpu_time(TaskId(n as u32)).0 / 1000;
    names
        .into_iter()
        .enumerate()
        .map(|(n, name)| (name, us(n)))
        .collect()
}

#[test]
fn every_event_takes_the_time_it_should() {
    #[rustfmt::skip]
    let table: &[(&str, &[(&str, u64)])] = &[
        ("timer-delay.json", &[("tick", 200_000)]),
        // Busy 0..10, 20..55, 55..65, 75..85, 95..100.
        ("timer-relative.json", &[("late", 70_000)]),
        // Busy 0..10, 20..55, 55..65, 65..75, 80..90.
        ("timer-absolute.json", &[("late", 75_000)]),
        // Expiries at 10, 20 ... 90 ms, one task each, beside the start of both.
        ("timer-shared.json", &[("a", 6_000), ("b", 5_000)]),
        ("ping-pong.json", &[("ping", 50_000), ("pong", 50_000)]),
        // From 30 ms on three compete; wall time passes for the early ones.
        ("meeting.json", &[("late", 5_000)]),
        ("queue.json", &[("consumer-0", 4_000), ("consumer-1", 4_000), ("producer", 0)]),
        ("semaphore.json", &[("taker", 9_000)]),
        ("family.json", &[("parent", 0), ("child", 4_000), ("child-1", 4_000), ("cousin", 4_000)]),
        ("wall-time.json", &[("work", 30_000)]),
        ("two-cpus.json", &[("left", 50_000), ("right", 50_000)]),
        ("until.json", &[("t", 12_000)]),
        ("give-up.json", &[("impatient", 2_000), ("patient", 2_000)]),
    ];
    for &(file, expected) in table {
        for kernel in [Kernel::V6_1, Kernel::V6_12] {
            let s = scenario(file, kernel);
            let had = cpu_at(&s, s.duration);
            for &(task, us) in expected {
                let got = had
                    .iter()
                    .find(|h| h.0 == task)
                    .unwrap_or_else(|| panic!("{file}: no {task}"));
                assert_eq!(got.1, us, "{file} on {}: {had:?}", kernel.name);
            }
        }
    }
}

#[test]
fn every_small_workload_reads_back_as_it_was() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/workloads");
    for entry in fs::read_dir(folder).expect("the folder") {
        let file = entry
            .expect("an entry")
            .file_name()
            .to_string_lossy()
            .into_owned();
        let mut read = Workload::parse(&text(&file), &file).unwrap_or_else(|e| panic!("{e}"));
        let back = Workload::parse(&read.to_json(), &file).unwrap_or_else(|e| panic!("{e}"));
        // What a notice spoke of is not written.
        read.notices.clear();
        assert_eq!(back, read, "{file}");
    }
}

/// The tool, 1.0, with `delay` 50000: rounds begin at 50, 150, 250 ms.
#[test]
fn a_timer_counts_from_the_delay_not_from_its_first_use() {
    let s = scenario("timer-delay.json", Kernel::V6_12);
    let had = |ms| cpu_at(&s, Ns::from_ms(ms))[0].1;
    assert_eq!(
        [had(50), had(70), had(150), had(160), had(170), had(250)],
        [0, 20_000, 20_000, 30_000, 40_000, 40_000]
    );
}

#[test]
fn nobody_passes_a_barrier_before_the_last_has_come() {
    let s = scenario("meeting.json", Kernel::V6_12);
    assert!(cpu_at(&s, Ns::from_ms(30)).iter().all(|(_, us)| *us == 0));
    let after: u64 = cpu_at(&s, Ns::from_ms(35)).iter().map(|h| h.1).sum();
    assert_eq!(after, 5_000);
}

#[test]
fn a_signal_wakes_one_sleeper_and_a_broadcast_all() {
    for kernel in [Kernel::V6_1, Kernel::V6_12] {
        let s = scenario("all-wake.json", kernel);
        let had = |ms: u64| cpu_at(&s, Ns::from_ms(ms)).iter().map(|h| h.1).sum::<u64>();
        assert_eq!([had(9), had(19), had(29)], [0, 1_000, 3_000]);
    }
}

#[test]
fn sync_wakes_the_other_and_sleeps() {
    // Rounds of 5 ms, each begun by a signal; signals while it runs are lost.
    let s = scenario("hand-shake.json", Kernel::V6_12);
    let had = cpu_at(&s, s.duration);
    assert!((40_000..=50_000).contains(&had[0].1), "{had:?}");
}

#[test]
fn wall_time_passes_for_a_runtime_that_has_to_wait() {
    let s = scenario("wall-time.json", Kernel::V6_12);
    let had = cpu_at(&s, s.duration);
    assert!((14_000..=16_000).contains(&had[0].1), "{had:?}");
}

#[test]
fn a_fork_has_its_parent_s_nice_level_unless_it_has_its_own() {
    let s = scenario("family.json", Kernel::V6_12);
    let mut m = s.machine.clone();
    m.run_until(s.duration, &mut ())
        .expect("a run that goes on");
    let nice = |name: &str| m.task(s.names.find_task_in(&m, name).expect(name)).nice();
    assert_eq!(
        [
            nice("parent"),
            nice("child"),
            nice("child-1"),
            nice("cousin")
        ],
        [5, 5, 5, 0]
    );
    assert!(m.tasks().iter().all(|t| t.state() == State::Ended));
}

#[test]
fn a_phase_changes_the_policy_of_its_task() {
    let s = scenario("ranks.json", Kernel::V6_12);
    let mut m = s.machine.clone();
    let mut at = |ms| {
        m.run_until(Ns::from_ms(ms), &mut ())
            .expect("a run that goes on");
        (m.task(TaskId(0)).policy(), m.task(TaskId(0)).nice())
    };
    assert_eq!(at(5), (Policy::Normal, 0));
    assert_eq!(at(20), (Policy::Fifo, 0));
    assert_eq!(at(33), (Policy::Normal, 19));
    // Steady has the first 10 ms and, at most, a tick until rising has woken.
    let had = cpu_at(&s, Ns::from_ms(30));
    assert!((19_000..=20_000).contains(&had[0].1), "{had:?}");
}

/// Findings 2, 5: on 6.12 each yield costs the rest of a slice; on 6.1 it changes no share.
#[test]
fn a_yield_costs_on_6_12_and_not_on_6_1() {
    let polite = |kernel| {
        let s = scenario("giving-way.json", kernel);
        cpu_at(&s, s.duration)[0].1
    };
    assert!(
        (490_000..=510_000).contains(&polite(Kernel::V6_1)),
        "{}",
        polite(Kernel::V6_1)
    );
    assert!(polite(Kernel::V6_12) < 450_000, "{}", polite(Kernel::V6_12));
}

/// A timeout of nothing, signals that wake each other: no time goes on, and the run is stopped.
#[test]
fn a_loop_that_takes_no_time_is_stopped() {
    for body in [
        r#""yield""#,
        r#""sleep":0"#,
        r#""instance":3,"sync":{"ref":"x"},"lock_timed":{"ref":"m","timeout":0}"#,
        r#""lock":"m","unlock":"m""#,
        r#""mem":1"#,
    ] {
        let text = format!(
            r#"{{"tasks":{{"t":{{{body}}}}},"global":{{"duration":1,"pi_enabled":true}}}}"#
        );
        let w = Workload::parse(&text, "f").unwrap_or_else(|e| panic!("{e}"));
        let mut s = w
            .build(&Options::default())
            .unwrap_or_else(|e| panic!("{e}"));
        let stalled = s.machine.run_until(s.duration, &mut ());
        assert!(stalled.is_err(), "{body}");
    }
}
