//! Reweight Lab: priority inheritance among fair tasks on Linux, simulated to the integer.
//!
//! * [`model`]: the kernel's scheduler and rt_mutex as a deterministic event machine. Pure.
//! * [`workload`]: rt-app JSON with the `lab` object, read into programs of the model; presets.
//! * [`trace`]: what a run did: recording, shares, latencies, formats in and out.
//! * `record`: the same workload on this machine's kernel (Linux only).
//! * `cli`: the command line (not in the browser).
//!
//! From a preset to the number on the page:
//!
//! ```
//! use reweight_lab::model::pi::Variant;
//! use reweight_lab::trace;
//! use reweight_lab::workload::{Options, Workload, presets};
//!
//! let preset = presets::named("patch-test").ok_or("no such preset")?;
//! let workload = Workload::parse(preset.text, preset.name)?;
//! let options = Options { pi: Some(Variant::Reweight), ..Options::default() };
//! let run = trace::simulate(workload.build(&options)?, false)?;
//! let boosted = run.report.window("boosted").ok_or("never boosted")?;
//! let low = boosted.tasks.get("low").ok_or("no such task")?;
//! assert_eq!(format!("{:.1} %", 100.0 * low.share), "50.0 %");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Arrows run one way: `model` <- `workload`, `trace` <- `record` <- `cli`; `web` beside them.
#[cfg(not(target_arch = "wasm32"))]
pub mod cli;
pub mod model;
#[cfg(target_os = "linux")]
pub mod record;
pub mod trace;
#[cfg(target_arch = "wasm32")]
pub mod web;
pub mod workload;
