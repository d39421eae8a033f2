//! One CPU: its classes, who has it, and how a decision is made.
//!
//! `donor` is the task that was picked: its entity is charged. `curr` is the task that executes.
//! They differ only under proxy execution. Specification: A.6, A.12, B.5 to B.8, C.6 to C.12,
//! part F, I.1, I.2, I.6.

use super::fair::{Fair, FairQueue, Flags};
use super::kernel::QueueKind;
use super::machine::{Machine, TimerKind};
use super::observer::{Cause, Event, Observer, Pick, Rule};
use super::program::Doing;
use super::rt::{FairServer, RR_TIMESLICE, RT_PERIOD, RT_RUNTIME, RtQueue, ServerState};
use super::task::{Class, Policy, State};
use super::units::{CpuId, Ns, TaskId};

/// A CPU.
#[derive(Clone, Debug)]
pub(crate) struct Cpu {
    pub fair: FairQueue,
    pub rt: RtQueue,
    pub server: FairServer,
    /// Who executes.
    pub curr: Option<TaskId>,
    /// Whose entity is charged: who was picked.
    pub donor: Option<TaskId>,
    /// need_resched, and why.
    pub resched: Option<Cause>,
    /// When it may be honoured.
    pub resched_at: Ns,
    /// Until when an interrupt keeps the CPU.
    pub interrupted_until: Ns,
    /// Idle time up to `idle_since`.
    pub idle: u64,
    /// Since when nothing runs.
    pub idle_since: Ns,
}

impl Cpu {
    pub fn new() -> Cpu {
        Cpu {
            fair: FairQueue::new(),
            rt: RtQueue::default(),
            server: FairServer::new(),
            curr: None,
            donor: None,
            resched: None,
            resched_at: Ns(0),
            interrupted_until: Ns(0),
            idle: 0,
            idle_since: Ns(0),
        }
    }
}

impl Machine {
    pub(crate) fn is_cfs(&self) -> bool {
        self.settings.kernel.queue == QueueKind::Cfs
    }

    pub(crate) fn cpu_of(&self, t: TaskId) -> &Cpu {
        &self.cpus[self.tasks[t.index()].cpu.index()]
    }

    /// Whether the task was picked on its CPU: the kernel's "running".
    pub(crate) fn is_donor(&self, t: TaskId) -> bool {
        self.cpu_of(t).donor == Some(t)
    }

    pub(crate) fn fair(&mut self, cpu: CpuId) -> Fair<'_> {
        let Cpu {
            fair,
            resched,
            curr,
            ..
        } = &mut self.cpus[cpu.index()];
        Fair {
            q: fair,
            tasks: &mut self.tasks,
            slots: &mut self.slots,
            k: &self.tunables,
            resched,
            exec: *curr,
            now: self.now,
        }
    }

    pub(crate) fn fair_of(&mut self, t: TaskId) -> Fair<'_> {
        self.fair(self.tasks[t.index()].cpu)
    }

    /// need_resched. From an interrupt it is honoured `resched_delay` later (I.1).
    pub(crate) fn resched_cpu(&mut self, cpu: CpuId, cause: Cause) {
        let at = self.resched_time(cpu);
        let c = &mut self.cpus[cpu.index()];
        match c.resched {
            Some(_) => c.resched_at = c.resched_at.min(at),
            None => {
                c.resched = Some(cause);
                c.resched_at = at;
            }
        }
    }

    fn resched_time(&self, cpu: CpuId) -> Ns {
        let delay = if self.in_interrupt {
            self.settings.resched_delay
        } else {
            Ns(0)
        };
        (self.now + delay).max(self.cpus[cpu.index()].interrupted_until)
    }

    pub(crate) fn resched_task_cpu(&mut self, t: TaskId, cause: Cause) {
        self.resched_cpu(self.tasks[t.index()].cpu, cause);
    }

    /// Runs a fair function and notes when its need_resched may be honoured.
    fn with_fair<R>(&mut self, cpu: CpuId, f: impl FnOnce(&mut Fair<'_>) -> R) -> R {
        let before = self.cpus[cpu.index()].resched.is_some();
        let fair_before = self.cpus[cpu.index()].fair.curr;
        let charged = fair_before.map(|t| self.tasks[t.index()].se.charged);
        let result = f(&mut self.fair(cpu));
        if !before && self.cpus[cpu.index()].resched.is_some() {
            self.cpus[cpu.index()].resched_at = self.resched_time(cpu);
        }
        if let (Some(t), Some(charged)) = (fair_before, charged) {
            let ran = self.tasks[t.index()].se.charged - charged;
            if ran > 0 {
                self.server_update(cpu, ran);
            }
        }
        result
    }

    /// Charges the current task of a CPU, whatever its class.
    pub(crate) fn update_curr(&mut self, cpu: CpuId) {
        let Some(donor) = self.cpus[cpu.index()].donor else {
            return;
        };
        if self.tasks[donor.index()].class() == Class::Fair {
            self.with_fair(cpu, |fair| fair.update_curr());
        } else {
            self.update_curr_rt(cpu, donor);
        }
    }

    fn update_curr_rt(&mut self, cpu: CpuId, donor: TaskId) {
        let now = self.now;
        let exec = self.cpus[cpu.index()].curr.unwrap_or(donor);
        let task = &mut self.tasks[donor.index()];
        let delta = now.saturating_sub(task.se.exec_start).0;
        if delta == 0 {
            return;
        }
        task.se.exec_start = now;
        task.se.charged += delta;
        let class = task.class();
        self.tasks[exec.index()].sum_exec += delta;
        if class == Class::Rt && self.throttles() {
            let rt = &mut self.cpus[cpu.index()].rt;
            rt.rt_time += delta;
            if !rt.throttled && rt.rt_time > RT_RUNTIME.0 {
                rt.throttled = true;
                self.throttle_event(cpu);
                self.resched_cpu(cpu, Cause::Throttle);
            }
        }
    }

    fn throttles(&self) -> bool {
        self.settings.kernel.rt_throttling && self.settings.rt_throttle
    }

    fn throttle_event(&mut self, cpu: CpuId) {
        // Told at the next chance: accounting has no observer at hand.
        self.throttle_changed = Some(cpu);
    }

    /// 6.1: the RT period ends.
    pub(crate) fn rt_period(&mut self, cpu: CpuId) {
        self.update_curr(cpu);
        let rt = &mut self.cpus[cpu.index()].rt;
        rt.rt_time = rt.rt_time.saturating_sub(RT_RUNTIME.0);
        let unthrottle = rt.throttled && rt.rt_time < RT_RUNTIME.0;
        if unthrottle {
            rt.throttled = false;
        }
        rt.period_active = rt.rt_time > 0 || rt.nr_rt() > 0;
        if rt.period_active {
            let at = self.now + RT_PERIOD;
            self.arm(at, TimerKind::RtPeriod(cpu));
        }
        if unthrottle {
            self.throttle_event(cpu);
            if self.cpus[cpu.index()].rt.nr_rt() > 0 {
                self.resched_cpu(cpu, Cause::Throttle);
            }
        }
    }

    /// Puts a task into its class.
    pub(crate) fn enqueue_task(&mut self, t: TaskId, flags: Flags) {
        let task = &mut self.tasks[t.index()];
        task.on_rq = true;
        let (cpu, prio) = (task.cpu, task.prio);
        match task.class() {
            Class::Fair => {
                self.with_fair(cpu, |fair| fair.enqueue_entity(t, flags));
                if self.cpus[cpu.index()].fair.nr_running == 1 {
                    self.server_start(cpu);
                }
            }
            Class::Rt => {
                let rt = &mut self.cpus[cpu.index()].rt;
                rt.enqueue_rt(t, prio, flags.head);
                if self.throttles() && !self.cpus[cpu.index()].rt.period_active {
                    self.cpus[cpu.index()].rt.period_active = true;
                    self.arm(self.now + RT_PERIOD, TimerKind::RtPeriod(cpu));
                }
            }
            Class::Deadline => self.cpus[cpu.index()].rt.enqueue_dl(t),
        }
    }

    /// Takes a task out of its class. A fair sleeper may stay queued, delayed.
    pub(crate) fn dequeue_task(&mut self, t: TaskId, flags: Flags) {
        let (cpu, prio) = (self.tasks[t.index()].cpu, self.tasks[t.index()].prio);
        match self.tasks[t.index()].class() {
            Class::Fair => {
                if !self.with_fair(cpu, |fair| fair.dequeue_entity(t, flags)) {
                    return;
                }
                if self.cpus[cpu.index()].fair.nr_running == 0 {
                    self.server_stop(cpu);
                }
            }
            Class::Rt => {
                if self.is_donor(t) {
                    self.update_curr(cpu);
                }
                self.cpus[cpu.index()].rt.dequeue_rt(t, prio);
            }
            Class::Deadline => {
                if self.is_donor(t) {
                    self.update_curr(cpu);
                }
                self.cpus[cpu.index()].rt.dequeue_dl(t);
            }
        }
        self.tasks[t.index()].on_rq = false;
    }

    /// C.9: the second half of a delayed dequeue.
    pub(crate) fn finish_delayed_dequeue(&mut self, t: TaskId) {
        self.dequeue_task(
            t,
            Flags {
                sleep: true,
                delayed: true,
                ..Flags::default()
            },
        );
    }

    pub(crate) fn put_prev_task(&mut self, t: TaskId) {
        let cpu = self.tasks[t.index()].cpu;
        match self.tasks[t.index()].class() {
            Class::Fair => self.with_fair(cpu, |fair| fair.put_prev_entity(t)),
            Class::Rt | Class::Deadline => self.update_curr(cpu),
        }
    }

    pub(crate) fn set_next_task(&mut self, t: TaskId) {
        let cpu = self.tasks[t.index()].cpu;
        match self.tasks[t.index()].class() {
            Class::Fair => self.with_fair(cpu, |fair| fair.set_next_entity(t)),
            Class::Rt | Class::Deadline => {
                let now = self.now;
                let se = &mut self.tasks[t.index()].se;
                se.exec_start = now;
                se.prev_charged = se.charged;
            }
        }
    }

    /// A.6: whether a runnable task takes the CPU from whoever has it.
    pub(crate) fn wakeup_preempt(&mut self, t: TaskId, cause: Cause) {
        let cpu = self.tasks[t.index()].cpu;
        let Some(donor) = self.cpus[cpu.index()].donor else {
            self.resched_cpu(cpu, Cause::IdleWakeup);
            return;
        };
        if donor == t {
            return;
        }
        let (old, new) = (
            self.tasks[donor.index()].class(),
            self.tasks[t.index()].class(),
        );
        if new < old {
            self.resched_cpu(cpu, cause);
        } else if new == old {
            let better = match new {
                Class::Fair => {
                    self.with_fair(cpu, |fair| fair.wakeup_preempt(t));
                    return;
                }
                Class::Rt => self.tasks[t.index()].prio < self.tasks[donor.index()].prio,
                Class::Deadline => {
                    self.tasks[t.index()].dl_deadline < self.tasks[donor.index()].dl_deadline
                }
            };
            if better {
                self.resched_cpu(cpu, cause);
            }
        }
    }

    /// The timer interrupt on a CPU that runs something.
    pub(crate) fn tick(&mut self, cpu: CpuId, obs: &mut dyn Observer) {
        let Some(donor) = self.cpus[cpu.index()].donor else {
            return;
        };
        match self.tasks[donor.index()].class() {
            Class::Fair => self.with_fair(cpu, |fair| fair.tick()),
            Class::Rt => {
                self.update_curr(cpu);
                let task = &mut self.tasks[donor.index()];
                if task.sched.policy == Policy::Rr && task.se.charged >= task.quantum_end {
                    task.quantum_end = task.se.charged + RR_TIMESLICE.0;
                    let prio = task.prio;
                    if self.cpus[cpu.index()].rt.rotate(donor, prio) {
                        self.resched_cpu(cpu, Cause::Quantum);
                    }
                }
            }
            Class::Deadline => self.update_curr(cpu),
        }
        // The interrupt's own time is taken from the task's work.
        if self.settings.irq_cost.0 > 0
            && let Some(curr) = self.cpus[cpu.index()].curr
            && let Doing::Run { until_exec } = &mut self.tasks[curr.index()].cursor.doing
        {
            *until_exec += self.settings.irq_cost.0;
        }
        if self.wants_decisions {
            obs.event(self, &Event::Tick { cpu });
        }
    }

    /// The current task stops being runnable: a decision is due at once.
    pub(crate) fn block_current(&mut self, t: TaskId, state: State, obs: &mut dyn Observer) {
        self.set_state(t, state, obs);
        let cause = if state == State::Ended {
            Cause::Exit
        } else {
            Cause::Sleep
        };
        self.resched_task_cpu(t, cause);
    }

    /// schedule(): who runs now.
    pub(crate) fn schedule(&mut self, cpu: CpuId, obs: &mut dyn Observer) {
        let i = cpu.index();
        let cause = self.cpus[i].resched.unwrap_or(Cause::Start);
        let (prev, prev_exec) = (self.cpus[i].donor, self.cpus[i].curr);
        // Who spins on an owner elsewhere sleeps when its CPU is wanted (D.3).
        if let Some(t) = prev_exec
            && let Doing::Spinning { lock, expires } = self.tasks[t.index()].cursor.doing
        {
            self.tasks[t.index()].cursor.doing = Doing::Locking {
                lock,
                expires,
                expired: false,
            };
            self.set_state(t, State::Blocked(lock), obs);
        }
        self.deactivate_if_asleep(prev_exec);
        if prev != prev_exec {
            self.deactivate_if_asleep(prev);
        }
        let (next, rule, exec) = loop {
            let (next, rule) = self.pick_next(cpu, prev);
            let Some(t) = next else {
                break (None, rule, None);
            };
            // A delayed sleeper was chosen: it goes for good, and the choice is made again.
            if self.tasks[t.index()].se.sched_delayed {
                self.finish_delayed_dequeue(t);
                continue;
            }
            match self.follow_chain(t) {
                Some(exec) => break (Some(t), rule, Some(exec)),
                // Its lock's owner cannot run here: it waits like anybody.
                None => self.dequeue_task(
                    t,
                    Flags {
                        sleep: true,
                        special: true,
                        ..Flags::default()
                    },
                ),
            }
        };
        self.cpus[i].resched = None;
        self.decisions += 1;
        if self.wants_decisions {
            let pick = Pick {
                cpu,
                prev,
                next,
                runs: exec,
                rule,
                cause,
            };
            obs.event(self, &Event::Pick(pick));
        }
        let still_current = prev.is_some_and(|t| {
            self.tasks[t.index()].class() != Class::Fair || self.cpus[i].fair.curr == Some(t)
        });
        if next != prev || !still_current {
            if let Some(t) = prev
                && still_current
            {
                self.put_prev_task(t);
            }
            self.cpus[i].donor = next;
            if let Some(t) = next {
                self.set_next_task(t);
            }
        }
        self.switch_to(cpu, prev_exec, exec, obs);
    }

    fn switch_to(
        &mut self,
        cpu: CpuId,
        prev: Option<TaskId>,
        next: Option<TaskId>,
        obs: &mut dyn Observer,
    ) {
        if prev == next {
            return;
        }
        let now = self.now;
        // Whoever was accounted for up to here ran up to here (proxy: the donor may stay).
        self.update_curr_before_switch(cpu);
        let c = &mut self.cpus[cpu.index()];
        if prev.is_none() {
            c.idle += now.saturating_sub(c.idle_since).0;
        }
        if next.is_none() {
            c.idle_since = now;
        }
        c.curr = next;
        self.switches += 1;
        if let Some(t) = prev
            && self.tasks[t.index()].state == State::Running
        {
            self.set_state(t, State::Runnable, obs);
        }
        obs.event(self, &Event::Switch { cpu, prev, next });
        if let Some(t) = next {
            self.set_state(t, State::Running, obs);
        }
    }

    /// Proxy: the donor stays but another task executes for it.
    fn update_curr_before_switch(&mut self, cpu: CpuId) {
        if self.cpus[cpu.index()].donor != self.cpus[cpu.index()].curr {
            self.update_curr(cpu);
        }
    }

    fn deactivate_if_asleep(&mut self, t: Option<TaskId>) {
        let Some(t) = t else { return };
        let task = &self.tasks[t.index()];
        if task.on_rq
            && !task.is_runnable()
            && task.blocked_donor.is_none()
            && !task.se.sched_delayed
        {
            let special = task.state == State::Ended;
            self.dequeue_task(
                t,
                Flags {
                    sleep: true,
                    special,
                    ..Flags::default()
                },
            );
        }
    }

    /// The best class first. The fair class may keep or put back `prev` before it picks (I.2).
    fn pick_next(&mut self, cpu: CpuId, prev: Option<TaskId>) -> (Option<TaskId>, Rule) {
        let i = cpu.index();
        let prev_fair = prev.filter(|&t| self.cpus[i].fair.curr == Some(t));
        let k = self.settings.kernel;
        let keeps_prev =
            k.pick_before_put || (self.settings.fair_group_sched && !self.has_better_class(cpu));
        if prev_fair.is_some() && !keeps_prev {
            self.with_fair(cpu, |fair| {
                if let Some(t) = prev_fair {
                    fair.put_prev_entity(t);
                }
            });
        } else if prev_fair.is_none()
            && let Some(t) = prev
            && self.tasks[t.index()].class() != Class::Fair
        {
            self.update_curr(cpu);
        }
        let serve =
            self.cpus[i].server.state == ServerState::Running && self.cpus[i].fair.nr_running > 0;
        if !serve {
            let deadline = self.cpus[i].rt.deadline_tasks();
            let earliest = deadline
                .iter()
                .copied()
                .min_by_key(|t| self.tasks[t.index()].dl_deadline);
            if let Some(t) = earliest {
                return (Some(t), Rule::Class);
            }
            if !self.cpus[i].rt.throttled
                && let Some(t) = self.cpus[i].rt.first_rt()
            {
                return (Some(t), Rule::Class);
            }
        }
        let better_waits = serve && self.cpus[i].rt.iter().next().is_some();
        match self.with_fair(cpu, |fair| fair.pick()) {
            Some((t, rule)) => (Some(t), if better_waits { Rule::FairServer } else { rule }),
            None => (None, Rule::Idle),
        }
    }

    fn has_better_class(&self, cpu: CpuId) -> bool {
        let rt = &self.cpus[cpu.index()].rt;
        !rt.deadline_tasks().is_empty() || (rt.nr_rt() > 0 && !rt.throttled)
    }

    /// Part F: from the picked task along blocked_on to one that can run here.
    fn follow_chain(&self, t: TaskId) -> Option<TaskId> {
        let cpu = self.tasks[t.index()].cpu;
        let mut at = t;
        for _ in 0..super::rt_mutex::MAX_LOCK_DEPTH {
            let task = &self.tasks[at.index()];
            match task.blocked_donor {
                None => {
                    let here = task.cpu == cpu && task.on_rq && !task.se.sched_delayed;
                    return (here && task.is_runnable()).then_some(at);
                }
                Some(lock) => at = self.locks[lock.index()].owner?,
            }
        }
        None
    }

    /// Part F: an owner can run again, so whoever lends it a turn is queued again.
    pub(crate) fn reactivate_donors(&mut self, owner: TaskId) {
        let mut owners = vec![owner];
        while let Some(o) = owners.pop() {
            for l in 0..self.tasks[o.index()].held.len() {
                let lock = self.tasks[o.index()].held[l];
                for w in 0..self.locks[lock.index()].waiters.len() {
                    let waiter = self.locks[lock.index()].waiters[w];
                    let task = &self.tasks[waiter.index()];
                    if task.blocked_donor == Some(lock) && !task.on_rq {
                        self.enqueue_task(
                            waiter,
                            Flags {
                                wakeup: true,
                                ..Flags::default()
                            },
                        );
                        self.wakeup_preempt(waiter, Cause::Proxy);
                        owners.push(waiter);
                    }
                }
            }
        }
    }

    /// Part F: a kernel mutex changed hands; chains are followed anew.
    pub(crate) fn proxy_changed(&mut self) {
        for i in 0..self.cpus.len() {
            let cpu = CpuId(i as u32);
            if self.cpus[i]
                .donor
                .is_some_and(|d| self.cpus[i].curr != Some(d))
            {
                self.resched_cpu(cpu, Cause::Proxy);
            }
        }
    }

    // The fair server (6.12, I.6).

    fn server_start(&mut self, cpu: CpuId) {
        if !self.settings.kernel.fair_server {
            return;
        }
        let now = self.now;
        let server = &mut self.cpus[cpu.index()].server;
        if server.state == ServerState::Stopped {
            if server.deadline <= now || server.runtime <= 0 {
                server.new_period(now);
            }
            server.state = ServerState::Armed;
            self.arm_server(cpu);
        }
    }

    fn server_stop(&mut self, cpu: CpuId) {
        self.cpus[cpu.index()].server.state = ServerState::Stopped;
    }

    /// One timer a CPU is kept; when it comes too early it is set anew.
    fn arm_server(&mut self, cpu: CpuId) {
        let at = self.cpus[cpu.index()].server.zero_laxity();
        self.arm_server_at(cpu, at);
    }

    fn arm_server_at(&mut self, cpu: CpuId, at: Ns) {
        let server = &mut self.cpus[cpu.index()].server;
        server.token += 1;
        let token = server.token;
        self.arm(at.max(self.now), TimerKind::FairServer(cpu, token));
    }

    /// Fair time counts, however it was had.
    fn server_update(&mut self, cpu: CpuId, ran: u64) {
        if !self.settings.kernel.fair_server {
            return;
        }
        let now = self.now;
        let server = &mut self.cpus[cpu.index()].server;
        if server.state == ServerState::Stopped {
            return;
        }
        server.runtime -= ran as i64;
        if server.runtime > 0 {
            return;
        }
        // It had its time, in its turn or in between: the next period begins here.
        let before = server.state;
        server.new_period(now);
        server.state = ServerState::Armed;
        if before == ServerState::Running && self.has_better_class(cpu) {
            self.resched_cpu(cpu, Cause::FairServer);
        }
        if before != ServerState::Armed {
            self.arm_server(cpu);
        }
    }

    /// The server's timer: its turn has come, unless fair tasks had time in between.
    pub(crate) fn server_timer(&mut self, cpu: CpuId, token: u64) {
        let i = cpu.index();
        if self.cpus[i].server.token != token {
            return;
        }
        self.update_curr(cpu);
        let now = self.now;
        let server = &mut self.cpus[i].server;
        match server.state {
            ServerState::Stopped | ServerState::Running => return,
            ServerState::Armed if now < server.zero_laxity() => {
                self.arm_server(cpu);
                return;
            }
            ServerState::Armed => {
                // The turn is a whole one, however little of the period was left.
                server.new_period(now);
                let deadline = server.deadline;
                if let Some(span) = self.shortest_deadline(cpu) {
                    // A deadline task that computes on has its deadline renewed; the server's is
                    // the earlier one only this long before it.
                    self.cpus[i].server.state = ServerState::Waiting;
                    self.arm_server_at(cpu, deadline.saturating_sub(span));
                    return;
                }
            }
            ServerState::Waiting => {}
        }
        if self.has_better_class(cpu) {
            self.cpus[i].server.state = ServerState::Running;
            self.resched_cpu(cpu, Cause::FairServer);
        } else {
            // Nobody starves fair tasks at the moment: look again a period later.
            let server = &mut self.cpus[i].server;
            server.new_period(now);
            server.state = ServerState::Armed;
            self.arm_server(cpu);
        }
    }

    /// The shortest relative deadline of a CPU's deadline tasks, own or lent.
    fn shortest_deadline(&self, cpu: CpuId) -> Option<Ns> {
        let tasks = self.cpus[cpu.index()].rt.deadline_tasks();
        let relative = |&t: &TaskId| {
            let mut at = t;
            for _ in 0..super::rt_mutex::MAX_LOCK_DEPTH {
                let task = &self.tasks[at.index()];
                if task.sched.policy == Policy::Deadline {
                    return Some(task.sched.deadline);
                }
                at = task.pi_top_task?;
            }
            None
        };
        tasks.iter().filter_map(relative).min()
    }
}
