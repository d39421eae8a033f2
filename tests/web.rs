//! The wasm build in a browser: the worked traces hold there too, and the page's session does
//! what it is asked. In a worker: a page that computes for half a minute, as it may on a busy machine,
//! answers nobody, and its driver gives it up.
#![cfg(target_arch = "wasm32")]

mod common;

use common::{golden, hashes};
use js_sys::{Array, Reflect};
use reweight_lab::web::{Session, all_presets};
use wasm_bindgen::JsValue;
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_dedicated_worker);

const PATCH_TEST: &str = include_str!("../src/workload/presets/patch-test.json");

fn get(value: &JsValue, key: &str) -> JsValue {
    Reflect::get(value, &key.into()).unwrap()
}

fn open(text: &str, name: &str) -> Session {
    Session::new(text, name, JsValue::UNDEFINED)
        .unwrap_or_else(|refusal| panic!("{name}: {refusal:?}"))
}

fn session() -> Session {
    open(PATCH_TEST, "patch-test")
}

/// The holder's share in a window of a row.
fn share(session: &Session, row: u32, window: &str) -> f64 {
    let run = Array::from(&session.runs(None).unwrap()).get(row);
    let windows = Array::from(&get(&run, "windows"));
    let found = windows
        .iter()
        .find(|w| get(w, "name") == window)
        .expect("the window");
    get(&get(&get(&found, "tasks"), "low"), "share")
        .as_f64()
        .unwrap()
}

fn near(got: f64, percent: f64) {
    assert!(
        (got * 100.0 - percent).abs() <= 0.05,
        "{got}, expected {percent} %"
    );
}

#[wasm_bindgen_test]
fn the_four_worked_traces_hold_in_wasm() {
    golden::check_all();
}

/// `tests/model/determinism.rs` holds the native build against the same lines.
#[wasm_bindgen_test]
fn every_trace_is_the_native_one_to_the_bit() {
    let kept = include_str!("data/traces.txt");
    let now = hashes::all();
    for (on_file, now) in kept.lines().zip(now.lines()) {
        assert_eq!(on_file, now);
    }
    assert_eq!(kept.lines().count(), now.lines().count());
}

#[wasm_bindgen_test]
fn the_patch_moves_row_b_from_10_to_50_percent() {
    let session = session();
    near(share(&session, 0, "boosted"), 9.70);
    near(share(&session, 1, "boosted"), 50.00);
    near(share(&session, 1, "after"), 9.70);
}

#[wasm_bindgen_test]
fn a_nice_value_moved_at_the_start_runs_both_rows_again_and_undo_takes_it_back() {
    let mut session = session();
    session.set_nice("high", -10, 0.0).unwrap();
    near(share(&session, 1, "boosted"), 90.31);
    assert!(session.undo().unwrap());
    near(share(&session, 1, "boosted"), 50.00);
    assert!(!session.undo().unwrap());
}

#[wasm_bindgen_test]
fn changes_merged_into_one_are_taken_back_and_made_again_as_one() {
    let mut session = session();
    session.set_nice("high", -1, 0.0).unwrap();
    session.set_nice("high", -10, 0.0).unwrap();
    session.merge_undo();
    assert_eq!(session.undo_depth(), [1, 0]);
    assert!(session.undo().unwrap());
    near(share(&session, 1, "boosted"), 50.00);
    assert_eq!(session.undo_depth(), [0, 1]);
    assert!(session.redo().unwrap());
    near(share(&session, 1, "boosted"), 90.31);
    assert!(!session.redo().unwrap());
    // What is changed after going back leaves nothing to make again.
    assert!(session.undo().unwrap());
    session.set_pi("stock", 0.0).unwrap();
    assert_eq!(session.undo_depth(), [1, 0]);
    assert!(!session.redo().unwrap());
    near(share(&session, 1, "boosted"), 9.70);
}

#[wasm_bindgen_test]
fn the_switch_off_makes_row_b_the_stock_kernel() {
    let mut session = session();
    session.set_pi("stock", 0.0).unwrap();
    near(share(&session, 1, "boosted"), 9.70);
}

#[wasm_bindgen_test]
fn a_nice_value_outside_is_refused_with_the_range_and_changes_nothing() {
    let mut session = session();
    let error = session.set_nice("low", 99, 0.0).unwrap_err();
    let message = get(&error, "message").as_string().unwrap();
    assert!(
        message.contains("-20") && message.contains("19"),
        "{message}"
    );
    near(share(&session, 1, "boosted"), 50.00);
}

#[wasm_bindgen_test]
fn a_bad_workload_names_its_line_and_column() {
    let error = Session::new(
        "{\n \"tasks\": { \"a\": 7 }\n}",
        "bad.json",
        JsValue::UNDEFINED,
    )
    .err()
    .expect("a mistake");
    assert_eq!(get(&error, "line"), 2);
    assert!(get(&error, "message").is_string() && get(&error, "column").as_f64().unwrap() > 1.0);
}

#[wasm_bindgen_test]
fn a_saved_session_reads_back_to_the_same_runs() {
    let mut first = session();
    first.set_nice("low", 15, 2e9).unwrap();
    first.set_pi("reweight-v2", 0.0).unwrap();
    let second = open(&first.workload(), "saved.json");
    let text = |s: &Session| js_sys::JSON::stringify(&s.runs(None).unwrap()).unwrap();
    assert_eq!(text(&first), text(&second));
}

#[wasm_bindgen_test]
fn every_preset_runs() {
    for preset in Array::from(&all_presets().unwrap()).iter() {
        let text = get(&preset, "text").as_string().unwrap();
        let name = get(&preset, "name").as_string().unwrap();
        let session = open(&text, &name);
        assert_eq!(get(&session.info().unwrap(), "format"), 1);
        assert!(
            !get(&session.info().unwrap(), "title")
                .as_string()
                .unwrap()
                .is_empty()
        );
    }
}
