//! `trace`: what a real kernel did, from its ftrace text.

use std::fs::File;
use std::io::{self, Read, Write};

use super::args;
use super::failure::{Failure, say};
use super::progress::Progress;
use super::simulate::json;
use super::source::cannot_read;
use crate::model::kernel::Kernel;
use crate::model::units::Ns;
use crate::trace::read::{self, Options, Reader, Trace};
use crate::workload::Window;

/// Read ftrace text of a real kernel and tell who waited, who lent, and whether the share followed
#[derive(clap::Args)]
#[command(after_help = "Examples:
  reweight-lab trace trace.txt
  reweight-lab trace trace.txt.gz --format json
  trace-cmd report | reweight-lab trace -
  perf script | reweight-lab trace - --window late=5790s..5791s
  reweight-lab trace trace.txt --format boosts
  reweight-lab trace trace.txt --format what-if --kernel 6.1
  reweight-lab trace trace.txt --format workload | reweight-lab compare -

FILE is the kernel's `trace` file, or what trace-cmd report or perf script print; gzip is
unpacked. Formats: text for people; json (stable, see docs/traces.md); csv, one line for each
task and window; boosts, one line of CSV for each boost; workload, the rt-app JSON that the
trace implies; what-if, that workload under every variant beside what the kernel did.")]
pub(super) struct Args {
    /// ftrace text, or - for standard input
    #[arg(value_name = "FILE")]
    file: String,
    /// The format of the output
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Measure another window, in the trace's own time; may be repeated
    #[arg(long = "window", value_name = "NAME=FROM..TO", value_parser = args::window)]
    windows: Vec<Window>,
    /// A shorter silence of all CPUs is never taken for a pause of the recording; 0 means that
    /// none is
    #[arg(long, value_name = "TIME", value_parser = args::duration, default_value = "250ms")]
    pause: Ns,
    /// The kernel of what-if, which a trace does not tell [default: 6.12]
    #[arg(long, value_parser = args::kernel())]
    kernel: Option<Kernel>,
    /// Ticks a second of what-if, which a trace does not tell [default: 1000]
    #[arg(long, value_parser = args::hz())]
    hz: Option<u32>,
    #[command(flatten)]
    target: args::Target,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    #[default]
    Text,
    Json,
    Csv,
    Boosts,
    Workload,
    WhatIf,
}

/// Sleeps kept for the workload a trace implies: 64 MB.
const STORY: usize = 1_000_000;

pub(super) fn run(args: Args) -> Result<(), Failure> {
    let windows = args.windows.into_iter().map(|w| read::Window {
        name: w.name,
        from: w.from,
        to: w.to,
    });
    let options = Options {
        windows: windows.collect(),
        quiet: if args.pause == Ns(0) {
            Ns::NEVER
        } else {
            args.pause
        },
        story: if matches!(args.format, Format::Workload | Format::WhatIf) {
            STORY
        } else {
            0
        },
        ..Options::default()
    };
    let trace = open(&args.file, options)?;
    let report = &trace.report;
    let mut out = args.target.open()?;
    match args.format {
        Format::Text => report.write_text(&mut out)?,
        Format::Json => json(report, &mut out)?,
        Format::Workload => {
            let implied = trace.what_if(&args.file)?.workload;
            for notice in &implied.notices {
                say(&format!("note: {notice}"));
            }
            out.write_all(implied.to_json().as_bytes())?;
        }
        Format::WhatIf => {
            let what_if = trace.what_if(&args.file)?;
            let models = what_if.run(args.kernel, args.hz).map_err(Failure::Could)?;
            what_if.write_text(&models, &mut out)?;
        }
        Format::Csv | Format::Boosts => {
            for notice in &report.notices {
                say(&format!("note: {notice}"));
            }
            match args.format {
                Format::Csv => report.write_csv(&mut out)?,
                _ => report.write_boosts_csv(&mut out)?,
            }
        }
    }
    out.finish()
}

fn open(name: &str, options: Options) -> Result<Trace, Failure> {
    if name == "-" {
        return pour(io::stdin().lock(), 0, "standard input", options);
    }
    let file = File::open(name).map_err(|e| cannot_read(name, &e))?;
    let size = file.metadata().map(|m| m.len()).unwrap_or(0);
    pour(file, size, name, options)
}

/// Reads to the end, with progress for who waits. `size` is 0 where it is not known.
fn pour(mut from: impl Read, size: u64, name: &str, options: Options) -> Result<Trace, Failure> {
    let told = |e: read::Error| Failure::Could(format!("{name}: {e}"));
    let mut progress = Progress::new();
    let mut reader = Reader::new(options);
    let mut buffer = vec![0u8; 256 * 1024];
    let mut taken = 0u64;
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return reader.finish().map_err(told),
            Ok(n) => {
                taken += n as u64;
                reader.feed(&buffer[..n]).map_err(told)?;
                if size > 0 {
                    progress.at(taken >> 20, size >> 20, "MB read");
                }
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(cannot_read(name, &e)),
        }
    }
}
