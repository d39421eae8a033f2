//! Did the share follow? The evidence and how it is weighed.
//!
//! **The verdict** asks which expectation the measured time can come from. A fair schedule keeps to
//! a share only within a turn: a holder may be ahead by one of its own turns, or behind by what it
//! was due during one of the others'. So an expectation of share s allows for `own turn + s * other
//! turn`, the longest seen while contended, and 15 % of the way to the other expectation (35 % when
//! the boost has ended undecided: a holder that yields or sleeps gets less than its share). From
//! [`ENOUGH`] contended time on, when the measured time is within (or beyond) one allowance and not
//! the other, that is the verdict; in the overlap, or the empty middle, counting goes on. A boost
//! that ends without such a moment has had *not enough contention to tell*. After a verdict the
//! same is done with the rest of the boost, and a change of side is noted: a renice or
//! sched_setattr of the boosted task does that.
//!
//! Where lines of the holder's CPU are missing (a filtered trace, lost events) it is not known who
//! else was queued there. Then the holder is compared with a single task that was there nearly all
//! the time, by what each of the two got: that holds whoever else came and went.

use super::boosts::{Named, weight};
use super::tasks::Task;
use crate::model::units::Ns;

/// Contended time below which nothing is said.
pub const ENOUGH: Ns = Ns::from_ms(100);

/// Part of the way between the expectations within which a share is taken for one of them.
pub(super) const STRICT: f64 = 0.15;
/// The same at the end of a boost that could not be told otherwise.
pub(super) const WIDE: f64 = 0.35;

/// What a boost turned out to be.
///
/// ```
/// use reweight_lab::trace::read::Verdict;
/// assert_eq!(Verdict::ShareFollows.name(), "share-follows");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The prio went up, the share stayed at what the task's own nice gives.
    PrioOnly,
    /// The share went to what the lent prio's weight gives.
    ShareFollows,
    /// The trace cannot tell.
    NotEnoughContention,
    /// Boosted to RT or deadline: the CPU comes by class, not by share.
    RtBoost,
}

impl Verdict {
    /// The stable name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Verdict::PrioOnly => "prio-only",
            Verdict::ShareFollows => "share-follows",
            Verdict::NotEnoughContention => "not-enough-contention",
            Verdict::RtBoost => "rt-boost",
        }
    }
}

/// Integrals over contended time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums {
    pub contended: Ns,
    pub ran: Ns,
    /// ns times share; f64 sums in the order of events, the same everywhere.
    pub stock: f64,
    pub reweighted: f64,
}

impl Sums {
    pub(super) fn add(&mut self, other: &Sums) {
        self.contended += other.contended;
        self.ran += other.ran;
        self.stock += other.stock;
        self.reweighted += other.reweighted;
    }

    /// (measured, if stock, if reweighted); `None` without contended time.
    pub(super) fn shares(&self) -> Option<(f64, f64, f64)> {
        let of = self.contended.0 as f64;
        (self.contended > Ns(0)).then(|| {
            (
                self.ran.0 as f64 / of,
                self.stock / of,
                self.reweighted / of,
            )
        })
    }

    pub(super) fn take(&mut self, step: &Step) {
        self.contended += step.dt;
        if step.ran {
            self.ran += step.dt;
        }
        let dt = step.dt.0 as f64;
        self.stock += dt * step.stock;
        self.reweighted += dt * step.reweighted;
    }

    /// The one expectation the measured time can come from, if it is one.
    pub(super) fn side(&self, turns: &Turns, slack: f64) -> Option<Verdict> {
        let apart = self.reweighted - self.stock;
        if self.contended < ENOUGH || apart <= 0.0 {
            return None;
        }
        let others = turns.others.0 as f64 / self.contended.0 as f64;
        let allow = |due: f64| turns.own.0 as f64 + due * others + slack * apart;
        let ran = self.ran.0 as f64;
        let stock = ran <= self.stock + allow(self.stock);
        let reweighted = ran >= self.reweighted - allow(self.reweighted);
        match (stock, reweighted) {
            (true, false) => Some(Verdict::PrioOnly),
            (false, true) => Some(Verdict::ShareFollows),
            _ => None,
        }
    }
}

/// One interval of contended time as the analysis sees it.
pub(super) struct Step {
    pub dt: Ns,
    /// The holder had the CPU.
    pub ran: bool,
    pub stock: f64,
    pub reweighted: f64,
}

/// Turns on the holder's CPU while contended.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Turns {
    /// The one that is going on.
    now: Ns,
    /// The longest of the holder's.
    own: Ns,
    /// The longest of anybody else's.
    others: Ns,
}

impl Turns {
    fn longest(&mut self, ran: bool) -> &mut Ns {
        if ran { &mut self.own } else { &mut self.others }
    }

    pub(super) fn take(&mut self, step: &Step) {
        self.now += step.dt;
        let now = self.now;
        let longest = self.longest(step.ran);
        *longest = now.max(*longest);
    }

    pub(super) fn end(&mut self) {
        self.now = Ns(0);
    }
}

/// Tasks compared with one by one.
const RIVALS: usize = 16;

#[derive(Clone, Copy)]
pub(super) struct Rival {
    /// Place in the table, as long as the serial number agrees.
    index: usize,
    serial: u32,
    task: Named,
    weight: u32,
    ran: Ns,
    /// Queued with the holder.
    there: Ns,
}

/// The fair tasks that got the holder's CPU while it was contended: the first [`RIVALS`].
#[derive(Default)]
pub(super) struct Rivals(Vec<Rival>);

impl Rivals {
    /// The task at `index` had the CPU for `dt`.
    pub(super) fn ran(&mut self, index: usize, task: &Task, dt: Ns) {
        if let Some(rival) = self.0.iter_mut().find(|r| r.serial == task.serial) {
            rival.ran += dt;
        } else if self.0.len() < RIVALS {
            let weight = task.load.map_or(0, |load| load.now);
            let (serial, task) = (task.serial, Named::of(task));
            self.0.push(Rival {
                index,
                serial,
                task,
                weight,
                ran: dt,
                there: Ns(0),
            });
        }
    }

    /// `dt` has passed on the holder's CPU.
    pub(super) fn there(&mut self, dt: Ns, tasks: &[Task], cpu: usize) {
        let queued = |r: &&mut Rival| {
            let t = &tasks[r.index];
            t.serial == r.serial && t.load.is_some_and(|load| load.cpu == cpu)
        };
        for rival in self.0.iter_mut().filter(queued) {
            rival.there += dt;
        }
    }

    /// The rival that was there nearly all of the contended time and had most service for its
    /// weight, and the sums against it alone: with both runnable all the time, a fair schedule
    /// serves them as their weights, whoever else is there.
    pub(super) fn strongest(
        &self,
        holder: &Sums,
        own_prio: i32,
        lent_prio: i32,
    ) -> Option<(Named, Sums)> {
        let most = holder.contended.0 / 10 * 9;
        let rival = self
            .0
            .iter()
            .filter(|r| r.there.0 >= most)
            .max_by_key(|r| {
                u128::from(r.ran.0) * u128::from(u32::MAX) / u128::from(r.weight.max(1))
            })?;
        let contended = holder.ran.saturating_add(rival.ran);
        let share = |prio| {
            let weight = f64::from(weight(prio)?);
            Some(weight / (weight + f64::from(rival.weight)) * contended.0 as f64)
        };
        let sums = Sums {
            contended,
            ran: holder.ran,
            stock: share(own_prio)?,
            reweighted: share(lent_prio)?,
        };
        Some((rival.task, sums))
    }
}
