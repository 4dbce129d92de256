//! Ordered rows that come batch by batch, cut as a merge of the same rows would be.

use arrow::array::RecordBatch;
use arrow::compute::concat_batches;

use crate::batch_sizes::BatchSizes;
use crate::block_cutter::{BlockCutter, BlockLimits};
use crate::error::SortError;
use crate::ordered_reader::RowBlock;

/// Blocks being cut of rows that are in order already.
pub struct BlockBuilder {
    cutter: BlockCutter,
    /// Rows of the block in progress.
    pending: Vec<RecordBatch>,
}

impl BlockBuilder {
    /// Cuts blocks within `limits`.
    #[must_use]
    pub fn new(limits: BlockLimits) -> Self {
        Self { cutter: BlockCutter::new(limits), pending: Vec::new() }
    }

    /// Takes in the next rows; returns the blocks that end before the last of them.
    ///
    /// # Errors
    /// [`SortError::Rows`] for rows of another schema.
    pub fn push(&mut self, rows: &RecordBatch) -> Result<Vec<RowBlock>, SortError> {
        let sizes = BatchSizes::new(rows);
        let mut blocks = Vec::new();
        let mut start = 0;
        for row in 0..rows.num_rows() {
            while let Err(end) = self.cutter.push(sizes.row(row)) {
                self.hold(rows, start, row);
                blocks.extend(self.cut(end.ends_group)?);
                start = row;
            }
        }
        self.hold(rows, start, rows.num_rows());
        Ok(blocks)
    }

    /// Returns whether no row is held.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    /// Returns whether the first of `rows`, if it comes next, begins a row group.
    #[must_use]
    pub fn begins_group(&self, rows: &RecordBatch) -> bool {
        self.cutter.begins_group(BatchSizes::new(rows).row(0))
    }

    /// Ends the row group; returns its last block, `None` where it has no row yet.
    ///
    /// # Errors
    /// Those of [`Self::push`].
    pub fn end_group(&mut self) -> Result<Option<RowBlock>, SortError> {
        self.cutter.begin_group();
        self.cut(true)
    }

    /// Returns the last block; `None` where no row is left.
    ///
    /// # Errors
    /// Those of [`Self::push`].
    pub fn finish(mut self) -> Result<Option<RowBlock>, SortError> {
        self.cut(true)
    }

    fn hold(&mut self, rows: &RecordBatch, start: usize, end: usize) {
        if start < end {
            self.pending.push(rows.slice(start, end - start));
        }
    }

    fn cut(&mut self, ends_group: bool) -> Result<Option<RowBlock>, SortError> {
        let parts = std::mem::take(&mut self.pending);
        let Some(first) = parts.first() else { return Ok(None) };
        let rows = match parts.as_slice() {
            [only] => only.clone(),
            _ => concat_batches(&first.schema(), &parts)?,
        };
        Ok(Some(RowBlock { rows, ends_group }))
    }
}
