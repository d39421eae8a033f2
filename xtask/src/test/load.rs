//! Keeps the machine busy while tests run: what is only right on an idle machine shows.
use anyhow::{Context, Result};
use std::{
    env,
    io::Read,
    process::{self, Child, Command, Stdio},
    thread,
};

/// The word that makes this program spin.
pub const SPIN: &str = "spin";

/// One process for every core, until it is dropped.
pub struct Load(Vec<Child>);

impl Load {
    /// Starts them.
    pub fn start() -> Result<Self> {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let own = env::current_exe()?;
        let mut load = Self(Vec::new());
        for _ in 0..cores {
            let child = Command::new(&own)
                .arg(SPIN)
                // Its end of the pipe tells when we are gone, in whatever way.
                .stdin(Stdio::piped())
                .spawn()
                .context("no process to keep the machine busy with")?;
            load.0.push(child);
        }
        eprintln!("keeping {cores} cores busy");
        Ok(load)
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Computes nothing until standard input ends.
pub fn spin() -> ! {
    thread::spawn(|| {
        let mut byte = [0];
        while matches!(std::io::stdin().read(&mut byte), Ok(1..)) {}
        process::exit(0);
    });
    loop {
        std::hint::spin_loop();
    }
}
