//! A run as `perf sched timehist` tells one: a line each time a task leaves a CPU, then a summary.
//!
//! `wait time` is how long the task had been off the CPU, whatever for; `sch delay` the part of it
//! between its wakeup and its turn (a preempted task has none); `run time` how long it then ran.
//! All in msec. Task n has tid 1000 + n.

use std::io::{self, Write};

use super::stream::{self, Context, WriteError, comm, pid};
use crate::model::observer::Event;
use crate::model::units::{CpuId, Ns, TaskId};
use crate::workload::Scenario;

/// Runs a scenario and writes its history.
///
/// # Errors
/// Those of the run and of `out`.
pub fn write(scenario: Scenario, out: &mut dyn Write) -> Result<(), WriteError> {
    stream::write(scenario, Timehist::default(), out)
}

#[derive(Default)]
struct Timehist {
    tasks: Vec<History>,
    /// Of each CPU: since when it is idle, and how long it was before.
    idle: Vec<Idle>,
    switches: u64,
}

#[derive(Clone, Copy, Default)]
struct Idle {
    since: Option<Ns>,
    total: u64,
}

#[derive(Clone, Copy, Default)]
struct History {
    parent: Option<TaskId>,
    /// When it last left a CPU, was woken, and came to run.
    left: Option<Ns>,
    woken: Option<Ns>,
    since: Option<Ns>,
    runs: Runs,
}

/// Count, sum, sum of squares and extremes of run times in ns.
#[derive(Clone, Copy, Default)]
struct Runs {
    count: u64,
    total: u64,
    squares: u128,
    least: u64,
    most: u64,
}

impl Runs {
    fn add(&mut self, ns: u64) {
        self.least = if self.count == 0 {
            ns
        } else {
            self.least.min(ns)
        };
        self.most = self.most.max(ns);
        self.count += 1;
        self.total += ns;
        self.squares += u128::from(ns) * u128::from(ns);
    }

    /// The standard deviation of the mean, in hundredths of a percent of the mean. For a mean m
    /// of n values it is sqrt(sum((x - m)^2) / (n - 1) / n) / m, here without fractions.
    fn deviation(&self) -> u64 {
        let n = u128::from(self.count);
        let total = u128::from(self.total);
        if n < 2 || total == 0 {
            return 0;
        }
        // n times the sum of squared deviations.
        let spread = (n * self.squares).saturating_sub(total * total);
        let variance_of_sum = spread / (n - 1);
        (variance_of_sum.saturating_mul(100_000_000).isqrt() / total) as u64
    }
}

struct Msec(u64);

impl std::fmt::Display for Msec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = format!("{}.{:03}", self.0 / 1_000_000, self.0 / 1000 % 1000);
        f.pad_integral(true, "", &text)
    }
}

/// An instant as perf prints it: seconds with microseconds.
fn stamp(at: Ns) -> String {
    format!("{}.{:06}", at.0 / 1_000_000_000, at.0 / 1000 % 1_000_000)
}

impl Timehist {
    fn leaves(
        &mut self,
        context: &mut Context<'_>,
        cpu: CpuId,
        task: Option<TaskId>,
    ) -> io::Result<()> {
        let now = context.machine.now();
        let (name, wait, delay, run) = match task {
            Some(t) => {
                let history = &mut self.tasks[t.index()];
                let since = history.since.take().unwrap_or(now);
                let wait = history.left.map_or(0, |left| (since - left).0);
                let delay = history.woken.take().map_or(0, |woken| (since - woken).0);
                history.left = Some(now);
                let run = (now - since).0;
                history.runs.add(run);
                let name = format!("{}[{}]", comm(context.names.task(t)), pid(t));
                (name, wait, delay, run)
            }
            None => {
                let idle = &mut self.idle[cpu.index()];
                let run = idle.since.take().map_or(0, |since| (now - since).0);
                idle.total += run;
                ("<idle>".to_owned(), 0, 0, run)
            }
        };
        writeln!(
            context.out,
            "{:>15} [{:04}]  {name:<30}  {:>9}  {:>9}  {:>9}",
            stamp(now),
            cpu.0,
            Msec(wait),
            Msec(delay),
            Msec(run)
        )
    }
}

impl stream::Format for Timehist {
    fn begin(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        let idle = Idle {
            since: Some(Ns(0)),
            total: 0,
        };
        self.idle = vec![idle; context.machine.cpus() as usize];
        let dash = |n: usize| "-".repeat(n);
        writeln!(
            context.out,
            "{:>15} {:>6}  {:<30}  {:>9}  {:>9}  {:>9}",
            "time", "cpu", "task name", "wait time", "sch delay", "run time"
        )?;
        writeln!(
            context.out,
            "{:>15} {:>6}  {:<30}  {:>9}  {:>9}  {:>9}",
            "", "", "[tid]", "(msec)", "(msec)", "(msec)"
        )?;
        writeln!(
            context.out,
            "{} {}  {}  {}  {}  {}",
            dash(15),
            dash(6),
            dash(30),
            dash(9),
            dash(9),
            dash(9)
        )
    }

    fn event(&mut self, context: &mut Context<'_>, event: &Event) -> io::Result<()> {
        let now = context.machine.now();
        match *event {
            Event::Spawn { task, parent, .. } => {
                debug_assert_eq!(task.index(), self.tasks.len());
                self.tasks.push(History {
                    parent,
                    ..History::default()
                });
            }
            Event::Wakeup { task, .. } => self.tasks[task.index()].woken = Some(now),
            Event::Switch { cpu, prev, next } => {
                self.switches += 1;
                if prev.is_some() || now > Ns(0) {
                    self.leaves(context, cpu, prev)?;
                } else {
                    // At time zero nobody leaves: the run only begins.
                    self.idle[cpu.index()].since = None;
                }
                match next {
                    Some(t) => self.tasks[t.index()].since = Some(now),
                    None => self.idle[cpu.index()].since = Some(now),
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        let now = context.machine.now();
        // Who runs at the end is cut there, without a line: it has not left.
        for history in &mut self.tasks {
            if let Some(since) = history.since.take() {
                history.runs.add((now - since).0);
            }
        }
        for idle in &mut self.idle {
            if let Some(since) = idle.since.take() {
                idle.total += (now - since).0;
            }
        }
        writeln!(context.out, "\nRuntime summary")?;
        writeln!(
            context.out,
            "{:>30} {:>7} {:>9} {:>12} {:>10} {:>10} {:>10} {:>7} {:>10}",
            "comm",
            "parent",
            "sched-in",
            "run-time",
            "min-run",
            "avg-run",
            "max-run",
            "stddev",
            "migrations"
        )?;
        writeln!(
            context.out,
            "{:>30} {:>7} {:>9} {:>12} {:>10} {:>10} {:>10} {:>7}",
            "", "", "(count)", "(msec)", "(msec)", "(msec)", "(msec)", "%"
        )?;
        writeln!(context.out, "{}", "-".repeat(113))?;
        let mut total = 0;
        for (t, history) in self.tasks.iter().enumerate() {
            let task = TaskId(t as u32);
            let runs = &history.runs;
            total += runs.total;
            let name = format!("{}[{}]", comm(context.names.task(task)), pid(task));
            let parent = history
                .parent
                .map_or("-1".to_owned(), |p| pid(p).to_string());
            let deviation = runs.deviation();
            writeln!(
                context.out,
                "{name:>30} {parent:>7} {:>9} {:>12} {:>10} {:>10} {:>10} {:>7} {:>10}",
                runs.count,
                Msec(runs.total),
                Msec(runs.least),
                Msec(runs.total / runs.count.max(1)),
                Msec(runs.most),
                format!("{}.{:02}", deviation / 100, deviation % 100),
                0
            )?;
        }
        writeln!(context.out, "\nIdle stats:")?;
        for (cpu, idle) in self.idle.iter().enumerate() {
            let hundredths = u128::from(idle.total) * 10_000 / u128::from(now.0.max(1));
            writeln!(
                context.out,
                "    CPU {cpu:>2} idle for {:>12}  msec  ({:>3}.{:02}%)",
                Msec(idle.total),
                hundredths / 100,
                hundredths % 100
            )?;
        }
        writeln!(
            context.out,
            "\n    Total number of unique tasks: {}",
            self.tasks.len()
        )?;
        writeln!(
            context.out,
            "Total number of context switches: {}",
            self.switches
        )?;
        writeln!(
            context.out,
            "           Total run time (msec): {:>12}",
            Msec(total)
        )?;
        writeln!(
            context.out,
            "    Total scheduling time (msec): {:>12} (x {})",
            Msec(now.0),
            self.idle.len()
        )
    }
}
