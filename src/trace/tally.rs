//! The books of a run: times by state, and windows with exact shares and longest waits.
//!
//! An observer of its own, apart from the recording: it costs a few additions an event and no
//! memory that grows with the run, so sweeps and endless runs use it alone. CPU time comes from
//! the machine itself, read at the windows' ends.

use crate::model::machine::{Machine, Protocol};
use crate::model::observer::{Event, LockEvent, Observer, Refusal};
use crate::model::pi::Variant;
use crate::model::task::State;
use crate::model::units::{LockId, Ns, TaskId};

/// Refusals that are told one by one; the rest is counted.
pub const REFUSALS_TOLD: usize = 20;

/// Figures kept at most: windows times tasks.
pub const FIGURES: usize = 8_000_000;

/// Times of one task by state, in ns, up to the last change of state.
#[derive(Clone, Copy, Debug)]
struct TaskTally {
    state: State,
    since: Ns,
    wait: u64,
    sleep: u64,
    blocked: u64,
}

/// Times of a task up to an instant, ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Times {
    /// On a CPU.
    pub cpu: u64,
    /// Runnable and waiting.
    pub wait: u64,
    /// Blocked on a lock.
    pub blocked: u64,
    /// Sleeping; the time after its end does not count.
    pub sleep: u64,
}

/// What a task had in a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Portion {
    /// CPU time, ns.
    pub cpu: u64,
    /// How often it was set running.
    pub switches: u64,
    /// Its longest wait for the CPU, cut at the window's ends, ns.
    pub max_wait: u64,
}

/// A window with its figures: of the closed ones final, of an open one so far.
#[derive(Clone, Debug)]
pub(crate) struct WindowTally {
    /// Which window, by the caller's numbering.
    pub index: usize,
    /// Its first instant.
    pub from: Ns,
    /// Its end, once it is closed.
    pub to: Option<Ns>,
    /// By task. Until it is closed `cpu` is what the task had had when the window opened.
    pub tasks: Vec<Portion>,
}

/// A request that was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    /// When.
    pub at: Ns,
    /// Whose request.
    pub task: TaskId,
    /// Which.
    pub refusal: Refusal,
}

/// The stretch in which a lock holder is boosted, found while the run goes on (design: the holder
/// is the first task a donor lends to; where nothing is lent, the first owner blocked upon).
///
/// ```
/// # use reweight_lab::trace;
/// # use reweight_lab::workload::{Options, Workload, presets};
/// # let text = presets::named("patch-test").ok_or("no such preset")?.text;
/// # let workload = Workload::parse(text, "patch-test.json")?;
/// # let run = trace::simulate(workload.build(&Options::default())?, false)?;
/// let boost = run.boost.ok_or("no boost")?;
/// assert_eq!(run.names.task(&run.machine, boost.task), "low");
/// assert_eq!(run.names.task(&run.machine, boost.donor), "high");
/// assert!(boost.to > Some(boost.from));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Boost {
    /// Who is boosted.
    pub task: TaskId,
    /// By whose wait.
    pub donor: TaskId,
    /// On which lock, if known.
    pub lock: Option<LockId>,
    /// From when.
    pub from: Ns,
    /// Until when: deboosted, or the lock has its next owner.
    pub to: Option<Ns>,
}

/// The books. Must watch a run from time zero.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    tasks: Vec<TaskTally>,
    windows: Vec<WindowTally>,
    open: Vec<usize>,
    refusals: Vec<Refused>,
    refused: u64,
    /// Whose boost is looked for; `None`: anybody's.
    wanted: Option<TaskId>,
    boost: Option<Boost>,
    /// More figures were asked for than [`FIGURES`]: the windows no longer count.
    overflowed: bool,
    /// The number to give the window of the boost, if it is to be kept.
    boosted: Option<usize>,
}

impl Observer for Tally {
    fn event(&mut self, machine: &Machine, event: &Event) {
        match *event {
            Event::State { task, state } => self.state(machine.now(), task, state),
            Event::Switch {
                next: Some(task), ..
            } => {
                for &w in &self.open {
                    self.windows[w].portion(task).switches += 1;
                }
            }
            Event::Spawn { .. } => {
                self.tasks.push(TaskTally {
                    state: State::Sleeping,
                    since: machine.now(),
                    wait: 0,
                    sleep: 0,
                    blocked: 0,
                });
                self.watch_bound();
            }
            Event::SetPrio {
                task,
                donor,
                old_prio,
                prio,
                ..
            } => match donor {
                Some(donor) if prio < old_prio => {
                    let lock = machine.task(donor).blocked_on();
                    self.boost_begins(machine, task, donor, lock);
                }
                Some(_) if prio < machine.task(task).normal_prio() => {}
                _ => self.boost_ends(machine, |b| b.task == task),
            },
            Event::Lock { lock, task, what } => match what {
                LockEvent::Blocked { owner: Some(owner) } if lends_nothing(machine, lock) => {
                    self.boost_begins(machine, owner, task, Some(lock));
                }
                LockEvent::Acquired => {
                    self.boost_ends(machine, |b| b.lock == Some(lock) && b.task != task);
                }
                _ => {}
            },
            Event::Refused { task, refusal } => {
                self.refused += 1;
                if self.refusals.len() < REFUSALS_TOLD {
                    let at = machine.now();
                    self.refusals.push(Refused { at, task, refusal });
                }
            }
            _ => {}
        }
    }

    fn wants_decisions(&self) -> bool {
        false
    }
}

/// Whether a lock boosts nobody by `rt_mutex_setprio`, so that being blocked upon is what counts.
fn lends_nothing(machine: &Machine, lock: LockId) -> bool {
    matches!(machine.settings().pi, Variant::None | Variant::ProxyExec)
        || machine.locks[lock.index()].protocol == Protocol::None
}

impl WindowTally {
    fn portion(&mut self, task: TaskId) -> &mut Portion {
        if self.tasks.len() <= task.index() {
            self.tasks.resize(task.index() + 1, Portion::default());
        }
        &mut self.tasks[task.index()]
    }

    fn waited(&mut self, task: TaskId, since: Ns, until: Ns) {
        let ns = until.saturating_sub(since.max(self.from)).0;
        let portion = self.portion(task);
        portion.max_wait = portion.max_wait.max(ns);
    }
}

impl Tally {
    /// Empty books.
    pub fn new() -> Tally {
        Tally::default()
    }

    /// Looks for the first boost (of `task`, if one is named) and keeps it as window `index`.
    pub fn want_boost(&mut self, task: Option<TaskId>, index: Option<usize>) {
        self.wanted = task;
        self.boosted = index;
    }

    fn state(&mut self, now: Ns, task: TaskId, state: State) {
        let Some(t) = self.tasks.get_mut(task.index()) else {
            return;
        };
        let (was, since) = (t.state, t.since);
        let lasted = now.saturating_sub(since).0;
        match was {
            State::Runnable => t.wait += lasted,
            State::Blocked(_) => t.blocked += lasted,
            State::Sleeping => t.sleep += lasted,
            State::Running | State::Ended => {}
        }
        t.state = state;
        t.since = now;
        if was == State::Runnable && lasted > 0 {
            for &w in &self.open {
                self.windows[w].waited(task, since, now);
            }
        }
    }

    fn watch_bound(&mut self) {
        if self.windows.len() * self.tasks.len() > FIGURES {
            self.overflowed = true;
            self.open.clear();
            self.windows.clear();
        }
    }

    /// Whether there was more to count than [`FIGURES`]; the windows are gone then.
    pub fn overflowed(&self) -> bool {
        self.overflowed
    }

    /// Opens window `index` now. To be called before the events of its first instant.
    pub fn open(&mut self, machine: &Machine, index: usize) {
        if self.overflowed {
            return;
        }
        let tasks = (0..machine.tasks().len())
            .map(|t| Portion {
                cpu: machine.cpu_time(TaskId(t as u32)).0,
                ..Portion::default()
            })
            .collect();
        self.open.push(self.windows.len());
        self.windows.push(WindowTally {
            index,
            from: machine.now(),
            to: None,
            tasks,
        });
        self.watch_bound();
    }

    /// Closes window `index` now.
    pub fn close(&mut self, machine: &Machine, index: usize) {
        let found = self
            .open
            .iter()
            .position(|&w| self.windows[w].index == index);
        let Some(found) = found else { return };
        let w = self.open.remove(found);
        self.settle(machine, w);
    }

    /// Brings window `w` up to now and makes it final.
    fn settle(&mut self, machine: &Machine, w: usize) {
        let now = machine.now();
        let window = &mut self.windows[w];
        window.to = Some(now);
        for (i, t) in self.tasks.iter().enumerate() {
            let task = TaskId(i as u32);
            if t.state == State::Runnable {
                window.waited(task, t.since, now);
            }
            let portion = window.portion(task);
            portion.cpu = machine.cpu_time(task).0 - portion.cpu;
        }
    }

    fn boost_begins(
        &mut self,
        machine: &Machine,
        task: TaskId,
        donor: TaskId,
        lock: Option<LockId>,
    ) {
        if self.boost.is_some() || self.wanted.is_some_and(|t| t != task) {
            return;
        }
        self.boost = Some(Boost {
            task,
            donor,
            lock,
            from: machine.now(),
            to: None,
        });
        if let Some(index) = self.boosted {
            self.open(machine, index);
        }
    }

    fn boost_ends(&mut self, machine: &Machine, ends: impl Fn(&Boost) -> bool) {
        if let Some(boost) = &mut self.boost
            && boost.to.is_none()
            && ends(boost)
        {
            boost.to = Some(machine.now());
            if let Some(index) = self.boosted {
                self.close(machine, index);
            }
        }
    }

    /// Closes what is open: the run ends now.
    pub fn finish(&mut self, machine: &Machine) {
        for w in std::mem::take(&mut self.open) {
            self.settle(machine, w);
        }
    }

    /// The windows opened so far, in the order of opening.
    pub fn windows(&self) -> &[WindowTally] {
        &self.windows
    }

    /// The first boost, if there was one.
    pub fn boost(&self) -> Option<Boost> {
        self.boost
    }

    /// The first refusals, and how many there were in all.
    pub fn refusals(&self) -> (&[Refused], u64) {
        (&self.refusals, self.refused)
    }

    /// How a task has spent its time up to now.
    pub fn times(&self, machine: &Machine, task: TaskId) -> Times {
        let mut times = Times {
            cpu: machine.cpu_time(task).0,
            ..Times::default()
        };
        if let Some(t) = self.tasks.get(task.index()) {
            let lasted = machine.now().saturating_sub(t.since).0;
            (times.wait, times.sleep, times.blocked) = (t.wait, t.sleep, t.blocked);
            match t.state {
                State::Runnable => times.wait += lasted,
                State::Blocked(_) => times.blocked += lasted,
                State::Sleeping => times.sleep += lasted,
                State::Running | State::Ended => {}
            }
        }
        times
    }
}
