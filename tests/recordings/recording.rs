//! Reading the kernel recordings kept in `tests/data/recordings`.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;

/// The folder of one recorded configuration.
pub fn folder(config: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/recordings")
        .join(config)
}

/// The text of a gzipped file.
pub fn gunzip(path: &Path) -> String {
    let file = File::open(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut text = String::new();
    GzDecoder::new(file)
        .read_to_string(&mut text)
        .expect("gzip of UTF-8 text");
    text
}

/// What `extract.py` took from a configuration's recordings.
pub fn measured(config: &str) -> serde_json::Value {
    let text = gunzip(&folder("measured").join(format!("{config}.json.gz")));
    serde_json::from_str(&text).expect("JSON")
}

/// The scenarios recorded under a configuration, by name.
pub fn scenarios(config: &str) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder(config))
        .expect("a configuration's folder")
        .filter_map(|e| {
            Some(
                e.ok()?
                    .file_name()
                    .to_str()?
                    .strip_suffix(".json.gz")?
                    .to_owned(),
            )
        })
        .collect();
    names.sort();
    names
}

/// What a scenario's file says.
pub fn scenario(config: &str, name: &str) -> serde_json::Value {
    let text = gunzip(&folder(config).join(format!("{name}.json.gz")));
    serde_json::from_str(&text).expect("JSON")
}

/// A line of a recorded trace, as far as replays need it.
#[derive(Clone, Debug)]
pub enum Line {
    /// `prev` (a pid) gives way to `next`; `prev_sleeps` unless it stays runnable.
    Switch {
        us: u64,
        prev: u64,
        prev_sleeps: bool,
        next: u64,
        next_prio: i32,
    },
    /// A task wakes.
    Wakeup { us: u64, pid: u64 },
    /// rt_mutex_setprio.
    SetPrio { us: u64 },
    /// `pid` is charged `ns` (only some traces have these).
    Runtime { us: u64, pid: u64, ns: u64 },
}

impl Line {
    pub fn us(&self) -> u64 {
        match *self {
            Line::Switch { us, .. }
            | Line::Wakeup { us, .. }
            | Line::SetPrio { us }
            | Line::Runtime { us, .. } => us,
        }
    }
}

fn field<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let at = line.find(&format!("{key}="))? + key.len() + 1;
    line[at..].split(' ').next()
}

/// The lines of a recorded trace, times in us of the monotonic clock.
pub fn trace(config: &str, name: &str) -> Vec<Line> {
    let text = gunzip(&folder(config).join(format!("{name}.trace.txt.gz")));
    let mut lines = Vec::new();
    for line in text.lines().filter(|l| !l.starts_with('#')) {
        let Some((head, what)) = line.split_once(": ") else {
            continue;
        };
        let stamp = head.rsplit(' ').next().expect("a time stamp");
        let (s, frac) = stamp.split_once('.').expect("seconds.microseconds");
        let us = s.parse::<u64>().unwrap() * 1_000_000 + frac.parse::<u64>().unwrap();
        let number = |key| field(what, key).and_then(|v| v.parse::<i64>().ok());
        if what.starts_with("sched_switch") {
            lines.push(Line::Switch {
                us,
                prev: number("prev_pid").unwrap() as u64,
                prev_sleeps: !field(what, "prev_state").unwrap().starts_with('R'),
                next: number("next_pid").unwrap() as u64,
                next_prio: number("next_prio").unwrap() as i32,
            });
        } else if what.starts_with("sched_wakeup:") {
            lines.push(Line::Wakeup {
                us,
                pid: number("pid").unwrap() as u64,
            });
        } else if what.starts_with("sched_pi_setprio") {
            lines.push(Line::SetPrio { us });
        } else if what.starts_with("sched_stat_runtime") {
            let (pid, ns) = (
                number("pid").unwrap() as u64,
                number("runtime").unwrap() as u64,
            );
            lines.push(Line::Runtime { us, pid, ns });
        }
    }
    lines
}
