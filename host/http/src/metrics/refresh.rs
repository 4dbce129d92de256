//! Last checks of sources by `yearbook refresh`, as the catalog has them (contract-8-last-check):
//! the command itself is gone before anybody could scrape it.

use std::fmt;

use yearbook_catalog::CheckSummary;
use yearbook_domain::CheckOutcome;

use super::exposition::MetricsWriter;

/// Writes how the last checks ended; nothing where no source was ever checked.
pub(super) fn write(checks: Option<&CheckSummary>, sheet: &mut MetricsWriter<'_>) -> fmt::Result {
    let Some(checks) = checks.filter(|checks| !checks.outcomes.is_empty()) else { return Ok(()) };
    let count = |outcome: CheckOutcome| {
        let found = checks.outcomes.iter().find(|(counted, _)| *counted == outcome);
        found.map_or(0, |(_, sources)| *sources)
    };
    sheet.gauge(
        "yearbook_refresh_sources",
        "Sources that were checked, by the outcome of the last check.",
        CheckOutcome::ALL.map(|outcome| (vec![("outcome", outcome.as_str())], count(outcome))),
    )?;
    // Names of datasets are the operator's, and 1,000 at most.
    let failing = checks.failing.iter().map(|source| {
        let labels = vec![("dataset", source.dataset.as_str()), ("cause", source.cause.as_str())];
        (labels, source.failed_at.0 as f64 / 1_000.0)
    });
    sheet.gauge(
        "yearbook_refresh_failed_timestamp_seconds",
        "Time of the last check of each source whose last check failed.",
        failing,
    )
}
