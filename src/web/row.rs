//! What a row of the page runs: a workload under one variant.

use wasm_bindgen::JsValue;

use super::values::error;
use crate::model::pi::Variant;
use crate::workload::{Action, Options, Scenario, Workload};

/// The scenario of a row. The row to compare with stays the stock kernel, whatever a control switches in the
/// other.
///
/// # Errors
/// A workload that cannot be built.
pub(super) fn scenario(workload: &Workload, variant: Variant) -> Result<Scenario, JsValue> {
    let mut workload = workload.clone();
    if variant == Variant::Stock {
        workload
            .controls
            .retain(|c| !matches!(c.action, Action::Pi(_)));
    }
    let options = Options {
        pi: Some(variant),
        ..Options::default()
    };
    workload.build(&options).map_err(|e| error(&e))
}
