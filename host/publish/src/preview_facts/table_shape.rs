//! Columns of a table, as previews see them.

use arrow::datatypes::DataType;
use yearbook_domain::preview_facts::MAX_VALUE_COLUMNS;
use yearbook_domain::{Column, ColumnRole, ColumnType};
use yearbook_scan::schema::stored_type;

/// Columns of a table, by what previews do with them.
#[derive(Clone, Debug)]
pub(crate) struct TableShape {
    pub(super) columns: Vec<Column>,
    /// Names of the primary key's columns.
    pub(super) primary_key: Vec<String>,
    pub(super) rows: u64,
    /// Position of the date column.
    pub(super) date: Option<usize>,
    /// Positions of the value columns that hold numbers.
    pub(super) values: Vec<usize>,
    /// Number of further ones, which have no figures.
    pub(super) values_left_out: u64,
    /// Positions of the columns that tell series apart.
    pub(super) key: Vec<usize>,
    /// Position of the geometry column.
    pub(super) geometry: Option<usize>,
}

impl TableShape {
    /// The shape of a table of `rows` rows.
    pub(crate) fn new(columns: Vec<Column>, primary_key: &[String], rows: u64) -> Self {
        let all = |wanted: &dyn Fn(&Column) -> bool| -> Vec<usize> {
            (0..columns.len()).filter(|index| columns.get(*index).is_some_and(wanted)).collect()
        };
        let is_number = |column: &Column| {
            matches!(column.column_type, ColumnType::Integer | ColumnType::Number)
        };
        let mut values = all(&|column| column.role == ColumnRole::Value && is_number(column));
        let values_left_out = values.len().saturating_sub(MAX_VALUE_COLUMNS) as u64;
        values.truncate(MAX_VALUE_COLUMNS);
        let key = all(&|column| match column.role {
            ColumnRole::Dimension => true,
            ColumnRole::Key => primary_key.contains(&column.name),
            _ => false,
        });
        Self {
            date: all(&|column| column.role == ColumnRole::Date).first().copied(),
            geometry: all(&|column| column.role == ColumnRole::Geometry).first().copied(),
            values,
            values_left_out,
            key,
            columns,
            primary_key: primary_key.to_vec(),
            rows,
        }
    }

    pub(super) fn name(&self, position: usize) -> &str {
        self.columns.get(position).map_or("", |column| &column.name)
    }

    /// Types of the key columns as they are held.
    pub(super) fn key_types(&self) -> impl Iterator<Item = DataType> {
        let column = |position: &usize| self.columns.get(*position);
        self.key.iter().filter_map(column).map(|column| stored_type(column.column_type))
    }

    /// Returns true when there are lines to draw.
    pub(super) fn has_series(&self) -> bool {
        self.date.is_some() && !self.values.is_empty()
    }
}
