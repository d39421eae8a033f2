//! The fair queue of 6.6 and later: of the eligible, the earliest virtual deadline runs.
//!
//! V is the weighted mean of all vruntimes; who has had more than its due (vruntime beyond V) is
//! not eligible. O(log n) for every queue change and pick: a tree by deadline, each node knowing
//! its subtree's least vruntime. Versions differ by fields of the kernel value.
//! Not here: groups, migration. Specification: part C, versions C.14.

use super::fair::{Fair, Flags};
use super::observer::{Cause, Rule};
use super::task::Policy;
use super::units::{TaskId, Vtime};
use super::weight::{LoadWeight, calc_delta_fair, scale_load_down};

fn table_weight(load: &LoadWeight) -> i64 {
    scale_load_down(load.weight) as i64
}

impl Fair<'_> {
    /// The sums of C.3 with the current entity added on the fly.
    fn sums(&self) -> (i64, i64) {
        let (mut sum, mut weight) = (self.q.avg_vruntime, self.q.avg_load);
        if let Some(curr) = self.curr_on_rq() {
            let se = &self.task(curr).se;
            let w = table_weight(&se.load);
            sum = sum.wrapping_add(se.vruntime.since(self.q.zero_vruntime).wrapping_mul(w));
            weight += w;
        }
        (sum, weight)
    }

    /// C.4: V, the floor of the weighted mean.
    pub(super) fn avg_vruntime(&mut self) -> Vtime {
        let v = self.virtual_now();
        if self.k.kernel.zero_vruntime {
            self.move_zero(v);
        }
        v
    }

    /// V without moving the origin.
    pub(super) fn virtual_now(&self) -> Vtime {
        let (sum, weight) = self.sums();
        if weight == 0 {
            return self.q.zero_vruntime;
        }
        self.q.zero_vruntime.plus(sum.div_euclid(weight))
    }

    /// Moves the origin of keys; V and every entity stay where they are.
    fn move_zero(&mut self, to: Vtime) {
        let delta = to.since(self.q.zero_vruntime);
        self.q.zero_vruntime = to;
        self.q.avg_vruntime = self
            .q
            .avg_vruntime
            .wrapping_sub(self.q.avg_load.wrapping_mul(delta));
    }

    /// C.4, older form: the origin follows min_vruntime.
    fn update_zero(&mut self) {
        if !self.k.kernel.zero_vruntime {
            self.update_min_vruntime();
            self.move_zero(self.q.min_vruntime);
        }
    }

    /// C.5: lag is not negative. Exact, no division.
    pub(super) fn vruntime_eligible(&self, v: Vtime) -> bool {
        let (sum, weight) = self.sums();
        sum >= v.since(self.q.zero_vruntime).wrapping_mul(weight)
    }

    pub(super) fn entity_eligible(&self, t: TaskId) -> bool {
        self.vruntime_eligible(self.task(t).se.vruntime)
    }

    /// C.8, C.14: a new stint is protected until its deadline (or the shortest slice's end).
    pub(super) fn protect_slice(&mut self, t: TaskId) {
        let vprot = if self.k.kernel.vprot {
            let se = &self.task(t).se;
            match self.q.tree.min_slice() {
                Some(least) if least < se.slice => {
                    let end = se.vruntime.plus(calc_delta_fair(least, &se.load) as i64);
                    se.deadline.min(end)
                }
                _ => se.deadline,
            }
        } else {
            self.task(t).se.deadline
        };
        let se = &mut self.task_mut(t).se;
        se.vprot = vprot;
        // While on the queue the lag field has no other use; 6.12 keeps the deadline there.
        se.vlag = se.deadline.signed();
    }

    pub(super) fn protected(&self, t: TaskId) -> bool {
        let se = &self.task(t).se;
        if self.k.kernel.vprot {
            se.vruntime.before(se.vprot)
        } else {
            se.vlag == se.deadline.signed()
        }
    }

    fn cancel_protection(&mut self, t: TaskId) {
        let vprot = self.k.kernel.vprot;
        let se = &mut self.task_mut(t).se;
        if vprot {
            if se.vruntime.before(se.vprot) {
                se.vprot = se.vruntime;
            }
        } else if se.vlag == se.deadline.signed() {
            se.vlag = se.deadline.signed().wrapping_add(1);
        }
    }

    /// The tail of update_curr: C.7.
    pub(super) fn update_curr_eevdf(&mut self, curr: TaskId) {
        let expired = self.update_deadline(curr);
        self.update_zero();
        if self.q.nr_running <= 1 {
            return;
        }
        if expired {
            self.set_resched(Cause::SliceEnd);
        } else if self.k.kernel.vprot {
            // 6.17: the end of protection ends the stint as well.
            if !self.protected(curr) {
                self.set_resched(Cause::SliceEnd);
            }
        } else if self.k.kernel.custom_slice && !self.protected(curr) && !self.entity_eligible(curr)
        {
            self.set_resched(Cause::NotEligible);
        }
    }

    /// C.7: the request is served; the next one starts at the present vruntime.
    fn update_deadline(&mut self, t: TaskId) -> bool {
        let se = &self.task(t).se;
        if se.vruntime.before(se.deadline) {
            return false;
        }
        let base = self.k.base_slice;
        let se = &mut self.task_mut(t).se;
        if !se.custom_slice {
            se.slice = base;
        }
        se.deadline = se.vruntime.plus(calc_delta_fair(se.slice, &se.load) as i64);
        self.avg_vruntime();
        true
    }

    /// C.10: what the entity is owed, within its limit.
    fn entity_lag(&mut self, t: TaskId) -> i64 {
        let v = self.avg_vruntime();
        let tick = self.k.tick;
        let se = &self.task(t).se;
        let limit = calc_delta_fair((2 * se.slice).max(tick), &se.load) as i64;
        v.since(se.vruntime).clamp(-limit, limit)
    }

    /// C.11: where an entity comes in, so that its lag is what it was when it left.
    pub(super) fn place_entity(&mut self, t: TaskId, initial: bool) {
        let v = self.avg_vruntime();
        let base = self.k.base_slice;
        let se = &mut self.task_mut(t).se;
        if !se.custom_slice {
            se.slice = base;
        }
        let se = *se;
        let mut vslice = calc_delta_fair(se.slice, &se.load) as i64;
        let mut lag = 0;
        if self.q.nr_running > 0 {
            // [1] Inserting moves V by -w * lag / (W + w): make up for it beforehand.
            let mut load = self.q.avg_load;
            if let Some(curr) = self.curr_on_rq() {
                load += table_weight(&self.task(curr).se.load);
            }
            lag = se.vlag.wrapping_mul(load + table_weight(&se.load));
            lag /= load.max(1);
        }
        let se = &mut self.task_mut(t).se;
        se.vruntime = v.plus(lag.wrapping_neg());
        // [2] A request that was under way keeps what was left of it.
        if se.rel_deadline {
            se.deadline = se.deadline.plus(se.vruntime.signed());
            se.rel_deadline = false;
            return;
        }
        // [3] A new task asks for half a slice first.
        if initial {
            vslice /= 2;
        }
        se.deadline = se.vruntime.plus(vslice);
    }

    pub(super) fn enqueue_entity_eevdf(&mut self, t: TaskId, flags: Flags) {
        let is_curr = self.q.curr == Some(t);
        if is_curr {
            self.place_entity(t, flags.initial);
        }
        self.update_curr();
        if !is_curr {
            self.place_entity(t, flags.initial);
        }
        self.account_entity(t, true);
        if !is_curr {
            self.add_to_tree(t);
        }
        self.task_mut(t).se.on_rq = true;
    }

    pub(super) fn dequeue_entity_eevdf(&mut self, t: TaskId, flags: Flags) -> bool {
        self.update_curr();
        if flags.delayed {
            self.task_mut(t).se.sched_delayed = false;
        } else if flags.sleep
            && !flags.special
            && self.k.kernel.delay_dequeue
            && !self.entity_eligible(t)
        {
            // C.9: it stays and competes until it no longer owes.
            self.task_mut(t).se.sched_delayed = true;
            return false;
        }
        self.task_mut(t).se.vlag = self.entity_lag(t);
        if self.k.kernel.place_rel_deadline && !flags.sleep {
            let se = &mut self.task_mut(t).se;
            se.deadline = se.deadline.plus(se.vruntime.signed().wrapping_neg());
            se.rel_deadline = true;
        }
        if self.q.curr != Some(t) {
            self.take_from_tree(t);
        }
        self.task_mut(t).se.on_rq = false;
        self.account_entity(t, false);
        if flags.delayed {
            // DELAY_ZERO: waiting it out earns nothing.
            let se = &mut self.task_mut(t).se;
            se.vlag = se.vlag.min(0);
        }
        self.update_zero();
        true
    }

    /// C.9: woken while still queued.
    pub(crate) fn requeue_delayed(&mut self, t: TaskId) {
        let lag = self.entity_lag(t);
        if lag > 0 {
            let is_curr = self.q.curr == Some(t);
            if !is_curr {
                self.take_from_tree(t);
            }
            self.task_mut(t).se.on_rq = false;
            self.account_entity(t, false);
            self.task_mut(t).se.vlag = 0;
            self.place_entity(t, false);
            self.account_entity(t, true);
            self.task_mut(t).se.on_rq = true;
            if !is_curr {
                self.add_to_tree(t);
            }
        }
        self.task_mut(t).se.sched_delayed = false;
    }

    /// C.6. A delayed entity may come out: its dequeue is then completed by the caller.
    pub(super) fn pick_eevdf(&mut self) -> Option<(TaskId, Rule)> {
        if self.curr_on_rq().is_some() {
            self.update_curr();
        }
        self.choose_eevdf()
    }

    /// The choice itself; changes nothing.
    pub(super) fn choose_eevdf(&self) -> Option<(TaskId, Rule)> {
        let curr = self.curr_on_rq();
        // [1]
        if self.q.nr_running == 1 {
            return curr
                .or_else(|| self.q.tree.first())
                .map(|t| (t, Rule::Only));
        }
        // [2]
        let (sum, weight) = self.sums();
        let zero = self.q.zero_vruntime;
        let eligible = |v: Vtime| sum >= v.since(zero).wrapping_mul(weight);
        let eligible_curr = curr.filter(|&c| eligible(self.task(c).se.vruntime));
        // [3] RUN_TO_PARITY
        if let Some(c) = eligible_curr
            && self.protected(c)
        {
            return Some((c, Rule::Protected));
        }
        // [4]
        let best = self.q.tree.first_where(eligible);
        // [5]
        match (best, eligible_curr) {
            (None, Some(c)) => Some((c, Rule::CurrentDeadline)),
            // Rounding aside, somebody is always eligible; the leftmost keeps the CPU busy.
            (None, None) => self
                .q
                .tree
                .first()
                .or(curr)
                .map(|t| (t, Rule::EarliestDeadline)),
            (Some(b), Some(c)) if self.task(c).se.deadline.before(self.task(b).se.deadline) => {
                Some((c, Rule::CurrentDeadline))
            }
            (Some(b), _) => Some((b, Rule::EarliestDeadline)),
        }
    }

    /// C.12.
    pub(super) fn check_preempt_eevdf(&mut self, t: TaskId) {
        let Some(curr) = self.q.curr else { return };
        if curr == t || self.resched.is_some() {
            return;
        }
        let idle = |policy| policy == Policy::Idle;
        let (cp, tp) = (self.task(curr).sched.policy, self.task(t).sched.policy);
        if idle(cp) && !idle(tp) {
            self.cancel_protection(curr);
            self.set_resched(Cause::Wakeup);
            return;
        }
        if idle(cp) != idle(tp) || tp != Policy::Normal {
            return;
        }
        self.update_curr();
        // PREEMPT_SHORT: a shorter request may break a longer one's protection.
        if self.k.kernel.custom_slice {
            let (c, p) = (&self.task(curr).se, &self.task(t).se);
            if p.slice < c.slice
                && self.entity_eligible(t)
                && (p.deadline.before(c.deadline) || !self.entity_eligible(curr))
            {
                self.cancel_protection(curr);
            }
        }
        if self.choose_eevdf().is_some_and(|(best, _)| best == t) {
            self.set_resched(Cause::Wakeup);
        } else if self.k.kernel.vprot && self.task(t).se.slice < self.task(curr).se.slice {
            // 6.17: it does not preempt, but shortens what the current one is sure of.
            let slice = self.task(t).se.slice;
            let se = &mut self.task_mut(curr).se;
            let end = se.vruntime.plus(calc_delta_fair(slice, &se.load) as i64);
            se.vprot = se.vprot.min(end);
        }
    }

    /// C.11, yield: the rest of the request is given up.
    pub(super) fn yield_eevdf(&mut self) {
        let Some(curr) = self.q.curr else { return };
        self.update_curr();
        if !self.k.kernel.yield_to_deadline {
            let se = &mut self.task_mut(curr).se;
            se.deadline = se.deadline.plus(calc_delta_fair(se.slice, &se.load) as i64);
        } else if self.entity_eligible(curr) {
            let se = &mut self.task_mut(curr).se;
            se.vruntime = se.deadline;
            self.update_deadline(curr);
        }
    }

    /// C.13.
    pub(super) fn reweight_eevdf(&mut self, t: TaskId, load: LoadWeight) {
        let old = self.task(t).se.load.weight as i64;
        let new = load.weight as i64;
        // In 128 bits only where 64 do not do: a stored weight has up to 27 bits.
        let scaled = |x: i64| match x.checked_mul(old) {
            Some(product) => product / new,
            None => (i128::from(x) * i128::from(old) / i128::from(new)) as i64,
        };
        if !self.task(t).se.on_rq {
            let scales = self.k.kernel.scales_rel_deadline;
            let se = &mut self.task_mut(t).se;
            se.vlag = scaled(se.vlag);
            if scales && se.rel_deadline {
                se.deadline = Vtime(scaled(se.deadline.signed()) as u64);
            }
            se.load = load;
            return;
        }
        let is_curr = self.q.curr == Some(t);
        self.update_curr();
        let v = self.avg_vruntime();
        if !is_curr {
            self.take_from_tree(t);
        }
        if v != self.task(t).se.vruntime {
            let lag = self.entity_lag_at(t, v);
            self.task_mut(t).se.vruntime = v.plus(-scaled(lag));
        }
        self.q.load.sub(old as u64);
        self.q.load.add(load.weight);
        let se = &mut self.task_mut(t).se;
        se.deadline = v.plus(scaled(se.deadline.since(v)));
        se.load = load;
        if !is_curr {
            self.add_to_tree(t);
        }
    }

    /// The lag against a V read before the entity left the tree.
    fn entity_lag_at(&self, t: TaskId, v: Vtime) -> i64 {
        let se = &self.task(t).se;
        let limit = calc_delta_fair((2 * se.slice).max(self.k.tick), &se.load) as i64;
        v.since(se.vruntime).clamp(-limit, limit)
    }
}
