//! The project itself: its rules, and its documents and pictures held against the model.
#![cfg(not(target_arch = "wasm32"))]

mod figure;
mod model_document;
mod patch_review;
mod public_api;
mod tidy;
