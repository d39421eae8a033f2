//! Values of arguments: durations, windows, ranges, and the options all runs have in common.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::failure::Failure;
use super::output::Output;
use super::source;
use crate::model::kernel::Kernel;
use crate::model::pi::Variant;
use crate::model::units::Ns;
use crate::workload::{Options, Window, Workload};

/// What is run, how long, and where it is measured.
#[derive(clap::Args, Clone)]
pub(super) struct What {
    /// A preset's name, a file (rt-app JSON), or - for standard input
    #[arg(value_name = "WHAT")]
    what: String,
    /// Length of the run: 10s, 250ms, 1500us, 1900ns; a bare number is seconds
    #[arg(long, value_name = "TIME", value_parser = duration)]
    duration: Option<Ns>,
    /// Measure another window, or the window of that name elsewhere; may be repeated
    #[arg(long = "window", value_name = "NAME=FROM..TO", value_parser = window)]
    windows: Vec<Window>,
}

impl What {
    /// Reads the workload.
    pub fn workload(&self) -> Result<Workload, Failure> {
        source::workload(&self.what)
    }

    /// The options that these are; the machine is left open.
    pub fn options(&self) -> Options {
        Options {
            duration: self.duration,
            windows: self.windows.clone(),
            ..Options::default()
        }
    }
}

/// Where a command writes to.
#[derive(clap::Args, Clone)]
pub(super) struct Target {
    /// Write to this file instead of standard output; it is there whole or not at all
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
}

impl Target {
    /// Opens it.
    pub fn open(&self) -> Result<Output, Failure> {
        Output::open(self.output.as_deref())
    }
}

/// What every simulated run takes beside kernel, HZ and variant.
#[derive(clap::Args, Clone)]
pub(super) struct Common {
    #[command(flatten)]
    what: What,
    /// Online CPUs, which scale the tunables [default: the file's word, else those its tasks name]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    cpus_online: Option<u32>,
}

impl Common {
    /// Reads the workload.
    pub fn workload(&self) -> Result<Workload, Failure> {
        self.what.workload()
    }

    /// The options of one run.
    pub fn options(&self, kernel: Option<Kernel>, hz: Option<u32>, pi: Option<Variant>) -> Options {
        Options {
            kernel,
            hz,
            cpus_online: self.cpus_online,
            pi,
            ..self.what.options()
        }
    }
}

/// A kernel by name.
pub(super) fn kernel() -> impl TypedValueParser<Value = Kernel> {
    PossibleValuesParser::new(Kernel::ALL.map(|k| k.name))
        .try_map(|name| Kernel::named(&name).ok_or("no such kernel"))
}

/// A variant by name.
pub(super) fn variant() -> impl TypedValueParser<Value = Variant> {
    PossibleValuesParser::new(Variant::ALL.map(Variant::name))
        .try_map(|name| Variant::named(&name).ok_or("no such variant"))
}

/// A tick rate.
pub(super) fn hz() -> impl TypedValueParser<Value = u32> {
    PossibleValuesParser::new(["100", "250", "300", "1000"]).try_map(|text| text.parse::<u32>())
}

/// A duration: digits, perhaps a decimal point, perhaps a unit.
pub(super) fn duration(text: &str) -> Result<Ns, String> {
    let expected = "expected a duration such as 10s, 250ms, 1500us, 1900ns, or a number of seconds";
    let unit_at = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_at);
    let digits: u32 = match unit {
        "" | "s" => 9,
        "ms" => 6,
        "us" => 3,
        "ns" => 0,
        _ => return Err(expected.into()),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let is_number = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    if !is_number(whole) || (number.contains('.') && !is_number(fraction)) {
        return Err(expected.into());
    }
    let fraction = fraction.trim_end_matches('0');
    if fraction.len() as u32 > digits {
        return Err("finer than a nanosecond".into());
    }
    let too_long = || "longer than 584 years".to_owned();
    let scale = |text: &str, power: u32| -> Result<u64, String> {
        let value: u64 = if text.is_empty() {
            0
        } else {
            text.parse().map_err(|_| too_long())?
        };
        value.checked_mul(10u64.pow(power)).ok_or_else(too_long)
    };
    let whole = scale(whole, digits)?;
    let fraction = scale(fraction, digits - fraction.len() as u32)?;
    whole.checked_add(fraction).map(Ns).ok_or_else(too_long)
}

/// A window: NAME=FROM..TO. The name may hold `=` itself.
pub(super) fn window(text: &str) -> Result<Window, String> {
    let expected = || "expected NAME=FROM..TO, such as boosted=5s..15s".to_owned();
    let (name, range) = text.rsplit_once('=').ok_or_else(expected)?;
    let (from, to) = range.split_once("..").ok_or_else(expected)?;
    if name.is_empty() {
        return Err(expected());
    }
    let (from, to) = (duration(from)?, duration(to)?);
    if from >= to {
        return Err("the window ends before it begins".into());
    }
    Ok(Window {
        name: name.to_owned(),
        from,
        to,
    })
}

/// Nice levels of a task, in the order given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NiceRange {
    pub task: String,
    pub levels: Vec<i32>,
}

/// TASK=LIST, where LIST is levels and ranges: `-20..19`, `0,5,10`, `-20..19/3`.
pub(super) fn nice_range(text: &str) -> Result<NiceRange, String> {
    let expected = || "expected TASK=LEVELS, such as low=-20..19, low=0,5,10 or low=-20..19/3";
    let (task, list) = text.rsplit_once('=').ok_or_else(expected)?;
    if task.is_empty() {
        return Err(expected().into());
    }
    let level = |text: &str| -> Result<i32, String> {
        let nice: i32 = text.parse().map_err(|_| expected().to_owned())?;
        if !(-20..=19).contains(&nice) {
            return Err(format!(
                "expected a nice level from -20 to 19, found {nice}"
            ));
        }
        Ok(nice)
    };
    let mut levels = Vec::new();
    for part in list.split(',') {
        let (range, step) = match part.split_once('/') {
            Some((range, step)) => (range, step.parse::<u32>().map_err(|_| expected())?),
            None => (part, 1),
        };
        let (from, to) = range.split_once("..").unwrap_or((range, range));
        let (from, to) = (level(from)?, level(to)?);
        if from > to {
            return Err(format!("the range {from}..{to} ends before it begins"));
        }
        if step == 0 {
            return Err("a range needs a step above 0".into());
        }
        levels.extend((from..=to).step_by(step as usize));
    }
    for (i, level) in levels.iter().enumerate() {
        if levels[..i].contains(level) {
            return Err(format!("the nice level {level} is there twice"));
        }
    }
    Ok(NiceRange {
        task: task.to_owned(),
        levels,
    })
}

/// Part `index` (from 0) of `count`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shard {
    pub index: u64,
    pub count: u64,
}

/// I/N, I from 1 to N.
pub(super) fn shard(text: &str) -> Result<Shard, String> {
    let parsed = text
        .split_once('/')
        .and_then(|(i, n)| Some((i.parse::<u64>().ok()?, n.parse::<u64>().ok()?)));
    match parsed {
        Some((i, n)) if (1..=n).contains(&i) => Ok(Shard {
            index: i - 1,
            count: n,
        }),
        _ => Err("expected I/N with I from 1 to N, such as 1/4".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units_decimals_and_seconds_by_default() {
        for (text, ns) in [
            ("10s", 10_000_000_000),
            ("10", 10_000_000_000),
            ("250ms", 250_000_000),
            ("1500us", 1_500_000),
            ("1900ns", 1900),
            ("1.5", 1_500_000_000),
            ("0.000000001s", 1),
            ("1.50000000000000ns", 0),
            ("0", 0),
        ] {
            let expected = if text == "1.50000000000000ns" {
                Err("finer than a nanosecond".to_owned())
            } else {
                Ok(Ns(ns))
            };
            assert_eq!(duration(text), expected, "{text}");
        }
        for text in [
            "", "s", "-1s", "1 s", "1h", "1e9", ".5", "5.", "1.2.3", "１s",
        ] {
            assert!(duration(text).is_err(), "{text}");
        }
        assert!(duration("18446744073s").is_ok());
        assert!(duration("18446744074s").is_err());
    }

    #[test]
    fn a_window_has_a_name_and_two_durations_in_order() {
        let w = window("a=b=1s..2500ms").unwrap();
        assert_eq!(
            (w.name.as_str(), w.from, w.to),
            ("a=b", Ns(1_000_000_000), Ns(2_500_000_000))
        );
        for text in [
            "", "a", "a=", "=1..2", "a=1", "a=1..", "a=..2", "a=2..1", "a=1..1",
        ] {
            assert!(window(text).is_err(), "{text}");
        }
    }

    #[test]
    fn nice_levels_are_lists_of_levels_and_ranges() {
        let levels = |text| nice_range(text).map(|r| r.levels);
        assert_eq!(levels("low=-20..19").unwrap().len(), 40);
        assert_eq!(levels("low=0,5,10").unwrap(), [0, 5, 10]);
        assert_eq!(levels("low=-20..-10/5,3").unwrap(), [-20, -15, -10, 3]);
        for text in [
            "low",
            "low=",
            "=1",
            "low=-21",
            "low=20",
            "low=5..1",
            "low=1,1",
            "low=0..9/0",
            "low=x",
        ] {
            assert!(nice_range(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_shard_is_one_of_n() {
        assert_eq!(shard("1/4").unwrap(), Shard { index: 0, count: 4 });
        assert_eq!(shard("4/4").unwrap(), Shard { index: 3, count: 4 });
        for text in ["", "0/4", "5/4", "1", "1/0", "a/b"] {
            assert!(shard(text).is_err(), "{text}");
        }
    }
}
