//! `compare`: one workload under several variants, kernels or tick rates, side by side.

use std::io::Write;

use super::args::{self, Common};
use super::failure::{Failure, say};
use super::simulate::{json, run_quietly};
use super::text::{self, Told};
use crate::model::kernel::Kernel;
use crate::model::pi::Variant;
use crate::trace::{self, Report};

/// Run a workload several times and set the shares side by side
#[derive(clap::Args)]
#[command(after_help = "Examples:
  reweight-lab compare patch-test
  reweight-lab compare patch-test --pi stock --pi reweight --pi proxy-exec
  reweight-lab compare patch-test --pi reweight --kernel 6.1 --kernel 6.12 --hz 250 --hz 1000
  reweight-lab compare mine.json --format json

One run for every combination. JSON is an array of the objects that simulate prints.")]
pub(super) struct Args {
    #[command(flatten)]
    common: Common,
    /// A kernel; may be repeated [default: the file's word, else 6.12]
    #[arg(long, value_parser = args::kernel())]
    kernel: Vec<Kernel>,
    /// A tick rate; may be repeated [default: the file's word, else 1000]
    #[arg(long, value_parser = args::hz())]
    hz: Vec<u32>,
    /// What a PI mutex lends; may be repeated [default: stock and reweight]
    #[arg(long, value_parser = args::variant())]
    pi: Vec<Variant>,
    /// The format of the output
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    target: args::Target,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    #[default]
    Text,
    Json,
    Csv,
}

/// What was asked for, or the one value that leaves the file's word.
pub(super) fn or_files_word<T: Copy>(asked: &[T]) -> Vec<Option<T>> {
    if asked.is_empty() {
        vec![None]
    } else {
        asked.iter().copied().map(Some).collect()
    }
}

pub(super) fn run(args: Args) -> Result<(), Failure> {
    let workload = args.common.workload()?;
    let variants = if args.pi.is_empty() {
        vec![Variant::Stock, Variant::Reweight]
    } else {
        args.pi.clone()
    };
    let mut runs = Vec::new();
    for kernel in or_files_word(&args.kernel) {
        for hz in or_files_word(&args.hz) {
            for &pi in &variants {
                let options = args.common.options(kernel, hz, Some(pi));
                let run = run_quietly(&workload, &options)?;
                runs.push((run.report, run.holder));
            }
        }
    }
    let mut out = args.target.open()?;
    let reports: Vec<&Report> = runs.iter().map(|(report, _)| report).collect();
    match args.format {
        Format::Json => json(&reports, &mut out)?,
        Format::Csv => {
            let mut told = std::collections::BTreeSet::new();
            for notice in reports.iter().flat_map(|r| &r.notices) {
                if told.insert(notice) {
                    say(&format!("note: {notice}"));
                }
            }
            trace::csv::write(reports, &mut out)?;
        }
        Format::Text => {
            let told: Vec<Told> = runs
                .iter()
                .map(|(report, holder)| Told {
                    report,
                    holder: holder.as_deref(),
                    made: None,
                })
                .collect();
            let colour = out.colour();
            out.write_all(text::side_by_side(&workload.title, &told, colour).as_bytes())?;
        }
    }
    out.finish()
}
