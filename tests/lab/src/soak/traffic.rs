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
    pub(super) const ALL: [Self; 9] = [
        Self::Page,
        Self::Export,
        Self::Search,
        Self::Document,
        Self::File,
        Self::Mistake,
        Self::GivesUp,
        Self::Slow,
        Self::Swapped,
    ];

    /// One thread each.
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
pub(super) enum RequestEnd {
    /// With this status, and its body whole or left by the client.
    Answered(u16),
    /// Before its end.
    Cut,
    /// With no answer.
    Lost,
}

/// Ends of the requests of one kind.
#[derive(Debug)]
pub(super) struct ResponseCounts {
    kind: ClientKind,
    statuses: BTreeMap<u16, u64>,
    cut: u64,
    lost: u64,
}

/// Ends of all requests.
#[derive(Default)]
pub(super) struct TrafficOutcomes(Mutex<BTreeMap<ClientKind, ResponseCounts>>);

impl TrafficOutcomes {
    pub(super) fn count(&self, kind: ClientKind, ended: RequestEnd) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let of_kind = all.entry(kind).or_insert_with(|| ResponseCounts {
            kind,
            statuses: BTreeMap::new(),
            cut: 0,
            lost: 0,
        });
        match ended {
            RequestEnd::Answered(status) => *of_kind.statuses.entry(status).or_default() += 1,
            RequestEnd::Cut => of_kind.cut += 1,
            RequestEnd::Lost => of_kind.lost += 1,
        }
    }

    pub(super) fn all(&self) -> Vec<(ClientKind, ResponseCounts)> {
        let all = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        all.into_iter().collect()
    }
}

impl ResponseCounts {
    /// Some were answered, and none otherwise than it should be.
    pub(super) fn all_as_expected(&self) -> bool {
        let right = self.statuses.keys().all(|status| self.kind.expected().contains(status));
        right && !self.statuses.is_empty() && self.cut == 0 && self.lost == 0
    }
}

impl fmt::Display for ResponseCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (status, count) in &self.statuses {
            write!(f, "{count} times {status}, ")?;
        }
        write!(f, "{} cut, {} lost", self.cut, self.lost)
    }
}

impl SoakDataset {
    pub(super) fn read(descriptor: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(descriptor)
            .with_context(|| format!("cannot read {}", descriptor.display()))?;
        let value: Value = serde_json::from_str(&text)
            .with_context(|| format!("{} is not JSON", descriptor.display()))?;
        let text = |value: &Value| {
            value.as_str().map(str::to_owned).context("a descriptor without a name")
        };
        Ok(Self {
            name: text(&value["name"])?,
            namespace: text(&value["yearbook"]["namespace"])?,
            dated: value["yearbook"]["date_filter_column"].is_string(),
            bulk: value["yearbook"]["bulk_redistribution"].as_bool() != Some(false),
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
        let some =
            |of: usize| usize::try_from(SplitMix64::new(turn).next_u64() % of as u64).unwrap_or(0);
        let dataset = &self.datasets[some(self.datasets.len())];
        let format = FORMATS[usize::try_from(turn % 4).unwrap_or(0)];
        let name = &dataset.name;
        let all = if dataset.dated { "start=0001-01-01&limit=0" } else { "limit=100000000" };
        let path = match kind {
            ClientKind::Page => format!("/v1/datasets/{name}/data?format={format}&limit=100"),
            ClientKind::Export | ClientKind::GivesUp | ClientKind::Slow => {
                format!("/v1/datasets/{name}/data?format={format}&{all}")
            }
            ClientKind::Search => {
                format!("/v1/datasets/{name}/data?dimensions=a{}&limit=50", turn % 10)
            }
            ClientKind::Document => match turn % 5 {
                0 => "/v1/datasets".to_owned(),
                1 => format!("/v1/datasets/{name}"),
                2 => format!("/v1/datasets/{name}/preview"),
                3 => format!("/v1/integrations/meltano?datasets={name}"),
                _ => "/openapi.json".to_owned(),
            },
            ClientKind::File => {
                let file = self
                    .datasets
                    .iter()
                    .filter(|dataset| dataset.bulk)
                    .nth(some(8))
                    .unwrap_or(&self.datasets[0]);
                let ask = HttpRequest::get(format!(
                    "{}/v1/bulk/{}/{}",
                    self.base, file.namespace, file.name
                ));
                return ask
                    .with("X-API-Key", &self.key)
                    .with("Range", format!("bytes={}-", turn % 1_000));
            }
            ClientKind::Mistake => match turn % 5 {
                0 => "/v1/datasets/no_such_table/data".to_owned(),
                1 => format!("/v1/datasets/{name}/data?limit=-1"),
                2 => format!("/v1/datasets/{name}/data?cursor=%00%ff{turn}"),
                3 => format!("/v1/datasets/{name}/data?columns={}", "x,".repeat(9_000)),
                _ => {
                    return HttpRequest::get(format!("{}/v1/me", self.base))
                        .with("X-API-Key", "yb_no_such_key");
                }
            },
            ClientKind::Swapped => format!("/v1/datasets/{name}/data?format=ndjson&limit=1000"),
        };
        HttpRequest::get(format!("{}{path}", self.base)).with("X-API-Key", &self.key)
    }
}
