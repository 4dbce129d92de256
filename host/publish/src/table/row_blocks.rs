//! The ordered table cut into blocks to be gathered, hashed and written, and into row groups. Where
//! the cuts fall depends on values and order alone, never on how the input was cut, so the same
//! table always makes the same file.

use std::ops::Range;

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::compute::interleave_record_batch;
use arrow::datatypes::DataType;
use arrow::error::ArrowError;

use super::row_order::{RowOrder, RowPosition};
use super::{PackageTable, TableChunk};

/// Rows of a block at most.
const BLOCK_ROWS: usize = 16_384;

/// Bytes of a block, uncompressed; a single row may exceed it.
const BLOCK_BYTES: usize = 4 << 20;

/// Rows of a row group at most.
pub(crate) const GROUP_ROWS: usize = 131_072;

/// Bytes of a row group, uncompressed; a single row may exceed it. Encoders in a sandbox hold one
/// in memory, so geometry must not make it large.
pub(crate) const GROUP_BYTES: usize = 16 << 20;

/// Rows to be written together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RowBlock {
    /// Positions in the snapshot's order.
    pub(crate) rows: Range<usize>,
    /// Set if a row group ends with it.
    pub(crate) ends_group: bool,
}

/// Cuts the table.
pub(crate) fn cut(table: &PackageTable, order: &RowOrder) -> Vec<RowBlock> {
    let sizes = Sizes::new(table);
    let mut blocks: Vec<RowBlock> = Vec::new();
    let (mut start, mut bytes) = (0, 0);
    let (mut group_rows, mut group_bytes) = (0, 0);
    for (position, place) in order.places.iter().enumerate() {
        let size = sizes.row_bytes(*place);
        let group_full =
            group_rows == GROUP_ROWS || (group_rows > 0 && group_bytes + size > GROUP_BYTES);
        if group_full
            || position - start == BLOCK_ROWS
            || (position > start && bytes + size > BLOCK_BYTES)
        {
            blocks.push(RowBlock { rows: start..position, ends_group: group_full });
            (start, bytes) = (position, 0);
        }
        if group_full {
            (group_rows, group_bytes) = (0, 0);
        }
        bytes += size;
        group_rows += 1;
        group_bytes += size;
    }
    if start < order.places.len() {
        blocks.push(RowBlock { rows: start..order.places.len(), ends_group: true });
    }
    blocks
}

/// The rows of a block, with the table's schema.
pub(crate) fn gather_rows(
    table: &PackageTable,
    order: &RowOrder,
    block: &RowBlock,
) -> Result<RecordBatch, ArrowError> {
    gather(&table.chunks.iter().map(|chunk| &chunk.batch).collect::<Vec<_>>(), order, block)
}

/// The same with some of the columns (positions), in that order.
pub(crate) fn gather_columns(
    table: &PackageTable,
    order: &RowOrder,
    block: &RowBlock,
    columns: &[usize],
) -> Result<RecordBatch, ArrowError> {
    let narrow = |chunk: &TableChunk| chunk.batch.project(columns);
    let chunks: Vec<RecordBatch> = table.chunks.iter().map(narrow).collect::<Result<_, _>>()?;
    gather(&chunks.iter().collect::<Vec<_>>(), order, block)
}

fn gather(
    batches: &[&RecordBatch],
    order: &RowOrder,
    block: &RowBlock,
) -> Result<RecordBatch, ArrowError> {
    let places = order.places.get(block.rows.clone()).unwrap_or_default();
    let indices: Vec<(usize, usize)> =
        places.iter().map(|(chunk, row)| (*chunk as usize, *row as usize)).collect();
    interleave_record_batch(batches, &indices)
}

/// Uncompressed size of rows: text with its offset, eight bytes for everything else.
struct Sizes<'a> {
    /// Bytes of the columns that are not text.
    fixed: usize,
    /// Offsets of the text columns, a list a chunk.
    offsets: Vec<Vec<&'a [i32]>>,
}

impl<'a> Sizes<'a> {
    fn new(table: &'a PackageTable) -> Self {
        let is_text = |data_type: &DataType| *data_type == DataType::Utf8;
        let offsets = |chunk: &'a TableChunk| {
            let texts = chunk.batch.columns().iter().filter(|array| is_text(array.data_type()));
            texts.map(|array| array.as_string::<i32>().value_offsets()).collect()
        };
        let texts = table.schema.fields().iter().filter(|field| is_text(field.data_type())).count();
        let fixed =
            (table.schema.fields().len() - texts) * size_of::<i64>() + texts * size_of::<i32>();
        Self { fixed, offsets: table.chunks.iter().map(offsets).collect() }
    }

    fn row_bytes(&self, (chunk, row): RowPosition) -> usize {
        let row = row as usize;
        let length = |offsets: &&[i32]| match offsets.get(row..row + 2) {
            Some([start, end]) => usize::try_from(end - start).unwrap_or_default(),
            _ => 0,
        };
        self.fixed
            + self.offsets.get(chunk as usize).map_or(0, |columns| columns.iter().map(length).sum())
    }
}

#[cfg(test)]
mod tests;
