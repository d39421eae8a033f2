//! A run as Chrome's trace JSON, for ui.perfetto.dev and chrome://tracing.
//!
//! Three processes: the tasks (slices running, waiting, blocked on a lock; boosts as instants;
//! counters of weight and share), the CPUs (who runs) and the locks (who owns). Times are in us
//! with ns behind the point.

use std::io::{self, Write};

use super::stream::{self, Context, WriteError, json_string};
use crate::model::observer::{Event, LockEvent};
use crate::model::task::State;
use crate::model::units::{Ns, TaskId};
use crate::workload::Scenario;

const TASKS: u32 = 1;
const CPUS: u32 = 2;
const LOCKS: u32 = 3;

/// Shares are taken over at least this long: some ticks.
const LEAST_STEP: u64 = 10_000_000;
/// Counters of shares and weights are written for this many tasks at most.
const COUNTED_TASKS: usize = 64;

/// Runs a scenario and writes its trace.
///
/// # Errors
/// Those of the run and of `out`; what was written until then is not whole JSON.
pub fn write(scenario: Scenario, out: &mut dyn Write) -> Result<(), WriteError> {
    let chrome = Chrome {
        first: true,
        tasks: Vec::new(),
        cpus: Vec::new(),
        locks: Vec::new(),
        sampled: Ns(0),
    };
    stream::write(scenario, chrome, out)
}

struct Chrome {
    /// Nothing is written yet: no comma is due.
    first: bool,
    /// What each task does since when; its weight as last told; its CPU time at the last sample.
    tasks: Vec<TaskTrack>,
    /// Who runs since when.
    cpus: Vec<(Option<TaskId>, Ns)>,
    /// Who owns since when.
    locks: Vec<Option<(TaskId, Ns)>>,
    sampled: Ns,
}

struct TaskTrack {
    state: State,
    since: Ns,
    weight: u32,
    ran: u64,
}

/// An instant or a span in us.
struct Us(Ns);

impl std::fmt::Display for Us {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{:03}", self.0.0 / 1000, self.0.0 % 1000)
    }
}

impl Chrome {
    /// One event of the array.
    fn put(&mut self, out: &mut dyn Write, event: &str) -> io::Result<()> {
        let comma = if self.first { "\n" } else { ",\n" };
        self.first = false;
        out.write_all(comma.as_bytes())?;
        out.write_all(event.as_bytes())
    }

    fn name(
        &mut self,
        out: &mut dyn Write,
        what: &str,
        process: u32,
        thread: u32,
        name: &str,
    ) -> io::Result<()> {
        let name = json_string(name);
        self.put(
            out,
            &format!(
                r#"{{"ph":"M","name":"{what}","pid":{process},"tid":{thread},"args":{{"name":{name}}}}}"#
            ),
        )
    }

    fn slice(
        &mut self,
        out: &mut dyn Write,
        place: (u32, u32),
        name: &str,
        from: Ns,
        to: Ns,
    ) -> io::Result<()> {
        if from == to {
            return Ok(());
        }
        let (process, thread) = place;
        let (name, at, span) = (json_string(name), Us(from), Us(to - from));
        self.put(
            out,
            &format!(
                r#"{{"ph":"X","name":{name},"pid":{process},"tid":{thread},"ts":{at},"dur":{span}}}"#
            ),
        )
    }

    fn task_slice(&mut self, context: &mut Context<'_>, task: TaskId) -> io::Result<()> {
        let track = &self.tasks[task.index()];
        let name = match track.state {
            State::Running => "running".to_owned(),
            State::Runnable => "waiting".to_owned(),
            State::Blocked(lock) => format!("blocked on {}", context.names.all().lock(lock)),
            State::Sleeping | State::Ended => return Ok(()),
        };
        let since = track.since;
        let place = (TASKS, task.0);
        self.slice(context.out, place, &name, since, context.machine.now())
    }

    fn cpu_slice(&mut self, context: &mut Context<'_>, cpu: usize) -> io::Result<()> {
        match self.cpus.get(cpu) {
            Some(&(Some(task), since)) => {
                let name = context.names.task(task);
                let place = (CPUS, cpu as u32);
                self.slice(context.out, place, name, since, context.machine.now())
            }
            _ => Ok(()),
        }
    }

    fn lock_slice(&mut self, context: &mut Context<'_>, lock: usize) -> io::Result<()> {
        match self.locks.get(lock) {
            Some(&Some((owner, since))) => {
                let name = context.names.task(owner);
                let place = (LOCKS, lock as u32);
                self.slice(context.out, place, name, since, context.machine.now())
            }
            _ => Ok(()),
        }
    }

    /// Tells a task's weight if it is another than before.
    fn weight(&mut self, context: &mut Context<'_>, task: TaskId) -> io::Result<()> {
        let weight = context.machine.task(task).weight();
        let at = Us(context.machine.now());
        let counted = task.index() < COUNTED_TASKS;
        match self.tasks.get_mut(task.index()) {
            Some(track) if counted && track.weight != weight => track.weight = weight,
            _ => return Ok(()),
        }
        let name = json_string(&format!("weight {}", context.names.task(task)));
        self.put(
            context.out,
            &format!(
                r#"{{"ph":"C","name":{name},"pid":{TASKS},"ts":{at},"args":{{"weight":{weight}}}}}"#
            ),
        )
    }

    fn instant(&mut self, context: &mut Context<'_>, task: TaskId, name: &str) -> io::Result<()> {
        let (name, at) = (json_string(name), Us(context.machine.now()));
        self.put(
            context.out,
            &format!(
                r#"{{"ph":"i","s":"t","name":{name},"pid":{TASKS},"tid":{},"ts":{at}}}"#,
                task.0
            ),
        )
    }
}

impl stream::Format for Chrome {
    fn begin(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        write!(
            context.out,
            "{{\"displayTimeUnit\":\"ms\",\"traceEvents\":["
        )?;
        for (process, name) in [(TASKS, "tasks"), (CPUS, "CPUs"), (LOCKS, "locks")] {
            self.name(context.out, "process_name", process, 0, name)?;
        }
        for cpu in 0..context.machine.cpus() {
            self.name(context.out, "thread_name", CPUS, cpu, &format!("CPU{cpu}"))?;
        }
        for (lock, name) in context.names.all().locks().iter().enumerate() {
            self.name(context.out, "thread_name", LOCKS, lock as u32, name)?;
        }
        Ok(())
    }

    fn event(&mut self, context: &mut Context<'_>, event: &Event) -> io::Result<()> {
        let now = context.machine.now();
        match *event {
            Event::Spawn { task, .. } => {
                self.tasks.push(TaskTrack {
                    state: State::Sleeping,
                    since: now,
                    weight: 0,
                    ran: 0,
                });
                let name = context.names.task(task);
                self.name(context.out, "thread_name", TASKS, task.0, name)?;
                self.weight(context, task)
            }
            Event::State { task, state } => {
                self.task_slice(context, task)?;
                let track = &mut self.tasks[task.index()];
                (track.state, track.since) = (state, now);
                Ok(())
            }
            Event::Switch { cpu, next, .. } => {
                self.cpu_slice(context, cpu.index())?;
                if self.cpus.len() <= cpu.index() {
                    self.cpus.resize(cpu.index() + 1, (None, Ns(0)));
                }
                self.cpus[cpu.index()] = (next, now);
                Ok(())
            }
            Event::SetPrio {
                task,
                donor,
                old_prio,
                prio,
                ..
            } => {
                let what = if prio < old_prio { "boost" } else { "deboost" };
                let by = donor.map_or(String::new(), |d| {
                    format!(", lent by {}", context.names.task(d))
                });
                let text = format!("{what}: prio {old_prio} -> {prio}{by}");
                self.instant(context, task, &text)?;
                self.weight(context, task)
            }
            Event::Nice { task, old, nice } => {
                self.instant(context, task, &format!("nice {old} -> {nice}"))?;
                self.weight(context, task)
            }
            Event::Scheduler { task, scheduling } => {
                self.instant(context, task, scheduling.policy.name())?;
                self.weight(context, task)
            }
            Event::Lock { lock, task, what } => {
                let owner = match what {
                    LockEvent::Acquired => Some((task, now)),
                    LockEvent::Released { .. } | LockEvent::OwnerDied { .. } => None,
                    LockEvent::TimedOut => {
                        let name = context.names.all().lock(lock).to_owned();
                        return self.instant(context, task, &format!("gave up waiting for {name}"));
                    }
                    LockEvent::Interrupted => {
                        let name = context.names.all().lock(lock).to_owned();
                        let text = format!("a signal: waits for {name} anew");
                        return self.instant(context, task, &text);
                    }
                    _ => return Ok(()),
                };
                self.lock_slice(context, lock.index())?;
                if self.locks.len() <= lock.index() {
                    self.locks.resize(lock.index() + 1, None);
                }
                self.locks[lock.index()] = owner;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn sample(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        let now = context.machine.now();
        let span = now.saturating_sub(self.sampled).0;
        let at = Us(self.sampled);
        for t in 0..self.tasks.len().min(COUNTED_TASKS) {
            let ran = context.machine.cpu_time(TaskId(t as u32)).0;
            let had = u128::from(ran - self.tasks[t].ran);
            self.tasks[t].ran = ran;
            let hundredths = (had * 10_000 / u128::from(span.max(1))) as u64;
            let name = json_string(&format!("share {}", context.names.tasks()[t]));
            let percent = format!("{}.{:02}", hundredths / 100, hundredths % 100);
            self.put(
                context.out,
                &format!(
                    r#"{{"ph":"C","name":{name},"pid":{TASKS},"ts":{at},"args":{{"percent":{percent}}}}}"#
                ),
            )?;
        }
        self.sampled = now;
        Ok(())
    }

    fn step(&self, duration: Ns) -> Ns {
        Ns((duration.0 / 1000).max(LEAST_STEP))
    }

    fn end(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        for t in 0..self.tasks.len() {
            self.task_slice(context, TaskId(t as u32))?;
        }
        for cpu in 0..self.cpus.len() {
            self.cpu_slice(context, cpu)?;
        }
        for lock in 0..self.locks.len() {
            self.lock_slice(context, lock)?;
        }
        write!(context.out, "\n]}}\n")
    }
}
