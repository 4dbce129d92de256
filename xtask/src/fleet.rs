//! `cargo xtask fleet`: a fleet under load while something goes wrong, for longer than the tests
//! have time for, and the page that says what became of it. The faults themselves are tests
//! (`tests/cluster/reliability`); this starts what they need and writes `docs/reliability.md`.

mod page;

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use clap::Args;

use crate::bench::machine;
use crate::process_suites::ProcessSuite;
use crate::repository::{Profile, Repository};
use crate::test::postgres::Postgres;
use crate::test::report::CheckCounts;
use crate::test::tools;

/// Seconds that a fault lasts in `cargo xtask test`: nine of them in about a minute.
const TEST_SECONDS: u32 = 4;

/// What may be chosen.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct FleetArgs {
    /// Seconds that each fault lasts
    #[arg(long, default_value_t = 20)]
    seconds: u32,
    /// Use a debug build: minutes sooner, slower to answer
    #[arg(long)]
    debug: bool,
}

/// Runs every fault and replaces the page.
pub(crate) fn run(repository: &Repository, wanted: FleetArgs) -> Result<()> {
    let programs = tools::postgres()?;
    tools::nginx()?;
    let start = machine::MachineState::now(repository)?;
    repository.build_plugins()?;
    let binary =
        repository.build_product(if wanted.debug { Profile::Debug } else { Profile::Release })?;
    let server = Postgres::start(&programs)?;
    let figures = fleet_suite(&binary, &server, wanted.seconds).figures(repository)?;
    let debug = if wanted.debug { " --debug" } else { "" };
    let command = format!("cargo xtask fleet --seconds {}{debug}", wanted.seconds);
    let machine = machine::line(&start);
    let page = repository.root().join("docs/reliability.md");
    fs::write(&page, page::render(&command, &machine, &figures)?)
        .with_context(|| format!("cannot write {}", page.display()))?;
    println!("wrote {}", page.display());
    Ok(())
}

/// The same in about a minute, for `cargo xtask test`.
pub(crate) fn check(repository: &Repository, server: &Postgres) -> Result<CheckCounts> {
    tools::nginx()?;
    fleet_suite(&repository.build_product(Profile::Debug)?, server, TEST_SECONDS)
        .run(repository, None)
}

fn fleet_suite<'a>(binary: &'a Path, server: &'a Postgres, seconds: u32) -> ProcessSuite<'a> {
    ProcessSuite { suite: "reliability", binary, database: Some(server), seconds }
}
