//! The mutexes of a recorded workload, made of futexes as the C library makes them.
//!
//! `inherit` is a PI futex: the word holds the owner's thread id, and whoever waits does so in the
//! kernel's rt_mutex. `none` is the plain three-state lock: an unlock frees it and wakes the first
//! waiter, which tries again, and anybody may take it meanwhile (specification D.5).

use std::sync::atomic::{AtomicU32, Ordering::*};

use rustix::io::Errno;
use rustix::thread::futex;

use super::clock::{self, timespec};
use crate::model::machine::Protocol;
use crate::model::units::Ns;

/// The part of a PI futex's word that is the owner's thread id.
const TID: u32 = 0x3fff_ffff;

/// The states of a plain mutex.
const FREE: u32 = 0;
const TAKEN: u32 = 1;
/// Taken, and somebody may wait.
const WANTED: u32 = 2;

/// A mutex. Threads are named by their kernel thread ids.
#[derive(Debug)]
pub(super) struct Mutex {
    pub protocol: Protocol,
    word: AtomicU32,
    /// Of a plain mutex: who has it.
    owner: AtomicU32,
}

/// Why a mutex was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotTaken {
    /// The time is up.
    Expired,
    /// EDEADLK: one would wait for oneself.
    Deadlock,
    /// The run is over.
    Stopped,
    /// The kernel has said something else.
    Refused(Errno),
}

impl Mutex {
    pub fn new(protocol: Protocol) -> Mutex {
        Mutex {
            protocol,
            word: AtomicU32::new(0),
            owner: AtomicU32::new(0),
        }
    }

    /// Whose it is; 0 when nobody's.
    pub fn owner(&self) -> u32 {
        match self.protocol {
            Protocol::Inherit => self.word.load(Acquire) & TID,
            Protocol::None => self.owner.load(Acquire),
        }
    }

    /// Takes it if nobody has it, without a system call.
    pub fn try_lock(&self, tid: u32) -> bool {
        let taken = match self.protocol {
            Protocol::Inherit => tid,
            Protocol::None => TAKEN,
        };
        let done = self
            .word
            .compare_exchange(FREE, taken, AcqRel, Acquire)
            .is_ok();
        if done && self.protocol == Protocol::None {
            self.owner.store(tid, Release);
        }
        done
    }

    /// Waits for it, at most until `expires` on the monotonic clock.
    ///
    /// # Errors
    /// [`NotTaken`]; `stopped` is looked at whenever a plain waiter wakes.
    pub fn lock(
        &self,
        tid: u32,
        expires: Option<Ns>,
        stopped: impl Fn() -> bool,
    ) -> Result<(), NotTaken> {
        match self.protocol {
            Protocol::Inherit => self.lock_pi(expires),
            Protocol::None => {
                self.lock_plain(expires, stopped)?;
                self.owner.store(tid, Release);
                Ok(())
            }
        }
    }

    fn lock_pi(&self, expires: Option<Ns>) -> Result<(), NotTaken> {
        let deadline = expires.map(timespec);
        let flags = futex::Flags::PRIVATE;
        loop {
            let done = match &deadline {
                None => futex::lock_pi(&self.word, flags, None),
                Some(at) => match futex::lock_pi2(&self.word, flags, Some(at)) {
                    // Before 5.14: the same call by the wall clock.
                    Err(Errno::NOSYS) => {
                        let at = clock::monotonic_to_real(expires.unwrap_or(Ns(0)));
                        futex::lock_pi(&self.word, flags, Some(&timespec(at)))
                    }
                    done => done,
                },
            };
            return match done {
                Ok(()) => Ok(()),
                Err(Errno::INTR | Errno::AGAIN) => continue,
                Err(Errno::TIMEDOUT) => Err(NotTaken::Expired),
                Err(Errno::DEADLK) => Err(NotTaken::Deadlock),
                Err(other) => Err(NotTaken::Refused(other)),
            };
        }
    }

    fn lock_plain(&self, expires: Option<Ns>, stopped: impl Fn() -> bool) -> Result<(), NotTaken> {
        let deadline = expires.map(timespec);
        while self.word.swap(WANTED, AcqRel) != FREE {
            if stopped() {
                return Err(NotTaken::Stopped);
            }
            let all = std::num::NonZeroU32::MAX;
            let flags = futex::Flags::PRIVATE;
            match futex::wait_bitset(&self.word, flags, WANTED, deadline.as_ref(), all) {
                Ok(()) | Err(Errno::INTR | Errno::AGAIN) => {}
                Err(Errno::TIMEDOUT) => return Err(NotTaken::Expired),
                Err(other) => return Err(NotTaken::Refused(other)),
            }
        }
        Ok(())
    }

    /// Gives it up. False: it was not this thread's (EPERM), and nothing happened.
    pub fn unlock(&self, tid: u32) -> bool {
        if self.owner() != tid {
            return false;
        }
        let flags = futex::Flags::PRIVATE;
        match self.protocol {
            Protocol::Inherit => {
                if self
                    .word
                    .compare_exchange(tid, FREE, AcqRel, Acquire)
                    .is_err()
                {
                    // Somebody waits: the kernel hands over. It can say EAGAIN under memory
                    // pressure or while the lock's state is being changed.
                    while let Err(Errno::AGAIN | Errno::INTR) = futex::unlock_pi(&self.word, flags)
                    {
                    }
                }
            }
            Protocol::None => {
                self.owner.store(0, Release);
                if self.word.swap(FREE, AcqRel) == WANTED {
                    let _ = futex::wake(&self.word, flags, 1);
                }
            }
        }
        true
    }

    /// Wakes who waits for a plain mutex, so that they see that the run is over.
    pub fn stop(&self) {
        if self.protocol == Protocol::None {
            let _ = futex::wake(&self.word, futex::Flags::PRIVATE, i32::MAX as u32);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::AtomicU64;

    fn tid() -> u32 {
        rustix::thread::gettid().as_raw_nonzero().get() as u32
    }

    fn take(mutex: &Mutex) {
        if !mutex.try_lock(tid()) {
            mutex.lock(tid(), None, || false).unwrap();
        }
    }

    /// A sum that only comes out if never two are inside at once.
    #[test]
    fn two_owners_never_overlap() {
        for protocol in [Protocol::Inherit, Protocol::None] {
            let mutex = Arc::new(Mutex::new(protocol));
            let inside = Arc::new(AtomicU64::new(0));
            let sum = Arc::new(AtomicU64::new(0));
            let threads: Vec<_> = (0..4)
                .map(|_| {
                    let (mutex, inside, sum) = (mutex.clone(), inside.clone(), sum.clone());
                    std::thread::spawn(move || {
                        for _ in 0..5_000 {
                            take(&mutex);
                            assert_eq!(inside.fetch_add(1, SeqCst), 0, "{protocol:?}");
                            let was = sum.load(Relaxed);
                            std::hint::spin_loop();
                            sum.store(was + 1, Relaxed);
                            assert_eq!(inside.fetch_sub(1, SeqCst), 1, "{protocol:?}");
                            assert!(mutex.unlock(tid()));
                        }
                    })
                })
                .collect();
            for thread in threads {
                thread.join().unwrap();
            }
            assert_eq!(sum.load(SeqCst), 20_000, "{protocol:?}");
            assert_eq!(mutex.owner(), 0);
        }
    }

    #[test]
    fn only_the_owner_unlocks() {
        for protocol in [Protocol::Inherit, Protocol::None] {
            let mutex = Mutex::new(protocol);
            assert!(!mutex.unlock(tid()), "nobody's");
            take(&mutex);
            assert_eq!(mutex.owner(), tid());
            std::thread::scope(|s| {
                s.spawn(|| assert!(!mutex.unlock(tid()), "another's"));
            });
            assert!(mutex.unlock(tid()));
        }
    }

    #[test]
    fn a_wait_that_expires_leaves_the_lock_with_its_owner() {
        for protocol in [Protocol::Inherit, Protocol::None] {
            let mutex = Mutex::new(protocol);
            take(&mutex);
            std::thread::scope(|s| {
                s.spawn(|| {
                    let soon = clock::monotonic().saturating_add(Ns(1_000_000));
                    let waited = mutex.lock(tid(), Some(soon), || false);
                    assert_eq!(waited, Err(NotTaken::Expired), "{protocol:?}");
                    assert!(clock::monotonic() >= soon);
                });
            });
            assert!(mutex.unlock(tid()));
        }
    }

    #[test]
    fn the_kernel_sees_that_one_waits_for_oneself() {
        let mutex = Mutex::new(Protocol::Inherit);
        take(&mutex);
        assert_eq!(mutex.lock(tid(), None, || false), Err(NotTaken::Deadlock));
    }

    #[test]
    fn a_plain_waiter_leaves_when_the_run_is_over() {
        let mutex = Mutex::new(Protocol::None);
        take(&mutex);
        assert_eq!(mutex.lock(tid(), None, || true), Err(NotTaken::Stopped));
    }
}
