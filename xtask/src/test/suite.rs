//! The steps that consist of tests with names: made ready once, run as often as is asked.
use super::{libtest, lines, playwright, step::Step, tested::Tested};
use crate::{
    browser::Browser,
    packages,
    project::{self, Project, on_path},
    server,
    sysroot::Std,
    toolchain::{TARGET, Wasm},
};
use anyhow::{Context, Result, bail};
use std::{
    env, fs,
    io::{IsTerminal, stdout},
    path::{Path, PathBuf},
    process::Command,
};

/// A step's tests, ready to be run.
pub struct Suite<'a> {
    only: &'a [String],
    kind: Kind,
}

enum Kind {
    /// Cargo runs them.
    Cargo(Box<dyn Fn() -> Result<Command>>),
    /// Playwright runs them.
    Page {
        command: Box<dyn Fn() -> Result<Command>>,
        report: PathBuf,
        server: Option<server::Running>,
    },
}

impl<'a> Suite<'a> {
    /// Finds or makes all that the tests of `step` need.
    pub fn ready(project: &Project, step: Step, only: &'a [String]) -> Result<Self> {
        let kind = match step {
            Step::Native => native(project, lines::NATIVE, only),
            Step::Oracle => native(project, lines::ORACLE, only),
            Step::Tool => native(project, lines::TOOL, only),
            Step::Wasm => wasm(project, only)?,
            Step::Page => page(project, only)?,
            Step::Packages => recipes(project, only)?,
            Step::Format | Step::Clippy | Step::Build | Step::Scripts => {
                bail!("{} has no tests", step.name())
            }
        };
        Ok(Self { only, kind })
    }

    /// Compiles the tests, so that what follows is their own time.
    pub fn compile(&self) -> Result<()> {
        let Kind::Cargo(command) = &self.kind else {
            return Ok(());
        };
        let mut full = command()?;
        let mut cmd = Command::new(full.get_program());
        copy_surroundings(&full, &mut cmd);
        // What the harness is told follows the dashes.
        cmd.args(full.get_args().take_while(|arg| *arg != "--"))
            .arg("--no-run");
        full = cmd;
        let tested = tee(&mut full);
        if !tested.green() {
            bail!("{}", tested.told());
        }
        Ok(())
    }

    /// Runs them once.
    pub fn run(&self) -> Result<Tested> {
        let tested = match &self.kind {
            Kind::Cargo(command) => tee(&mut command()?),
            Kind::Page {
                command, report, ..
            } => {
                // The last run's would be taken for this one's.
                let _ = fs::remove_file(report);
                let ended = project::run(&mut command()?);
                let mut tested = match fs::read_to_string(report) {
                    Ok(text) => playwright::read(&text)?,
                    Err(_) => Tested::default(),
                };
                let stopped = project::stopped();
                match ended {
                    Err(error)
                        if stopped || tested.green() && !chose_nothing(&tested, self.only) =>
                    {
                        tested.trouble.push(format!("{error:#}"));
                    }
                    _ => {}
                }
                tested
            }
        };
        tested.check(self.only)?;
        Ok(tested)
    }
}

impl Drop for Suite<'_> {
    fn drop(&mut self) {
        if let Kind::Page { server, .. } = &mut self.kind
            && let Some(server) = server.take()
        {
            server.stop();
        }
    }
}

fn chose_nothing(tested: &Tested, only: &[String]) -> bool {
    !only.is_empty() && tested.ran.is_empty()
}

/// Runs cargo and reads what its tests tell.
fn tee(cmd: &mut Command) -> Tested {
    // Through our hands there is no terminal to be seen.
    if stdout().is_terminal() && env::var_os("CARGO_TERM_COLOR").is_none() {
        cmd.env("CARGO_TERM_COLOR", "always");
    }
    let mut reader = libtest::Reader::default();
    let ended = project::tee(cmd, |bytes| reader.read(bytes));
    let mut tested = reader.finish();
    if let Err(error) = ended
        && (tested.green() || project::stopped())
    {
        tested.trouble.push(format!("{error:#}"));
    }
    tested
}

fn copy_surroundings(from: &Command, to: &mut Command) {
    for (key, value) in from.get_envs() {
        match value {
            Some(value) => to.env(key, value),
            None => to.env_remove(key),
        };
    }
    if let Some(dir) = from.get_current_dir() {
        to.current_dir(dir);
    }
}

fn native(project: &Project, tests: lines::Tests, only: &[String]) -> Kind {
    let (root, only) = (project.root.clone(), only.to_vec());
    Kind::Cargo(Box::new(move || {
        let mut cmd = project::cargo();
        // One run tells all that fails.
        cmd.current_dir(&root)
            .args(tests.line)
            .arg("--no-fail-fast")
            .arg("--")
            .args(tests.harness)
            .args(&only);
        Ok(cmd)
    }))
}

/// The names of the integration tests that are for wasm: those that use wasm-bindgen's harness. A test is a
/// file, or a folder with a main.rs.
pub fn wasm_tests(root: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(root.join("tests"))? {
        let path = entry?.path();
        let uses = |file: &Path| {
            fs::read_to_string(file).is_ok_and(|text| text.contains("#[wasm_bindgen_test"))
        };
        let is_one = if path.is_dir() {
            path.join("main.rs").is_file()
                && fs::read_dir(&path)?
                    .flatten()
                    .any(|entry| uses(&entry.path()))
        } else {
            path.extension().is_some_and(|e| e == "rs") && uses(&path)
        };
        if is_one && let Some(name) = path.file_stem() {
            names.push(name.to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

fn wasm(project: &Project, only: &[String]) -> Result<Kind> {
    let names = wasm_tests(&project.root)?;
    if names.is_empty() {
        bail!("no file in tests/ has a #[wasm_bindgen_test]");
    }
    packages::npm(project)?;
    let browser = Browser::find()?;
    let wasm = Wasm::find(project)?;
    let (project, only) = (project.clone(), only.to_vec());
    Ok(Kind::Cargo(Box::new(move || {
        let mut cmd = wasm.cargo("test", Std::Tested)?;
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
        browser.drive(&project, &mut cmd)?;
        if env::var_os("WASM_BINDGEN_TEST_TIMEOUT").is_none() {
            cmd.env("WASM_BINDGEN_TEST_TIMEOUT", "300");
        }
        cmd.arg("--").args(&only);
        Ok(cmd)
    })))
}

/// Playwright's options for a report beside its list, and for a choice.
fn reported(cmd: &mut Command, report: &Path, only: &[String]) {
    cmd.arg("--reporter=list,json")
        .env("PLAYWRIGHT_JSON_OUTPUT_FILE", report);
    if !only.is_empty() {
        cmd.arg(format!("--grep={}", playwright::pattern(only)));
    }
}

fn page(project: &Project, only: &[String]) -> Result<Kind> {
    packages::npm(project)?;
    let browser = Browser::find()?;
    let command_line = command_line(project)?;
    let running = server::start(&project.dist(), None)?;
    let (project, only, address) = (project.clone(), only.to_vec(), running.address.clone());
    let report = project.target.join("test-page.json");
    let file = report.clone();
    let command = Box::new(move || {
        let mut cmd = Command::new(packages::node()?);
        cmd.current_dir(&project.root)
            .arg(packages::module(&project, "@playwright/test/cli.js"))
            .arg("test")
            .env("LAB_URL", &address)
            .env("REWEIGHT_LAB", &command_line)
            .env("CHROME", &browser.program);
        reported(&mut cmd, &file, &only);
        Ok(cmd)
    });
    Ok(Kind::Page {
        command,
        report,
        server: Some(running),
    })
}

/// The command line that page tests compare with, compiled before their time runs.
fn command_line(project: &Project) -> Result<PathBuf> {
    let mut cmd = project::cargo();
    cmd.current_dir(&project.root).args(lines::COMMAND_LINE);
    project::run(&mut cmd)?;
    // Where it lies is cargo's to say: configuration may move it.
    let told = project::output(cmd.arg("--message-format=json"))?;
    told.lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .find_map(|message| message["executable"].as_str().map(PathBuf::from))
        .context("cargo names no program")
}

/// Engines are installed into the target folder the first time; one that cannot be is a failure.
fn recipes(project: &Project, only: &[String]) -> Result<Kind> {
    packages::npm(project)?;
    let browser = Browser::find()?;
    let (project, only) = (project.clone(), only.to_vec());
    let report = project.target.join("test-packages.json");
    let file = report.clone();
    let command = Box::new(move || {
        let mut cmd = Command::new(packages::node()?);
        cmd.current_dir(&project.root)
            .arg(project.root.join("tests/packaging/run.mjs"))
            .arg(&project.target)
            .arg(project.dist())
            .env("CHROME", &browser.program);
        reported(&mut cmd, &file, &only);
        if let Some(driver) = on_path(&["chromedriver"]) {
            cmd.env("CHROMEDRIVER", driver);
        }
        Ok(cmd)
    });
    Ok(Kind::Page {
        command,
        report,
        server: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_tests_with_wasm_bindgens_harness_run_in_the_browser() {
        let root = env::temp_dir().join(format!("xtask-wasm-tests-{}", std::process::id()));
        for folder in ["tests/group", "tests/frames", "tests/common"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        let web = "#[wasm_bindgen_test]\nfn a() {}";
        fs::write(root.join("tests/native.rs"), "#[test] fn a() {}").unwrap();
        fs::write(root.join("tests/web.rs"), web).unwrap();
        fs::write(root.join("tests/notes.md"), "#[wasm_bindgen_test]").unwrap();
        fs::write(root.join("tests/group/main.rs"), "mod a;").unwrap();
        fs::write(root.join("tests/frames/main.rs"), "mod canvas;").unwrap();
        fs::write(root.join("tests/frames/canvas.rs"), web).unwrap();
        fs::write(root.join("tests/common/mod.rs"), web).unwrap();
        assert_eq!(wasm_tests(&root).unwrap(), ["frames", "web"]);
        fs::remove_dir_all(root).unwrap();
    }
}
