//! The command line of the chores: a table of commands, one parser, exit status 2 for wrong usage.
use crate::{bundle, doctor, project::Project, runner, serve, shots, test};
use anyhow::Result;
use std::{ffi::OsString, process::ExitCode};

const HELP: &str = "\
The project's chores.

usage: cargo xtask COMMAND [OPTIONS]

  build [--dev]             make dist/: the page, its WebAssembly and all else that it fetches
  serve [--dev] [--port N] [--no-watch]
                            build, serve dist/ on 127.0.0.1 and build again on every change
  test [STEP]... [--only TEXT] [--repeat N] [--load]
                            run all tests, or the named steps; some of their tests, many times, under load
  shots [--readme]          take pictures of every step of the tour and every mode of the page
  sizes                     build, and write docs/sizes.md
  doctor                    tell what the chores found on this machine, installing nothing

`cargo xtask COMMAND --help` tells more. Whatever is missing is installed (wasm target by rustup or
Debian's compiler, browser and driver by apt-get, npm packages), or named in one sentence.
";

const BUILD: &str = "\
usage: cargo xtask build [--dev]

Makes dist/: compiles the library to WebAssembly, makes its JavaScript side, shrinks it, and copies www/;
beside it the classic script (reweight-lab.classic.js) and the page in one file (reweight-lab.html).
Prints the sizes as they are and compressed with brotli.

  --dev    compile faster, keep names and the text of panics; neither small nor fast enough to ship;
           without the classic script and the one file

XTASK_WASM=rustup or distro forces the compiler: the active toolchain, or the distribution's.
";

const SERVE: &str = "\
usage: cargo xtask serve [--dev] [--port N] [--no-watch]

Builds dist/, serves it on 127.0.0.1 and prints the address. Builds again when a file in src/ or www/
changes; a build that fails prints why, and what was served before stays. Ctrl-C ends it.

  --port N      this port; without it 8080, or the next free one
  --dev         see `cargo xtask build --help`
  --no-watch    build once, do not look for changes
";

const SHOTS: &str = "\
usage: cargo xtask shots [--readme]

Builds dist/ and takes pictures of it in a headless browser: every step of the tour, asked and answered, every
mode, size and language, the dialogs, the sheets. They go to target/shots/, for people to look at.

  --readme    also the two that the README shows, into docs/
";

/// What the words after `cargo xtask` ask for.
#[derive(Debug, PartialEq, Eq)]
enum Ask {
    Help(String),
    Build { dev: bool },
    Serve(serve::Options),
    Test(test::Plan),
    Shots { readme: bool },
    Sizes,
    Doctor,
}

/// Runs the command in `args` (the program's name first).
pub fn run(mut args: Vec<OsString>) -> Result<ExitCode> {
    // Two that nobody types: cargo calls the first for each wasm test binary, we the second beside tests.
    if args.get(1).is_some_and(|a| a == runner::WORD) {
        args.remove(1);
        runner::run(args)?;
        return Ok(ExitCode::SUCCESS);
    }
    if args.get(1).is_some_and(|a| a == test::load::SPIN) {
        test::load::spin();
    }
    let words: Vec<_> = args
        .iter()
        .skip(1)
        .map(|a| a.to_string_lossy().into_owned())
        .collect();
    let ask = match parse(&words) {
        Ok(ask) => ask,
        Err(sentence) => {
            eprintln!("xtask: {sentence}");
            return Ok(ExitCode::from(2));
        }
    };
    if let Ask::Help(text) = ask {
        print!("{text}");
        return Ok(ExitCode::SUCCESS);
    }
    let project = Project::find()?;
    match ask {
        Ask::Help(_) => {}
        Ask::Build { dev } => bundle::build(&project, dev)?,
        Ask::Serve(options) => serve::run(&project, &options)?,
        Ask::Test(plan) => return test::run(&project, &plan),
        Ask::Shots { readme } => shots::run(&project, readme)?,
        Ask::Sizes => bundle::sizes_page(&project)?,
        Ask::Doctor => return doctor::run(&project),
    }
    Ok(ExitCode::SUCCESS)
}

/// Reads the words; the error is one sentence.
fn parse(words: &[String]) -> Result<Ask, String> {
    let Some((command, rest)) = words.split_first() else {
        return Ok(Ask::Help(HELP.into()));
    };
    let wants_help = rest.iter().any(|w| w == "--help" || w == "-h");
    match command.as_str() {
        "help" | "--help" | "-h" => Ok(Ask::Help(HELP.into())),
        "build" if wants_help => Ok(Ask::Help(BUILD.into())),
        "serve" if wants_help => Ok(Ask::Help(SERVE.into())),
        "test" if wants_help => Ok(Ask::Help(test::help())),
        "shots" if wants_help => Ok(Ask::Help(SHOTS.into())),
        "sizes" if wants_help => Ok(Ask::Help(HELP.into())),
        "doctor" if wants_help => Ok(Ask::Help(HELP.into())),
        "build" => {
            let mut dev = false;
            for word in rest {
                match word.as_str() {
                    "--dev" => dev = true,
                    other => return Err(unknown("build", other, "--dev")),
                }
            }
            Ok(Ask::Build { dev })
        }
        "serve" => parse_serve(rest).map(Ask::Serve),
        "test" => test::Plan::parse(rest).map(Ask::Test),
        "shots" => match rest {
            [] => Ok(Ask::Shots { readme: false }),
            [word] if word == "--readme" => Ok(Ask::Shots { readme: true }),
            [other, ..] => Err(unknown("shots", other, "--readme")),
        },
        "sizes" => match rest.first() {
            None => Ok(Ask::Sizes),
            Some(other) => Err(format!("sizes: unknown argument {other:?}; it takes none")),
        },
        "doctor" => match rest.first() {
            None => Ok(Ask::Doctor),
            Some(other) => Err(format!("doctor: unknown argument {other:?}; it takes none")),
        },
        other => Err(format!(
            "unknown command {other:?}; expected build, serve, test, shots, sizes or doctor (--help tells more)"
        )),
    }
}

fn parse_serve(rest: &[String]) -> Result<serve::Options, String> {
    let mut options = serve::Options {
        dev: false,
        watch: true,
        port: None,
    };
    let mut words = rest.iter();
    while let Some(word) = words.next() {
        let value = match word.split_once('=') {
            Some(("--port", value)) => Some(value.to_owned()),
            _ => None,
        };
        match (word.as_str(), value) {
            ("--dev", _) => options.dev = true,
            ("--no-watch", _) => options.watch = false,
            ("--port", _) => options.port = Some(port(words.next().map(String::as_str))?),
            (_, Some(value)) => options.port = Some(port(Some(&value))?),
            (other, None) => {
                return Err(unknown("serve", other, "--port N, --dev or --no-watch"));
            }
        }
    }
    Ok(options)
}

fn port(word: Option<&str>) -> Result<u16, String> {
    let word = word.ok_or("serve: --port needs a number from 1 to 65535")?;
    match word.parse() {
        Ok(0) | Err(_) => Err(format!(
            "serve: --port {word:?}: expected a number from 1 to 65535"
        )),
        Ok(port) => Ok(port),
    }
}

fn unknown(command: &str, word: &str, expected: &str) -> String {
    format!("{command}: unknown argument {word:?}; expected {expected}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(line: &str) -> Result<Ask, String> {
        parse(
            &line
                .split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>(),
        )
    }

    #[test]
    fn every_command_is_understood() {
        let serve = |dev, watch, port| Ok(Ask::Serve(serve::Options { dev, watch, port }));
        for (line, expected) in [
            ("build", Ok(Ask::Build { dev: false })),
            ("build --dev", Ok(Ask::Build { dev: true })),
            ("serve", serve(false, true, None)),
            (
                "serve --port 9000 --no-watch",
                serve(false, false, Some(9000)),
            ),
            ("serve --port=9000 --dev", serve(true, true, Some(9000))),
            ("sizes", Ok(Ask::Sizes)),
            ("doctor", Ok(Ask::Doctor)),
            ("shots", Ok(Ask::Shots { readme: false })),
            ("shots --readme", Ok(Ask::Shots { readme: true })),
            ("test", Ok(Ask::Test(test::Plan::parse(&[]).unwrap()))),
        ] {
            assert_eq!(ask(line), expected, "{line}");
        }
    }

    #[test]
    fn help_is_there_for_every_command() {
        for line in [
            "",
            "help",
            "--help",
            "-h",
            "build --help",
            "serve -h",
            "test --help",
            "doctor -h",
            "shots -h",
        ] {
            let Ok(Ask::Help(text)) = ask(line) else {
                panic!("{line}: no help")
            };
            assert!(text.contains("usage: cargo xtask"), "{line}");
        }
    }

    #[test]
    fn wrong_usage_is_told_in_one_sentence() {
        for (line, part) in [
            (
                "frobnicate",
                "unknown command \"frobnicate\"; expected build",
            ),
            (
                "build --fast",
                "build: unknown argument \"--fast\"; expected --dev",
            ),
            (
                "serve 8080",
                "serve: unknown argument \"8080\"; expected --port N",
            ),
            ("serve --port", "--port needs a number from 1 to 65535"),
            (
                "serve --port 0",
                "--port \"0\": expected a number from 1 to 65535",
            ),
            ("serve --port 65536", "expected a number from 1 to 65535"),
            ("serve --port=x", "expected a number from 1 to 65535"),
            ("test nonsense", "unknown step \"nonsense\"; expected"),
            ("test page --repeat 0", "expected a number from 1 to 1000"),
            ("test lint --load", "--load is for steps with tests"),
            ("test page --only", "--only needs a part of a test's name"),
            (
                "shots all",
                "shots: unknown argument \"all\"; expected --readme",
            ),
            ("sizes now", "sizes: unknown argument \"now\""),
            ("doctor now", "doctor: unknown argument \"now\""),
        ] {
            let sentence = ask(line).unwrap_err();
            assert!(sentence.contains(part), "{line}: {sentence}");
            assert!(!sentence.contains('\n'), "{line}: {sentence}");
        }
    }
}
