//! Tasks following their programs: what each step does when its task has the CPU.
//!
//! A step that takes no time is done at once; the CPU looks at need_resched after each (return
//! from a system call). Meaning of the steps: rt-app 1.0 and specification D.3, D.5, D.7.

use super::machine::{Machine, TimerKind};
use super::observer::{Event, Observer, Refusal};
use super::program::{Doing, Step, next_expiry};
use super::rt_mutex::Mode;
use super::task::{Policy, State};
use super::units::{BarrierId, CondId, LockId, Ns, SemId, TaskId};

impl Machine {
    /// Lets the task do what takes no time. False: it needs time (or waits on another CPU).
    pub(crate) fn advance(&mut self, t: TaskId, obs: &mut dyn Observer) -> bool {
        match self.tasks[t.index()].cursor.doing {
            Doing::Nothing => {
                self.next_step(t, obs);
                true
            }
            Doing::Run { until_exec } => {
                let done = self.cpu_time(t).0 >= until_exec;
                if done {
                    self.tasks[t.index()].cursor.doing = Doing::Nothing;
                }
                done
            }
            Doing::Runtime { until } => {
                let done = self.now >= until;
                if done {
                    self.tasks[t.index()].cursor.doing = Doing::Nothing;
                }
                done
            }
            Doing::Locking { .. } => {
                self.retry_lock(t, obs);
                true
            }
            Doing::Spinning { lock, expires } => {
                let expired = expires.is_some_and(|at| at <= self.now);
                let top = self.locks[lock.index()].waiters.first() == Some(&t);
                if top && !expired && self.owner_on_cpu(lock, t) {
                    return false;
                }
                self.retry_lock(t, obs);
                true
            }
            Doing::Waiting { cond, relock } => {
                if self.conds[cond.index()].contains(&t) {
                    self.sleep(t, Some(relock), obs);
                } else {
                    // Signalled in between: the call that would have slept returns.
                    self.lock(t, relock, None, obs);
                }
                true
            }
            Doing::Asleep { relock } => {
                self.tasks[t.index()].cursor.doing = Doing::Nothing;
                if let Some(lock) = relock {
                    self.lock(t, lock, None, obs);
                }
                true
            }
        }
    }

    /// When the task, left alone on its CPU, has next to be looked at.
    pub(crate) fn due(&self, t: TaskId) -> Ns {
        match self.tasks[t.index()].cursor.doing {
            Doing::Run { until_exec } => {
                let left = until_exec.saturating_sub(self.cpu_time(t).0);
                self.now.saturating_add(Ns(left))
            }
            Doing::Runtime { until } => until.max(self.now),
            Doing::Spinning { expires, .. } => expires.unwrap_or(Ns::NEVER).max(self.now),
            _ => self.now,
        }
    }

    fn next_step(&mut self, t: TaskId, obs: &mut dyn Observer) {
        let now = self.now;
        let cursor = &mut self.tasks[t.index()].cursor;
        let Some((pc, step)) = cursor.advance() else {
            self.exit(t, obs);
            return;
        };
        match step {
            Step::Run(span) => {
                let until_exec = self.cpu_time(t).0.saturating_add(span.0);
                self.tasks[t.index()].cursor.doing = Doing::Run { until_exec };
            }
            Step::Runtime(span) => {
                cursor.doing = Doing::Runtime {
                    until: now.saturating_add(span),
                }
            }
            Step::Sleep(span) => self.sleep_until(t, now.saturating_add(span), obs),
            Step::SleepUntil(at) => self.sleep_until(t, at, obs),
            Step::Timer {
                timer,
                period,
                relative,
            } => {
                let next = next_expiry(&mut self.timers[timer.index()], now, period, relative);
                self.sleep_until(t, next, obs);
            }
            Step::Lock(lock) => self.lock(t, lock, None, obs),
            Step::LockTimed { lock, timeout } => {
                self.lock(t, lock, Some(now.saturating_add(timeout)), obs);
            }
            Step::Unlock(lock) => self.unlock(t, lock, obs),
            Step::Wait { cond, mutex } => self.wait_on(t, cond, mutex, obs),
            Step::Signal(cond) => self.signal(t, cond, obs),
            Step::Broadcast(cond) | Step::Resume(cond) => self.broadcast(t, cond, obs),
            Step::Sync { cond, mutex } => {
                self.signal(t, cond, obs);
                self.wait_on(t, cond, mutex, obs);
            }
            Step::Barrier(barrier) => self.barrier(t, barrier, obs),
            Step::Suspend(cond) => self.wait_on(t, cond, None, obs),
            Step::SemPost(sem) => self.sem_post(t, sem, obs),
            Step::SemWait(sem) => self.sem_wait(t, sem, obs),
            Step::Yield => self.yield_task(t),
            Step::Fork(template) => {
                if self.tasks.len() >= super::machine::MAX_TASKS {
                    let refusal = Refusal::TooManyTasks;
                    obs.event(self, &Event::Refused { task: t, refusal });
                } else {
                    self.fork(t, template, obs);
                }
            }
            Step::SetScheduler(scheduling) => self.set_scheduler(t, scheduling, obs),
            Step::SetNice { task, nice } => {
                let whom = task.unwrap_or(t);
                if self.exists(whom, obs) {
                    self.set_user_nice(whom, nice, obs);
                }
            }
            Step::Loop { times, until, end } => cursor.round(pc, now, times, until, end),
            Step::Next { head } => cursor.pc = head,
            Step::Exit => self.exit(t, obs),
        }
    }

    fn sleep_until(&mut self, t: TaskId, at: Ns, obs: &mut dyn Observer) {
        if at <= self.now {
            return;
        }
        self.arm_wake(t, at);
        self.sleep(t, None, obs);
    }

    fn sleep(&mut self, t: TaskId, relock: Option<LockId>, obs: &mut dyn Observer) {
        let task = &mut self.tasks[t.index()];
        task.cursor.doing = Doing::Asleep { relock };
        self.block_current(t, State::Sleeping, obs);
    }

    fn wait_on(&mut self, t: TaskId, cond: CondId, mutex: Option<LockId>, obs: &mut dyn Observer) {
        self.conds[cond.index()].push_back(t);
        match mutex.filter(|m| self.locks[m.index()].owner == Some(t)) {
            // The C library unlocks first: whom that wakes may run before the sleep.
            Some(relock) => {
                self.tasks[t.index()].cursor.doing = Doing::Waiting { cond, relock };
                self.release(t, relock, false, obs);
            }
            None => self.sleep(t, None, obs),
        }
    }

    fn signal(&mut self, t: TaskId, cond: CondId, obs: &mut dyn Observer) {
        if let Some(next) = self.conds[cond.index()].pop_front() {
            self.wake(next, Some(t), false, obs);
        }
    }

    fn broadcast(&mut self, t: TaskId, cond: CondId, obs: &mut dyn Observer) {
        let waiting = std::mem::take(&mut self.conds[cond.index()]);
        for next in waiting {
            self.wake(next, Some(t), false, obs);
        }
    }

    fn barrier(&mut self, t: TaskId, barrier: BarrierId, obs: &mut dyn Observer) {
        let b = &mut self.barriers[barrier.index()];
        if b.waiting.len() as u32 + 1 < b.users {
            b.waiting.push(t);
            self.sleep(t, None, obs);
        } else {
            for next in std::mem::take(&mut b.waiting) {
                self.wake(next, Some(t), false, obs);
            }
        }
    }

    fn sem_post(&mut self, t: TaskId, sem: SemId, obs: &mut dyn Observer) {
        let s = &mut self.sems[sem.index()];
        match s.waiting.pop_front() {
            // The one that waits longest has it before anybody can come between.
            Some(next) => self.wake(next, Some(t), false, obs),
            None => s.value = s.value.saturating_add(1),
        }
    }

    fn sem_wait(&mut self, t: TaskId, sem: SemId, obs: &mut dyn Observer) {
        let s = &mut self.sems[sem.index()];
        if s.value > 0 {
            s.value -= 1;
        } else {
            s.waiting.push_back(t);
            self.sleep(t, None, obs);
        }
    }

    fn yield_task(&mut self, t: TaskId) {
        use super::observer::Cause;
        let cpu = self.tasks[t.index()].cpu;
        match self.tasks[t.index()].sched.policy {
            _ if self.tasks[t.index()].prio < super::task::MAX_RT_PRIO => {
                if matches!(self.tasks[t.index()].sched.policy, Policy::Deadline) {
                    return;
                }
                let prio = self.tasks[t.index()].prio;
                self.cpus[cpu.index()].rt.rotate(t, prio);
            }
            // Under proxy execution the account is another's: nothing to give up.
            _ if !self.is_donor(t) => {}
            _ => self.fair(cpu).yield_curr(),
        }
        self.resched_cpu(cpu, Cause::Yield);
    }

    /// The end of a task. Locks it still owns go on as a robust mutex's would (D.7).
    fn exit(&mut self, t: TaskId, obs: &mut dyn Observer) {
        for lock in self.tasks[t.index()].held.clone() {
            self.release(t, lock, true, obs);
        }
        self.block_current(t, State::Ended, obs);
    }

    pub(crate) fn arm_wake(&mut self, t: TaskId, at: Ns) {
        self.tokens += 1;
        self.tasks[t.index()].timer_token = self.tokens;
        self.arm(at, TimerKind::Wake(t, self.tokens));
    }

    pub(crate) fn arm_lock_timeout(&mut self, t: TaskId, at: Ns) {
        self.tokens += 1;
        self.tasks[t.index()].timer_token = self.tokens;
        self.arm(at, TimerKind::LockTimeout(t, self.tokens));
    }

    pub(crate) fn disarm_timer(&mut self, t: TaskId) {
        self.tasks[t.index()].timer_token = 0;
    }

    /// I.4: the timer merely wakes the waiter; it leaves the lock in its own context.
    pub(crate) fn lock_timeout(&mut self, t: TaskId, obs: &mut dyn Observer) {
        self.disarm_timer(t);
        if let Doing::Locking { expired, .. } = &mut self.tasks[t.index()].cursor.doing {
            *expired = true;
            self.tasks[t.index()].blocked_donor = None;
            self.wake(t, None, false, obs);
        }
    }

    /// D.3, D.7: a signal merely wakes the waiter, which leaves the lock in its own context. Other
    /// sleep is gone on with, and who runs has its handler done at once.
    pub(crate) fn send_signal(&mut self, t: TaskId, obs: &mut dyn Observer) {
        let doing = self.tasks[t.index()].cursor.doing;
        let (Doing::Locking { lock, .. } | Doing::Spinning { lock, .. }) = doing else {
            return;
        };
        // Under proxy execution the wait is a kernel mutex's: it cannot be interrupted.
        if self.locks[lock.index()].mode == Mode::Proxy {
            return;
        }
        self.tasks[t.index()].signal_pending = true;
        // A spinner sees it when it stops to spin.
        self.wake(t, None, false, obs);
    }

    /// The lock a task waits for now gives up at another instant.
    pub(crate) fn change_lock_timeout(&mut self, t: TaskId, at: Ns) {
        let changed = match &mut self.tasks[t.index()].cursor.doing {
            Doing::Locking {
                expires,
                expired: false,
                ..
            }
            | Doing::Spinning { expires, .. } => {
                *expires = Some(at);
                true
            }
            _ => false,
        };
        if changed {
            self.arm_lock_timeout(t, at.max(self.now));
        }
    }
}
