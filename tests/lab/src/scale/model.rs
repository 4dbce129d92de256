//! An estimate for a load from the costs: sums and lines through two points, nothing else. Owns
//! what is assumed.

use anyhow::{Context as _, Result, ensure};

use super::requests::KINDS;
use super::{catalog, requests};
use crate::measurements::{Measurement, Measurements};

/// Requests a second and datasets that everything else is a multiple of.
pub(super) const REQUESTS: f64 = 1_000.0;
pub(super) const DATASETS: f64 = 1_500.0;

/// Largest utilisation of a core at which requests do not wait long. Assumed.
pub(super) const TARGET_UTILISATION: f64 = 0.5;

/// Refreshes of a dataset in a day. Assumed.
pub(super) const REFRESHES_A_DAY: f64 = 1.0;

const SECONDS_A_DAY: f64 = 86_400.0;

/// The assumed mix of a thousand requests, in words.
pub(super) fn mix() -> String {
    let parts = KINDS.iter().map(|(name, share)| format!("{share} × {name}"));
    parts.collect::<Vec<_>>().join(", ")
}

/// Estimates, from what was measured with `database`, what `times` as much of everything takes, in
/// the order of the page: cores of all hosts and of the database, reads of the store a second,
/// gigabits a second to clients, refreshes a second, seconds that a host takes to read the catalog
/// again, the part of its time in which it does so (above 1 it never comes to an end), mebibytes of
/// the catalog in each host, megabytes of `/v1/datasets`, and seconds to start a host.
pub(super) fn needs(figures: &Measurements, database: &str, times: f64) -> Result<[f64; 10]> {
    let load = REQUESTS * times;
    let mean = |name: &str| -> Result<f64> {
        let mut mean = 0.0;
        for (kind, share) in KINDS {
            let cost = figures.value(requests::PART, kind, database, name);
            mean += cost.with_context(|| format!("no {name} of {kind}"))? * share / 1e3;
        }
        Ok(mean)
    };
    let datasets = DATASETS * times;
    let line = |name: &str| fit_line(figures, database, name);
    let refreshes_a_second = datasets * REFRESHES_A_DAY / SECONDS_A_DAY;
    let read = line("read_ms")?.at(datasets) / 1e3;
    Ok([
        load * mean("cpu_us")? / 1e6 / TARGET_UTILISATION,
        load * mean("database_us")? / 1e6 / TARGET_UTILISATION,
        load * mean("reads")?,
        load * mean("bytes")? * 8.0 / 1e9,
        refreshes_a_second,
        read,
        refreshes_a_second * read,
        line("resident_mib")?.slope * datasets,
        line("list_kilobytes")?.at(datasets) / 1e3,
        line("start_ms")?.at(datasets) / 1e3,
    ])
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

fn fit_line(figures: &Measurements, database: &str, name: &str) -> Result<LinearFit> {
    let points: Vec<&Measurement> = figures.of_part(catalog::PART);
    let mut points = points.into_iter().filter(|figure| figure.who == database);
    let point = |figure: Option<&Measurement>| -> Result<(f64, f64)> {
        let figure = figure.context("nothing was measured")?;
        let value = figure.values.get(name).copied();
        Ok((figure.case.parse()?, value.with_context(|| format!("no {name}"))?))
    };
    let (first, last) = (points.next(), points.next_back());
    ensure!(
        last.is_some(),
        "what more datasets cost can be told from two numbers of them, the smaller first"
    );
    let ((few, least), (many, most)) = (point(first)?, point(last)?);
    ensure!(few < many, "numbers of datasets have to grow");
    let slope = (most - least) / (many - few);
    Ok(LinearFit { base: least - slope * few, slope })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn a_load_takes_the_sum_of_its_requests_and_datasets_lie_on_a_line() {
        let mut figures = Measurements::default();
        for (kind, _) in KINDS {
            let cost = [("cpu_us", 100.0), ("database_us", 0.0), ("reads", 2.0), ("bytes", 1e6)];
            figures.add(requests::PART, kind, "SQLite", cost);
        }
        for (datasets, value) in [("100", 12.0), ("600", 99.0), ("1100", 22.0)] {
            let names = ["read_ms", "resident_mib", "list_kilobytes", "start_ms"];
            figures.add(catalog::PART, datasets, "SQLite", names.map(|name| (name, value)));
        }
        let needs = needs(&figures, "SQLite", 10.0).unwrap();
        let expected = [
            10_000.0 * 100e-6 / TARGET_UTILISATION,
            0.0,
            20_000.0,
            80.0,
            15_000.0 / 86_400.0,
            0.161,
            15_000.0 / 86_400.0 * 0.161,
            150.0,
            0.161,
            0.161,
        ];
        for (found, expected) in needs.into_iter().zip(expected) {
            assert!((found - expected).abs() <= 1e-6 * expected, "{found} {expected}");
        }
        assert!(super::needs(&figures, "PostgreSQL", 1.0).is_err());
    }

    #[test]
    fn the_mix_is_of_a_thousand_requests() {
        let all: f64 = KINDS.iter().map(|(_, share)| share).sum();
        assert!((all - 1_000.0).abs() < f64::EPSILON);
    }
}
