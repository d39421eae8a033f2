//! `record`: the same workload on this machine's kernel (Linux).

use super::args;

/// Run a workload on this machine's kernel and tell who got how much of the CPU (Linux)
#[derive(clap::Args)]
#[command(after_help = "Examples:
  reweight-lab record patch-test
  reweight-lab record patch-test --cpu 1 --format json > here.json
  reweight-lab simulate patch-test --kernel 6.18 --hz 250 --format json > model.json
  reweight-lab record mine.json --duration 5s --window late=2s..5s
  sudo reweight-lab record rt-waiter --format ftrace -o trace.txt

It takes as long as the workload lasts: real threads, real futexes, one CPU's affinity. Negative
nice levels and real-time policies take rights (CAP_SYS_NICE); without them, and without tracefs,
the run goes on and a notice says what was left out. Formats: text for people; json, the shape of
simulate with one more member, machine (see docs/format.md); csv, one line for each task and
window; ftrace, the kernel's own text of the run, where tracefs can be used.")]
#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
pub(super) struct Args {
    #[command(flatten)]
    what: args::What,
    /// The CPU to run on, in place of the workload's; of several the first is its CPU0
    #[arg(long = "cpu", value_name = "N[,N...]", value_delimiter = ',')]
    cpus: Vec<usize>,
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
    Ftrace,
}

#[cfg(not(target_os = "linux"))]
pub(super) fn run(_: Args) -> Result<(), super::failure::Failure> {
    Err(super::failure::Failure::Could(
        "record needs Linux: it runs the workload on the kernel of the machine it is on".into(),
    ))
}

#[cfg(target_os = "linux")]
pub(super) use linux::run;

#[cfg(target_os = "linux")]
mod linux {
    use std::io::Write;
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use super::{Args, Format};
    use crate::cli::failure::{Failure, reason, say};
    use crate::cli::output::Output;
    use crate::cli::progress::Progress;
    use crate::cli::simulate::json;
    use crate::cli::text;
    use crate::model::kernel::Kernel;
    use crate::model::units::Ns;
    use crate::record::{self, MachineReport, Recorded};
    use crate::trace;
    use crate::workload::{Options, bounds};

    pub(in crate::cli) fn run(args: Args) -> Result<(), Failure> {
        for (n, cpu) in args.cpus.iter().enumerate() {
            if args.cpus[..n].contains(cpu) {
                let message = format!("--cpu: CPU{cpu} is there twice");
                return Err(Failure::Usage(message));
            }
        }
        let workload = args.what.workload()?;
        let scenario = workload.build(&Options {
            // What the model of a kernel lacks is no matter here.
            kernel: Some(Kernel::V6_18),
            cpus_online: Some(bounds::CPUS),
            ..args.what.options()
        })?;
        // A place that cannot be written to is known before the run.
        let mut out = args.target.open()?;
        let interrupted = interrupts()?;
        let mut progress = Progress::new();
        let on = progress.is_on();
        let mut at = |now: Ns, all: Ns| {
            progress.at(now.0 / 1_000_000, all.0 / 1_000_000, "ms recorded");
        };
        let recorded = record::record(
            scenario,
            record::Options {
                cpus: args.cpus,
                needs_trace: args.format == Format::Ftrace,
                interrupted: Some(&interrupted),
                progress: if on { Some(&mut at) } else { None },
            },
        )
        .map_err(|e| Failure::Could(e.to_string()))?;
        drop(progress);
        write(&workload.title, &recorded, args.format, &mut out)?;
        out.finish()
    }

    /// Set when the user has enough; the second time the process ends at once.
    fn interrupts() -> Result<Arc<AtomicBool>, Failure> {
        use signal_hook::consts::{SIGINT, SIGTERM};
        let flag = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            signal_hook::flag::register_conditional_shutdown(signal, 1, flag.clone())
                .and_then(|_| signal_hook::flag::register(signal, flag.clone()))
                .map_err(|e| Failure::Could(format!("cannot catch signals: {}", reason(&e))))?;
        }
        Ok(flag)
    }

    fn write(
        title: &str,
        recorded: &Recorded,
        format: Format,
        out: &mut Output,
    ) -> Result<(), Failure> {
        let report = &recorded.report.report;
        let notes = || {
            for notice in &report.notices {
                say(&format!("note: {notice}"));
            }
        };
        match format {
            Format::Text => {
                let made = made(&recorded.report.machine);
                let told = text::Told {
                    report,
                    holder: recorded.holder.as_deref(),
                    made: Some(&made),
                };
                let colour = out.colour();
                out.write_all(text::one(title, &told, colour).as_bytes())?;
            }
            Format::Json => json(&recorded.report, out)?,
            Format::Csv => {
                notes();
                trace::csv::write([report], out)?;
            }
            Format::Ftrace => {
                let text = recorded.trace.as_ref().map_err(|why| {
                    Failure::Could(record::Error::NoTrace(why.clone()).to_string())
                })?;
                notes();
                out.write_all(text)?;
            }
        }
        Ok(())
    }

    fn made(machine: &MachineReport) -> String {
        let cpus: Vec<String> = machine.cpus.iter().map(|c| format!("CPU{c}")).collect();
        format!(
            "kernel {}, HZ {}, {} of {} online",
            machine.release,
            machine.hz,
            cpus.join(" and "),
            machine.cpus_online
        )
    }
}
