//! A file of a format that a reader brought along reads: bytes to it by chunks, batches from it,
//! which are then checked as those of any Arrow file.

use std::io::Read;

use arrow::array::RecordBatch;
use arrow::error::ArrowError;

use super::arrow_source::open_batches;
use super::source::{TableInput, TableSourceError};
use crate::faults::FaultList;
use crate::format_reader::{ColumnFacts, FormatReading};
use crate::package::{DataPackage, ReaderSource};

/// Bytes of a chunk.
const CHUNK_BYTES: usize = 256 << 10;

/// A file and its reader.
pub(super) struct PluginBatches<R> {
    input: R,
    reading: Box<dyn FormatReading>,
    chunk: Vec<u8>,
    /// Set once the last chunk is pushed, and once anything failed.
    ended: bool,
}

impl<R: Read> PluginBatches<R> {
    pub(super) fn open(source: &ReaderSource, input: R) -> Result<Self, TableSourceError> {
        let reader = source.reader.as_ref().ok_or_else(|| {
            TableSourceError(format!("nobody brought a reader for {:?}", source.format))
        })?;
        let reading = reader.open(&source.columns, &source.options).map_err(TableSourceError)?;
        Ok(Self { input, reading, chunk: vec![0; CHUNK_BYTES], ended: false })
    }

    /// Gives the reader the next chunk; after the last one there is none.
    fn push_chunk(&mut self) -> Result<(), String> {
        let mut length = 0;
        while let Some(rest) = self.chunk.get_mut(length..).filter(|rest| !rest.is_empty()) {
            match self.input.read(rest) {
                Ok(0) => break,
                Ok(read) => length += read,
                Err(why) if why.kind() == std::io::ErrorKind::Interrupted => {}
                Err(why) => return Err(why.to_string()),
            }
        }
        // A chunk that is not full is the last one; behind a full one it may be empty.
        self.ended = length < CHUNK_BYTES;
        self.reading.push(self.chunk.get(..length).unwrap_or_default(), self.ended)
    }

    /// The facts of the columns.
    pub(super) fn columns(&mut self) -> Result<Vec<ColumnFacts>, String> {
        loop {
            if let Some(columns) = self.reading.columns()? {
                return Ok(columns);
            }
            if self.ended {
                return Err("its reader knows no columns at the end of the file".to_owned());
            }
            self.push_chunk()?;
        }
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>, String> {
        loop {
            if let Some(batch) = self.reading.pull()? {
                return Ok(Some(batch));
            }
            if self.ended {
                return Ok(None);
            }
            self.push_chunk()?;
        }
    }
}

/// Batches, until one fails.
impl<R: Read> Iterator for PluginBatches<R> {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_batch().map_err(|why| ArrowError::ExternalError(why.into())).transpose()
    }
}

/// Opens the file of a package that needs a reader.
pub(crate) fn open(
    package: &DataPackage,
    source: &ReaderSource,
    input: impl Read + Send + 'static,
    faults: &mut FaultList,
) -> Result<TableInput, TableSourceError> {
    let batches = PluginBatches::open(source, input)?;
    // Columns come as they were asked for; their types are checked by those of the schema.
    let schema = yearbook_scan::schema::unchecked_schema(&package.columns);
    Ok(open_batches(&schema, Box::new(batches), &package.columns, None, faults))
}
