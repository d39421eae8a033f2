//! Reads `tasks`: rt-app's threads, phases and events, as rt-app takes them.
//!
//! * Event keys are matched by prefix, the longest first: `runtime0` is a runtime, `run_a` a run.
//! * A task without `phases` is one phase, and its `loop` is that phase's.
//! * A phase's `loop` of 0 is for ever, a task's is none: so the tool counts.

use std::collections::HashSet;

use super::bounds;
use super::notice;
use super::read::{Reader, Result, task_path};
use super::read_event::WORDS;
use super::resolve::Raw;
use super::task::{Event, Phase, Task};
use super::text::{Key, Kind, push_plain};
use crate::model::units::Ns;

/// The name of the one phase of a task that has no `phases`.
const ONLY_PHASE: &str = "events";

/// What a phase of nothing but keys from before rt-app 1.0 does, so that it has an event.
const NOTHING: Event = Event::Sleep(Ns(0));

/// A phase while it is read, or that part of a task which is like a phase.
#[derive(Default)]
struct Draft {
    events: Vec<Event>,
    first_event: String,
    rounds: Option<i64>,
    until: Option<Ns>,
    cpu: Option<u32>,
    raw: Raw,
    legacy: bool,
}

impl<'t> Reader<'t> {
    pub(super) fn tasks(&mut self, key: &Key<'t>) -> Result<()> {
        self.value(key, "an object of tasks")?;
        self.tasks_at = self.tasks_at.or(Some(self.text.at()));
        let mut items = self.text.object("an object of tasks")?;
        while let Some(key) = self.text.key(&mut items)? {
            self.value(&key, "an object that describes a task")?;
            let task = self.task(&key)?;
            self.task_at.push(key.at);
            self.threads += task.instances.max(1) as usize;
            if self.threads > bounds::TASKS {
                return Err(self.text.over(key.at, "tasks", bounds::TASKS));
            }
            self.out.tasks.push(task);
        }
        Ok(())
    }

    fn task(&mut self, key: &Key<'t>) -> Result<Task> {
        let mut items = self.text.object("an object that describes a task")?;
        let name = free_name(&key.name, &mut self.task_names);
        if name != key.name {
            let mut what =
                String::from("a task of this name was there before; this one is called ");
            push_plain(&mut what, &name);
            self.notice(&what);
        }
        let mut task = Task {
            name,
            instances: 1,
            delay: Ns(0),
            asked: None,
            cpu: None,
            rounds: None,
            phases: Vec::new(),
        };
        let number = self.out.tasks.len() as u32;
        // The task's own parameters are resolved before those of its phases.
        let own_raw = self.raw.len();
        self.raw.push((number, None, Raw::default()));
        self.phase_cpus.clear();
        let mut own = Draft::default();
        let (mut instances, mut delay, mut has_phases) = (None, None, false);
        while let Some(inner) = self.text.key(&mut items)? {
            match &*inner.name {
                "instance" => {
                    if !self.repeated(&inner, instances.is_some())? {
                        let expected = "a number of threads, 0 or more";
                        self.value(&inner, expected)?;
                        let at = self.text.at();
                        let n = self.text.integer(expected, 0, i64::MAX)?;
                        if n > bounds::TASKS as i64 {
                            return Err(self.text.over(at, "tasks", bounds::TASKS));
                        }
                        instances = Some(n as u32);
                    }
                }
                "delay" => {
                    if !self.repeated(&inner, delay.is_some())? {
                        delay = Some(self.time(&inner)?);
                    }
                }
                "phases" => {
                    if !self.repeated(&inner, has_phases)? {
                        has_phases = true;
                        task.phases = self.phases(&inner, number, &key.name)?;
                    }
                }
                _ => self.phase_key(&inner, &key.name, &mut own)?,
            }
        }
        task.instances = instances.unwrap_or(1);
        task.delay = delay.unwrap_or(Ns(0));
        if has_phases {
            let path = task_path(&task);
            if own.rounds == Some(0) {
                let path = [&path, ".loop"].concat();
                notice(
                    &mut self.out.notices,
                    &path,
                    "with 0 rounds the task does nothing",
                );
            }
            if !own.events.is_empty() || own.until.is_some() {
                let key = if own.events.is_empty() {
                    "until"
                } else {
                    &own.first_event
                };
                let path = [&path, ".", key].concat();
                notice(
                    &mut self.out.notices,
                    &path,
                    "beside \"phases\" this is not read",
                );
            }
            task.rounds = own.rounds.and_then(|n| u64::try_from(n).ok());
        } else {
            if own.events.is_empty() && !own.legacy {
                return Err(self.no_events(key));
            }
            task.rounds = own.rounds.map(|_| 1);
            if own.events.is_empty() {
                own.events.push(NOTHING);
                task.rounds = Some(1);
            }
            task.phases.push(Phase {
                name: ONLY_PHASE.to_owned(),
                rounds: phase_rounds(own.rounds),
                until: own.until,
                change: None,
                events: own.events,
            });
        }
        self.raw[own_raw].2 = own.raw;
        self.pin(&mut task, own.cpu);
        Ok(task)
    }

    /// One CPU for the whole task: its own first, or its first phase's.
    fn pin(&mut self, task: &mut Task, own: Option<u32>) {
        task.cpu = own.or(self
            .phase_cpus
            .iter()
            .find(|(phase, _)| *phase == 0)
            .map(|p| p.1));
        let pinned = task.cpu.unwrap_or(0);
        for &(phase, cpu) in &self.phase_cpus {
            if cpu != pinned {
                let mut path = task_path(task);
                path.push_str(".phases.");
                push_plain(&mut path, &task.phases[phase as usize].name);
                path.push_str(".cpus");
                let what = [
                    "a task stays on one CPU here, this one on CPU",
                    &pinned.to_string(),
                ]
                .concat();
                notice(&mut self.out.notices, &path, &what);
            }
        }
    }

    fn no_events(&self, key: &Key<'t>) -> super::Error {
        let message = "expected at least one event, such as \"run\"";
        self.text.error(key.at, message.to_owned())
    }

    fn phases(&mut self, key: &Key<'t>, task: u32, task_name: &str) -> Result<Vec<Phase>> {
        self.value(key, "an object of phases")?;
        let mut items = self.text.object("an object of phases")?;
        let mut phases: Vec<Phase> = Vec::new();
        let mut names = HashSet::new();
        while let Some(key) = self.text.key(&mut items)? {
            self.value(&key, "an object that describes a phase")?;
            let name = free_name(&key.name, &mut names);
            let mut items = self.text.object("an object that describes a phase")?;
            let mut draft = Draft::default();
            while let Some(inner) = self.text.key(&mut items)? {
                self.phase_key(&inner, task_name, &mut draft)?;
            }
            if draft.events.is_empty() {
                if !draft.legacy {
                    return Err(self.no_events(&key));
                }
                draft.events.push(NOTHING);
            }
            let number = phases.len() as u32;
            if !draft.raw.is_empty() {
                self.raw.push((task, Some(number), draft.raw));
            }
            if let Some(cpu) = draft.cpu {
                self.phase_cpus.push((number, cpu));
            }
            phases.push(Phase {
                name,
                rounds: phase_rounds(draft.rounds),
                until: draft.until,
                change: None,
                events: draft.events,
            });
        }
        if phases.is_empty() {
            let message = "expected at least one phase";
            return Err(self.text.error(key.at, message.to_owned()));
        }
        Ok(phases)
    }

    /// A key that a phase can have, or a task.
    fn phase_key(&mut self, key: &Key<'t>, task: &str, draft: &mut Draft) -> Result<()> {
        let name = &*key.name;
        let legacy_sleep = name == "sleep" && !key.bare && self.text.kind() == Kind::Bool;
        if matches!(
            name,
            "exec" | "period" | "deadline" | "lock_order" | "resources"
        ) || legacy_sleep
        {
            self.notice("a key from before rt-app 1.0; it is not read");
            draft.legacy = true;
            return self.skip(key);
        }
        if let Some(&(_, word)) = WORDS.iter().find(|(word, _)| name.starts_with(word)) {
            let event = self.event(word, key, task)?;
            self.events += 1;
            if self.events > bounds::EVENTS {
                return Err(self.text.over(key.at, "events", bounds::EVENTS));
            }
            if draft.events.is_empty() {
                draft.first_event = name.to_owned();
            }
            draft.events.push(event);
            return Ok(());
        }
        match name {
            "loop" => {
                if !self.repeated(key, draft.rounds.is_some())? {
                    draft.rounds = Some(self.rounds(key)?);
                }
            }
            "until" => {
                if !self.repeated(key, draft.until.is_some())? {
                    draft.until = Some(self.time(key)?);
                }
            }
            "cpus" => {
                if !self.repeated(key, draft.cpu.is_some())? {
                    draft.cpu = Some(self.cpus(key)?);
                }
            }
            "policy" => {
                if !self.repeated(key, draft.raw.policy.is_some())? {
                    draft.raw.policy = Some(self.policy(key)?);
                }
            }
            "priority" => {
                if !self.repeated(key, draft.raw.priority.is_some())? {
                    let expected = "a nice value in -20..19, or a real-time priority in 1..99";
                    self.value(key, expected)?;
                    let at = self.text.at();
                    let n = self.text.integer(expected, i64::MIN, i64::MAX)?;
                    draft.raw.priority = Some((n, at));
                }
            }
            "dl-runtime" | "dl-period" | "dl-deadline" => {
                let before = match name {
                    "dl-runtime" => draft.raw.dl_runtime,
                    "dl-period" => draft.raw.dl_period,
                    _ => draft.raw.dl_deadline,
                };
                if !self.repeated(key, before.is_some())? {
                    let time = Some(self.time(key)?);
                    match name {
                        "dl-runtime" => draft.raw.dl_runtime = time,
                        "dl-period" => draft.raw.dl_period = time,
                        _ => draft.raw.dl_deadline = time,
                    }
                }
            }
            "util_min" | "util_max" => {
                self.notice("utilisation clamps are not modelled; the CPU has one speed");
                self.skip(key)?;
            }
            "taskgroup" => {
                self.notice("task groups are not modelled; the task stays in the root group");
                self.skip(key)?;
            }
            "nodes_membind" => {
                self.notice("NUMA is not modelled");
                self.skip(key)?;
            }
            _ => self.unknown(key)?,
        }
        Ok(())
    }

    fn rounds(&mut self, key: &Key<'t>) -> Result<i64> {
        let expected = "a number of rounds, or -1 for ever";
        self.value(key, expected)?;
        let at = self.text.at();
        let n = self.text.integer(expected, i64::MIN, i64::MAX)?;
        if n > bounds::ROUNDS {
            return Err(self
                .text
                .over(at, "rounds of a loop", bounds::ROUNDS as usize));
        }
        Ok(n)
    }

    /// The first CPU of a list.
    fn cpus(&mut self, key: &Key<'t>) -> Result<u32> {
        let expected = "a list of CPU numbers";
        self.value(key, expected)?;
        let list_at = self.text.at();
        let mut items = self.text.list(expected)?;
        let (mut first, mut several) = (None, false);
        while self.text.item(&mut items)? {
            let at = self.text.at();
            let cpu = self.text.integer("a CPU number", 0, i64::MAX)?;
            if cpu >= i64::from(bounds::CPUS) {
                return Err(self.text.over(at, "CPUs", bounds::CPUS as usize));
            }
            let cpu = cpu as u32;
            if self.top_cpu.as_ref().is_none_or(|top| cpu > top.0) {
                self.top_cpu = Some((cpu, at, self.text.path()));
            }
            several |= first.is_some_and(|first| first != cpu);
            first = first.or(Some(cpu));
        }
        let Some(first) = first else {
            return Err(self
                .text
                .error(list_at, "expected at least one CPU".to_owned()));
        };
        if several {
            let what = [
                "a task stays on one CPU here, this one on the first named, CPU",
                &first.to_string(),
            ];
            self.notice(&what.concat());
        }
        Ok(first)
    }
}

/// A name no entry before has: a repeated one gets a number, as workgen gives it.
fn free_name(name: &str, taken: &mut HashSet<String>) -> String {
    let mut free = name.to_owned();
    let mut n = 0u32;
    while !taken.insert(free.clone()) {
        n += 1;
        free = [name, &n.to_string()].concat();
    }
    free
}

fn phase_rounds(rounds: Option<i64>) -> Option<u64> {
    match rounds {
        None => Some(1),
        Some(n) => u64::try_from(n).ok().filter(|&n| n > 0),
    }
}
