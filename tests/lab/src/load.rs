//! Requests a second under load, by `wrk`, on cores of its own, with the processor time that they
//! take of the server. Owns how `wrk` is called and how its report is read.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::http::HttpRequest;
use crate::measurements::median;
use crate::process::MeasuredProcess;
use yearbook_xtask::repository::Repository;
use yearbook_xtask::{command, tools};

/// Connections that send requests at the same time.
pub(crate) const CONNECTIONS: u32 = 32;

/// Installs the programs that measuring needs besides cargo.
pub(crate) fn ensure_installed() -> Result<()> {
    for (tool, package) in [("wrk", "wrk"), ("taskset", "util-linux")] {
        // `wrk --version` ends with 1, so look whether it starts at all.
        tools::ensure_packages("the benchmark", &[package], || {
            Command::new(tool).arg("--version").output().is_ok()
        })?;
    }
    Ok(())
}

/// Result of one run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LoadResult {
    /// Requests a second.
    pub(crate) rate: f64,
    /// Median of all requests, milliseconds.
    pub(crate) p50: f64,
    /// 99th percentile, milliseconds.
    pub(crate) p99: f64,
    /// All requests of the run.
    pub(crate) requests: f64,
}

/// A place that load comes from.
#[derive(Debug)]
pub(crate) struct LoadGenerator {
    /// Path of the script that sends bodies and numbered requests.
    script: PathBuf,
    /// Cores, as `taskset` takes them.
    cores: String,
}

/// A request that is sent again and again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load<'a> {
    pub(crate) ask: &'a HttpRequest,
    /// Asks in turn for the paths that a pattern (of Lua's `string.format`) makes of 1 to a number,
    /// in place of the request's own.
    pub(crate) numbered: Option<(&'a str, u64)>,
    /// Connections that send requests at the same time.
    pub(crate) connections: u32,
}

impl<'a> From<&'a HttpRequest> for Load<'a> {
    fn from(ask: &'a HttpRequest) -> Self {
        Self { ask, numbered: None, connections: CONNECTIONS }
    }
}

impl LoadGenerator {
    pub(crate) fn new(repository: &Repository, cores: String) -> Self {
        Self { script: repository.root().join("tests/lab/peers/requests.lua"), cores }
    }

    /// Sends requests for `seconds`.
    pub(crate) fn run(&self, load: Load<'_>, seconds: u32) -> Result<LoadResult> {
        let Load { ask, numbered, connections } = load;
        let mut wrk = Command::new("taskset");
        wrk.args(["--cpu-list", &self.cores, "wrk", "--latency", "--threads", "1"]);
        wrk.args(["--timeout", "30s", "--connections", &connections.to_string()]);
        wrk.args(["--duration", &format!("{seconds}s")]);
        for (name, value) in &ask.headers {
            wrk.arg("--header").arg(format!("{name}: {value}"));
        }
        if numbered.is_some() || ask.body.is_some() {
            wrk.arg("--script").arg(&self.script).arg(&ask.url).arg("--");
            let (pattern, count) = numbered.unwrap_or_default();
            wrk.args([pattern, &count.to_string()]).args(&ask.body);
        } else {
            wrk.arg(&ask.url);
        }
        let said = command::output(&mut wrk)?;
        parse_report(&said).with_context(|| format!("{}: not only good answers: {said}", ask.url))
    }
}

/// Runs of one request against one server.
#[derive(Debug, Default)]
pub(crate) struct LoadRuns {
    loads: Vec<LoadResult>,
    /// Seconds of the server's processor time in all of them.
    cpu: f64,
}

impl LoadRuns {
    /// One more run.
    pub(crate) fn run(
        &mut self,
        generator: &LoadGenerator,
        server: &MeasuredProcess,
        load: Load<'_>,
        seconds: u32,
    ) -> Result<()> {
        let before = server.cpu_time()?;
        self.loads.push(generator.run(load, seconds)?);
        self.cpu += server.cpu_time()?.since(before);
        Ok(())
    }

    pub(crate) fn requests(&self) -> f64 {
        self.loads.iter().map(|load| load.requests).sum()
    }

    /// Medians of the runs that brought an answer.
    pub(crate) fn values(&self) -> [(&'static str, f64); 4] {
        let of = |value: fn(&LoadResult) -> f64| {
            let answered = self.loads.iter().filter(|load| load.requests > 0.0);
            median(&answered.map(value).collect::<Vec<_>>())
        };
        [
            ("requests_a_second", of(|load| load.rate)),
            ("median_ms", of(|load| load.p50)),
            ("p99_ms", of(|load| load.p99)),
            ("cpu_ms_a_request", self.cpu / self.requests() * 1e3),
        ]
    }
}

/// None when a response was not 2xx or 3xx, or a connection failed, because such a number measures
/// something else.
fn parse_report(said: &str) -> Option<LoadResult> {
    if said.contains("Non-2xx") || said.contains("Socket errors") {
        return None;
    }
    let after =
        |start: &str| said.lines().find_map(|line| line.trim().strip_prefix(start)).map(str::trim);
    let (requests, _) = said.lines().find_map(|line| line.trim().split_once(" requests in "))?;
    Some(LoadResult {
        rate: after("Requests/sec:")?.parse().ok()?,
        p50: milliseconds(after("50%")?)?,
        p99: milliseconds(after("99%")?)?,
        requests: requests.parse().ok()?,
    })
}

/// `263.00us`, `6.21ms`, `1.09s`, `2.00m`.
fn milliseconds(text: &str) -> Option<f64> {
    let (number, unit) = text.split_at(text.find(|at: char| at.is_ascii_alphabetic())?);
    let factor = match unit {
        "us" => 0.001,
        "ms" => 1.0,
        "s" => 1_000.0,
        "m" => 60_000.0,
        _ => return None,
    };
    number.parse::<f64>().ok().map(|value| value * factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: &str = "Running 1s test @ http://x\n  Latency Distribution\n     50%  120.00us\n     75%    2.00ms\n     99%    1.09s \n  \
        9 requests in 1.00s, 3.00MB read\nRequests/sec:   4321.50\nTransfer/sec:      3.00MB\n";

    #[test]
    fn refusals_are_not_measured() {
        let expected = LoadResult { rate: 4321.5, p50: 0.12, p99: 1_090.0, requests: 9.0 };
        assert_eq!(parse_report(SAID), Some(expected));
        assert_eq!(parse_report(&format!("{SAID}  Non-2xx or 3xx responses: 3\n")), None);
        let lost = "  Socket errors: connect 0, read 1, write 0, timeout 0\n";
        assert_eq!(parse_report(&format!("{SAID}{lost}")), None);
    }
}
