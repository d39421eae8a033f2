//! The tasks a trace has named, and what each is doing.
//!
//! Bounded: at most [`MAX_TASKS`] at a time. When that is reached, tasks that have ended are folded
//! into one sum; when none has, further tasks are not followed, and counted.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::event::Comm;
use super::samples::Samples;
use crate::model::units::Ns;

/// Tasks followed at the same time. Each takes at most 14 KB.
pub const MAX_TASKS: usize = 8192;

/// What a task is doing, as far as the trace told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Not seen since the stretch began: it has not changed what it does since `since`.
    Unseen,
    /// Seen, but events are missing: nothing is known.
    Lost,
    Running,
    Waiting,
    Asleep,
    Dead,
}

/// Why a task is asleep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sleep {
    /// Sleep, timer, condition, I/O that can be interrupted.
    Plain,
    /// State `D`.
    Uninterruptible,
    /// Inside a futex call that takes a lock.
    Lock,
    /// It lent its prio to this pid and went to sleep; its wakeup will tell.
    Perhaps(u32),
}

/// A call that takes a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Futex {
    /// The lock inherits prio.
    pub inherit: bool,
}

/// Where time went.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Totals {
    pub run: Ns,
    pub wait: Ns,
    pub sleep: Ns,
    pub blocked: Ns,
    /// Part of `sleep`: state `D`.
    pub uninterruptible: Ns,
    pub switches: u64,
}

impl Totals {
    fn add(&mut self, other: &Totals) {
        self.run = self.run.saturating_add(other.run);
        self.wait = self.wait.saturating_add(other.wait);
        self.sleep = self.sleep.saturating_add(other.sleep);
        self.blocked = self.blocked.saturating_add(other.blocked);
        self.uninterruptible = self.uninterruptible.saturating_add(other.uninterruptible);
        self.switches += other.switches;
    }
}

/// What a runnable task adds to its CPU's queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    pub cpu: usize,
    pub fair: bool,
    /// Table weight of its own nice.
    pub base: u32,
    /// Table weight of its prio, boosted or not.
    pub now: u32,
}

pub(super) struct Task {
    pub pid: u32,
    /// Unlike the place in the table, never used again.
    pub serial: u32,
    pub comm: Comm,
    pub state: State,
    pub since: Ns,
    /// `state` is what it was before an unrecorded stretch; the next event may correct it.
    pub assumed: bool,
    pub sleep: Sleep,
    pub cpu: usize,
    pub prio: Option<i32>,
    /// The prio without boost.
    pub base: Option<i32>,
    pub prio_since: Ns,
    pub woken: Option<Ns>,
    /// The pid whose prio this task has raised since it last slept.
    pub raised: Option<u32>,
    /// The lock a futex call is about.
    pub futex: Option<Futex>,
    /// Recorded time when it last went to sleep.
    pub slept_at: Ns,
    /// The first prio of its own that was seen.
    pub first_base: Option<i32>,
    /// A sleep that turns out to have been a lock wait if the task takes its loan back.
    pub undecided: Option<(u32, Ns)>,
    pub load: Option<Load>,
    pub boosted: bool,
    pub totals: Totals,
    pub waits: Samples,
    pub latencies: Samples,
    pub longest_wait_from: Ns,
}

impl Task {
    fn new(pid: u32, serial: u32, since: Ns) -> Task {
        Task {
            pid,
            serial,
            comm: Comm::default(),
            state: State::Unseen,
            since,
            assumed: false,
            sleep: Sleep::Plain,
            cpu: 0,
            prio: None,
            base: None,
            prio_since: since,
            woken: None,
            raised: None,
            futex: None,
            slept_at: Ns(0),
            first_base: None,
            undecided: None,
            load: None,
            boosted: false,
            totals: Totals::default(),
            waits: Samples::default(),
            latencies: Samples::default(),
            longest_wait_from: since,
        }
    }

    /// Keeps a name, unless it is the `<...>` of an unknown one.
    pub(super) fn named(&mut self, comm: &[u8]) {
        if comm != self.comm.as_bytes() && comm != b"<...>" && !comm.is_empty() {
            self.comm = Comm::new(comm);
        }
    }
}

/// Spreads pids, which are small and dense.
#[derive(Default)]
pub(super) struct PidHasher(u64);

impl Hasher for PidHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &b in bytes {
            self.0 = (self.0 ^ u64::from(b)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
    }

    fn write_u32(&mut self, pid: u32) {
        let wide = u128::from(u64::from(pid) ^ 0x9e37_79b9) * 0x9e37_79b9_7f4a_7c15_f39c;
        self.0 = wide as u64 ^ (wide >> 64) as u64;
    }
}

/// Tasks that were folded away because the table was full.
#[derive(Debug, Default)]
pub(super) struct Ended {
    pub count: u64,
    pub totals: Totals,
    pub longest: Ns,
}

#[derive(Default)]
pub(super) struct Tasks {
    pub all: Vec<Task>,
    by_pid: HashMap<u32, u32, BuildHasherDefault<PidHasher>>,
    /// Places that may be used again.
    free: Vec<u32>,
    /// Ended tasks that are still listed.
    dead: Vec<u32>,
    pub ended: Ended,
    /// Lines about tasks for which there was no room.
    pub untracked: u64,
    made: u32,
}

impl Tasks {
    pub(super) fn find(&self, pid: u32) -> Option<usize> {
        self.by_pid.get(&pid).map(|&i| i as usize)
    }

    /// The task with this pid, made if it is new; `None` when there is no room.
    pub(super) fn get(&mut self, pid: u32, since: Ns) -> Option<usize> {
        if let Some(found) = self.find(pid) {
            return Some(found);
        }
        if self.all.len() - self.free.len() >= MAX_TASKS {
            self.fold_dead();
        }
        let task = Task::new(pid, self.made, since);
        self.made = self.made.wrapping_add(1);
        let index = match self.free.pop() {
            Some(index) => {
                self.all[index as usize] = task;
                index
            }
            None if self.all.len() < MAX_TASKS => {
                self.all.push(task);
                (self.all.len() - 1) as u32
            }
            None => {
                self.untracked += 1;
                return None;
            }
        };
        self.by_pid.insert(pid, index);
        Some(index as usize)
    }

    /// The pid is free for another task from now on.
    pub(super) fn bury(&mut self, index: usize) {
        self.all[index].state = State::Dead;
        self.dead.push(index as u32);
        let pid = self.all[index].pid;
        if self.by_pid.get(&pid) == Some(&(index as u32)) {
            self.by_pid.remove(&pid);
        }
    }

    /// An exec by another thread than the first gives it the first one's pid.
    pub(super) fn rename(&mut self, index: usize, pid: u32) {
        self.by_pid.remove(&self.all[index].pid);
        self.all[index].pid = pid;
        self.by_pid.insert(pid, index as u32);
    }

    fn fold_dead(&mut self) {
        for index in std::mem::take(&mut self.dead) {
            let task = &mut self.all[index as usize];
            self.ended.count += 1;
            self.ended.totals.add(&task.totals);
            self.ended.longest = self.ended.longest.max(task.waits.max());
            self.free.push(index);
            task.waits = Samples::default();
            task.latencies = Samples::default();
        }
    }

    /// Those that are in use, ended ones included.
    pub(super) fn listed(&self) -> impl Iterator<Item = &Task> {
        let free: std::collections::HashSet<u32> = self.free.iter().copied().collect();
        let used = move |(i, _): &(usize, &Task)| !free.contains(&(*i as u32));
        self.all
            .iter()
            .enumerate()
            .filter(used)
            .map(|(_, task)| task)
    }
}
