//! Specification H.4: what priority inheritance does, on both schedulers, entry by entry.
//!
//! Tasks come to their locks 100 ms apart, beside a spinning background task, so that only the
//! order matters.

use crate::lab::{LONG, Lab, at, spin};
use reweight_lab::model::kernel::Kernel;
use reweight_lab::model::machine::Control;
use reweight_lab::model::observer::{Event, LockEvent, Refusal};
use reweight_lab::model::pi::Variant::{self, Reweight, ReweightFixed, ReweightV2, Stock};
use reweight_lab::model::program::Step::{self, Lock, LockTimed, Unlock};
use reweight_lab::model::task::{Policy, Scheduling, State, TaskSpec};
use reweight_lab::model::units::{CpuId, LockId, Ns, TaskId};

const KERNELS: [Kernel; 5] = Kernel::ALL;
const LENDING: [Variant; 4] = [Stock, Reweight, ReweightV2, ReweightFixed];

/// Shares over 10 s are long runs: the two kernels that were recorded.
fn on_both(case: impl Fn(Kernel)) {
    [Kernel::V6_1, Kernel::V6_12].into_iter().for_each(case);
}

/// Runs a case on every kernel.
fn on_all(case: impl Fn(Kernel)) {
    KERNELS.into_iter().for_each(case);
}

fn timed(lock: LockId, ms: u64) -> Step {
    LockTimed {
        lock,
        timeout: Ns::from_ms(ms),
    }
}

fn share(lab: &Lab, t: TaskId, from: u64, ns: u64) -> f64 {
    (lab.cpu(t) - from) as f64 * 100.0 / ns as f64
}

#[track_caller]
fn near(got: f64, want: f64, by: f64) {
    assert!(
        (got - want).abs() <= by,
        "{got:.3} %, expected {want} +- {by}"
    );
}

#[test]
fn h39_an_uncontended_lock_changes_nothing() {
    for kernel in KERNELS {
        for pi in LENDING {
            let run = |locks: bool| {
                let mut lab = Lab::new(kernel, pi);
                let m = lab.lock();
                let round = |s: &mut Vec<Step>| {
                    // A syscall that returns at once stands for the lock that is left out.
                    let other = Step::Sleep(Ns(0));
                    s.push(if locks { Lock(m) } else { other });
                    s.push(Step::Run(Ns::from_us(700)));
                    s.push(if locks { Unlock(m) } else { other });
                };
                let mut steps = Vec::new();
                (0..40).for_each(|_| round(&mut steps));
                steps.push(LONG);
                let low = lab.fair(10, &steps);
                lab.bg();
                lab.to(600);
                assert!(lab.prios(low).is_empty());
                assert_eq!(lab.is(low), (130, 110));
                let switches: Vec<_> = lab
                    .told
                    .iter()
                    .filter(|(_, e)| matches!(e, Event::Switch { .. }))
                    .copied()
                    .collect();
                (switches, *lab.m.task(low).entity())
            };
            assert_eq!(run(true), run(false), "{} {}", kernel.name, pi.name());
        }
    }
}

#[test]
fn h40_boost_when_it_blocks_and_deboost_before_it_wakes() {
    on_all(|kernel| {
        for pi in LENDING {
            let mut lab = Lab::new(kernel, pi);
            let m = lab.lock();
            let low = lab.fair(10, &[Lock(m), spin(300), Unlock(m), LONG]);
            lab.bg();
            let high = lab.fair(0, &[at(100), Lock(m), Unlock(m), LONG]);
            lab.to(1000);
            let blocked = lab
                .first(|e| {
                    matches!(e, Event::Lock { task, what: LockEvent::Blocked { .. }, .. }
                        if *task == high)
                })
                .expect("high blocks");
            let prio = |to| {
                lab.first(|e| {
                    matches!(e, Event::SetPrio { task, prio, .. } if *task == low && *prio == to)
                })
                .expect("a change of prio")
            };
            let woken = blocked
                + lab.told[blocked..]
                    .iter()
                    .position(|(_, e)| matches!(e, Event::Wakeup { task, .. } if *task == high))
                    .expect("high wakes");
            assert_eq!(lab.told[prio(120)].0, lab.told[blocked].0);
            assert_eq!(lab.told[prio(130)].0, lab.told[woken].0);
            assert!(prio(130) < woken, "the releaser first, then its waiter");
        }
    });
}

#[test]
fn h41_a_thousand_boosts_leave_prio_and_weight_as_they_were() {
    on_both(|kernel| {
        for pi in LENDING {
            let mut lab = Lab::new(kernel, pi);
            let m = lab.lock();
            let round = [
                Step::Loop {
                    times: None,
                    until: None,
                    end: 5,
                },
                Lock(m),
                Step::Run(Ns::from_us(900)),
                Unlock(m),
                Step::Next { head: 0 },
            ];
            let low = lab.fair(10, &round);
            let mut pause = round;
            pause[4] = Step::Sleep(Ns::from_us(300));
            let mut other = pause.to_vec();
            other[0] = Step::Loop {
                times: None,
                until: None,
                end: 6,
            };
            other.push(Step::Next { head: 0 });
            let high = lab.fair(0, &other);
            lab.to(20_000);
            let prios = lab.prios(low);
            let boosts = prios.iter().filter(|p| p.0 == 120).count();
            assert!(boosts >= 1000, "{boosts} boosts on {}", kernel.name);
            let lent = if pi == Stock { 110 } else { 1024 };
            for (i, pair) in prios.iter().enumerate() {
                let want = if i % 2 == 0 { (120, lent) } else { (130, 110) };
                assert_eq!(*pair, want, "change {i} on {} {}", kernel.name, pi.name());
            }
            assert_eq!(lab.is(high), (120, 1024));
        }
    });
}

/// The patch's test: the shares of low, bg and high before, while and after the boost.
fn patch_test(kernel: Kernel, pi: Variant, high_nice: i32) -> [[f64; 3]; 3] {
    let mut lab = Lab::new(kernel, pi);
    let m = lab.lock();
    let low = lab.fair(10, &[Lock(m), spin(22_000), Unlock(m), LONG]);
    let bg = lab.bg();
    let high = lab.fair(high_nice, &[at(11_000), Lock(m), Unlock(m), LONG]);
    let mut shares = [[0.0; 3]; 3];
    for (window, from) in [500, 11_500, 24_000].into_iter().enumerate() {
        lab.to(from);
        let before = [low, bg, high].map(|t| lab.cpu(t));
        lab.to(from + 10_000);
        for (i, t) in [low, bg, high].into_iter().enumerate() {
            shares[window][i] = share(&lab, t, before[i], 10_000_000_000);
        }
    }
    shares
}

#[test]
fn h42_stock_the_waiter_changes_no_share() {
    on_both(|kernel| {
        let [before, boosted, _] = patch_test(kernel, Stock, 0);
        near(before[0], 9.700, 0.05);
        near(boosted[0], 9.700, 0.05);
    });
}

#[test]
fn h43_h44_with_the_patch_half_and_half_then_as_before() {
    on_both(|kernel| {
        for pi in [Reweight, ReweightV2, ReweightFixed] {
            let [before, boosted, after] = patch_test(kernel, pi, 0);
            near(before[0], 9.700, 0.05);
            near(boosted[0], 50.0, 0.1);
            near(after[0], 5.097, 0.1);
            near(after[1], 47.451, 0.1);
            near(after[2], 47.451, 0.1);
        }
    });
}

#[test]
fn h45_the_weight_lent_is_the_waiters_and_never_a_smaller_one() {
    on_all(|kernel| {
        for (low_nice, high_nice, prio, weight) in [
            (10, -10, 110, 9548),
            (10, 5, 125, 335),
            (10, 15, 130, 110),
            (0, 10, 120, 1024),
            (19, -20, 100, 88761),
        ] {
            for pi in [Reweight, ReweightV2, ReweightFixed] {
                let mut lab = Lab::new(kernel, pi);
                let m = lab.lock();
                // First, so that low is not placed on an empty queue, a whole period behind.
                lab.bg();
                let low = lab.fair(low_nice, &[Lock(m), LONG]);
                lab.fair(high_nice, &[at(400), Lock(m)]);
                lab.to(1400);
                assert_eq!(
                    lab.m.waiters(m).len(),
                    1,
                    "{} {low_nice} {high_nice}",
                    kernel.name
                );
                assert_eq!(lab.is(low), (prio, weight), "{} {}", kernel.name, pi.name());
            }
        }
    });
}

#[test]
fn h45_share_with_a_waiter_of_nice_minus_ten_or_five() {
    on_both(|kernel| {
        near(patch_test(kernel, Reweight, -10)[1][0], 90.314, 0.1);
        near(patch_test(kernel, Reweight, 5)[1][0], 24.650, 0.1);
    });
}

#[test]
fn h46_the_first_waiter_lends_in_v1_the_strongest_in_v2() {
    on_all(|kernel| {
        for (pi, first, all) in [
            (Reweight, 335, 335),
            (ReweightV2, 335, 9548),
            (ReweightFixed, 335, 9548),
        ] {
            let mut lab = Lab::new(kernel, pi);
            let m = lab.lock();
            let low = lab.fair(10, &[Lock(m), LONG]);
            lab.bg();
            for (i, nice) in [5, -10, 0, 19].into_iter().enumerate() {
                lab.fair(nice, &[at(400 + 400 * i as u64), Lock(m)]);
            }
            lab.to(800);
            assert_eq!(lab.is(low).1, first, "{}", pi.name());
            lab.to(3000);
            assert_eq!(lab.m.waiters(m).len(), 4);
            assert_eq!(lab.is(low).1, all, "{}", pi.name());
        }
    });
}

#[test]
fn h46b_after_a_hand_over_only_the_ideal_boosts_the_new_owner() {
    on_all(|kernel| {
        for (pi, owner_is_second, second) in [
            (Stock, true, (130, 110)),
            (Reweight, true, (130, 110)),
            (ReweightV2, false, (130, 110)),
            (ReweightFixed, true, (120, 1024)),
        ] {
            let mut lab = Lab::new(kernel, pi);
            let m = lab.lock();
            lab.fair(10, &[Lock(m), spin(900), Unlock(m), LONG]);
            lab.bg();
            let second = (lab.fair(10, &[at(400), Lock(m), LONG]), second);
            let high = lab.fair(0, &[at(700), Lock(m), LONG]);
            lab.to(2500);
            let owner = lab.m.owner(m);
            assert_eq!(owner == Some(second.0), owner_is_second, "{}", pi.name());
            assert_eq!(owner == Some(high), !owner_is_second, "{}", pi.name());
            assert_eq!(lab.is(second.0), second.1, "{}", pi.name());
        }
    });
}

#[test]
fn h46b_the_next_waiter_that_becomes_top_adjusts_the_new_owner() {
    on_all(|kernel| {
        let mut lab = Lab::new(kernel, Reweight);
        let m = lab.lock();
        lab.fair(10, &[Lock(m), spin(900), Unlock(m), LONG]);
        lab.bg();
        let second = lab.fair(10, &[at(400), Lock(m), LONG]);
        lab.fair(0, &[at(700), timed(m, 3000), LONG]);
        lab.fair(-5, &[at(2000), Lock(m), LONG]);
        lab.to(3000);
        assert_eq!(lab.is(second), (130, 110));
        // The first in line gives up: its successor is made top, and lends.
        lab.to(4500);
        assert_eq!(lab.is(second), (115, 3121));
    });
}

/// A fair waiter and a FIFO waiter on one lock, in this order of arrival; then low unlocks.
fn fair_and_fifo(kernel: Kernel, pi: Variant, fair_at: u64, fifo_at: u64) -> (i32, u32) {
    let mut lab = Lab::new(kernel, pi);
    let m = lab.lock();
    let low = lab.fair(10, &[Lock(m), spin(1000), Unlock(m), LONG]);
    lab.bg();
    lab.fair(0, &[at(fair_at), Lock(m), Unlock(m)]);
    lab.rt(50, &[at(fifo_at), Lock(m), Unlock(m)]);
    lab.to(950);
    assert_eq!(lab.is(low).0, 49, "lent by the FIFO task");
    lab.to(3000);
    assert!(lab.m.waiters(m).is_empty());
    lab.is(low)
}

#[test]
fn h47_fair_then_fifo_leaks_the_weight() {
    on_all(|kernel| {
        assert_eq!(fair_and_fifo(kernel, Stock, 300, 800), (130, 110));
        assert_eq!(fair_and_fifo(kernel, Reweight, 300, 800), (130, 1024));
        assert_eq!(fair_and_fifo(kernel, ReweightV2, 300, 800), (130, 1024));
        assert_eq!(fair_and_fifo(kernel, ReweightFixed, 300, 800), (130, 110));
    });
}

#[test]
fn h48_fifo_then_fair_does_not() {
    // The fair one wakes with the FIFO one already waiting: low is FIFO then and must pause.
    on_all(|kernel| {
        for pi in LENDING {
            let mut lab = Lab::new(kernel, pi);
            let m = lab.lock();
            let pause = Step::Sleep(Ns::from_ms(100));
            let low = lab.fair(10, &[Lock(m), spin(400), pause, spin(400), Unlock(m), LONG]);
            lab.bg();
            let fair = lab.fair(0, &[at(300), Lock(m), Unlock(m)]);
            lab.rt(50, &[at(200), Lock(m), Unlock(m)]);
            lab.to(480);
            assert_eq!(lab.m.task(fair).blocked_on(), Some(m));
            lab.to(3000);
            assert_eq!(lab.is(low), (130, 110), "{} {}", kernel.name, pi.name());
        }
    });
}

#[test]
fn h49_two_locks_the_boost_is_lost_between_the_unlocks() {
    on_all(|kernel| {
        for (pi, between) in [
            (Stock, (120, 110)),
            (Reweight, (120, 110)),
            (ReweightV2, (120, 110)),
            (ReweightFixed, (120, 1024)),
        ] {
            let mut lab = Lab::new(kernel, pi);
            let (m, m2) = (lab.lock(), lab.lock());
            let pause = Step::Sleep(Ns::from_ms(100));
            let low = lab.fair(
                10,
                &[
                    Lock(m),
                    Lock(m2),
                    spin(400),
                    pause,
                    spin(400),
                    Unlock(m2),
                    spin(500),
                    Unlock(m),
                    LONG,
                ],
            );
            lab.bg();
            lab.fair(0, &[at(300), Lock(m), Unlock(m)]);
            lab.rt(50, &[at(200), Lock(m2), Unlock(m2)]);
            lab.to(1300);
            assert_eq!(lab.is(low), between, "{} {}", kernel.name, pi.name());
            lab.to(3000);
            assert_eq!(lab.is(low), (130, 110), "{} {}", kernel.name, pi.name());
        }
    });
}

/// L owns one lock; M owns the other and waits for L's; H waits for M's. Prio and weight of L, M.
fn chain(kernel: Kernel, pi: Variant, m_at: u64, h_at: u64, timeout: u64) -> (Lab, TaskId, TaskId) {
    let mut lab = Lab::new(kernel, pi);
    let (l1, l2) = (lab.lock(), lab.lock());
    let l = lab.fair(10, &[Lock(l1), LONG]);
    lab.bg();
    let m = lab.fair(10, &[Lock(l2), at(m_at), Lock(l1), LONG]);
    lab.fair(0, &[at(h_at), timed(l2, timeout), LONG]);
    lab.to(2000);
    assert_eq!(lab.m.task(m).blocked_on(), Some(l1));
    assert_eq!(lab.m.waiters(l2).len(), 1);
    (lab, l, m)
}

#[test]
fn h50_chain_from_late_to_early_stops_after_one_hop() {
    on_all(|kernel| {
        for (pi, of_l, of_m) in [
            (Stock, (130, 110), (120, 110)),
            (Reweight, (130, 110), (120, 1024)),
            (ReweightV2, (120, 1024), (120, 1024)),
            (ReweightFixed, (120, 1024), (120, 1024)),
        ] {
            let (lab, l, m) = chain(kernel, pi, 400, 1000, 60_000);
            assert_eq!(
                (lab.is(l), lab.is(m)),
                (of_l, of_m),
                "{} {}",
                kernel.name,
                pi.name()
            );
        }
    });
}

#[test]
fn h51_h52_chain_from_early_to_late_goes_through_and_leaves_a_stale_boost() {
    on_all(|kernel| {
        for (pi, lent, stale) in [
            (Stock, (120, 110), (120, 110)),
            (Reweight, (120, 1024), (120, 1024)),
            (ReweightV2, (120, 1024), (130, 110)),
            (ReweightFixed, (120, 1024), (130, 110)),
        ] {
            let (mut lab, l, m) = chain(kernel, pi, 1000, 400, 3000);
            assert_eq!(lab.is(l), lent, "{} {}", kernel.name, pi.name());
            assert_eq!(lab.is(m).0, 120);
            lab.to(5000);
            assert_eq!(lab.is(m), (130, 110), "{} {}", kernel.name, pi.name());
            assert_eq!(lab.is(l), stale, "{} {}", kernel.name, pi.name());
        }
    });
}

#[test]
fn h53_a_fifo_task_at_the_end_lends_to_every_owner_and_takes_it_back() {
    on_all(|kernel| {
        for pi in LENDING {
            for k in [1usize, 2, 5] {
                // FIFO last, or before the last link closes.
                for fifo_last in [true, false] {
                    let mut lab = Lab::new(kernel, pi);
                    let locks: Vec<_> = (0..k).map(|_| lab.lock()).collect();
                    let mut owners = vec![lab.fair(10, &[Lock(locks[0]), LONG])];
                    lab.bg();
                    for i in 1..k {
                        let when = 300 * i as u64;
                        let last = i == k - 1;
                        let when = if last && !fifo_last { 3000 } else { when };
                        owners.push(
                            lab.fair(10, &[Lock(locks[i]), at(when), Lock(locks[i - 1]), LONG]),
                        );
                    }
                    lab.rt(50, &[at(2500), timed(locks[k - 1], 1500), LONG]);
                    lab.to(3900);
                    for &t in &owners {
                        assert_eq!(lab.is(t).0, 49, "{} {} k {k}", kernel.name, pi.name());
                    }
                    // Low is FIFO itself and never sleeps: the timed-out waiter, last on the same
                    // list, has no turn in which to leave (I.4).
                    lab.to(4100);
                    assert_eq!(lab.is(owners[0]).0, 49);
                }
            }
        }
    });
}

#[test]
fn h53_with_an_owner_that_sleeps_the_timeout_takes_every_boost_back() {
    on_all(|kernel| {
        for pi in LENDING {
            let mut lab = Lab::new(kernel, pi);
            let locks: Vec<_> = (0..3).map(|_| lab.lock()).collect();
            let nap = Step::Sleep(Ns::from_ms(1));
            let low = lab.fair(
                10,
                &[
                    Lock(locks[0]),
                    Step::Loop {
                        times: None,
                        until: None,
                        end: 5,
                    },
                    Step::Run(Ns::from_ms(20)),
                    nap,
                    Step::Next { head: 1 },
                ],
            );
            lab.bg();
            let mut owners = vec![low];
            for i in 1..3 {
                owners.push(lab.fair(
                    10,
                    &[Lock(locks[i]), at(400 * i as u64), Lock(locks[i - 1]), LONG],
                ));
            }
            lab.rt(50, &[at(2000), timed(locks[2], 1000), LONG]);
            lab.to(2900);
            for &t in &owners {
                assert_eq!(lab.is(t), (49, 110), "{} {}", kernel.name, pi.name());
            }
            lab.to(3500);
            for &t in &owners {
                assert_eq!(lab.is(t), (130, 110), "{} {}", kernel.name, pi.name());
            }
        }
    });
}

/// A chain of `n` locks, each owner waiting for the one before; then one more task waits at its end.
fn deep(kernel: Kernel, pi: Variant, n: usize) -> (Lab, TaskId, LockId) {
    let mut lab = Lab::new(kernel, pi);
    let locks: Vec<_> = (0..n).map(|_| lab.lock()).collect();
    lab.rt(98, &[Lock(locks[0]), at(600_000)]);
    for i in 1..n {
        // All at one instant, in order: FIFO tasks of one prio.
        lab.rt(50, &[Lock(locks[i]), Lock(locks[i - 1]), at(600_000)]);
    }
    let end = locks[n - 1];
    let last = lab.rt(10, &[at(10), Lock(end), at(600_000)]);
    lab.to(20);
    (lab, last, end)
}

#[test]
fn h54_a_chain_of_1023_locks_works_and_a_deeper_walk_is_refused() {
    for kernel in [Kernel::V6_1, Kernel::V6_12] {
        let (lab, last, end) = deep(kernel, Stock, 1023);
        assert_eq!(lab.m.task(last).blocked_on(), Some(end), "{}", kernel.name);
        let (lab, last, end) = deep(kernel, Stock, 1026);
        assert_eq!(lab.m.task(last).blocked_on(), None, "{}", kernel.name);
        let refused = lab.first(|e| {
            *e == Event::Refused {
                task: last,
                refusal: Refusal::Deadlock(end),
            }
        });
        assert!(refused.is_some(), "{}: EDEADLK", kernel.name);
    }
}

#[test]
fn h55_the_second_locker_of_a_deadlock_is_refused_and_the_first_stays() {
    on_all(|kernel| {
        for pi in LENDING {
            let mut lab = Lab::new(kernel, pi);
            let (a, b) = (lab.lock(), lab.lock());
            let first = lab.fair(0, &[Lock(a), at(300), Lock(b), LONG]);
            let second = lab.fair(10, &[Lock(b), at(600), Lock(a), LONG]);
            lab.bg();
            lab.to(599);
            let before = (lab.is(first), lab.is(second));
            lab.to(1500);
            let refused = Event::Refused {
                task: second,
                refusal: Refusal::Deadlock(a),
            };
            assert!(lab.first(|e| *e == refused).is_some(), "{}", pi.name());
            assert_eq!(lab.m.task(first).blocked_on(), Some(b));
            assert_eq!(lab.m.task(second).blocked_on(), None);
            assert!(lab.m.waiters(a).is_empty());
            assert_eq!((lab.is(first), lab.is(second)), before, "{}", pi.name());
        }
    });
}

#[test]
fn h56_locking_what_one_owns_is_refused_without_waiting() {
    on_all(|kernel| {
        for pi in LENDING {
            let mut lab = Lab::new(kernel, pi);
            let m = lab.lock();
            let t = lab.fair(0, &[Lock(m), Lock(m), spin(5), Unlock(m), LONG]);
            lab.to(50);
            let refused = Event::Refused {
                task: t,
                refusal: Refusal::Deadlock(m),
            };
            assert!(lab.first(|e| *e == refused).is_some());
            assert!(lab.m.waiters(m).is_empty());
            // The unlock belongs to the lock that was refused: the first one is still held.
            assert_eq!(lab.m.owner(m), Some(t));
        }
    });
}

/// The patch's test with `control` at 600 ms, waiting since 300 ms, released at 1000 ms.
fn while_boosted(
    kernel: Kernel,
    pi: Variant,
    control: impl Fn(TaskId) -> Control,
) -> [(i32, u32); 3] {
    let mut lab = Lab::new(kernel, pi);
    let m = lab.lock();
    let low = lab.fair(10, &[Lock(m), spin(1000), Unlock(m), LONG]);
    lab.bg();
    lab.fair(0, &[at(300), Lock(m), Unlock(m), LONG]);
    lab.m.control(Ns::from_ms(600), control(low));
    let mut seen = [(0, 0); 3];
    for (i, ms) in [599, 900, 2500].into_iter().enumerate() {
        lab.to(ms);
        seen[i] = lab.is(low);
    }
    seen
}

#[test]
fn h57_a_renice_drops_the_boost() {
    on_all(|kernel| {
        let renice = |task| Control::Nice { task, nice: 5 };
        for pi in [Stock, Reweight, ReweightV2] {
            let [before, after, released] = while_boosted(kernel, pi, renice);
            assert_eq!(before, (120, if pi == Stock { 110 } else { 1024 }));
            assert_eq!(after, (125, 335), "{} {}", kernel.name, pi.name());
            assert_eq!(released, (125, 335), "{} {}", kernel.name, pi.name());
        }
        let [_, after, released] = while_boosted(kernel, ReweightFixed, renice);
        assert_eq!((after, released), ((120, 1024), (125, 335)));
    });
}

#[test]
fn h58_a_renice_to_the_same_value_does_nothing() {
    on_all(|kernel| {
        for pi in LENDING {
            let same = |task| Control::Nice { task, nice: 10 };
            let [before, after, released] = while_boosted(kernel, pi, same);
            assert_eq!(before, after);
            assert_eq!(released, (130, 110));
        }
    });
}

#[test]
fn h59_a_child_forked_while_boosted_copies_the_weight() {
    on_all(|kernel| {
        for (pi, weight) in [
            (Stock, 110),
            (Reweight, 1024),
            (ReweightV2, 1024),
            (ReweightFixed, 110),
        ] {
            let mut lab = Lab::new(kernel, pi);
            let m = lab.lock();
            let child = lab.m.add_template(TaskSpec {
                scheduling: None,
                cpu: None,
                program: vec![LONG].into(),
                resume_at: None,
            });
            let low = lab.fair(
                10,
                &[
                    Lock(m),
                    spin(600),
                    Step::Fork(child),
                    spin(400),
                    Unlock(m),
                    LONG,
                ],
            );
            lab.bg();
            lab.fair(0, &[at(300), Lock(m), Unlock(m), LONG]);
            lab.to(3000);
            let forked = TaskId(lab.m.tasks().len() as u32 - 1);
            assert_eq!(lab.m.task(forked).parent(), Some(low));
            assert_eq!(
                lab.is(forked),
                (130, weight),
                "{} {}",
                kernel.name,
                pi.name()
            );
        }
    });
}

/// Who owns the lock after low released it to `high` and `thief` called lock before high ran.
fn stolen(kernel: Kernel, pi: Variant, thief: Scheduling) -> (Option<TaskId>, TaskId, TaskId) {
    let mut lab = Lab::new(kernel, pi);
    let m = lab.lock();
    // Unlock and lock again in one stint: the waiter cannot have run in between.
    lab.fair(10, &[Lock(m), spin(500), Unlock(m), at(20_000)]);
    let high = lab.task(
        Scheduling {
            policy: Policy::Batch,
            ..Scheduling::normal(0)
        },
        &[at(300), Lock(m), LONG],
    );
    // Sleeps on the same instant as the release ends: first to run after it.
    let thief = lab.task(thief, &[at(499), spin(100), Lock(m), LONG]);
    lab.to(2000);
    (lab.m.owner(m), high, thief)
}

#[test]
fn h60_a_pending_lock_is_stolen_by_a_better_key_only() {
    on_all(|kernel| {
        for pi in [Stock, Reweight] {
            let (owner, high, _) = stolen(kernel, pi, Scheduling::normal(-5));
            assert_eq!(owner, Some(high), "{}: no lateral steal", kernel.name);
        }
    });
}

#[test]
fn h60_the_releaser_queues_behind_the_waiter_but_a_fifo_task_passes_it() {
    on_all(|kernel| {
        for pi in LENDING {
            let mut lab = Lab::new(kernel, pi);
            let m = lab.lock();
            // One stint: unlock, lock again. The waiter is awake and has not run.
            let low = lab.fair(0, &[Lock(m), spin(500), Unlock(m), Lock(m), LONG]);
            let high = lab.fair(0, &[at(300), Lock(m), LONG]);
            lab.to(1000);
            assert_eq!(lab.m.owner(m), Some(high), "{} {}", kernel.name, pi.name());
            assert_eq!(lab.m.waiters(m), &[low]);

            let mut lab = Lab::new(kernel, pi);
            let m = lab.lock();
            let fifo = Scheduling::fifo(10);
            let low = lab.fair(
                0,
                &[
                    Lock(m),
                    spin(500),
                    Unlock(m),
                    Step::SetScheduler(fifo),
                    Lock(m),
                    LONG,
                ],
            );
            let high = lab.fair(0, &[at(300), Lock(m), LONG]);
            lab.to(1000);
            // On 6.1 the woken waiter may run inside the unlock and have the lock already.
            let owner = lab.m.owner(m).expect("owned");
            if lab.cpu(high) < 1_000_000 {
                assert_eq!(owner, low, "{} {}", kernel.name, pi.name());
            }
        }
    });
}

#[test]
fn h61_h62_a_timeout_matters_only_at_the_top() {
    on_all(|kernel| {
        for pi in LENDING {
            let mut lab = Lab::new(kernel, pi);
            let m = lab.lock();
            let low = lab.fair(10, &[Lock(m), LONG]);
            lab.bg();
            lab.fair(0, &[at(300), timed(m, 3000), LONG]);
            lab.fair(5, &[at(600), timed(m, 1000), LONG]);
            lab.fair(3, &[at(900), Lock(m), LONG]);
            lab.to(1500);
            let lent = lab.prios(low).len();
            lab.to(2500);
            assert_eq!(lab.m.waiters(m).len(), 2);
            assert_eq!(lab.prios(low).len(), lent, "{}: not the top one", pi.name());
            lab.to(4500);
            assert_eq!(lab.m.waiters(m).len(), 1);
            let weight = if pi == Stock { 110 } else { 526 };
            assert_eq!(lab.is(low), (123, weight), "{} {}", kernel.name, pi.name());
        }
    });
}

#[test]
fn h63_a_boost_of_a_sleeping_or_blocked_holder_queues_nobody() {
    on_all(|kernel| {
        for pi in [Reweight, ReweightV2, ReweightFixed] {
            let mut lab = Lab::new(kernel, pi);
            let (m, other) = (lab.lock(), lab.lock());
            let sleeper = lab.fair(10, &[Lock(m), at(60_000)]);
            lab.fair(0, &[Lock(other), at(60_000)]);
            let m2 = lab.lock();
            let blocked = lab.fair(10, &[Lock(m2), at(200), Lock(other)]);
            lab.bg();
            lab.fair(0, &[at(600), Lock(m)]);
            lab.fair(-5, &[at(700), Lock(m2)]);
            lab.to(1500);
            assert_eq!(lab.is(sleeper), (120, 1024));
            assert_eq!(lab.is(blocked), (115, 3121));
            assert_eq!(lab.m.task(sleeper).state(), State::Sleeping);
            assert_eq!(lab.m.task(blocked).state(), State::Blocked(other));
            let queue = lab.m.queue_view(CpuId(0));
            let queued = |t| queue.entities.iter().any(|e| e.task == t);
            assert!(!queued(sleeper) && !queued(blocked));
        }
    });
}

#[test]
fn h64_a_delayed_holder_stays_delayed_when_boosted() {
    for kernel in [Kernel::V6_12, Kernel::V6_13, Kernel::V6_18] {
        for pi in LENDING {
            // Sleeps right after running: not eligible, so it stays queued for a while. The waiter
            // comes then: first find out when that is.
            let run = |lock_at: u64| {
                let mut lab = Lab::new(kernel, pi);
                let m = lab.lock();
                let low = lab.fair(19, &[Lock(m), Step::Run(Ns::from_us(2900)), at(60_000)]);
                lab.bg();
                let high = lab.fair(0, &[at(lock_at), Lock(m)]);
                (lab, low, high)
            };
            let (mut lab, low, _) = run(50_000);
            let delayed = |lab: &Lab| lab.m.task(low).entity().sched_delayed;
            let asleep = (1..600).find(|&ms| delayed(lab.to(ms)));
            let (mut lab, low, high) = run(asleep.expect("a delayed sleeper"));
            let mut delayed_and_boosted = false;
            for ms in 1..600 {
                lab.to(ms);
                let e = lab.m.task(low).entity();
                let boosted = lab.m.task(low).donor() == Some(high);
                delayed_and_boosted |= e.sched_delayed && boosted;
                assert!(!e.sched_delayed || e.on_rq);
            }
            assert!(delayed_and_boosted, "{} {}", kernel.name, pi.name());
        }
    }
}

#[test]
fn requests_that_cannot_be_are_answered_and_the_run_goes_on() {
    on_all(|kernel| {
        for pi in Variant::ALL {
            let mut lab = Lab::new(kernel, pi);
            let (m, other) = (lab.lock(), lab.lock());
            lab.bg();
            let dead = lab.fair(0, &[Lock(m), spin(20)]);
            let nobody = TaskId(99);
            let stray = lab.fair(
                0,
                &[
                    at(200),
                    // Of nobody, of a stranger, of a task that is none, of one that has ended.
                    Unlock(other),
                    Unlock(m),
                    Step::SetNice {
                        task: Some(nobody),
                        nice: 5,
                    },
                    Step::SetNice {
                        task: Some(dead),
                        nice: 5,
                    },
                    LONG,
                ],
            );
            for (ms, task) in [(300, dead), (310, nobody)] {
                let scheduling = Scheduling::fifo(10);
                lab.m
                    .control(Ns::from_ms(ms), Control::Scheduler { task, scheduling });
                let nice = Control::Nice { task, nice: -5 };
                lab.m.control(Ns::from_ms(ms), nice);
                let at = Ns::from_ms(400);
                let timeout = Control::LockTimeout { task, at };
                lab.m.control(Ns::from_ms(ms), timeout);
            }
            lab.to(500);
            let refused = |task, refusal| {
                let event = Event::Refused { task, refusal };
                lab.told.iter().filter(|(_, e)| *e == event).count()
            };
            assert_eq!(refused(stray, Refusal::UnlockNotOwner(other)), 1, "EPERM");
            assert_eq!(refused(stray, Refusal::UnlockNotOwner(m)), 1, "EPERM");
            assert_eq!(refused(dead, Refusal::NoSuchTask), 3, "ESRCH");
            assert!(refused(nobody, Refusal::NoSuchTask) >= 3, "ESRCH");
            assert_eq!(lab.m.task(dead).nice(), 0);
            assert!(lab.m.task(stray).is_runnable(), "the run went on");
        }
    });
}

#[test]
fn a_sched_idle_waiter_lends_the_weight_of_its_nice() {
    on_all(|kernel| {
        for (nice, weight) in [(0, 1024), (-20, 88761)] {
            for pi in [Reweight, ReweightV2, ReweightFixed] {
                let mut lab = Lab::new(kernel, pi);
                let m = lab.lock();
                let low = lab.fair(10, &[Lock(m), LONG]);
                let idle = Scheduling {
                    policy: Policy::Idle,
                    ..Scheduling::normal(nice)
                };
                let waiter = lab.task(idle, &[at(100), Lock(m)]);
                lab.to(3000);
                assert_eq!(lab.m.waiters(m), &[waiter]);
                assert_eq!(lab.is(waiter), (120 + nice, 3));
                assert_eq!(
                    lab.is(low),
                    (120 + nice, weight),
                    "{} {}",
                    kernel.name,
                    pi.name()
                );
            }
        }
    });
}
