//! The three system calls that `record` needs and no safe library offers: the CPU clock of another
//! thread, a signal to one thread, and `sched_setattr()`. All else goes through rustix.

use std::io;

use crate::model::units::Ns;

/// What `sched_setattr()` takes (sched_setattr(2), first version: 48 bytes).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Attr {
    /// Filled in by [`set_attr`].
    pub size: u32,
    /// SCHED_OTHER is 0, SCHED_FIFO 1, SCHED_RR 2, SCHED_BATCH 3, SCHED_IDLE 5, SCHED_DEADLINE 6.
    pub policy: u32,
    pub flags: u64,
    /// For fair policies.
    pub nice: i32,
    /// 1..=99 for FIFO and RR, else 0.
    pub priority: u32,
    /// ns: the budget of a deadline task, the slice of a fair one (0: the kernel's).
    pub runtime: u64,
    /// ns, of a deadline task.
    pub deadline: u64,
    /// ns, of a deadline task.
    pub period: u64,
}

/// `sched_setattr()` on a thread.
///
/// # Errors
/// Those of the call: EPERM, EINVAL, ESRCH and so on.
#[expect(unsafe_code, reason = "no safe library has sched_setattr()")]
pub(super) fn set_attr(tid: i32, attr: &Attr) -> io::Result<()> {
    let attr = Attr {
        size: size_of::<Attr>() as u32,
        ..*attr
    };
    // SAFETY: the kernel reads `attr.size` bytes from the pointer, which is the size of the
    // structure behind it; it writes nothing and keeps no pointer.
    let done = unsafe { libc::syscall(libc::SYS_sched_setattr, tid, &raw const attr, 0u32) };
    if done == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// The CPU time a thread of this process has had, up to now, to the nanosecond.
///
/// # Errors
/// EINVAL when there is no such thread (any more).
#[expect(unsafe_code, reason = "safe libraries read known clocks only")]
pub(super) fn thread_cpu(tid: i32) -> io::Result<Ns> {
    // The clock's number as pthread_getcpuclockid() makes it: thread, scheduler's clock.
    let clock: libc::clockid_t = (!tid << 3) | 0b110;
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the call writes one timespec to the pointer, which is that of a live local.
    let done = unsafe { libc::clock_gettime(clock, &raw mut time) };
    if done == 0 {
        Ok(Ns(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64))
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Sends SIGUSR1 to one thread of this process. Who has ended gets none.
///
/// The caller has seen to a handler: without one the signal ends the process.
#[expect(unsafe_code, reason = "safe libraries signal whole processes only")]
pub(super) fn signal(tid: i32) {
    let process = rustix::process::getpid().as_raw_nonzero().get();
    // SAFETY: the call takes three numbers and touches no memory of ours.
    unsafe { libc::syscall(libc::SYS_tgkill, process, tid, libc::SIGUSR1) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_s_clock_is_read_from_outside_and_ends_with_it() {
        let tid = rustix::thread::gettid().as_raw_nonzero().get();
        let other = std::thread::spawn(move || {
            let first = thread_cpu(tid).unwrap();
            let own = rustix::thread::gettid().as_raw_nonzero().get();
            (first, own)
        });
        let (seen, gone) = other.join().unwrap();
        assert!(seen.0 > 0);
        assert!(thread_cpu(tid).unwrap() >= seen);
        // The system may take a moment to forget a thread that was joined.
        let since = std::time::Instant::now();
        while thread_cpu(gone).is_ok() && since.elapsed().as_secs() < 10 {
            std::thread::yield_now();
        }
        assert!(thread_cpu(gone).is_err());
    }

    #[test]
    fn a_policy_that_does_not_exist_is_refused_by_the_system() {
        let attr = Attr {
            policy: 77,
            ..Attr::default()
        };
        let error = set_attr(0, &attr).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EINVAL));
    }
}
