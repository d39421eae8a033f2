//! What each task did, span by span, for drawing and for building a workload; kept on request, up
//! to a number of spans. The rest of the analysis does not need it.

use std::collections::HashMap;

use super::event::Comm;
use super::tasks::Task;
use crate::model::units::Ns;

/// What a task does in a span.
///
/// ```
/// use reweight_lab::trace::read::Kind;
/// assert_eq!(serde_json::to_string(&Kind::Waiting)?, "\"waiting\"");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// It has a CPU.
    Running,
    /// It is runnable.
    Waiting,
    /// It waits for a lock, as far as the trace tells.
    Blocked,
    /// Everything else.
    Sleeping,
}

/// One span of one task.
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
/// # let options = Options { timeline: 1_000_000, ..Options::default() };
/// # let timeline = read(&ftrace[..], options)?.timeline;
/// use reweight_lab::trace::read::Kind;
/// let ran = timeline.segments.iter().filter(|s| s.kind == Kind::Running);
/// assert!(ran.clone().count() > 10);
/// assert!(ran.clone().all(|s| s.from <= s.to));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Place in [`Timeline::tasks`].
    pub task: u32,
    /// What it did.
    pub kind: Kind,
    /// Where; for a sleeper, where it ran last.
    pub cpu: u32,
    /// On the trace's clock.
    pub from: Ns,
    /// On the trace's clock; not before `from`.
    pub to: Ns,
}

/// A task of the timeline.
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
/// # let options = Options { timeline: 1_000_000, ..Options::default() };
/// # let timeline = read(&ftrace[..], options)?.timeline;
/// let names: Vec<&str> = timeline.tasks.iter().map(|lane| lane.name.as_str()).collect();
/// assert!(names.contains(&"low") && names.contains(&"high"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lane {
    /// Kernel thread id.
    pub pid: u32,
    /// Its last name.
    pub name: String,
}

/// Spans in the order in which they ended, so that each task's are in order.
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
/// # let options = Options { timeline: 1_000_000, ..Options::default() };
/// # let timeline = read(&ftrace[..], options)?.timeline;
/// assert_eq!(timeline.left_out, 0);
/// let lane = &timeline.tasks[timeline.segments[0].task as usize];
/// assert!(!lane.name.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Default)]
pub struct Timeline {
    /// The spans.
    pub segments: Vec<Segment>,
    /// Whose they are.
    pub tasks: Vec<Lane>,
    /// Spans beyond the limit.
    pub left_out: u64,
    limit: usize,
    comms: Vec<(u32, Comm)>,
    /// From a task's serial number to its lane.
    lanes: HashMap<u32, u32>,
}

impl Timeline {
    /// Keeps up to `limit` spans.
    pub(super) fn new(limit: usize) -> Timeline {
        Timeline {
            limit,
            ..Timeline::default()
        }
    }

    pub(super) fn add(&mut self, of: &Task, kind: Kind, from: Ns, to: Ns) {
        if self.limit == 0 || from == to {
            return;
        }
        if self.segments.len() >= self.limit {
            self.left_out += 1;
            return;
        }
        let next = self.comms.len() as u32;
        let task = *self.lanes.entry(of.serial).or_insert(next);
        if task == next {
            self.comms.push((of.pid, of.comm));
        } else {
            self.comms[task as usize] = (of.pid, of.comm);
        }
        let cpu = of.cpu as u32;
        self.segments.push(Segment {
            task,
            kind,
            cpu,
            from,
            to,
        });
    }

    /// The task's last sleep was a lock wait.
    pub(super) fn was_blocked(&mut self, serial: u32) {
        let Some(&task) = self.lanes.get(&serial) else {
            return;
        };
        // Its wakeup is recent: a search without end would make long traces slow.
        let recent = self.segments.iter_mut().rev().take(1000);
        if let Some(sleep) = recent
            .filter(|s| s.task == task)
            .find(|s| s.kind == Kind::Sleeping)
        {
            sleep.kind = Kind::Blocked;
        }
    }

    pub(super) fn finish(&mut self) {
        let lanes = self.comms.drain(..).map(|(pid, comm)| Lane {
            pid,
            name: comm.text(),
        });
        self.tasks = lanes.collect();
        self.lanes = HashMap::new();
    }
}
