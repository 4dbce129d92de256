//! What each column is for, and the table's layout (contract 4 and 7).

use yearbook_domain::dataset::GEOMETRY_COLUMN;
use yearbook_domain::{Column, ColumnType, Layout, Role};

use super::extension::Extension;
use super::schema::{Field, PERIOD_COLUMN, Schema};

/// The column that holds the value in a long table (spec 2.2).
const VALUE_COLUMN: &str = "value";

/// Long when there is a value column beside dimensions, unless the descriptor says.
pub(super) fn layout(schema: &Schema, extension: &Extension) -> Layout {
    let inferred = if schema.find(VALUE_COLUMN).is_some() && !extension.dimensions.is_empty() { Layout::Long } else { Layout::Wide };
    extension.layout.unwrap_or(inferred)
}

/// The columns as the catalogue keeps them, in the package's order.
pub(super) fn describe(schema: &Schema, extension: &Extension, layout: Layout) -> Vec<Column> {
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
            _ if is_value(field, layout) => Role::Value,
            _ => Role::Attribute,
        },
        unit: field.unit.clone(),
        description: field.description.clone(),
        few_values: false,
    };
    schema.fields.iter().map(column).collect()
}

/// In a long table the column `value`; in a wide one every number, each being a series.
fn is_value(field: &Field, layout: Layout) -> bool {
    let numeric = matches!(field.column_type, ColumnType::Integer | ColumnType::Number);
    field.name == VALUE_COLUMN || (layout == Layout::Wide && numeric)
}
