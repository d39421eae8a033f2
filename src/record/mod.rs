//! The same workload on this machine's kernel: real threads, real futexes, real clocks (Linux).
//!
//! The programs are those the model runs, step by step; only who schedules them differs. So the
//! report has the model's shape, and the two can be laid side by side. What the kernel does not
//! grant or this machine does not have is a notice, and the rest goes on.
//!
//! * `plan`: what is to be run; `run`: the thread that measures; `worker`: the others;
//! * `thread`: a thread's books; `shared`: what they have in common;
//! * `mutex`, `queue`: what they wait on; `clock`: how they compute;
//! * `rights`, `sys`, `proc`, `tracefs`: the kernel's side;
//! * `report`: what it came to.
//!
//! Not here: switching the variant of priority inheritance, which a kernel cannot do.
//! `docs/cli.md` says what is measured how.

mod clock;
mod mutex;
mod plan;
mod proc;
mod queue;
mod report;
mod rights;
mod run;
mod shared;
mod sys;
mod thread;
mod tracefs;
mod worker;

use std::fmt;
use std::sync::atomic::AtomicBool;

pub use report::{Figures, MachineReport, RecordReport};

use crate::model::units::Ns;
use crate::trace::Seconds;
use crate::workload::Scenario;

/// Threads that are started at most, forked ones included.
pub const MAX_THREADS: usize = 1000;

/// How to record.
///
/// ```no_run
/// # use reweight_lab::record::{self, record};
/// # use reweight_lab::workload::{self, Workload};
/// # let text = r#"{ "tasks": { "a": { "loop": 1, "run": 1000 } }, "lab": { "duration": 20000 } }"#;
/// # let scenario = Workload::parse(text, "mine.json")?.build(&workload::Options::default())?;
/// // CPU3 of this machine stands for CPU0 of the workload.
/// let options = record::Options { cpus: vec![3], ..record::Options::default() };
/// let recorded = record(scenario, options)?;
/// assert_eq!(recorded.report.machine.cpus, [3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Default)]
pub struct Options<'a> {
    /// The machine's CPUs that stand for CPU0, CPU1, ... of the workload; empty: the same ones.
    pub cpus: Vec<usize>,
    /// Without the kernel's own text of the run there is no use in it.
    pub needs_trace: bool,
    /// Set by whoever wants the run to end early.
    pub interrupted: Option<&'a AtomicBool>,
    /// Called now and then with the instant reached and the length of the run.
    pub progress: Option<&'a mut dyn FnMut(Ns, Ns)>,
}

/// A run that has ended.
///
/// ```no_run
/// # use reweight_lab::record::{self, record};
/// # use reweight_lab::workload::{self, Workload};
/// # let text = r#"{ "tasks": { "a": { "loop": 1, "run": 1000 } }, "lab": { "duration": 20000 } }"#;
/// # let scenario = Workload::parse(text, "mine.json")?.build(&workload::Options::default())?;
/// let recorded = record(scenario, record::Options::default())?;
/// println!("{:?} had {:?}", recorded.holder, recorded.report.report.windows[0].tasks);
/// if let Err(why) = &recorded.trace {
///     println!("without the kernel's own text: {why}");
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Recorded {
    /// The figures.
    pub report: RecordReport,
    /// Whose share is told: the file's holder, else the first task that was blocked upon.
    pub holder: Option<String>,
    /// The kernel's own text of the run, or why there is none.
    pub trace: Result<Vec<u8>, String>,
}

/// Why nothing was recorded.
///
/// ```
/// # use reweight_lab::record::{self, record};
/// # use reweight_lab::workload::{self, Workload};
/// # let text = r#"{ "tasks": { "a": { "loop": 1, "run": 1000 } }, "lab": { "duration": 20000 } }"#;
/// # let scenario = Workload::parse(text, "mine.json")?.build(&workload::Options::default())?;
/// // One CPU more than any machine has.
/// let options = record::Options { cpus: vec![usize::MAX], ..record::Options::default() };
/// let error = record(scenario, options).unwrap_err();
/// assert!(matches!(error, record::Error::NoCpu(usize::MAX, _)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// More tasks than [`MAX_THREADS`].
    TooManyThreads(usize),
    /// The system gave no thread.
    NoThread(String, String),
    /// A CPU that is not there, or not for this process; those that are.
    NoCpu(usize, String),
    /// So many CPUs are needed, so many were named.
    TooFewCpus(usize, usize),
    /// Tracefs is needed and cannot be used: why.
    NoTrace(String),
    /// The file sends signals, and the system takes no handler for them: why.
    NoHandler(String),
    /// Somebody had enough.
    Interrupted(Ns),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::TooManyThreads(found) => write!(
                f,
                "the workload has {found} tasks: expected {MAX_THREADS} threads at most (simulate has room for more)"
            ),
            Error::NoThread(task, why) => write!(f, "no thread for task {task}: {why}"),
            Error::NoCpu(cpu, there) => write!(
                f,
                "CPU{cpu} is not there for this process: expected one of {there} (--cpu chooses)"
            ),
            Error::TooFewCpus(needed, named) => write!(
                f,
                "the workload uses {needed} CPUs: expected as many in --cpu, found {named}"
            ),
            Error::NoTrace(why) => {
                write!(f, "ftrace text needs tracefs, which cannot be used: {why}")
            }
            Error::NoHandler(why) => write!(
                f,
                "the file sends signals, for which the system takes no handler: {why}"
            ),
            Error::Interrupted(at) => {
                write!(f, "interrupted after {} s; nothing is told", Seconds(*at))
            }
        }
    }
}

impl std::error::Error for Error {}

/// Runs a scenario on this kernel. Lasts as long as the scenario does.
///
/// The calling thread becomes the one that measures, for the time of the run. A thread of the
/// workload that hangs on a lock for ever is left behind; it ends with the process.
///
/// # Errors
/// See [`Error`].
pub fn record(scenario: Scenario, mut options: Options<'_>) -> Result<Recorded, Error> {
    let mut plan = plan::Plan::new(scenario);
    let cpus = cpus(&plan, &options.cpus)?;
    let measured = run::run(&mut plan, cpus, &mut options)?;
    Ok(report::assemble(plan, measured))
}

/// The machine's CPUs for the workload's.
fn cpus(plan: &plan::Plan, asked: &[usize]) -> Result<Vec<usize>, Error> {
    let named = |spec: &crate::model::task::TaskSpec| spec.cpu.map_or(0, |c| c.index());
    let specs = plan.tasks.iter().chain(&plan.templates);
    let needed = specs.map(named).max().unwrap_or(0) + 1;
    let cpus: Vec<usize> = if asked.is_empty() {
        (0..needed).collect()
    } else {
        asked.to_vec()
    };
    if cpus.len() < needed {
        return Err(Error::TooFewCpus(needed, cpus.len()));
    }
    let cpus = cpus[..needed].to_vec();
    if let Ok(there) = rustix::thread::sched_getaffinity(None) {
        let all = rustix::thread::CpuSet::MAX_CPU;
        let is_there = |cpu: usize| cpu < all && there.is_set(cpu);
        if let Some(&absent) = cpus.iter().find(|&&cpu| !is_there(cpu)) {
            let list: Vec<String> = (0..all)
                .filter(|&c| is_there(c))
                .map(|c| c.to_string())
                .collect();
            return Err(Error::NoCpu(absent, list.join(", ")));
        }
    }
    Ok(cpus)
}
