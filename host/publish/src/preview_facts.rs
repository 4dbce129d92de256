//! Preview facts of a table (contract-9-facts), computed in two passes over its rows in the order
//! of the snapshot: the first counts, the second draws the lines of the series that the first
//! chose. The same for a table in memory and for a stored file. Never stores anything.
//!
//! Bound: [`series::MAX_TRACKED_BYTES`] for the series that are told apart, one batch, and facts.

#[cfg(feature = "catalog")]
mod backfill;
mod figures;
mod latest;
mod lines;
mod series;
mod table_pass;

use arrow::datatypes::DataType;
use yearbook_domain::preview_facts::MAX_VALUE_COLUMNS;
use yearbook_domain::{Column, ColumnRole, ColumnType, Snapshot};

#[cfg(all(test, feature = "catalog"))]
pub(crate) use backfill::read_facts;
#[cfg(feature = "catalog")]
pub use backfill::{BackfillFailure, BackfillSummary, MissingFacts, backfill_facts};
pub(crate) use lines::LinePass;
pub(crate) use table_pass::TablePass;

use crate::package::DataPackage;

/// Columns of a table, by what previews do with them.
#[derive(Clone, Debug)]
pub(crate) struct TableShape {
    columns: Vec<Column>,
    rows: u64,
    /// Position of the date column.
    date: Option<usize>,
    /// Positions of the value columns that hold numbers.
    values: Vec<usize>,
    /// Number of further ones, which have no figures.
    values_left_out: u64,
    /// Positions of the columns that tell series apart.
    key: Vec<usize>,
    /// Position of the geometry column.
    geometry: Option<usize>,
}

impl TableShape {
    /// The shape of a package's table of `rows` rows.
    pub(crate) fn of_package(package: &DataPackage, rows: u64) -> Self {
        Self::new(package.columns.clone(), &package.primary_key, rows)
    }

    /// The shape of a stored table.
    pub(crate) fn of_snapshot(snapshot: &Snapshot) -> Self {
        Self::new(snapshot.columns.clone(), &snapshot.primary_key, snapshot.rows)
    }

    fn new(columns: Vec<Column>, primary_key: &[String], rows: u64) -> Self {
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
            rows,
        }
    }

    fn name(&self, position: usize) -> &str {
        self.columns.get(position).map_or("", |column| &column.name)
    }

    /// Types of the key columns as they are held.
    fn key_types(&self) -> Vec<DataType> {
        let column = |position: &usize| self.columns.get(*position);
        let stored = |column: &Column| yearbook_scan::schema::stored_type(column.column_type);
        self.key.iter().filter_map(column).map(stored).collect()
    }

    /// Returns true when there are lines to draw.
    fn has_series(&self) -> bool {
        self.date.is_some() && !self.values.is_empty()
    }
}

#[cfg(test)]
mod tests;
