//! Resources of a server, seen from outside: `/proc` and its own metrics.

use std::fmt;
use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

use crate::metrics::MetricsScrape;

const MIB: u64 = 1 << 20;

/// Between two samples.
const INTERVAL: Duration = Duration::from_millis(500);

/// A running server, and where its metrics are.
pub(super) struct ResourceWatcher {
    pub(super) process: u32,
    pub(super) metrics: String,
}

/// Resources of a server at one moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct ServerResources {
    /// Mebibytes resident.
    pub(super) memory: u64,
    pub(super) descriptors: u64,
    pub(super) threads: u64,
    /// Requests whose response has not ended.
    requests: u64,
    /// Instances, and what they hold, bytes.
    instances: u64,
    guests: u64,
}

/// Memory over time, mebibytes.
pub(super) struct MemorySamples(Vec<u64>);

impl ResourceWatcher {
    pub(super) fn read(&self) -> Result<ServerResources> {
        let metrics = MetricsScrape::scrape(&self.metrics)?;
        let value = |name: &str| metrics.sum(name).map(rounded);
        let folder = format!("/proc/{}", self.process);
        let count = |part: &str| -> Result<u64> {
            let entries = fs::read_dir(format!("{folder}/{part}")).context("the server is gone")?;
            Ok(entries.count() as u64)
        };
        Ok(ServerResources {
            memory: self.memory()?,
            descriptors: count("fd")?,
            threads: count("task")?,
            requests: value("yearbook_http_requests_in_flight")?,
            instances: value("yearbook_sandbox_instances_limit")?
                - value("yearbook_sandbox_instances_free")?,
            guests: value("yearbook_sandbox_memory_bytes")?,
        })
    }

    /// Looks at memory until `time` is over.
    pub(super) fn sample(&self, time: Duration) -> Result<MemorySamples> {
        let (begun, mut samples) = (Instant::now(), Vec::new());
        while begun.elapsed() < time {
            samples.push(self.memory()?);
            sleep(INTERVAL);
        }
        Ok(MemorySamples(samples))
    }

    fn memory(&self) -> Result<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process))
            .context("the server is gone")?;
        let value = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:"))
            .and_then(|rest| rest.split_whitespace().next());
        let kilobytes: u64 =
            value.and_then(|value| value.parse().ok()).context("no VmRSS in a server's status")?;
        Ok(kilobytes * 1024 / MIB)
    }
}

impl ServerResources {
    /// Nothing is under way. (Scraping is not counted among the requests.)
    pub(super) fn is_idle(&self) -> bool {
        self.requests == 0 && self.instances == 0 && self.guests == 0
    }
}

impl fmt::Display for ServerResources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { memory, descriptors, threads, requests, instances, guests } = self;
        write!(
            f,
            "{memory} MiB, {descriptors} descriptors, {threads} threads, {requests} requests, {instances} instances with {guests} bytes"
        )
    }
}

impl MemorySamples {
    /// Usual memory in the second quarter of the time and in the last, and what that may be: a
    /// tenth more, or a third where the time was short: caches and the allocator take a minute or
    /// two to be as large as they get.
    pub(super) fn memory(&self, short: bool) -> (u64, u64, u64) {
        let quarter = self.0.len() / 4;
        let early = median(&self.0[quarter..2 * quarter]);
        let late = median(&self.0[3 * quarter..]);
        (early, late, early + early / if short { 3 } else { 10 })
    }
}

impl fmt::Display for MemorySamples {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let most = self.0.iter().max().copied().unwrap_or(0);
        write!(f, "{} looks at memory, {most} MiB at most", self.0.len())
    }
}

fn median(values: &[u64]) -> u64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied().unwrap_or(0)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "gauges of whole things"
)]
fn rounded(value: f64) -> u64 {
    value.max(0.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_grows_by_more_than_a_tenth_is_told() {
        let flat = MemorySamples((0..40).map(|at| 300 + at % 3).collect());
        let (_, late, allowed) = flat.memory(false);
        assert!(late <= allowed);
        let growing = MemorySamples((0..40).map(|at| 300 + at * 4).collect());
        let (_, late, allowed) = growing.memory(false);
        assert!(late > allowed);
        let (_, late, allowed) = growing.memory(true);
        assert!(late <= allowed);
    }
}
