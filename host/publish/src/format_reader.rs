//! Readers of formats that publishing does not know itself, as it needs them. A publisher
//! brings one; what it is made of, publishing does not know.

use std::fmt;
use std::sync::Arc;

use arrow::array::RecordBatch;
use futures::future::BoxFuture;
use serde_json::{Map, Value};
use yearbook_domain::SourceColumn;

/// Finds readers.
pub trait ReaderProvider: Send + Sync {
    /// The reader of a format.
    ///
    /// # Errors
    /// A sentence with what to do where there is none, or it cannot be loaded.
    fn find_reader<'a>(
        &'a self,
        format: &'a str,
    ) -> BoxFuture<'a, Result<Arc<dyn FormatReader>, String>>;
}

/// Reader of a format.
pub trait FormatReader: fmt::Debug + Send + Sync {
    /// The format's name for people.
    fn title(&self) -> &str;

    /// Begins a file. `options` are those of the package, as it writes them. Blocking.
    ///
    /// # Errors
    /// A sentence with what is wrong and what to do.
    fn open(
        &self,
        columns: &[SourceColumn],
        options: &Map<String, Value>,
    ) -> Result<Box<dyn FormatReading>, String>;
}

/// A file that is being read. Every call may block, and none may be made after one that failed.
pub trait FormatReading: Send {
    /// Takes the next bytes of the file; `last` where no more follow.
    ///
    /// # Errors
    /// A sentence with a place in the file.
    fn push(&mut self, bytes: &[u8], last: bool) -> Result<(), String>;

    /// Facts of the columns, in the order that they were asked for; `None` as long as they are not
    /// known. They are at the end of the file.
    ///
    /// # Errors
    /// As [`FormatReading::push`].
    fn columns(&mut self) -> Result<Option<Vec<ColumnFacts>>, String>;

    /// The next rows: a column for each that was asked for, of the type that it was asked for with;
    /// none where more bytes are needed, or at the end of the file.
    ///
    /// # Errors
    /// As [`FormatReading::push`].
    fn pull(&mut self) -> Result<Option<RecordBatch>, String>;
}

/// Facts that a file tells of a column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ColumnFacts {
    /// Unit of the values.
    pub unit: Option<String>,
    /// One sentence.
    pub description: Option<String>,
}
