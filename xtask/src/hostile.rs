//! `cargo xtask hostile`: one client attacks a server in every way that the tests know while
//! another reads, for longer than the tests have time for, and the page that says what the other
//! noticed. The attacks are tests (`tests/cluster/hostile`); this runs them and writes
//! `docs/hostile-clients.md`.

mod page;

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use clap::Args;

use crate::bench::machine;
use crate::process_suites::ProcessSuite;
use crate::repository::{Profile, Repository};
use crate::test::report::CheckCounts;

/// Seconds that an attack lasts in `cargo xtask test`.
const TEST_SECONDS: u32 = 3;

/// What may be chosen.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct HostileArgs {
    /// Seconds that each attack lasts
    #[arg(long, default_value_t = 30)]
    seconds: u32,
    /// Use a debug build: minutes sooner, slower to answer
    #[arg(long)]
    debug: bool,
}

/// Runs every attack and replaces the page.
pub(crate) fn run(repository: &Repository, wanted: HostileArgs) -> Result<()> {
    let start = machine::MachineState::now(repository)?;
    repository.build_plugins()?;
    let binary =
        repository.build_product(if wanted.debug { Profile::Debug } else { Profile::Release })?;
    let figures = hostile_suite(&binary, wanted.seconds).figures(repository)?;
    let debug = if wanted.debug { " --debug" } else { "" };
    let command = format!("cargo xtask hostile --seconds {}{debug}", wanted.seconds);
    let path = repository.root().join("docs/hostile-clients.md");
    let page = page::render(&command, &machine::line(&start), &figures)?;
    fs::write(&path, page).with_context(|| format!("cannot write {}", path.display()))?;
    println!("wrote {}", path.display());
    Ok(())
}

/// The same in about a minute and a half, for `cargo xtask test`.
pub(crate) fn check(repository: &Repository) -> Result<CheckCounts> {
    hostile_suite(&repository.build_product(Profile::Debug)?, TEST_SECONDS).run(repository, None)
}

fn hostile_suite(binary: &Path, seconds: u32) -> ProcessSuite<'_> {
    ProcessSuite { suite: "hostile", binary, database: None, seconds }
}
