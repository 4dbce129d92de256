//! Rows that the first transform of a request sees: those of one selection of a snapshot, read when
//! the sandbox asks for them. Never touches a guest.

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt};
use yearbook_domain::metadata_key::{AXIS, SERIES};
use yearbook_domain::read_plan::series_columns;
use yearbook_domain::{CalendarUnit, ReadPlan};
use yearbook_sandbox::{Batches, BoxError, RowWindow, TransformInput};
use yearbook_scan::Reader;
use yearbook_scan::schema::with_key;
use yearbook_storage::StorageFailure;

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
    let (start, end, max_rows) = match window {
        RowWindow::Selected { start, most } => (start.and_then(dated), plan.end, most),
        RowWindow::Dates { from, to } => (dated(from), dated(to), None),
    };
    ReadPlan { start, end, max_rows, ..plan.clone() }
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
    let keyed = with_key(&*Reader::schema(plan)?, snapshot);
    let mut metadata = keyed.metadata().clone();
    if let Some(series) = series_columns(snapshot) {
        let columns = series.iter().filter_map(|&position| snapshot.columns.get(position));
        let names: Vec<&str> = columns.map(|column| &*column.name).collect();
        metadata.insert(SERIES.to_owned(), serde_json::json!(names).to_string());
    }
    metadata.extend(axis.map(|axis| (AXIS.to_owned(), axis.as_str().to_owned())));
    Ok(Arc::new(keyed.with_metadata(metadata)))
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

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use serde_json::json;
    use yearbook_domain::{DatasetName, Namespace, Snapshot};

    use super::*;

    #[test]
    fn transforms_are_told_key_series_and_axis_contract_16() {
        let column = |name: &str, kind: &str, role: &str, unit: Option<&str>| {
            json!({"name": name, "type": kind, "nullable": true, "role": role, "unit": unit,
                "description": null, "few_values": false, "text_traits": 0})
        };
        let snapshot: Snapshot = serde_json::from_value(json!({
            "id": "01ab".repeat(8), "created_at": 0, "rows": 1,
            "file": {"sha256": "0".repeat(64), "bytes": 1},
            "title": null, "description": null, "keywords": [],
            "credit": {
                "source": "A", "attribution": "A", "licence": "A", "licence_title": null,
                "licence_url": null, "source_url": null, "source_url_precision": null, "sources": [],
            },
            "refresh_cadence": null, "bulk_redistribution": true,
            "columns": [
                column("date", "date", "date", None),
                column("region", "string", "dimension", None),
                column("value", "number", "value", Some("tonnes")),
            ],
            "primary_key": ["date", "region"], "dimensions": ["region"], "date_column": "date",
            "date_range": null, "layout": "long", "bbox": null,
        }))
        .unwrap();
        let (name, namespace) = (DatasetName::parse("a"), Namespace::parse("b"));
        let snapshot = Arc::new(snapshot);
        let plan = ReadPlan::full_scan(name.unwrap(), namespace.unwrap(), snapshot);
        let told = schema(&plan, Some(CalendarUnit::Quarter)).unwrap();
        let metadata = told.metadata();
        assert_eq!(metadata["yearbook.primary_key"], r#"["date","region"]"#);
        assert_eq!(metadata["yearbook.series"], r#"["region"]"#);
        assert_eq!(metadata["yearbook.axis"], "quarter");
        assert_eq!(metadata["yearbook.dataset"], "a");
        assert_eq!(told.field(0).metadata()["yearbook.type"], "date");
        assert_eq!(told.field(2).metadata()["yearbook.role"], "value");
        assert_eq!(told.field(2).metadata()["yearbook.unit"], "tonnes");
        assert!(!schema(&plan, None).unwrap().metadata().contains_key("yearbook.axis"));
    }
}
