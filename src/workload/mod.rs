//! rt-app workloads: read, checked, changed, compiled to programs of the model, and written.
//!
//! A scenario is an rt-app workload with one more object, `lab`, which rt-app does not read
//! (`docs/workload.md` has both in full). [`Workload::parse`] reads it, [`Workload::build`]
//! makes the [`Scenario`] that can be run, [`Workload::to_json`] writes what reads back to the
//! same run. Text is a stranger's: everything is bounded (see [`bounds`]), and what is wrong is
//! one [`Error`] with line, column and path.
//!
//! What rt-app knows and the model does not (memory, clamps, groups, NUMA, deadline bandwidth)
//! becomes a notice that names the key, never silence.

pub mod bounds;
mod build;
mod compile;
mod edit;
mod error;
mod lab;
mod names;
pub mod presets;
mod read;
mod read_event;
mod read_lab;
mod read_task;
mod resolve;
mod task;
mod text;
mod write;

pub use build::{Options, Scenario};
pub use error::Error;
pub use lab::{Action, Change, Window};
pub use names::Names;
pub use task::{Asked, Event, Phase, PhaseChange, Task, Timer};

use std::collections::HashSet;

use crate::model::kernel::Kernel;
use crate::model::machine::Protocol;
use crate::model::pi::Variant;
use crate::model::task::Policy;
use crate::model::units::Ns;

/// A mutex of the workload.
///
/// ```
/// use reweight_lab::model::machine::Protocol;
/// use reweight_lab::workload::Workload;
/// let text = r#"{ "tasks": { "a": { "lock": "M", "run": 1000, "unlock": "M" } },
///     "lab": { "locks": { "M": "none" } } }"#;
/// let workload = Workload::parse(text, "mine.json")?;
/// assert_eq!(workload.locks[0].name, "M");
/// assert_eq!(workload.locks[0].protocol, Some(Protocol::None));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lock {
    /// Its name.
    pub name: String,
    /// What `lab.locks` says of it. `None`: what `global.pi_enabled` says of all.
    pub protocol: Option<Protocol>,
}

/// An rt-app workload with its `lab` object.
///
/// Equal workloads build equal machines. Where the machine is asked for (`kernel` and the like),
/// `None` leaves the default.
///
/// ```
/// use reweight_lab::workload::Workload;
/// let text = r#"{ "tasks": { "low": { "priority": 10, "run": 5000, "sleep": 5000 } } }"#;
/// let mut workload = Workload::parse(text, "mine.json")?;
/// workload.set_start_nice("low", 5)?;
/// // What it writes reads back as the same workload.
/// let again = Workload::parse(&workload.to_json(), "mine.json")?;
/// assert_eq!(again.tasks, workload.tasks);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workload {
    /// The file as the caller named it, for messages.
    pub file: String,
    /// What it is, in a line; may be empty.
    pub title: String,
    /// What to guess before it runs; may be empty.
    pub question: String,
    /// What to look at; may be empty.
    pub look: String,
    /// Whose share is told. `None`: the first task whose prio a donor lowers in number.
    pub holder: Option<String>,
    /// Default: 6.12.
    pub kernel: Option<Kernel>,
    /// Ticks a second: 100, 250, 300 or 1000, the default.
    pub hz: Option<u32>,
    /// Online CPUs; default: as many as the tasks name.
    pub cpus_online: Option<u32>,
    /// Default: the stock kernel.
    pub pi: Option<Variant>,
    /// CONFIG_FAIR_GROUP_SCHED; default: on, as distributions build.
    pub fair_group_sched: Option<bool>,
    /// From a timer interrupt to the reschedule it asks for; default 0.
    pub resched_delay: Option<Ns>,
    /// When the first tick comes, less than a tick; default: one tick in.
    pub tick_phase: Option<Ns>,
    /// CPU time a tick takes from the running task's work; default 0.
    pub irq_cost: Option<Ns>,
    /// RT throttling; default on.
    pub rt_throttle: Option<bool>,
    /// rt-app's `default_policy`.
    pub default_policy: Policy,
    /// rt-app's `pi_enabled`: what mutexes do that `lab.locks` does not name.
    pub pi_enabled: bool,
    /// How long the run is. `None`: see [`Workload::run_length`].
    pub duration: Option<Ns>,
    /// The tasks, in the order in which they start.
    pub tasks: Vec<Task>,
    /// The mutexes, in the order in which events name them.
    pub locks: Vec<Lock>,
    /// Conditions, and names to suspend under: rt-app has one name space for both.
    pub conditions: Vec<String>,
    /// Barriers.
    pub barriers: Vec<String>,
    /// Semaphores; all begin at 0.
    pub semaphores: Vec<String>,
    /// Timers.
    pub timers: Vec<Timer>,
    /// Names of the tasks that are forked.
    pub forks: Vec<String>,
    /// Changes from outside, in any order; equal instants: in this order.
    pub controls: Vec<Change>,
    /// Windows; without any there is one, `all`.
    pub windows: Vec<Window>,
    /// What was read but is not modelled, or is worth a word. Ends with a count when there were
    /// more than [`bounds::NOTICES`].
    pub notices: Vec<String>,
}

impl Workload {
    /// Reads a workload. `file` is the name for messages.
    ///
    /// # Errors
    /// The first mistake in the text, or the bound that it passes.
    pub fn parse(text: &str, file: &str) -> Result<Workload, Error> {
        read::parse(text, file)
    }

    /// Reads a workload from bytes that may not be text.
    ///
    /// # Errors
    /// As [`Workload::parse`]; or where the bytes stop to be UTF-8.
    pub fn from_bytes(bytes: &[u8], file: &str) -> Result<Workload, Error> {
        if bytes.len() > bounds::BYTES {
            let message = text::over("bytes in the file", bounds::BYTES);
            return Err(Error::of(file, "", message));
        }
        match std::str::from_utf8(bytes) {
            Ok(text) => Workload::parse(text, file),
            Err(e) => {
                let at = e.valid_up_to();
                let message = "expected text in UTF-8, found other bytes".to_owned();
                Err(Error::at(file, bytes, at, String::new(), message))
            }
        }
    }

    /// A workload without anything.
    pub(crate) fn empty(file: &str) -> Workload {
        Workload {
            file: file.to_owned(),
            title: String::new(),
            question: String::new(),
            look: String::new(),
            holder: None,
            kernel: None,
            hz: None,
            cpus_online: None,
            pi: None,
            fair_group_sched: None,
            resched_delay: None,
            tick_phase: None,
            irq_cost: None,
            rt_throttle: None,
            default_policy: Policy::Normal,
            pi_enabled: false,
            duration: None,
            tasks: Vec::new(),
            locks: Vec::new(),
            conditions: Vec::new(),
            barriers: Vec::new(),
            semaphores: Vec::new(),
            timers: Vec::new(),
            forks: Vec::new(),
            controls: Vec::new(),
            windows: Vec::new(),
            notices: Vec::new(),
        }
    }

    /// How long a run is: `duration`, else up to the end of the last window, else ten seconds.
    pub fn run_length(&self) -> Ns {
        let windows = self.windows.iter().map(|w| w.to).max();
        self.duration.or(windows).unwrap_or(Ns::from_secs(10))
    }

    /// Policy and priority a task starts with.
    pub fn start_of(&self, task: &Task) -> Asked {
        task.asked.unwrap_or(Asked::default_of(self.default_policy))
    }

    /// CPUs that are needed for the tasks.
    pub(super) fn cpus_pinned(&self) -> u32 {
        self.tasks
            .iter()
            .map(|t| t.cpu.unwrap_or(0) + 1)
            .max()
            .unwrap_or(1)
    }

    /// Brings the tables into the order in which events name things, and drops what none names.
    pub(super) fn tidy(&mut self) {
        let mut locks = Order::new(self.locks.len());
        let mut conditions = Order::new(self.conditions.len());
        let mut barriers = Order::new(self.barriers.len());
        let mut semaphores = Order::new(self.semaphores.len());
        let mut timers = Order::new(self.timers.len());
        let mut forks = Order::new(self.forks.len());
        for phase in self.tasks.iter_mut().flat_map(|t| &mut t.phases) {
            for event in &mut phase.events {
                match event {
                    Event::Lock(n) | Event::Unlock(n) | Event::LockTimed { lock: n, .. } => {
                        locks.see(n)
                    }
                    Event::Wait { condition, mutex } | Event::Sync { condition, mutex } => {
                        conditions.see(condition);
                        if let Some(mutex) = mutex {
                            locks.see(mutex);
                        }
                    }
                    Event::Signal(n) | Event::Broad(n) | Event::Suspend(n) | Event::Resume(n) => {
                        conditions.see(n);
                    }
                    Event::Barrier(n) => barriers.see(n),
                    Event::SemPost(n) | Event::SemWait(n) => semaphores.see(n),
                    Event::Timer { timer, .. } => timers.see(timer),
                    Event::Fork(n) => forks.see(n),
                    Event::Run(_)
                    | Event::Runtime(_)
                    | Event::Sleep(_)
                    | Event::Yield
                    | Event::Mem(_)
                    | Event::IoRun(_) => {}
                }
            }
        }
        locks.apply(&mut self.locks);
        conditions.apply(&mut self.conditions);
        barriers.apply(&mut self.barriers);
        semaphores.apply(&mut self.semaphores);
        timers.apply(&mut self.timers);
        forks.apply(&mut self.forks);
        // Only in a fork does "no CPU" mean the parent's.
        let forked: HashSet<&str> = self.forks.iter().map(String::as_str).collect();
        for task in &mut self.tasks {
            if !forked.contains(task.name.as_str()) {
                task.cpu.get_or_insert(0);
            }
        }
    }
}

/// A new order of a table: by first use.
struct Order {
    new: Vec<u32>,
    used: Vec<u32>,
}

impl Order {
    fn new(len: usize) -> Order {
        Order {
            new: vec![u32::MAX; len],
            used: Vec::new(),
        }
    }

    /// Renumbers one use.
    fn see(&mut self, n: &mut u32) {
        let old = *n as usize;
        if self.new[old] == u32::MAX {
            self.new[old] = self.used.len() as u32;
            self.used.push(*n);
        }
        *n = self.new[old];
    }

    fn apply<T>(self, table: &mut Vec<T>) {
        let mut old: Vec<Option<T>> = table.drain(..).map(Some).collect();
        table.extend(self.used.iter().filter_map(|&n| old[n as usize].take()));
    }
}

/// Events of a task as they count against the bound.
pub(super) fn event_count(task: &Task, unique: impl Fn(u32) -> bool) -> usize {
    let events = task.phases.iter().flat_map(|p| &p.events);
    let own = events
        .clone()
        .any(|e| matches!(e, Event::Timer { timer, .. } if unique(*timer)));
    let copies = if own {
        task.instances.max(1) as usize
    } else {
        1
    };
    events.count().saturating_mul(copies)
}

/// Adds a notice; past the bound they are only counted.
pub(super) fn notice(notices: &mut Vec<String>, path: &str, what: &str) {
    const MORE: &str = "more notices: ";
    if notices.len() < bounds::NOTICES {
        notices.push([path, ": ", what].concat());
        return;
    }
    let more = match notices.last().and_then(|last| last.strip_prefix(MORE)) {
        Some(n) => n.parse::<u64>().unwrap_or(0),
        None => {
            notices.push(String::new());
            0
        }
    };
    if let Some(last) = notices.last_mut() {
        *last = [MORE, &(more + 1).to_string()].concat();
    }
}
