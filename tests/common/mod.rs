//! What native and wasm tests share.

pub mod golden;
pub mod hashes;
pub mod random;
