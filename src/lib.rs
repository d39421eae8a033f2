//! Reweight Lab: priority inheritance among fair tasks on Linux, simulated to the integer.
//!
//! * [`model`]: the kernel's scheduler and rt_mutex as a deterministic event machine. Pure.
//! * [`workload`]: rt-app JSON with the `lab` object, read into programs of the model; presets.
//! * [`trace`]: what a run did: recording, shares, latencies, formats in and out.
//! * `record`: the same workload on this machine's kernel (Linux only).
//! * `cli`: the command line (not in the browser).
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
