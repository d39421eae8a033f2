//! One line of the text: an event, a remark of the tool that wrote it, or neither.

use super::event::Event;
use super::head::{Cursor, head};
use super::payload::{Unread, payload};

/// What a line is.
#[derive(Debug)]
pub(super) enum Said<'a> {
    Event(Event<'a>, bool),
    /// Header, blank line, stack frame.
    Nothing,
    /// `# entries-in-buffer/entries-written: 10/20   #P:2`
    Written {
        kept: u64,
        written: u64,
        cpus: u32,
    },
    /// `cpus=4` of trace-cmd.
    Cpus(u32),
    /// `CPU:1 [LOST 12 EVENTS]`; 0 where the number is not told.
    Lost {
        cpu: u32,
        events: u64,
    },
    /// `##### CPU 1 buffer started ####`
    BufferStarts {
        cpu: u32,
    },
    Unread(String),
}

/// Reads one line, without its end.
pub(super) fn line(line: &[u8]) -> Said<'_> {
    if let Some(h) = head(line) {
        return match payload(h.rest) {
            Ok(what) => Said::Event(
                Event {
                    at: h.at,
                    cpu: h.cpu,
                    pid: h.pid,
                    comm: h.comm,
                    interrupt: h.flags.map(|f| f.interrupt),
                    resched: h.flags.map(|f| f.resched),
                    what,
                },
                h.raw_clock,
            ),
            Err(Unread::NoEvent) => {
                Said::Unread("expected an event's name and a colon behind the time".into())
            }
            Err(Unread::Fields(name)) => Said::Unread(format!(
                "{}: fields cut off or in an unknown form",
                super::event::printable(name)
            )),
        };
    }
    remark(line).unwrap_or_else(|| {
        Said::Unread("expected TASK-PID [CPU] TIME: EVENT (ftrace) or TASK PID [CPU] TIME: EVENT (perf script)".into())
    })
}

fn remark(line: &[u8]) -> Option<Said<'_>> {
    let text = line.trim_ascii();
    if text.is_empty() {
        return Some(Said::Nothing);
    }
    if text.starts_with(b"CPU") {
        return lost(text);
    }
    if line.starts_with(b"#") {
        return Some(comment(text));
    }
    if let Some(rest) = text.strip_prefix(b"cpus=") {
        let cpus = Cursor::new(rest, 0).number()?;
        return Some(Said::Cpus(u32::try_from(cpus).ok()?));
    }
    let known = [
        &b"version = "[..],
        b"tracer: ",
        b"=> ",
        b"<stack trace>",
        b"<user stack trace>",
        b"trace-cmd ",
    ];
    if known.iter().any(|start| text.starts_with(start)) {
        return Some(Said::Nothing);
    }
    // perf's call chain: an address, a symbol.
    let digits = text.iter().take_while(|b| b.is_ascii_hexdigit()).count();
    if line[0].is_ascii_whitespace() && digits >= 6 && matches!(text.get(digits), Some(b' ')) {
        return Some(Said::Nothing);
    }
    None
}

fn comment(text: &[u8]) -> Said<'_> {
    let inner = text.trim_ascii_start();
    let at = inner
        .iter()
        .position(|&b| b != b'#' && b != b' ')
        .unwrap_or(inner.len());
    let inner = &inner[at..];
    if let Some(rest) = inner.strip_prefix(b"entries-in-buffer/entries-written:") {
        return written(rest).unwrap_or(Said::Nothing);
    }
    if let Some(rest) = inner.strip_prefix(b"CPU ") {
        let mut c = Cursor::new(rest, 0);
        if let (Some(cpu), Some(())) = (c.number(), c.eat_all(b" buffer started"))
            && cpu <= u64::from(super::head::MAX_CPU)
        {
            return Said::BufferStarts { cpu: cpu as u32 };
        }
    }
    Said::Nothing
}

fn written(rest: &[u8]) -> Option<Said<'_>> {
    let mut c = Cursor::new(rest, 0);
    c.skip_spaces();
    let kept = c.number()?;
    c.eat(b'/')?;
    let written = c.number()?;
    c.skip_spaces();
    let cpus = c.eat_all(b"#P:").and_then(|()| c.number()).unwrap_or(0);
    Some(Said::Written {
        kept,
        written,
        cpus: u32::try_from(cpus).unwrap_or(0),
    })
}

/// `CPU:1 [LOST 12 EVENTS]`, `CPU:1 [12 EVENTS DROPPED]`, `CPU 1 is empty`.
fn lost(text: &[u8]) -> Option<Said<'_>> {
    let mut c = Cursor::new(text, 3);
    if c.eat(b' ').is_some() {
        c.number()?;
        c.eat_all(b" is empty")?;
        return Some(Said::Nothing);
    }
    c.eat(b':')?;
    let cpu = c
        .number()
        .filter(|&cpu| cpu <= u64::from(super::head::MAX_CPU))? as u32;
    c.skip_spaces();
    c.eat(b'[')?;
    let inner = c.rest();
    memchr::memmem::find(inner, b"EVENTS")?;
    let digits = inner
        .iter()
        .position(u8::is_ascii_digit)
        .map(|at| Cursor::new(inner, at).number());
    Some(Said::Lost {
        cpu,
        events: digits.flatten().unwrap_or(0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remarks_of_the_writers_are_known() {
        let told = |text: &'static str| format!("{:?}", line(text.as_bytes()));
        for text in [
            "",
            "   ",
            "# tracer: nop",
            "#",
            "#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION",
            "version = 6",
            "CPU 1 is empty",
            " => schedule",
            "<stack trace>",
            "\tffffffff81a0 __schedule+0x1 ([kernel.kallsyms])",
        ] {
            assert_eq!(told(text), "Nothing", "{text}");
        }
        assert_eq!(
            told("# entries-in-buffer/entries-written: 10/20   #P:2"),
            "Written { kept: 10, written: 20, cpus: 2 }"
        );
        assert_eq!(told("cpus=4"), "Cpus(4)");
        assert_eq!(
            told("CPU:1 [LOST 12 EVENTS]"),
            "Lost { cpu: 1, events: 12 }"
        );
        assert_eq!(told("CPU:1 [LOST EVENTS]"), "Lost { cpu: 1, events: 0 }");
        assert_eq!(
            told("CPU:3 [12 EVENTS DROPPED]"),
            "Lost { cpu: 3, events: 12 }"
        );
        assert_eq!(
            told("##### CPU 2 buffer started ####"),
            "BufferStarts { cpu: 2 }"
        );
    }

    #[test]
    fn anything_else_is_unread_with_its_reason() {
        for text in [
            "hello",
            "CPU",
            "CPU:",
            "CPU:x",
            "a-1 [000] 1.0: nothing here",
            "a-1 [000] 1.0: sched_switch: prev",
        ] {
            assert!(matches!(line(text.as_bytes()), Said::Unread(_)), "{text}");
        }
    }
}
