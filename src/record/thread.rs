//! One thread of a recorded workload, as seen from outside: its clocks and its books.
//!
//! CPU time is the thread's CPU clock. Times asleep and blocked are the thread's own bookkeeping
//! around the calls that can sleep, less what `schedstat` says it then waited for the CPU. The
//! rest of its life it was runnable and waiting.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering::*};

use super::proc::{self, SchedStat, Stat};
use super::queue::Ticket;
use super::sys;
use crate::model::units::{Ns, TaskId};

/// Why a thread is off its CPU of its own will.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Away {
    /// It waits for a mutex.
    Blocked,
    /// It waits for anything else.
    Asleep,
}

/// Counters of a thread at an instant, from its beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sample {
    /// CPU time, ns.
    pub cpu: u64,
    /// How often it was set running.
    pub switches: u64,
}

/// What a thread is at its end, or at the end of the run.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    pub at: Ns,
    pub sample: Sample,
    pub stat: Option<Stat>,
    pub weight: Option<u32>,
}

/// A thread.
#[derive(Debug)]
pub(super) struct Thread {
    pub id: TaskId,
    pub name: String,
    /// The CPU by the model's numbers.
    pub cpu: usize,
    /// Ends its sleep when the run is over.
    pub ticket: Ticket,
    /// The prio its own policy gives it, as far as that was granted.
    pub prio: AtomicI32,
    tid: AtomicI32,
    began: AtomicU64,
    /// The counters when it began.
    base: OnceLock<Sample>,
    schedstat: OnceLock<File>,
    blocked: AtomicU64,
    asleep: AtomicU64,
    /// 0: computing. Else since when it is away (ns, doubled), odd when blocked.
    away: AtomicU64,
    /// The longest wait for the CPU, by window; the last is that of the boost.
    longest: Box<[AtomicU64]>,
    end: OnceLock<End>,
}

impl Thread {
    pub fn new(id: TaskId, name: String, cpu: usize, windows: usize) -> Thread {
        Thread {
            id,
            name,
            cpu,
            ticket: Ticket::default(),
            prio: AtomicI32::new(crate::model::task::DEFAULT_PRIO),
            tid: AtomicI32::new(0),
            began: AtomicU64::new(0),
            base: OnceLock::new(),
            schedstat: OnceLock::new(),
            blocked: AtomicU64::new(0),
            asleep: AtomicU64::new(0),
            away: AtomicU64::new(0),
            longest: (0..windows).map(|_| AtomicU64::new(0)).collect(),
            end: OnceLock::new(),
        }
    }

    /// Its kernel thread id; 0 before it has started.
    pub fn tid(&self) -> i32 {
        self.tid.load(Acquire)
    }

    /// The thread itself says which it is. False when schedstat cannot be read.
    pub fn introduce(&self, tid: i32) -> bool {
        let opened = File::open(self.file(tid, "schedstat"));
        let readable = opened.is_ok();
        if let Ok(file) = opened {
            let _ = self.schedstat.set(file);
        }
        self.tid.store(tid, Release);
        readable
    }

    fn file(&self, tid: i32, name: &str) -> String {
        format!("/proc/self/task/{tid}/{name}")
    }

    /// Its account begins now, at this instant of the run.
    pub fn begin(&self, at: Ns) {
        self.began.store(at.0, Release);
        let _ = self.base.set(self.counters());
    }

    fn counters(&self) -> Sample {
        Sample {
            cpu: sys::thread_cpu(self.tid()).unwrap_or_default().0,
            switches: self.schedstat().unwrap_or_default().switches,
        }
    }

    /// What schedstat says now.
    pub fn schedstat(&self) -> Option<SchedStat> {
        let mut buffer = [0; 96];
        let read = self.schedstat.get()?.read_at(&mut buffer, 0).ok()?;
        proc::schedstat(std::str::from_utf8(&buffer[..read]).ok()?)
    }

    /// Its counters since it began: now, or at its end.
    pub fn sample(&self) -> Sample {
        let Some(base) = self.base.get() else {
            return Sample::default();
        };
        let mut cpu = None;
        while self.end.get().is_none() {
            cpu = sys::thread_cpu(self.tid()).ok();
            if cpu.is_some() {
                break;
            }
            // Gone between the two looks: it leaves its last words before it goes.
            std::hint::spin_loop();
        }
        match (self.end.get(), cpu) {
            (Some(end), None) => end.sample,
            (_, cpu) => Sample {
                cpu: cpu.unwrap_or_default().0.saturating_sub(base.cpu),
                switches: self
                    .schedstat()
                    .map_or(0, |s| s.switches.saturating_sub(base.switches)),
            },
        }
    }

    /// Its policy, prio and weight by now.
    pub fn describe(&self, at: Ns, sample: Sample) -> End {
        let read = |name: &str| std::fs::read_to_string(self.file(self.tid(), name)).ok();
        End {
            at,
            sample,
            stat: read("stat").as_deref().and_then(proc::stat),
            weight: read("sched").as_deref().and_then(proc::weight),
        }
    }

    /// The thread's last words.
    pub fn leave(&self, at: Ns) {
        let end = self.describe(at, self.sample());
        let _ = self.end.set(end);
    }

    /// Its last words, if it has ended.
    pub fn ended(&self) -> Option<End> {
        self.end.get().copied()
    }

    /// The instant it came to be.
    pub fn began(&self) -> Ns {
        Ns(self.began.load(Acquire))
    }

    /// It is about to sleep; `at` is an instant of the run.
    pub fn goes_away(&self, why: Away, at: Ns) {
        let odd = u64::from(why == Away::Blocked);
        self.away.store(at.0.max(1) << 1 | odd, Release);
    }

    /// It is back on a CPU, having been away for so long.
    pub fn comes_back(&self, why: Away, lasted: Ns) {
        self.away.store(0, Release);
        let sum = match why {
            Away::Blocked => &self.blocked,
            Away::Asleep => &self.asleep,
        };
        sum.fetch_add(lasted.0, AcqRel);
    }

    /// Time blocked and time asleep up to `now`.
    pub fn away(&self, now: Ns) -> (u64, u64) {
        let mut blocked = self.blocked.load(Acquire);
        let mut asleep = self.asleep.load(Acquire);
        let away = self.away.load(Acquire);
        if away != 0 && self.end.get().is_none() {
            let lasts = now.0.saturating_sub(away >> 1);
            if away & 1 == 1 {
                blocked += lasts;
            } else {
                asleep += lasts;
            }
        }
        (blocked, asleep)
    }

    /// It has waited for the CPU so long within a window.
    pub fn waited(&self, window: usize, ns: u64) {
        self.longest[window].fetch_max(ns, AcqRel);
    }

    /// The longest such wait.
    pub fn longest_wait(&self, window: usize) -> u64 {
        self.longest.get(window).map_or(0, |w| w.load(Acquire))
    }
}
