//! What a thread asks the kernel for: CPU, policy, nice level. What is not permitted is told in
//! one sentence, and the run goes on without it.

use std::io;
use std::sync::atomic::Ordering::*;

use rustix::process::Pid;
use rustix::thread::CpuSet;

use super::shared::Shared;
use super::sys::{self, Attr};
use super::thread::Thread;
use crate::model::task::{DEFAULT_PRIO, Policy, Scheduling};

/// The best real-time priority a task gets: above it is the thread that measures.
const BEST: u8 = 98;

/// The kernel's numbers of the policies.
const POLICIES: [(u32, Policy); 6] = [
    (0, Policy::Normal),
    (1, Policy::Fifo),
    (2, Policy::Rr),
    (3, Policy::Batch),
    (5, Policy::Idle),
    (6, Policy::Deadline),
];

/// A policy by the kernel's number.
pub(super) fn policy_of(number: u32) -> Option<Policy> {
    POLICIES
        .iter()
        .find(|(n, _)| *n == number)
        .map(|(_, policy)| *policy)
}

fn attr_of(scheduling: &Scheduling) -> Attr {
    let number = POLICIES.iter().find(|(_, p)| *p == scheduling.policy);
    let mut attr = Attr {
        policy: number.map_or(0, |(n, _)| *n),
        ..Attr::default()
    };
    let slice = scheduling.slice.map_or(0, |s| s.0);
    match scheduling.policy {
        Policy::Normal | Policy::Batch | Policy::Idle => {
            attr.nice = scheduling.nice;
            attr.runtime = slice;
        }
        Policy::Fifo | Policy::Rr => attr.priority = scheduling.rt_priority.min(BEST).into(),
        Policy::Deadline => {
            attr.deadline = scheduling.deadline.0;
            attr.period = scheduling.deadline.0;
            attr.runtime = slice;
        }
    }
    attr
}

/// `sched_setattr()` on a thread, for itself or by a control.
pub(super) fn schedule(shared: &Shared, thread: &Thread, scheduling: &Scheduling) {
    let deny = |what: &str| shared.deny(what, &thread.name);
    let attr = attr_of(scheduling);
    let granted = match sys::set_attr(thread.tid(), &attr) {
        Ok(()) => {
            if scheduling.policy.is_rt() && scheduling.rt_priority > BEST {
                deny("real-time priority 99 is run as 98, below the thread that measures");
            }
            true
        }
        Err(error) if gone(&error) => false,
        Err(error) => match scheduling.policy {
            Policy::Normal | Policy::Batch | Policy::Idle => {
                let nice = nice_of(thread);
                let modest = Attr { nice, ..attr };
                let granted = sys::set_attr(thread.tid(), &modest).is_ok();
                if granted {
                    deny(NICE);
                    thread.prio.store(DEFAULT_PRIO + nice, Release);
                    return;
                }
                deny(&format!(
                    "{} is not permitted ({}), the policy stays",
                    scheduling.policy.name(),
                    words(&error)
                ));
                false
            }
            Policy::Fifo | Policy::Rr => {
                deny(&format!(
                    "{} is not permitted ({}; it takes CAP_SYS_NICE or RLIMIT_RTPRIO), the policy stays",
                    scheduling.policy.name(),
                    words(&error)
                ));
                false
            }
            Policy::Deadline => {
                deny(&format!(
                    "SCHED_DEADLINE is refused ({}; the kernel wants such tasks on all CPUs, these are pinned), the policy stays",
                    words(&error)
                ));
                false
            }
        },
    };
    if granted {
        thread.prio.store(scheduling.normal_prio(), Release);
    }
}

const NICE: &str = "a lower nice level is not permitted (it takes CAP_SYS_NICE or RLIMIT_NICE), the nice level stays";

fn nice_of(thread: &Thread) -> i32 {
    let pid = Pid::from_raw(thread.tid());
    rustix::process::getpriority_process(pid).unwrap_or(0)
}

/// `setpriority()` on a thread.
pub(super) fn renice(shared: &Shared, thread: &Thread, nice: i32) {
    let Some(pid) = Pid::from_raw(thread.tid()) else {
        return;
    };
    match rustix::process::setpriority_process(Some(pid), nice) {
        Ok(()) => {
            // The nice level of a real-time task waits for its return to a fair policy.
            let prio = thread.prio.load(Acquire);
            if prio >= crate::model::task::MAX_RT_PRIO {
                thread.prio.store(DEFAULT_PRIO + nice, Release);
            }
        }
        Err(rustix::io::Errno::SRCH) => {}
        Err(rustix::io::Errno::ACCESS | rustix::io::Errno::PERM) => {
            shared.deny(NICE, &thread.name);
        }
        Err(error) => shared.deny(
            &format!("setpriority() is refused ({})", words(&error.into())),
            &thread.name,
        ),
    }
}

/// Pins the calling thread to a CPU.
///
/// # Errors
/// Those of `sched_setaffinity()`.
pub(super) fn pin(cpu: usize) -> io::Result<()> {
    let mut set = CpuSet::new();
    set.set(cpu);
    Ok(rustix::thread::sched_setaffinity(None, &set)?)
}

fn gone(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::SRCH.raw_os_error())
}

/// The system's words for an error, without its number.
pub(super) fn words(error: &io::Error) -> String {
    let text = error.to_string();
    let end = text.find(" (os error").unwrap_or(text.len());
    text[..end].to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::units::Ns;

    #[test]
    fn policies_have_the_kernel_s_numbers() {
        for (number, policy) in POLICIES {
            let scheduling = Scheduling {
                policy,
                ..Scheduling::normal(0)
            };
            assert_eq!(attr_of(&scheduling).policy, number);
            assert_eq!(policy_of(number), Some(policy));
        }
        assert_eq!(policy_of(4), None);
    }

    #[test]
    fn a_call_carries_what_its_policy_knows() {
        let fair = Scheduling {
            slice: Some(Ns(100_000)),
            ..Scheduling::normal(-7)
        };
        assert_eq!((attr_of(&fair).nice, attr_of(&fair).runtime), (-7, 100_000));
        let fifo = attr_of(&Scheduling::fifo(99));
        assert_eq!((fifo.nice, fifo.priority), (0, 98));
        let deadline = attr_of(&Scheduling {
            policy: Policy::Deadline,
            slice: Some(Ns(1)),
            deadline: Ns(2),
            ..Scheduling::normal(0)
        });
        assert_eq!(
            (deadline.runtime, deadline.deadline, deadline.period),
            (1, 2, 2)
        );
    }
}
