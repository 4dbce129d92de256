//! Resources of a server, seen from outside: `/proc` and its own metrics.

use std::fmt;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

use crate::measurements::median;
use crate::process;
use crate::product::MetricsScrape;

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
    memory: f64,
    pub(super) descriptors: u64,
    pub(super) threads: u64,
    /// Requests whose response has not ended.
    requests: f64,
    /// Instances, and what they hold, bytes.
    instances: f64,
    guests: f64,
}

/// Memory over time, mebibytes.
pub(super) struct MemorySamples(Vec<f64>);

impl ResourceWatcher {
    pub(super) fn read(&self) -> Result<ServerResources> {
        let metrics = MetricsScrape::scrape(&self.metrics)?;
        let process = process::open(self.process)?;
        Ok(ServerResources {
            memory: self.memory()?,
            descriptors: process.fd_count().context("cannot count descriptors")? as u64,
            threads: process.tasks().context("cannot count threads")?.count() as u64,
            requests: metrics.sum("yearbook_http_requests_in_flight")?,
            instances: metrics.sum("yearbook_sandbox_instances_limit")?
                - metrics.sum("yearbook_sandbox_instances_free")?,
            guests: metrics.sum("yearbook_sandbox_memory_bytes")?,
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

    fn memory(&self) -> Result<f64> {
        process::memory(self.process, |status| status.vmrss)
    }
}

impl ServerResources {
    /// Nothing is under way. (Scraping is not counted among the requests.)
    pub(super) fn is_idle(&self) -> bool {
        self.requests + self.instances + self.guests == 0.0
    }
}

impl fmt::Display for ServerResources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { memory, descriptors, threads, requests, instances, guests } = self;
        write!(
            f,
            "{memory:.0} MiB, {descriptors} descriptors, {threads} threads, {requests} requests, {instances} instances with {guests} bytes"
        )
    }
}

impl MemorySamples {
    /// Usual memory in the second quarter of the time and in the last, and what that may be: a
    /// tenth more, or a third where the time was short: caches and the allocator take a minute or
    /// two to be as large as they get.
    pub(super) fn memory(&self, short: bool) -> (f64, f64, f64) {
        let quarter = self.0.len() / 4;
        let early = median(&self.0[quarter..2 * quarter]);
        let late = median(&self.0[3 * quarter..]);
        (early, late, early + early / if short { 3.0 } else { 10.0 })
    }
}

impl fmt::Display for MemorySamples {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let most = self.0.iter().copied().fold(0.0, f64::max);
        write!(f, "{} looks at memory, {most:.0} MiB at most", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_grows_by_more_than_a_tenth_is_told() {
        let flat = MemorySamples((0..40).map(|at| f64::from(300 + at % 3)).collect());
        let (_, late, allowed) = flat.memory(false);
        assert!(late <= allowed);
        let growing = MemorySamples((0..40).map(|at| f64::from(300 + at * 4)).collect());
        let (_, late, allowed) = growing.memory(false);
        assert!(late > allowed);
        let (_, late, allowed) = growing.memory(true);
        assert!(late <= allowed);
    }
}
