//! The command line of Reweight Lab.
fn main() {}
