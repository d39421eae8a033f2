//! The thread that measures: it starts the others, reads all clocks at the windows' ends, does
//! the controls, and ends the run.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::*};
use std::time::Duration;

use rustix::thread::CpuSet;

use super::plan::Plan;
use super::rights;
use super::shared::{Shared, Snapshot};
use super::sys::{self, Attr};
use super::thread::{End, Thread};
use super::tracefs::Tracing;
use super::worker;
use super::{Error, MAX_THREADS, Options};
use crate::model::machine::Control;
use crate::model::units::Ns;

/// Between two looks at whether the user has enough.
const LOOK: u64 = 50_000_000;

/// What was measured.
pub(super) struct Measured {
    pub shared: Arc<Shared>,
    /// Counters at each window's end and at the end of the run, in order of time.
    pub snapshots: Vec<(Ns, Snapshot)>,
    /// What each thread was at the end of the run.
    pub ends: Vec<End>,
    /// Times blocked and asleep.
    pub away: Vec<(u64, u64)>,
    pub threads: Vec<Arc<Thread>>,
    /// The trace, if there is one; else why not.
    pub trace: Result<Vec<u8>, String>,
}

/// Runs a plan to its end.
///
/// # Errors
/// [`Error`]: too many threads, no threads, interrupted.
pub(super) fn run(
    plan: &mut Plan,
    cpus: Vec<usize>,
    options: &mut Options<'_>,
) -> Result<Measured, Error> {
    if plan.tasks.len() > MAX_THREADS {
        return Err(Error::TooManyThreads(plan.tasks.len()));
    }
    more_files();
    take_signals(plan)?;
    let shared = Arc::new(Shared::new(plan, cpus));
    let tracing = Tracing::start(&shared.cpus);
    if let (true, Err(why)) = (options.needs_trace, &tracing) {
        return Err(Error::NoTrace(why.clone()));
    }
    let mut running = Running(shared.clone());
    line_up(plan, &shared)?;
    let post = Post::take(&shared);
    shared.open_the_gate();
    let snapshots = watch(plan, &shared, options)?;
    let threads = shared.threads();
    let last = snapshots.last().map(|(_, s)| s);
    let at = last.map_or(Ns(0), |s| s.at);
    let end = |(n, thread): (usize, &Arc<Thread>)| {
        let sample = last.and_then(|s| s.threads.get(n)).copied();
        let sample = sample.unwrap_or_default();
        match thread.ended() {
            Some(end) if end.at <= at => end,
            // It ended after the run did.
            Some(end) => End { at, sample, ..end },
            None => thread.describe(at, sample),
        }
    };
    let ends = threads.iter().enumerate().map(end).collect();
    let away = threads.iter().map(|t| t.away(at)).collect();
    running.end();
    drop(post);
    let trace = tracing.and_then(|tracing| {
        let mut text = Vec::new();
        tracing
            .finish(|piece| text.extend_from_slice(piece))
            .map_err(|e| rights::words(&e))?;
        Ok(text)
    });
    Ok(Measured {
        shared,
        snapshots,
        ends,
        away,
        threads,
        trace,
    })
}

/// Signals of the plan go to a handler that does nothing: without one they would end the process.
///
/// # Errors
/// [`Error::NoHandler`]: the system takes no handler.
fn take_signals(plan: &Plan) -> Result<(), Error> {
    let signals = |(_, c): &(Ns, Control)| matches!(c, Control::Signal { .. });
    if plan.controls.iter().any(signals) {
        signal_hook::flag::register(signal_hook::consts::SIGUSR1, Arc::default())
            .map_err(|e| Error::NoHandler(rights::words(&e)))?;
    }
    Ok(())
}

/// Each thread keeps a file of /proc open.
fn more_files() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let more = Rlimit {
        current: limit.maximum,
        ..limit
    };
    // Who has no file counts its waits as sleep, and says so.
    let _ = setrlimit(Resource::Nofile, more);
}

/// Starts the threads of time zero, one after the other, so that they stand in order.
fn line_up(plan: &Plan, shared: &Arc<Shared>) -> Result<(), Error> {
    for (n, spec) in plan.tasks.iter().enumerate() {
        let name = plan.task_names[n].clone();
        let cpu = spec.cpu.map_or(0, |c| c.index());
        let Some(thread) = shared.enlist(name, cpu) else {
            return Err(Error::TooManyThreads(plan.tasks.len()));
        };
        let (ready, stands) = std::sync::mpsc::channel();
        worker::start(shared, &thread, spec, Some(ready))
            .map_err(|e| Error::NoThread(thread.name.clone(), rights::words(&e)))?;
        // An error means that the thread has gone, which its books tell.
        let _ = stands.recv();
    }
    Ok(())
}

/// Ends the threads, come what may.
struct Running(Arc<Shared>);

impl Running {
    /// Tells all to stop and gives them a moment. Whoever hangs then is left behind.
    fn end(&mut self) {
        self.0.end();
        for _ in 0..500 {
            if self.0.alive.load(Acquire) == 0 {
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.0.stopped() {
            self.end();
        }
    }
}

/// The measuring thread's place: first in line, and off the measured CPUs where there are others.
struct Post {
    affinity: Option<CpuSet>,
    nice: i32,
}

impl Post {
    fn take(shared: &Shared) -> Post {
        let affinity = rustix::thread::sched_getaffinity(None).ok();
        let nice = rustix::process::getpriority_process(None).unwrap_or(0);
        if let Some(all) = &affinity {
            let free = (0..CpuSet::MAX_CPU).find(|&c| all.is_set(c) && !shared.cpus.contains(&c));
            if let Some(free) = free {
                let _ = rights::pin(free);
            }
        }
        let first = Attr {
            policy: 1,
            priority: 99,
            ..Attr::default()
        };
        if let Err(error) = sys::set_attr(0, &first) {
            shared.deny(
                &format!(
                    "SCHED_FIFO is not permitted ({}), so the ends of windows may be read late",
                    rights::words(&error)
                ),
                "the thread that measures",
            );
        }
        Post { affinity, nice }
    }
}

impl Drop for Post {
    fn drop(&mut self) {
        let fair = Attr {
            nice: self.nice,
            ..Attr::default()
        };
        let _ = sys::set_attr(0, &fair);
        if let Some(affinity) = &self.affinity {
            let _ = rustix::thread::sched_setaffinity(None, affinity);
        }
    }
}

/// Reads the clocks at every end of a window, and does the controls in between.
fn watch(
    plan: &Plan,
    shared: &Shared,
    options: &mut Options<'_>,
) -> Result<Vec<(Ns, Snapshot)>, Error> {
    let mut edges: Vec<Ns> = plan.windows.iter().flat_map(|w| [w.from, w.to]).collect();
    edges.extend([Ns(0), plan.duration]);
    edges.sort();
    edges.dedup();
    let mut controls = plan
        .controls
        .iter()
        .filter(|(at, _)| *at < plan.duration)
        .peekable();
    let mut snapshots = Vec::new();
    for edge in edges {
        while let Some((at, control)) = controls.next_if(|(at, _)| *at < edge) {
            wait_until(*at, shared, plan.duration, options)?;
            act(control, shared);
        }
        wait_until(edge, shared, plan.duration, options)?;
        snapshots.push((edge, shared.snapshot()));
    }
    Ok(snapshots)
}

fn act(control: &Control, shared: &Shared) {
    let threads = shared.threads();
    match control {
        Control::Nice { task, nice } => rights::renice(shared, &threads[task.index()], *nice),
        Control::Scheduler { task, scheduling } => {
            rights::schedule(shared, &threads[task.index()], scheduling);
        }
        Control::Signal { task } => sys::signal(threads[task.index()].tid()),
        // The plan has put these elsewhere, and a file has no others.
        Control::Variant(_)
        | Control::Spawn(_)
        | Control::LockTimeout { .. }
        | Control::Interrupt { .. } => {}
    }
}

fn wait_until(
    at: Ns,
    shared: &Shared,
    duration: Ns,
    options: &mut Options<'_>,
) -> Result<(), Error> {
    loop {
        let now = shared.now();
        if options
            .interrupted
            .is_some_and(|i: &AtomicBool| i.load(Acquire))
        {
            return Err(Error::Interrupted(now));
        }
        if now >= at {
            return Ok(());
        }
        if let Some(progress) = &mut options.progress {
            progress(now, duration);
        }
        let next = at.min(now.saturating_add(Ns(LOOK)));
        let until = super::clock::timespec(shared.monotonic(next));
        // A signal ends the sleep early, which is what it is for.
        let _ =
            rustix::thread::clock_nanosleep_absolute(rustix::thread::ClockId::Monotonic, &until);
    }
}
