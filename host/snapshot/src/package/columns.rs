//! What each column is for, and the table's layout (contract 4 and 7).

use yearbook_domain::dataset::GEOMETRY_COLUMN;
use yearbook_domain::{Column, ColumnType, Layout, Role};

use super::extension::Extension;
use super::schema::{Field, PERIOD_COLUMN, Schema};

/// Long with a date axis, a dimension and exactly one value column, unless the descriptor says.
pub(super) fn layout(schema: &Schema, extension: &Extension) -> Layout {
    let measures = schema.fields.iter().filter(|field| is_value(field, schema, extension)).count();
    let is_long =
        extension.date_column.is_some() && !extension.dimensions.is_empty() && measures == 1;
    extension.layout.unwrap_or(if is_long { Layout::Long } else { Layout::Wide })
}

/// The columns as the catalogue keeps them, in the package's order.
pub(super) fn describe(schema: &Schema, extension: &Extension) -> Vec<Column> {
    let is_date = |field: &Field| extension.date_column.as_ref() == Some(&field.name);
    let is_key = |field: &Field| schema.primary_key.contains(&field.name);
    let column = |field: &Field| Column {
        name: field.name.clone(),
        column_type: field.column_type,
        nullable: !(field.required || is_date(field) || is_key(field)),
        role: match field {
            _ if is_date(field) => Role::Date,
            _ if field.name == PERIOD_COLUMN => Role::Period,
            _ if extension.dimensions.contains(&field.name) => Role::Dimension,
            _ if field.name == GEOMETRY_COLUMN => Role::Geometry,
            _ if is_key(field) => Role::Key,
            _ if is_value(field, schema, extension) => Role::Value,
            _ => Role::Attribute,
        },
        unit: field.unit.clone(),
        description: field.description.clone(),
        few_values: false,
    };
    schema.fields.iter().map(column).collect()
}

/// True for a measure: one of `value_columns`; where the descriptor has none, a number outside the
/// primary key, whatever it is called. In a wide table each is a series.
fn is_value(field: &Field, schema: &Schema, extension: &Extension) -> bool {
    match &extension.value_columns {
        Some(named) => named.contains(&field.name),
        None => {
            matches!(field.column_type, ColumnType::Integer | ColumnType::Number)
                && !schema.primary_key.contains(&field.name)
        }
    }
}
