//! One CPU's fair queue, whichever kind: what CFS and EEVDF share.
//!
//! The queue holds entities in a tree; the running one is out of the tree but still counts.
//! [`Fair`] borrows the queue with the tasks for the length of one kernel function; the rules of
//! each kind are in `cfs.rs` and `eevdf.rs`. With the feature `oracle` every operation is done
//! again by the twin of `naive.rs` and compared. Specification: A.5, A.6, B.2, C.3.

use super::kernel::{Kernel, QueueKind, Settings};
#[cfg(feature = "oracle")]
use super::naive::{Op, Twin};
use super::observer::{Cause, Rule};
use super::pi::Variant;
use super::task::{Policy, Task};
use super::tree::{Slot, Tree};
use super::units::{Ns, TaskId, Vtime};
use super::weight::{LoadWeight, calc_delta_fair, scale_load_down};

/// Does `$body`. With the feature `oracle` the twin does `$op` of its result too, and both agree.
macro_rules! watched {
    ($fair:expr, $op:expr, $body:expr) => {{
        #[cfg(feature = "oracle")]
        let twin = Twin::of($fair);
        let result = $body;
        #[cfg(feature = "oracle")]
        twin.follow($op(result), $fair);
        result
    }};
}

/// The tunables in force: the kernel's, scaled by the online CPUs (B.1, C.1).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tunables {
    pub kernel: Kernel,
    pub latency: u64,
    pub min_granularity: u64,
    pub wakeup_granularity: u64,
    pub idle_min_granularity: u64,
    pub base_slice: u64,
    pub tick: u64,
    pub fair_group_sched: bool,
    /// C.13: a change of load scales a relative deadline too. The ideal does so on every kernel.
    pub scales_rel_deadline: bool,
}

impl Tunables {
    pub fn new(settings: &Settings) -> Tunables {
        let kernel = settings.kernel;
        let factor = settings.factor();
        Tunables {
            kernel,
            latency: kernel.latency * factor,
            min_granularity: kernel.min_granularity * factor,
            wakeup_granularity: kernel.wakeup_granularity * factor,
            idle_min_granularity: kernel.idle_min_granularity,
            base_slice: kernel.base_slice * factor,
            tick: settings.tick(),
            fair_group_sched: settings.fair_group_sched,
            scales_rel_deadline: kernel.scales_rel_deadline
                || settings.pi == Variant::ReweightFixed,
        }
    }
}

/// Flags of an enqueue or a dequeue (A.7).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Flags {
    /// The task wakes from a sleep.
    pub wakeup: bool,
    /// The task goes to sleep.
    pub sleep: bool,
    /// A change in place: taken out only to be put back.
    pub save: bool,
    /// It may come back at another place.
    pub moved: bool,
    /// A new task.
    pub initial: bool,
    /// RT: put at the head of its list.
    pub head: bool,
    /// An exit: never delayed (I.7).
    pub special: bool,
    /// EEVDF: completes a delayed dequeue.
    pub delayed: bool,
}

/// One CPU's fair queue.
#[derive(Clone, Debug)]
pub(crate) struct FairQueue {
    pub tree: Tree,
    /// Sum of the stored weights of all queued entities, the running one included.
    pub load: LoadWeight,
    /// Queued entities, the running one and delayed ones included.
    pub nr_running: u32,
    /// SCHED_IDLE ones among them.
    pub idle_nr_running: u32,
    /// The current entity, if this class has the CPU.
    pub curr: Option<TaskId>,
    /// CFS, and EEVDF before it had an origin of its own.
    pub min_vruntime: Vtime,
    /// CFS buddies.
    pub next: Option<TaskId>,
    pub last: Option<TaskId>,
    pub skip: Option<TaskId>,
    /// EEVDF: the origin of keys, and the sums over the tree (C.3).
    pub zero_vruntime: Vtime,
    pub avg_vruntime: i64,
    pub avg_load: i64,
    /// Who is in the tree, in the order in which they came: what the twin has for a tree.
    #[cfg(feature = "oracle")]
    pub arrivals: Vec<TaskId>,
}

impl FairQueue {
    pub fn new() -> FairQueue {
        FairQueue {
            tree: Tree::new(),
            load: LoadWeight::ZERO,
            nr_running: 0,
            idle_nr_running: 0,
            curr: None,
            min_vruntime: Vtime::START,
            next: None,
            last: None,
            skip: None,
            zero_vruntime: Vtime::START,
            avg_vruntime: 0,
            avg_load: 0,
            #[cfg(feature = "oracle")]
            arrivals: Vec::new(),
        }
    }
}

/// The fair queue with all that one of its functions touches.
pub(crate) struct Fair<'a> {
    pub q: &'a mut FairQueue,
    pub tasks: &'a mut [Task],
    pub slots: &'a mut [Slot],
    pub k: &'a Tunables,
    /// The CPU's need_resched, with the reason it was set.
    pub resched: &'a mut Option<Cause>,
    /// Who runs physically: not the current entity under proxy execution.
    pub exec: Option<TaskId>,
    pub now: Ns,
}

impl Fair<'_> {
    pub fn task(&self, t: TaskId) -> &Task {
        &self.tasks[t.index()]
    }

    pub fn task_mut(&mut self, t: TaskId) -> &mut Task {
        &mut self.tasks[t.index()]
    }

    pub fn is_cfs(&self) -> bool {
        self.k.kernel.queue == QueueKind::Cfs
    }

    /// The current entity, if it is still queued.
    pub fn curr_on_rq(&self) -> Option<TaskId> {
        self.q.curr.filter(|&t| self.task(t).se.on_rq)
    }

    pub fn set_resched(&mut self, cause: Cause) {
        self.resched.get_or_insert(cause);
    }

    /// Charges the time since the last accounting to the current entity (A.5).
    pub fn update_curr(&mut self) {
        watched!(self, |()| Op::UpdateCurr, self.charge())
    }

    fn charge(&mut self) {
        let Some(curr) = self.q.curr else { return };
        let now = self.now;
        let exec = self.exec;
        let se = &mut self.tasks[curr.index()].se;
        if now <= se.exec_start {
            return;
        }
        let delta = now.0 - se.exec_start.0;
        se.exec_start = now;
        se.charged += delta;
        se.vruntime = se.vruntime.plus(calc_delta_fair(delta, &se.load) as i64);
        self.tasks[exec.unwrap_or(curr).index()].sum_exec += delta;
        if self.is_cfs() {
            self.update_min_vruntime();
        } else {
            self.update_curr_eevdf(curr);
        }
    }

    pub fn add_to_tree(&mut self, t: TaskId) {
        let se = self.tasks[t.index()].se;
        let key = if self.is_cfs() {
            se.vruntime
        } else {
            se.deadline
        };
        self.slots[t.index()] = self.q.tree.insert(key, se.vruntime, se.slice, t);
        #[cfg(feature = "oracle")]
        self.q.arrivals.push(t);
        if !self.is_cfs() {
            let w = scale_load_down(se.load.weight) as i64;
            let key = se.vruntime.since(self.q.zero_vruntime);
            self.q.avg_vruntime = self.q.avg_vruntime.wrapping_add(key.wrapping_mul(w));
            self.q.avg_load += w;
        }
    }

    pub fn take_from_tree(&mut self, t: TaskId) {
        self.q.tree.remove(self.slots[t.index()]);
        #[cfg(feature = "oracle")]
        self.q.arrivals.retain(|&u| u != t);
        if !self.is_cfs() {
            let se = &self.tasks[t.index()].se;
            let w = scale_load_down(se.load.weight) as i64;
            let key = se.vruntime.since(self.q.zero_vruntime);
            self.q.avg_vruntime = self.q.avg_vruntime.wrapping_sub(key.wrapping_mul(w));
            self.q.avg_load -= w;
        }
    }

    /// Counts an entity in or out.
    pub fn account_entity(&mut self, t: TaskId, add: bool) {
        let task = &self.tasks[t.index()];
        let idle = u32::from(task.sched.policy == Policy::Idle);
        let weight = task.se.load.weight;
        if add {
            self.q.load.add(weight);
            self.q.nr_running += 1;
            self.q.idle_nr_running += idle;
        } else {
            self.q.load.sub(weight);
            self.q.nr_running -= 1;
            self.q.idle_nr_running -= idle;
        }
    }

    pub fn enqueue_entity(&mut self, t: TaskId, flags: Flags) {
        watched!(
            self,
            |()| Op::Enqueue(t, flags),
            if self.is_cfs() {
                self.enqueue_entity_cfs(t, flags)
            } else {
                self.enqueue_entity_eevdf(t, flags)
            }
        )
    }

    /// Takes an entity out; false: it stays queued, delayed (EEVDF, C.9).
    pub fn dequeue_entity(&mut self, t: TaskId, flags: Flags) -> bool {
        watched!(
            self,
            |left| Op::Dequeue(t, flags, left),
            if self.is_cfs() {
                self.dequeue_entity_cfs(t, flags);
                true
            } else {
                self.dequeue_entity_eevdf(t, flags)
            }
        )
    }

    /// The entity becomes the current one: out of the tree, a new stint begins.
    pub fn set_next_entity(&mut self, t: TaskId) {
        watched!(self, |()| Op::SetNext(t), self.begin_stint(t))
    }

    fn begin_stint(&mut self, t: TaskId) {
        if self.is_cfs() {
            self.clear_buddies(t);
        }
        if self.task(t).se.on_rq {
            self.take_from_tree(t);
            if !self.is_cfs() {
                self.protect_slice(t);
            }
        }
        let now = self.now;
        let se = &mut self.task_mut(t).se;
        se.exec_start = now;
        se.prev_charged = se.charged;
        self.q.curr = Some(t);
    }

    /// The current entity gives way: back into the tree if still queued.
    pub fn put_prev_entity(&mut self, t: TaskId) {
        watched!(self, |()| Op::PutPrev(t), self.end_stint(t))
    }

    fn end_stint(&mut self, t: TaskId) {
        if self.task(t).se.on_rq {
            self.update_curr();
            self.add_to_tree(t);
        }
        self.q.curr = None;
    }

    pub fn tick(&mut self) {
        watched!(
            self,
            |()| Op::Tick,
            if self.is_cfs() {
                self.tick_cfs();
            } else {
                // Everything a tick can find, update_curr finds.
                self.update_curr();
            }
        )
    }

    /// Whether a woken (or forked, or boosted) entity takes the CPU from the current one.
    pub fn wakeup_preempt(&mut self, t: TaskId) {
        watched!(
            self,
            |()| Op::WakeupPreempt(t),
            // A decision that is due already is made with this entity in the queue.
            if let Some(curr) = self.q.curr.filter(|&c| c != t && self.resched.is_none()) {
                if self.is_cfs() {
                    self.check_preempt_cfs(curr, t);
                } else {
                    self.check_preempt_eevdf(curr, t);
                }
            }
        )
    }

    /// The current entity gives up its turn, if anybody else is there.
    pub fn yield_curr(&mut self) {
        watched!(
            self,
            |()| Op::Yield,
            if self.q.nr_running > 1 {
                if self.is_cfs() {
                    self.yield_cfs()
                } else {
                    self.yield_eevdf()
                }
            }
        )
    }

    /// Chooses among the queued. The current entity counts if it is still queued.
    pub fn pick(&mut self) -> Option<(TaskId, Rule)> {
        watched!(
            self,
            |picked: Option<(TaskId, Rule)>| Op::Pick(picked.map(|(t, _)| t)),
            if self.is_cfs() {
                self.pick_cfs()
            } else {
                self.pick_eevdf()
            }
        )
    }

    /// Gives an entity another load. Off the queue in every path of PI and renice.
    pub fn reweight_entity(&mut self, t: TaskId, load: LoadWeight) {
        watched!(
            self,
            |()| Op::Reweight(t, load),
            if self.is_cfs() {
                self.reweight_cfs(t, load)
            } else {
                self.reweight_eevdf(t, load)
            }
        )
    }

    /// An entity that sleeps but is still queued wakes (EEVDF, C.9).
    pub fn requeue_delayed(&mut self, t: TaskId) {
        watched!(
            self,
            |()| Op::RequeueDelayed(t),
            self.requeue_delayed_eevdf(t)
        )
    }

    /// A new task's entity before its first enqueue, in the context of whoever runs.
    pub fn fork_entity(&mut self, t: TaskId) {
        watched!(self, |()| Op::Fork(t), {
            self.update_curr();
            if self.is_cfs() {
                self.fork_cfs(t);
            }
        })
    }
}
