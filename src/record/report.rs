//! From what was measured to the report: the model's shape, and beside it what the machine is.

use std::collections::HashMap;

use super::clock;
use super::plan::Plan;
use super::rights::policy_of;
use super::run::Measured;
use super::shared::Snapshot;
use super::thread::{End, Sample, Thread};
use super::{Recorded, proc};
use crate::model::task::{DEFAULT_PRIO, Policy, Scheduling};
use crate::model::units::Ns;
use crate::trace::read;
use crate::trace::report::{FORMAT, Report, Shares, TaskReport, TaskShare, WindowReport};

/// The version of [`MachineReport`].
pub const MACHINE_FORMAT: u32 = 1;

/// A report with the machine it was made on.
///
/// ```no_run
/// # use reweight_lab::record::{self, record};
/// # use reweight_lab::workload::{self, Workload};
/// # let text = r#"{ "tasks": { "a": { "loop": 1, "run": 1000 } }, "lab": { "duration": 20000 } }"#;
/// # let scenario = Workload::parse(text, "mine.json")?.build(&workload::Options::default())?;
/// let report = record(scenario, record::Options::default())?.report;
/// assert_eq!(report.report.pi, "kernel");
/// assert_eq!(report.report.decisions, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct RecordReport {
    /// As `simulate` gives it. `kernel` is the series of the release, `pi` is `kernel`,
    /// `decisions` is 0: a kernel does not tell.
    #[serde(flatten)]
    pub report: Report,
    /// Where it ran.
    pub machine: MachineReport,
}

/// Where a workload was recorded.
///
/// ```no_run
/// # use reweight_lab::record::{self, record};
/// # use reweight_lab::workload::{self, Workload};
/// # let text = r#"{ "tasks": { "a": { "loop": 1, "run": 1000 } }, "lab": { "duration": 20000 } }"#;
/// # let scenario = Workload::parse(text, "mine.json")?.build(&workload::Options::default())?;
/// let machine = record(scenario, record::Options::default())?.report.machine;
/// println!("Linux {} on {}, {} ticks a second", machine.release, machine.arch, machine.hz);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct MachineReport {
    /// The version of this shape: 1.
    pub format: u32,
    /// As `uname -r` prints it.
    pub release: String,
    /// As `uname -m` prints it.
    pub arch: String,
    /// The kernel's ticks a second.
    pub hz: u32,
    /// CPUs online.
    pub cpus_online: u32,
    /// The CPUs that stood for CPU0, CPU1, ... of the workload.
    pub cpus: Vec<usize>,
    /// Where switches and longest waits come from.
    pub figures: Figures,
    /// Time of these CPUs that was neither idle nor the workload's nor stolen, ns. The kernel
    /// counts idle time in hundredths of a second.
    pub other_ns: u64,
    /// Time of these CPUs that a hypervisor took, ns, in hundredths of a second.
    pub steal_ns: u64,
}

/// Where switches and longest waits come from.
///
/// ```
/// use reweight_lab::record::Figures;
/// assert_eq!(serde_json::to_string(&Figures::Tracefs)?, "\"tracefs\"");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Figures {
    /// The threads' own clocks and schedstat.
    Clocks,
    /// The kernel's scheduler events.
    Tracefs,
}

/// A window with its ends.
struct Span<'a> {
    name: &'a str,
    from: &'a Snapshot,
    to: &'a Snapshot,
    /// Among the longest waits the threads keep.
    slot: usize,
}

/// Switches and longest waits by window and thread, as the trace tells them.
type Traced = Vec<HashMap<i32, (u64, u64)>>;

/// Makes the report.
pub(super) fn assemble(plan: Plan, mut measured: Measured) -> Recorded {
    let boost = measured.shared.boost();
    let nothing = Snapshot::default();
    let last = measured.snapshots.last().map_or(&nothing, |(_, s)| s);
    let at = |edge: Ns| {
        let found = measured.snapshots.iter().find(|(at, _)| *at == edge);
        found.map_or(last, |(_, snapshot)| snapshot)
    };
    let mut spans: Vec<Span<'_>> = plan
        .windows
        .iter()
        .enumerate()
        .map(|(slot, window)| Span {
            name: &window.name,
            from: at(window.from),
            to: at(window.to),
            slot,
        })
        .collect();
    if let Some(boost) = &boost {
        spans.push(Span {
            name: "boosted",
            from: &boost.from,
            to: boost.to.as_ref().unwrap_or(last),
            slot: plan.windows.len(),
        });
    }
    let mut notices = plan.notices;
    let traced = match &measured.trace {
        Ok(text) => figures(text, &spans, &measured).map_err(|why| {
            format!("the kernel's events are not used ({why}): switches and longest waits are by the threads' own clocks")
        }),
        Err(why) => Err(format!(
            "tracefs cannot be used ({why}): switches and longest waits are by the threads' own clocks"
        )),
    };
    let windows: Vec<WindowReport> = spans
        .iter()
        .enumerate()
        .map(|(n, span)| {
            let traced = traced.as_ref().ok().map(|t| &t[n]);
            window(span, &measured.threads, traced)
        })
        .collect();
    let tasks: Vec<TaskReport> = measured
        .threads
        .iter()
        .zip(&measured.ends)
        .zip(&measured.away)
        .map(|((thread, end), away)| task(thread, end, *away))
        .collect();
    let first = measured.snapshots.first().map_or(&nothing, |(_, s)| s);
    let machine = machine(&measured, first, last, traced.is_ok());
    if let Err(why) = traced {
        notices.push(why);
    }
    let (refused, count) = measured.shared.refusals();
    let names: Vec<String> = measured.threads.iter().map(|t| t.name.clone()).collect();
    for refusal in &refused {
        notices.push(crate::trace::sentence(
            refusal,
            &names,
            &measured.shared.names,
        ));
    }
    if count > refused.len() as u64 {
        notices.push(format!(
            "and {} more refused calls",
            count - refused.len() as u64
        ));
    }
    if measured
        .ends
        .iter()
        .any(|e| e.stat.is_none() || e.weight.is_none())
    {
        notices.push(
            "/proc does not tell all prios and weights: where it does not, they are those of policy and nice level"
                .into(),
        );
    }
    notices.extend(measured.shared.denials());
    let holder = plan
        .holder
        .or_else(|| boost.map(|b| names[b.task.index()].clone()));
    if let Some(busy) = company(&machine, last.at.saturating_sub(first.at)) {
        notices.push(busy);
        notices.extend(holder.as_deref().and_then(|h| among_us(h, &windows)));
    }
    let report = Report {
        format: FORMAT,
        kernel: series(&machine.release),
        hz: machine.hz,
        cpus_online: machine.cpus_online,
        pi: "kernel".into(),
        duration_ns: last.at.0,
        switches: last.threads.iter().map(|s| s.switches).sum(),
        decisions: 0,
        tasks,
        windows,
        notices,
    };
    Recorded {
        report: RecordReport { report, machine },
        holder,
        trace: std::mem::replace(&mut measured.trace, Err(String::new())),
    }
}

/// `6.18` of `6.18.44-1-amd64`.
fn series(release: &str) -> String {
    let is_number = |s: &&str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    let minor = |s: &str| {
        s.split(|c: char| !c.is_ascii_digit())
            .next()
            .map(str::to_owned)
    };
    let mut parts = release.splitn(3, '.');
    match (parts.next().filter(is_number), parts.next().and_then(minor)) {
        (Some(major), Some(minor)) if !minor.is_empty() => format!("{major}.{minor}"),
        _ => "0.0".into(),
    }
}

fn window(
    span: &Span<'_>,
    threads: &[std::sync::Arc<Thread>],
    traced: Option<&HashMap<i32, (u64, u64)>>,
) -> WindowReport {
    let length = span.to.at.saturating_sub(span.from.at).0;
    let mut ran = 0;
    let share = |thread: &std::sync::Arc<Thread>| {
        let at = |s: &Snapshot| {
            s.threads
                .get(thread.id.index())
                .copied()
                .unwrap_or_default()
        };
        let (from, to): (Sample, Sample) = (at(span.from), at(span.to));
        let cpu = to.cpu.saturating_sub(from.cpu);
        ran += cpu;
        let (switches, wait) = match traced {
            Some(traced) => traced.get(&thread.tid()).copied().unwrap_or_default(),
            None => (
                to.switches.saturating_sub(from.switches),
                thread.longest_wait(span.slot),
            ),
        };
        // Two clocks read one after the other: a task alone on its CPU may seem to exceed it.
        let cpu = cpu.min(length);
        (
            thread.name.clone(),
            TaskShare::new(cpu, length, switches, wait.min(length)),
        )
    };
    let tasks = Shares(threads.iter().map(share).collect());
    let idle = |n: usize, s: &Snapshot| s.cpus.get(n).map_or(0, |c| c.idle);
    let idle: u64 = (0..span.to.cpus.len())
        .map(|n| idle(n, span.to).saturating_sub(idle(n, span.from)))
        .sum();
    let all = length * span.to.cpus.len() as u64;
    WindowReport {
        name: span.name.to_owned(),
        from_ns: span.from.at.0,
        to_ns: span.to.at.0,
        idle_ns: idle.min(all.saturating_sub(ran)),
        tasks,
    }
}

fn task(thread: &Thread, end: &End, (blocked, asleep): (u64, u64)) -> TaskReport {
    let life = end.at.saturating_sub(thread.began()).0;
    let policy = end
        .stat
        .and_then(|s| policy_of(s.policy))
        .unwrap_or(Policy::Normal);
    let own = thread.prio.load(std::sync::atomic::Ordering::Acquire);
    let nice = end
        .stat
        .map_or((own - DEFAULT_PRIO).clamp(-20, 19), |s| s.nice);
    let weight = end.weight.unwrap_or_else(|| {
        let scheduling = Scheduling {
            policy,
            ..Scheduling::normal(nice)
        };
        (scheduling.load().weight >> 10) as u32
    });
    // Clocks are read one after the other: the parts must not exceed the whole.
    let cpu = end.sample.cpu.min(life);
    let blocked = blocked.min(life - cpu);
    let asleep = asleep.min(life - cpu - blocked);
    TaskReport {
        name: thread.name.clone(),
        policy: policy.name().into(),
        nice,
        cpu_ns: cpu,
        wait_ns: life - cpu - blocked - asleep,
        sleep_ns: asleep,
        blocked_ns: blocked,
        prio: end.stat.map_or(own, |s| s.prio),
        weight,
    }
}

fn machine(measured: &Measured, first: &Snapshot, last: &Snapshot, traced: bool) -> MachineReport {
    let uname = rustix::system::uname();
    let online = std::fs::read_to_string("/sys/devices/system/cpu/online").ok();
    let online = online.as_deref().and_then(proc::count_cpus);
    let length = last.at.saturating_sub(first.at).0;
    let mut other = 0;
    let mut steal = 0;
    for (n, (to, from)) in last.cpus.iter().zip(&first.cpus).enumerate() {
        let ours: u64 = measured
            .threads
            .iter()
            .filter(|t| t.cpu == n)
            .filter_map(|t| last.threads.get(t.id.index()))
            .map(|s| s.cpu)
            .sum();
        let stolen = to.steal.saturating_sub(from.steal);
        let idle = to.idle.saturating_sub(from.idle);
        steal += stolen;
        other += length
            .saturating_sub(ours)
            .saturating_sub(idle)
            .saturating_sub(stolen);
    }
    MachineReport {
        format: MACHINE_FORMAT,
        release: uname.release().to_string_lossy().into_owned(),
        arch: uname.machine().to_string_lossy().into_owned(),
        hz: clock::hz(),
        cpus_online: online.unwrap_or(1),
        cpus: measured.shared.cpus.clone(),
        figures: if traced {
            Figures::Tracefs
        } else {
            Figures::Clocks
        },
        other_ns: other,
        steal_ns: steal,
    }
}

/// Whether the CPUs were the workload's alone.
fn company(machine: &MachineReport, length: Ns) -> Option<String> {
    let all = (length.0 * machine.cpus.len() as u64).max(1);
    let percent = |ns: u64| ns as f64 * 100.0 / all as f64;
    // Less is the kernel's own work, and the coarseness of its idle time.
    let grains = 20_000_000 * machine.cpus.len() as u64;
    let busy = machine.other_ns > grains && percent(machine.other_ns) > 1.0;
    let stolen = machine.steal_ns > grains && percent(machine.steal_ns) > 1.0;
    (busy || stolen).then(|| {
        let cpus: Vec<String> = machine.cpus.iter().map(|c| format!("CPU{c}")).collect();
        format!(
            "the machine was busy: of {}, other work had {:.1} % and the hypervisor took {:.1} %; shares are of the whole CPU",
            cpus.join(", "),
            percent(machine.other_ns),
            percent(machine.steal_ns)
        )
    })
}

/// The holder's part of what the workload itself had: what a busy machine leaves to compare.
fn among_us(holder: &str, windows: &[WindowReport]) -> Option<String> {
    let part = |window: &WindowReport| {
        let all: u64 = window.tasks.0.iter().map(|(_, task)| task.cpu_ns).sum();
        let own = window.tasks.get(holder)?.cpu_ns;
        let percent = own as f64 * 100.0 / all as f64;
        (all > 0).then(|| format!("{percent:.2} % ({})", window.name))
    };
    let parts: Vec<String> = windows.iter().filter_map(part).collect();
    (!parts.is_empty()).then(|| {
        format!(
            "of what the workload itself had of its CPUs, {holder} had {}",
            parts.join(", ")
        )
    })
}

/// Reads the kernel's text for what the clocks do not tell.
fn figures(text: &[u8], spans: &[Span<'_>], measured: &Measured) -> Result<Traced, String> {
    let windows = spans.iter().enumerate().map(|(n, span)| read::Window {
        name: format!("window {n}"),
        from: measured.shared.monotonic(span.from.at),
        to: measured.shared.monotonic(span.to.at),
    });
    let options = read::Options {
        windows: windows.collect(),
        // A silence is a CPU with nothing to do: this recording has no pauses.
        quiet: Ns::NEVER,
        ..read::Options::default()
    };
    let trace = read::read(text, options).map_err(|e| e.to_string())?;
    let reading = &trace.report.reading;
    if reading.lost_events + reading.overwritten > 0 {
        return Err("the kernel's buffer was too small for them".into());
    }
    let pids: HashMap<&str, u32> = trace
        .report
        .tasks
        .iter()
        .map(|t| (t.name.as_str(), t.pid))
        .collect();
    let of = |n: usize| {
        let name = format!("window {n}");
        let window = trace.report.windows.iter().find(|w| w.name == name);
        let tasks = window.map_or(&[][..], |w| &w.tasks);
        tasks
            .iter()
            .filter_map(|(name, share)| {
                let pid = *pids.get(name.as_str())?;
                Some((pid as i32, (share.switches, share.max_wait_ns)))
            })
            .collect()
    };
    Ok((0..spans.len()).map(of).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_series_is_the_first_two_numbers_of_the_release() {
        for (release, expected) in [
            ("6.18.44-fc-v857", "6.18"),
            ("6.1.0-13-amd64", "6.1"),
            ("6.12", "6.12"),
            ("7.0-rc1", "7.0"),
            ("strange", "0.0"),
            ("6.x", "0.0"),
        ] {
            assert_eq!(series(release), expected, "{release}");
        }
    }

    fn machine_with(other_ns: u64, steal_ns: u64) -> MachineReport {
        MachineReport {
            format: MACHINE_FORMAT,
            release: "6.18".into(),
            arch: "x86_64".into(),
            hz: 250,
            cpus_online: 2,
            cpus: vec![1],
            figures: Figures::Clocks,
            other_ns,
            steal_ns,
        }
    }

    #[test]
    fn on_a_busy_machine_the_holder_s_part_of_the_workload_s_own_time_is_told() {
        let window = |name: &str, low, bg| WindowReport {
            name: name.into(),
            from_ns: 0,
            to_ns: 1000,
            idle_ns: 0,
            tasks: Shares(vec![
                ("low".into(), TaskShare::new(low, 1000, 1, 0)),
                ("bg".into(), TaskShare::new(bg, 1000, 1, 0)),
            ]),
        };
        let windows = [
            window("before", 10, 90),
            window("never", 0, 0),
            window("after", 250, 250),
        ];
        assert_eq!(
            among_us("low", &windows).unwrap(),
            "of what the workload itself had of its CPUs, low had 10.00 % (before), 50.00 % (after)"
        );
        assert_eq!(among_us("nobody", &windows), None);
    }

    #[test]
    fn other_work_and_steal_are_told_above_one_percent_and_above_the_clock_s_grain() {
        let second = Ns(1_000_000_000);
        assert_eq!(company(&machine_with(9_000_000, 0), second), None);
        // Two grains of the kernel's count of idle time, on a short run.
        assert_eq!(company(&machine_with(20_000_000, 0), Ns(100_000_000)), None);
        for (machine, words) in [
            (machine_with(50_000_000, 0), "of CPU1, other work had 5.0 %"),
            (machine_with(0, 30_000_000), "the hypervisor took 3.0 %"),
        ] {
            let said = company(&machine, second).unwrap();
            assert!(said.contains(words), "{said}");
        }
    }
}
