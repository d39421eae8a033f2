//! A run's report as plain values, as `simulate --format json` prints it: for programs without a page
//! (feature `export`).

use std::collections::BTreeMap;

use serde::Deserialize;
use wasm_bindgen::prelude::*;

use super::values::{error, message, ns, to_js};
use crate::model::kernel::Kernel;
use crate::model::pi::Variant;
use crate::trace;
use crate::workload::{Options, Workload};

/// What the caller wants otherwise than the workload says; what is not given is its word.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Asked {
    kernel: Option<String>,
    hz: Option<u32>,
    cpus_online: Option<u32>,
    pi: Option<String>,
    nice: BTreeMap<String, i32>,
    duration_ns: Option<f64>,
}

/// Runs a workload (rt-app JSON, `file` names it in errors) and gives its report, format 1. `asked` may
/// hold `kernel`, `hz`, `cpus_online`, `pi`, `nice` (start nice by task) and `duration_ns`.
///
/// # Errors
/// A workload that cannot be read or built, an option that does not fit it, a run that stalls.
#[wasm_bindgen]
pub fn report(text: &str, file: &str, asked: JsValue) -> Result<JsValue, JsValue> {
    let mut workload = Workload::parse(text, file).map_err(|e| error(&e))?;
    let asked: Asked = if asked.is_undefined() {
        Asked::default()
    } else {
        serde_wasm_bindgen::from_value(asked).map_err(|e| message(&format!("options: {e}")))?
    };
    let unknown = |what: &str, name: &str, all: Vec<&str>| {
        let all = all.join(", ");
        message(&format!(
            "{what} {name:?} is not known: expected one of {all}"
        ))
    };
    let mut options = Options {
        hz: asked.hz,
        cpus_online: asked.cpus_online,
        duration: asked.duration_ns.map(ns),
        ..Options::default()
    };
    if let Some(name) = &asked.kernel {
        let all = || Kernel::ALL.iter().map(|k| k.name).collect();
        let found = Kernel::named(name).ok_or_else(|| unknown("kernel", name, all()))?;
        options.kernel = Some(found);
    }
    if let Some(name) = &asked.pi {
        let all = || Variant::ALL.iter().map(|v| v.name()).collect();
        let found = Variant::named(name).ok_or_else(|| unknown("variant", name, all()))?;
        options.pi = Some(found);
    }
    for (task, nice) in &asked.nice {
        workload
            .set_start_nice(task, *nice)
            .map_err(|e| error(&e))?;
    }
    let scenario = workload.build(&options).map_err(|e| error(&e))?;
    let run = trace::simulate(scenario, false).map_err(|e| message(&e.to_string()))?;
    to_js(&run.report)
}
