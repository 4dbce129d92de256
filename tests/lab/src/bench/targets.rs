//! Targets, against the figures. The list is `targets.txt`: the words of each target, its bound,
//! and the part, case, peer and value that it is about, where `A : B` is what A has by what B has.
//! A target that was missed is a line of a table, never a failure.

use anyhow::{Context as _, Result, bail};
use serde::Serialize;

use crate::measurements::Measurements;

const TARGETS: &str = include_str!("targets.txt");

/// One target that was measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct PerformanceTarget {
    pub(super) what: &'static str,
    /// A sign and a number.
    pub(super) bound: String,
    /// The unit of both numbers.
    pub(super) unit: &'static str,
    pub(super) measured: f64,
    pub(super) met: bool,
}

/// Every target that was measured, in the order of the list.
pub(super) fn evaluate(figures: &Measurements) -> Result<Vec<PerformanceTarget>> {
    let mut targets = Vec::new();
    for line in TARGETS.lines() {
        let evaluated = evaluate_one(line, figures);
        targets
            .extend(evaluated.with_context(|| format!("cannot understand the target {line:?}"))?);
    }
    Ok(targets)
}

fn evaluate_one(line: &'static str, figures: &Measurements) -> Result<Option<PerformanceTarget>> {
    let columns: Vec<&str> = line.split(" | ").collect();
    let [what, bound, part, case, who, name] = columns[..] else { bail!("not six columns") };
    let [sign, number, unit] = bound.split(' ').collect::<Vec<_>>()[..] else {
        bail!("a bound is a sign, a number and a unit")
    };
    let limit: f64 = number.parse().context("the bound is no number")?;
    let [(case, other_case), (who, other)] =
        [case, who].map(|both| both.split_once(" : ").unwrap_or((both, both)));
    let value = figures.value(part, case, who, name);
    let measured = if (case, who) == (other_case, other) {
        value
    } else {
        value.zip(figures.value(part, other_case, other, name)).map(|(over, under)| over / under)
    };
    Ok(measured.map(|measured| PerformanceTarget {
        what,
        bound: format!("{sign} {number}"),
        unit,
        measured,
        met: if sign == "≥" { measured >= limit } else { measured <= limit },
    }))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn a_target_is_met_missed_or_not_measured() {
        let mut figures = Measurements::default();
        for (who, speed) in [("arrow-rs", 4.0), ("sandbox", 10.0), ("polars", 8.0)] {
            figures.add("encode", "csv long", who, [("million_rows_a_second", speed)]);
        }
        figures.add("exports", "long, CSV", "Yearbook", [("first_byte_ms", 51.0)]);
        let targets = evaluate(&figures).unwrap();
        let found: Vec<_> =
            targets.iter().map(|target| (target.what, target.measured, target.met)).collect();
        let expected = [
            ("csv long: sandbox, one thread, against arrow-rs native", 2.5, true),
            ("csv long: sandbox against the best of pyarrow, polars and DuckDB", 1.25, false),
            ("long, CSV, whole: first byte", 51.0, false),
        ];
        assert_eq!(found, expected);
    }
}
