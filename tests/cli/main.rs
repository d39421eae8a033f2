//! The command line, run as a program of its own.
#![cfg(not(target_arch = "wasm32"))]

mod command;
mod schema;

mod commands;
#[cfg(target_os = "linux")]
mod record;
#[cfg(target_os = "linux")]
mod rtapp;
mod trace;
