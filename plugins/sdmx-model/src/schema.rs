//! Columns as an encoder is told them.

use yearbook_sdk::{DataType, Field, Schema};

use crate::{Column, Decline, Role, Structure, ValueType};

impl Structure {
    /// Finds the structure of rows that an encoder is given. Columns that the host or a transform
    /// added without a role are left out. `is_wide` as in [`Structure::new`].
    ///
    /// # Errors
    /// The reason for which the rows are no dataflow.
    pub fn of_schema(schema: &Schema, is_wide: bool) -> Result<Self, Decline> {
        let columns: Vec<Column<'_>> = schema.fields.iter().map(column).collect();
        let key = schema.primary_key().unwrap_or_default();
        // The rows may have a part of the table's columns.
        let Some(statuses) = schema.metadata("yearbook.statuses") else {
            return Self::new(&columns, &key, is_wide);
        };
        let status = |text| {
            let mut names = names(text);
            Some((names.next()?, names.collect()))
        };
        Self::with_statuses(&columns, statuses.split(']').filter_map(status), &key, is_wide)
    }
}

fn column(field: &Field) -> Column<'_> {
    let role = field.metadata("yearbook.role");
    let value_type = match field.value_type() {
        _ if field.is_date() => ValueType::Date,
        DataType::Date32 | DataType::Date64 => ValueType::Date,
        DataType::Boolean => ValueType::Boolean,
        DataType::Int8
        | DataType::Int16
        | DataType::Int32
        | DataType::Int64
        | DataType::UInt8
        | DataType::UInt16
        | DataType::UInt32
        | DataType::UInt64 => ValueType::Integer,
        DataType::Float32 | DataType::Float64 | DataType::Decimal { .. } => ValueType::Number,
        _ => ValueType::Text,
    };
    Column {
        name: &field.name,
        // As geometry, what has no role is never sent.
        role: role.map_or(Role::Geometry, Role::parse),
        value_type,
        of: names(field.metadata("yearbook.of").unwrap_or_default()).collect(),
    }
}

/// Names in an array of JSON. They are snake_case, so nothing in it is escaped.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split('"').skip(1).step_by(2)
}
