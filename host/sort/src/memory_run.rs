//! Sorted rows in memory: the batches as they came, and an order over them.

use arrow::array::RecordBatch;
use arrow::error::ArrowError;
use arrow::row::{Row, Rows};
use rayon::slice::ParallelSliceMut;

use crate::error::SortError;
use crate::sort_keys::KeyEncoder;

/// Position of a row: batch, row in the batch.
pub(super) type RowPosition = (u32, u32);

/// Rows in memory with their order.
pub(super) struct MemoryRun {
    pub(super) batches: Vec<RecordBatch>,
    /// Every row's position, in order.
    pub(super) order: Vec<RowPosition>,
}

impl MemoryRun {
    /// Sorts `batches` by key, rows of the same key by position.
    pub(super) fn sort(batches: Vec<RecordBatch>, keys: &KeyEncoder) -> Result<Self, SortError> {
        let mut order = arrival_order(&batches)?;
        let keys = batches
            .iter()
            .map(|batch| keys.encode(batch))
            .collect::<Result<Option<Vec<Rows>>, _>>();
        let Some(keys) = keys.map_err(SortError::from)? else { return Ok(Self { batches, order }) };
        // Positions come from `arrival_order`, so each has a key.
        let key = |(batch, row): RowPosition| -> Option<Row<'_>> {
            keys.get(batch as usize).map(|rows| rows.row(row as usize))
        };
        // Most packages come sorted already, and then looking is all it takes.
        if !order.is_sorted_by(|a, b| key(*a) <= key(*b)) {
            order.par_sort_unstable_by(|a, b| key(*a).cmp(&key(*b)).then(a.cmp(b)));
        }
        Ok(Self { batches, order })
    }

    /// Number of rows.
    pub(super) fn rows(&self) -> usize {
        self.order.len()
    }
}

fn arrival_order(batches: &[RecordBatch]) -> Result<Vec<RowPosition>, ArrowError> {
    let mut order = Vec::with_capacity(batches.iter().map(RecordBatch::num_rows).sum());
    for (index, batch) in batches.iter().enumerate() {
        let too_many = |_| ArrowError::ComputeError("more batches than a u32 counts".to_owned());
        let index = u32::try_from(index).map_err(too_many)?;
        let rows = u32::try_from(batch.num_rows()).map_err(too_many)?;
        order.extend((0..rows).map(|row| (index, row)));
    }
    Ok(order)
}
