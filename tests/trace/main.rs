//! What a run did: recorded, counted, written in other tools' formats; and real ftrace text, read.
#![cfg(not(target_arch = "wasm32"))]

mod formats;
mod ftrace_hostile;
mod ftrace_own;
mod ftrace_reading;
mod ftrace_recordings;
mod ftrace_what_if;
mod recording;
