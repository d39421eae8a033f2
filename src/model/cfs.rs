//! The fair queue of 6.1: the least vruntime runs, in slices of a period.
//!
//! O(log n) for every queue change, O(1) to pick. Not here: groups, bandwidth, migration.
//! Specification: part B, as corrected by I.1 and I.2.

use super::fair::{Fair, Flags};
use super::observer::{Cause, Rule};
use super::task::Policy;
use super::units::{TaskId, Vtime};
use super::weight::{LoadWeight, calc_delta, calc_delta_fair};

impl Fair<'_> {
    /// Whether the fair queue knows the entity as idle: only with groups built in (I.2).
    fn se_is_idle(&self, t: TaskId) -> bool {
        self.k.fair_group_sched && self.task(t).sched.policy == Policy::Idle
    }

    /// B.3: never goes back.
    pub(super) fn update_min_vruntime(&mut self) {
        let curr = self.curr_on_rq().map(|t| self.task(t).se.vruntime);
        let least = match (curr, self.q.tree.min_vruntime()) {
            (Some(a), Some(b)) => a.min(b),
            (Some(v), None) | (None, Some(v)) => v,
            (None, None) => return,
        };
        self.q.min_vruntime = self.q.min_vruntime.max(least);
    }

    /// B.4: the real ns an entity may run before others.
    pub(super) fn sched_slice(&mut self, t: TaskId) -> u64 {
        let on_rq = self.task(t).se.on_rq;
        let n = u64::from(self.q.nr_running) + u64::from(!on_rq);
        let period = if n > self.k.kernel.nr_latency {
            n * self.k.min_granularity
        } else {
            self.k.latency
        };
        let weight = self.task(t).se.load.weight;
        let slice = if on_rq {
            calc_delta(period, weight, &mut self.q.load)
        } else {
            let mut load = self.q.load;
            load.add(weight);
            calc_delta(period, weight, &mut load)
        };
        let idle_only = self.q.nr_running == self.q.idle_nr_running && self.q.nr_running > 0;
        let least = if self.se_is_idle(t) && !idle_only {
            self.k.idle_min_granularity
        } else {
            self.k.min_granularity
        };
        slice.max(least)
    }

    fn sched_vslice(&mut self, t: TaskId) -> u64 {
        let slice = self.sched_slice(t);
        calc_delta_fair(slice, &self.task(t).se.load)
    }

    /// B.6: where an entity comes in. A new one pays a slice, a sleeper gets half a period.
    pub(super) fn place_entity_cfs(&mut self, t: TaskId, initial: bool) {
        let mut v = self.q.min_vruntime;
        if initial {
            v = v.plus(self.sched_vslice(t) as i64);
        } else {
            let thresh = if self.se_is_idle(t) {
                self.k.min_granularity
            } else {
                self.k.latency
            };
            // GENTLE_FAIR_SLEEPERS
            v = v.plus(-((thresh >> 1) as i64));
        }
        let now = self.now;
        let se = &mut self.task_mut(t).se;
        // After some 104 days of sleep the difference could have wrapped.
        let long_sleeper = !initial && now.saturating_sub(se.exec_start).0 > (1 << 63) / 1024;
        se.vruntime = if long_sleeper { v } else { se.vruntime.max(v) };
    }

    /// B.6, fork: placed a slice behind, then relative, so that the enqueue can add it back.
    pub(super) fn fork_cfs(&mut self, t: TaskId) {
        let start = self.q.curr.map_or(Vtime(0), |c| self.task(c).se.vruntime);
        self.task_mut(t).se.vruntime = start;
        self.place_entity_cfs(t, true);
        let min = self.q.min_vruntime.signed();
        let se = &mut self.task_mut(t).se;
        se.vruntime = se.vruntime.plus(min.wrapping_neg());
    }

    pub(super) fn enqueue_entity_cfs(&mut self, t: TaskId, flags: Flags) {
        let renorm = !flags.wakeup;
        let is_curr = self.q.curr == Some(t);
        if renorm && is_curr {
            self.renormalise(t);
        }
        self.update_curr();
        if renorm && !is_curr {
            self.renormalise(t);
        }
        self.account_entity(t, true);
        if flags.wakeup {
            self.place_entity_cfs(t, false);
        }
        if !is_curr {
            self.add_to_tree(t);
        }
        self.task_mut(t).se.on_rq = true;
    }

    fn renormalise(&mut self, t: TaskId) {
        let min = self.q.min_vruntime.signed();
        let se = &mut self.task_mut(t).se;
        se.vruntime = se.vruntime.plus(min);
    }

    pub(super) fn dequeue_entity_cfs(&mut self, t: TaskId, flags: Flags) {
        self.update_curr();
        self.clear_buddies(t);
        if self.q.curr != Some(t) {
            self.take_from_tree(t);
        }
        self.task_mut(t).se.on_rq = false;
        self.account_entity(t, false);
        if !flags.sleep {
            let min = self.q.min_vruntime.signed();
            let se = &mut self.task_mut(t).se;
            se.vruntime = se.vruntime.plus(min.wrapping_neg());
        }
        // A pure save must not let the queue move on: the entity comes right back.
        if !flags.save || flags.moved {
            self.update_min_vruntime();
        }
    }

    /// B.5.
    pub(super) fn tick_cfs(&mut self) {
        self.update_curr();
        let Some(curr) = self.q.curr else { return };
        if self.q.nr_running <= 1 {
            return;
        }
        let ideal = self.sched_slice(curr);
        let se = self.task(curr).se;
        let ran = se.charged - se.prev_charged;
        // [1]
        if ran > ideal {
            self.set_resched(Cause::SliceEnd);
            self.clear_buddies(curr);
            return;
        }
        // [2]
        if ran < self.k.min_granularity {
            return;
        }
        // [3] real ns held against virtual ns: so the kernel does
        if let Some(left) = self.q.tree.first() {
            let d = se.vruntime.since(self.task(left).se.vruntime);
            if d > 0 && d as u64 > ideal {
                self.set_resched(Cause::LeftmostBehind);
            }
        }
    }

    /// B.7: 1 when `se` is further behind than its granularity, -1 when not behind at all.
    pub(super) fn wakeup_preempt_entity(&self, curr: TaskId, t: TaskId) -> i32 {
        let vdiff = self.task(curr).se.vruntime.since(self.task(t).se.vruntime);
        if vdiff <= 0 {
            return -1;
        }
        let gran = calc_delta_fair(self.k.wakeup_granularity, &self.task(t).se.load) as i64;
        i32::from(vdiff > gran)
    }

    /// B.7.
    pub(super) fn check_preempt_cfs(&mut self, curr: TaskId, t: TaskId) {
        let idle = |policy| policy == Policy::Idle;
        let (cp, tp) = (self.task(curr).sched.policy, self.task(t).sched.policy);
        if idle(cp) && !idle(tp) {
            self.preempt_cfs(curr);
            return;
        }
        if tp != Policy::Normal {
            return;
        }
        self.update_curr();
        if self.wakeup_preempt_entity(curr, t) == 1 {
            if !self.se_is_idle(t) {
                self.q.next = Some(t);
            }
            self.preempt_cfs(curr);
        }
    }

    fn preempt_cfs(&mut self, curr: TaskId) {
        self.set_resched(Cause::Wakeup);
        // LAST_BUDDY: with many tasks the preempted one comes back first.
        if self.task(curr).se.on_rq
            && u64::from(self.q.nr_running) >= self.k.kernel.nr_latency
            && !self.se_is_idle(curr)
        {
            self.q.last = Some(curr);
        }
    }

    pub(super) fn clear_buddies(&mut self, t: TaskId) {
        for buddy in [&mut self.q.next, &mut self.q.last, &mut self.q.skip] {
            if *buddy == Some(t) {
                *buddy = None;
            }
        }
    }

    /// B.8.
    pub(super) fn pick_cfs(&mut self) -> Option<(TaskId, Rule)> {
        let curr = self.curr_on_rq();
        if curr.is_some() {
            self.update_curr();
        }
        let first = self.q.tree.first();
        let left = match (first, curr) {
            (None, None) => return None,
            (None, Some(c)) => c,
            (Some(f), None) => f,
            // Equal: the one in the tree.
            (Some(f), Some(c)) => {
                if self.task(c).se.vruntime.before(self.task(f).se.vruntime) {
                    c
                } else {
                    f
                }
            }
        };
        let mut rule = if self.q.nr_running == 1 {
            Rule::Only
        } else {
            Rule::Leftmost
        };
        let mut chosen = left;
        if self.q.skip == Some(left) {
            let second = if Some(left) == curr {
                first
            } else {
                let second = self.q.tree.next(self.slots[left.index()]);
                match (second, curr) {
                    (None, c) => c,
                    (Some(s), Some(c))
                        if self.task(c).se.vruntime.before(self.task(s).se.vruntime) =>
                    {
                        Some(c)
                    }
                    (s, _) => s,
                }
            };
            if let Some(second) = second
                && self.wakeup_preempt_entity(second, left) < 1
            {
                chosen = second;
                rule = Rule::SkipBuddy;
            }
        }
        if let Some(next) = self
            .q
            .next
            .filter(|&n| self.wakeup_preempt_entity(n, left) < 1)
        {
            if next != chosen {
                rule = Rule::NextBuddy;
            }
            chosen = next;
        } else if let Some(last) = self
            .q
            .last
            .filter(|&l| self.wakeup_preempt_entity(l, left) < 1)
        {
            if last != chosen {
                rule = Rule::LastBuddy;
            }
            chosen = last;
        }
        Some((chosen, rule))
    }

    /// B.8, yield.
    pub(super) fn yield_cfs(&mut self) {
        let Some(curr) = self.q.curr else { return };
        self.clear_buddies(curr);
        if self.task(curr).sched.policy != Policy::Batch {
            self.update_curr();
        }
        self.q.skip = Some(curr);
    }

    /// B.9: vruntime stays, so a debt made at a low weight is paid at the new one.
    pub(super) fn reweight_cfs(&mut self, t: TaskId, load: LoadWeight) {
        if self.task(t).se.on_rq {
            if self.q.curr == Some(t) {
                self.update_curr();
            }
            let old = self.task(t).se.load.weight;
            self.q.load.sub(old);
            self.q.load.add(load.weight);
        }
        self.task_mut(t).se.load = load;
    }
}
