//! `cargo xtask shots`: pictures of every step of the tour and every mode of the page, to be looked at.
use crate::{
    browser::Browser,
    bundle, packages,
    project::{self, Project},
    server,
};
use anyhow::Result;
use std::process::Command;

/// Builds the page, takes the pictures into `target/shots`, and with `docs` the README's two as well.
pub fn run(project: &Project, docs: bool) -> Result<()> {
    packages::npm(project)?;
    let browser = Browser::find()?;
    bundle::build(project, false)?;
    let running = server::start(&project.dist(), None)?;
    let mut cmd = Command::new(packages::node()?);
    cmd.current_dir(&project.root)
        .arg(project.root.join("xtask/js/shots.mjs"))
        .arg(project.target.join("shots"))
        .env("LAB_URL", &running.address)
        .env("CHROME", &browser.program);
    if docs {
        cmd.arg(project.root.join("docs"));
    }
    let result = project::run(&mut cmd);
    running.stop();
    result
}
