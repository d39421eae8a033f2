//! Stretches in which nothing was recorded although the system ran.
//!
//! `echo 0 > tracing_on` leaves no mark in the text: the last line before is followed by the first
//! one after, as if the task that switched recording off had had the CPU ever since. To take that
//! for CPU time would give it seconds, and every waiter a starvation that never was. On the other
//! hand a quiet trace is no proof. So a silence of all CPUs counts as not recorded only on
//! evidence:
//!
//! * the line that ends it contradicts what was running;
//! * or a task was switched to, nothing at all followed for [`Rule::quiet`], then it went to sleep,
//!   while somebody runnable waited for that CPU all the time; for a fair task, which may only
//!   have had a waiter of very low weight, four times as long;
//! * or the kernel's own sched_stat_runtime charges it less than a quarter of the silence;
//! * or it lasts a minute: no kernel that schedules is silent so long.

use super::analysis::Analysis;
use super::cpus::Current;
use super::event::{Event, Off, What};
use crate::model::units::Ns;

/// A silence of this length is never taken for recorded time.
const NEVER_SO_LONG: Ns = Ns::from_secs(60);

/// When a silence counts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule {
    /// Shorter silences are ordinary. [`Ns::NEVER`]: all are.
    pub quiet: Ns,
}

/// An unrecorded stretch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gap {
    pub from: Ns,
    pub to: Ns,
    /// The task, by its place in the table, that was running before and after.
    pub kept: Option<usize>,
}

impl Rule {
    /// Whether `e` ends a gap.
    pub(super) fn gap_before(&self, e: &Event<'_>, seen: &Analysis) -> Option<Gap> {
        let from = seen.last;
        let silence = e.at.saturating_sub(from);
        if silence < self.quiet || seen.first.is_none() {
            return None;
        }
        let gap = |kept| {
            Some(Gap {
                from,
                to: e.at,
                kept,
            })
        };
        if silence >= NEVER_SO_LONG {
            return gap(None);
        }
        let cpu = seen.cpus.get(e.cpu as usize)?;
        let speaker = if let What::Switch { prev, .. } = &e.what {
            prev.pid
        } else {
            e.pid
        };
        let kept = match cpu.current {
            Current::Task(i) if seen.tasks.all[i].pid == speaker => i,
            Current::Idle if speaker == 0 => return None,
            Current::Task(_) | Current::Idle => return gap(None),
            Current::Unknown | Current::Untracked => return None,
        };
        match e.what {
            What::Switch { off, .. }
                if off != Off::Runnable && cpu.just_switched && cpu.queued >= 2 =>
            {
                let rt = seen.tasks.all[kept].prio.is_some_and(|prio| prio < 100);
                if rt || silence.0 / 4 >= self.quiet.0 {
                    gap(Some(kept))
                } else {
                    None
                }
            }
            What::Runtime { pid, ns } if pid == speaker && ns < silence.0 / 4 => gap(Some(kept)),
            _ => None,
        }
    }
}
