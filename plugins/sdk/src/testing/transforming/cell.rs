//! Cells of tables, as a host knows them.

use std::cmp::Ordering;

use crate::batch::Decoder;
use crate::text::CivilDate;
use crate::transform::MadeType;
use crate::value_buffer::{ValueBuffer, take_rows};
use crate::wire::{RawArray, RawBatch, RawBuffer, RawField, RawRows, RawSchema};
use crate::{Batch, Error, Schema, Values};

/// A cell.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Cell {
    Null,
    Text(String),
    Integer(i64),
    Number(f64),
    Boolean(bool),
    /// A date, or the position of a code.
    Days(i32),
    /// Of a type that only passes.
    Other,
}

impl Cell {
    /// As Rust prints it; `None` for a null.
    pub(super) fn print(&self) -> Option<String> {
        match self {
            Self::Null => None,
            Self::Text(text) => Some(text.clone()),
            Self::Integer(integer) => Some(integer.to_string()),
            Self::Number(number) => Some(number.to_string()),
            Self::Boolean(boolean) => Some(boolean.to_string()),
            Self::Days(days) => Some(CivilDate::from_days((*days).into()).iso()),
            Self::Other => Some("…".to_owned()),
        }
    }

    /// Null last.
    pub(super) fn compare(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Null, Self::Null) => Ordering::Equal,
            (Self::Null, _) => Ordering::Greater,
            (_, Self::Null) => Ordering::Less,
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
            (Self::Integer(a), Self::Integer(b)) => a.cmp(b),
            (Self::Number(a), Self::Number(b)) => a.total_cmp(b),
            (Self::Boolean(a), Self::Boolean(b)) => a.cmp(b),
            (Self::Days(a), Self::Days(b)) => a.cmp(b),
            _ => Ordering::Equal,
        }
    }
}

/// The cells of a batch, column by column.
pub(super) fn cells(batch: &Batch) -> Vec<Vec<Cell>> {
    let columns = batch.columns().map(|column| {
        let cell = |row| match &column.values {
            _ if !column.is_valid(row) => Cell::Null,
            Values::Int64(values) => Cell::Integer(values[row]),
            Values::Float64(values) => Cell::Number(values[row]),
            Values::Int32(values) => Cell::Days(values[row]),
            Values::Boolean(bits) => Cell::Boolean(bits.get(row)),
            _ => column.text(row).map_or(Cell::Other, |text| Cell::Text(text.to_owned())),
        };
        (0..batch.rows()).map(cell).collect()
    });
    columns.collect()
}

/// Buffers of columns of these types, cell by cell.
///
/// # Panics
/// Panics where a cell is of another type.
pub(super) fn raw_batch<'a>(
    columns: impl Iterator<Item = (MadeType, Vec<&'a Cell>)>,
    rows: usize,
) -> RawBatch {
    let buffer = |(made_type, cells): (MadeType, Vec<&Cell>)| {
        let mut buffer = ValueBuffer::new(made_type);
        for cell in cells {
            match cell {
                Cell::Null => buffer.push_null(),
                Cell::Text(text) => buffer.expect_type(MadeType::Text).push_text(text),
                Cell::Integer(value) => {
                    buffer.expect_type(MadeType::Integer).push_fixed(value.to_le_bytes())
                }
                Cell::Number(value) => {
                    buffer.expect_type(MadeType::Number).push_fixed(value.to_le_bytes())
                }
                Cell::Boolean(value) => buffer.expect_type(MadeType::Boolean).push_boolean(*value),
                Cell::Days(value) => {
                    buffer.expect_type(MadeType::Date).push_fixed(value.to_le_bytes())
                }
                Cell::Other => panic!("a column of this type does not cross"),
            }
        }
        buffer
    };
    let RawRows { rows, arrays, buffers } =
        take_rows(&mut columns.map(buffer).collect::<Vec<_>>(), rows);
    RawBatch { rows, arrays, buffers: buffers.into_iter().map(RawBuffer::Bytes).collect() }
}

/// The cells of made rows, column by column.
///
/// # Errors
/// As [`Decoder::decode`].
pub(super) fn made_cells(types: &[MadeType], rows: RawRows) -> Result<Vec<Vec<Cell>>, Error> {
    let field = |made_type: &MadeType| RawField {
        name: format!("{made_type:?}"),
        format: match made_type {
            MadeType::Text => "u",
            MadeType::Integer => "l",
            MadeType::Number => "g",
            MadeType::Boolean => "b",
            MadeType::Date => "i",
        }
        .to_owned(),
        nullable: true,
        dictionary: false,
        children: 0,
        metadata: Vec::new(),
    };
    let schema = RawSchema { fields: types.iter().map(field).collect(), metadata: Vec::new() };
    let RawRows { rows, arrays, buffers } = rows;
    assert!(arrays.iter().all(|RawArray { length, .. }| *length == rows));
    let buffers = buffers.into_iter().map(RawBuffer::Bytes).collect();
    let mut decoder = Decoder::new(Schema::from_wire(schema)?, &[]);
    Ok(cells(&decoder.decode(RawBatch { rows, arrays, buffers })?))
}
