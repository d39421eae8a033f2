//! `cargo xtask test`: every check there is, in order, with one summary.
//!
//! A failed step does not stop those that do not need it; the summary names all that failed, and the last
//! lines tell which tests they were and how to run just these.
mod checks;
mod libtest;
mod lines;
pub mod load;
mod plan;
mod playwright;
mod runs;
mod step;
mod suite;
mod tested;

pub use plan::Plan;

use crate::{
    bundle,
    project::{self, Project, STOP},
};
use anyhow::{Context, Result};
use load::Load;
use runs::{Runs, choice};
use std::{
    fs::{self, File},
    io::{Write, stdout},
    panic::resume_unwind,
    process::ExitCode,
    sync::atomic::Ordering,
    thread,
    time::{Duration, Instant},
};
use step::{ALL, Step};
use suite::Suite;
use tested::Failed;

/// What a shell makes of a program that Ctrl-C ended.
const STOPPED: u8 = 130;

/// `cargo xtask test --help`
pub fn help() -> String {
    let mut text = String::from(
        "usage: cargo xtask test [STEP]... [--only TEXT]... [--repeat N] [--load]\n\n\
         Runs all steps but packages, or those named, in this order; clippy, build, scripts and wasm meanwhile\n\
         where native runs too:\n\n",
    );
    for step in ALL {
        text += &format!("  {:9} {}\n", step.name(), step.told());
    }
    text + "\n  lint      format, clippy and scripts\n\n\
            `scripts`, `page` and `packages` build dist/ first. What failed is named at the end, with the command that\n\
            runs just that.\n\n\
            For native, oracle, tool, wasm, page and packages, when named:\n\n\
            \x20 --only TEXT   only tests whose name contains TEXT, as it is written; given again, any of the texts.\n\
            \x20               Page tests are found by file and title, Rust's by module and function\n\
            \x20 --repeat N    run the tests N times (up to 1000) on one build, whatever comes out, and tell which\n\
            \x20               failed in which runs\n\
            \x20 --load        keep all cores busy with other processes meanwhile\n\n\
            With one of these, `native` is the tests alone, without reference and package. Ctrl-C ends the running\n\
            tests and tells what is known so far.\n\n\
            CHROME names a browser; XTASK_WASM=rustup or distro a compiler.\n"
}

/// How a step ended.
struct Ended {
    step: Step,
    took: Duration,
    /// Why it failed, if it did.
    failure: Option<String>,
    /// The tests that failed.
    failed: Vec<Failed>,
    /// Of many runs.
    table: Option<String>,
    /// Not run for want of another.
    skipped: bool,
}

/// Runs the steps and prints the summary; fails when one failed.
pub fn run(project: &Project, plan: &Plan) -> Result<ExitCode> {
    ctrlc::set_handler(|| STOP.store(true, Ordering::Relaxed))
        .context("Ctrl-C cannot be caught")?;
    let begin = Instant::now();
    let [before, beside, after] = plan.order();
    let mut all = Vec::new();
    if beside.is_empty() {
        steps(project, plan, &before, &mut all);
    } else {
        two_at_a_time(project, plan, &before, &beside, &mut all)?;
    }
    steps(project, plan, &after, &mut all);
    all.sort_by_key(|ended| ALL.iter().position(|step| *step == ended.step));
    print!("{}", summary(plan, &all, begin.elapsed()));
    Ok(if project::stopped() {
        ExitCode::from(STOPPED)
    } else if all.iter().any(|ended| ended.failure.is_some()) {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// Runs steps one after the other.
fn steps(project: &Project, plan: &Plan, steps: &[Step], all: &mut Vec<Ended>) {
    for &step in steps {
        if project::stopped() {
            break;
        }
        project::tell(&format!("\n== {}: {}", step.name(), step.told()));
        let start = Instant::now();
        let mut ended = Ended {
            step,
            took: Duration::ZERO,
            failure: None,
            failed: Vec::new(),
            table: None,
            skipped: false,
        };
        let no_build = all
            .iter()
            .any(|e| e.step == Step::Build && e.failure.is_some());
        if step.needs_build() && no_build {
            ended.failure = Some("not run, since build failed".into());
            ended.skipped = true;
        } else if let Err(error) = once(project, plan, &mut ended) {
            ended.failure = Some(format!("{error:#}"));
        }
        if let Some(failure) = &ended.failure {
            project::tell(&format!("{}: {failure}", step.name()));
        }
        ended.took = start.elapsed();
        all.push(ended);
    }
}

/// Runs `beside` while `first` runs: linking, link-time optimisation and tests that sleep leave cores idle. What it
/// prints comes when both are done.
fn two_at_a_time(
    project: &Project,
    plan: &Plan,
    first: &[Step],
    beside: &[Step],
    all: &mut Vec<Ended>,
) -> Result<()> {
    fs::create_dir_all(&project.target)?;
    let path = project.target.join("test-beside.log");
    let file = File::create(&path).with_context(|| path.display().to_string())?;
    let names: Vec<_> = beside.iter().map(|step| step.name()).collect();
    eprintln!(
        "meanwhile, into {}: {}",
        project.shown(&path).display(),
        names.join(", ")
    );
    let mut more = thread::scope(|scope| {
        let other = scope.spawn(|| {
            project::print_aside(file);
            let mut all = Vec::new();
            steps(project, plan, beside, &mut all);
            all
        });
        steps(project, plan, first, all);
        other.join().unwrap_or_else(|panic| resume_unwind(panic))
    });
    // As it is: programs print what is not UTF-8 as well.
    let _ = stdout().write_all(&fs::read(&path)?);
    all.append(&mut more);
    Ok(())
}

/// Runs one step.
fn once(project: &Project, plan: &Plan, ended: &mut Ended) -> Result<()> {
    match ended.step {
        Step::Format => checks::cargo(project, lines::FORMAT),
        Step::Clippy => checks::clippy(project),
        Step::Build => bundle::build(project, false),
        Step::Scripts => checks::scripts(project),
        Step::Native | Step::Oracle | Step::Tool | Step::Wasm | Step::Page | Step::Packages => {
            tests(project, plan, ended)
        }
    }
}

fn tests(project: &Project, plan: &Plan, ended: &mut Ended) -> Result<()> {
    let step = ended.step;
    let suite = Suite::ready(project, step, &plan.only)?;
    if plan.load || plan.repeat.is_some() {
        suite.compile()?;
    }
    let _load = plan.load.then(Load::start).transpose()?;
    if let Some(wanted) = plan.repeat {
        let mut runs = Runs::new(step, wanted);
        let result = repeat(&suite, &mut runs, wanted);
        ended.failure = runs.failure();
        ended.failed = runs.failed();
        ended.table = Some(runs.table());
        return result;
    }
    let tested = suite.run()?;
    if !tested.green() {
        ended.failure = Some(tested.told());
        ended.failed = tested.failed;
    } else if step == Step::Native && plan.only.is_empty() && !plan.load {
        checks::library(project)?;
    }
    Ok(())
}

/// Every run goes on, whatever the last one told.
fn repeat(suite: &Suite, runs: &mut Runs, wanted: u32) -> Result<()> {
    for number in 1..=wanted {
        eprintln!("-- run {number} of {wanted}");
        let start = Instant::now();
        let tested = suite.run()?;
        if project::stopped() {
            runs.add(number, &tested, None);
            break;
        }
        runs.add(number, &tested, Some(start.elapsed()));
        let told = match tested.green() {
            true => "green".into(),
            false => tested.told(),
        };
        let took = seconds(start.elapsed());
        eprintln!("-- run {number} of {wanted}: {told}, {took}");
    }
    Ok(())
}

/// All that is said at the end.
fn summary(plan: &Plan, all: &[Ended], took: Duration) -> String {
    let mut text = String::new();
    for table in all.iter().filter_map(|ended| ended.table.as_ref()) {
        text += &format!("\n{table}");
    }
    text.push('\n');
    for ended in all {
        let (name, took) = (ended.step.name(), seconds(ended.took));
        text += &match &ended.failure {
            None => format!("  {name:9} passed  {took:>8}\n"),
            Some(failure) => format!("  {name:9} FAILED  {took:>8}  {failure}\n"),
        };
    }
    let took = seconds(took);
    let failed: Vec<_> = all.iter().filter(|ended| ended.failure.is_some()).collect();
    let count = plan.steps.len();
    if failed.is_empty() && all.len() == count {
        return text + &format!("all steps passed in {took}\n");
    }
    if project::stopped() && all.len() < count {
        let open = count - all.len();
        text += &format!("stopped after {took}, with {open} of {count} steps not begun\n");
    }
    if !failed.is_empty() {
        let names: Vec<_> = failed.iter().map(|ended| ended.step.name()).collect();
        let names = names.join(", ");
        text += &format!(
            "{} of {count} steps failed in {took}: {names}\n",
            failed.len()
        );
    }
    for ended in failed {
        text += &ending(plan, ended);
    }
    text
}

/// Which tests of a step failed, and the command that runs just these.
fn ending(plan: &Plan, ended: &Ended) -> String {
    // A step that was not run, or was stopped, has nothing to be repaired.
    if ended.skipped || project::stopped() && ended.failed.is_empty() {
        return String::new();
    }
    let mut text = format!("\n{}:\n", ended.step.name());
    for test in &ended.failed {
        text += &format!("  {}  {}\n", test.place, test.name);
    }
    let command = plan.command(ended.step, &choice(ended.step, &ended.failed));
    text + &format!("  {command}\n")
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(step: Step, failure: Option<&str>) -> Ended {
        Ended {
            step,
            took: Duration::from_secs(2),
            failure: failure.map(Into::into),
            failed: Vec::new(),
            table: None,
            skipped: false,
        }
    }

    #[test]
    fn help_names_every_step_and_option() {
        for step in ALL {
            assert!(help().contains(step.name()), "{step:?}");
        }
        for option in ["--only TEXT", "--repeat N", "--load"] {
            assert!(help().contains(option), "{option}");
        }
    }

    #[test]
    fn the_last_lines_name_what_failed_and_how_to_run_it() {
        let plan = Plan {
            steps: vec![Step::Clippy, Step::Native, Step::Build, Step::Page],
            ..Plan::default()
        };
        let mut native = ended(Step::Native, Some("1 test failed"));
        native.failed.push(Failed {
            place: "src/lib.rs".into(),
            name: "pi::tests::deep".into(),
        });
        let mut page = ended(Step::Page, Some("not run, since build failed"));
        page.skipped = true;
        let build = ended(Step::Build, Some("cargo ended with exit status: 101"));
        let all = [ended(Step::Clippy, None), native, build, page];
        assert_eq!(
            summary(&plan, &all, Duration::from_secs(9)),
            "\n  clippy    passed     2.0 s\n\
             \x20 native    FAILED     2.0 s  1 test failed\n\
             \x20 build     FAILED     2.0 s  cargo ended with exit status: 101\n\
             \x20 page      FAILED     2.0 s  not run, since build failed\n\
             3 of 4 steps failed in 9.0 s: native, build, page\n\
             \nnative:\n  src/lib.rs  pi::tests::deep\n  cargo xtask test native --only pi::tests::deep\n\
             \nbuild:\n  cargo xtask test build\n"
        );
        let green = Plan {
            steps: vec![Step::Clippy],
            ..Plan::default()
        };
        assert_eq!(
            summary(&green, &all[..1], Duration::from_secs(9)),
            "\n  clippy    passed     2.0 s\nall steps passed in 9.0 s\n"
        );
    }
}
