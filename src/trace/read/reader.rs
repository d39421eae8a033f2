//! The push-style reader: pieces in, an analysed trace out.

use std::fmt;
use std::io;

use super::analysis::Analysis;
use super::event::{Event, What};
#[cfg(not(target_arch = "wasm32"))]
use super::gzip::Gunzip;
use super::line::{Said, line};
use super::lines::{Line, Lines};
use super::report::{self, TraceReport};
use super::silence::{Gap, Rule};
use super::sniff;
use super::story::Story;
use super::tally::Tally;
use super::timeline::Timeline;
use super::what_if::WhatIf;
use crate::model::units::Ns;
use crate::workload;

/// Why there is no report.
///
/// ```
/// use reweight_lab::trace::read::{Error, Options, read};
/// let error = read(&b"no trace at all\n"[..], Options::default()).err();
/// assert!(matches!(error, Some(Error::NoEvents { lines: 1, .. })));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The input is no text.
    NotText {
        /// What it looks like.
        what: &'static str,
        /// What to do about it.
        remedy: &'static str,
    },
    /// Text, but not one scheduler event in it.
    NoEvents {
        /// Lines read.
        lines: u64,
        /// The first line that could not be read, and why.
        first: Option<(u64, String)>,
        /// The commonest event that was read but is of no use here.
        other: Option<String>,
    },
    /// The input could not be fetched.
    Io(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NotText { what, remedy } => {
                write!(f, "expected ftrace text, found {what}: {remedy}")
            }
            Error::NoEvents { lines: 0, .. } => f.write_str("expected ftrace text, found nothing"),
            Error::NoEvents {
                lines,
                other: Some(name),
                ..
            } => {
                write!(
                    f,
                    "no scheduler event in {lines} lines (the commonest event is {name}): record sched_switch, sched_wakeup and sched_pi_setprio"
                )
            }
            Error::NoEvents {
                lines,
                first: Some((number, why)),
                ..
            } => {
                write!(
                    f,
                    "no scheduler event in {lines} lines: line {number}: {why}"
                )
            }
            Error::NoEvents { lines, .. } => {
                write!(
                    f,
                    "no scheduler event in {lines} lines: expected ftrace or perf script text"
                )
            }
            Error::Io(e) => write!(f, "cannot read the trace: {e}"),
        }
    }
}

impl std::error::Error for Error {}

/// A span to report on, on the trace's own clock.
///
/// ```
/// # use reweight_lab::model::pi::Variant;
/// # use reweight_lab::trace::{self, read::{Options, read}};
/// # use reweight_lab::workload::{self, Workload, presets};
/// # let text = presets::named("patch-test").ok_or("no such preset")?.text;
/// # let patched = workload::Options { pi: Some(Variant::Reweight), ..workload::Options::default() };
/// # let scenario = Workload::parse(text, "patch-test.json")?.build(&patched)?;
/// # let mut ftrace = Vec::new();
/// # trace::ftrace::write(scenario, &mut ftrace)?;
/// use reweight_lab::model::units::Ns;
/// use reweight_lab::trace::read::Window;
/// let second = Window { name: "second".into(), from: Ns::from_secs(1), to: Ns::from_secs(2) };
/// let options = Options { windows: vec![second], ..Options::default() };
/// let trace = read(&ftrace[..], options)?;
/// assert!(trace.report.windows.iter().any(|w| w.name == "second"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// Its name in the report.
    pub name: String,
    /// First instant.
    pub from: Ns,
    /// First instant after it.
    pub to: Ns,
}

/// How to read.
///
/// ```
/// # use reweight_lab::model::pi::Variant;
/// # use reweight_lab::trace::{self, read::{Options, read}};
/// # use reweight_lab::workload::{self, Workload, presets};
/// # let text = presets::named("patch-test").ok_or("no such preset")?.text;
/// # let patched = workload::Options { pi: Some(Variant::Reweight), ..workload::Options::default() };
/// # let scenario = Workload::parse(text, "patch-test.json")?.build(&patched)?;
/// # let mut ftrace = Vec::new();
/// # trace::ftrace::write(scenario, &mut ftrace)?;
/// let options = Options { timeline: 1_000_000, ..Options::default() };
/// let trace = read(&ftrace[..], options)?;
/// assert!(!trace.timeline.segments.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Options {
    /// Windows besides `all` and the boosts'; times as in the trace.
    pub windows: Vec<Window>,
    /// A silence shorter than this is never taken for a pause of the recording (see
    /// docs/traces.md); [`Ns::NEVER`]: none is. By default 250 ms.
    pub quiet: Ns,
    /// Spans to keep for the timeline; by default none.
    pub timeline: usize,
    /// Sleeps to keep for [`Trace::what_if`], of 64 bytes each; by default none.
    pub story: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            windows: Vec::new(),
            quiet: Ns::from_ms(250),
            timeline: 0,
            story: 0,
        }
    }
}

/// How far the reading is.
///
/// ```
/// use reweight_lab::trace::read::{Options, Reader};
/// let mut reader = Reader::new(Options::default());
/// reader.feed(b"# tracer: nop\n#\n")?;
/// assert_eq!(reader.progress().events, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Bytes of text, unpacked.
    pub bytes: u64,
    /// Lines.
    pub lines: u64,
    /// Lines that were events.
    pub events: u64,
}

/// A trace that has been read.
///
/// ```
/// # use reweight_lab::model::pi::Variant;
/// # use reweight_lab::trace::{self, read::{Options, read}};
/// # use reweight_lab::workload::{self, Workload, presets};
/// # let text = presets::named("patch-test").ok_or("no such preset")?.text;
/// # let patched = workload::Options { pi: Some(Variant::Reweight), ..workload::Options::default() };
/// # let scenario = Workload::parse(text, "patch-test.json")?.build(&patched)?;
/// # let mut ftrace = Vec::new();
/// # trace::ftrace::write(scenario, &mut ftrace)?;
/// let trace = read(&ftrace[..], Options::default())?;
/// assert_eq!(trace.report.source, "trace");
/// // Nothing was asked for but the report.
/// assert!(trace.timeline.segments.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Trace {
    /// The answer.
    pub report: TraceReport,
    /// What each task did; empty unless [`Options::timeline`] asked for it.
    pub timeline: Timeline,
    analysis: Analysis,
}

impl Trace {
    /// The workload the trace implies; `file` is its name for messages. With [`Options::story`]
    /// at 0 nobody sleeps in it.
    ///
    /// # Errors
    /// A workload beyond the bounds of [`workload::bounds`].
    pub fn what_if(&self, file: &str) -> Result<WhatIf, workload::Error> {
        WhatIf::of(&self.analysis, file)
    }
}

/// Reads trace text pushed in pieces.
///
/// ```
/// # use reweight_lab::model::pi::Variant;
/// # use reweight_lab::trace::{self, read::{Options, read}};
/// # use reweight_lab::workload::{self, Workload, presets};
/// # let text = presets::named("patch-test").ok_or("no such preset")?.text;
/// # let patched = workload::Options { pi: Some(Variant::Reweight), ..workload::Options::default() };
/// # let scenario = Workload::parse(text, "patch-test.json")?.build(&patched)?;
/// # let mut ftrace = Vec::new();
/// # trace::ftrace::write(scenario, &mut ftrace)?;
/// use reweight_lab::trace::read::Reader;
/// let mut reader = Reader::new(Options::default());
/// for piece in ftrace.chunks(4096) {
///     reader.feed(piece)?;
/// }
/// let trace = reader.finish()?;
/// assert!(trace.report.tasks.iter().any(|task| task.name == "low"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Reader {
    /// The first bytes, until there are enough to know what they are.
    first: Vec<u8>,
    stage: Stage,
    lines: Lines,
    core: Core,
}

enum Stage {
    Sniffing,
    #[cfg(not(target_arch = "wasm32"))]
    Gzip(Box<Gunzip>),
    Text,
    Refused(Error),
}

impl Reader {
    /// A reader that has read nothing.
    pub fn new(options: Options) -> Reader {
        let mut analysis = Analysis {
            timeline: Timeline::new(options.timeline),
            story: Story::new(options.story),
            ..Analysis::default()
        };
        for w in options.windows {
            analysis.windows.ask(w.name, w.from, w.to);
        }
        let core = Core {
            analysis,
            tally: Tally::default(),
            rule: Rule {
                quiet: options.quiet,
            },
            clock: Clock::default(),
        };
        Reader {
            first: Vec::new(),
            stage: Stage::Sniffing,
            lines: Lines::default(),
            core,
        }
    }

    /// Takes the next piece. An error is final: the input is no trace text.
    ///
    /// # Errors
    /// [`Error::NotText`] as soon as the first bytes show it.
    pub fn feed(&mut self, piece: &[u8]) -> Result<(), Error> {
        match &mut self.stage {
            Stage::Refused(e) => return Err(e.clone()),
            Stage::Sniffing => {
                let room = sniff::HEAD - self.first.len();
                let (head, rest) = piece.split_at(room.min(piece.len()));
                self.first.extend_from_slice(head);
                if self.first.len() == sniff::HEAD {
                    self.start()?;
                    if !rest.is_empty() {
                        return self.feed(rest);
                    }
                }
            }
            #[cfg(not(target_arch = "wasm32"))]
            Stage::Gzip(gunzip) => {
                if self.core.tally.broken_gzip.is_none() {
                    let (lines, core) = (&mut self.lines, &mut self.core);
                    let mut head = Unpacked {
                        first: &mut self.first,
                        lines,
                        core,
                        refused: None,
                    };
                    let done = gunzip.feed(piece, |text| head.take(text));
                    let refused = head.refused.take();
                    if let Err(e) = done {
                        self.core.tally.broken_gzip = Some(e);
                    }
                    if let Some(e) = refused {
                        self.stage = Stage::Refused(e.clone());
                        return Err(e);
                    }
                }
            }
            Stage::Text => self.core.feed(&mut self.lines, piece),
        }
        Ok(())
    }

    /// Looks at the first bytes and takes them.
    fn start(&mut self) -> Result<(), Error> {
        let first = std::mem::take(&mut self.first);
        #[cfg(not(target_arch = "wasm32"))]
        if first.starts_with(b"\x1f\x8b") {
            self.stage = Stage::Gzip(Box::new(Gunzip::new()));
            return self.feed(&first);
        }
        match sniff::text(&first) {
            Ok(skip) => {
                self.stage = Stage::Text;
                self.core.feed(&mut self.lines, &first[skip..]);
                Ok(())
            }
            Err(e) => {
                self.stage = Stage::Refused(e.clone());
                Err(e)
            }
        }
    }

    /// How far the reading is.
    pub fn progress(&self) -> Progress {
        Progress {
            bytes: self.core.tally.bytes,
            lines: self.lines.count(),
            events: self.core.tally.events,
        }
    }

    /// The input is at its end.
    ///
    /// # Errors
    /// [`Error::NotText`], or [`Error::NoEvents`] when no line told of the scheduler.
    pub fn finish(mut self) -> Result<Trace, Error> {
        if let Stage::Sniffing = self.stage {
            self.start()?;
        }
        if let Stage::Refused(e) = self.stage {
            return Err(e);
        }
        #[cfg(not(target_arch = "wasm32"))]
        if let Stage::Gzip(gunzip) = self.stage {
            let broken = self.core.tally.broken_gzip.is_some();
            let mut head = Unpacked {
                first: &mut self.first,
                lines: &mut self.lines,
                core: &mut self.core,
                refused: None,
            };
            let done = gunzip.finish(|text| head.take(text));
            head.end();
            if let Some(e) = head.refused.take() {
                return Err(e);
            }
            if let (Err(e), false) = (done, broken) {
                self.core.tally.broken_gzip = Some(e);
            }
        }
        let Reader {
            mut lines,
            mut core,
            ..
        } = self;
        lines.finish(|number, line| core.line(number, line));
        core.analysis.finish();
        if core.analysis.first.is_none() || core.tally.used == 0 {
            let other = core
                .tally
                .other
                .iter()
                .max_by_key(|(_, n)| **n)
                .map(|(name, _)| super::event::printable(name));
            let first = core
                .tally
                .quoted
                .first()
                .map(|(number, why, _)| (*number, why.clone()));
            return Err(Error::NoEvents {
                lines: lines.count(),
                first,
                other,
            });
        }
        let report = report::of(&core.analysis, &core.tally, lines.count());
        let mut timeline = std::mem::take(&mut core.analysis.timeline);
        timeline.finish();
        Ok(Trace {
            report,
            timeline,
            analysis: core.analysis,
        })
    }
}

/// Text out of a gzip stream: its first bytes are looked at too, a packed trace.dat is still one.
#[cfg(not(target_arch = "wasm32"))]
struct Unpacked<'a> {
    first: &'a mut Vec<u8>,
    lines: &'a mut Lines,
    core: &'a mut Core,
    refused: Option<Error>,
}

#[cfg(not(target_arch = "wasm32"))]
impl Unpacked<'_> {
    fn take(&mut self, text: &[u8]) {
        if self.core.tally.bytes > 0 {
            return self.core.feed(self.lines, text);
        }
        self.first.extend_from_slice(text);
        if self.first.len() >= sniff::HEAD {
            self.end();
        }
    }

    /// What there is of the first bytes is all there will be.
    fn end(&mut self) {
        let first = std::mem::take(self.first);
        if first.is_empty() || self.refused.is_some() {
            return;
        }
        match sniff::text(&first[..first.len().min(sniff::HEAD)]) {
            Ok(skip) => self.core.feed(self.lines, &first[skip..]),
            Err(e) => self.refused = Some(e),
        }
    }
}

/// The trace's clock made monotonic.
#[derive(Default)]
struct Clock {
    /// Added to the times read.
    offset: i64,
    /// The offset before the last jump back, in case that was a single wrong time.
    before: Option<i64>,
}

/// A step back up to this is two CPUs' lines out of order.
const OUT_OF_ORDER: Ns = Ns::from_ms(10);
/// A time this far ahead of the clock is no step of it.
const FAR: Ns = Ns::from_secs(60);

struct Core {
    analysis: Analysis,
    tally: Tally,
    rule: Rule,
    clock: Clock,
}

impl Core {
    fn feed(&mut self, lines: &mut Lines, text: &[u8]) {
        self.tally.bytes += text.len() as u64;
        lines.feed(text, |number, line| self.line(number, line));
    }

    fn line(&mut self, number: u64, text: Line<'_>) {
        let text = match text {
            Line::Whole(text) => text,
            Line::TooLong => {
                self.tally.too_long += 1;
                return self.tally.unread(
                    number,
                    format!("longer than {} bytes", super::MAX_LINE),
                    b"",
                );
            }
            Line::Unfinished(text) if surely_whole(text) => text,
            Line::Unfinished(_) => {
                self.tally.unfinished = true;
                return;
            }
        };
        match line(text) {
            Said::Event(event, raw) => self.event(event, raw),
            Said::Nothing => {}
            Said::Written {
                kept,
                written,
                cpus,
            } => {
                self.tally.overwritten = self
                    .tally
                    .overwritten
                    .saturating_add(written.saturating_sub(kept));
                self.tally.cpus_told = self.tally.cpus_told.max(cpus);
            }
            Said::Cpus(cpus) => self.tally.cpus_told = self.tally.cpus_told.max(cpus),
            Said::Lost { cpu, events } => {
                self.tally.loss_remarks += 1;
                self.tally.lost_events = self.tally.lost_events.saturating_add(events);
                self.analysis.lost(cpu, events);
            }
            Said::BufferStarts { cpu } => self.analysis.lost(cpu, 0),
            Said::Unread(why) => self.tally.unread(number, why, text),
        }
    }

    fn event(&mut self, mut event: Event<'_>, raw: bool) {
        self.tally.events += 1;
        self.tally.raw_clock |= raw;
        if let What::Other { name } = event.what {
            self.tally.other(name);
        } else {
            self.tally.used += 1;
        }
        event.at = self.monotonic(event.at);
        if let Some(gap) = self.rule.gap_before(&event, &self.analysis) {
            self.tally.gap(gap.from, gap.to);
            self.analysis.gap(&gap);
        }
        self.analysis.event(&event);
    }

    /// A small step back is held at the last time; a large one is a clock that was set or another
    /// file appended: a new stretch begins, from where the last ended.
    fn monotonic(&mut self, read: Ns) -> Ns {
        let last = self.analysis.last.0 as i64;
        if self.analysis.first.is_none() {
            return read;
        }
        let at = (read.0 as i64).saturating_add(self.clock.offset);
        if at - last > FAR.0 as i64 {
            // One wrong time may have moved the clock: does the clock before that fit?
            if let Some(before) = self.clock.before.take() {
                let old = (read.0 as i64).saturating_add(before);
                if (0..FAR.0 as i64).contains(&(old - last)) {
                    self.clock.offset = before;
                    return Ns(old as u64);
                }
            }
            return Ns(at as u64);
        }
        if at >= last {
            return Ns(at as u64);
        }
        let back = Ns((last - at) as u64);
        self.tally.back_most = self.tally.back_most.max(back);
        if back <= OUT_OF_ORDER {
            self.tally.back_small += 1;
        } else {
            self.tally.back_large += 1;
            self.clock.before = Some(self.clock.offset);
            self.clock.offset += back.0 as i64;
            let at = self.analysis.last;
            self.analysis.gap(&Gap {
                from: at,
                to: at,
                kept: None,
            });
        }
        Ns(last as u64)
    }
}

/// Whether a last line without its end cannot have lost part of a number: fair prios and CPUs have
/// three digits always, and no prio begins with 0 or -1 but those two.
fn surely_whole(line: &[u8]) -> bool {
    let line = line.trim_ascii_end();
    let digits = |field: &[u8], first: &[u8]| {
        line.len() > field.len() + 3
            && line[..line.len() - 3].ends_with(field)
            && first.contains(&line[line.len() - 3])
            && line[line.len() - 2..].iter().all(u8::is_ascii_digit)
    };
    let ends = [&b"]"[..], b"prio=0", b"prio=-1"];
    ends.iter().any(|end| line.ends_with(end))
        || digits(b"prio=", b"1")
        || digits(b"target_cpu=", b"0")
}

/// Reads a trace to its end, from a file, standard input or memory; gzip is unpacked.
///
/// # Errors
/// As [`Reader::finish`], and [`Error::Io`] when the source fails.
pub fn read(mut source: impl io::Read, options: Options) -> Result<Trace, Error> {
    let mut reader = Reader::new(options);
    let mut buffer = vec![0u8; 256 * 1024];
    loop {
        match source.read(&mut buffer) {
            Ok(0) => return reader.finish(),
            Ok(n) => reader.feed(&buffer[..n])?,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(Error::Io(e.to_string())),
        }
    }
}
