//! Boosts: who lent to whom, and whether the share followed.
//!
//! A boost is a stretch in which a task's prio stays at one value better than its own, from one
//! sched_pi_setprio to the next. While it lasts, time is *contended* when the holder is runnable
//! among at least one more fair task on its CPU and a fair task (not RT, not idle) has that CPU.
//! Only contended time can tell a lent prio from a lent share. Over it three shares are formed:
//!
//! * measured: the part in which the holder ran;
//! * if stock: the mean of w / sum w with everybody's own weight;
//! * if reweighted: the same with boosted tasks at the weight of their boosted prio.
//!
//! The verdict over it is taken in [`super::contention`].

use std::collections::BTreeMap;

use crate::model::units::Ns;
use crate::model::weight::PRIO_TO_WEIGHT;

use super::contention::{Rivals, STRICT, Step, Sums, Turns, Verdict, WIDE};
use super::event::Comm;
use super::tasks::Task;

/// Boosts listed one by one; further ones are counted.
pub const MAX_BOOSTS: usize = 4096;

/// Boosts followed at the same time.
const MAX_ACTIVE: usize = 64;

/// The table weight of a fair prio, 100..=139.
pub(super) fn weight(prio: i32) -> Option<u32> {
    (100..=139)
        .contains(&prio)
        .then(|| PRIO_TO_WEIGHT[(prio - 100) as usize])
}

/// Why a boost's record ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// Back to its own prio.
    Released,
    /// Another lender, or one fewer.
    Changed,
    /// The prio moved without a sched_pi_setprio: setpriority or sched_setattr.
    Reniced,
    /// The lock was handed on and the prio stayed: its own nice had been moved there meanwhile.
    Unmoved,
    /// The task ended, or could no longer be followed.
    Gone,
    /// The trace ends first.
    Open,
}

impl End {
    pub(super) const fn name(self) -> &'static str {
        match self {
            End::Released => "released",
            End::Changed => "changed",
            End::Reniced => "reniced",
            End::Unmoved => "unmoved",
            End::Gone => "gone",
            End::Open => "trace-end",
        }
    }
}

/// A task named in a record that outlives it.
#[derive(Clone, Copy)]
pub(super) struct Named {
    pub pid: u32,
    pub comm: Comm,
}

impl Named {
    pub(super) fn of(task: &Task) -> Named {
        Named {
            pid: task.pid,
            comm: task.comm,
        }
    }
}

pub(super) struct Record {
    pub task: Named,
    pub by: Option<Named>,
    pub from_prio: i32,
    pub to_prio: i32,
    pub base: i32,
    pub from: Ns,
    pub to: Ns,
    pub end: End,
    /// It was already boosted when first seen.
    pub began_before: bool,
    pub sums: Sums,
    pub verdict: Verdict,
    /// When a later part of the boost showed the other side.
    pub turned: Option<Ns>,
    /// Lines are missing, so only this task was compared with.
    pub against: Option<Named>,
}

/// A boost that lasts.
pub(super) struct Active {
    pub id: u32,
    pub task: usize,
    pub last: Ns,
    record: Record,
    /// Since the last verdict.
    block: Sums,
    turns: Turns,
    rivals: Rivals,
    /// Lines of the holder's CPU are missing.
    pub doubtful: bool,
    decided: Option<Verdict>,
}

impl Active {
    /// The task is at this prio while the boost lasts.
    pub(super) fn to_prio(&self) -> i32 {
        self.record.to_prio
    }

    /// Who lent.
    pub(super) fn by(&self) -> Option<u32> {
        self.record.by.map(|by| by.pid)
    }

    /// A fair boost's weights can be compared.
    pub(super) fn is_fair(&self) -> bool {
        weight(self.record.to_prio).is_some() && weight(self.record.base).is_some()
    }

    /// Who else is queued with the holder, and has the CPU.
    pub(super) fn rivals(&mut self) -> &mut Rivals {
        &mut self.rivals
    }

    pub(super) fn contended(&mut self, step: &Step) {
        self.block.take(step);
        self.turns.take(step);
    }

    /// The holder's CPU goes to another task.
    pub(super) fn turn_ends(&mut self, now: Ns) {
        self.turns.end();
        self.judge(now, STRICT);
    }

    fn judge(&mut self, now: Ns, slack: f64) {
        let Some(side) = self.block.side(&self.turns, slack) else {
            return;
        };
        match self.decided {
            None => self.decided = Some(side),
            Some(first) if first != side && self.record.turned.is_none() => {
                self.record.turned = Some(now)
            }
            Some(_) => {}
        }
        self.record.sums.add(&std::mem::take(&mut self.block));
    }

    /// What it was, now that it is over.
    fn verdict(&mut self, end: End) -> Verdict {
        if self.record.to_prio < 100 {
            return Verdict::RtBoost;
        }
        // The share it had may have been its own: since when is not known.
        if end == End::Unmoved {
            return Verdict::NotEnoughContention;
        }
        if self.doubtful {
            let (own, lent) = (self.record.base, self.record.to_prio);
            self.record.turned = None;
            let Some((rival, sums)) = self.rivals.strongest(&self.record.sums, own, lent) else {
                return Verdict::NotEnoughContention;
            };
            self.record.against = Some(rival);
            self.record.sums = sums;
            return sums
                .side(&self.turns, WIDE)
                .unwrap_or(Verdict::NotEnoughContention);
        }
        self.decided.unwrap_or(Verdict::NotEnoughContention)
    }
}

#[derive(Default)]
pub(super) struct Boosts {
    pub active: Vec<Active>,
    pub done: BTreeMap<u32, Record>,
    /// All that began, listed or not.
    pub begun: u64,
    /// Of those not listed.
    pub unlisted: u64,
}

/// What sched_pi_setprio said.
pub(super) struct Begin {
    pub index: usize,
    pub task: Named,
    pub by: Option<Named>,
    pub from_prio: i32,
    pub to_prio: i32,
    pub base: i32,
    pub at: Ns,
}

impl Boosts {
    /// Opens a record; `None` when there are too many.
    pub(super) fn begin(&mut self, b: Begin) -> Option<u32> {
        let id = self.begun;
        self.begun += 1;
        if id >= MAX_BOOSTS as u64 || self.active.len() >= MAX_ACTIVE {
            self.unlisted += 1;
            return None;
        }
        let id = id as u32;
        self.active.push(Active {
            id,
            task: b.index,
            last: b.at,
            record: Record {
                task: b.task,
                by: b.by,
                from_prio: b.from_prio,
                to_prio: b.to_prio,
                base: b.base,
                from: b.at,
                to: b.at,
                end: End::Open,
                began_before: false,
                sums: Sums::default(),
                verdict: Verdict::NotEnoughContention,
                turned: None,
                against: None,
            },
            block: Sums::default(),
            turns: Turns::default(),
            rivals: Rivals::default(),
            doubtful: false,
            decided: None,
        });
        Some(id)
    }

    /// Whether this task has a record open.
    pub(super) fn of(&self, task: usize) -> Option<usize> {
        self.active.iter().position(|a| a.task == task)
    }

    /// Ends a record and gives its id.
    pub(super) fn end(&mut self, position: usize, at: Ns, end: End) -> u32 {
        let mut a = self.active.swap_remove(position);
        if a.decided.is_none() {
            a.judge(at, WIDE);
        }
        a.record.sums.add(&a.block);
        a.record.to = at;
        a.record.end = end;
        a.record.verdict = a.verdict(end);
        let id = a.id;
        self.done.insert(id, a.record);
        id
    }

    /// A boost of which only the end was seen: how it began, and with what contention, is not
    /// known.
    pub(super) fn ended_unseen(&mut self, b: Begin, to: Ns) {
        let id = self.begun;
        self.begun += 1;
        if id >= MAX_BOOSTS as u64 {
            self.unlisted += 1;
            return;
        }
        let verdict = if b.to_prio < 100 {
            Verdict::RtBoost
        } else {
            Verdict::NotEnoughContention
        };
        self.done.insert(
            id as u32,
            Record {
                task: b.task,
                by: None,
                from_prio: b.from_prio,
                to_prio: b.to_prio,
                base: b.base,
                from: b.at,
                to,
                end: End::Released,
                began_before: true,
                sums: Sums::default(),
                verdict,
                turned: None,
                against: None,
            },
        );
    }
}
