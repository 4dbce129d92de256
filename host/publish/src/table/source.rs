//! A source of rows, whatever its format: chunks of the same typed columns, and the check of its
//! column names against the schema.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use yearbook_domain::Column;

use super::TableChunk;
use crate::faults::{FaultList, quote};

/// Chunks, one after the other.
pub(crate) trait TableSource: Send {
    /// The next rows; `None` at the end. Faulty cells and rows are reported and reading goes on
    /// behind them.
    fn next(&mut self, faults: &mut FaultList) -> Result<Option<TableChunk>, TableSourceError>;
}

/// The file is damaged or is not what its name says.
#[derive(Debug)]
pub(crate) struct TableSourceError(pub(crate) String);

/// A source with its progress in bytes of the file (rows for Parquet and Arrow).
pub(crate) struct TableInput {
    pub(crate) source: Box<dyn TableSource>,
    /// Size of the input; `None` if unknown.
    pub(crate) total: Option<u64>,
    /// Amount read so far, in the unit of `total`; `None` if rows are counted.
    pub(crate) position: Option<Arc<AtomicU64>>,
}

/// Reports where a file's columns are not those of the schema, in its order.
pub(crate) fn check_column_names(found: &[String], columns: &[Column], faults: &mut FaultList) {
    for column in columns.iter().filter(|column| !found.contains(&column.name)) {
        faults.add_file(Some(&column.name), || {
            "is in the schema but not in the file; add it, or take it out of the schema".to_owned()
        });
    }
    for name in found.iter().filter(|name| columns.iter().all(|column| column.name != **name)) {
        faults.add_file(None, || {
            format!(
                "column {} is in the file but not in the schema; describe it, or remove it",
                quote(name.as_bytes())
            )
        });
    }
    if faults.is_empty() {
        let first = found
            .iter()
            .enumerate()
            .find(|(at, name)| columns.get(*at).is_none_or(|column| column.name != **name));
        if let Some((at, name)) = first {
            let expected = columns.get(at).map_or("none", |column| column.name.as_str());
            faults.add_file(None, || {
                format!("column {} of the file is {name:?} where the schema has {expected:?}; list each once, in the same order", at + 1)
            });
        } else if found.len() != columns.len() {
            faults.add_file(None, || {
                format!("the file has {} columns, the schema {}", found.len(), columns.len())
            });
        }
    }
}
