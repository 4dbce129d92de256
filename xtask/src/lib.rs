//! Automation of the repository: what `cargo xtask` does, and what the programs that measure
//! (`tests/lab`) share with it. Never linked into the product.

use std::process::ExitCode;

pub mod checks;
pub mod command;
mod command_line;
pub mod demo;
mod fuzz;
mod lab;
pub mod packages;
mod plugins;
mod release;
pub mod repository;
pub mod server;
mod spec;
mod test;
mod tidy;
mod toolchain;
pub mod tools;

pub use spec::pages::{CHANGED, DRAFT};

/// Runs the command that this process's arguments name.
#[must_use]
pub fn main() -> ExitCode {
    command_line::run()
}
