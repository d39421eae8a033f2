//! `cargo xtask doctor`: what of the chores' tools is on this machine.
use crate::{
    browser::Browser,
    packages,
    project::{Project, on_path},
    toolchain::Wasm,
};
use anyhow::{Context, Result};
use std::process::ExitCode;

/// Prints what is there and what is missing; changes nothing.
pub fn run(project: &Project) -> Result<ExitCode> {
    let mut complete = true;
    let mut line = |what: &str, found: Result<String>| match found {
        Ok(found) => println!("  {what:9} {found}"),
        Err(error) => {
            complete = false;
            println!("  {what:9} MISSING: {error:#}");
        }
    };
    line("wasm", Wasm::look(project).map(|wasm| wasm.described()));
    line(
        "node",
        packages::node().map(|node| node.display().to_string()),
    );
    line(
        "npm",
        on_path(&["npm", "npm.cmd"])
            .map(|p| p.display().to_string())
            .context("no npm"),
    );
    line("packages", packages::installed(project));
    let browser = Browser::program().context("no Chromium or Chrome; CHROME may name one");
    line(
        "browser",
        browser.and_then(|_| Browser::find()).map(|b| b.described()),
    );
    println!("  {:9} {}", "installs", packages::ability());
    println!(
        "{}",
        if complete {
            "all is there"
        } else {
            "the chores install what is missing, or say how"
        }
    );
    Ok(if complete {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
