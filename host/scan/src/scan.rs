//! Scans: the rows of a window of a file, or those of them that match, with their counts.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use futures::stream::BoxStream;

use crate::StorageFailure;
use crate::batches::{RowFilter, stream_batches};
use crate::decode::{FileSource, Projection};
use crate::filter::{self, RowPredicate};
use crate::row_counts::RowCounts;

/// Rows of a snapshot, to be read once.
pub struct Scan {
    /// Schema of every batch, with the credits as metadata.
    pub schema: SchemaRef,
    /// Number of rows, and the row at which a next page begins.
    pub counts: RowCounts,
    /// The rows, in the snapshot's order; never an empty batch. Nothing is read before it is
    /// polled, and one step ahead at most afterwards. Ends after the first failure. Dropping it
    /// stops the work.
    pub batches: BoxStream<'static, Result<RecordBatch, StorageFailure>>,
}

/// All rows of `selection` from `first_row` on, up to `max_rows`.
pub(crate) fn scan_window(
    source: FileSource,
    projection: Projection,
    selection: &Range<u64>,
    first_row: u64,
    max_rows: Option<u64>,
) -> Scan {
    let (counts, rows) = RowCounts::from_range(selection, first_row, max_rows);
    build_scan(source, projection, counts, rows, RowFilter::All)
}

/// The rows of `window` that match `predicate`, up to `max_rows`. With a maximum, the filter
/// columns are read now and only they; without, step by step as the stream is polled.
pub(crate) async fn filter_window(
    source: FileSource,
    projection: Projection,
    window: Range<u64>,
    predicate: RowPredicate,
    max_rows: Option<u64>,
) -> Result<Scan, StorageFailure> {
    let predicate = Arc::new(predicate);
    let Some(max_rows) = max_rows else {
        let filter = RowFilter::Predicate(predicate);
        return Ok(build_scan(source, projection, RowCounts::default(), window, filter));
    };
    let found = filter::find(&source, window, &predicate, max_rows).await?;
    let counts = RowCounts::from_filter(found.rows.count() as u64, found.next);
    let rows = found.rows.span();
    Ok(build_scan(source, projection, counts, rows, RowFilter::Selection(found.rows)))
}

fn build_scan(
    source: FileSource,
    projection: Projection,
    counts: RowCounts,
    rows: Range<u64>,
    filter: RowFilter,
) -> Scan {
    let schema = projection.sent_schema();
    Scan { schema, counts, batches: stream_batches(source, projection, rows, filter) }
}
