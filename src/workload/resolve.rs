//! What a priority means: known once the policies of task, file and earlier phases are.

use super::notice;
use super::read::{Reader, Result, task_path};
use super::task::{Asked, PhaseChange, Task};
use super::text::push_plain;
use crate::model::task::Policy;
use crate::model::units::Ns;

/// Scheduling parameters as written: they have a meaning once the policy is known.
#[derive(Clone, Debug, Default)]
pub(super) struct Raw {
    pub policy: Option<Policy>,
    pub priority: Option<(i64, usize)>,
    pub dl_runtime: Option<Ns>,
    pub dl_period: Option<Ns>,
    pub dl_deadline: Option<Ns>,
}

impl Raw {
    pub fn is_empty(&self) -> bool {
        let stated = |ns: Option<Ns>| ns.is_some_and(|ns| ns.0 > 0);
        self.policy.is_none()
            && self.priority.is_none()
            && !stated(self.dl_runtime)
            && !stated(self.dl_period)
            && !stated(self.dl_deadline)
    }
}

impl Reader<'_> {
    /// Gives priorities their meaning, now that the default policy is known.
    pub(super) fn resolve_scheduling(&mut self) -> Result<()> {
        let raw = std::mem::take(&mut self.raw);
        // The policy in force before the phase at hand.
        let mut before = self.out.default_policy;
        for (task, phase, raw) in raw {
            let n = task as usize;
            let Some(phase) = phase else {
                let policy = raw.policy.unwrap_or(self.out.default_policy);
                let asked = self.asked(policy, &raw, n, None)?;
                self.out.tasks[n].asked = (!raw.is_empty()).then_some(asked);
                before = policy;
                continue;
            };
            let phase = phase as usize;
            let policy = raw.policy.unwrap_or(before);
            let asked = self.asked(policy, &raw, n, Some(phase))?;
            // rt-app sets the nice level alone when the policy stays, and the kernel tells the
            // two apart on a boosted task.
            let stays = policy == before && !policy.is_rt() && policy != Policy::Deadline;
            self.out.tasks[n].phases[phase].change = Some(if stays && asked.dl_runtime.0 == 0 {
                PhaseChange::Nice(asked.scheduling.nice)
            } else {
                PhaseChange::Policy(asked)
            });
            before = policy;
        }
        let default = self.out.default_policy;
        for task in &mut self.out.tasks {
            settle_first_change(task, default);
        }
        Ok(())
    }

    /// A policy with its parameters, checked.
    fn asked(
        &mut self,
        policy: Policy,
        raw: &Raw,
        task: usize,
        phase: Option<usize>,
    ) -> Result<Asked> {
        if policy == Policy::Deadline && self.deadline_noted != Some(task) {
            self.deadline_noted = Some(task);
            let path = task_path(&self.out.tasks[task]);
            let what = "SCHED_DEADLINE is modelled as a class above real time, ordered by deadline; its bandwidth is not";
            notice(&mut self.out.notices, &path, what);
        }
        let mut priority = Asked::default_priority(policy);
        if let Some((stated, at)) = raw.priority
            && policy != Policy::Deadline
        {
            check_priority(policy, stated).map_err(|message| {
                let mut path = task_path(&self.out.tasks[task]);
                if let Some(phase) = phase {
                    path.push_str(".phases.");
                    push_plain(&mut path, &self.out.tasks[task].phases[phase].name);
                }
                path.push_str(".priority");
                self.text.error_in(at, path, message)
            })?;
            priority = stated as i32;
        }
        let mut asked = Asked::with(policy, priority);
        asked.dl_runtime = raw.dl_runtime.unwrap_or(Ns(0));
        if policy == Policy::Deadline {
            asked.dl_period = raw.dl_period.unwrap_or(asked.dl_runtime);
            asked.scheduling.deadline = raw.dl_deadline.unwrap_or(asked.dl_period);
        } else if asked.dl_runtime.0 > 0 && !policy.is_rt() {
            asked.scheduling.slice = Some(asked.dl_runtime);
        }
        Ok(asked)
    }
}

/// In a task that begins again, the first change of a phase must also undo the last one's policy.
fn settle_first_change(task: &mut Task, default: Policy) {
    if task.rounds == Some(1) {
        return;
    }
    let start = task.asked.map_or(default, |asked| asked.scheduling.policy);
    let last = task.phases.iter().rev().find_map(|p| match p.change {
        Some(PhaseChange::Policy(asked)) => Some(asked.scheduling.policy),
        _ => None,
    });
    let first = task.phases.iter_mut().find_map(|p| p.change.as_mut());
    if let (Some(first), Some(last)) = (first, last)
        && let PhaseChange::Nice(nice) = *first
        && last != start
    {
        *first = PhaseChange::Policy(Asked::with(start, nice));
    }
}

/// Whether a priority is one under a policy; else the sentence that says so.
pub(super) fn check_priority(policy: Policy, priority: i64) -> std::result::Result<(), String> {
    let (what, low, high) = if policy.is_rt() {
        ("a real-time priority in 1..99", 1, 99)
    } else {
        ("a nice value in -20..19", -20, 19)
    };
    if (low..=high).contains(&priority) {
        return Ok(());
    }
    Err(["expected ", what, ", found ", &priority.to_string()].concat())
}
