//! Columns of a snapshot by name, and sentences about names that it does not have.

use std::cell::{Cell, OnceCell};
use std::collections::HashMap;

use crate::Column;
use crate::query::nearest_name;

/// Names of columns that a problem lists at most.
const MAX_LISTED: usize = 40;

/// Look-ups that are made one by one: for so few a table of all columns costs more than it saves.
const MAX_LINEAR: usize = 8;

/// Unknown names of a request for which the nearest one is sought at most: the search compares a
/// name with every column.
const MAX_SOUGHT: usize = 4;

/// Table whose columns a request names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Table {
    /// Table of a dataset.
    Dataset,
    /// Table that transforms give.
    Transformed,
}

impl Table {
    /// Beginning of a sentence about what it has.
    pub(super) fn having(self) -> &'static str {
        match self {
            Self::Dataset => "this dataset has",
            Self::Transformed => "what the transforms give has",
        }
    }
}

/// Columns of a snapshot by name, for a known number of look-ups.
pub(super) struct ColumnNames<'a> {
    columns: &'a [Column],
    table_of: Table,
    is_linear: bool,
    table: OnceCell<HashMap<&'a str, usize>>,
    /// Unknown names so far.
    unknown: Cell<usize>,
}

impl<'a> ColumnNames<'a> {
    /// Names of `columns`, of which about `lookups` are looked for. Time grows with the columns
    /// and the look-ups, not with one times the other.
    pub(super) fn new(columns: &'a [Column], lookups: usize, table_of: Table) -> Self {
        let is_linear = lookups <= MAX_LINEAR;
        Self { columns, table_of, is_linear, table: OnceCell::new(), unknown: Cell::new(0) }
    }

    /// Returns the column called `name`, with its position.
    pub(super) fn find(&self, name: &str) -> Option<(usize, &'a Column)> {
        let columns = self.columns;
        let position = if self.is_linear {
            columns.iter().position(|column| column.name == name)
        } else {
            let by_name = || {
                columns.iter().enumerate().map(|(at, column)| (column.name.as_str(), at)).collect()
            };
            self.table.get_or_init(by_name).get(name).copied()
        };
        position.and_then(|position| Some((position, columns.get(position)?)))
    }

    /// Returns the sentence about a name that is not there: the nearest one, where it is one of the
    /// first such names, and all of them.
    pub(super) fn unknown(&self, name: &str) -> String {
        let known = self.columns.iter().map(|column| column.name.as_str());
        let is_sought = self.unknown.replace(self.unknown.get() + 1) < MAX_SOUGHT;
        let nearest = is_sought.then(|| nearest_name(name, known)).flatten();
        let nearest = nearest.map(|name| format!("the nearest is '{name}'; ")).unwrap_or_default();
        let having = self.table_of.having();
        format!("unknown column '{name}'; {nearest}{having} {}", listed(self.columns))
    }

    /// The table whose columns they are.
    pub(super) fn table(&self) -> Table {
        self.table_of
    }
}

/// `'a', 'b' and 7 more`.
pub(super) fn quoted(names: &[&str]) -> String {
    let shown: Vec<String> =
        names.iter().take(MAX_LISTED).map(|name| format!("'{name}'")).collect();
    let more = names.len() - shown.len();
    if more > 0 { format!("{} and {more} more", shown.join(", ")) } else { shown.join(", ") }
}

/// Names of the columns, as many as fit.
pub(super) fn listed(columns: &[Column]) -> String {
    let mut names: Vec<&str> =
        columns.iter().take(MAX_LISTED).map(|column| column.name.as_str()).collect();
    if columns.len() > MAX_LISTED {
        names.push("…");
    }
    names.join(", ")
}
