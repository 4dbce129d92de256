//! Suites of tests that try the real binary and leave figures of what they saw: run for as long as
//! wanted, and their figures read for a page. Owns how such a suite is started.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use yearbook_prerequisites::{Prerequisite, REQUIRED};

use crate::repository::Repository;
use crate::test::postgres::{self, Postgres};
use crate::test::report::CheckCounts;
use crate::test::suites;

/// What is tried, and on what.
#[derive(Clone, Copy)]
pub(crate) struct ProcessSuite<'a> {
    /// The test binary in `tests`.
    pub(crate) suite: &'static str,
    pub(crate) binary: &'a Path,
    /// For suites that need a database server.
    pub(crate) database: Option<&'a Postgres>,
    /// How long each test's load lasts.
    pub(crate) seconds: u32,
}

impl ProcessSuite<'_> {
    /// Runs the suite, one test after the other. Each leaves a file of figures in `figures`.
    pub(crate) fn run(
        &self,
        repository: &Repository,
        figures: Option<&Path>,
    ) -> Result<CheckCounts> {
        let mut run = repository.cargo();
        run.args([
            "test",
            "--workspace",
            "--test",
            self.suite,
            "--",
            "--test-threads=1",
            "--nocapture",
        ]);
        run.env("YEARBOOK_TEST_BINARY", self.binary)
            .env(REQUIRED, Prerequisite::list(&Prerequisite::ALL))
            .env("YEARBOOK_TEST_SECONDS", self.seconds.to_string());
        if let Some(database) = self.database {
            run.env(postgres::VARIABLE, database.url())
                .env(postgres::TLS_VARIABLE, database.tls_url());
        }
        if let Some(figures) = figures {
            run.env("YEARBOOK_TEST_FIGURES", figures);
        }
        suites::count(&mut run)
    }

    /// The same, where every test has to pass; the figures by name.
    pub(crate) fn figures(&self, repository: &Repository) -> Result<Vec<(String, Value)>> {
        let folder = repository.target().join("xtask").join(self.suite);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let tally = self.run(repository, Some(&folder))?;
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

/// What the tests left, by name.
fn read_figures(folder: &Path) -> Result<Vec<(String, Value)>> {
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
