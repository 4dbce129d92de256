//! Targets, against the figures. Owns the numbers of the targets; a target that was missed is a
//! line of a table, never a failure.

use serde::Serialize;

use super::growth;
use super::peers::{CACHED, DATASETTE, FASTAPI, ROAPI, YEARBOOK};
use crate::measurements::Measurements;

/// One target.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct PerformanceTarget {
    pub(super) what: String,
    /// The unit of both numbers.
    pub(super) unit: &'static str,
    pub(super) bound: TargetBound,
    /// None where it was not measured.
    pub(super) measured: Option<f64>,
    pub(super) met: Option<bool>,
}

/// Bound of a number.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum TargetBound {
    /// This or more.
    AtLeast(f64),
    /// This or less.
    AtMost(f64),
}

impl TargetBound {
    fn holds(self, measured: f64) -> bool {
        match self {
            Self::AtLeast(bound) => measured >= bound,
            Self::AtMost(bound) => measured <= bound,
        }
    }
}

/// Times as fast as arrow-rs's writer, native: format, table, one instance, two.
const ENCODERS: [(&str, f64, Option<f64>); 13] = [
    ("csv long", 2.5, None),
    ("csv wide", 2.5, None),
    ("csv spatial", 2.0, None),
    ("json long", 1.8, None),
    ("json wide", 1.3, None),
    ("json spatial", 5.0, None),
    ("arrow long", 0.5, None),
    ("arrow.dictionaries=true long", 1.5, None),
    ("arrow wide", 0.9, None),
    ("arrow spatial", 0.9, None),
    ("parquet long", 0.6, Some(1.1)),
    ("parquet wide", 0.6, Some(1.1)),
    ("parquet spatial", 0.6, Some(1.1)),
];

/// Tables that Arrow is encoded of; the small one is left out, whose time is that of an instance.
const ARROW: [&str; 5] = [
    "arrow long",
    "arrow.dictionaries=true long",
    "arrow wide",
    "arrow spatial",
    "arrow boundaries",
];
/// Time in the sandbox by that of the same encoder natively.
const SANDBOX_COST: f64 = 1.15;

/// Resident memory that an export may add, mebibytes.
const GROWTH_MIB: f64 = 128.0;
/// Resident memory that 32 exports at once may add, mebibytes: 16 for each (decision 0093).
const CONCURRENT_MIB: f64 = 512.0;
/// To the first byte of an export, milliseconds.
const FIRST_BYTE_MS: f64 = 50.0;
/// The same for an export with geometry.
const AREAS_FIRST_BYTE_MS: f64 = 10.0;

/// Every target, in the order of the parts.
pub(super) fn evaluate(figures: &Measurements) -> Vec<PerformanceTarget> {
    let judge = TargetEvaluator(figures);
    let mut targets = judge.encoders();
    targets.extend(judge.requests());
    targets.extend(judge.exports());
    targets.extend(judge.growth());
    targets
}

struct TargetEvaluator<'a>(&'a Measurements);

impl TargetEvaluator<'_> {
    fn value(&self, part: &str, case: &str, who: &str, name: &str) -> Option<f64> {
        self.0.value(part, case, who, name)
    }

    fn encoders(&self) -> Vec<PerformanceTarget> {
        let speed =
            |case: &str, who: &str| self.value("encode", case, who, "million_rows_a_second");
        let mut targets = Vec::new();
        for (case, one, two) in ENCODERS {
            let native = speed(case, "arrow-rs");
            let times = |who| ratio(speed(case, who), native);
            targets.push(target(
                format!("{case}: sandbox, one thread, against arrow-rs native"),
                "×",
                TargetBound::AtLeast(one),
                times("sandbox"),
            ));
            if let Some(two) = two {
                let what = format!("{case}: sandbox, two instances, against arrow-rs native");
                targets.push(target(what, "×", TargetBound::AtLeast(two), times("sandbox x2")));
            }
        }
        for case in ARROW {
            let what = format!("{case}: time in the sandbox by our own encoder's, native");
            let cost = ratio(speed(case, "native"), speed(case, "sandbox"));
            targets.push(target(what, "×", TargetBound::AtMost(SANDBOX_COST), cost));
        }
        for (format, bound, spatial) in [("csv", 1.5, 0.7), ("json", 3.0, 3.0)] {
            for (table, bound) in [("long", bound), ("wide", bound), ("spatial", spatial)] {
                let case = format!("{format} {table}");
                let best = maximum(["pyarrow", "polars", "duckdb"].map(|who| speed(&case, who)));
                let what =
                    format!("{case}: sandbox against the best of pyarrow, polars and DuckDB");
                targets.push(target(
                    what,
                    "×",
                    TargetBound::AtLeast(bound),
                    ratio(speed(&case, "sandbox"), best),
                ));
            }
        }
        targets
    }

    fn requests(&self) -> Vec<PerformanceTarget> {
        let of = |case: &str, who: &str, name: &str| self.value("requests", case, who, name);
        let rate = |case: &str, who: &str| of(case, who, "requests_a_second");
        let (rows, year, late) =
            ("100 rows, JSON", "one year, limit 1,000", "search, first match after 96 %");
        let slow = |who: &str| of(rows, who, "p99_ms");
        let peers = maximum([ROAPI, DATASETTE, FASTAPI].map(|who| rate(late, who)));
        let health = rate("/health", YEARBOOK);
        let hidden = ratio(
            rate("100 areas, geometry=false", YEARBOOK),
            rate("100 areas that never had geometry", YEARBOOK),
        );
        let areas = "100 areas with geometry";
        vec![
            target(
                "100 rows, JSON, fresh sandbox: requests against ROAPI",
                "×",
                TargetBound::AtLeast(8.0),
                ratio(rate(rows, YEARBOOK), rate(rows, ROAPI)),
            ),
            target(
                "100 rows, JSON, fresh sandbox: p99 of ROAPI's",
                "×",
                TargetBound::AtMost(0.2),
                ratio(slow(YEARBOOK), slow(ROAPI)),
            ),
            target(
                "100 rows, JSON, cached: requests of /health against it",
                "×",
                TargetBound::AtMost(2.0),
                ratio(health, rate(rows, CACHED)),
            ),
            target(
                "304: requests of /health against it",
                "×",
                TargetBound::AtMost(2.0),
                ratio(health, rate("304 to If-None-Match", YEARBOOK)),
            ),
            target(
                "one year, limit 1,000: requests against ROAPI",
                "×",
                TargetBound::AtLeast(8.0),
                ratio(rate(year, YEARBOOK), rate(year, ROAPI)),
            ),
            target(
                "search, first match after 96 %: requests against the best peer",
                "×",
                TargetBound::AtLeast(5.0),
                ratio(rate(late, YEARBOOK), peers),
            ),
            target(
                "100 areas, geometry=false: requests against a table that never had geometry",
                "×",
                TargetBound::AtLeast(0.9),
                hidden,
            ),
            target(
                format!("{areas}: requests against ROAPI"),
                "×",
                TargetBound::AtLeast(2.0),
                ratio(rate(areas, YEARBOOK), rate(areas, ROAPI)),
            ),
            target(
                format!("{areas}: p99 of ROAPI's"),
                "×",
                TargetBound::AtMost(0.5),
                ratio(of(areas, YEARBOOK, "p99_ms"), of(areas, ROAPI, "p99_ms")),
            ),
        ]
    }

    fn exports(&self) -> Vec<PerformanceTarget> {
        let of = |case: &str, who: &str, name: &str| self.value("exports", case, who, name);
        let seconds = |case: &str, who: &str| of(case, who, "seconds");
        let mut targets = Vec::new();
        let long = ["long, JSON", "long, CSV", "long, Arrow", "long, Parquet"];
        for case in long {
            let what = format!("{case}, whole: first byte");
            targets.push(target(
                what,
                "ms",
                TargetBound::AtMost(FIRST_BYTE_MS),
                of(case, YEARBOOK, "first_byte_ms"),
            ));
        }
        for case in &long[..2] {
            let what = format!("{case}, whole: speed against ROAPI");
            targets.push(target(
                what,
                "×",
                TargetBound::AtLeast(2.0),
                ratio(seconds(case, ROAPI), seconds(case, YEARBOOK)),
            ));
        }
        for case in long {
            let what = format!("{case}, whole: speed against FastAPI with pyarrow");
            targets.push(target(
                what,
                "×",
                TargetBound::AtLeast(1.0),
                ratio(seconds(case, FASTAPI), seconds(case, YEARBOOK)),
            ));
        }
        for format in ["CSV", "Parquet"] {
            let without = seconds(&format!("areas, geometry=false, {format}"), YEARBOOK);
            let never = seconds(&format!("areas that never had geometry, {format}"), YEARBOOK);
            let what = format!(
                "areas, geometry=false, {format}: time against a table that never had geometry"
            );
            targets.push(target(what, "×", TargetBound::AtMost(1.1), ratio(without, never)));
        }
        for (format, bound) in [("JSON", 1.5), ("CSV", 1.5), ("Parquet", 1.0)] {
            let case = format!("areas with geometry, {format}");
            let size = |who: &str| of(&case, who, "megabytes");
            // Peers whose files are much larger did less work.
            let comparable = |who: &&str| {
                format != "Parquet"
                    || ratio(size(who), size(YEARBOOK)).is_some_and(|share| share <= 1.1)
            };
            let peers = [ROAPI, DATASETTE, FASTAPI].into_iter().filter(comparable);
            let speeds = peers.map(|who| ratio(Some(1.0), seconds(&case, who)));
            let ours = ratio(Some(1.0), seconds(&case, YEARBOOK));
            targets.push(target(
                format!("{case}: speed against the best peer"),
                "×",
                TargetBound::AtLeast(bound),
                ratio(ours, maximum(speeds)),
            ));
            targets.push(target(
                format!("{case}: first byte"),
                "ms",
                TargetBound::AtMost(AREAS_FIRST_BYTE_MS),
                of(&case, YEARBOOK, "first_byte_ms"),
            ));
        }
        targets
    }

    fn growth(&self) -> Vec<PerformanceTarget> {
        let of = |case: &str, name: &str| self.value("growth", case, YEARBOOK, name);
        let mut targets = Vec::new();
        for format in ["json", "csv", "arrow", "parquet"] {
            let (ten, one) =
                (format!("10000000 rows, {format}"), format!("1000000 rows, {format}"));
            let longer = ratio(of(&ten, "seconds"), of(&one, "seconds"));
            targets.push(target(
                format!("10 M rows, {format}: memory above idle"),
                "MiB",
                TargetBound::AtMost(GROWTH_MIB),
                of(&ten, "above_idle_mib"),
            ));
            targets.push(target(
                format!("10 M rows, {format}: first byte"),
                "ms",
                TargetBound::AtMost(FIRST_BYTE_MS),
                of(&ten, "first_byte_ms"),
            ));
            targets.push(target(
                format!("10 M rows, {format}: time against 1 M rows"),
                "×",
                TargetBound::AtMost(10.5),
                longer,
            ));
        }
        targets.push(target(
            format!("{}: memory above idle", growth::CONCURRENT_CASE),
            "MiB",
            TargetBound::AtMost(CONCURRENT_MIB),
            of(growth::CONCURRENT_CASE, "above_idle_mib"),
        ));
        targets
    }
}

fn target(
    what: impl Into<String>,
    unit: &'static str,
    bound: TargetBound,
    measured: Option<f64>,
) -> PerformanceTarget {
    PerformanceTarget {
        what: what.into(),
        unit,
        bound,
        measured,
        met: measured.map(|measured| bound.holds(measured)),
    }
}

fn ratio(over: Option<f64>, under: Option<f64>) -> Option<f64> {
    Some(over? / under?)
}

/// The highest of those that there are.
fn maximum(values: impl IntoIterator<Item = Option<f64>>) -> Option<f64> {
    values.into_iter().flatten().max_by(f64::total_cmp)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_met_missed_or_not_measured() {
        let mut figures = Measurements::default();
        figures.add("encode", "csv long", "arrow-rs", [("million_rows_a_second", 4.0)]);
        figures.add("encode", "csv long", "sandbox", [("million_rows_a_second", 10.0)]);
        figures.add("encode", "csv long", "polars", [("million_rows_a_second", 8.0)]);
        let targets = evaluate(&figures);
        let of = |what: &str| {
            targets
                .iter()
                .find(|target| target.what.starts_with(what))
                .map(|target| (target.measured, target.met))
        };
        assert_eq!(of("csv long: sandbox, one thread"), Some((Some(2.5), Some(true))));
        assert_eq!(of("csv long: sandbox against the best"), Some((Some(1.25), Some(false))));
        assert_eq!(of("csv wide: sandbox, one thread"), Some((None, None)));
    }
}
