//! Signals to tasks that wait: for a lock, on a condition, or for nothing.

use crate::lab::{LONG, Lab, at, spin};
use reweight_lab::model::kernel::Kernel;
use reweight_lab::model::machine::Control;
use reweight_lab::model::observer::{Event, LockEvent, Refusal};
use reweight_lab::model::pi::Variant::{self, Reweight, ReweightFixed, ReweightV2, Stock};
use reweight_lab::model::program::Step::{self, Lock, LockTimed, Unlock};
use reweight_lab::model::task::State;
use reweight_lab::model::units::{Ns, TaskId};

const LENDING: [Variant; 4] = [Stock, Reweight, ReweightV2, ReweightFixed];

fn on_all(case: impl Fn(Kernel)) {
    Kernel::ALL.into_iter().for_each(case);
}

fn signal(lab: &mut Lab, ms: u64, task: TaskId) {
    lab.m.control(Ns::from_ms(ms), Control::Signal { task });
}

/// D.3, D.7: the call returns EINTR inside the kernel and is made again.
#[test]
fn a_signal_sends_a_waiter_to_the_end_of_its_equals() {
    on_all(|kernel| {
        for pi in LENDING {
            let mut lab = Lab::new(kernel, pi);
            let m = lab.lock();
            let low = lab.fair(10, &[Lock(m), LONG]);
            lab.bg();
            let first = lab.fair(0, &[at(300), Lock(m), LONG]);
            let second = lab.fair(5, &[at(600), Lock(m), LONG]);
            lab.to(1000);
            assert_eq!(lab.m.waiters(m), [first, second]);
            assert_eq!(lab.is(low).0, 120);
            signal(&mut lab, 1000, first);
            lab.to(1500);
            let of_first = |e: &Event| matches!(e, Event::Lock { task, .. } if *task == first);
            let told: Vec<_> = lab.told.iter().filter(|(_, e)| of_first(e)).collect();
            let owner = Some(low);
            let what = [
                LockEvent::Blocked { owner },
                LockEvent::Interrupted,
                LockEvent::Blocked { owner },
            ];
            assert_eq!(told.len(), what.len());
            for ((_, event), what) in told.iter().zip(what) {
                let (lock, task) = (m, first);
                assert_eq!(*event, Event::Lock { lock, task, what });
            }
            assert_eq!(lab.m.task(first).state(), State::Blocked(m));
            // The first in line lends; the second version has it by nice, the ideal asks for the best.
            let line = match pi {
                ReweightV2 => [first, second],
                _ => [second, first],
            };
            let prio = match pi {
                ReweightV2 | ReweightFixed => 120,
                _ => 125,
            };
            assert_eq!(lab.m.waiters(m), line, "{} {}", kernel.name, pi.name());
            assert_eq!(lab.is(low).0, prio, "{} {}", kernel.name, pi.name());
        }
    });
}

#[test]
fn a_signal_keeps_the_instant_at_which_patience_ends() {
    on_all(|kernel| {
        for pi in LENDING {
            let mut lab = Lab::new(kernel, pi);
            let m = lab.lock();
            lab.fair(10, &[Lock(m), LONG]);
            let patient = LockTimed {
                lock: m,
                timeout: Ns::from_ms(1000),
            };
            let high = lab.fair(0, &[at(300), patient, at(60_000)]);
            signal(&mut lab, 700, high);
            lab.to(1290);
            assert_eq!(lab.m.waiters(m), [high]);
            lab.to(1320);
            assert!(lab.m.waiters(m).is_empty());
            let out = |e: &Event| {
                matches!(
                    e,
                    Event::Lock {
                        what: LockEvent::TimedOut,
                        ..
                    }
                )
            };
            assert!(lab.first(out).is_some());
        }
    });
}

/// I.4 holds for signals: who was handed the lock in the meantime has it, and no call fails.
#[test]
fn a_signal_that_comes_with_the_lock_changes_nothing() {
    on_all(|kernel| {
        for pi in LENDING {
            let mut lab = Lab::new(kernel, pi);
            let m = lab.lock();
            // The real-time task releases and runs on: the waiter, woken, cannot run yet.
            lab.rt(10, &[Lock(m), at(600), Unlock(m), spin(300), at(60_000)]);
            let high = lab.fair(0, &[at(300), Lock(m), spin(50), Unlock(m), LONG]);
            signal(&mut lab, 700, high);
            lab.to(2000);
            let stray = |e: &Event| {
                matches!(
                    e,
                    Event::Lock {
                        what: LockEvent::Interrupted,
                        ..
                    }
                )
            };
            assert!(lab.first(stray).is_none(), "{} {}", kernel.name, pi.name());
            assert_eq!(lab.m.owner(m), None);
        }
    });
}

#[test]
fn a_signal_to_who_waits_for_no_lock_changes_nothing() {
    on_all(|kernel| {
        let run = |signals: bool| {
            let mut lab = Lab::new(kernel, Stock);
            let sleeper = lab.fair(0, &[at(300), LONG]);
            let runner = lab.bg();
            let nobody = TaskId(99);
            if signals {
                for task in [sleeper, runner, nobody] {
                    signal(&mut lab, 100, task);
                }
            }
            lab.to(600);
            let refused = |e: &Event| {
                matches!(
                    e,
                    Event::Refused {
                        refusal: Refusal::NoSuchTask,
                        ..
                    }
                )
            };
            assert_eq!(lab.first(refused).is_some(), signals, "ESRCH");
            (lab.cpu(sleeper), lab.cpu(runner))
        };
        assert_eq!(run(true), run(false));
    });
}

/// The C library gives the mutex up by one call and sleeps by the next.
#[test]
fn who_waits_on_a_condition_can_be_signalled_before_it_sleeps() {
    on_all(|kernel| {
        for (pi, prompt) in LENDING.into_iter().flat_map(|pi| [(pi, true), (pi, false)]) {
            let mut lab = Lab::new(kernel, pi);
            let (m, cond) = (lab.lock(), lab.m.add_condition());
            let wait = Step::Wait {
                cond,
                mutex: Some(m),
            };
            // High comes for the mutex while low has it, and preempts when it is given up.
            let low = lab.fair(0, &[Lock(m), spin(50), wait, Unlock(m), LONG]);
            let pause = if prompt { Step::Sleep(Ns(0)) } else { at(200) };
            let signals = [
                at(20),
                Lock(m),
                Unlock(m),
                pause,
                Step::Signal(cond),
                at(60_000),
            ];
            let high = lab.rt(10, &signals);
            lab.to(500);
            let slept = lab.first(
                |e| matches!(e, Event::State { task, state: State::Sleeping } if *task == low),
            );
            assert_eq!(slept.is_none(), prompt, "{} {}", kernel.name, pi.name());
            assert_eq!(lab.m.owner(m), None);
            assert_eq!(lab.m.task(high).state(), State::Sleeping);
            let taken = |e: &Event| matches!(e, Event::Lock { task, what: LockEvent::Acquired, .. } if *task == low);
            assert_eq!(lab.told.iter().filter(|(_, e)| taken(e)).count(), 2);
        }
    });
}
