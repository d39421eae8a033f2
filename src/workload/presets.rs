//! Scenarios that come with the lab: rt-app workloads like any other, each with a title, a
//! question and what to look at.

/// A scenario that comes with the lab.
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
}

/// The preset of that name.
pub fn named(name: &str) -> Option<&'static Preset> {
    ALL.iter().find(|preset| preset.name == name)
}
