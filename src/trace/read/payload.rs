//! The part of a line behind the time: which event, and its fields.
//!
//! Both spellings are read: the kernel's `prev_comm=low prev_pid=30 ...` (also perf's, and
//! trace-cmd's without plugins) and trace-cmd's `low:30 [130] R ==> bg:31 [120]`. Names of tasks
//! are not quoted by anybody, so a field is found by what must follow it: the leftmost place, within
//! the 32 bytes a name can be long, from which the rest reads to the end. Extra fields at the end
//! (`success=1`, `group_dead=true`) are allowed where kernels have had them.

use super::event::{Off, What, Who};
use super::head::{Cursor, MAX_CPU};

/// Longest name looked for. The kernel's are 15 bytes; escapes by other writers are longer.
const NAME: usize = 32;

/// What stands behind the time, or why it could not be read.
pub(super) fn payload<'a>(rest: &'a [u8]) -> Result<What<'a>, Unread<'a>> {
    let mut c = Cursor::new(rest, 0);
    c.skip_spaces();
    let rest = c.rest();
    let end = memchr::memchr2(b' ', b'(', rest).unwrap_or(rest.len());
    let word = &rest[..end];
    // `sys_futex(uaddr: ...)` and `sys_futex -> 0x0` are how the kernel itself prints system calls.
    let (name, fields) = match word.strip_suffix(b":") {
        Some(name) => (name, &rest[end..]),
        None if word.starts_with(b"sys_") => (word, &rest[end..]),
        // The function tracer: `schedule <-futex_wait`.
        None if rest[end..].starts_with(b" <-") => return Ok(What::Other { name: b"function" }),
        None => return Err(Unread::NoEvent),
    };
    // perf puts the subsystem in front.
    let name = match memchr::memrchr(b':', name) {
        Some(colon) => &name[colon + 1..],
        None => name,
    };
    if name.is_empty()
        || !name
            .iter()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'/' | b'@'))
    {
        return Err(Unread::NoEvent);
    }
    let fields = fields.trim_ascii();
    let read = match name {
        b"sched_switch" => switch(fields),
        b"sched_wakeup" | b"sched_waking" => wake(fields, false),
        b"sched_wakeup_new" => wake(fields, true),
        b"sched_pi_setprio" => set_prio(fields),
        b"sched_stat_runtime" => runtime(fields),
        b"sched_migrate_task" => migrate(fields),
        b"sched_process_fork" => fork(fields),
        b"sched_process_exit" => exit(fields),
        b"sched_process_exec" => exec(fields),
        b"sys_futex" | b"sys_enter_futex" => futex(fields),
        b"sys_exit_futex" => Some(What::FutexExit),
        b"tracing_mark_write" => Some(What::Marker { text: fields }),
        b"print" | b"bprint" => Some(match fields.strip_prefix(b"tracing_mark_write:") {
            Some(text) => What::Marker {
                text: text.trim_ascii(),
            },
            None => What::Other { name },
        }),
        _ => Some(What::Other { name }),
    };
    read.ok_or(Unread::Fields(name))
}

/// Why the part behind the time could not be read.
#[derive(Clone, Copy, Debug)]
pub(super) enum Unread<'a> {
    /// No event's name.
    NoEvent,
    /// A known event whose fields are cut off or unknown.
    Fields(&'a [u8]),
}

/// The leftmost `at` within a name's length where `read` succeeds on what follows.
fn name_then<'a, T>(
    text: &'a [u8],
    first: u8,
    mut read: impl FnMut(Cursor<'a>) -> Option<T>,
) -> Option<(&'a [u8], T)> {
    let reach = text.len().min(NAME + 1);
    memchr::memchr_iter(first, &text[..reach])
        .find_map(|at| read(Cursor::new(text, at)).map(|found| (&text[..at], found)))
}

/// Nothing more, or a space and further fields.
fn ends(c: &Cursor<'_>) -> Option<()> {
    matches!(c.peek(), None | Some(b' ')).then_some(())
}

fn done(c: &Cursor<'_>) -> Option<()> {
    c.peek().is_none().then_some(())
}

/// One letter (with `+`, `|K`) or, from raw printing, the bits in hex.
fn off(c: &mut Cursor<'_>) -> Option<Off> {
    let word = c.rest();
    let len = word.iter().position(|&b| b == b' ').unwrap_or(word.len());
    let word = &word[..len];
    c.eat_all(word)?;
    Some(match word.first()? {
        b'R' => Off::Runnable,
        b'D' => Off::Uninterruptible,
        b'X' | b'Z' | b'x' => Off::Dead,
        b'0'..=b'9' => {
            let text = std::str::from_utf8(word).ok()?;
            let bits = match text.strip_prefix("0x") {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => text.trim_end_matches('+').parse().ok()?,
            };
            match bits & 0xff {
                0 => Off::Runnable,
                b if b & 0x30 != 0 => Off::Dead,
                b if b & 2 != 0 => Off::Uninterruptible,
                _ => Off::Sleeping,
            }
        }
        b'A'..=b'Z' | b'a'..=b'z' => Off::Sleeping,
        _ => return None,
    })
}

fn switch(fields: &[u8]) -> Option<What<'_>> {
    // A task may be called `prev_comm=`: then the long form does not read.
    switch_long(fields).or_else(|| switch_short(fields))
}

fn switch_long(fields: &[u8]) -> Option<What<'_>> {
    let text = fields.strip_prefix(b"prev_comm=")?;
    let (comm, (pid, prio, off, next)) = name_then(text, b' ', |mut c| {
        c.eat_all(b" prev_pid=")?;
        let pid = c.pid()?;
        c.eat_all(b" prev_prio=")?;
        let prio = c.prio()?;
        c.eat_all(b" prev_state=")?;
        let off = off(&mut c)?;
        c.eat_all(b" ==> next_comm=")?;
        let (comm, (pid2, prio2)) = name_then(c.rest(), b' ', |mut c| {
            c.eat_all(b" next_pid=")?;
            let pid = c.pid()?;
            c.eat_all(b" next_prio=")?;
            let prio = c.prio()?;
            done(&c)?;
            Some((pid, prio))
        })?;
        Some((
            pid,
            prio,
            off,
            Who {
                comm,
                pid: pid2,
                prio: prio2,
            },
        ))
    })?;
    Some(What::Switch {
        prev: Who { comm, pid, prio },
        off,
        next,
    })
}

/// `:30 [130]` as trace-cmd's plugins write.
fn pid_and_prio(c: &mut Cursor<'_>) -> Option<(u32, i32)> {
    c.eat(b':')?;
    let pid = c.pid()?;
    c.eat_all(b" [")?;
    let prio = c.prio()?;
    c.eat(b']')?;
    Some((pid, prio))
}

fn switch_short(fields: &[u8]) -> Option<What<'_>> {
    let (comm, (pid, prio, off, next)) = name_then(fields, b':', |mut c| {
        let (pid, prio) = pid_and_prio(&mut c)?;
        c.eat(b' ')?;
        let off = off(&mut c)?;
        c.eat_all(b" ==> ")?;
        let (comm, (pid2, prio2)) = name_then(c.rest(), b':', |mut c| {
            let who = pid_and_prio(&mut c)?;
            done(&c)?;
            Some(who)
        })?;
        Some((
            pid,
            prio,
            off,
            Who {
                comm,
                pid: pid2,
                prio: prio2,
            },
        ))
    })?;
    Some(What::Switch {
        prev: Who { comm, pid, prio },
        off,
        next,
    })
}

fn wake(fields: &[u8], new: bool) -> Option<What<'_>> {
    let cpu_of = |cpu: u64| u32::try_from(cpu).ok().filter(|&cpu| cpu <= MAX_CPU);
    let long = |text| {
        name_then(text, b' ', |mut c| {
            c.eat_all(b" pid=")?;
            let pid = c.pid()?;
            c.eat_all(b" prio=")?;
            let prio = c.prio()?;
            if c.eat_all(b" success=").is_some() {
                c.number()?;
            }
            let cpu = match c.eat_all(b" target_cpu=") {
                Some(()) => Some(cpu_of(c.number()?)?),
                None => None,
            };
            ends(&c)?;
            Some((pid, prio, cpu))
        })
    };
    let short = || {
        name_then(fields, b':', |mut c| {
            let (pid, prio) = pid_and_prio(&mut c)?;
            if c.eat_all(b" success=").is_some() {
                c.number()?;
            }
            let cpu = match c.eat_all(b" CPU:") {
                Some(()) => Some(cpu_of(c.number()?)?),
                None => None,
            };
            ends(&c)?;
            Some((pid, prio, cpu))
        })
    };
    let (comm, (pid, prio, cpu)) = fields
        .strip_prefix(b"comm=")
        .and_then(long)
        .or_else(short)?;
    Some(What::Wake {
        who: Who { comm, pid, prio },
        cpu,
        new,
    })
}

fn set_prio(fields: &[u8]) -> Option<What<'_>> {
    let (comm, (pid, from, to)) = name_then(fields.strip_prefix(b"comm=")?, b' ', |mut c| {
        c.eat_all(b" pid=")?;
        let pid = c.pid()?;
        c.eat_all(b" oldprio=")?;
        let from = c.prio()?;
        c.eat_all(b" newprio=")?;
        let to = c.prio()?;
        ends(&c)?;
        Some((pid, from, to))
    })?;
    Some(What::SetPrio {
        comm,
        pid,
        from,
        to,
    })
}

fn runtime(fields: &[u8]) -> Option<What<'_>> {
    let (_, (pid, ns)) = name_then(fields.strip_prefix(b"comm=")?, b' ', |mut c| {
        c.eat_all(b" pid=")?;
        let pid = c.pid()?;
        c.eat_all(b" runtime=")?;
        let ns = c.number()?;
        ends(&c)?;
        Some((pid, ns))
    })?;
    Some(What::Runtime { pid, ns })
}

fn migrate(fields: &[u8]) -> Option<What<'_>> {
    let (_, (pid, to)) = name_then(fields.strip_prefix(b"comm=")?, b' ', |mut c| {
        c.eat_all(b" pid=")?;
        let pid = c.pid()?;
        c.eat_all(b" prio=")?;
        c.prio()?;
        c.eat_all(b" orig_cpu=")?;
        c.number()?;
        c.eat_all(b" dest_cpu=")?;
        let to = u32::try_from(c.number()?)
            .ok()
            .filter(|&cpu| cpu <= MAX_CPU)?;
        ends(&c)?;
        Some((pid, to))
    })?;
    Some(What::Migrate { pid, to })
}

fn fork(fields: &[u8]) -> Option<What<'_>> {
    let (_, (comm, child)) = name_then(fields.strip_prefix(b"comm=")?, b' ', |mut c| {
        c.eat_all(b" pid=")?;
        c.pid()?;
        c.eat_all(b" child_comm=")?;
        name_then(c.rest(), b' ', |mut c| {
            c.eat_all(b" child_pid=")?;
            let pid = c.pid()?;
            ends(&c)?;
            Some(pid)
        })
    })?;
    Some(What::Fork { child, comm })
}

fn exit(fields: &[u8]) -> Option<What<'_>> {
    name_then(fields.strip_prefix(b"comm=")?, b' ', |mut c| {
        c.eat_all(b" pid=")?;
        c.pid()?;
        c.eat_all(b" prio=")?;
        c.prio()?;
        ends(&c)
    })?;
    // The switch away in state X says the same, later and for certain.
    Some(What::Exit)
}

/// The file's name may be as long as a path and hold anything: read from the right.
fn exec(fields: &[u8]) -> Option<What<'_>> {
    let start = memchr::memmem::rfind(fields, b" pid=")?;
    let mut c = Cursor::new(fields, start);
    c.eat_all(b" pid=")?;
    let pid = c.pid()?;
    let old = if c.eat_all(b" old_pid=").is_some() {
        c.pid()?
    } else {
        pid
    };
    ends(&c)?;
    Some(What::Exec { pid, old })
}

/// `-> 0x0`, `(uaddr: 7f.., op: 86, ...)`, `uaddr: 0x7f.., op: 0x00000086, ...`, or
/// `op=FUTEX_LOCK_PI|FUTEX_PRIVATE_FLAG uaddr=0x7f..`. Numbers are hex with or without `0x`.
fn futex(fields: &[u8]) -> Option<What<'_>> {
    if fields.starts_with(b"->") {
        return Some(What::FutexExit);
    }
    let op = value_of(fields, b"op")?;
    let op = if op.starts_with(b"FUTEX_") {
        let end = op
            .iter()
            .position(|b| !(b.is_ascii_alphanumeric() || *b == b'_'))
            .unwrap_or(op.len());
        futex_op(&op[..end])
    } else {
        u32::try_from(hex(op)?).ok()? & 0x7f
    };
    Some(What::FutexEnter { op })
}

/// What follows `name:` or `name=`.
fn value_of<'a>(fields: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    memchr::memmem::find_iter(fields, name).find_map(|at| {
        let starts = at == 0 || matches!(fields[at - 1], b' ' | b'(' | b',');
        let after = &fields[at + name.len()..];
        let sign = matches!(after.first(), Some(b':' | b'='));
        (starts && sign).then(|| after[1..].trim_ascii_start())
    })
}

fn hex(text: &[u8]) -> Option<u64> {
    let text = text.strip_prefix(b"0x").unwrap_or(text);
    let end = text
        .iter()
        .position(|b| !b.is_ascii_hexdigit())
        .unwrap_or(text.len());
    u64::from_str_radix(std::str::from_utf8(&text[..end]).ok()?, 16).ok()
}

/// The operations that wait for a lock or hand one on; any other is none of our business.
fn futex_op(name: &[u8]) -> u32 {
    match name {
        b"FUTEX_WAIT" => 0,
        b"FUTEX_LOCK_PI" => 6,
        b"FUTEX_UNLOCK_PI" => 7,
        b"FUTEX_LOCK_PI2" => 13,
        _ => 0x7f,
    }
}
