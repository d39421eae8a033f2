//! The twin sees what it is there for: a sound queue, one thing done otherwise than the twin
//! would, and the rule's number or the field's name.
use super::fair::{Fair, Flags};
use super::kernel::{Kernel, Settings};
use super::machine::Machine;
use super::naive::{Op, Twin, plus};
use super::observer::Cause;
use super::program::Step;
use super::task::{Scheduling, TaskSpec};
use super::units::CpuId;
use super::units::{Ns, TaskId};

/// Three spinners, 5.3 ms in.
fn machine(kernel: Kernel) -> Machine {
    let mut m = Machine::new(Settings::new(kernel));
    for nice in [0, 10, -5] {
        m.add_task(TaskSpec {
            scheduling: Some(Scheduling::normal(nice)),
            cpu: None,
            program: vec![Step::Runtime(Ns::from_secs(9))].into(),
            resume_at: None,
        });
    }
    m.run_until(Ns(5_300_000), &mut ()).unwrap();
    m
}

/// `op` said to have been done, after `instead` was.
fn caught(kernel: Kernel, op: impl Fn(TaskId) -> Op, instead: impl Fn(&mut Fair<'_>, TaskId)) {
    let mut m = machine(kernel);
    let mut fair = m.fair(CpuId(0));
    let curr = fair.q.curr.expect("one runs");
    let twin = Twin::of(&fair);
    instead(&mut fair, curr);
    twin.follow(op(curr), &fair);
}

#[test]
fn doing_the_same_is_no_difference() {
    for kernel in Kernel::ALL {
        caught(kernel, |_| Op::UpdateCurr, |fair, _| fair.update_curr());
        caught(kernel, |_| Op::Tick, |fair, _| fair.tick());
        caught(kernel, Op::PutPrev, |fair, t| fair.put_prev_entity(t));
    }
}

#[test]
#[should_panic(expected = "25, min_vruntime went back")]
fn rule_25() {
    caught(
        Kernel::V6_1,
        |_| Op::UpdateCurr,
        |fair, _| {
            fair.q.min_vruntime = plus(fair.q.min_vruntime, -1);
        },
    );
}

#[test]
#[should_panic(expected = "28, lag")]
fn rule_28() {
    let leave = Flags {
        sleep: true,
        special: true,
        ..Flags::default()
    };
    caught(
        Kernel::V6_12,
        |t| Op::Dequeue(t, leave, true),
        |fair, t| {
            fair.dequeue_entity(t, leave);
            fair.task_mut(t).se.vlag = i64::MAX;
        },
    );
}

#[test]
#[should_panic(expected = "29, vruntime went back")]
fn rule_29_vruntime() {
    caught(
        Kernel::V6_12,
        |_| Op::UpdateCurr,
        |fair, t| {
            let se = &mut fair.task_mut(t).se;
            se.vruntime = plus(se.vruntime, -1);
        },
    );
}

#[test]
#[should_panic(expected = "29, the deadline is past")]
fn rule_29_deadline() {
    caught(
        Kernel::V6_12,
        |_| Op::UpdateCurr,
        |fair, t| {
            let now = fair.now;
            let se = &mut fair.task_mut(t).se;
            se.exec_start = now;
            se.deadline = se.vruntime;
        },
    );
}

#[test]
#[should_panic(expected = "entity of task")]
fn time_charged_twice() {
    caught(
        Kernel::V6_1,
        |_| Op::UpdateCurr,
        |fair, t| {
            fair.update_curr();
            fair.task_mut(t).se.charged += 1;
        },
    );
}

#[test]
#[should_panic(expected = "order of the queue")]
fn an_entity_that_is_lost() {
    caught(
        Kernel::V6_12,
        |_| Op::UpdateCurr,
        |fair, _| {
            fair.update_curr();
            let first = fair.q.tree.first().expect("one waits");
            let slot = fair.slots[first.index()];
            fair.q.tree.remove(slot);
        },
    );
}

#[test]
#[should_panic(expected = "the twin's choice")]
fn another_choice() {
    caught(
        Kernel::V6_12,
        |_| Op::Pick(None),
        |fair, _| {
            fair.pick();
        },
    );
}

#[test]
#[should_panic(expected = "need_resched")]
fn a_preemption_that_was_forgotten() {
    caught(
        Kernel::V6_12,
        |_| Op::Tick,
        |fair, _| {
            fair.tick();
            *fair.resched = match *fair.resched {
                Some(_) => None,
                None => Some(Cause::SliceEnd),
            };
        },
    );
}
