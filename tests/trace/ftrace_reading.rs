//! Reading ftrace text in all its shapes, and whatever else a file may hold.

use std::io::{Read, Write};
use std::path::Path;

use reweight_lab::trace::read::{Error, MAX_LINE, Options, Reader, TraceReport, read};

fn data(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/traces")
        .join(name);
    let mut text = String::new();
    flate2::read::GzDecoder::new(std::fs::File::open(path).unwrap())
        .read_to_string(&mut text)
        .unwrap();
    text
}

fn told(text: impl AsRef<[u8]>) -> TraceReport {
    read(text.as_ref(), Options::default()).unwrap().report
}

fn refused(text: impl AsRef<[u8]>) -> String {
    match read(text.as_ref(), Options::default()) {
        Ok(trace) => panic!("read: {:?}", trace.report.notices),
        Err(e) => e.to_string(),
    }
}

/// A line of the kernel in its parts: name, pid, CPU, flags, seconds, event, fields.
fn parts(line: &str) -> Option<(&str, &str, &str, &str, &str, &str, &str)> {
    let (head, rest) = line.split_at_checked(16)?;
    let rest = rest.strip_prefix('-')?;
    let (pid, rest) = rest.split_once(' ')?;
    let (cpu, rest) = rest.trim_start().strip_prefix('[')?.split_once(']')?;
    let (flags, rest) = rest.trim_start().split_once(' ')?;
    let (time, rest) = rest.trim_start().split_once(": ")?;
    let (event, fields) = rest.split_once(": ")?;
    Some((head.trim(), pid, cpu, flags, time, event, fields))
}

/// `prev_comm=a prev_pid=1 prev_prio=120 prev_state=S ==> next_comm=...` as trace-cmd's plugin has it.
fn short(event: &str, fields: &str) -> String {
    let field = |name: &str| {
        let at = fields.find(&format!("{name}=")).unwrap() + name.len() + 1;
        fields[at..]
            .split(" prev_")
            .next()
            .unwrap()
            .split(" next_")
            .next()
            .unwrap()
            .split(" ==>")
            .next()
            .unwrap()
    };
    match event {
        "sched_switch" => format!(
            "{}:{} [{}] {} ==> {}:{} [{}]",
            field("prev_comm"),
            field("prev_pid"),
            field("prev_prio"),
            field("prev_state"),
            field("next_comm"),
            field("next_pid"),
            field("next_prio")
        ),
        _ => fields.to_string(),
    }
}

type Shape = (&'static str, fn(&str) -> Option<String>);

/// Writers of the same trace. Those without flags cannot tell which wakeups preempt.
const SHAPES: &[Shape] = &[
    ("kernel", |line| Some(line.to_string())),
    ("four flags", |line| {
        let (comm, pid, cpu, flags, time, event, fields) = parts(line)?;
        Some(format!(
            "{comm:>16}-{pid:<7} [{cpu}] {} {time:>12}: {event}: {fields}",
            &flags[..4]
        ))
    }),
    ("tgid", |line| {
        let (comm, pid, cpu, flags, time, event, fields) = parts(line)?;
        Some(format!(
            "{comm:>16}-{pid:<7} ({pid:>7}) [{cpu}] {flags} {time:>12}: {event}: {fields}"
        ))
    }),
    ("latency format", |line| {
        let (comm, pid, cpu, flags, time, event, fields) = parts(line)?;
        let us: u64 = time.replace('.', "").parse().unwrap();
        let cpu: u32 = cpu.parse().unwrap();
        Some(format!(
            "{comm:>8}-{pid:<7} {cpu:>3}{flags} {us:>6}us!: {event}: {fields}"
        ))
    }),
    ("trace-cmd", |line| {
        let (comm, pid, cpu, flags, time, event, fields) = parts(line)?;
        let fields = short(event, fields);
        Some(format!(
            "{comm:>16}-{pid:<5} [{cpu}] {flags} {time:>12}000: {event}:         {fields}"
        ))
    }),
    ("cut at the left", |line| {
        let (comm, pid, cpu, flags, time, event, fields) = parts(line)?;
        Some(format!(
            "{comm}-{pid} [{cpu}] {flags} {time}: {event}: {fields}"
        ))
    }),
];

const WITHOUT_FLAGS: &[Shape] = &[
    ("perf", |line| {
        let (comm, pid, cpu, _, time, event, fields) = parts(line)?;
        Some(format!(
            "{comm:>16} {pid:>5} [{cpu}] {time:>12}:       sched:{event}: {fields}"
        ))
    }),
    ("perf with pid/tid and period", |line| {
        let (comm, pid, cpu, _, time, event, fields) = parts(line)?;
        Some(format!(
            "{comm} {pid}/{pid} [{cpu}] {time}:          1 sched:{event}: {}",
            short(event, fields)
        ))
    }),
    ("noirq-info", |line| {
        let (comm, pid, cpu, _, time, event, fields) = parts(line)?;
        Some(format!(
            "{comm:>16}-{pid:<7} [{cpu}] {time:>12}: {event}: {fields}"
        ))
    }),
];

fn rewritten(text: &str, shape: fn(&str) -> Option<String>) -> String {
    text.lines()
        .filter_map(shape)
        .map(|line| line + "\n")
        .collect()
}

fn essence(report: &TraceReport) -> String {
    let json = serde_json::json!({ "tasks": report.tasks, "windows": report.windows, "boosts": report.boosts });
    json.to_string()
}

#[test]
fn every_shape_gives_the_same_report() {
    for file in [
        "6.12hz1000-reweight-timeout.trace.txt.gz",
        "6.12hz1000-smp2-stock-smp_high_cpu1.trace.txt.gz",
    ] {
        let text = data(file);
        let plain = told(&text);
        for (name, shape) in SHAPES {
            let report = told(rewritten(&text, *shape));
            assert_eq!(
                report.reading.unread, 0,
                "{name}: {:?}",
                report.reading.unread_lines
            );
            assert_eq!(essence(&report), essence(&plain), "{file}: {name}");
        }
    }
}

#[test]
fn without_flags_times_agree_to_microseconds_and_verdicts_wholly() {
    for file in [
        "6.12hz1000-reweight-timeout.trace.txt.gz",
        "6.12hz1000-stock-base.trace.txt.gz",
    ] {
        let text = data(file);
        let plain = told(&text);
        for (name, shape) in WITHOUT_FLAGS {
            let report = told(rewritten(&text, *shape));
            assert_eq!(
                report.reading.unread, 0,
                "{name}: {:?}",
                report.reading.unread_lines
            );
            for (a, b) in report.tasks.iter().zip(&plain.tasks) {
                assert_eq!(a.name, b.name, "{name}");
                assert!(
                    a.cpu_ns.abs_diff(b.cpu_ns) < 100_000,
                    "{name} {}: {} {}",
                    a.name,
                    a.cpu_ns,
                    b.cpu_ns
                );
                assert!(
                    a.blocked_ns.abs_diff(b.blocked_ns) < 100_000,
                    "{name} {}: {} {}",
                    a.name,
                    a.blocked_ns,
                    b.blocked_ns
                );
            }
            let verdicts = |r: &TraceReport| {
                r.boosts
                    .iter()
                    .map(|b| (b.task.clone(), b.by.clone(), b.verdict))
                    .collect::<Vec<_>>()
            };
            assert_eq!(verdicts(&report), verdicts(&plain), "{name}");
        }
    }
}

#[test]
fn any_split_of_the_input_gives_the_same_report() {
    let text = data("6.12hz1000-stock-new-relock.trace.txt.gz");
    let whole = serde_json::to_string(&told(&text)).unwrap();
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(text.as_bytes()).unwrap();
    let packed = packed.finish().unwrap();
    for bytes in [text.as_bytes(), &packed] {
        for size in [1, 2, 7, 511, 512, 513, 4096, 100_000] {
            let mut reader = Reader::new(Options::default());
            for piece in bytes.chunks(size) {
                reader.feed(piece).unwrap();
            }
            assert!(reader.progress().bytes <= text.len() as u64);
            let report = reader.finish().unwrap().report;
            assert_eq!(serde_json::to_string(&report).unwrap(), whole, "{size}");
        }
    }
}

#[test]
fn what_is_no_text_is_refused_with_the_command_that_makes_it_one() {
    for (bytes, words) in [
        (&b"\x17\x08\x44tracing6\0\0\0"[..], "trace-cmd report"),
        (b"PERFILE2\x68\0\0\0", "perf script"),
        (b"2ELIFREP", "perf script"),
        (b"\xfd7zXZ\0\0", "xz -d"),
        (b"\x28\xb5\x2f\xfd", "zstd -d"),
        (b"BZh91AY", "bzip2 -d"),
        (b"PK\x03\x04", "unzip"),
        (b"\xff\xfea\0b\0", "UTF-16"),
        (b"\x0a\x10\x00\x01\x02\x03binary", "not text"),
        (b"\x7fELF\x02\x01\x01\0", "not text"),
        (b"", "found nothing"),
        (b"hello\nworld\n", "line 1"),
        (
            b"a-1 [000] 1.0: irq_handler_entry: irq=1\n",
            "record sched_switch",
        ),
    ] {
        let said = refused(bytes);
        assert!(said.contains(words), "{said}");
        assert!(said.lines().count() == 1 && said.len() < 250, "{said}");
    }
    // A packed one is looked into.
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(b"PERFILE2 and so on").unwrap();
    assert!(refused(packed.finish().unwrap()).contains("perf script"));
    // Refused at once, and ever after.
    let mut reader = Reader::new(Options::default());
    assert!(reader.feed(&[0; 512]).is_err());
    assert!(reader.feed(b"more").is_err());
    assert!(matches!(reader.finish(), Err(Error::NotText { .. })));
}

/// Two tasks that take turns of 10 ms on one CPU.
fn turns(count: u64) -> String {
    let mut text = String::new();
    for n in 0..count {
        let (a, b) = if n % 2 == 0 {
            ("a-1", "b-2")
        } else {
            ("b-2", "a-1")
        };
        let split = |t: &str| {
            t.split_once('-')
                .map(|(n, p)| (n.to_string(), p.to_string()))
                .unwrap()
        };
        let ((an, ap), (bn, bp)) = (split(a), split(b));
        let us = 1_000_000 + n * 10_000;
        text += &format!(
            "{an:>16}-{ap:<7} [000] d..2. {:>5}.{:06}: sched_switch: prev_comm={an} prev_pid={ap} prev_prio=120 prev_state=R ==> next_comm={bn} next_pid={bp} next_prio=120\n",
            us / 1_000_000,
            us % 1_000_000
        );
    }
    text
}

#[test]
fn what_cannot_be_read_is_told_by_line_and_the_rest_is_read() {
    let mut lines: Vec<String> = turns(100).lines().map(str::to_string).collect();
    lines[10] = "garbage".into();
    lines[20].truncate(70);
    lines.insert(30, "x".repeat(MAX_LINE + 1));
    lines.insert(
        40,
        "     b-2   [000] d..2. 1.385: irq_handler_entry: irq=24 name=x".into(),
    );
    let report = told(lines.join("\n") + "\n");
    let told_lines: Vec<u64> = report.reading.unread_lines.iter().map(|l| l.line).collect();
    assert_eq!((report.reading.unread, told_lines), (3, vec![11, 21, 31]));
    assert_eq!(report.reading.too_long, 1);
    assert!(report.reading.unread_lines[0].why.contains("TASK-PID"));
    assert!(report.reading.unread_lines[1].why.contains("sched_switch"));
    assert_eq!(
        (
            report.reading.other[0].name.as_str(),
            report.reading.other[0].count
        ),
        ("irq_handler_entry", 1)
    );
    assert!(report.notices[0].starts_with("3 lines could not be read: 11, 21, 31"));
    // Two switches are missing: the CPU contradicts itself there, and nobody is charged.
    assert_eq!(report.cpus[0].contradictions, 2);
    let a = &report.tasks[0];
    assert!(
        a.cpu_ns < 500_000_000 && a.cpu_ns > 450_000_000,
        "{}",
        a.cpu_ns
    );
}

#[test]
fn twenty_unread_lines_are_quoted_and_the_rest_counted() {
    let report = told(turns(10) + &"junk\n".repeat(100));
    assert_eq!(
        (report.reading.unread, report.reading.unread_lines.len()),
        (100, 20)
    );
    assert!(report.notices[0].starts_with("100 lines") && report.notices[0].ends_with("..."));
}

#[test]
fn lost_events_are_charged_to_nobody() {
    let mut lines: Vec<String> = turns(100).lines().map(str::to_string).collect();
    lines.drain(40..60);
    lines.insert(40, "CPU:0 [LOST 20 EVENTS]".into());
    let report = told(lines.join("\n") + "\n");
    assert_eq!(
        (report.reading.lost_events, report.cpus[0].lost_events),
        (20, 20)
    );
    // Line 39 to line 60: 21 turns of which nothing is known.
    assert_eq!(report.cpus[0].unknown_ns, 210_000_000);
    let run: u64 = report.tasks.iter().map(|t| t.cpu_ns).sum();
    assert_eq!(run, 990_000_000 - 210_000_000);
}

#[test]
fn small_steps_back_are_held_and_large_ones_begin_a_new_stretch() {
    let mut lines: Vec<String> = turns(100).lines().map(str::to_string).collect();
    lines.swap(50, 51);
    let report = told(lines.join("\n") + "\n");
    assert_eq!(
        (
            report.reading.clock.back_small,
            report.reading.clock.back_large
        ),
        (1, 0)
    );
    assert_eq!(report.reading.clock.back_most_ns, 10_000_000);
    assert_eq!(report.duration_ns, 990_000_000);

    let twice = turns(100) + &turns(100);
    let report = told(&twice);
    assert_eq!(
        (
            report.reading.clock.back_small,
            report.reading.clock.back_large
        ),
        (0, 1)
    );
    assert_eq!(report.duration_ns, 2 * 990_000_000);
    assert_eq!(
        report.tasks.iter().map(|t| t.cpu_ns).sum::<u64>(),
        2 * 990_000_000
    );
}

#[test]
fn one_wrong_time_does_not_move_the_rest() {
    let mut lines: Vec<String> = turns(1000).lines().map(str::to_string).collect();
    lines[500] = lines[500].replace("    6.000000", "    0.000001");
    let report = told(lines.join("\n") + "\n");
    assert_eq!(report.reading.clock.back_large, 1);
    assert!(
        report.duration_ns <= 9_990_000_000 + 6_000_000_000,
        "{}",
        report.duration_ns
    );
}

#[test]
fn a_truncated_file_is_read_up_to_where_it_ends() {
    let text = turns(100);
    let cut = &text[..text.len() - 5];
    let report = told(cut);
    assert!(report.reading.unfinished);
    assert_eq!(report.reading.unread, 0);
    assert_eq!(report.reading.events, 99);
    // Only the line's end is missing: a fair prio has three digits, so it is whole.
    let report = told(&text[..text.len() - 1]);
    assert_eq!(
        (report.reading.unfinished, report.reading.events),
        (false, 100)
    );
    // gzip cut in the middle.
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(turns(5000).as_bytes()).unwrap();
    let packed = packed.finish().unwrap();
    let report = told(&packed[..packed.len() / 2]);
    assert!(report.reading.events > 100);
    assert!(
        report.notices.iter().any(|n| n.contains("gzip")),
        "{:?}",
        report.notices
    );
}

#[test]
fn any_name_is_only_a_name() {
    for name in [
        "a b",
        "kworker/0:1",
        "x:y",
        "a => b",
        "==>",
        "[000]",
        "a-1 [000] 1.0:",
        "n\u{e4}me \u{1f980}",
        "<script>",
        "\"quoted\"",
        "=1+1",
        "a,b",
        "prev_pid=7",
        "]",
        "-5",
        "# not a remark",
    ] {
        let text = turns(20)
            .replace("prev_comm=a ", &format!("prev_comm={name} "))
            .replace("next_comm=a ", &format!("next_comm={name} "));
        let text = text.replace(&format!("{:>16}-1 ", "a"), &format!("{name:>16}-1 "));
        let report = told(&text);
        assert_eq!(
            report.reading.unread, 0,
            "{name}: {:?}",
            report.reading.unread_lines
        );
        let names: Vec<&str> = report.tasks.iter().map(|t| t.name.as_str()).collect();
        assert!(names.contains(&name), "{name}: {names:?}");
        let mut csv = Vec::new();
        report.write_csv(&mut csv).unwrap();
        report.write_text(&mut std::io::sink()).unwrap();
    }
    // Bytes that are no UTF-8 at all.
    let mut raw = Vec::new();
    for line in turns(20).lines() {
        for part in line.split_inclusive("comm=a") {
            raw.extend_from_slice(part.as_bytes());
            if part.ends_with("comm=a") {
                raw.extend_from_slice(b"\xff\xfe");
            }
        }
        raw.push(b'\n');
    }
    let report = told(&raw);
    assert_eq!(report.reading.unread, 0);
    assert!(report.tasks.iter().any(|t| t.name == "a\u{fffd}\u{fffd}"));
}

#[test]
fn tasks_of_one_name_are_told_apart_by_pid() {
    let report = told(
        turns(20)
            .replace("comm=b ", "comm=a ")
            .replace("               b-2 ", "               a-2 "),
    );
    let mut names: Vec<&str> = report.tasks.iter().map(|t| t.name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["a-1", "a-2"]);
    assert_eq!(report.windows[0].tasks.len(), 2);
}

/// A formula in a task's name stays text in a spreadsheet.
#[test]
fn csv_cells_are_quoted_and_never_formulas() {
    let report = told(
        turns(20)
            .replace("comm=a ", "comm==1,2 ")
            .replace("               a-1 ", "            =1,2-1 "),
    );
    let mut csv = Vec::new();
    report.write_csv(&mut csv).unwrap();
    let csv = String::from_utf8(csv).unwrap();
    assert!(csv.contains("\"'=1,2\""), "{csv}");
    assert!(
        csv.lines()
            .all(|l| l.starts_with("window,") || l.starts_with("all,"))
    );
}

#[test]
fn futex_calls_tell_a_lock_wait_from_a_sleep() {
    let head = |pid: u32, us: u32| {
        format!(
            "{:>16}-{pid:<7} [000] d..1. {:>5}.{:06}: ",
            format!("t{pid}"),
            us / 1_000_000,
            us % 1_000_000
        )
    };
    let switch = |a: u32, state: &str, b: u32| {
        format!(
            "sched_switch: prev_comm=t{a} prev_pid={a} prev_prio=120 prev_state={state} ==> next_comm=t{b} next_pid={b} next_prio=120\n"
        )
    };
    let mut text = String::new();
    text += &(head(1, 1_000)
        + "sys_futex(uaddr: 7f00, op: 86, val: 0, utime: 0, uaddr2: 0, val3: 0)\n");
    text += &(head(1, 1_100) + &switch(1, "S", 2));
    text += &(head(2, 5_100) + "sched_wakeup: comm=t1 pid=1 prio=120 target_cpu=000\n");
    text += &(head(2, 5_200) + &switch(2, "R", 1));
    text += &(head(1, 5_300) + "sys_futex -> 0x0\n");
    text += &(head(1, 6_000) + &switch(1, "S", 2));
    text += &(head(2, 9_000) + "sched_wakeup: comm=t1 pid=1 prio=120 target_cpu=000\n");
    text += &(head(2, 9_100) + &switch(2, "R", 1));
    let report = told(&text);
    assert_eq!(
        report.reading.unread, 0,
        "{:?}",
        report.reading.unread_lines
    );
    let t1 = report.tasks.iter().find(|t| t.pid == 1).unwrap();
    assert_eq!((t1.blocked_ns, t1.sleep_ns), (4_000_000, 3_000_000));
    assert_eq!((t1.wakeup.count, t1.wakeup.max_ns), (2, 100_000));
}

#[test]
fn markers_exits_and_a_reused_pid() {
    let head = |comm: &str, pid: u32, ms: u32| {
        format!(
            "{comm:>16}-{pid:<7} [000] ....  {:>5}.{:03}000: ",
            ms / 1000,
            ms % 1000
        )
    };
    let switch = |a: &str, p: u32, state: &str, b: &str, q: u32| {
        format!(
            "sched_switch: prev_comm={a} prev_pid={p} prev_prio=120 prev_state={state} ==> next_comm={b} next_pid={q} next_prio=120\n"
        )
    };
    let mut text = String::new();
    text += &(head("one", 5, 1) + "tracing_mark_write: rtapp_loop: event=start thread_loop=0\n");
    text += &(head("one", 5, 2) + "sched_process_exit: comm=one pid=5 prio=120\n");
    text += &(head("one", 5, 3) + &switch("one", 5, "X", "sh", 9));
    text += &(head("sh", 9, 4) + "sched_process_fork: comm=sh pid=9 child_comm=sh child_pid=5\n");
    text += &(head("sh", 9, 4) + "sched_wakeup_new: comm=sh pid=5 prio=120 target_cpu=000\n");
    text += &(head("sh", 9, 5) + &switch("sh", 9, "S", "sh", 5));
    text += &(head("two", 5, 9) + &switch("two", 5, "S", "swapper/0", 0));
    text += &(head("<idle>", 0, 12) + &switch("swapper/0", 0, "R", "sh", 9));
    let report = told(&text);
    assert_eq!(
        (report.marks.len(), report.marks[0].text.as_str()),
        (1, "rtapp_loop: event=start thread_loop=0")
    );
    let of = |name: &str| report.tasks.iter().find(|t| t.name == name).unwrap().cpu_ns;
    assert_eq!((of("one"), of("two")), (2_000_000, 4_000_000));
    assert_eq!(report.cpus[0].idle_ns, 3_000_000);
}

/// Where a ring was overwritten or read while it filled, the writer says so.
#[test]
fn remarks_about_what_is_missing_become_notices() {
    let text = format!(
        "# tracer: nop\n#\n# entries-in-buffer/entries-written: 100/250   #P:4\n#\n{}",
        turns(100)
    );
    let report = told(text);
    assert_eq!(
        (report.reading.overwritten, report.cpus_online),
        (150, Some(4))
    );
    assert!(
        report
            .notices
            .iter()
            .any(|n| n.starts_with("150 older events"))
    );
}
