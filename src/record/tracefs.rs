//! The kernel's scheduler events, where tracefs can be used: a trace instance of our own, so that
//! nobody else's tracing is touched, and gone at the end.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::rights::words;

/// Events that `trace` reads (docs/traces.md).
const EVENTS: [&str; 6] = [
    "sched_switch",
    "sched_waking",
    "sched_wakeup",
    "sched_wakeup_new",
    "sched_pi_setprio",
    "sched_process_exit",
];

/// Of each traced CPU, in KiB: some 300,000 switches with their wakeups.
const BUFFER: &str = "32768";

/// Where tracefs is mounted.
const PLACES: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

/// An instance that records.
pub(super) struct Tracing {
    dir: PathBuf,
}

impl Tracing {
    /// Begins to record the scheduler's events of some CPUs.
    ///
    /// # Errors
    /// Why not, in words.
    pub fn start(cpus: &[usize]) -> Result<Tracing, String> {
        let mounted = PLACES
            .iter()
            .find(|p| Path::new(p).join("instances").exists());
        let Some(place) = mounted else {
            let dark = PLACES.iter().any(|p| {
                fs::read_dir(p).is_err_and(|e| e.kind() == io::ErrorKind::PermissionDenied)
            });
            return Err(if dark {
                "permission denied".into()
            } else {
                "it is not mounted".into()
            });
        };
        let name = format!("reweight-lab-{}", std::process::id());
        let dir = Path::new(place).join("instances").join(name);
        fs::create_dir(&dir).map_err(|e| words(&e))?;
        // From here on the instance goes with the value.
        let tracing = Tracing { dir };
        tracing.configure(cpus).map_err(|e| words(&e))?;
        Ok(tracing)
    }

    fn configure(&self, cpus: &[usize]) -> io::Result<()> {
        self.write("tracing_on", "0")?;
        self.write("trace_clock", "mono")?;
        self.write("tracing_cpumask", &mask(cpus))?;
        for cpu in cpus {
            // A smaller ring is only noticed if it overflows.
            let _ = self.write(&format!("per_cpu/cpu{cpu}/buffer_size_kb"), BUFFER);
        }
        for event in EVENTS {
            let enable = format!("events/sched/{event}/enable");
            // Not every kernel has every event; without switches there is nothing to read.
            let done = self.write(&enable, "1");
            if event == "sched_switch" {
                done?;
            }
        }
        self.write("tracing_on", "1")
    }

    fn write(&self, file: &str, text: &str) -> io::Result<()> {
        fs::write(self.dir.join(file), text)
    }

    /// Stops, and hands the text of the trace over piece by piece.
    ///
    /// # Errors
    /// When tracefs cannot be read after all.
    pub fn finish(self, mut sink: impl FnMut(&[u8])) -> io::Result<()> {
        self.write("tracing_on", "0")?;
        let mut text = fs::File::open(self.dir.join("trace"))?;
        let mut buffer = vec![0; 1 << 16];
        loop {
            match text.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(n) => sink(&buffer[..n]),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
    }
}

impl Drop for Tracing {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.dir);
    }
}

/// A set of CPUs as tracefs takes it: hexadecimal, 32 bits between commas.
fn mask(cpus: &[usize]) -> String {
    let words = cpus.iter().max().map_or(0, |m| m / 32) + 1;
    let word = |w: usize| {
        let bits = cpus.iter().filter(|c| *c / 32 == w);
        bits.fold(0u32, |mask, c| mask | 1 << (c % 32))
    };
    let text: Vec<String> = (0..words)
        .rev()
        .map(|w| format!("{:08x}", word(w)))
        .collect();
    text.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_is_hexadecimal_with_the_highest_cpus_first() {
        assert_eq!(mask(&[0]), "00000001");
        assert_eq!(mask(&[1, 3]), "0000000a");
        assert_eq!(mask(&[0, 33]), "00000002,00000001");
    }
}
