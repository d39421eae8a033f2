//! `cargo xtask test`: every check there is, in order, with one summary.
//!
//! A failed step does not stop those that do not need it; the summary names all that failed.
use crate::{
    browser::Browser,
    bundle, packages,
    project::{self, Project, on_path},
    server,
    sysroot::Std,
    toolchain::{TARGET, Wasm},
};
use anyhow::{Context, Result, bail};
use std::{
    env, fs,
    path::Path,
    process::{Command, ExitCode},
    time::{Duration, Instant},
};

/// One check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// `cargo fmt --check`
    Format,
    /// clippy, natively and for wasm
    Clippy,
    /// unit, integration and documentation tests
    Native,
    /// random programs under the invariants, with the naive twin beside the model
    Oracle,
    /// the tests of these chores
    Tool,
    /// dist/
    Build,
    /// types, lint rules and format of the page's scripts
    Scripts,
    /// wasm-bindgen tests in a headless browser
    Wasm,
    /// page tests against dist/
    Page,
    /// the packed artefact in other people's engines
    Packages,
}

/// In the order of running: what is quick and fails often comes first.
pub const ALL: &[Step] = &[
    Step::Format,
    Step::Clippy,
    Step::Native,
    Step::Oracle,
    Step::Tool,
    Step::Build,
    Step::Scripts,
    Step::Wasm,
    Step::Page,
    Step::Packages,
];

impl Step {
    fn name(self) -> &'static str {
        match self {
            Self::Format => "format",
            Self::Clippy => "clippy",
            Self::Native => "native",
            Self::Oracle => "oracle",
            Self::Tool => "tool",
            Self::Build => "build",
            Self::Scripts => "scripts",
            Self::Wasm => "wasm",
            Self::Page => "page",
            Self::Packages => "packages",
        }
    }

    /// Page tests and recipes look at dist/; the scripts' types include those of the module made there.
    fn needs_build(self) -> bool {
        matches!(self, Self::Scripts | Self::Page | Self::Packages)
    }

    fn told(self) -> &'static str {
        match self {
            Self::Format => "cargo fmt --check",
            Self::Clippy => "clippy without a warning, natively and for wasm",
            Self::Native => {
                "the library's and the command line's tests, its reference and its package"
            }
            Self::Oracle => "random programs under the invariants, the naive twin beside the model",
            Self::Tool => "the tests of these chores",
            Self::Build => "dist/ can be made",
            Self::Scripts => "types and lint rules of the page's scripts",
            Self::Wasm => "wasm-bindgen tests in a headless browser",
            Self::Page => "page tests in a headless browser, on dist/ as built",
            Self::Packages => {
                "the recipes of docs/embedding.md, from the packed artefact with the real engines"
            }
        }
    }
}

/// How a step ended.
enum Outcome {
    Passed,
    /// There is nothing to run yet; said, and not a failure.
    Nothing(String),
    Failed(anyhow::Error),
}

/// `cargo xtask test --help`
pub fn help() -> String {
    let mut text = String::from(
        "usage: cargo xtask test [STEP]...\n\nRuns all steps but packages, or those named, in this order:\n\n",
    );
    for step in ALL {
        text += &format!("  {:9} {}\n", step.name(), step.told());
    }
    text + "\n  lint      format, clippy and scripts\n\n\
            `scripts`, `page` and `packages` build dist/ first. CHROME names a browser; XTASK_WASM=rustup or distro a compiler.\n"
}

/// Reads the steps' names; none means all but the documentation engines.
pub fn parse(words: &[String]) -> Result<Vec<Step>, String> {
    let mut wanted = Vec::new();
    for word in words {
        match ALL.iter().find(|step| step.name() == word) {
            Some(step) => wanted.push(*step),
            None if word == "lint" => wanted.extend([Step::Format, Step::Clippy, Step::Scripts]),
            None => {
                let names: Vec<_> = ALL.iter().map(|s| s.name()).collect();
                return Err(format!(
                    "test: unknown step {word:?}; expected {} or lint",
                    names.join(", ")
                ));
            }
        }
    }
    if wanted.iter().any(|step| step.needs_build()) {
        wanted.push(Step::Build);
    }
    // The documentation engines take minutes to fetch and are run when asked for by name.
    let usual = |step: &Step| *step != Step::Packages;
    let all = words.is_empty();
    Ok(ALL
        .iter()
        .copied()
        .filter(|step| {
            if all {
                usual(step)
            } else {
                wanted.contains(step)
            }
        })
        .collect())
}

/// Runs the steps and prints the summary; fails when one failed.
pub fn run(project: &Project, steps: &[Step]) -> Result<ExitCode> {
    let begin = Instant::now();
    let mut lines = Vec::new();
    let mut failed = Vec::new();
    for &step in steps {
        eprintln!("\n== {}: {}", step.name(), step.told());
        let start = Instant::now();
        let outcome = if step.needs_build() && failed.contains(&Step::Build.name()) {
            Outcome::Failed(anyhow::anyhow!("not run, since build failed"))
        } else {
            match once(project, step) {
                Ok(None) => Outcome::Passed,
                Ok(Some(reason)) => Outcome::Nothing(reason),
                Err(error) => Outcome::Failed(error),
            }
        };
        let took = seconds(start.elapsed());
        lines.push(match outcome {
            Outcome::Passed => format!("  {:9} passed  {took:>8}", step.name()),
            Outcome::Nothing(reason) => format!("  {:9} -       {took:>8}  {reason}", step.name()),
            Outcome::Failed(error) => {
                eprintln!("{}: {error:#}", step.name());
                failed.push(step.name());
                format!("  {:9} FAILED  {took:>8}  {error:#}", step.name())
            }
        });
    }
    println!("\n{}", lines.join("\n"));
    let took = seconds(begin.elapsed());
    if failed.is_empty() {
        println!("all steps passed in {took}");
        return Ok(ExitCode::SUCCESS);
    }
    println!(
        "{} of {} steps failed in {took}: {}",
        failed.len(),
        steps.len(),
        failed.join(", ")
    );
    Ok(ExitCode::FAILURE)
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

const ORACLE: [&str; 9] = [
    "test",
    "--package",
    "reweight-lab",
    "--features",
    "oracle",
    "--test",
    "random",
    "--",
    "--nocapture",
];

/// Runs one step. A sentence comes back when there was nothing to run.
fn once(project: &Project, step: Step) -> Result<Option<String>> {
    match step {
        Step::Format => native(project, &["fmt", "--all", "--check"]),
        Step::Clippy => clippy(project),
        Step::Native => library(project),
        Step::Oracle => native(project, &ORACLE),
        Step::Tool => native(project, &["test", "--package", "xtask"]),
        Step::Build => bundle::build(project, false).map(|()| None),
        Step::Scripts => scripts(project),
        Step::Wasm => wasm(project),
        Step::Page => page(project),
        Step::Packages => recipes(project),
    }
}

fn native(project: &Project, args: &[&str]) -> Result<Option<String>> {
    project::run(project::cargo().current_dir(&project.root).args(args))?;
    Ok(None)
}

/// Tests and examples; the reference without a warning; the package as it would be sent, built once.
fn library(project: &Project) -> Result<Option<String>> {
    native(project, &["test", "--package", "reweight-lab"])?;
    let mut reference = project::cargo();
    reference
        .current_dir(&project.root)
        .env("RUSTDOCFLAGS", "-D warnings")
        .args(["doc", "--no-deps", "--package", "reweight-lab"]);
    project::run(&mut reference)?;
    // What is tested is what lies here, committed or not.
    let line = ["package", "--package", "reweight-lab", "--allow-dirty"];
    // cargo asks the registry for the package's lock file; without a network it knows what it has built with.
    native(project, &line).or_else(|_| native(project, &[&line[..], &["--offline"]].concat()))
}

fn clippy(project: &Project) -> Result<Option<String>> {
    let deny = ["--", "-D", "warnings"];
    let mut line = vec!["clippy", "--workspace", "--all-targets"];
    line.extend(deny);
    native(project, &line)?;
    let mut line = vec![
        "clippy",
        "--package",
        "reweight-lab",
        "--features",
        "oracle",
    ];
    line.extend(["--lib", "--test", "random"]);
    line.extend(deny);
    native(project, &line)?;
    let wasm = Wasm::find(project)?;
    let mut cmd = match wasm.clippy()? {
        Some(cmd) => cmd,
        None => {
            eprintln!(
                "no clippy for the compiler that makes the wasm; only the native side was checked"
            );
            return Ok(None);
        }
    };
    cmd.args(["--package", "reweight-lab", "--lib"]);
    for name in wasm_tests(&project.root)? {
        cmd.args(["--test", &name]);
    }
    project::run(cmd.args(deny))?;
    // The second module's code is not in the first.
    if let Some(mut cmd) = wasm.clippy()? {
        cmd.args(["--package", "reweight-lab", "--lib", "--features", "export"]);
        project::run(cmd.args(deny))?;
    }
    Ok(None)
}

fn scripts(project: &Project) -> Result<Option<String>> {
    packages::npm(project)?;
    let tool = |file: &str, args: &[&str]| {
        let mut cmd = Command::new(packages::node()?);
        cmd.current_dir(&project.root)
            .arg(packages::module(project, file))
            .args(args);
        project::run(&mut cmd)
    };
    // All three, so that one run tells everything.
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
    Ok(None)
}

/// The names of the integration tests that are for wasm: those that use wasm-bindgen's harness.
fn wasm_tests(root: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(root.join("tests"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|e| e == "rs")
            && fs::read_to_string(&path)?.contains("#[wasm_bindgen_test")
            && let Some(name) = path.file_stem()
        {
            names.push(name.to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

fn wasm(project: &Project) -> Result<Option<String>> {
    let names = wasm_tests(&project.root)?;
    if names.is_empty() {
        return Ok(Some("no file in tests/ has a #[wasm_bindgen_test]".into()));
    }
    packages::npm(project)?;
    let browser = Browser::find()?;
    let mut cmd = Wasm::find(project)?.cargo("test", Std::Tested)?;
    cmd.args(["--package", "reweight-lab", "--no-fail-fast"]);
    for name in &names {
        cmd.args(["--test", name]);
    }
    // Our own program, as cargo's runner: a nested `cargo run` would build it anew with the other compiler.
    let own = env::current_exe()?;
    let own = own
        .to_str()
        .context("the target folder's path is not UTF-8")?;
    cmd.arg("--config")
        .arg(format!("target.{TARGET}.runner=[{own:?},\"runner\"]"));
    browser.drive(project, &mut cmd)?;
    if env::var_os("WASM_BINDGEN_TEST_TIMEOUT").is_none() {
        cmd.env("WASM_BINDGEN_TEST_TIMEOUT", "300");
    }
    project::run(&mut cmd)?;
    Ok(None)
}

fn page(project: &Project) -> Result<Option<String>> {
    if !project.root.join("tests/page").is_dir() {
        return Ok(Some("there is no tests/page".into()));
    }
    packages::npm(project)?;
    let browser = Browser::find()?;
    let running = server::start(&project.dist(), None)?;
    let mut cmd = Command::new(packages::node()?);
    cmd.current_dir(&project.root)
        .arg(packages::module(project, "@playwright/test/cli.js"))
        .arg("test")
        .env("LAB_URL", &running.address)
        .env("CHROME", &browser.program);
    let result = project::run(&mut cmd);
    running.stop();
    result.map(|()| None)
}

/// Engines are installed into the target folder the first time; one that cannot be is a failure.
fn recipes(project: &Project) -> Result<Option<String>> {
    packages::npm(project)?;
    let browser = Browser::find()?;
    let mut cmd = Command::new(packages::node()?);
    cmd.current_dir(&project.root)
        .arg(project.root.join("tests/packaging/run.mjs"))
        .arg(&project.target)
        .arg(project.dist())
        .env("CHROME", &browser.program);
    if let Some(driver) = on_path(&["chromedriver"]) {
        cmd.env("CHROMEDRIVER", driver);
    }
    project::run(&mut cmd).map(|()| None)
}

/// `cargo xtask doctor`: what is there, what is missing; changes nothing.
pub fn doctor(project: &Project) -> Result<ExitCode> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(line: &str) -> Result<Vec<Step>, String> {
        parse(
            &line
                .split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>(),
        )
    }

    #[test]
    fn steps_run_in_their_order_and_once() {
        let usual = &ALL[..ALL.len() - 1];
        assert_eq!(steps("").unwrap(), usual);
        assert_eq!(steps("packages").unwrap(), [Step::Build, Step::Packages]);
        assert_eq!(
            steps("wasm native wasm").unwrap(),
            [Step::Native, Step::Wasm]
        );
        assert_eq!(steps("page").unwrap(), [Step::Build, Step::Page]);
        assert_eq!(
            steps("lint").unwrap(),
            [Step::Format, Step::Clippy, Step::Build, Step::Scripts]
        );
        assert!(
            steps("native pages")
                .unwrap_err()
                .contains("unknown step \"pages\"")
        );
    }

    #[test]
    fn help_names_every_step() {
        for step in ALL {
            assert!(help().contains(step.name()), "{step:?}");
        }
    }

    #[test]
    fn only_tests_with_wasm_bindgens_harness_run_in_the_browser() {
        let root = env::temp_dir().join(format!("xtask-wasm-tests-{}", std::process::id()));
        fs::create_dir_all(root.join("tests")).unwrap();
        fs::write(root.join("tests/native.rs"), "#[test] fn a() {}").unwrap();
        fs::write(root.join("tests/web.rs"), "#[wasm_bindgen_test]\nfn a() {}").unwrap();
        fs::write(root.join("tests/notes.md"), "#[wasm_bindgen_test]").unwrap();
        assert_eq!(wasm_tests(&root).unwrap(), ["web"]);
        fs::remove_dir_all(root).unwrap();
    }
}
