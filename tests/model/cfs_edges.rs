//! Specification B.5 and B.6 at their edges: a tick that comes exactly when something is due, and a
//! sleep exactly as long as the longest that still counts as one.

use crate::lab::{LONG, Lab};
use reweight_lab::model::kernel::{Kernel, Settings};
use reweight_lab::model::machine::Machine;
use reweight_lab::model::observer::{Cause, Event, Observer};
use reweight_lab::model::pi::Variant::Stock;
use reweight_lab::model::program::Step;
use reweight_lab::model::task::{Policy, Scheduling, TaskSpec};
use reweight_lab::model::units::{CpuId, Ns, TaskId};

/// When a decision was made, and what had asked for it.
struct Causes(Vec<(u64, Cause)>);

impl Observer for Causes {
    fn event(&mut self, m: &Machine, event: &Event) {
        if let Event::Pick(pick) = event {
            self.0.push((m.now().0, pick.cause));
        }
    }
}

/// B.5: \[1\] asks when the stint is longer than the ideal one, \[2\] waits only while it is
/// shorter than the least granularity. A stint of exactly both goes on to \[3\].
#[test]
fn a_stint_of_exactly_the_least_granularity_is_held_against_the_leftmost() {
    let us = |n| Ns::from_us(n);
    let mut settings = Settings::new(Kernel::V6_1);
    settings.tick_phase = us(250);
    let mut m = Machine::new(settings);
    let mut add = |scheduling, start| {
        m.add_task(TaskSpec {
            scheduling: Some(scheduling),
            cpu: None,
            program: vec![Step::SleepUntil(us(start)), LONG].into(),
            resume_at: None,
        });
    };
    add(Scheduling::normal(10), 500);
    // BATCH: its wakeup does not preempt (B.7).
    add(
        Scheduling {
            policy: Policy::Batch,
            ..Scheduling::normal(0)
        },
        600,
    );
    let mut seen = Causes(Vec::new());
    m.run_until(us(1200), &mut seen).unwrap();
    assert_eq!(m.cpu_time(TaskId(0)), us(700));
    seen.0.clear();
    m.run_until(us(1300), &mut seen).unwrap();
    assert_eq!(seen.0, [(1_250_000, Cause::LeftmostBehind)]);
}

/// The vruntime of a task that is on its queue.
fn vruntime(m: &Machine, t: TaskId) -> i64 {
    let queue = m.queue_view(CpuId(0)).entities;
    let entity = queue.iter().find(|e| e.task == t);
    entity.expect("it is on the queue").vruntime
}

/// B.6: only a sleep longer than 2^63/1024 ns forgets the vruntime of before it.
#[test]
fn only_a_sleep_beyond_104_days_forgets_its_vruntime() {
    const LONGEST: u64 = (1 << 63) / 1024;
    for (beyond, forgets) in [(0, false), (1, true)] {
        let mut lab = Lab::new(Kernel::V6_1, Stock);
        let until = Ns(1_000_000 + LONGEST + beyond);
        let t = lab.fair(
            0,
            &[Step::Runtime(Ns::from_ms(1)), Step::SleepUntil(until), LONG],
        );
        lab.m.run_until(Ns(999_999), &mut ()).unwrap();
        let before = vruntime(&lab.m, t);
        // It had 1 ns to go, and has run for 1 ns since.
        lab.m.run_until(until + Ns(1), &mut ()).unwrap();
        // Alone, it is the queue's least vruntime: half a period before it is all that changes.
        let back = if forgets { 3_000_000 } else { 0 };
        assert_eq!(before + 2 - vruntime(&lab.m, t), back, "{beyond} ns beyond");
    }
}
