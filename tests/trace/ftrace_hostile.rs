//! Input by chance and by malice: no panic, no growth without bound, the same answer for any split.
//! Every case is reproducible from its number.

use std::io::Read;
use std::path::Path;

use reweight_lab::model::units::Ns;
use reweight_lab::trace::read::{
    MAX_BOOSTS, MAX_MARKS, MAX_TASKS, Options, Reader, TraceReport, Window,
};

/// A small generator: what matters is that a case can be run again.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        self.0 >> 33
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

fn options() -> Options {
    let windows = vec![
        Window {
            name: "w".into(),
            from: Ns(0),
            to: Ns(u64::MAX),
        },
        Window {
            name: "empty".into(),
            from: Ns(9),
            to: Ns(3),
        },
    ];
    Options {
        windows,
        timeline: 1000,
        story: 1000,
        ..Options::default()
    }
}

/// Reads in pieces; an error is an answer too.
fn told(bytes: &[u8], piece: usize) -> Result<TraceReport, String> {
    let mut reader = Reader::new(options());
    for part in bytes.chunks(piece.max(1)) {
        reader.feed(part).map_err(|e| e.to_string())?;
    }
    let trace = reader.finish().map_err(|e| e.to_string())?;
    assert!(
        trace
            .timeline
            .segments
            .iter()
            .all(|s| s.from <= s.to && (s.task as usize) < trace.timeline.tasks.len())
    );
    if let Ok(what_if) = trace.what_if("spoilt") {
        assert!(what_if.workload.tasks.len() <= 64);
    }
    Ok(trace.report)
}

fn json(report: &Result<TraceReport, String>) -> String {
    match report {
        Ok(report) => serde_json::to_string(report).unwrap(),
        Err(e) => e.clone(),
    }
}

fn check(report: &TraceReport) {
    assert!(
        report.tasks.len() <= MAX_TASKS
            && report.boosts.len() <= MAX_BOOSTS
            && report.marks.len() <= MAX_MARKS
    );
    assert!(report.reading.unread_lines.len() <= 20 && report.reading.other.len() <= 257);
    for b in &report.boosts {
        for share in [b.share, b.share_if_stock, b.share_if_reweighted]
            .into_iter()
            .flatten()
        {
            assert!((0.0..=1.0000001).contains(&share), "{b:?}");
        }
        assert!(b.to_ns >= b.from_ns, "{b:?}");
    }
    for t in &report.tasks {
        assert!(t.cpu_ns <= report.duration_ns, "{t:?}");
    }
    report.write_text(&mut std::io::sink()).unwrap();
    report.write_csv(&mut std::io::sink()).unwrap();
    report.write_boosts_csv(&mut std::io::sink()).unwrap();
}

fn recorded() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/traces");
    let files = [
        "6.12hz1000-reweight-fifo_timeout_fair_remains.trace.txt.gz",
        "6.12hz1000-smp2-stock-smp_high_cpu1.trace.txt.gz",
        "host-6.18.44hz250-stock-low5.trace.txt.gz",
        "6.12hz1000-stock-fork_boosted.trace.txt.gz",
    ];
    let read = |file: &&str| {
        let mut text = Vec::new();
        let packed = std::fs::File::open(folder.join(file)).unwrap();
        flate2::read::GzDecoder::new(packed)
            .read_to_end(&mut text)
            .unwrap();
        text.truncate(30_000);
        text
    };
    files.iter().map(read).collect()
}

#[test]
fn bytes_by_chance_never_panic() {
    let mut chance = Chance(1);
    let tokens: &[&[u8]] = &[
        b"\n",
        b" ",
        b"-1",
        b"[000]",
        b"1.0:",
        b" sched_switch: ",
        b"prev_comm=",
        b" prev_pid=",
        b" ==> ",
        b"next_comm=",
        b" next_prio=120",
        b"CPU:0 [LOST 1 EVENTS]\n",
        b"##### CPU 1 buffer started ####\n",
        b"sys_futex(",
        b"uaddr: ",
        b"op: 86",
        b" prev_prio=-1",
        b":",
        b"99999999999999999999",
        b"\xff",
        b"\0",
    ];
    for case in 0..3000 {
        let mut bytes = Vec::new();
        for _ in 0..chance.below(60) {
            if case % 2 == 0 {
                bytes.extend_from_slice(tokens[chance.below(tokens.len())]);
            } else {
                bytes.push(chance.next() as u8);
            }
        }
        let whole = told(&bytes, usize::MAX);
        assert_eq!(json(&told(&bytes, 1)), json(&whole), "case {case}");
    }
}

#[test]
fn spoilt_traces_never_panic_and_any_split_gives_the_same() {
    let recorded = recorded();
    for case in 0..120 {
        let mut chance = Chance(1000 + case);
        let text = &recorded[chance.below(recorded.len())];
        let mut lines: Vec<Vec<u8>> = text.split(|&b| b == b'\n').map(<[u8]>::to_vec).collect();
        for _ in 0..chance.below(200) {
            let (at, other) = (chance.below(lines.len()), chance.below(lines.len()));
            match chance.below(8) {
                0 => drop(lines.remove(at)),
                1 => lines.swap(at, other),
                2 => {
                    let line = lines[other].clone();
                    lines.insert(at, line);
                }
                3 => {
                    let cut = chance.below(lines[at].len());
                    lines[at].truncate(cut);
                }
                4 => lines.insert(at, b"CPU:0 [LOST 7 EVENTS]".to_vec()),
                _ => {
                    // A digit is the likeliest to make a line mean something else.
                    let digits: Vec<usize> = (0..lines[at].len())
                        .filter(|&i| lines[at][i].is_ascii_digit())
                        .collect();
                    if !digits.is_empty() {
                        let digit = digits[chance.below(digits.len())];
                        lines[at][digit] = b'0' + chance.below(10) as u8;
                    }
                }
            }
            if lines.is_empty() {
                break;
            }
        }
        let bytes = lines.join(&b'\n');
        let whole = told(&bytes, usize::MAX);
        let split = told(&bytes, 1 + chance.below(3000));
        assert_eq!(json(&split), json(&whole), "case {case}");
        if let Ok(report) = &whole {
            check(report);
        }
    }
}

/// As many tasks, names, CPUs, boosts and markers as lines: the tables stay at their bounds.
#[test]
fn nothing_grows_with_the_number_of_lines() {
    let mut reader = Reader::new(options());
    for n in 0..60_000u64 {
        let (pid, cpu, us) = (n + 1, n % 64, n * 10);
        let time = format!("{}.{:06}", us / 1_000_000, us % 1_000_000);
        let head = format!("t{pid}-{pid} [{cpu:03}] d..2. {time}:");
        let line = match n % 6 {
            0 => format!(
                "{head} sched_switch: prev_comm=t{pid} prev_pid={pid} prev_prio=120 prev_state=R ==> next_comm=u next_pid={} next_prio=120\n",
                pid + 1
            ),
            1 => format!(
                "{head} sched_pi_setprio: comm=h{pid} pid={} oldprio=130 newprio=120\n",
                pid % 5000 + 1
            ),
            2 => format!(
                "{head} sched_wakeup: comm=w pid={} prio=120 target_cpu={cpu:03}\n",
                pid + 3
            ),
            3 => format!("{head} tracing_mark_write: marker number {n}\n"),
            4 => format!("{head} event_{n}: x\n"),
            _ => format!("line {n} is nothing\n"),
        };
        reader.feed(line.as_bytes()).unwrap();
    }
    let report = reader.finish().unwrap().report;
    check(&report);
    assert_eq!(report.tasks.len(), MAX_TASKS);
    assert!(
        report.notices.iter().any(|n| n.contains("tasks at a time")),
        "{:?}",
        report.notices
    );
    assert!(
        report
            .notices
            .iter()
            .any(|n| n.contains("boosts are not listed"))
    );
    assert!(report.notices.iter().any(|n| n.contains("markers beyond")));
}

/// Tasks that end make room, and their time is kept as a sum.
#[test]
fn ended_tasks_are_summed_up() {
    let mut reader = Reader::new(options());
    let count = 3 * MAX_TASKS as u64;
    for pid in 1..=count {
        let ms = pid;
        let line = format!(
            "t-{pid} [000] d..2. {}.{:03}: sched_switch: prev_comm=t prev_pid={pid} prev_prio=120 prev_state=X ==> next_comm=t next_pid={} next_prio=120\n",
            ms / 1000,
            ms % 1000,
            pid + 1
        );
        reader.feed(line.as_bytes()).unwrap();
    }
    let report = reader.finish().unwrap().report;
    check(&report);
    assert!(
        !report
            .notices
            .iter()
            .any(|n| n.contains("further ones were left out")),
        "{:?}",
        report.notices
    );
    let run: u64 = report.windows[0].tasks.iter().map(|(_, t)| t.cpu_ns).sum();
    assert_eq!(run, (count - 1) * 1_000_000);
    assert!(
        report.windows[0]
            .tasks
            .iter()
            .any(|(name, _)| name == "(ended)")
    );
    let asked: u64 = report.windows[1].tasks.iter().map(|(_, t)| t.cpu_ns).sum();
    assert_eq!(asked, run);
}

#[test]
fn times_at_the_edge_of_what_fits_do_no_harm() {
    let mut text = String::new();
    for (n, time) in [
        "4611686018.427387",
        "0.000001",
        "4611686018.000000",
        "4611686017.999999",
        "0.5",
        "1.0",
        "4000000000.0",
        "3.0",
    ]
    .iter()
    .enumerate()
    {
        for cpu in 0..50 {
            text += &format!(
                "t{cpu}-{} [{cpu:03}] d..2. {time}: sched_switch: prev_comm=t prev_pid={} prev_prio=120 prev_state=R ==> next_comm=t next_pid={} next_prio=120\n",
                cpu + 1,
                cpu + 1 + n,
                cpu + 2 + n
            );
        }
    }
    check(&told(text.as_bytes(), 4096).unwrap());
}
