//! The cost of the number of datasets: publishing them, starting on them, listing them, and seeing
//! that one of them moved.

use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use super::deployment::{ScaleDeployment, ScaleHost};
use crate::http::HttpRequest;
use crate::measurements::median;
use crate::{http, machine, wrk};

/// Starts and refreshes that are measured.
const REPETITIONS: u64 = 5;

/// Time for which a server rests before its processor time is read.
const IDLE_PERIOD: Duration = Duration::from_secs(5);

/// Longest time until a refresh is seen.
const REFRESH_TIMEOUT: Duration = Duration::from_secs(60);

const POLL: Duration = Duration::from_millis(5);

/// Costs of so many datasets. Times are milliseconds and medians.
pub(super) struct CatalogCosts {
    pub(super) datasets: u64,
    /// A dataset, in one command with many.
    pub(super) publish: f64,
    /// From the command to an answer.
    pub(super) start: f64,
    pub(super) resident_mib: f64,
    /// Percent of a core.
    pub(super) idle: f64,
    /// `/v1/datasets`.
    pub(super) list_bytes: u64,
    /// The first after the catalog moved.
    pub(super) list_first: f64,
    pub(super) list: wrk::LoadResult,
    /// From the end of `yearbook publish` to an answer with the new snapshot: the median, and the
    /// latest.
    pub(super) seen: f64,
    pub(super) seen_latest: f64,
    /// To read the catalog again.
    pub(super) read: f64,
}

/// Publishes what is missing to `datasets` and measures.
pub(super) fn measure(
    site: &ScaleDeployment<'_>,
    published: u64,
    datasets: u64,
) -> Result<CatalogCosts> {
    println!("-- {datasets} datasets: publish {}", datasets - published);
    let packages = site.packages(published, datasets)?;
    let begun = Instant::now();
    site.publish(&packages)?;
    let publish = milliseconds(begun.elapsed()) / packages.len() as f64;
    let mut starts = Vec::new();
    for _ in 1..REPETITIONS {
        starts.push(site.serve(false)?.process.started * 1e3);
    }
    let host = site.serve(false)?;
    starts.push(host.process.started * 1e3);
    let key = site.key("enterprise")?;
    let list =
        HttpRequest::get(format!("{}/v1/datasets", host.process.base)).with("X-API-Key", &key);
    let list_bytes = http::get(&list)?.bytes;
    let load = wrk::run(&list, 2, &machine::shared().generator, &site.scripts())?;
    let (before, begun) = (host.process.cpu_time()?, Instant::now());
    sleep(IDLE_PERIOD);
    let idle = host.process.cpu_time()?.since(before) / begun.elapsed().as_secs_f64() * 100.0;
    let RefreshTimes { seen, first, read } = refreshes(site, &host, &key, &list)?;
    let catalog = CatalogCosts {
        datasets,
        publish,
        start: median(&starts),
        resident_mib: host.process.idle,
        idle,
        list_bytes,
        list_first: median(&first),
        list: load,
        seen: median(&seen),
        seen_latest: seen.iter().copied().fold(0.0, f64::max),
        read,
    };
    println!(
        "   publish {publish:.1} ms, start {:.0} ms, {:.0} MiB, list {list_bytes} bytes {:.0}/s, seen {:.0} ms, read {read:.1} ms",
        catalog.start, catalog.resident_mib, load.rate, catalog.seen
    );
    Ok(catalog)
}

/// Milliseconds of each refresh, and of one read on the average.
struct RefreshTimes {
    seen: Vec<f64>,
    first: Vec<f64>,
    read: f64,
}

/// Refreshes one dataset again and again.
fn refreshes(
    site: &ScaleDeployment<'_>,
    host: &ScaleHost,
    key: &str,
    list: &HttpRequest,
) -> Result<RefreshTimes> {
    const SECONDS: &str = "yearbook_catalog_poll_seconds_total";
    let ask = HttpRequest::get(format!("{}/v1/datasets/synthetic_000001", host.process.base))
        .with("X-API-Key", key);
    let looked = host.metrics()?.sum(SECONDS)?;
    let (mut seen, mut first) = (Vec::new(), Vec::new());
    for edition in 2..2 + REPETITIONS {
        let package = site.package(1, edition)?;
        let before = http::response_header(&ask, "etag")?;
        site.publish(&[package])?;
        let published = Instant::now();
        while http::response_header(&ask, "etag")? == before {
            if published.elapsed() > REFRESH_TIMEOUT {
                bail!("a refresh was not seen within {REFRESH_TIMEOUT:?}");
            }
            sleep(POLL);
        }
        seen.push(milliseconds(published.elapsed()));
        first.push(http::get(list).context("the list after a refresh")?.seconds * 1e3);
    }
    // Looks that find nothing new take next to nothing.
    let read = (host.metrics()?.sum(SECONDS)? - looked) * 1e3 / REPETITIONS as f64;
    Ok(RefreshTimes { seen, first, read })
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
