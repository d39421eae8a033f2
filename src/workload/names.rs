//! Names: the model knows numbers only.
//!
//! A task runs under its own name; of several instances, and of later forks, the n-th is
//! `name-n`, counted from 0. A task that only exists as forks is `name`, `name-1`, `name-2`.

use std::collections::HashMap;

use super::task::Task;
use super::text::quoted;
use crate::model::machine::Machine;
use crate::model::units::{BarrierId, CondId, LockId, SemId, TaskId, TemplateId};

/// The name of the `n`-th thread of a task.
pub(super) fn thread_name(name: &str, instances: u32, n: u32) -> String {
    if instances <= 1 && n == 0 {
        name.to_owned()
    } else {
        [name, "-", &n.to_string()].concat()
    }
}

/// What names of tasks mean in a control.
#[derive(Default)]
pub(super) struct Targets {
    of: HashMap<String, (u32, Option<u32>)>,
    forked_only: Vec<bool>,
}

impl Targets {
    /// All names, or the task and the name that are there twice.
    pub fn new(tasks: &[Task]) -> Result<Targets, (usize, String)> {
        let mut of = HashMap::new();
        for (t, task) in tasks.iter().enumerate() {
            if task.instances > 1 {
                for n in 0..task.instances {
                    let name = thread_name(&task.name, task.instances, n);
                    if of.insert(name.clone(), (t as u32, Some(n))).is_some() {
                        return Err((t, name));
                    }
                }
            }
            if of.insert(task.name.clone(), (t as u32, None)).is_some() {
                return Err((t, task.name.clone()));
            }
        }
        let forked_only = tasks.iter().map(|t| t.instances == 0).collect();
        Ok(Targets { of, forked_only })
    }

    /// Whether a task, or one of its instances, has this name.
    pub fn contains(&self, name: &str) -> bool {
        self.of.contains_key(name)
    }

    /// The number of a task, and of its instance when one alone is meant.
    pub fn get(&self, name: &str) -> Option<(usize, Option<u32>)> {
        self.of.get(name).map(|&(task, n)| (task as usize, n))
    }

    /// Whether a control can act on this name; else the sentence that says why not.
    pub fn check(&self, name: &str) -> Result<(), String> {
        match self.get(name) {
            None => Err(["expected the name of a task, found ", &quoted(name)].concat()),
            Some((task, _)) if self.forked_only[task] => {
                let why = ", which only starts when forked";
                Err([
                    "expected a task that exists from the start, found ",
                    &quoted(name),
                    why,
                ]
                .concat())
            }
            Some(_) => Ok(()),
        }
    }
}

/// The names of what a [`Machine`] numbers.
///
/// ```
/// # let text = r#"{ "tasks": { "low": { "priority": 10, "loop": 1,
/// #     "lock": "M", "run": 5000, "unlock": "M" } },
/// #     "lab": { "duration": 20000 } }"#;
/// use reweight_lab::model::units::{LockId, TaskId};
/// use reweight_lab::workload::{Options, Workload};
/// let scenario = Workload::parse(text, "mine.json")?.build(&Options::default())?;
/// assert_eq!(scenario.names.find_task("low"), Some(TaskId(0)));
/// assert_eq!(scenario.names.lock(LockId(0)), "M");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// By [`TaskId`]: the tasks of time zero.
    pub(super) tasks: Vec<String>,
    /// By template: name and instances of the task it forks.
    pub(super) templates: Vec<(String, u32)>,
    pub(super) locks: Vec<String>,
    pub(super) conditions: Vec<String>,
    pub(super) barriers: Vec<String>,
    pub(super) semaphores: Vec<String>,
}

impl Names {
    /// The name of a task of `machine`, forked ones included. Costs O(tasks) for a forked one.
    pub fn task(&self, machine: &Machine, id: TaskId) -> String {
        if let Some(name) = self.tasks.get(id.index()) {
            return name.clone();
        }
        let Some(template) = machine.task(id).template() else {
            return ["task ", &id.0.to_string()].concat();
        };
        let earlier = machine.tasks()[self.tasks.len()..id.index()]
            .iter()
            .filter(|t| t.template() == Some(template))
            .count() as u32;
        let (name, instances) = &self.templates[template.index()];
        thread_name(name, *instances, instances + earlier)
    }

    /// The name of a task forked from a template, of which `earlier` were forked before.
    pub fn forked(&self, template: TemplateId, earlier: u32) -> String {
        let (name, instances) = &self.templates[template.index()];
        thread_name(name, *instances, instances + earlier)
    }

    /// The names of all tasks of `machine`, by [`TaskId`]. Linear.
    pub fn all_tasks(&self, machine: &Machine) -> Vec<String> {
        let mut names = self.tasks.clone();
        let mut forked = vec![0u32; self.templates.len()];
        for (n, task) in machine.tasks().iter().enumerate().skip(names.len()) {
            names.push(match task.template() {
                Some(template) => {
                    let (name, instances) = &self.templates[template.index()];
                    forked[template.index()] += 1;
                    thread_name(name, *instances, instances + forked[template.index()] - 1)
                }
                None => ["task ", &n.to_string()].concat(),
            });
        }
        names
    }

    /// The task of that name among those of time zero.
    pub fn find_task(&self, name: &str) -> Option<TaskId> {
        let n = self.tasks.iter().position(|t| t == name)?;
        Some(TaskId(n as u32))
    }

    /// The task of that name, forked ones included.
    pub fn find_task_in(&self, machine: &Machine, name: &str) -> Option<TaskId> {
        self.find_task(name).or_else(|| {
            let n = self.all_tasks(machine).iter().position(|t| t == name)?;
            Some(TaskId(n as u32))
        })
    }

    /// How many tasks there are at time zero.
    pub fn initial_tasks(&self) -> usize {
        self.tasks.len()
    }

    /// The name of a mutex.
    pub fn lock(&self, id: LockId) -> &str {
        self.locks.get(id.index()).map_or("", String::as_str)
    }

    /// The mutex of that name.
    pub fn find_lock(&self, name: &str) -> Option<LockId> {
        let n = self.locks.iter().position(|l| l == name)?;
        Some(LockId(n as u32))
    }

    /// The names of all mutexes, by [`LockId`].
    pub fn locks(&self) -> &[String] {
        &self.locks
    }

    /// The name of a condition, or of a place to suspend.
    pub fn condition(&self, id: CondId) -> &str {
        self.conditions.get(id.index()).map_or("", String::as_str)
    }

    /// The name of a barrier.
    pub fn barrier(&self, id: BarrierId) -> &str {
        self.barriers.get(id.index()).map_or("", String::as_str)
    }

    /// The name of a semaphore.
    pub fn semaphore(&self, id: SemId) -> &str {
        self.semaphores.get(id.index()).map_or("", String::as_str)
    }
}

/// Whether a control's or the holder's `name` means this task or one of its instances.
pub(super) fn is_thread_of(name: &str, task: &Task) -> bool {
    match name.strip_prefix(task.name.as_str()) {
        Some("") => true,
        Some(rest) => {
            let n = rest.strip_prefix('-').and_then(|n| n.parse::<u32>().ok());
            task.instances > 1 && n.is_some_and(|n| n < task.instances)
        }
        None => false,
    }
}
