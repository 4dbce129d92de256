//! Rows on their way out: what a [`crate::Reader`] hands over, and how a file is cut into steps and
//! batches.

mod batch_stream;
mod batching;
mod compact_dictionary;
mod dimension_search;
mod matches;
mod read_task;
mod task_ranges;

use std::ops::Range;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use futures::stream::BoxStream;

use crate::StorageFailure;
use crate::read::{FileSource, Projection, RowCounts, SearchPattern};

use read_task::RowFilter;

pub use batching::BATCHING_VERSION;
pub(crate) use task_ranges::ReadTaskLimits;

/// Rows of a snapshot, to be read once.
pub struct Scan {
    /// Schema of every batch, with the credits as metadata.
    pub schema: SchemaRef,
    /// How many rows there are, and where they go on.
    pub counts: RowCounts,
    /// The rows, in the snapshot's order; never an empty batch. Nothing is read before it is
    /// polled, and one step ahead at most afterwards. Ends after the first failure. Dropping it
    /// stops the work.
    pub batches: BoxStream<'static, Result<RecordBatch, StorageFailure>>,
}

/// All rows of `selection` from `first_row` on, up to `max_rows`.
pub(crate) fn plain(
    source: FileSource,
    projection: Projection,
    selection: &Range<u64>,
    first_row: u64,
    max_rows: Option<u64>,
) -> Scan {
    let (counts, rows) = RowCounts::from_range(selection, first_row, max_rows);
    build_scan(source, projection, counts, rows, RowFilter::All)
}

/// The rows of `window` with `needle` in a dimension, up to `max_rows`. With a maximum, the filter
/// columns are read now and only they; without, step by step as the stream is polled.
pub(crate) async fn search_window(
    source: FileSource,
    projection: Projection,
    window: Range<u64>,
    needle: SearchPattern,
    max_rows: Option<u64>,
) -> Result<Scan, StorageFailure> {
    if source.opened.dimensions.is_empty() {
        return Ok(build_scan(
            source,
            projection,
            RowCounts::from_search(0, None),
            0..0,
            RowFilter::All,
        ));
    }
    let Some(max_rows) = max_rows else {
        return Ok(build_scan(
            source,
            projection,
            RowCounts::default(),
            window,
            RowFilter::Search(Arc::new(dimension_search::DimensionSearch::new(needle))),
        ));
    };
    let found = matches::find(&source, window, needle, max_rows).await?;
    let rows = found.from..found.from + found.rows.len() as u64;
    let counts = RowCounts::from_search(found.rows.count_set_bits() as u64, found.next);
    Ok(build_scan(source, projection, counts, rows, RowFilter::Selection { rows: found.rows }))
}

fn build_scan(
    source: FileSource,
    projection: Projection,
    counts: RowCounts,
    rows: Range<u64>,
    filter: RowFilter,
) -> Scan {
    let schema = Arc::clone(&projection.schema);
    Scan { schema, counts, batches: batch_stream::stream_batches(source, projection, rows, filter) }
}
