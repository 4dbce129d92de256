//! Columns of a table, as previews see them.

use arrow::datatypes::DataType;
use yearbook_domain::preview_facts::{MAX_VALUE_COLUMNS, status_column};
use yearbook_domain::read_plan::series_positions;
use yearbook_domain::{Column, ColumnRole, ColumnType};
use yearbook_scan::schema::stored_type;

/// Columns up to which names of series have more than tells them apart.
const MAX_NAME_PARTS: usize = 8;

/// Columns of a table, by what previews do with them.
#[derive(Clone, Debug)]
pub struct TableShape {
    pub(super) columns: Vec<Column>,
    pub(super) rows: u64,
    /// Position of the date column.
    pub(super) date: Option<usize>,
    /// Positions of the value columns that hold numbers.
    pub(super) values: Vec<usize>,
    /// Number of further ones, which have no figures.
    pub(super) values_left_out: u64,
    /// Positions of the columns that tell series apart, with the form of the period code
    /// (contract-15-series). Empty without a date column.
    pub(super) key: Vec<usize>,
    /// Position of the period codes.
    pub(super) period: Option<usize>,
    /// Positions of dimensions of text that may name series beside these.
    pub(super) names: Vec<usize>,
    /// Position of the geometry column.
    pub(super) geometry: Option<usize>,
}

impl TableShape {
    /// The shape of a table of `rows` rows.
    pub fn new(columns: Vec<Column>, primary_key: &[String], rows: u64) -> Self {
        let all = |wanted: &dyn Fn(&Column) -> bool| -> Vec<usize> {
            (0..columns.len()).filter(|index| columns.get(*index).is_some_and(wanted)).collect()
        };
        let is_number = |column: &Column| {
            matches!(column.column_type, ColumnType::Integer | ColumnType::Number)
        };
        let mut values = all(&|column| column.role == ColumnRole::Value && is_number(column));
        let values_left_out = values.len().saturating_sub(MAX_VALUE_COLUMNS) as u64;
        values.truncate(MAX_VALUE_COLUMNS);
        let first = |role: ColumnRole| all(&|column| column.role == role).first().copied();
        let date = first(ColumnRole::Date);
        let key = date.map(|_| series_positions(&columns, primary_key)).unwrap_or_default();
        let mut names = all(&|column| {
            column.role == ColumnRole::Dimension && column.column_type == ColumnType::String
        });
        names.retain(|position| !key.contains(position));
        names.truncate(MAX_NAME_PARTS.saturating_sub(key.len()));
        Self {
            date,
            period: first(ColumnRole::Period),
            geometry: first(ColumnRole::Geometry),
            names,
            values,
            values_left_out,
            key,
            columns,
            rows,
        }
    }

    pub(super) fn name(&self, position: usize) -> &str {
        self.columns.get(position).map_or("", |column| &column.name)
    }

    /// Position of the column that has the statuses of SDMX of the value column at `position`.
    pub(super) fn status(&self, position: usize) -> Option<usize> {
        status_column(&self.columns, self.name(position))
    }

    /// Numbers of the units of the value columns, in their order; a column without a unit has a
    /// number of its own.
    pub(super) fn units(&self) -> Vec<usize> {
        let unit = |index: &usize| {
            let position = self.values.get(*index).copied();
            position.and_then(|position| self.columns.get(position)?.unit.as_deref())
        };
        let number = |index: usize| {
            let same = |other: &usize| unit(&index).is_some() && unit(other) == unit(&index);
            (0..index).find(same).unwrap_or(index)
        };
        (0..self.values.len()).map(number).collect()
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
