//! The analysis's part about boosts: sched_pi_setprio, who lent, who hands over, and the time in
//! which the share can tell.

use super::analysis::Analysis;
use super::boosts::{Begin, End, Named};
use super::contention::Step;
use super::cpus::{Cpu, Current};
use super::event::{Comm, Event};
use super::tasks::{Sleep, State, Task};
use crate::model::units::Ns;

/// Waiters of doubtful CPUs are looked over this often.
const SWEEP_EVERY: Ns = Ns::from_ms(10);

/// A long turn of a fair task among equals: a tick at 250 Hz.
const TURN: Ns = Ns::from_ms(4);

impl Analysis {
    pub(super) fn set_prio(
        &mut self,
        e: &Event<'_>,
        speaks: Option<usize>,
        comm: &[u8],
        pid: u32,
        from: i32,
        to: i32,
    ) {
        let at = e.at;
        let Some(i) = self.task(pid) else { return };
        self.tasks.all[i].named(comm);
        self.see_prio(i, from, at);
        let raises = to < from;
        if let Some(position) = self.boosts.of(i) {
            let base = self.tasks.all[i].base.unwrap_or(from);
            if to == from {
                return;
            }
            self.end_boost(
                position,
                at,
                if to >= base {
                    End::Released
                } else {
                    End::Changed
                },
            );
        }
        if !self.tasks.all[i].boosted {
            self.own_prio(i, from, at);
        }
        let t = &mut self.tasks.all[i];
        let base = t.base.unwrap_or(from);
        let since = t.prio_since;
        let was_boosted = t.boosted;
        let record = |by, from_prio, to_prio, base, at| Begin {
            index: i,
            task: Named {
                pid,
                comm: Comm::new(comm),
            },
            by,
            from_prio,
            to_prio,
            base,
            at,
        };
        if to < base {
            t.boosted = true;
            self.put_prio(i, to, at);
            let by = speaks
                .filter(|_| raises)
                .filter(|&s| s != i)
                .map(|s| self.named(s));
            if let Some(id) = self.boosts.begin(record(by, from, to, base, at)) {
                self.windows.open(id, at);
            }
            if raises && let Some(lender) = speaks.filter(|&s| s != i) {
                self.tasks.all[lender].raised = Some(pid);
            }
        } else {
            t.boosted = false;
            if !was_boosted && to > from {
                // What it had when first seen was lent.
                t.first_base = Some(to);
                t.base = Some(to);
            }
            self.own_prio(i, to, at);
            self.put_prio(i, to, at);
            if !was_boosted && to > from {
                self.boosts
                    .ended_unseen(record(None, to, from, to, since), at);
            }
        }
        if !raises {
            self.loan_back(speaks, pid);
        }
    }

    /// A waiter that gave up takes its loan back itself: its sleep was a lock wait.
    pub(super) fn loan_back(&mut self, speaks: Option<usize>, holder: u32) {
        let Some(i) = speaks else { return };
        let t = &mut self.tasks.all[i];
        if let Some((to, span)) = t.undecided.filter(|u| u.0 == holder) {
            debug_assert_eq!(to, holder);
            t.undecided = None;
            t.totals.sleep = t.totals.sleep.saturating_sub(span);
            t.totals.blocked += span;
            self.timeline.was_blocked(t.serial);
            let task = t.serial;
            if let Some(holder) = self.tasks.find(holder) {
                self.story.gave_up(task, self.tasks.all[holder].serial);
            }
        }
    }

    /// Whether a sleeper that had lent its prio is woken by a task that hands it the lock. A timer
    /// does not: it speaks in an interrupt. Without flags only the holder's own wakeup, given after
    /// it lost the loan, counts.
    pub(super) fn handed_over(
        &self,
        i: usize,
        speaks: Option<usize>,
        interrupt: Option<bool>,
    ) -> bool {
        let t = &self.tasks.all[i];
        let (State::Asleep, Sleep::Perhaps(holder), Some(waker)) = (t.state, t.sleep, speaks)
        else {
            return false;
        };
        let waker = &self.tasks.all[waker];
        match interrupt {
            Some(true) => false,
            Some(false) if waker.pid == holder => true,
            // The next owner wakes the waiter after it.
            Some(false) => self
                .tasks
                .find(holder)
                .is_none_or(|h| !self.tasks.all[h].boosted),
            None => waker.pid == holder && !waker.boosted && waker.prio_since >= t.since,
        }
    }

    /// The holder wakes its lender and still has the lent prio: no sched_pi_setprio took it back.
    pub(super) fn unmoved(&mut self, lender: usize, waker: Option<usize>, at: Ns) {
        let pid = self.tasks.all[lender].pid;
        let Some(holder) = waker else { return };
        if let Some(position) = self
            .boosts
            .of(holder)
            .filter(|&p| self.boosts.active[p].by() == Some(pid))
        {
            self.end_boost(position, at, End::Unmoved);
            if let Some(prio) = self.tasks.all[holder].prio {
                self.own_prio(holder, prio, at);
            }
        }
    }

    pub(super) fn named(&self, i: usize) -> Named {
        Named::of(&self.tasks.all[i])
    }

    pub(super) fn end_boost(&mut self, position: usize, at: Ns, end: End) {
        let task = self.boosts.active[position].task;
        let id = self.boosts.end(position, at, end);
        if matches!(end, End::Reniced | End::Unmoved | End::Gone) {
            self.tasks.all[task].boosted = false;
        }
        self.flush(id, at);
        self.windows.close(id, at);
    }

    /// Tells a window that is about to close of the intervals that go on after it.
    pub(super) fn flush(&mut self, id: u32, at: Ns) {
        for t in &self.tasks.all {
            match t.state {
                State::Running => self.windows.flush_run(id, t.serial, t.since, at),
                State::Waiting => self.windows.flush_wait(id, t.serial, t.since, at),
                _ => {}
            }
        }
        for cpu in self.cpus.iter().filter(|cpu| cpu.current == Current::Idle) {
            self.windows.flush_idle(id, cpu.since, at);
        }
    }

    /// Brings the boosts that last up to `at`.
    pub(super) fn integrate(&mut self, at: Ns) {
        for a in &mut self.boosts.active {
            let dt = at.saturating_sub(a.last);
            a.last = at;
            let t = &self.tasks.all[a.task];
            let Some(load) = t.load.filter(|load| load.fair && dt > Ns(0)) else {
                continue;
            };
            let cpu = &self.cpus[load.cpu];
            if !a.is_fair() || cpu.fair < 2 || !Self::fair_turn(&self.tasks.all, cpu) {
                continue;
            }
            a.doubtful |= cpu.contradictions > 0;
            if let (Current::Task(i), true) = (cpu.current, t.state != State::Running) {
                a.rivals().ran(i, &self.tasks.all[i], dt);
            }
            a.rivals().there(dt, &self.tasks.all, load.cpu);
            a.contended(&Step {
                dt,
                ran: t.state == State::Running,
                stock: f64::from(load.base) / cpu.base_sum as f64,
                reweighted: f64::from(load.now) / cpu.now_sum as f64,
            });
        }
    }

    pub(super) fn fair_turn(tasks: &[Task], cpu: &Cpu) -> bool {
        matches!(cpu.current, Current::Task(i) if tasks[i].load.is_some_and(|load| load.fair))
    }

    /// Waiters of a CPU with missing lines that a fair scheduler would have let run long ago are
    /// elsewhere by now; they would spoil the expectations. Holders are spared: their turn is what
    /// is being asked about.
    pub(super) fn sweep(&mut self, cpu: usize, at: Ns) {
        let c = &mut self.cpus[cpu];
        if !c.suspect || at.saturating_sub(c.swept) < SWEEP_EVERY {
            return;
        }
        c.swept = at;
        let all = c.now_sum;
        for i in 0..self.tasks.all.len() {
            let t = &mut self.tasks.all[i];
            let Some(load) = t.load.filter(|load| load.cpu == cpu && load.fair) else {
                continue;
            };
            let patience = (3 * TURN.0 * all / u64::from(load.now.max(1))).max(10 * TURN.0);
            if t.state == State::Waiting && !t.boosted && at.saturating_sub(t.since).0 > patience {
                self.cpus[cpu].dequeue(&load);
                t.load = None;
                t.state = State::Lost;
                t.since = at;
            }
        }
    }

    pub(super) fn turn_ends(&mut self, cpu: usize, at: Ns) {
        if self.boosts.active.is_empty() {
            return;
        }
        self.sweep(cpu, at);
        for a in &mut self.boosts.active {
            if self.tasks.all[a.task]
                .load
                .is_some_and(|load| load.cpu == cpu)
            {
                a.turn_ends(at);
            }
        }
    }
}
