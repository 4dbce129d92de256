//! The k-way merge of spilled runs. Runs are numbered in the order in which their rows came, so
//! rows of equal keys keep it.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::compute::interleave_record_batch;
use arrow::error::ArrowError;
use arrow::row::Rows;

use crate::SortShape;
use crate::batch_sizes::{BatchSizes, batch_bytes};
use crate::error::SortError;
use crate::sort_keys::KeyEncoder;
use crate::spilled_run::{SpilledBatches, SpilledRun};

/// Runs being merged.
pub(super) struct Merge {
    /// The run that the next row comes from; `None` at the end.
    current: Option<RunCursor>,
    /// The others that have rows left, the one with the least key on top.
    others: BinaryHeap<RunCursor>,
    /// Numbers of gathered blocks.
    block: u64,
    /// Batches that the block in progress takes rows from.
    batches: Vec<RecordBatch>,
}

impl Merge {
    /// Starts merging the columns `columns` (positions) of `runs`.
    pub(super) fn new(
        shape: &Arc<SortShape>,
        runs: &[SpilledRun],
        columns: &[usize],
    ) -> Result<Self, SortError> {
        let mut read: Vec<usize> = shape.keys.positions().iter().chain(columns).copied().collect();
        read.sort_unstable();
        read.dedup();
        let place = |column: &usize| read.partition_point(|other| other < column);
        let output: Arc<[usize]> = columns.iter().map(place).collect();
        let positions: Vec<usize> = shape.keys.positions().iter().map(place).collect();
        let keys = Arc::new(KeyEncoder::new(&shape.schema.project(&read)?, &positions)?);
        let mut others = BinaryHeap::with_capacity(runs.len());
        for (number, run) in runs.iter().enumerate() {
            let batches = run.read(read.clone())?;
            let output = OutputColumns {
                positions: Arc::clone(&output),
                largest_batch: run.largest_batch(),
            };
            others.extend(RunCursor::open(number, batches, Arc::clone(&keys), output)?);
        }
        let current = others.pop();
        Ok(Self { current, others, block: 0, batches: Vec::new() })
    }

    /// Size of the next row; `None` at the end.
    pub(super) fn next_size(&self) -> Option<usize> {
        self.current.as_ref().map(|run| run.sizes.row(run.row))
    }

    /// Takes the next row into the block in progress; returns its place among the batches of
    /// [`Self::take_batches`].
    pub(super) fn take_row(&mut self) -> Result<Option<(usize, usize)>, SortError> {
        let Some(run) = &mut self.current else { return Ok(None) };
        let place = match run.slot {
            Some((block, slot)) if block == self.block => slot,
            _ => {
                self.batches.push(run.output.clone());
                let slot = self.batches.len() - 1;
                run.slot = Some((self.block, slot));
                slot
            }
        };
        let taken = (place, run.row);
        if !run.advance()? {
            self.current = self.others.pop();
        } else if let Some(mut other) = self.others.peek_mut()
            && *other > *run
        {
            std::mem::swap(&mut *other, run);
        }
        Ok(Some(taken))
    }

    /// The batches of the block, which ends here.
    pub(super) fn take_batches(&mut self) -> Vec<RecordBatch> {
        self.block += 1;
        std::mem::take(&mut self.batches)
    }
}

/// A run with a row left.
struct RunCursor {
    number: usize,
    rest: SpilledBatches,
    encoder: Arc<KeyEncoder>,
    columns: OutputColumns,
    /// The batch at hand, with these columns.
    output: RecordBatch,
    keys: Option<Rows>,
    sizes: BatchSizes,
    row: usize,
    /// Place of `output` in a block, by the block's number.
    slot: Option<(u64, usize)>,
}

impl RunCursor {
    /// None for a run without rows.
    fn open(
        number: usize,
        mut rest: SpilledBatches,
        encoder: Arc<KeyEncoder>,
        columns: OutputColumns,
    ) -> Result<Option<Self>, SortError> {
        let Some(batch) = rest.next().transpose()? else { return Ok(None) };
        let output = columns.project(&batch)?;
        let (keys, sizes) = (encoder.encode(&batch)?, BatchSizes::new(&output));
        Ok(Some(Self { number, rest, encoder, columns, output, keys, sizes, row: 0, slot: None }))
    }

    /// Goes to the next row; false at the end.
    fn advance(&mut self) -> Result<bool, SortError> {
        self.row += 1;
        if self.row < self.output.num_rows() {
            return Ok(true);
        }
        let Some(batch) = self.rest.next().transpose()? else { return Ok(false) };
        self.output = self.columns.project(&batch)?;
        self.keys = self.encoder.encode(&batch)?;
        self.sizes = BatchSizes::new(&self.output);
        (self.row, self.slot) = (0, None);
        Ok(true)
    }
}

/// Columns that are given out.
struct OutputColumns {
    /// Positions in the batches that are read.
    positions: Arc<[usize]>,
    /// Bytes of the largest batch of the run, all columns of it.
    largest_batch: usize,
}

impl OutputColumns {
    /// These columns of a batch. Arrays may be windows of all bytes of the batch in the file; those
    /// of a few narrow columns are copied, so that a block of many rows does not hold the others.
    fn project(&self, batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
        let output = batch.project(&self.positions)?;
        if batch_bytes(&output) > self.largest_batch / 2 {
            return Ok(output);
        }
        let all: Vec<(usize, usize)> = (0..output.num_rows()).map(|row| (0, row)).collect();
        interleave_record_batch(&[&output], &all)
    }
}

/// The least key is the greatest cursor: a binary heap has its greatest element on top.
impl Ord for RunCursor {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_key = match (&self.keys, &other.keys) {
            (Some(own), Some(others)) => others.row(other.row).cmp(&own.row(self.row)),
            _ => Ordering::Equal,
        };
        by_key.then_with(|| other.number.cmp(&self.number))
    }
}

impl PartialOrd for RunCursor {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for RunCursor {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for RunCursor {}
