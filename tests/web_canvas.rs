//! What the wasm build draws, on a page's canvas.
#![cfg(target_arch = "wasm32")]

use reweight_lab::web::Session;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};
use web_sys::CanvasRenderingContext2d;

wasm_bindgen_test_configure!(run_in_browser);

#[wasm_bindgen_test]
fn the_painter_fills_the_columns_in_which_a_task_ran() {
    let document = web_sys::window().unwrap().document().unwrap();
    let canvas = document.create_element("canvas").unwrap();
    let canvas: web_sys::HtmlCanvasElement = canvas.dyn_into().unwrap();
    canvas.set_width(100);
    canvas.set_height(40);
    let g = canvas.get_context("2d").unwrap().unwrap();
    let g: CanvasRenderingContext2d = g.dyn_into().unwrap();
    // bg, the second task, has nine tenths of the CPU before the boost.
    let text = include_str!("../src/workload/presets/patch-test.json");
    let session = Session::new(text, "patch-test", JsValue::UNDEFINED).unwrap();
    session
        .paint_density(
            &g,
            0,
            1,
            1e9,
            4e9,
            0.0,
            100,
            20.0,
            1.0,
            "rgb(1,2,3)",
            "rgb(9,9,9)",
        )
        .unwrap();
    let pixel = |x: f64, y: f64| g.get_image_data(x, y, 1.0, 1.0).unwrap().data().to_vec();
    assert_eq!(pixel(50.0, 29.0), [1, 2, 3, 255]);
    assert_eq!(pixel(50.0, 39.0), [0, 0, 0, 0]);
}
