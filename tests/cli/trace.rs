//! `reweight-lab trace` as a user runs it.

use std::path::Path;
use std::process::Output;

use crate::command::{command, reading};

fn trace(args: &[&str]) -> Output {
    command().arg("trace").args(args).output().unwrap()
}

fn recorded() -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/traces");
    folder
        .join("6.12hz1000-reweight-timeout.trace.txt.gz")
        .display()
        .to_string()
}

fn out(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).unwrap()
}

#[test]
fn the_verdict_is_told_in_every_format() {
    let text = trace(&[&recorded()]);
    assert!(text.status.success());
    assert!(
        out(&text).contains("boost of low by high"),
        "{}",
        out(&text)
    );
    assert!(out(&text).contains("share follows"));

    let json = trace(&[
        &recorded(),
        "--format",
        "json",
        "--window",
        "late=919.8s..920s",
    ]);
    let json: serde_json::Value = serde_json::from_str(out(&json)).unwrap();
    assert_eq!(
        (json["format"].as_u64(), json["source"].as_str()),
        (Some(1), Some("trace"))
    );
    assert_eq!(json["boosts"][0]["verdict"], "share-follows");
    assert_eq!(json["windows"][0]["name"], "all");
    let late = &json["windows"][1];
    assert_eq!(
        (
            late["name"].as_str(),
            late["to_ns"].as_u64().unwrap() - late["from_ns"].as_u64().unwrap()
        ),
        (Some("late"), 200_000_000)
    );
    assert!(late["tasks"]["low"]["share"].as_f64().unwrap() > 0.05);

    let boosts = trace(&[&recorded(), "--format", "boosts"]);
    assert!(
        out(&boosts)
            .lines()
            .nth(1)
            .unwrap()
            .ends_with("share-follows")
    );
    let csv = trace(&[&recorded(), "--format", "csv"]);
    assert!(
        out(&csv)
            .lines()
            .any(|l| l.starts_with("boost-1,") && l.contains(",low,"))
    );
}

#[test]
fn standard_input_is_read() {
    let trace = std::fs::read(recorded()).unwrap();
    let output = reading(command().args(["trace", "-", "--format", "json"]), &trace);
    assert!(output.status.success() && out(&output).contains("share-follows"));
}

#[test]
fn what_cannot_be_done_is_one_sentence_and_a_status() {
    for (args, status, words) in [
        (&["/no/such/file"][..], 1, "cannot read"),
        (&["Cargo.toml"], 1, "no scheduler event"),
        (&[], 2, "<FILE>"),
        (&["-", "--window", "x"], 2, "NAME=FROM..TO"),
        (&["-", "--format", "xml"], 2, "xml"),
    ] {
        let output = trace(args);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(status), "{said}");
        assert!(said.contains(words) && said.lines().count() == 1, "{said}");
        assert!(output.stdout.is_empty());
    }
}
