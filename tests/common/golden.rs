//! The four worked traces of the specification's part G, driven through the model's interface.
//! Shared by the native and the wasm tests.

use std::fmt::Write;
use std::sync::Arc;

use reweight_lab::model::kernel::{Kernel, Settings};
use reweight_lab::model::machine::{Control, Machine, Protocol};
use reweight_lab::model::observer::{Event, Observer};
use reweight_lab::model::pi::Variant;
use reweight_lab::model::program::Step;
use reweight_lab::model::task::{Scheduling, TaskSpec};
use reweight_lab::model::units::{CpuId, Ns, TaskId};

const NAMES: [&str; 3] = ["bg", "low", "high"];

struct Rows {
    eevdf: bool,
    lines: Vec<String>,
}

impl Rows {
    fn row(&mut self, m: &Machine, what: &str) {
        let view = m.queue_view(CpuId(0));
        let ms = m.now().0;
        assert_eq!(ms % 100_000, 0);
        let mut line = format!("{}.{} | {what}", ms / 1_000_000, ms / 100_000 % 10);
        for id in 0..3 {
            line.push_str(" | ");
            if id >= m.tasks().len() {
                line.push('-');
                continue;
            }
            let se = m.task(TaskId(id as u32)).entity();
            write!(line, "{}", se.vruntime.signed()).unwrap();
            if self.eevdf {
                write!(line, " / {}", se.deadline.signed()).unwrap();
            }
            if !se.on_rq {
                line.push_str(" (off)");
            }
        }
        let low = m.tasks().get(1);
        let (weight, prio) = low.map_or(("-".into(), "-".into()), |low| {
            (low.weight().to_string(), low.prio().to_string())
        });
        write!(line, " | {} | {weight} | {prio}", view.v).unwrap();
        self.lines.push(line);
    }
}

impl Observer for Rows {
    fn event(&mut self, m: &Machine, event: &Event) {
        match *event {
            Event::Wakeup {
                task, new: true, ..
            } => {
                self.row(m, &format!("spawn {}", NAMES[task.index()]));
            }
            Event::Pick(pick) => {
                let next = pick.next.expect("somebody always runs here");
                self.row(m, &format!("pick {}", NAMES[next.index()]));
            }
            Event::SetPrio {
                task,
                old_prio,
                prio,
                ..
            } => {
                self.row(
                    m,
                    &format!("setprio {} {old_prio}->{prio}", NAMES[task.index()]),
                );
            }
            _ => {}
        }
    }
}

fn task(nice: i32, steps: &[Step]) -> TaskSpec {
    TaskSpec {
        scheduling: Some(Scheduling::normal(nice)),
        cpu: Some(CpuId(0)),
        program: Arc::from(steps),
        resume_at: None,
    }
}

/// The rows the model gives, in the form of `tests/data/golden/*.txt`, up to `until`.
pub fn rows(kernel: Kernel, pi: Variant, until: Ns) -> Vec<String> {
    let mut settings = Settings::new(kernel);
    settings.pi = pi;
    let mut m = Machine::new(settings);
    let lock = m.add_lock(Protocol::Inherit);
    let never = m.add_condition();
    let spin = Step::Run(Ns::from_secs(1000));
    m.add_task(task(0, &[spin]));
    m.add_task(task(10, &[Step::Lock(lock), spin]));
    let high = [
        Step::Run(Ns::from_us(100)),
        Step::Lock(lock),
        Step::Suspend(never),
    ];
    m.control(Ns(20_500_000), Control::Spawn(Box::new(task(0, &high))));
    let mut rows = Rows {
        eevdf: kernel.name != "6.1",
        lines: Vec::new(),
    };
    m.run_until(until, &mut rows).expect("it makes progress");
    rows.lines
}

/// A golden file's rows and the instant after its last.
pub fn expected(text: &str) -> (Vec<&str>, Ns) {
    let rows: Vec<&str> = text.lines().filter(|l| !l.starts_with('#')).collect();
    let last = rows
        .last()
        .expect("rows")
        .split(' ')
        .next()
        .expect("a time");
    let (ms, tenth) = last.split_once('.').expect("a time in ms");
    let us = ms.parse::<u64>().unwrap() * 1000 + tenth.parse::<u64>().unwrap() * 100;
    (rows, Ns::from_us(us) + Ns(1))
}

/// Holds the model against one golden file, row by row.
pub fn check(text: &str, kernel: Kernel, pi: Variant) {
    let (expected, until) = expected(text);
    let got = rows(kernel, pi, until);
    for (i, (got, want)) in got.iter().zip(&expected).enumerate() {
        assert_eq!(got, want, "{} {} row {}", kernel.name, pi.name(), i + 1);
    }
    assert_eq!(got.len(), expected.len());
}

/// All four: what the wasm tests call.
#[cfg(target_arch = "wasm32")]
pub fn check_all() {
    check(
        include_str!("../data/golden/cfs-off.txt"),
        Kernel::V6_1,
        Variant::Stock,
    );
    check(
        include_str!("../data/golden/cfs-on.txt"),
        Kernel::V6_1,
        Variant::Reweight,
    );
    check(
        include_str!("../data/golden/eevdf-off.txt"),
        Kernel::V6_12,
        Variant::Stock,
    );
    check(
        include_str!("../data/golden/eevdf-on.txt"),
        Kernel::V6_12,
        Variant::Reweight,
    );
}
