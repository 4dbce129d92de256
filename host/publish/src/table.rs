//! A package's table in memory: read from any input format into the same typed columns, checked,
//! and put in order.
//!
//! Bound: publishing holds the whole table once, column by column without compression (text as it
//! is plus 4 bytes, 8 bytes a number), plus 8 bytes a row for the order and, while it sorts, one
//! encoded key a row. Three million rows of seven columns peak at 370 MB. Reading, checking and
//! writing add only chunks of [`MAX_BYTES`].

pub(crate) mod arrow_source;
pub(crate) mod cell;
pub(crate) mod check;
pub(crate) mod column_builder;
pub(crate) mod convert;
pub(crate) mod csv_source;
pub(crate) mod distinct_values;
pub(crate) mod open;
pub(crate) mod percent_unit;
pub(crate) mod plugin_source;
pub(crate) mod row_blocks;
pub(crate) mod row_order;
pub(crate) mod row_weight;
pub(crate) mod source;
pub(crate) mod unique;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;

pub(crate) use row_blocks::RowBlock;
pub(crate) use row_order::RowOrder;

/// Rows of a chunk at most.
pub(crate) const MAX_ROWS: usize = 65_536;

/// Text bytes after which a chunk is closed; one row may exceed it.
pub(crate) const MAX_BYTES: usize = 16 << 20;

/// Consecutive rows of the input.
#[derive(Clone, Debug)]
pub(crate) struct TableChunk {
    /// Data row (from 1) of the first row.
    pub(crate) first_row: u64,
    /// Columns in the order of the package, types as [`yearbook_scan::schema::stored_type`] says.
    pub(crate) batch: RecordBatch,
}

/// Every row, in the input's order.
#[derive(Debug)]
pub(crate) struct PackageTable {
    pub(crate) schema: SchemaRef,
    /// Never empty batches.
    pub(crate) chunks: Vec<TableChunk>,
}

impl PackageTable {
    /// Number of rows.
    pub(crate) fn rows(&self) -> u64 {
        self.chunks.iter().map(|chunk| chunk.batch.num_rows() as u64).sum()
    }
}
