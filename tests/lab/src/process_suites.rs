//! Suites of tests that try the real binary and leave figures: run as a check, or for as long as
//! wanted and then written to a page. Owns how such a suite is started; the tests stand in
//! `tests/cluster`.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use yearbook_prerequisites::{Prerequisite, REQUIRED};
use yearbook_xtask::checks::postgres::{self, Postgres};
use yearbook_xtask::checks::report::CheckCounts;
use yearbook_xtask::checks::suites;
use yearbook_xtask::repository::{Profile, Repository};
use yearbook_xtask::tools;

use crate::{machine, page};

/// Name of a test, and its figures.
pub(crate) type TestFigures = (String, Value);

/// A suite, and the page of its figures.
pub(crate) struct ProcessSuite {
    /// Name of the command.
    pub(crate) command: &'static str,
    /// The test binary in `tests`.
    pub(crate) binary: &'static str,
    /// Path of the page, from the top of the tree.
    pub(crate) page: &'static str,
    /// True if the suite needs PostgreSQL and nginx.
    pub(crate) is_fleet: bool,
    /// Seconds of each test's load in `cargo xtask test`.
    pub(crate) check_seconds: u32,
    /// Renders the page of a command, a machine and the figures of each test.
    pub(crate) render: fn(&str, &str, &[TestFigures]) -> Result<String>,
}

impl ProcessSuite {
    /// Runs the suite on a debug build for [`Self::check_seconds`]. The database is the one that
    /// the environment names, or one of its own.
    ///
    /// # Errors
    /// Fails when the product cannot be built or the suite cannot be started.
    pub(crate) fn check(&self, repository: &Repository) -> Result<CheckCounts> {
        let named = env::var_os(postgres::VARIABLE).is_some();
        let database = if self.is_fleet && !named { Some(start_postgres()?) } else { None };
        self.ensure_proxy()?;
        let binary = repository.build_product(Profile::Debug)?;
        self.run(repository, &binary, database.as_ref(), self.check_seconds, None)
    }

    /// Runs the suite with `seconds` of load for each test, and replaces the page.
    ///
    /// # Errors
    /// Fails when a program is missing, a test fails, or the page cannot be written.
    pub(crate) fn measure(&self, repository: &Repository, seconds: u32, debug: bool) -> Result<()> {
        self.ensure_proxy()?;
        let start = machine::MachineState::now(repository)?;
        repository.build_plugins()?;
        let binary =
            repository.build_product(if debug { Profile::Debug } else { Profile::Release })?;
        let database = if self.is_fleet { Some(start_postgres()?) } else { None };
        let figures = self.figures(repository, &binary, database.as_ref(), seconds)?;
        let debug = if debug { " --debug" } else { "" };
        let command = format!("cargo xtask {} --seconds {seconds}{debug}", self.command);
        let page = (self.render)(&command, &machine::line(&start), &figures)?;
        page::replace(&repository.root().join(self.page), &page)
    }

    fn ensure_proxy(&self) -> Result<()> {
        if self.is_fleet { tools::nginx() } else { Ok(()) }
    }

    /// Runs the suite, one test after the other. Each leaves a file of figures in `figures`.
    fn run(
        &self,
        repository: &Repository,
        binary: &Path,
        database: Option<&Postgres>,
        seconds: u32,
        figures: Option<&Path>,
    ) -> Result<CheckCounts> {
        let mut run = repository.cargo();
        run.args([
            "test",
            "--workspace",
            "--test",
            self.binary,
            "--",
            "--test-threads=1",
            "--nocapture",
        ]);
        run.env("YEARBOOK_TEST_BINARY", binary)
            .env(REQUIRED, Prerequisite::list(&Prerequisite::ALL))
            .env("YEARBOOK_TEST_SECONDS", seconds.to_string());
        if let Some(database) = database {
            run.env(postgres::VARIABLE, database.url())
                .env(postgres::TLS_VARIABLE, database.tls_url());
        }
        if let Some(figures) = figures {
            run.env("YEARBOOK_TEST_FIGURES", figures);
        }
        suites::count(&mut run)
    }

    /// Runs the suite, where every test has to pass, and returns the figures by name.
    fn figures(
        &self,
        repository: &Repository,
        binary: &Path,
        database: Option<&Postgres>,
        seconds: u32,
    ) -> Result<Vec<TestFigures>> {
        let folder = repository.target().join("xtask").join(self.binary);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let tally = self.run(repository, binary, database, seconds, Some(&folder))?;
        if tally.failed > 0 {
            bail!(
                "{} of {} tests failed; the page stays as it was",
                tally.failed,
                tally.failed + tally.passed
            );
        }
        read_figures(&folder)
    }
}

fn start_postgres() -> Result<Postgres> {
    Postgres::start(&tools::postgres()?)
}

/// Reads the figures that the tests left, by name.
fn read_figures(folder: &Path) -> Result<Vec<TestFigures>> {
    let entries =
        fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    let mut found = Vec::new();
    for path in paths {
        let text =
            fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        found.push((
            name,
            serde_json::from_str(&text)
                .with_context(|| format!("{} is not JSON", path.display()))?,
        ));
    }
    Ok(found)
}
