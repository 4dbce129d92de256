//! The order of rows (contract-15-order). Rows are stored in their natural order: by date, then by
//! primary key, then as in the source file.

use super::names::{ColumnNames, Table};
use crate::query::{Selection, Sent, SeriesRows, SortName};
use crate::{ColumnRole, Snapshot, ValidationError};

/// Order of the rows of a read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RowOrder {
    /// As they are stored.
    #[default]
    Natural,
    /// The newest date first; rows of one date as they are stored.
    NewestFirst,
    /// By these columns; rows that are equal in them as they are stored.
    By(Vec<SortKey>),
}

/// A column to sort by. Nulls come last in either direction, NaN before them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SortKey {
    /// Position of the column in the snapshot.
    pub column: usize,
    /// True for the greatest value first.
    pub descending: bool,
}

impl RowOrder {
    /// Returns the value of `sort` that gives this order; `None` for the natural one.
    #[must_use]
    pub fn to_parameter(&self, snapshot: &Snapshot) -> Option<String> {
        let name = |key: &SortKey| {
            let name = &snapshot.columns.get(key.column)?.name;
            Some(format!("{}{name}", if key.descending { "-" } else { "" }))
        };
        match self {
            Self::Natural => None,
            Self::NewestFirst => snapshot.date_column.as_ref().map(|date| format!("-{date}")),
            Self::By(keys) => Some(keys.iter().filter_map(name).collect::<Vec<_>>().join(",")),
        }
    }

    /// Returns true where rows stream in this order for any limit.
    #[must_use]
    pub fn is_streamed(&self) -> bool {
        !matches!(self, Self::By(_))
    }
}

/// Resolves `sort` against the columns of a snapshot.
///
/// # Errors
/// `value_error` at `sort` for an unknown column and for geometry.
pub(super) fn resolve_order(
    names: &ColumnNames<'_>,
    snapshot: &Snapshot,
    sort: Option<&Sent<Vec<SortName>>>,
) -> Result<RowOrder, ValidationError> {
    let Some(sort) = sort else { return Ok(RowOrder::Natural) };
    let mut keys = Vec::with_capacity(sort.value.len());
    for SortName { column: name, descending } in &sort.value {
        let problem = |sentence: &str| ValidationError::value_error("sort", sentence, &sort.raw);
        let Some((position, column)) = names.find(name) else {
            return Err(problem(&names.unknown(name)));
        };
        if column.role == ColumnRole::Geometry {
            return Err(problem(&format!(
                "rows cannot be sorted by {name}; sort by another column"
            )));
        }
        keys.push(SortKey { column: position, descending: *descending });
    }
    Ok(match names.table() {
        Table::Dataset => shortest(snapshot, keys),
        // Rows of transforms come in an order of theirs.
        Table::Transformed => RowOrder::By(keys),
    })
}

/// The order of `keys`, of those that mean the same the one that streams.
fn shortest(snapshot: &Snapshot, keys: Vec<SortKey>) -> RowOrder {
    let natural = natural_keys(snapshot);
    // Nulls, which tables of revisions may have there, are stored first and asked for last.
    let never_null = |keys: &[SortKey]| {
        let column = |key: &SortKey| snapshot.columns.get(key.column);
        keys.iter().filter_map(column).all(|column| !column.nullable)
    };
    if natural.starts_with(&keys) && never_null(&keys) {
        return RowOrder::Natural;
    }
    if let (Some((newest, rest)), Some((date, others))) =
        (keys.split_first(), natural.split_first())
        && snapshot.date_column.is_some()
        && *newest == (SortKey { descending: true, ..*date })
        && others.starts_with(rest)
        && never_null(rest)
    {
        return RowOrder::NewestFirst;
    }
    RowOrder::By(keys)
}

/// The columns of the natural order, as far as columns decide it.
fn natural_keys(snapshot: &Snapshot) -> Vec<SortKey> {
    let date = snapshot.date_column.iter();
    let key =
        snapshot.primary_key.iter().filter(|name| Some(*name) != snapshot.date_column.as_ref());
    date.chain(key)
        .map_while(|name| snapshot.column_index(name))
        .map(|column| SortKey { column, descending: false })
        .collect()
}

/// Checks `first` and `last`, which mean something on a date axis alone.
///
/// # Errors
/// `value_error` at the parameter that was sent.
pub(super) fn check_series_rows(
    snapshot: &Snapshot,
    selection: &Selection,
    table: Table,
) -> Result<(), ValidationError> {
    let sent = selection.series_rows.as_ref().filter(|_| snapshot.date_column.is_none());
    let Some(sent) = sent else { return Ok(()) };
    let parameter = sent.value.parameter();
    let sentence = format!(
        "{} no date axis, so its rows have no oldest and newest; leave {parameter} out",
        table.having()
    );
    Err(ValidationError::value_error(parameter, &sentence, &sent.raw))
}

impl SeriesRows {
    /// Returns the parameter as `name=value`.
    #[must_use]
    pub fn to_pair(self) -> (&'static str, String) {
        (self.parameter(), self.rows().to_string())
    }
}
