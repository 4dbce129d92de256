//! The columns that options name, and the numbers in them.

use yearbook_sdk::generator::Role;
use yearbook_sdk::transform::{MadeRows, MadeType, TransformError};
use yearbook_sdk::{Column, DataType, Field, Schema, Values};

/// A value of a column of integers or numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// Of a column of integers.
    Integer(i64),
    /// Of a column of numbers.
    Number(f64),
}

impl Number {
    /// The nearest number.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "the nearest number is meant")]
    pub fn to_f64(self) -> f64 {
        match self {
            Self::Integer(value) => value as f64,
            Self::Number(value) => value,
        }
    }
}

/// Returns the value of a row; `None` for null.
#[must_use]
#[inline]
pub fn read_number(column: &Column<'_>, row: usize) -> Option<Number> {
    if !column.is_valid(row) {
        return None;
    }
    match &column.values {
        Values::Float64(values) => Some(Number::Number(values[row])),
        Values::Int64(values) => Some(Number::Integer(values[row])),
        _ => None,
    }
}

/// Makes a value of a column of integers or of numbers. A NaN has the bits that it has on every
/// host.
pub fn make_number(made: &mut MadeRows, at: usize, made_type: MadeType, value: Option<Number>) {
    match (made_type, value) {
        (MadeType::Integer, Some(Number::Integer(value))) => made.integer(at, Some(value)),
        (MadeType::Integer, _) => made.integer(at, None),
        (_, value) => {
            let value = value.map(Number::to_f64);
            made.number(at, value.map(|value| if value.is_nan() { f64::NAN } else { value }));
        }
    }
}

/// Returns whether a column holds integers or numbers.
#[must_use]
pub fn is_numeric(field: &Field) -> bool {
    matches!(field.value_type(), DataType::Int64 | DataType::Float64)
}

/// Returns whether a column holds statuses of values, which are true of these values alone.
#[must_use]
pub fn is_status(field: &Field) -> bool {
    field.metadata("yearbook.role") == Some("status")
}

/// Returns the position of the column that an option names.
///
/// # Errors
/// [`TransformError::InvalidOption`] with the names that there are.
pub fn position(
    schema: &Schema,
    option: &'static str,
    name: &str,
) -> Result<usize, TransformError> {
    schema.fields.iter().position(|field| field.name == name).ok_or_else(|| {
        let names: Vec<&str> =
            schema.fields.iter().take(40).map(|field| field.name.as_str()).collect();
        let sentence = format!("there is no column `{name}`; there are {}", names.join(", "));
        TransformError::invalid_option(option, sentence)
    })
}

/// Returns the columns of numbers whose role is value.
///
/// # Errors
/// [`TransformError::UnsupportedSchema`] where there is none.
pub fn value_columns(schema: &Schema) -> Result<Vec<usize>, TransformError> {
    let is_value = |field: &Field| is_numeric(field) && field.role() == Some(Role::Value);
    let columns: Vec<usize> =
        (0..schema.fields.len()).filter(|at| is_value(&schema.fields[*at])).collect();
    if columns.is_empty() {
        let sentence = "there is no value column of numbers".to_owned();
        return Err(TransformError::UnsupportedSchema(sentence));
    }
    Ok(columns)
}

/// Returns the numeric columns that an option lists: without a name all whose role is value.
///
/// # Errors
/// [`TransformError::InvalidOption`] for a name that is no numeric column, or stands twice;
/// [`TransformError::UnsupportedSchema`] where there is no value column.
pub fn numeric_columns(
    schema: &Schema,
    option: &'static str,
    list: &str,
) -> Result<Vec<usize>, TransformError> {
    let columns = listed_columns(schema, option, list)?;
    if columns.is_empty() {
        return value_columns(schema);
    }
    match columns.iter().map(|at| &schema.fields[*at]).find(|field| !is_numeric(field)) {
        Some(field) => {
            let sentence = format!("`{}` holds no numbers", field.name);
            Err(TransformError::invalid_option(option, sentence))
        }
        None => Ok(columns),
    }
}

/// Returns the columns that an option lists.
///
/// # Errors
/// [`TransformError::InvalidOption`] for a name that is no column, or stands twice.
pub fn listed_columns(
    schema: &Schema,
    option: &'static str,
    list: &str,
) -> Result<Vec<usize>, TransformError> {
    let mut columns = Vec::new();
    for name in list.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        let column = position(schema, option, name)?;
        if columns.contains(&column) {
            let sentence = format!("`{name}` is named twice");
            return Err(TransformError::invalid_option(option, sentence));
        }
        columns.push(column);
    }
    Ok(columns)
}
