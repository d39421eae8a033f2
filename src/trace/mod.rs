//! What a run did: recorded, counted, and written in the formats other tools read.
//!
//! * [`simulate`]: a scenario in, a [`Run`] with its [`Report`] out; windows in exact integers.
//! * [`recording`]: states, picks, owners and marks in bounded memory, with exact range queries.
//! * `tally`: the books behind the report, an observer without growing memory.
//! * [`report`]: the stable JSON shape, format 1; [`csv`] writes it as lines.
//! * [`ftrace`], [`chrome`], [`timehist`]: formats written event by event while a run is made.
//!
//! The only floats are shares.

pub mod chrome;
mod column;
pub mod csv;
pub mod ftrace;
mod mark;
pub mod read;
pub mod recording;
pub mod report;
mod segments;
mod simulate;
mod stream;
pub(crate) mod tally;
pub mod timehist;

pub use mark::{Mark, What};
pub use recording::Recording;
pub use report::Report;
pub use segments::{Doing, Segment, Spent};
pub use simulate::{Error, Run, Watching, simulate, simulate_watching, unique_names};
#[cfg(target_os = "linux")]
pub(crate) use simulate::{Seconds, sentence};
pub use stream::WriteError;
pub use tally::{Boost, FIGURES};
