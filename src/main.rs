//! The command line of Reweight Lab: everything it does is in `reweight_lab::cli`.

#[cfg(not(target_arch = "wasm32"))]
fn main() -> std::process::ExitCode {
    reweight_lab::cli::main()
}

#[cfg(target_arch = "wasm32")]
fn main() {}
