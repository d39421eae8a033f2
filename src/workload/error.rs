//! What is wrong with a workload, and where.

use std::fmt;

use serde::Serialize;

/// One sentence about one mistake: where it is, what was expected, what was found.
///
/// Displayed as `pi.json:14:20: tasks.low.phases.hold.lock: expected a lock name in quotes, found 7`.
///
/// ```
/// use reweight_lab::workload::Workload;
/// let error = Workload::parse("{ \"tasks\": 7 }", "mine.json").unwrap_err();
/// assert_eq!((error.line, error.path.as_str()), (1, "tasks"));
/// assert!(error.to_string().starts_with("mine.json:1:"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Error {
    /// The file as the caller named it.
    pub file: String,
    /// The line, counted from 1; 0 when the mistake is in no line (an option, an edit).
    pub line: u32,
    /// The column in characters, counted from 1; 0 when there is no line.
    pub column: u32,
    /// The keys that lead there, joined by dots; empty at the top.
    pub path: String,
    /// The sentence, without a full stop.
    pub message: String,
}

impl Error {
    /// A mistake that is in no line of the file.
    pub(crate) fn of(file: &str, path: &str, message: String) -> Error {
        Error {
            file: file.to_owned(),
            line: 0,
            column: 0,
            path: path.to_owned(),
            message,
        }
    }

    /// A mistake at a byte of the text.
    pub(super) fn at(file: &str, text: &[u8], at: usize, path: String, message: String) -> Error {
        let before = &text[..at.min(text.len())];
        let line_start = before
            .iter()
            .rposition(|&b| b == b'\n')
            .map_or(0, |n| n + 1);
        let breaks = before.iter().filter(|&&b| b == b'\n').count();
        // Continuation bytes do not begin a character; a byte order mark takes no column.
        let mut column = before[line_start..]
            .iter()
            .filter(|&&b| b & 0xc0 != 0x80)
            .count();
        if line_start == 0 && text.starts_with(b"\xef\xbb\xbf") && at >= 3 {
            column -= 1;
        }
        Error {
            file: file.to_owned(),
            line: breaks as u32 + 1,
            column: column as u32 + 1,
            path,
            message,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if self.line > 0 {
            write!(f, ":{}:{}", self.line, self.column)?;
        }
        f.write_str(": ")?;
        if !self.path.is_empty() {
            f.write_str(&self.path)?;
            f.write_str(": ")?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
