//! The kernel model: the fair scheduler, rt_mutex and what lies between them, as one
//! deterministic machine of events. Pure: no I/O, no clock, no chance, no floats.
//!
//! The words are the kernel's, so that who knows `kernel/sched` finds them: [`rt_mutex`] has the
//! chain walk, [`pi`] has `rt_mutex_setprio`, [`machine`] the loop over events. What differs
//! between kernel versions is a field of [`kernel::Kernel`].

mod cfs;
mod cpu;
mod eevdf;
mod fair;
pub mod invariants;
pub mod kernel;
pub mod machine;
#[cfg(feature = "oracle")]
mod naive;
#[cfg(all(test, feature = "oracle"))]
mod naive_tests;
pub mod observer;
pub mod pi;
pub mod program;
mod rt;
pub mod rt_mutex;
mod script;
pub mod task;
mod timer;
mod tree;
pub mod units;
mod view;
pub mod weight;
