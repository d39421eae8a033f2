//! The repository keeps its own rules: layers, purity of the model, files of one noun, links that
//! lead somewhere, dependencies with a reason, nothing of the machine it was written on.

use std::path::{Path, PathBuf};

/// Longest source file, in lines. Beyond it there is a second noun inside.
const LONGEST: usize = 1000;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every file of the project, as a path from its root, without what builds leave behind.
fn files() -> Vec<PathBuf> {
    const NOT_OURS: [&str; 6] = [
        "target",
        "dist",
        "node_modules",
        "test-results",
        "playwright-report",
        ".git",
    ];
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(root().join(&folder)).expect("a folder") {
            let entry = entry.expect("an entry");
            let name = entry.file_name();
            if NOT_OURS.iter().any(|n| name == *n) {
                continue;
            }
            let path = folder.join(&name);
            if entry.file_type().expect("a type").is_dir() {
                folders.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found.sort();
    assert!(found.len() > 200, "{} files", found.len());
    found
}

fn extension(path: &Path) -> &str {
    path.extension().and_then(|e| e.to_str()).unwrap_or("")
}

/// Files that people write and read: no data, no lock files.
fn texts() -> Vec<(PathBuf, String)> {
    files()
        .into_iter()
        .filter(|p| !p.starts_with("tests/data") && p != Path::new("Cargo.lock"))
        .filter_map(|p| {
            let text = std::fs::read_to_string(root().join(&p)).ok()?;
            Some((p, text))
        })
        .collect()
}

fn sources(folder: &str) -> Vec<(PathBuf, String)> {
    let all: Vec<_> = texts()
        .into_iter()
        .filter(|(p, _)| p.starts_with(folder) && extension(p) == "rs")
        .collect();
    assert!(!all.is_empty(), "no sources in {folder}");
    all
}

/// The lines of a source that are code: no comments, nothing from `#[cfg(test)] mod` on.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let end = text.find("#[cfg(test)]\nmod ").unwrap_or(text.len());
    text[..end]
        .lines()
        .enumerate()
        .map(|(n, line)| (n + 1, line.split("//").next().unwrap_or("")))
}

#[test]
fn nothing_tells_of_the_machine_it_was_written_on() {
    // In two pieces each, so that this file does not find itself.
    let words = [
        ["/wo", "rk/"],
        ["/ro", "ot/"],
        ["/ho", "me/"],
        ["registry.npm", "js.org"],
        ["static.cra", "tes.io"],
        ["index.cra", "tes.io"],
        ["files.python", "hosted"],
    ]
    .map(|w| w.concat());
    let lock = std::fs::read_to_string(root().join("package-lock.json")).expect("a lock file");
    for (path, text) in texts()
        .into_iter()
        .chain([("package-lock.json".into(), lock)])
    {
        for word in &words {
            let line = text.lines().position(|l| l.contains(word.as_str()));
            if let Some(line) = line {
                panic!("{}:{}: {word}", path.display(), line + 1);
            }
        }
    }
}

#[test]
fn no_work_is_left_as_a_remark() {
    let words = [["TO", "DO"], ["FIX", "ME"], ["XX", "X"]].map(|w| w.concat());
    for (path, text) in texts() {
        for (n, line) in text.lines().enumerate() {
            let is_word = |w: &String| {
                line.split(|c: char| !c.is_alphanumeric())
                    .any(|part| part == w)
            };
            assert!(
                !words.iter().any(is_word),
                "{}:{}: {line}",
                path.display(),
                n + 1
            );
        }
    }
}

#[test]
fn no_test_is_skipped_and_no_lint_silenced_at_large() {
    let ignored = ["#[ign", "ore"].concat();
    let allowed = ["#![all", "ow("].concat();
    let (only, skip) = (["test.on", "ly("].concat(), ["test.sk", "ip("].concat());
    for (path, text) in texts() {
        for (n, line) in text.lines().enumerate() {
            let at = format!("{}:{}: {line}", path.display(), n + 1);
            match extension(&path) {
                "rs" => {
                    assert!(!line.contains(&ignored), "{at}");
                    assert!(!line.contains(&allowed), "{at}");
                }
                "js" | "mjs" => assert!(!line.contains(&only) && !line.contains(&skip), "{at}"),
                _ => {}
            }
        }
    }
}

#[test]
fn lines_end_where_their_text_ends() {
    for (path, text) in texts() {
        if !matches!(
            extension(&path),
            "rs" | "js" | "mjs" | "css" | "html" | "md" | "toml" | "json"
        ) {
            continue;
        }
        assert!(!text.contains('\r'), "{}: carriage return", path.display());
        assert!(
            text.is_empty() || text.ends_with('\n'),
            "{}: no newline at the end",
            path.display()
        );
        for (n, line) in text.lines().enumerate() {
            assert_eq!(line.trim_end(), line, "{}:{}", path.display(), n + 1);
        }
    }
}

#[test]
fn a_file_is_one_noun() {
    for (path, text) in texts() {
        if matches!(extension(&path), "rs" | "js" | "mjs") {
            let lines = text.lines().count();
            assert!(lines <= LONGEST, "{}: {lines} lines", path.display());
        }
    }
}

#[test]
fn every_module_says_what_it_is() {
    for (path, text) in sources("src").into_iter().chain(sources("xtask/src")) {
        assert!(text.starts_with("//! "), "{}", path.display());
    }
}

/// Arrows run one way: model <- workload, trace <- cli, web.
#[test]
fn layers_import_downwards_only() {
    let above: [(&str, &[&str]); 3] = [
        ("src/model", &["workload", "trace", "cli", "web", "record"]),
        ("src/workload", &["cli", "web", "record"]),
        ("src/trace", &["cli", "web", "record"]),
    ];
    for (layer, upper) in above {
        for (path, text) in sources(layer) {
            for (n, line) in code(&text) {
                for name in upper {
                    assert!(
                        !line.contains(&format!("crate::{name}")),
                        "{}:{n}: {layer} must not know {name}",
                        path.display()
                    );
                }
            }
        }
    }
}

/// No I/O, clock, chance, floats, serde or hash maps in the model.
#[test]
fn the_model_is_pure() {
    let foreign = [
        "std::fs",
        "std::io",
        "std::time",
        "std::env",
        "std::thread",
        "std::net",
        "HashMap",
        "HashSet",
        "serde",
        "rand",
        "println!",
        "f32",
        "f64",
    ];
    for (path, text) in sources("src/model") {
        for (n, line) in code(&text) {
            let mut words = line.split(|c: char| !(c.is_alphanumeric() || "_:!".contains(c)));
            let found = words.find(|w| {
                foreign
                    .iter()
                    .any(|f| w == f || w.starts_with(&format!("{f}::")))
            });
            assert!(found.is_none(), "{}:{n}: {line}", path.display());
        }
    }
}

#[test]
fn the_architecture_names_every_module_of_the_model() {
    let map = std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("a map");
    for (path, _) in sources("src/model") {
        let name = path.file_name().unwrap().to_str().unwrap();
        // Plain helpers that every other module leans on need no introduction.
        if matches!(name, "mod.rs" | "units.rs") {
            continue;
        }
        assert!(
            map.contains(&format!("`{name}`")),
            "ARCHITECTURE.md: no `{name}`"
        );
    }
}

#[test]
fn every_dependency_has_its_reason() {
    let decisions = std::fs::read_to_string(root().join("docs/decisions.md")).expect("decisions");
    for file in ["Cargo.toml", "xtask/Cargo.toml"] {
        let manifest = std::fs::read_to_string(root().join(file)).expect("a manifest");
        let mut inside = false;
        for line in manifest.lines() {
            if line.starts_with('[') {
                inside = line.trim_end_matches(']').ends_with("dependencies");
            } else if let (true, Some((name, _))) = (inside, line.split_once(['=', '.'])) {
                let name = name.trim();
                if !name.is_empty() && !name.starts_with('#') && name != "reweight-lab" {
                    assert!(
                        decisions.contains(&format!("`{name}`")),
                        "docs/decisions.md: why `{name}`?"
                    );
                }
            }
        }
    }
    let package = std::fs::read_to_string(root().join("package.json")).expect("package.json");
    let package: serde_json::Value = serde_json::from_str(&package).expect("JSON");
    for name in package["devDependencies"]
        .as_object()
        .expect("a table")
        .keys()
    {
        assert!(
            decisions.contains(&format!("`{name}`")),
            "docs/decisions.md: why `{name}`?"
        );
    }
}

/// Where a document points to a file of ours, there is one.
#[test]
fn links_in_documents_lead_somewhere() {
    let mut count = 0;
    for (path, text) in texts() {
        if extension(&path) != "md" {
            continue;
        }
        // What stands in a fence is somebody else's document.
        let text: String = text.split("```").step_by(2).collect();
        let folder = root().join(&path).parent().unwrap().to_owned();
        for (at, _) in text.match_indices("](") {
            let target = text[at + 2..].split(')').next().unwrap_or("");
            let target = target.split('#').next().unwrap_or("");
            if target.is_empty() || target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            count += 1;
            assert!(
                folder.join(target).exists(),
                "{}: {target} does not exist",
                path.display()
            );
        }
        // Names of files in code marks, as far as they are paths from the root.
        for part in text.split('`').skip(1).step_by(2) {
            let is_path = [
                "src/", "tests/", "docs/", "www/", "xtask/", "benches/", "fuzz/",
            ]
            .iter()
            .any(|f| part.starts_with(f))
                && part
                    .chars()
                    .all(|c| c.is_alphanumeric() || "/._-".contains(c));
            if is_path {
                count += 1;
                assert!(
                    root().join(part).exists(),
                    "{}: `{part}` does not exist",
                    path.display()
                );
            }
        }
    }
    assert!(count > 10, "{count} links");
}
