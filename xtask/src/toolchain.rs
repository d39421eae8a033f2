//! A way to compile for wasm32-unknown-unknown, found in this order:
//! 1. the active rustc already has the target's standard library;
//! 2. `rustup target add`, unless the machine forbids downloads (`RUSTUP_AUTO_INSTALL=0`);
//! 3. a distribution's rustc with the source of its library (Debian: rustc-web, rust-web-src), installed if
//!    we may: the standard library is then built once, by the `sysroot` module.
//!
//! `XTASK_WASM=rustup` or `distro` forces one of the two ways.
use crate::{
    packages,
    project::{self, Project, on_path},
    sysroot::{self, Std},
};
use anyhow::{Context, Result, bail};
use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

/// The one target.
pub const TARGET: &str = "wasm32-unknown-unknown";

/// Debian's packages for way 3.
const DEBIAN: &[&str] = &["rustc-web", "cargo-web", "rust-web-src", "lld-22"];

/// The linkers a distribution's rustc can use, newest first.
const LINKERS: &[&str] = &[
    "wasm-ld-22",
    "wasm-ld-21",
    "wasm-ld-20",
    "wasm-ld-19",
    "wasm-ld",
];

/// A compiler for the target.
#[derive(Debug)]
pub enum Wasm {
    /// Ways 1 and 2: the active toolchain as it is.
    Active {
        /// The project.
        project: Project,
    },
    /// Way 3.
    Distro {
        /// The project.
        project: Project,
        /// Compiler and linker.
        parts: Parts,
    },
}

/// What way 3 needs.
#[derive(Clone, Debug)]
pub struct Parts {
    /// The distribution's compiler; its cargo lies beside it.
    pub rustc: PathBuf,
    /// LLVM's linker for wasm.
    pub linker: PathBuf,
}

impl Wasm {
    /// Finds a compiler, installing one where that is possible.
    pub fn find(project: &Project) -> Result<Self> {
        let missing = match Self::look(project) {
            Ok(wasm) => return Ok(wasm),
            Err(missing) => missing,
        };
        if forced()? != Some(Way::Distro) && add_target()? {
            return Self::look(project);
        }
        if forced()? != Some(Way::Rustup) {
            packages::apt(DEBIAN, &missing.to_string())?;
            return Self::look(project);
        }
        Err(missing)
    }

    /// Finds a compiler, and changes nothing. The error says what to install.
    pub fn look(project: &Project) -> Result<Self> {
        let forced = forced()?;
        let active = PathBuf::from(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
        let project = project.clone();
        if forced != Some(Way::Distro) && has_std(&active) {
            return Ok(Self::Active { project });
        }
        if forced == Some(Way::Rustup) {
            bail!("the active rustc cannot compile for {TARGET}; run: rustup target add {TARGET}");
        }
        match Parts::look(Path::new("/"), &rust_version(&project)?) {
            Ok(parts) => Ok(Self::Distro { project, parts }),
            Err(lack) => bail!(
                "no compiler for {TARGET} ({lack}); where rustup may download: rustup target add {TARGET}"
            ),
        }
    }

    /// Where this compiler's products go. Two compilers in one folder work, but fill it twice.
    pub fn target_dir(&self) -> PathBuf {
        match self {
            Self::Active { project } => project.target.clone(),
            Self::Distro { project, .. } => project.target.join("distro"),
        }
    }

    /// `cargo SUBCOMMAND --target wasm32-unknown-unknown` with what this compiler needs.
    pub fn cargo(&self, subcommand: &str, std: Std) -> Result<Command> {
        let mut cmd = project::cargo();
        // A RUSTFLAGS in the environment silently wins over all configuration.
        cmd.env_remove("RUSTFLAGS")
            .env_remove("CARGO_ENCODED_RUSTFLAGS");
        cmd.arg(subcommand)
            .args(["--target", TARGET])
            .arg("--target-dir")
            .arg(self.target_dir());
        match self {
            Self::Active { project } => {
                cmd.current_dir(&project.root);
            }
            Self::Distro { project, parts } => {
                let root = sysroot::build(project, parts, std)?;
                let root = root
                    .to_str()
                    .context("the target folder's path is not UTF-8")?;
                let mut flags = vec!["--sysroot", root];
                flags.extend(std.crate_flags());
                cmd.current_dir(&project.root)
                    .env("RUSTC", &parts.rustc)
                    .envs(std.bootstrap())
                    .arg("--config")
                    .arg(format!("target.{TARGET}.rustflags={flags:?}"))
                    .arg("--config")
                    .arg(format!("target.{TARGET}.linker={:?}", parts.linker));
            }
        }
        Ok(cmd)
    }

    /// `cargo clippy` for the target, where the compiler has it.
    pub fn clippy(&self) -> Result<Option<Command>> {
        let Self::Distro { parts, .. } = self else {
            return self.cargo("clippy", Std::Tested).map(Some);
        };
        let bin = parts.rustc.with_file_name("cargo-clippy");
        if !bin.is_file()
            && packages::apt(
                &["rust-web-clippy"],
                "no clippy for the distribution's rustc",
            )
            .is_err()
        {
            return Ok(None);
        }
        let plain = self.cargo("clippy", Std::Tested)?;
        // Called by name: cargo would look in its own folder first, and find rustup's.
        let mut cmd = Command::new(bin);
        cmd.args(plain.get_args())
            .env("CARGO", parts.rustc.with_file_name("cargo"));
        for (key, value) in plain.get_envs() {
            match value {
                Some(value) => cmd.env(key, value),
                None => cmd.env_remove(key),
            };
        }
        if let Some(dir) = plain.get_current_dir() {
            cmd.current_dir(dir);
        }
        Ok(Some(cmd))
    }

    /// One line for `doctor`.
    pub fn described(&self) -> String {
        match self {
            Self::Active { .. } => format!("the active rustc has {TARGET}"),
            Self::Distro { parts, .. } => format!(
                "{} with a library of our own, linked by {}",
                parts.rustc.display(),
                parts.linker.display()
            ),
        }
    }
}

/// What `XTASK_WASM` forces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Rustup,
    Distro,
}

fn forced() -> Result<Option<Way>> {
    match env::var("XTASK_WASM").unwrap_or_default().as_str() {
        "" => Ok(None),
        "rustup" => Ok(Some(Way::Rustup)),
        "distro" => Ok(Some(Way::Distro)),
        other => bail!("XTASK_WASM is {other:?}; expected rustup or distro"),
    }
}

impl Parts {
    /// Looks under `root` (`/`, but for tests); the error names what is missing.
    fn look(root: &Path, oldest: &str) -> Result<Self> {
        let rustc = root.join("usr/bin/rustc");
        let library = root.join("usr/lib/rustlib/src/rust/library");
        if !rustc.is_file() {
            bail!("no {}", rustc.display());
        }
        if !rustc.with_file_name("cargo").is_file() {
            bail!("no cargo beside {}", rustc.display());
        }
        if !library.join("sysroot/Cargo.toml").is_file() {
            bail!("no library source in {}", library.display());
        }
        let version = project::output(Command::new(&rustc).arg("--version"))?;
        if !at_least(&version, oldest) {
            bail!(
                "{} is {}, but {oldest} is needed",
                rustc.display(),
                version.trim()
            );
        }
        let linker = on_path(LINKERS).context("no wasm-ld")?;
        Ok(Self { rustc, linker })
    }
}

/// Whether `rustc` finds a standard library for the target.
fn has_std(rustc: &Path) -> bool {
    let libdir =
        project::output(Command::new(rustc).args(["--print", "target-libdir", "--target", TARGET]));
    libdir.is_ok_and(|dir| holds_std(Path::new(dir.trim())))
}

fn holds_std(libdir: &Path) -> bool {
    fs::read_dir(libdir).is_ok_and(|entries| {
        entries
            .flatten()
            .any(|e| e.file_name().to_string_lossy().starts_with("libstd-"))
    })
}

/// `rustup target add`: true when it ran and succeeded, false where it cannot or must not run.
fn add_target() -> Result<bool> {
    let forbidden = env::var("RUSTUP_AUTO_INSTALL").is_ok_and(|v| v == "0");
    let Some(rustup) = on_path(&["rustup"]).filter(|_| !forbidden) else {
        return Ok(false);
    };
    Ok(project::run(Command::new(rustup).args(["target", "add", TARGET])).is_ok())
}

/// `rust-version` of the workspace: the oldest compiler that will do.
fn rust_version(project: &Project) -> Result<String> {
    let manifest = fs::read_to_string(project.root.join("Cargo.toml"))?;
    let line = manifest
        .lines()
        .find_map(|l| l.trim().strip_prefix("rust-version = "));
    Ok(line
        .context("Cargo.toml names no rust-version")?
        .trim()
        .trim_matches('"')
        .to_owned())
}

/// Compares `rustc 1.96.0 (...)` with `1.88`, number by number.
fn at_least(version: &str, oldest: &str) -> bool {
    fn numbers(text: &str) -> Vec<u32> {
        text.split('.').map_while(|n| n.parse().ok()).collect()
    }
    let found = version.split_whitespace().nth(1).unwrap_or_default();
    numbers(found.split('-').next().unwrap_or_default()) >= numbers(oldest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_by_number() {
        for (version, oldest, expected) in [
            ("rustc 1.96.0 (ac68faa20 2026-05-25)", "1.88", true),
            ("rustc 1.88.0", "1.88", true),
            ("rustc 1.9.0", "1.88", false),
            ("rustc 1.63.0 (4b91a6ea7 2022-08-08)", "1.88", false),
            ("rustc 1.90.0-nightly", "1.88", true),
            ("", "1.88", false),
        ] {
            assert_eq!(at_least(version, oldest), expected, "{version}");
        }
    }

    #[test]
    fn an_empty_machine_is_told_what_it_lacks() {
        let root = env::temp_dir().join(format!("xtask-parts-{}", std::process::id()));
        fs::create_dir_all(root.join("usr/bin")).unwrap();
        let missing = |part: &str| {
            let error = Parts::look(&root, "1.88").unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        };
        missing("usr/bin/rustc");
        fs::write(root.join("usr/bin/rustc"), "").unwrap();
        missing("no cargo beside");
        fs::write(root.join("usr/bin/cargo"), "").unwrap();
        missing("no library source");
        assert!(!holds_std(&root));
        fs::write(root.join("libstd-1.rlib"), "").unwrap();
        assert!(holds_std(&root));
        fs::remove_dir_all(root).unwrap();
    }
}
