//! Commands that measure: each runs the program of `tests/lab`, a crate that builds on this one.
//! Owns how that program is started; measures nothing.

use std::env;
use std::ffi::OsString;
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result};

use crate::checks::postgres::{self, Postgres};
use crate::checks::report::CheckCounts;
use crate::checks::suites;
use crate::repository::{Repository, XTASK};

/// Runs `lab NAME ARGUMENTS` with this process's output and returns its exit code.
pub(crate) fn run(repository: &Repository, name: &str, arguments: &[OsString]) -> Result<ExitCode> {
    let status = lab(repository, name)?
        .args(arguments)
        .status()
        .with_context(|| format!("cannot run `{name}` of tests/lab"))?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

/// Runs the short form of `lab NAME`, with `postgres` where the check needs a database, and returns
/// the counts that it prints on its last line.
pub(crate) fn check(
    repository: &Repository,
    name: &str,
    postgres: Option<&Postgres>,
) -> Result<CheckCounts> {
    let mut run = lab(repository, name)?;
    run.arg("--check");
    if let Some(postgres) = postgres {
        run.env(postgres::VARIABLE, postgres.url()).env(postgres::TLS_VARIABLE, postgres.tls_url());
    }
    suites::count_total(&mut run, name)
}

fn lab(repository: &Repository, name: &str) -> Result<Command> {
    let mut run = repository.cargo();
    run.args(["run", "--quiet", "--package", "yearbook-lab", "--", name]);
    // The lab builds the product, whose build script calls this program for the plugins.
    run.env(XTASK, env::current_exe().context("this program cannot be found")?);
    Ok(run)
}
