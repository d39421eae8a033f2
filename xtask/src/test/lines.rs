//! The cargo commands of all steps, in one place.

/// `format`
pub const FORMAT: &[&str] = &["fmt", "--all", "--check"];

/// `clippy`: natively, in two calls, since the twin's feature changes the library.
pub const CLIPPY: [&[&str]; 2] = [
    &["clippy", "--workspace", "--all-targets"],
    &[
        "clippy",
        "--package",
        "reweight-lab",
        "--features",
        "oracle",
        "--lib",
        "--test",
        "random",
    ],
];

/// After the dashes of every clippy.
pub const DENY: &[&str] = &["--", "-D", "warnings"];

/// `native`
pub const NATIVE: Tests = Tests {
    line: &["test", "--package", "reweight-lab"],
    harness: &[],
};

/// `oracle`
pub const ORACLE: Tests = Tests {
    line: &[
        "test",
        "--package",
        "reweight-lab",
        "--features",
        "oracle",
        "--test",
        "random",
    ],
    harness: &["--nocapture"],
};

/// `tool`
pub const TOOL: Tests = Tests {
    line: &["test", "--package", "xtask"],
    harness: &[],
};

/// The reference, within `native`; RUSTDOCFLAGS make a warning an error.
pub const REFERENCE: &[&str] = &["doc", "--no-deps", "--package", "reweight-lab"];

/// The package, within `native`. What is tested is what lies here, committed or not.
pub const PACKAGE: &[&str] = &["package", "--package", "reweight-lab", "--allow-dirty"];

/// The command line that page tests compare with: the one that `native` has built.
pub const COMMAND_LINE: &[&str] = &[
    "build",
    "--package",
    "reweight-lab",
    "--bin",
    "reweight-lab",
];

/// A `cargo test`.
#[derive(Clone, Copy, Debug)]
pub struct Tests {
    /// What cargo is told.
    pub line: &'static [&'static str],
    /// What the tests' harness is told.
    pub harness: &'static [&'static str],
}
