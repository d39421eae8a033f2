//! Reads the `lab` object: the machine, changes from outside, windows, what to tell.

use std::borrow::Cow;

use super::bounds;
use super::lab::{Action, Change, Window};
use super::notice;
use super::read::{Reader, Result, check_window};
use super::resolve::check_priority;
use super::text::{Key, push_plain, quoted};
use crate::model::kernel::{HZ, Kernel};
use crate::model::machine::Protocol;
use crate::model::pi::Variant;
use crate::model::task::Policy;
use crate::model::units::Ns;

/// Microseconds of the lab's own keys.
const TIME: &str = "microseconds from 0 to 1000000000000, with at most three decimals";
const KERNELS: &str = "a kernel: \"6.1\", \"6.6\", \"6.12\", \"6.13\" or \"6.18\"";
const VARIANTS: &str = "a variant: \"none\", \"stock\", \"reweight\", \"reweight-v2\", \"reweight-fixed\" or \"proxy-exec\"";
const NANOSECONDS: &str = "nanoseconds, a whole number from 0 to 1000000000";

impl<'t> Reader<'t> {
    pub(super) fn lab(&mut self, key: &Key<'t>) -> Result<()> {
        self.value(key, "an object")?;
        let mut items = self.text.object("an object")?;
        while let Some(key) = self.text.key(&mut items)? {
            let before = self.lab_stated(&key.name);
            if !self.repeated(&key, before)? {
                self.lab_key(&key)?;
            }
        }
        Ok(())
    }

    /// Whether a key that counts once has its value already.
    fn lab_stated(&self, name: &str) -> bool {
        let out = &self.out;
        match name {
            "title" => !out.title.is_empty(),
            "question" => !out.question.is_empty(),
            "look" => !out.look.is_empty(),
            "kernel" => out.kernel.is_some(),
            "hz" => out.hz.is_some(),
            "cpus_online" => out.cpus_online.is_some(),
            "pi" => out.pi.is_some(),
            "duration" => out.duration.is_some(),
            "fair_group_sched" => out.fair_group_sched.is_some(),
            "rt_throttle" => out.rt_throttle.is_some(),
            "resched_delay_ns" => out.resched_delay.is_some(),
            "tick_phase_ns" => out.tick_phase.is_some(),
            "irq_cost_ns" => out.irq_cost.is_some(),
            "holder" => out.holder.is_some(),
            _ => false,
        }
    }

    fn lab_key(&mut self, key: &Key<'t>) -> Result<()> {
        match &*key.name {
            "title" => self.out.title = self.prose(key)?,
            "question" => self.out.question = self.prose(key)?,
            "look" => self.out.look = self.prose(key)?,
            "kernel" => self.out.kernel = Some(self.kernel(key)?),
            "hz" => self.out.hz = Some(self.hz(key)?),
            "pi" => self.out.pi = Some(self.variant(key)?),
            "cpus_online" => {
                let expected = "a number of CPUs from 1 to 256";
                self.value(key, expected)?;
                let n = self.text.integer(expected, 1, i64::from(bounds::CPUS))?;
                self.out.cpus_online = Some(n as u32);
            }
            "duration" => {
                self.value(key, TIME)?;
                let at = self.text.at();
                let duration = self.lab_time(key)?;
                if duration.0 == 0 {
                    return Err(self.text.unexpected(at, "a duration above 0"));
                }
                if duration > bounds::DURATION {
                    let most = bounds::DURATION.0 / 1000;
                    return Err(self
                        .text
                        .over(at, "microseconds of duration", most as usize));
                }
                self.out.duration = Some(duration);
            }
            "fair_group_sched" => self.out.fair_group_sched = Some(self.flag(key)?),
            "rt_throttle" => self.out.rt_throttle = Some(self.flag(key)?),
            "resched_delay_ns" => self.out.resched_delay = Some(self.nanoseconds(key)?),
            "tick_phase_ns" => self.out.tick_phase = Some(self.nanoseconds(key)?),
            "irq_cost_ns" => self.out.irq_cost = Some(self.nanoseconds(key)?),
            "holder" => {
                let expected = "the name of a task in quotes";
                self.value(key, expected)?;
                self.holder_at = self.text.at();
                self.out.holder = Some(self.text.name(expected)?.into_owned());
            }
            "locks" => self.protocols(key)?,
            "controls" => self.controls(key)?,
            "windows" => self.windows(key)?,
            _ => self.unknown(key)?,
        }
        Ok(())
    }

    fn prose(&mut self, key: &Key<'t>) -> Result<String> {
        self.value(key, "a text in quotes")?;
        let at = self.text.at();
        let text = self.text.string("a text in quotes")?;
        if text.len() > bounds::PROSE {
            return Err(self.text.over(at, "bytes in a text", bounds::PROSE));
        }
        Ok(text.into_owned())
    }

    fn flag(&mut self, key: &Key<'t>) -> Result<bool> {
        self.value(key, "true or false")?;
        self.text.boolean("true or false")
    }

    fn nanoseconds(&mut self, key: &Key<'t>) -> Result<Ns> {
        self.value(key, NANOSECONDS)?;
        let ns = self.text.integer(NANOSECONDS, 0, 1_000_000_000)?;
        Ok(Ns(ns as u64))
    }

    /// Microseconds, to the nanosecond: a slider is not moved on a whole microsecond.
    fn lab_time(&mut self, key: &Key<'t>) -> Result<Ns> {
        self.value(key, TIME)?;
        Ok(Ns(self.text.thousandths(TIME, bounds::TIME_US)? as u64))
    }

    fn kernel(&mut self, key: &Key<'t>) -> Result<Kernel> {
        self.value(key, KERNELS)?;
        let at = self.text.at();
        let name = self.text.string(KERNELS)?;
        Kernel::named(&name).ok_or_else(|| self.text.unexpected(at, KERNELS))
    }

    fn hz(&mut self, key: &Key<'t>) -> Result<u32> {
        let expected = "one of 100, 250, 300 and 1000";
        self.value(key, expected)?;
        let at = self.text.at();
        let hz = self.text.integer(expected, 1, i64::from(u32::MAX))? as u32;
        if HZ.contains(&hz) {
            Ok(hz)
        } else {
            Err(self.text.unexpected(at, expected))
        }
    }

    fn variant(&mut self, key: &Key<'t>) -> Result<Variant> {
        self.value(key, VARIANTS)?;
        let at = self.text.at();
        let name = self.text.string(VARIANTS)?;
        Variant::named(&name).ok_or_else(|| self.text.unexpected(at, VARIANTS))
    }

    fn protocols(&mut self, key: &Key<'t>) -> Result<()> {
        let expected = "an object of locks";
        self.value(key, expected)?;
        let mut items = self.text.object(expected)?;
        while let Some(key) = self.text.key(&mut items)? {
            let before = self.protocols.contains_key(&*key.name);
            if self.repeated(&key, before)? {
                continue;
            }
            if self.protocols.len() >= bounds::ENTRIES {
                return Err(self
                    .text
                    .over(key.at, "entries in \"locks\"", bounds::ENTRIES));
            }
            let expected = "\"inherit\" or \"none\"";
            self.value(&key, expected)?;
            let at = self.text.at();
            let protocol = match &*self.text.string(expected)? {
                "inherit" => Protocol::Inherit,
                "none" => Protocol::None,
                _ => return Err(self.text.unexpected(at, expected)),
            };
            self.protocols.insert(key.name.into_owned(), protocol);
        }
        Ok(())
    }

    fn controls(&mut self, key: &Key<'t>) -> Result<()> {
        let expected = "a list of controls";
        self.value(key, expected)?;
        let mut items = self.text.list(expected)?;
        while self.text.item(&mut items)? {
            if self.out.controls.len() >= bounds::ENTRIES {
                return Err(self.text.over(self.text.at(), "controls", bounds::ENTRIES));
            }
            let change = self.one_control()?;
            self.out.controls.push(change);
        }
        Ok(())
    }

    fn one_control(&mut self) -> Result<Change> {
        let start = self.text.at();
        let mut items = self.text.object("an object with \"at\"")?;
        let (mut at, mut task, mut nice, mut policy) = (None, None, None, None);
        let (mut priority, mut pi, mut timeout, mut signal) = (None, None, None, None);
        let mut task_at = start;
        while let Some(key) = self.text.key(&mut items)? {
            match &*key.name {
                "at" => at = Some(self.lab_time(&key)?),
                "task" => {
                    let expected = "the name of a task in quotes";
                    self.value(&key, expected)?;
                    task_at = self.text.at();
                    task = Some(self.text.name(expected)?.into_owned());
                }
                "nice" => nice = Some(self.number(&key, "a nice value in -20..19", -20, 19)?),
                "policy" => policy = Some(self.policy(&key)?),
                "priority" => {
                    let at = self.text.at();
                    let expected = "a nice value in -20..19, or a real-time priority in 1..99";
                    priority = Some((self.number(&key, expected, i64::MIN, i64::MAX)?, at));
                }
                "pi" => pi = Some(self.variant(&key)?),
                "timeout" => timeout = Some(self.lab_time(&key)?),
                "signal" => {
                    let at = self.text.at();
                    if !self.flag(&key)? {
                        let message = "expected true: a signal that is not sent is no change";
                        return Err(self.text.error(at, message.to_owned()));
                    }
                    signal = Some(());
                }
                _ => self.unknown(&key)?,
            }
        }
        let Some(at) = at else {
            return Err(self
                .text
                .error(start, "expected \"at\" in the control".to_owned()));
        };
        let action = match (task, nice, policy, pi, timeout, signal) {
            (None, None, None, Some(variant), None, None) => Action::Pi(variant),
            (Some(task), Some(nice), None, None, None, None) => Action::Nice {
                task,
                nice: nice as i32,
            },
            (Some(task), None, Some(policy), None, None, None) => {
                if let Some((n, at)) = priority {
                    if policy == Policy::Deadline {
                        priority = Some((0, at));
                    } else {
                        check_priority(policy, n).map_err(|message| {
                            let path = [&self.text.path(), ".priority"].concat();
                            self.text.error_in(at, path, message)
                        })?;
                    }
                }
                let priority = priority.map(|(n, _)| n as i32);
                Action::Policy {
                    task,
                    policy,
                    priority,
                }
            }
            (Some(task), None, None, None, Some(after), None) => Action::Timeout { task, after },
            (Some(task), None, None, None, None, Some(())) => Action::Signal { task },
            _ => {
                let message = "expected one change: \"task\" with \"nice\", \"policy\", \"timeout\" or \"signal\", or \"pi\" alone";
                return Err(self.text.error(start, message.to_owned()));
            }
        };
        self.controls_at.push(task_at);
        Ok(Change { at, action })
    }

    fn number(&mut self, key: &Key<'t>, expected: &str, low: i64, high: i64) -> Result<i64> {
        self.value(key, expected)?;
        self.text.integer(expected, low, high)
    }

    fn windows(&mut self, key: &Key<'t>) -> Result<()> {
        let expected = "a list of windows";
        self.value(key, expected)?;
        let mut items = self.text.list(expected)?;
        while self.text.item(&mut items)? {
            let start = self.text.at();
            if self.out.windows.len() >= bounds::WINDOWS {
                return Err(self.text.over(start, "windows", bounds::WINDOWS));
            }
            let mut entries = self
                .text
                .object("an object with \"name\", \"from\" and \"to\"")?;
            let (mut name, mut from, mut to) = (None::<Cow<'t, str>>, None, None);
            while let Some(key) = self.text.key(&mut entries)? {
                match &*key.name {
                    "name" => {
                        self.value(&key, "a name in quotes")?;
                        name = Some(self.text.name("a name in quotes")?);
                    }
                    "from" => from = Some(self.lab_time(&key)?),
                    "to" => to = Some(self.lab_time(&key)?),
                    _ => self.unknown(&key)?,
                }
            }
            let (Some(name), Some(from), Some(to)) = (name, from, to) else {
                let message = "expected \"name\", \"from\" and \"to\" in the window";
                return Err(self.text.error(start, message.to_owned()));
            };
            let name = name.into_owned();
            self.out.windows.push(Window { name, from, to });
            let last = self.out.windows.len() - 1;
            check_window(&self.out.windows, last)
                .map_err(|message| self.text.error(start, message.to_owned()))?;
            self.windows_at.push(start);
        }
        Ok(())
    }

    /// What can only be checked when tasks and duration are known.
    pub(super) fn finish_lab(&mut self) -> Result<()> {
        for name in self.protocols.keys() {
            if self.locks.get(name).is_none() {
                let mut path = String::from("lab.locks.");
                push_plain(&mut path, name);
                notice(&mut self.out.notices, &path, "no task takes this lock");
            }
        }
        for (n, change) in self.out.controls.iter().enumerate() {
            if let Some(task) = change.action.task() {
                self.targets.check(task).map_err(|message| {
                    let path = ["lab.controls[", &n.to_string(), "].task"].concat();
                    self.text.error_in(self.controls_at[n], path, message)
                })?;
            }
        }
        if let Some(holder) = &self.out.holder
            && !self.targets.contains(holder)
        {
            let message = ["expected the name of a task, found ", &quoted(holder)].concat();
            return Err(self
                .text
                .error_in(self.holder_at, "lab.holder".to_owned(), message));
        }
        if let Some(end) = self.out.duration {
            for (n, window) in self.out.windows.iter().enumerate() {
                if window.from >= end {
                    let path = ["lab.windows[", &n.to_string(), "]"].concat();
                    let message = "the window begins when the run has ended".to_owned();
                    return Err(self.text.error_in(self.windows_at[n], path, message));
                }
            }
        }
        let Some((cpu, at, path)) = self.top_cpu.take() else {
            return Ok(());
        };
        match self.out.cpus_online {
            Some(online) if cpu >= online => {
                let message = [
                    "CPU",
                    &cpu.to_string(),
                    " is beyond the ",
                    &online.to_string(),
                    " CPUs of \"cpus_online\"",
                ];
                Err(self.text.error_in(at, path, message.concat()))
            }
            None if cpu + 1 > self.out.cpus_pinned() => {
                // A CPU that no task is pinned to still belongs to the machine of the file.
                self.out.cpus_online = Some(cpu + 1);
                Ok(())
            }
            _ => Ok(()),
        }
    }
}
