//! Columns that files of changes have beside those of the table.

use arrow::array::{AsArray as _, RecordBatch, StringArray};
use arrow::datatypes::Int64Type;
use arrow::error::ArrowError;
use yearbook_domain::Column;
use yearbook_domain::changes::CHANGE_TYPE;
use yearbook_scan::schema::change_file_columns;

/// Columns of a file of changes: these, the kind of change where it is wanted, and the number.
pub(super) fn numbered<'a>(
    columns: impl Iterator<Item = &'a Column>,
    with_kind: bool,
) -> Vec<Column> {
    let own = change_file_columns(&[]).into_iter();
    let own = own.filter(|column| with_kind || column.name != CHANGE_TYPE);
    columns.cloned().chain(own).collect()
}

/// Numbers of the rows of a batch of [`numbered`] columns.
pub(super) fn row_numbers(rows: &RecordBatch) -> Result<Vec<u64>, ArrowError> {
    let numbers = rows.columns().last().and_then(|numbers| numbers.as_primitive_opt::<Int64Type>());
    let none = || ArrowError::SchemaError("a change has no row".to_owned());
    let numbers = numbers.ok_or_else(none)?.values().iter();
    Ok(numbers.map(|number| u64::try_from(*number).unwrap_or(u64::MAX)).collect())
}

/// Kinds of change of a batch of [`numbered`] columns with them.
pub(super) fn kinds(rows: &RecordBatch) -> Option<&StringArray> {
    rows.columns().iter().rev().nth(1)?.as_string_opt()
}
