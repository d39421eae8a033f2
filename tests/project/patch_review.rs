//! `docs/patch-review.md` against reality: every figure of its table is run, every test and preset
//! it names exists.

use std::path::Path;

use reweight_lab::model::kernel::Kernel;
use reweight_lab::model::pi::Variant;
use reweight_lab::workload::{Options, Workload, presets};

/// How far a share may be from what the table says, points: it says one decimal, and phases of the
/// tick differ by kernel.
fn tolerance(share: f64) -> f64 {
    if share < 1.0 { 0.05 } else { 0.3 }
}

const COLUMNS: [Variant; 4] = [
    Variant::Stock,
    Variant::Reweight,
    Variant::ReweightV2,
    Variant::ReweightFixed,
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn review() -> String {
    std::fs::read_to_string(root().join("docs/patch-review.md")).expect("the document")
}

/// Every test function of the project.
fn tests() -> Vec<String> {
    let mut folders = vec![root().join("tests")];
    let mut names = Vec::new();
    while let Some(folder) = folders.pop() {
        for file in std::fs::read_dir(folder).expect("a folder of tests") {
            let path = file.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                names.extend(tests_of(&path));
            }
        }
    }
    names
}

/// The test functions of a file.
fn tests_of(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).expect("a source");
    let mut names = Vec::new();
    let mut is_test = false;
    for line in text.lines().map(str::trim) {
        if line == "#[test]" {
            is_test = true;
        } else if let Some(rest) = line.strip_prefix("fn ") {
            if is_test {
                names.push(rest.split('(').next().unwrap_or("").to_owned());
            }
            is_test = false;
        }
    }
    names
}

/// What a run came to: the share in the window, and prio and weight at its end.
#[derive(Clone, Copy, Debug)]
struct Cell {
    share: f64,
    prio: i32,
    weight: u32,
}

/// `50.0 % 120/1024`
fn cell(text: &str) -> Cell {
    let (share, rest) = text.split_once(" % ").unwrap_or_else(|| panic!("{text}"));
    let (prio, weight) = rest.split_once('/').expect("prio/weight");
    Cell {
        share: share.parse().expect("a share"),
        prio: prio.parse().expect("a prio"),
        weight: weight.parse().expect("a weight"),
    }
}

struct Row {
    number: u32,
    preset: String,
    window: String,
    /// Whose share: `low`, if the row names nobody.
    task: String,
    cells: [Cell; 4],
    test: String,
}

fn rows(text: &str) -> Vec<Row> {
    let mut rows = Vec::new();
    for line in text.lines().filter(|l| l.starts_with("| ")) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let Ok(number) = cells[0].parse() else {
            continue;
        };
        assert_eq!(cells.len(), 8, "{line}");
        let mut place = cells[2].split(", ");
        let mut next = || place.next().map(|name| name.trim_matches('`').to_owned());
        let (preset, window) = (next().expect("a preset"), next().expect("a window"));
        let task = next().unwrap_or_else(|| "low".to_owned());
        rows.push(Row {
            number,
            preset,
            window,
            task,
            cells: [3, 4, 5, 6].map(|i| cell(cells[i])),
            test: cells[7].trim_matches('`').to_owned(),
        });
    }
    rows
}

/// What a run of the row's preset comes to.
fn run(row: &Row, kernel: Kernel, pi: Variant) -> Cell {
    let name = &row.preset;
    let preset = presets::named(name).unwrap_or_else(|| panic!("no preset {name}"));
    let workload = Workload::parse(preset.text, preset.name).expect("a preset");
    let options = Options {
        kernel: Some(kernel),
        pi: Some(pi),
        ..Options::default()
    };
    let mut built = workload.build(&options).expect("a preset");
    let window = built
        .windows
        .iter()
        .find(|w| w.name == row.window)
        .unwrap_or_else(|| panic!("{name}: no window {}", row.window))
        .clone();
    let end = "it makes progress";
    let machine = &mut built.machine;
    machine.run_until(window.from, &mut ()).expect(end);
    // A child is there by now.
    let task = built.names.find_task_in(machine, &row.task);
    let task = task.unwrap_or_else(|| panic!("{name}: no task {}", row.task));
    let from = machine.cpu_time(task).0;
    machine.run_until(window.to, &mut ()).expect(end);
    let to = machine.cpu_time(task).0;
    let task = built.machine.task(task);
    Cell {
        share: (to - from) as f64 * 100.0 / (window.to.0 - window.from.0) as f64,
        prio: task.prio(),
        weight: task.weight(),
    }
}

#[test]
fn every_figure_of_the_table_is_what_a_run_gives() {
    let text = review();
    let rows = rows(&text);
    assert_eq!(
        rows.iter()
            .map(|r| r.number)
            .collect::<std::collections::BTreeSet<_>>()
            .len(),
        25,
        "every row, once at least"
    );
    for row in &rows {
        for kernel in [Kernel::V6_1, Kernel::V6_12] {
            for (pi, want) in COLUMNS.into_iter().zip(row.cells) {
                let got = run(row, kernel, pi);
                let same = (got.share - want.share).abs() <= tolerance(want.share)
                    && (got.prio, got.weight) == (want.prio, want.weight);
                assert!(
                    same,
                    "row {}, {}, {}, {}: {got:?}, the table says {want:?}",
                    row.number,
                    row.preset,
                    kernel.name,
                    pi.name()
                );
            }
        }
    }
}

#[test]
fn every_test_and_preset_it_names_exists() {
    let text = review();
    let known = tests();
    for row in rows(&text) {
        assert!(
            known.contains(&row.test),
            "row {}: no test {}",
            row.number,
            row.test
        );
    }
    // Below the table too: a name in code marks is a variant, a preset, a test, a file or a call.
    for name in text.split('`').skip(1).step_by(2) {
        let lower = name
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c));
        if !lower {
            continue;
        }
        let known_name = Variant::named(name).is_some()
            || presets::named(name).is_some()
            || known.iter().any(|t| t == name)
            || [
                "low",
                "next",
                "child",
                "high",
                "rt_mutex_setprio",
                "sched_setattr",
                "pthread",
            ]
            .contains(&name);
        assert!(known_name, "{name}: neither a variant, a preset nor a test");
    }
}
