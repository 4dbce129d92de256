//! What the first transform of a request sees: rows of one selection of a snapshot, read when the
//! sandbox asks for them. Never touches a guest.

use std::sync::Arc;

use arrow::datatypes::{Schema, SchemaRef};
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt};
use yearbook_domain::read_plan::series_columns;
use yearbook_domain::{CalendarUnit, ReadPlan};
use yearbook_sandbox::{Batches, BoxError, RowWindow, TransformInput};
use yearbook_scan::Reader;
use yearbook_storage::StorageFailure;

use super::output_table::{PRIMARY_KEY, SERIES};

/// Key of schema metadata: unit of the smallest distance of two dates in a series.
const AXIS: &str = "yearbook.axis";

/// The rows of `plan`, as transforms are given them.
pub(super) struct StoredRows {
    /// On the account of the caller.
    pub(super) reader: Reader,
    /// All columns that are not left out; no limit.
    pub(super) plan: ReadPlan,
}

/// Returns the plan of the rows of `plan` in `window`.
pub(super) fn in_window(plan: &ReadPlan, window: RowWindow) -> ReadPlan {
    let dated = |day| Some(day).filter(|_| plan.snapshot.date_column.is_some());
    let (start, end) = match window {
        RowWindow::Selected { start } => (start.and_then(dated), plan.end),
        RowWindow::Dates { from, to } => (dated(from), dated(to)),
    };
    ReadPlan { start, end, ..plan.clone() }
}

/// Returns the schema of `plan`'s rows with what transforms are told of them (contract-16-schema).
///
/// # Errors
/// [`StorageFailure`] where the plan and its snapshot do not fit, which is a bug.
pub(super) fn schema(
    plan: &ReadPlan,
    axis: Option<CalendarUnit>,
) -> Result<SchemaRef, StorageFailure> {
    let snapshot = &plan.snapshot;
    let bare = Reader::schema(plan)?;
    let mut metadata = bare.metadata().clone();
    let mut insert = |key: &str, names: &[&str]| {
        metadata.insert(key.to_owned(), serde_json::json!(names).to_string());
    };
    if !snapshot.primary_key.is_empty() {
        insert(PRIMARY_KEY, &snapshot.primary_key.iter().map(|name| &**name).collect::<Vec<_>>());
    }
    if let Some(series) = series_columns(snapshot) {
        let columns = series.iter().filter_map(|&position| snapshot.columns.get(position));
        insert(SERIES, &columns.map(|column| &*column.name).collect::<Vec<_>>());
    }
    metadata.extend(axis.map(|axis| (AXIS.to_owned(), axis.as_str().to_owned())));
    Ok(Arc::new(Schema::clone(&bare).with_metadata(metadata)))
}

impl TransformInput for StoredRows {
    fn codes(&self, column: &str) -> BoxFuture<'_, Result<Option<Vec<String>>, BoxError>> {
        let column = self.plan.snapshot.column_index(column);
        async move {
            let Some(column) = column else { return Ok(None) };
            Ok(self.reader.selected_values(&self.plan, column).await?)
        }
        .boxed()
    }

    fn rows(
        &self,
        window: RowWindow,
        columns: Vec<usize>,
    ) -> BoxFuture<'_, Result<Batches, BoxError>> {
        let of_table = |position: &usize| self.plan.columns.get(*position).copied();
        let mut read: Vec<usize> = columns.iter().filter_map(of_table).collect();
        let is_counted = read.is_empty();
        if is_counted {
            // Rows can only be counted by reading something of them.
            read.extend(self.plan.columns.first());
        }
        let plan = ReadPlan { columns: read, ..in_window(&self.plan, window) };
        async move {
            let batches = self.reader.scan(&plan).await?.batches;
            let batches = batches.map(move |batch| {
                let batch = batch?;
                Ok(if is_counted { batch.project(&[])? } else { batch })
            });
            Ok(batches.boxed())
        }
        .boxed()
    }
}
