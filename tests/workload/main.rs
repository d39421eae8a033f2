//! Workloads: read, refused, edited, written again, and run.
#![cfg(not(target_arch = "wasm32"))]

mod shares;

mod edits;
mod errors;
mod presets;
mod properties;
mod reading;
mod recordings;
mod rtapp;
