//! The crate as others get it: an example for every public type, and nothing in the package that
//! is not the library, the command line or their manuals.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Rust files below a folder.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// A type that others can name: its name, and the documentation above it.
struct Documented {
    at: String,
    name: String,
    docs: String,
}

/// The public types of a file: items at its margin, and the handles a macro makes.
fn types(path: &Path) -> Vec<Documented> {
    let text = fs::read_to_string(path).expect("a source");
    let mut docs = String::new();
    let mut inside_handle = false;
    let mut found = Vec::new();
    for (n, line) in text.lines().enumerate() {
        let bare = line.trim_start();
        if bare.starts_with("///") {
            docs.push_str(bare);
            docs.push('\n');
            continue;
        }
        if bare.starts_with("#[") {
            continue;
        }
        let words = ["pub struct ", "pub enum ", "pub trait ", "pub type "];
        let named = words.iter().find_map(|w| line.strip_prefix(w));
        let handle = (inside_handle && !docs.is_empty()).then_some(bare);
        if let Some(rest) = named.or(handle) {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
            found.push(Documented {
                at: format!("{}:{}", path.display(), n + 1),
                name: rest[..end.unwrap_or(rest.len())].to_owned(),
                docs: std::mem::take(&mut docs),
            });
        }
        inside_handle = line == "handle!(" || (inside_handle && line != ");");
        docs.clear();
    }
    found
}

/// A reader of the reference sees each type at work. rustdoc runs the examples.
#[test]
fn every_public_type_has_an_example() {
    let mut files = Vec::new();
    for layer in ["model", "workload", "trace", "record"] {
        sources(&root().join("src").join(layer), &mut files);
    }
    let all: Vec<Documented> = files.iter().flat_map(|path| types(path)).collect();
    assert!(all.len() > 100, "{} types", all.len());
    for name in [
        "Machine", "LockId", "Observer", "Program", "Workload", "Run",
    ] {
        assert!(all.iter().any(|t| t.name == name), "{name} was not seen");
    }
    for each in all {
        assert!(
            each.docs.contains("/// ```\n") || each.docs.contains("/// ```no_run\n"),
            "{}: {} has no example",
            each.at,
            each.name
        );
    }
}

/// What `cargo package` would send: no tests with their recordings, no page, no chores.
#[test]
fn the_package_has_what_it_needs_and_no_more() {
    let out = Command::new(env!("CARGO"))
        .current_dir(root())
        .args(["package", "--list", "--allow-dirty", "--offline"])
        .output()
        .expect("cargo runs");
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{said}");
    let list = String::from_utf8(out.stdout).expect("names in UTF-8");
    let made = [
        "Cargo.toml",
        "Cargo.toml.orig",
        "Cargo.lock",
        ".cargo_vcs_info.json",
    ];
    let files = [
        "README.md",
        "ARCHITECTURE.md",
        "LICENSE-APACHE",
        "LICENSE-MIT",
    ];
    for name in list.lines() {
        let expected = made.contains(&name)
            || files.contains(&name)
            || (name.starts_with("src/") && (name.ends_with(".rs") || name.ends_with(".json")))
            || (name.starts_with("docs/")
                && [".md", ".png", ".json"].iter().any(|e| name.ends_with(e)));
        assert!(expected, "{name} is in the package");
    }
    for name in ["src/lib.rs", "src/main.rs", "docs/cli.md"]
        .iter()
        .chain(&files)
    {
        assert!(
            list.lines().any(|l| l == *name),
            "{name} is not in the package"
        );
    }
    // The page of the crate has a link to its reference.
    assert!(!said.contains("manifest has no"), "{said}");
}
