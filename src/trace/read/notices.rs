//! What a reader should know before trusting the numbers, a sentence each.

use super::analysis::Analysis;
use super::report::TraceReport;
use super::tally::Tally;

/// Gaps told one by one.
const TOLD: usize = 3;

fn seconds(ns: u64) -> String {
    format!("{}.{:06}", ns / 1_000_000_000, ns % 1_000_000_000 / 1000)
}

pub(super) fn of(report: &TraceReport, seen: &Analysis, tally: &Tally) -> Vec<String> {
    let mut out = Vec::new();
    let clock = |ns: u64| seconds(report.start_ns + ns);
    if tally.unread > 0 {
        let lines: Vec<String> = report
            .reading
            .unread_lines
            .iter()
            .map(|l| l.line.to_string())
            .collect();
        let more = if tally.unread > lines.len() as u64 {
            ", ..."
        } else {
            ""
        };
        out.push(format!(
            "{} lines could not be read: {}{more}",
            tally.unread,
            lines.join(", ")
        ));
    }
    if tally.unfinished {
        out.push("the last line has no end and was left out".into());
    }
    if let Some(e) = &tally.broken_gzip {
        out.push(format!(
            "the gzip data are cut off or damaged ({e}); what came before was read"
        ));
    }
    if tally.overwritten > 0 {
        out.push(format!(
            "{} older events were overwritten in the ring before the first line",
            tally.overwritten
        ));
    }
    if tally.loss_remarks > 0 {
        let number = if tally.lost_events > 0 {
            format!("{} events", tally.lost_events)
        } else {
            "events".into()
        };
        out.push(format!(
            "{number} were lost while recording; the time around them is charged to nobody"
        ));
    }
    let contradictions: u64 = report.cpus.iter().map(|c| c.contradictions).sum();
    if contradictions > 0 {
        out.push(format!("{contradictions} lines contradict the line before them on their CPU: events are missing or were filtered out; the time between is charged to nobody"));
    }
    for gap in report.reading.gaps.iter().take(TOLD) {
        out.push(format!(
            "nothing was recorded from {} to {} s; that time is charged to nobody",
            clock(gap.from_ns),
            clock(gap.to_ns)
        ));
    }
    if tally.gap_count > TOLD as u64 {
        out.push(format!(
            "{} further stretches were not recorded",
            tally.gap_count - TOLD as u64
        ));
    }
    if tally.back_small > 0 {
        out.push(format!(
            "time went back by up to 10 ms {} times; such lines are read as of the time before",
            tally.back_small
        ));
    }
    if tally.back_large > 0 {
        out.push(format!(
            "the clock was set back {} times (at most {} s); what follows is read as a new stretch",
            tally.back_large,
            seconds(tally.back_most.0)
        ));
    }
    if tally.raw_clock {
        out.push("some times have no fraction (trace_clock counter, x86-tsc): they are read as ns and may be anything".into());
    }
    if seen.switches == 0 {
        out.push("no sched_switch was recorded: nobody's CPU time is known".into());
    }
    if seen.wakes == 0 {
        out.push(
            "no sched_wakeup was recorded: waits after a sleep and wakeup latencies are not known"
                .into(),
        );
    } else if seen.missed_wakes > 0 {
        out.push(format!(
            "{} tasks ran again without a recorded wakeup",
            seen.missed_wakes
        ));
    }
    if seen.boosts.begun == 0 {
        out.push("no boost: sched_pi_setprio did not occur or was not recorded".into());
    }
    if seen.boosts.unlisted > 0 {
        out.push(format!(
            "{} boosts are not listed: more than {} in all or 64 at a time",
            seen.boosts.unlisted,
            super::MAX_BOOSTS
        ));
    }
    if seen.tasks.untracked > 0 {
        out.push(format!(
            "more than {} tasks at a time: {} lines about further ones were left out",
            super::MAX_TASKS,
            seen.tasks.untracked
        ));
    }
    if seen.tasks.ended.count > 0 {
        out.push(format!(
            "{} tasks that ended are summed up as (ended)",
            seen.tasks.ended.count
        ));
    }
    if seen.marks_left_out > 0 {
        out.push(format!(
            "{} markers beyond the first {} were left out",
            seen.marks_left_out,
            super::MAX_MARKS
        ));
    }
    if seen.timeline.left_out > 0 {
        out.push(format!(
            "{} spans beyond the timeline's limit were left out",
            seen.timeline.left_out
        ));
    }
    out
}
