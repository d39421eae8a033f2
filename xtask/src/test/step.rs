//! The checks there are, by name.

/// One check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// `cargo fmt --check`
    Format,
    /// clippy, natively and for wasm
    Clippy,
    /// unit, integration and documentation tests
    Native,
    /// random programs under the invariants, with the naive twin beside the model
    Oracle,
    /// the tests of these chores
    Tool,
    /// dist/
    Build,
    /// types, lint rules and format of the page's scripts
    Scripts,
    /// wasm-bindgen tests in a headless browser
    Wasm,
    /// page tests against dist/
    Page,
    /// the packed artefact in other people's engines
    Packages,
}

/// In the order of running: what is quick and fails often comes first.
pub const ALL: &[Step] = &[
    Step::Format,
    Step::Clippy,
    Step::Native,
    Step::Oracle,
    Step::Tool,
    Step::Build,
    Step::Scripts,
    Step::Wasm,
    Step::Page,
    Step::Packages,
];

impl Step {
    /// As it is asked for.
    pub fn name(self) -> &'static str {
        match self {
            Self::Format => "format",
            Self::Clippy => "clippy",
            Self::Native => "native",
            Self::Oracle => "oracle",
            Self::Tool => "tool",
            Self::Build => "build",
            Self::Scripts => "scripts",
            Self::Wasm => "wasm",
            Self::Page => "page",
            Self::Packages => "packages",
        }
    }

    /// What it shows.
    pub fn told(self) -> &'static str {
        match self {
            Self::Format => "cargo fmt --check",
            Self::Clippy => "clippy without a warning, natively and for wasm",
            Self::Native => {
                "the library's and the command line's tests, its reference and its package"
            }
            Self::Oracle => "random programs under the invariants, the naive twin beside the model",
            Self::Tool => "the tests of these chores",
            Self::Build => "dist/ can be made",
            Self::Scripts => "types and lint rules of the page's scripts",
            Self::Wasm => "wasm-bindgen tests in a headless browser",
            Self::Page => "page tests in a headless browser, on dist/ as built",
            Self::Packages => {
                "the recipes of docs/embedding.md, from the packed artefact with the real engines"
            }
        }
    }

    /// Page tests and recipes look at dist/; the scripts' types include those of the module made there.
    pub fn needs_build(self) -> bool {
        matches!(self, Self::Scripts | Self::Page | Self::Packages)
    }

    /// Whether it can run beside `native`: it is compiled in another folder, or waits for its turn.
    pub fn goes_beside(self) -> bool {
        matches!(
            self,
            Self::Clippy | Self::Build | Self::Scripts | Self::Wasm
        )
    }

    /// Whether it consists of tests with names, which can be chosen and run again.
    pub fn has_tests(self) -> bool {
        matches!(
            self,
            Self::Native | Self::Oracle | Self::Tool | Self::Wasm | Self::Page | Self::Packages
        )
    }

    /// Whether its tests are named by sentences, not by paths of functions.
    pub fn has_titles(self) -> bool {
        matches!(self, Self::Page | Self::Packages)
    }
}
