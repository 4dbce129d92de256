//! The parts of the Rust toolchain that automation needs beyond the compiler: rustup does not fetch
//! what `rust-toolchain.toml` names where its automatic installation is off, nor for a toolchain
//! that is there already. Owns how they are installed.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, ensure};

use crate::command;
use crate::repository::Repository;

/// Target for which guests are compiled.
pub(crate) const GUEST_TARGET: &str = "wasm32-unknown-unknown";

/// Components, and a program of each.
const COMPONENTS: [(&str, &str); 2] = [("rustfmt", "bin/rustfmt"), ("clippy", "bin/cargo-clippy")];

/// Folder of the toolchain that builds the tree at `root`.
///
/// # Errors
/// Fails when there is no rustc.
pub(crate) fn sysroot(root: &Path) -> Result<PathBuf> {
    Ok(command::output(Command::new("rustc").current_dir(root).args(["--print", "sysroot"]))?
        .trim()
        .into())
}

/// Makes sure that guests can be compiled.
///
/// # Errors
/// Fails when the target is missing and rustup cannot install it; the message says what to run.
pub(crate) fn ensure_target(root: &Path) -> Result<()> {
    let library = sysroot(root)?.join("lib/rustlib").join(GUEST_TARGET).join("lib");
    ensure(root, &["target", "add", GUEST_TARGET], || library.is_dir())
}

/// Makes sure that guests can be compiled and that the code can be formatted and linted.
///
/// # Errors
/// Fails when a part is missing and rustup cannot install it; the message says what to run.
pub(crate) fn ensure_all(repository: &Repository) -> Result<()> {
    let root = repository.root();
    ensure_target(root)?;
    let sysroot = sysroot(root)?;
    for (component, program) in COMPONENTS {
        ensure(root, &["component", "add", component], || sysroot.join(program).exists())?;
    }
    Ok(())
}

/// Runs rustup with `arguments` unless what they install is `there` already.
fn ensure(root: &Path, arguments: &[&str], there: impl Fn() -> bool) -> Result<()> {
    if there() {
        return Ok(());
    }
    let advice =
        format!("run `rustup {}` in {} and try again", arguments.join(" "), root.display());
    println!("The toolchain lacks {}: installing it.", arguments[arguments.len() - 1]);
    let installed = command::run(Command::new("rustup").current_dir(root).args(arguments));
    ensure!(
        installed.is_ok() && there(),
        "the toolchain lacks {}; {advice}",
        arguments[arguments.len() - 1]
    );
    Ok(())
}
