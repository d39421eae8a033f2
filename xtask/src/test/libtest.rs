//! Reads what cargo and the harnesses print while tests run: cargo's own, rustdoc's, wasm-bindgen's.
use super::tested::{Failed, Tested};

/// Takes the output as it comes.
#[derive(Debug, Default)]
pub struct Reader {
    /// A line whose end is still to come.
    partial: Vec<u8>,
    /// The file of the tests that run.
    place: String,
    /// A program of tests was started, and told no result so far.
    running: bool,
    /// Within a list of `failures:`.
    listing: bool,
    /// That list.
    listed: Vec<String>,
    /// Names told to have failed one by one, for when there is no list.
    red: Vec<String>,
    /// What the compiler gave up on.
    uncompiled: Vec<String>,
    tested: Tested,
}

impl Reader {
    /// More output.
    pub fn read(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if byte == b'\n' {
                let line = std::mem::take(&mut self.partial);
                self.line(&plain(&String::from_utf8_lossy(&line)));
            } else {
                self.partial.push(byte);
            }
        }
    }

    /// The end.
    pub fn finish(mut self) -> Tested {
        self.read(b"\n");
        self.died();
        if !self.uncompiled.is_empty() {
            self.uncompiled.sort();
            self.uncompiled.dedup();
            let what = self.uncompiled.join(", ");
            self.tested
                .trouble
                .insert(0, format!("{what} did not compile"));
        }
        self.tested
    }

    fn line(&mut self, line: &str) {
        let text = line.trim();
        if self.listing && !text.is_empty() && !text.starts_with("test result: ") {
            match line.strip_prefix("    ") {
                // What a test printed is indented too, but stands below a heading of its own.
                Some(name) if !name.starts_with(' ') => self.listed.push(name.to_owned()),
                _ => {
                    self.listing = false;
                    self.listed.clear();
                }
            }
        }
        if let Some(place) = place(text) {
            self.died();
            self.place = place;
            self.running = true;
        } else if text == "failures:" {
            self.listing = true;
            self.listed.clear();
        } else if text == "no tests to run!" {
            // wasm-bindgen's harness, where another would tell a result of nothing.
            self.running = false;
        } else if let Some((name, result)) = text
            .strip_prefix("test ")
            .and_then(|rest| rest.split_once(" ... "))
        {
            let name = bare(name);
            if result.starts_with("FAIL") {
                self.red.push(name.clone());
            }
            self.tested.ran.push(name);
        } else if let Some(result) = text.strip_prefix("test result: ") {
            if result.starts_with("FAILED") {
                let listed = std::mem::take(&mut self.listed);
                let red = std::mem::take(&mut self.red);
                let names = if listed.is_empty() { red } else { listed };
                let place = &self.place;
                self.tested.failed.extend(names.iter().map(|name| Failed {
                    place: place.clone(),
                    name: bare(name),
                }));
            }
            self.red.clear();
            self.listing = false;
            self.running = false;
        } else if let Some(rest) = text.strip_prefix("error: could not compile ") {
            self.uncompiled.push(target(rest));
        } else if text.starts_with("error: test failed, to rerun pass") {
            self.died();
        }
    }

    /// A program that was started and told no result.
    fn died(&mut self) {
        if std::mem::take(&mut self.running) {
            let mut told = format!("{} ended before its tests did", self.place);
            if let Some(name) = self.red.first() {
                told += &format!(" (after {name} failed)");
            }
            self.tested.trouble.push(told);
        }
        self.red.clear();
    }
}

/// `Running tests/golden.rs (target/debug/deps/golden-0123)` and `Doc-tests reweight_lab`: the file.
fn place(text: &str) -> Option<String> {
    if let Some(library) = text.strip_prefix("Doc-tests ") {
        return Some(format!("examples of {library}"));
    }
    let (file, program) = text.strip_prefix("Running ")?.rsplit_once(" (")?;
    program
        .ends_with(')')
        .then(|| file.trim_start_matches("unittests ").to_owned())
}

/// A name without what the harness says about it.
fn bare(name: &str) -> String {
    let cut = [" - should panic", " - compile fail", " - compile"]
        .into_iter()
        .find_map(|remark| name.strip_suffix(remark));
    cut.unwrap_or(name).trim().to_owned()
}

/// `` `reweight-lab` (test "golden") due to 2 previous errors ``: `test "golden"`.
fn target(rest: &str) -> String {
    let in_brackets = rest.split_once('(').and_then(|(_, r)| r.split_once(')'));
    match in_brackets {
        Some((target, _)) => target.to_owned(),
        None => rest.split(' ').next().unwrap_or_default().replace('`', ""),
    }
}

/// The part of a failed test's name that `--only` can take: an example's path or file, without its line.
pub fn choosable(name: &str) -> &str {
    let Some((file, item)) = name.split_once(" - ") else {
        return name;
    };
    match item.split_once(" (line") {
        Some((path, _)) if !path.is_empty() => path,
        _ => file,
    }
}

/// Without the colours.
fn plain(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        if c != '\u{1b}' {
            text.push(c);
            continue;
        }
        // `ESC [ ... letter`
        chars.by_ref().find(char::is_ascii_alphabetic);
    }
    text.trim_end_matches('\r').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Tested {
        // In odd pieces, as pipes give them.
        let mut reader = Reader::default();
        for piece in text.as_bytes().chunks(7) {
            reader.read(piece);
        }
        reader.finish()
    }

    fn failed(tested: &Tested) -> Vec<(&str, &str)> {
        tested
            .failed
            .iter()
            .map(|f| (f.place.as_str(), f.name.as_str()))
            .collect()
    }

    const TWO: &str = "\
\u{1b}[1m\u{1b}[92m     Running\u{1b}[0m unittests src/lib.rs (target/debug/deps/reweight_lab-01)

running 2 tests
test model::tree::tests::order ... ok
test model::pi::tests::no_prio - should panic ... FAILED

failures:

---- model::pi::tests::no_prio stdout ----
running 7 laps
failures:
    of the brake
note: test did not panic as expected

failures:
    model::pi::tests::no_prio

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

error: test failed, to rerun pass `--lib`
     Running tests/golden.rs (target/debug/deps/golden-02)

running 1 test
test every_row ... ok

test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

   Doc-tests reweight_lab

running 1 test
test src/model/tree.rs - model::tree::Tree (line 9) ... FAILED

failures:

---- src/model/tree.rs - model::tree::Tree (line 9) stdout ----
error[E0425]: cannot find value `x` in this scope

failures:
    src/model/tree.rs - model::tree::Tree (line 9)

test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.20s

error: doctest failed, to rerun pass `--doc`
error: 2 targets failed:
    `--lib`
    `--doc`
";

    #[test]
    fn failed_tests_are_known_by_name_and_file() {
        let tested = read(TWO);
        assert_eq!(
            failed(&tested),
            [
                ("src/lib.rs", "model::pi::tests::no_prio"),
                (
                    "examples of reweight_lab",
                    "src/model/tree.rs - model::tree::Tree (line 9)"
                ),
            ]
        );
        assert_eq!(tested.ran.len(), 4);
        assert_eq!(tested.ran[1], "model::pi::tests::no_prio");
        assert_eq!(tested.trouble, [""; 0]);
        assert_eq!(tested.told(), "2 tests failed");
    }

    #[test]
    fn wasm_bindgens_harness_is_read_alike() {
        let tested = read(
            "     Running tests/web.rs (target/distro/wasm32-unknown-unknown/debug/deps/web-1.wasm)\n\
             Running headless tests in Chrome on `http://127.0.0.1:41681/`\n\
             running 2 tests\n\ntest frames ... FAIL\ntest shares ... ok\n\nfailures:\n\n\
             ---- frames output ----\n    error output:\n        panicked at tests/web.rs:9:5\n\n\
             failures:\n\n    frames\n\n\
             test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 filtered out; finished in 1.10s\n\n\
             Error: some tests failed\nerror: test failed, to rerun pass `--test web`\n",
        );
        assert_eq!(failed(&tested), [("tests/web.rs", "frames")]);
        assert_eq!(tested.ran, ["frames", "shares"]);
        assert_eq!(tested.trouble, [""; 0]);
    }

    #[test]
    fn a_program_that_dies_is_told() {
        let tested = read(
            "     Running tests/pi.rs (target/debug/deps/pi-3)\n\nrunning 2 tests\ntest a ... ok\n\n\
             thread 'b' has overflowed its stack\nfatal runtime error: stack overflow\n\
             error: test failed, to rerun pass `--test pi`\n\nCaused by:\n  process didn't exit successfully\n\
             \x20    Running tests/pi_walk.rs (target/debug/deps/pi_walk-4)\n\nrunning 0 tests\n\n\
             test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 2 filtered out; finished in 0.00s\n",
        );
        assert_eq!(tested.trouble, ["tests/pi.rs ended before its tests did"]);
        assert!(!tested.green());
        let browser = read(
            "     Running tests/web.rs (target/debug/deps/web-1.wasm)\nLoading Wasm module...\n\
             xtask: missing field `chunk`\nerror: test failed, to rerun pass `--test web`\n",
        );
        assert_eq!(browser.trouble, ["tests/web.rs ended before its tests did"]);
        let none =
            read("     Running tests/web.rs (target/debug/deps/web-1.wasm)\nno tests to run!\n");
        assert!(none.green() && none.ran.is_empty());
    }

    #[test]
    fn tests_that_do_not_compile_are_named() {
        let tested = read(
            "error[E0425]: cannot find value `x` in this scope\n --> tests/golden.rs:5:1\n\n\
             error: could not compile `reweight-lab` (test \"golden\") due to 1 previous error\n\
             warning: build failed, waiting for other jobs to finish...\n\
             error: could not compile `reweight-lab` (lib test) due to 2 previous errors; 1 warning emitted\n",
        );
        assert_eq!(tested.told(), "lib test, test \"golden\" did not compile");
        assert_eq!(
            read("error: could not compile `memchr`").told(),
            "memchr did not compile"
        );
    }

    #[test]
    fn a_printing_test_does_not_hide_its_name() {
        let tested = read(
            "     Running tests/random.rs (target/debug/deps/random-5)\n\nrunning 1 test\n\
             test programs ... 200 programs, 0 differences\nok\n\n\
             test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 9.00s\n",
        );
        assert_eq!(tested.ran, ["programs"]);
        assert!(tested.green());
    }

    #[test]
    fn a_failed_test_can_be_asked_for() {
        for (name, expected) in [
            ("model::pi::tests::no_prio", "model::pi::tests::no_prio"),
            (
                "src/model/tree.rs - model::tree::Tree (line 9)",
                "model::tree::Tree",
            ),
            ("src/lib.rs - (line 5)", "src/lib.rs"),
            ("docs/model.md - (line 5)", "docs/model.md"),
        ] {
            assert_eq!(choosable(name), expected);
        }
    }
}
