//! Packages of other package managers: npm's from the lock file, Debian's where we may install.
use crate::project::{self, Project, on_path};
use anyhow::{Context, Result, bail, ensure};
use std::{env, fs, path::Path, process::Command};

/// The oldest Node.js that the pinned packages run on.
const NODE: u32 = 20;

/// A copy of the lock file that node_modules/ was made from.
const STAMP: &str = ".installed-lock.json";

/// Brings node_modules/ to what package-lock.json says; does nothing when it is so already.
pub fn npm(project: &Project) -> Result<()> {
    node()?;
    let lock = fs::read(project.root.join("package-lock.json"))
        .context("package-lock.json cannot be read")?;
    let folder = project.root.join("node_modules");
    // Written last, so that an interrupted install is done again.
    let stamp = folder.join(STAMP);
    if fs::read(&stamp).is_ok_and(|installed| installed == lock) {
        return Ok(());
    }
    let npm = on_path(if cfg!(windows) {
        &["npm.cmd"]
    } else {
        &["npm"]
    })
    .context("npm was not found; install Node.js with npm, version 20 or later")?;
    project::run(
        Command::new(npm)
            .current_dir(&project.root)
            .env("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1")
            .args(["ci", "--no-audit", "--no-fund"]),
    )?;
    fs::write(stamp, lock)?;
    Ok(())
}

/// Node.js, or the sentence that asks for it.
pub fn node() -> Result<std::path::PathBuf> {
    let node = on_path(&["node"])
        .with_context(|| format!("Node.js was not found; install version {NODE} or later"))?;
    let version = project::output(Command::new(&node).arg("--version"))?;
    ensure!(
        major(&version).is_some_and(|found| found >= NODE),
        "Node.js {} is too old; install version {NODE} or later",
        version.trim()
    );
    Ok(node)
}

/// `v20.20.2` -> 20.
fn major(version: &str) -> Option<u32> {
    version
        .trim()
        .trim_start_matches('v')
        .split('.')
        .next()?
        .parse()
        .ok()
}

/// Installs Debian packages, without asking, where that is possible: apt-get there, and root or sudo without
/// a password. `what` names the need in the error.
pub fn apt(packages: &[&str], what: &str) -> Result<()> {
    let list = packages.join(" ");
    let Some(apt) = on_path(&["apt-get"]) else {
        bail!("{what}; this machine has no apt-get to install it with");
    };
    let Some(prefix) = root_prefix() else {
        bail!("{what}; as root: apt-get install --no-install-recommends {list}");
    };
    project::tell(&format!("installing {list}"));
    let call = |args: &[&str]| {
        let mut line: Vec<&std::ffi::OsStr> = prefix.iter().map(AsRef::as_ref).collect();
        line.extend([
            "env".as_ref(),
            "DEBIAN_FRONTEND=noninteractive".as_ref(),
            apt.as_os_str(),
        ]);
        line.extend(args.iter().map(|a| -> &std::ffi::OsStr { a.as_ref() }));
        project::run(Command::new(line[0]).args(&line[1..]))
    };
    // The list may be old or absent: a failed update is told by the install that follows.
    let _ = call(&["update", "-q"]);
    let mut args = vec!["install", "-y", "-q", "--no-install-recommends"];
    args.extend(packages);
    call(&args).with_context(|| format!("{what}; apt-get could not install {list}"))
}

/// What to put before a command to run it as root: nothing for root, `sudo -n` where it needs no password.
fn root_prefix() -> Option<Vec<&'static str>> {
    if is_root() {
        return Some(vec![]);
    }
    let sudo = Command::new("sudo")
        .args(["-n", "true"])
        .stdin(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .status();
    sudo.is_ok_and(|s| s.success()).then(|| vec!["sudo", "-n"])
}

/// Whether this process runs as root. The owner of /proc/self needs no system call of our own.
pub fn is_root() -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        if let Ok(own) = fs::metadata("/proc/self") {
            return own.uid() == 0;
        }
    }
    env::var("USER").is_ok_and(|user| user == "root")
}

/// Whether node_modules/ is what package-lock.json says.
pub fn installed(project: &Project) -> Result<String> {
    let lock = fs::read(project.root.join("package-lock.json"))?;
    let stamp = fs::read(project.root.join("node_modules").join(STAMP));
    ensure!(
        stamp.is_ok_and(|s| s == lock),
        "node_modules/ is not what package-lock.json says"
    );
    Ok("node_modules/ is as locked".into())
}

/// One line for `doctor`: whether Debian packages can be installed.
pub fn ability() -> &'static str {
    match (on_path(&["apt-get"]), root_prefix()) {
        (None, _) => "no apt-get here: system packages are yours to install",
        (Some(_), None) => "apt-get wants a password: system packages are yours to install",
        (Some(_), Some(_)) => "system packages by apt-get, as needed",
    }
}

/// `node_modules/PACKAGE/FILE`, if installed.
pub fn module(project: &Project, file: impl AsRef<Path>) -> std::path::PathBuf {
    project.root.join("node_modules").join(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn node_versions_are_read_by_their_first_number() {
        for (text, number) in [
            ("v20.20.2\n", Some(20)),
            ("v8.0.0", Some(8)),
            ("24", Some(24)),
            ("", None),
            ("x", None),
        ] {
            assert_eq!(major(text), number, "{text:?}");
        }
    }
}
