//! Reads a workload: the top of the file, rt-app's `global`, and what can only be checked when
//! all of it is known. Tasks are read in `read_task`, the `lab` object in `read_lab`.
//!
//! One pass over the text, one over the phases. Order of the parts does not matter: a policy
//! named at the end of the file counts for the tasks before it.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

use super::bounds;
use super::error::Error;
use super::lab::Window;
use super::names::Targets;
use super::resolve::Raw;
use super::task::Task;
use super::text::{Key, Text, over, push_plain, quoted};
use super::{Workload, event_count, notice};
use crate::model::machine::Protocol;
use crate::model::task::Policy;
use crate::model::units::Ns;

pub(super) type Result<T> = std::result::Result<T, Error>;

/// Microseconds, for a message.
pub(super) const MICROSECONDS: &str = "microseconds, a whole number from 0 to 1000000000000";

/// Names in the order in which they first appear.
#[derive(Default)]
pub(super) struct Table<'t> {
    pub names: Vec<String>,
    index: HashMap<Cow<'t, str>, u32>,
}

impl<'t> Table<'t> {
    /// The index of a name, new or not.
    pub fn of(&mut self, name: Cow<'t, str>) -> u32 {
        if let Some(&n) = self.index.get(&name) {
            return n;
        }
        let n = self.names.len() as u32;
        self.names.push(name.clone().into_owned());
        self.index.insert(name, n);
        n
    }

    /// The index of a name that has one.
    pub fn get(&self, name: &str) -> Option<u32> {
        self.index.get(name).copied()
    }
}

/// The reader: a cursor, what has been read, and what is still to be checked.
pub(super) struct Reader<'t> {
    pub text: Text<'t>,
    pub out: Workload,
    pub locks: Table<'t>,
    pub conditions: Table<'t>,
    pub barriers: Table<'t>,
    pub semaphores: Table<'t>,
    pub timers: Table<'t>,
    pub absolute: HashSet<u32>,
    pub forks: Table<'t>,
    pub default_policy: Option<Policy>,
    pub pi_enabled: Option<bool>,
    /// `global.duration` in seconds; zero and less is no end.
    pub seconds: Option<i64>,
    pub events: usize,
    /// Parameters of every task, and of its phases that have some, by number of task and phase.
    pub raw: Vec<(u32, Option<u32>, Raw)>,
    /// Where a fork to each name was first asked for.
    pub fork_at: Vec<(usize, String)>,
    /// Where a condition was first resumed.
    pub resumed: BTreeMap<u32, String>,
    /// Conditions somebody sleeps on.
    pub slept_on: HashSet<u32>,
    /// The highest CPU named, and where.
    pub top_cpu: Option<(u32, usize, String)>,
    /// `lab.locks` as written.
    pub protocols: BTreeMap<String, Protocol>,
    /// Names of tasks so far, and how many threads they are.
    pub task_names: HashSet<String>,
    pub threads: usize,
    /// CPUs that phases of the task being read ask for.
    pub phase_cpus: Vec<(u32, u32)>,
    /// Which task had its notices on `mem` and `iorun`.
    pub bytes_noted: (usize, u8),
    /// Which task had its notice on SCHED_DEADLINE.
    pub deadline_noted: Option<usize>,
    pub controls_at: Vec<usize>,
    pub windows_at: Vec<usize>,
    pub holder_at: usize,
    /// Where `tasks` begins, and each task.
    pub tasks_at: Option<usize>,
    pub task_at: Vec<usize>,
    pub targets: Targets,
}

/// Reads a workload.
pub(super) fn parse(text: &str, file: &str) -> Result<Workload> {
    let mut reader = Reader {
        text: Text::new(text, file),
        out: Workload::empty(file),
        locks: Table::default(),
        conditions: Table::default(),
        barriers: Table::default(),
        semaphores: Table::default(),
        timers: Table::default(),
        absolute: HashSet::new(),
        forks: Table::default(),
        default_policy: None,
        pi_enabled: None,
        seconds: None,
        events: 0,
        raw: Vec::new(),
        fork_at: Vec::new(),
        resumed: BTreeMap::new(),
        slept_on: HashSet::new(),
        top_cpu: None,
        protocols: BTreeMap::new(),
        task_names: HashSet::new(),
        threads: 0,
        phase_cpus: Vec::new(),
        bytes_noted: (usize::MAX, 0),
        deadline_noted: None,
        controls_at: Vec::new(),
        windows_at: Vec::new(),
        holder_at: 0,
        tasks_at: None,
        task_at: Vec::new(),
        targets: Targets::default(),
    };
    if text.len() > bounds::BYTES {
        return Err(reader.text.over(0, "bytes in the file", bounds::BYTES));
    }
    reader.top()?;
    reader.finish()
}

impl<'t> Reader<'t> {
    fn top(&mut self) -> Result<()> {
        self.text.space()?;
        let mut items = self.text.object("a workload, which begins with '{'")?;
        while let Some(key) = self.text.key(&mut items)? {
            match &*key.name {
                "global" => self.global(&key)?,
                "tasks" => self.tasks(&key)?,
                "lab" => self.lab(&key)?,
                "resources" => {
                    self.notice("rt-app has made resources from the events since 1.0; what stands here is not read");
                    self.skip(&key)?;
                }
                _ => self.unknown(&key)?,
            }
        }
        self.text.end()
    }

    fn global(&mut self, key: &Key<'t>) -> Result<()> {
        self.value(key, "an object")?;
        let mut items = self.text.object("an object")?;
        while let Some(key) = self.text.key(&mut items)? {
            match &*key.name {
                "duration" => {
                    if !self.repeated(&key, self.seconds.is_some())? {
                        self.value(&key, "seconds")?;
                        let most = bounds::DURATION.0 / 1_000_000_000;
                        let expected = "seconds, a whole number up to 604800, or -1 for no end";
                        self.seconds = Some(self.text.integer(
                            expected,
                            i64::from(i32::MIN),
                            most as i64,
                        )?);
                    }
                }
                "default_policy" => {
                    if !self.repeated(&key, self.default_policy.is_some())? {
                        self.default_policy = Some(self.policy(&key)?);
                    }
                }
                "pi_enabled" => {
                    if !self.repeated(&key, self.pi_enabled.is_some())? {
                        self.value(&key, "true or false")?;
                        self.pi_enabled = Some(self.text.boolean("true or false")?);
                    }
                }
                // These say how the tool works, calibrates and logs, or serve `mem` and `iorun`,
                // which have a notice of their own.
                "calibration" | "lock_pages" | "logdir" | "log_basename" | "log_size"
                | "ftrace" | "gnuplot" | "cumulative_slack" | "io_device" | "mem_buffer_size"
                | "frag" => {
                    self.skip(&key)?;
                }
                _ => self.unknown(&key)?,
            }
        }
        Ok(())
    }

    /// A value must follow the key.
    pub fn value(&self, key: &Key<'t>, expected: &str) -> Result<()> {
        if key.bare {
            let expected = ["':' and ", expected].concat();
            return Err(self.text.unexpected(self.text.at(), &expected));
        }
        Ok(())
    }

    /// Passes over the value of a key.
    pub fn skip(&mut self, key: &Key<'t>) -> Result<()> {
        if key.bare { Ok(()) } else { self.text.skip() }
    }

    /// Notes something about the entry that is being read.
    pub fn notice(&mut self, what: &str) {
        let path = self.text.path();
        notice(&mut self.out.notices, &path, what);
    }

    /// A key nobody knows.
    pub fn unknown(&mut self, key: &Key<'t>) -> Result<()> {
        self.notice("this key is not known; it is not read");
        self.skip(key)
    }

    /// Whether a key that counts once was there before; if so it is passed over.
    pub fn repeated(&mut self, key: &Key<'t>, before: bool) -> Result<bool> {
        if before {
            self.notice("this key was there before; the first one counts");
            self.skip(key)?;
        }
        Ok(before)
    }

    /// Microseconds as rt-app takes them.
    pub fn time(&mut self, key: &Key<'t>) -> Result<Ns> {
        self.value(key, MICROSECONDS)?;
        let us = self.text.integer(MICROSECONDS, 0, bounds::TIME_US)?;
        Ok(Ns::from_us(us as u64))
    }

    /// A policy's name.
    pub fn policy(&mut self, key: &Key<'t>) -> Result<Policy> {
        let expected = "a policy: SCHED_OTHER, SCHED_BATCH, SCHED_IDLE, SCHED_FIFO, SCHED_RR or SCHED_DEADLINE";
        self.value(key, expected)?;
        let at = self.text.at();
        let name = self.text.string(expected)?;
        policy_named(&name).ok_or_else(|| self.text.unexpected(at, expected))
    }

    fn finish(mut self) -> Result<Workload> {
        let Some(tasks_at) = self.tasks_at else {
            let message =
                "no \"tasks\" in it: this is a part of a workload, to be merged with others";
            return Err(self.text.error_in(0, String::new(), message.to_owned()));
        };
        if self.out.tasks.is_empty() {
            let message = "expected at least one task";
            return Err(self
                .text
                .error_in(tasks_at, "tasks".to_owned(), message.to_owned()));
        }
        self.out.default_policy = self.default_policy.unwrap_or(Policy::Normal);
        self.out.pi_enabled = self.pi_enabled.unwrap_or(false);
        if self.out.duration.is_none() {
            self.out.duration = self
                .seconds
                .filter(|&s| s > 0)
                .map(|s| Ns::from_secs(s as u64));
        }
        self.resolve_scheduling()?;
        self.check_names()?;
        self.check_forks()?;
        self.check_size()?;
        self.finish_lab()?;
        self.fill_tables();
        Ok(self.out)
    }

    /// No two tasks may run under one name.
    fn check_names(&mut self) -> Result<()> {
        match Targets::new(&self.out.tasks) {
            Ok(targets) => {
                self.targets = targets;
                Ok(())
            }
            Err((task, name)) => {
                let message = ["two tasks would run as ", &quoted(&name)].concat();
                let path = task_path(&self.out.tasks[task]);
                Err(self.text.error_in(self.task_at[task], path, message))
            }
        }
    }

    fn check_forks(&mut self) -> Result<()> {
        for (name, (at, path)) in self.forks.names.iter().zip(&self.fork_at) {
            if !self.task_names.contains(name) {
                let message = ["expected the name of a task, found ", &quoted(name)].concat();
                return Err(self.text.error_in(*at, path.clone(), message));
            }
        }
        for (condition, path) in &self.resumed {
            if !self.slept_on.contains(condition) {
                let name = &self.conditions.names[*condition as usize];
                let what = [
                    "nobody suspends or waits as ",
                    &quoted(name),
                    "; it wakes nobody",
                ]
                .concat();
                notice(&mut self.out.notices, path, &what);
            }
        }
        Ok(())
    }

    fn check_size(&mut self) -> Result<()> {
        let timers = &self.timers.names;
        let unique = |n: u32| timers[n as usize].starts_with("unique");
        let total: usize = self
            .out
            .tasks
            .iter()
            .map(|task| event_count(task, unique))
            .fold(0, usize::saturating_add);
        if total > bounds::EVENTS {
            let message = over(
                "events, those with timers of their own counted by instance",
                bounds::EVENTS,
            );
            return Err(self.text.error_in(0, "tasks".to_owned(), message));
        }
        Ok(())
    }

    /// Moves the tables into the workload.
    fn fill_tables(&mut self) {
        let protocols = std::mem::take(&mut self.protocols);
        self.out.locks = self
            .locks
            .names
            .drain(..)
            .map(|name| super::Lock {
                protocol: protocols.get(&name).copied(),
                name,
            })
            .collect();
        self.out.conditions = std::mem::take(&mut self.conditions.names);
        self.out.barriers = std::mem::take(&mut self.barriers.names);
        self.out.semaphores = std::mem::take(&mut self.semaphores.names);
        self.out.forks = std::mem::take(&mut self.forks.names);
        self.out.timers = self
            .timers
            .names
            .drain(..)
            .enumerate()
            .map(|(n, name)| super::task::Timer {
                name,
                absolute: self.absolute.contains(&(n as u32)),
            })
            .collect();
        // Events that were read and dropped may have left names behind.
        self.out.tidy();
    }
}

/// The path of a task, for a message.
pub(super) fn task_path(task: &Task) -> String {
    let mut path = String::from("tasks.");
    push_plain(&mut path, &task.name);
    path
}

/// The policy of a name, as `sched(7)` and rt-app write it.
pub(super) fn policy_named(name: &str) -> Option<Policy> {
    [
        Policy::Normal,
        Policy::Batch,
        Policy::Idle,
        Policy::Fifo,
        Policy::Rr,
        Policy::Deadline,
    ]
    .into_iter()
    .find(|policy| policy.name() == name)
}

/// Whether windows are what they must be among themselves; else path and sentence.
pub(super) fn check_window(windows: &[Window], n: usize) -> std::result::Result<(), &'static str> {
    let window = &windows[n];
    if window.from >= window.to {
        return Err("the window ends where it begins or before");
    }
    if windows[..n].iter().any(|w| w.name == window.name) {
        return Err("a window before it has the same name");
    }
    Ok(())
}
