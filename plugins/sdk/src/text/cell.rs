//! One cell of any type, written the plain way: for dictionary values, nested values and types that
//! no lane of their own is worth.

use super::Dialect;
use super::number::{self, ROOM};
use super::time;
use crate::{Column, DataType, Field, Values};

/// Returns whether a column can be written in a dialect.
pub(super) fn is_supported<D: Dialect>(field: &Field) -> bool {
    match field.value_type() {
        DataType::Float16
        | DataType::BinaryView
        | DataType::Utf8View
        | DataType::Decimal { bits: 256, .. }
        | DataType::Duration(_)
        | DataType::IntervalYearMonth
        | DataType::IntervalDayTime
        | DataType::IntervalMonthDayNano
        | DataType::ListView
        | DataType::LargeListView
        | DataType::DenseUnion(_)
        | DataType::SparseUnion(_)
        | DataType::RunEndEncoded => false,
        DataType::List
        | DataType::LargeList
        | DataType::FixedSizeList(_)
        | DataType::Struct
        | DataType::Map => D::NESTED && field.children.iter().all(is_supported::<D>),
        _ => true,
    }
}

/// Appends the value of a row. Types that [`Rows::new`](super::Rows::new) declines are null.
///
/// ```
/// use yearbook_sdk::testing::{Table, batches};
///
/// let table = Table::new()
///     .text("region", &[Some("north"), None])
///     .numbers("value", &[Some(1.5), Some(2.0)]);
/// let batch = batches(&table, false)?.remove(0);
/// use yearbook_sdk::text::json::Json;
/// use yearbook_sdk::text::render;
///
/// let mut out = Vec::new();
/// render(&Json, &batch.column(0), 1, &mut out);
/// assert_eq!(out, b"null");
/// # Ok::<(), yearbook_sdk::Error>(())
/// ```
pub fn render<D: Dialect>(dialect: &D, column: &Column<'_>, row: usize, out: &mut Vec<u8>) {
    if !column.is_valid(row) {
        out.extend_from_slice(D::NULL);
        return;
    }
    match &column.values {
        Values::Null
        | Values::Held(_)
        | Values::Lengths
        | Values::Other { .. }
        | Values::Float16(_)
        | Values::Duration(..) => out.extend_from_slice(D::NULL),
        Values::Boolean(bits) => {
            out.extend_from_slice(if bits.get(row) { b"true" } else { b"false" })
        }
        Values::Int8(values) => signed(values[row].into(), out),
        Values::Int16(values) => signed(values[row].into(), out),
        Values::Int32(values) => signed(values[row].into(), out),
        Values::Int64(values) => signed(values[row], out),
        Values::UInt8(values) => unsigned(values[row].into(), out),
        Values::UInt16(values) => unsigned(values[row].into(), out),
        Values::UInt32(values) => unsigned(values[row].into(), out),
        Values::UInt64(values) => unsigned(values[row], out),
        Values::Float32(values) => float32::<D>(values[row], out),
        Values::Float64(values) => float::<D>(values[row], out),
        Values::Utf8(strings) => dialect.text(strings.bytes(row), out),
        Values::LargeUtf8(strings) => dialect.text(strings.bytes(row), out),
        Values::Binary(strings) => hexadecimal(dialect, strings.bytes(row), out),
        Values::LargeBinary(strings) => hexadecimal(dialect, strings.bytes(row), out),
        Values::FixedSizeBinary { width, bytes } => {
            hexadecimal(dialect, &bytes[row * width..(row + 1) * width], out)
        }
        Values::Date32(values) => quoted::<D>(out, |out| time::date(values[row].into(), out)),
        Values::Date64(values) => {
            quoted::<D>(out, |out| time::date(values[row].div_euclid(86_400_000), out))
        }
        Values::Time32(unit, values) => {
            quoted::<D>(out, |out| time::time(values[row].into(), *unit, out))
        }
        Values::Time64(unit, values) => quoted::<D>(out, |out| time::time(values[row], *unit, out)),
        Values::Timestamp { unit, zone, values } => {
            quoted::<D>(out, |out| time::timestamp(values[row], *unit, zone, out))
        }
        Values::Decimal32 { scale, values } => decimal(values[row].into(), *scale, out),
        Values::Decimal64 { scale, values } => decimal(values[row].into(), *scale, out),
        Values::Decimal128 { scale, values } => decimal(values[row], *scale, out),
        Values::List { offsets, items } => {
            list(dialect, items, index(offsets[row].into()), index(offsets[row + 1].into()), out)
        }
        Values::LargeList { offsets, items } => {
            list(dialect, items, index(offsets[row]), index(offsets[row + 1]), out)
        }
        Values::FixedSizeList { width, items } => {
            list(dialect, items, row * width, (row + 1) * width, out)
        }
        Values::Map { offsets, entries } => {
            list(dialect, entries, index(offsets[row].into()), index(offsets[row + 1].into()), out)
        }
        Values::Struct(columns) => structure(dialect, columns, row, out),
        Values::Dictionary(dictionary) => {
            render(dialect, &dictionary.values, index(dictionary.keys[row].into()), out)
        }
    }
}

fn index(offset: i64) -> usize {
    usize::try_from(offset).unwrap_or(0)
}

fn signed(number: i64, out: &mut Vec<u8>) {
    let mut slot = [0; ROOM];
    let length = number::signed(number, &mut slot);
    out.extend_from_slice(&slot[..length]);
}

/// Writes the digits of a number.
///
/// ```
/// let mut out = Vec::new();
/// yearbook_sdk::text::unsigned(1_234_567_890, &mut out);
/// assert_eq!(out, b"1234567890");
/// ```
pub fn unsigned(number: u64, out: &mut Vec<u8>) {
    let mut slot = [0; ROOM];
    let length = number::unsigned(number, &mut slot);
    out.extend_from_slice(&slot[..length]);
}

fn float<D: Dialect>(number: f64, out: &mut Vec<u8>) {
    let mut slot = [0; ROOM];
    let length = number::float::<D>(number, &mut slot);
    out.extend_from_slice(&slot[..length]);
}

fn float32<D: Dialect>(number: f32, out: &mut Vec<u8>) {
    let mut slot = [0; ROOM];
    let length = number::float32::<D>(number, &mut slot);
    out.extend_from_slice(&slot[..length]);
}

/// Text that needs no escaping in any dialect.
fn quoted<D: Dialect>(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    out.extend_from_slice(D::QUOTE);
    write(out);
    out.extend_from_slice(D::QUOTE);
}

/// Binary data, two lower-case digits a byte.
fn hexadecimal<D: Dialect>(dialect: &D, bytes: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let text: Vec<u8> = bytes
        .iter()
        .flat_map(|byte| [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]])
        .collect();
    dialect.text(&text, out);
}

/// A decimal with exactly `scale` digits after the point, or with zeros at its end when negative.
fn decimal(number: i128, scale: i8, out: &mut Vec<u8>) {
    if number < 0 {
        out.push(b'-');
    }
    let places = usize::from(scale.unsigned_abs());
    let digits = number.unsigned_abs().to_string();
    if scale <= 0 {
        out.extend_from_slice(digits.as_bytes());
        let zeros = if number == 0 { 0 } else { places };
        out.resize(out.len() + zeros, b'0');
    } else {
        let digits = format!("{digits:0>width$}", width = places + 1);
        let (whole, rest) = digits.split_at(digits.len() - places);
        out.extend_from_slice(whole.as_bytes());
        out.push(b'.');
        out.extend_from_slice(rest.as_bytes());
    }
}

fn list<D: Dialect>(dialect: &D, items: &Column<'_>, start: usize, end: usize, out: &mut Vec<u8>) {
    out.push(b'[');
    for row in start..end {
        if row > start {
            out.push(b',');
        }
        render(dialect, items, row, out);
    }
    out.push(b']');
}

fn structure<D: Dialect>(dialect: &D, columns: &[Column<'_>], row: usize, out: &mut Vec<u8>) {
    out.push(b'{');
    for (position, column) in columns.iter().enumerate() {
        if position > 0 {
            out.push(b',');
        }
        dialect.text(column.field.name.as_bytes(), out);
        out.push(b':');
        render(dialect, column, row, out);
    }
    out.push(b'}');
}
