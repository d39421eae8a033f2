//! Small machines for tests: tasks on one CPU that come to their locks one after another.

use reweight_lab::model::kernel::{Kernel, Settings};
use reweight_lab::model::machine::{Machine, Protocol};
use reweight_lab::model::observer::{Event, Observer};
use reweight_lab::model::pi::Variant;
use reweight_lab::model::program::Step;
use reweight_lab::model::task::{Scheduling, TaskSpec};
use reweight_lab::model::units::{LockId, Ns, TaskId};

/// For ever, as far as a test is concerned.
pub const LONG: Step = Step::Runtime(Ns::from_secs(1000));

/// Sleep until an instant, ms.
pub const fn at(ms: u64) -> Step {
    Step::SleepUntil(Ns::from_ms(ms))
}

/// Compute until `ms` of wall time have passed.
pub const fn spin(ms: u64) -> Step {
    Step::Runtime(Ns::from_ms(ms))
}

/// A machine, and everything it told.
pub struct Lab {
    pub m: Machine,
    pub told: Vec<(u64, Event)>,
}

struct Keep<'a>(&'a mut Vec<(u64, Event)>);

impl Observer for Keep<'_> {
    fn event(&mut self, m: &Machine, event: &Event) {
        if !matches!(event, Event::Tick { .. } | Event::Pick(_)) {
            self.0.push((m.now().0, *event));
        }
    }
}

impl Lab {
    pub fn new(kernel: Kernel, pi: Variant) -> Lab {
        let mut settings = Settings::new(kernel);
        settings.pi = pi;
        Lab {
            m: Machine::new(settings),
            told: Vec::new(),
        }
    }

    pub fn lock(&mut self) -> LockId {
        self.m.add_lock(Protocol::Inherit)
    }

    pub fn task(&mut self, scheduling: Scheduling, steps: &[Step]) -> TaskId {
        self.m.add_task(TaskSpec {
            scheduling: Some(scheduling),
            cpu: None,
            program: steps.to_vec().into(),
            resume_at: None,
        })
    }

    pub fn fair(&mut self, nice: i32, steps: &[Step]) -> TaskId {
        self.task(Scheduling::normal(nice), steps)
    }

    pub fn rt(&mut self, priority: u8, steps: &[Step]) -> TaskId {
        self.task(Scheduling::fifo(priority), steps)
    }

    /// A task that spins beside the others.
    pub fn bg(&mut self) -> TaskId {
        self.fair(0, &[LONG])
    }

    pub fn to(&mut self, ms: u64) -> &mut Lab {
        let run = self.m.run_until(Ns::from_ms(ms), &mut Keep(&mut self.told));
        run.expect("it makes progress");
        self
    }

    /// Prio and weight.
    pub fn is(&self, t: TaskId) -> (i32, u32) {
        let task = self.m.task(t);
        (task.prio(), task.weight())
    }

    /// The changes of prio of one task: when, to which prio, with which weight.
    pub fn prios(&self, t: TaskId) -> Vec<(i32, u32)> {
        let of = |(_, e): &(u64, Event)| match *e {
            Event::SetPrio {
                task, prio, weight, ..
            } if task == t => Some((prio, weight)),
            _ => None,
        };
        self.told.iter().filter_map(of).collect()
    }

    /// Where in what was told the first event like this is.
    pub fn first(&self, like: impl Fn(&Event) -> bool) -> Option<usize> {
        self.told.iter().position(|(_, e)| like(e))
    }

    /// CPU time of a task, ns.
    pub fn cpu(&self, t: TaskId) -> u64 {
        self.m.cpu_time(t).0
    }
}
