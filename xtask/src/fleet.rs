//! `cargo xtask fleet`: a fleet under load while something goes wrong, for longer than the tests have time for, and the page that says what
//! became of it. The faults themselves are tests (`tests/tests/reliability`); this starts what they need and writes `docs/reliability.md`.

mod page;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use clap::Args;
use serde_json::Value;
use yearbook_prerequisites::{Prerequisite, REQUIRED};

use crate::bench::machine;
use crate::repository::{Profile, Repository};
use crate::test::postgres::{self, Postgres};
use crate::test::report::Tally;
use crate::test::{suites, tools};

/// Seconds that a fault lasts in `cargo xtask test`: nine of them in about a minute.
const SHORT: u32 = 4;

/// What may be chosen.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Wanted {
    /// Seconds that each fault lasts
    #[arg(long, default_value_t = 20)]
    seconds: u32,
    /// Use a debug build: minutes sooner, slower to answer
    #[arg(long)]
    debug: bool,
}

/// Runs every fault and replaces the page.
pub(crate) fn run(repository: &Repository, wanted: Wanted) -> Result<()> {
    let programs = tools::postgres()?;
    tools::nginx()?;
    let start = machine::Start::now(repository)?;
    repository.build_plugins()?;
    let binary = repository.build_product(if wanted.debug { Profile::Debug } else { Profile::Release })?;
    let server = Postgres::start(&programs)?;
    let figures = repository.target().join("xtask/reliability");
    let _ = fs::remove_dir_all(&figures);
    fs::create_dir_all(&figures).with_context(|| format!("cannot make {}", figures.display()))?;
    let tally = faults(repository, &binary, &server, wanted.seconds, Some(&figures))?;
    if tally.failed > 0 {
        bail!("{} of {} faults broke what is promised; the page stays as it was", tally.failed, tally.failed + tally.passed);
    }
    let debug = if wanted.debug { " --debug" } else { "" };
    let command = format!("cargo xtask fleet --seconds {}{debug}", wanted.seconds);
    let machine = machine::line(&start);
    let page = repository.root().join("docs/reliability.md");
    fs::write(&page, page::render(&command, &machine, &read(&figures)?)?).with_context(|| format!("cannot write {}", page.display()))?;
    println!("wrote {}", page.display());
    Ok(())
}

/// The same in about a minute, for `cargo xtask test`.
pub(crate) fn check(repository: &Repository, server: &Postgres) -> Result<Tally> {
    tools::nginx()?;
    faults(repository, &repository.build_product(Profile::Debug)?, server, SHORT, None)
}

fn faults(repository: &Repository, binary: &Path, server: &Postgres, seconds: u32, figures: Option<&Path>) -> Result<Tally> {
    let mut run = repository.cargo();
    run.args(["test", "--workspace", "--test", "reliability", "--", "--test-threads=1", "--nocapture"]);
    run.env(postgres::VARIABLE, server.url())
        .env(postgres::BY_TLS, server.by_tls())
        .env("YEARBOOK_TEST_BINARY", binary)
        .env(REQUIRED, Prerequisite::list(&Prerequisite::ALL))
        .env("YEARBOOK_TEST_SECONDS", seconds.to_string());
    if let Some(figures) = figures {
        run.env("YEARBOOK_TEST_FIGURES", figures);
    }
    suites::count(&mut run)
}

/// What the tests left, by name.
fn read(folder: &Path) -> Result<Vec<(String, Value)>> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    let mut found = Vec::new();
    for path in paths {
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        found.push((name, serde_json::from_str(&text).with_context(|| format!("{} is not JSON", path.display()))?));
    }
    Ok(found)
}
