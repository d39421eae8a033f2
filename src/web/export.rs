//! A run in the formats of other tools, as the command line writes them. A module of its own for the
//! page (feature `export`): fetched when a reader saves, never for the first picture.

use wasm_bindgen::prelude::*;

use super::row::scenario;
use super::values::{error, message};
use crate::model::pi::Variant;
use crate::trace::{self, WriteError};
use crate::workload::{Scenario, Workload};

/// Formats of one run, by name.
type Write = fn(Scenario, &mut dyn std::io::Write) -> Result<(), WriteError>;
const ONE: [(&str, Write); 3] = [
    ("ftrace", trace::ftrace::write),
    ("chrome", trace::chrome::write),
    ("timehist", trace::timehist::write),
];

/// The runs of a workload (rt-app JSON, `file` names it in errors) under the variants of `pi`, separated by
/// commas: `csv` writes all of them, `ftrace`, `chrome` and `timehist` the first.
///
/// # Errors
/// A workload that cannot be read, a variant or format that is not known, a run that stalls.
#[wasm_bindgen]
pub fn write_run(text: &str, file: &str, pi: &str, format: &str) -> Result<String, JsValue> {
    let workload = Workload::parse(text, file).map_err(|e| error(&e))?;
    let variants = pi
        .split(',')
        .map(|name| {
            Variant::named(name).ok_or_else(|| message(&format!("variant {name:?} is not known")))
        })
        .collect::<Result<Vec<_>, _>>()?;
    let mut out = Vec::new();
    if format == "csv" {
        let mut reports = Vec::new();
        for variant in variants {
            let run = trace::simulate(scenario(&workload, variant)?, false)
                .map_err(|e| message(&e.to_string()))?;
            reports.push(run.report);
        }
        trace::csv::write(&reports, &mut out).map_err(|e| message(&e.to_string()))?;
    } else {
        let (_, write) = ONE
            .iter()
            .find(|(name, _)| *name == format)
            .ok_or_else(|| {
                message(&format!(
                    "format {format:?} is not known: expected csv, ftrace, chrome or timehist"
                ))
            })?;
        write(scenario(&workload, variants[0])?, &mut out).map_err(|e| message(&e.to_string()))?;
    }
    String::from_utf8(out).map_err(|e| message(&e.to_string()))
}
