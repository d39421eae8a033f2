//! Playwright's report in JSON, and its way to choose tests.
use super::tested::{Failed, Tested};
use anyhow::{Context, Result};
use serde_json::Value;

/// Reads a report.
pub fn read(text: &str) -> Result<Tested> {
    let report: Value = serde_json::from_str(text).context("the tests' report is not JSON")?;
    let mut tested = Tested::default();
    for suite in list(&report, "suites") {
        // The outermost suites are files.
        walk(suite, "", &mut Vec::new(), &mut tested);
    }
    for error in list(&report, "errors") {
        let message = error["message"].as_str().unwrap_or_default();
        // A choice that chose nothing is told by whoever chose.
        let first = message.lines().map(str::trim).find(|l| !l.is_empty());
        if let Some(first) = first.filter(|l| !l.contains("No tests found")) {
            tested.trouble.push(first.trim_end_matches('.').to_owned());
        }
    }
    Ok(tested)
}

fn list<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    value[key].as_array().into_iter().flatten()
}

fn walk<'a>(suite: &'a Value, file: &'a str, titles: &mut Vec<&'a str>, tested: &mut Tested) {
    let title = |value: &'a Value| value["title"].as_str().unwrap_or_default();
    let outermost = file.is_empty();
    let file = if outermost { title(suite) } else { file };
    if !outermost {
        titles.push(title(suite));
    }
    for spec in list(suite, "specs") {
        // What was not reached when the run was stopped has no result, or one that says so.
        let reached = list(spec, "tests")
            .flat_map(|test| list(test, "results"))
            .any(|result| result["status"] != "interrupted");
        if !reached {
            continue;
        }
        titles.push(title(spec));
        let name = titles.join(" ");
        titles.pop();
        tested.ran.push(format!("{file} {name}"));
        if spec["ok"] == false {
            tested.failed.push(Failed {
                place: format!("{file}:{}", spec["line"]),
                name,
            });
        }
    }
    for inner in list(suite, "suites") {
        walk(inner, file, titles, tested);
    }
    if !outermost {
        titles.pop();
    }
}

/// What `--grep` takes to find names with one of these texts in them, as they are written.
pub fn pattern(only: &[String]) -> String {
    let escaped: Vec<_> = only
        .iter()
        .map(|text| {
            text.chars()
                .flat_map(|c| {
                    let special = r"\^$.*+?()[]{}|/".contains(c);
                    special.then_some('\\').into_iter().chain([c])
                })
                .collect::<String>()
        })
        .collect();
    // Between slashes, since otherwise case would not count.
    format!("/{}/", escaped.join("|"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = r#"{
      "suites": [
        { "title": "tour.spec.mjs", "file": "tour.spec.mjs", "specs": [
            { "title": "asks first", "ok": true, "line": 3, "tests": [{ "results": [{ "status": "passed" }] }] },
            { "title": "counts hands", "ok": false, "line": 9, "tests": [{ "results": [{ "status": "failed" }] }] },
            { "title": "was stopped", "ok": false, "line": 12, "tests": [{ "results": [{ "status": "interrupted" }] }] },
            { "title": "was not reached", "ok": true, "line": 14, "tests": [{ "results": [] }] }
          ],
          "suites": [
            { "title": "projected", "specs": [
              { "title": "is large", "ok": false, "line": 20, "tests": [{ "results": [{ "status": "timedOut" }] }] } ] },
            { "title": "printed", "specs": [
              { "title": "is small", "ok": true, "line": 30, "tests": [{ "results": [{ "status": "passed" }] }] } ] }
          ] }
      ],
      "errors": [{ "message": "\nError: 2 errors were not a part of any test, see above for details." }],
      "stats": { "expected": 2, "unexpected": 3 }
    }"#;

    #[test]
    fn a_report_names_file_line_and_title() {
        let tested = read(REPORT).unwrap();
        assert_eq!(
            tested.ran,
            [
                "tour.spec.mjs asks first",
                "tour.spec.mjs counts hands",
                "tour.spec.mjs projected is large",
                "tour.spec.mjs printed is small"
            ]
        );
        let failed = |place: &str, name: &str| Failed {
            place: place.into(),
            name: name.into(),
        };
        assert_eq!(
            tested.failed,
            [
                failed("tour.spec.mjs:9", "counts hands"),
                failed("tour.spec.mjs:20", "projected is large")
            ]
        );
        assert_eq!(
            tested.trouble,
            ["Error: 2 errors were not a part of any test, see above for details"]
        );
        assert!(read("").is_err());
        let none = r#"{ "suites": [], "errors": [{ "message": "Error: No tests found" }] }"#;
        assert_eq!(read(none).unwrap(), Tested::default());
    }

    #[test]
    fn texts_are_searched_as_they_are_written() {
        let only = ["9.7 % (low)".to_owned(), "a/b|c".to_owned()];
        assert_eq!(pattern(&only), r"/9\.7 % \(low\)|a\/b\|c/");
    }
}
