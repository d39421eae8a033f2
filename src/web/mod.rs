//! The wasm surface: what the page calls. Only built for wasm32.
//!
//! Structured values cross as plain objects, trace data as typed arrays, errors as plain objects
//! with `message` and, for a workload, `file`, `line`, `column` and `path`. Times are numbers of ns.
//!
//! Two modules are made of it: without the feature `export` the page's own, with it the small one
//! that writes runs in other tools' formats and gives reports to programs; a page fetches it only when a
//! reader saves a run.

#[cfg(feature = "export")]
mod export;
#[cfg(not(feature = "export"))]
mod page;
#[cfg(not(feature = "export"))]
mod paint;
#[cfg(feature = "export")]
mod report;
mod row;
#[cfg(not(feature = "export"))]
mod session;
mod values;
#[cfg(not(feature = "export"))]
mod why;

#[cfg(feature = "export")]
pub use export::write_run;
#[cfg(not(feature = "export"))]
pub use page::{all_presets, version};
#[cfg(feature = "export")]
pub use report::report;
#[cfg(not(feature = "export"))]
pub use session::Session;
