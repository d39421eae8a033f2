//! `sweep`: a workload over ranges of nice levels, kernels, tick rates and variants; one line a
//! run. The lines come in the order of the parameters, however many cores work on them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;

use super::args::{self, Common, NiceRange, Shard};
use super::compare::or_files_word;
use super::failure::{Failure, say};
use super::grid::{Grid, Point};
use super::progress::Progress;
use super::resume::Lines;
use crate::model::kernel::Kernel;
use crate::model::pi::Variant;
use crate::trace::csv::field;
use crate::trace::report::{Report, TaskShare};
use crate::trace::{self, Run};
use crate::workload::Workload;

/// Run a workload for every combination of parameters; one line of output a run
#[derive(clap::Args)]
#[command(after_help = "Examples:
  reweight-lab sweep patch-test --nice low=-20..19 --nice high=-20..19 --pi reweight -o heat.csv
  reweight-lab sweep patch-test --nice low=0,5,10,15,19 --pi stock --pi reweight --kernel 6.1 --kernel 6.12
  reweight-lab sweep patch-test --nice low=-20..19/3 --format json
  reweight-lab sweep patch-test --nice low=-20..19 --shard 2/4 -o part2.csv
  reweight-lab sweep patch-test --nice low=-20..19 --nice high=-20..19 --pi reweight -o heat.csv --resume

The order is that of kernels, tick rates, variants, then nice levels, the last --nice fastest; it
does not depend on the number of jobs. With -o OUT the lines are collected in OUT.part, which
becomes OUT when all are there; --resume goes on where an interrupted sweep of the same
parameters has stopped. The shards 1/N to N/N, one after the other, are the whole sweep.")]
pub(super) struct Args {
    #[command(flatten)]
    common: Common,
    /// Nice levels of a task: low=-20..19, low=0,5,10 or low=-20..19/3; for each task once
    #[arg(long = "nice", value_name = "TASK=LEVELS", value_parser = args::nice_range, allow_hyphen_values = true)]
    nice: Vec<NiceRange>,
    /// A kernel; may be repeated [default: the file's word, else 6.12]
    #[arg(long, value_parser = args::kernel())]
    kernel: Vec<Kernel>,
    /// A tick rate; may be repeated [default: the file's word, else 1000]
    #[arg(long, value_parser = args::hz())]
    hz: Vec<u32>,
    /// What a PI mutex lends; may be repeated [default: the file's word, else stock]
    #[arg(long, value_parser = args::variant())]
    pi: Vec<Variant>,
    /// Whose share is told [default: the holder, else the first task]
    #[arg(long, value_name = "TASK")]
    task: Option<String>,
    /// In which window [default: boosted, else the first]
    #[arg(long, value_name = "WINDOW")]
    measure: Option<String>,
    /// The format of the lines
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Go on with what an interrupted sweep of the same parameters has left
    #[arg(long, requires = "output")]
    resume: bool,
    /// Only the I-th of N parts
    #[arg(long, value_name = "I/N", value_parser = args::shard)]
    shard: Option<Shard>,
    /// Runs at a time [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    #[default]
    Csv,
    /// JSON, one object a line
    #[value(alias = "jsonl")]
    Json,
}

/// All that a run of the sweep needs to know.
struct Sweep {
    workload: Workload,
    common: Common,
    grid: Grid,
    /// Online CPUs, the same in all runs.
    cpus_online: u32,
    task: String,
    measure: Option<String>,
    format: Format,
}

pub(super) fn run(args: Args) -> Result<(), Failure> {
    let sweep = prepare(&args)?;
    let (first, end) = sweep.grid.part(args.shard);
    let header = sweep.header();
    let mut lines = Lines::open(args.output.as_deref(), args.resume, header.as_deref())?;
    let done = sweep.check_done(&lines, first, end)?;
    lines.go_on()?;
    sweep.run_all(first + done..end, args.jobs, &mut lines)?;
    lines.finish()
}

/// Reads the workload, and finds out whose share is told by running it once.
fn prepare(args: &Args) -> Result<Sweep, Failure> {
    for (i, range) in args.nice.iter().enumerate() {
        if args.nice[..i].iter().any(|r| r.task == range.task) {
            let message = format!("--nice names {} twice", range.task);
            return Err(Failure::Usage(message));
        }
    }
    let workload = args.common.workload()?;
    let grid = Grid {
        kernels: or_files_word(&args.kernel),
        hz: or_files_word(&args.hz),
        variants: or_files_word(&args.pi),
        nice: args.nice.clone(),
    };
    let mut sweep = Sweep {
        workload,
        common: args.common.clone(),
        grid,
        cpus_online: 0,
        task: String::new(),
        measure: args.measure.clone(),
        format: args.format,
    };
    let run = sweep.run(&sweep.grid.point(0))?;
    for notice in &run.report.notices {
        say(&format!("note: {notice}"));
    }
    sweep.cpus_online = run.report.cpus_online;
    let first_task = run.report.tasks.first().map(|t| t.name.clone());
    let task = args.task.clone().or(run.holder.clone()).or(first_task);
    sweep.task = task.unwrap_or_default();
    sweep.share(&run.report)?;
    Ok(sweep)
}

impl Sweep {
    fn run(&self, point: &Point<'_>) -> Result<Run, Failure> {
        let mut workload = self.workload.clone();
        for (task, nice) in &point.nice {
            workload.set_start_nice(task, *nice)?;
        }
        let options = self.common.options(point.kernel, point.hz, point.pi);
        Ok(trace::simulate(workload.build(&options)?, false)?)
    }

    /// The figure of a run: the window's name and ends, and what the task had in it.
    fn share<'r>(&self, report: &'r Report) -> Result<(&'r str, u64, u64, TaskShare), Failure> {
        let window = match &self.measure {
            Some(name) => report.window(name).ok_or_else(|| {
                Failure::Could(format!("{name}: no such window in {}", self.workload.file))
            })?,
            None => report
                .window("boosted")
                .or(report.windows.first())
                .ok_or_else(|| Failure::Could("the run has no window".into()))?,
        };
        let share = window.tasks.get(&self.task).ok_or_else(|| {
            Failure::Could(format!(
                "{}: no such task in {}",
                self.task, self.workload.file
            ))
        })?;
        Ok((&window.name, window.from_ns, window.to_ns, *share))
    }

    fn header(&self) -> Option<String> {
        (self.format == Format::Csv).then(|| {
            let nice = self.grid.nice.iter();
            let nice: String = nice
                .map(|r| field(&format!("nice_{}", r.task)) + ",")
                .collect();
            format!("kernel,hz,cpus_online,pi,{nice}task,window,from_ns,to_ns,cpu_ns,share")
        })
    }

    /// The beginning of a line: its parameters.
    fn parameters(&self, point: &Point<'_>) -> String {
        let kernel = point
            .kernel
            .or(self.workload.kernel)
            .unwrap_or(Kernel::V6_12)
            .name;
        let hz = point.hz.or(self.workload.hz).unwrap_or(1000);
        let pi = point
            .pi
            .or(self.workload.pi)
            .unwrap_or(Variant::Stock)
            .name();
        let cpus = self.cpus_online;
        match self.format {
            Format::Csv => {
                let nice = point.nice.iter().map(|(_, nice)| format!("{nice},"));
                let nice: String = nice.collect();
                format!("{kernel},{hz},{cpus},{pi},{nice}{},", field(&self.task))
            }
            Format::Json => {
                let nice: BTreeMap<&str, i32> = point.nice.iter().copied().collect();
                format!(
                    r#"{{"kernel":{},"hz":{hz},"cpus_online":{cpus},"pi":{},"nice":{},"task":{},"#,
                    serde_json::json!(kernel),
                    serde_json::json!(pi),
                    serde_json::json!(nice),
                    serde_json::json!(self.task),
                )
            }
        }
    }

    /// The whole line of run `index`.
    fn line(&self, index: u64) -> Result<String, Failure> {
        let point = self.grid.point(index);
        let parameters = self.parameters(&point);
        let run = self.run(&point).map_err(|failure| match failure {
            Failure::Could(message) => Failure::Could(format!("run {}: {message}", index + 1)),
            other => other,
        })?;
        let (window, from, to, share) = self.share(&run.report)?;
        Ok(match self.format {
            Format::Csv => format!(
                "{parameters}{},{from},{to},{},{}",
                field(window),
                share.cpu_ns,
                share.share
            ),
            Format::Json => format!(
                r#"{parameters}"window":{},"from_ns":{from},"to_ns":{to},"cpu_ns":{},"share":{}}}"#,
                serde_json::json!(window),
                share.cpu_ns,
                serde_json::json!(share.share)
            ),
        })
    }

    /// How many runs are already there. They must be of this sweep: the parameters of each line
    /// are compared, and the last is made again.
    fn check_done(&self, lines: &Lines, first: u64, end: u64) -> Result<u64, Failure> {
        let done = lines.done();
        for (n, line) in done.iter().enumerate() {
            let index = first + n as u64;
            let same = index < end
                && line.starts_with(&self.parameters(&self.grid.point(index)))
                && (n + 1 < done.len() || *line == self.line(index)?);
            if !same {
                return Err(lines.of_another_sweep(n));
            }
        }
        Ok(done.len() as u64)
    }

    fn run_all(
        &self,
        range: std::ops::Range<u64>,
        jobs: Option<u16>,
        lines: &mut Lines,
    ) -> Result<(), Failure> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let jobs = jobs.map_or(cores, usize::from);
        let mut progress = Progress::new();
        let all = range.end - range.start;
        let next = AtomicU64::new(range.start);
        let stop = AtomicBool::new(false);
        // A few lines wait at most: the workers wait for a slow output, not memory for them.
        let (sender, receiver) = mpsc::sync_channel(4 * jobs);
        std::thread::scope(|scope| {
            for _ in 0..jobs.min(all as usize) {
                let (sender, next, stop) = (sender.clone(), &next, &stop);
                scope.spawn(move || {
                    while !stop.load(Ordering::Relaxed) {
                        let index = next.fetch_add(1, Ordering::Relaxed);
                        if index >= range.end {
                            break;
                        }
                        if sender.send((index, self.line(index))).is_err() {
                            break;
                        }
                    }
                });
            }
            drop(sender);
            let mut early = BTreeMap::new();
            let mut due = range.start;
            let mut outcome = Ok(());
            for (index, line) in &receiver {
                early.insert(index, line);
                while let Some(line) = early.remove(&due) {
                    due += 1;
                    outcome = line.and_then(|line| lines.put(&line));
                    if outcome.is_err() {
                        break;
                    }
                }
                if outcome.is_ok() && early.is_empty() {
                    outcome = lines.flush().map_err(Failure::from);
                }
                if outcome.is_err() {
                    stop.store(true, Ordering::Relaxed);
                    break;
                }
                progress.at(due - range.start, all, "runs");
            }
            // Workers that wait to be heard find nobody, and end.
            drop(receiver);
            outcome
        })
    }
}
