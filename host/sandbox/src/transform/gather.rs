//! Small batches put together: a transform that leaves rows out, or makes few, would otherwise cost
//! the next one a call for each of them.

use arrow::array::RecordBatch;
use futures::{StreamExt as _, stream};
use yearbook_engine::BoxError;

use super::crossing::{SLICE_BYTES, SLICE_ROWS, batch_bytes};
use crate::encode::{Batches, concat};

/// Rows and bytes from which on a batch leaves alone.
const ENOUGH_ROWS: usize = SLICE_ROWS / 2;
const ENOUGH_BYTES: usize = SLICE_BYTES / 2;

/// Batches that wait for more.
struct Gatherer {
    input: Batches,
    held: Vec<RecordBatch>,
    rows: usize,
    bytes: usize,
    /// A large batch behind them.
    next: Option<RecordBatch>,
    ended: bool,
}

/// The rows of `input` in batches of half a slice at least, but for the last.
pub(super) fn gather(input: Batches) -> Batches {
    let (held, next) = (Vec::new(), None);
    let start = Gatherer { input, held, rows: 0, bytes: 0, next, ended: false };
    let batches = stream::try_unfold(start, |mut gatherer| async move {
        let batch = gatherer.next().await?;
        Ok::<_, BoxError>(batch.map(|batch| (batch, gatherer)))
    });
    batches.boxed()
}

impl Gatherer {
    async fn next(&mut self) -> Result<Option<RecordBatch>, BoxError> {
        if let Some(batch) = self.next.take() {
            return Ok(Some(batch));
        }
        while !self.ended {
            let Some(batch) = self.input.next().await.transpose()? else {
                self.ended = true;
                break;
            };
            let (rows, bytes) = (batch.num_rows(), batch_bytes(&batch));
            if rows >= ENOUGH_ROWS || bytes >= ENOUGH_BYTES || batch.num_columns() == 0 {
                if self.held.is_empty() {
                    return Ok(Some(batch));
                }
                self.next = Some(batch);
                break;
            }
            self.rows += rows;
            self.bytes += bytes;
            self.held.push(batch);
            if self.rows >= ENOUGH_ROWS || self.bytes >= ENOUGH_BYTES {
                break;
            }
        }
        (self.rows, self.bytes) = (0, 0);
        let held = std::mem::take(&mut self.held);
        if held.is_empty() { Ok(None) } else { Ok(Some(concat(&held)?)) }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::sync::Arc;

    use arrow::array::{ArrayRef, Int64Array};
    use futures::TryStreamExt as _;

    use super::*;

    #[tokio::test]
    async fn small_batches_leave_together_and_large_ones_as_they_are() {
        let batch = |rows: i64| {
            let column: ArrayRef = Arc::new(Int64Array::from_iter_values(0..rows));
            Ok(RecordBatch::try_from_iter([("n", column)]).unwrap())
        };
        for (rows, expected) in [
            (vec![], vec![]),
            (vec![1, 2, 3], vec![6]),
            (vec![5000, 1, 2, 5000, 7], vec![5000, 3, 5000, 7]),
            (vec![4000, 100, 100, 4000], vec![4100, 4100]),
        ] {
            let input = stream::iter(rows.into_iter().map(batch)).boxed();
            let found: Vec<_> =
                gather(input).map_ok(|batch| batch.num_rows()).try_collect().await.unwrap();
            assert_eq!(found, expected);
        }
    }
}
