//! Makes a scenario of a workload: settings, windows and checks; `compile` makes the machine.

use std::collections::HashSet;

use super::bounds;
use super::compile::Compiler;
use super::error::Error;
use super::lab::{Action, Window};
use super::names::{Names, Targets};
use super::read::check_window;
use super::resolve::check_priority;
use super::text::{push_plain, quoted};
use super::{Workload, notice};
use crate::model::kernel::{HZ, Kernel, Settings};
use crate::model::machine::Machine;
use crate::model::pi::Variant;
use crate::model::task::Policy;
use crate::model::units::Ns;

/// What the caller wants otherwise than the file says. `None` leaves the file's word.
///
/// ```
/// # let text = r#"{ "tasks": { "low": { "priority": 10, "loop": 1,
/// #     "lock": "M", "run": 5000, "unlock": "M" } },
/// #     "lab": { "duration": 20000 } }"#;
/// use reweight_lab::model::kernel::Kernel;
/// use reweight_lab::model::pi::Variant;
/// use reweight_lab::workload::{Options, Workload};
/// let options = Options {
///     kernel: Some(Kernel::V6_1),
///     pi: Some(Variant::Reweight),
///     ..Options::default()
/// };
/// let scenario = Workload::parse(text, "mine.json")?.build(&options)?;
/// assert_eq!(scenario.machine.settings().kernel, Kernel::V6_1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The kernel.
    pub kernel: Option<Kernel>,
    /// Ticks a second.
    pub hz: Option<u32>,
    /// Online CPUs.
    pub cpus_online: Option<u32>,
    /// The variant of priority inheritance at the start.
    pub pi: Option<Variant>,
    /// The length of the run.
    pub duration: Option<Ns>,
    /// Windows to add; one of the same name is replaced.
    pub windows: Vec<Window>,
}

/// A workload ready to run.
///
/// ```
/// # let text = r#"{ "tasks": { "low": { "priority": 10, "loop": 1,
/// #     "lock": "M", "run": 5000, "unlock": "M" } },
/// #     "lab": { "duration": 20000 } }"#;
/// use reweight_lab::model::units::Ns;
/// use reweight_lab::workload::{Options, Workload};
/// let scenario = Workload::parse(text, "mine.json")?.build(&Options::default())?;
/// assert_eq!(scenario.duration, Ns::from_ms(20));
/// assert_eq!(scenario.windows[0].name, "all");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The machine at time zero.
    pub machine: Machine,
    /// The names of its tasks and locks.
    pub names: Names,
    /// The windows, all inside the run; at least one.
    pub windows: Vec<Window>,
    /// Whether file or options gave windows; else the one there is is `all`, and whoever runs
    /// the scenario adds `boosted`.
    pub windows_given: bool,
    /// The run covers `[0, duration)`.
    pub duration: Ns,
    /// Whose share is told, if that is said.
    pub holder: Option<String>,
    /// The notices of the file, and those of this build.
    pub notices: Vec<String>,
}

impl Workload {
    /// Makes the machine.
    ///
    /// # Errors
    /// An option that does not fit the workload, or an edit that left it unsound; without options
    /// and edits, whatever [`Workload::parse`] gave builds.
    pub fn build(&self, options: &Options) -> Result<Scenario, Error> {
        let mut notices = self.notices.clone();
        let settings = self.settings(options)?;
        let targets = self.check()?;
        let duration = self.duration(options, &mut notices)?;
        let windows = self.place_windows(options, duration, &mut notices)?;
        let mut compiler = Compiler::new(self, settings);
        compiler.run();
        for (n, change) in self.controls.iter().enumerate() {
            if change.at >= duration {
                let path = ["lab.controls[", &n.to_string(), "]"].concat();
                notice(&mut notices, &path, "the run has ended by then");
            }
        }
        compiler.controls(&targets);
        if !settings.kernel.custom_slice {
            for task in &self.tasks {
                if task.asked.is_some_and(|a| a.scheduling.slice.is_some()) {
                    let path = [&super::read::task_path(task), ".dl-runtime"].concat();
                    let what = [
                        "kernel ",
                        settings.kernel.name,
                        " has no slices of a task's own",
                    ]
                    .concat();
                    notice(&mut notices, &path, &what);
                }
            }
        }
        Ok(Scenario {
            machine: compiler.machine,
            names: compiler.names,
            windows_given: !self.windows.is_empty() || !options.windows.is_empty(),
            windows,
            duration,
            holder: self.holder.clone(),
            notices,
        })
    }

    fn refuse(&self, path: &str, message: &str) -> Error {
        Error::of(&self.file, path, message.to_owned())
    }

    fn settings(&self, options: &Options) -> Result<Settings, Error> {
        let kernel = options.kernel.or(self.kernel).unwrap_or(Kernel::V6_12);
        let mut settings = Settings::new(kernel);
        settings.hz = options.hz.or(self.hz).unwrap_or(settings.hz);
        if !HZ.contains(&settings.hz) {
            let message = [
                "expected one of 100, 250, 300 and 1000, found ",
                &settings.hz.to_string(),
            ];
            return Err(self.refuse("hz", &message.concat()));
        }
        let pinned = self.cpus_pinned();
        settings.cpus_online = options.cpus_online.or(self.cpus_online).unwrap_or(pinned);
        if settings.cpus_online == 0 || settings.cpus_online > bounds::CPUS {
            let found = settings.cpus_online.to_string();
            let message = ["expected a number of CPUs from 1 to 256, found ", &found].concat();
            return Err(self.refuse("cpus_online", &message));
        }
        if pinned > settings.cpus_online {
            let message = [
                "the workload names CPU",
                &(pinned - 1).to_string(),
                ", which is beyond the ",
                &settings.cpus_online.to_string(),
                " CPUs online",
            ];
            return Err(self.refuse("cpus_online", &message.concat()));
        }
        settings.pi = options.pi.or(self.pi).unwrap_or(settings.pi);
        settings.fair_group_sched = self.fair_group_sched.unwrap_or(settings.fair_group_sched);
        settings.resched_delay = self.resched_delay.unwrap_or(settings.resched_delay);
        settings.irq_cost = self.irq_cost.unwrap_or(settings.irq_cost);
        settings.rt_throttle = self.rt_throttle.unwrap_or(settings.rt_throttle);
        settings.tick_phase = self.tick_phase.unwrap_or(settings.tick_phase);
        for (path, ns) in [
            ("tick_phase_ns", settings.tick_phase),
            ("irq_cost_ns", settings.irq_cost),
            ("resched_delay_ns", settings.resched_delay),
        ] {
            if ns.0 >= settings.tick() {
                let tick = settings.tick().to_string();
                let message = [
                    "expected less than a tick, which is ",
                    &tick,
                    " ns, found ",
                    &ns.0.to_string(),
                ];
                return Err(self.refuse(path, &message.concat()));
            }
        }
        Ok(settings)
    }

    /// What the reader has checked, once more: fields are public and may have been changed.
    fn check(&self) -> Result<Targets, Error> {
        let targets = Targets::new(&self.tasks).map_err(|(_, name)| {
            self.refuse(
                "tasks",
                &["two tasks would run as ", &quoted(&name)].concat(),
            )
        })?;
        for task in &self.tasks {
            let asked = self.start_of(task);
            let policy = asked.scheduling.policy;
            check_priority(policy, i64::from(asked.priority()))
                .or_else(|message| {
                    if policy == Policy::Deadline {
                        Ok(())
                    } else {
                        Err(message)
                    }
                })
                .map_err(|message| self.refuse(&super::read::task_path(task), &message))?;
        }
        for (n, change) in self.controls.iter().enumerate() {
            let path = || ["lab.controls[", &n.to_string(), "]"].concat();
            if let Some(task) = change.action.task() {
                targets
                    .check(task)
                    .map_err(|message| self.refuse(&path(), &message))?;
            }
            let priority = match change.action {
                Action::Nice { nice, .. } => Some((Policy::Normal, nice)),
                Action::Policy {
                    policy, priority, ..
                } if policy != Policy::Deadline => priority.map(|priority| (policy, priority)),
                _ => None,
            };
            if let Some((policy, priority)) = priority {
                check_priority(policy, i64::from(priority))
                    .map_err(|message| self.refuse(&path(), &message))?;
            }
        }
        for name in &self.forks {
            if targets.get(name).is_none() {
                let message = ["expected the name of a task, found ", &quoted(name)].concat();
                return Err(self.refuse("fork", &message));
            }
        }
        if let Some(holder) = &self.holder
            && !targets.contains(holder)
        {
            let message = ["expected the name of a task, found ", &quoted(holder)].concat();
            return Err(self.refuse("lab.holder", &message));
        }
        Ok(targets)
    }

    fn duration(&self, options: &Options, notices: &mut Vec<String>) -> Result<Ns, Error> {
        let duration = options.duration.unwrap_or_else(|| self.run_length());
        if duration.0 == 0 || duration > bounds::DURATION {
            let message = "expected a duration above 0 and at most 604800 seconds";
            return Err(self.refuse("duration", message));
        }
        if options.duration.or(self.duration).is_none() {
            let what = if self.windows.is_empty() {
                "the workload has no end; the run stops after ten seconds"
            } else {
                "the workload has no end; the run stops with the last window"
            };
            notice(notices, "duration", what);
        }
        Ok(duration)
    }

    /// The windows of file and options, cut to the run.
    fn place_windows(
        &self,
        options: &Options,
        duration: Ns,
        notices: &mut Vec<String>,
    ) -> Result<Vec<Window>, Error> {
        let mut windows = self.windows.clone();
        let mut asked_for = HashSet::new();
        for window in &options.windows {
            asked_for.insert(window.name.as_str());
            match windows.iter_mut().find(|w| w.name == window.name) {
                Some(same) => *same = window.clone(),
                None => windows.push(window.clone()),
            }
        }
        let mut placed = Vec::new();
        for (n, window) in windows.iter().enumerate() {
            let mut path = String::from("windows.");
            push_plain(&mut path, &window.name);
            check_window(&windows, n).map_err(|message| self.refuse(&path, message))?;
            if window.from >= duration {
                // A shorter run than the file's leaves out its late windows; all else is a slip.
                let shortened = options.duration.is_some() && !asked_for.contains(&*window.name);
                if shortened {
                    notice(
                        notices,
                        &path,
                        "the window begins when the run has ended; it is left out",
                    );
                    continue;
                }
                return Err(self.refuse(&path, "the window begins when the run has ended"));
            }
            let mut window = window.clone();
            if window.to > duration {
                window.to = duration;
                notice(notices, &path, "the window is cut at the end of the run");
            }
            placed.push(window);
        }
        if placed.is_empty() {
            placed.push(Window {
                name: "all".to_owned(),
                from: Ns(0),
                to: duration,
            });
        }
        Ok(placed)
    }
}
