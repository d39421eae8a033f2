//! Changes to a workload by hand: what a slider, a button or an option does.
//!
//! Each keeps the workload sound or leaves it as it was.

use super::Workload;
use super::bounds;
use super::error::Error;
use super::lab::{Action, Change};
use super::names::Targets;
use super::read::{policy_named, task_path};
use super::resolve::check_priority;
use super::task::{Asked, Event, Phase, Task};
use super::text::{over, quoted};
use crate::model::task::Policy;
use crate::model::units::Ns;

impl Workload {
    /// The task of that name.
    pub fn task(&self, name: &str) -> Option<&Task> {
        self.tasks.iter().find(|t| t.name == name)
    }

    fn find(&self, name: &str) -> Result<usize, Error> {
        self.tasks
            .iter()
            .position(|t| t.name == name)
            .ok_or_else(|| {
                let message = ["expected the name of a task, found ", &quoted(name)].concat();
                Error::of(&self.file, "tasks", message)
            })
    }

    /// Sets the nice level a task starts with. Its policy stays.
    ///
    /// # Errors
    /// No such task; a nice level outside -20..19; a task whose policy has none.
    pub fn set_start_nice(&mut self, task: &str, nice: i32) -> Result<(), Error> {
        let n = self.find(task)?;
        let path = task_path(&self.tasks[n]);
        check_priority(Policy::Normal, i64::from(nice))
            .map_err(|message| Error::of(&self.file, &path, message))?;
        let mut asked = self.start_of(&self.tasks[n]);
        let policy = asked.scheduling.policy;
        if policy.is_rt() || policy == Policy::Deadline {
            let message = ["a task of ", policy.name(), " has no nice level to set"].concat();
            return Err(Error::of(&self.file, &path, message));
        }
        asked.scheduling.nice = nice;
        self.tasks[n].asked = Some(asked);
        Ok(())
    }

    /// Sets policy and priority a task starts with: the nice level, or the real-time priority.
    ///
    /// # Errors
    /// No such task, no such policy, a priority the policy does not have, a task whose phases
    /// change their priority under another policy, or SCHED_DEADLINE, which needs a deadline.
    pub fn set_start_policy(
        &mut self,
        task: &str,
        policy: &str,
        priority: i32,
    ) -> Result<(), Error> {
        let n = self.find(task)?;
        let path = task_path(&self.tasks[n]);
        let refuse = |message: String| Error::of(&self.file, &path, message);
        let policy = policy_named(policy)
            .filter(|p| *p != Policy::Deadline)
            .ok_or_else(|| {
                refuse(
                    "expected SCHED_OTHER, SCHED_BATCH, SCHED_IDLE, SCHED_FIFO or SCHED_RR"
                        .to_owned(),
                )
            })?;
        check_priority(policy, i64::from(priority)).map_err(refuse)?;
        if self.tasks[n].phases.iter().any(|p| p.change.is_some())
            && self.start_of(&self.tasks[n]).scheduling.policy != policy
        {
            return Err(refuse(
                "the task's phases change its scheduling; its policy stays".to_owned(),
            ));
        }
        self.tasks[n].asked = Some(Asked::with(policy, priority));
        Ok(())
    }

    /// Adds a change from outside.
    ///
    /// # Errors
    /// An unknown task, or one that only starts when forked; a priority its policy does not
    /// have; more changes than [`bounds::ENTRIES`].
    pub fn add_control(&mut self, at: Ns, action: Action) -> Result<(), Error> {
        let path = "lab.controls";
        if self.controls.len() >= bounds::ENTRIES {
            return Err(Error::of(
                &self.file,
                path,
                over("controls", bounds::ENTRIES),
            ));
        }
        if let Some(task) = action.task() {
            let targets = self.targets()?;
            targets
                .check(task)
                .map_err(|message| Error::of(&self.file, path, message))?;
        }
        let asked = match action {
            Action::Nice { nice, .. } => Some((Policy::Normal, nice)),
            Action::Policy {
                policy,
                priority: Some(priority),
                ..
            } => Some((policy, priority)),
            _ => None,
        };
        if let Some((policy, priority)) = asked.filter(|a| a.0 != Policy::Deadline) {
            check_priority(policy, i64::from(priority))
                .map_err(|message| Error::of(&self.file, path, message))?;
        }
        self.controls.push(Change { at, action });
        Ok(())
    }

    fn targets(&self) -> Result<Targets, Error> {
        Targets::new(&self.tasks).map_err(|(n, name)| {
            let message = ["two tasks would run as ", &quoted(&name)].concat();
            Error::of(&self.file, &task_path(&self.tasks[n]), message)
        })
    }

    /// Adds a task that does nothing but compute, from an instant (a whole microsecond; cut) to
    /// the end of the run.
    ///
    /// # Errors
    /// As [`Workload::add_task`]; a nice level outside -20..19.
    pub fn add_spinner(&mut self, name: &str, nice: i32, from: Ns) -> Result<(), Error> {
        check_priority(Policy::Normal, i64::from(nice))
            .map_err(|message| Error::of(&self.file, "tasks", message))?;
        self.add_task(Task {
            name: name.to_owned(),
            instances: 1,
            delay: Ns(from.0 / 1000 * 1000),
            asked: Some(Asked::with(Policy::Normal, nice)),
            cpu: None,
            rounds: Some(1),
            phases: vec![Phase {
                name: "spin".to_owned(),
                rounds: None,
                until: None,
                change: None,
                events: vec![Event::Run(Ns::from_secs(1))],
            }],
        })
    }

    /// Adds a task; it starts after those that are there.
    ///
    /// # Errors
    /// A name that is too long or taken, more tasks than [`bounds::TASKS`], indices that point
    /// nowhere.
    pub fn add_task(&mut self, task: Task) -> Result<(), Error> {
        let refuse = |message: String| Error::of(&self.file, "tasks", message);
        if task.name.len() > bounds::NAME {
            return Err(refuse(over("bytes in a name", bounds::NAME)));
        }
        let threads: usize = self.tasks.iter().map(|t| t.instances.max(1) as usize).sum();
        if threads.saturating_add(task.instances.max(1) as usize) > bounds::TASKS {
            return Err(refuse(over("tasks", bounds::TASKS)));
        }
        if task.phases.is_empty() || task.phases.iter().any(|p| p.events.is_empty()) {
            return Err(refuse("expected at least one event".to_owned()));
        }
        if !task
            .phases
            .iter()
            .flat_map(|p| &p.events)
            .all(|e| self.is_sound(e))
        {
            return Err(refuse(
                "an event names what the workload does not have".to_owned(),
            ));
        }
        self.tasks.push(task);
        if let Err(error) = self.targets() {
            self.tasks.pop();
            return Err(error);
        }
        self.tidy();
        Ok(())
    }

    fn is_sound(&self, event: &Event) -> bool {
        let within = |n: u32, len: usize| (n as usize) < len;
        let lock = |n: u32| within(n, self.locks.len());
        match *event {
            Event::Lock(n) | Event::Unlock(n) | Event::LockTimed { lock: n, .. } => lock(n),
            Event::Wait { condition, mutex } | Event::Sync { condition, mutex } => {
                within(condition, self.conditions.len()) && mutex.is_none_or(lock)
            }
            Event::Signal(n) | Event::Broad(n) | Event::Suspend(n) | Event::Resume(n) => {
                within(n, self.conditions.len())
            }
            Event::Barrier(n) => within(n, self.barriers.len()),
            Event::SemPost(n) | Event::SemWait(n) => within(n, self.semaphores.len()),
            Event::Timer { timer, .. } => within(timer, self.timers.len()),
            Event::Fork(n) => within(n, self.forks.len()),
            Event::Run(_)
            | Event::Runtime(_)
            | Event::Sleep(_)
            | Event::Yield
            | Event::Mem(_)
            | Event::IoRun(_) => true,
        }
    }

    /// Removes a task, and the changes from outside that name it.
    ///
    /// # Errors
    /// No such task, the last one, or one that another forks.
    pub fn remove_task(&mut self, name: &str) -> Result<(), Error> {
        let n = self.find(name)?;
        if self.tasks.len() == 1 {
            let message = "the last task stays".to_owned();
            return Err(Error::of(&self.file, &task_path(&self.tasks[n]), message));
        }
        let forks = |task: &Task| {
            let mut events = task.phases.iter().flat_map(|p| &p.events);
            events.any(|e| matches!(e, Event::Fork(f) if self.forks[*f as usize] == name))
        };
        if let Some(parent) = self.tasks.iter().find(|t| t.name != name && forks(t)) {
            let message = [&quoted(&parent.name), " forks it; it stays"].concat();
            return Err(Error::of(&self.file, &task_path(&self.tasks[n]), message));
        }
        let gone = self.tasks.remove(n);
        let names_it = |task: &str| super::names::is_thread_of(task, &gone);
        self.controls
            .retain(|c| !c.action.task().is_some_and(names_it));
        if self.holder.as_deref().is_some_and(names_it) {
            self.holder = None;
        }
        self.tidy();
        Ok(())
    }

    /// Renames a task, wherever it is named as one.
    ///
    /// # Errors
    /// No such task, a name that is too long or taken.
    pub fn rename_task(&mut self, from: &str, to: &str) -> Result<(), Error> {
        let n = self.find(from)?;
        if to.len() > bounds::NAME {
            let message = over("bytes in a name", bounds::NAME);
            return Err(Error::of(&self.file, &task_path(&self.tasks[n]), message));
        }
        let before = self.tasks[n].clone();
        to.clone_into(&mut self.tasks[n].name);
        if let Err(error) = self.targets() {
            self.tasks[n] = before;
            return Err(error);
        }
        let renamed = |name: &mut String| {
            if super::names::is_thread_of(name, &before) {
                name.replace_range(..before.name.len(), to);
            }
        };
        for change in &mut self.controls {
            if let Some(task) = change.action.task_mut() {
                renamed(task);
            }
        }
        if let Some(holder) = &mut self.holder {
            renamed(holder);
        }
        for fork in &mut self.forks {
            if *fork == before.name {
                to.clone_into(fork);
            }
        }
        Ok(())
    }
}
