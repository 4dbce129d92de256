//! Rows that an adapter is told of as values, and counts of rows (contract-17-facts).

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type, Int64Type};
use futures::TryStreamExt;
use http::StatusCode;
use http::request::Parts;
use yearbook_domain::query::DEFAULT_LIMIT;
use yearbook_domain::read_plan::{MAX_SERIES, RowOrder};
use yearbook_domain::{Dataset, ReadPlan, SeriesRows};
use yearbook_http::{AuthenticatedCaller, Error, RoomRefusal, status};
use yearbook_sandbox::{BoxError, catalogue};
use yearbook_scan::RowShape;
use yearbook_shares::CallerShare;

use super::catalogue_view::describe_rows;
use crate::ApiState;
use crate::request::{DataRequest, SelectedOutput};
use crate::response::plan::{ResponsePlan, RowSource, TransformedRows};
use crate::response::render::{self, RowsToEncode};

/// Rows of one answer at most.
const MAX_ROWS: u64 = 200;

/// Bytes of the values of one answer at most.
const MAX_BYTES: usize = 1 << 20;

/// Bytes that a value counts as besides its text.
const VALUE_BYTES: usize = 8;

/// 413 for rows that take more bytes than an adapter is told of at once.
#[derive(Debug)]
struct RowsTooLong;

impl RoomRefusal for RowsTooLong {
    fn status_and_code(&self) -> (StatusCode, &'static str) {
        (status::PAYLOAD_TOO_LARGE, "rows_too_long")
    }

    fn message(&self) -> String {
        format!("These rows take more than {MAX_BYTES} bytes; ask for fewer rows or columns.")
    }
}

impl std::fmt::Display for RowsTooLong {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message())
    }
}

impl std::error::Error for RowsTooLong {}

/// Rows that an adapter asks about. Nothing was read or charged for them.
pub struct SelectedRows {
    request: DataRequest,
    dataset: Arc<Dataset>,
    plan: ResponsePlan,
}

impl ApiState {
    /// Plans the read of the rows of `selection` for the caller of `auth`.
    ///
    /// # Errors
    /// The refusals of `/data` and `/changes`, in their order.
    pub async fn select_rows(
        &self,
        auth: &AuthenticatedCaller,
        parts: &Parts,
        selection: &catalogue::Selection,
    ) -> Result<SelectedRows, Error> {
        let limit = match selection.limit {
            Some(0) => MAX_ROWS,
            Some(limit) => limit.min(MAX_ROWS),
            None => DEFAULT_LIMIT,
        };
        let output = SelectedOutput::Values { limit };
        let request = DataRequest::of_selection(self, parts, selection, &output)?;
        let dataset = self.core.dataset(&request.name)?;
        let mut plan = request.plan(self, auth, &dataset).await?;
        // No encoder writes them, so what one failed at is another input.
        plan.fingerprint.request = format!("values of {}", plan.fingerprint.request);
        Ok(SelectedRows { request, dataset, plan })
    }
}

impl SelectedRows {
    /// Reads the rows on the account of `holder`.
    ///
    /// # Errors
    /// Those of `/data`; 413 for rows of too many bytes.
    pub async fn table(
        self,
        app: &ApiState,
        holder: &CallerShare,
    ) -> Result<catalogue::Table, Error> {
        let Self { request, plan, .. } = self;
        let read = |rows: RowsToEncode| async move {
            let (counts, mut batches) = (rows.counts, rows.batches);
            let (mut table, mut bytes) = (Vec::new(), 0);
            while let Some(batch) = batches.try_next().await? {
                append_rows(&mut table, &batch)?;
                let added = table.len() - batch.num_rows();
                bytes += table.iter().skip(added).flatten().map(value_bytes).sum::<usize>();
                if bytes > MAX_BYTES {
                    return Ok(None);
                }
            }
            Ok(Some((counts, table)))
        };
        let read = Box::pin(render::read(app, &request, &plan, holder, read)).await?;
        let (counts, rows) = read.ok_or(RowsTooLong)?;
        let mut known = describe_rows(app, &request, &plan, counts);
        known.rows = Some(rows.len() as u64);
        Ok(catalogue::Table { known, rows })
    }

    /// Counts the rows of the selection, whatever its page, and its series where it has a date
    /// axis and no more of them than are held.
    ///
    /// # Errors
    /// Those of `/data`.
    pub async fn count(
        self,
        app: &ApiState,
        holder: &CallerShare,
    ) -> Result<(u64, Option<u64>), Error> {
        let Self { request, dataset, mut plan } = self;
        let reader = app.core.reader.for_caller(holder);
        match &plan.source {
            RowSource::Snapshot(read) => {
                let all = every_row(read);
                let rows = match reader.row_counts(&all).await?.total {
                    Some(rows) => rows,
                    None => found_rows(app, holder, all.clone()).await?,
                };
                let one_each = ReadPlan { series_rows: Some(SeriesRows::First(1)), ..all };
                let has_series =
                    read.snapshot.date_column.is_some() && !read.snapshot.primary_key.is_empty();
                if !has_series || count_series(app, &dataset, &one_each).await? > MAX_SERIES {
                    return Ok((rows, None));
                }
                Ok((rows, Some(found_rows(app, holder, one_each).await?)))
            }
            RowSource::Changes(changes) => {
                let rows = changes.plan.parts.iter().map(|(_, rows)| rows.end - rows.start).sum();
                Ok((rows, None))
            }
            RowSource::Transformed(rows) => {
                // Making all rows may fail where making a page of them does not.
                plan.fingerprint.request = format!("count of {}", plan.fingerprint.request);
                let shape = RowShape {
                    sort: Vec::new(),
                    first_row: 0,
                    max_rows: None,
                    ..rows.shape.clone()
                };
                plan.source = RowSource::Transformed(Arc::new(TransformedRows {
                    input: Arc::clone(&rows.input),
                    plan: Arc::clone(&rows.plan),
                    steps: rows.steps.clone(),
                    chain: rows.chain.clone(),
                    shape,
                    schema: Arc::clone(&rows.schema),
                }));
                let count = |rows: RowsToEncode| async move {
                    let add = |rows: u64, batch: RecordBatch| {
                        std::future::ready(Ok(rows + batch.num_rows() as u64))
                    };
                    rows.batches.try_fold(0, add).await
                };
                let rows = Box::pin(render::read(app, &request, &plan, holder, count)).await?;
                Ok((rows, None))
            }
        }
    }
}

/// `read` without its page, order and cap.
fn every_row(read: &ReadPlan) -> ReadPlan {
    ReadPlan {
        columns: read.columns.iter().copied().take(1).collect(),
        order: RowOrder::Natural,
        first_row: None,
        skip: 0,
        row_numbers: false,
        max_rows: None,
        plan_row_cap: None,
        ..read.clone()
    }
}

/// The number of rows of `read`, found by a search for all of them, none of which is read.
async fn found_rows(app: &ApiState, holder: &CallerShare, read: ReadPlan) -> Result<u64, Error> {
    let read = ReadPlan { max_rows: Some(u64::MAX), ..read };
    let reader = app.core.reader.for_caller(holder);
    let work = async move { reader.scan(&read).await.map(|scan| scan.counts.rows) };
    let driven = app.core.workers.drive(holder.clone(), work).await;
    let found = driven.map_err(|panicked| Error::internal("count rows", &panicked))??;
    found.ok_or_else(|| Error::internal("count rows", &"the scan does not tell their number"))
}

/// The number of series of the whole snapshot of `read`.
async fn count_series(app: &ApiState, dataset: &Dataset, read: &ReadPlan) -> Result<u64, Error> {
    let snapshot = &read.snapshot;
    let facts = app.core.catalog_cache.preview_facts(dataset, &snapshot.id).await?;
    let stored = facts.and_then(|facts| facts.series_number);
    Ok(app.core.reader.count_series(snapshot, stored).await?)
}

/// Appends the rows of `batch`.
fn append_rows(
    table: &mut Vec<Vec<Option<catalogue::Value>>>,
    batch: &RecordBatch,
) -> Result<(), BoxError> {
    let columns: Vec<ArrayRef> = batch
        .columns()
        .iter()
        .map(|column| match column.data_type() {
            DataType::Dictionary(..) => cast(column, &DataType::Utf8),
            _ => Ok(Arc::clone(column)),
        })
        .collect::<Result<_, _>>()?;
    let row = |row: usize| columns.iter().map(|column| value(column, row)).collect();
    table.extend((0..batch.num_rows()).map(row));
    Ok(())
}

/// A cell; `None` for null.
fn value(column: &ArrayRef, row: usize) -> Option<catalogue::Value> {
    if column.is_null(row) {
        return None;
    }
    Some(match column.data_type() {
        DataType::Int64 => catalogue::Value::Integer(column.as_primitive::<Int64Type>().value(row)),
        DataType::Float64 => {
            catalogue::Value::Number(column.as_primitive::<Float64Type>().value(row))
        }
        DataType::Boolean => catalogue::Value::Boolean(column.as_boolean().value(row)),
        _ => catalogue::Value::Text(column.as_string_opt::<i32>()?.value(row).to_owned()),
    })
}

fn value_bytes(value: &Option<catalogue::Value>) -> usize {
    let text = match value {
        Some(catalogue::Value::Text(text)) => text.len(),
        _ => 0,
    };
    VALUE_BYTES + text
}
