//! Why a command ends without having done its work.

use std::io::{self, Write};
use std::process::ExitCode;

use super::table::plain;

/// A failure, told in one sentence on standard error.
#[derive(Debug)]
pub(super) enum Failure {
    /// Exit status 1: a file, a format or a run.
    Could(String),
    /// Exit status 2: the arguments.
    Usage(String),
    /// The reader of the output has gone: quiet, and no failure.
    Closed,
}

impl Failure {
    pub fn tell(self) -> ExitCode {
        let (message, code) = match self {
            Failure::Could(message) => (message, 1),
            Failure::Usage(message) => (message, 2),
            Failure::Closed => return ExitCode::SUCCESS,
        };
        say(&message);
        ExitCode::from(code)
    }
}

impl From<io::Error> for Failure {
    /// An error of writing the output.
    fn from(error: io::Error) -> Failure {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Failure::Closed
        } else {
            Failure::Could(format!("cannot write the output: {}", reason(&error)))
        }
    }
}

impl From<crate::workload::Error> for Failure {
    fn from(error: crate::workload::Error) -> Failure {
        Failure::Could(error.to_string())
    }
}

impl From<crate::trace::Error> for Failure {
    fn from(error: crate::trace::Error) -> Failure {
        Failure::Could(error.to_string())
    }
}

impl From<crate::trace::WriteError> for Failure {
    fn from(error: crate::trace::WriteError) -> Failure {
        match error {
            crate::trace::WriteError::Io(error) => error.into(),
            crate::trace::WriteError::Run(error) => error.into(),
        }
    }
}

/// A line on standard error. Who has closed it hears nothing.
pub(super) fn say(message: &str) {
    let _ = writeln!(io::stderr(), "reweight-lab: {}", plain(message));
}

/// The system's words for an error, without its number.
pub(super) fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(at) => text[..at].to_owned(),
        None => text,
    }
}
