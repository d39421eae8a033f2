//! What the page asks before there is a session.

use serde::Serialize;
use wasm_bindgen::prelude::*;

use super::values;
use crate::workload::{Workload, presets};

/// The version of the package.
#[wasm_bindgen]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}

#[derive(Serialize)]
struct PresetValue<'a> {
    name: &'a str,
    title: String,
    question: String,
    look: String,
    text: &'a str,
}

/// The scenarios that come with the lab, in the order of their story.
///
/// # Errors
/// Never in a sound build: a preset that cannot be read is named.
#[wasm_bindgen(js_name = presets)]
pub fn all_presets() -> Result<JsValue, JsValue> {
    let mut list = Vec::new();
    for preset in presets::ALL {
        let w = Workload::parse(preset.text, preset.name).map_err(|e| values::error(&e))?;
        list.push(PresetValue {
            name: preset.name,
            title: w.title,
            question: w.question,
            look: w.look,
            text: preset.text,
        });
    }
    values::to_js(&list)
}
