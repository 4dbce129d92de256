//! Metrics by release, and rates between two readings of them.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;
use yearbook_exposition::MetricSample;

/// Outcomes that are a plugin's own fault.
const FAILURE_OUTCOMES: [&str; 3] = ["internal", "trapped", "bad_output"];

/// Kind, name, version and digest.
type ReleaseLabels = [String; 4];

/// One reading.
#[derive(Debug, Default, PartialEq)]
pub(super) struct ReleaseReading(BTreeMap<ReleaseLabels, ReleaseCounters>);

/// Counters of one release in one reading.
#[derive(Clone, Debug, Default, PartialEq)]
struct ReleaseCounters {
    responses: f64,
    cpu_seconds: f64,
    memory_bytes: f64,
    instances: f64,
    waiting: f64,
    traps: f64,
    failures: f64,
    refused: f64,
    /// Cumulative counts by upper bound, ascending.
    buckets: Vec<(f64, f64)>,
}

/// A line of the table: rates and times of the last second, counts since the server's start.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct ReleaseActivity {
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) version: String,
    pub(super) release: String,
    pub(super) responses_per_second: f64,
    /// Median time to first byte, seconds; `None` without a response.
    pub(super) p50_seconds: Option<f64>,
    /// 99th percentile of the time to first byte, seconds; `None` without a response.
    pub(super) p99_seconds: Option<f64>,
    /// CPU time per time, cores.
    pub(super) cpu_share: f64,
    pub(super) memory_bytes: f64,
    pub(super) instances: f64,
    pub(super) waiting: f64,
    pub(super) responses: f64,
    pub(super) traps: f64,
    pub(super) failures: f64,
    pub(super) refused: f64,
}

impl ReleaseReading {
    /// Reads the metrics of plugins off `samples`.
    pub(super) fn from_samples(samples: &[MetricSample]) -> Self {
        let mut releases = Self::default();
        for sample in samples {
            let label = |name: &str| sample.labels.get(name).cloned().unwrap_or_default();
            let Some(metric) = sample.name.strip_prefix("yearbook_plugin_") else { continue };
            let figures = releases
                .0
                .entry([label("kind"), label("name"), label("version"), label("release")])
                .or_default();
            match metric {
                "responses_begun_total" => figures.responses = sample.value,
                "cpu_seconds_total" => figures.cpu_seconds = sample.value,
                "memory_high_water_bytes" => figures.memory_bytes = sample.value,
                "instances" => figures.instances = sample.value,
                "waiting" => figures.waiting = sample.value,
                "refused_total" => figures.refused = sample.value,
                "traps_total" => figures.traps += sample.value,
                "responses_total" if FAILURE_OUTCOMES.contains(&label("outcome").as_str()) => {
                    figures.failures += sample.value
                }
                "first_bytes_seconds_bucket" => figures
                    .buckets
                    .extend(label("le").parse().ok().map(|bound: f64| (bound, sample.value))),
                _ => {}
            }
        }
        releases
    }

    /// Activity since `earlier`, `time` ago; the busiest release first.
    pub(super) fn rates_since(&self, earlier: &Self, time: Duration) -> Vec<ReleaseActivity> {
        let seconds = time.as_secs_f64().max(f64::EPSILON);
        let nothing = ReleaseCounters::default();
        let row = |(release, now): (&ReleaseLabels, &ReleaseCounters)| {
            let before = earlier.0.get(release).unwrap_or(&nothing);
            // A server that was started again counts from zero.
            let rate = |of: fn(&ReleaseCounters) -> f64| (of(now) - of(before)).max(0.0) / seconds;
            let bucket = |(at, (bound, count)): (usize, &(f64, f64))| {
                (*bound, count - before.buckets.get(at).map_or(0.0, |(_, count)| *count))
            };
            let buckets: Vec<(f64, f64)> = now.buckets.iter().enumerate().map(bucket).collect();
            let [kind, name, version, release] = release.clone();
            ReleaseActivity {
                kind,
                name,
                version,
                release,
                responses_per_second: rate(|figures| figures.responses),
                p50_seconds: quantile(&buckets, 0.5),
                p99_seconds: quantile(&buckets, 0.99),
                cpu_share: rate(|figures| figures.cpu_seconds),
                memory_bytes: now.memory_bytes,
                instances: now.instances,
                waiting: now.waiting,
                responses: now.responses,
                traps: now.traps,
                failures: now.failures,
                refused: now.refused,
            }
        };
        let mut rows: Vec<ReleaseActivity> = self.0.iter().map(row).collect();
        rows.sort_by(|one, other| other.responses_per_second.total_cmp(&one.responses_per_second));
        rows
    }
}

/// Quantile of a histogram, by linear interpolation within a bucket as in Prometheus.
fn quantile(buckets: &[(f64, f64)], share: f64) -> Option<f64> {
    let rank = buckets.last().map(|(_, count)| count * share).filter(|rank| *rank > 0.0)?;
    let (mut lower, mut below) = (0.0, 0.0);
    for (bound, count) in buckets {
        if *count >= rank {
            // Beyond the last bound nothing is known but that.
            return Some(if bound.is_finite() {
                lower + (bound - lower) * (rank - below) / (count - below)
            } else {
                lower
            });
        }
        (lower, below) = (*bound, *count);
    }
    None
}

#[cfg(test)]
mod tests {
    use yearbook_exposition::parse_samples;

    use super::*;

    fn reading(responses: u32, fast: u32, traps: u32) -> ReleaseReading {
        let labels = "kind=\"encoder\",name=\"csv\",version=\"1\",release=\"ab\"";
        ReleaseReading::from_samples(&parse_samples(&format!(
            "yearbook_plugin_responses_begun_total{{{labels}}} {responses}\n\
             yearbook_plugin_responses_total{{{labels},outcome=\"trapped\"}} {traps}\n\
             yearbook_plugin_responses_total{{{labels},outcome=\"completed\"}} {responses}\n\
             yearbook_plugin_traps_total{{{labels},trap=\"cpu\"}} {traps}\n\
             yearbook_plugin_first_bytes_seconds_bucket{{{labels},le=\"0.001\"}} {fast}\n\
             yearbook_plugin_first_bytes_seconds_bucket{{{labels},le=\"0.01\"}} {responses}\n\
             yearbook_plugin_first_bytes_seconds_bucket{{{labels},le=\"+Inf\"}} {responses}\n\
             yearbook_workers_busy 1\n"
        )))
    }

    #[test]
    fn rates_and_times_are_of_the_time_between_two_readings() {
        let [row] =
            &reading(300, 150, 3).rates_since(&reading(100, 50, 2), Duration::from_secs(2))[..]
        else {
            panic!("one release")
        };
        assert_eq!(
            (row.responses_per_second, row.responses, row.traps, row.failures),
            (100.0, 300.0, 3.0, 3.0)
        );
        assert_eq!(row.p50_seconds, Some(0.001));
        assert!(row.p99_seconds.is_some_and(|p99| p99 > 0.0098 && p99 < 0.01), "{row:?}");
    }

    #[test]
    fn a_second_without_responses_has_no_times() {
        let [row] = &reading(5, 5, 0).rates_since(&reading(5, 5, 0), Duration::from_secs(1))[..]
        else {
            panic!("one release")
        };
        assert_eq!((row.responses_per_second, row.p50_seconds, row.p99_seconds), (0.0, None, None));
    }
}
