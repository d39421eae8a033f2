//! `cargo xtask serve`: the page on this machine, built again on every change.
use crate::{
    bundle,
    project::{Project, STOP},
    server,
    watch::Watch,
};
use anyhow::{Context, Result};
use std::{
    sync::{
        atomic::Ordering,
        mpsc::{self, RecvTimeoutError},
    },
    time::Duration,
};

/// How to serve.
#[derive(Debug, PartialEq, Eq)]
pub struct Options {
    /// Compile fast instead of small.
    pub dev: bool,
    /// Build again on changes.
    pub watch: bool,
    /// The port; without one 8080 or the next free.
    pub port: Option<u16>,
}

/// Between two looks at the files.
const PAUSE: Duration = Duration::from_millis(500);

/// Builds, serves and watches until Ctrl-C or a request to terminate.
pub fn run(project: &Project, options: &Options) -> Result<()> {
    let (ask_to_end, asked_to_end) = mpsc::channel();
    ctrlc::set_handler(move || {
        STOP.store(true, Ordering::Relaxed);
        // The receiver lives as long as `run`; after that there is nothing left to end.
        let _ = ask_to_end.send(());
    })
    .context("Ctrl-C cannot be caught")?;

    // Watched from before the build: a file saved while it runs is not missed.
    let mut watch = Watch::new(
        ["src", "www", "Cargo.toml", "Cargo.lock"]
            .map(|p| project.root.join(p))
            .to_vec(),
    );
    let first = bundle::build(project, options.dev);
    if STOP.load(Ordering::Relaxed) {
        eprintln!("stopped");
        return Ok(());
    }
    first?;
    let running = server::start(&project.dist(), options.port)?;
    println!("{}", running.address);
    loop {
        match asked_to_end.recv_timeout(PAUSE) {
            Ok(()) | Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {}
        }
        if !options.watch || !watch.changed() {
            continue;
        }
        // Editors save several files at once: wait until it is quiet.
        while {
            std::thread::sleep(Duration::from_millis(100));
            watch.changed()
        } {}
        let built = bundle::stage(project, options.dev).and_then(|fresh| {
            let _alone = running.gate.write();
            bundle::swap(project, &fresh)
        });
        match built {
            Ok(()) => eprintln!("built again: {}", running.address),
            Err(_) if STOP.load(Ordering::Relaxed) => {}
            Err(error) => eprintln!("xtask: {error:#}; the page stays as it was"),
        }
    }
    running.stop();
    eprintln!("stopped");
    Ok(())
}
