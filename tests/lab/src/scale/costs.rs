//! The cost of one request: processor time here and in the database, reads of the store, bytes
//! sent. Owns which requests are measured.

use anyhow::Result;

use super::deployment::{ScaleDeployment, ScaleHost};
use crate::http::HttpRequest;
use crate::metrics::MetricsScrape;
use crate::{http, machine, wrk};
use yearbook_xtask::demo;

/// Exports that are measured; one before them is not.
const EXPORTS: u32 = 3;

/// A kind of request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestKind {
    NotModified,
    Cached,
    Page,
    Limited,
    Year,
    Metadata,
    Export,
}

impl RequestKind {
    pub(super) const ALL: [Self; 7] = [
        Self::NotModified,
        Self::Cached,
        Self::Page,
        Self::Limited,
        Self::Year,
        Self::Metadata,
        Self::Export,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::NotModified => "304 to `If-None-Match`",
            Self::Cached => "100 rows as JSON, in the response cache",
            Self::Page => "100 rows as JSON",
            Self::Limited => "the same by a key with a quota",
            Self::Year => "1,000 rows of a year as JSON",
            Self::Metadata => "`/v1/datasets/{name}`",
            Self::Export => "a million rows as CSV",
        }
    }
}

/// Cost of one request of a kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct RequestCost {
    pub(super) kind: RequestKind,
    /// Processor time of the server, microseconds.
    pub(super) cpu: f64,
    /// Processor time of the database's own processes, microseconds.
    pub(super) database: f64,
    /// Reads of the store.
    pub(super) reads: f64,
    /// Bytes of the body.
    pub(super) bytes: f64,
    /// Requests a second on this machine, with the load generator and the database on it.
    pub(super) rate: Option<f64>,
}

/// One of each kind.
pub(super) struct RequestCosts(pub(super) Vec<RequestCost>);

/// Measures every kind.
pub(super) fn measure(site: &ScaleDeployment<'_>, seconds: u32) -> Result<RequestCosts> {
    let (unlimited, limited) = (site.key("enterprise")?, site.key("starter")?);
    let mut costs = Vec::new();
    for kind in RequestKind::ALL {
        let host = site.serve(kind == RequestKind::Cached)?;
        let data = format!("{}/v1/datasets/synthetic_long_{}", host.process.base, demo::ROWS);
        let key = if kind == RequestKind::Limited { &limited } else { &unlimited };
        let ask = |rest: &str| HttpRequest::get(format!("{data}{rest}")).with("X-API-Key", key);
        let ask = match kind {
            RequestKind::NotModified => {
                let ask = ask("/data");
                let tag = http::response_header(&ask, "etag")?;
                ask.with("If-None-Match", &tag)
            }
            RequestKind::Cached | RequestKind::Page | RequestKind::Limited => ask("/data"),
            RequestKind::Year => ask("/data?start=2020-01-01&end=2020-12-31&limit=1000"),
            RequestKind::Metadata => ask(""),
            RequestKind::Export => ask("/data?start=0001-01-01&limit=0&format=csv"),
        };
        let cost = if kind == RequestKind::Export {
            exports(site, &host, &ask)?
        } else {
            requests(site, &host, kind, &ask, seconds)?
        };
        println!("   {}: {cost:?}", kind.name());
        costs.push(cost);
    }
    Ok(RequestCosts(costs))
}

/// Under load.
fn requests(
    site: &ScaleDeployment<'_>,
    host: &ScaleHost,
    kind: RequestKind,
    ask: &HttpRequest,
    seconds: u32,
) -> Result<RequestCost> {
    let cores = machine::shared().generator;
    wrk::run(ask, 1, &cores, &site.scripts())?;
    let before = CounterReading::now(site, host)?;
    let load = wrk::run(ask, seconds, &cores, &site.scripts())?;
    let cost = CounterReading::now(site, host)?.since(&before, kind, load.requests)?;
    Ok(RequestCost { rate: Some(load.rate), ..cost })
}

/// One after the other.
fn exports(site: &ScaleDeployment<'_>, host: &ScaleHost, ask: &HttpRequest) -> Result<RequestCost> {
    http::get(ask)?;
    let before = CounterReading::now(site, host)?;
    for _ in 0..EXPORTS {
        http::get(ask)?;
    }
    CounterReading::now(site, host)?.since(&before, RequestKind::Export, f64::from(EXPORTS))
}

/// Values of the counters at one moment.
struct CounterReading {
    cpu: crate::process::CpuTime,
    database: f64,
    metrics: MetricsScrape,
}

impl CounterReading {
    fn now(site: &ScaleDeployment<'_>, host: &ScaleHost) -> Result<Self> {
        Ok(Self {
            cpu: host.process.cpu_time()?,
            database: site.database_cpu()?,
            metrics: host.metrics()?,
        })
    }

    /// Returns the cost of each of `requests` since `before`.
    fn since(&self, before: &Self, kind: RequestKind, requests: f64) -> Result<RequestCost> {
        let moved = |name: &str| {
            Ok::<_, anyhow::Error>((self.metrics.sum(name)? - before.metrics.sum(name)?) / requests)
        };
        Ok(RequestCost {
            kind,
            cpu: self.cpu.since(before.cpu) / requests * 1e6,
            database: (self.database - before.database) / requests * 1e6,
            reads: moved("yearbook_storage_reads_total")?,
            bytes: moved("yearbook_http_response_bytes_total")?,
            rate: None,
        })
    }
}
