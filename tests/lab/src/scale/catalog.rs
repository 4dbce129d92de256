//! The cost of the number of datasets: publishing them, starting on them, listing them, and seeing
//! that one of them moved.

use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};

use super::site::ScaleSite;
use crate::http::{self, HttpRequest};
use crate::load::LoadRuns;
use crate::measurements::{Measurements, median};
use crate::product::ProductServer;

/// Part of every figure here.
pub(super) const PART: &str = "catalog";

/// Starts and refreshes that are measured.
const REPETITIONS: u64 = 5;

/// Time for which a server rests before its processor time is read.
const IDLE_PERIOD: Duration = Duration::from_secs(5);

/// Longest time until a refresh is seen.
const REFRESH_TIMEOUT: Duration = Duration::from_secs(60);

const POLL: Duration = Duration::from_millis(5);

/// Seconds of a run of lists.
const LIST_SECONDS: u32 = 2;

/// Publishes what is missing to `datasets` and measures.
pub(super) fn measure(
    site: &ScaleSite<'_>,
    published: u64,
    datasets: u64,
    figures: &mut Measurements,
) -> Result<()> {
    let packages = (published + 1..=datasets)
        .map(|number| site.package(number, 1))
        .collect::<Result<Vec<_>>>()?;
    let begun = Instant::now();
    site.product.publish(&packages)?;
    let publish = milliseconds(begun.elapsed()) / packages.len() as f64;
    let mut host = site.serve()?;
    let mut starts = vec![host.process.started * 1e3];
    for _ in 1..REPETITIONS {
        drop(host);
        host = site.serve()?;
        starts.push(host.process.started * 1e3);
    }
    let key = site.product.key("enterprise")?;
    let list = host.ask("/v1/datasets", &key);
    let list_bytes = http::get(&list)?.bytes;
    let mut lists = LoadRuns::default();
    lists.run(&site.generator, &host.process, (&list).into(), LIST_SECONDS)?;
    let (before, begun) = (host.process.cpu_time()?, Instant::now());
    sleep(IDLE_PERIOD);
    let idle = host.process.cpu_time()?.since(before) / begun.elapsed().as_secs_f64();
    let values = [
        ("publish_ms", publish),
        ("start_ms", median(&starts)),
        ("resident_mib", host.process.idle),
        ("idle_percent", idle * 100.0),
        ("list_kilobytes", list_bytes as f64 / 1e3),
    ];
    let refreshes = refreshes(site, &host, &key, &list)?;
    let values = values.into_iter().chain(lists.values()).chain(refreshes);
    figures.add(PART, &datasets.to_string(), site.database, values);
    Ok(())
}

/// Refreshes one dataset again and again.
fn refreshes(
    site: &ScaleSite<'_>,
    host: &ProductServer,
    key: &str,
    list: &HttpRequest,
) -> Result<[(&'static str, f64); 4]> {
    const SECONDS: &str = "yearbook_catalog_poll_seconds_total";
    let ask = host.ask("/v1/datasets/synthetic_000001", key);
    let looked = host.metrics()?.sum(SECONDS)?;
    let (mut seen, mut first) = (Vec::new(), Vec::new());
    for edition in 2..2 + REPETITIONS {
        let package = site.package(1, edition)?;
        let before = http::response_header(&ask, "etag")?;
        site.product.publish(&[package])?;
        let published = Instant::now();
        while http::response_header(&ask, "etag")? == before {
            ensure!(
                published.elapsed() < REFRESH_TIMEOUT,
                "a refresh was not seen within {REFRESH_TIMEOUT:?}"
            );
            sleep(POLL);
        }
        seen.push(milliseconds(published.elapsed()));
        first.push(http::get(list).context("the list after a refresh")?.seconds * 1e3);
    }
    // Looks that find nothing new take next to nothing.
    let read = (host.metrics()?.sum(SECONDS)? - looked) * 1e3 / REPETITIONS as f64;
    Ok([
        ("list_first_ms", median(&first)),
        ("seen_ms", median(&seen)),
        ("seen_latest_ms", seen.iter().copied().fold(0.0, f64::max)),
        ("read_ms", read),
    ])
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
