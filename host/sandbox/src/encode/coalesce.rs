//! Joins batches into parts of the size that a format wants. What goes into which part depends on
//! the batches and the format's description alone, never on time or load, since bytes depend on it
//! (decision 0013). Batches are joined, never split.

mod columns;

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Int32Type};
use futures::StreamExt;

use super::Batches;
use crate::encode::EncoderDescription;
use crate::guest::column_bytes;
use crate::guest_error::GuestError;

pub(crate) use columns::concat;

/// Bytes of a part of joined batches, as plain columns; a single batch may have more. Room for four
/// batches of the largest size that the host makes, and what bounds a response's memory.
const GROUP_BYTES: usize = 16 << 20;

/// Parts that are smaller than the others, so that the first byte comes early: the first has a
/// thirty-second of the bounds, each that follows twice as much. Half a mebibyte of boundaries
/// takes Parquet four milliseconds.
const RAMP: u32 = 5;

/// Batches of one part, at least one.
pub(crate) type BatchGroup = Vec<RecordBatch>;

/// Parts as they are asked for. Dropping the future of [`BatchCoalescer::next`] loses nothing.
pub(crate) struct BatchCoalescer {
    batches: Batches,
    /// None: every batch is a part.
    rows: Option<usize>,
    /// Set where text becomes plain, for its weight.
    plain: bool,
    /// Parts begun.
    position: u32,
    pending: BatchGroup,
    pending_rows: usize,
    pending_bytes: usize,
    /// Weight of the part that was closed last.
    closed_bytes: usize,
    ended: bool,
}

impl BatchCoalescer {
    /// Joins `batches` as `description` wants them.
    pub(crate) fn new(batches: Batches, description: &EncoderDescription) -> Self {
        Self {
            batches,
            rows: description.part_rows.map(|rows| rows as usize),
            plain: !description.dictionaries,
            position: 0,
            pending: Vec::new(),
            pending_rows: 0,
            pending_bytes: 0,
            closed_bytes: 0,
            ended: false,
        }
    }

    /// The next part; none after the last.
    ///
    /// # Errors
    /// [`GuestError::Input`] when the scan fails.
    pub(crate) async fn next(&mut self) -> Result<Option<BatchGroup>, GuestError> {
        let Some(rows) = self.rows else {
            let more = self.has_next().await?;
            return Ok(more.then(|| self.close()));
        };
        while let Some(batch) = self.batch().await? {
            let (more, bytes) = (batch.num_rows(), batch_bytes(&batch, self.plain));
            let shift = RAMP.saturating_sub(self.position);
            let fits = self.pending_rows + more <= rows >> shift
                && self.pending_bytes.saturating_add(bytes) <= GROUP_BYTES >> shift;
            let full = if fits || self.pending.is_empty() { None } else { Some(self.close()) };
            self.pending.push(batch);
            self.pending_rows += more;
            self.pending_bytes = self.pending_bytes.saturating_add(bytes);
            if full.is_some() {
                return Ok(full);
            }
        }
        Ok(if self.pending.is_empty() { None } else { Some(self.close()) })
    }

    /// Bytes of the part that [`BatchCoalescer::next`] returned last, as plain columns.
    pub(crate) fn last_group_bytes(&self) -> usize {
        self.closed_bytes
    }

    /// Returns whether there is a next chunk. Reads at most one batch of it.
    ///
    /// # Errors
    /// As for [`BatchCoalescer::next`].
    pub(crate) async fn has_next(&mut self) -> Result<bool, GuestError> {
        if self.pending.is_empty()
            && let Some(batch) = self.batch().await?
        {
            self.pending_rows = batch.num_rows();
            self.pending_bytes = batch_bytes(&batch, self.plain);
            self.pending.push(batch);
        }
        Ok(!self.pending.is_empty())
    }

    async fn batch(&mut self) -> Result<Option<RecordBatch>, GuestError> {
        if self.ended {
            return Ok(None);
        }
        let batch = self.batches.next().await.transpose().map_err(GuestError::Input)?;
        self.ended = batch.is_none();
        Ok(batch)
    }

    fn close(&mut self) -> BatchGroup {
        self.position = self.position.saturating_add(1);
        self.closed_bytes = self.pending_bytes;
        (self.pending_rows, self.pending_bytes) = (0, 0);
        std::mem::take(&mut self.pending)
    }
}

/// Bytes of a batch's columns; of dictionary-encoded ones with `plain` what they would have as
/// plain text, estimated by the dictionary's mean.
fn batch_bytes(batch: &RecordBatch, plain: bool) -> usize {
    let columns = batch.columns().iter().map(|column| match column.data_type() {
        DataType::Dictionary(keys, _) if **keys == DataType::Int32 => {
            let dictionary = column.as_dictionary::<Int32Type>();
            let values = column_bytes(dictionary.values());
            let each = if plain {
                values.div_ceil(dictionary.values().len().max(1))
            } else {
                size_of::<i32>()
            };
            each.saturating_mul(column.len())
        }
        _ => column_bytes(column),
    });
    columns.sum()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::sync::Arc;

    use arrow::array::{ArrayRef, Int64Array, StringArray};

    use super::*;

    fn batch(rows: usize, text: usize) -> RecordBatch {
        let numbers: ArrayRef =
            Arc::new(Int64Array::from_iter_values(0..i64::try_from(rows).unwrap()));
        let texts: ArrayRef = Arc::new(StringArray::from(vec!["x".repeat(text); rows]));
        RecordBatch::try_from_iter([("n", numbers), ("t", texts)]).unwrap()
    }

    /// Rows of each part's batches.
    async fn parts(part_rows: Option<u32>, batches: Vec<RecordBatch>) -> Vec<Vec<usize>> {
        let batches = futures::stream::iter(batches.into_iter().map(Ok)).boxed();
        let parts = BatchCoalescer {
            batches,
            rows: part_rows.map(|rows| rows as usize),
            plain: true,
            position: 0,
            pending: Vec::new(),
            pending_rows: 0,
            pending_bytes: 0,
            closed_bytes: 0,
            ended: false,
        };
        let all = futures::stream::unfold(parts, |mut parts| async {
            let more = parts.has_next().await.unwrap();
            let part = parts.next().await.unwrap();
            assert_eq!(part.is_some(), more);
            let part = part?;
            Some((part.iter().map(RecordBatch::num_rows).collect::<Vec<_>>(), parts))
        });
        all.collect().await
    }

    #[tokio::test]
    async fn without_a_wish_every_batch_is_a_part() {
        assert_eq!(parts(None, vec![batch(3, 1), batch(1, 1)]).await, [vec![3], vec![1]]);
        assert_eq!(parts(Some(100), vec![]).await, Vec::<Vec<usize>>::new());
    }

    #[tokio::test]
    async fn parts_grow_up_to_the_rows_that_the_format_wants() {
        let sums: Vec<usize> = parts(Some(16_000), vec![batch(500, 1); 100])
            .await
            .iter()
            .map(|part| part.iter().sum())
            .collect();
        assert_eq!(sums, [500, 1_000, 2_000, 4_000, 8_000, 16_000, 16_000, 2_500]);
    }

    #[tokio::test]
    async fn a_batch_that_does_not_fit_begins_the_next_part_and_is_never_split() {
        assert_eq!(
            parts(Some(16_000), vec![batch(700, 1), batch(700, 1), batch(5_000, 1), batch(10, 1)])
                .await,
            [vec![700], vec![700], vec![5_000], vec![10]]
        );
    }

    #[tokio::test]
    async fn parts_are_bounded_in_bytes_too() {
        let counts: Vec<usize> =
            parts(Some(1 << 30), vec![batch(10, 50_000); 80]).await.iter().map(Vec::len).collect();
        // Half a million bytes each: ½, 1, 2, 4, 8 and 16 MiB hold that many.
        assert_eq!(counts, [1, 2, 4, 8, 16, 33, 16]);
        assert_eq!(
            parts(Some(1 << 30), vec![batch(40, 1_000_000), batch(1, 1)]).await,
            [vec![40], vec![1]],
            "one batch may have more"
        );
    }
}
