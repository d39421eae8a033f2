//! Cargo's runner for wasm tests: wasm-bindgen's, which takes one text to choose by where we take several.
use crate::project;
use anyhow::{Context, Result};
use std::{env, ffi::OsString, process::Command};

/// The word that makes this program the runner.
pub const WORD: &str = "runner";

/// Runs the tests of one file: `PROGRAM FILE [TEXT]...`.
pub fn run(args: Vec<OsString>) -> Result<()> {
    let args = match args.get(2..) {
        Some(texts @ [_, _, ..]) => {
            let texts: Vec<_> = texts
                .iter()
                .map(|text| text.to_string_lossy().into_owned())
                .collect();
            let mut list = Command::new(env::current_exe()?);
            list.arg(WORD).arg(&args[1]).arg("--list");
            let list = project::output(&mut list).context("the list of tests")?;
            let mut chosen = args[..2].to_vec();
            chosen.push("--exact".into());
            for name in left_out(&list, &texts) {
                chosen.extend(["--skip".into(), name.into()]);
            }
            chosen
        }
        _ => args,
    };
    wasm_bindgen_cli::wasm_bindgen_test_runner::run_cli_with_args(args)
}

/// The names in `list` that contain none of `texts`.
fn left_out<'a>(list: &'a str, texts: &[String]) -> Vec<&'a str> {
    list.lines()
        .filter_map(|line| line.strip_suffix(": test"))
        .filter(|name| !texts.iter().any(|text| name.contains(text)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_with_none_of_the_texts_are_left_out() {
        let list = "frames: test\nshares: test\nsaves::text: test\n";
        let texts = ["share".to_owned(), "saves::".to_owned()];
        assert_eq!(left_out(list, &texts), ["frames"]);
    }
}
