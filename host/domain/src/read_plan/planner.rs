//! The rules that turn a query into a [`ReadPlan`]: projection, the unbounded-pull guard, the
//! plan's row cap (spec-8-guard, spec-8-cap).

use std::collections::HashMap;
use std::sync::Arc;

use super::ReadPlan;
use crate::dataset::GEOMETRY_COLUMN;
use crate::plan::BulkEntitlement;
use crate::{ColumnRole, DataQuery, Dataset, PlanLimits, Refusal, Snapshot, ValidationError};

/// Rows up to which `limit=0` is served without a date filter (spec-8-guard).
pub const UNBOUNDED_ROWS: u64 = 100_000;

/// Names of columns that a problem lists at most.
const MAX_LISTED: usize = 40;

/// Names that are looked for one by one: for so few a table of all columns costs more than it
/// saves.
const MAX_LINEAR_NAMES: usize = 8;

/// Decides what to read of `snapshot`, a version of `dataset`, from `first_row` on (0, or a
/// cursor's). `limits` are those of the plan of the key that was checked.
///
/// # Errors
/// [`Refusal::InvalidParameters`] for `columns` that the snapshot does not have, then
/// [`Refusal::UnboundedRequest`].
pub fn plan_read(
    dataset: &Dataset,
    snapshot: Arc<Snapshot>,
    limits: PlanLimits,
    query: &DataQuery,
    first_row: u64,
) -> Result<ReadPlan, Refusal> {
    let columns = resolve_projection(&snapshot, query)
        .map_err(|problem| Refusal::InvalidParameters(vec![problem]))?;
    guard(dataset, &snapshot, limits, query)?;
    let dated = snapshot.date_column.is_some();
    let (max_rows, plan_row_cap) = bound(query.limit, limits.row_cap);
    Ok(ReadPlan {
        dataset: dataset.name.clone(),
        namespace: dataset.namespace.clone(),
        columns,
        start: query.start.filter(|_| dated),
        end: query.end.filter(|_| dated),
        search_text: query.dimensions.clone(),
        first_row,
        max_rows,
        plan_row_cap,
        snapshot,
    })
}

/// Returns positions of the columns to send: the requested ones, in that order, or all;
/// `geometry=false` leaves geometry out of either.
///
/// # Errors
/// `value_error` at `columns` for names that the snapshot does not have, or when nothing is left.
pub fn resolve_projection(
    snapshot: &Snapshot,
    query: &DataQuery,
) -> Result<Vec<usize>, ValidationError> {
    let selected = |position: &usize| {
        query.geometry || snapshot.columns[*position].role != ColumnRole::Geometry
    };
    let Some(names) = &query.columns else {
        return Ok((0..snapshot.columns.len()).filter(selected).collect());
    };
    let problem =
        |sentence: String| ValidationError::value_error("columns", &sentence, &names.join(","));
    let positions = positions(snapshot, names);
    let unknown: Vec<&str> = names
        .iter()
        .zip(&positions)
        .filter(|(_, position)| position.is_none())
        .map(|(name, _)| &**name)
        .collect();
    if !unknown.is_empty() {
        return Err(problem(format!(
            "unknown {}; this dataset has {}",
            quoted(&unknown),
            listed(snapshot)
        )));
    }
    let columns: Vec<usize> = positions.into_iter().flatten().filter(selected).collect();
    if columns.is_empty() {
        return Err(problem(format!(
            "geometry=false leaves no column to send; ask for more than {GEOMETRY_COLUMN}"
        )));
    }
    Ok(columns)
}

/// Returns the position of each of `names` in the snapshot, in time that grows with the columns and
/// the names, not with one times the other.
fn positions(snapshot: &Snapshot, names: &[String]) -> Vec<Option<usize>> {
    if names.len() <= MAX_LINEAR_NAMES {
        return names.iter().map(|name| snapshot.column_index(name)).collect();
    }
    let all: HashMap<&str, usize> = snapshot
        .columns
        .iter()
        .enumerate()
        .map(|(position, column)| (column.name.as_str(), position))
        .collect();
    names.iter().map(|name| all.get(name.as_str()).copied()).collect()
}

/// `'a', 'b' and 7 more`.
fn quoted(names: &[&str]) -> String {
    let shown: Vec<String> =
        names.iter().take(MAX_LISTED).map(|name| format!("'{name}'")).collect();
    let more = names.len() - shown.len();
    if more > 0 { format!("{} and {more} more", shown.join(", ")) } else { shown.join(", ") }
}

fn listed(snapshot: &Snapshot) -> String {
    let mut names: Vec<&str> =
        snapshot.columns.iter().take(MAX_LISTED).map(|column| column.name.as_str()).collect();
    if snapshot.columns.len() > MAX_LISTED {
        names.push("…");
    }
    names.join(", ")
}

/// spec-8-guard, spec-8-relief: `limit=0` needs a date filter when there are many rows or geometry;
/// `geometry=false` relieves the second reason. A date filter counts only where there is a date
/// axis (contract-3-effective-bound).
fn guard(
    dataset: &Dataset,
    snapshot: &Snapshot,
    limits: PlanLimits,
    query: &DataQuery,
) -> Result<(), Refusal> {
    let dated = snapshot.date_column.is_some();
    let filtered = dated && (query.start.is_some() || query.end.is_some());
    let geometry = query.geometry && snapshot.has_geometry();
    if query.limit == 0 && !filtered && (snapshot.rows > UNBOUNDED_ROWS || geometry) {
        return Err(Refusal::UnboundedRequest {
            rows: snapshot.rows,
            geometry,
            dated,
            bulk: has_bulk(dataset, snapshot, limits),
        });
    }
    Ok(())
}

/// Returns true when a bulk download would hold the requested rows: licence and plan allow one, and
/// the version is the current one, since no file is addressed by a snapshot's id.
fn has_bulk(dataset: &Dataset, snapshot: &Snapshot, limits: PlanLimits) -> bool {
    limits.bulk != BulkEntitlement::None
        && dataset.current.bulk_redistribution
        && snapshot.id == dataset.current.id
}

/// Returns `max_rows` and `plan_row_cap` of a limit (0: everything) under a plan's cap.
fn bound(limit: u64, cap: Option<u64>) -> (Option<u64>, Option<u64>) {
    match (limit, cap) {
        (0, Some(cap)) => (Some(cap), Some(cap)),
        (0, None) => (None, None),
        (limit, Some(cap)) if limit > cap => (Some(cap), Some(cap)),
        (limit, _) => (Some(limit), None),
    }
}

#[cfg(test)]
mod tests;
