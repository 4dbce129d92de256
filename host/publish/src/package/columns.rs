//! Role of each column, and the table's layout (contract-4-roles, contract-7-measures).

use yearbook_domain::dataset::GEOMETRY_COLUMN;
use yearbook_domain::meaning::ColumnMeaning;
use yearbook_domain::{Column, ColumnRole, ColumnType, TableLayout, TextTraits};

use super::extension::YearbookExtension;
use super::table_schema::{PERIOD_COLUMN, TableField, TableSchema};

/// Long with a date axis, a dimension and exactly one value column, unless the descriptor says.
pub(super) fn infer_layout(schema: &TableSchema, extension: &YearbookExtension) -> TableLayout {
    let measures = schema.fields.iter().filter(|field| is_value(field, schema, extension)).count();
    let is_long =
        extension.date_column.is_some() && !extension.dimensions.is_empty() && measures == 1;
    extension.layout.unwrap_or(if is_long { TableLayout::Long } else { TableLayout::Wide })
}

/// The columns as the catalog keeps them, in the package's order.
pub(super) fn build_columns(schema: &TableSchema, extension: &YearbookExtension) -> Vec<Column> {
    let is_date = |field: &TableField| extension.date_column.as_ref() == Some(&field.name);
    let is_key = |field: &TableField| schema.primary_key.contains(&field.name);
    let column = |field: &TableField| Column {
        name: field.name.clone(),
        column_type: field.column_type,
        nullable: !(field.required || is_date(field) || is_key(field)),
        role: match field {
            _ if is_date(field) => ColumnRole::Date,
            _ if field.name == PERIOD_COLUMN => ColumnRole::Period,
            _ if extension.dimensions.contains(&field.name) => ColumnRole::Dimension,
            _ if field.name == GEOMETRY_COLUMN => ColumnRole::Geometry,
            _ if is_key(field) => ColumnRole::Key,
            _ if extension.status.contains_key(&field.name) => ColumnRole::Status,
            _ if is_value(field, schema, extension) => ColumnRole::Value,
            _ => ColumnRole::Attribute,
        },
        unit: field.unit.clone(),
        description: field.description.as_ref().map(|description| description.text.clone()),
        few_values: false,
        text_traits: TextTraits::empty(),
        meaning: ColumnMeaning {
            title: field.title.clone(),
            description: field.description.clone().unwrap_or_default().translations,
            status: extension.status.get(&field.name).cloned(),
            labelled: extension.labels.contains_key(&field.name),
        }
        .if_any(),
    };
    schema.fields.iter().map(column).collect()
}

/// True for a measure: one of `value_columns`; where the descriptor has none, a number outside the
/// primary key, whatever it is called. In a wide table each is a series.
fn is_value(field: &TableField, schema: &TableSchema, extension: &YearbookExtension) -> bool {
    match &extension.value_columns {
        Some(named) => named.contains(&field.name),
        None => {
            matches!(field.column_type, ColumnType::Integer | ColumnType::Number)
                && !schema.primary_key.contains(&field.name)
        }
    }
}
