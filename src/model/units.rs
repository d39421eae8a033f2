//! Units and handles: every number of the model says what it counts.
//!
//! Virtual time wraps, as in the kernel: it has no `Ord`, only [`Vtime::before`] and
//! [`Vtime::since`], which compare by signed difference (specification A.1).

use core::fmt;
use core::ops::{Add, AddAssign, Sub};

/// A span or a point of real time in nanoseconds. The origin is the start of the run.
///
/// ```
/// use reweight_lab::model::units::Ns;
/// assert_eq!(Ns::from_ms(3) + Ns::from_us(1), Ns(3_001_000));
/// assert_eq!(Ns(1).saturating_sub(Ns(2)), Ns(0));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ns(pub u64);

impl Ns {
    /// The instant that never comes.
    pub const NEVER: Ns = Ns(u64::MAX);

    /// `us` microseconds; saturates.
    pub const fn from_us(us: u64) -> Ns {
        Ns(us.saturating_mul(1_000))
    }

    /// `ms` milliseconds; saturates.
    pub const fn from_ms(ms: u64) -> Ns {
        Ns(ms.saturating_mul(1_000_000))
    }

    /// `s` seconds; saturates.
    pub const fn from_secs(s: u64) -> Ns {
        Ns(s.saturating_mul(1_000_000_000))
    }

    /// `self - earlier`, or zero when `earlier` is later.
    pub const fn saturating_sub(self, earlier: Ns) -> Ns {
        Ns(self.0.saturating_sub(earlier.0))
    }

    /// `self + span`, or [`Ns::NEVER`].
    pub const fn saturating_add(self, span: Ns) -> Ns {
        Ns(self.0.saturating_add(span.0))
    }
}

impl Add for Ns {
    type Output = Ns;
    fn add(self, span: Ns) -> Ns {
        Ns(self.0 + span.0)
    }
}

impl AddAssign for Ns {
    fn add_assign(&mut self, span: Ns) {
        self.0 += span.0;
    }
}

impl Sub for Ns {
    type Output = Ns;
    fn sub(self, earlier: Ns) -> Ns {
        Ns(self.0 - earlier.0)
    }
}

/// A point of virtual time: nanoseconds of service a nice-0 task would have had. Wraps.
///
/// ```
/// use reweight_lab::model::units::Vtime;
/// let late = Vtime(u64::MAX);
/// let later = late.plus(2);
/// assert!(late.before(later));
/// assert_eq!(later.since(late), 2);
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Vtime(pub u64);

impl Vtime {
    /// Where the virtual clock of a root queue starts: -(2^20) (specification A.1).
    pub const START: Vtime = Vtime((-(1i64 << 20)) as u64);

    /// Signed difference `self - earlier`, as the kernel compares.
    pub const fn since(self, earlier: Vtime) -> i64 {
        self.0.wrapping_sub(earlier.0) as i64
    }

    /// Whether `self` lies strictly before `other`.
    pub const fn before(self, other: Vtime) -> bool {
        self.since(other) < 0
    }

    /// The later of the two.
    pub const fn max(self, other: Vtime) -> Vtime {
        if self.before(other) { other } else { self }
    }

    /// The earlier of the two.
    pub const fn min(self, other: Vtime) -> Vtime {
        if other.before(self) { other } else { self }
    }

    /// `self + delta`, wrapping.
    pub const fn plus(self, delta: i64) -> Vtime {
        Vtime(self.0.wrapping_add(delta as u64))
    }

    /// The value as the kernel prints it: a signed count of nanoseconds.
    pub const fn signed(self) -> i64 {
        self.0 as i64
    }
}

impl fmt::Debug for Vtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "v{}", self.signed())
    }
}

macro_rules! handle {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// The position in the machine's table of such things.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

handle!(
    /// A task, numbered in the order of creation; forks count on.
    ///
    /// ```
    /// use reweight_lab::model::units::TaskId;
    /// assert_eq!(TaskId(2).index(), 2);
    /// ```
    TaskId
);
handle!(
    /// A mutex.
    ///
    /// ```
    /// use reweight_lab::model::kernel::{Kernel, Settings};
    /// use reweight_lab::model::machine::{Machine, Protocol};
    /// use reweight_lab::model::units::LockId;
    /// let mut machine = Machine::new(Settings::new(Kernel::V6_12));
    /// assert_eq!(machine.add_lock(Protocol::Inherit), LockId(0));
    /// ```
    LockId
);
handle!(
    /// A CPU, each with a run queue of its own.
    ///
    /// ```
    /// use reweight_lab::model::kernel::{Kernel, Settings};
    /// use reweight_lab::model::machine::Machine;
    /// use reweight_lab::model::units::CpuId;
    /// let machine = Machine::new(Settings::new(Kernel::V6_12));
    /// assert_eq!(machine.current(CpuId(0)), None);
    /// ```
    CpuId
);
handle!(
    /// A condition variable (also the place where `suspend` sleeps).
    ///
    /// ```
    /// use reweight_lab::model::kernel::{Kernel, Settings};
    /// use reweight_lab::model::machine::Machine;
    /// use reweight_lab::model::units::CondId;
    /// let mut machine = Machine::new(Settings::new(Kernel::V6_12));
    /// assert_eq!(machine.add_condition(), CondId(0));
    /// ```
    CondId
);
handle!(
    /// A barrier with a fixed number of users.
    ///
    /// ```
    /// use reweight_lab::model::kernel::{Kernel, Settings};
    /// use reweight_lab::model::machine::Machine;
    /// use reweight_lab::model::units::BarrierId;
    /// let mut machine = Machine::new(Settings::new(Kernel::V6_12));
    /// assert_eq!(machine.add_barrier(2), BarrierId(0));
    /// ```
    BarrierId
);
handle!(
    /// A counting semaphore.
    ///
    /// ```
    /// use reweight_lab::model::kernel::{Kernel, Settings};
    /// use reweight_lab::model::machine::Machine;
    /// use reweight_lab::model::units::SemId;
    /// let mut machine = Machine::new(Settings::new(Kernel::V6_12));
    /// assert_eq!(machine.add_semaphore(1), SemId(0));
    /// ```
    SemId
);
handle!(
    /// A periodic timer: the next expiry it remembers.
    ///
    /// ```
    /// use reweight_lab::model::kernel::{Kernel, Settings};
    /// use reweight_lab::model::machine::Machine;
    /// use reweight_lab::model::units::TimerId;
    /// let mut machine = Machine::new(Settings::new(Kernel::V6_12));
    /// assert_eq!(machine.add_timer(), TimerId(0));
    /// ```
    TimerId
);
handle!(
    /// A task description that `fork` starts.
    ///
    /// ```
    /// use reweight_lab::model::kernel::{Kernel, Settings};
    /// use reweight_lab::model::machine::Machine;
    /// use reweight_lab::model::task::TaskSpec;
    /// use reweight_lab::model::units::TemplateId;
    /// let mut machine = Machine::new(Settings::new(Kernel::V6_12));
    /// let child = TaskSpec { scheduling: None, cpu: None, program: [].into(), resume_at: None };
    /// assert_eq!(machine.add_template(child), TemplateId(0));
    /// ```
    TemplateId
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn virtual_time_is_compared_by_difference_across_the_wrap() {
        let late = Vtime(u64::MAX - 5);
        let wrapped = late.plus(10);
        assert!(late.before(wrapped));
        assert!(!wrapped.before(late));
        assert_eq!(wrapped.since(late), 10);
        assert_eq!(late.max(wrapped), wrapped);
        assert_eq!(late.min(wrapped), late);
    }
}
