//! What the kernel tells in /proc of a thread and of a CPU: text in, numbers out.

/// `/proc/self/task/TID/schedstat`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SchedStat {
    /// Runnable and waiting for a CPU, ns; a wait that still lasts is not in it.
    pub wait: u64,
    /// How often it was set running.
    pub switches: u64,
}

/// Reads schedstat: CPU time, waiting time, times set running.
pub(super) fn schedstat(text: &str) -> Option<SchedStat> {
    let mut numbers = text.split_ascii_whitespace().map(str::parse::<u64>);
    let _cpu = numbers.next()?.ok()?;
    Some(SchedStat {
        wait: numbers.next()?.ok()?,
        switches: numbers.next()?.ok()?,
    })
}

/// What a thread is, by `/proc/self/task/TID/stat`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stat {
    /// The effective prio: 120 is nice 0; a boost shows.
    pub prio: i32,
    /// The nice level.
    pub nice: i32,
    /// The policy's number.
    pub policy: u32,
}

/// Reads stat. The name in the second field may hold anything, blanks and brackets included.
pub(super) fn stat(text: &str) -> Option<Stat> {
    let behind_name = &text[text.rfind(')')? + 1..];
    // The first field here is the third of the file.
    let field = |n: usize| behind_name.split_ascii_whitespace().nth(n - 3);
    Some(Stat {
        // The file counts from the first prio that is not real time.
        prio: field(18)?.parse::<i32>().ok()? + crate::model::task::MAX_RT_PRIO,
        nice: field(19)?.parse().ok()?,
        policy: field(41)?.parse().ok()?,
    })
}

/// The load weight in `/proc/self/task/TID/sched`: 1024 is nice 0. The kernel keeps it a thousand
/// times finer there.
pub(super) fn weight(text: &str) -> Option<u32> {
    let line = text.lines().find(|l| l.starts_with("se.load.weight"))?;
    let value: u64 = line.rsplit(':').next()?.trim().parse().ok()?;
    u32::try_from(value >> 10).ok()
}

/// A CPU's line of `/proc/stat`, in ns (the file counts hundredths of a second).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CpuStat {
    /// Idle, waiting for input and output included.
    pub idle: u64,
    /// Taken by the hypervisor.
    pub steal: u64,
}

/// Reads one CPU of `/proc/stat`.
pub(super) fn cpu_stat(text: &str, cpu: usize) -> Option<CpuStat> {
    const USER_TICK: u64 = 10_000_000;
    let name = format!("cpu{cpu}");
    let line = text
        .lines()
        .find(|l| l.split_ascii_whitespace().next() == Some(&name))?;
    let ticks = |n: usize| -> Option<u64> { line.split_ascii_whitespace().nth(n)?.parse().ok() };
    Some(CpuStat {
        idle: (ticks(4)? + ticks(5).unwrap_or(0)) * USER_TICK,
        steal: ticks(8).unwrap_or(0) * USER_TICK,
    })
}

/// How many CPUs a list such as `0-3,8` names.
pub(super) fn count_cpus(list: &str) -> Option<u32> {
    let mut count = 0;
    for part in list.trim().split(',').filter(|p| !p.is_empty()) {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        let (from, to) = (from.parse::<u32>().ok()?, to.parse::<u32>().ok()?);
        count += to.checked_sub(from)? + 1;
    }
    Some(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedstat_is_three_numbers_of_which_the_last_two_are_used() {
        let expected = SchedStat {
            wait: 75_200,
            switches: 4,
        };
        assert_eq!(schedstat("123 75200 4\n"), Some(expected));
        for text in ["", "1 2", "1 x 3", "-1 2 3"] {
            assert_eq!(schedstat(text), None, "{text:?}");
        }
    }

    #[test]
    fn stat_is_read_behind_a_name_with_brackets_and_blanks() {
        let line = |name: &str| {
            format!(
                "77 ({name}) S 1 2 3 0 -1 4194560 5 0 0 0 0 0 0 0 30 10 4 0 99 1 2 184467440 1 1 0 0 0 0 0 0 0 0 0 0 17 1 0 3 0 0 0 0 0\n"
            )
        };
        for name in ["low", "a) R 9 (b", "x y", ""] {
            let expected = Stat {
                prio: 130,
                nice: 10,
                policy: 3,
            };
            assert_eq!(stat(&line(name)), Some(expected), "{name}");
        }
        assert_eq!(stat("77 (low) S 1 2"), None);
        assert_eq!(stat(""), None);
    }

    #[test]
    fn the_weight_is_a_thousandth_of_the_line_s() {
        let text =
            "low (77, #threads: 4)\n---\nse.vruntime    :  12.5\nse.load.weight   :    112640\n";
        assert_eq!(weight(text), Some(110));
        assert_eq!(weight("se.vruntime : 1\n"), None);
        assert_eq!(weight("se.load.weight : x\n"), None);
    }

    #[test]
    fn a_cpu_s_line_is_found_by_its_whole_name() {
        let text = "cpu  1 1 1 1 1 1 1 1 0 0\ncpu1 10 0 5 700 3 0 0 2 0 0\ncpu11 0 0 0 9 9 0 0 9 0 0\nintr 1\n";
        let expected = CpuStat {
            idle: 7_030_000_000,
            steal: 20_000_000,
        };
        assert_eq!(cpu_stat(text, 1), Some(expected));
        assert_eq!(cpu_stat(text, 2), None);
        assert_eq!(cpu_stat("cpu1 1 2 3\n", 1), None);
        // Kernels before 2.6.11 have no steal time.
        assert_eq!(cpu_stat("cpu0 1 2 3 4\n", 0).map(|c| c.steal), Some(0));
    }

    #[test]
    fn lists_of_cpus_are_counted() {
        for (list, count) in [("0\n", 1), ("0-3", 4), ("0-1,4,6-7\n", 5), ("\n", 0)] {
            assert_eq!(count_cpus(list), Some(count), "{list:?}");
        }
        for list in ["a", "3-1", "0-"] {
            assert_eq!(count_cpus(list), None, "{list:?}");
        }
    }

    /// Whatever else changes in these files, this kernel's must be understood.
    #[test]
    fn this_kernel_s_own_files_are_read() {
        let read = |path: &str| std::fs::read_to_string(path).unwrap();
        let own = stat(&read("/proc/thread-self/stat")).unwrap();
        assert!(
            (0..140).contains(&own.prio) && (-20..=19).contains(&own.nice),
            "{own:?}"
        );
        let text = read("/proc/stat");
        assert!((0..4096).any(|cpu| cpu_stat(&text, cpu).is_some()));
        if let Ok(text) = std::fs::read_to_string("/proc/thread-self/schedstat") {
            assert!(schedstat(&text).is_some(), "{text}");
        }
    }
}
