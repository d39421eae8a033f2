//! Writes a workload as rt-app reads it, so that it reads back to the same run.
//!
//! Every task has `phases`: rt-app 1.0 heeds the `loop` of a task only then. Every task has
//! `cpus`, so that the tool pins it too. Keys carry a number, since the tool's own reader keeps
//! only the last of equal ones. What the tool does not know is `lab`, `lock_timed` and `until`;
//! the policies SCHED_BATCH and SCHED_IDLE, `fork` and semaphores need a later one than 1.0.

use std::collections::HashSet;

use super::Workload;
use super::lab::Action;
use super::task::{Asked, Event, Phase, PhaseChange, Task};
use crate::model::machine::Protocol;
use crate::model::task::Policy;
use crate::model::units::Ns;

impl Workload {
    /// The workload as a file: rt-app's objects and `lab`, indented by one space.
    pub fn to_json(&self) -> String {
        let mut out = Out {
            text: String::new(),
            depth: 0,
            first: true,
        };
        out.open('{');
        out.key("global");
        out.open('{');
        match self.duration {
            Some(end) => out.number("duration", end.0.div_ceil(1_000_000_000)),
            None => out.integer("duration", -1),
        }
        out.string("calibration", "CPU0");
        out.string("default_policy", self.default_policy.name());
        out.flag("pi_enabled", self.pi_enabled);
        out.flag("lock_pages", false);
        out.close('}');
        out.key("tasks");
        out.open('{');
        let forked: HashSet<&str> = self.forks.iter().map(String::as_str).collect();
        for task in &self.tasks {
            self.write_task(&mut out, task, forked.contains(task.name.as_str()));
        }
        out.close('}');
        self.write_lab(&mut out);
        out.close('}');
        out.text.push('\n');
        out.text
    }

    fn write_task(&self, out: &mut Out, task: &Task, forked: bool) {
        out.key(&task.name);
        out.open('{');
        if task.instances != 1 {
            out.number("instance", u64::from(task.instances));
        }
        // A fork without a CPU has its parent's; rt-app starts it there too.
        if task.cpu.is_some() || !forked {
            out.key("cpus");
            out.text.push('[');
            out.digits(u64::from(task.cpu.unwrap_or(0)));
            out.text.push(']');
        }
        if task.delay.0 > 0 {
            out.time("delay", task.delay);
        }
        if let Some(asked) = &task.asked {
            out.asked(asked);
        }
        out.rounds("loop", task.rounds);
        out.key("phases");
        out.open('{');
        for phase in &task.phases {
            self.write_phase(out, phase);
        }
        out.close('}');
        out.close('}');
    }

    fn write_phase(&self, out: &mut Out, phase: &Phase) {
        out.key(&phase.name);
        out.open('{');
        out.rounds("loop", phase.rounds);
        if let Some(until) = phase.until {
            out.time("until", until);
        }
        match &phase.change {
            Some(PhaseChange::Nice(nice)) => out.integer("priority", i64::from(*nice)),
            Some(PhaseChange::Policy(asked)) => out.asked(asked),
            None => {}
        }
        for (n, event) in phase.events.iter().enumerate() {
            self.write_event(out, n, *event);
        }
        out.close('}');
    }

    fn write_event(&self, out: &mut Out, n: usize, event: Event) {
        let lock = |n: u32| self.locks[n as usize].name.as_str();
        let condition = |n: u32| self.conditions[n as usize].as_str();
        let mut key = |word: &str| {
            let name = [word, &n.to_string()].concat();
            out.key(&name);
        };
        match event {
            Event::Run(ns) => {
                key("run");
                out.us(ns);
            }
            Event::Runtime(ns) => {
                key("runtime");
                out.us(ns);
            }
            Event::Sleep(ns) => {
                key("sleep");
                out.us(ns);
            }
            Event::Timer { timer, period } => {
                key("timer");
                let timer = &self.timers[timer as usize];
                out.open('{');
                out.string("ref", &timer.name);
                out.time("period", period);
                if timer.absolute {
                    out.string("mode", "absolute");
                }
                out.close('}');
            }
            Event::Lock(n) => {
                key("lock");
                out.quoted(lock(n));
            }
            Event::LockTimed { lock: n, timeout } => {
                key("lock_timed");
                out.open('{');
                out.string("ref", lock(n));
                out.time("timeout", timeout);
                out.close('}');
            }
            Event::Unlock(n) => {
                key("unlock");
                out.quoted(lock(n));
            }
            Event::Wait {
                condition: n,
                mutex,
            }
            | Event::Sync {
                condition: n,
                mutex,
            } => {
                key(if matches!(event, Event::Wait { .. }) {
                    "wait"
                } else {
                    "sync"
                });
                out.open('{');
                out.string("ref", condition(n));
                if let Some(mutex) = mutex {
                    out.string("mutex", lock(mutex));
                }
                out.close('}');
            }
            Event::Signal(n) => {
                key("signal");
                out.quoted(condition(n));
            }
            Event::Broad(n) => {
                key("broad");
                out.quoted(condition(n));
            }
            Event::Suspend(n) => {
                key("suspend");
                out.quoted(condition(n));
            }
            Event::Resume(n) => {
                key("resume");
                out.quoted(condition(n));
            }
            Event::Barrier(n) => {
                key("barrier");
                out.quoted(&self.barriers[n as usize]);
            }
            Event::SemPost(n) => {
                key("sem_post");
                out.quoted(&self.semaphores[n as usize]);
            }
            Event::SemWait(n) => {
                key("sem_wait");
                out.quoted(&self.semaphores[n as usize]);
            }
            Event::Yield => {
                key("yield");
                out.quoted("");
            }
            Event::Fork(n) => {
                key("fork");
                out.quoted(&self.forks[n as usize]);
            }
            Event::Mem(bytes) => {
                key("mem");
                out.digits(bytes);
            }
            Event::IoRun(bytes) => {
                key("iorun");
                out.digits(bytes);
            }
        }
    }

    fn write_lab(&self, out: &mut Out) {
        out.key("lab");
        out.open('{');
        for (key, text) in [
            ("title", &self.title),
            ("question", &self.question),
            ("look", &self.look),
        ] {
            if !text.is_empty() {
                out.string(key, text);
            }
        }
        if let Some(holder) = &self.holder {
            out.string("holder", holder);
        }
        if let Some(kernel) = self.kernel {
            out.string("kernel", kernel.name);
        }
        for (key, number) in [("hz", self.hz), ("cpus_online", self.cpus_online)] {
            if let Some(number) = number {
                out.number(key, u64::from(number));
            }
        }
        if let Some(pi) = self.pi {
            out.string("pi", pi.name());
        }
        for (key, flag) in [
            ("fair_group_sched", self.fair_group_sched),
            ("rt_throttle", self.rt_throttle),
        ] {
            if let Some(flag) = flag {
                out.flag(key, flag);
            }
        }
        for (key, ns) in [
            ("resched_delay_ns", self.resched_delay),
            ("tick_phase_ns", self.tick_phase),
            ("irq_cost_ns", self.irq_cost),
        ] {
            if let Some(ns) = ns {
                out.number(key, ns.0);
            }
        }
        if let Some(duration) = self.duration {
            out.time("duration", duration);
        }
        if self.locks.iter().any(|l| l.protocol.is_some()) {
            out.key("locks");
            out.open('{');
            for lock in &self.locks {
                match lock.protocol {
                    Some(Protocol::Inherit) => out.string(&lock.name, "inherit"),
                    Some(Protocol::None) => out.string(&lock.name, "none"),
                    None => {}
                }
            }
            out.close('}');
        }
        if !self.controls.is_empty() {
            out.key("controls");
            out.open('[');
            for change in &self.controls {
                out.item();
                out.open('{');
                out.time("at", change.at);
                if let Some(task) = change.action.task() {
                    out.string("task", task);
                }
                match &change.action {
                    Action::Nice { nice, .. } => out.integer("nice", i64::from(*nice)),
                    Action::Policy {
                        policy, priority, ..
                    } => {
                        out.string("policy", policy.name());
                        if let Some(priority) = priority {
                            out.integer("priority", i64::from(*priority));
                        }
                    }
                    Action::Pi(variant) => out.string("pi", variant.name()),
                    Action::Timeout { after, .. } => out.time("timeout", *after),
                    Action::Signal { .. } => out.flag("signal", true),
                }
                out.close('}');
            }
            out.close(']');
        }
        if !self.windows.is_empty() {
            out.key("windows");
            out.open('[');
            for window in &self.windows {
                out.item();
                out.open('{');
                out.string("name", &window.name);
                out.time("from", window.from);
                out.time("to", window.to);
                out.close('}');
            }
            out.close(']');
        }
        out.close('}');
    }
}

/// JSON as it grows.
struct Out {
    text: String,
    depth: usize,
    /// Nothing stands in the innermost object or list yet.
    first: bool,
}

impl Out {
    fn open(&mut self, bracket: char) {
        self.text.push(bracket);
        self.depth += 1;
        self.first = true;
    }

    fn close(&mut self, bracket: char) {
        self.depth -= 1;
        if !self.first {
            self.line();
        }
        self.text.push(bracket);
        self.first = false;
    }

    fn line(&mut self) {
        self.text.push('\n');
        for _ in 0..self.depth {
            self.text.push(' ');
        }
    }

    /// A new entry of the innermost object or list.
    fn item(&mut self) {
        if !self.first {
            self.text.push(',');
        }
        self.line();
        self.first = false;
    }

    fn key(&mut self, key: &str) {
        self.item();
        self.quoted(key);
        self.text.push_str(": ");
    }

    fn quoted(&mut self, text: &str) {
        self.text.push('"');
        for c in text.chars() {
            match c {
                '"' => self.text.push_str("\\\""),
                '\\' => self.text.push_str("\\\\"),
                '\n' => self.text.push_str("\\n"),
                '\t' => self.text.push_str("\\t"),
                '\r' => self.text.push_str("\\r"),
                // All other control characters, and DEL.
                '\0'..='\x1f' | '\x7f' => {
                    self.text.push_str("\\u00");
                    for nibble in [c as u32 >> 4, c as u32 & 15] {
                        self.text.push(char::from_digit(nibble, 16).unwrap_or('0'));
                    }
                }
                c => self.text.push(c),
            }
        }
        self.text.push('"');
    }

    fn digits(&mut self, n: u64) {
        self.text.push_str(&n.to_string());
    }

    /// Microseconds, with the nanoseconds behind the point if there are any.
    fn us(&mut self, ns: Ns) {
        self.digits(ns.0 / 1000);
        let rest = ns.0 % 1000;
        if rest > 0 {
            self.text.push('.');
            for power in [100, 10, 1] {
                self.digits(rest / power % 10);
            }
        }
    }

    fn time(&mut self, key: &str, ns: Ns) {
        self.key(key);
        self.us(ns);
    }

    fn number(&mut self, key: &str, n: u64) {
        self.key(key);
        self.digits(n);
    }

    fn integer(&mut self, key: &str, n: i64) {
        self.key(key);
        self.text.push_str(&n.to_string());
    }

    fn string(&mut self, key: &str, text: &str) {
        self.key(key);
        self.quoted(text);
    }

    fn flag(&mut self, key: &str, flag: bool) {
        self.key(key);
        self.text.push_str(if flag { "true" } else { "false" });
    }

    fn rounds(&mut self, key: &str, rounds: Option<u64>) {
        self.key(key);
        match rounds {
            Some(n) => self.digits(n),
            None => self.text.push_str("-1"),
        }
    }

    fn asked(&mut self, asked: &Asked) {
        let policy = asked.scheduling.policy;
        self.string("policy", policy.name());
        if policy == Policy::Deadline {
            self.time("dl-runtime", asked.dl_runtime);
            self.time("dl-period", asked.dl_period);
            self.time("dl-deadline", asked.scheduling.deadline);
            return;
        }
        self.integer("priority", i64::from(asked.priority()));
        if asked.dl_runtime.0 > 0 {
            self.time("dl-runtime", asked.dl_runtime);
        }
    }
}
