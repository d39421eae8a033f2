//! The analysis's part about what was not recorded: lost lines, gaps, and the trace's end.

use super::analysis::Analysis;
use super::boosts::End;
use super::cpus::Current;
use super::silence::Gap;
use super::tasks::{Sleep, State};
use crate::model::units::Ns;

impl Analysis {
    /// Lines of this CPU are missing: nobody is charged from its last line on.
    pub(super) fn lose(&mut self, cpu: usize, at: Ns) {
        let last = self.cpus[cpu].last;
        match self.cpus[cpu].current {
            Current::Task(i) => {
                self.leave(i, last.max(self.tasks.all[i].since));
                self.tasks.all[i].state = State::Lost;
                self.tasks.all[i].since = at;
            }
            Current::Idle => {
                let since = self.cpus[cpu].since;
                self.cpus[cpu].idle += last.saturating_sub(since);
                self.windows.idle(since, last);
            }
            Current::Unknown | Current::Untracked => {}
        }
        let c = &mut self.cpus[cpu];
        c.current = Current::Unknown;
        c.unknown += at.saturating_sub(last);
        c.known_from = at;
    }

    /// The kernel says that lines of this CPU were lost, or that its buffer begins only here.
    pub(super) fn lost(&mut self, cpu: u32, events: u64) {
        let at = self.last;
        let c = self.cpu(cpu);
        c.lost_events += events;
        if self.first.is_some() {
            let last = self.cpu(cpu).last;
            self.integrate(at);
            self.lose(cpu as usize, last);
            // Nothing is known of it until its next line, whenever that comes.
            self.cpu(cpu).known_from = Ns::NEVER;
            self.cpu(cpu).suspect = true;
        }
    }

    pub(super) fn drop_task(&mut self, i: usize, at: Ns) {
        self.leave(i, at);
        if let Some(position) = self.boosts.of(i) {
            self.end_boost(position, at, End::Gone);
        }
        for cpu in &mut self.cpus {
            if cpu.current == Current::Task(i) {
                cpu.current = Current::Unknown;
                cpu.known_from = at;
            }
        }
        self.tasks.bury(i);
    }

    /// Nothing was recorded from `gap.from` to `gap.to`: what stood is assumed to stand, nobody is
    /// charged. `gap.kept` is the task that was running on both sides.
    pub(super) fn gap(&mut self, gap: &Gap) {
        self.integrate(gap.from);
        for a in &mut self.boosts.active {
            a.last = gap.to;
        }
        for i in 0..self.tasks.all.len() {
            let t = &self.tasks.all[i];
            let lent = matches!(t.sleep, Sleep::Perhaps(holder)
                if self.tasks.find(holder).is_some_and(|h| self.tasks.all[h].boosted));
            let sleep = t.sleep;
            if lent && t.state == State::Asleep {
                self.tasks.all[i].sleep = Sleep::Lock;
            }
            self.book(i, gap.from, gap.from);
            let t = &mut self.tasks.all[i];
            t.sleep = sleep;
            t.since = gap.to;
            if t.state == State::Running && gap.kept != Some(i) {
                if let Some(load) = t.load.take() {
                    self.cpus[load.cpu].dequeue(&load);
                }
                t.state = State::Unseen;
            }
            t.assumed = matches!(t.state, State::Waiting | State::Asleep);
            t.woken = None;
        }
        for cpu in &mut self.cpus {
            match cpu.current {
                Current::Idle => {
                    cpu.idle += gap.from.saturating_sub(cpu.since);
                    self.windows.idle(cpu.since, gap.from);
                    cpu.current = Current::Unknown;
                }
                Current::Task(i) if gap.kept == Some(i) => {}
                _ => cpu.current = Current::Unknown,
            }
            cpu.suspect = true;
            cpu.since = gap.to;
            cpu.last = gap.to;
            cpu.known_from = gap.to;
        }
        self.story.pause(gap.from, gap.to);
        self.windows.untraced(gap.from, gap.to);
        self.stretch = gap.to;
        self.last = gap.to;
    }

    /// The trace ends: books what still goes on.
    pub(super) fn finish(&mut self) {
        let at = self.last;
        self.integrate(at);
        while !self.boosts.active.is_empty() {
            self.end_boost(0, at, End::Open);
        }
        for i in 0..self.tasks.all.len() {
            let boosted = |holder| {
                self.tasks
                    .find(holder)
                    .is_some_and(|h| self.tasks.all[h].boosted)
            };
            let lock = matches!(self.tasks.all[i].sleep, Sleep::Perhaps(holder) if boosted(holder));
            self.settle(i, lock);
            self.book(i, at, at);
            self.tasks.all[i].since = at;
        }
        for cpu in &mut self.cpus {
            if cpu.current == Current::Idle {
                cpu.idle += at.saturating_sub(cpu.since);
                self.windows.idle(cpu.since, at);
            }
        }
    }
}
