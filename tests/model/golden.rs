//! Specification G: four worked traces, exact integers, row by row.

use crate::common::golden;
use reweight_lab::model::kernel::Kernel;
use reweight_lab::model::pi::Variant;

#[test]
fn cfs_with_the_patch_off_makes_every_decision_of_the_worked_trace() {
    golden::check(
        include_str!("../data/golden/cfs-off.txt"),
        Kernel::V6_1,
        Variant::Stock,
    );
}

#[test]
fn cfs_with_the_patch_on_makes_every_decision_of_the_worked_trace() {
    golden::check(
        include_str!("../data/golden/cfs-on.txt"),
        Kernel::V6_1,
        Variant::Reweight,
    );
}

#[test]
fn eevdf_with_the_patch_off_makes_every_decision_of_the_worked_trace() {
    golden::check(
        include_str!("../data/golden/eevdf-off.txt"),
        Kernel::V6_12,
        Variant::Stock,
    );
}

#[test]
fn eevdf_with_the_patch_on_makes_every_decision_of_the_worked_trace() {
    golden::check(
        include_str!("../data/golden/eevdf-on.txt"),
        Kernel::V6_12,
        Variant::Reweight,
    );
}
