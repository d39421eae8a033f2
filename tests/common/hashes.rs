//! Whole runs as one number each: every event with its instant, hashed. The same numbers natively
//! and in wasm say that the traces are the same to the bit.

use std::fmt::Write;

use reweight_lab::model::kernel::Kernel;
use reweight_lab::model::machine::Machine;
use reweight_lab::model::observer::{Event, Observer};
use reweight_lab::model::pi::Variant;
use reweight_lab::model::units::Ns;
use reweight_lab::workload::{Options, Workload, presets};

use super::random::{LENGTH, bytes_of, machine};

/// How much of a preset is run: past the first boost and release of each.
const SHORT: Ns = Ns::from_ms(5_500);

/// Random programs in the list.
const PROGRAMS: u64 = 300;

/// FNV-1a over what is written.
struct Hash {
    state: u64,
    events: u64,
}

impl Write for Hash {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        for byte in text.bytes() {
            self.state = (self.state ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
        Ok(())
    }
}

impl Observer for Hash {
    fn event(&mut self, m: &Machine, event: &Event) {
        self.events += 1;
        write!(self, "{} {event:?}", m.now().0).expect("a hash takes everything");
    }
}

fn hash(m: &mut Machine, until: Ns) -> String {
    let mut seen = Hash {
        state: 0xcbf2_9ce4_8422_2325,
        events: 0,
    };
    let ended = m.run_until(until, &mut seen).is_ok();
    for (i, task) in m.tasks().iter().enumerate() {
        let e = task.entity();
        write!(seen, "{i} {:?} {}", e, task.prio()).expect("a hash takes everything");
    }
    format!("{} {} {:016x}", seen.events, ended, seen.state)
}

/// A line a run: what was run, how many events, whether it ended, the hash.
pub fn all() -> String {
    let mut lines = String::new();
    // Kernels and variants take turns, so that each meets each.
    for (i, preset) in presets::ALL.iter().enumerate() {
        let workload = Workload::parse(preset.text, preset.name).expect("a preset");
        for j in 0..2 {
            let turn = 2 * i + j;
            let kernel = Kernel::ALL[turn % 5];
            let pi = Variant::ALL[turn / 5 % 6];
            let options = Options {
                kernel: Some(kernel),
                pi: Some(pi),
                ..Options::default()
            };
            let mut built = workload.build(&options).expect("a preset");
            let end = built.duration.min(SHORT);
            let (name, on) = (preset.name, kernel.name);
            let told = hash(&mut built.machine, end);
            writeln!(lines, "{name} {on} {} {told}", pi.name()).expect("text");
        }
    }
    for seed in 0..PROGRAMS {
        let told = hash(&mut machine(&bytes_of(seed, 1200)), LENGTH);
        writeln!(lines, "program {seed} {told}").expect("text");
    }
    lines
}
