//! The machine as others see it. Reading never accounts anything, so it never changes a run
//! (specification A.5, vector 73).

use super::kernel::{QueueKind, Settings};
use super::machine::Machine;
use super::observer::{EntityView, QueueView};
use super::task::Task;
use super::units::{CpuId, LockId, Ns, TaskId, Vtime};
use super::weight::{calc_delta_fair, scale_load_down};

impl Machine {
    /// The instant it has come to.
    pub fn now(&self) -> Ns {
        self.now
    }

    /// The settings (the variant in force included).
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// All tasks, forked ones included. Tasks of time zero are there once the run has begun.
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// One task.
    ///
    /// # Panics
    /// If there is no such task (yet): those of time zero come to be with the first
    /// [`Machine::run_until`].
    pub fn task(&self, id: TaskId) -> &Task {
        &self.tasks[id.index()]
    }

    /// CPU time a task has had up to now, the running stint included. None, if it has not begun.
    pub fn cpu_time(&self, id: TaskId) -> Ns {
        let Some(task) = self.tasks.get(id.index()) else {
            return Ns(0);
        };
        let cpu = &self.cpus[task.cpu.index()];
        let running = match (cpu.curr, cpu.donor) {
            (Some(curr), Some(donor)) if curr == id => {
                self.now
                    .saturating_sub(self.tasks[donor.index()].se.exec_start)
                    .0
            }
            _ => 0,
        };
        Ns(task.sum_exec + running)
    }

    /// Who runs on a CPU.
    pub fn current(&self, cpu: CpuId) -> Option<TaskId> {
        self.cpus.get(cpu.index()).and_then(|c| c.curr)
    }

    /// How many CPUs there are.
    pub fn cpus(&self) -> u32 {
        self.cpus.len() as u32
    }

    /// How long a CPU has had nothing to run.
    pub fn idle_time(&self, cpu: CpuId) -> Ns {
        let Some(cpu) = self.cpus.get(cpu.index()) else {
            return self.now;
        };
        let running = if cpu.curr.is_none() {
            self.now.saturating_sub(cpu.idle_since).0
        } else {
            0
        };
        Ns(cpu.idle + running)
    }

    /// Who owns a mutex. A mutex handed over has no owner until its new one runs.
    pub fn owner(&self, lock: LockId) -> Option<TaskId> {
        self.locks[lock.index()].owner
    }

    /// Who waits for a mutex, first in line first.
    pub fn waiters(&self, lock: LockId) -> &[TaskId] {
        &self.locks[lock.index()].waiters
    }

    /// Picks made so far, re-picks included.
    pub fn decisions(&self) -> u64 {
        self.decisions
    }

    /// Changes of the running task so far.
    pub fn switches(&self) -> u64 {
        self.switches
    }

    /// The fair queue of a CPU, brought up to now without touching it; empty where no task has been.
    pub fn queue_view(&self, cpu: CpuId) -> QueueView {
        let Some(cpu) = self.cpus.get(cpu.index()) else {
            return QueueView {
                at: self.now,
                v: Vtime::START.signed(),
                weight: 0,
                entities: Vec::new(),
            };
        };
        let q = &cpu.fair;
        let eevdf = self.settings.kernel.queue == QueueKind::Eevdf;
        let curr = q.curr.filter(|t| self.tasks[t.index()].se.on_rq);
        let vruntime = |t: TaskId| {
            let se = &self.tasks[t.index()].se;
            if curr == Some(t) {
                let ran = self.now.saturating_sub(se.exec_start).0;
                se.vruntime.plus(calc_delta_fair(ran, &se.load) as i64)
            } else {
                se.vruntime
            }
        };
        let queued: Vec<TaskId> = q.tree.iter().chain(curr).collect();
        let weight_of = |t: TaskId| scale_load_down(self.tasks[t.index()].se.load.weight) as i64;
        let weight: i64 = queued.iter().map(|&t| weight_of(t)).sum();
        // Exact, around the first queued one's vruntime.
        let v = match queued.first() {
            Some(&first) if eevdf => {
                let origin = vruntime(first);
                let sum: i128 = queued
                    .iter()
                    .map(|&t| i128::from(vruntime(t).since(origin)) * i128::from(weight_of(t)))
                    .sum();
                origin.plus(sum.div_euclid(i128::from(weight)) as i64)
            }
            _ if eevdf => q.zero_vruntime,
            _ => q.min_vruntime,
        };
        let leftmost = queued.iter().copied().map(vruntime).reduce(|a, b| a.min(b));
        let mut entities: Vec<EntityView> = queued
            .iter()
            .map(|&t| {
                let se = &self.tasks[t.index()].se;
                let at = vruntime(t);
                let protected = se.protected_at(at, &self.settings.kernel);
                EntityView {
                    task: t,
                    current: curr == Some(t),
                    vruntime: at.signed(),
                    deadline: if eevdf {
                        se.deadline.signed()
                    } else {
                        at.signed()
                    },
                    lag: v.since(at),
                    eligible: if eevdf {
                        v.since(at) >= 0
                    } else {
                        leftmost == Some(at)
                    },
                    protected: eevdf && curr == Some(t) && protected,
                    delayed: se.sched_delayed,
                    weight: self.tasks[t.index()].weight(),
                    slice: se.slice,
                }
            })
            .collect();
        entities.sort_by_key(|e| (e.vruntime.wrapping_sub(v.signed()), e.task));
        QueueView {
            at: self.now,
            v: v.signed(),
            weight: weight as u64,
            entities,
        }
    }
}
