//! The steps that are no tests with names: format, lints, types, the reference and the package.
use super::{lines, suite::wasm_tests};
use crate::{
    packages,
    project::{self, Project},
    toolchain::Wasm,
};
use anyhow::{Context, Result, bail};
use std::process::Command;

/// One cargo command in the project's root.
pub fn cargo(project: &Project, line: &[&str]) -> Result<()> {
    project::run(project::cargo().current_dir(&project.root).args(line))
}

/// The reference without a warning; the package as it would be sent, built once.
pub fn library(project: &Project) -> Result<()> {
    let mut reference = project::cargo();
    reference
        .current_dir(&project.root)
        .env("RUSTDOCFLAGS", "-D warnings")
        .args(lines::REFERENCE);
    project::run(&mut reference).context("the reference")?;
    // cargo asks the registry for the package's lock file; without a network it knows what it has built with.
    cargo(project, lines::PACKAGE)
        .or_else(|_| cargo(project, &[lines::PACKAGE, &["--offline"]].concat()))
        .context("the package")
}

/// clippy natively and for wasm.
pub fn clippy(project: &Project) -> Result<()> {
    // Last: it wants the folder that the native tests are compiled in, and waits until that is free.
    let native = || {
        lines::CLIPPY
            .iter()
            .try_for_each(|line| cargo(project, &[line, lines::DENY].concat()))
    };
    let wasm = Wasm::find(project)?;
    let Some(mut cmd) = wasm.clippy()? else {
        project::tell(
            "no clippy for the compiler that makes the wasm; only the native side was checked",
        );
        return native();
    };
    cmd.args(["--package", "reweight-lab", "--lib"]);
    for name in wasm_tests(&project.root)? {
        cmd.args(["--test", &name]);
    }
    project::run(cmd.args(lines::DENY))?;
    // The second module's code is not in the first.
    if let Some(mut cmd) = wasm.clippy()? {
        cmd.args(["--package", "reweight-lab", "--lib", "--features", "export"]);
        project::run(cmd.args(lines::DENY))?;
    }
    native()
}

/// Types and lint rules of the page's scripts.
pub fn scripts(project: &Project) -> Result<()> {
    packages::npm(project)?;
    let tool = |file: &str, args: &[&str]| {
        let mut cmd = Command::new(packages::node()?);
        cmd.current_dir(&project.root)
            .arg(packages::module(project, file))
            .args(args);
        project::run(&mut cmd)
    };
    // Both, so that one run tells everything.
    let results = [
        tool("typescript/bin/tsc", &["--project", "tsconfig.json"]).context("types"),
        tool("eslint/bin/eslint.js", &["."]).context("lint rules"),
    ];
    let failed: Vec<_> = results
        .into_iter()
        .filter_map(Result::err)
        .map(|e| format!("{e:#}"))
        .collect();
    if !failed.is_empty() {
        bail!("{}", failed.join("; "));
    }
    Ok(())
}
