//! From events to time: what every task and CPU did, kept up as the lines come.
//!
//! Cost per event: O(1) and the windows and boosts that stand open. Nothing of an event is kept.
//!
//! Time is charged as the kernel charges it. Its run-queue clock is read at the switch, but where a
//! wakeup preempts it is the clock of the wakeup that counts, a few microseconds before
//! (`rq_clock_skip_update`). So does this: over thousands of such switches the difference would add
//! up.
//!
//! What a trace does not say is not made up. A task's first line tells what it did before: it was
//! running if a CPU's first line is in its context, asleep if it is woken, waiting if it is
//! switched to without a wakeup in a trace that has wakeups. Where a CPU's lines contradict each
//! other (the task that speaks is not the one that was switched to) lines are missing, and the time
//! from the last good one is charged to nobody.

use super::boosts::{self, Boosts, End};
use super::cpus::{Cpu, Current};
use super::event::{Event, Off, What, Who, printable};
use super::story::Story;
use super::tasks::{Futex, Load, Sleep, State, Tasks};
use super::timeline::{Kind, Timeline};
use super::windows::Windows;
use crate::model::units::Ns;

/// Text of trace markers kept.
pub const MAX_MARKS: usize = 4096;

/// A wakeup that preempts is followed by the switch at once.
const PREEMPTS_WITHIN: Ns = Ns::from_us(50);

/// A line a program wrote into the trace.
pub(super) struct Mark {
    pub at: Ns,
    pub pid: u32,
    pub text: String,
}

#[derive(Default)]
pub(super) struct Analysis {
    pub tasks: Tasks,
    pub cpus: Vec<Cpu>,
    pub windows: Windows,
    pub boosts: Boosts,
    pub timeline: Timeline,
    pub story: Story,
    pub marks: Vec<Mark>,
    pub marks_left_out: u64,
    /// First and last line, on the trace's clock.
    pub first: Option<Ns>,
    pub last: Ns,
    /// Since when recording has gone on without a gap.
    pub stretch: Ns,
    pub switches: u64,
    /// Wakeups read.
    pub wakes: u64,
    /// Sleepers that were switched to without one.
    pub missed_wakes: u64,
}

impl Analysis {
    /// Takes one event; times never go backward here.
    pub(super) fn event(&mut self, e: &Event<'_>) {
        if self.first.is_none() {
            self.first = Some(e.at);
            self.stretch = e.at;
        }
        self.integrate(e.at);
        self.last = e.at;
        let speaker = match &e.what {
            // perf has other ideas of a dying task's pid; the fields do not.
            What::Switch { prev, .. } => prev.pid,
            _ => e.pid,
        };
        let speaks = self.context(e, speaker);
        self.cpu(e.cpu).last = e.at;
        self.cpu(e.cpu).just_switched = false;
        match e.what {
            What::Switch { prev, off, next } => self.switch(e, prev, off, next),
            What::Wake { who, cpu, new } => self.wake(e, speaks, who, cpu, new),
            What::SetPrio {
                comm,
                pid,
                from,
                to,
            } => self.set_prio(e, speaks, comm, pid, from, to),
            What::Migrate { pid, to } => self.migrate(pid, to),
            What::Fork { child, comm } => self.fork(child, comm, e.at),
            What::Exec { pid, old } => self.exec(pid, old, e.at),
            What::FutexEnter {
                op: op @ (0 | 6 | 13),
            } => self.futex(speaks, Some(Futex { inherit: op != 0 })),
            What::FutexEnter { .. } | What::FutexExit => self.futex(speaks, None),
            What::Marker { text } => self.mark(e, text),
            What::Runtime { .. } | What::Exit | What::Other { .. } => {}
        }
    }

    /// The task with this pid; `None` when there is no room for one more.
    pub(super) fn task(&mut self, pid: u32) -> Option<usize> {
        self.tasks.get(pid, self.stretch)
    }

    pub(super) fn cpu(&mut self, cpu: u32) -> &mut Cpu {
        let index = cpu as usize;
        if index >= self.cpus.len() {
            let from = self.stretch;
            self.cpus.resize_with(index + 1, || Cpu::new(from));
        }
        &mut self.cpus[index]
    }

    /// Who speaks must be who was switched to; gives its place in the table.
    pub(super) fn context(&mut self, e: &Event<'_>, pid: u32) -> Option<usize> {
        let at = e.at;
        let task = if pid == 0 { None } else { self.task(pid) };
        if let Some(i) = task {
            self.tasks.all[i].named(e.comm);
        }
        let expected = match task {
            Some(i) => Current::Task(i),
            None if pid == 0 => Current::Idle,
            None => Current::Untracked,
        };
        let cpu = self.cpu(e.cpu);
        cpu.seen = true;
        if cpu.current == expected {
            return task;
        }
        if cpu.current != Current::Unknown {
            cpu.contradictions += 1;
            cpu.suspect = true;
            self.lose(e.cpu as usize, at);
        }
        // The first line of this CPU since the stretch began or since lines were lost.
        let cpu = &mut self.cpus[e.cpu as usize];
        if cpu.known_from == Ns::NEVER {
            cpu.unknown += at.saturating_sub(cpu.last);
            cpu.known_from = at;
        }
        let from = cpu.known_from;
        if let Some(i) = task {
            if self.tasks.all[i].state == State::Running {
                let elsewhere = self.tasks.all[i].cpu;
                self.cpus[elsewhere].contradictions += 1;
                self.lose(elsewhere, at);
            }
            let t = &self.tasks.all[i];
            let had_it = matches!(t.state, State::Unseen) || t.assumed;
            let since = if had_it { from.max(t.since) } else { at };
            self.leave(i, since);
            self.run_on(i, e.cpu as usize, since);
        } else {
            let cpu = &mut self.cpus[e.cpu as usize];
            cpu.current = expected;
            cpu.since = from;
        }
        task
    }

    /// Books what a task has done since `since`, and takes it from its queue.
    pub(super) fn leave(&mut self, i: usize, at: Ns) {
        self.leave_for(i, at, at);
    }

    /// The same for a task that is charged as running from `at`, and got the CPU at `shown`.
    pub(super) fn leave_for(&mut self, i: usize, at: Ns, shown: Ns) {
        self.book(i, at, shown);
        let t = &mut self.tasks.all[i];
        if let Some(load) = t.load.take() {
            self.cpus[load.cpu].dequeue(&load);
        }
        t.assumed = false;
        t.since = at;
    }

    pub(super) fn book(&mut self, i: usize, at: Ns, shown: Ns) {
        let t = &mut self.tasks.all[i];
        let from = t.since;
        let span = at.saturating_sub(from);
        let kind = match t.state {
            State::Running => {
                t.totals.run += span;
                self.cpus[t.cpu].busy += span;
                self.windows.run(t.serial, from, at);
                Kind::Running
            }
            State::Waiting => {
                t.totals.wait += span;
                let wait = shown.saturating_sub(from);
                if wait > t.waits.max() {
                    t.longest_wait_from = from;
                }
                t.waits.add(wait);
                self.windows.wait(t.serial, from, at);
                Kind::Waiting
            }
            State::Asleep => match t.sleep {
                Sleep::Lock => {
                    t.totals.blocked += span;
                    Kind::Blocked
                }
                sleep => {
                    t.totals.sleep += span;
                    if sleep == Sleep::Uninterruptible {
                        t.totals.uninterruptible += span;
                    }
                    Kind::Sleeping
                }
            },
            State::Unseen | State::Lost | State::Dead => return,
        };
        self.timeline.add(t, kind, from, at);
    }

    pub(super) fn queue(&mut self, i: usize, cpu: usize) {
        let t = &mut self.tasks.all[i];
        let now = t.prio.and_then(boosts::weight);
        let base = t.base.and_then(boosts::weight);
        let load = Load {
            cpu,
            fair: now.is_some(),
            base: base.or(now).unwrap_or(0),
            now: now.unwrap_or(0),
        };
        self.cpus[cpu].enqueue(&load);
        t.load = Some(load);
        t.cpu = cpu;
    }

    pub(super) fn run_on(&mut self, i: usize, cpu: usize, at: Ns) {
        self.queue(i, cpu);
        let t = &mut self.tasks.all[i];
        t.state = State::Running;
        t.since = at;
        self.cpus[cpu].current = Current::Task(i);
        self.cpus[cpu].since = at;
    }

    pub(super) fn wait_on(&mut self, i: usize, cpu: u32, at: Ns) {
        self.cpu(cpu);
        self.queue(i, cpu as usize);
        let t = &mut self.tasks.all[i];
        t.state = State::Waiting;
        t.since = at;
    }

    pub(super) fn switch(&mut self, e: &Event<'_>, prev: Who<'_>, off: Off, next: Who<'_>) {
        let at = e.at;
        if prev.pid != next.pid {
            self.switches += 1;
        }
        self.turn_ends(e.cpu as usize, at);
        let shown = at;
        let at = self.charged_from(e, off, next.pid);
        match self.cpus[e.cpu as usize].current {
            Current::Task(i) => {
                self.tasks.all[i].named(prev.comm);
                self.see_prio(i, prev.prio, at);
                self.leave(i, at);
                self.go_off(i, off, e.cpu, at);
            }
            Current::Idle => {
                let cpu = &mut self.cpus[e.cpu as usize];
                cpu.idle += at.saturating_sub(cpu.since);
                let since = cpu.since;
                self.windows.idle(since, at);
            }
            Current::Unknown | Current::Untracked => {}
        }
        self.switch_to(next, e.cpu as usize, at, shown);
    }

    /// Since when the next task is charged: the switch, or the wakeup that preempted.
    pub(super) fn charged_from(&mut self, e: &Event<'_>, off: Off, next: u32) -> Ns {
        let cpu = &mut self.cpus[e.cpu as usize];
        let Some((at, woken)) = cpu.preempted_at.take() else {
            return e.at;
        };
        let recent = e.at.saturating_sub(at) <= PREEMPTS_WITHIN && at >= cpu.since;
        // Without flags a wakeup is known to preempt only by what follows.
        let preempts = e.resched.is_some() || woken == next;
        if recent && preempts && off == Off::Runnable {
            at
        } else {
            e.at
        }
    }

    pub(super) fn go_off(&mut self, i: usize, off: Off, cpu: u32, at: Ns) {
        let slept_at = self.recorded(at);
        let t = &mut self.tasks.all[i];
        t.undecided = None;
        t.slept_at = slept_at;
        match off {
            Off::Runnable => self.wait_on(i, cpu, at),
            Off::Dead => {
                if let Some(position) = self.boosts.of(i) {
                    self.end_boost(position, at, End::Gone);
                }
                self.tasks.bury(i);
            }
            Off::Sleeping | Off::Uninterruptible => {
                t.state = State::Asleep;
                t.sleep = match (t.futex, t.raised) {
                    (Some(_), _) => Sleep::Lock,
                    (None, Some(holder)) => Sleep::Perhaps(holder),
                    _ if off == Off::Uninterruptible => Sleep::Uninterruptible,
                    _ => Sleep::Plain,
                };
            }
        }
    }

    pub(super) fn switch_to(&mut self, next: Who<'_>, cpu: usize, at: Ns, shown: Ns) {
        self.cpus[cpu].just_switched = true;
        if next.pid == 0 {
            self.cpus[cpu].current = Current::Idle;
            self.cpus[cpu].since = at;
            return;
        }
        let Some(i) = self.task(next.pid) else {
            self.cpus[cpu].current = Current::Untracked;
            self.cpus[cpu].since = at;
            return;
        };
        self.tasks.all[i].named(next.comm);
        self.see_prio(i, next.prio, at);
        let t = &mut self.tasks.all[i];
        match t.state {
            State::Running => {
                // It is still the current task elsewhere: that CPU's lines are missing.
                let elsewhere = t.cpu;
                self.cpus[elsewhere].contradictions += 1;
                self.lose(elsewhere, at);
            }
            // Runnable all the time, or its wakeup would have been told.
            State::Unseen if self.wakes > 0 => t.state = State::Waiting,
            State::Asleep if t.assumed => t.state = State::Waiting,
            State::Asleep => {
                self.missed_wakes += 1;
                self.tell_missed(i, at);
            }
            _ => {}
        }
        let t = &mut self.tasks.all[i];
        if let Some(woken) = t.woken.take() {
            t.latencies.add(shown.saturating_sub(woken));
        }
        self.settle(i, false);
        let at = at.max(self.tasks.all[i].since);
        self.leave_for(i, at, shown);
        let t = &mut self.tasks.all[i];
        t.totals.switches += 1;
        t.raised = None;
        self.windows.switched_in(t.serial, at);
        self.run_on(i, cpu, at);
    }

    /// A doubtful sleep becomes a lock wait or an ordinary one.
    pub(super) fn settle(&mut self, i: usize, lock: bool) {
        let t = &mut self.tasks.all[i];
        if let (State::Asleep, Sleep::Perhaps(_)) = (t.state, t.sleep) {
            t.sleep = if lock { Sleep::Lock } else { Sleep::Plain };
        }
    }

    pub(super) fn wake(
        &mut self,
        e: &Event<'_>,
        speaks: Option<usize>,
        who: Who<'_>,
        target: Option<u32>,
        new: bool,
    ) {
        self.wakes += 1;
        if who.pid == 0 {
            return;
        }
        if new
            && let Some(old) = self
                .tasks
                .find(who.pid)
                .filter(|&i| self.tasks.all[i].totals.switches > 0)
        {
            // A pid that was used before: its last owner's end was not recorded.
            self.drop_task(old, e.at);
        }
        let Some(i) = self.task(who.pid) else { return };
        self.tasks.all[i].named(who.comm);
        self.see_prio(i, who.prio, e.at);
        let lock = self.handed_over(i, speaks, e.interrupt);
        self.tell_wake(i, e, speaks, lock, new);
        if e.resched != Some(false) && target.is_none_or(|cpu| cpu == e.cpu) {
            self.cpu(e.cpu).preempted_at = Some((e.at, who.pid));
        }
        if lock {
            self.unmoved(i, speaks, e.at);
        }
        let t = &mut self.tasks.all[i];
        let cpu = target.unwrap_or(t.cpu as u32);
        match t.state {
            State::Running | State::Dead => return,
            State::Waiting if !t.assumed => {
                // Told twice, as waking and as wakeup; the second knows the CPU.
                if t.load.is_some_and(|load| load.cpu != cpu as usize) {
                    self.migrate(who.pid, cpu);
                }
                return;
            }
            State::Waiting | State::Unseen if !new => {
                // It was asleep ever since recording began.
                t.state = State::Asleep;
                t.sleep = Sleep::Plain;
            }
            State::Asleep => {
                if let (Sleep::Perhaps(holder), false) = (t.sleep, lock) {
                    t.undecided = Some((holder, e.at.saturating_sub(t.since)));
                }
                self.settle(i, lock);
            }
            _ => {}
        }
        self.leave(i, e.at);
        self.tasks.all[i].woken = Some(e.at);
        self.wait_on(i, cpu, e.at);
    }

    pub(super) fn migrate(&mut self, pid: u32, to: u32) {
        let Some(i) = self.tasks.find(pid) else {
            return;
        };
        self.cpu(to);
        let t = &mut self.tasks.all[i];
        match (t.state, t.load.take()) {
            (State::Waiting, Some(load)) => {
                self.cpus[load.cpu].dequeue(&load);
                self.queue(i, to as usize);
            }
            (State::Running, load) => t.load = load,
            _ => t.cpu = to as usize,
        }
    }

    pub(super) fn fork(&mut self, child: u32, comm: &[u8], at: Ns) {
        if let Some(old) = self.tasks.find(child) {
            self.drop_task(old, at);
        }
        if let Some(i) = self.task(child) {
            self.tasks.all[i].since = at;
            self.tasks.all[i].named(comm);
        }
    }

    pub(super) fn exec(&mut self, pid: u32, old: u32, at: Ns) {
        if pid == old || pid == 0 || old == 0 {
            return;
        }
        if let Some(leader) = self.tasks.find(pid) {
            self.drop_task(leader, at);
        }
        if let Some(i) = self.tasks.find(old) {
            self.tasks.rename(i, pid);
        }
    }

    pub(super) fn futex(&mut self, speaks: Option<usize>, lock: Option<Futex>) {
        if let Some(i) = speaks {
            self.tasks.all[i].futex = lock;
        }
    }

    pub(super) fn mark(&mut self, e: &Event<'_>, text: &[u8]) {
        if self.marks.len() >= MAX_MARKS {
            self.marks_left_out += 1;
            return;
        }
        let text = printable(&text[..text.len().min(128)]);
        self.marks.push(Mark {
            at: e.at,
            pid: e.pid,
            text,
        });
    }

    /// A prio read from a switch or a wakeup.
    pub(super) fn see_prio(&mut self, i: usize, prio: i32, at: Ns) {
        if self.tasks.all[i].prio == Some(prio) {
            return;
        }
        if let Some(position) = self
            .boosts
            .of(i)
            .filter(|&p| self.boosts.active[p].to_prio() != prio)
        {
            self.end_boost(position, at, End::Reniced);
        }
        if !self.tasks.all[i].boosted {
            self.own_prio(i, prio, at);
        }
        self.put_prio(i, prio, at);
    }

    /// The prio without boost is this from now on.
    pub(super) fn own_prio(&mut self, i: usize, prio: i32, at: Ns) {
        let now = self.recorded(at);
        let t = &mut self.tasks.all[i];
        if t.first_base.is_none() {
            t.first_base = Some(prio);
        } else if t.base != Some(prio) {
            self.story.renice(t.serial, now, prio);
        }
        t.base = Some(prio);
    }

    pub(super) fn put_prio(&mut self, i: usize, prio: i32, at: Ns) {
        let t = &mut self.tasks.all[i];
        t.prio = Some(prio);
        t.prio_since = at;
        if let Some(load) = t.load.take() {
            self.cpus[load.cpu].dequeue(&load);
            self.queue(i, load.cpu);
        }
    }
}
