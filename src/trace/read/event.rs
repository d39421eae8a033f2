//! What one line of a trace says, borrowed from the line.

use crate::model::units::Ns;

/// A kernel task name: at most 15 bytes there, up to 31 kept here, never assumed to be UTF-8.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Comm {
    len: u8,
    bytes: [u8; 31],
}

impl Comm {
    /// Keeps the first 31 bytes.
    pub(super) fn new(name: &[u8]) -> Comm {
        let mut comm = Comm::default();
        let len = name.len().min(comm.bytes.len());
        comm.bytes[..len].copy_from_slice(&name[..len]);
        comm.len = len as u8;
        comm
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// As text: bytes that are not UTF-8 become U+FFFD, control characters a space.
    pub(super) fn text(&self) -> String {
        printable(self.as_bytes())
    }
}

/// Strangers' bytes as one line of text.
pub(super) fn printable(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes)
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}

/// How a task left the CPU, from `prev_state`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Off {
    /// Still runnable: preempted or yielding.
    Runnable,
    /// `S`, `I`, `T`, `P` and their kin.
    Sleeping,
    /// `D`.
    Uninterruptible,
    /// `X`, `Z`: never comes back.
    Dead,
}

/// One line, as far as the analysis uses it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event<'a> {
    /// On the trace's clock.
    pub at: Ns,
    pub cpu: u32,
    /// The task in whose context the line was written.
    pub pid: u32,
    pub comm: &'a [u8],
    /// Written by a hard or soft interrupt that borrowed that context; `None` where the format
    /// has no flags.
    pub interrupt: Option<bool>,
    /// The running task is asked to make way; `None` where the format has no flags.
    pub resched: Option<bool>,
    pub what: What<'a>,
}

/// A task as an event's fields name it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Who<'a> {
    pub comm: &'a [u8],
    pub pid: u32,
    pub prio: i32,
}

/// The events that are understood.
#[derive(Clone, Copy, Debug)]
pub(super) enum What<'a> {
    Switch {
        prev: Who<'a>,
        off: Off,
        next: Who<'a>,
    },
    /// sched_waking, which precedes the enqueue, sched_wakeup, or, with `new`, sched_wakeup_new.
    Wake {
        who: Who<'a>,
        cpu: Option<u32>,
        new: bool,
    },
    SetPrio {
        comm: &'a [u8],
        pid: u32,
        from: i32,
        to: i32,
    },
    /// What the kernel charged since it last charged, in ns.
    Runtime {
        pid: u32,
        ns: u64,
    },
    Migrate {
        pid: u32,
        to: u32,
    },
    Fork {
        child: u32,
        comm: &'a [u8],
    },
    Exit,
    Exec {
        pid: u32,
        old: u32,
    },
    /// The futex operation without its flag bits.
    FutexEnter {
        op: u32,
    },
    FutexExit,
    /// Text a program wrote to trace_marker; rt-app's begin with `rtapp_`.
    Marker {
        text: &'a [u8],
    },
    /// An event that is not used here, by name.
    Other {
        name: &'a [u8],
    },
}
