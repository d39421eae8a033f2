//! `rt_mutex_setprio`, its variants, and the other two calls that move a task's priority:
//! `set_user_nice` and `sched_setscheduler`.
//!
//! The patch is one branch of step 8: from fair to fair, the weight follows the prio. All the
//! rest is the same in every variant. Specification: part E, A.9 to A.11, I.3.

use super::fair::{Flags, Tunables};
use super::machine::Machine;
use super::observer::{Cause, Event, Observer, Refusal};
use super::task::{Class, DEFAULT_PRIO, MAX_RT_PRIO, Policy, Scheduling, State, class_of};
use super::units::{Ns, TaskId};
use super::weight::LoadWeight;

/// What a lock lends.
///
/// ```
/// use reweight_lab::model::pi::Variant;
/// assert_eq!(Variant::named("reweight"), Some(Variant::Reweight));
/// assert_eq!(Variant::ReweightFixed.name(), "reweight-fixed");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// A plain mutex: nothing is lent.
    None,
    /// The kernel as it is: the prio is lent, the weight is not.
    Stock,
    /// The patch as posted: fair to fair, the weight follows.
    Reweight,
    /// Its second version: fair waiters are also ordered by nice.
    ReweightV2,
    /// The ideal: prio and weight are at every instant the best of all who wait.
    ReweightFixed,
    /// Proxy execution: the waiter stays queued and the owner runs in its place.
    ProxyExec,
}

impl Variant {
    /// Every variant, in the order of their story.
    pub const ALL: [Variant; 6] = [
        Variant::None,
        Variant::Stock,
        Variant::Reweight,
        Variant::ReweightV2,
        Variant::ReweightFixed,
        Variant::ProxyExec,
    ];

    /// As on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Variant::None => "none",
            Variant::Stock => "stock",
            Variant::Reweight => "reweight",
            Variant::ReweightV2 => "reweight-v2",
            Variant::ReweightFixed => "reweight-fixed",
            Variant::ProxyExec => "proxy-exec",
        }
    }

    /// The variant of that name.
    pub fn named(name: &str) -> Option<Variant> {
        Variant::ALL.into_iter().find(|v| v.name() == name)
    }

    /// Whether step [8] reweights on a change from `oldprio` into the fair class (E.2).
    const fn reweights(self, oldprio: i32, policy: Policy) -> bool {
        let fair_to_fair = oldprio >= MAX_RT_PRIO;
        // SCHED_IDLE would need another policy, not another weight.
        let idle = matches!(policy, Policy::Idle);
        match self {
            Variant::None | Variant::Stock | Variant::ProxyExec => false,
            Variant::Reweight | Variant::ReweightV2 => fair_to_fair && !idle,
            Variant::ReweightFixed => !idle,
        }
    }
}

/// Which steps of `rt_mutex_setprio` ran: bit n-1 is step n of specification E.1.
///
/// ```
/// use reweight_lab::model::pi::Steps;
/// let mut steps = Steps::default();
/// steps.mark(8);
/// assert!(steps.ran(8) && !steps.ran(9) && !steps.reweighted());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Steps(pub u16);

impl Steps {
    /// The patch's own line: the reweight inside step 8.
    pub const REWEIGHT: u16 = 1 << 15;

    /// Marks step `n`, 1..=11.
    pub fn mark(&mut self, n: u32) {
        self.0 |= 1 << (n - 1);
    }

    /// Whether step `n`, 1..=11, ran.
    pub const fn ran(self, n: u32) -> bool {
        self.0 & (1 << (n - 1)) != 0
    }

    /// Whether the patch's line ran.
    pub const fn reweighted(self) -> bool {
        self.0 & Steps::REWEIGHT != 0
    }
}

/// What a task was when it was taken off its queue.
#[derive(Clone, Copy)]
struct TakenOut {
    queued: bool,
    running: bool,
    was_delayed: bool,
}

/// The load of a fair prio.
pub(crate) const fn load_of_prio(prio: i32) -> LoadWeight {
    LoadWeight::of_nice(prio - DEFAULT_PRIO)
}

impl Machine {
    /// Gives a lock holder the donor's prio, or its own back (E.1).
    ///
    /// [1] prio := min(normal, donor)   [2] nothing new: return   [3] remember the donor
    /// [4] prio as before: done   [5] SAVE|MOVE   [6] finish a delayed dequeue on a class change
    /// [7] dequeue, put_prev   [8] branch on the new prio; THE PATCH LIVES HERE
    /// [9] class, prio   [10] enqueue, set_next   [11] notify
    pub(crate) fn rt_mutex_setprio(
        &mut self,
        t: TaskId,
        donor: Option<TaskId>,
        obs: &mut dyn Observer,
    ) {
        let variant = self.settings.pi;
        let mut steps = Steps::default();
        // [1]
        steps.mark(1);
        let p = &self.tasks[t.index()];
        let (oldprio, old_load) = (p.prio, p.se.load);
        let prio = donor.map_or(p.normal_prio, |d| {
            p.normal_prio.min(self.tasks[d.index()].prio)
        });
        // The ideal also mends a weight that disagrees with an unchanged prio.
        let mend = variant == Variant::ReweightFixed
            && prio >= MAX_RT_PRIO
            && p.sched.policy != Policy::Idle
            && p.se.load != load_of_prio(prio);
        // [2]
        if p.pi_top_task == donor && prio == oldprio && prio >= 0 && !mend {
            return;
        }
        // [3]
        steps.mark(3);
        self.tasks[t.index()].pi_top_task = donor;
        // [4]
        if prio == oldprio && prio >= 0 && !mend {
            return;
        }
        let flags = Flags {
            save: true,
            moved: oldprio != prio,
            ..Flags::default()
        };
        steps.mark(5);
        // [6], [7]
        let taken = self.take_out(t, prio, flags);
        if taken.was_delayed {
            steps.mark(6);
        }
        steps.mark(7);
        // [8] Off the queue since [7]: only load and lag can move.
        steps.mark(8);
        let mut enqueue = flags;
        if prio < 0 {
            let lent = donor.map(|d| self.tasks[d.index()].dl_deadline);
            let task = &mut self.tasks[t.index()];
            let own = (task.sched.policy == Policy::Deadline).then_some(task.dl_own);
            task.dl_deadline = match (own, lent) {
                (Some(own), Some(lent)) => own.min(lent),
                (own, lent) => own.or(lent).unwrap_or(Ns::NEVER),
            };
        } else if prio < MAX_RT_PRIO {
            enqueue.head = oldprio < prio;
        } else if variant.reweights(oldprio, self.tasks[t.index()].sched.policy) {
            steps.0 |= Steps::REWEIGHT;
            self.reweight_task(t, load_of_prio(prio), class_of(oldprio) == Class::Fair);
        }
        // [9]
        steps.mark(9);
        self.tasks[t.index()].prio = prio;
        // [10]
        self.put_back(t, taken, enqueue);
        if taken.queued || taken.running {
            steps.mark(10);
        }
        // [11]
        steps.mark(11);
        self.check_class_changed(t, oldprio);
        obs.event(
            self,
            &Event::SetPrio {
                task: t,
                donor,
                old_prio: oldprio,
                prio,
                old_weight: old_load.table_weight(),
                weight: self.tasks[t.index()].weight(),
                steps,
            },
        );
    }

    /// Takes a task off its queue for a change of prio, class or load, whoever asks for it: dequeue,
    /// put_prev. A delayed sleeper that changes class is dequeued for good first (6.12).
    fn take_out(&mut self, t: TaskId, new_prio: i32, flags: Flags) -> TakenOut {
        let task = &self.tasks[t.index()];
        let was_delayed = self.settings.kernel.delay_dequeue
            && class_of(new_prio) != task.class()
            && task.se.sched_delayed;
        let running = self.is_donor(t);
        if was_delayed {
            self.finish_delayed_dequeue(t);
        }
        let queued = self.tasks[t.index()].on_rq;
        if queued {
            self.dequeue_task(t, flags);
        }
        if running {
            self.put_prev_task(t);
        }
        TakenOut {
            queued,
            running,
            was_delayed,
        }
    }

    /// The way back: enqueue, set_next, as far as the task was queued and running.
    fn put_back(&mut self, t: TaskId, taken: TakenOut, flags: Flags) {
        if taken.queued {
            self.enqueue_task(t, flags);
        }
        if taken.running {
            self.set_next_task(t);
        }
    }

    /// ESRCH: a task that has ended takes no new parameters.
    fn refused_as_ended(&self, t: TaskId, obs: &mut dyn Observer) -> bool {
        let ended = self.tasks[t.index()].state == State::Ended;
        if ended {
            let refusal = Refusal::NoSuchTask;
            obs.event(self, &Event::Refused { task: t, refusal });
        }
        ended
    }

    /// The new load; through the fair class if that is where the task was (E.2, ports).
    pub(crate) fn reweight_task(&mut self, t: TaskId, load: LoadWeight, was_fair: bool) {
        if was_fair {
            self.fair_of(t).reweight_entity(t, load);
        } else {
            self.tasks[t.index()].se.load = load;
        }
    }

    /// `setpriority()` (A.9): drops a fair boost, keeps a real-time one.
    pub(crate) fn set_user_nice(&mut self, t: TaskId, nice: i32, obs: &mut dyn Observer) {
        if self.refused_as_ended(t, obs) {
            return;
        }
        // [1] The call clamps what it is given.
        let nice = nice.clamp(-20, 19);
        let old = self.tasks[t.index()].sched.nice;
        if nice == old {
            return;
        }
        // [2]
        let policy = self.tasks[t.index()].sched.policy;
        if policy.is_rt() || policy == Policy::Deadline {
            self.tasks[t.index()].sched.nice = nice;
        } else {
            // [3]
            let oldprio = self.tasks[t.index()].prio;
            let flags = Flags {
                save: true,
                ..Flags::default()
            };
            // The class stays: a real-time boost keeps its prio, all else is fair already.
            let taken = self.take_out(t, oldprio, flags);
            self.tasks[t.index()].sched.nice = nice;
            let load = self.tasks[t.index()].sched.load();
            self.reweight_task(t, load, class_of(oldprio) == Class::Fair);
            let task = &mut self.tasks[t.index()];
            task.normal_prio = task.sched.normal_prio();
            if oldprio >= MAX_RT_PRIO {
                task.prio = task.normal_prio;
            }
            self.put_back(t, taken, flags);
            // Told even when a loan hides the change: the new weight alone may preempt.
            self.prio_changed(t, oldprio);
        }
        obs.event(self, &Event::Nice { task: t, old, nice });
        if self.settings.pi == Variant::ReweightFixed {
            self.settle(t, obs);
        }
    }

    /// `sched_setattr()` (A.10): keeps the lent prio, resets the weight to the own one.
    pub(crate) fn set_scheduler(&mut self, t: TaskId, to: Scheduling, obs: &mut dyn Observer) {
        if self.refused_as_ended(t, obs) {
            return;
        }
        let kernel = self.settings.kernel;
        let old = self.tasks[t.index()].sched;
        let mut to = to.clamped();
        // Only NORMAL and BATCH take a nice from the call.
        if !to.policy.is_fair() {
            to.nice = old.nice;
        }
        // I.3: nothing changed. A plain call asks for slice 0, which no slice equals.
        if to.policy == old.policy {
            let slice = self.tasks[t.index()].se.slice;
            let changed = match to.policy {
                Policy::Normal | Policy::Batch => {
                    to.nice != old.nice
                        || (!kernel.setattr_early_return && to.slice.map(|s| s.0) != Some(slice))
                }
                Policy::Fifo | Policy::Rr => to.rt_priority != old.rt_priority,
                Policy::Deadline => true,
                Policy::Idle => false,
            };
            if !changed {
                return;
            }
        }
        let oldprio = self.tasks[t.index()].prio;
        let donor = self.tasks[t.index()].pi_top_task;
        let normal = to.normal_prio();
        let newprio = donor.map_or(normal, |d| normal.min(self.tasks[d.index()].prio));
        let flags = Flags {
            save: true,
            moved: newprio != oldprio,
            ..Flags::default()
        };
        let taken = self.take_out(t, newprio, flags);
        self.tasks[t.index()].sched = to;
        self.tasks[t.index()].normal_prio = normal;
        self.set_slice(t, to);
        self.reweight_task(t, to.load(), class_of(oldprio) == Class::Fair);
        self.tasks[t.index()].prio = newprio;
        if to.policy == Policy::Deadline {
            self.renew_deadline(t);
        }
        let head = oldprio < newprio;
        self.put_back(t, taken, Flags { head, ..flags });
        self.check_class_changed(t, oldprio);
        obs.event(
            self,
            &Event::Scheduler {
                task: t,
                scheduling: to,
            },
        );
        self.rt_mutex_adjust_pi(t, obs);
    }

    /// A.10: NORMAL and BATCH may ask for a slice of their own, 0.1 to 100 ms (6.12). All other
    /// policies leave the slice as it is.
    pub(crate) fn set_slice(&mut self, t: TaskId, sched: Scheduling) {
        if !self.settings.kernel.custom_slice || !sched.policy.is_fair() {
            return;
        }
        let base = self.tunables.base_slice;
        let se = &mut self.tasks[t.index()].se;
        se.custom_slice = sched.slice.is_some();
        se.slice = sched
            .slice
            .map_or(base, |s| s.0.clamp(100_000, 100_000_000));
    }

    /// switched_from, switched_to or prio_changed, whichever applies (A.11, A.12).
    fn check_class_changed(&mut self, t: TaskId, oldprio: i32) {
        let (old, new) = (class_of(oldprio), self.tasks[t.index()].class());
        if old != new {
            if old == Class::Fair {
                self.switched_from_fair(t);
            }
            match new {
                Class::Fair => self.switched_to_fair(t),
                Class::Rt | Class::Deadline => self.preempt_if_better(t),
            }
            return;
        }
        if self.tasks[t.index()].prio != oldprio {
            self.prio_changed(t, oldprio);
        }
    }

    /// prio_changed of the class the task is and was in (A.11, A.12).
    fn prio_changed(&mut self, t: TaskId, oldprio: i32) {
        if !self.tasks[t.index()].on_rq {
            return;
        }
        let (prio, new) = (self.tasks[t.index()].prio, self.tasks[t.index()].class());
        let running = self.is_donor(t);
        if new == Class::Fair && self.cpu_of(t).fair.nr_running == 1 {
            return;
        }
        if running {
            if prio > oldprio {
                self.resched_task_cpu(t, Cause::PrioChanged);
            }
        } else if new == Class::Fair {
            self.wakeup_preempt(t, Cause::PrioChanged);
        } else {
            self.preempt_if_better(t);
        }
    }

    /// RT and DL: preempt whoever is strictly worse.
    fn preempt_if_better(&mut self, t: TaskId) {
        if self.tasks[t.index()].on_rq && !self.is_donor(t) {
            self.wakeup_preempt(t, Cause::PrioChanged);
        }
    }

    /// 6.1: a task that leaves the fair class while asleep takes its distance along (A.11).
    fn switched_from_fair(&mut self, t: TaskId) {
        let task = &self.tasks[t.index()];
        if self.is_cfs() && !task.on_rq && task.se.charged > 0 {
            let mut fair = self.fair_of(t);
            fair.place_entity_cfs(t, false);
            let min = fair.q.min_vruntime.signed();
            let se = &mut fair.task_mut(t).se;
            se.vruntime = se.vruntime.plus(min.wrapping_neg());
        }
    }

    fn switched_to_fair(&mut self, t: TaskId) {
        let task = &self.tasks[t.index()];
        if !task.on_rq {
            if self.is_cfs() && task.se.charged > 0 {
                let min = self.cpu_of(t).fair.min_vruntime.signed();
                let se = &mut self.tasks[t.index()].se;
                se.vruntime = se.vruntime.plus(min);
            }
        } else if self.is_donor(t) {
            self.resched_task_cpu(t, Cause::PrioChanged);
        } else {
            self.wakeup_preempt(t, Cause::PrioChanged);
        }
    }

    /// The variant is switched while the machine runs. The ideal holds from this instant on.
    pub(crate) fn set_variant(&mut self, variant: Variant, obs: &mut dyn Observer) {
        if variant == self.settings.pi {
            return;
        }
        self.settings.pi = variant;
        self.tunables = Tunables::new(&self.settings);
        self.variant_switched = true;
        obs.event(self, &Event::Variant(variant));
        if variant == Variant::ReweightFixed {
            // Everybody: a weight that an earlier variant left behind is mended as well.
            for i in 0..self.tasks.len() {
                if self.tasks[i].state != State::Ended {
                    self.settle(TaskId(i as u32), obs);
                }
            }
        }
    }
}
