//! Rows on their way out: what a [`crate::Reader`] hands over, and how a file is cut into steps and
//! batches.

mod compact;
mod matches;
mod search;
mod slicing;
mod step;
mod steps;
mod stream;

use std::ops::Range;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use futures::stream::BoxStream;

use crate::Failure;
use crate::read::{Needle, Projection, RowCounts, Source};

use step::Filter;

pub use slicing::BATCHING_VERSION;
pub(crate) use steps::ReadTaskLimits;

/// Rows of a snapshot, to be read once.
pub struct Scan {
    /// Schema of every batch, with the credits as metadata.
    pub schema: SchemaRef,
    /// How many rows there are, and where they go on.
    pub counts: RowCounts,
    /// The rows, in the snapshot's order; never an empty batch. Nothing is read before it is
    /// polled, and one step ahead at most afterwards. Ends after the first failure. Dropping it
    /// stops the work.
    pub batches: BoxStream<'static, Result<RecordBatch, Failure>>,
}

/// All rows of `selection` from `first_row` on, up to `max_rows`.
pub(crate) fn plain(
    source: Source,
    projection: Projection,
    selection: &Range<u64>,
    first_row: u64,
    max_rows: Option<u64>,
) -> Scan {
    let (counts, rows) = RowCounts::from_range(selection, first_row, max_rows);
    build_scan(source, projection, counts, rows, Filter::All)
}

/// The rows of `window` with `needle` in a dimension, up to `max_rows`. With a maximum, the filter
/// columns are read now and only they; without, step by step as the stream is polled.
pub(crate) async fn search_window(
    source: Source,
    projection: Projection,
    window: Range<u64>,
    needle: Needle,
    max_rows: Option<u64>,
) -> Result<Scan, Failure> {
    if source.opened.dimensions.is_empty() {
        return Ok(build_scan(
            source,
            projection,
            RowCounts::from_search(0, None),
            0..0,
            Filter::All,
        ));
    }
    let Some(max_rows) = max_rows else {
        return Ok(build_scan(
            source,
            projection,
            RowCounts::default(),
            window,
            Filter::Needle(Arc::new(search::DimensionSearch::new(needle))),
        ));
    };
    let found = matches::find(&source, window, needle, max_rows).await?;
    let rows = found.from..found.from + found.rows.len() as u64;
    let counts = RowCounts::from_search(found.rows.count_set_bits() as u64, found.next);
    Ok(build_scan(source, projection, counts, rows, Filter::Known { rows: found.rows }))
}

fn build_scan(
    source: Source,
    projection: Projection,
    counts: RowCounts,
    rows: Range<u64>,
    filter: Filter,
) -> Scan {
    let schema = Arc::clone(&projection.schema);
    Scan { schema, counts, batches: stream::stream_batches(source, projection, rows, filter) }
}
