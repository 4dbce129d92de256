//! `cargo deny`: what stands in deny.toml holds. Installs the tool into the cache when it is missing.

use std::process::Command;

use anyhow::Result;

use crate::command;
use crate::repository::Repository;

/// Pinned, so that a new release of the tool cannot fail an old commit.
const VERSION: &str = "0.20.2";

pub(super) fn check(repository: &Repository) -> Result<()> {
    let tools = repository.cache().join("tools");
    let deny = tools.join("bin/cargo-deny");
    if !deny.exists() {
        println!("cargo-deny is not there yet: installing it once into {} (some minutes)", tools.display());
        let mut install = repository.cargo();
        install.args(["install", "--locked", "--version", VERSION, "--root"]).arg(&tools).arg("cargo-deny");
        command::run(install.env("CARGO_TARGET_DIR", tools.join("target")))?;
    }
    command::run(Command::new(&deny).current_dir(repository.root()).args([
        "--offline",
        "check",
        "--hide-inclusion-graph",
        "licenses",
        "bans",
        "sources",
    ]))?;
    advisories(repository, Command::new(&deny))
}

/// Advisories come from a database on the network. Where it cannot be fetched, that is said, and is
/// no failure; where it can, an advisory is one.
fn advisories(repository: &Repository, mut deny: Command) -> Result<()> {
    deny.current_dir(repository.root());
    if let Err(reason) = command::output(deny.args(["fetch", "db"])) {
        let reason = reason.to_string();
        let line = reason.lines().last().unwrap_or_default();
        println!("advisories: NOT CHECKED, the database cannot be fetched here ({line})");
        return Ok(());
    }
    let mut check = Command::new(deny.get_program());
    command::run(check.current_dir(repository.root()).args(["check", "--hide-inclusion-graph", "advisories"]))
}
