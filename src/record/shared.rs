//! What the threads of a recorded run share: locks, queues, timers, the gate they start behind,
//! and the list of what was refused.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering::*};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::thread::futex;

use super::clock;
use super::mutex;
use super::plan::Plan;
use super::proc::{self, CpuStat};
use super::queue::Queue;
use super::thread::{Sample, Thread};
use crate::model::machine::Protocol;
use crate::model::observer::Refusal;
use crate::model::task::TaskSpec;
use crate::model::units::{LockId, Ns, TaskId, TemplateId};
use crate::trace::tally::{REFUSALS_TOLD, Refused};
use crate::workload::{Names, Window};

/// Counters of everything at an instant.
#[derive(Clone, Debug, Default)]
pub(super) struct Snapshot {
    /// The instant of the run.
    pub at: Ns,
    /// By task.
    pub threads: Vec<Sample>,
    /// By CPU of the workload.
    pub cpus: Vec<CpuStat>,
}

/// The first boost of a run whose file names no windows.
#[derive(Clone, Debug)]
pub(super) struct Boost {
    pub task: TaskId,
    donor: TaskId,
    lock: LockId,
    pub from: Snapshot,
    pub to: Option<Snapshot>,
}

const NOT_WANTED: u8 = 0;
const LOOKED_FOR: u8 = 1;
const OPEN: u8 = 2;
const CLOSED: u8 = 3;

/// All that is shared.
pub(super) struct Shared {
    pub names: Names,
    pub templates: Vec<TaskSpec>,
    pub timeouts: HashMap<TaskId, Vec<(Ns, Ns)>>,
    pub windows: Vec<Window>,
    pub mutexes: Vec<mutex::Mutex>,
    pub conditions: Vec<Queue>,
    pub barriers: Vec<(u32, Queue)>,
    pub semaphores: Vec<Queue>,
    pub timers: Vec<Mutex<Option<Ns>>>,
    /// The machine's CPUs, by the model's numbers.
    pub cpus: Vec<usize>,
    /// Threads that have not ended.
    pub alive: AtomicUsize,
    threads: Mutex<Vec<Arc<Thread>>>,
    forked: Vec<AtomicU32>,
    origin: AtomicU64,
    gate: AtomicU32,
    stop: AtomicBool,
    refused: Mutex<(Vec<Refused>, u64)>,
    denied: Mutex<BTreeMap<String, Vec<String>>>,
    looking: AtomicU8,
    holder: Option<TaskId>,
    boost: Mutex<Option<Boost>>,
    /// Its ends, for who has no time to take the lock.
    boosted: [AtomicU64; 2],
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    pub fn new(plan: &mut Plan, cpus: Vec<usize>) -> Shared {
        let looking = if plan.windows_given {
            NOT_WANTED
        } else {
            LOOKED_FOR
        };
        Shared {
            holder: plan.holder.as_deref().and_then(|n| plan.names.find_task(n)),
            names: std::mem::take(&mut plan.names),
            forked: plan.templates.iter().map(|_| AtomicU32::new(0)).collect(),
            templates: std::mem::take(&mut plan.templates),
            timeouts: std::mem::take(&mut plan.timeouts),
            windows: plan.windows.clone(),
            mutexes: plan.locks.iter().map(|&p| mutex::Mutex::new(p)).collect(),
            conditions: (0..plan.conditions).map(|_| Queue::default()).collect(),
            barriers: plan
                .barriers
                .iter()
                .map(|&users| (users, Queue::default()))
                .collect(),
            semaphores: (0..plan.semaphores).map(|_| Queue::default()).collect(),
            timers: plan.timers.iter().map(|&at| Mutex::new(at)).collect(),
            cpus,
            alive: AtomicUsize::new(0),
            threads: Mutex::default(),
            origin: AtomicU64::new(0),
            gate: AtomicU32::new(0),
            stop: AtomicBool::new(false),
            refused: Mutex::default(),
            denied: Mutex::default(),
            looking: AtomicU8::new(looking),
            boost: Mutex::default(),
            boosted: [AtomicU64::new(u64::MAX), AtomicU64::new(u64::MAX)],
        }
    }

    /// The instant of the run.
    pub fn now(&self) -> Ns {
        self.instant(clock::monotonic())
    }

    /// An instant of the monotonic clock as one of the run.
    pub fn instant(&self, monotonic: Ns) -> Ns {
        monotonic.saturating_sub(Ns(self.origin.load(Acquire)))
    }

    /// An instant of the run as one of the monotonic clock.
    pub fn monotonic(&self, instant: Ns) -> Ns {
        instant.saturating_add(Ns(self.origin.load(Acquire)))
    }

    /// Waits until the run begins. False: it never will.
    pub fn wait_at_the_gate(&self) -> bool {
        while self.gate.load(Acquire) == 0 {
            let _ = futex::wait(&self.gate, futex::Flags::PRIVATE, 0, None);
        }
        !self.stopped()
    }

    /// The run begins now: time zero.
    pub fn open_the_gate(&self) {
        self.origin.store(clock::monotonic().0, Release);
        for thread in self.threads() {
            thread.begin(Ns(0));
        }
        self.origin.store(clock::monotonic().0, Release);
        self.lift();
    }

    fn lift(&self) {
        self.gate.store(1, Release);
        let _ = futex::wake(&self.gate, futex::Flags::PRIVATE, i32::MAX as u32);
    }

    pub fn stopped(&self) -> bool {
        self.stop.load(Acquire)
    }

    /// Ends the run: whoever can be woken is woken, sees it and leaves.
    pub fn end(&self) {
        self.stop.store(true, Release);
        self.lift();
        for thread in self.threads() {
            thread.ticket.call();
        }
        let barriers = self.barriers.iter().map(|(_, queue)| queue);
        for queue in self
            .conditions
            .iter()
            .chain(&self.semaphores)
            .chain(barriers)
        {
            queue.stop();
        }
        for mutex in &self.mutexes {
            mutex.stop();
        }
    }

    /// All threads so far, by task.
    pub fn threads(&self) -> Vec<Arc<Thread>> {
        held(&self.threads).clone()
    }

    /// A new thread, if there are not too many. Its name is nobody else's.
    pub fn enlist(&self, name: String, cpu: usize) -> Option<Arc<Thread>> {
        let mut threads = held(&self.threads);
        if threads.len() >= super::MAX_THREADS {
            return None;
        }
        let earlier = threads
            .iter()
            .filter(|t| t.name == name || t.name.starts_with(&format!("{name}#")))
            .count();
        let name = if earlier == 0 {
            name
        } else {
            format!("{name}#{}", earlier + 1)
        };
        let id = TaskId(threads.len() as u32);
        // One more for the boost.
        let thread = Arc::new(Thread::new(id, name, cpu, self.windows.len() + 1));
        threads.push(thread.clone());
        Some(thread)
    }

    /// The name of the next thread forked from a template.
    pub fn next_fork(&self, template: TemplateId) -> String {
        let earlier = self.forked[template.index()].fetch_add(1, AcqRel);
        self.names.forked(template, earlier)
    }

    /// A request that was refused, as the model would tell it.
    pub fn refuse(&self, task: TaskId, refusal: Refusal) {
        let at = self.now();
        let mut refused = held(&self.refused);
        refused.1 += 1;
        if refused.0.len() < REFUSALS_TOLD {
            refused.0.push(Refused { at, task, refusal });
        }
    }

    /// The first refusals, and how many there were.
    pub fn refusals(&self) -> (Vec<Refused>, u64) {
        held(&self.refused).clone()
    }

    /// Something this machine does not let `who` have. One sentence each, whoever it is about.
    pub fn deny(&self, what: &str, who: &str) {
        let mut denied = held(&self.denied);
        let names = match denied.get_mut(what) {
            Some(names) => names,
            None => denied.entry(what.to_owned()).or_default(),
        };
        if !names.iter().any(|n| n == who) {
            names.push(who.to_owned());
        }
    }

    /// The sentences of [`Shared::deny`].
    pub fn denials(&self) -> Vec<String> {
        const NAMES: usize = 8;
        let denied = held(&self.denied);
        let sentence = |(what, names): (&String, &Vec<String>)| {
            let mut who = names[..names.len().min(NAMES)].join(", ");
            if names.len() > NAMES {
                who += &format!(" and {} more", names.len() - NAMES);
            }
            format!("{what}: {who}")
        };
        denied.iter().map(sentence).collect()
    }

    /// Counters of everything, now.
    pub fn snapshot(&self) -> Snapshot {
        let threads = self.threads();
        let read = || {
            let at = self.now();
            let samples: Vec<Sample> = threads.iter().map(|t| t.sample()).collect();
            (at, samples, self.now().saturating_sub(at))
        };
        // Who was put off in between reads clocks of different instants: once more, then.
        const TRIES: usize = 5;
        let prompt = Ns(50_000 + 10_000 * threads.len() as u64);
        let mut reading = read();
        for _ in 1..TRIES {
            if reading.2 <= prompt {
                break;
            }
            reading = read();
        }
        let (at, threads, _) = reading;
        let text = std::fs::read_to_string("/proc/stat").unwrap_or_default();
        let cpus = self
            .cpus
            .iter()
            .map(|&cpu| proc::cpu_stat(&text, cpu).unwrap_or_default())
            .collect();
        Snapshot { at, threads, cpus }
    }

    /// `me` is about to wait for a lock of somebody. Begins the window of the boost if that is
    /// one, by the model's rule: a donor of better prio, or, where nothing is lent, any waiter.
    pub fn blocks(&self, me: &Thread, lock: LockId) {
        if self.looking.load(Acquire) != LOOKED_FOR {
            return;
        }
        let mutex = &self.mutexes[lock.index()];
        let owner = mutex.owner() as i32;
        let threads = self.threads();
        let Some(owner) = threads.iter().find(|t| owner != 0 && t.tid() == owner) else {
            return;
        };
        let lends =
            mutex.protocol == Protocol::None || me.prio.load(Acquire) < owner.prio.load(Acquire);
        if !lends || self.holder.is_some_and(|h| h != owner.id) {
            return;
        }
        let mut boost = held(&self.boost);
        if boost.is_none() {
            let from = self.snapshot();
            self.boosted[0].store(from.at.0, Release);
            *boost = Some(Boost {
                task: owner.id,
                donor: me.id,
                lock,
                from,
                to: None,
            });
            self.looking.store(OPEN, Release);
        }
    }

    /// `me` is about to release a lock, or has given up waiting for it.
    pub fn lets_go(&self, me: &Thread, lock: LockId) {
        if self.looking.load(Acquire) != OPEN {
            return;
        }
        if let Some(boost) = &mut *held(&self.boost)
            && boost.lock == lock
            && (boost.task == me.id || boost.donor == me.id)
        {
            let to = self.snapshot();
            self.boosted[1].store(to.at.0, Release);
            boost.to = Some(to);
            self.looking.store(CLOSED, Release);
        }
    }

    /// A thread has waited for the CPU up to this instant of the run.
    pub fn waited(&self, thread: &Thread, lasted: Ns, to: Ns) {
        let from = to.saturating_sub(lasted);
        let within = |begin: Ns, end: Ns| to.min(end).saturating_sub(from.max(begin)).0;
        for (n, window) in self.windows.iter().enumerate() {
            thread.waited(n, within(window.from, window.to));
        }
        let [begin, end] = [0, 1].map(|n: usize| Ns(self.boosted[n].load(Acquire)));
        thread.waited(self.windows.len(), within(begin, end));
    }

    /// The boost, if there was one.
    pub fn boost(&self) -> Option<Boost> {
        held(&self.boost).clone()
    }
}
