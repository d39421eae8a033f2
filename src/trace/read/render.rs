//! The answer as text for a terminal and as CSV.

use std::io::{self, Write};

use super::report::{BoostReport, SpreadReport, TraceReport};

/// Tasks and waits told in the text; the JSON has all.
const ROWS: usize = 30;

fn ms(ns: u64) -> String {
    format!("{}.{:03}", ns / 1_000_000, ns % 1_000_000 / 1000)
}

fn percent(share: f64) -> String {
    format!("{:.2}", share * 100.0)
}

/// Pads by characters; long names are not cut.
fn left(text: &str, width: usize) -> String {
    format!("{text:<width$}")
}

impl TraceReport {
    /// A time of the report on the trace's own clock, in seconds, as the lines have it.
    fn clock(&self, ns: u64) -> String {
        let ns = self.start_ns.saturating_add(ns);
        format!("{}.{:06}", ns / 1_000_000_000, ns % 1_000_000_000 / 1000)
    }

    /// Writes the report for people: tasks, waits, boosts, CPUs, notices. Times are milliseconds,
    /// points of time seconds on the trace's clock.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_text(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(
            out,
            "trace of {} ms from {} s: {} events, {} switches, {} tasks, {} boosts",
            ms(self.duration_ns),
            self.clock(0),
            self.reading.events,
            self.switches,
            self.tasks.len(),
            self.boosts.len()
        )?;
        self.write_tasks(out)?;
        self.write_waits(out)?;
        self.write_boosts(out)?;
        writeln!(
            out,
            "\n{:>5} {:>12} {:>12} {:>12} {:>6}",
            "CPU", "busy ms", "idle ms", "unknown ms", "lost"
        )?;
        for c in &self.cpus {
            writeln!(
                out,
                "{:>5} {:>12} {:>12} {:>12} {:>6}",
                c.cpu,
                ms(c.busy_ns),
                ms(c.idle_ns),
                ms(c.unknown_ns),
                c.lost_events
            )?;
        }
        if !self.notices.is_empty() {
            writeln!(out)?;
        }
        for notice in &self.notices {
            writeln!(out, "note: {notice}")?;
        }
        Ok(())
    }

    fn width(&self) -> usize {
        self.tasks
            .iter()
            .take(ROWS)
            .map(|t| t.name.chars().count())
            .max()
            .unwrap_or(4)
            .max(4)
    }

    fn write_tasks(&self, out: &mut impl Write) -> io::Result<()> {
        let width = self.width();
        writeln!(
            out,
            "\n{} {:>7} {:>5} {:>12} {:>7} {:>12} {:>12} {:>12}",
            left("task", width),
            "pid",
            "nice",
            "run ms",
            "share",
            "wait ms",
            "blocked ms",
            "sleep ms"
        )?;
        let traced = self.duration_ns.saturating_sub(self.untraced_ns);
        for t in self.tasks.iter().take(ROWS) {
            let nice = match (t.nice, t.policy) {
                (Some(nice), _) => nice.to_string(),
                (None, policy) => policy.unwrap_or("?").to_string(),
            };
            let share = if traced == 0 {
                0.0
            } else {
                t.cpu_ns as f64 / traced as f64
            };
            writeln!(
                out,
                "{} {:>7} {:>5} {:>12} {:>7} {:>12} {:>12} {:>12}",
                left(&t.name, width),
                t.pid,
                nice,
                ms(t.cpu_ns),
                percent(share),
                ms(t.wait_ns),
                ms(t.blocked_ns),
                ms(t.sleep_ns)
            )?;
        }
        if self.tasks.len() > ROWS {
            writeln!(
                out,
                "... {} more (all are in the JSON)",
                self.tasks.len() - ROWS
            )?;
        }
        Ok(())
    }

    fn write_waits(&self, out: &mut impl Write) -> io::Result<()> {
        let width = self.width();
        writeln!(
            out,
            "\n{} {:>8} {:>10} {:>10} {:>10} {:>10} {:>18} | {:>8} {:>10} {:>10} {:>10} {:>10}",
            left("wait ms", width),
            "count",
            "p50",
            "p90",
            "p99",
            "max",
            "longest at s",
            "wakeups",
            "p50",
            "p90",
            "p99",
            "max"
        )?;
        let cells = |s: &SpreadReport| {
            format!(
                "{:>8} {:>10} {:>10} {:>10} {:>10}",
                s.count,
                ms(s.p50_ns),
                ms(s.p90_ns),
                ms(s.p99_ns),
                ms(s.max_ns)
            )
        };
        for t in self.tasks.iter().take(ROWS).filter(|t| t.wait.count > 0) {
            writeln!(
                out,
                "{} {} {:>18} | {}",
                left(&t.name, width),
                cells(&t.wait),
                self.clock(t.longest_wait_from_ns),
                cells(&t.wakeup)
            )?;
        }
        Ok(())
    }

    fn write_boosts(&self, out: &mut impl Write) -> io::Result<()> {
        if self.boosts.is_empty() {
            return Ok(());
        }
        writeln!(out)?;
        for b in &self.boosts {
            writeln!(out, "{}", self.boost_line(b))?;
            if let Some(note) = &b.note {
                writeln!(out, "    {note}")?;
            }
        }
        Ok(())
    }

    fn boost_line(&self, b: &BoostReport) -> String {
        let by =
            b.by.as_ref()
                .map(|by| format!(" by {by}"))
                .unwrap_or_default();
        let mut line = format!(
            "boost of {}{by} at {} s: prio {} -> {} for {} ms ({}): ",
            b.task,
            self.clock(b.from_ns),
            b.from_prio,
            b.to_prio,
            ms(b.to_ns.saturating_sub(b.from_ns)),
            b.end
        );
        line += match b.verdict {
            "prio-only" => "prio boosted, share not",
            "share-follows" => "share follows",
            "rt-boost" => "boosted to RT",
            _ => "not enough contention to tell",
        };
        if let (Some(share), Some(stock), Some(reweighted)) =
            (b.share, b.share_if_stock, b.share_if_reweighted)
        {
            line += &format!(
                "; {} % of {} ms contended{}, own weight gives {} %, lent weight {} %",
                percent(share),
                ms(b.contended_ns),
                b.against
                    .as_ref()
                    .map(|rival| format!(" with {rival}"))
                    .unwrap_or_default(),
                percent(stock),
                percent(reweighted)
            );
        } else if let Some(share) = b.share {
            line += &format!("; {} % of the time", percent(share));
        }
        line
    }

    /// Writes one row per window and task.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_csv(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(
            out,
            "window,from_ns,to_ns,untraced_ns,task,cpu_ns,share,switches,max_wait_ns"
        )?;
        for w in &self.windows {
            for (name, t) in &w.tasks {
                writeln!(
                    out,
                    "{},{},{},{},{},{},{},{},{}",
                    cell(&w.name),
                    w.from_ns,
                    w.to_ns,
                    w.untraced_ns,
                    cell(name),
                    t.cpu_ns,
                    t.share,
                    t.switches,
                    t.max_wait_ns
                )?;
            }
        }
        Ok(())
    }

    /// Writes one row per boost.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_boosts_csv(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(
            out,
            "window,task,pid,by,class,from_prio,to_prio,own_prio,from_ns,to_ns,end,contended_ns,share,share_if_stock,share_if_reweighted,verdict"
        )?;
        let number = |share: Option<f64>| share.map(|s| s.to_string()).unwrap_or_default();
        for b in &self.boosts {
            writeln!(
                out,
                "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}",
                b.window.as_deref().unwrap_or(""),
                cell(&b.task),
                b.pid,
                cell(b.by.as_deref().unwrap_or("")),
                b.class,
                b.from_prio,
                b.to_prio,
                b.own_prio,
                b.from_ns,
                b.to_ns,
                b.end,
                b.contended_ns,
                number(b.share),
                number(b.share_if_stock),
                number(b.share_if_reweighted),
                b.verdict
            )?;
        }
        Ok(())
    }
}

/// Quoted where commas or quotes need it. A name that a spreadsheet would take for a formula gets
/// a leading apostrophe.
fn cell(text: &str) -> String {
    let formula = text.starts_with(['=', '+', '-', '@']);
    let text = if formula {
        format!("'{text}")
    } else {
        text.to_string()
    };
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text
    }
}
