//! Programs that only Debian's archive has, for checks that use them. One that is missing and
//! cannot be installed is a failure of the step that needs it.

use std::path::PathBuf;

use anyhow::{Context as _, Result};

use super::postgres;
use crate::{command, debian};

/// R, with what the examples in the guide and the checks of readers need.
pub(super) fn r() -> Result<()> {
    let load = ["-e", "library(httr2); library(jsonlite)"];
    require(
        "R as a reader and in examples",
        &["r-base-core", "r-cran-httr2", "r-cran-jsonlite"],
        "Rscript",
        &load,
    )
}

/// A browser, and a font for what it shows.
pub(super) fn chromium() -> Result<()> {
    require("/docs in a browser", &["chromium", "fonts-dejavu-core"], "chromium", &["--version"])
}

/// nginx.
pub(crate) fn nginx() -> Result<()> {
    require("a fleet behind a proxy", &["nginx-light"], "nginx", &["-v"])
}

/// Node, with npm for its packages; `what` needs them.
pub(super) fn node(what: &str) -> Result<()> {
    require(what, &["nodejs", "npm"], "npm", &["--version"])
}

/// systemd's judgement of a unit.
pub(super) fn systemd() -> Result<()> {
    require("what systemd says of the unit", &["systemd"], "systemd-analyze", &["--version"])
}

/// Where PostgreSQL's programs are, if need be after installing them.
pub(crate) fn postgres() -> Result<PathBuf> {
    debian::ensure("the catalogue in PostgreSQL", &["postgresql"], || {
        postgres::find_programs().is_some()
    })?;
    postgres::find_programs().context("PostgreSQL's programs are not where Debian puts them")
}

/// What a run with `--quick` leaves out, with PostgreSQL where it is not installed; where its
/// programs are, if they are.
pub(super) fn installed_postgres() -> Option<PathBuf> {
    println!(
        "NOT CHECKED with --quick: lints, dependencies, a fleet behind nginx, examples, instructions, a soak, and other programs as clients"
    );
    let programs = postgres::find_programs();
    if programs.is_none() {
        println!(
            "NOT CHECKED: the catalogue in PostgreSQL, which is not here; a run without --quick installs it"
        );
    }
    programs
}

/// Succeeds where `program` does with `arguments`, if need be after installing `packages`.
fn require(what: &str, packages: &[&str], program: &str, arguments: &[&str]) -> Result<()> {
    debian::ensure(what, packages, || command::exists(program, arguments))
}
