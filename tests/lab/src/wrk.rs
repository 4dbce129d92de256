//! Requests a second under load, by `wrk`, on cores of its own. Owns how it is called and how its
//! report is read.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::http::HttpRequest;
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

/// Sends the same request again and again for `seconds`, from `cores`. `scripts` is the folder of
/// the script that sends bodies.
pub(crate) fn run(
    ask: &HttpRequest,
    seconds: u32,
    cores: &str,
    scripts: &Path,
) -> Result<LoadResult> {
    Load { seconds, connections: CONNECTIONS, cores }.same(ask, scripts)
}

/// Amount of what is sent, and where it comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load<'a> {
    pub(crate) seconds: u32,
    /// Connections that send requests at the same time.
    pub(crate) connections: u32,
    /// Cores of the generator, as `taskset` takes them.
    pub(crate) cores: &'a str,
}

impl Load<'_> {
    /// Sends the same request again and again.
    pub(crate) fn same(self, ask: &HttpRequest, scripts: &Path) -> Result<LoadResult> {
        let mut wrk = self.command(ask);
        match &ask.body {
            None => wrk.arg(&ask.url),
            Some(body) => {
                wrk.arg("--script").arg(scripts.join("post.lua")).arg(&ask.url).arg("--").arg(body)
            }
        };
        measure(&mut wrk, &ask.url)
    }

    /// Asks in turn for the paths that `pattern` (of Lua's `string.format`) makes of 1 to `count`,
    /// with the headers and the body of `ask`.
    pub(crate) fn numbered(
        self,
        ask: &HttpRequest,
        pattern: &str,
        count: u64,
        scripts: &Path,
    ) -> Result<LoadResult> {
        let mut wrk = self.command(ask);
        wrk.arg("--script").arg(scripts.join("numbered.lua")).arg(&ask.url);
        wrk.arg("--").arg(pattern).arg(count.to_string()).args(&ask.body);
        measure(&mut wrk, pattern)
    }

    fn command(self, ask: &HttpRequest) -> Command {
        let mut wrk = Command::new("taskset");
        wrk.args(["--cpu-list", self.cores, "wrk", "--latency", "--threads", "1"]);
        wrk.args(["--timeout", "30s", "--connections", &self.connections.to_string()]);
        wrk.args(["--duration", &format!("{}s", self.seconds)]);
        for (name, value) in &ask.headers {
            wrk.arg("--header").arg(format!("{name}: {value}"));
        }
        wrk
    }
}

fn measure(wrk: &mut Command, asked: &str) -> Result<LoadResult> {
    let said = command::output(wrk)?;
    parse_report(&said).with_context(|| format!("{asked}: not only good answers: {said}"))
}

/// None when a response was not 2xx or 3xx, or a connection failed, because such a number measures
/// something else.
fn parse_report(said: &str) -> Option<LoadResult> {
    if said.contains("Non-2xx") || said.contains("Socket errors") {
        return None;
    }
    let after =
        |start: &str| said.lines().find_map(|line| line.trim().strip_prefix(start)).map(str::trim);
    let requests = said
        .lines()
        .find_map(|line| line.trim().split_once(" requests in "))
        .map(|(count, _)| count);
    Some(LoadResult {
        rate: after("Requests/sec:")?.parse().ok()?,
        p50: milliseconds(after("50%")?)?,
        p99: milliseconds(after("99%")?)?,
        requests: requests?.parse().ok()?,
    })
}

/// `263.00us`, `6.21ms`, `1.09s`, `2.00m`.
fn milliseconds(text: &str) -> Option<f64> {
    let unit =
        text.trim_start_matches(|character: char| character.is_ascii_digit() || character == '.');
    let factor = match unit {
        "us" => 0.001,
        "ms" => 1.0,
        "s" => 1_000.0,
        "m" => 60_000.0,
        _ => return None,
    };
    text.strip_suffix(unit)?.parse::<f64>().ok().map(|value| value * factor)
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
        assert_eq!(
            parse_report(&format!(
                "{SAID}  Socket errors: connect 0, read 1, write 0, timeout 0\n"
            )),
            None
        );
    }
}
