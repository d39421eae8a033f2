//! The same input is the same trace, bit for bit: from run to run, from commit to commit, and in
//! wasm (`tests/web.rs` holds itself against the same file).
//!
//! A change of the model changes the file: `UPDATE_TRACES=1 cargo test --test model determinism`
//! writes it anew, and the difference says which runs changed.

use std::path::Path;

use crate::common::{hashes, random};

#[test]
fn traces_are_those_on_file() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/traces.txt");
    let now = hashes::all();
    if std::env::var_os("UPDATE_TRACES").is_some() {
        std::fs::write(&file, &now).expect("a file that can be written");
    }
    let kept = std::fs::read_to_string(&file).expect("the traces on file");
    let differ: Vec<_> = kept
        .lines()
        .zip(now.lines())
        .filter(|(a, b)| a != b)
        .take(5)
        .collect();
    assert!(differ.is_empty(), "on file, now: {differ:#?}");
    assert_eq!(kept.lines().count(), now.lines().count());
}

#[test]
fn a_second_run_is_the_first_one_again() {
    let run = |seed| {
        let mut m = random::machine(&random::bytes_of(seed, 1200));
        let mut events = Vec::new();
        let ended = m.run_until(random::LENGTH, &mut Told(&mut events)).is_ok();
        (events, ended, m.decisions())
    };
    for seed in 0..50 {
        assert_eq!(run(seed), run(seed), "program {seed}");
    }
}

/// Keeps the text of every event.
struct Told<'a>(&'a mut Vec<String>);

impl reweight_lab::model::observer::Observer for Told<'_> {
    fn event(
        &mut self,
        m: &reweight_lab::model::machine::Machine,
        event: &reweight_lab::model::observer::Event,
    ) {
        self.0.push(format!("{} {event:?}", m.now().0));
    }
}
