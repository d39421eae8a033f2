//! A task: policy, the three priorities, and what the fair class knows of it.
//!
//! `static_prio` is the nice level, `normal_prio` what the own policy gives, `prio` the effective
//! one: the best of `normal_prio` and the donor's. The class follows from `prio`, not from the
//! policy. Specification: A.2, A.7, C.3.

use super::kernel::Kernel;
use super::program::{Cursor, Program};
use super::rt_mutex::WaiterKey;
use super::units::{CpuId, LockId, Ns, TaskId, TemplateId, Vtime};
use super::weight::LoadWeight;

/// The lowest number that is not real-time.
pub const MAX_RT_PRIO: i32 = 100;
/// The prio of nice 0.
pub const DEFAULT_PRIO: i32 = 120;

/// A scheduling policy.
///
/// ```
/// use reweight_lab::model::task::Policy;
/// assert_eq!(Policy::Normal.name(), "SCHED_OTHER");
/// assert!(Policy::Batch.is_fair() && Policy::Rr.is_rt());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// SCHED_OTHER.
    Normal,
    /// SCHED_BATCH: fair, but does not preempt on wakeup.
    Batch,
    /// SCHED_IDLE: fair with weight 3.
    Idle,
    /// SCHED_FIFO.
    Fifo,
    /// SCHED_RR, quantum 100 ms.
    Rr,
    /// SCHED_DEADLINE, here only an abstract class above real time.
    Deadline,
}

impl Policy {
    /// NORMAL or BATCH: shares the CPU by nice.
    pub const fn is_fair(self) -> bool {
        matches!(self, Policy::Normal | Policy::Batch)
    }

    /// FIFO or RR.
    pub const fn is_rt(self) -> bool {
        matches!(self, Policy::Fifo | Policy::Rr)
    }

    /// As `sched(7)` writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Policy::Normal => "SCHED_OTHER",
            Policy::Batch => "SCHED_BATCH",
            Policy::Idle => "SCHED_IDLE",
            Policy::Fifo => "SCHED_FIFO",
            Policy::Rr => "SCHED_RR",
            Policy::Deadline => "SCHED_DEADLINE",
        }
    }
}

/// The class a prio belongs to, best first.
///
/// ```
/// use reweight_lab::model::task::{Class, class_of};
/// assert_eq!(class_of(130), Class::Fair);
/// assert!(class_of(50) < class_of(130));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// prio below 0.
    Deadline,
    /// prio 0..=99.
    Rt,
    /// prio 100..=139.
    Fair,
}

/// The class of an effective prio.
pub const fn class_of(prio: i32) -> Class {
    if prio < 0 {
        Class::Deadline
    } else if prio < MAX_RT_PRIO {
        Class::Rt
    } else {
        Class::Fair
    }
}

/// What a program, a control or `sched_setscheduler` asks for.
///
/// ```
/// use reweight_lab::model::task::Scheduling;
/// use reweight_lab::model::units::Ns;
/// let short = Scheduling { slice: Some(Ns::from_ms(1)), ..Scheduling::normal(5) };
/// assert_eq!(short.nice, 5);
/// assert_eq!(Scheduling::fifo(50).rt_priority, 50);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scheduling {
    /// The policy.
    pub policy: Policy,
    /// -20..=19; kept for real-time tasks too.
    pub nice: i32,
    /// 1..=99 for FIFO and RR, else 0.
    pub rt_priority: u8,
    /// A custom slice (6.12 and later); `None` is the base slice. Clamped to 0.1..=100 ms.
    pub slice: Option<Ns>,
    /// SCHED_DEADLINE only: the relative deadline that orders such tasks among themselves.
    pub deadline: Ns,
}

impl Scheduling {
    /// SCHED_OTHER at a nice level.
    pub const fn normal(nice: i32) -> Scheduling {
        Scheduling {
            policy: Policy::Normal,
            nice,
            rt_priority: 0,
            slice: None,
            deadline: Ns(0),
        }
    }

    /// SCHED_FIFO at a priority 1..=99.
    pub const fn fifo(rt_priority: u8) -> Scheduling {
        Scheduling {
            policy: Policy::Fifo,
            nice: 0,
            rt_priority,
            slice: None,
            deadline: Ns(0),
        }
    }

    /// Nice within -20..=19, as the kernel clamps it; the rt_priority of FIFO and RR within 1..=99,
    /// where the kernel would say EINVAL.
    pub(crate) fn clamped(mut self) -> Scheduling {
        self.nice = self.nice.clamp(-20, 19);
        if self.policy.is_rt() {
            self.rt_priority = self.rt_priority.clamp(1, 99);
        }
        self
    }

    /// The prio these parameters give without any donor (A.2).
    pub const fn normal_prio(&self) -> i32 {
        match self.policy {
            Policy::Deadline => -1,
            Policy::Fifo | Policy::Rr => 99 - self.rt_priority as i32,
            Policy::Normal | Policy::Batch | Policy::Idle => DEFAULT_PRIO + self.nice,
        }
    }

    /// The load these parameters give: 3 for SCHED_IDLE, else by nice.
    pub const fn load(&self) -> LoadWeight {
        match self.policy {
            Policy::Idle => LoadWeight::IDLE,
            _ => LoadWeight::of_nice(self.nice),
        }
    }
}

/// A task to be: what it is and what it does.
///
/// ```
/// use reweight_lab::model::program::Step;
/// use reweight_lab::model::task::{Scheduling, TaskSpec};
/// use reweight_lab::model::units::{CpuId, Ns};
/// let task = TaskSpec {
///     scheduling: Some(Scheduling::normal(10)),
///     cpu: Some(CpuId(0)),
///     program: [Step::Run(Ns::from_ms(5)), Step::Sleep(Ns::from_ms(5))].into(),
///     resume_at: None,
/// };
/// assert_eq!(task.program.len(), 2);
/// ```
#[derive(Clone, Debug)]
pub struct TaskSpec {
    /// Policy and nice at the start. `None` in a template: the forked task inherits its parent's.
    pub scheduling: Option<Scheduling>,
    /// The one CPU it is pinned to. `None` in a template: its parent's; else CPU0.
    pub cpu: Option<CpuId>,
    /// What it does.
    pub program: Program,
    /// Start in the middle: for replays of a recorded queue state.
    pub resume_at: Option<EntityState>,
}

/// The state of a queued fair task as a kernel prints it, to start a replay from.
///
/// ```
/// # use reweight_lab::model::kernel::{Kernel, Settings};
/// # use reweight_lab::model::machine::Machine;
/// # use reweight_lab::model::program::Step;
/// # use reweight_lab::model::units::Ns;
/// use reweight_lab::model::task::{EntityState, Scheduling, TaskSpec};
/// use reweight_lab::model::units::Vtime;
/// use reweight_lab::model::weight::LoadWeight;
/// let found = EntityState {
///     vruntime: Vtime(5_000_000),
///     deadline: Vtime(5_700_000),
///     slice: Ns(700_000),
///     prio: 120,
///     load: LoadWeight::of_nice(0),
///     asleep_until: None,
///     lag: 0,
/// };
/// let mut machine = Machine::new(Settings::new(Kernel::V6_12));
/// let task = machine.add_task(TaskSpec {
///     scheduling: Some(Scheduling::normal(0)),
///     cpu: None,
///     program: [Step::Run(Ns::from_secs(1))].into(),
///     resume_at: Some(found),
/// });
/// machine.run_until(Ns(1), &mut ())?;
/// assert!(machine.task(task).entity().vruntime.since(found.vruntime) >= 0);
/// # Ok::<(), reweight_lab::model::machine::Stalled>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct EntityState {
    /// Virtual runtime.
    pub vruntime: Vtime,
    /// Virtual deadline (EEVDF only).
    pub deadline: Vtime,
    /// Slice (EEVDF only).
    pub slice: Ns,
    /// The effective prio.
    pub prio: i32,
    /// The load, boosted or not.
    pub load: LoadWeight,
    /// Asleep until this instant; `None`: queued.
    pub asleep_until: Option<Ns>,
    /// What it was owed when it fell asleep, virtual ns (EEVDF only).
    pub lag: i64,
}

/// What a task is doing.
///
/// ```
/// # use reweight_lab::model::kernel::{Kernel, Settings};
/// # use reweight_lab::model::machine::Machine;
/// # use reweight_lab::model::program::Step;
/// # use reweight_lab::model::task::{Scheduling, TaskSpec};
/// # use reweight_lab::model::units::{CpuId, Ns, TaskId};
/// # let spin = |nice| TaskSpec {
/// #     scheduling: Some(Scheduling::normal(nice)),
/// #     cpu: None,
/// #     program: [Step::Run(Ns::from_secs(9))].into(),
/// #     resume_at: None,
/// # };
/// use reweight_lab::model::task::State;
/// let mut machine = Machine::new(Settings::new(Kernel::V6_12));
/// let (one, two) = (machine.add_task(spin(0)), machine.add_task(spin(0)));
/// machine.run_until(Ns(1), &mut ())?;
/// assert_eq!(machine.task(one).state(), State::Running);
/// assert_eq!(machine.task(two).state(), State::Runnable);
/// # Ok::<(), reweight_lab::model::machine::Stalled>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// On a CPU.
    Running,
    /// Runnable, waiting for its CPU.
    Runnable,
    /// Waiting for a lock.
    Blocked(LockId),
    /// Waiting for anything else: time, a condition, a barrier, a semaphore.
    Sleeping,
    /// Gone.
    Ended,
}

/// The scheduling entity: what the fair queue orders by (C.3).
///
/// ```
/// # use reweight_lab::model::kernel::{Kernel, Settings};
/// # use reweight_lab::model::machine::Machine;
/// # use reweight_lab::model::program::Step;
/// # use reweight_lab::model::task::{Scheduling, TaskSpec};
/// # use reweight_lab::model::units::{CpuId, Ns, TaskId};
/// # let spin = |nice| TaskSpec {
/// #     scheduling: Some(Scheduling::normal(nice)),
/// #     cpu: None,
/// #     program: [Step::Run(Ns::from_secs(9))].into(),
/// #     resume_at: None,
/// # };
/// let mut machine = Machine::new(Settings::new(Kernel::V6_12));
/// let task = machine.add_task(spin(10));
/// machine.run_until(Ns(1), &mut ())?;
/// let entity = machine.task(task).entity();
/// assert_eq!(entity.load.table_weight(), 110);
/// assert_eq!(entity.slice, 700_000);
/// # Ok::<(), reweight_lab::model::machine::Stalled>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entity {
    /// Stored weight and inverse.
    pub load: LoadWeight,
    /// Virtual runtime. On 6.1 relative to `min_vruntime` while off the queue for a move.
    pub vruntime: Vtime,
    /// Virtual deadline; relative to `vruntime` while `rel_deadline`.
    pub deadline: Vtime,
    /// Lag kept while off the queue; while running, the deadline that protects the slice (C.8).
    pub vlag: i64,
    /// Protection until this vruntime (6.17 and later).
    pub vprot: Vtime,
    /// The slice asked for, ns.
    pub slice: u64,
    /// Whether the slice was set by hand.
    pub custom_slice: bool,
    /// Whether `deadline` is relative.
    pub rel_deadline: bool,
    /// Asleep, but still queued until it has no more lag (C.9).
    pub sched_delayed: bool,
    /// In the fair queue (the running one counts).
    pub on_rq: bool,
    /// Start of the interval not accounted yet.
    pub exec_start: Ns,
    /// Real ns charged to this entity.
    pub charged: u64,
    /// `charged` when it was last set running.
    pub prev_charged: u64,
}

impl Entity {
    /// Whether the slice is protected when the entity has come to `vruntime` (C.8, C.14).
    pub(crate) fn protected_at(&self, vruntime: Vtime, kernel: &Kernel) -> bool {
        if kernel.vprot {
            vruntime.before(self.vprot)
        } else {
            self.vlag == self.deadline.signed()
        }
    }
}

/// A task of the machine.
///
/// ```
/// # use reweight_lab::model::kernel::{Kernel, Settings};
/// # use reweight_lab::model::machine::Machine;
/// # use reweight_lab::model::program::Step;
/// # use reweight_lab::model::task::{Scheduling, TaskSpec};
/// # use reweight_lab::model::units::{CpuId, Ns, TaskId};
/// # let spin = |nice| TaskSpec {
/// #     scheduling: Some(Scheduling::normal(nice)),
/// #     cpu: None,
/// #     program: [Step::Run(Ns::from_secs(9))].into(),
/// #     resume_at: None,
/// # };
/// let mut machine = Machine::new(Settings::new(Kernel::V6_12));
/// let id = machine.add_task(spin(10));
/// machine.run_until(Ns(1), &mut ())?;
/// let task = machine.task(id);
/// assert_eq!((task.nice(), task.prio(), task.weight()), (10, 130, 110));
/// assert_eq!(task.donor(), None);
/// # Ok::<(), reweight_lab::model::machine::Stalled>(())
/// ```
#[derive(Clone, Debug)]
pub struct Task {
    pub(crate) sched: Scheduling,
    pub(crate) normal_prio: i32,
    pub(crate) prio: i32,
    pub(crate) se: Entity,
    /// CPU time had, up to the last accounting.
    pub(crate) sum_exec: u64,
    pub(crate) cpu: CpuId,
    pub(crate) state: State,
    /// Queued in its class (a delayed task counts).
    pub(crate) on_rq: bool,
    /// RR: when the quantum ends, in CPU time.
    pub(crate) quantum_end: u64,
    /// DL: the absolute deadline that orders it, its own or lent.
    pub(crate) dl_deadline: Ns,
    /// DL: its own absolute deadline.
    pub(crate) dl_own: Ns,
    /// The cached donor (D.2).
    pub(crate) pi_top_task: Option<TaskId>,
    /// The lock it waits for, with the key under which it is queued there.
    pub(crate) pi_blocked_on: Option<LockId>,
    pub(crate) waiter_key: WaiterKey,
    /// The top waiter of each lock it owns (D.2).
    pub(crate) pi_waiters: super::rt_mutex::PiWaiters,
    pub(crate) held: Vec<LockId>,
    /// Proxy execution: the kernel mutex it waits for while it stays queued.
    pub(crate) blocked_donor: Option<LockId>,
    /// A signal came while it waited for a lock: it acts when the task runs.
    pub(crate) signal_pending: bool,
    /// Started from a recorded state: its load and prio are as found.
    pub(crate) resumed: bool,
    /// Which armed timer may still wake it.
    pub(crate) timer_token: u64,
    pub(crate) parent: Option<TaskId>,
    pub(crate) template: Option<TemplateId>,
    pub(crate) cursor: Cursor,
}

impl Task {
    /// The effective prio, 100..=139 for fair tasks (what `top` shows as PR is this minus 100).
    pub fn prio(&self) -> i32 {
        self.prio
    }

    /// The prio of the own policy, without any donor.
    pub fn normal_prio(&self) -> i32 {
        self.normal_prio
    }

    /// The nice level, never the lent one (`top`'s NI).
    pub fn nice(&self) -> i32 {
        self.sched.nice
    }

    /// The policy.
    pub fn policy(&self) -> Policy {
        self.sched.policy
    }

    /// The weight as in the kernel's table: 1024 is nice 0.
    pub fn weight(&self) -> u32 {
        self.se.load.table_weight()
    }

    /// What the fair class knows of the task.
    pub fn entity(&self) -> &Entity {
        &self.se
    }

    /// What the task is doing.
    pub fn state(&self) -> State {
        self.state
    }

    /// The CPU it is pinned to.
    pub fn cpu(&self) -> CpuId {
        self.cpu
    }

    /// The task whose priority it has, if any.
    pub fn donor(&self) -> Option<TaskId> {
        self.pi_top_task
    }

    /// The lock it waits for, if any (under every protocol).
    pub fn blocked_on(&self) -> Option<LockId> {
        self.pi_blocked_on
    }

    /// The locks it owns, in the order taken.
    pub fn held(&self) -> &[LockId] {
        &self.held
    }

    /// Who forked it, if anyone.
    pub fn parent(&self) -> Option<TaskId> {
        self.parent
    }

    /// From which template it was forked, if by a program.
    pub fn template(&self) -> Option<TemplateId> {
        self.template
    }

    /// Whether it runs or could: not asleep, blocked or ended.
    pub fn is_runnable(&self) -> bool {
        matches!(self.state, State::Running | State::Runnable)
    }

    pub(crate) fn class(&self) -> Class {
        class_of(self.prio)
    }
}
