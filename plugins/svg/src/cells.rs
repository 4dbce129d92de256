//! Cells of a batch as a picture needs them: places on an axis, values, and names of series.

use yearbook_sdk::{Column, Values};

use crate::calendar::period_start;

/// Greatest place on an axis of numbers; what is beyond has no place.
const FARTHEST: f64 = 1e15;

/// Seconds of a day.
const DAY: f64 = 86_400.0;

/// Returns the place of a row on the x axis: days since 1970-01-01 of dates and periods, else the
/// number. None where it is null or nothing of these.
#[must_use]
pub fn place(column: &Column<'_>, row: usize) -> Option<f64> {
    if !column.is_valid(row) {
        return None;
    }
    let place = match &column.values {
        Values::Date32(days) => f64::from(days[row]),
        Values::Date64(milliseconds) => float(milliseconds[row]) / 1_000.0 / DAY,
        Values::Timestamp { unit, values, .. } => {
            float(values[row]) / float(unit.per_second()) / DAY
        }
        Values::Utf8(_) | Values::LargeUtf8(_) | Values::Dictionary(_) => {
            float(period_start(column.text(row)?)?)
        }
        _ => value(column, row)?,
    };
    (place.abs() <= FARTHEST).then_some(place)
}

/// Returns whether places of the column are days.
#[must_use]
pub fn is_calendar(field: &yearbook_sdk::Field) -> bool {
    use yearbook_sdk::DataType;
    matches!(
        field.value_type(),
        DataType::Date32
            | DataType::Date64
            | DataType::Timestamp(..)
            | DataType::Utf8
            | DataType::LargeUtf8
    )
}

/// Returns the number of a row; `None` where it is null or no number.
#[must_use]
pub fn value(column: &Column<'_>, row: usize) -> Option<f64> {
    if !column.is_valid(row) {
        return None;
    }
    Some(match &column.values {
        Values::Int8(values) => f64::from(values[row]),
        Values::UInt8(values) => f64::from(values[row]),
        Values::Int16(values) => f64::from(values[row]),
        Values::UInt16(values) => f64::from(values[row]),
        Values::Int32(values) => f64::from(values[row]),
        Values::UInt32(values) => f64::from(values[row]),
        Values::Int64(values) => float(values[row]),
        Values::UInt64(values) => float(i64::try_from(values[row]).unwrap_or(i64::MAX)),
        Values::Float32(values) => f64::from(values[row]),
        Values::Float64(values) => values[row],
        _ => return None,
    })
}

/// Returns the text of a cell that names a series; `None` where it is null or of a nested type.
#[must_use]
pub fn name(column: &Column<'_>, row: usize) -> Option<String> {
    if let Some(text) = column.text(row) {
        return Some(text.to_owned());
    }
    match &column.values {
        Values::Boolean(bits) if column.is_valid(row) => Some(bits.get(row).to_string()),
        Values::Int64(values) if column.is_valid(row) => Some(values[row].to_string()),
        _ => value(column, row).map(|value| value.to_string()),
    }
}

/// Appends bytes that only the same cell has.
pub fn push_identity(column: &Column<'_>, row: usize, id: &mut Vec<u8>) {
    let mut push = |bytes: &[u8]| {
        id.extend_from_slice(&bytes.len().to_le_bytes());
        id.extend_from_slice(bytes);
    };
    match (column.text(row), &column.values) {
        (Some(text), _) => push(text.as_bytes()),
        (None, Values::Int64(values)) if column.is_valid(row) => push(&values[row].to_le_bytes()),
        (None, Values::Boolean(bits)) if column.is_valid(row) => push(&[u8::from(bits.get(row))]),
        _ => match value(column, row) {
            Some(value) => push(&value.to_bits().to_le_bytes()),
            None => id.push(u8::MAX),
        },
    }
}

/// The nearest float.
#[expect(clippy::cast_precision_loss, reason = "the nearest float is what is drawn")]
pub(crate) fn float(value: i64) -> f64 {
    value as f64
}
