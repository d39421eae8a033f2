//! Progress on standard error: on a terminal only, and only for what takes over a second.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// Shows how far something is.
pub(super) struct Progress {
    since: Instant,
    shown: Option<Instant>,
    on: bool,
}

const PATIENCE: Duration = Duration::from_secs(1);
const EVERY: Duration = Duration::from_millis(200);

impl Progress {
    pub fn new() -> Progress {
        Progress {
            since: Instant::now(),
            shown: None,
            on: std::io::stderr().is_terminal(),
        }
    }

    /// Whether anybody looks.
    pub fn is_on(&self) -> bool {
        self.on
    }

    /// `done` of `all` `things`.
    pub fn at(&mut self, done: u64, all: u64, things: &str) {
        let due = self.on
            && self.since.elapsed() >= PATIENCE
            && self.shown.is_none_or(|at| at.elapsed() >= EVERY);
        if due {
            self.shown = Some(Instant::now());
            let percent = (u128::from(done) * 100 / u128::from(all.max(1))) as u64;
            // Who cannot be told is not told; the work goes on.
            let _ = write!(std::io::stderr(), "\r{percent:3} % of {all} {things} ");
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.shown.is_some() {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}
