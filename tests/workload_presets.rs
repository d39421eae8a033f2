//! The presets: what each promises.

#[path = "common/shares.rs"]
mod shares;

use reweight_lab::model::kernel::Kernel;
use reweight_lab::model::pi::Variant;
use reweight_lab::workload::{Options, Scenario, Workload, presets};
use shares::share;

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
