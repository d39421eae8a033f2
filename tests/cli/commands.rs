//! The command line as a user meets it: the binary, its exit statuses, messages and shapes.

use std::io::Write;
use std::process::{Output, Stdio};

use crate::command::{Scratch, command, reading};
use crate::schema;
use reweight_lab::workload::presets;
use serde_json::Value;

fn lab(args: &[&str]) -> Output {
    lab_reading(args, "")
}

fn lab_reading(args: &[&str], input: &str) -> Output {
    reading(command().args(args), input.as_bytes())
}

/// What a command that succeeds prints.
fn prints(args: &[&str]) -> String {
    let output = lab(args);
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

fn json(args: &[&str]) -> Value {
    serde_json::from_str(&prints(args)).unwrap()
}

/// Asserts the exit status and that one line on standard error holds all of `parts`.
fn refused(output: &Output, code: i32, parts: &[&str]) {
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{error}");
    assert_eq!(error.lines().count(), 1, "{error}");
    assert!(error.starts_with("reweight-lab: "), "{error}");
    assert!(output.stdout.is_empty());
    for part in parts {
        assert!(error.contains(part), "{part:?} is not in {error}");
    }
}

fn share(report: &Value, window: &str, task: &str) -> f64 {
    let windows = report["windows"].as_array().unwrap();
    let window = windows.iter().find(|w| w["name"] == window).unwrap();
    window["tasks"][task]["share"].as_f64().unwrap()
}

#[test]
fn the_patch_lifts_the_holder_from_ten_to_fifty_percent_and_back() {
    for kernel in ["6.1", "6.12"] {
        for (pi, boosted) in [("stock", 0.0970), ("reweight", 0.5)] {
            let args = [
                "simulate",
                "patch-test",
                "--format",
                "json",
                "--kernel",
                kernel,
                "--pi",
                pi,
            ];
            let report = json(&args);
            for (window, expected) in [("before", 0.0970), ("boosted", boosted), ("after", 0.0970)]
            {
                let got = share(&report, window, "low");
                assert!(
                    (got - expected).abs() < 0.0005,
                    "{kernel} {pi} {window}: {got}"
                );
            }
        }
    }
}

#[test]
fn every_report_fits_the_schema() {
    let text = std::fs::read_to_string("docs/schema/report-1.json").unwrap();
    let schema: Value = serde_json::from_str(&text).unwrap();
    for preset in presets::ALL {
        for pi in ["stock", "reweight-fixed", "proxy-exec"] {
            let report = json(&["simulate", preset.name, "--pi", pi, "--format", "json"]);
            schema::check(&schema, &report).unwrap_or_else(|e| panic!("{} {pi}: {e}", preset.name));
        }
    }
    let mut report = json(&["simulate", "patch-test", "--format", "json"]);
    report["windows"][0]["tasks"]["low"]["share"] = 2.into();
    assert!(schema::check(&schema, &report).is_err());
    report["windows"][0]["tasks"]["low"]["share"] = 0.into();
    report["extra"] = 1.into();
    assert!(schema::check(&schema, &report).is_err());
}

#[test]
fn a_report_has_its_members_in_the_documented_order() {
    let text = prints(&["simulate", "patch-test", "--format", "json"]);
    let places: Vec<usize> = [
        "format",
        "kernel",
        "hz",
        "cpus_online",
        "pi",
        "duration_ns",
        "switches",
        "decisions",
        "tasks",
        "windows",
        "notices",
    ]
    .iter()
    .map(|name| text.find(&format!("\n  \"{name}\"")).unwrap())
    .collect();
    assert!(places.is_sorted());
}

#[test]
fn without_windows_there_is_all_and_boosted_if_somebody_was() {
    let workload = |low: i32| {
        format!(
            r#"{{ "global": {{ "duration": 4, "pi_enabled": true }}, "tasks": {{
                "low": {{ "priority": {low}, "loop": 1, "lock": "M", "runtime": 3000000, "unlock": "M", "run": 9000000 }},
                "bg": {{ "loop": -1, "run": 1000 }},
                "high": {{ "delay": 1000000, "loop": 1, "lock": "M", "unlock": "M", "suspend": "x" }} }} }}"#
        )
    };
    let names = |text: &str| -> Vec<String> {
        let output = lab_reading(
            &["simulate", "-", "--format", "json", "--pi", "reweight"],
            text,
        );
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let windows = report["windows"].as_array().unwrap();
        windows
            .iter()
            .map(|w| w["name"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(names(&workload(10)), ["all", "boosted"]);
    // A waiter that is no better lends nothing.
    assert_eq!(names(&workload(-5)), ["all"]);
}

#[test]
fn options_reach_the_run() {
    let report = json(&[
        "simulate",
        "patch-test",
        "--format",
        "json",
        "--kernel",
        "6.1",
        "--hz",
        "250",
        "--cpus-online",
        "4",
        "--pi",
        "reweight-v2",
        "--duration",
        "16s",
        "--window",
        "mine=6s..7500ms",
        "--window",
        "before=1s..2s",
    ]);
    assert_eq!(report["kernel"], "6.1");
    assert_eq!(report["hz"], 250);
    assert_eq!(report["cpus_online"], 4);
    assert_eq!(report["pi"], "reweight-v2");
    assert_eq!(report["duration_ns"], 16_000_000_000u64);
    let windows = report["windows"].as_array().unwrap();
    let ends: Vec<_> = windows
        .iter()
        .map(|w| (w["name"].as_str().unwrap(), w["from_ns"].as_u64().unwrap()))
        .collect();
    assert_eq!(
        ends,
        [
            ("before", 1_000_000_000),
            ("boosted", 5_000_000_000),
            ("mine", 6_000_000_000)
        ]
    );
    // The file's own late window is left out, with a word.
    assert!(report["notices"].to_string().contains("windows.after"));
}

#[test]
fn wrong_usage_is_one_sentence_and_status_2() {
    for (args, parts) in [
        (&["simulate"][..], &["WHAT"][..]),
        (
            &["simulate", "patch-test", "--kernel", "5.4"],
            &["5.4", "6.12"],
        ),
        (&["simulate", "patch-test", "--hz", "50"], &["50", "1000"]),
        (
            &["simulate", "patch-test", "--pi", "magic"],
            &["magic", "reweight"],
        ),
        (
            &["simulate", "patch-test", "--pi", "stock", "--pi", "none"],
            &["--pi"],
        ),
        (
            &["simulate", "patch-test", "--duration", "1h"],
            &["1h", "250ms"],
        ),
        (
            &["simulate", "patch-test", "--window", "a=2..1"],
            &["ends before"],
        ),
        (
            &["simulate", "patch-test", "--window", "a"],
            &["NAME=FROM..TO"],
        ),
        (
            &["simulate", "patch-test", "--format", "xml"],
            &["xml", "json"],
        ),
        (
            &["simulate", "patch-test", "--cpus-online", "0"],
            &["--cpus-online"],
        ),
        (
            &["sweep", "patch-test", "--nice", "low=20"],
            &["-20 to 19", "20"],
        ),
        (
            &["sweep", "patch-test", "--nice", "low=0", "--nice", "low=1"],
            &["low", "twice"],
        ),
        (&["sweep", "patch-test", "--shard", "5/4"], &["I/N"]),
        (&["sweep", "patch-test", "--resume"], &["--output"]),
        (
            &["sweep", "patch-test", "--resume", "-o", "-"],
            &["--resume", "file"],
        ),
        (&["nonsense"], &["nonsense"]),
        (&["completions", "csh"], &["csh", "bash"]),
    ] {
        refused(&lab(args), 2, parts);
    }
}

#[test]
fn what_cannot_be_done_is_one_sentence_and_status_1() {
    let scratch = Scratch::new("errors");
    let bad = scratch.path("bad.json");
    std::fs::write(&bad, "{ \"tasks\": {\n \"low\": { \"lock\": 7 } } }").unwrap();
    let missing = scratch.path("no/such/dir/out.json");
    let dir = scratch.path("");
    for (args, parts) in [
        (
            &["simulate", "no-such-preset"][..],
            &["no-such-preset", "presets"][..],
        ),
        (
            &["simulate", "no/such/file.json"],
            &["no/such/file.json", "No such file"],
        ),
        (&["simulate", &dir], &["cannot read"]),
        (&["simulate", &bad], &["bad.json:2:", "lock", "found 7"]),
        (
            &["simulate", "patch-test", "-o", &missing],
            &["cannot write", "No such file"],
        ),
        (
            &["simulate", "patch-test", "-o", &dir],
            &["cannot write", "directory"],
        ),
        (
            &["simulate", "patch-test", "--window", "late=90s..99s"],
            &["late"],
        ),
        (&["presets", "nobody"], &["nobody"]),
        (&["compare", "no-such-preset"], &["no-such-preset"]),
        (&["sweep", "patch-test", "--nice", "nobody=0"], &["nobody"]),
        (&["sweep", "patch-test", "--task", "nobody"], &["nobody"]),
        (&["sweep", "patch-test", "--measure", "never"], &["never"]),
    ] {
        refused(&lab(args), 1, parts);
    }
    assert_eq!(scratch.files(), ["bad.json"]);
}

#[test]
fn a_run_that_makes_no_progress_names_task_and_time_and_leaves_no_file() {
    let text = r#"{ "tasks": { "spin": { "loop": -1, "delay": 1000, "sleep": 0 } } }"#;
    let scratch = Scratch::new("stalled");
    let out = scratch.path("out.txt");
    for format in ["json", "ftrace", "chrome", "timehist"] {
        let output = lab_reading(
            &[
                "simulate",
                "-",
                "--duration",
                "1",
                "--format",
                format,
                "-o",
                &out,
            ],
            text,
        );
        assert_eq!(output.status.code(), Some(1), "{format}");
        let error = String::from_utf8_lossy(&output.stderr);
        let last = error.lines().last().unwrap();
        assert!(
            last.contains("spin") && last.contains("0.001"),
            "{format}: {error}"
        );
        assert!(
            scratch.files().is_empty(),
            "{format}: {:?}",
            scratch.files()
        );
    }
}

#[test]
fn refused_calls_become_notices_and_many_are_counted() {
    let text = r#"{ "global": { "duration": 1, "pi_enabled": true },
        "tasks": { "low": { "loop": 50, "unlock": "M", "run": 10, "lock": "M", "lock2": "M" } } }"#;
    let output = lab_reading(&["simulate", "-", "--format", "json"], text);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let notices: Vec<&str> = report["notices"]
        .as_array()
        .unwrap()
        .iter()
        .map(|n| n.as_str().unwrap())
        .collect();
    assert!(
        notices
            .iter()
            .any(|n| n.starts_with("low: at 0.") && n.contains("EPERM")),
        "{notices:?}"
    );
    assert!(notices.iter().any(|n| n.contains("EDEADLK")), "{notices:?}");
    assert!(
        notices.last().unwrap().contains("more refused calls"),
        "{notices:?}"
    );
    assert!(notices.len() < 30);
}

#[test]
fn a_file_is_replaced_whole_and_its_rights_stay() {
    let scratch = Scratch::new("out");
    let out = scratch.path("out.json");
    std::fs::write(&out, "old").unwrap();
    assert!(prints(&["simulate", "patch-test", "--format", "json", "-o", &out]).is_empty());
    let whole = std::fs::read_to_string(&out).unwrap();
    assert_eq!(
        whole,
        prints(&["simulate", "patch-test", "--format", "json"])
    );
    assert_eq!(scratch.files(), ["out.json"]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{PermissionsExt, symlink};
        std::fs::set_permissions(&out, std::fs::Permissions::from_mode(0o640)).unwrap();
        let link = scratch.path("link.json");
        symlink(&out, &link).unwrap();
        prints(&["simulate", "patch-test", "--format", "csv", "-o", &link]);
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(
            std::fs::metadata(&out).unwrap().permissions().mode() & 0o777,
            0o640
        );
        assert!(
            std::fs::read_to_string(&out)
                .unwrap()
                .starts_with("kernel,")
        );
        prints(&["simulate", "patch-test", "-o", "/dev/null"]);
    }
}

#[test]
fn compare_prints_an_array_of_what_simulate_prints() {
    let both = json(&["compare", "patch-test", "--format", "json"]);
    let both = both.as_array().unwrap();
    assert_eq!(both.len(), 2);
    for (report, pi) in both.iter().zip(["stock", "reweight"]) {
        assert_eq!(
            *report,
            json(&["simulate", "patch-test", "--pi", pi, "--format", "json"])
        );
    }
    let four = json(&[
        "compare",
        "patch-test",
        "--kernel",
        "6.1",
        "--kernel",
        "6.12",
        "--format",
        "json",
    ]);
    let order: Vec<_> = four
        .as_array()
        .unwrap()
        .iter()
        .map(|r| (r["kernel"].clone(), r["pi"].clone()))
        .collect();
    assert_eq!(order[1], ("6.1".into(), "reweight".into()));
    assert_eq!(order[2], ("6.12".into(), "stock".into()));
    let text = prints(&["compare", "patch-test"]);
    let row = text
        .split("boosted")
        .nth(1)
        .unwrap()
        .lines()
        .find(|l| l.trim().starts_with("low"))
        .unwrap();
    assert!(row.contains("9.70 %") && row.contains("50.00 %"), "{row}");
}

const SWEEP: [&str; 8] = [
    "sweep",
    "patch-test",
    "--nice",
    "low=0..12/4",
    "--nice",
    "high=-10,0",
    "--pi",
    "reweight",
];

#[test]
fn a_sweep_is_in_order_and_its_shards_are_its_parts() {
    let whole = prints(&SWEEP);
    let rows: Vec<&str> = whole.lines().collect();
    assert_eq!(
        rows[0],
        "kernel,hz,cpus_online,pi,nice_low,nice_high,task,window,from_ns,to_ns,cpu_ns,share"
    );
    assert_eq!(rows.len(), 1 + 4 * 2);
    assert!(rows[1].starts_with("6.12,1000,1,reweight,0,-10,low,boosted,5000000000,15000000000,"));
    assert!(rows[2].starts_with("6.12,1000,1,reweight,0,0,low,"));
    assert!(rows[8].starts_with("6.12,1000,1,reweight,12,0,low,"));
    assert_eq!(whole, prints(&[&SWEEP[..], &["--jobs", "1"]].concat()));
    assert_eq!(whole, prints(&[&SWEEP[..], &["--jobs", "7"]].concat()));
    let mut joined = vec![rows[0].to_owned()];
    for shard in ["1/3", "2/3", "3/3"] {
        let part = prints(&[&SWEEP[..], &["--shard", shard]].concat());
        joined.extend(part.lines().skip(1).map(str::to_owned));
    }
    assert_eq!(joined, rows);
    let lines = prints(&[&SWEEP[..], &["--format", "json"]].concat());
    let lines: Vec<Value> = lines
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    assert_eq!(lines.len(), 8);
    assert_eq!(lines[7]["nice"]["low"], 12);
    assert_eq!(
        lines[7]["share"].to_string(),
        rows[8].rsplit(',').next().unwrap()
    );
}

#[test]
fn an_interrupted_sweep_goes_on_and_another_is_left_alone() {
    let scratch = Scratch::new("resume");
    let (out, part) = (scratch.path("s.csv"), scratch.path("s.csv.part"));
    let whole = prints(&SWEEP);
    let sweep = [&SWEEP[..], &["-o", &out]].concat();
    let resume = [&sweep[..], &["--resume"]].concat();
    // From every kind of interruption: before the header, within a line, between lines, at the end.
    let second = whole.match_indices('\n').nth(2).unwrap().0;
    for cut in [0, 10, second, second + 1, second + 20, whole.len()] {
        std::fs::write(&part, &whole[..cut]).unwrap();
        prints(&resume);
        assert_eq!(
            std::fs::read_to_string(&out).unwrap(),
            whole,
            "cut at {cut}"
        );
        assert_eq!(scratch.files(), ["s.csv"]);
        std::fs::remove_file(&out).unwrap();
    }
    // A finished file that was cut short counts as well.
    std::fs::write(&out, &whole[..second + 20]).unwrap();
    prints(&resume);
    assert_eq!(std::fs::read_to_string(&out).unwrap(), whole);
    // Another header, other parameters, other figures: nothing is touched.
    let figures = whole.trim_end().rsplit_once('\n').unwrap().0.to_owned() + "9\n";
    for other in ["a,b\n1,2\n", &whole.replace("reweight", "stock"), &figures] {
        std::fs::write(&out, other).unwrap();
        refused(&lab(&resume), 1, &["another sweep", "nothing was changed"]);
        assert_eq!(std::fs::read_to_string(&out).unwrap(), *other);
    }
    prints(&sweep);
    assert_eq!(std::fs::read_to_string(&out).unwrap(), whole);
}

#[test]
fn a_preset_printed_and_read_again_is_the_same_run() {
    let list = prints(&["presets"]);
    for preset in presets::ALL {
        assert!(list.contains(preset.name));
    }
    for name in ["patch-test", "fork-boosted"] {
        let text = prints(&["presets", name]);
        let output = lab_reading(&["simulate", "-", "--format", "json"], &text);
        let direct = prints(&["simulate", name, "--format", "json"]);
        assert_eq!(String::from_utf8(output.stdout).unwrap(), direct);
    }
}

const COMMANDS: [&str; 7] = [
    "simulate",
    "compare",
    "sweep",
    "trace",
    "record",
    "presets",
    "completions",
];

#[test]
fn help_has_examples_for_every_command() {
    let top = prints(&["--help"]);
    for name in COMMANDS {
        assert!(top.contains(name));
        let help = prints(&[name, "--help"]);
        assert!(help.contains("Examples:"), "{name}");
        assert!(help.contains(&format!("reweight-lab {name}")), "{name}");
    }
    assert!(prints(&["--version"]).contains(env!("CARGO_PKG_VERSION")));
    assert_eq!(lab(&[]).status.code(), Some(2));
}

/// An example that does not work is worse than none.
#[test]
fn the_examples_in_the_help_are_accepted() {
    let scratch = Scratch::new("examples");
    let mine = prints(&["presets", "patch-test"]);
    std::fs::write(scratch.path("mine.json"), mine).unwrap();
    let trace = prints(&["simulate", "patch-test", "--format", "ftrace"]);
    std::fs::write(scratch.path("trace.txt"), &trace).unwrap();
    let packed = std::fs::File::create(scratch.path("trace.txt.gz")).unwrap();
    let mut packed = flate2::write::GzEncoder::new(packed, flate2::Compression::fast());
    packed.write_all(trace.as_bytes()).unwrap();
    packed.finish().unwrap();
    let mut tried = 0;
    for name in COMMANDS {
        let help = prints(&[name, "--help"]);
        let examples = help.split("Examples:").nth(1).unwrap();
        for line in examples.lines().map(str::trim) {
            if !line.starts_with("reweight-lab ") || line.contains(['|', '>', '&']) {
                continue;
            }
            // The heat map of 1600 runs is for release builds: here a corner of it.
            let line = line.replace("-20..19 ", "18..19 ");
            // A recording lasts as long as what it records.
            let line = match name {
                _ if name == "record" && !cfg!(target_os = "linux") => continue,
                "record" if line.contains("--duration") => {
                    line.replace("5s", "500ms").replace("2s", "200ms")
                }
                "record" => line + " --duration 300ms",
                _ => line,
            };
            let output = command()
                .args(line.split(' ').skip(1))
                .current_dir(&scratch.0)
                .output()
                .unwrap();
            let error = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(0), "{line}: {error}");
            tried += 1;
        }
    }
    assert!(tried >= 14, "{tried}");
}

#[test]
fn completions_are_written_for_every_shell() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = prints(&["completions", shell]);
        assert!(script.contains("cpus-online"), "{shell}");
        // The generators for elvish and powershell know options, not their values.
        let values = ["bash", "zsh", "fish"].contains(&shell);
        assert_eq!(script.contains("reweight-fixed"), values, "{shell}");
    }
}

#[test]
fn text_has_no_colour_in_a_pipe_and_no_control_characters_from_names() {
    let text = "{ \"global\": { \"duration\": 1 }, \"tasks\": { \"a\\u001b[2J\\u202eb\": { \"loop\": -1, \"run\": 1000 } } }";
    for format in ["text", "timehist", "ftrace", "csv"] {
        let output = lab_reading(&["simulate", "-", "--format", format], text);
        let out = String::from_utf8(output.stdout).unwrap();
        assert!(!out.is_empty());
        assert!(
            out.chars().all(|c| c == '\n' || !c.is_control()),
            "{format}: {out:?}"
        );
    }
    let bad = "{ \"tasks\": { \"\\u001b[2J\": { \"lock\": 7 } } }";
    let output = lab_reading(&["simulate", "-"], bad);
    refused(&output, 1, &["found 7"]);
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(
        error.chars().all(|c| c == '\n' || !c.is_control()),
        "{error:?}"
    );
}

/// `reweight-lab ... | head` ends without a word.
#[cfg(unix)]
#[test]
fn a_closed_pipe_is_quiet() {
    for format in ["json", "ftrace", "timehist", "chrome", "text"] {
        let mut child = command()
            .args(["simulate", "patch-test", "--format", format])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{format}");
        assert!(
            output.stderr.is_empty(),
            "{format}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}
