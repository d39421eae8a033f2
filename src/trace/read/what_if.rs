//! Real beside model: the workload a trace implies, run under every variant of priority
//! inheritance.

use std::io::{self, Write};

use serde::Serialize;

use super::analysis::Analysis;
use super::implied;
use super::report::Names;
use crate::model::kernel::Kernel;
use crate::model::pi::Variant;
use crate::trace::simulate;
use crate::workload::{self, Workload};

/// The workload a trace implies, with what the kernel gave its tasks.
///
/// ```
/// # use reweight_lab::model::pi::Variant;
/// # use reweight_lab::trace::{self, read::{Options, read}};
/// # use reweight_lab::workload::{self, Workload, presets};
/// # let text = presets::named("patch-test").ok_or("no such preset")?.text;
/// # let patched = workload::Options { pi: Some(Variant::Reweight), ..workload::Options::default() };
/// # let scenario = Workload::parse(text, "patch-test.json")?.build(&patched)?;
/// # let mut ftrace = Vec::new();
/// # trace::ftrace::write(scenario, &mut ftrace)?;
/// # let options = Options { story: 100_000, ..Options::default() };
/// # let trace = read(&ftrace[..], options)?;
/// let what_if = trace.what_if("trace.txt")?;
/// assert!(what_if.workload.task("low").is_some());
/// let again = Workload::parse(&what_if.workload.to_json(), "implied.json")?;
/// assert_eq!(again.tasks.len(), what_if.workload.tasks.len());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct WhatIf {
    /// Writes itself as rt-app JSON ([`Workload::to_json`]).
    pub workload: Workload,
    /// Per task, in the workload's order.
    pub real: Vec<Beside>,
}

/// What a task got, in the trace or in a run.
///
/// ```
/// # use reweight_lab::model::pi::Variant;
/// # use reweight_lab::trace::{self, read::{Options, read}};
/// # use reweight_lab::workload::{self, Workload, presets};
/// # let text = presets::named("patch-test").ok_or("no such preset")?.text;
/// # let patched = workload::Options { pi: Some(Variant::Reweight), ..workload::Options::default() };
/// # let scenario = Workload::parse(text, "patch-test.json")?.build(&patched)?;
/// # let mut ftrace = Vec::new();
/// # trace::ftrace::write(scenario, &mut ftrace)?;
/// # let options = Options { story: 100_000, ..Options::default() };
/// # let trace = read(&ftrace[..], options)?;
/// let what_if = trace.what_if("trace.txt")?;
/// let low = what_if.real.iter().find(|task| task.name == "low").ok_or("no such task")?;
/// assert!(low.cpu_ns > 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Beside {
    /// The task.
    pub name: String,
    /// Running, ns.
    pub cpu_ns: u64,
    /// Waiting for a lock, ns.
    pub blocked_ns: u64,
}

/// One variant's run of the implied workload.
///
/// ```
/// # use reweight_lab::model::pi::Variant;
/// # use reweight_lab::trace::{self, read::{Options, read}};
/// # use reweight_lab::workload::{self, Workload, presets};
/// # let text = presets::named("patch-test").ok_or("no such preset")?.text;
/// # let patched = workload::Options { pi: Some(Variant::Reweight), ..workload::Options::default() };
/// # let scenario = Workload::parse(text, "patch-test.json")?.build(&patched)?;
/// # let mut ftrace = Vec::new();
/// # trace::ftrace::write(scenario, &mut ftrace)?;
/// # let options = Options { story: 100_000, ..Options::default() };
/// # let trace = read(&ftrace[..], options)?;
/// let what_if = trace.what_if("trace.txt")?;
/// let runs = what_if.run(None, None)?;
/// assert_eq!(runs.len(), Variant::ALL.len());
/// assert!(runs.iter().all(|run| run.tasks.len() == what_if.real.len() && run.gap <= 1.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Serialize)]
pub struct ModelReport {
    /// The variant of priority inheritance.
    pub pi: &'static str,
    /// Per task, in the workload's order.
    pub tasks: Vec<Beside>,
    /// Part of the CPU time that the model gives to other tasks than the kernel did.
    pub gap: f64,
}

impl WhatIf {
    pub(super) fn of(seen: &Analysis, file: &str) -> Result<WhatIf, workload::Error> {
        let names = Names::of(seen);
        let built = implied::of(seen, &names, file)?;
        let task = |serial: &u32| seen.tasks.listed().find(|t| t.serial == *serial);
        let real = built.tasks.iter().filter_map(task).map(|t| Beside {
            name: names.task(t),
            cpu_ns: t.totals.run.0,
            blocked_ns: t.totals.blocked.0,
        });
        Ok(WhatIf {
            real: real.collect(),
            workload: built.workload,
        })
    }

    /// Runs the workload under every variant. `kernel` and `hz` are not in a trace; the defaults
    /// are the model's.
    ///
    /// # Errors
    /// A workload that cannot be built or run, told in one sentence.
    pub fn run(&self, kernel: Option<Kernel>, hz: Option<u32>) -> Result<Vec<ModelReport>, String> {
        Variant::ALL
            .into_iter()
            .map(|pi| self.run_one(kernel, hz, pi))
            .collect()
    }

    fn run_one(
        &self,
        kernel: Option<Kernel>,
        hz: Option<u32>,
        pi: Variant,
    ) -> Result<ModelReport, String> {
        let options = workload::Options {
            kernel,
            hz,
            pi: Some(pi),
            ..workload::Options::default()
        };
        let scenario = self.workload.build(&options).map_err(|e| e.to_string())?;
        let report = simulate(scenario, false).map_err(|e| e.to_string())?.report;
        let tasks: Vec<Beside> = self
            .real
            .iter()
            .map(|real| {
                let told = report.tasks.iter().find(|t| t.name == real.name);
                Beside {
                    name: real.name.clone(),
                    cpu_ns: told.map_or(0, |t| t.cpu_ns),
                    blocked_ns: told.map_or(0, |t| t.blocked_ns),
                }
            })
            .collect();
        Ok(ModelReport {
            pi: pi.name(),
            gap: gap(&self.real, &tasks),
            tasks,
        })
    }

    /// Writes a table of the real run beside the variants'.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_text(&self, models: &[ModelReport], out: &mut impl Write) -> io::Result<()> {
        let width = self
            .real
            .iter()
            .map(|t| t.name.chars().count())
            .max()
            .unwrap_or(0)
            .max(20);
        let mut table = |title: &str, of: fn(&Beside) -> u64| -> io::Result<()> {
            write!(out, "{title:<width$} {:>12}", "real")?;
            for m in models {
                write!(out, " {:>14}", m.pi)?;
            }
            writeln!(out)?;
            for (n, real) in self.real.iter().enumerate() {
                if of(real) == 0 && models.iter().all(|m| of(&m.tasks[n]) == 0) {
                    continue;
                }
                write!(out, "{:<width$} {:>12.3}", real.name, of(real) as f64 / 1e6)?;
                for m in models {
                    write!(out, " {:>14.3}", of(&m.tasks[n]) as f64 / 1e6)?;
                }
                writeln!(out)?;
            }
            writeln!(out)
        };
        table("run ms", |t| t.cpu_ns)?;
        table("blocked ms", |t| t.blocked_ns)?;
        write!(out, "{:<width$} {:>12}", "gap to real, %", "")?;
        for m in models {
            write!(out, " {:>14.2}", m.gap * 100.0)?;
        }
        writeln!(out, "\n")?;
        for notice in &self.workload.notices {
            writeln!(out, "note: {notice}")?;
        }
        Ok(())
    }
}

/// Half the sum of the differences between two distributions of CPU time.
fn gap(real: &[Beside], model: &[Beside]) -> f64 {
    let sum = |tasks: &[Beside]| tasks.iter().map(|t| t.cpu_ns as f64).sum::<f64>().max(1.0);
    let (all, told) = (sum(real), sum(model));
    let differences = real
        .iter()
        .zip(model)
        .map(|(a, b)| (a.cpu_ns as f64 / all - b.cpu_ns as f64 / told).abs());
    differences.sum::<f64>() / 2.0
}
