//! The standard library for wasm, built from a distribution's source.
//!
//! Two of them: the one that ships is small, and its panics trap without a word; the one for tests tells
//! its panics. Each is built once (half a minute) and kept in the target folder, under a name that holds the
//! hash of compiler and recipe: a rebuilt library under an old name would not be noticed by cargo.
use crate::{
    project::{self, Project},
    toolchain::{Parts, TARGET},
};
use anyhow::{Result, ensure};
use std::{
    env, fs,
    hash::{DefaultHasher, Hash, Hasher},
    path::{Path, PathBuf},
    process::{self, Command},
};

/// Which standard library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Std {
    /// For dist/: small, panics trap silently.
    Shipped,
    /// For tests: panics are told.
    Tested,
}

impl Std {
    fn name(self) -> &'static str {
        match self {
            Self::Shipped => "shipped",
            Self::Tested => "tested",
        }
    }

    /// Flags that every crate linked with this library needs, itself included.
    pub fn crate_flags(self) -> &'static [&'static str] {
        match self {
            Self::Shipped => &["-Zunstable-options", "-Cpanic=immediate-abort"],
            Self::Tested => &[],
        }
    }

    /// The environment that allows those flags.
    pub fn bootstrap(self) -> Option<(&'static str, &'static str)> {
        (self == Self::Shipped).then_some(("RUSTC_BOOTSTRAP", "1"))
    }

    fn opt_level(self) -> &'static str {
        match self {
            Self::Shipped => "'s'",
            Self::Tested => "3",
        }
    }

    fn features(self) -> &'static str {
        match self {
            Self::Shipped => "optimize_for_size",
            Self::Tested => "",
        }
    }
}

/// The folder to pass as `--sysroot`; built when it is not there yet.
pub fn build(project: &Project, parts: &Parts, std: Std) -> Result<PathBuf> {
    let version = project::output(Command::new(&parts.rustc).arg("-vV"))?;
    let recipe = Recipe::of(std);
    let mut hasher = DefaultHasher::new();
    (version, &recipe).hash(&mut hasher);
    let name = format!("wasm-sysroot-{}-{:016x}", std.name(), hasher.finish());
    let sysroot = project.target.join(&name);
    if sysroot.is_dir() {
        return Ok(sysroot);
    }
    project::tell(&format!(
        "building the {} standard library for {TARGET}, once",
        std.name()
    ));
    // A folder of this process alone, renamed when whole: two builds at a time do not meet.
    let work = project.target.join(format!("{name}.{}", process::id()));
    let made = compile(parts, &recipe, &work).inspect_err(|_| {
        let _ = fs::remove_dir_all(&work);
    })?;
    let fresh = work.join("sysroot");
    let lib = fresh.join("lib/rustlib").join(TARGET).join("lib");
    fs::create_dir_all(&lib)?;
    let mut copied = 0;
    for entry in fs::read_dir(made)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.ends_with(".rlib") && !name.starts_with("libstdbuild") {
            fs::copy(entry.path(), lib.join(&name))?;
            copied += 1;
        }
    }
    ensure!(
        copied > 10,
        "the standard library for {TARGET} was not built"
    );
    if let Err(error) = fs::rename(&fresh, &sysroot) {
        ensure!(sysroot.is_dir(), "{}: {error}", sysroot.display());
    }
    fs::remove_dir_all(&work)?;
    Ok(sysroot)
}

/// Everything that decides what the library becomes.
#[derive(Hash)]
struct Recipe {
    manifest: String,
    flags: String,
    features: &'static str,
}

impl Recipe {
    fn of(std: Std) -> Self {
        let level = std.opt_level();
        // Bitcode, so that the link-time optimisation of what is built with it can use it.
        let mut flags = vec!["-Cembed-bitcode=yes"];
        flags.extend(std.crate_flags());
        Self {
            manifest: format!(
                "[package]\nname = 'stdbuild'\nversion = '0.0.0'\nedition = '2024'\n[lib]\n[workspace]\n\
                 [profile.release]\npanic = 'abort'\nopt-level = {level}\ndebug = 0\n"
            ),
            flags: flags.join(" "),
            features: std.features(),
        }
    }
}

/// Compiles an empty crate with `-Zbuild-std` in `work`; returns the folder of the libraries made.
fn compile(parts: &Parts, recipe: &Recipe, work: &Path) -> Result<PathBuf> {
    fs::create_dir_all(work.join("src"))?;
    fs::write(work.join("src/lib.rs"), "#![no_std]\n")?;
    fs::write(work.join("Cargo.toml"), &recipe.manifest)?;
    // The compiler's own cargo: -Zbuild-std wants the one of the same release.
    let mut cmd = Command::new(parts.rustc.with_file_name("cargo"));
    for (key, _) in env::vars_os() {
        // What the outer cargo set for xtask, and what the user set for ordinary builds.
        let Some(key) = key.to_str() else { continue };
        if (key.starts_with("CARGO_") && key != "CARGO_HOME") || key.starts_with("RUST") {
            cmd.env_remove(key);
        }
    }
    cmd.current_dir(work)
        .env("RUSTC", &parts.rustc)
        .env("RUSTC_BOOTSTRAP", "1")
        .env("RUSTFLAGS", &recipe.flags)
        .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", &parts.linker)
        .args(["build", "--quiet", "--release", "--target", TARGET])
        .args(["--target-dir", "out"])
        .arg("-Zbuild-std=std,panic_abort,test")
        .arg(format!("-Zbuild-std-features={}", recipe.features));
    project::run(&mut cmd)?;
    Ok(work.join("out").join(TARGET).join("release/deps"))
}
