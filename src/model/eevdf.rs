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
        se.protected_at(se.vruntime, &self.k.kernel)
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
        self.entity_lag_at(t, v)
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
    pub(super) fn requeue_delayed_eevdf(&mut self, t: TaskId) {
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
    pub(super) fn check_preempt_eevdf(&mut self, curr: TaskId, t: TaskId) {
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
            let scales = self.k.scales_rel_deadline;
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

#[cfg(test)]
mod tests {
    //! Specification H.2, vectors 10 to 20.
    use std::sync::Arc;

    use super::*;
    use crate::model::kernel::{Kernel, Settings};
    use crate::model::machine::Machine;
    use crate::model::task::{EntityState, Scheduling, TaskSpec};
    use crate::model::units::{CpuId, Ns};
    use crate::model::weight::PRIO_TO_WEIGHT;

    const CPU: CpuId = CpuId(0);

    fn scheduling(weight: u32) -> Scheduling {
        match PRIO_TO_WEIGHT.iter().position(|&w| w == weight) {
            Some(i) => Scheduling::normal(i as i32 - 20),
            None => Scheduling {
                policy: Policy::Idle,
                ..Scheduling::normal(0)
            },
        }
    }

    fn spec(v: i64, weight: u32, deadline: i64, asleep: bool, lag: i64) -> TaskSpec {
        let sched = scheduling(weight);
        TaskSpec {
            scheduling: Some(sched),
            cpu: Some(CPU),
            program: Arc::from([]),
            resume_at: Some(EntityState {
                vruntime: Vtime(v as u64),
                deadline: Vtime(deadline as u64),
                slice: Ns(0),
                prio: sched.normal_prio(),
                load: sched.load(),
                asleep_until: asleep.then_some(Ns::from_secs(1)),
                lag,
            }),
        }
    }

    /// Queued entities (vruntime, weight, deadline), and one asleep with a lag.
    fn machine_of(
        settings: Settings,
        queued: &[(i64, u32, i64)],
        asleep: &[(u32, i64)],
    ) -> Machine {
        let mut m = Machine::new(settings);
        for &(v, weight, deadline) in queued {
            m.add_task(spec(v, weight, deadline, false, 0));
        }
        for &(weight, lag) in asleep {
            m.add_task(spec(0, weight, 0, true, lag));
        }
        m.start(&mut ());
        m
    }

    fn eevdf(queued: &[(i64, u32, i64)], asleep: &[(u32, i64)]) -> Machine {
        machine_of(Settings::new(Kernel::V6_12), queued, asleep)
    }

    /// V, who is eligible, and the sum of all lags by weight.
    fn queue(entities: &[(i64, u32)]) -> (i64, Vec<bool>, i64) {
        let queued: Vec<_> = entities.iter().map(|&(v, w)| (v, w, 0)).collect();
        let mut m = eevdf(&queued, &[]);
        let mut fair = m.fair(CPU);
        let v = fair.avg_vruntime().signed();
        let eligible = (0..entities.len())
            .map(|i| fair.entity_eligible(TaskId(i as u32)))
            .collect();
        let lag = entities
            .iter()
            .map(|&(at, w)| (v - at) * i64::from(w))
            .sum();
        (v, eligible, lag)
    }

    #[test]
    fn vector_10_v_is_the_floor_of_the_weighted_mean() {
        let (v, eligible, _) = queue(&[(0, 1024), (3, 1024)]);
        assert_eq!((v, eligible), (1, vec![true, false]));
        let (v, eligible, _) = queue(&[(0, 1024), (-3, 1024)]);
        assert_eq!((v, eligible), (-2, vec![false, true]));
    }

    #[test]
    fn vector_11_the_current_entity_counts_though_it_is_not_in_the_tree() {
        let mut m = eevdf(&[(10, 1024, 0), (0, 110, 0)], &[]);
        let mut fair = m.fair(CPU);
        fair.set_next_entity(TaskId(0));
        assert_eq!(fair.avg_vruntime().signed(), 9);
        assert!(!fair.entity_eligible(TaskId(0)));
    }

    #[test]
    fn vectors_12_and_13_the_lags_sum_to_zero_or_a_rounding_below() {
        let (v, _, lag) = queue(&[(-7, 3), (5, 15)]);
        assert_eq!((v, lag), (3, 0));
        let (v, _, lag) = queue(&[(1_000_000, 110), (0, 1024)]);
        assert_eq!((v, lag), (97001, -866));
    }

    #[test]
    fn vector_14_placing_keeps_the_lag_through_the_shift_of_v() {
        let placed = |weight, lag, initial| {
            let mut m = eevdf(&[(0, 1024, 0), (0, 1024, 0)], &[(weight, lag)]);
            let mut fair = m.fair(CPU);
            fair.place_entity(TaskId(2), initial);
            let se = fair.task(TaskId(2)).se;
            (se.vruntime.signed(), se.deadline.signed())
        };
        assert_eq!(placed(1024, 300_000, false), (-450_000, 250_000));
        assert_eq!(placed(1024, 300_000, true), (-450_000, -100_000));
        assert_eq!(placed(1024, -300_000, false).0, 450_000);
        assert_eq!(placed(110, 300_000, false), (-316_113, 6_200_250));
        assert_eq!(placed(110, -5, false), (5, 6_516_368));
    }

    #[test]
    fn vector_15_lag_is_limited_by_two_slices_or_a_tick() {
        for (hz, want) in [
            (1000, [16151, 1_400_000, 13_032_727, 95_573_333]),
            (250, [46146, 4_000_000, 37_236_363, 273_066_666]),
        ] {
            let settings = Settings {
                hz,
                ..Settings::new(Kernel::V6_12)
            };
            for (weight, want) in [88761, 1024, 110, 15].into_iter().zip(want) {
                let mut m = machine_of(settings, &[(0, weight, 0)], &[]);
                let fair = m.fair(CPU);
                assert_eq!(fair.entity_lag_at(TaskId(0), Vtime(1 << 50)), want);
                assert_eq!(
                    fair.entity_lag_at(TaskId(0), Vtime((-(1i64 << 50)) as u64)),
                    -want
                );
            }
        }
    }

    #[test]
    fn vector_16_off_the_queue_a_reweight_scales_the_lag_toward_zero() {
        let there_and_back = |lag| {
            let mut m = eevdf(&[(0, 1024, 0)], &[(110, lag)]);
            let mut fair = m.fair(CPU);
            fair.reweight_entity(TaskId(1), LoadWeight::of_nice(0));
            let there = fair.task(TaskId(1)).se.vlag;
            fair.reweight_entity(TaskId(1), LoadWeight::of_nice(10));
            (there, fair.task(TaskId(1)).se.vlag)
        };
        assert_eq!(there_and_back(-6_516_363), (-699_999, -6_516_354));
        assert_eq!(there_and_back(1_000_000), (107_421, 999_991));
        assert_eq!(there_and_back(-1).0, 0);
        for (kernel, want) in [(Kernel::V6_12, 6_516_363), (Kernel::V6_13, 699_999)] {
            let mut m = machine_of(Settings::new(kernel), &[(0, 1024, 0)], &[(110, 0)]);
            let mut fair = m.fair(CPU);
            let se = &mut fair.task_mut(TaskId(1)).se;
            (se.deadline, se.rel_deadline) = (Vtime(6_516_363), true);
            fair.reweight_entity(TaskId(1), LoadWeight::of_nice(0));
            assert_eq!(
                fair.task(TaskId(1)).se.deadline.signed(),
                want,
                "{}",
                kernel.name
            );
        }
    }

    #[test]
    fn vector_17_on_the_queue_a_reweight_leaves_v_where_it_is() {
        let mut m = eevdf(&[(0, 1024, 0), (1_000_000, 110, 1_700_000)], &[]);
        let mut fair = m.fair(CPU);
        fair.reweight_entity(TaskId(1), LoadWeight::of_nice(0));
        assert_eq!(fair.task(TaskId(1)).se.vruntime.signed(), 194_002);
        assert_eq!(fair.avg_vruntime().signed(), 97001);
    }

    #[test]
    fn vector_18_v_does_not_depend_on_the_origin() {
        let mut m = eevdf(&[(1_000_000, 110, 0), (0, 1024, 0)], &[]);
        for origin in [-5_000_000i64, 12, 987_654_321] {
            let mut fair = m.fair(CPU);
            fair.move_zero(Vtime(origin as u64));
            assert_eq!(fair.virtual_now().signed(), 97001);
            assert!(fair.entity_eligible(TaskId(1)) && !fair.entity_eligible(TaskId(0)));
        }
    }

    #[test]
    fn vector_19_equal_deadlines_go_to_the_first_in_and_to_the_tree() {
        let mut m = eevdf(&[(0, 1024, 500), (0, 1024, 500), (0, 1024, 500)], &[]);
        let mut fair = m.fair(CPU);
        assert_eq!(fair.pick().map(|p| p.0), Some(TaskId(0)));
        // Current and unprotected, with the same deadline as those in the tree.
        fair.set_next_entity(TaskId(0));
        fair.task_mut(TaskId(0)).se.vlag = 0;
        assert_eq!(fair.pick(), Some((TaskId(1), Rule::EarliestDeadline)));
    }

    #[test]
    fn vector_20_equal_vruntimes_go_to_the_first_in_and_to_the_tree() {
        let settings = Settings::new(Kernel::V6_1);
        let mut m = machine_of(settings, &[(0, 1024, 0), (0, 1024, 0)], &[]);
        let mut fair = m.fair(CPU);
        assert_eq!(fair.pick().map(|p| p.0), Some(TaskId(0)));
        fair.set_next_entity(TaskId(0));
        assert_eq!(fair.pick(), Some((TaskId(1), Rule::Leftmost)));
    }
}
