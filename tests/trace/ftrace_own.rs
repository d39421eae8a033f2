//! Our own ftrace text, read back: the reader must find in it what the run did.

use std::sync::OnceLock;

use reweight_lab::model::pi::Variant;
use reweight_lab::trace::read::{Options, TraceReport, read};
use reweight_lab::trace::{Report, simulate};
use reweight_lab::workload::{self, Workload, presets};

struct Pair {
    what: String,
    stock: bool,
    run: Report,
    read: TraceReport,
}

/// Every preset under two variants: the run's own report, and what the reader says of its text.
fn pairs() -> &'static [Pair] {
    static PAIRS: OnceLock<Vec<Pair>> = OnceLock::new();
    PAIRS.get_or_init(|| {
        let variants = [Variant::Stock, Variant::Reweight];
        let each = presets::ALL
            .iter()
            .flat_map(|p| variants.map(|pi| pair(p, pi)));
        each.collect()
    })
}

fn pair(preset: &presets::Preset, pi: Variant) -> Pair {
    let what = format!("{} under {}", preset.name, pi.name());
    let workload = Workload::parse(preset.text, preset.name).unwrap();
    let options = workload::Options {
        pi: Some(pi),
        ..workload::Options::default()
    };
    let run = simulate(workload.build(&options).unwrap(), false)
        .unwrap()
        .report;
    let mut text = Vec::new();
    reweight_lab::trace::ftrace::write(workload.build(&options).unwrap(), &mut text).unwrap();
    let read = read(text.as_slice(), Options::default())
        .unwrap_or_else(|e| panic!("{what}: {e}"))
        .report;
    Pair {
        what,
        stock: pi == Variant::Stock,
        run,
        read,
    }
}

#[test]
fn every_preset_reads_back_to_the_nanosecond() {
    for Pair {
        what, run, read, ..
    } in pairs()
    {
        assert_eq!(
            read.reading.unread, 0,
            "{what}: {:?}",
            read.reading.unread_lines
        );
        assert_eq!(read.duration_ns, run.duration_ns, "{what}");
        assert_eq!(read.switches, run.switches, "{what}");
        assert!(read.cpus.iter().all(|c| c.contradictions == 0), "{what}");
        assert!(read.reading.gaps.is_empty(), "{what}: {:?}", read.notices);
        for (n, task) in run.tasks.iter().enumerate() {
            // The writer gives task n the pid 1000 + n; one that never had a line has no entry.
            let Some(told) = read.tasks.iter().find(|t| t.pid as usize == 1000 + n) else {
                assert_eq!(task.cpu_ns, 0, "{what}: {}", task.name);
                continue;
            };
            assert_eq!(told.cpu_ns, task.cpu_ns, "{what}: {}", task.name);
            assert!(told.wait_ns <= task.wait_ns, "{what}: {}", task.name);
        }
    }
}

/// A stock kernel never lets the share follow. (The patch as posted has its own ways not to.)
#[test]
fn verdicts_on_simulated_kernels() {
    let mut told = [0, 0];
    for Pair {
        what, stock, read, ..
    } in pairs()
    {
        for b in &read.boosts {
            assert!(!stock || b.verdict != "share-follows", "{what}: {b:?}");
            let right = if *stock { "prio-only" } else { "share-follows" };
            told[usize::from(*stock)] += usize::from(b.verdict == right);
        }
    }
    assert!(told[0] >= 10 && told[1] >= 10, "{told:?}");
}
