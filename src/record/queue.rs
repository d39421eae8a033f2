//! Where threads of a recorded workload sleep for each other: conditions, barriers, semaphores.
//!
//! First in, first out, as in the model. Each sleeper has a futex word of its own, so that a wake
//! goes to the one it is meant for. The list itself is under a short lock of the process.

use std::collections::VecDeque;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::*};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::io::Errno;
use rustix::thread::futex;

use super::clock::timespec;
use crate::model::units::Ns;

/// A place in a queue.
#[derive(Debug, Default)]
pub(super) struct Ticket(AtomicU32);

impl Ticket {
    /// Sleeps until it is called.
    pub fn sleep(&self) {
        while self.0.load(Acquire) == 0 {
            // Whatever the call says: the word decides.
            let _ = futex::wait(&self.0, futex::Flags::PRIVATE, 0, None);
        }
    }

    /// Sleeps until an instant of the monotonic clock, or until it is called.
    pub fn sleep_until(&self, at: Ns) {
        let at = timespec(at);
        let all = NonZeroU32::MAX;
        while self.0.load(Acquire) == 0 {
            let flags = futex::Flags::PRIVATE;
            if futex::wait_bitset(&self.0, flags, 0, Some(&at), all) == Err(Errno::TIMEDOUT) {
                return;
            }
        }
    }

    /// Ends the sleep, now or when it begins.
    pub fn call(&self) {
        self.0.store(1, Release);
        let _ = futex::wake(&self.0, futex::Flags::PRIVATE, 1);
    }
}

#[derive(Debug, Default)]
struct Inside {
    waiting: VecDeque<Arc<Ticket>>,
    /// Of a semaphore.
    value: u64,
}

/// A queue of sleepers.
#[derive(Debug, Default)]
pub(super) struct Queue {
    inside: Mutex<Inside>,
    stopped: AtomicBool,
}

impl Queue {
    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, inside: &mut Inside) -> Option<Arc<Ticket>> {
        if self.stopped.load(Acquire) {
            return None;
        }
        let ticket = Arc::new(Ticket::default());
        inside.waiting.push_back(ticket.clone());
        Some(ticket)
    }

    /// A condition: lines up. `None` when the run is over.
    pub fn line_up(&self) -> Option<Arc<Ticket>> {
        self.push(&mut self.inside())
    }

    /// A condition: wakes who waits longest.
    pub fn wake_one(&self) {
        let first = self.inside().waiting.pop_front();
        if let Some(ticket) = first {
            ticket.call();
        }
    }

    /// A condition: wakes all, in order.
    pub fn wake_all(&self) {
        let all = std::mem::take(&mut self.inside().waiting);
        for ticket in all {
            ticket.call();
        }
    }

    /// A barrier for `users`: the last one wakes the others and goes on.
    pub fn arrive(&self, users: u32) -> Option<Arc<Ticket>> {
        let mut inside = self.inside();
        if (inside.waiting.len() as u64) + 1 < u64::from(users) {
            return self.push(&mut inside);
        }
        let all = std::mem::take(&mut inside.waiting);
        drop(inside);
        for ticket in all {
            ticket.call();
        }
        None
    }

    /// A semaphore: up. Who waits longest has it before anybody can come between.
    pub fn post(&self) {
        let mut inside = self.inside();
        match inside.waiting.pop_front() {
            Some(ticket) => {
                drop(inside);
                ticket.call();
            }
            None => inside.value += 1,
        }
    }

    /// A semaphore: down, or lines up.
    pub fn down(&self) -> Option<Arc<Ticket>> {
        let mut inside = self.inside();
        if inside.value > 0 {
            inside.value -= 1;
            return None;
        }
        self.push(&mut inside)
    }

    /// The run is over: nobody sleeps here any more.
    pub fn stop(&self) {
        self.stopped.store(true, Release);
        self.wake_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn called(ticket: &Ticket) -> bool {
        ticket.0.load(Acquire) == 1
    }

    #[test]
    fn a_signal_wakes_the_first_and_a_broadcast_the_rest() {
        let queue = Queue::default();
        let [a, b, c] = [(); 3].map(|()| queue.line_up().unwrap());
        queue.wake_one();
        assert_eq!([&a, &b, &c].map(|t| called(t)), [true, false, false]);
        queue.wake_all();
        assert_eq!([&a, &b, &c].map(|t| called(t)), [true, true, true]);
        // Nobody waits: a signal is lost, as with pthread_cond_signal().
        queue.wake_one();
        assert!(!called(&queue.line_up().unwrap()));
    }

    #[test]
    fn a_barrier_lets_all_go_when_the_last_user_comes_and_begins_again() {
        let queue = Queue::default();
        for _ in 0..2 {
            let a = queue.arrive(3).unwrap();
            let b = queue.arrive(3).unwrap();
            assert!(!called(&a) && !called(&b));
            assert!(queue.arrive(3).is_none());
            assert!(called(&a) && called(&b));
        }
    }

    #[test]
    fn a_semaphore_counts_and_its_posts_go_to_who_waits() {
        let queue = Queue::default();
        queue.post();
        assert!(queue.down().is_none());
        let a = queue.down().unwrap();
        queue.post();
        assert!(called(&a));
        assert!(queue.down().is_some(), "the post was the waiter's");
    }

    #[test]
    fn nobody_sleeps_when_the_run_is_over() {
        let queue = Arc::new(Queue::default());
        let sleeper = {
            let queue = queue.clone();
            std::thread::spawn(move || {
                if let Some(ticket) = queue.line_up() {
                    ticket.sleep();
                }
            })
        };
        queue.stop();
        sleeper.join().unwrap();
        assert!(queue.line_up().is_none());
    }
}
