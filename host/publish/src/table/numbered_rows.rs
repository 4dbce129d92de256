//! Rows with the number that they have in the input, as one more column behind those of the table:
//! once rows are sorted, faults still name them by it.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, UInt64Array};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::error::ArrowError;

/// Name of the column. No stored column has it: it is not snake_case.
const ROW_NUMBER: &str = "#row";

/// `schema` with the number of the row behind its columns.
pub(crate) fn numbered_schema(schema: &Schema) -> SchemaRef {
    let mut fields = schema.fields().to_vec();
    fields.push(Arc::new(Field::new(ROW_NUMBER, DataType::UInt64, false)));
    Arc::new(Schema::new(fields))
}

/// Rows in [`numbered_schema`], the first of which is `first_row` of the input.
pub(crate) fn number_rows(
    first_row: u64,
    rows: &RecordBatch,
    schema: &SchemaRef,
) -> Result<RecordBatch, ArrowError> {
    let numbers = UInt64Array::from_iter_values((first_row..).take(rows.num_rows()));
    let mut columns = rows.columns().to_vec();
    columns.push(Arc::new(numbers) as ArrayRef);
    RecordBatch::try_new(Arc::clone(schema), columns)
}
