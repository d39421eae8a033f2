//! ftrace text in: what a real kernel did, and whether a boost worked.
//!
//! [`Reader`] takes the text in pieces of any size ([`Reader::feed`]) and gives a [`Trace`] at the
//! end ([`Reader::finish`]); [`read`] does so from a file or standard input, gzip included. Nothing
//! is kept of a line once it has been read: memory is bounded by the tasks, boosts and windows
//! (docs/traces.md says how far), time is O(lines).
//!
//! * `head`, `payload`: one line of any writer into an event;
//! * `analysis`: events into the states of tasks and CPUs;
//! * `boosts`, `contention`: who lent to whom, and the verdicts;
//! * `report`: the answer, with its text and CSV renderings;
//! * `story`, `implied`, `what_if`: the workload a trace implies, and what it does under every
//!   variant.
//!
//! What cannot be read is counted and told by line number, never fatal; only input that is no
//! trace text at all is refused.
//!
//! Not here: cgroups, load balancing decisions, frequencies. A trace does not name them.

mod analysis;
mod boosts;
mod breaks;
mod contention;
mod cpus;
mod event;
#[cfg(not(target_arch = "wasm32"))]
mod gzip;
mod head;
mod implied;
mod lending;
mod line;
mod lines;
mod notices;
mod payload;
#[cfg(test)]
mod payload_tests;
mod reader;
mod render;
mod report;
mod samples;
mod silence;
mod sniff;
mod story;
mod tally;
mod tasks;
mod timeline;
mod what_if;
mod windows;

pub use analysis::MAX_MARKS;
pub use boosts::MAX_BOOSTS;
pub use contention::{ENOUGH, Verdict};
pub use lines::MAX_LINE;
pub use reader::{Error, Options, Progress, Reader, Trace, Window, read};
pub use report::{
    BoostReport, ClockReport, CpuReport, GapReport, LineReport, MarkReport, NameCount,
    ReadingReport, ShareReport, SpreadReport, TaskReport, TraceReport, WindowReport,
};
pub use tasks::MAX_TASKS;
pub use timeline::{Kind, Lane, Segment, Timeline};
pub use what_if::{Beside, ModelReport, WhatIf};
