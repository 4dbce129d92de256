//! Traffic of the clients: whole exports and small pages, searches and files, mistakes, giving up
//! half-way, reading slowly. Each kind knows which answers are right for it.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Read as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context as _, Result};
use serde_json::Value;
use yearbook_generate::SplitMix64;

use crate::http::{self, HttpRequest};

/// Formats that are always there.
const FORMATS: [&str; 4] = ["json", "csv", "arrow", "parquet"];

/// A published dataset, as far as requests need it.
pub(super) struct SoakDataset {
    name: String,
    namespace: String,
    dated: bool,
    /// True if its file may be downloaded.
    bulk: bool,
}

/// A server and what it serves.
pub(super) struct SoakTarget {
    pub(super) base: String,
    pub(super) key: String,
    pub(super) datasets: Vec<SoakDataset>,
}

/// Behaviour of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ClientKind {
    /// A hundred rows in some format.
    Page,
    /// All rows.
    Export,
    /// Rows with some text in a dimension.
    Search,
    /// The catalog, a description, a project for a tool.
    Document,
    /// A range of a stored file.
    File,
    /// Requests that must be refused.
    Mistake,
    /// Begins an export and goes away.
    GivesUp,
    /// Reads an export for some seconds, a little at a time.
    Slow,
    /// The format that comes and goes.
    Swapped,
}

impl ClientKind {
    /// Clients, in a thread each: the common kinds have two.
    pub(super) const CLIENTS: [Self; 12] = [
        Self::Page,
        Self::Page,
        Self::Export,
        Self::Export,
        Self::Search,
        Self::Document,
        Self::File,
        Self::Mistake,
        Self::GivesUp,
        Self::Slow,
        Self::Slow,
        Self::Swapped,
    ];

    /// Statuses that are right.
    fn expected(self) -> &'static [u16] {
        match self {
            Self::File => &[206],
            Self::Mistake => &[400, 401, 404, 414, 422],
            // Removed: no such format, and none that may serve while it goes.
            Self::Swapped => &[200, 422, 503],
            _ => &[200],
        }
    }
}

/// End of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RequestEnd {
    /// With this status, and its body whole or left by the client.
    Answered(u16),
    /// Before its end.
    Cut,
    /// With no answer.
    Lost,
}

/// Ends of the requests of one kind.
#[derive(Debug, Default)]
pub(super) struct RequestEnds(BTreeMap<RequestEnd, u64>);

/// Ends of all requests.
#[derive(Default)]
pub(super) struct TrafficOutcomes(Mutex<BTreeMap<ClientKind, RequestEnds>>);

impl TrafficOutcomes {
    pub(super) fn count(&self, kind: ClientKind, end: RequestEnd) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *all.entry(kind).or_default().0.entry(end).or_default() += 1;
    }

    pub(super) fn take(&self) -> BTreeMap<ClientKind, RequestEnds> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl RequestEnds {
    /// Returns true if some were answered, and none otherwise than clients of this kind should be.
    pub(super) fn are_expected(&self, kind: ClientKind) -> bool {
        let is_expected = |end: &RequestEnd| match end {
            RequestEnd::Answered(status) => kind.expected().contains(status),
            RequestEnd::Cut | RequestEnd::Lost => false,
        };
        !self.0.is_empty() && self.0.keys().all(is_expected)
    }
}

impl fmt::Display for RequestEnds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = self.0.iter().map(|(end, count)| format!("{count} times {end:?}"));
        f.write_str(&counts.collect::<Vec<_>>().join(", "))
    }
}

impl SoakDataset {
    pub(super) fn read(descriptor: &Path) -> Result<Self> {
        let failed = || format!("cannot read {}", descriptor.display());
        let text = std::fs::read_to_string(descriptor).with_context(failed)?;
        let value: Value = serde_json::from_str(&text).with_context(failed)?;
        let text = |value: &Value| value.as_str().map(str::to_owned).with_context(failed);
        let yearbook = &value["yearbook"];
        Ok(Self {
            name: text(&value["name"])?,
            namespace: text(&yearbook["namespace"])?,
            dated: yearbook["date_filter_column"].is_string(),
            bulk: yearbook["bulk_redistribution"] != false,
        })
    }
}

impl SoakTarget {
    /// Sends one request of a kind; `turn` decides which.
    pub(super) fn send(&self, kind: ClientKind, turn: u64) -> RequestEnd {
        let Ok(answer) = http::send(&self.request(kind, turn)) else {
            return RequestEnd::Lost;
        };
        let status = answer.status().as_u16();
        let mut body = answer.into_body().into_reader();
        let ended = match kind {
            ClientKind::GivesUp => Ok(0),
            // After three seconds it has seen enough.
            ClientKind::Slow => (0..30).try_fold(0, |bytes, _| {
                sleep(Duration::from_millis(100));
                body.read(&mut [0; 4 << 10]).map(|read| bytes + read as u64)
            }),
            _ => std::io::copy(&mut body, &mut std::io::sink()),
        };
        if ended.is_ok() { RequestEnd::Answered(status) } else { RequestEnd::Cut }
    }

    fn request(&self, kind: ClientKind, turn: u64) -> HttpRequest {
        let some = |of: usize| {
            usize::try_from(SplitMix64::new(turn).next_u64() % of as u64).unwrap_or_default()
        };
        let ask = |path: String| {
            HttpRequest::get(format!("{}{path}", self.base)).with("X-API-Key", &self.key)
        };
        let SoakDataset { name, dated, .. } = &self.datasets[some(self.datasets.len())];
        let format = FORMATS[usize::try_from(turn % 4).unwrap_or_default()];
        let data = |query: &str| format!("/v1/datasets/{name}/data?{query}");
        let all = if *dated { "start=0001-01-01&limit=0" } else { "limit=100000000" };
        ask(match kind {
            ClientKind::Page => data(&format!("format={format}&limit=100")),
            ClientKind::Export | ClientKind::GivesUp | ClientKind::Slow => {
                data(&format!("format={format}&{all}"))
            }
            ClientKind::Search => data(&format!("dimensions=a{}&limit=50", turn % 10)),
            ClientKind::Swapped => data("format=ndjson&limit=1000"),
            ClientKind::Document => match turn % 5 {
                0 => "/v1/datasets".to_owned(),
                1 => format!("/v1/datasets/{name}"),
                2 => format!("/v1/datasets/{name}/preview"),
                3 => format!("/v1/integrations/meltano?datasets={name}"),
                _ => "/openapi.json".to_owned(),
            },
            ClientKind::File => {
                let mut files = self.datasets.iter().filter(|dataset| dataset.bulk);
                let file = files.nth(some(8)).unwrap_or(&self.datasets[0]);
                return ask(format!("/v1/bulk/{}/{}", file.namespace, file.name))
                    .with("Range", format!("bytes={}-", turn % 1_000));
            }
            ClientKind::Mistake => match turn % 5 {
                0 => "/v1/datasets/no_such_table/data".to_owned(),
                1 => data("limit=-1"),
                2 => data(&format!("cursor=%00%ff{turn}")),
                3 => data(&format!("columns={}", "x,".repeat(9_000))),
                _ => {
                    return HttpRequest::get(format!("{}/v1/me", self.base))
                        .with("X-API-Key", "yb_no_such_key");
                }
            },
        })
    }
}
