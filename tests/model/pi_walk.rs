//! How far a change of prio is carried: the chain walk of D.4 link by link, the pending owner of
//! D.3, and the calls of A.9 and A.10 that start or skip a walk.

use crate::lab::{LONG, Lab, at};
use reweight_lab::model::kernel::Kernel;
use reweight_lab::model::machine::{Control, Machine};
use reweight_lab::model::observer::{Event, Observer};
use reweight_lab::model::pi::Variant::{self, Reweight, ReweightFixed, ReweightV2, Stock};
use reweight_lab::model::program::Step::{self, Lock, LockTimed};
use reweight_lab::model::task::{Policy, Scheduling, State};
use reweight_lab::model::units::{Ns, TaskId};

const LENDING: [Variant; 4] = [Stock, Reweight, ReweightV2, ReweightFixed];

/// Three owners in a chain, `first` waiting for `second`, `second` for `third`; behind `first` on
/// the middle lock waits a fair task of nice 10. All sleep or wait, so nothing but the walk acts.
struct Chain {
    lab: Lab,
    owners: [TaskId; 3],
    /// A FIFO waiter for the lock of `first`, from 400 ms, for 200 ms.
    fifo: TaskId,
}

fn chain(kernel: Kernel, pi: Variant, rival_first: bool) -> Chain {
    let mut lab = Lab::new(kernel, pi);
    let (l1, l2, l3) = (lab.lock(), lab.lock(), lab.lock());
    lab.bg();
    // Asleep with its lock: a FIFO task that ran would keep the timeout from acting (I.4).
    let third = lab.fair(10, &[Lock(l3), at(60_000)]);
    let second = lab.fair(10, &[Lock(l2), at(100), Lock(l3), LONG]);
    let (rival_at, first_at) = if rival_first { (150, 250) } else { (250, 150) };
    let first = lab.fair(10, &[Lock(l1), at(first_at), Lock(l2), LONG]);
    lab.fair(10, &[at(rival_at), Lock(l2), LONG]);
    let patience = LockTimed {
        lock: l1,
        timeout: Ns::from_ms(200),
    };
    let fifo = lab.rt(50, &[at(400), patience, LONG]);
    lab.to(399);
    assert_eq!(lab.m.waiters(l2).len(), 2);
    Chain {
        lab,
        owners: [first, second, third],
        fifo,
    }
}

/// D.4 [7], [8]: a waiter that is no longer the top makes way for the new top, and the walk goes
/// on from there. Everyone further up the chain is deboosted too.
#[test]
fn a_deboost_goes_on_past_a_lock_where_another_waiter_comes_to_the_top() {
    for kernel in Kernel::ALL {
        for pi in LENDING {
            for rival_first in [true, false] {
                let mut c = chain(kernel, pi, rival_first);
                let before = c.owners.map(|t| c.lab.is(t));
                c.lab.to(500);
                assert_eq!(
                    c.lab.m.task(c.fifo).state(),
                    State::Blocked(c.lab.m.task(c.owners[0]).held()[0])
                );
                assert_eq!(c.owners.map(|t| c.lab.is(t).0), [49; 3]);
                c.lab.to(700);
                let after = c.owners.map(|t| c.lab.is(t));
                assert_eq!(after, before, "{} {}", kernel.name, pi.name());
            }
        }
    }
}

/// A.10, the last step: a waiter made FIFO by `sched_setscheduler` lends along the chain, made
/// fair again it takes all of it back.
#[test]
fn setscheduler_of_the_last_waiter_reaches_every_owner_both_ways() {
    for kernel in Kernel::ALL {
        for pi in LENDING {
            let mut lab = Lab::new(kernel, pi);
            let (l1, l2) = (lab.lock(), lab.lock());
            lab.bg();
            let l = lab.fair(10, &[Lock(l1), at(60_000)]);
            let m = lab.fair(10, &[Lock(l2), at(100), Lock(l1), LONG]);
            let rival = lab.fair(10, &[at(150), Lock(l2), LONG]);
            let high = lab.fair(10, &[at(200), Lock(l2), LONG]);
            for (ms, scheduling) in [(400, Scheduling::fifo(7)), (500, Scheduling::normal(10))] {
                let control = Control::Scheduler {
                    task: high,
                    scheduling,
                };
                lab.m.control(Ns::from_ms(ms), control);
            }
            lab.to(450);
            assert_eq!([l, m].map(|t| lab.is(t).0), [92, 92], "{}", pi.name());
            assert_eq!(lab.m.waiters(l2), [high, rival]);
            lab.to(550);
            assert_eq!([l, m].map(|t| lab.is(t)), [(130, 110); 2], "{}", pi.name());
            assert_eq!(lab.m.waiters(l2), [rival, high]);
        }
    }
}

/// How many decisions there were at an instant.
struct DecidedAt(Ns, u32);

impl Observer for DecidedAt {
    fn event(&mut self, m: &Machine, event: &Event) {
        if matches!(event, Event::Pick(_)) && m.now() == self.0 {
            self.1 += 1;
        }
    }
}

/// A.9 with A.11: `setpriority` tells the class whether or not the effective prio moved. A boosted
/// holder in the queue whose own nice becomes the lent one may preempt, by its weight alone.
#[test]
fn a_renice_to_the_lent_prio_still_asks_whether_to_preempt() {
    for kernel in Kernel::ALL {
        let mut decided = 0;
        for ms in 1000..1060 {
            let mut lab = Lab::new(kernel, Stock);
            let m = lab.lock();
            lab.bg();
            let low = lab.fair(5, &[Lock(m), LONG]);
            lab.fair(0, &[at(300), Lock(m)]);
            let when = Ns::from_ms(ms) + Ns::from_us(900);
            lab.m.control(when, Control::Nice { task: low, nice: 0 });
            lab.to(ms);
            assert_eq!(lab.is(low), (120, 335));
            let mut picks = DecidedAt(when, 0);
            lab.m.run_until(Ns::from_ms(ms + 1), &mut picks).unwrap();
            assert_eq!(lab.is(low), (120, 1024));
            decided += picks.1;
        }
        assert!(decided > 0, "{}", kernel.name);
    }
}

/// A.10: a slice is for NORMAL and BATCH; another policy in between does not take it away.
#[test]
fn a_custom_slice_outlives_sched_idle_and_fifo() {
    for policy in [Policy::Idle, Policy::Fifo] {
        let mut lab = Lab::new(Kernel::V6_12, Stock);
        let own = Scheduling {
            slice: Some(Ns::from_ms(5)),
            ..Scheduling::normal(0)
        };
        let other = Scheduling {
            policy,
            slice: None,
            ..Scheduling::fifo(3)
        };
        let t = lab.task(own, &[at(20), Step::SetScheduler(other), at(40), LONG]);
        lab.to(30);
        assert_eq!(lab.m.task(t).policy(), policy);
        assert_eq!(lab.m.task(t).entity().slice, 5_000_000);
        assert!(lab.m.task(t).entity().custom_slice);
    }
}
