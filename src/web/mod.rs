//! The wasm surface: what the page calls. Only built for wasm32.
//!
//! Structured values cross as plain objects, trace data as typed arrays, errors as plain objects
//! with `message` and, for a workload, `file`, `line`, `column` and `path`. Times are numbers of ns.
//!
//! Two modules are made of it: without the feature `export` the page's own, with it the small one
//! that writes runs in other tools' formats and is fetched only when a reader saves one.

#[cfg(feature = "export")]
mod export;
#[cfg(not(feature = "export"))]
mod page;
#[cfg(not(feature = "export"))]
mod paint;
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
#[cfg(not(feature = "export"))]
pub use session::Session;
