//! How much of everything a workload may have. A file is written by a stranger: what is over a
//! bound is refused by the bound's name, before it costs time or memory.

use crate::model::units::Ns;

/// Bytes of a file.
pub const BYTES: usize = 64 << 20;
/// Objects and lists inside each other.
pub const NESTING: usize = 32;
/// Tasks, every instance counted.
pub const TASKS: usize = 100_000;
/// Events of all tasks; those of a task with a timer of its own count once an instance.
pub const EVENTS: usize = 2_000_000;
/// Rounds of a loop: what rt-app's own counter holds.
pub const ROUNDS: i64 = i32::MAX as i64;
/// Bytes of a name: of a task, a phase, a lock, a window.
pub const NAME: usize = 256;
/// Bytes of a title, a question or a hint.
pub const PROSE: usize = 4096;
/// Entries of `lab.controls`, and of `lab.locks`.
pub const ENTRIES: usize = 100_000;
/// Windows.
pub const WINDOWS: usize = 1000;
/// CPUs.
pub const CPUS: u32 = 256;
/// Any time in a file, in microseconds: eleven days and a half.
pub const TIME_US: i64 = 1_000_000_000_000;
/// Length of a run: a week.
pub const DURATION: Ns = Ns::from_secs(7 * 24 * 3600);
/// Notices kept; the rest is counted.
pub const NOTICES: usize = 200;
