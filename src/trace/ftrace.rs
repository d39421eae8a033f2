//! A run as ftrace text, as `/sys/kernel/tracing/trace` would show it.
//!
//! `sched_switch`, `sched_waking`, `sched_wakeup`, `sched_wakeup_new` and `sched_pi_setprio`, with
//! times in ns. Task n has pid 1000 + n. A task that waits for a lock or sleeps leaves in state S
//! (proxy execution models a kernel mutex: D), one that ends in X. Markers tell the beginning and
//! the end of the run, which no event would.

use std::io::{self, Write};

use super::simulate::Seconds;
use super::stream::{self, Context, WriteError, comm, pid};
use crate::model::machine::Machine;
use crate::model::observer::Event;
use crate::model::pi::Variant;
use crate::model::task::State;
use crate::model::units::{CpuId, TaskId};
use crate::workload::Scenario;

/// Runs a scenario and writes its trace.
///
/// # Errors
/// Those of the run and of `out`; what was written until then is a trace cut short.
pub fn write(scenario: Scenario, out: &mut dyn Write) -> Result<(), WriteError> {
    stream::write(scenario, Ftrace, out)
}

struct Ftrace;

const HEADER: &str = "\
#                                _-----=> irqs-off
#                               / _----=> need-resched
#                              | / _---=> hardirq/softirq
#                              || / _--=> preempt-depth
#                              ||| / _-=> migrate-disable
#                              |||| /     delay
#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION
#              | |         |   |||||     |         |
";

/// Which context an event comes from.
#[derive(Clone, Copy)]
enum From {
    Schedule,
    Syscall,
    Interrupt,
}

impl Context<'_> {
    /// The part of a line before the event's name: who was current, where, when.
    fn line(&mut self, cpu: CpuId, current: Option<TaskId>, from: From) -> io::Result<()> {
        let (name, pid) = match current {
            Some(t) => (comm(self.names.task(t)), pid(t)),
            None => ("<idle>".to_owned(), 0),
        };
        let flags = match from {
            From::Schedule => "d..2.",
            From::Syscall => "d..3.",
            From::Interrupt => "d.h3.",
        };
        write!(
            self.out,
            "{name:>16}-{pid:<7} [{:03}] {flags} {}: ",
            cpu.0,
            Seconds(self.machine.now())
        )
    }

    fn comm_pid(&self, task: Option<TaskId>, cpu: CpuId) -> (String, u32, i32) {
        match task {
            Some(t) => (
                comm(self.names.task(t)),
                pid(t),
                self.machine.task(t).prio(),
            ),
            None => (format!("swapper/{}", cpu.0), 0, 120),
        }
    }
}

/// The letter a task leaves the CPU with.
fn letter(machine: &Machine, task: Option<TaskId>) -> char {
    match task.map(|t| machine.task(t).state()) {
        None | Some(State::Running | State::Runnable) => 'R',
        Some(State::Blocked(_)) if machine.settings().pi == Variant::ProxyExec => 'D',
        Some(State::Blocked(_) | State::Sleeping) => 'S',
        Some(State::Ended) => 'X',
    }
}

impl stream::Format for Ftrace {
    fn begin(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        let cpus = context.machine.cpus();
        write!(
            context.out,
            "# tracer: nop\n#\n# simulated, #P:{cpus}\n#\n{HEADER}"
        )?;
        context.line(CpuId(0), None, From::Syscall)?;
        writeln!(context.out, "tracing_mark_write: reweight-lab: begin")
    }

    fn event(&mut self, context: &mut Context<'_>, event: &Event) -> io::Result<()> {
        let machine = context.machine;
        match *event {
            Event::Switch { cpu, prev, next } => {
                context.line(cpu, prev, From::Schedule)?;
                let (prev_comm, prev_pid, prev_prio) = context.comm_pid(prev, cpu);
                let (next_comm, next_pid, next_prio) = context.comm_pid(next, cpu);
                let state = letter(machine, prev);
                writeln!(
                    context.out,
                    "sched_switch: prev_comm={prev_comm} prev_pid={prev_pid} prev_prio={prev_prio} prev_state={state} ==> next_comm={next_comm} next_pid={next_pid} next_prio={next_prio}"
                )
            }
            Event::Wakeup { task, waker, new } => {
                let target = machine.task(task).cpu();
                let cpu = waker.map_or(target, |w| machine.task(w).cpu());
                let from = if waker.is_some() || new {
                    From::Syscall
                } else {
                    From::Interrupt
                };
                let events: &[&str] = if new {
                    &["sched_wakeup_new"]
                } else {
                    &["sched_waking", "sched_wakeup"]
                };
                let (comm, pid, prio) = context.comm_pid(Some(task), target);
                for name in events {
                    context.line(cpu, waker.or(machine.current(cpu)), from)?;
                    writeln!(
                        context.out,
                        "{name}: comm={comm} pid={pid} prio={prio} target_cpu={:03}",
                        target.0
                    )?;
                }
                Ok(())
            }
            Event::SetPrio {
                task,
                donor,
                old_prio,
                prio,
                ..
            } => {
                // Who waits lends on its own CPU; who unlocks gives back on its own.
                let cpu = machine.task(donor.unwrap_or(task)).cpu();
                context.line(cpu, machine.current(cpu), From::Syscall)?;
                let (comm, pid, _) = context.comm_pid(Some(task), cpu);
                writeln!(
                    context.out,
                    "sched_pi_setprio: comm={comm} pid={pid} oldprio={old_prio} newprio={prio}"
                )
            }
            _ => Ok(()),
        }
    }

    fn end(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        let current = context.machine.current(CpuId(0));
        context.line(CpuId(0), current, From::Syscall)?;
        writeln!(context.out, "tracing_mark_write: reweight-lab: end")
    }
}
