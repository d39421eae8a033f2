//! The part of a line before the event: task, CPU, flags, time.
//!
//! Three writers, one answer:
//!
//! ```text
//!              low-30      [000] d..2.     4.592793: sched_switch: ...     kernel, trace-cmd
//!              low-30      (     30) [000] d..2. 4.592793: ...             with record-tgid
//!      low-30        0d..2.   12us : sched_switch: ...                     latency format
//!              low    30/30    [000]     4.592793:     1 sched:sched_switch: ...   perf script
//! ```
//!
//! A task may be called anything, `x-1 [000] 2.0: y` included. The kernel right-aligns the name in
//! 16 columns, so the dash in column 17 is tried first; otherwise the leftmost place from which
//! everything up to the time reads well is taken.

use crate::model::units::Ns;

/// A line's head and what follows it.
#[derive(Debug)]
pub(super) struct Head<'a> {
    pub comm: &'a [u8],
    pub pid: u32,
    pub cpu: u32,
    pub flags: Option<Flags>,
    pub at: Ns,
    /// The time had no fraction and no unit: a counter or raw cycles.
    pub raw_clock: bool,
    pub rest: &'a [u8],
}

/// What the flag columns say that matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Flags {
    /// A hard or soft interrupt speaks.
    pub interrupt: bool,
    /// The running task is asked to make way.
    pub resched: bool,
}

/// Highest CPU number read; NR_CPUS is 8192 in the largest builds.
pub(super) const MAX_CPU: u32 = 8191;

/// A position in a line.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    line: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(line: &'a [u8], at: usize) -> Self {
        Cursor { line, at }
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        &self.line[self.at..]
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.line.get(self.at).copied()
    }

    pub(super) fn skip_spaces(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.at += 1;
        }
    }

    pub(super) fn eat(&mut self, byte: u8) -> Option<()> {
        (self.peek() == Some(byte)).then(|| self.at += 1)
    }

    pub(super) fn eat_all(&mut self, text: &[u8]) -> Option<()> {
        self.rest().starts_with(text).then(|| self.at += text.len())
    }

    /// Decimal digits, at least one, below 2^63.
    pub(super) fn number(&mut self) -> Option<u64> {
        let start = self.at;
        let mut value = 0u64;
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            value = value
                .checked_mul(10)?
                .checked_add(u64::from(digit - b'0'))?;
            self.at += 1;
        }
        (self.at > start && value < 1 << 63).then_some(value)
    }

    /// A process id.
    pub(super) fn pid(&mut self) -> Option<u32> {
        u32::try_from(self.number()?)
            .ok()
            .filter(|&pid| pid <= i32::MAX as u32)
    }

    /// A number with an optional minus, as priorities have.
    pub(super) fn prio(&mut self) -> Option<i32> {
        let negative = self.eat(b'-').is_some();
        let value = self.number().filter(|&v| v < 1000)? as i32;
        Some(if negative { -value } else { value })
    }

    fn cpu(&mut self) -> Option<u32> {
        self.number()
            .filter(|&cpu| cpu <= u64::from(MAX_CPU))
            .map(|cpu| cpu as u32)
    }
}

/// Reads the head in whichever shape it has.
pub(super) fn head(line: &[u8]) -> Option<Head<'_>> {
    if line.get(16) == Some(&b'-')
        && let Some(found) = after_dash(line, 16)
    {
        return Some(found);
    }
    let reach = line.len().min(64);
    memchr::memchr_iter(b'-', &line[..reach])
        .find_map(|dash| after_dash(line, dash))
        .or_else(|| {
            memchr::memchr_iter(b'[', &line[..reach])
                .find_map(|bracket| around_bracket(line, bracket))
        })
}

fn trim(name: &[u8]) -> &[u8] {
    name.trim_ascii()
}

/// ftrace's shapes: everything right of the dash between name and pid.
fn after_dash(line: &[u8], dash: usize) -> Option<Head<'_>> {
    let mut c = Cursor::new(line, dash + 1);
    let pid = c.pid()?;
    c.skip_spaces();
    if c.eat(b'(').is_some() {
        // The thread group, or dashes where it was not known.
        while matches!(c.peek(), Some(b' ' | b'-' | b'0'..=b'9')) {
            c.at += 1;
        }
        c.eat(b')')?;
        c.skip_spaces();
    }
    let (cpu, flags) = if c.eat(b'[').is_some() {
        let cpu = c.cpu()?;
        c.eat(b']')?;
        c.skip_spaces();
        let flags = match c.peek()? {
            b'0'..=b'9' => None,
            _ => Some(read_flags(&mut c)?),
        };
        (cpu, flags)
    } else {
        // Latency format: the CPU's digits run into the flags.
        let cpu = c.cpu()?;
        if matches!(c.peek()?, b' ' | b'[') {
            return None;
        }
        (cpu, Some(read_flags(&mut c)?))
    };
    c.skip_spaces();
    let (at, raw_clock) = time(&mut c)?;
    Some(Head {
        comm: trim(&line[..dash]),
        pid,
        cpu,
        flags,
        at,
        raw_clock,
        rest: c.rest(),
    })
}

/// irqs-off, need-resched, interrupt context, preempt depth, migrate-disable depth: the third
/// says whether an interrupt speaks. Three to eight columns, by kernel.
fn read_flags(c: &mut Cursor<'_>) -> Option<Flags> {
    let start = c.at;
    while matches!(c.peek(), Some(b) if b.is_ascii_graphic()) {
        c.at += 1;
    }
    let word = &c.line[start..c.at];
    if !(3..=8).contains(&word.len())
        || !word
            .iter()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'#' | b'-'))
    {
        return None;
    }
    Some(Flags {
        interrupt: matches!(word[2], b'Z' | b'z' | b'H' | b'h' | b's'),
        resched: matches!(word[1], b'N' | b'n' | b'B' | b'b'),
    })
}

/// `4.592793:`, `4.592793123:`, `12us : ` with its delay marks, or a bare count.
fn time(c: &mut Cursor<'_>) -> Option<(Ns, bool)> {
    let whole = c.number()?;
    if c.eat(b'.').is_some() {
        let start = c.at;
        let fraction = c.number()?;
        let digits = c.at - start;
        if digits > 9 {
            return None;
        }
        c.eat(b':')?;
        let ns = whole
            .checked_mul(1_000_000_000)?
            .checked_add(fraction * 10u64.pow(9 - digits as u32))?;
        return bounded(ns, false);
    }
    if c.eat_all(b"us").is_some() {
        while matches!(
            c.peek(),
            Some(b' ' | b'+' | b'!' | b'#' | b'*' | b'@' | b'$')
        ) {
            c.at += 1;
        }
        c.eat(b':')?;
        return bounded(whole.checked_mul(1000)?, false);
    }
    c.eat(b':')?;
    bounded(whole, true)
}

/// Times below 2^62 ns (146 years), so that sums of a few never overflow.
fn bounded(ns: u64, raw: bool) -> Option<(Ns, bool)> {
    (ns < 1 << 62).then_some((Ns(ns), raw))
}

/// perf script: the name and the pid stand before the CPU's bracket.
fn around_bracket(line: &[u8], bracket: usize) -> Option<Head<'_>> {
    let before = line[..bracket].trim_ascii_end();
    if before.len() == bracket {
        return None;
    }
    let start = before
        .iter()
        .rposition(|b| !(b.is_ascii_digit() || *b == b'/'))?
        + 1;
    if !matches!(before[start - 1], b' ' | b'\t') {
        return None;
    }
    let mut c = Cursor::new(&line[..bracket], start);
    let mut pid = c.pid()?;
    if c.eat(b'/').is_some() {
        // pid/tid: the scheduler's pid is the thread's.
        pid = c.pid()?;
    }
    if c.at != before.len() {
        return None;
    }
    let mut c = Cursor::new(line, bracket + 1);
    let cpu = c.cpu()?;
    c.eat(b']')?;
    c.skip_spaces();
    let mut flags = None;
    if !c.peek()?.is_ascii_digit() {
        flags = Some(read_flags(&mut c)?);
        c.skip_spaces();
    }
    let (at, raw_clock) = time(&mut c)?;
    // An optional period.
    let mut d = c;
    d.skip_spaces();
    if d.number().is_some() && matches!(d.peek(), Some(b' ')) {
        c = d;
    }
    Some(Head {
        comm: trim(&line[..start]),
        pid,
        cpu,
        flags,
        at,
        raw_clock,
        rest: c.rest(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(
        line: &str,
        comm: &str,
        pid: u32,
        cpu: u32,
        interrupt: Option<bool>,
        ns: u64,
        rest: &str,
    ) {
        let h = head(line.as_bytes()).unwrap_or_else(|| panic!("not read: {line}"));
        assert_eq!(String::from_utf8_lossy(h.comm), comm);
        assert_eq!(
            (h.pid, h.cpu, h.flags.map(|f| f.interrupt), h.at),
            (pid, cpu, interrupt, Ns(ns))
        );
        assert_eq!(String::from_utf8_lossy(h.rest), rest);
    }

    #[test]
    fn every_shape_gives_the_same_head() {
        check(
            "             low-30      [000] d..2.     4.592793: x: y",
            "low",
            30,
            0,
            Some(false),
            4_592_793_000,
            " x: y",
        );
        check(
            "             low-30      [000] dNh2      4.592793: x: y",
            "low",
            30,
            0,
            Some(true),
            4_592_793_000,
            " x: y",
        );
        check(
            "             low-30    (   30) [003] d.s2.   4.592793: x: y",
            "low",
            30,
            3,
            Some(true),
            4_592_793_000,
            " x: y",
        );
        check(
            "             low-30    (-----) [003] ....    4.592793: x: y",
            "low",
            30,
            3,
            Some(false),
            4_592_793_000,
            " x: y",
        );
        check(
            "             low-30      [000]     4.592793123: x: y",
            "low",
            30,
            0,
            None,
            4_592_793_123,
            " x: y",
        );
        check(
            "low-30 [000] 4.5: x: y",
            "low",
            30,
            0,
            None,
            4_500_000_000,
            " x: y",
        );
        check(
            "     low-30        0d..2.   12us : x: y",
            "low",
            30,
            0,
            Some(false),
            12_000,
            " x: y",
        );
        check(
            "  <idle>-0       11dNh2.  12us!: x: y",
            "<idle>",
            0,
            11,
            Some(true),
            12_000,
            " x: y",
        );
        check(
            "             low    30 [000]     4.592793:     1 sched:x: y",
            "low",
            30,
            0,
            None,
            4_592_793_000,
            " sched:x: y",
        );
        check(
            "low    29/30    [000] 4.592793:  sched:x: y",
            "low",
            30,
            0,
            None,
            4_592_793_000,
            "  sched:x: y",
        );
        check(
            ":30    30 [000] 4.592793: sched:x: y",
            ":30",
            30,
            0,
            None,
            4_592_793_000,
            " sched:x: y",
        );
    }

    #[test]
    fn hostile_names_do_not_move_the_head() {
        check(
            "     x-1 [0] 2.0-77      [001] d..2.     4.5: x: y",
            "x-1 [0] 2.0",
            77,
            1,
            Some(false),
            4_500_000_000,
            " x: y",
        );
        check(
            " x-1 [000] 2.0: -77      [001] d..2.     4.5: x: y",
            "x-1 [000] 2.0:",
            77,
            1,
            Some(false),
            4_500_000_000,
            " x: y",
        );
        check(
            "       opt cgu.0-18824   [000] d..2.  5789.596073: x: y",
            "opt cgu.0",
            18824,
            0,
            Some(false),
            5_789_596_073_000,
            " x: y",
        );
        check(
            "     kworker/0:1-8       [000] d..2.    18.733014: x: y",
            "kworker/0:1",
            8,
            0,
            Some(false),
            18_733_014_000,
            " x: y",
        );
        check(
            "a => [b]   5 [002] 1.0: x: y",
            "a => [b]",
            5,
            2,
            None,
            1_000_000_000,
            " x: y",
        );
        check(
            "Web-Content 5 [002] 1.0: x: y",
            "Web-Content",
            5,
            2,
            None,
            1_000_000_000,
            " x: y",
        );
    }

    #[test]
    fn nonsense_is_not_a_head() {
        for line in [
            "",
            "-",
            "a-",
            "a-1",
            "a-1 [",
            "a-1 [0",
            "a-1 [0]",
            "a-1 [0] d..",
            "a-1 [0] 1.0",
            "a-1 [9999] 1.0: x",
            "a-99999999999 [0] 1.0: x",
            "a-1 [0] 99999999999999999999.0: x",
            "a-1 [0] 1.0000000000: x",
            "a-1 (x) [0] 1.0: x",
            "[0]",
            "1 [0] 1.0: x",
        ] {
            assert!(head(line.as_bytes()).is_none(), "{line}");
        }
    }
}
