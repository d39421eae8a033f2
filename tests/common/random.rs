//! Whole programs from bytes: every policy, lock, wait and change from outside, on any kernel under
//! any variant. For property tests and fuzzing; any bytes give a sound machine.
//!
//! A byte is a choice, and when they run out each choice is the first, so that a shorter input is a
//! simpler machine. Every round of a program computes for a while: time goes on.

use reweight_lab::model::kernel::{HZ, Kernel, Settings};
use reweight_lab::model::machine::{Control, Machine, Protocol};
use reweight_lab::model::pi::Variant;
use reweight_lab::model::program::{Program, Step};
use reweight_lab::model::task::{Policy, Scheduling, TaskSpec};
use reweight_lab::model::units::{
    BarrierId, CondId, CpuId, LockId, Ns, SemId, TaskId, TemplateId, TimerId, Vtime,
};

/// How long a random machine runs, ns of simulated time.
pub const LENGTH: Ns = Ns(40_000_000);

/// Bytes as choices.
#[derive(Clone, Copy, Debug)]
pub struct Choices<'a>(pub &'a [u8]);

impl Choices<'_> {
    /// 0..n, evenly for n up to 256; 0 when the bytes have run out.
    pub fn below(&mut self, n: usize) -> usize {
        let Some((&byte, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        byte as usize % n.max(1)
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    /// One time in `n`.
    fn rarely(&mut self, n: usize) -> bool {
        self.below(n) == n - 1
    }
}

/// What a machine has to name.
struct Parts {
    locks: u32,
    tasks: u32,
    cpus: u32,
    templates: u32,
}

/// The same bytes for the same number, as many as asked for.
pub fn bytes_of(seed: u64, len: usize) -> Vec<u8> {
    // splitmix64: the state moves by a constant, the output is mixed.
    let mut state = seed;
    let mut bytes = Vec::with_capacity(len + 8);
    while bytes.len() < len {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bytes.extend_from_slice(&(z ^ (z >> 31)).to_le_bytes());
    }
    bytes.truncate(len);
    bytes
}

fn scheduling(c: &mut Choices<'_>) -> Scheduling {
    let nice = c.of(&[0, 10, -10, 5, 19, -20, 1, -1]);
    let mut s = Scheduling::normal(nice);
    s.policy = c.of(&[
        Policy::Normal,
        Policy::Normal,
        Policy::Normal,
        Policy::Normal,
        Policy::Batch,
        Policy::Idle,
        Policy::Fifo,
        Policy::Rr,
        Policy::Deadline,
    ]);
    if s.policy.is_rt() {
        s.rt_priority = c.of(&[50, 1, 99]);
    }
    if s.policy == Policy::Deadline {
        s.deadline = Ns(c.of(&[10_000_000, 1_000_000]));
    }
    if c.rarely(4) {
        s.slice = Some(Ns(c.of(&[300_000, 5_000_000, 50_000, 200_000_000])));
    }
    s
}

fn span(c: &mut Choices<'_>) -> Ns {
    Ns(c.of(&[
        100_000, 1_000_000, 3_000, 700_001, 4_000_000, 0, 999_999, 20,
    ]))
}

/// A step that takes no lock, or one that a careful program would not do.
fn step(c: &mut Choices<'_>, parts: &Parts) -> Step {
    let lock = LockId(c.below(parts.locks as usize) as u32);
    let mutex = Some(lock);
    let cond = CondId(c.below(2) as u32);
    let sem = SemId(c.below(2) as u32);
    match c.below(20) {
        0..=5 => Step::Run(span(c)),
        6 => Step::Runtime(span(c)),
        7 | 8 => Step::Sleep(span(c)),
        9 => Step::Timer {
            timer: TimerId(0),
            period: Ns(span(c).0 + 1_000),
            relative: c.rarely(2),
        },
        10 => c.of(&[
            Step::Wait { cond, mutex },
            Step::Sync { cond, mutex },
            Step::Lock(lock),
            Step::Unlock(lock),
        ]),
        11 | 12 => c.of(&[Step::Signal(cond), Step::Broadcast(cond)]),
        13 => c.of(&[
            Step::Barrier(BarrierId(0)),
            Step::SemPost(sem),
            Step::SemWait(sem),
            Step::Resume(cond),
        ]),
        14 | 15 => Step::Yield,
        16 => Step::SetScheduler(scheduling(c)),
        17 => Step::SetNice {
            task: c
                .rarely(2)
                .then(|| TaskId(c.below(parts.tasks as usize + 1) as u32)),
            nice: c.of(&[0, 10, -20, 19, 5]),
        },
        _ if c.rarely(16) => Step::Exit,
        _ => Step::Sleep(Ns(50_000)),
    }
}

/// One to three locks around a few steps, released in any order, some with a timeout.
fn section(c: &mut Choices<'_>, parts: &Parts, steps: &mut Vec<Step>) {
    let mut held = Vec::new();
    for _ in 0..=c.below(3) {
        let lock = LockId(c.below(parts.locks as usize) as u32);
        if held.contains(&lock) && !c.rarely(8) {
            continue;
        }
        steps.push(if c.rarely(4) {
            let timeout = span(c);
            Step::LockTimed { lock, timeout }
        } else {
            Step::Lock(lock)
        });
        held.push(lock);
        for _ in 0..c.below(3) {
            steps.push(step(c, parts));
        }
    }
    steps.push(Step::Run(span(c)));
    while !held.is_empty() {
        let which = c.below(held.len());
        steps.push(Step::Unlock(held.swap_remove(which)));
        if c.rarely(4) {
            steps.push(step(c, parts));
        }
    }
}

/// Rounds of critical sections and other steps, for ever or a few times, each computing at least
/// 20 us.
fn program(c: &mut Choices<'_>, parts: &Parts, forks: bool) -> Program {
    let mut steps = Vec::new();
    if c.rarely(3) {
        steps.push(Step::Sleep(Ns(c.below(20) as u64 * 500_000)));
    }
    if forks && c.rarely(4) {
        let template = TemplateId(c.below(parts.templates as usize) as u32);
        steps.push(Step::Fork(template));
    }
    let head = steps.len() as u32;
    steps.push(Step::Loop {
        times: c.rarely(4).then_some(3),
        until: None,
        end: 0,
    });
    for _ in 0..=c.below(4) {
        if c.rarely(2) {
            section(c, parts, &mut steps);
        } else {
            steps.push(step(c, parts));
        }
    }
    steps.push(Step::Run(Ns(20_000 + span(c).0)));
    steps.push(Step::Next { head });
    let after = steps.len() as u32;
    if let Step::Loop { end, .. } = &mut steps[head as usize] {
        *end = after;
    }
    if forks && c.rarely(4) {
        steps.push(Step::Fork(TemplateId(0)));
    }
    if c.rarely(2) {
        steps.push(Step::Suspend(CondId(1)));
    }
    steps.into()
}

fn task(c: &mut Choices<'_>, parts: &Parts, forks: bool) -> TaskSpec {
    TaskSpec {
        scheduling: Some(scheduling(c)),
        cpu: Some(CpuId(c.below(parts.cpus as usize) as u32)),
        program: program(c, parts, forks),
        resume_at: None,
    }
}

fn control(c: &mut Choices<'_>, parts: &Parts) -> Control {
    // One more than there are: an impossible request is answered, too.
    let whom = TaskId(c.below(parts.tasks as usize + 1) as u32);
    match c.below(10) {
        0..=2 => Control::Nice {
            task: whom,
            nice: c.of(&[0, 10, -10, 19, -20, 5]),
        },
        3 | 4 => Control::Scheduler {
            task: whom,
            scheduling: scheduling(c),
        },
        5 => Control::Variant(c.of(&Variant::ALL)),
        6 => Control::Spawn(Box::new(task(c, parts, false))),
        7 => Control::LockTimeout {
            task: whom,
            at: Ns(c.below(40) as u64 * 1_000_000),
        },
        8 => Control::Signal { task: whom },
        _ => Control::Interrupt {
            cpu: CpuId(c.below(parts.cpus as usize) as u32),
            lasts: Ns(c.below(8) as u64 * 1_000),
        },
    }
}

/// The machine that these bytes are. To be run for [`LENGTH`].
pub fn machine(bytes: &[u8]) -> Machine {
    let c = &mut Choices(bytes);
    let mut settings = Settings::new(c.of(&Kernel::ALL));
    settings.pi = c.of(&Variant::ALL);
    settings.hz = c.of(&[HZ[3], HZ[1], HZ[2], HZ[0]]);
    settings.cpus_online = c.of(&[1, 2, 4, 8]);
    settings.fair_group_sched = !c.rarely(2);
    settings.resched_delay = Ns(c.of(&[0, 1_900]));
    settings.tick_phase = Ns(c.of(&[0, 300_000]));
    settings.irq_cost = Ns(c.of(&[0, 2_000]));
    settings.rt_throttle = !c.rarely(4);
    let parts = Parts {
        locks: 1 + c.below(4) as u32,
        tasks: 2 + c.below(11) as u32,
        cpus: 1 + u32::from(c.rarely(3)),
        templates: 1 + c.below(2) as u32,
    };
    let mut m = Machine::new(settings);
    if c.rarely(4) {
        // The virtual clock is about to wrap.
        m.set_min_vruntime(CpuId(0), Vtime(u64::MAX - 1_000_000));
    }
    for _ in 0..parts.locks {
        let plain = c.rarely(4);
        m.add_lock(if plain {
            Protocol::None
        } else {
            Protocol::Inherit
        });
    }
    for _ in 0..2 {
        m.add_condition();
        m.add_semaphore(1);
    }
    m.add_barrier(2);
    m.add_timer();
    for _ in 0..parts.templates {
        let mut spec = task(c, &parts, false);
        if c.rarely(2) {
            spec.scheduling = None;
            spec.cpu = None;
        }
        m.add_template(spec);
    }
    for _ in 0..parts.tasks {
        let spec = task(c, &parts, true);
        m.add_task(spec);
    }
    for _ in 0..c.below(16) {
        let at = Ns(c.below(200) as u64 * 200_000 + c.below(3) as u64 * 333);
        let change = control(c, &parts);
        m.control(at, change);
    }
    m
}
