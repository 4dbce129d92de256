//! External merge sort of record batches: rows are held in memory up to a budget; what is more is
//! sorted and spilled as runs, which a k-way merge reads back in order. Rows of equal keys keep the
//! order in which they came. Knows nothing of packages, faults or stored files.
//!
//! Bound: the budget, which rows and their encoded keys share. Reading adds one block; merging
//! holds one batch a run, and as many runs at a time as half of the budget allows, two at least.

mod batch_sizes;
mod block_builder;
mod block_cutter;
mod error;
mod memory_run;
mod merge;
mod ordered_reader;
mod sort_keys;
mod spilled_run;

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;

pub use block_builder::BlockBuilder;
pub use block_cutter::{BlockLimits, GROUP_BYTES, GROUP_ROWS};
pub use error::SortError;
pub use ordered_reader::{OrderedReader, RowBlock, gather};
pub use sort_keys::KeyEncoder;

use batch_sizes::{batch_bytes, key_bytes};
use memory_run::MemoryRun;
use spilled_run::{SpilledRun, SpilledRunWriter};

/// Runs that are merged at once at most: each costs an open batch.
const MAX_FAN_IN: usize = 64;

/// Part of the budget that a batch of a run may take: a merge of [`MAX_FAN_IN`] runs holds a
/// quarter of it, and their keys as much again.
const BATCHES_PER_BUDGET: usize = 256;

/// Bytes of a batch of a run at least and at most.
const RUN_BATCH_BYTES: std::ops::RangeInclusive<usize> = 16 << 10..=1 << 20;

/// Columns and order of rows that are sorted.
struct SortShape {
    schema: SchemaRef,
    keys: KeyEncoder,
}

/// Rows that are being collected to be sorted.
pub struct ExternalSorter {
    shape: Arc<SortShape>,
    /// Bytes of rows and keys in memory.
    budget: usize,
    held: Vec<RecordBatch>,
    held_bytes: usize,
    spilled: Vec<SpilledRun>,
    rows: u64,
}

impl ExternalSorter {
    /// Sorts rows of `schema` by the columns `sorted_by` (positions), nulls first; none of them:
    /// rows keep their order. `budget` is bytes.
    ///
    /// # Errors
    /// [`SortError::Rows`] for columns that have no order.
    pub fn new(schema: SchemaRef, sorted_by: &[usize], budget: usize) -> Result<Self, SortError> {
        let keys = KeyEncoder::new(&schema, sorted_by)?;
        let shape = Arc::new(SortShape { schema, keys });
        Ok(Self { shape, budget, held: Vec::new(), held_bytes: 0, spilled: Vec::new(), rows: 0 })
    }

    /// Takes in the next rows, which must not be empty.
    pub fn push(&mut self, batch: RecordBatch) {
        let keys = key_bytes(&batch, self.shape.keys.positions());
        self.held_bytes = self.held_bytes.saturating_add(batch_bytes(&batch)).saturating_add(keys);
        self.rows += batch.num_rows() as u64;
        self.held.push(batch);
    }

    /// Returns true when the budget is used up: [`Self::spill`] is due.
    pub fn is_full(&self) -> bool {
        self.held_bytes >= self.budget
    }

    /// Takes in the next rows, which must not be empty, and spills where that is due.
    ///
    /// # Errors
    /// Those of [`Self::spill`].
    pub fn add(&mut self, batch: RecordBatch) -> Result<(), SortError> {
        self.push(batch);
        if self.is_full() { self.spill() } else { Ok(()) }
    }

    /// Number of runs on disk.
    pub fn spilled_runs(&self) -> usize {
        self.spilled.len()
    }

    /// Sorts the rows in memory and writes them as a run.
    ///
    /// # Errors
    /// [`SortError::Io`] of the temporary folder.
    pub fn spill(&mut self) -> Result<(), SortError> {
        let run = self.take_held()?;
        if run.rows() > 0 {
            let reader = OrderedReader::of_memory(
                &self.shape,
                Arc::new(run),
                self.shape.all_columns(),
                self.run_limits(),
            )?;
            self.spilled.push(write_run(&self.shape, reader)?);
        }
        Ok(())
    }

    /// All rows in order. Runs are merged until one pass can read the rest.
    ///
    /// # Errors
    /// [`SortError::Io`] of the temporary folder.
    pub fn finish(mut self) -> Result<SortedRows, SortError> {
        let runs = if self.spilled.is_empty() {
            SortedRuns::Memory(Arc::new(self.take_held()?))
        } else {
            self.spill()?;
            SortedRuns::Spilled(self.merge_down()?)
        };
        Ok(SortedRows { shape: self.shape, runs, rows: self.rows })
    }

    fn take_held(&mut self) -> Result<MemoryRun, SortError> {
        self.held_bytes = 0;
        MemoryRun::sort(std::mem::take(&mut self.held), &self.shape.keys)
    }

    fn run_limits(&self) -> BlockLimits {
        let bytes = self.budget / BATCHES_PER_BUDGET;
        BlockLimits::batches(bytes.clamp(*RUN_BATCH_BYTES.start(), *RUN_BATCH_BYTES.end()))
    }

    /// Neighbouring runs are merged, so that rows of equal keys keep their order.
    fn merge_down(&mut self) -> Result<Vec<SpilledRun>, SortError> {
        let mut runs = std::mem::take(&mut self.spilled);
        loop {
            let largest = runs.iter().map(SpilledRun::largest_batch).max().unwrap_or(1).max(1);
            // A batch, its keys, and the bytes that it was read from.
            let fan_in = (self.budget / 2 / (3 * largest)).clamp(2, MAX_FAN_IN);
            if runs.len() <= fan_in {
                return Ok(runs);
            }
            let mut merged = Vec::with_capacity(runs.len().div_ceil(fan_in));
            let mut rest = runs.into_iter();
            loop {
                let group: Vec<SpilledRun> = rest.by_ref().take(fan_in).collect();
                match <[SpilledRun; 1]>::try_from(group) {
                    Ok([alone]) => merged.push(alone),
                    Err(group) if group.is_empty() => break,
                    Err(group) => {
                        let columns = self.shape.all_columns();
                        let limits = self.run_limits();
                        let reader =
                            OrderedReader::of_spilled(&self.shape, &group, columns, limits)?;
                        merged.push(write_run(&self.shape, reader)?);
                    }
                }
            }
            runs = merged;
        }
    }
}

fn write_run(shape: &SortShape, mut rows: OrderedReader) -> Result<SpilledRun, SortError> {
    let mut writer = SpilledRunWriter::new(&shape.schema)?;
    while let Some(block) = rows.next_block()? {
        writer.append(&block.rows)?;
    }
    writer.finish()
}

impl SortShape {
    fn all_columns(&self) -> Vec<usize> {
        (0..self.schema.fields().len()).collect()
    }
}

/// Rows in order, to be read any number of times. Files of runs have no name and go with this.
pub struct SortedRows {
    shape: Arc<SortShape>,
    runs: SortedRuns,
    rows: u64,
}

enum SortedRuns {
    Memory(Arc<MemoryRun>),
    Spilled(Vec<SpilledRun>),
}

impl SortedRows {
    /// Number of rows.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Schema of the rows that were pushed.
    pub fn schema(&self) -> &SchemaRef {
        &self.shape.schema
    }

    /// Positions of the columns that the rows are sorted by.
    pub fn sorted_by(&self) -> &[usize] {
        self.shape.keys.positions()
    }

    /// Starts reading some columns (positions), in that order, in blocks within `limits`.
    ///
    /// # Errors
    /// [`SortError::Io`] of the temporary folder.
    pub fn read(
        &self,
        columns: Vec<usize>,
        limits: BlockLimits,
    ) -> Result<OrderedReader, SortError> {
        match &self.runs {
            SortedRuns::Memory(run) => {
                OrderedReader::of_memory(&self.shape, Arc::clone(run), columns, limits)
            }
            SortedRuns::Spilled(runs) => {
                OrderedReader::of_spilled(&self.shape, runs, columns, limits)
            }
        }
    }
}

#[cfg(test)]
mod tests;
