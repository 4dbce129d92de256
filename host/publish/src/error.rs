//! Reasons why a package is not published. Every message says what is at fault and what to do;
//! nothing has become visible.

use std::path::PathBuf;

use serde::Serialize;
use yearbook_storage::StorageFailure;

/// One thing that is wrong with a descriptor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DescriptorProblem {
    /// JSON path, `resources[0].schema.fields[3].type`; empty: the document itself.
    pub at: String,
    /// The fault, and what to do about it.
    pub message: String,
}

impl std::fmt::Display for DescriptorProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.at.is_empty() {
            f.write_str(&self.message)
        } else {
            write!(f, "{}: {}", self.at, self.message)
        }
    }
}

/// Something wrong with the table, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TableFault {
    /// Data row from 1 in the input's own order (a CSV header is not a data row); `None` for the
    /// file as a whole.
    pub row: Option<u64>,
    /// Column; `None` for the row as a whole.
    pub column: Option<String>,
    /// The fault.
    pub message: String,
}

impl std::fmt::Display for TableFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.row, &self.column) {
            (Some(row), Some(column)) => write!(f, "row {row}, column {column}: {}", self.message),
            (Some(row), None) => write!(f, "row {row}: {}", self.message),
            (None, Some(column)) => write!(f, "column {column}: {}", self.message),
            (None, None) => f.write_str(&self.message),
        }
    }
}

/// Faults that people are shown; machines get the whole list (contract-7-faults).
pub const SHOWN_FAULTS: usize = 50;

/// Reasons for which nothing was published.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PublishError {
    /// The descriptor is wrong.
    #[error("{path}: {list}", path = path.display(), list = Listed(problems, problems.len() as u64))]
    Descriptor {
        /// The descriptor.
        path: PathBuf,
        /// Everything that is wrong with it.
        problems: Vec<DescriptorProblem>,
    },
    /// The table does not keep to its descriptor.
    #[error("{path}: {list}", path = path.display(), list = Listed(faults, *total))]
    Table {
        /// The data file.
        path: PathBuf,
        /// The faults in row order: all of them, or the first 100,000 found.
        faults: Vec<TableFault>,
        /// Number of all faults.
        total: u64,
    },
    /// The table has lost more than its package allows ([`crate::MaxLoss`]).
    #[error("{path}: {why}", path = path.display())]
    Loss {
        /// The data file.
        path: PathBuf,
        /// The numbers, and what to do.
        why: String,
    },
    /// The data file is not what its name says, or is damaged.
    #[error("cannot read {path} as {format}: {why}", path = path.display())]
    Unreadable {
        /// The data file.
        path: PathBuf,
        /// The format that it should have.
        format: String,
        /// The place and the fault.
        why: String,
    },
    /// There is no reader for the format of the data file.
    #[error("{path}: {why}", path = path.display())]
    NoReader {
        /// The data file.
        path: PathBuf,
        /// The format, and what to do.
        why: String,
    },
    /// A local file refused an operation.
    #[error("cannot {doing} {path}: {source}", path = path.display())]
    Io {
        /// A verb.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// The operating system's word.
        source: std::io::Error,
    },
    /// The temporary folder refused an operation.
    #[error(
        "cannot use a temporary file in {folder}: {source}; free space there, or name another folder with TMPDIR",
        folder = folder.display()
    )]
    TemporaryFile {
        /// The temporary folder.
        folder: PathBuf,
        /// The operating system's word.
        source: std::io::Error,
    },
    /// The object store failed.
    #[error(transparent)]
    Storage(#[from] StorageFailure),
    /// A fault of this program.
    #[error("publishing failed at {stage}: {why}; this is a bug in the service")]
    Internal {
        /// The stage.
        stage: &'static str,
        /// The error's text.
        why: String,
    },
}

/// A list as a message shows it: one on the same line, several on lines of their own.
struct Listed<'a, T>(&'a [T], u64);

impl<T: std::fmt::Display> std::fmt::Display for Listed<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self(items, total) = self;
        if let ([only], 1) = (items, total) {
            return write!(f, "{only}");
        }
        write!(f, "{total} faults")?;
        let shown = &items[..items.len().min(SHOWN_FAULTS)];
        for item in shown {
            write!(f, "\n  {item}")?;
        }
        match total - shown.len() as u64 {
            0 => Ok(()),
            more => write!(f, "\n  … and {more} more"),
        }
    }
}
