//! An estimate for a load from the costs: sums and lines through two points, nothing else. Owns the
//! assumed mix of requests.

use anyhow::{Context as _, Result};

use super::catalog_costs::CatalogCosts;
use super::costs::{RequestCosts, RequestKind};

/// Of a thousand requests, so many are of this kind. Assumed.
pub(super) const TRAFFIC_MIX: [(RequestKind, f64); 7] = [
    (RequestKind::NotModified, 200.0),
    (RequestKind::Cached, 250.0),
    (RequestKind::Page, 390.0),
    (RequestKind::Limited, 60.0),
    (RequestKind::Year, 90.0),
    (RequestKind::Metadata, 9.0),
    (RequestKind::Export, 1.0),
];

/// Requests a second and datasets that everything else is a multiple of.
pub(super) const REQUESTS: f64 = 1_000.0;
pub(super) const DATASETS: f64 = 1_500.0;

/// Largest utilisation of a core at which requests do not wait long. Assumed.
pub(super) const TARGET_UTILISATION: f64 = 0.5;

/// Refreshes of a dataset in a day. Assumed.
pub(super) const REFRESHES_A_DAY: f64 = 1.0;

const SECONDS_A_DAY: f64 = 86_400.0;

/// Resources that a load takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct CapacityEstimate {
    /// Cores of all hosts.
    pub(super) cores: f64,
    /// Cores of the database.
    pub(super) database: f64,
    /// Reads of the store a second.
    pub(super) reads: f64,
    /// Gigabits a second to clients.
    pub(super) gigabits: f64,
    pub(super) refreshes_a_second: f64,
    /// Milliseconds that a host takes to read the catalog again.
    pub(super) read: f64,
    /// Part of its time that a host reads the catalog; above 1 it never comes to an end.
    pub(super) reading: f64,
    /// Mebibytes of the catalog in each host.
    pub(super) catalog_mib: f64,
    /// Megabytes of `/v1/datasets`.
    pub(super) list_megabytes: f64,
    /// Seconds to start a host.
    pub(super) start: f64,
}

/// Estimates the resources for `times` as much of everything.
pub(super) fn needs(
    costs: &RequestCosts,
    catalogs: &[CatalogCosts],
    times: f64,
) -> Result<CapacityEstimate> {
    let load = REQUESTS * times;
    let mean = |of: fn(&super::costs::RequestCost) -> f64| {
        let parts = TRAFFIC_MIX.iter().map(|&(kind, share)| {
            costs
                .0
                .iter()
                .filter(move |cost| cost.kind == kind)
                .map(move |cost| of(cost) * share / 1_000.0)
        });
        parts.flatten().sum::<f64>()
    };
    let datasets = DATASETS * times;
    let refreshes_a_second = datasets * REFRESHES_A_DAY / SECONDS_A_DAY;
    let read = fit_line(catalogs, |catalog| catalog.read)?.at(datasets);
    Ok(CapacityEstimate {
        cores: load * mean(|cost| cost.cpu) / 1e6 / TARGET_UTILISATION,
        database: load * mean(|cost| cost.database) / 1e6 / TARGET_UTILISATION,
        reads: load * mean(|cost| cost.reads),
        gigabits: load * mean(|cost| cost.bytes) * 8.0 / 1e9,
        refreshes_a_second,
        read,
        reading: refreshes_a_second * read / 1e3,
        catalog_mib: fit_line(catalogs, |catalog| catalog.resident_mib)?.slope * datasets,
        list_megabytes: fit_line(catalogs, |catalog| catalog.list_bytes as f64)?.at(datasets) / 1e6,
        start: fit_line(catalogs, |catalog| catalog.start)?.at(datasets) / 1e3,
    })
}

/// A line through the first and the last point.
#[derive(Clone, Copy, Debug)]
struct LinearFit {
    base: f64,
    slope: f64,
}

impl LinearFit {
    fn at(self, datasets: f64) -> f64 {
        self.base + self.slope * datasets
    }
}

fn fit_line(catalogs: &[CatalogCosts], of: impl Fn(&CatalogCosts) -> f64) -> Result<LinearFit> {
    let (first, last) = (
        catalogs.first().context("nothing was measured")?,
        catalogs.last().context("nothing was measured")?,
    );
    anyhow::ensure!(
        first.datasets < last.datasets,
        "what more datasets cost can be told from two numbers of them, the smaller first"
    );
    let slope = (of(last) - of(first)) / (last.datasets - first.datasets) as f64;
    Ok(LinearFit { base: of(first) - slope * first.datasets as f64, slope })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::super::costs::RequestCost;
    use super::*;
    use crate::wrk::LoadResult;

    fn catalog(datasets: u64, value: f64) -> CatalogCosts {
        let list = LoadResult { rate: 1.0, p50: 1.0, p99: 1.0, requests: 1.0 };
        CatalogCosts {
            datasets,
            publish: 1.0,
            start: value,
            resident_mib: value,
            idle: 0.0,
            list_bytes: datasets * 1_000,
            list_first: 1.0,
            list,
            seen: 1.0,
            seen_latest: 1.0,
            read: value,
        }
    }

    #[test]
    fn a_load_takes_the_sum_of_its_requests_and_datasets_lie_on_a_line() {
        let costs = RequestCosts(
            RequestKind::ALL
                .map(|kind| RequestCost {
                    kind,
                    cpu: 100.0,
                    database: 0.0,
                    reads: 2.0,
                    bytes: 1e6,
                    rate: None,
                })
                .into(),
        );
        let catalogs = [catalog(100, 12.0), catalog(1_100, 22.0)];
        let needs = needs(&costs, &catalogs, 10.0).unwrap();
        let close = |found: f64, expected: f64| {
            assert!((found - expected).abs() < 1e-6 * expected, "{found} {expected}")
        };
        close(needs.cores, 10_000.0 * 100e-6 / TARGET_UTILISATION);
        close(needs.reads, 20_000.0);
        close(needs.gigabits, 80.0);
        close(needs.read, 11.0 + 150.0);
        close(needs.list_megabytes, 15.0);
        close(needs.reading, 15_000.0 / 86_400.0 * 0.161);
    }

    #[test]
    fn the_mix_is_of_a_thousand_requests() {
        assert!(
            (TRAFFIC_MIX.iter().map(|(_, share)| share).sum::<f64>() - 1_000.0).abs()
                < f64::EPSILON
        );
    }
}
