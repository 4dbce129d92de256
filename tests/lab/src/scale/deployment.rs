//! A folder, a database and servers on them. Owns how they are started and how they are observed
//! from outside.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result};

use crate::machine;
use crate::metrics::MetricsScrape;
use crate::process::{MeasuredProcess, TICKS_PER_SECOND};
use yearbook_xtask::checks::postgres::Postgres;
use yearbook_xtask::repository::Repository;
use yearbook_xtask::{command, demo, server};

/// Rows of each of many datasets: ten years of months.
const ROWS: u64 = 120;

/// Paths that one command is given.
const PACKAGES_PER_COMMAND: usize = 500;

pub(super) struct ScaleDeployment<'a> {
    repository: &'a Repository,
    binary: &'a Path,
    folder: PathBuf,
    database: Option<&'a Postgres>,
}

/// A running server with its metrics.
pub(super) struct ScaleHost {
    pub(super) process: MeasuredProcess,
    metrics: String,
}

impl<'a> ScaleDeployment<'a> {
    /// An empty folder, and in PostgreSQL a schema of its own.
    pub(super) fn new(
        repository: &'a Repository,
        binary: &'a Path,
        folder: PathBuf,
        database: Option<&'a Postgres>,
    ) -> Result<Self> {
        let site = Self { repository, binary, folder, database };
        fs::create_dir_all(site.data_dir())
            .with_context(|| format!("cannot make {}", site.folder.display()))?;
        Ok(site)
    }

    fn data_dir(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// Folder of the scripts for `wrk`.
    pub(super) fn scripts(&self) -> PathBuf {
        self.repository.root().join("tests/lab/peers")
    }

    /// `yearbook` here.
    pub(super) fn yearbook(&self) -> Command {
        let mut yearbook = Command::new(self.binary);
        yearbook.arg("--data-dir").arg(self.data_dir());
        if let Some(database) = self.database {
            yearbook.env(
                "YEARBOOK_DATABASE_URL",
                format!("{}&options[search_path]=scale", database.url()),
            );
        }
        yearbook
    }

    /// A table for requests to read.
    pub(super) fn publish_million_rows(&self) -> Result<()> {
        self.publish(&[demo::million_rows(self.repository)?])
    }

    /// Packages of the datasets after number `from`, up to `to`.
    pub(super) fn packages(&self, from: u64, to: u64) -> Result<Vec<PathBuf>> {
        (from + 1..=to).map(|number| self.package(number, 1)).collect()
    }

    /// One of them; another edition has other values.
    pub(super) fn package(&self, number: u64, edition: u64) -> Result<PathBuf> {
        yearbook_generate::numbered_package(number, ROWS, edition, &self.folder.join("packages"))
    }

    pub(super) fn publish(&self, packages: &[PathBuf]) -> Result<()> {
        for some in packages.chunks(PACKAGES_PER_COMMAND) {
            command::output(self.yearbook().arg("publish").args(some))?;
        }
        Ok(())
    }

    /// Begins to publish a few packages and does not wait.
    pub(super) fn begin_publish(&self, packages: &[PathBuf]) -> Result<Child> {
        let mut publish = self.yearbook();
        publish.arg("publish").args(packages).stdout(Stdio::null()).stderr(Stdio::null());
        publish.spawn().context("cannot run yearbook publish")
    }

    /// A new key of `plan`.
    pub(super) fn key(&self, plan: &str) -> Result<String> {
        Ok(demo::keys::create(self.yearbook(), plan)?.key)
    }

    /// Serves without bursts' limits, with a month that has room for a measurement, and with a
    /// cache of responses only where it is asked for.
    pub(super) fn serve(&self, cached: bool) -> Result<ScaleHost> {
        let (address, admin) = (server::free_address()?, server::free_address()?);
        let mut serve = self.yearbook();
        serve.arg("serve").args([
            "--listen",
            &address.to_string(),
            "--admin-listen",
            &admin.to_string(),
        ]);
        serve
            .env("YEARBOOK_LIMITS__BURST_PER_SECOND", "0")
            .env("YEARBOOK_PLANS__STARTER__REQUESTS_PER_MONTH", "1000000000");
        if !cached {
            serve.env("YEARBOOK_SERVER__RESPONSE_CACHE_BYTES", "0");
        }
        let log = self.folder.join("server.log");
        let process = MeasuredProcess::start(
            &serve,
            &machine::all(),
            format!("http://{address}"),
            "/health",
            &log,
        )?;
        Ok(ScaleHost { process, metrics: format!("http://{admin}/metrics") })
    }

    /// Seconds of processor time that the database's processes have used; 0 where it is part of the
    /// server.
    pub(super) fn database_cpu(&self) -> Result<f64> {
        self.database.map_or(Ok(0.0), |database| process_tree_cpu(database.id()))
    }
}

impl ScaleHost {
    pub(super) fn metrics(&self) -> Result<MetricsScrape> {
        MetricsScrape::scrape(&self.metrics)
    }
}

/// Processor time of a process, of its children, and of those that ended.
fn process_tree_cpu(process: u32) -> Result<f64> {
    let mut all = process_times(process).context("the database is gone")?.1;
    for entry in fs::read_dir("/proc").context("cannot list processes")?.flatten() {
        let Some(id) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        // One that has just ended has no file, and its time is then its parent's.
        if let Some((parent, spent)) = process_times(id)
            && parent == process
        {
            all += spent;
        }
    }
    Ok(all)
}

/// Parent of a process, and its time with that of the children that it has waited for.
fn process_times(process: u32) -> Option<(u32, f64)> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name in parentheses may hold anything; after it come state and parent, and as 12th to
    // 15th word the times.
    let words: Vec<&str> = stat.rsplit(')').next()?.split_whitespace().collect();
    let ticks: f64 = words.get(11..15)?.iter().filter_map(|word| word.parse::<f64>().ok()).sum();
    Some((words.get(1)?.parse().ok()?, ticks / TICKS_PER_SECOND))
}
