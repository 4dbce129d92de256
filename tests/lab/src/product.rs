//! The product on a data folder of its own: its commands, keys and servers, and what a server tells
//! of itself. Owns the settings with which it is measured.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};
use yearbook_exposition::MetricSample;
use yearbook_xtask::{command, demo, server};

use crate::http::{self, HttpRequest};
use crate::process::MeasuredProcess;

/// Paths that one command is given.
const PACKAGES_PER_COMMAND: usize = 500;

/// A binary, its data folder, and the settings of every command.
pub(crate) struct Product {
    binary: PathBuf,
    data_dir: PathBuf,
    settings: Vec<(&'static str, String)>,
}

/// A running server of the product.
pub(crate) struct ProductServer {
    pub(crate) process: MeasuredProcess,
    metrics: String,
}

/// Values of a server's metrics at one moment.
pub(crate) struct MetricsScrape(Vec<MetricSample>);

impl Product {
    /// The product on an empty folder.
    pub(crate) fn new(binary: &Path, data_dir: PathBuf) -> Result<Self> {
        empty(&data_dir)?;
        Ok(Self { binary: binary.to_owned(), data_dir, settings: Vec::new() })
    }

    /// The same with an environment variable for every command.
    pub(crate) fn with(mut self, name: &'static str, value: String) -> Self {
        self.settings.push((name, value));
        self
    }

    /// `yearbook` here.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.binary);
        command.arg("--data-dir").arg(&self.data_dir);
        command.envs(self.settings.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Publishes without a line for each step of each dataset.
    pub(crate) fn publish(&self, packages: &[PathBuf]) -> Result<()> {
        println!("-- publish {} packages", packages.len());
        for some in packages.chunks(PACKAGES_PER_COMMAND) {
            command::output(self.command().arg("publish").args(some))?;
        }
        Ok(())
    }

    /// A new key of `plan`.
    pub(crate) fn key(&self, plan: &str) -> Result<String> {
        Ok(demo::keys::create(self.command(), plan)?.key)
    }

    /// Serves on `cores` without limits of bursts, with a month that has room for a measurement,
    /// and with a cache of responses only where it is asked for.
    pub(crate) fn serve(&self, cores: &str, cached: bool) -> Result<ProductServer> {
        let (address, admin) = (server::free_address()?, server::free_address()?);
        let mut serve = self.command();
        serve.args(["serve", "--listen", &address.to_string()]);
        serve.args(["--admin-listen", &admin.to_string()]);
        serve
            .env("YEARBOOK_LIMITS__BURST_PER_SECOND", "0")
            .env("YEARBOOK_PLANS__STARTER__REQUESTS_PER_MONTH", "1000000000");
        if !cached {
            serve.env("YEARBOOK_SERVER__RESPONSE_CACHE_BYTES", "0");
        }
        let log = self.data_dir.with_extension(format!("{}.log", address.port()));
        let base = format!("http://{address}");
        let process = MeasuredProcess::start(&serve, cores, base, "/health", &log)?;
        Ok(ProductServer { process, metrics: format!("http://{admin}/metrics") })
    }
}

impl ProductServer {
    /// A request for `path`, with `key`.
    pub(crate) fn ask(&self, path: &str, key: &str) -> HttpRequest {
        HttpRequest::get(format!("{}{path}", self.process.base)).with("X-API-Key", key)
    }

    pub(crate) fn metrics(&self) -> Result<MetricsScrape> {
        MetricsScrape::scrape(&self.metrics)
    }
}

impl MetricsScrape {
    /// Scrapes `address`, the whole address of a server's metrics.
    pub(crate) fn scrape(address: &str) -> Result<Self> {
        let text = http::body(&HttpRequest::get(address))?;
        Ok(Self(yearbook_exposition::parse_samples(&String::from_utf8_lossy(&text))))
    }

    /// The values of all labels of `name` together.
    pub(crate) fn sum(&self, name: &str) -> Result<f64> {
        yearbook_exposition::sum(&self.0, name).with_context(|| format!("no metric {name}"))
    }
}

/// Makes a folder, without what an earlier run left in it.
pub(crate) fn empty(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))
}
