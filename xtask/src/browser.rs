//! A browser and its driver, as this machine has them.
//!
//! Any Chromium will do: Debian's, or the Chrome of an ordinary desktop. Where its driver is missing, or is
//! of another version than the browser, a small one of our own (js/driver.mjs) stands in.
use crate::{
    packages,
    project::{self, Project, in_path},
};
use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::{
    env,
    ffi::{OsStr, OsString},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Names on PATH, preferred first.
const NAMES: &[&str] = &[
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "microsoft-edge",
];

/// Where browsers lie that are not on PATH.
const PLACES: &[&str] = &[
    "opt/google/chrome/chrome",
    "snap/bin/chromium",
    "Applications/Chromium.app/Contents/MacOS/Chromium",
    "Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "Program Files/Google/Chrome/Application/chrome.exe",
    "Program Files (x86)/Google/Chrome/Application/chrome.exe",
];

/// Where Ubuntu's packages put the driver.
const DRIVER_PLACES: &[&str] = &[
    "usr/lib/chromium-browser/chromedriver",
    "usr/lib/chromium/chromedriver",
];

/// A browser and how to drive it.
#[derive(Debug)]
pub struct Browser {
    /// The browser's program.
    pub program: PathBuf,
    /// Its driver, if there is one of the same version.
    driver: Option<PathBuf>,
}

impl Browser {
    /// Finds a browser, installing one where that is possible. `CHROME` in the environment names one.
    pub fn find() -> Result<Self> {
        let program = match Self::program() {
            Some(program) => program,
            None => {
                packages::apt(
                    &["chromium", "chromium-driver"],
                    "no Chromium or Chrome was found; install one, or set CHROME to its path",
                )?;
                Self::program().context("chromium was installed, yet is not on PATH")?
            }
        };
        Ok(Self {
            driver: driver_for(&program),
            program,
        })
    }

    /// The browser, if there is one already.
    pub fn program() -> Option<PathBuf> {
        let path = env::var_os("PATH").unwrap_or_default();
        search(env::var_os("CHROME"), &path, Path::new("/"), NAMES, PLACES)
    }

    /// Lets `cmd`, a wasm test run, use this browser.
    pub fn drive(&self, project: &Project, cmd: &mut Command) -> Result<()> {
        match &self.driver {
            Some(driver) => {
                cmd.env("CHROMEDRIVER", driver);
            }
            None => {
                let script = project.root.join("xtask/js/driver.mjs");
                let script = script.to_str().context("the project's path is not UTF-8")?;
                cmd.env("CHROMEDRIVER", packages::node()?)
                    .env("CHROMEDRIVER_ARGS", format!("'{script}'"))
                    .env("CHROME", &self.program);
            }
        }
        // Another engine's driver in the environment would win.
        for other in [
            "GECKODRIVER",
            "SAFARIDRIVER",
            "GECKODRIVER_REMOTE",
            "SAFARIDRIVER_REMOTE",
        ] {
            cmd.env_remove(other);
        }
        let text = fs::read_to_string(project.root.join("webdriver.json"))?;
        let mut settings: Value = serde_json::from_str(&text).context("webdriver.json")?;
        settings["goog:chromeOptions"]["binary"] = json!(self.program);
        fs::create_dir_all(&project.target)?;
        let file = project
            .target
            .join(format!("webdriver-{}.json", std::process::id()));
        fs::write(&file, settings.to_string())?;
        cmd.env("WASM_BINDGEN_TEST_WEBDRIVER_JSON", file);
        Ok(())
    }

    /// One line for `doctor`.
    pub fn described(&self) -> String {
        let driver = match &self.driver {
            Some(driver) => format!("driven by {}", driver.display()),
            None => "no driver of its version, so driven by our own".into(),
        };
        format!("{}, {driver}", self.program.display())
    }
}

/// `named` if given, else the first of `names` in `path`, else the first of `places` under `root`.
fn search(
    named: Option<OsString>,
    path: &OsStr,
    root: &Path,
    names: &[&str],
    places: &[&str],
) -> Option<PathBuf> {
    if let Some(named) = named.filter(|n| !n.is_empty()) {
        return Some(named.into());
    }
    in_path(path, names).or_else(|| places.iter().map(|p| root.join(p)).find(|p| p.is_file()))
}

/// A driver whose first version number is the browser's: others refuse to work with it.
fn driver_for(program: &Path) -> Option<PathBuf> {
    // For tests of the stand-in.
    if env::var_os("XTASK_DRIVER").is_some_and(|v| v == "own") {
        return None;
    }
    let path = env::var_os("PATH").unwrap_or_default();
    let named = env::var_os("CHROMEDRIVER");
    let driver = search(
        named,
        &path,
        Path::new("/"),
        &["chromedriver"],
        DRIVER_PLACES,
    )?;
    let version = |program: &Path| {
        let text = project::output(Command::new(program).arg("--version")).ok()?;
        major(&text)
    };
    (version(&driver)? == version(program)?).then_some(driver)
}

/// `ChromeDriver 156.0.8078.114 (...)` and `Chromium 156.0.8078.114 built on ...` -> 156.
fn major(version: &str) -> Option<u32> {
    let number = version
        .split_whitespace()
        .find(|w| w.starts_with(|c: char| c.is_ascii_digit()))?;
    number.split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_browser_and_driver_are_read_alike() {
        for (text, expected) in [
            (
                "Chromium 156.0.8078.114 built on Debian GNU/Linux 12 (bookworm)",
                Some(156),
            ),
            (
                "ChromeDriver 156.0.8078.114 (aabb-refs/branch-heads/8078@{#1})",
                Some(156),
            ),
            ("Google Chrome 149.0.7827.155 ", Some(149)),
            ("", None),
            ("Chromium", None),
        ] {
            assert_eq!(major(text), expected, "{text}");
        }
    }

    #[test]
    fn a_browser_is_taken_as_named_then_from_path_then_from_known_places() {
        let root = env::temp_dir().join(format!("xtask-browser-{}", std::process::id()));
        let bin = root.join("bin");
        fs::create_dir_all(&bin).unwrap();
        let find = |named: Option<&str>| {
            search(named.map(Into::into), bin.as_os_str(), &root, NAMES, PLACES)
        };
        assert_eq!(find(None), None);
        let desktop = root.join("opt/google/chrome/chrome");
        fs::create_dir_all(desktop.parent().unwrap()).unwrap();
        fs::write(&desktop, "").unwrap();
        assert_eq!(find(None), Some(desktop));
        let on_path = bin.join(format!("google-chrome{}", env::consts::EXE_SUFFIX));
        fs::write(&on_path, "").unwrap();
        assert_eq!(find(None), Some(on_path.clone()));
        assert_eq!(find(Some("")), Some(on_path));
        assert_eq!(find(Some("/my/chrome")), Some("/my/chrome".into()));
        fs::remove_dir_all(root).unwrap();
    }
}
