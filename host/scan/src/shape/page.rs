//! A page of computed rows. Whether rows remain behind it must be known before the first is sent,
//! so the page is held until it is.

use std::collections::VecDeque;

use arrow::array::RecordBatch;
use futures::{StreamExt, TryStreamExt, stream};

use super::{ComputedRows, RowShape, ShapeFailure, boxed, stream_held};
use crate::batches::content_bytes;
use crate::order::SelectionBudget;
use crate::row_counts::RowCounts;

/// Rows of a page that are held whatever they weigh, as far as there is room (contract-16-counts).
pub const HELD_ROWS: u64 = 10_000;

/// Bytes of the rows of any other page that are held.
const HELD_BYTES: u64 = 16 << 20;

/// The page of `shape`, and its counts. The number of rows in all is told nobody.
pub(super) async fn cut(
    rows: ComputedRows,
    shape: &RowShape,
    budget: &SelectionBudget,
) -> Result<(RowCounts, ComputedRows), Box<dyn std::error::Error + Send + Sync>> {
    let (first, most) = (shape.first_row, shape.max_rows);
    let mut rows = skip(rows, first);
    let Some(most) = most else { return Ok((RowCounts::default(), rows)) };
    if let Some(known) = shape.known_rows {
        let (counts, _) = RowCounts::from_range(&(0..known), first, Some(most));
        return Ok((RowCounts { total: None, ..counts }, take(rows, most)));
    }
    let mut room = budget.take(0).await.map_err(boxed)?;
    let mut held = VecDeque::new();
    let (mut count, mut bytes) = (0_u64, 0_u64);
    let mut next = None;
    while let Some(batch) = rows.try_next().await? {
        let left = most - count;
        let remains = batch.num_rows() as u64 > left;
        let batch = if remains { slice(&batch, 0, left) } else { batch };
        count += batch.num_rows() as u64;
        bytes = bytes.saturating_add(content_bytes(&batch));
        if bytes > HELD_BYTES && most > HELD_ROWS {
            return Err(ShapeFailure::TooManyRows.into());
        }
        room.grow_to(bytes).map_err(boxed)?;
        if batch.num_rows() > 0 {
            held.push_back(batch);
        }
        if remains {
            next = Some(first.saturating_add(count));
            break;
        }
    }
    let counts = RowCounts::from_filter(count, next);
    Ok((counts, stream_held(held, room)))
}

/// Rows behind the first `left`.
fn skip(rows: ComputedRows, left: u64) -> ComputedRows {
    if left == 0 {
        return rows;
    }
    let step = |(mut rows, mut left): (ComputedRows, u64)| async move {
        while let Some(batch) = rows.try_next().await? {
            let skipped = left.min(batch.num_rows() as u64);
            left -= skipped;
            if skipped < batch.num_rows() as u64 {
                let batch = slice(&batch, skipped, u64::MAX);
                return Ok(Some((batch, (rows, left))));
            }
        }
        Ok(None)
    };
    stream::try_unfold((rows, left), step).boxed()
}

/// The first `left` rows.
fn take(rows: ComputedRows, left: u64) -> ComputedRows {
    let step = |(mut rows, left): (ComputedRows, u64)| async move {
        if left == 0 {
            return Ok(None);
        }
        let Some(batch) = rows.try_next().await? else { return Ok(None) };
        let batch = slice(&batch, 0, left);
        let left = left - batch.num_rows() as u64;
        Ok(Some((batch, (rows, left))))
    };
    stream::try_unfold((rows, left), step).boxed()
}

/// At most `most` rows of `batch` from `start` on, which it has.
fn slice(batch: &RecordBatch, start: u64, most: u64) -> RecordBatch {
    let number = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let start = number(start).min(batch.num_rows());
    batch.slice(start, number(most).min(batch.num_rows() - start))
}
