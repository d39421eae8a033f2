//! The command line: arguments in, the other modules' answers out.
//!
//! Every failure is one sentence on standard error. Exit status: 0 done, 1 could not (file,
//! format, run), 2 wrong usage. `docs/cli.md` is the manual.

mod args;
mod compare;
mod failure;
mod grid;
mod output;
mod presets;
mod progress;
mod record;
mod resume;
mod simulate;
mod source;
mod sweep;
mod table;
mod text;
mod trace;

use std::io::Write;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};

use failure::Failure;

#[derive(Parser)]
#[command(
    name = "reweight-lab",
    version,
    about = "Priority inheritance for fair tasks on Linux, simulated to the integer",
    after_help = "Examples:
  reweight-lab compare patch-test
  reweight-lab simulate patch-test --pi reweight --format json
  reweight-lab trace trace.txt
  reweight-lab record patch-test
  reweight-lab presets

WHAT is the name of a preset, a file (rt-app JSON), or - for standard input.",
    max_term_width = 100
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Simulate(simulate::Args),
    Compare(compare::Args),
    Sweep(sweep::Args),
    Trace(trace::Args),
    Record(record::Args),
    Presets(presets::Args),
    /// Write a completion script for a shell
    #[command(after_help = "Examples:
  reweight-lab completions bash > ~/.local/share/bash-completion/completions/reweight-lab
  reweight-lab completions zsh > ~/.zfunc/_reweight-lab
  reweight-lab completions fish > ~/.config/fish/completions/reweight-lab.fish")]
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
}

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return refuse(&error),
    };
    let done = match cli.command {
        Command::Simulate(args) => simulate::run(args),
        Command::Compare(args) => compare::run(args),
        Command::Sweep(args) => sweep::run(args),
        Command::Trace(args) => trace::run(args),
        Command::Record(args) => record::run(args),
        Command::Presets(args) => presets::run(&args),
        Command::Completions { shell } => completions(shell),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.tell(),
    }
}

fn completions(shell: clap_complete::Shell) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "reweight-lab", &mut script);
    output::Output::stdout().write_all(&script)?;
    Ok(())
}

/// What the parser of arguments says, as one sentence; help and version go to standard output.
fn refuse(error: &clap::Error) -> ExitCode {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            // A closed pipe is no news: the reader has seen enough.
            let _ = error.print();
            ExitCode::SUCCESS
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let _ = error.print();
            ExitCode::from(2)
        }
        _ => {
            let text = error.render().to_string();
            let sentence: Vec<&str> = text
                .lines()
                .take_while(|line| !line.is_empty())
                .map(str::trim)
                .collect();
            let sentence = sentence.join(" ");
            let sentence = sentence.strip_prefix("error: ").unwrap_or(&sentence);
            Failure::Usage(sentence.to_owned()).tell()
        }
    }
}
