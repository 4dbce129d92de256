//! The first rows of each series, as they come. Holds a count a series.

use arrow::array::BooleanArray;
use arrow::compute::filter_record_batch;
use futures::{StreamExt, TryStreamExt, stream};
use yearbook_domain::read_plan::MAX_SERIES;

use super::{ComputedRows, ShapeFailure, boxed};
use crate::StorageFailure;
use crate::order::{SERIES_BYTES, SelectionBudget, SelectionPermit, SeriesEncoder, SeriesNumbers};

struct FirstRows {
    rows: ComputedRows,
    encoder: SeriesEncoder,
    numbers: SeriesNumbers,
    /// Rows of each series so far.
    counts: Vec<u64>,
    most: u64,
    room: SelectionPermit,
}

/// The first `most` rows of each series of `rows`.
pub(super) async fn first_rows(
    rows: ComputedRows,
    encoder: SeriesEncoder,
    most: u64,
    budget: &SelectionBudget,
) -> Result<ComputedRows, StorageFailure> {
    let room = budget.take(0).await?;
    let (numbers, counts) = (SeriesNumbers::default(), Vec::new());
    let first = FirstRows { rows, encoder, numbers, counts, most, room };
    let step = |mut first: FirstRows| async move {
        loop {
            let Some(batch) = first.rows.try_next().await? else { return Ok(None) };
            let mut series = Vec::with_capacity(batch.num_rows());
            let keys = first.encoder.encode(&batch).map_err(ShapeFailure::from)?;
            first.numbers.append_all(&keys, &mut series);
            let known = first.numbers.len() as u64;
            if known > MAX_SERIES {
                return Err(ShapeFailure::TooManySeries.into());
            }
            first.room.grow_to(known * SERIES_BYTES).map_err(boxed)?;
            first.counts.resize(first.numbers.len(), 0);
            let (counts, most) = (&mut first.counts, first.most);
            let is_first = |series: usize| {
                let count = counts.get_mut(series).filter(|count| **count < most);
                count.map(|count| *count += 1).is_some()
            };
            let kept: BooleanArray = series.into_iter().map(is_first).map(Some).collect();
            let batch = filter_record_batch(&batch, &kept).map_err(ShapeFailure::from)?;
            if batch.num_rows() > 0 {
                return Ok(Some((batch, first)));
            }
        }
    };
    Ok(stream::try_unfold(first, step).boxed())
}
