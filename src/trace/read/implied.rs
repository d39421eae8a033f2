//! The workload a trace implies: who computed, slept, was woken or blocked by whom, at which nice.
//!
//! A task's program counts in its own CPU time, so it does the same work however the CPU is shared:
//!
//! 1. a sleep that a timer or a device ended is a sleep of that length;
//! 2. one that a task ended waits on a semaphore, which that task raises at that place of its own
//!    program (a semaphore, since a wakeup that comes early must not be lost);
//! 3. one that ended with a lock handed over takes that lock. Its owner took it when it last began
//!    to run before the waiter came (a trace does not show a lock that nobody waits for), and
//!    gives it back where it woke the waiter. The new owner keeps it until it wakes the next waiter,
//!    or sleeps;
//! 4. a task that is runnable when the trace ends computes for ever: what it had left to do is not
//!    known.
//!
//! Unrecorded stretches are left out. Tasks stay on the CPU they were last on.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::analysis::Analysis;
use super::report::Names;
use super::story::{Cause, Nap};
use super::tasks::{Sleep, State, Task};
use crate::model::machine::Protocol;
use crate::model::task::Policy;
use crate::model::units::Ns;
use crate::workload::{self, Action, Asked, Change, Event, Lock, Phase, Window, Workload};

/// Tasks built at most: those in boosts, then those with most CPU time.
pub(super) const TASKS: usize = 64;

/// Windows taken from boosts at most.
const WINDOWS: usize = 32;

/// One step of a task, at a place counted in its CPU time.
#[derive(Clone, Copy)]
struct Step {
    ran: Ns,
    /// When it was over, in recorded time.
    at: Ns,
    event: Event,
}

/// A task being built.
struct Part<'a> {
    task: &'a Task,
    name: String,
    steps: Vec<Step>,
    /// Locks handed to it, and when.
    holds: Vec<(u32, Ns)>,
}

struct Builder<'a> {
    parts: Vec<Part<'a>>,
    by_serial: HashMap<u32, usize>,
    locks: Vec<Lock>,
    /// The lock between an owner and a waiter.
    between: HashMap<(usize, usize), u32>,
    semaphores: Vec<String>,
    semaphore_of: BTreeMap<usize, u32>,
}

/// What [`of`] gives.
pub(super) struct Implied {
    pub workload: Workload,
    /// Serial numbers of the tasks, in the workload's order.
    pub tasks: Vec<u32>,
}

/// Builds the workload. `seen` must have kept its story and be finished.
pub(super) fn of(seen: &Analysis, names: &Names, file: &str) -> Result<Implied, workload::Error> {
    let chosen = choose(seen);
    let parts: Vec<Part<'_>> = chosen
        .iter()
        .map(|t| Part {
            task: t,
            name: names.task(t),
            steps: Vec::new(),
            holds: Vec::new(),
        })
        .collect();
    let by_serial = parts
        .iter()
        .enumerate()
        .map(|(n, p)| (p.task.serial, n))
        .collect();
    let mut builder = Builder {
        parts,
        by_serial,
        locks: Vec::new(),
        between: HashMap::new(),
        semaphores: Vec::new(),
        semaphore_of: BTreeMap::new(),
    };
    for nap in &seen.story.naps {
        builder.nap(nap);
    }
    builder.last_waits(seen);
    let mut w = builder.workload(seen, file);
    w.notices.extend(notices(seen, &chosen));
    // Through the writer and the reader: what the file says is what runs.
    let mut workload = Workload::parse(&w.to_json(), file)?;
    workload.notices.splice(0..0, w.notices);
    Ok(Implied {
        workload,
        tasks: chosen.iter().map(|t| t.serial).collect(),
    })
}

/// Tasks in boosts first, then by CPU time; in the table's order, which is that of their coming.
fn choose(seen: &Analysis) -> Vec<&Task> {
    let mut lent: HashSet<u32> = HashSet::new();
    for record in seen.boosts.done.values() {
        lent.insert(record.task.pid);
        lent.extend(record.by.map(|by| by.pid));
    }
    let ran = |t: &&Task| t.totals.run > Ns(0) || t.state == State::Waiting;
    let mut tasks: Vec<&Task> = seen.tasks.listed().filter(ran).collect();
    tasks.sort_by_key(|t| {
        (
            !lent.contains(&t.pid),
            std::cmp::Reverse(t.totals.run),
            t.serial,
        )
    });
    tasks.truncate(TASKS);
    tasks.sort_by_key(|t| t.serial);
    tasks
}

impl Builder<'_> {
    fn push(&mut self, part: usize, ran: Ns, at: Ns, event: Event) {
        self.parts[part].steps.push(Step { ran, at, event });
    }

    fn nap(&mut self, nap: &Nap) {
        let Some(&sleeper) = self.by_serial.get(&nap.sleeper) else {
            return;
        };
        // Before it sleeps it gives back what it was handed and nobody was seen to wait for.
        for (lock, at) in std::mem::take(&mut self.parts[sleeper].holds) {
            self.push(sleeper, nap.ran, nap.from.max(at), Event::Unlock(lock));
        }
        let length = nap.to.saturating_sub(nap.from);
        let of = |serial| self.by_serial.get(&serial).copied();
        match nap.cause {
            Cause::Task { waker, ran } if of(waker).is_some() => {
                let waker = self.by_serial[&waker];
                let semaphore = self.semaphore(sleeper);
                self.push(waker, ran, nap.to, Event::SemPost(semaphore));
                self.push(sleeper, nap.ran, nap.to, Event::SemWait(semaphore));
            }
            Cause::Lock {
                waker,
                ran,
                inherit,
            } if of(waker).is_some() => {
                let owner = self.by_serial[&waker];
                let lock = self.taken(owner, sleeper, nap.from, inherit);
                self.parts[owner].holds.retain(|held| held.0 != lock);
                self.push(owner, ran, nap.to, Event::Unlock(lock));
                self.push(sleeper, nap.ran, nap.to, Event::Lock(lock));
                self.parts[sleeper].holds.push((lock, nap.to));
            }
            Cause::GaveUp { holder } if of(holder).is_some() => {
                let owner = self.by_serial[&holder];
                let lock = self.taken(owner, sleeper, nap.from, true);
                self.push(
                    sleeper,
                    nap.ran,
                    nap.to,
                    Event::LockTimed {
                        lock,
                        timeout: length,
                    },
                );
                self.push(sleeper, nap.ran, nap.to, Event::Unlock(lock));
            }
            _ => self.push(sleeper, nap.ran, nap.to, Event::Sleep(length)),
        }
    }

    /// The lock that `waiter` has been waiting for since `from`, held by `owner`.
    fn taken(&mut self, owner: usize, waiter: usize, from: Ns, inherit: bool) -> u32 {
        // Handed to the owner while the waiter already waited: both waited for the same.
        let handed = self.parts[owner].holds.iter().find(|held| held.1 >= from);
        if let Some(&(lock, _)) = handed {
            return lock;
        }
        let lock = match self.between.get(&(owner, waiter)) {
            Some(&lock) => lock,
            None => {
                let lock = self.locks.len() as u32;
                let protocol = if inherit {
                    Protocol::Inherit
                } else {
                    Protocol::None
                };
                self.locks.push(Lock {
                    name: format!("lock{lock}"),
                    protocol: Some(protocol),
                });
                self.between.insert((owner, waiter), lock);
                lock
            }
        };
        if !self.owns(owner, lock) {
            let steps = &mut self.parts[owner].steps;
            let place = steps
                .iter()
                .rposition(|s| s.at <= from)
                .map_or(0, |i| i + 1);
            let (ran, at) = place
                .checked_sub(1)
                .map_or((Ns(0), Ns(0)), |i| (steps[i].ran, steps[i].at));
            steps.insert(
                place,
                Step {
                    ran,
                    at,
                    event: Event::Lock(lock),
                },
            );
        }
        lock
    }

    /// Whether the program so far has taken the lock and not given it back.
    fn owns(&self, part: usize, lock: u32) -> bool {
        let last = self.parts[part]
            .steps
            .iter()
            .rev()
            .find_map(|s| match s.event {
                Event::Lock(l) | Event::LockTimed { lock: l, .. } if l == lock => Some(true),
                Event::Unlock(l) if l == lock => Some(false),
                _ => None,
            });
        last == Some(true)
    }

    fn semaphore(&mut self, of: usize) -> u32 {
        let next = self.semaphores.len() as u32;
        let semaphore = *self.semaphore_of.entry(of).or_insert(next);
        if semaphore == next {
            self.semaphores
                .push(format!("wake {}", self.parts[of].name));
        }
        semaphore
    }

    /// Those who wait for a lock when the trace ends.
    fn last_waits(&mut self, seen: &Analysis) {
        for waiter in 0..self.parts.len() {
            let t = self.parts[waiter].task;
            if t.state != State::Asleep || t.sleep != Sleep::Lock {
                continue;
            }
            let holder = t
                .raised
                .and_then(|pid| seen.tasks.find(pid))
                .map(|i| seen.tasks.all[i].serial);
            let Some(&owner) = holder.and_then(|serial| self.by_serial.get(&serial)) else {
                continue;
            };
            let (ran, from) = (t.totals.run, t.slept_at);
            let lock = self.taken(owner, waiter, from, true);
            self.push(waiter, ran, from, Event::Lock(lock));
        }
    }

    fn workload(self, seen: &Analysis, file: &str) -> Workload {
        let mut w = Workload::empty(file);
        w.title = format!("What {file} implies");
        w.pi_enabled = true;
        w.duration = Some(Ns(self.length(seen).0 / 1000 * 1000));
        let suspend = w.conditions.len() as u32;
        w.conditions.push("end of the trace".into());
        let mut cpus: Vec<usize> = self.parts.iter().map(|p| p.task.cpu).collect();
        cpus.sort_unstable();
        cpus.dedup();
        for part in &self.parts {
            let t = part.task;
            let cpu = cpus.partition_point(|&c| c < t.cpu) as u32;
            let asked = asked(t.first_base.or(t.base).unwrap_or(120));
            w.tasks.push(program(part, cpu, asked, suspend));
        }
        for renice in &seen.story.renices {
            let Some(&part) = self.by_serial.get(&renice.task) else {
                continue;
            };
            let task = self.parts[part].name.clone();
            let action = match asked(renice.prio).scheduling.policy {
                Policy::Normal => Action::Nice {
                    task,
                    nice: renice.prio - 120,
                },
                policy => Action::Policy {
                    task,
                    policy,
                    priority: Some(asked(renice.prio).priority()),
                },
            };
            w.controls.push(Change {
                at: Ns(renice.at.0 / 1000 * 1000),
                action,
            });
        }
        self.windows(seen, &mut w);
        w.locks = self.locks;
        w.semaphores = self.semaphores;
        w
    }

    fn length(&self, seen: &Analysis) -> Ns {
        seen.recorded(seen.last).max(Ns::from_us(1))
    }

    fn windows(&self, seen: &Analysis, w: &mut Workload) {
        let us = |at: Ns| Ns(seen.recorded(at).0 / 1000 * 1000);
        for (id, record) in seen
            .boosts
            .done
            .iter()
            .filter(|(_, r)| !r.began_before)
            .take(WINDOWS)
        {
            let (from, to) = (us(record.from), us(record.to));
            if from < to {
                w.windows.push(Window {
                    name: format!("boost-{}", id + 1),
                    from,
                    to,
                });
            }
        }
        let first = seen.boosts.done.values().next();
        let holder = first.and_then(|r| self.parts.iter().find(|p| p.task.pid == r.task.pid));
        w.holder = holder.map(|p| p.name.clone());
        if !w.windows.is_empty() {
            let to = w.duration.unwrap_or_default();
            w.windows.insert(
                0,
                Window {
                    name: "all".into(),
                    from: Ns(0),
                    to,
                },
            );
        }
    }
}

/// What a prio asks for. A deadline task becomes the strongest FIFO one.
fn asked(prio: i32) -> Asked {
    match prio {
        100..=139 => Asked::with(Policy::Normal, prio - 120),
        0..=98 => Asked::with(Policy::Fifo, 99 - prio),
        _ => Asked::with(Policy::Fifo, 99),
    }
}

fn program(part: &Part<'_>, cpu: u32, asked: Asked, suspend: u32) -> workload::Task {
    let us = |t: Ns| Ns(t.0 / 1000 * 1000);
    let mut events = Vec::new();
    let mut ran = Ns(0);
    let mut compute = |events: &mut Vec<Event>, to: Ns| {
        // A handed-over lock may have been booked a little before the switch.
        let to = us(to).max(ran);
        if to > ran {
            events.push(Event::Run(to.saturating_sub(ran)));
        }
        ran = to;
    };
    for step in &part.steps {
        compute(&mut events, step.ran);
        match step.event {
            Event::Sleep(length) if us(length) == Ns(0) => {}
            Event::Sleep(length) => events.push(Event::Sleep(us(length))),
            Event::LockTimed { lock, timeout } => {
                events.push(Event::LockTimed {
                    lock,
                    timeout: us(timeout).max(Ns::from_us(1)),
                });
            }
            event => events.push(event),
        }
    }
    let goes_on = matches!(part.task.state, State::Running | State::Waiting);
    if !goes_on {
        compute(&mut events, part.task.totals.run);
        if part.task.state != State::Dead {
            events.push(Event::Suspend(suspend));
        }
    }
    let phase = |name: &str, rounds, events| Phase {
        name: name.into(),
        rounds,
        until: None,
        change: None,
        events,
    };
    let mut phases = Vec::new();
    if !events.is_empty() {
        phases.push(phase("recorded", Some(1), events));
    }
    if goes_on {
        phases.push(phase("goes on", None, vec![Event::Run(Ns::from_ms(1000))]));
    }
    if phases.is_empty() {
        phases.push(phase("nothing", Some(1), vec![Event::Suspend(suspend)]));
    }
    workload::Task {
        name: part.name.clone(),
        instances: 1,
        delay: Ns(0),
        asked: Some(asked),
        cpu: Some(cpu),
        rounds: Some(1),
        phases,
    }
}

fn notices(seen: &Analysis, chosen: &[&Task]) -> Vec<String> {
    let mut out = vec![
        "built from a trace: kernel, HZ and cgroups are not in it; locks nobody waited for are not in it; a task that was runnable at its end computes for ever".to_string(),
    ];
    let all = seen.tasks.listed().filter(|t| t.totals.run > Ns(0)).count();
    if all > chosen.len() {
        let sum = |tasks: &mut dyn Iterator<Item = Ns>| {
            tasks.fold(0u64, |sum, run| sum.saturating_add(run.0))
        };
        let whole = sum(&mut seen.tasks.listed().map(|t| t.totals.run)).max(1);
        let kept = sum(&mut chosen.iter().map(|t| t.totals.run));
        let share = (whole - kept.min(whole)) as f64 * 100.0 / whole as f64;
        out.push(format!(
            "{} further tasks with {share:.1} % of the CPU time are left out",
            all - chosen.len()
        ));
    }
    if seen.story.left_out > 0 {
        out.push(format!(
            "{} sleeps beyond the limit are left out",
            seen.story.left_out
        ));
    }
    let deadline = chosen
        .iter()
        .filter(|t| t.base.is_some_and(|prio| prio < 0))
        .count();
    if deadline > 0 {
        out.push(format!(
            "{deadline} deadline tasks are built as SCHED_FIFO 99"
        ));
    }
    if seen.recorded(seen.last) < seen.last.saturating_sub(seen.first.unwrap_or_default()) {
        out.push("stretches that were not recorded are left out of the time".into());
    }
    out
}
