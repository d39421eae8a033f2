//! FIFO and RR, and above them an abstract deadline class: who runs before every fair task.
//!
//! RT: a list per prio, the lowest number first. DL: the earliest absolute deadline, no
//! admission, no bandwidth. Here too: RT throttling (6.1) and the fair server (6.12), which keep
//! fair tasks from starving. Specification: A.12, I.6.

use std::collections::VecDeque;

use super::units::{Ns, TaskId};

/// The period of RT throttling and of the fair server.
pub(crate) const RT_PERIOD: Ns = Ns::from_secs(1);
/// What RT may use of it.
pub(crate) const RT_RUNTIME: Ns = Ns::from_ms(950);
/// What the fair server gives to starved fair tasks in a period.
pub(crate) const SERVER_RUNTIME: i64 = 50_000_000;
/// The round-robin quantum.
pub(crate) const RR_TIMESLICE: Ns = Ns::from_ms(100);

/// One CPU's real-time and deadline tasks.
#[derive(Clone, Debug, Default)]
pub(crate) struct RtQueue {
    /// A list for each prio that has one, the best first.
    lists: Vec<(i32, VecDeque<TaskId>)>,
    deadline: Vec<TaskId>,
    nr_rt: u32,
    /// RT throttling: time used in this period, ns.
    pub rt_time: u64,
    pub throttled: bool,
    /// Whether the period timer runs.
    pub period_active: bool,
}

impl RtQueue {
    pub fn nr_rt(&self) -> u32 {
        self.nr_rt
    }

    pub fn enqueue_rt(&mut self, t: TaskId, prio: i32, head: bool) {
        let at = self.lists.partition_point(|(p, _)| *p < prio);
        if self.lists.get(at).is_none_or(|(p, _)| *p != prio) {
            self.lists.insert(at, (prio, VecDeque::new()));
        }
        let list = &mut self.lists[at].1;
        if head {
            list.push_front(t)
        } else {
            list.push_back(t)
        }
        self.nr_rt += 1;
    }

    pub fn dequeue_rt(&mut self, t: TaskId, prio: i32) {
        if let Ok(at) = self.lists.binary_search_by_key(&prio, |(p, _)| *p) {
            self.lists[at].1.retain(|&other| other != t);
            if self.lists[at].1.is_empty() {
                self.lists.remove(at);
            }
            self.nr_rt -= 1;
        }
    }

    pub fn enqueue_dl(&mut self, t: TaskId) {
        self.deadline.push(t);
    }

    pub fn dequeue_dl(&mut self, t: TaskId) {
        self.deadline.retain(|&other| other != t);
    }

    /// Deadline tasks, in order of arrival.
    pub fn deadline_tasks(&self) -> &[TaskId] {
        &self.deadline
    }

    /// The first of the best list.
    pub fn first_rt(&self) -> Option<TaskId> {
        self.lists
            .first()
            .and_then(|(_, list)| list.front().copied())
    }

    /// RR: to the tail of its list; true if there is another one on it.
    pub fn rotate(&mut self, t: TaskId, prio: i32) -> bool {
        let found = self.lists.iter_mut().find(|(p, _)| *p == prio);
        match found {
            Some((_, list)) if list.len() > 1 => {
                list.retain(|&other| other != t);
                list.push_back(t);
                true
            }
            _ => false,
        }
    }

    /// On how many places of the RT lists a task stands (H.3, 23).
    pub fn places(&self, t: TaskId) -> usize {
        let lists = self.lists.iter().flat_map(|(_, list)| list);
        lists.filter(|&&u| u == t).count()
    }

    /// Whether a task stands in the list of this prio.
    pub fn is_at(&self, t: TaskId, prio: i32) -> bool {
        let mut lists = self.lists.iter();
        lists.any(|(p, list)| *p == prio && list.contains(&t))
    }

    /// Every queued RT or deadline task.
    pub fn iter(&self) -> impl Iterator<Item = TaskId> + '_ {
        self.lists
            .iter()
            .flat_map(|(_, list)| list)
            .chain(&self.deadline)
            .copied()
    }
}

/// What the fair server is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServerState {
    /// No fair task is queued.
    Stopped,
    /// Waiting to see whether fair tasks get their time anyway.
    Armed,
    /// Its turn has come, but the deadline of a deadline task is earlier than its own.
    Waiting,
    /// Its turn: fair tasks run above RT and deadline tasks, until its time is used up.
    Running,
}

/// The fair server: a deferred deadline reservation of 50 ms a second (6.12).
#[derive(Clone, Copy, Debug)]
pub(crate) struct FairServer {
    pub state: ServerState,
    /// What is left of this period's time, ns.
    pub runtime: i64,
    /// The end of this period.
    pub deadline: Ns,
    /// Tells timers that no longer count from the one that does.
    pub token: u64,
}

impl FairServer {
    pub fn new() -> FairServer {
        FairServer {
            state: ServerState::Stopped,
            runtime: 0,
            deadline: Ns(0),
            token: 0,
        }
    }

    /// A new period begins now; the turn is due when only just enough of it is left.
    pub fn new_period(&mut self, now: Ns) {
        self.deadline = now.saturating_add(RT_PERIOD);
        self.runtime = SERVER_RUNTIME;
    }

    /// When the turn is due.
    pub fn zero_laxity(&self) -> Ns {
        Ns(self.deadline.0.saturating_sub(self.runtime.max(0) as u64))
    }
}
