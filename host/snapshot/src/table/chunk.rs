//! The table as a list of chunks, and the Arrow types that its columns have in memory and in the
//! stored file.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use yearbook_domain::{Column, ColumnType};

/// Rows of a chunk at most.
pub(crate) const MAX_ROWS: usize = 65_536;

/// Text bytes after which a chunk is closed; one row may exceed it.
pub(crate) const MAX_BYTES: usize = 16 << 20;

/// Consecutive rows of the input.
#[derive(Clone, Debug)]
pub(crate) struct TableChunk {
    /// Data row (from 1) of the first row.
    pub(crate) first_row: u64,
    /// Columns in the order of the package, types as [`stored_type`] says.
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

/// The type in which a column is held and stored. Dates are text (spec-2.2-dates).
pub(crate) fn stored_type(column_type: ColumnType) -> DataType {
    match column_type {
        ColumnType::String | ColumnType::Date => DataType::Utf8,
        ColumnType::Integer => DataType::Int64,
        ColumnType::Number => DataType::Float64,
        ColumnType::Boolean => DataType::Boolean,
    }
}

/// The schema of the stored file, without metadata.
pub(crate) fn stored_schema(columns: &[Column]) -> SchemaRef {
    let fields: Vec<Field> = columns
        .iter()
        .map(|column| Field::new(&column.name, stored_type(column.column_type), column.nullable))
        .collect();
    Arc::new(Schema::new(fields))
}

/// The same with every column nullable: what holds rows until they have been checked.
pub(crate) fn unchecked_schema(columns: &[Column]) -> SchemaRef {
    let fields: Vec<Field> = columns
        .iter()
        .map(|column| Field::new(&column.name, stored_type(column.column_type), true))
        .collect();
    Arc::new(Schema::new(fields))
}
