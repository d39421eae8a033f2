//! A kernel version as a value: what differs between versions is a field, not a test.
//!
//! Specification: B.1 (CFS tunables and features), C.1, C.2, C.14 (EEVDF by version), I.

use super::pi::Variant;
use super::units::Ns;

/// Which fair queue.
///
/// ```
/// use reweight_lab::model::kernel::{Kernel, QueueKind};
/// assert_eq!(Kernel::V6_1.queue, QueueKind::Cfs);
/// assert_eq!(Kernel::V6_6.queue, QueueKind::Eevdf);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueKind {
    /// Completely Fair Scheduler: the least vruntime runs.
    Cfs,
    /// Earliest eligible virtual deadline first.
    Eevdf,
}

/// A kernel version: its queue, its normalised tunables (ns, for one CPU) and its rules.
///
/// ```
/// use reweight_lab::model::kernel::Kernel;
/// assert_eq!(Kernel::named("6.12"), Some(Kernel::V6_12));
/// // What a rule of 6.13 alone does: the kernel before it, with that one field changed.
/// let mine = Kernel { scales_rel_deadline: true, ..Kernel::V6_12 };
/// assert!(mine.delay_dequeue);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// As on the command line: `6.12`.
    pub name: &'static str,
    /// Which fair queue.
    pub queue: QueueKind,
    /// CFS: within which every task shall run once.
    pub latency: u64,
    /// CFS: the least slice.
    pub min_granularity: u64,
    /// CFS: how far behind a woken task must be to preempt, before weighing.
    pub wakeup_granularity: u64,
    /// CFS: the least slice of a SCHED_IDLE entity; not scaled by CPUs.
    pub idle_min_granularity: u64,
    /// CFS: from how many tasks the period grows.
    pub nr_latency: u64,
    /// EEVDF: the slice of a task that asked for none.
    pub base_slice: u64,
    /// EEVDF: a task may ask for its own slice, and a shorter one may preempt (6.12).
    pub custom_slice: bool,
    /// EEVDF: a sleeper that had more than its due stays queued until it has not (6.12).
    pub delay_dequeue: bool,
    /// EEVDF: a task moved while runnable keeps its deadline's distance (6.12).
    pub place_rel_deadline: bool,
    /// EEVDF: that distance is scaled when the weight changes (6.13).
    pub scales_rel_deadline: bool,
    /// EEVDF: the virtual clock's origin follows V (late 6.12.y); else `min_vruntime`.
    pub zero_vruntime: bool,
    /// EEVDF: slice protection is a vruntime of its own, shrunk by shorter slices (6.17).
    pub vprot: bool,
    /// EEVDF: `yield` gives up the whole rest of the slice (6.12.y: vruntime := deadline).
    pub yield_to_deadline: bool,
    /// The fair class picks before the previous task is put back (6.12); earlier only with groups.
    pub pick_before_put: bool,
    /// RT is throttled to 950 ms a second (6.1).
    pub rt_throttling: bool,
    /// A fair server gives starved fair tasks 50 ms a second (6.12).
    pub fair_server: bool,
    /// `sched_setattr` with nothing changed returns early (6.1, 6.6); later kernels compare slices.
    pub setattr_early_return: bool,
    /// `rt_prio()` is false for deadline tasks (6.12).
    pub rt_prio_excludes_dl: bool,
    /// Only known from published patches; no recording of it with the patch exists.
    pub from_patches: bool,
}

impl Kernel {
    /// 6.1.192: CFS.
    pub const V6_1: Kernel = Kernel {
        name: "6.1",
        queue: QueueKind::Cfs,
        latency: 6_000_000,
        min_granularity: 750_000,
        wakeup_granularity: 1_000_000,
        idle_min_granularity: 750_000,
        nr_latency: 8,
        base_slice: 750_000,
        custom_slice: false,
        delay_dequeue: false,
        place_rel_deadline: false,
        scales_rel_deadline: false,
        zero_vruntime: false,
        vprot: false,
        yield_to_deadline: false,
        pick_before_put: false,
        rt_throttling: true,
        fair_server: false,
        setattr_early_return: true,
        rt_prio_excludes_dl: false,
        from_patches: false,
    };

    /// 6.6: the first EEVDF.
    pub const V6_6: Kernel = Kernel {
        name: "6.6",
        queue: QueueKind::Eevdf,
        base_slice: 750_000,
        from_patches: true,
        ..Kernel::V6_1
    };

    /// 6.12.117: EEVDF with delayed dequeue, custom slices, a fair server.
    pub const V6_12: Kernel = Kernel {
        name: "6.12",
        queue: QueueKind::Eevdf,
        base_slice: 700_000,
        custom_slice: true,
        delay_dequeue: true,
        place_rel_deadline: true,
        zero_vruntime: true,
        yield_to_deadline: true,
        pick_before_put: true,
        rt_throttling: false,
        fair_server: true,
        setattr_early_return: false,
        rt_prio_excludes_dl: true,
        from_patches: false,
        ..Kernel::V6_6
    };

    /// 6.12 with the one rule of 6.13: a reweight scales the relative deadline too.
    pub const V6_13: Kernel = Kernel {
        name: "6.13",
        scales_rel_deadline: true,
        ..Kernel::V6_12
    };

    /// 6.18: slice protection by a vruntime of its own.
    pub const V6_18: Kernel = Kernel {
        name: "6.18",
        vprot: true,
        zero_vruntime: false,
        from_patches: true,
        ..Kernel::V6_13
    };

    /// Every kernel that can be chosen, oldest first.
    pub const ALL: [Kernel; 5] = [
        Kernel::V6_1,
        Kernel::V6_6,
        Kernel::V6_12,
        Kernel::V6_13,
        Kernel::V6_18,
    ];

    /// The kernel of that name (`6.12`).
    pub fn named(name: &str) -> Option<Kernel> {
        Kernel::ALL.into_iter().find(|k| k.name == name)
    }
}

/// Which tick rates can be chosen.
pub const HZ: [u32; 4] = [100, 250, 300, 1000];

/// The machine's settings: what real machines differ in.
///
/// ```
/// use reweight_lab::model::kernel::{Kernel, Settings};
/// let settings = Settings { hz: 250, cpus_online: 4, ..Settings::new(Kernel::V6_12) };
/// assert_eq!(settings.tick(), 4_000_000);
/// assert_eq!(settings.factor(), 3);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The kernel.
    pub kernel: Kernel,
    /// Ticks a second: 100, 250, 300 or 1000.
    pub hz: u32,
    /// Online CPUs: they scale the tunables; 8 counts as the most.
    pub cpus_online: u32,
    /// The variant of priority inheritance.
    pub pi: Variant,
    /// CONFIG_FAIR_GROUP_SCHED, as distributions build (I.2: matters on 6.1 only).
    pub fair_group_sched: bool,
    /// From a tick that asks for it to the reschedule, ns (I.1). The current task runs on and is
    /// charged. Not for wakeups that preempt: there the woken task is charged.
    pub resched_delay: Ns,
    /// When the first tick comes, ns after the start, less than a tick; zero is one tick in.
    pub tick_phase: Ns,
    /// CPU time that each tick takes from the current task's own work, ns.
    pub irq_cost: Ns,
    /// Whether RT throttling is on (`sched_rt_runtime_us` = 950000, else -1).
    pub rt_throttle: bool,
}

impl Settings {
    /// The defaults: HZ 1000, one CPU, the stock kernel, as distributions build it.
    pub const fn new(kernel: Kernel) -> Settings {
        Settings {
            kernel,
            hz: 1000,
            cpus_online: 1,
            pi: Variant::Stock,
            fair_group_sched: true,
            resched_delay: Ns(0),
            tick_phase: Ns(0),
            irq_cost: Ns(0),
            rt_throttle: true,
        }
    }

    /// Time between ticks, ns: the rounded quotient.
    pub const fn tick(&self) -> u64 {
        (1_000_000_000 + self.hz as u64 / 2) / self.hz as u64
    }

    /// By how much the tunables grow with the online CPUs: 1 + log2, 8 CPUs at most (B.1).
    pub const fn factor(&self) -> u64 {
        let cpus = if self.cpus_online > 8 {
            8
        } else {
            self.cpus_online
        };
        let cpus = if cpus == 0 { 1 } else { cpus };
        1 + cpus.ilog2() as u64
    }
}
