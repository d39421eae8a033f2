//! A thread that follows its program: the steps of the model, each as the system call it stands
//! for. Meaning of the steps: `model/script.rs`, where the model does the same.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::Ordering::*;

use super::clock::{Meter, Until, own_cpu};
use super::mutex::NotTaken;
use super::plan::expiry;
use super::queue::Ticket;
use super::rights;
use super::shared::Shared;
use super::thread::{Away, Thread};
use crate::model::observer::Refusal;
use crate::model::program::{Cursor, Step, next_expiry};
use crate::model::task::{Scheduling, TaskSpec};
use crate::model::units::{LockId, Ns, TemplateId};

/// The stack of a thread; it needs far less.
const STACK: usize = 128 << 10;

/// Starts a thread. One of time zero (`ready` is told when it stands behind the gate) waits there;
/// a forked one begins at once.
///
/// # Errors
/// When the system gives no more threads.
pub(super) fn start(
    shared: &Arc<Shared>,
    thread: &Arc<Thread>,
    spec: &TaskSpec,
    ready: Option<std::sync::mpsc::Sender<()>>,
) -> std::io::Result<()> {
    let mut worker = Worker {
        shared: shared.clone(),
        thread: thread.clone(),
        tid: 0,
        cursor: Cursor::new(spec.program.clone()),
        held: Vec::new(),
        meter: Meter::new(),
    };
    let own = spec.scheduling;
    shared.alive.fetch_add(1, AcqRel);
    std::thread::Builder::new()
        .name(thread.name.replace('\0', " "))
        .stack_size(STACK)
        .spawn(move || {
            worker.settle_in(own);
            let begins = match ready {
                Some(ready) => {
                    let _ = ready.send(());
                    drop(ready);
                    worker.shared.wait_at_the_gate()
                }
                None => {
                    worker.thread.begin(worker.shared.now());
                    true
                }
            };
            if begins {
                worker.meter = Meter::new();
                worker.follow();
            }
            worker.leave();
        })
        .inspect_err(|_| {
            shared.alive.fetch_sub(1, AcqRel);
        })?;
    Ok(())
}

struct Worker {
    shared: Arc<Shared>,
    thread: Arc<Thread>,
    /// As futexes hold it.
    tid: u32,
    cursor: Cursor,
    held: Vec<LockId>,
    meter: Meter,
}

impl Worker {
    /// Name, CPU and policy.
    fn settle_in(&mut self, scheduling: Option<Scheduling>) {
        let tid = rustix::thread::gettid().as_raw_nonzero().get();
        self.tid = tid as u32;
        let (shared, thread) = (&self.shared, &self.thread);
        if !thread.introduce(tid) {
            shared.deny(
                "schedstat cannot be read, so waits after wakeups count as sleep and switches as 0",
                &thread.name,
            );
        }
        // A sleep ends when it should, not up to 50 us later.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        let cpu = shared.cpus[thread.cpu];
        if let Err(error) = rights::pin(cpu) {
            let what = format!("CPU{cpu} is refused ({})", rights::words(&error));
            shared.deny(&what, &thread.name);
        }
        if let Some(scheduling) = scheduling {
            rights::schedule(shared, thread, &scheduling);
        }
    }

    fn follow(&mut self) {
        while !self.shared.stopped() {
            let Some((pc, step)) = self.cursor.advance() else {
                return;
            };
            if !self.step(pc, step) {
                return;
            }
        }
    }

    /// The end of a task: its locks go on, as a robust mutex's would.
    fn leave(&mut self) {
        for lock in std::mem::take(&mut self.held) {
            self.release(lock);
        }
        let now = self.shared.now();
        self.thread.leave(now);
        self.shared.alive.fetch_sub(1, AcqRel);
    }

    /// One step. False: the task ends.
    fn step(&mut self, pc: u32, step: Step) -> bool {
        match step {
            Step::Run(span) => self.compute(Until::Cpu(own_cpu().saturating_add(span))),
            Step::Runtime(span) => {
                let until = super::clock::monotonic().saturating_add(span);
                self.compute(Until::Wall(until));
            }
            Step::Sleep(span) => {
                let until = self.shared.now().saturating_add(span);
                self.sleep_until(until);
            }
            Step::SleepUntil(at) => self.sleep_until(at),
            Step::Timer {
                timer,
                period,
                relative,
            } => {
                let next = self.next_expiry(timer.index(), period, relative);
                self.sleep_until(next);
            }
            Step::Lock(lock) => self.lock(lock, None),
            Step::LockTimed { lock, timeout } => {
                let expires = self.shared.now().saturating_add(timeout);
                self.lock(lock, Some(expires));
            }
            Step::Unlock(lock) => self.unlock(lock),
            Step::Wait { cond, mutex } => self.wait_on(cond.index(), mutex),
            Step::Signal(cond) => self.shared.conditions[cond.index()].wake_one(),
            Step::Broadcast(cond) | Step::Resume(cond) => {
                self.shared.conditions[cond.index()].wake_all();
            }
            Step::Sync { cond, mutex } => {
                self.shared.conditions[cond.index()].wake_one();
                self.wait_on(cond.index(), mutex);
            }
            Step::Barrier(barrier) => {
                let (users, queue) = &self.shared.barriers[barrier.index()];
                let ticket = queue.arrive(*users);
                self.sleep_on(ticket.as_deref());
            }
            Step::Suspend(cond) => self.wait_on(cond.index(), None),
            Step::SemPost(sem) => self.shared.semaphores[sem.index()].post(),
            Step::SemWait(sem) => {
                let ticket = self.shared.semaphores[sem.index()].down();
                self.sleep_on(ticket.as_deref());
            }
            Step::Yield => rustix::thread::sched_yield(),
            Step::Fork(template) => self.fork(template),
            Step::SetScheduler(scheduling) => {
                rights::schedule(&self.shared, &self.thread, &scheduling);
            }
            Step::SetNice { task, nice } => {
                let other = task.map(|t| self.shared.threads().get(t.index()).cloned());
                match other {
                    None => rights::renice(&self.shared, &self.thread, nice),
                    Some(Some(other)) => rights::renice(&self.shared, &other, nice),
                    Some(None) => self.shared.refuse(self.thread.id, Refusal::NoSuchTask),
                }
            }
            Step::Loop { times, until, end } => {
                let now = self.shared.now();
                self.cursor.round(pc, now, times, until, end);
            }
            Step::Next { head } => self.cursor.pc = head,
            Step::Exit => return false,
        }
        true
    }

    fn compute(&mut self, until: Until) {
        let (shared, thread) = (&self.shared, &self.thread);
        self.meter.compute(
            until,
            || shared.stopped(),
            |lasted, end| note_wait(shared, thread, lasted, end),
        );
    }

    /// The timer's next expiry, by the rules of rt-app.
    fn next_expiry(&self, timer: usize, period: Ns, relative: bool) -> Ns {
        let mut timer = self.shared.timers[timer]
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        next_expiry(&mut timer, self.shared.now(), period, relative)
    }

    fn sleep_until(&mut self, at: Ns) {
        if at <= self.shared.now() {
            return;
        }
        let until = self.shared.monotonic(at);
        self.away(Away::Asleep, |worker| {
            worker.thread.ticket.sleep_until(until)
        });
    }

    fn sleep_on(&mut self, ticket: Option<&Ticket>) {
        if let Some(ticket) = ticket {
            self.away(Away::Asleep, |_| ticket.sleep());
        }
    }

    /// Does what may sleep, and keeps the books around it.
    fn away<T>(&mut self, why: Away, sleeps: impl FnOnce(&Worker) -> T) -> T {
        let off = self.meter.read();
        note_wait(&self.shared, &self.thread, off, self.meter.wall);
        let waited = |worker: &Worker| worker.thread.schedstat().map(|s| s.wait);
        let before = waited(self);
        let from = self.shared.instant(self.meter.wall);
        self.thread.goes_away(why, from);
        let done = sleeps(self);
        let after = waited(self);
        let off = self.meter.read();
        // Awake again, it has waited for its CPU: schedstat knows how long.
        let wait = match (before, after) {
            (Some(before), Some(after)) => Ns(after.saturating_sub(before)).min(off),
            _ => Ns(0),
        };
        self.thread.comes_back(why, off - wait);
        note_wait(&self.shared, &self.thread, wait, self.meter.wall);
        done
    }

    fn wait_on(&mut self, cond: usize, mutex: Option<LockId>) {
        let ticket = self.shared.conditions[cond].line_up();
        let held = mutex.filter(|m| self.held.contains(m));
        if let Some(mutex) = held {
            self.release(mutex);
        }
        self.sleep_on(ticket.as_deref());
        if let Some(mutex) = held
            && !self.shared.stopped()
        {
            self.lock(mutex, None);
        }
    }

    /// Takes a lock, or says why not.
    fn lock(&mut self, lock: LockId, expires: Option<Ns>) {
        let shared = self.shared.clone();
        let mutex = &shared.mutexes[lock.index()];
        if self.held.contains(&lock) {
            return self.not_taken(lock, Some(Refusal::Deadlock(lock)));
        }
        if mutex.try_lock(self.tid) {
            self.held.push(lock);
            return;
        }
        let controls = shared.timeouts.get(&self.thread.id);
        let controls = controls.map_or(&[][..], Vec::as_slice);
        let expires = expiry(expires, shared.now(), controls).map(|at| shared.monotonic(at));
        shared.blocks(&self.thread, lock);
        let tid = self.tid;
        let taken = self.away(Away::Blocked, |_| {
            mutex.lock(tid, expires, || shared.stopped())
        });
        match taken {
            Ok(()) => self.held.push(lock),
            Err(NotTaken::Expired) => {
                shared.lets_go(&self.thread, lock);
                self.not_taken(lock, None);
            }
            Err(NotTaken::Deadlock) => {
                shared.lets_go(&self.thread, lock);
                self.not_taken(lock, Some(Refusal::Deadlock(lock)));
            }
            Err(NotTaken::Stopped) => {}
            Err(NotTaken::Refused(error)) => {
                let what = format!(
                    "the mutex {} was refused ({})",
                    shared.names.lock(lock),
                    rights::words(&error.into())
                );
                shared.deny(&what, &self.thread.name);
                self.not_taken(lock, None);
            }
        }
    }

    /// The lock was not taken: its next unlock is passed over.
    fn not_taken(&mut self, lock: LockId, refusal: Option<Refusal>) {
        self.cursor.skip_next_unlock(lock);
        if let Some(refusal) = refusal {
            self.shared.refuse(self.thread.id, refusal);
        }
    }

    fn unlock(&mut self, lock: LockId) {
        if self.cursor.passes_over_unlock(lock) {
            return;
        }
        if !self.release(lock) {
            let refusal = Refusal::UnlockNotOwner(lock);
            self.shared.refuse(self.thread.id, refusal);
        }
    }

    /// Gives a lock up. False: it was not this thread's.
    fn release(&mut self, lock: LockId) -> bool {
        self.shared.lets_go(&self.thread, lock);
        self.held.retain(|&l| l != lock);
        self.shared.mutexes[lock.index()].unlock(self.tid)
    }

    fn fork(&mut self, template: TemplateId) {
        let shared = self.shared.clone();
        let spec = &shared.templates[template.index()];
        let name = shared.next_fork(template);
        let cpu = spec.cpu.map_or(self.thread.cpu, |c| c.index());
        let Some(child) = shared.enlist(name, cpu) else {
            let what = format!(
                "a fork was refused: there are {} threads, the most `record` starts",
                super::MAX_THREADS
            );
            return shared.deny(&what, &self.thread.name);
        };
        child.prio.store(self.thread.prio.load(Acquire), Release);
        if let Err(error) = start(&shared, &child, spec, None) {
            let what = format!("a fork was refused ({})", rights::words(&error));
            shared.deny(&what, &child.name);
        }
    }
}

/// Books a wait for the CPU that ended at an instant of the monotonic clock.
fn note_wait(shared: &Shared, thread: &Thread, lasted: Ns, end: Ns) {
    shared.waited(thread, lasted, shared.instant(end));
}
