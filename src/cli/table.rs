//! Aligned tables for people, and names made fit for a terminal.

use std::fmt::Write;

/// Text without anything that a terminal acts on or that turns the reading order: such characters
/// are written as `\u{1b}`.
pub(super) fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let acts = c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}');
        if acts {
            // Writing to a string cannot fail.
            let _ = write!(out, "{}", c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    out
}

/// How a column is set.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Align {
    Left,
    Right,
}

/// A table: a head and rows of as many cells.
pub(super) struct Table {
    head: Vec<(String, Align)>,
    rows: Vec<(Vec<String>, bool)>,
}

const BOLD: &str = "\x1b[1m";
const DIM: &str = "\x1b[2m";
const OFF: &str = "\x1b[0m";

impl Table {
    pub fn new(head: &[(&str, Align)]) -> Table {
        Table {
            head: head.iter().map(|(h, a)| (plain(h), *a)).collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row; `strong` rows stand out where there is colour.
    pub fn row(&mut self, cells: Vec<String>, strong: bool) {
        debug_assert_eq!(cells.len(), self.head.len());
        let cells = cells.iter().map(|c| plain(c)).collect();
        self.rows.push((cells, strong));
    }

    /// The table as lines, indented by two.
    pub fn render(&self, colour: bool) -> String {
        let mut widths: Vec<usize> = self.head.iter().map(|(h, _)| h.chars().count()).collect();
        for (cells, _) in &self.rows {
            for (width, cell) in widths.iter_mut().zip(cells) {
                *width = (*width).max(cell.chars().count());
            }
        }
        let line = |cells: &mut dyn Iterator<Item = &str>| {
            let mut line = String::from(" ");
            for ((cell, width), (_, align)) in cells.zip(&widths).zip(&self.head) {
                let pad = " ".repeat(width - cell.chars().count());
                line.push(' ');
                match align {
                    Align::Left => line.extend([cell, &pad]),
                    Align::Right => line.extend([&pad, cell]),
                }
                line.push(' ');
            }
            line.truncate(line.trim_end().len());
            line
        };
        let mut out = String::new();
        let mut push = |line: &str, style: &str| {
            let style = if colour { style } else { "" };
            let off = if style.is_empty() { "" } else { OFF };
            out.extend([style, line, off, "\n"]);
        };
        push(&line(&mut self.head.iter().map(|(h, _)| h.as_str())), DIM);
        for (cells, strong) in &self.rows {
            let text = line(&mut cells.iter().map(String::as_str));
            push(&text, if *strong { BOLD } else { "" });
        }
        out
    }
}

/// A heading.
pub(super) fn heading(text: &str, colour: bool) -> String {
    let text = plain(text);
    if colour {
        format!("{BOLD}{text}{OFF}\n")
    } else {
        format!("{text}\n")
    }
}

/// A count of nanoseconds in the largest unit in which it reads well: `26.5 s`, `1.234567 ms`.
pub(super) fn span(ns: u64) -> String {
    let (unit, digits) = match ns {
        0 => return "0 s".into(),
        1..1_000 => ("ns", 0),
        1_000..1_000_000 => ("us", 3),
        1_000_000..1_000_000_000 => ("ms", 6),
        _ => ("s", 9),
    };
    let scale = 10u64.pow(digits);
    let fraction = format!("{:0width$}", ns % scale, width = digits as usize);
    let fraction = fraction.trim_end_matches('0');
    let point = if digits == 0 || fraction.is_empty() {
        String::new()
    } else {
        format!(".{fraction}")
    };
    format!("{}{point} {unit}", ns / scale)
}

/// Seconds with six decimals, for columns.
pub(super) fn seconds(ns: u64) -> String {
    format!("{}.{:06}", ns / 1_000_000_000, ns % 1_000_000_000 / 1000)
}

/// Milliseconds with three decimals, for columns.
pub(super) fn millis(ns: u64) -> String {
    format!("{}.{:03}", ns / 1_000_000, ns % 1_000_000 / 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_names_do_not_reach_the_terminal() {
        assert_eq!(
            plain("a\x1b[2Jb\n\u{202e}c\u{9b}"),
            "a\\u{1b}[2Jb\\u{a}\\u{202e}c\\u{9b}"
        );
        assert_eq!(plain("Wächter 低"), "Wächter 低");
    }

    #[test]
    fn columns_are_aligned_and_styles_add_no_width() {
        let mut table = Table::new(&[("task", Align::Left), ("n", Align::Right)]);
        table.row(vec!["low".into(), "1".into()], true);
        table.row(vec!["longer".into(), "100".into()], false);
        let expected = "  task      n\n  low       1\n  longer  100\n";
        assert_eq!(table.render(false), expected);
        let styled = table.render(true);
        assert!(
            styled.contains("\x1b[1m  low       1\x1b[0m\n"),
            "{styled:?}"
        );
    }

    #[test]
    fn spans_read_well() {
        for (ns, text) in [
            (0, "0 s"),
            (999, "999 ns"),
            (1_500, "1.5 us"),
            (2_000_000, "2 ms"),
            (26_500_000_000, "26.5 s"),
        ] {
            assert_eq!(span(ns), text);
        }
    }
}
