//! What keeps fair tasks alive while a real-time task computes: throttling on 6.1, the fair server
//! on 6.12. A waiter of SCHED_FIFO or SCHED_DEADLINE boosts the holder, who computes on; meanwhile
//! `bg` gets the CPU in slots. Their number and length are held against the recordings (A.12, I.6).

use crate::recording;
use crate::run::{self, Told};

/// Scenarios in which the holder is boosted to FIFO, and the window in which it is.
const FIFO: [(&str, &str); 5] = [
    ("fifo_waiter", "B"),
    ("fifo_timeout_stuck", "B"),
    ("fifo_to_fair_while_blocked", "B"),
    ("chain_fifo", "B2"),
    ("leak_fair_fifo", "B2"),
];

/// The recorded configurations of either kernel.
const CONFIGS: [&str; 4] = [
    "hz1000-stock",
    "hz1000-reweight",
    "hz250-stock",
    "hz250-reweight",
];

/// A configuration's machine; what `bg` had in a window.
struct Slots {
    tick: f64,
    /// CPU time, ms.
    recorded: f64,
    /// When each began and how long it was, ms.
    slots: Vec<(f64, f64)>,
}

impl Slots {
    fn of(config: &str, (scenario, window): (&str, &str)) -> Slots {
        let path = recording::folder("expected").join(format!("{config}.json.gz"));
        let expected: serde_json::Value =
            serde_json::from_str(&recording::gunzip(&path)).expect("JSON");
        let t0 = &recording::measured(config)["scenarios"][scenario]["t0"];
        let told = Told::new(&expected, None).started_at(t0.as_u64().expect("t0"));
        let file = recording::folder("workloads").join(format!("{scenario}.json"));
        let run = run::run(&file, told);
        let w = run.window(window);
        let share = &expected["scenarios"][scenario]["windows"][window]["share"]["bg"];
        let slots = run::turns(&file, told, "bg", w.from, w.to);
        let ms = |ns: u64| ns as f64 / 1e6;
        let found = Slots {
            tick: 1000.0 / f64::from(told.hz),
            recorded: share.as_f64().expect("a share") * ms((w.to - w.from).0),
            slots: slots
                .iter()
                .map(|&(from, to)| (ms(from.0), ms((to - from).0)))
                .collect(),
        };
        println!(
            "{config} {scenario} {window}: {:.2?}, recorded {:.2} ms",
            found.slots, found.recorded
        );
        found
    }

    fn total(&self) -> f64 {
        self.slots.iter().map(|s| s.1).sum()
    }
}

/// 950 of 1000 ms. The period's phase comes from real-time tasks that the workloads do not have,
/// so a window may have one slot more or less than it had.
#[test]
fn throttling_on_6_1_leaves_50_ms_in_every_second() {
    for config in CONFIGS {
        for scenario in FIFO {
            let found = Slots::of(&format!("linux-6.1-{config}"), scenario);
            let recorded = (found.recorded / 50.0).round() as usize;
            assert!(found.slots.len().abs_diff(recorded) <= 1, "{scenario:?}");
            let recorded = found.recorded / recorded as f64;
            for (_, ms) in &found.slots {
                assert!((ms - 50.0).abs() <= found.tick, "{scenario:?}: {ms} ms");
                assert!((ms - recorded).abs() <= found.tick, "{scenario:?}: {ms} ms");
            }
            for two in found.slots.windows(2) {
                let apart = two[1].0 + two[1].1 - two[0].0 - two[0].1;
                assert!(
                    (apart - 1000.0).abs() < 0.1,
                    "{scenario:?}: {apart} ms apart"
                );
            }
        }
    }
}

#[test]
fn without_throttling_or_above_it_nothing_is_left_on_6_1() {
    for config in CONFIGS {
        for scenario in [("fifo_waiter_nothrottle", "B"), ("dl_waiter", "B")] {
            let found = Slots::of(&format!("linux-6.1-{config}"), scenario);
            assert!(
                found.slots.is_empty() && found.recorded < 0.001,
                "{scenario:?}"
            );
        }
    }
}

/// 50 ms and the rest of a tick, then 950 ms nothing, whatever sched_rt_runtime_us says. As many
/// slots as recorded, and all of them together as long to a tick and a half.
#[test]
fn the_fair_server_of_6_12_gives_a_slot_a_second() {
    for config in CONFIGS {
        for scenario in FIFO.into_iter().chain([("fifo_waiter_nothrottle", "B")]) {
            let found = Slots::of(&format!("linux-6.12-{config}"), scenario);
            let recorded = (found.recorded / 51.0).round() as usize;
            assert_eq!(found.slots.len(), recorded, "{scenario:?}");
            let difference = (found.total() - found.recorded).abs();
            assert!(
                difference <= 1.5 * found.tick,
                "{scenario:?}: {difference} ms"
            );
            for two in found.slots.windows(2) {
                let apart = two[1].0 - two[0].0 - two[0].1;
                assert!(
                    (apart - 950.0).abs() < 0.1,
                    "{scenario:?}: {apart} ms apart"
                );
            }
        }
    }
}

/// A boosted deadline task's deadline, renewed as it computes, is 20 to 30 ms away; the server's
/// comes up a second after its turn was due. So the slot comes 20 to 30 ms before that: recorded
/// at 6,419 to 6,429 ms.
#[test]
fn against_a_deadline_task_the_fair_servers_slot_comes_a_second_later() {
    for config in CONFIGS {
        let found = Slots::of(&format!("linux-6.12-{config}"), ("dl_waiter", "B"));
        let [(from, ms)] = found.slots[..] else {
            panic!("one slot, found {:?}", found.slots);
        };
        assert!((6_419.0..=6_430.0).contains(&from), "{from} ms");
        assert!((ms - found.recorded).abs() <= 1.5 * found.tick, "{ms} ms");
    }
}
