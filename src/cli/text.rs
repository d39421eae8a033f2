//! Reports for people: tables of shares, alone and side by side.

use super::table::{Align, Table, heading, millis, seconds, span};
use crate::trace::report::{Report, WindowReport};

/// A report with what a table wants beside it.
pub(super) struct Told<'a> {
    pub report: &'a Report,
    pub holder: Option<&'a str>,
    /// Said in place of kernel, variant and counts: where a recording was made.
    pub made: Option<&'a str>,
}

/// Rows shown of a table; the rest is counted.
const ROWS: usize = 200;

/// A share in percent with two decimals.
pub(super) fn percent(share: f64) -> String {
    format!("{:.2} %", share * 100.0)
}

/// One run: its windows, then the whole.
pub(super) fn one(title: &str, told: &Told<'_>, colour: bool) -> String {
    let report = told.report;
    let mut out = String::new();
    if !title.is_empty() {
        out += &heading(title, colour);
    }
    out += &match told.made {
        Some(made) => format!(
            "{made}; {}: {} switches\n",
            span(report.duration_ns),
            report.switches
        ),
        None => format!(
            "{}, pi {}; {}: {} switches, {} decisions\n",
            machine(report),
            report.pi,
            span(report.duration_ns),
            report.switches,
            report.decisions
        ),
    };
    for window in &report.windows {
        out += &format!("\n{}", heading(&window_heading(window), colour));
        let mut table = Table::new(&[
            ("task", Align::Left),
            ("share", Align::Right),
            ("CPU s", Align::Right),
            ("switches", Align::Right),
            ("longest wait ms", Align::Right),
        ]);
        for (name, task) in window.tasks.0.iter().take(ROWS) {
            let cells = vec![
                name.clone(),
                percent(task.share),
                seconds(task.cpu_ns),
                task.switches.to_string(),
                millis(task.max_wait_ns),
            ];
            table.row(cells, told.holder == Some(name));
        }
        if window.idle_ns > 0 {
            let length = window.to_ns - window.from_ns;
            let idle = window.idle_ns as f64 / length.max(1) as f64;
            let blank = String::new;
            let cells = vec![
                "(idle)".to_owned(),
                percent(idle),
                seconds(window.idle_ns),
                blank(),
                blank(),
            ];
            table.row(cells, false);
        }
        out += &table.render(colour);
        out += &rest(window.tasks.0.len());
    }
    out += &format!("\n{}", heading("the whole run", colour));
    let mut table = Table::new(&[
        ("task", Align::Left),
        ("policy", Align::Left),
        ("nice", Align::Right),
        ("prio", Align::Right),
        ("weight", Align::Right),
        ("CPU s", Align::Right),
        ("waiting s", Align::Right),
        ("blocked s", Align::Right),
        ("sleeping s", Align::Right),
    ]);
    for task in report.tasks.iter().take(ROWS) {
        let cells = vec![
            task.name.clone(),
            task.policy.clone(),
            task.nice.to_string(),
            task.prio.to_string(),
            task.weight.to_string(),
            seconds(task.cpu_ns),
            seconds(task.wait_ns),
            seconds(task.blocked_ns),
            seconds(task.sleep_ns),
        ];
        table.row(cells, told.holder == Some(&task.name));
    }
    out += &table.render(colour);
    out += &rest(report.tasks.len());
    out += &notices(&report.notices, colour);
    out
}

/// Several runs of one workload, side by side.
pub(super) fn side_by_side(title: &str, runs: &[Told<'_>], colour: bool) -> String {
    let mut out = String::new();
    if !title.is_empty() {
        out += &heading(title, colour);
    }
    let Some(first) = runs.first() else {
        return out;
    };
    let same_machine = runs
        .iter()
        .all(|r| machine(r.report) == machine(first.report));
    if same_machine {
        out += &format!(
            "{}; {}\n",
            machine(first.report),
            span(first.report.duration_ns)
        );
    }
    let label = |r: &Report| {
        if same_machine {
            r.pi.clone()
        } else {
            format!("{} @{} {}", r.kernel, r.hz, r.pi)
        }
    };
    let labels: Vec<String> = runs.iter().map(|r| label(r.report)).collect();
    let mut names: Vec<&str> = Vec::new();
    for window in runs.iter().flat_map(|r| &r.report.windows) {
        if !names.contains(&window.name.as_str()) {
            names.push(&window.name);
        }
    }
    for name in names {
        let windows: Vec<Option<&WindowReport>> =
            runs.iter().map(|r| r.report.window(name)).collect();
        out.push('\n');
        out += &window_headings(name, &windows, &labels, colour);
        let mut head = vec![("task".to_owned(), Align::Left)];
        head.extend(labels.iter().map(|l| (l.clone(), Align::Right)));
        head.extend(
            labels
                .iter()
                .map(|l| (format!("longest wait ms, {l}"), Align::Right)),
        );
        let head: Vec<(&str, Align)> = head.iter().map(|(h, a)| (h.as_str(), *a)).collect();
        let mut table = Table::new(&head);
        let mut tasks: Vec<&str> = Vec::new();
        let mut seen = std::collections::BTreeSet::new();
        for (task, _) in windows.iter().flatten().flat_map(|w| &w.tasks.0) {
            if seen.insert(task.as_str()) {
                tasks.push(task);
            }
        }
        for &task in tasks.iter().take(ROWS) {
            let mut shares = Vec::new();
            let mut waits = Vec::new();
            for window in &windows {
                let share = window.and_then(|w| w.tasks.get(task));
                shares.push(share.map_or("-".to_owned(), |s| percent(s.share)));
                waits.push(share.map_or("-".to_owned(), |s| millis(s.max_wait_ns)));
            }
            let cells = [vec![task.to_owned()], shares, waits].concat();
            let strong = runs.iter().any(|r| r.holder == Some(task));
            table.row(cells, strong);
        }
        out += &table.render(colour);
        out += &rest(tasks.len());
    }
    let mut all: Vec<String> = Vec::new();
    for notice in runs.iter().flat_map(|r| &r.report.notices) {
        if !all.contains(notice) {
            all.push(notice.clone());
        }
    }
    out += &notices(&all, colour);
    out
}

fn machine(report: &Report) -> String {
    let s = if report.cpus_online == 1 { "" } else { "s" };
    format!(
        "kernel {}, HZ {}, {} CPU{s} online",
        report.kernel, report.hz, report.cpus_online
    )
}

fn window_heading(window: &WindowReport) -> String {
    format!(
        "{}: {} to {}",
        window.name,
        span(window.from_ns),
        span(window.to_ns)
    )
}

/// The heading of a window that several runs have, perhaps at different times.
fn window_headings(
    name: &str,
    windows: &[Option<&WindowReport>],
    labels: &[String],
    colour: bool,
) -> String {
    let mut spans = windows.iter().flatten().map(|w| (w.from_ns, w.to_ns));
    let first = spans.next();
    if let Some(window) = windows.iter().flatten().next()
        && spans.all(|s| Some(s) == first)
    {
        return heading(&window_heading(window), colour);
    }
    let mut text = Vec::new();
    for (window, label) in windows.iter().zip(labels) {
        if let Some(w) = window {
            text.push(format!("{label} {} to {}", span(w.from_ns), span(w.to_ns)));
        }
    }
    heading(&format!("{name}: {}", text.join(", ")), colour)
}

fn rest(rows: usize) -> String {
    if rows > ROWS {
        format!("  and {} more; --format json or csv has all\n", rows - ROWS)
    } else {
        String::new()
    }
}

fn notices(notices: &[String], colour: bool) -> String {
    if notices.is_empty() {
        return String::new();
    }
    let mut out = format!("\n{}", heading("notices", colour));
    for notice in notices {
        out += &format!("  {}\n", super::table::plain(notice));
    }
    out
}
