//! `presets`: list them, or print one.

use std::io::Write;

use super::failure::Failure;
use super::output::Output;
use super::table::{Align, Table};
use crate::workload::{Workload, presets};

/// List the scenarios that come with the lab, or print one as rt-app JSON
#[derive(clap::Args)]
#[command(after_help = "Examples:
  reweight-lab presets
  reweight-lab presets patch-test > mine.json && reweight-lab simulate mine.json")]
pub(super) struct Args {
    /// Print this one
    name: Option<String>,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let mut out = Output::stdout();
    match &args.name {
        Some(name) => {
            let preset = presets::named(name).ok_or_else(|| {
                Failure::Could(format!(
                    "{name}: no such preset (`reweight-lab presets` lists them)"
                ))
            })?;
            out.write_all(preset.text.as_bytes())?;
            if !preset.text.ends_with('\n') {
                writeln!(out)?;
            }
        }
        None => {
            let mut table = Table::new(&[("preset", Align::Left), ("what it is", Align::Left)]);
            for preset in presets::ALL {
                let title = Workload::parse(preset.text, preset.name)?.title;
                table.row(vec![preset.name.to_owned(), title], false);
            }
            out.write_all(table.render(out.colour()).as_bytes())?;
        }
    }
    out.finish()
}
