//! The report of a run: the stable JSON interface, format 1 (`docs/schema/report-1.json`).
//!
//! Integers except `share`. Field order is the order in the text. Serialized natively by
//! serde_json and in the browser by serde-wasm-bindgen.

use serde::ser::{Serialize, SerializeMap, Serializer};

/// The version of the shape below. It changes when a reader of the old one would be misled; new
/// fields may come without.
pub const FORMAT: u32 = 1;

/// What a run came to.
///
/// ```
/// # use reweight_lab::trace;
/// # use reweight_lab::workload::{Options, Workload, presets};
/// # let text = presets::named("patch-test").ok_or("no such preset")?.text;
/// # let workload = Workload::parse(text, "patch-test.json")?;
/// # let run = trace::simulate(workload.build(&Options::default())?, false)?;
/// let report = &run.report;
/// assert_eq!((report.format, report.kernel.as_str()), (1, "6.12"));
/// assert!(report.switches <= report.decisions);
/// assert_eq!(report.windows[0].name, "before");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Report {
    /// [`FORMAT`].
    pub format: u32,
    /// The kernel: `6.12`.
    pub kernel: String,
    /// Ticks a second.
    pub hz: u32,
    /// Online CPUs, which scale the tunables.
    pub cpus_online: u32,
    /// The variant of priority inheritance at the start: `reweight`.
    pub pi: String,
    /// The length of the run, ns.
    pub duration_ns: u64,
    /// Changes of the running task.
    pub switches: u64,
    /// Picks, those that chose the running task again included.
    pub decisions: u64,
    /// Every task, in the order they came to be.
    pub tasks: Vec<TaskReport>,
    /// Every window.
    pub windows: Vec<WindowReport>,
    /// What a reader should know: unmodelled keys, cut windows, refused calls.
    pub notices: Vec<String>,
}

/// A task over the whole run. `cpu_ns + wait_ns + sleep_ns + blocked_ns` is its life time.
///
/// ```
/// # use reweight_lab::trace;
/// # use reweight_lab::workload::{Options, Workload, presets};
/// # let text = presets::named("patch-test").ok_or("no such preset")?.text;
/// # let workload = Workload::parse(text, "patch-test.json")?;
/// # let run = trace::simulate(workload.build(&Options::default())?, false)?;
/// let low = run.report.task("low").ok_or("no such task")?;
/// assert_eq!((low.nice, low.prio, low.weight), (10, 130, 110));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct TaskReport {
    /// The name.
    pub name: String,
    /// The policy at the end: `SCHED_OTHER`.
    pub policy: String,
    /// The nice level at the end.
    pub nice: i32,
    /// Time on a CPU, ns.
    pub cpu_ns: u64,
    /// Time runnable, waiting for the CPU, ns.
    pub wait_ns: u64,
    /// Time asleep, ns.
    pub sleep_ns: u64,
    /// Time blocked on locks, ns.
    pub blocked_ns: u64,
    /// The effective prio at the end.
    pub prio: i32,
    /// The table weight at the end.
    pub weight: u32,
}

/// A window of the run.
///
/// ```
/// # use reweight_lab::trace;
/// # use reweight_lab::workload::{Options, Workload, presets};
/// # let text = presets::named("patch-test").ok_or("no such preset")?.text;
/// # let workload = Workload::parse(text, "patch-test.json")?;
/// # let run = trace::simulate(workload.build(&Options::default())?, false)?;
/// let boosted = run.report.window("boosted").ok_or("no such window")?;
/// let ran: u64 = boosted.tasks.0.iter().map(|(_, task)| task.cpu_ns).sum();
/// assert_eq!(ran + boosted.idle_ns, boosted.to_ns - boosted.from_ns);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct WindowReport {
    /// Its name.
    pub name: String,
    /// Its first instant, ns.
    pub from_ns: u64,
    /// The instant behind its last, ns.
    pub to_ns: u64,
    /// CPU time nobody used, over all CPUs, ns.
    pub idle_ns: u64,
    /// The tasks.
    pub tasks: Shares,
}

/// The tasks of a window by name, in the order they came to be; an object in JSON.
///
/// ```
/// # use reweight_lab::trace;
/// # use reweight_lab::workload::{Options, Workload, presets};
/// # let text = presets::named("patch-test").ok_or("no such preset")?.text;
/// # let workload = Workload::parse(text, "patch-test.json")?;
/// # let run = trace::simulate(workload.build(&Options::default())?, false)?;
/// let boosted = run.report.window("boosted").ok_or("no such window")?;
/// assert!(boosted.tasks.get("low").is_some());
/// assert!(boosted.tasks.get("nobody").is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shares(pub Vec<(String, TaskShare)>);

/// A task in a window.
///
/// ```
/// use reweight_lab::trace::report::TaskShare;
/// let quarter = TaskShare::new(250, 1000, 3, 10);
/// assert_eq!(quarter.share, 0.25);
/// assert_eq!(TaskShare::new(0, 0, 0, 0).share, 0.0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct TaskShare {
    /// CPU time, ns.
    pub cpu_ns: u64,
    /// `cpu_ns` by the length of the window, idle time included; 0 in an empty window.
    pub share: f64,
    /// How often it was set running.
    pub switches: u64,
    /// The longest it waited for the CPU at a stretch, within the window, ns.
    pub max_wait_ns: u64,
}

impl Serialize for Shares {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, share) in &self.0 {
            map.serialize_entry(name, share)?;
        }
        map.end()
    }
}

impl Shares {
    /// A task's figures.
    pub fn get(&self, name: &str) -> Option<&TaskShare> {
        self.0.iter().find(|(n, _)| n == name).map(|(_, s)| s)
    }
}

impl Report {
    /// The window of that name.
    pub fn window(&self, name: &str) -> Option<&WindowReport> {
        self.windows.iter().find(|w| w.name == name)
    }

    /// The task of that name.
    pub fn task(&self, name: &str) -> Option<&TaskReport> {
        self.tasks.iter().find(|t| t.name == name)
    }
}

impl TaskShare {
    /// Figures with the share worked out; the only division of a report.
    pub fn new(cpu_ns: u64, length_ns: u64, switches: u64, max_wait_ns: u64) -> TaskShare {
        let share = if length_ns == 0 {
            0.0
        } else {
            cpu_ns as f64 / length_ns as f64
        };
        TaskShare {
            cpu_ns,
            share,
            switches,
            max_wait_ns,
        }
    }
}
