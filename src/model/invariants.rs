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
    // 23
    let on_cpu = m.cpus[task.cpu.index()].curr == Some(t);
    require((task.state == State::Running) <= on_cpu, of_task(23, t))?;
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
    // 32, the ideal: for every fair task that is not SCHED_IDLE
    let fair = task.class() == Class::Fair;
    let idle = task.sched.policy == Policy::Idle;
    if m.settings.pi == Variant::ReweightFixed && fair && !idle && !task.resumed {
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
    // 38
    let mut at = t;
    for _ in 0..m.tasks.len() {
        let Some(lock) = m.tasks[at.index()].pi_blocked_on else {
            break;
        };
        let Some(owner) = m.locks[lock.index()].owner else {
            break;
        };
        require(
            owner != t || m.locks[lock.index()].mode == Mode::Plain,
            of_task(38, t),
        )?;
        if owner == t {
            break;
        }
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
