//! Reports as CSV: one line for each task in each window, comparable across runs.
//!
//! Text is made safe for spreadsheets: a field that would be read as a formula gets a leading
//! apostrophe, control characters are written as `\u{a}`, so a record is one line.

use std::io::{self, Write};

use super::report::Report;

/// The first line.
pub const HEADER: &str = "kernel,hz,cpus_online,pi,window,from_ns,to_ns,idle_ns,task,policy,nice,cpu_ns,share,switches,max_wait_ns";

/// Writes reports, one after the other under one header.
///
/// # Errors
/// Those of `out`.
pub fn write<'a>(
    reports: impl IntoIterator<Item = &'a Report>,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "{HEADER}")?;
    for report in reports {
        let policy: std::collections::BTreeMap<&str, _> = report
            .tasks
            .iter()
            .map(|t| (t.name.as_str(), (t.policy.as_str(), t.nice)))
            .collect();
        for window in &report.windows {
            for (name, task) in &window.tasks.0 {
                let (policy, nice) = policy.get(name.as_str()).copied().unwrap_or_default();
                writeln!(
                    out,
                    "{},{},{},{},{},{},{},{},{},{policy},{nice},{},{},{},{}",
                    field(&report.kernel),
                    report.hz,
                    report.cpus_online,
                    field(&report.pi),
                    field(&window.name),
                    window.from_ns,
                    window.to_ns,
                    window.idle_ns,
                    field(name),
                    task.cpu_ns,
                    task.share,
                    task.switches,
                    task.max_wait_ns,
                )?;
            }
        }
    }
    Ok(())
}

/// Text as a CSV field.
pub fn field(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    if text.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        safe.push('\'');
    }
    for c in text.chars() {
        if c.is_control() {
            safe.extend(c.escape_unicode());
        } else {
            safe.push(c);
        }
    }
    if safe.contains([',', '"', '\'', ';', ' ']) {
        let doubled = safe.replace('"', "\"\"");
        return ["\"", &doubled, "\""].concat();
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::field;

    #[test]
    fn a_field_is_one_cell_of_one_line_and_no_formula() {
        for (text, expected) in [
            ("low", "low"),
            ("a,b", "\"a,b\""),
            ("say \"x\"", "\"say \"\"x\"\"\""),
            ("=1+1", "\"'=1+1\""),
            ("-x", "\"'-x\""),
            ("a\nb", "a\\u{a}b"),
            ("", ""),
        ] {
            assert_eq!(field(text), expected);
        }
    }
}
