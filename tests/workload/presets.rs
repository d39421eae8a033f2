//! The presets: what each promises, on the two recorded kernels.

use crate::shares::share;
use reweight_lab::model::kernel::Kernel;
use reweight_lab::model::pi::Variant;
use reweight_lab::workload::{Options, Scenario, Workload, presets};

fn scenario(name: &str, kernel: Kernel, pi: Variant) -> Scenario {
    let preset = presets::named(name).unwrap_or_else(|| panic!("no preset {name}"));
    let options = Options {
        kernel: Some(kernel),
        pi: Some(pi),
        ..Options::default()
    };
    Workload::parse(preset.text, name)
        .and_then(|w| w.build(&options))
        .unwrap_or_else(|e| panic!("{e}"))
}

/// Every share within `tolerance` points of what is said.
fn assert_shares(scenario: &Scenario, window: &str, expected: &[(&str, f64)], tolerance: f64) {
    for (task, percent) in expected {
        let got = 100.0 * share(scenario, window, task);
        assert!(
            (got - percent).abs() <= tolerance,
            "{window}: {task} has {got:.3} %, expected {percent} +- {tolerance}"
        );
    }
}

/// Weights 110 and 1024: 9.70 %; the lent 1024 beside 1024: 50 %.
#[test]
fn patch_test_moves_the_holder_from_a_tenth_to_a_half_and_back() {
    for kernel in [Kernel::V6_1, Kernel::V6_12] {
        for (pi, boosted) in [(Variant::Stock, 9.70), (Variant::Reweight, 50.0)] {
            let s = scenario("patch-test", kernel, pi);
            assert_shares(&s, "before", &[("low", 9.70)], 0.05);
            assert_shares(&s, "boosted", &[("low", boosted)], 0.05);
            assert_shares(&s, "after", &[("low", 9.70), ("high", 0.0)], 0.05);
        }
    }
}

/// Two high spinners beside low: 110, 1024 and 1024 of 2158.
#[test]
fn patch_test_spin_leaves_nothing_of_the_loan_over() {
    for kernel in [Kernel::V6_1, Kernel::V6_12] {
        for pi in [Variant::Stock, Variant::Reweight] {
            let s = scenario("patch-test-spin", kernel, pi);
            let after = [("low", 5.10), ("bg", 47.45), ("high", 47.45)];
            assert_shares(&s, "after", &after, 0.1);
        }
    }
}

/// What a task has of a window, by preset and variant: the figures of their texts.
///
/// Closed forms: w / sum w of the specification's weights, at nice -20, -15, -10, -5, 0, 5, 10,
/// 15, 19: 88761, 29154, 9548, 3121, 1024, 335, 110, 36, 15; SCHED_IDLE 3.
#[test]
fn presets_give_the_shares_their_texts_tell() {
    use Variant::{ProxyExec, Reweight, ReweightFixed, ReweightV2, Stock};
    #[rustfmt::skip]
    let table: &[(&str, Variant, &str, &str, f64, f64)] = &[
        ("pi-test", Stock, "boosted", "low", 9.70, 0.1),
        ("pi-test", Reweight, "boosted", "low", 50.0, 0.1),
        ("pi-test", ProxyExec, "boosted", "low", 67.82, 0.1),
        ("weights-alone", Stock, "all", "low", 7.49, 0.1),
        ("weights-alone", Stock, "all", "mid", 22.80, 0.1),
        ("weights-alone", Stock, "all", "high", 69.71, 0.1),
        ("plain-mutex", Stock, "boosted", "low", 9.70, 0.1),
        ("plain-mutex", Reweight, "boosted", "low", 9.70, 0.1),
        ("relock", Stock, "contended", "low", 9.67, 0.3),
        ("relock", Reweight, "contended", "low", 19.6, 0.5),
        ("waiter-m10", Stock, "boosted", "low", 9.70, 0.1),
        ("waiter-m10", Reweight, "boosted", "low", 90.31, 0.1),
        ("waiter-m10", Reweight, "after", "low", 9.70, 0.1),
        ("waiter-5", Reweight, "boosted", "low", 24.65, 0.1),
        ("waiter-19", Reweight, "boosted", "low", 9.70, 0.1),
        ("two-waiters-weak-first", Reweight, "boosted", "low", 9.70, 0.1),
        ("two-waiters-weak-first", ReweightV2, "boosted", "low", 90.31, 0.1),
        ("two-waiters-strong-first", Reweight, "boosted", "low", 90.31, 0.1),
        ("chain-mid-first", Reweight, "boosted", "low", 24.65, 0.1),
        ("chain-mid-first", ReweightV2, "boosted", "low", 50.0, 0.1),
        ("chain-high-first", Reweight, "boosted", "low", 50.0, 0.1),
        ("nested-locks-inner-first", Reweight, "boosted", "low", 75.30, 0.1),
        ("nested-locks-inner-first", Reweight, "one-left", "low", 75.30, 0.1),
        ("nested-locks-outer-first", Reweight, "boosted", "low", 75.30, 0.1),
        ("nested-locks-outer-first", Reweight, "one-left", "low", 50.0, 0.1),
        ("nested-locks-outer-first", Reweight, "after", "low", 9.70, 0.1),
        ("renice-boosted", Reweight, "boosted", "low", 50.0, 0.1),
        ("renice-boosted", Reweight, "reniced", "low", 3.40, 0.1),
        ("timeout", Reweight, "boosted", "low", 50.0, 0.1),
        ("timeout", Reweight, "given-up", "low", 9.70, 0.1),
        ("rt-waiter", Stock, "boosted", "low", 95.0, 1.5),
        ("rt-waiter", Reweight, "boosted", "low", 95.0, 1.5),
        ("leak", Stock, "after", "low", 9.70, 0.1),
        ("leak", Reweight, "after", "low", 50.0, 0.1),
        ("leak", ReweightFixed, "after", "low", 9.70, 0.1),
        ("fork-boosted", Stock, "after", "child", 8.84, 0.1),
        ("fork-boosted", Reweight, "after", "low", 5.10, 0.1),
        ("fork-boosted", Reweight, "after", "child", 47.45, 0.1),
        ("idle-holder", Reweight, "boosted", "low", 0.29, 0.1),
        ("batch-holder", Stock, "boosted", "low", 9.70, 0.1),
        ("batch-holder", Reweight, "boosted", "low", 50.0, 0.1),
        ("stale-deadline", Reweight, "later", "low", 98.86, 0.1),
        ("hand-over", Reweight, "handed-over", "next", 22.80, 0.1),
        ("hand-over", ReweightFixed, "handed-over", "next", 47.45, 0.1),
        ("many-bg", Stock, "boosted", "low", 1.32, 0.1),
        ("many-bg", Reweight, "boosted", "low", 11.11, 0.1),
        ("sleepers", Reweight, "boosted", "low", 35.5, 2.5),
        ("strongest-first", Reweight, "boosted", "low", 24.65, 0.1),
        ("strongest-first", ReweightV2, "boosted", "low", 96.61, 0.1),
        ("starved-weak", Reweight, "contended", "weak", 1.9, 0.3),
        ("starved-weak", ReweightV2, "contended", "weak", 0.0, 0.1),
        ("idle-waiter", Reweight, "boosted", "low", 24.65, 0.1),
        ("idle-waiter", ReweightV2, "boosted", "low", 50.0, 0.1),
        ("idle-waiter", ReweightV2, "handed-over", "idle", 0.29, 0.1),
        ("proxy-exec", ProxyExec, "boosted", "low", 52.55, 0.1),
        ("proxy-exec", ProxyExec, "boosted", "bg", 47.45, 0.1),
    ];
    for &(preset, pi, window, task, percent, tolerance) in table {
        for kernel in [Kernel::V6_1, Kernel::V6_12] {
            let s = scenario(preset, kernel, pi);
            let got = 100.0 * share(&s, window, task);
            assert!(
                (got - percent).abs() <= tolerance,
                "{preset}, {} on {}, {window}: {task} has {got:.3} %, expected {percent}",
                pi.name(),
                kernel.name,
            );
        }
    }
}

/// C.13: 0.7 ms at weight 15, run off at weight 88761, is 4.1 s without a turn for bg.
#[test]
fn the_stale_deadline_keeps_bg_waiting_on_6_12_and_not_on_6_13() {
    for (kernel, bg) in [(Kernel::V6_12, 0.0), (Kernel::V6_13, 1.14)] {
        let s = scenario("stale-deadline", kernel, Variant::Reweight);
        assert_shares(&s, "boosted", &[("bg", bg)], 0.05);
    }
}

#[test]
fn every_preset_is_told_and_is_sound() {
    assert!(presets::ALL.len() >= 26);
    for preset in presets::ALL {
        let name = preset.name;
        assert!(
            name.bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        );
        let workload = Workload::parse(preset.text, name).unwrap_or_else(|e| panic!("{e}"));
        assert!(!workload.title.is_empty(), "{name}");
        assert!(
            workload.question.ends_with('?'),
            "{name}: {}",
            workload.question
        );
        assert!(workload.look.ends_with('.'), "{name}: {}", workload.look);
        assert!(workload.holder.is_some(), "{name}");
        assert!(
            workload.notices.is_empty(),
            "{name}: {:?}",
            workload.notices
        );
        let scenario = workload
            .build(&Options::default())
            .unwrap_or_else(|e| panic!("{e}"));
        assert!(
            scenario.notices.is_empty(),
            "{name}: {:?}",
            scenario.notices
        );
        assert_eq!(presets::named(name), Some(preset));
        let back = Workload::parse(&workload.to_json(), name).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(back, workload, "{name}");
    }
    assert_eq!(presets::named("no-such"), None);
}
