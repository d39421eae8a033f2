//! Scenarios that come with the lab: rt-app workloads like any other, each with a title, a
//! question and what to look at.

/// A scenario that comes with the lab.
///
/// ```
/// use reweight_lab::workload::{Workload, presets};
/// let preset = presets::named("patch-test").ok_or("no such preset")?;
/// let workload = Workload::parse(preset.text, "patch-test.json")?;
/// assert!(workload.task("low").is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset {
    /// Its name: short, in lower case, with hyphens.
    pub name: &'static str,
    /// The workload, as a file would hold it.
    pub text: &'static str,
}

macro_rules! presets {
    ($($name:literal),* $(,)?) => {
        /// All presets, in the order in which they tell the story.
        pub const ALL: &[Preset] = &[$(Preset {
            name: $name,
            text: include_str!(concat!("presets/", $name, ".json")),
        }),*];
    };
}

presets! {
    "patch-test",
    "patch-test-spin",
    "pi-test",
    "weights-alone",
    "plain-mutex",
    "relock",
    "waiter-m10",
    "waiter-5",
    "waiter-19",
    "two-waiters-weak-first",
    "two-waiters-strong-first",
    "chain-mid-first",
    "chain-high-first",
    "nested-locks-inner-first",
    "nested-locks-outer-first",
    "renice-boosted",
    "setattr-boosted",
    "idle-boosted",
    "waiter-reniced",
    "timeout",
    "chain-timeout",
    "rt-waiter",
    "leak",
    "boost-lost",
    "boost-kept",
    "boost-stale",
    "fork-boosted",
    "idle-holder",
    "batch-holder",
    "stale-deadline",
    "hand-over",
    "many-bg",
    "sleepers",
    "strongest-first",
    "starved-weak",
    "idle-waiter",
    "proxy-exec",
}

/// The preset of that name.
pub fn named(name: &str) -> Option<&'static Preset> {
    ALL.iter().find(|preset| preset.name == name)
}
