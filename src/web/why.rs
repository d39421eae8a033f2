//! A decision and its reason as ids; the words live in the page's locales.

use crate::model::observer::{Cause, Rule};

/// The message id of the rule that made a pick.
pub(super) fn rule_id(rule: Rule) -> &'static str {
    match rule {
        Rule::Idle => "pick-idle",
        Rule::Class => "pick-class",
        Rule::FairServer => "pick-server",
        Rule::Only => "pick-only",
        Rule::Leftmost => "pick-leftmost",
        Rule::NextBuddy => "pick-next-buddy",
        Rule::LastBuddy => "pick-last-buddy",
        Rule::SkipBuddy => "pick-skip-buddy",
        Rule::Protected => "pick-protected",
        Rule::EarliestDeadline => "pick-deadline",
        Rule::CurrentDeadline => "pick-current-deadline",
    }
}

/// The id of the reason why a decision was due.
pub(super) fn cause_id(cause: Cause) -> &'static str {
    match cause {
        Cause::Start => "start",
        Cause::Sleep => "sleep",
        Cause::Exit => "exit",
        Cause::SliceEnd => "slice-end",
        Cause::LeftmostBehind => "leftmost-behind",
        Cause::NotEligible => "not-eligible",
        Cause::Wakeup => "wakeup",
        Cause::IdleWakeup => "idle-wakeup",
        Cause::PrioChanged => "prio-changed",
        Cause::Yield => "yield",
        Cause::Quantum => "quantum",
        Cause::Throttle => "throttle",
        Cause::FairServer => "fair-server",
        Cause::Proxy => "proxy",
    }
}
