//! The rules that turn a query into a [`ReadPlan`]: projection, the unbounded-pull guard, the
//! plan's row cap (spec-8-guard, spec-8-cap).

use std::sync::Arc;

use super::ReadPlan;
use super::condition::resolve_conditions;
use super::names::{ColumnNames, Table, listed, quoted};
use super::row_choice::check_row_choice;
use super::row_order::{RowOrder, check_series_rows, resolve_order};
use crate::changes::VALID_FROM;
use crate::dataset::GEOMETRY_COLUMN;
use crate::plan::BulkEntitlement;
use crate::query::Sent;
use crate::{
    ColumnRole, Dataset, DatasetName, Namespace, PlanLimits, Refusal, Selection, Snapshot,
    ValidationError,
};

/// Rows up to which `limit=0` is served without a date filter (spec-8-guard).
pub const UNBOUNDED_ROWS: u64 = 100_000;

/// Rows up to which any order is served: their keys are held (contract-15-order).
pub const MAX_SORTED_ROWS: u64 = 10_000;

/// Plans the whole `selection` in a snapshot of a dataset, without pages or a row cap.
///
/// # Errors
/// Every problem that only the dataset can judge, in the order of contract-15-problems.
pub fn resolve_selection(
    dataset: DatasetName,
    namespace: Namespace,
    snapshot: Arc<Snapshot>,
    selection: &Selection,
) -> Result<ReadPlan, Vec<ValidationError>> {
    resolve(dataset, namespace, snapshot, selection, Table::Dataset)
}

/// Plans what of `selection` shapes `made`, the table that transforms give: its rows have no stored
/// order.
///
/// # Errors
/// Every problem that only this table can judge, in the same order.
pub fn resolve_made(
    dataset: DatasetName,
    namespace: Namespace,
    made: Arc<Snapshot>,
    selection: &Selection,
) -> Result<ReadPlan, Vec<ValidationError>> {
    resolve(dataset, namespace, made, &selection.transform_output(), Table::Transformed)
}

fn resolve(
    dataset: DatasetName,
    namespace: Namespace,
    snapshot: Arc<Snapshot>,
    selection: &Selection,
    table: Table,
) -> Result<ReadPlan, Vec<ValidationError>> {
    let lookups = selection.columns.as_ref().map_or(0, |sent| sent.value.len())
        + selection.conditions.len()
        + selection.sort.as_ref().map_or(0, |sort| sort.value.len());
    let names = ColumnNames::new(&snapshot.columns, lookups, table);
    let columns = resolve_projection(&names, &snapshot, selection);
    let conditions = resolve_conditions(&names, &selection.conditions);
    let order = resolve_order(&names, &snapshot, selection.sort.as_ref());
    let series_rows = check_series_rows(&snapshot, selection, table);
    let bbox = check_box(&snapshot, selection);
    let rows = check_row_choice(selection, table);
    match (columns, conditions, order, series_rows, bbox) {
        (Ok(columns), Ok(conditions), Ok(order), Ok(()), Ok(())) if rows.is_empty() => {
            let dated = snapshot.date_column.is_some();
            Ok(ReadPlan {
                start: selection.start.filter(|_| dated),
                end: selection.end.filter(|_| dated),
                search_text: selection.dimensions.clone(),
                conditions,
                bbox: selection.bbox.as_ref().map(|sent| sent.value),
                row: selection.row,
                row_numbers: selection.row_numbers,
                series_rows: selection.series_rows.as_ref().map(|sent| sent.value),
                // One row is in any order.
                order: if selection.row.is_some() { RowOrder::Natural } else { order },
                ..ReadPlan::of_columns(dataset, namespace, snapshot, columns)
            })
        }
        (columns, conditions, order, series_rows, bbox) => {
            let problems = columns.err().into_iter();
            Err(problems
                .chain(conditions.err().into_iter().flatten())
                .chain(order.err())
                .chain(series_rows.err())
                .chain(bbox.err())
                .chain(rows)
                .collect())
        }
    }
}

/// Decides what a caller reads of `plan`, which is `selection` in a version of `dataset`, from
/// `first_row` on (that of a cursor). `limits` are those of the plan of the key that was checked.
///
/// # Errors
/// [`Refusal::UnboundedRequest`], then [`Refusal::SortTooLarge`].
pub fn plan_read(
    dataset: &Dataset,
    plan: ReadPlan,
    limits: PlanLimits,
    selection: &Selection,
    first_row: Option<u64>,
) -> Result<ReadPlan, Refusal> {
    guard(dataset, &plan, limits, selection)?;
    let (max_rows, plan_row_cap) = bound(selection.limit, row_cap(&plan, limits));
    let plan = match plan.applied {
        // Rows that transforms make are numbered from 0 as they come.
        Some(_) if selection.skip > 0 => ReadPlan { first_row: Some(selection.skip), ..plan },
        _ => ReadPlan { first_row, skip: selection.skip, ..plan },
    };
    let plan = ReadPlan { max_rows, plan_row_cap, ..plan };
    check_order(&plan)?;
    Ok(plan)
}

/// Checks that an order of rows that does not stream holds no more keys than there may be.
///
/// # Errors
/// [`Refusal::SortTooLarge`].
pub fn check_order(plan: &ReadPlan) -> Result<(), Refusal> {
    let is_large = |rows: u64| rows > MAX_SORTED_ROWS;
    // Those that are skipped are held, too, before those that are sent.
    let holds_many =
        is_large(plan.snapshot.rows) && (plan.max_rows.is_none_or(is_large) || is_large(plan.skip));
    if holds_many && !plan.order.is_streamed() {
        return Err(Refusal::SortTooLarge { limit: MAX_SORTED_ROWS });
    }
    Ok(())
}

/// Returns positions of the columns to send: the requested ones, in that order, or all;
/// `geometry=false` leaves geometry out of either.
///
/// # Errors
/// `value_error` at `columns` for names that the snapshot does not have, or when nothing is left.
fn resolve_projection(
    names: &ColumnNames<'_>,
    snapshot: &Snapshot,
    selection: &Selection,
) -> Result<Vec<usize>, ValidationError> {
    let selected = |position: &usize| {
        selection.geometry || snapshot.columns[*position].role != ColumnRole::Geometry
    };
    let Some(Sent { raw, value: wanted }) = &selection.columns else {
        return Ok((0..snapshot.columns.len()).filter(selected).collect());
    };
    let problem = |sentence: String| ValidationError::value_error("columns", &sentence, raw);
    let positions: Vec<Option<usize>> =
        wanted.iter().map(|name| names.find(name).map(|(position, _)| position)).collect();
    let unknown: Vec<&str> = wanted
        .iter()
        .zip(&positions)
        .filter(|(_, position)| position.is_none())
        .map(|(name, _)| &**name)
        .collect();
    if !unknown.is_empty() {
        return Err(problem(format!(
            "unknown {}; {} {}",
            quoted(&unknown),
            names.table().having(),
            listed(&snapshot.columns)
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

/// Checks that there is geometry for a box to meet.
fn check_box(snapshot: &Snapshot, selection: &Selection) -> Result<(), ValidationError> {
    match selection.bbox.as_ref().filter(|_| !snapshot.has_geometry()) {
        None => Ok(()),
        Some(sent) => {
            let sentence = "this dataset has no geometry; leave bbox out";
            Err(ValidationError::value_error("bbox", sentence, &sent.raw))
        }
    }
}

/// spec-8-guard, spec-8-relief: `limit=0` needs a date filter when there are many rows or geometry;
/// `geometry=false` relieves the second reason. A date filter counts only where there is a date
/// axis (contract-3-effective-bound).
fn guard(
    dataset: &Dataset,
    plan: &ReadPlan,
    limits: PlanLimits,
    selection: &Selection,
) -> Result<(), Refusal> {
    let snapshot = &plan.stored_rows().snapshot;
    let dated = snapshot.date_column.is_some();
    let filtered = dated && (selection.start.is_some() || selection.end.is_some());
    let geometry = selection.geometry && snapshot.has_geometry();
    if selection.limit == 0 && !filtered && (snapshot.rows > UNBOUNDED_ROWS || geometry) {
        return Err(Refusal::UnboundedRequest {
            rows: snapshot.rows,
            geometry,
            dated,
            bulk: has_bulk(dataset, plan, limits),
        });
    }
    Ok(())
}

/// Returns true when a bulk download would hold the requested rows: licence and plan allow one, the
/// version is the current one, since no file is addressed by a snapshot's id, and the rows are its
/// own, neither made by transforms nor revisions.
fn has_bulk(dataset: &Dataset, plan: &ReadPlan, limits: PlanLimits) -> bool {
    let snapshot = &plan.snapshot;
    limits.bulk != BulkEntitlement::None
        && dataset.current.bulk_redistribution
        && snapshot.id == dataset.current.id
        && plan.applied.is_none()
        && snapshot.column_index(VALID_FROM).is_none()
}

/// The row cap of a plan. No answer has more cells than the cap times the columns of the dataset,
/// so that no transform opens a way around the cap (contract-16-cells).
fn row_cap(plan: &ReadPlan, limits: PlanLimits) -> Option<u64> {
    let cap = limits.row_cap?;
    let cells = cap.saturating_mul(plan.stored_rows().snapshot.columns.len() as u64);
    Some(cap.min(cells / (plan.columns.len() as u64).max(1)).max(1))
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
