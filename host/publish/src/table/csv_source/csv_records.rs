//! Records of a stream of CSV: bytes in, faults as sentences. Blank lines at the end are no records
//! (contract-7-blank-lines). Knows nothing of types.

use std::io::{self, Read};

use yearbook_csv_records::{
    CsvFault, CsvFaultKind, CsvReader, CsvRecord, CsvStrictness, RecordBounds,
};
use yearbook_domain::json_size;

/// Bytes that are read at a time.
const BUFFER_BYTES: usize = 1 << 20;

/// Bounds of a record: JSON takes as many bytes for its row at least, so none that is larger could
/// be sent. While one is refused, these bytes, their content and 8 bytes for each field, up to
/// twice as much of each, are in memory ([`crate::memory_budget`]).
const BOUNDS: RecordBounds = RecordBounds {
    bytes: json_size::ROW_BYTES,
    fields: json_size::ROW_BYTES / json_size::CELL_BYTES,
};

/// Reasons for which there is no next record.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CsvError {
    /// The stream failed.
    #[error("{0}")]
    Io(io::Error),
    /// Not RFC 4180.
    #[error("{why}")]
    Record {
        /// Position of the field in its record, from 0.
        field: usize,
        /// The fault, and what to do about it.
        why: &'static str,
    },
}

/// Reads records one after the other.
pub(crate) struct CsvRecords<R> {
    input: R,
    buffer: Vec<u8>,
    reader: CsvReader,
    /// Set once the stream has ended.
    ended: bool,
    /// Blank lines before the record, still to be returned.
    blank_lines: usize,
    /// As [`Self::blank_lines_at_end`].
    blank_lines_at_end: usize,
    /// Set while the reader's record follows the blank lines, or its fault.
    pending: Option<Result<(), CsvError>>,
}

impl<R: Read> CsvRecords<R> {
    pub(crate) fn new(input: R) -> Self {
        Self::with_buffer(input, BUFFER_BYTES)
    }

    /// The same with a buffer of so many bytes.
    fn with_buffer(input: R, bytes: usize) -> Self {
        Self {
            input,
            buffer: vec![0; bytes],
            reader: CsvReader::new(b',', CsvStrictness::Rfc4180, BOUNDS),
            ended: false,
            blank_lines: 0,
            blank_lines_at_end: 0,
            pending: None,
        }
    }

    /// The next record; `None` at the end, before the blank lines there. After an error nothing
    /// more can be read.
    pub(crate) fn next(&mut self) -> Result<Option<CsvRecord<'_>>, CsvError> {
        if self.pending.is_none() {
            self.pending = self.read().transpose();
        }
        if self.pending.is_none() {
            self.blank_lines_at_end = std::mem::take(&mut self.blank_lines);
            return Ok(None);
        }
        if let Some(rest) = self.blank_lines.checked_sub(1) {
            self.blank_lines = rest;
            return Ok(Some(CsvRecord::BLANK));
        }
        self.pending.take().transpose()?;
        Ok(Some(self.reader.record()))
    }

    /// Number of blank lines behind the last record, once there is no next one.
    pub(crate) fn blank_lines_at_end(&self) -> usize {
        self.blank_lines_at_end
    }

    /// Reads a record that is not blank, and counts the blank lines before it.
    fn read(&mut self) -> Result<Option<()>, CsvError> {
        loop {
            if self.reader.read().map_err(describe)? {
                if !self.reader.record().is_blank() {
                    return Ok(Some(()));
                }
                self.blank_lines += 1;
            } else if self.ended {
                return Ok(None);
            } else {
                self.read_more()?;
            }
        }
    }

    fn read_more(&mut self) -> Result<(), CsvError> {
        let read = loop {
            match self.input.read(&mut self.buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read.map_err(CsvError::Io)?,
            }
        };
        self.ended = read == 0;
        self.reader.push(&self.buffer[..read], self.ended);
        Ok(())
    }
}

fn describe(fault: CsvFault) -> CsvError {
    let why = match fault.kind {
        CsvFaultKind::UnclosedQuote => "opens a quote that is never closed",
        CsvFaultKind::TextBehindQuote => {
            "goes on behind its closing quote; double quotes inside a field"
        }
        CsvFaultKind::BareQuote => {
            "has a quote inside an unquoted field; quote the whole field and double the quote"
        }
        CsvFaultKind::BareCarriageReturn => {
            "has a carriage return that no line feed follows; end lines with LF or CRLF, quote line breaks"
        }
        CsvFaultKind::TooManyBytes | CsvFaultKind::TooManyFields => {
            "belongs to a record of over 32 MiB or 2,097,152 fields, which no format could send; is a quote never closed?"
        }
    };
    CsvError::Record { field: fault.field, why }
}

#[cfg(test)]
mod tests;
