//! Spans of time in which CPU time, switches and waits are added up by task.
//!
//! Asked-for windows stand from the beginning; a boost opens one and closes it. An interval is
//! cut at a window's edges. Cost per interval: the windows that stand open.

use std::collections::{BTreeMap, HashMap};

use super::tasks::PidHasher;
use crate::model::units::Ns;
use std::hash::BuildHasherDefault;

/// What one task did in a window.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    pub run: Ns,
    pub switches: u64,
    pub max_wait: Ns,
}

impl Tally {
    pub(super) fn add(&mut self, other: &Tally) {
        self.run = self.run.saturating_add(other.run);
        self.switches += other.switches;
        self.max_wait = self.max_wait.max(other.max_wait);
    }
}

#[derive(Debug)]
pub(super) struct Span {
    pub name: String,
    pub from: Ns,
    /// [`Ns::NEVER`] while a boost lasts.
    pub to: Ns,
    /// Summed over the CPUs that were seen.
    pub idle: Ns,
    /// Not recorded, on any CPU.
    pub untraced: Ns,
    /// By the task's serial number.
    pub tallies: HashMap<u32, Tally, BuildHasherDefault<PidHasher>>,
}

impl Span {
    fn overlap(&self, from: Ns, to: Ns) -> Ns {
        to.min(self.to).saturating_sub(from.max(self.from))
    }
}

#[derive(Debug, Default)]
pub(super) struct Windows {
    pub asked: Vec<Span>,
    open: BTreeMap<u32, Span>,
    pub closed: Vec<Span>,
    entries: usize,
}

/// Tallies kept over all closed windows of boosts.
const MAX_ENTRIES: usize = 400_000;

fn span(name: String, from: Ns, to: Ns) -> Span {
    Span {
        name,
        from,
        to,
        idle: Ns(0),
        untraced: Ns(0),
        tallies: HashMap::default(),
    }
}

impl Windows {
    pub(super) fn ask(&mut self, name: String, from: Ns, to: Ns) {
        self.asked.push(span(name, from, to));
    }

    pub(super) fn open(&mut self, id: u32, from: Ns) {
        self.open
            .insert(id, span(format!("boost-{}", id + 1), from, Ns::NEVER));
    }

    /// Ends a boost's window; the caller has told all intervals up to `to` (see `flush`).
    pub(super) fn close(&mut self, id: u32, to: Ns) {
        if let Some(mut span) = self.open.remove(&id) {
            span.to = to;
            self.entries += span.tallies.len();
            if self.entries > MAX_ENTRIES {
                span.tallies.clear();
            }
            span.tallies.shrink_to_fit();
            self.closed.push(span);
        }
    }

    fn each(&mut self) -> impl Iterator<Item = &mut Span> {
        self.asked.iter_mut().chain(self.open.values_mut())
    }

    /// Only a window that is about to close: intervals that go on after it.
    pub(super) fn flush_run(&mut self, id: u32, task: u32, from: Ns, to: Ns) {
        if let Some(span) = self.open.get_mut(&id) {
            let run = span.overlap(from, to);
            span.tallies.entry(task).or_default().run += run;
        }
    }

    pub(super) fn flush_wait(&mut self, id: u32, task: u32, from: Ns, to: Ns) {
        if let Some(span) = self.open.get_mut(&id) {
            let wait = span.overlap(from, to);
            let tally = span.tallies.entry(task).or_default();
            tally.max_wait = tally.max_wait.max(wait);
        }
    }

    pub(super) fn flush_idle(&mut self, id: u32, from: Ns, to: Ns) {
        if let Some(span) = self.open.get_mut(&id) {
            let idle = span.overlap(from, to);
            span.idle = span.idle.saturating_add(idle);
        }
    }

    pub(super) fn run(&mut self, task: u32, from: Ns, to: Ns) {
        for span in self.each() {
            let run = span.overlap(from, to);
            if run > Ns(0) {
                span.tallies.entry(task).or_default().run += run;
            }
        }
    }

    pub(super) fn wait(&mut self, task: u32, from: Ns, to: Ns) {
        for span in self.each() {
            let wait = span.overlap(from, to);
            if wait > Ns(0) {
                let tally = span.tallies.entry(task).or_default();
                tally.max_wait = tally.max_wait.max(wait);
            }
        }
    }

    pub(super) fn switched_in(&mut self, task: u32, at: Ns) {
        for span in self.each() {
            if span.from <= at && at < span.to {
                span.tallies.entry(task).or_default().switches += 1;
            }
        }
    }

    pub(super) fn idle(&mut self, from: Ns, to: Ns) {
        for span in self.each() {
            let idle = span.overlap(from, to);
            span.idle = span.idle.saturating_add(idle);
        }
    }

    pub(super) fn untraced(&mut self, from: Ns, to: Ns) {
        for span in self.each() {
            let gap = span.overlap(from, to);
            span.untraced += gap;
        }
    }
}
