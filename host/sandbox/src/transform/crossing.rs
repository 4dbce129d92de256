//! Rows of a batch as a transform takes them: its columns in the forms that it asked for, in slices
//! of a bounded size.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int32Type};

use super::codes::CodeTable;
use super::groups::host_error;
use super::needs::Form;
use crate::guest::{WireColumns, column_bytes, plain};
use crate::guest_error::GuestError;

/// Rows of a slice at most.
pub(super) const SLICE_ROWS: usize = 8_192;
/// Bytes of a slice that has more than one row, about.
pub(super) const SLICE_BYTES: usize = 512 << 10;
/// Bytes that a value counts beside its text.
const VALUE_BYTES: usize = 8;

/// A column as it crosses.
pub(super) fn cross(
    column: &ArrayRef,
    form: Form,
    codes: Option<&CodeTable>,
) -> Result<ArrayRef, GuestError> {
    match form {
        Form::Plain => plain(column).map_err(host_error),
        Form::Days => {
            let days = cast(column, &DataType::Date32).map_err(host_error)?;
            cast(&days, &DataType::Int32).map_err(host_error)
        }
        Form::Coded => {
            let positions = codes.map(|codes| codes.encode(column)).transpose();
            let positions = positions.map_err(|value| {
                host_error(format!("a value {value:?} that is none of its column's"))
            })?;
            positions.map_or_else(
                || Err(host_error("a column without codes")),
                |positions| Ok(Arc::new(positions) as ArrayRef),
            )
        }
    }
}

/// Columns that have crossed, ready for the guest.
pub(super) fn wire(rows: usize, columns: &[ArrayRef]) -> Result<WireColumns, GuestError> {
    WireColumns::whole(rows, columns).map_err(host_error)
}

/// Number of rows of `batch` from `at` on that make one slice, where these of its columns cross.
pub(super) fn slice_rows(batch: &RecordBatch, columns: &[usize], at: usize) -> usize {
    let most = (batch.num_rows() - at).min(SLICE_ROWS);
    let texts: Vec<&ArrayRef> = columns
        .iter()
        .map(|column| batch.column(*column))
        .filter(|column| matches!(column.data_type(), DataType::Utf8 | DataType::Dictionary(..)))
        .collect();
    let longest = texts.iter().map(|column| longest_text(column)).fold(0, usize::saturating_add);
    let row = longest.saturating_add(columns.len() * VALUE_BYTES);
    if most.saturating_mul(row) <= SLICE_BYTES {
        return most;
    }
    let mut bytes = 0_usize;
    for row in 0..most {
        bytes = bytes.saturating_add(columns.len() * VALUE_BYTES);
        for column in &texts {
            bytes = bytes.saturating_add(text_bytes(column, at + row));
        }
        if bytes > SLICE_BYTES && row > 0 {
            return row;
        }
    }
    most
}

/// Bytes of the longest text of a column.
fn longest_text(column: &ArrayRef) -> usize {
    let keyed = column.as_dictionary_opt::<Int32Type>();
    let text = keyed.map_or(column, |keyed| keyed.values()).as_string_opt::<i32>();
    let offsets = text.map_or(&[][..], |text| text.value_offsets());
    (1..offsets.len()).map(|end| text_length(offsets, end - 1)).max().unwrap_or(0)
}

/// Bytes of the text of a row.
fn text_bytes(column: &ArrayRef, row: usize) -> usize {
    match column.data_type() {
        DataType::Dictionary(..) => {
            let Some(column) = column.as_dictionary_opt::<Int32Type>() else { return 0 };
            let key = column.key(row);
            let values = column.values().as_string_opt::<i32>();
            key.zip(values).map_or(0, |(key, values)| text_length(values.value_offsets(), key))
        }
        _ => column.as_string_opt::<i32>().map_or(0, |text| text_length(text.value_offsets(), row)),
    }
}

fn text_length(offsets: &[i32], row: usize) -> usize {
    let ends = offsets.get(row).zip(offsets.get(row + 1));
    ends.and_then(|(start, end)| usize::try_from(end - start).ok()).unwrap_or(0)
}

/// Bytes of the columns of a batch, of a slice those of its rows alone.
pub(super) fn batch_bytes(batch: &RecordBatch) -> usize {
    batch.columns().iter().map(|column| column_bytes(column)).fold(0, usize::saturating_add)
}
