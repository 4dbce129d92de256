//! Faults of a table: listed word for word up to a bound, and counted all.

use std::path::Path;
use std::sync::Arc;

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
}

impl FaultList {
    /// None yet, in a table with these columns.
    pub(crate) fn new(names: impl IntoIterator<Item = String>) -> Self {
        let names: Arc<[String]> = names.into_iter().collect();
        Self { columns: vec![false; names.len()], names, kept: Vec::new(), total: 0 }
    }

    /// A fault of one cell. The message is only made when it will be listed.
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
