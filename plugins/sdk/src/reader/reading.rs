//! One file being read: a reader and the rows that it has added and that no batch holds yet. How
//! rows are cut into batches depends on the rows alone, never on how the file came in pieces.

use super::{ColumnRequest, ReadColumn, ReadRefusal, Reader, RowBuilder};
use crate::Options;
use crate::wire::RawRows;

/// A file being read.
#[derive(Debug)]
pub(crate) struct ReadingDriver<R> {
    reader: R,
    rows: Option<RowBuilder>,
    last: bool,
}

impl<R: Reader> ReadingDriver<R> {
    /// Begins a file.
    ///
    /// # Errors
    /// As [`Reader::open`].
    pub(crate) fn open(requests: &[ColumnRequest], options: &Options) -> Result<Self, ReadRefusal> {
        Ok(Self { reader: R::open(requests, options)?, rows: None, last: false })
    }

    /// Takes the next bytes.
    ///
    /// # Errors
    /// As [`Reader::push`].
    pub(crate) fn push(&mut self, bytes: &[u8], last: bool) -> Result<(), ReadRefusal> {
        self.last = last;
        self.reader.push(bytes, last)
    }

    /// The columns, as soon as they are known.
    pub(crate) fn columns(&self) -> Option<Vec<ReadColumn>> {
        self.reader.columns()
    }

    /// The next batch; `None` where more bytes are needed, or at the end.
    ///
    /// # Errors
    /// As [`Reader::pull`].
    pub(crate) fn pull(&mut self) -> Result<Option<RawRows>, ReadRefusal> {
        if self.rows.is_none() {
            let Some(columns) = self.columns() else { return Ok(None) };
            self.rows = Some(RowBuilder::new(&columns));
        }
        let Some(rows) = &mut self.rows else { return Ok(None) };
        while !rows.is_full() {
            let before = rows.rows();
            self.reader.pull(rows)?;
            if rows.rows() == before {
                break;
            }
        }
        Ok(if rows.is_full() || self.last { rows.finish() } else { None })
    }
}
