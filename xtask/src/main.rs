//! The project's chores: `cargo xtask build | serve | test | shots | sizes | doctor`.
//!
//! Whatever a chore needs and does not find, it installs, or it says in one sentence what to install.

mod browser;
mod bundle;
mod cli;
mod doctor;
mod packages;
mod project;
mod runner;
mod serve;
mod server;
mod shots;
mod sysroot;
mod test;
mod toolchain;
mod watch;

use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<_> = std::env::args_os().collect();
    match cli::run(args) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}
