//! Suites of tests that try the real binary and leave figures: `cargo xtask fleet`, a fleet under
//! load while something goes wrong, and `cargo xtask hostile`, one client that attacks while
//! another reads. Each runs as a check, or for as long as wanted and then becomes a page. Owns how
//! a suite is started; the tests stand in `tests/cluster`.

use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::{Context as _, Result, ensure};
use askama::Template;
use clap::Args;
use serde_json::Value;
use yearbook_prerequisites::{Prerequisite, REQUIRED};
use yearbook_xtask::checks::postgres::{self, Postgres};
use yearbook_xtask::checks::report::CheckCounts;
use yearbook_xtask::checks::suites;
use yearbook_xtask::repository::{Profile, Repository};
use yearbook_xtask::tools;

use crate::measurements::{Measurement, Measurements};
use crate::page::{self, PageHead};
use crate::{machine, product};

/// A suite, and the page of its figures.
pub(crate) struct ProcessSuite {
    /// Name of the command.
    command: &'static str,
    /// The test binary in `tests`.
    binary: &'static str,
    /// Path of the page, from the top of the tree.
    page: &'static str,
    /// True if the suite needs PostgreSQL and nginx.
    is_fleet: bool,
    /// Seconds of each test's load in `cargo xtask test`.
    check_seconds: u32,
    /// Seconds of each for the page, unless others are asked for.
    page_seconds: u32,
    /// Writes the page.
    replace: fn(&Path, PageHead<'_>) -> Result<()>,
}

/// Faults of a fleet. In `cargo xtask test` they last about a minute.
pub(crate) const FLEET: ProcessSuite = ProcessSuite {
    command: "fleet",
    binary: "reliability",
    page: "docs/reliability.md",
    is_fleet: true,
    check_seconds: 4,
    page_seconds: 20,
    replace: |path, page| page::replace(path, &ReliabilityPage { page }),
};

/// Attacks of a client. In `cargo xtask test` they take about a minute and a half.
pub(crate) const HOSTILE: ProcessSuite = ProcessSuite {
    command: "hostile",
    binary: "hostile",
    page: "docs/hostile-clients.md",
    is_fleet: false,
    check_seconds: 2,
    page_seconds: 30,
    replace: |path, page| page::replace(path, &HostilePage { page }),
};

/// Arguments of a suite.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct SuiteArgs {
    /// Seconds that each fault or attack lasts
    #[arg(long)]
    seconds: Option<u32>,
    /// Use a debug build: minutes sooner, slower to answer
    #[arg(long)]
    debug: bool,
    /// Run the short form that `cargo xtask test` runs, and write no page
    #[arg(long, hide = true)]
    pub(crate) check: bool,
}

#[derive(Template)]
#[template(path = "reliability.txt")]
struct ReliabilityPage<'a> {
    page: PageHead<'a>,
}

#[derive(Template)]
#[template(path = "hostile-clients.txt")]
struct HostilePage<'a> {
    page: PageHead<'a>,
}

/// Figures that the test `name` left.
///
/// # Errors
/// Fails where it did not run: that is no row of dashes.
pub(crate) fn figures(page: &PageHead<'_>, name: &str) -> askama::Result<Measurement> {
    let found = page.figures.get("", name, "").cloned();
    found.ok_or_else(|| askama::Error::custom(format!("no figures of {name}; did its test run?")))
}

/// A whole number with its unit, or a dash.
pub(crate) fn whole(figures: &Measurement, name: &str, unit: &str) -> String {
    figures.values.get(name).map_or("–".to_owned(), |value| format!("{value}{unit}"))
}

/// A number to reckon with.
pub(crate) fn value(figures: &Measurement, name: &str) -> f64 {
    figures.values.get(name).copied().unwrap_or(f64::NAN)
}

impl ProcessSuite {
    /// Runs the suite on a debug build for [`Self::check_seconds`]. The database is the one that
    /// the environment names, or one of its own.
    ///
    /// # Errors
    /// Fails when the product cannot be built or the suite cannot be started.
    pub(crate) fn check(&self, repository: &Repository) -> Result<CheckCounts> {
        let named = env::var_os(postgres::VARIABLE).is_some();
        let database = if named { None } else { self.start_database()? };
        self.ensure_proxy()?;
        let binary = repository.build_product(Profile::Debug)?;
        self.run(repository, &binary, database.as_ref(), self.check_seconds, None)
    }

    /// Runs the suite, where every test has to pass, and replaces the page.
    ///
    /// # Errors
    /// Fails when a program is missing, a test fails, or the page cannot be written.
    pub(crate) fn measure(&self, repository: &Repository, args: SuiteArgs) -> Result<()> {
        self.ensure_proxy()?;
        let machine = machine::describe(repository)?;
        repository.build_plugins()?;
        let profile = if args.debug { Profile::Debug } else { Profile::Release };
        let binary = repository.build_product(profile)?;
        let database = self.start_database()?;
        let folder = repository.target().join("xtask").join(self.binary);
        product::empty(&folder)?;
        let seconds = args.seconds.unwrap_or(self.page_seconds);
        let CheckCounts { passed, failed } =
            self.run(repository, &binary, database.as_ref(), seconds, Some(&folder))?;
        ensure!(
            failed == 0,
            "{failed} of {} tests failed; the page stays as it was",
            failed + passed
        );
        let debug = if args.debug { " --debug" } else { "" };
        let page = PageHead {
            command: &format!("cargo xtask {} --seconds {seconds}{debug}", self.command),
            machine: &machine,
            figures: &read_figures(&folder)?,
        };
        (self.replace)(&repository.root().join(self.page), page)
    }

    fn ensure_proxy(&self) -> Result<()> {
        if self.is_fleet { tools::nginx() } else { Ok(()) }
    }

    fn start_database(&self) -> Result<Option<Postgres>> {
        self.is_fleet.then(|| Postgres::start(&tools::postgres()?)).transpose()
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
        run.args(["test", "--workspace", "--test", self.binary]);
        run.args(["--", "--test-threads=1", "--nocapture"]);
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
}

/// Reads the figures that the tests left: a file each, whose name is the case.
fn read_figures(folder: &Path) -> Result<Measurements> {
    let failed = || format!("cannot read {}", folder.display());
    let entries = fs::read_dir(folder).with_context(failed)?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    let mut figures = Measurements::default();
    for path in paths {
        let text = fs::read_to_string(&path).with_context(failed)?;
        let left: Value = serde_json::from_str(&text)
            .with_context(|| format!("{} is not JSON", path.display()))?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        figures.push(measurement(&name, &left));
    }
    Ok(figures)
}

/// The figures of the test `name`; what it has `more` to say becomes a note.
fn measurement(name: &str, left: &Value) -> Measurement {
    let numbers = left.as_object().into_iter().flatten();
    let values = numbers.filter_map(|(name, value)| Some((name.clone(), value.as_f64()?)));
    let text = |pair: &Value, index: usize| pair[index].as_str().unwrap_or_default().to_owned();
    let more = left["more"].as_array().into_iter().flatten();
    let more: Vec<String> =
        more.map(|pair| format!("{} {}", text(pair, 0), text(pair, 1))).collect();
    Measurement {
        case: name.to_owned(),
        values: values.collect(),
        note: (!more.is_empty()).then(|| more.join("; ")),
        ..Measurement::default()
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use serde_json::json;

    use super::*;

    /// Figures of every test that a template names.
    fn all(template: &str, left: &Value) -> Measurements {
        let mut figures = Measurements::default();
        for line in template.lines().filter_map(|line| line.strip_prefix("  (\"")) {
            let (name, _) = line.split_once('"').unwrap();
            figures.push(measurement(name, left));
        }
        figures
    }

    fn head(figures: &Measurements) -> PageHead<'_> {
        PageHead { command: "cargo xtask", machine: "Machine: none.", figures }
    }

    #[test]
    fn every_fault_has_its_row_and_none_is_left_out() {
        let left =
            json!({"requests": 7, "right": 7, "recovery_ms": null, "more": [["kills", "3"]]});
        let figures = all(include_str!("../templates/reliability.txt"), &left);
        let page = page::render(&ReliabilityPage { page: head(&figures) }).unwrap();
        assert!(page.starts_with("# Reliability\nMade by `cargo xtask`"), "{page}");
        assert_eq!(page.matches(" | 7 | 7 | – |").count(), 10, "{page}");
        let fault = "the store answers 503";
        assert_eq!(page.matches(&format!("\n| {fault} | 7 | 7 | – |")).count(), 1, "{page}");
        assert!(page.contains(&format!("\n- {fault}: kills 3\n")), "{page}");
        let none = Measurements::default();
        assert!(page::render(&ReliabilityPage { page: head(&none) }).is_err());
    }

    #[test]
    fn every_attack_has_its_row_and_none_is_left_out() {
        let left = json!({"tries": 7, "requests": 8, "failed": 0, "p99_us": 3000, "quiet_p99_us":
            2000});
        let mut figures = all(include_str!("../templates/hostile-clients.txt"), &left);
        assert!(page::render(&HostilePage { page: head(&figures) }).is_err());
        let times =
            json!({"requests": 9, "known_us": 500.4, "unknown_us": 501.0, "welch_t": -0.31});
        figures.push(measurement("sign_up_times", &times));
        let page = page::render(&HostilePage { page: head(&figures) }).unwrap();
        assert_eq!(page.matches(" | 7 | 8 | 0 |").count(), 15, "{page}");
        assert!(page.contains("| 2.0 ms | 3.0 ms | 1.50 × | 1.00 × |"), "{page}");
        assert!(page.contains("takes 500 µs for"), "{page}");
        assert!(page.contains("Welch's t is -0.31"), "{page}");
    }
}
