//! The naive twin of both fair queues: a list, scanned; V by exact fractions. The oracle of
//! property tests and fuzzing, built with the feature `oracle` only.
//!
//! Before each operation of [`Fair`] the twin copies what the queue is; after it, it does the same
//! operation its own way on the copy and holds every field of every entity, the queue's order, its
//! sums and the decision against the model's. Each operation begins from a state that has been
//! compared, so the two agree on whole runs or the first difference is named. Nothing here uses
//! the tree, the kept sums, or the model's fixed point: it is written from the specification
//! (parts A, B and C) a second time. O(n) a step and worse, on purpose. The invariants that need
//! two states (H.3: 25, 28, 29) are checked here as well.

use super::fair::{Fair, Flags, Tunables};
use super::kernel::QueueKind;
use super::observer::Cause;
use super::task::{Entity, Policy};
use super::units::{Ns, TaskId, Vtime};
use super::weight::LoadWeight;

/// An operation of the fair queue.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Op {
    UpdateCurr,
    Enqueue(TaskId, Flags),
    /// With the model's answer: whether it left the queue.
    Dequeue(TaskId, Flags, bool),
    SetNext(TaskId),
    PutPrev(TaskId),
    Tick,
    WakeupPreempt(TaskId),
    Yield,
    /// With the model's choice.
    Pick(Option<TaskId>),
    Reweight(TaskId, LoadWeight),
    Fork(TaskId),
    RequeueDelayed(TaskId),
}

/// A task as far as the queue knows it.
#[derive(Clone, Copy)]
struct Member {
    se: Entity,
    policy: Policy,
    sum_exec: u64,
}

/// A fair queue as a list.
pub(crate) struct Twin {
    k: Tunables,
    now: Ns,
    exec: Option<TaskId>,
    members: Vec<Member>,
    /// Who waits in the queue, in the order in which they came: no order by key.
    list: Vec<TaskId>,
    curr: Option<TaskId>,
    min: Vtime,
    zero: Vtime,
    next: Option<TaskId>,
    last: Option<TaskId>,
    skip: Option<TaskId>,
    resched: Option<Cause>,
}

/// A.4, in as many bits as it takes: delta * weight / load, rounded as the fixed point rounds.
fn fixed(delta: u64, weight: u64, load: u64, inverse: Option<u32>) -> i64 {
    let down = |w: u64| if w == 0 { 0 } else { (w >> 10).max(2) };
    let inverse = match inverse.filter(|&i| i != 0) {
        Some(i) => u128::from(i),
        None => match down(load) {
            0 => 0xFFFF_FFFF,
            w => (0xFFFF_FFFF / u128::from(w)).max(1),
        },
    };
    let (mut fact, mut shift) = (u128::from(down(weight)), 32u32);
    for step in 0..2 {
        if step == 1 {
            fact *= inverse;
        }
        while fact >= 1 << 32 {
            fact >>= 1;
            shift -= 1;
        }
    }
    ((u128::from(delta) * fact) >> shift) as u64 as i64
}

/// Real ns into virtual ns of an entity.
fn virt(delta: u64, load: &LoadWeight) -> i64 {
    if load.weight == 1 << 20 {
        return delta as i64;
    }
    fixed(delta, 1 << 20, load.weight, Some(load.inverse))
}

fn ahead(a: Vtime, b: Vtime) -> i64 {
    a.0.wrapping_sub(b.0) as i64
}

pub(crate) fn plus(a: Vtime, d: i64) -> Vtime {
    Vtime(a.0.wrapping_add(d as u64))
}

impl Twin {
    pub(crate) fn of(fair: &Fair<'_>) -> Twin {
        let member = |t: &super::task::Task| Member {
            se: t.se,
            policy: t.sched.policy,
            sum_exec: t.sum_exec,
        };
        Twin {
            k: *fair.k,
            now: fair.now,
            exec: fair.exec,
            members: fair.tasks.iter().map(member).collect(),
            list: fair.q.arrivals.clone(),
            curr: fair.q.curr,
            min: fair.q.min_vruntime,
            zero: fair.q.zero_vruntime,
            next: fair.q.next,
            last: fair.q.last,
            skip: fair.q.skip,
            resched: *fair.resched,
        }
    }

    /// Does `op` its own way and compares.
    ///
    /// # Panics
    /// When the model did something else.
    pub(crate) fn follow(mut self, op: Op, fair: &Fair<'_>) {
        self.hold_to_rules(op, fair);
        match op {
            Op::UpdateCurr => self.update_curr(),
            Op::Enqueue(t, flags) => self.enqueue(t, flags),
            Op::Dequeue(t, flags, left) => {
                assert_eq!(self.dequeue(t, flags), left, "{op:?}: leaves the queue");
            }
            Op::SetNext(t) => self.set_next(t),
            Op::PutPrev(t) => self.put_prev(t),
            Op::Tick => self.tick(),
            Op::WakeupPreempt(t) => self.wakeup_preempt(t),
            Op::Yield => self.give_way(),
            Op::Pick(choice) => {
                assert_eq!(self.pick(), choice, "{op:?}: the twin's choice");
            }
            Op::Reweight(t, load) => self.reweight(t, load),
            Op::Fork(t) => self.fork(t),
            Op::RequeueDelayed(t) => self.requeue_delayed(t),
        }
        self.compare(op, fair);
    }

    /// The invariants of H.3 that speak of two states: 25, 28 and 29.
    fn hold_to_rules(&self, op: Op, fair: &Fair<'_>) {
        assert!(
            ahead(fair.q.min_vruntime, self.min) >= 0,
            "{op:?}: 25, min_vruntime went back"
        );
        match op {
            Op::Dequeue(t, _, true) if !self.cfs() => {
                let se = &fair.task(t).se;
                let limit = virt((2 * se.slice).max(self.k.tick), &se.load);
                assert!(
                    (-limit..=limit).contains(&se.vlag),
                    "{op:?}: 28, lag {} beyond {limit}",
                    se.vlag
                );
            }
            Op::UpdateCurr => {
                let Some(c) = self.curr else { return };
                let (before, after) = (self.se(c), &fair.task(c).se);
                assert!(
                    ahead(after.vruntime, before.vruntime) >= 0,
                    "{op:?}: 29, vruntime went back"
                );
                assert!(
                    self.cfs()
                        || after.exec_start == before.exec_start
                        || ahead(after.deadline, after.vruntime) > 0,
                    "{op:?}: 29, the deadline is past"
                );
            }
            _ => {}
        }
    }

    fn compare(&self, op: Op, fair: &Fair<'_>) {
        for (i, (member, task)) in self.members.iter().zip(fair.tasks.iter()).enumerate() {
            assert_eq!(member.se, task.se, "{op:?}: entity of task {i}");
            assert_eq!(
                member.sum_exec, task.sum_exec,
                "{op:?}: CPU time of task {i}"
            );
        }
        let q = &*fair.q;
        let order: Vec<TaskId> = q.tree.iter().collect();
        assert_eq!(self.sorted(), order, "{op:?}: order of the queue");
        assert_eq!(self.curr, q.curr, "{op:?}: current");
        assert_eq!(self.min, q.min_vruntime, "{op:?}: min_vruntime");
        assert_eq!(
            (self.next, self.last, self.skip),
            (q.next, q.last, q.skip),
            "{op:?}: buddies"
        );
        assert_eq!(self.resched, *fair.resched, "{op:?}: need_resched");
        assert_eq!(
            self.queued().len(),
            q.nr_running as usize,
            "{op:?}: nr_running"
        );
        let weight: u64 = self.queued().iter().map(|&t| self.se(t).load.weight).sum();
        assert_eq!(weight, q.load.weight, "{op:?}: load of the queue");
        if self.cfs() {
            return;
        }
        assert_eq!(self.zero, q.zero_vruntime, "{op:?}: origin of keys");
        let (mut sum, mut down) = (0i128, 0i128);
        for &t in &self.list {
            let w = self.weight(t);
            sum += w * i128::from(ahead(self.se(t).vruntime, self.zero));
            down += w;
        }
        assert_eq!(sum as i64, q.avg_vruntime, "{op:?}: sum of keys");
        assert_eq!(down as i64, q.avg_load, "{op:?}: sum of weights");
        assert_eq!(self.v(), fair.virtual_now(), "{op:?}: V");
    }

    fn cfs(&self) -> bool {
        self.k.kernel.queue == QueueKind::Cfs
    }

    fn se(&self, t: TaskId) -> &Entity {
        &self.members[t.index()].se
    }

    fn se_mut(&mut self, t: TaskId) -> &mut Entity {
        &mut self.members[t.index()].se
    }

    fn policy(&self, t: TaskId) -> Policy {
        self.members[t.index()].policy
    }

    /// The weight as in the table, for the sums of C.3.
    fn weight(&self, t: TaskId) -> i128 {
        i128::from((self.se(t).load.weight >> 10).max(2))
    }

    fn curr_queued(&self) -> Option<TaskId> {
        self.curr.filter(|&c| self.se(c).on_rq)
    }

    /// All that are queued, the current one included.
    fn queued(&self) -> Vec<TaskId> {
        let mut all = self.list.clone();
        all.extend(self.curr_queued());
        all
    }

    fn key(&self, t: TaskId) -> Vtime {
        if self.cfs() {
            self.se(t).vruntime
        } else {
            self.se(t).deadline
        }
    }

    /// By key; among equals who came first.
    fn sorted(&self) -> Vec<TaskId> {
        let mut all = self.list.clone();
        all.sort_by(|&a, &b| ahead(self.key(a), self.key(b)).cmp(&0));
        all
    }

    fn ask_resched(&mut self, cause: Cause) {
        if self.resched.is_none() {
            self.resched = Some(cause);
        }
    }

    // ---- time ------------------------------------------------------------------------------

    fn update_curr(&mut self) {
        let Some(c) = self.curr else { return };
        if self.se(c).exec_start >= self.now {
            return;
        }
        let delta = self.now.0 - self.se(c).exec_start.0;
        let now = self.now;
        let se = self.se_mut(c);
        se.exec_start = now;
        se.charged += delta;
        se.vruntime = plus(se.vruntime, virt(delta, &se.load));
        let runs = self.exec.unwrap_or(c);
        self.members[runs.index()].sum_exec += delta;
        if self.cfs() {
            self.advance_min();
        } else {
            self.served(c);
        }
    }

    /// B.3: the least vruntime there is, but never back.
    fn advance_min(&mut self) {
        let all = self.queued();
        let least = all
            .iter()
            .map(|&t| self.se(t).vruntime)
            .reduce(|a, b| if ahead(b, a) < 0 { b } else { a });
        if let Some(least) = least
            && ahead(least, self.min) > 0
        {
            self.min = least;
        }
    }

    /// The older EEVDF: min_vruntime moves, and keys are counted from it.
    fn advance_origin(&mut self) {
        if !self.k.kernel.zero_vruntime {
            self.advance_min();
            self.zero = self.min;
        }
    }

    // ---- EEVDF: V, lag, deadlines ------------------------------------------------------------

    /// The floor of the weighted mean of all queued; of an empty queue the last there was.
    fn v(&self) -> Vtime {
        let all = self.queued();
        let Some(&first) = all.first() else {
            return self.zero;
        };
        let from = self.se(first).vruntime;
        let (mut sum, mut weight) = (0i128, 0i128);
        for &t in &all {
            let w = self.weight(t);
            sum += w * i128::from(ahead(self.se(t).vruntime, from));
            weight += w;
        }
        plus(from, sum.div_euclid(weight) as i64)
    }

    /// V as the kernel asks for it: late 6.12 counts keys from there ever after.
    fn ask_v(&mut self) -> Vtime {
        let v = self.v();
        if self.k.kernel.zero_vruntime {
            self.zero = v;
        }
        v
    }

    /// Lag not negative: sum of w * (v_i - v) not negative, exactly.
    fn eligible(&self, t: TaskId) -> bool {
        let v = self.se(t).vruntime;
        let sum: i128 = self
            .queued()
            .iter()
            .map(|&u| self.weight(u) * i128::from(ahead(self.se(u).vruntime, v)))
            .sum();
        sum >= 0
    }

    fn protected(&self, t: TaskId) -> bool {
        let se = self.se(t);
        if self.k.kernel.vprot {
            ahead(se.vruntime, se.vprot) < 0
        } else {
            se.vlag == se.deadline.0 as i64
        }
    }

    fn unprotect(&mut self, t: TaskId) {
        let by_vruntime = self.k.kernel.vprot;
        let protected = self.protected(t);
        let se = self.se_mut(t);
        if by_vruntime && protected {
            se.vprot = se.vruntime;
        } else if !by_vruntime && protected {
            se.vlag = (se.deadline.0 as i64).wrapping_add(1);
        }
    }

    fn base_slice(&mut self, t: TaskId) {
        let base = self.k.base_slice;
        let se = self.se_mut(t);
        if !se.custom_slice {
            se.slice = base;
        }
    }

    /// C.7, with what it asks of the scheduler.
    fn served(&mut self, c: TaskId) {
        let expired = ahead(self.se(c).vruntime, self.se(c).deadline) >= 0;
        if expired {
            self.base_slice(c);
            let se = self.se_mut(c);
            se.deadline = plus(se.vruntime, virt(se.slice, &se.load));
            self.ask_v();
        }
        self.advance_origin();
        if self.queued().len() < 2 {
            return;
        }
        let kernel = self.k.kernel;
        if expired || (kernel.vprot && !self.protected(c)) {
            self.ask_resched(Cause::SliceEnd);
        } else if !kernel.vprot && kernel.custom_slice && !self.protected(c) && !self.eligible(c) {
            self.ask_resched(Cause::NotEligible);
        }
    }

    fn lag(&self, t: TaskId, v: Vtime) -> i64 {
        let se = self.se(t);
        let limit = virt((2 * se.slice).max(self.k.tick), &se.load);
        ahead(v, se.vruntime).min(limit).max(-limit)
    }

    /// C.11.
    fn place(&mut self, t: TaskId, initial: bool) {
        let v = self.ask_v();
        self.base_slice(t);
        let others: i128 = self.queued().iter().map(|&u| self.weight(u)).sum();
        let own = self.weight(t);
        let se = self.se_mut(t);
        let mut lag = 0;
        if others > 0 {
            lag = (i128::from(se.vlag) * (others + own) / others) as i64;
        }
        se.vruntime = plus(v, lag.wrapping_neg());
        if se.rel_deadline {
            se.rel_deadline = false;
            se.deadline = plus(se.vruntime, se.deadline.0 as i64);
        } else {
            let whole = virt(se.slice, &se.load);
            let request = if initial { whole / 2 } else { whole };
            se.deadline = plus(se.vruntime, request);
        }
    }

    // ---- in and out --------------------------------------------------------------------------

    fn enqueue(&mut self, t: TaskId, flags: Flags) {
        let current = self.curr == Some(t);
        if self.cfs() {
            let rebase = |twin: &mut Twin| {
                let min = twin.min.0 as i64;
                let se = twin.se_mut(t);
                se.vruntime = plus(se.vruntime, min);
            };
            if !flags.wakeup && current {
                rebase(self);
            }
            self.update_curr();
            if !flags.wakeup && !current {
                rebase(self);
            }
            if flags.wakeup {
                // The entity counts in the queue already, but its place is taken from min alone.
                self.place_sleeper(t);
            }
        } else {
            if current {
                self.place(t, flags.initial);
            }
            self.update_curr();
            if !current {
                self.place(t, flags.initial);
            }
        }
        if !current {
            self.list.push(t);
        }
        self.se_mut(t).on_rq = true;
    }

    fn leave(&mut self, t: TaskId) {
        self.list.retain(|&u| u != t);
        self.se_mut(t).on_rq = false;
    }

    fn dequeue(&mut self, t: TaskId, flags: Flags) -> bool {
        self.update_curr();
        if self.cfs() {
            self.forget_buddy(t);
            self.leave(t);
            if !flags.sleep {
                let min = self.min.0 as i64;
                let se = self.se_mut(t);
                se.vruntime = plus(se.vruntime, min.wrapping_neg());
            }
            if !flags.save || flags.moved {
                self.advance_min();
            }
            return true;
        }
        if flags.delayed {
            self.se_mut(t).sched_delayed = false;
        } else if flags.sleep && self.k.kernel.delay_dequeue && !flags.special && !self.eligible(t)
        {
            self.se_mut(t).sched_delayed = true;
            return false;
        }
        let v = self.ask_v();
        let lag = self.lag(t, v);
        self.se_mut(t).vlag = lag;
        if !flags.sleep && self.k.kernel.place_rel_deadline {
            let se = self.se_mut(t);
            se.rel_deadline = true;
            se.deadline = Vtime(se.deadline.0.wrapping_sub(se.vruntime.0));
        }
        self.leave(t);
        if flags.delayed && lag > 0 {
            self.se_mut(t).vlag = 0;
        }
        self.advance_origin();
        true
    }

    fn requeue_delayed(&mut self, t: TaskId) {
        let v = self.ask_v();
        let lag = self.lag(t, v);
        if lag > 0 {
            let current = self.curr == Some(t);
            self.leave(t);
            self.se_mut(t).vlag = 0;
            self.place(t, false);
            self.se_mut(t).on_rq = true;
            if !current {
                self.list.push(t);
            }
        }
        self.se_mut(t).sched_delayed = false;
    }

    fn set_next(&mut self, t: TaskId) {
        if self.cfs() {
            self.forget_buddy(t);
        }
        if self.se(t).on_rq {
            self.list.retain(|&u| u != t);
            if !self.cfs() {
                let shortest = self.list.iter().map(|&u| self.se(u).slice).min();
                let shrinks = self.k.kernel.vprot;
                let se = self.se_mut(t);
                se.vprot = se.deadline;
                if let Some(shortest) = shortest
                    && shrinks
                    && shortest < se.slice
                {
                    let end = plus(se.vruntime, virt(shortest, &se.load));
                    if ahead(end, se.vprot) < 0 {
                        se.vprot = end;
                    }
                }
                se.vlag = se.deadline.0 as i64;
            }
        }
        let now = self.now;
        let se = self.se_mut(t);
        se.exec_start = now;
        se.prev_charged = se.charged;
        self.curr = Some(t);
    }

    fn put_prev(&mut self, t: TaskId) {
        if self.se(t).on_rq {
            self.update_curr();
            self.list.push(t);
        }
        self.curr = None;
    }

    // ---- CFS ---------------------------------------------------------------------------------

    fn idle_entity(&self, t: TaskId) -> bool {
        self.k.fair_group_sched && self.policy(t) == Policy::Idle
    }

    /// B.4.
    fn slice(&self, t: TaskId) -> u64 {
        let mut all = self.queued();
        let idle_only = !all.is_empty() && all.iter().all(|&u| self.policy(u) == Policy::Idle);
        if !self.se(t).on_rq {
            all.push(t);
        }
        let n = all.len() as u64;
        let period = if n <= self.k.kernel.nr_latency {
            self.k.latency
        } else {
            n * self.k.min_granularity
        };
        let total: u64 = all.iter().map(|&u| self.se(u).load.weight).sum();
        let share = fixed(period, self.se(t).load.weight, total, None) as u64;
        let floor = if self.idle_entity(t) && !idle_only {
            self.k.idle_min_granularity
        } else {
            self.k.min_granularity
        };
        share.max(floor)
    }

    /// B.6, a sleeper.
    fn place_sleeper(&mut self, t: TaskId) {
        let credit = if self.idle_entity(t) {
            self.k.min_granularity
        } else {
            self.k.latency
        } / 2;
        let place = plus(self.min, -(credit as i64));
        let asleep = self.now.0.saturating_sub(self.se(t).exec_start.0);
        let se = self.se_mut(t);
        if asleep > (1u64 << 63) / 1024 || ahead(place, se.vruntime) > 0 {
            se.vruntime = place;
        }
    }

    fn fork(&mut self, t: TaskId) {
        self.update_curr();
        if !self.cfs() {
            return;
        }
        let parent = self.curr.map_or(Vtime(0), |c| self.se(c).vruntime);
        let pays = virt(self.slice(t), &self.se(t).load);
        let place = plus(self.min, pays);
        let start = if ahead(place, parent) > 0 {
            place
        } else {
            parent
        };
        let min = self.min;
        self.se_mut(t).vruntime = Vtime(start.0.wrapping_sub(min.0));
    }

    fn forget_buddy(&mut self, t: TaskId) {
        for buddy in [&mut self.next, &mut self.last, &mut self.skip] {
            if *buddy == Some(t) {
                *buddy = None;
            }
        }
    }

    /// B.7: further behind than its granularity.
    fn beats(&self, curr: TaskId, t: TaskId) -> bool {
        let behind = ahead(self.se(curr).vruntime, self.se(t).vruntime);
        behind > 0 && behind > virt(self.k.wakeup_granularity, &self.se(t).load)
    }

    fn preempt(&mut self, curr: TaskId) {
        self.ask_resched(Cause::Wakeup);
        let many = self.queued().len() as u64 >= self.k.kernel.nr_latency;
        if self.se(curr).on_rq && many && !self.idle_entity(curr) {
            self.last = Some(curr);
        }
    }

    // ---- decisions ---------------------------------------------------------------------------

    fn tick(&mut self) {
        self.update_curr();
        let Some(c) = self.curr.filter(|_| self.cfs()) else {
            return;
        };
        if self.queued().len() < 2 {
            return;
        }
        let ideal = self.slice(c);
        let ran = self.se(c).charged - self.se(c).prev_charged;
        if ran > ideal {
            self.ask_resched(Cause::SliceEnd);
            self.forget_buddy(c);
        } else if ran >= self.k.min_granularity
            && let Some(&left) = self.sorted().first()
        {
            let d = ahead(self.se(c).vruntime, self.se(left).vruntime);
            if i128::from(d) > i128::from(ideal) {
                self.ask_resched(Cause::LeftmostBehind);
            }
        }
    }

    fn wakeup_preempt(&mut self, t: TaskId) {
        let Some(c) = self.curr else { return };
        if c == t || self.resched.is_some() {
            return;
        }
        let (idle_c, idle_t) = (
            self.policy(c) == Policy::Idle,
            self.policy(t) == Policy::Idle,
        );
        if idle_c && !idle_t {
            if self.cfs() {
                self.preempt(c);
            } else {
                self.unprotect(c);
                self.ask_resched(Cause::Wakeup);
            }
            return;
        }
        if idle_c != idle_t || self.policy(t) != Policy::Normal {
            return;
        }
        self.update_curr();
        if self.cfs() {
            if self.beats(c, t) {
                if !self.idle_entity(t) {
                    self.next = Some(t);
                }
                self.preempt(c);
            }
            return;
        }
        let shorter = self.se(t).slice < self.se(c).slice;
        if self.k.kernel.custom_slice
            && shorter
            && self.eligible(t)
            && (ahead(self.se(t).deadline, self.se(c).deadline) < 0 || !self.eligible(c))
        {
            self.unprotect(c);
        }
        if self.best() == Some(t) {
            self.ask_resched(Cause::Wakeup);
        } else if self.k.kernel.vprot && shorter {
            let slice = self.se(t).slice;
            let se = self.se_mut(c);
            let end = plus(se.vruntime, virt(slice, &se.load));
            if ahead(end, se.vprot) < 0 {
                se.vprot = end;
            }
        }
    }

    fn give_way(&mut self) {
        let Some(c) = self.curr.filter(|_| self.queued().len() > 1) else {
            return;
        };
        if self.cfs() {
            self.forget_buddy(c);
            if self.policy(c) != Policy::Batch {
                self.update_curr();
            }
            self.skip = Some(c);
            return;
        }
        self.update_curr();
        if !self.k.kernel.yield_to_deadline {
            let se = self.se_mut(c);
            se.deadline = plus(se.deadline, virt(se.slice, &se.load));
        } else if self.eligible(c) {
            self.base_slice(c);
            let se = self.se_mut(c);
            se.vruntime = se.deadline;
            se.deadline = plus(se.vruntime, virt(se.slice, &se.load));
            self.ask_v();
        }
    }

    fn pick(&mut self) -> Option<TaskId> {
        if self.curr_queued().is_some() {
            self.update_curr();
        }
        if self.cfs() {
            self.leftmost()
        } else {
            self.best()
        }
    }

    /// B.8.
    fn leftmost(&self) -> Option<TaskId> {
        let curr = self.curr_queued();
        let waiting = self.sorted();
        let before = |a: TaskId, b: TaskId| ahead(self.se(a).vruntime, self.se(b).vruntime) < 0;
        let left = match (waiting.first().copied(), curr) {
            (Some(f), Some(c)) if before(c, f) => c,
            (Some(f), _) => f,
            (None, c) => c?,
        };
        // Close enough to the left one to be taken in its place.
        let will_do = |t: TaskId| !self.beats(t, left);
        let mut choice = left;
        if self.skip == Some(left) {
            let second = if curr == Some(left) {
                waiting.first().copied()
            } else {
                let after = waiting.get(1).copied();
                match (after, curr) {
                    (Some(a), Some(c)) if before(c, a) => Some(c),
                    (Some(a), _) => Some(a),
                    (None, c) => c,
                }
            };
            if let Some(second) = second.filter(|&s| will_do(s)) {
                choice = second;
            }
        }
        let buddy = self
            .next
            .filter(|&n| will_do(n))
            .or(self.last.filter(|&l| will_do(l)));
        Some(buddy.unwrap_or(choice))
    }

    /// C.6.
    fn best(&self) -> Option<TaskId> {
        let curr = self.curr_queued();
        if self.queued().len() == 1 {
            return self.queued().first().copied();
        }
        let curr_ok = curr.filter(|&c| self.eligible(c));
        if let Some(c) = curr_ok.filter(|&c| self.protected(c)) {
            return Some(c);
        }
        let waiting = self.sorted();
        match (waiting.iter().copied().find(|&t| self.eligible(t)), curr_ok) {
            (Some(b), Some(c)) if ahead(self.se(c).deadline, self.se(b).deadline) < 0 => Some(c),
            (Some(b), _) => Some(b),
            (None, Some(c)) => Some(c),
            (None, None) => {
                assert!(self.queued().is_empty(), "nobody is eligible");
                None
            }
        }
    }

    // ---- another load ------------------------------------------------------------------------

    fn reweight(&mut self, t: TaskId, load: LoadWeight) {
        if self.cfs() {
            if self.se(t).on_rq && self.curr == Some(t) {
                self.update_curr();
            }
            self.se_mut(t).load = load;
            return;
        }
        let (old, new) = (i128::from(self.se(t).load.weight), i128::from(load.weight));
        let scaled = |x: i64| (i128::from(x) * old / new) as i64;
        if !self.se(t).on_rq {
            let scales = self.k.scales_rel_deadline;
            let se = self.se_mut(t);
            se.vlag = scaled(se.vlag);
            if scales && se.rel_deadline {
                se.deadline = Vtime(scaled(se.deadline.0 as i64) as u64);
            }
            se.load = load;
            return;
        }
        self.update_curr();
        let v = self.ask_v();
        let lag = self.lag(t, v);
        if self.curr != Some(t) {
            self.list.retain(|&u| u != t);
            self.list.push(t);
        }
        let se = self.se_mut(t);
        if v != se.vruntime {
            se.vruntime = plus(v, -scaled(lag));
        }
        se.deadline = plus(v, scaled(ahead(se.deadline, v)));
        se.load = load;
    }
}
