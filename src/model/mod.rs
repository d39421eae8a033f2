//! The kernel model: the fair scheduler, rt_mutex and what lies between them, as one
//! deterministic machine of events. Pure: no I/O, no clock, no chance, no floats.

pub mod kernel;
pub mod machine;
pub mod observer;
pub mod pi;
pub mod program;
pub mod rt_mutex;
pub mod task;
pub mod units;
pub mod weight;
