//! `simulate`: one run, in any format.

use std::io::Write;

use super::args::{self, Common};
use super::failure::{Failure, say};
use super::output::Output;
use super::progress::Progress;
use super::text;
use crate::model::kernel::Kernel;
use crate::model::pi::Variant;
use crate::model::units::Ns;
use crate::trace::{self, Run, Watching};
use crate::workload::{Options, Scenario, Workload};

/// Run a workload and tell who got how much of the CPU
#[derive(clap::Args)]
#[command(after_help = "Examples:
  reweight-lab simulate patch-test
  reweight-lab simulate patch-test --pi reweight --format json
  reweight-lab simulate mine.json --kernel 6.1 --hz 250 --duration 10s
  reweight-lab simulate mine.json --window late=5s..10s --format csv -o shares.csv
  reweight-lab simulate patch-test --format ftrace -o trace.txt
  reweight-lab presets patch-test | reweight-lab simulate -

Formats: text for people; json (stable, see docs/format.md); csv, one line for each task and
window; ftrace, text that Perfetto and trace-cmd users know; chrome, JSON for
ui.perfetto.dev and chrome://tracing; timehist, as perf sched timehist prints.")]
pub(super) struct Args {
    #[command(flatten)]
    common: Common,
    /// The kernel [default: the file's word, else 6.12]
    #[arg(long, value_parser = args::kernel())]
    kernel: Option<Kernel>,
    /// Ticks a second [default: the file's word, else 1000]
    #[arg(long, value_parser = args::hz())]
    hz: Option<u32>,
    /// What a PI mutex lends [default: the file's word, else stock]
    #[arg(long, value_parser = args::variant())]
    pi: Option<Variant>,
    /// The format of the output
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    target: args::Target,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    #[default]
    Text,
    Json,
    Csv,
    Ftrace,
    Chrome,
    Timehist,
}

pub(super) fn run(args: Args) -> Result<(), Failure> {
    let workload = args.common.workload()?;
    let options = args.common.options(args.kernel, args.hz, args.pi);
    let scenario = workload.build(&options)?;
    let mut out = args.target.open()?;
    match args.format {
        Format::Text | Format::Json | Format::Csv => {
            let run = run_scenario(scenario)?;
            report(&workload, &run, args.format, &mut out)?;
        }
        Format::Ftrace | Format::Chrome | Format::Timehist => {
            for notice in &scenario.notices {
                say(&format!("note: {notice}"));
            }
            match args.format {
                Format::Ftrace => trace::ftrace::write(scenario, &mut out)?,
                Format::Chrome => trace::chrome::write(scenario, &mut out)?,
                _ => trace::timehist::write(scenario, &mut out)?,
            }
        }
    }
    out.finish()
}

/// Runs a scenario to its end, with progress for who waits.
pub(super) fn run_scenario(scenario: Scenario) -> Result<Run, Failure> {
    let mut progress = Progress::new();
    let all = scenario.duration.0 / 1_000_000_000;
    let on = progress.is_on();
    let mut at = |now: Ns| progress.at(now.0 / 1_000_000_000, all, "s simulated");
    let watching = Watching {
        recording: None,
        progress: if on { Some(&mut at) } else { None },
    };
    Ok(trace::simulate_watching(scenario, watching)?)
}

/// Builds and runs a workload quietly.
pub(super) fn run_quietly(workload: &Workload, options: &Options) -> Result<Run, Failure> {
    Ok(trace::simulate(workload.build(options)?, false)?)
}

fn report(workload: &Workload, run: &Run, format: Format, out: &mut Output) -> Result<(), Failure> {
    match format {
        Format::Json => json(&run.report, out)?,
        Format::Csv => {
            for notice in &run.report.notices {
                say(&format!("note: {notice}"));
            }
            trace::csv::write([&run.report], out)?;
        }
        _ => {
            let told = text::Told {
                report: &run.report,
                holder: run.holder.as_deref(),
                made: None,
            };
            let colour = out.colour();
            out.write_all(text::one(&workload.title, &told, colour).as_bytes())?;
        }
    }
    Ok(())
}

/// Pretty JSON with a newline at the end.
pub(super) fn json(value: &impl serde::Serialize, out: &mut Output) -> Result<(), Failure> {
    serde_json::to_writer_pretty(&mut *out, value).map_err(std::io::Error::from)?;
    writeln!(out)?;
    Ok(())
}
