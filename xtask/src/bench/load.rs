//! Requests a second under load, by `wrk`. Owns the list of requests.

use std::fmt::Write as _;
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::command;

/// Threads and connections of the load generator: as many threads as a small machine has cores.
const THREADS: &str = "-t2";
const CONNECTIONS: &str = "-c16";

pub(super) fn ensure_wrk() -> Result<()> {
    // `wrk --version` ends with 1, so look whether it starts at all.
    if Command::new("wrk").arg("--version").output().is_err() {
        bail!("the benchmark needs wrk: run `apt-get install wrk` and try again");
    }
    Ok(())
}

/// A Markdown table; `dataset` is the address of a dataset.
pub(super) fn table(dataset: &str, key: &str, seconds: u32) -> Result<String> {
    let requests = [
        ("100 rows, JSON", "/data"),
        ("100 rows, CSV", "/data?format=csv"),
        ("100 rows, Arrow", "/data?format=arrow"),
        ("100 rows, Parquet", "/data?format=parquet"),
        ("100 rows of the last years, JSON", "/data?start=2020-01-01"),
        ("1 row, JSON", "/data?limit=1"),
        ("preview", "/preview"),
        ("metadata", ""),
    ];
    let mut table = String::from("| request | requests/s | median | 99 % | transfer/s |\n|---|---:|---:|---:|---:|\n");
    for (what, path) in requests {
        println!("-- {what}");
        let said = wrk(&format!("{dataset}{path}"), key, seconds)?;
        let Figures { rate, median, slow, transfer } = figures(&said).with_context(|| format!("wrk printed {said:?}"))?;
        writeln!(table, "| {what} | {rate:.0} | {median} | {slow} | {transfer} |").context("cannot format the table")?;
    }
    Ok(table)
}

fn wrk(address: &str, key: &str, seconds: u32) -> Result<String> {
    let header = format!("X-API-Key: {key}");
    let run = |seconds: u32| {
        let mut wrk = Command::new("wrk");
        wrk.args([THREADS, CONNECTIONS, "--latency"]).arg(format!("-d{seconds}s")).args(["-H", &header]).arg(address);
        command::output(&mut wrk)
    };
    // A second to warm up, not counted.
    run(1)?;
    run(seconds)
}

#[derive(Debug, PartialEq)]
struct Figures {
    rate: f64,
    median: String,
    slow: String,
    transfer: String,
}

/// What `wrk --latency` printed; none when a response was not 2xx or 3xx, because such a number
/// measures something else.
fn figures(said: &str) -> Option<Figures> {
    if said.contains("Non-2xx") {
        return None;
    }
    let after = |start: &str| said.lines().find_map(|line| line.trim().strip_prefix(start)).map(|rest| rest.trim().to_owned());
    Some(Figures {
        rate: after("Requests/sec:")?.parse().ok()?,
        median: after("50%")?,
        slow: after("99%")?,
        transfer: after("Transfer/sec:")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: &str = "Running 1s test @ http://x\n  Latency Distribution\n     50%    1.20ms\n     75%    2.00ms\n     99%    9.85ms\n  \
        9 requests in 1.00s, 3.00MB read\nRequests/sec:   4321.50\nTransfer/sec:      3.00MB\n";

    #[test]
    fn refusals_are_not_measured() {
        let expected = Figures { rate: 4321.5, median: "1.20ms".into(), slow: "9.85ms".into(), transfer: "3.00MB".into() };
        assert_eq!(figures(SAID), Some(expected));
        assert_eq!(figures(&format!("{SAID}  Non-2xx or 3xx responses: 3\n")), None);
    }
}
