//! rt_mutex: waiters in order, the top one of each owned lock in `pi_waiters`, the chain walk,
//! hand-over; and beside it the plain mutex and the kernel mutex of proxy execution.
//!
//! Fair waiters all have the key 120, so among them the first to arrive stays first (D.1). The
//! key is a copy taken when the waiter is queued. A lock that is given up with waiters has no
//! owner until its top waiter has run and taken it. Specification: part D, corrected by I.4.

use super::machine::{Machine, Protocol};
use super::observer::{Event, LockEvent, Observer, Refusal};
use super::pi::Variant;
use super::program::Doing;
use super::task::{DEFAULT_PRIO, MAX_RT_PRIO, State, Task};
use super::units::{LockId, Ns, TaskId};

/// A chain longer than this is taken for a deadlock (D.4).
pub const MAX_LOCK_DEPTH: u32 = 1024;

/// Under which a waiter is ordered (D.1): lower is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WaiterKey {
    /// The prio; every fair one counts as 120 (not in the second version of the patch).
    pub prio: i32,
    /// Absolute deadline of a deadline task, else 0.
    pub deadline: Ns,
}

impl WaiterKey {
    /// The key of a task that queues now.
    pub(crate) fn of(task: &Task, variant: Variant) -> WaiterKey {
        let squash = variant != Variant::ReweightV2 && task.prio >= MAX_RT_PRIO;
        WaiterKey {
            prio: if squash { DEFAULT_PRIO } else { task.prio },
            deadline: if task.prio < 0 {
                task.dl_deadline
            } else {
                Ns(0)
            },
        }
    }

    /// Strictly better.
    pub(crate) fn less(self, other: WaiterKey) -> bool {
        if self.prio != other.prio {
            self.prio < other.prio
        } else {
            self.prio < 0 && self.deadline < other.deadline
        }
    }
}

/// A task's pi_waiters: the top waiter of each lock it owns, best first, first in among equals.
pub(crate) type PiWaiters = Vec<PiWaiter>;

/// An entry of `pi_waiters`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PiWaiter {
    /// The key when it was put there.
    pub key: WaiterKey,
    /// Of which lock it is the top waiter.
    pub lock: LockId,
    /// Who.
    pub task: TaskId,
}

/// A mutex of any protocol.
#[derive(Clone, Debug)]
pub(crate) struct Lock {
    pub protocol: Protocol,
    /// How it is used now: fixed by the first user, until it is free of owner and waiters.
    pub mode: Mode,
    pub owner: Option<TaskId>,
    /// In order; the keys are those of the tasks' `waiter_key`.
    pub waiters: Vec<TaskId>,
}

/// What a lock does under the variant in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Lends nothing.
    Plain,
    /// An rt_mutex.
    RtMutex,
    /// A kernel mutex whose waiters stay queued and lend their turn.
    Proxy,
}

/// How deep to look for deadlocks (D.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Walk {
    /// Only as far as something changes.
    Min,
    /// To the end of the chain.
    Full,
}

impl Machine {
    fn mode_of(&mut self, lock: LockId) -> Mode {
        let variant = self.settings.pi;
        let l = &mut self.locks[lock.index()];
        if l.owner.is_none() && l.waiters.is_empty() {
            l.mode = match (l.protocol, variant) {
                (Protocol::None, _) | (_, Variant::None) => Mode::Plain,
                (_, Variant::ProxyExec) => Mode::Proxy,
                _ => Mode::RtMutex,
            };
        }
        l.mode
    }

    fn own(&mut self, lock: LockId, t: TaskId, obs: &mut dyn Observer) {
        self.locks[lock.index()].owner = Some(t);
        self.tasks[t.index()].held.push(lock);
        obs.event(
            self,
            &Event::Lock {
                lock,
                task: t,
                what: LockEvent::Acquired,
            },
        );
    }

    fn disown(&mut self, lock: LockId, t: TaskId) {
        self.locks[lock.index()].owner = None;
        self.tasks[t.index()].held.retain(|&l| l != lock);
    }

    fn top_waiter(&self, lock: LockId) -> Option<TaskId> {
        self.locks[lock.index()].waiters.first().copied()
    }

    fn key(&self, t: TaskId) -> WaiterKey {
        WaiterKey::of(&self.tasks[t.index()], self.settings.pi)
    }

    /// Puts a waiter into the lock's order under its present key, right of equals.
    fn insert_waiter(&mut self, lock: LockId, t: TaskId) {
        let key = self.key(t);
        self.tasks[t.index()].waiter_key = key;
        let tasks = &self.tasks;
        let waiters = &mut self.locks[lock.index()].waiters;
        let at = waiters.partition_point(|&w| !key.less(tasks[w.index()].waiter_key));
        waiters.insert(at, t);
    }

    fn remove_from_waiters(&mut self, lock: LockId, t: TaskId) {
        self.locks[lock.index()].waiters.retain(|&w| w != t);
    }

    fn add_pi_waiter(&mut self, owner: TaskId, lock: LockId, t: TaskId) {
        let entry = PiWaiter {
            key: self.tasks[t.index()].waiter_key,
            lock,
            task: t,
        };
        let list = &mut self.tasks[owner.index()].pi_waiters;
        let at = list.partition_point(|e| !entry.key.less(e.key));
        list.insert(at, entry);
    }

    fn remove_pi_waiter(&mut self, owner: TaskId, lock: LockId) {
        self.tasks[owner.index()]
            .pi_waiters
            .retain(|e| e.lock != lock);
    }

    /// Takes a lock, or begins to wait for it. `doing` is then [`Doing::Locking`].
    pub(crate) fn lock(
        &mut self,
        t: TaskId,
        lock: LockId,
        expires: Option<Ns>,
        obs: &mut dyn Observer,
    ) {
        let mode = self.mode_of(lock);
        if self.locks[lock.index()].owner == Some(t) {
            self.refuse_lock(t, lock, obs);
            return;
        }
        if self.may_take(lock, t) {
            self.take(lock, t, obs);
            return;
        }
        match mode {
            Mode::RtMutex => {
                if !self.task_blocks_on(t, lock, obs) {
                    self.refuse_lock(t, lock, obs);
                    return;
                }
            }
            Mode::Plain | Mode::Proxy => {
                if self.closes_cycle(t, lock) && mode == Mode::Proxy {
                    self.refuse_lock(t, lock, obs);
                    return;
                }
                self.locks[lock.index()].waiters.push(t);
                self.tasks[t.index()].pi_blocked_on = Some(lock);
            }
        }
        self.begin_wait(t, lock, expires, obs);
    }

    /// EDEADLK: the call returns, its unlock is passed over.
    fn refuse_lock(&mut self, t: TaskId, lock: LockId, obs: &mut dyn Observer) {
        let task = &mut self.tasks[t.index()];
        task.cursor.skip_next_unlock(lock);
        task.cursor.doing = Doing::Nothing;
        obs.event(
            self,
            &Event::Lock {
                lock,
                task: t,
                what: LockEvent::Deadlock,
            },
        );
        obs.event(
            self,
            &Event::Refused {
                task: t,
                refusal: Refusal::Deadlock(lock),
            },
        );
    }

    fn begin_wait(&mut self, t: TaskId, lock: LockId, expires: Option<Ns>, obs: &mut dyn Observer) {
        let owner = self.locks[lock.index()].owner;
        obs.event(
            self,
            &Event::Lock {
                lock,
                task: t,
                what: LockEvent::Blocked { owner },
            },
        );
        if let Some(at) = expires {
            self.arm_lock_timeout(t, at);
        }
        self.wait_for_lock(t, lock, expires, obs);
    }

    /// Sleeps, or spins while the owner runs on another CPU (D.3).
    fn wait_for_lock(
        &mut self,
        t: TaskId,
        lock: LockId,
        expires: Option<Ns>,
        obs: &mut dyn Observer,
    ) {
        let l = &self.locks[lock.index()];
        if l.mode == Mode::RtMutex && self.owner_on_cpu(lock, t) && l.waiters.first() == Some(&t) {
            self.tasks[t.index()].cursor.doing = Doing::Spinning { lock, expires };
            return;
        }
        self.tasks[t.index()].cursor.doing = Doing::Locking {
            lock,
            expires,
            expired: false,
        };
        if l.mode == Mode::Proxy {
            self.tasks[t.index()].blocked_donor = Some(lock);
        }
        self.block_current(t, State::Blocked(lock), obs);
    }

    /// Whether a lock's owner is running at this moment, on a CPU other than `t`'s.
    pub(crate) fn owner_on_cpu(&self, lock: LockId, t: TaskId) -> bool {
        self.locks[lock.index()].owner.is_some_and(|o| {
            let cpu = self.tasks[o.index()].cpu;
            cpu != self.tasks[t.index()].cpu && self.cpus[cpu.index()].curr == Some(o)
        })
    }

    /// D.3, try_to_take: the top waiter takes a free lock; others only with a strictly better key.
    fn may_take(&self, lock: LockId, t: TaskId) -> bool {
        let l = &self.locks[lock.index()];
        if l.owner.is_some() {
            return false;
        }
        if l.mode != Mode::RtMutex {
            return true;
        }
        match l.waiters.first() {
            None => true,
            Some(&top) if top == t => true,
            Some(&top) => {
                let task = &self.tasks[t.index()];
                // One that is in line is known by the key it queued under.
                let queued = task.pi_blocked_on == Some(lock);
                let key = if queued { task.waiter_key } else { self.key(t) };
                key.less(self.tasks[top.index()].waiter_key)
            }
        }
    }

    /// D.3, on success. The waiters that stay behind do not boost the new owner: nobody adjusts.
    fn take(&mut self, lock: LockId, t: TaskId, obs: &mut dyn Observer) {
        if self.tasks[t.index()].pi_blocked_on == Some(lock) {
            self.remove_from_waiters(lock, t);
        }
        self.tasks[t.index()].pi_blocked_on = None;
        self.tasks[t.index()].blocked_donor = None;
        self.tasks[t.index()].signal_pending = false;
        self.tasks[t.index()].cursor.doing = Doing::Nothing;
        self.disarm_timer(t);
        self.own(lock, t, obs);
        if self.locks[lock.index()].mode == Mode::RtMutex {
            if let Some(top) = self.top_waiter(lock) {
                self.add_pi_waiter(t, lock, top);
            }
            if self.settings.pi == Variant::ReweightFixed {
                self.settle(t, obs);
            }
        }
    }

    /// The waiter runs again: woken by the unlock, by its timeout, or at the end of a spin.
    pub(crate) fn retry_lock(&mut self, t: TaskId, obs: &mut dyn Observer) {
        let (lock, expires, expired) = match self.tasks[t.index()].cursor.doing {
            Doing::Locking {
                lock,
                expires,
                expired,
            } => (lock, expires, expired),
            Doing::Spinning { lock, expires } => {
                (lock, expires, expires.is_some_and(|at| at <= self.now))
            }
            _ => return,
        };
        if self.locks[lock.index()].owner == Some(t) {
            // Proxy: the lock was put into our hands while we were queued.
            self.tasks[t.index()].cursor.doing = Doing::Nothing;
            return;
        }
        if self.may_take(lock, t) {
            self.take(lock, t, obs);
        } else if expired {
            // I.4: a timeout acts only here, in the waiter's own context.
            self.disarm_timer(t);
            self.tasks[t.index()].signal_pending = false;
            self.tasks[t.index()].cursor.doing = Doing::Nothing;
            self.tasks[t.index()].cursor.skip_next_unlock(lock);
            obs.event(
                self,
                &Event::Lock {
                    lock,
                    task: t,
                    what: LockEvent::TimedOut,
                },
            );
            self.remove_waiter(t, lock, obs);
        } else if std::mem::take(&mut self.tasks[t.index()].signal_pending) {
            // The call returns EINTR inside the kernel and is made again: behind its equals now.
            obs.event(
                self,
                &Event::Lock {
                    lock,
                    task: t,
                    what: LockEvent::Interrupted,
                },
            );
            self.remove_waiter(t, lock, obs);
            self.lock(t, lock, expires, obs);
        } else {
            if self.locks[lock.index()].mode == Mode::Plain
                && self.tasks[t.index()].pi_blocked_on != Some(lock)
            {
                // A plain waiter left the queue when it was woken: it queues anew.
                self.locks[lock.index()].waiters.push(t);
                self.tasks[t.index()].pi_blocked_on = Some(lock);
            }
            self.wait_for_lock(t, lock, expires, obs);
        }
    }

    /// Whether waiting for `lock` would have `t` wait for itself (or the chain is too deep).
    fn closes_cycle(&self, t: TaskId, lock: LockId) -> bool {
        let mut at = self.locks[lock.index()].owner;
        for _ in 0..MAX_LOCK_DEPTH {
            match at {
                None => return false,
                Some(o) if o == t => return true,
                Some(o) => match self.tasks[o.index()].pi_blocked_on {
                    Some(next) => at = self.locks[next.index()].owner,
                    None => return false,
                },
            }
        }
        true
    }

    /// D.3, block. False: EDEADLK, and everything is as before.
    fn task_blocks_on(&mut self, t: TaskId, lock: LockId, obs: &mut dyn Observer) -> bool {
        let fixed = self.settings.pi == Variant::ReweightFixed;
        if fixed && self.closes_cycle(t, lock) {
            return false;
        }
        // [2]
        let old_top = self.top_waiter(lock);
        self.insert_waiter(lock, t);
        self.tasks[t.index()].pi_blocked_on = Some(lock);
        let Some(owner) = self.locks[lock.index()].owner else {
            return true;
        };
        // [3]
        let is_top = self.top_waiter(lock) == Some(t);
        if is_top {
            if old_top.is_some() {
                self.remove_pi_waiter(owner, lock);
            }
            self.add_pi_waiter(owner, lock, t);
        }
        if fixed {
            self.settle(owner, obs);
            return true;
        }
        if is_top {
            self.adjust_prio(owner, obs);
        }
        // [4] A PI futex always asks for the whole chain.
        let next_lock = self.tasks[owner.index()].pi_blocked_on;
        if let Some(next_lock) = next_lock
            && !self.adjust_prio_chain(
                owner,
                Walk::Full,
                Some(lock),
                next_lock,
                Some((t, lock)),
                Some(t),
                obs,
            )
        {
            self.remove_waiter(t, lock, obs);
            return false;
        }
        true
    }

    /// D.4. False: EDEADLK.
    #[allow(clippy::too_many_arguments)]
    fn adjust_prio_chain(
        &mut self,
        start: TaskId,
        mode: Walk,
        orig_lock: Option<LockId>,
        first_lock: LockId,
        orig_waiter: Option<(TaskId, LockId)>,
        top_task: Option<TaskId>,
        obs: &mut dyn Observer,
    ) -> bool {
        let detect = mode == Walk::Full && orig_waiter.is_some();
        let mut requeue = true;
        let mut task = start;
        let mut next_lock = first_lock;
        // The waiter whose effect is being carried on: whose, on which lock.
        let mut top_waiter = orig_waiter;
        let mut depth = 0;
        loop {
            // [0]
            depth += 1;
            if depth > MAX_LOCK_DEPTH {
                return false;
            }
            // [1]
            let Some(lock) = self.tasks[task.index()].pi_blocked_on else {
                return true;
            };
            if orig_lock
                .is_some_and(|l| orig_waiter.is_some() && self.locks[l.index()].owner.is_none())
            {
                return true;
            }
            if lock != next_lock || self.locks[lock.index()].mode != Mode::RtMutex {
                return true;
            }
            // [2]
            if let Some((w, _)) = top_waiter {
                match self.tasks[task.index()].pi_waiters.first() {
                    None => return true,
                    Some(first) if first.task != w => {
                        if !detect {
                            return true;
                        }
                        requeue = false;
                    }
                    Some(_) => {}
                }
            }
            // [3] Fair against fair: the key never differs, the walk never goes on.
            if self.tasks[task.index()].waiter_key == self.key(task) {
                if !detect {
                    return true;
                }
                requeue = false;
            }
            // [4]
            let owner = self.locks[lock.index()].owner;
            if Some(lock) == orig_lock || (owner.is_some() && owner == top_task) {
                return false;
            }
            // [5]
            if !requeue {
                let Some(owner) = owner else { return true };
                let Some(next) = self.tasks[owner.index()].pi_blocked_on else {
                    return true;
                };
                top_waiter = self.top_waiter(lock).map(|w| (w, lock));
                task = owner;
                next_lock = next;
                continue;
            }
            // [6]
            let pre = self.top_waiter(lock);
            let waiter = task;
            self.remove_from_waiters(lock, waiter);
            self.insert_waiter(lock, waiter);
            let top = self.top_waiter(lock);
            let Some(owner) = owner else {
                if top != pre
                    && let Some(top) = top
                {
                    self.wake(top, None, false, obs);
                }
                return true;
            };
            // [7] Up to the top, or down from it: then the new top's effect is carried on.
            let changed = top == Some(waiter) || pre == Some(waiter);
            if changed {
                self.remove_pi_waiter(owner, lock);
                if let Some(top) = top {
                    self.add_pi_waiter(owner, lock, top);
                }
                self.adjust_prio(owner, obs);
            }
            // [8]
            let Some(next) = self.tasks[owner.index()].pi_blocked_on else {
                return true;
            };
            if !detect && !changed {
                return true;
            }
            top_waiter = top.map(|w| (w, lock));
            task = owner;
            next_lock = next;
        }
    }

    /// D.6: a waiter leaves without the lock.
    fn remove_waiter(&mut self, t: TaskId, lock: LockId, obs: &mut dyn Observer) {
        let was_top = self.top_waiter(lock) == Some(t);
        self.remove_from_waiters(lock, t);
        self.tasks[t.index()].pi_blocked_on = None;
        self.tasks[t.index()].blocked_donor = None;
        let l = &self.locks[lock.index()];
        if l.mode != Mode::RtMutex {
            // Woken for the lock, but too late for its own patience: the next one shall try.
            if was_top && l.owner.is_none() {
                self.wake_next_plain(lock, t, obs);
            }
            return;
        }
        let Some(owner) = l.owner else { return };
        if was_top {
            self.remove_pi_waiter(owner, lock);
            if let Some(top) = self.top_waiter(lock) {
                self.add_pi_waiter(owner, lock, top);
            }
        }
        if self.settings.pi == Variant::ReweightFixed {
            self.settle(owner, obs);
        } else if was_top {
            self.adjust_prio(owner, obs);
            if let Some(next_lock) = self.tasks[owner.index()].pi_blocked_on {
                self.adjust_prio_chain(owner, Walk::Min, Some(lock), next_lock, None, Some(t), obs);
            }
        }
    }

    /// D.5. The releaser is deboosted before the new owner wakes.
    pub(crate) fn unlock(&mut self, t: TaskId, lock: LockId, obs: &mut dyn Observer) {
        if self.tasks[t.index()].cursor.passes_over_unlock(lock) {
            return;
        }
        if self.locks[lock.index()].owner != Some(t) {
            obs.event(
                self,
                &Event::Lock {
                    lock,
                    task: t,
                    what: LockEvent::NotOwner,
                },
            );
            obs.event(
                self,
                &Event::Refused {
                    task: t,
                    refusal: Refusal::UnlockNotOwner(lock),
                },
            );
            return;
        }
        self.release(t, lock, false, obs);
    }

    /// Gives a lock up, by unlock or (`died`) by the owner's end.
    pub(crate) fn release(&mut self, t: TaskId, lock: LockId, died: bool, obs: &mut dyn Observer) {
        let mode = self.locks[lock.index()].mode;
        // Proxy: the waiter this task ran for gets the lock, else the first in line.
        let donor = self.cpus[self.tasks[t.index()].cpu.index()].donor;
        let next = match mode {
            Mode::Proxy => donor
                .filter(|d| self.tasks[d.index()].blocked_donor == Some(lock))
                .or_else(|| self.top_waiter(lock)),
            _ => self.top_waiter(lock),
        };
        if mode == Mode::RtMutex && next.is_some() {
            self.remove_pi_waiter(t, lock);
        }
        self.disown(lock, t);
        let what = if died {
            LockEvent::OwnerDied { next }
        } else {
            LockEvent::Released { next }
        };
        obs.event(
            self,
            &Event::Lock {
                lock,
                task: t,
                what,
            },
        );
        let Some(next) = next else { return };
        match mode {
            Mode::RtMutex => {
                if self.settings.pi == Variant::ReweightFixed {
                    self.settle(t, obs);
                } else {
                    self.adjust_prio(t, obs);
                }
                self.wake(next, Some(t), false, obs);
            }
            Mode::Plain => self.wake_next_plain(lock, t, obs),
            Mode::Proxy => {
                self.remove_from_waiters(lock, next);
                let waiter = &mut self.tasks[next.index()];
                waiter.pi_blocked_on = None;
                waiter.blocked_donor = None;
                self.disarm_timer(next);
                self.own(lock, next, obs);
                self.wake(next, Some(t), false, obs);
                self.proxy_changed();
            }
        }
    }

    /// A plain mutex is free: its first waiter leaves the queue and tries again.
    fn wake_next_plain(&mut self, lock: LockId, waker: TaskId, obs: &mut dyn Observer) {
        if let Some(next) = self.top_waiter(lock) {
            self.remove_from_waiters(lock, next);
            self.tasks[next.index()].pi_blocked_on = None;
            self.wake(next, Some(waker), false, obs);
        }
    }

    /// D.2: the owner gets the prio of the first of its pi_waiters.
    pub(crate) fn adjust_prio(&mut self, owner: TaskId, obs: &mut dyn Observer) {
        let donor = self.tasks[owner.index()].pi_waiters.first().map(|e| e.task);
        self.rt_mutex_setprio(owner, donor, obs);
    }

    /// A.10, last step: a blocked task whose key changed is sorted anew, and its owners with it.
    pub(crate) fn rt_mutex_adjust_pi(&mut self, t: TaskId, obs: &mut dyn Observer) {
        if self.settings.pi == Variant::ReweightFixed {
            self.settle(t, obs);
            return;
        }
        let Some(lock) = self.tasks[t.index()].pi_blocked_on else {
            return;
        };
        if self.locks[lock.index()].mode != Mode::RtMutex
            || self.tasks[t.index()].waiter_key == self.key(t)
        {
            return;
        }
        self.adjust_prio_chain(t, Walk::Min, None, lock, None, Some(t), obs);
    }

    /// The ideal: from `t` along the chain of owners, everybody gets the best of all who wait for
    /// it, directly or through others. Stops where nothing changes.
    pub(crate) fn settle(&mut self, t: TaskId, obs: &mut dyn Observer) {
        let mut at = t;
        for _ in 0..=MAX_LOCK_DEPTH {
            let donor = self.best_waiter(at);
            self.rt_mutex_setprio(at, donor, obs);
            let Some(lock) = self.tasks[at.index()].pi_blocked_on else {
                return;
            };
            if self.locks[lock.index()].mode != Mode::RtMutex {
                return;
            }
            if self.tasks[at.index()].waiter_key != self.key(at) {
                let pre = self.top_waiter(lock);
                self.remove_from_waiters(lock, at);
                self.insert_waiter(lock, at);
                let top = self.top_waiter(lock);
                match self.locks[lock.index()].owner {
                    Some(owner) => {
                        self.remove_pi_waiter(owner, lock);
                        if let Some(top) = top {
                            self.add_pi_waiter(owner, lock, top);
                        }
                    }
                    None if top != pre => {
                        if let Some(top) = top {
                            self.wake(top, None, false, obs);
                        }
                    }
                    None => {}
                }
            }
            let Some(owner) = self.locks[lock.index()].owner else {
                return;
            };
            at = owner;
        }
    }

    /// Of all who wait on locks of `owner`, the best by effective prio; among equals the first.
    fn best_waiter(&self, owner: TaskId) -> Option<TaskId> {
        let tasks = &self.tasks;
        let rank = |t: TaskId| {
            let task = &tasks[t.index()];
            (
                task.prio,
                if task.prio < 0 {
                    task.dl_deadline
                } else {
                    Ns(0)
                },
            )
        };
        tasks[owner.index()]
            .held
            .iter()
            .map(|l| &self.locks[l.index()])
            .filter(|l| l.mode == Mode::RtMutex)
            .flat_map(|l| l.waiters.iter().copied())
            .min_by_key(|&t| rank(t))
    }
}
