//! The kernel model: its arithmetic, its queues, its locks, what must hold at every instant, and
//! that a run is the same every time.
#![cfg(not(target_arch = "wasm32"))]

#[path = "../common/mod.rs"]
mod common;
mod lab;

mod arithmetic;
mod cfs_edges;
mod closure;
mod determinism;
mod fairness;
mod golden;
mod machine_calls;
mod pi;
mod pi_walk;
mod signals;
