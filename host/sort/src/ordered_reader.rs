//! Ordered rows, read block by block from memory or from a merge.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::compute::interleave_record_batch;

use crate::SortShape;
use crate::batch_sizes::BatchSizes;
use crate::block_cutter::{BlockCutter, BlockEnd, BlockLimits};
use crate::error::SortError;
use crate::memory_run::MemoryRun;
use crate::merge::Merge;
use crate::spilled_run::SpilledRun;

/// Rows of a table in order.
pub struct OrderedReader {
    source: OrderedSource,
    cutter: BlockCutter,
    /// Rows of the block in progress: batch, row in the batch; reused.
    places: Vec<(usize, usize)>,
}

/// Rows to be written together.
pub struct RowBlock {
    /// The rows, never none.
    pub rows: RecordBatch,
    /// Set if a row group ends with it.
    pub ends_group: bool,
}

enum OrderedSource {
    Memory {
        run: Arc<MemoryRun>,
        /// Its batches, with the columns that are read.
        batches: Vec<RecordBatch>,
        sizes: Vec<BatchSizes>,
        next: usize,
    },
    Merge(Box<Merge>),
}

impl OrderedReader {
    pub(super) fn of_memory(
        shape: &SortShape,
        run: Arc<MemoryRun>,
        columns: Vec<usize>,
        limits: BlockLimits,
    ) -> Result<Self, SortError> {
        let batches = if columns == shape.all_columns() {
            run.batches.clone()
        } else {
            run.batches.iter().map(|batch| batch.project(&columns)).collect::<Result<_, _>>()?
        };
        let sizes = batches.iter().map(BatchSizes::new).collect();
        Ok(Self::new(OrderedSource::Memory { run, batches, sizes, next: 0 }, limits))
    }

    pub(super) fn of_spilled(
        shape: &Arc<SortShape>,
        runs: &[SpilledRun],
        columns: Vec<usize>,
        limits: BlockLimits,
    ) -> Result<Self, SortError> {
        let merge = Merge::new(shape, runs, &columns)?;
        Ok(Self::new(OrderedSource::Merge(Box::new(merge)), limits))
    }

    fn new(source: OrderedSource, limits: BlockLimits) -> Self {
        Self { source, cutter: BlockCutter::new(limits), places: Vec::new() }
    }

    /// The next rows; `None` at the end.
    ///
    /// # Errors
    /// [`SortError::Io`] of the temporary folder.
    pub fn next_block(&mut self) -> Result<Option<RowBlock>, SortError> {
        self.places.clear();
        let end = loop {
            let Some(size) = self.source.next_size() else {
                break BlockEnd { ends_group: true };
            };
            if let Err(end) = self.cutter.push(size) {
                break end;
            }
            self.places.extend(self.source.take_row()?);
        };
        if self.places.is_empty() {
            return Ok(None);
        }
        let rows = self.source.gather(&self.places)?;
        Ok(Some(RowBlock { rows, ends_group: end.ends_group }))
    }
}

impl OrderedSource {
    fn next_size(&self) -> Option<usize> {
        match self {
            Self::Memory { run, sizes, next, .. } => {
                let (batch, row) = *run.order.get(*next)?;
                Some(sizes.get(batch as usize)?.row(row as usize))
            }
            Self::Merge(merge) => merge.next_size(),
        }
    }

    fn take_row(&mut self) -> Result<Option<(usize, usize)>, SortError> {
        match self {
            Self::Memory { run, next, .. } => {
                let place =
                    run.order.get(*next).map(|(batch, row)| (*batch as usize, *row as usize));
                *next += 1;
                Ok(place)
            }
            Self::Merge(merge) => merge.take_row(),
        }
    }

    fn gather(&mut self, places: &[(usize, usize)]) -> Result<RecordBatch, SortError> {
        match self {
            Self::Memory { batches, .. } => gather(batches, places),
            Self::Merge(merge) => gather(&merge.take_batches(), places),
        }
    }
}

/// The rows at `places` (batch, row in it). Neighbouring rows of one batch, as sorted input has
/// them, are not copied.
///
/// # Errors
/// Batches of different schemas, or none.
pub fn gather(
    batches: &[RecordBatch],
    places: &[(usize, usize)],
) -> Result<RecordBatch, SortError> {
    if let [(batch, first), ..] = places
        && let Some(whole) = batches.get(*batch)
        && places.iter().copied().eq((*first..*first + places.len()).map(|row| (*batch, row)))
    {
        return Ok(whole.slice(*first, places.len()));
    }
    Ok(interleave_record_batch(&batches.iter().collect::<Vec<_>>(), places)?)
}
