//! The part of the picture that grows with the trace: columns of density, drawn from the recording
//! straight onto the page's canvas. Everything else on the canvas is the page's.

use wasm_bindgen::prelude::*;
use web_sys::CanvasRenderingContext2d;

use super::session::Session;
use super::values::ns;
use crate::model::units::TaskId;
use crate::trace::Spent;

/// Columns drawn at most.
const COLUMNS: usize = 16_384;
/// Heights in CSS pixels at scale 1: a running block, a blocked one.
const RUN: f64 = 20.0;
const BLOCK: f64 = 14.0;

#[wasm_bindgen]
impl Session {
    /// Draws what a task did over `from_ns..to_ns`, one column a pixel from `left` on: the part of
    /// it that ran as height, waiting behind it, blocked as a tint. Costs a search a column,
    /// however much happened.
    ///
    /// # Errors
    /// No such row.
    #[allow(clippy::too_many_arguments)]
    pub fn paint_density(
        &self,
        g: &CanvasRenderingContext2d,
        row: usize,
        task: u32,
        from_ns: f64,
        to_ns: f64,
        left: f64,
        columns: usize,
        y: f64,
        scale: f64,
        hue: &str,
        wash: &str,
    ) -> Result<(), JsValue> {
        let row = self.row(row)?;
        let Some(recording) = &row.run.recording else {
            return Ok(());
        };
        if task as usize >= recording.tasks() || columns == 0 {
            return Ok(());
        }
        let mut bins = vec![Spent::default(); columns.min(COLUMNS)];
        let (from, to) = (ns(from_ns), ns(to_ns));
        recording.bins(TaskId(task), from, to, &mut bins);
        let length = (to.saturating_sub(from).0 as f64 / bins.len() as f64).max(1.0);
        let part = |spent: u64| (spent as f64 / length).min(1.0);
        let (run_height, block_height) = (RUN * scale, BLOCK * scale);
        for (k, bin) in bins.iter().enumerate() {
            let x = left + k as f64;
            let blocked = part(bin.blocked);
            if blocked > 0.01 {
                g.set_global_alpha(0.35 + 0.4 * blocked);
                g.set_fill_style_str(hue);
                g.fill_rect(x, y - block_height / 2.0, 1.0, block_height);
                g.set_global_alpha(1.0);
            }
            if part(bin.wait) > 0.01 {
                g.set_fill_style_str(wash);
                g.fill_rect(x, y - run_height / 2.0, 1.0, run_height);
            }
            let ran = part(bin.run);
            if ran > 0.002 {
                let height = (run_height * ran).max(1.5);
                g.set_fill_style_str(hue);
                g.fill_rect(x, y + run_height / 2.0 - height, 1.0, height);
            }
        }
        Ok(())
    }
}
