//! Cells of a sheet, from the values of columns.

use yearbook_sdk::text::{csv::Csv, render};
use yearbook_sdk::{Column, DataType, Field, Values};

use crate::xml;

/// Only for what needs no quotes.
const DIALECT: Csv = Csv { delimiter: 0 };

/// Integers up to here are the same as floats, which is what a spreadsheet calculates with.
const MAX_EXACT_INTEGER: u64 = 1 << 53;

/// Form in which a column's values are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CellKind {
    Text,
    /// Text that is a date.
    Date,
    Boolean,
    Number,
    /// As the text that CSV would have.
    Other,
}

impl CellKind {
    pub(crate) fn from_field(field: &Field, dates: bool) -> Self {
        match field.value_type() {
            DataType::Utf8 | DataType::LargeUtf8 => {
                if dates && field.is_date() {
                    Self::Date
                } else {
                    Self::Text
                }
            }
            DataType::Boolean => Self::Boolean,
            DataType::Int8
            | DataType::Int16
            | DataType::Int32
            | DataType::Int64
            | DataType::UInt8
            | DataType::UInt16
            | DataType::UInt32
            | DataType::UInt64
            | DataType::Float32
            | DataType::Float64 => Self::Number,
            _ => Self::Other,
        }
    }
}

/// Appends a cell; nothing where there is no value. Says whether all of the value is in it. `place`
/// is the column's letters.
pub(crate) fn write(
    shown: CellKind,
    column: &Column<'_>,
    row: usize,
    place: &CellRef<'_>,
    out: &mut Vec<u8>,
) -> bool {
    if !is_valid(column, row) {
        return true;
    }
    match shown {
        CellKind::Text => return column.text(row).is_none_or(|value| text(value, place, "", out)),
        CellKind::Date => {
            let value = column.text(row).unwrap_or_default();
            match date_serial(value) {
                Some(days) => place.cell(" s=\"1\"", out, |out| {
                    out.extend_from_slice(days.to_string().as_bytes())
                }),
                None => return text(value, place, "", out),
            }
        }
        CellKind::Boolean => match &column.values {
            Values::Boolean(bits) => {
                place.cell(" t=\"b\"", out, |out| out.push(b'0' + u8::from(bits.get(row))))
            }
            _ => return write_as_text(column, row, place, out),
        },
        CellKind::Number if is_exact(column, row) => {
            place.cell("", out, |out| render(&DIALECT, column, row, out))
        }
        CellKind::Number | CellKind::Other => return write_as_text(column, row, place, out),
    }
    true
}

/// Appends a cell of text in `style`; whether all of it fits.
pub(crate) fn text(value: &str, place: &CellRef<'_>, style: &str, out: &mut Vec<u8>) -> bool {
    let (fitting, whole) = xml::truncate(value);
    place.open(style, out);
    out.extend_from_slice(b" t=\"inlineStr\"><is><t xml:space=\"preserve\">");
    xml::escape(fitting, out);
    if !whole {
        out.extend_from_slice("…".as_bytes());
    }
    out.extend_from_slice(b"</t></is></c>");
    whole
}

fn write_as_text(column: &Column<'_>, row: usize, place: &CellRef<'_>, out: &mut Vec<u8>) -> bool {
    let mut value = Vec::new();
    render(&DIALECT, column, row, &mut value);
    text(&String::from_utf8_lossy(&value), place, "", out)
}

fn is_valid(column: &Column<'_>, row: usize) -> bool {
    column.is_valid(row)
        && match &column.values {
            Values::Dictionary(keyed) => {
                usize::try_from(keyed.keys[row]).is_ok_and(|key| is_valid(&keyed.values, key))
            }
            _ => true,
        }
}

/// True for a number that a spreadsheet can hold.
fn is_exact(column: &Column<'_>, row: usize) -> bool {
    match &column.values {
        Values::Int64(values) => values[row].unsigned_abs() <= MAX_EXACT_INTEGER,
        Values::UInt64(values) => values[row] <= MAX_EXACT_INTEGER,
        Values::Float32(values) => values[row].is_finite(),
        Values::Float64(values) => values[row].is_finite(),
        Values::Dictionary(keyed) => {
            usize::try_from(keyed.keys[row]).is_ok_and(|key| is_exact(&keyed.values, key))
        }
        _ => true,
    }
}

/// A place in a sheet.
pub(crate) struct CellRef<'a> {
    /// Letters of the column.
    pub(crate) column: &'a str,
    /// Digits of the row.
    pub(crate) row: &'a str,
}

impl CellRef<'_> {
    fn open(&self, style: &str, out: &mut Vec<u8>) {
        out.extend_from_slice(b"<c r=\"");
        out.extend_from_slice(self.column.as_bytes());
        out.extend_from_slice(self.row.as_bytes());
        out.push(b'"');
        out.extend_from_slice(style.as_bytes());
    }

    fn cell(&self, attributes: &str, out: &mut Vec<u8>, value: impl FnOnce(&mut Vec<u8>)) {
        self.open(attributes, out);
        out.extend_from_slice(b"><v>");
        value(out);
        out.extend_from_slice(b"</v></c>");
    }
}

/// The letters of a column, from 0: A to XFD.
pub(crate) fn column_letters(mut column: usize) -> String {
    let mut reversed = Vec::new();
    loop {
        reversed.push(b'A' + u8::try_from(column % 26).unwrap_or(0));
        match (column / 26).checked_sub(1) {
            Some(rest) => column = rest,
            None => break,
        }
    }
    reversed.iter().rev().map(|letter| char::from(*letter)).collect()
}

/// The number of a day `YYYY-MM-DD`. None before 1900-03-01: spreadsheets disagree there, since
/// some have a 29 February in 1900.
fn date_serial(date: &str) -> Option<u32> {
    let bytes: &[u8; 10] = date.as_bytes().try_into().ok()?;
    let number = |digits: &[u8]| {
        digits.iter().try_fold(0, |sum, digit| {
            Some(sum * 10 + u32::from(digit.is_ascii_digit().then(|| digit - b'0')?))
        })
    };
    let (year, month, day) = (number(&bytes[..4])?, number(&bytes[5..7])?, number(&bytes[8..])?);
    if bytes[4] != b'-'
        || bytes[7] != b'-'
        || !(1..=12).contains(&month)
        || !(1..=31).contains(&day)
        || (year, month) < (1900, 3)
    {
        return None;
    }
    // Years that begin in March end with the leap day.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = year * 365 + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day;
    // 1900-03-01 is day 61.
    Some(days - (1900 * 365 + 1900 / 4 - 1900 / 100 + 1900 / 400 + 1) + 61)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_letters() {
        let of = [(0, "A"), (25, "Z"), (26, "AA"), (701, "ZZ"), (702, "AAA"), (16_383, "XFD")];
        assert_eq!(
            of.map(|(column, _)| column_letters(column)),
            of.map(|(_, letters)| letters.to_owned())
        );
    }

    #[test]
    fn days_have_the_numbers_that_excel_gives_them() {
        for (date, expected) in [
            ("1900-03-01", Some(61)),
            ("1970-01-01", Some(25_569)),
            ("2000-02-29", Some(36_585)),
            ("2024-12-31", Some(45_657)),
            ("9999-12-31", Some(2_958_465)),
            ("1900-02-28", None),
            ("0001-01-01", None),
            ("2020-13-01", None),
            ("2020-1-01", None),
            ("2020/01/01", None),
            ("2020-01-0é", None),
        ] {
            assert_eq!(date_serial(date), expected, "{date}");
        }
    }
}
