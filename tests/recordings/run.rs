//! Running a recorded workload: CPU time, weights and prios at the windows' edges and at the end,
//! and who took which lock in which order.

use std::collections::BTreeMap;
use std::path::Path;

use reweight_lab::model::kernel::Kernel;
use reweight_lab::model::machine::Machine;
use reweight_lab::model::observer::{Event, LockEvent, Observer};
use reweight_lab::model::pi::Variant;
use reweight_lab::model::task::Policy;
use reweight_lab::model::units::{LockId, Ns, TaskId};
use reweight_lab::workload::{Options, Scenario, Window, Workload};
use serde_json::Value;

/// The machine a workload runs on.
#[derive(Clone, Copy, Debug)]
pub struct Told {
    pub kernel: Kernel,
    pub hz: u32,
    pub cpus_online: u32,
    pub pi: Variant,
    /// As a recorded machine was: no group scheduling, 1.9 us from a tick to its switch, the
    /// first tick so many ns after the start. `None`: the ideal machine of the command line.
    pub first_tick: Option<u64>,
}

impl Told {
    /// What a recorded configuration's file says.
    pub fn new(expected: &Value, kernel: Option<Kernel>) -> Told {
        let named = expected["kernel"].as_str().expect("a kernel's name");
        Told {
            kernel: kernel.unwrap_or_else(|| Kernel::named(named).expect("a kernel")),
            hz: expected["hz"].as_u64().expect("hz") as u32,
            cpus_online: expected["cpus_online"].as_u64().unwrap_or(1) as u32,
            pi: Variant::named(expected["pi"].as_str().expect("pi")).expect("a variant"),
            first_tick: None,
        }
    }

    /// As the recorded machine that came to the scenario's start at `t0` ns of its own clock:
    /// its ticks came 2 us after whole multiples of a tick.
    pub fn started_at(self, t0: u64) -> Told {
        let tick = 1_000_000_000 / u64::from(self.hz);
        let first = tick - (t0 + tick - 2_000) % tick;
        Told {
            first_tick: Some(first % tick),
            ..self
        }
    }
}

/// A task at an instant.
#[derive(Clone, Debug)]
pub struct Seen {
    pub name: String,
    pub cpu_ns: u64,
    pub weight: u32,
    pub prio: i32,
    pub policy: Policy,
}

/// What a run gave.
pub struct Run {
    pub windows: Vec<Window>,
    /// Who took which lock, in order.
    pub order: Vec<(String, String)>,
    /// How often a lock went from one to the other (`low>high`), or was taken free (`free>low`);
    /// `+waiting` if somebody else waited for it then.
    pub follows: BTreeMap<String, u64>,
    instants: Vec<Ns>,
    seen: Vec<Vec<Seen>>,
}

/// When a task had the CPU, each turn from switch to switch, of those that lie in `from..to`.
pub fn turns(file: &Path, told: Told, task: &str, from: Ns, to: Ns) -> Vec<(Ns, Ns)> {
    let mut built = build(file, told);
    let mut seen = Turns {
        task: built.names.find_task(task).expect("the task"),
        since: None,
        turns: Vec::new(),
    };
    built.machine.run_until(from, &mut ()).expect("it goes on");
    built.machine.run_until(to, &mut seen).expect("it goes on");
    seen.turns
}

/// How long a task runs in one go, in whole ticks: how often each length.
pub fn stints(file: &Path, told: Told, task: &str, from: Ns, to: Ns) -> BTreeMap<u64, u64> {
    let tick = 1_000_000_000 / u64::from(told.hz);
    let mut lengths = BTreeMap::new();
    for (from, to) in turns(file, told, task, from, to) {
        let ticks = ((to - from).0 + tick / 2) / tick;
        *lengths.entry(ticks).or_default() += 1;
    }
    lengths
}

/// Collects when a task had the CPU.
struct Turns {
    task: TaskId,
    since: Option<Ns>,
    turns: Vec<(Ns, Ns)>,
}

impl Observer for Turns {
    fn event(&mut self, machine: &Machine, event: &Event) {
        if let Event::Switch { prev, next, .. } = *event {
            if prev == Some(self.task)
                && let Some(since) = self.since.take()
            {
                self.turns.push((since, machine.now()));
            }
            if next == Some(self.task) {
                self.since = Some(machine.now());
            }
        }
    }

    fn wants_decisions(&self) -> bool {
        false
    }
}

/// A lock taken: by whom, from whom (`None`: it was free), and whether somebody else waits for it.
struct Taken {
    task: TaskId,
    lock: LockId,
    from: Option<TaskId>,
    contended: bool,
}

#[derive(Default)]
struct Locks {
    taken: Vec<Taken>,
    /// Who had each lock last, while it is on its way to the next.
    left: BTreeMap<u32, TaskId>,
}

impl Observer for Locks {
    fn event(&mut self, machine: &Machine, event: &Event) {
        let Event::Lock { lock, task, what } = *event else {
            return;
        };
        match what {
            LockEvent::Acquired => self.taken.push(Taken {
                task,
                lock,
                from: self.left.remove(&lock.0),
                contended: !machine.waiters(lock).is_empty(),
            }),
            LockEvent::Released { next: Some(_) } => {
                self.left.insert(lock.0, task);
            }
            _ => {}
        }
    }

    fn wants_decisions(&self) -> bool {
        false
    }
}

fn build(file: &Path, told: Told) -> Scenario {
    let name = file.file_stem().expect("a name").to_string_lossy();
    let mut text =
        std::fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    if let Some(first) = told.first_tick {
        let settings = format!(
            "\"lab\": {{ \"fair_group_sched\": false, \"resched_delay_ns\": 1900, \
             \"tick_phase_ns\": {first},"
        );
        assert_eq!(text.matches("\"lab\": {").count(), 1, "{name}");
        text = text.replace("\"lab\": {", &settings);
    }
    let workload = Workload::parse(&text, &name).unwrap_or_else(|e| panic!("{e}"));
    let options = Options {
        kernel: Some(told.kernel),
        hz: Some(told.hz),
        cpus_online: Some(told.cpus_online),
        pi: Some(told.pi),
        ..Options::default()
    };
    workload
        .build(&options)
        .unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// Runs a workload file to its end.
pub fn run(file: &Path, told: Told) -> Run {
    let mut built = build(file, told);
    let machine = &mut built.machine;
    let edges = built.windows.iter().flat_map(|w| [w.from, w.to]);
    let mut instants: Vec<Ns> = edges.chain([built.duration]).collect();
    instants.sort();
    instants.dedup();
    let mut locks = Locks::default();
    let mut seen = Vec::new();
    for &at in &instants {
        machine
            .run_until(at, &mut locks)
            .expect("it makes progress");
        let tasks = (0..machine.tasks().len() as u32).map(TaskId);
        let look = tasks.map(|id| {
            let task = machine.task(id);
            Seen {
                name: built.names.task(machine, id),
                cpu_ns: machine.cpu_time(id).0,
                weight: task.weight(),
                prio: task.prio(),
                policy: task.policy(),
            }
        });
        seen.push(look.collect());
    }
    let name = |t: TaskId| built.names.task(machine, t);
    let mut order = Vec::new();
    let mut follows = BTreeMap::new();
    for taken in &locks.taken {
        order.push((name(taken.task), built.names.lock(taken.lock).to_owned()));
        let from = taken.from.map_or("free".to_owned(), name);
        let waiting = if taken.contended { "+waiting" } else { "" };
        let step = format!("{from}>{}{waiting}", name(taken.task));
        *follows.entry(step).or_default() += 1;
    }
    Run {
        windows: built.windows,
        order,
        follows,
        instants,
        seen,
    }
}

impl Run {
    /// The window of that name.
    pub fn window(&self, name: &str) -> &Window {
        let found = self.windows.iter().find(|w| w.name == name);
        found.unwrap_or_else(|| panic!("no window {name}"))
    }

    /// A task at a window's edge or the end of the run.
    pub fn at(&self, at: Ns, task: &str) -> Option<&Seen> {
        let i = self.instants.binary_search(&at).expect("a window's edge");
        self.seen[i].iter().find(|t| t.name == task)
    }

    /// A task at the end of the run.
    pub fn last(&self, task: &str) -> Option<&Seen> {
        self.seen.last()?.iter().find(|t| t.name == task)
    }

    /// CPU time of a task within a window, ns.
    pub fn cpu_ns(&self, window: &str, task: &str) -> u64 {
        let w = self.window(window);
        let at = |at| self.at(at, task).map_or(0, |t| t.cpu_ns);
        at(w.to) - at(w.from)
    }

    /// A task's share of the CPU time of `among` within a window.
    pub fn share(&self, window: &str, task: &str, among: &[&str]) -> f64 {
        let total: u64 = among.iter().map(|t| self.cpu_ns(window, t)).sum();
        self.cpu_ns(window, task) as f64 / total.max(1) as f64
    }
}
