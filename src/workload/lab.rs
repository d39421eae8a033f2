//! What the `lab` object says beyond rt-app's own words: changes from outside, and windows.

use crate::model::pi::Variant;
use crate::model::task::Policy;
use crate::model::units::Ns;

/// A change from outside.
///
/// ```
/// # let text = r#"{ "tasks": { "low": { "priority": 10, "loop": 1,
/// #     "lock": "M", "run": 5000, "unlock": "M" } },
/// #     "lab": { "duration": 20000 } }"#;
/// use reweight_lab::model::units::Ns;
/// use reweight_lab::workload::{Action, Workload};
/// let mut workload = Workload::parse(text, "mine.json")?;
/// workload.add_control(Ns::from_ms(3), Action::Nice { task: "low".into(), nice: 0 })?;
/// assert_eq!(workload.controls[0].at, Ns::from_ms(3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// When.
    pub at: Ns,
    /// What.
    pub action: Action,
}

/// What is changed from outside. A task is named as it runs: `name`, or `name-0` of several; the
/// plain name of several means all of them.
///
/// ```
/// use reweight_lab::model::pi::Variant;
/// use reweight_lab::workload::Action;
/// let renice = Action::Nice { task: "low".into(), nice: 5 };
/// assert_eq!(renice.task(), Some("low"));
/// assert_eq!(Action::Pi(Variant::Reweight).task(), None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// `setpriority()`.
    Nice {
        /// On whom.
        task: String,
        /// -20..=19.
        nice: i32,
    },
    /// `sched_setscheduler()`.
    Policy {
        /// On whom.
        task: String,
        /// The new policy.
        policy: Policy,
        /// The nice level or the real-time priority. `None`: the nice level it has, or 10.
        priority: Option<i32>,
    },
    /// The variant of priority inheritance is switched.
    Pi(Variant),
    /// The lock the task waits for then is given up after this long.
    Timeout {
        /// Whose wait.
        task: String,
        /// From the change to giving up.
        after: Ns,
    },
    /// A signal with a handler: the task begins its wait for a lock anew, behind its equals.
    Signal {
        /// To whom.
        task: String,
    },
}

impl Action {
    /// On whom, if on a task.
    pub fn task(&self) -> Option<&str> {
        match self {
            Action::Nice { task, .. }
            | Action::Policy { task, .. }
            | Action::Timeout { task, .. }
            | Action::Signal { task } => Some(task),
            Action::Pi(_) => None,
        }
    }

    pub(super) fn task_mut(&mut self) -> Option<&mut String> {
        match self {
            Action::Nice { task, .. }
            | Action::Policy { task, .. }
            | Action::Timeout { task, .. }
            | Action::Signal { task } => Some(task),
            Action::Pi(_) => None,
        }
    }
}

/// A span of the run whose shares are told.
///
/// ```
/// # let text = r#"{ "tasks": { "low": { "priority": 10, "loop": 1,
/// #     "lock": "M", "run": 5000, "unlock": "M" } },
/// #     "lab": { "duration": 20000 } }"#;
/// use reweight_lab::model::units::Ns;
/// use reweight_lab::workload::{Options, Window, Workload};
/// let early = Window { name: "early".into(), from: Ns(0), to: Ns::from_ms(4) };
/// let options = Options { windows: vec![early.clone()], ..Options::default() };
/// let scenario = Workload::parse(text, "mine.json")?.build(&options)?;
/// assert_eq!(scenario.windows, [early]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// Its name; no two have the same.
    pub name: String,
    /// Where it begins.
    pub from: Ns,
    /// Where it ends; later than `from`.
    pub to: Ns,
}
