//! The cost of one request for data, and the speed of pages of the catalogue among so many
//! datasets. Owns which requests are measured.

use anyhow::Result;
use yearbook_xtask::demo;

use super::site::ScaleSite;
use crate::http::{self, HttpRequest};
use crate::load::{CONNECTIONS, Load, LoadRuns};
use crate::machine;
use crate::measurements::Measurements;
use crate::process::CpuTime;
use crate::product::{MetricsScrape, ProductServer};

/// Part of the figures of data.
pub(super) const PART: &str = "request";

/// Exports that are measured; one before them is not.
const EXPORTS: u32 = 3;

/// Connections that stand for a few, beside a crowd of [`CONNECTIONS`].
pub(super) const FEW: u32 = 4;

/// A kind of request for the table of a million rows: its name, and how many of a thousand requests
/// are assumed to be of this kind.
pub(super) const KINDS: [(&str, f64); 7] = [
    (NOT_MODIFIED, 200.0),
    (CACHED, 250.0),
    ("100 rows as JSON", 390.0),
    (LIMITED, 60.0),
    ("1,000 rows of a year as JSON", 90.0),
    ("`/v1/datasets/{name}`", 9.0),
    (EXPORT, 1.0),
];

/// The rest of the path of each kind, after the name of the dataset.
const PATHS: [&str; 7] = [
    "/data",
    "/data",
    "/data",
    "/data",
    "/data?start=2020-01-01&end=2020-12-31&limit=1000",
    "",
    "/data?start=0001-01-01&limit=0&format=csv",
];

/// With the entity tag that the answer has.
const NOT_MODIFIED: &str = "304 to `If-None-Match`";
/// From a server with a cache of responses.
const CACHED: &str = "100 rows as JSON, in the response cache";
const LIMITED: &str = "the same by a key with a quota";
/// One after the other.
const EXPORT: &str = "a million rows as CSV";

/// Pages that are asked for again and again, and with a place for a number one of a family each
/// time.
const PAGES: [(&str, &str); 7] = [
    ("home", "/"),
    ("a search", "/datasets?q=prices"),
    ("a dataset", "/datasets/synthetic_000001"),
    ("another search that finds every dataset each time", "/datasets?q=synthetic+%d"),
    ("another search that finds one dataset each time", "/datasets?q=%06d"),
    ("another dataset each time", "/datasets/synthetic_%06d"),
    ("another dataset's chart each time", "/datasets/synthetic_%06d/chart.svg"),
];

/// Measures every kind, each on a host of its own.
pub(super) fn measure(
    site: &ScaleSite<'_>,
    seconds: u32,
    figures: &mut Measurements,
) -> Result<()> {
    for ((name, _), path) in KINDS.into_iter().zip(PATHS) {
        let host = site.product.serve(&machine::all(), name == CACHED)?;
        let key = site.product.key(if name == LIMITED { "starter" } else { "enterprise" })?;
        let mut ask =
            host.ask(&format!("/v1/datasets/synthetic_long_{}{}", demo::ROWS, path), &key);
        if name == NOT_MODIFIED {
            let tag = http::response_header(&ask, "etag")?;
            ask = ask.with("If-None-Match", tag);
        }
        let mut runs = LoadRuns::default();
        let before;
        let requests = if name == EXPORT {
            http::get(&ask)?;
            before = CounterReading::now(site, &host)?;
            for _ in 0..EXPORTS {
                http::get(&ask)?;
            }
            f64::from(EXPORTS)
        } else {
            site.generator.run((&ask).into(), 1)?;
            before = CounterReading::now(site, &host)?;
            runs.run(&site.generator, &host.process, (&ask).into(), seconds)?;
            runs.requests()
        };
        let cost = CounterReading::now(site, &host)?.since(&before, requests)?;
        let [rate, ..] = runs.values();
        let rate = (name != EXPORT).then_some(rate);
        figures.add(PART, name, site.database, cost.into_iter().chain(rate));
    }
    Ok(())
}

/// Values of the counters at one moment.
struct CounterReading {
    cpu: CpuTime,
    database: f64,
    metrics: MetricsScrape,
}

impl CounterReading {
    fn now(site: &ScaleSite<'_>, host: &ProductServer) -> Result<Self> {
        Ok(Self {
            cpu: host.process.cpu_time()?,
            database: site.database_cpu()?,
            metrics: host.metrics()?,
        })
    }

    /// Returns the cost of each of `requests` since `before`.
    fn since(&self, before: &Self, requests: f64) -> Result<[(&'static str, f64); 4]> {
        let moved = |name: &str| {
            anyhow::Ok((self.metrics.sum(name)? - before.metrics.sum(name)?) / requests)
        };
        Ok([
            ("cpu_us", self.cpu.since(before.cpu) / requests * 1e6),
            ("database_us", (self.database - before.database) / requests * 1e6),
            ("reads", moved("yearbook_storage_reads_total")?),
            ("bytes", moved("yearbook_http_response_bytes_total")?),
        ])
    }
}

/// Measures every page on a host of its own, among `datasets` that are published.
pub(super) fn measure_pages(
    site: &ScaleSite<'_>,
    datasets: u64,
    seconds: u32,
    figures: &mut Measurements,
) -> Result<()> {
    let host = site.serve()?;
    for (name, path) in PAGES {
        let first = path.replace("%d", "1").replace("%06d", "000001");
        let ask = HttpRequest::get(format!("{}{first}", host.process.base));
        let ask = ask.with("Accept", "text/html");
        let bytes = http::get(&ask)?.bytes as f64;
        let numbered = (first != path).then_some((path, datasets));
        let run = |seconds, connections| {
            site.generator.run(Load { ask: &ask, numbered, connections }, seconds)
        };
        run(1, CONNECTIONS)?;
        let (crowd, few) = (run(seconds, CONNECTIONS)?, run(seconds, FEW)?);
        let values = [
            ("bytes", bytes),
            ("requests_a_second", crowd.rate),
            ("p99_ms", crowd.p99),
            ("few_requests_a_second", few.rate),
            ("few_p99_ms", few.p99),
        ];
        figures.add("page", name, site.database, values);
    }
    Ok(())
}
