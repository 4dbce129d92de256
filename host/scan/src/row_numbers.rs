//! Numbers of rows in their snapshot, as a column behind those that are read (contract-17-rows).

use std::sync::Arc;

use arrow::array::{Int64Array, RecordBatch, RecordBatchOptions};
use arrow::datatypes::{Schema, SchemaRef};
use arrow::error::ArrowError;
use yearbook_domain::dataset::ROW_NUMBER_COLUMN;
use yearbook_domain::{Column, ColumnRole, ColumnType};

use crate::schema::plain_field;

/// Returns `schema` with the column of numbers behind its columns.
pub(crate) fn numbered_schema(schema: &SchemaRef) -> SchemaRef {
    let column = Column::new(ROW_NUMBER_COLUMN, ColumnType::Integer, ColumnRole::Attribute);
    let numbers = plain_field(&Column { nullable: false, ..column });
    let fields = schema.fields().iter().cloned().chain([Arc::new(numbers)]);
    let metadata = schema.metadata().clone();
    Arc::new(Schema::new_with_metadata(fields.collect::<Vec<_>>(), metadata))
}

/// Returns `batch` in `schema`, that of [`numbered_schema`]. `numbers` begins with those of the
/// rows of `batch`, which are taken off it.
///
/// # Errors
/// Fails where there are fewer numbers than rows.
pub(crate) fn append_numbers(
    schema: &SchemaRef,
    batch: &RecordBatch,
    numbers: &mut impl Iterator<Item = u64>,
) -> Result<RecordBatch, ArrowError> {
    let rows = batch.num_rows();
    let numbers = numbers.take(rows).map(|row| i64::try_from(row).unwrap_or(i64::MAX));
    let numbers: Int64Array = numbers.collect::<Vec<_>>().into();
    let columns = batch.columns().iter().cloned().chain([Arc::new(numbers) as _]).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)
}
