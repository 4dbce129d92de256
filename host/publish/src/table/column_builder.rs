//! Columns under construction from cells of text.

use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanBuilder, Float64Builder, Int64Builder, StringBuilder};
use yearbook_domain::ColumnType;

use super::cell;
use crate::faults::{FaultList, quote};

/// A column's values so far in this chunk.
pub(crate) enum ColumnBuilder {
    /// Text and dates; what dates look like is checked later, for every input format alike.
    Text(StringBuilder),
    Integer(Int64Builder),
    Number(Float64Builder),
    Boolean(BooleanBuilder),
}

impl ColumnBuilder {
    pub(crate) fn new(column_type: ColumnType) -> Self {
        match column_type {
            ColumnType::String | ColumnType::Date => Self::Text(StringBuilder::new()),
            ColumnType::Integer => Self::Integer(Int64Builder::new()),
            ColumnType::Number => Self::Number(Float64Builder::new()),
            ColumnType::Boolean => Self::Boolean(BooleanBuilder::new()),
        }
    }

    /// Takes a cell in; `None` if null. A faulty cell becomes a harmless value, so that no second
    /// fault is found in it: the table is refused anyway.
    pub(crate) fn push(
        &mut self,
        cell: Option<&[u8]>,
        row: u64,
        column: usize,
        faults: &mut FaultList,
    ) {
        let mut fault = |text: &[u8], why: &str| faults.value(row, column, || quote(text), why);
        match self {
            Self::Text(builder) => match cell.map(|text| (text, std::str::from_utf8(text))) {
                None => builder.append_null(),
                Some((_, Ok(text))) => builder.append_value(text),
                Some((text, Err(_))) => {
                    fault(
                        text,
                        "is not UTF-8, perhaps Latin-1 or Windows-1252; save the file as UTF-8",
                    );
                    builder.append_value("");
                }
            },
            Self::Integer(builder) => match cell.map(|text| (text, cell::parse_integer(text))) {
                None => builder.append_null(),
                Some((_, Ok(value))) => builder.append_value(value),
                Some((text, Err(why))) => {
                    fault(text, why);
                    builder.append_value(0);
                }
            },
            Self::Number(builder) => match cell.map(|text| (text, cell::number(text))) {
                None => builder.append_null(),
                Some((_, Ok(value))) => builder.append_value(value),
                Some((text, Err(why))) => {
                    fault(text, why);
                    builder.append_value(0.0);
                }
            },
            Self::Boolean(builder) => match cell.map(|text| (text, cell::boolean(text))) {
                None => builder.append_null(),
                Some((_, Ok(value))) => builder.append_value(value),
                Some((text, Err(why))) => {
                    fault(text, why);
                    builder.append_value(false);
                }
            },
        }
    }

    /// The finished column without spare room; the builder starts again.
    pub(crate) fn finish(&mut self) -> ArrayRef {
        let mut array: ArrayRef = match self {
            Self::Text(builder) => Arc::new(builder.finish()),
            Self::Integer(builder) => Arc::new(builder.finish()),
            Self::Number(builder) => Arc::new(builder.finish()),
            Self::Boolean(builder) => Arc::new(builder.finish()),
        };
        if let Some(array) = Arc::get_mut(&mut array) {
            array.shrink_to_fit();
        }
        array
    }
}
