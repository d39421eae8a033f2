//! The model against recordings of real kernels.
#![cfg(not(target_arch = "wasm32"))]

mod recording;
mod run;

mod hogging;
mod own;
mod replay;
mod shares;
