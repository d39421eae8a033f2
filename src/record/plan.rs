//! What is to be run: the scenario's machine before its first instant, taken apart.

use std::collections::HashMap;

use crate::model::machine::{Control, Protocol, TimerKind};
use crate::model::pi::Variant;
use crate::model::task::TaskSpec;
use crate::model::units::{Ns, TaskId};
use crate::workload::{Names, Scenario, Window};

/// A scenario for real threads.
pub(super) struct Plan {
    pub tasks: Vec<TaskSpec>,
    pub templates: Vec<TaskSpec>,
    pub locks: Vec<Protocol>,
    pub conditions: usize,
    pub barriers: Vec<u32>,
    pub semaphores: usize,
    pub timers: Vec<Option<Ns>>,
    /// In order.
    pub controls: Vec<(Ns, Control)>,
    /// By task: at this instant the lock it waits for is given up at that one. In order.
    pub timeouts: HashMap<TaskId, Vec<(Ns, Ns)>>,
    pub names: Names,
    /// Of the tasks of time zero.
    pub task_names: Vec<String>,
    pub windows: Vec<Window>,
    pub windows_given: bool,
    pub duration: Ns,
    pub holder: Option<String>,
    pub notices: Vec<String>,
}

impl Plan {
    pub fn new(scenario: Scenario) -> Plan {
        let mut machine = scenario.machine;
        let mut notices = scenario.notices;
        let settings = *machine.settings();
        let mut controls = Vec::new();
        let mut timeouts: HashMap<TaskId, Vec<(Ns, Ns)>> = HashMap::new();
        loop {
            let at = machine.armed.next();
            let Some(kind) = machine.armed.pop(Ns(Ns::NEVER.0 - 1)) else {
                break;
            };
            let TimerKind::Control(n) = kind else {
                continue;
            };
            match machine.controls[n as usize].clone() {
                Control::LockTimeout { task, at: expires } => {
                    timeouts.entry(task).or_default().push((at, expires));
                }
                Control::Variant(variant) => notices.push(format!(
                    "at {} s the file switches to {}: a kernel cannot do that while it runs, so it stays what it is",
                    crate::trace::Seconds(at),
                    variant.name()
                )),
                control => controls.push((at, control)),
            }
        }
        if !matches!(settings.pi, Variant::None | Variant::Stock) {
            notices.push(format!(
                "the file asks for {}: this kernel lends what it was built to lend",
                settings.pi.name()
            ));
        }
        if !settings.rt_throttle {
            notices.push(
                "the file wants no RT throttling: that is the system's sched_rt_runtime_us, which is left as it is"
                    .into(),
            );
        }
        let locks = machine.locks.iter().map(|lock| match settings.pi {
            Variant::None => Protocol::None,
            _ => lock.protocol,
        });
        let task_names =
            (0..machine.initial.len()).map(|n| scenario.names.task(&machine, TaskId(n as u32)));
        Plan {
            task_names: task_names.collect(),
            locks: locks.collect(),
            conditions: machine.conds.len(),
            barriers: machine.barriers.iter().map(|b| b.users).collect(),
            semaphores: machine.sems.len(),
            timers: machine.timers,
            tasks: machine.initial,
            templates: machine.templates,
            controls,
            timeouts,
            names: scenario.names,
            windows: scenario.windows,
            windows_given: scenario.windows_given,
            duration: scenario.duration,
            holder: scenario.holder,
            notices,
        }
    }
}

/// When a lock that a task begins to wait for at `now` is given up: by its own timeout, or by a
/// control that comes while it waits.
pub(super) fn expiry(own: Option<Ns>, now: Ns, timeouts: &[(Ns, Ns)]) -> Option<Ns> {
    let mut expires = own;
    for &(at, then) in timeouts.iter().filter(|(at, _)| *at > now) {
        if expires.is_some_and(|e| e <= at) {
            break;
        }
        expires = Some(then.max(at));
    }
    expires
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_control_changes_the_expiry_of_a_wait_that_lasts_until_it() {
        let controls = [(Ns(10), Ns(15)), (Ns(12), Ns(40)), (Ns(30), Ns(35))];
        // The second control comes before the first one's expiry, the third before the second's.
        assert_eq!(expiry(None, Ns(5), &controls), Some(Ns(35)));
        assert_eq!(expiry(None, Ns(12), &controls), Some(Ns(35)));
        assert_eq!(expiry(None, Ns(30), &controls), None);
        assert_eq!(expiry(Some(Ns(11)), Ns(5), &controls), Some(Ns(35)));
        // Gave up before any control came.
        assert_eq!(expiry(Some(Ns(8)), Ns(5), &controls), Some(Ns(8)));
    }
}
