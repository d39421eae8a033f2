//! From a scenario to a run: the machine goes from one window's end to the next, the books are
//! read there, and the report is written from them.

use std::fmt;

use super::recording::Recording;
use super::report::{FORMAT, Report, Shares, TaskReport, TaskShare, WindowReport};
use super::tally::{Boost, FIGURES, Refused, Tally};
use crate::model::machine::{Machine, Stalled};
use crate::model::observer::{Event, Observer, Refusal};
use crate::model::units::{Ns, TaskId};
use crate::workload::{Names, Scenario, Window};

/// A run that has ended, with its report and, if asked for, its recording.
///
/// ```
/// use reweight_lab::model::pi::Variant;
/// use reweight_lab::trace;
/// use reweight_lab::workload::{Options, Workload, presets};
/// let text = presets::named("patch-test").ok_or("no such preset")?.text;
/// let workload = Workload::parse(text, "patch-test.json")?;
/// let share = |pi| -> Result<f64, Box<dyn std::error::Error>> {
///     let options = Options { pi: Some(pi), ..Options::default() };
///     let run = trace::simulate(workload.build(&options)?, false)?;
///     assert_eq!(run.holder.as_deref(), Some("low"));
///     let boosted = run.report.window("boosted").ok_or("never boosted")?;
///     Ok(boosted.tasks.get("low").ok_or("no such task")?.share)
/// };
/// assert!((share(Variant::Stock)? - 0.097).abs() < 0.001);
/// assert!((share(Variant::Reweight)? - 0.5).abs() < 0.001);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Run {
    /// The figures.
    pub report: Report,
    /// What happened, if it was to be recorded.
    pub recording: Option<Recording>,
    /// The machine at the end of the run.
    pub machine: Machine,
    /// The names of its tasks and locks.
    pub names: Names,
    /// The windows of the report. Without any in the scenario: `all`, and `boosted` if there was
    /// a boost.
    pub windows: Vec<Window>,
    /// Whose share is told: the scenario's holder, else the first task that was boosted.
    pub holder: Option<String>,
    /// The first boost (of the holder, if the scenario names one).
    pub boost: Option<Boost>,
}

/// Why a run could not be finished.
///
/// ```
/// use reweight_lab::trace::{Error, simulate};
/// use reweight_lab::workload::{Options, Workload};
/// // It yields for ever and computes nothing.
/// let text = r#"{ "tasks": { "busy": { "loop": -1, "yield": "" } }, "lab": { "duration": 1000 } }"#;
/// let scenario = Workload::parse(text, "mine.json")?.build(&Options::default())?;
/// let error = simulate(scenario, false).unwrap_err();
/// assert!(matches!(&error, Error::Stalled { task: Some(task), .. } if task == "busy"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// A task makes no progress.
    Stalled {
        /// When it was given up.
        at: Ns,
        /// Which task.
        task: Option<String>,
    },
    /// Windows times tasks are more than [`FIGURES`].
    TooManyFigures,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Stalled { at, task } => write!(
                f,
                "at {} s {} does step after step without time going on: expected a loop that runs or sleeps",
                Seconds(*at),
                task.as_deref().unwrap_or("the machine"),
            ),
            Error::TooManyFigures => write!(
                f,
                "too many windows for so many tasks: windows times tasks can be {FIGURES} at most"
            ),
        }
    }
}

impl std::error::Error for Error {}

/// An instant in seconds with nine decimals.
pub(crate) struct Seconds(pub Ns);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}.{:09}",
            self.0.0 / 1_000_000_000,
            self.0.0 % 1_000_000_000
        )
    }
}

impl Error {
    /// The error of a machine that stalled.
    pub fn of(stalled: Stalled, machine: &Machine, names: &Names) -> Error {
        Error::Stalled {
            at: stalled.at,
            task: stalled.task.map(|t| names.task(machine, t)),
        }
    }
}

/// How to run.
///
/// ```
/// use reweight_lab::model::units::Ns;
/// use reweight_lab::trace::{Recording, Watching, simulate_watching};
/// use reweight_lab::workload::{Options, Workload};
/// let text = r#"{ "tasks": { "a": { "run": 1000 } }, "lab": { "duration": 50000 } }"#;
/// let scenario = Workload::parse(text, "mine.json")?.build(&Options::default())?;
/// let mut reached = Ns(0);
/// let watching = Watching {
///     recording: Some(Recording::new(1 << 20)),
///     progress: Some(&mut |at| reached = at),
/// };
/// simulate_watching(scenario, watching)?;
/// assert_eq!(reached, Ns::from_ms(50));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Default)]
pub struct Watching<'a> {
    /// Record everything into this.
    pub recording: Option<Recording>,
    /// Called now and then with the instant reached.
    pub progress: Option<&'a mut dyn FnMut(Ns)>,
}

/// Parts of a run between two calls of `progress`.
const PROGRESS_PARTS: u64 = 1000;

/// The books and the recording behind one observer.
struct Watch {
    tally: Tally,
    recording: Option<Recording>,
}

impl Observer for Watch {
    fn event(&mut self, machine: &Machine, event: &Event) {
        self.tally.event(machine, event);
        if let Some(recording) = &mut self.recording {
            recording.event(machine, event);
        }
    }

    fn wants_decisions(&self) -> bool {
        self.recording.is_some()
    }
}

/// Runs a scenario to its end; with `record` its [`Recording`] is kept (of the default size).
///
/// # Errors
/// When a task makes no progress, or there are more than [`FIGURES`] to keep.
pub fn simulate(scenario: Scenario, record: bool) -> Result<Run, Error> {
    simulate_watching(
        scenario,
        Watching {
            recording: record.then(Recording::default),
            progress: None,
        },
    )
}

/// Runs a scenario to its end.
///
/// # Errors
/// When a task makes no progress, or there are more than [`FIGURES`] to keep.
pub fn simulate_watching(scenario: Scenario, watching: Watching<'_>) -> Result<Run, Error> {
    let Scenario {
        mut machine,
        names,
        mut windows,
        duration,
        holder,
        notices,
        windows_given,
    } = scenario;
    let settings = *machine.settings();
    let mut watch = Watch {
        tally: Tally::new(),
        recording: watching.recording,
    };
    let wanted = holder.as_deref().and_then(|name| names.find_task(name));
    let by_default = !windows_given;
    for window in &mut windows {
        window.to = window.to.min(duration);
        window.from = window.from.min(window.to);
    }
    watch
        .tally
        .want_boost(wanted, by_default.then_some(windows.len()));

    let mut progress = watching.progress;
    let part = progress
        .as_ref()
        .map(|_| (duration.0 / PROGRESS_PARTS).max(1));
    for at in boundaries(&windows, duration) {
        while machine.now() < at {
            let until = part.map_or(at, |p| at.min(machine.now().saturating_add(Ns(p))));
            machine
                .run_until(until, &mut watch)
                .map_err(|stalled| Error::of(stalled, &machine, &names))?;
            if let Some(progress) = &mut progress {
                progress(until);
            }
            if watch.tally.overflowed() {
                return Err(Error::TooManyFigures);
            }
        }
        for (index, window) in windows.iter().enumerate() {
            if window.from == at {
                watch.tally.open(&machine, index);
            }
            if window.to == at {
                watch.tally.close(&machine, index);
            }
        }
    }
    watch.tally.finish(&machine);

    let boost = watch.tally.boost();
    if by_default && let Some(boost) = boost {
        windows.push(Window {
            name: "boosted".into(),
            from: boost.from,
            to: boost.to.unwrap_or(duration),
        });
    }
    let task_names = unique_names(&machine, &names);
    let holder = holder.or_else(|| boost.map(|b| task_names[b.task.index()].clone()));
    let mut all_notices = notices;
    all_notices.extend(refusals(&watch.tally, &task_names, &names));
    let report = Report {
        format: FORMAT,
        kernel: settings.kernel.name.into(),
        hz: settings.hz,
        cpus_online: settings.cpus_online,
        pi: settings.pi.name().into(),
        duration_ns: duration.0,
        switches: machine.switches(),
        decisions: machine.decisions(),
        tasks: tasks(&machine, &watch.tally, &task_names),
        windows: window_reports(&machine, &watch.tally, &windows, &task_names),
        notices: all_notices,
    };
    Ok(Run {
        report,
        recording: watch.recording,
        machine,
        names,
        windows,
        holder,
        boost,
    })
}

/// The instants at which a window opens or closes, and the end, in order.
fn boundaries(windows: &[Window], duration: Ns) -> Vec<Ns> {
    let mut instants: Vec<Ns> = windows.iter().flat_map(|w| [w.from, w.to]).collect();
    instants.push(duration);
    instants.sort();
    instants.dedup();
    instants
}

/// The names of all tasks by id. A name met before gets a number, so that the JSON's objects
/// have no key twice.
pub fn unique_names(machine: &Machine, names: &Names) -> Vec<String> {
    let mut seen = std::collections::HashMap::new();
    names
        .all_tasks(machine)
        .into_iter()
        .map(|name| {
            let times = seen.entry(name.clone()).or_insert(0u32);
            *times += 1;
            if *times == 1 {
                name
            } else {
                format!("{name}#{times}")
            }
        })
        .collect()
}

fn tasks(machine: &Machine, tally: &Tally, names: &[String]) -> Vec<TaskReport> {
    let report = |(t, name): (usize, &String)| {
        let id = TaskId(t as u32);
        let task = machine.task(id);
        let times = tally.times(machine, id);
        TaskReport {
            name: name.clone(),
            policy: task.policy().name().into(),
            nice: task.nice(),
            cpu_ns: times.cpu,
            wait_ns: times.wait,
            sleep_ns: times.sleep,
            blocked_ns: times.blocked,
            prio: task.prio(),
            weight: task.weight(),
        }
    };
    names.iter().enumerate().map(report).collect()
}

fn window_reports(
    machine: &Machine,
    tally: &Tally,
    windows: &[Window],
    names: &[String],
) -> Vec<WindowReport> {
    let report = |(index, window): (usize, &Window)| {
        let length = window.to.saturating_sub(window.from).0;
        let portions = tally
            .windows()
            .iter()
            .find(|w| w.index == index)
            .map_or(&[][..], |w| &w.tasks);
        let share = |(t, name): (usize, &String)| {
            let p = portions.get(t).copied().unwrap_or_default();
            let share = TaskShare::new(p.cpu, length, p.switches, p.max_wait);
            (name.clone(), share)
        };
        let ran: u64 = portions.iter().map(|p| p.cpu).sum();
        WindowReport {
            name: window.name.clone(),
            from_ns: window.from.0,
            to_ns: window.to.0,
            idle_ns: (length * u64::from(machine.cpus())).saturating_sub(ran),
            tasks: Shares(names.iter().enumerate().map(share).collect()),
        }
    };
    windows.iter().enumerate().map(report).collect()
}

/// The refused calls as sentences.
fn refusals(tally: &Tally, tasks: &[String], names: &Names) -> Vec<String> {
    let (told, count) = tally.refusals();
    let mut notices: Vec<String> = told.iter().map(|r| sentence(r, tasks, names)).collect();
    if count > told.len() as u64 {
        notices.push(format!(
            "and {} more refused calls",
            count - told.len() as u64
        ));
    }
    notices
}

/// A refused call as a sentence.
pub(crate) fn sentence(refused: &Refused, tasks: &[String], names: &Names) -> String {
    let at = Seconds(refused.at);
    let task = tasks
        .get(refused.task.index())
        .map_or("a task", String::as_str);
    match refused.refusal {
        Refusal::UnlockNotOwner(lock) => format!(
            "{task}: at {at} s unlock of {} did nothing: it does not own it (EPERM)",
            names.lock(lock)
        ),
        Refusal::Deadlock(lock) => format!(
            "{task}: at {at} s lock of {} was refused: it would wait for itself (EDEADLK); the matching unlock is skipped",
            names.lock(lock)
        ),
        Refusal::NoSuchTask => {
            format!("{task}: at {at} s a change did nothing: there is no such task then (ESRCH)")
        }
        Refusal::TooManyTasks => format!(
            "{task}: at {at} s a fork was refused: there are {} tasks, the most there can be (EAGAIN)",
            crate::model::machine::MAX_TASKS
        ),
    }
}
