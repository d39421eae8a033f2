//! What must hold after every event (specification H.3). Checked in debug builds and under
//! fuzzing; a violation names the rule by its number there.

use super::kernel::QueueKind;
use super::machine::Machine;
use super::pi::{Variant, load_of_prio};
use super::rt_mutex::Mode;
use super::task::{Class, Policy, State};
use super::units::{CpuId, LockId, TaskId};
use super::weight::{LoadWeight, scale_load_down};

/// A broken invariant.
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
/// use reweight_lab::model::invariants;
/// let mut machine = Machine::new(Settings::new(Kernel::V6_12));
/// machine.add_task(spin(0));
/// machine.run_until(Ns::from_ms(10), &mut ())?;
/// if let Err(violation) = invariants::check(&machine) {
///     panic!("rule {} of H.3 is broken", violation.rule);
/// }
/// # Ok::<(), reweight_lab::model::machine::Stalled>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Its number in H.3.
    pub rule: u32,
    /// Whose, if a task's.
    pub task: Option<TaskId>,
    /// Where, if a CPU's.
    pub cpu: Option<CpuId>,
    /// Which, if a lock's.
    pub lock: Option<LockId>,
}

fn of_task(rule: u32, task: TaskId) -> Violation {
    Violation {
        rule,
        task: Some(task),
        cpu: None,
        lock: None,
    }
}

fn of_cpu(rule: u32, cpu: usize) -> Violation {
    Violation {
        rule,
        task: None,
        cpu: Some(CpuId(cpu as u32)),
        lock: None,
    }
}

fn of_lock(rule: u32, lock: usize) -> Violation {
    Violation {
        rule,
        task: None,
        cpu: None,
        lock: Some(LockId(lock as u32)),
    }
}

fn require(ok: bool, violation: Violation) -> Result<(), Violation> {
    if ok { Ok(()) } else { Err(violation) }
}

/// Holds the machine against every invariant that can be read off one state.
///
/// # Errors
/// The first one broken.
pub fn check(m: &Machine) -> Result<(), Violation> {
    time(m)?;
    for cpu in 0..m.cpus.len() {
        queue(m, cpu)?;
    }
    for i in 0..m.tasks.len() {
        task(m, TaskId(i as u32))?;
    }
    for lock in 0..m.locks.len() {
        mutex(m, lock)?;
    }
    Ok(())
}

/// 21: CPU time and idle time together are the time elapsed.
fn time(m: &Machine) -> Result<(), Violation> {
    let mut spent = vec![0u64; m.cpus.len()];
    for (i, task) in m.tasks.iter().enumerate() {
        spent[task.cpu.index()] += m.cpu_time(TaskId(i as u32)).0;
    }
    for (i, spent) in spent.iter().enumerate() {
        let idle = m.idle_time(CpuId(i as u32)).0;
        require(spent + idle == m.now.0, of_cpu(21, i))?;
    }
    Ok(())
}

fn queue(m: &Machine, i: usize) -> Result<(), Violation> {
    let cpu = &m.cpus[i];
    let q = &cpu.fair;
    let curr = q.curr.filter(|t| m.tasks[t.index()].se.on_rq);
    // 23
    require(
        q.nr_running as usize == q.tree.len() + usize::from(curr.is_some()),
        of_cpu(23, i),
    )?;
    let mut load = 0;
    let (mut sum, mut weight) = (0i64, 0i64);
    for t in q.tree.iter() {
        let se = &m.tasks[t.index()].se;
        require(se.on_rq && q.curr != Some(t), of_task(23, t))?;
        load += se.load.weight;
        let w = scale_load_down(se.load.weight) as i64;
        sum = sum.wrapping_add(se.vruntime.since(q.zero_vruntime).wrapping_mul(w));
        weight += w;
    }
    if let Some(t) = curr {
        load += m.tasks[t.index()].se.load.weight;
    }
    // 24
    require(load == q.load.weight, of_cpu(24, i))?;
    if m.settings.kernel.queue == QueueKind::Eevdf {
        require(sum == q.avg_vruntime && weight == q.avg_load, of_cpu(24, i))?;
        // 26, 27
        let view = m.queue_view(CpuId(i as u32));
        if !view.entities.is_empty() {
            let lag: i128 = view
                .entities
                .iter()
                .map(|e| i128::from(e.lag) * i128::from(e.weight.max(2)))
                .sum();
            require(lag <= 0 && -lag < i128::from(view.weight), of_cpu(26, i))?;
            require(view.entities.iter().any(|e| e.eligible), of_cpu(27, i))?;
        }
    }
    // 22: work conservation, once decisions are made
    if cpu.resched.is_none() && cpu.curr.is_none() {
        let waiting = q.tree.iter().any(|t| m.tasks[t.index()].is_runnable());
        let rt = !cpu.rt.throttled && cpu.rt.nr_rt() > 0;
        require(
            !waiting && !rt && cpu.rt.deadline_tasks().is_empty(),
            of_cpu(22, i),
        )?;
    }
    Ok(())
}

fn task(m: &Machine, t: TaskId) -> Result<(), Violation> {
    let task = &m.tasks[t.index()];
    // 23: running where it is pinned, and in the one list of its class and prio
    let cpu = &m.cpus[task.cpu.index()];
    let on_cpu = cpu.curr == Some(t);
    require((task.state == State::Running) <= on_cpu, of_task(23, t))?;
    let in_rt = cpu.rt.places(t);
    let at_prio = cpu.rt.is_at(t, task.prio);
    match task.class() {
        Class::Rt => require(
            in_rt == usize::from(task.on_rq) && at_prio == task.on_rq,
            of_task(23, t),
        )?,
        Class::Deadline => {
            let queued = cpu.rt.deadline_tasks().iter().filter(|&&d| d == t).count();
            require(
                queued == usize::from(task.on_rq) && in_rt == 0,
                of_task(23, t),
            )?;
        }
        Class::Fair => {
            let in_tree = cpu.fair.tree.iter().filter(|&u| u == t).count();
            let current = cpu.fair.curr == Some(t);
            require(
                in_tree == usize::from(task.se.on_rq && !current) && in_rt == 0,
                of_task(23, t),
            )?;
        }
    }
    // C.9: delayed means asleep and still queued; D.3: who waits for a lock does not compete else
    let delayed = task.se.sched_delayed;
    require(!delayed || task.se.on_rq, of_task(23, t))?;
    require(!delayed || !task.is_runnable(), of_task(22, t))?;
    require(!task.is_runnable() || task.on_rq, of_task(22, t))?;
    // 30
    let load = task.se.load;
    let known = load == LoadWeight::IDLE || (0..40).any(|i| load == LoadWeight::of_nice(i - 20));
    require(known, of_task(30, t))?;
    // 31; under a real-time or deadline policy a renice leaves the load alone (A.9 [2])
    let by_nice = task.sched.policy.is_fair() || task.sched.policy == Policy::Idle;
    if by_nice
        && matches!(
            m.settings.pi,
            Variant::Stock | Variant::None | Variant::ProxyExec
        )
        && !m.variant_switched
        && !task.resumed
    {
        require(load == task.sched.load(), of_task(31, t))?;
    }
    // 32, the ideal: for every fair task that is not SCHED_IDLE; the dead take no new weight
    let fair = task.class() == Class::Fair;
    let idle = task.sched.policy == Policy::Idle;
    let alive = task.state != State::Ended;
    if m.settings.pi == Variant::ReweightFixed && fair && !idle && alive && !task.resumed {
        require(load == load_of_prio(task.prio), of_task(32, t))?;
    }
    // 35
    require(!idle || load == LoadWeight::IDLE, of_task(35, t))?;
    // 33
    let lent = task.pi_top_task.is_some() || task.resumed;
    require(
        task.prio <= task.normal_prio || task.resumed,
        of_task(33, t),
    )?;
    require(lent || task.prio == task.normal_prio, of_task(33, t))?;
    // 34
    require(!task.se.on_rq || fair, of_task(34, t))?;
    require(!fair || task.on_rq == task.se.on_rq, of_task(34, t))?;
    // 36
    for entry in &task.pi_waiters {
        let lock = &m.locks[entry.lock.index()];
        require(lock.owner == Some(t), of_task(36, t))?;
        require(lock.waiters.first() == Some(&entry.task), of_task(36, t))?;
    }
    if let Some(lock) = task.pi_blocked_on {
        require(m.locks[lock.index()].waiters.contains(&t), of_task(36, t))?;
    }
    // 38. Of one protocol that looks for cycles: through a plain mutex, or from one protocol into
    // another, nobody can see one.
    let mut at = t;
    let mut kind = None;
    for _ in 0..m.tasks.len() {
        let Some(lock) = m.tasks[at.index()].pi_blocked_on else {
            break;
        };
        let lock = &m.locks[lock.index()];
        if lock.mode == Mode::Plain || *kind.get_or_insert(lock.mode) != lock.mode {
            break;
        }
        let Some(owner) = lock.owner else {
            break;
        };
        require(owner != t, of_task(38, t))?;
        at = owner;
    }
    Ok(())
}

fn mutex(m: &Machine, i: usize) -> Result<(), Violation> {
    let lock = &m.locks[i];
    let id = LockId(i as u32);
    for &w in &lock.waiters {
        require(m.tasks[w.index()].pi_blocked_on == Some(id), of_lock(36, i))?;
    }
    if let Some(owner) = lock.owner {
        require(m.tasks[owner.index()].held.contains(&id), of_lock(36, i))?;
    }
    if lock.mode == Mode::RtMutex {
        // 37
        for pair in lock.waiters.windows(2) {
            let key = |t: TaskId| m.tasks[t.index()].waiter_key;
            require(!key(pair[1]).less(key(pair[0])), of_lock(37, i))?;
        }
        // 36
        if let Some(owner) = lock.owner {
            let entries = m.tasks[owner.index()]
                .pi_waiters
                .iter()
                .filter(|e| e.lock == id)
                .count();
            require(
                entries == usize::from(!lock.waiters.is_empty()),
                of_lock(36, i),
            )?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    //! Every rule can fail: a sound machine, one thing in it spoilt, and the rule's number.
    use super::*;
    use crate::model::kernel::{Kernel, Settings};
    use crate::model::machine::Protocol;
    use crate::model::program::Step;
    use crate::model::task::{Scheduling, TaskSpec};
    use crate::model::units::{Ns, Vtime};

    const LOW: usize = 0;
    const BG: usize = 1;
    const HIGH: usize = 2;
    const LATE: usize = 3;
    const FIFO: usize = 4;

    /// The patch's test with a second waiter and a sleeping FIFO task, once both wait.
    fn machine(kernel: Kernel, pi: Variant) -> Machine {
        let mut settings = Settings::new(kernel);
        settings.pi = pi;
        let mut m = Machine::new(settings);
        let lock = m.add_lock(Protocol::Inherit);
        let spin = Step::Runtime(Ns::from_secs(1));
        let wait = |ms| Step::Sleep(Ns::from_ms(ms));
        for (scheduling, steps) in [
            (Scheduling::normal(10), vec![Step::Lock(lock), spin]),
            (Scheduling::normal(0), vec![spin]),
            (Scheduling::normal(0), vec![wait(100), Step::Lock(lock)]),
            (Scheduling::normal(5), vec![wait(110), Step::Lock(lock)]),
            (Scheduling::fifo(1), vec![wait(500)]),
        ] {
            m.add_task(TaskSpec {
                scheduling: Some(scheduling),
                cpu: None,
                program: steps.into(),
                resume_at: None,
            });
        }
        let mut at = Ns::from_ms(9);
        while m.locks.is_empty() || m.locks[0].waiters.len() < 2 {
            assert!(at < Ns::from_ms(400), "both wait before long");
            m.run_until(at, &mut ()).unwrap();
            at += Ns::from_ms(1);
        }
        m
    }

    #[track_caller]
    fn broken(rule: u32, kernel: Kernel, pi: Variant, spoil: impl FnOnce(&mut Machine)) {
        let mut m = machine(kernel, pi);
        assert_eq!(check(&m), Ok(()));
        spoil(&mut m);
        assert_eq!(check(&m).expect_err("a broken rule").rule, rule);
    }

    #[track_caller]
    fn breaks(rule: u32, spoil: impl FnOnce(&mut Machine)) {
        broken(rule, Kernel::V6_12, Variant::Stock, spoil);
    }

    /// Which of low and bg waits in the tree.
    fn waiting(m: &Machine) -> usize {
        m.cpus[0].fair.tree.first().expect("one waits").index()
    }

    fn running(m: &Machine) -> usize {
        m.cpus[0].curr.expect("one runs").index()
    }

    #[test]
    fn rule_21_time_that_nobody_had() {
        breaks(21, |m| m.tasks[BG].sum_exec += 1);
    }

    #[test]
    fn rule_22_an_idle_cpu_with_somebody_waiting() {
        breaks(22, |m| {
            // Asleep by name, but still in line.
            let t = waiting(m);
            m.tasks[t].se.sched_delayed = true;
        });
        breaks(22, |m| m.tasks[HIGH].state = State::Runnable);
    }

    #[test]
    fn rule_23_in_no_queue_or_in_two() {
        breaks(23, |m| m.cpus[0].fair.nr_running += 1);
        breaks(23, |m| m.tasks[HIGH].state = State::Running);
        breaks(23, |m| {
            m.cpus[0].rt.enqueue_rt(TaskId(FIFO as u32), 98, false)
        });
        breaks(23, |m| {
            m.cpus[0].rt.enqueue_rt(TaskId(BG as u32), 98, false)
        });
        breaks(23, |m| m.tasks[HIGH].se.sched_delayed = true);
    }

    #[test]
    fn rule_24_sums_that_are_none() {
        breaks(24, |m| m.cpus[0].fair.load.weight += 1024);
        breaks(24, |m| m.cpus[0].fair.avg_vruntime += 1);
        breaks(24, |m| m.cpus[0].fair.avg_load += 1);
    }

    #[test]
    fn rule_30_a_weight_of_no_table() {
        breaks(30, |m| m.tasks[HIGH].se.load.inverse += 1);
    }

    #[test]
    fn rule_31_the_stock_kernel_changes_no_weight() {
        breaks(31, |m| m.tasks[HIGH].se.load = LoadWeight::of_nice(-5));
    }

    #[test]
    fn rule_32_the_ideal_weight_follows_the_prio() {
        broken(32, Kernel::V6_12, Variant::ReweightFixed, |m| {
            m.tasks[HIGH].se.load = LoadWeight::of_nice(10);
        });
    }

    #[test]
    fn rule_33_a_prio_that_nobody_lent() {
        breaks(33, |m| m.tasks[HIGH].prio = 121);
        breaks(33, |m| m.tasks[HIGH].prio = 110);
    }

    #[test]
    fn rule_34_queued_in_a_class_not_its_own() {
        breaks(34, |m| m.tasks[HIGH].on_rq = true);
    }

    #[test]
    fn rule_35_an_idle_task_weighs_three() {
        broken(35, Kernel::V6_12, Variant::Reweight, |m| {
            m.tasks[HIGH].sched.policy = Policy::Idle;
        });
    }

    #[test]
    fn rule_36_who_waits_and_who_owns() {
        breaks(36, |m| m.tasks[HIGH].pi_blocked_on = None);
        breaks(36, |m| m.tasks[BG].pi_blocked_on = Some(LockId(0)));
        breaks(36, |m| m.tasks[LOW].pi_waiters.clear());
        breaks(36, |m| {
            m.tasks[LOW].pi_waiters[0].task = TaskId(LATE as u32)
        });
        breaks(36, |m| m.tasks[LOW].held.clear());
    }

    #[test]
    fn rule_37_waiters_out_of_order() {
        breaks(37, |m| m.tasks[LATE].waiter_key.prio = 50);
    }

    #[test]
    fn rule_38_a_task_that_waits_for_itself() {
        breaks(38, |m| {
            m.locks[0].waiters.push(TaskId(LOW as u32));
            m.tasks[LOW].pi_blocked_on = Some(LockId(0));
        });
    }

    #[test]
    fn the_rules_of_a_queue_see_a_misplaced_entity() {
        broken(24, Kernel::V6_12, Variant::Stock, |m| {
            let t = waiting(m);
            m.tasks[t].se.vruntime = Vtime(7);
        });
        broken(23, Kernel::V6_1, Variant::Stock, |m| {
            let t = running(m);
            m.tasks[t].se.on_rq = false;
        });
    }
}
