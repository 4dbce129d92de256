//! Faults of a table: listed word for word up to a bound, and counted all.

use std::fmt::Display;
use std::path::Path;
use std::sync::Arc;

use yearbook_domain::Column;

use crate::error::{PublishError, TableFault};

/// Faults that are listed word for word, some 200 bytes each: more than that repeat one mistake,
/// and their number is reported.
pub(crate) const MAX_LISTED: usize = 100_000;

/// Characters of a value that a message quotes.
const MAX_QUOTED_CHARACTERS: usize = 60;

/// The faults so far.
#[derive(Debug)]
pub(crate) struct FaultList {
    names: Arc<[String]>,
    kept: Vec<TableFault>,
    total: u64,
    /// Columns that have faults; a fault of a whole row touches all of them.
    columns: Vec<bool>,
    /// Columns that a status speaks of: a value may be secret, and the status may not be read yet.
    /// They are no part of a key.
    hidden: Vec<bool>,
}

impl FaultList {
    /// None yet, in a table with these columns.
    pub(crate) fn new(names: impl IntoIterator<Item = String>) -> Self {
        let names: Arc<[String]> = names.into_iter().collect();
        let none = vec![false; names.len()];
        Self { columns: none.clone(), hidden: none, names, kept: Vec::new(), total: 0 }
    }

    /// None yet, and none will repeat a value that a status of these columns speaks of
    /// (contract-21-secret).
    pub(crate) fn hiding_secrets(columns: &[Column]) -> Self {
        let spoken_of = |name: &String| {
            columns.iter().filter_map(Column::status).any(|status| status.of.contains(name))
        };
        Self {
            hidden: columns.iter().map(|column| spoken_of(&column.name)).collect(),
            ..Self::new(columns.iter().map(|column| column.name.clone()))
        }
    }

    /// Returns whether no message may repeat a value of the column.
    pub(crate) fn hides(&self, column: usize) -> bool {
        self.hidden.get(column).copied().unwrap_or(true)
    }

    /// A fault of one value, as `value` shows it where that may be seen, and `why`.
    pub(crate) fn value(
        &mut self,
        row: u64,
        column: usize,
        value: impl FnOnce() -> String,
        why: impl Display,
    ) {
        let hides = self.hides(column);
        self.cell(row, column, || match hides {
            true => why.to_string(),
            false => format!("{} {why}", value()),
        });
    }

    /// A fault of one cell, the message of which repeats no value; see [`Self::value`]. The message
    /// is only made when it will be listed.
    pub(crate) fn cell(&mut self, row: u64, column: usize, message: impl FnOnce() -> String) {
        if let Some(touched) = self.columns.get_mut(column) {
            *touched = true;
        }
        let name = self.names.get(column).cloned();
        self.push(Some(row), name, message);
    }

    /// A fault of a whole row.
    pub(crate) fn row(&mut self, row: u64, message: impl FnOnce() -> String) {
        self.columns.fill(true);
        self.push(Some(row), None, message);
    }

    /// A fault of two rows together, which says nothing against any cell.
    pub(crate) fn between(&mut self, row: u64, columns: &str, message: impl FnOnce() -> String) {
        self.push(Some(row), Some(columns.to_owned()), message);
    }

    /// So many more that are not listed.
    pub(crate) fn add_unlisted(&mut self, faults: u64) {
        self.total += faults;
    }

    /// A fault of the file's header or schema.
    pub(crate) fn add_file(&mut self, column: Option<&str>, message: impl FnOnce() -> String) {
        self.columns.fill(true);
        self.push(None, column.map(str::to_owned), message);
    }

    /// Returns whether no fault touches any of these columns.
    pub(crate) fn is_clean(&self, columns: &[usize]) -> bool {
        columns.iter().all(|column| !self.columns.get(*column).copied().unwrap_or(true))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// The refusal, faults in row order.
    pub(crate) fn into_error(mut self, path: &Path) -> PublishError {
        self.kept.sort_by_key(|fault| fault.row);
        PublishError::Table { path: path.to_owned(), faults: self.kept, total: self.total }
    }

    fn push(&mut self, row: Option<u64>, column: Option<String>, message: impl FnOnce() -> String) {
        self.total += 1;
        if self.kept.len() < MAX_LISTED {
            self.kept.push(TableFault { row, column, message: message() });
        }
    }
}

/// A value as a message shows it: quoted, escaped, cut.
pub(crate) fn quote(value: &[u8]) -> String {
    let text = String::from_utf8_lossy(value.get(..MAX_QUOTED_CHARACTERS * 4).unwrap_or(value));
    let mut cut: String = text.chars().take(MAX_QUOTED_CHARACTERS).collect();
    if cut.len() < value.len() && text.chars().count() > MAX_QUOTED_CHARACTERS {
        cut.push('…');
    }
    format!("{cut:?}")
}
