//! Writing while running: a format sees every event as it happens, so a run of any length can be
//! written in memory that does not grow with it.

use std::fmt;
use std::io::{self, Write};

use super::simulate::Error;
use crate::model::machine::Machine;
use crate::model::observer::{Event, Observer};
use crate::model::units::{Ns, TaskId};
use crate::workload::{Names, Scenario};

/// Why a run could not be written.
///
/// ```
/// use reweight_lab::trace::{WriteError, ftrace};
/// use reweight_lab::workload::{Options, Workload};
/// let text = r#"{ "tasks": { "a": { "run": 1000 } }, "lab": { "duration": 5000 } }"#;
/// let scenario = Workload::parse(text, "mine.json")?.build(&Options::default())?;
/// // No room for a single byte.
/// let error = ftrace::write(scenario, &mut &mut [0u8; 0][..]).unwrap_err();
/// assert!(matches!(error, WriteError::Io(_)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub enum WriteError {
    /// The output failed.
    Io(io::Error),
    /// The run failed.
    Run(Error),
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WriteError::Io(error) => write!(f, "cannot write the output: {error}"),
            WriteError::Run(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for WriteError {}

impl From<io::Error> for WriteError {
    fn from(error: io::Error) -> WriteError {
        WriteError::Io(error)
    }
}

/// The names of all tasks so far, kept as they come to be.
pub(super) struct TaskNames {
    names: Names,
    tasks: Vec<String>,
    /// Forks of each template so far.
    forks: Vec<u32>,
}

impl TaskNames {
    fn new(names: Names) -> TaskNames {
        TaskNames {
            names,
            tasks: Vec::new(),
            forks: Vec::new(),
        }
    }

    fn spawned(&mut self, machine: &Machine, task: TaskId) {
        let name = match machine.task(task).template() {
            Some(template) if task.index() >= self.names.initial_tasks() => {
                if self.forks.len() <= template.index() {
                    self.forks.resize(template.index() + 1, 0);
                }
                let earlier = &mut self.forks[template.index()];
                *earlier += 1;
                self.names.forked(template, *earlier - 1)
            }
            _ => self.names.task(machine, task),
        };
        self.tasks.push(name);
    }

    /// A task's name.
    pub fn task(&self, task: TaskId) -> &str {
        self.tasks.get(task.index()).map_or("?", String::as_str)
    }

    /// All names so far, by task.
    pub fn tasks(&self) -> &[String] {
        &self.tasks
    }

    /// The names of everything else.
    pub fn all(&self) -> &Names {
        &self.names
    }
}

/// What an event may be written with.
pub(super) struct Context<'a> {
    pub machine: &'a Machine,
    pub names: &'a TaskNames,
    pub out: &'a mut dyn Write,
}

/// A format that is written event by event.
pub(super) trait Format {
    /// Before anything has happened.
    fn begin(&mut self, context: &mut Context<'_>) -> io::Result<()>;
    /// Something happened.
    fn event(&mut self, context: &mut Context<'_>, event: &Event) -> io::Result<()>;
    /// Time has come to a whole multiple of [`Format::step`].
    fn sample(&mut self, _: &mut Context<'_>) -> io::Result<()> {
        Ok(())
    }
    /// How often [`Format::sample`] is wanted in a run of this length.
    fn step(&self, duration: Ns) -> Ns {
        Ns((duration.0 / PARTS).max(1))
    }
    /// The run has ended.
    fn end(&mut self, context: &mut Context<'_>) -> io::Result<()>;
}

/// Parts in which a run is made when the format asks for none: after each a failed output stops it.
const PARTS: u64 = 1000;

struct Stream<'a, F> {
    format: F,
    names: TaskNames,
    out: &'a mut dyn Write,
    failed: Option<io::Error>,
}

impl<F: Format> Stream<'_, F> {
    fn with<T: Default>(
        &mut self,
        machine: &Machine,
        act: impl FnOnce(&mut F, &mut Context<'_>) -> io::Result<T>,
    ) -> T {
        if self.failed.is_some() {
            return T::default();
        }
        let mut context = Context {
            machine,
            names: &self.names,
            out: self.out,
        };
        act(&mut self.format, &mut context).unwrap_or_else(|error| {
            self.failed = Some(error);
            T::default()
        })
    }

    fn check(&mut self) -> io::Result<()> {
        self.failed.take().map_or(Ok(()), Err)
    }
}

impl<F: Format> Observer for Stream<'_, F> {
    fn event(&mut self, machine: &Machine, event: &Event) {
        if let Event::Spawn { task, .. } = *event {
            self.names.spawned(machine, task);
        }
        self.with(machine, |format, context| format.event(context, event));
    }

    fn wants_decisions(&self) -> bool {
        false
    }
}

/// Runs a scenario to its end and writes it.
pub(super) fn write<F: Format>(
    scenario: Scenario,
    format: F,
    out: &mut dyn Write,
) -> Result<(), WriteError> {
    let Scenario {
        mut machine,
        names,
        duration,
        ..
    } = scenario;
    let step = format.step(duration);
    let mut stream = Stream {
        format,
        names: TaskNames::new(names),
        out,
        failed: None,
    };
    stream.with(&machine, |format, context| format.begin(context));
    stream.check()?;
    while machine.now() < duration {
        let until = machine.now().saturating_add(step).min(duration);
        machine
            .run_until(until, &mut stream)
            .map_err(|s| WriteError::Run(Error::of(s, &machine, stream.names.all())))?;
        stream.with(&machine, |format, context| format.sample(context));
        stream.check()?;
    }
    stream.with(&machine, |format, context| format.end(context));
    stream.check()?;
    Ok(())
}

/// Text as a JSON string, quotes included.
pub(super) fn json_string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if (c as u32) < 0x20 || ('\u{7f}'..='\u{9f}').contains(&c) => {
                out.push_str(&format!("\\u{:04x}", c as u32));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A name as the kernel's `comm`: at most 15 bytes, printable ASCII, no blanks.
pub(super) fn comm(name: &str) -> String {
    let mut comm: String = name
        .chars()
        .map(|c| if c.is_ascii_graphic() { c } else { '_' })
        .take(15)
        .collect();
    if comm.is_empty() {
        comm.push('_');
    }
    comm
}

/// The process id a task gets in formats that want one; 0 is idle.
pub(super) fn pid(task: TaskId) -> u32 {
    1000 + task.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comm_is_fifteen_plain_bytes() {
        for (name, expected) in [
            ("low", "low"),
            ("", "_"),
            ("a b\nc", "a_b_c"),
            ("Wächter", "W_chter"),
            ("0123456789abcdefgh", "0123456789abcde"),
        ] {
            assert_eq!(comm(name), expected);
        }
    }

    #[test]
    fn a_json_string_holds_any_name() {
        let name = "a\"b\\c\n\u{1b}\u{9b}ä";
        let back: String = serde_json::from_str(&json_string(name)).unwrap();
        assert_eq!(back, name);
    }
}
