//! dist/: WebAssembly, its JavaScript side, and the page.
//!
//! Everything is made in a folder aside and swapped in when whole, so that a server never shows half a build
//! and a failed build leaves the last good one.
use crate::{
    packages,
    project::{self, Project},
    sysroot::Std,
    toolchain::{TARGET, Wasm},
};
use anyhow::{Context, Result};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// The module's name: `reweight_lab.js` and `reweight_lab_bg.wasm`.
const NAME: &str = "reweight_lab";

/// The module that writes runs in other tools' formats: fetched when a reader saves one.
const EXPORT: &str = "reweight_lab_export";

/// Makes dist/. With `dev` it is compiled faster and keeps names and panic messages.
pub fn build(project: &Project, dev: bool) -> Result<()> {
    let fresh = stage(project, dev)?;
    swap(project, &fresh)
}

/// Makes all of dist/ in a folder of its own, and returns that.
pub fn stage(project: &Project, dev: bool) -> Result<PathBuf> {
    if !dev {
        packages::npm(project)?;
    }
    let wasm = Wasm::find(project)?;
    let (profile, std) = if dev {
        ("wasm-dev", Std::Tested)
    } else {
        ("wasm", Std::Shipped)
    };
    let compiled = wasm
        .target_dir()
        .join(TARGET)
        .join(profile)
        .join(format!("{NAME}.wasm"));

    let fresh = project.target.join(format!("dist.{}", std::process::id()));
    let _ = fs::remove_dir_all(&fresh);
    fs::create_dir_all(&fresh)?;
    // Both from the one library, so each is taken away before the next is compiled.
    for (name, features) in [(NAME, &[][..]), (EXPORT, &["--features", "export"])] {
        let mut cargo = wasm.cargo("build", std)?;
        cargo.args(["--package", "reweight-lab", "--lib", "--profile", profile]);
        project::run(cargo.args(features))?;
        bindgen(&compiled, &fresh, name, dev)?;
        if !dev {
            optimize(project, &fresh.join(format!("{name}_bg.wasm")))?;
        }
    }
    let page = project.root.join("www");
    if page.is_dir() {
        copy_tree(&page, &fresh)?;
    } else {
        project::tell("there is no www/: dist/ has the WebAssembly only");
    }
    if !dev {
        minify(project, &fresh)?;
        builds(project, &fresh)?;
    }
    Ok(fresh)
}

/// Puts the freshly made folder in dist/'s place.
pub fn swap(project: &Project, fresh: &Path) -> Result<()> {
    let dist = project.dist();
    let old = project
        .target
        .join(format!("dist-old.{}", std::process::id()));
    let _ = fs::remove_dir_all(&old);
    if dist.exists() {
        // The target folder may lie on another file system, where a rename is refused.
        if fs::rename(&dist, &old).is_err() {
            fs::remove_dir_all(&dist)?;
        }
    }
    if fs::rename(fresh, &dist).is_err() {
        copy_tree(fresh, &dist)?;
        fs::remove_dir_all(fresh)?;
    }
    let _ = fs::remove_dir_all(&old);
    sizes(project, &dist)
}

/// The JavaScript side. The tool is a library at the version of the crate, so the two cannot differ.
fn bindgen(compiled: &Path, out: &Path, name: &str, dev: bool) -> Result<()> {
    let mut args: Vec<&std::ffi::OsStr> = vec!["wasm-bindgen".as_ref(), compiled.as_os_str()];
    for arg in ["--target", "web", "--out-name", name, "--out-dir"] {
        args.push(arg.as_ref());
    }
    args.push(out.as_os_str());
    if !dev {
        args.push("--remove-name-section".as_ref());
        args.push("--remove-producers-section".as_ref());
    }
    wasm_bindgen_cli::wasm_bindgen::run_cli_with_args(args)
}

/// Shrinks the WebAssembly in place.
fn optimize(project: &Project, wasm: &Path) -> Result<()> {
    let tool = packages::module(project, "binaryen/bin/wasm-opt");
    let mut cmd = Command::new(packages::node()?);
    cmd.arg(tool).arg("-Oz").arg(wasm).arg("-o").arg(wasm);
    project::run(&mut cmd)
}

/// Takes comments and blanks out of scripts, style and locales.
fn minify(project: &Project, folder: &Path) -> Result<()> {
    let mut cmd = Command::new(packages::node()?);
    cmd.arg(project.root.join("xtask/js/minify.mjs"))
        .arg(folder);
    project::run(&mut cmd)
}

/// Makes the classic script and the one-file page out of the finished modules.
fn builds(project: &Project, folder: &Path) -> Result<()> {
    let mut cmd = Command::new(packages::node()?);
    cmd.arg(project.root.join("xtask/js/builds.mjs"))
        .arg(folder);
    project::run(&mut cmd)
}

/// Copies a folder's files and folders, all but those whose name begins with a dot.
fn copy_tree(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    let entries = match fs::read_dir(from) {
        Ok(entries) => entries,
        Err(error) => return Err(error).with_context(|| from.display().to_string()),
    };
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        if name.to_string_lossy().starts_with('.') {
            continue;
        }
        // `metadata` follows links: what a link in www/ points to is shipped, not the link.
        if fs::metadata(entry.path())?.is_dir() {
            copy_tree(&entry.path(), &to.join(name))?;
        } else {
            fs::copy(entry.path(), to.join(name))?;
        }
    }
    Ok(())
}

/// Builds, and writes docs/sizes.md.
pub fn sizes_page(project: &Project) -> Result<()> {
    build(project, false)?;
    let mut cmd = Command::new(packages::node()?);
    cmd.arg(project.root.join("xtask/js/sizes-page.mjs"))
        .arg(project.dist())
        .arg(project.root.join("docs/sizes.md"));
    project::run(&mut cmd)
}

/// Prints what a reader's browser fetches: WebAssembly, scripts and style, plain and with brotli.
fn sizes(project: &Project, dist: &Path) -> Result<()> {
    let script = packages::node()?;
    let table = project::output(
        Command::new(script)
            .arg(project.root.join("xtask/js/sizes.mjs"))
            .arg(dist),
    )?;
    project::tell(&format!("{table}made {}", project.shown(dist).display()));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_copied_without_hidden_files() {
        let base = std::env::temp_dir().join(format!("xtask-copy-{}", std::process::id()));
        let (from, to) = (base.join("from"), base.join("to"));
        fs::create_dir_all(from.join("locales")).unwrap();
        fs::write(from.join("index.html"), "page").unwrap();
        fs::write(from.join(".gitkeep"), "").unwrap();
        fs::write(from.join("locales/en.json"), "{}").unwrap();
        copy_tree(&from, &to).unwrap();
        assert_eq!(fs::read_to_string(to.join("index.html")).unwrap(), "page");
        assert_eq!(
            fs::read_to_string(to.join("locales/en.json")).unwrap(),
            "{}"
        );
        assert!(!to.join(".gitkeep").exists());
        let error = copy_tree(&base.join("absent"), &to).unwrap_err();
        assert!(error.to_string().contains("absent"), "{error}");
        fs::remove_dir_all(base).unwrap();
    }
}
