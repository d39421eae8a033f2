//! Calls that are legal at any time: before the run, on CPUs nobody has used, with values that the
//! kernel clamps; and what is asked of an idle machine while it sleeps for long.

use crate::lab::{LONG, Lab, at};
use reweight_lab::model::kernel::Kernel;
use reweight_lab::model::machine::{Control, Machine};
use reweight_lab::model::pi::Variant::Stock;
use reweight_lab::model::program::Step;
use reweight_lab::model::task::{Scheduling, State, TaskSpec};
use reweight_lab::model::units::{CpuId, Ns, TaskId};

#[test]
fn a_machine_that_has_not_begun_can_be_read() {
    for kernel in Kernel::ALL {
        let mut lab = Lab::new(kernel, Stock);
        let m = lab.lock();
        let t = lab.bg();
        let read = |m: &Machine, lock| {
            let far = CpuId(7);
            assert_eq!(m.cpu_time(TaskId(99)), Ns(0));
            assert_eq!(m.current(far), None);
            assert_eq!(m.idle_time(far), m.now());
            assert!(m.queue_view(far).entities.is_empty());
            assert_eq!(m.owner(lock), None);
            assert!(m.waiters(lock).is_empty());
        };
        read(&lab.m, m);
        assert_eq!(lab.m.cpu_time(t), Ns(0));
        assert!(lab.m.queue_view(CpuId(0)).entities.is_empty());
        assert!(lab.m.tasks().is_empty());
        // Nor does asking for no time at all begin it.
        lab.to(0);
        assert_eq!(lab.m.cpu_time(t), Ns(0));
        lab.to(5);
        read(&lab.m, m);
        assert_eq!(lab.m.cpu_time(t), Ns::from_ms(5));
    }
}

#[test]
fn a_nice_beyond_the_range_is_clamped_as_setpriority_does() {
    let mut lab = Lab::new(Kernel::V6_12, Stock);
    let low = lab.fair(77, &[LONG]);
    let bg = lab.bg();
    let fifo = lab.rt(200, &[at(1000)]);
    let of = |task, nice| Control::Nice { task, nice };
    lab.m.control(Ns::from_ms(10), of(bg, i32::MIN));
    lab.m.control(Ns::from_ms(10), of(low, i32::MAX));
    lab.to(5);
    assert_eq!(lab.is(low), (139, 15));
    assert_eq!(lab.m.task(fifo).prio(), 0);
    lab.to(15);
    assert_eq!(lab.is(bg), (100, 88761));
    assert_eq!(lab.is(low), (139, 15), "the same nice: nothing");
    let scheduling = Scheduling::normal(-1000);
    let control = Control::Scheduler {
        task: low,
        scheduling,
    };
    lab.m.control(Ns::from_ms(20), control);
    lab.to(25);
    assert_eq!(lab.is(low), (100, 88761));
}

/// Ticks that an idle machine steps over are those up to where it was asked to come, not up to
/// what it expects next: somebody may come earlier.
#[test]
fn tasks_that_come_while_everybody_sleeps_for_long_have_their_ticks() {
    for kernel in Kernel::ALL {
        let run = |stop: bool| {
            let mut lab = Lab::new(kernel, Stock);
            lab.fair(0, &[at(100_000), LONG]);
            if stop {
                lab.to(1000);
            }
            for _ in 0..2 {
                let spec = TaskSpec {
                    scheduling: Some(Scheduling::normal(0)),
                    cpu: None,
                    program: vec![LONG].into(),
                    resume_at: None,
                };
                let come = Control::Spawn(Box::new(spec));
                lab.m.control(Ns::from_ms(2000), come);
            }
            lab.to(3000);
            [lab.cpu(TaskId(1)), lab.cpu(TaskId(2))]
        };
        let shares = run(true);
        assert_eq!(shares, run(false), "{}", kernel.name);
        assert!(shares.iter().all(|&ns| ns > 490_000_000), "{shares:?}");
    }
}

#[test]
fn a_sleep_as_long_as_time_can_be_counted_is_a_sleep() {
    for kernel in Kernel::ALL {
        for until in [Ns::NEVER, Ns(Ns::NEVER.0 - 1)] {
            let mut lab = Lab::new(kernel, Stock);
            let t = lab.fair(0, &[Step::SleepUntil(until), LONG]);
            lab.to(3000);
            assert_eq!(lab.m.task(t).state(), State::Sleeping);
            assert_eq!(lab.m.idle_time(CpuId(0)), Ns::from_secs(3));
        }
    }
}
