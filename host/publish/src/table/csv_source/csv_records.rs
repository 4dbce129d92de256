//! Records of RFC 4180 out of a stream of bytes, read by the crate `csv`. It reads leniently and
//! tells no quoted field from an unquoted one; both are looked up in the raw bytes of the few
//! records that have a quote or a carriage return. Knows nothing of types.

mod window;

use std::io::{self, Read};
use std::ops::Range;

use csv::{ByteRecord, Reader, ReaderBuilder, Terminator};
use memchr::{memchr, memchr2};

use window::RawWindow;

/// Bytes that `csv` reads at a time.
const BUFFER_BYTES: usize = 1 << 20;

/// A byte order mark, as `csv` skips it.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

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

/// A record, valid until the next is read.
#[derive(Debug)]
pub(crate) struct CsvRecord<'a> {
    /// None for a blank line, which has one empty field.
    record: Option<&'a ByteRecord>,
    /// Fields that are quoted; empty where none is.
    quoted: &'a [bool],
    /// Bytes of the line's end that `csv` left at the end of the last field: its carriage return.
    surplus: usize,
}

impl CsvRecord<'_> {
    /// Number of fields, at least 1.
    pub(crate) fn len(&self) -> usize {
        self.record.map_or(1, ByteRecord::len)
    }

    /// A field's content; none where it is empty and not quoted, or beyond the last.
    pub(crate) fn cell(&self, field: usize) -> Option<&[u8]> {
        let record = self.record?;
        let text = record.get(field)?;
        let surplus = if field + 1 == record.len() { self.surplus } else { 0 };
        let text = text.get(..text.len().saturating_sub(surplus))?;
        let quoted = || self.quoted.get(field).copied().unwrap_or(false);
        (!text.is_empty() || quoted()).then_some(text)
    }

    /// Bytes of content.
    pub(crate) fn bytes(&self) -> usize {
        self.record.map_or(0, |record| record.as_slice().len().saturating_sub(self.surplus))
    }
}

/// Reads records one after the other.
pub(crate) struct CsvRecords<R> {
    reader: Reader<RawWindow<R>>,
    record: ByteRecord,
    /// As [`CsvRecord::quoted`], reused.
    quoted: Vec<bool>,
    /// Blank lines before the record, still to be returned.
    blank_lines: usize,
    /// As [`Self::blank_lines_at_end`].
    blank_lines_at_end: usize,
    /// The record that follows the blank lines: its [`CsvRecord::surplus`], or its fault.
    pending: Option<Result<usize, CsvError>>,
    /// Offset of the next record in the stream.
    position: u64,
}

impl<R: Read> CsvRecords<R> {
    pub(crate) fn new(input: R) -> Self {
        Self::with_buffer(input, BUFFER_BYTES)
    }

    /// The same with a buffer of so many bytes, at least 4.
    fn with_buffer(input: R, bytes: usize) -> Self {
        // With a line feed for its only terminator, `csv` ends a record exactly behind that line
        // feed, and a lone carriage return ends none.
        let reader = ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .terminator(Terminator::Any(b'\n'))
            .buffer_capacity(bytes)
            .from_reader(RawWindow::new(input));
        Self {
            reader,
            record: ByteRecord::new(),
            quoted: Vec::new(),
            blank_lines: 0,
            blank_lines_at_end: 0,
            pending: None,
            position: 0,
        }
    }

    /// The next record; none at the end, before the blank lines that stand there. After an error
    /// nothing more can be read.
    pub(crate) fn next(&mut self) -> Result<Option<CsvRecord<'_>>, CsvError> {
        if self.blank_lines == 0 && self.pending.is_none() {
            self.read();
        }
        if let Some(rest) = self.blank_lines.checked_sub(1) {
            self.blank_lines = rest;
            return Ok(Some(CsvRecord { record: None, quoted: &[], surplus: 0 }));
        }
        let Some(surplus) = self.pending.take().transpose()? else { return Ok(None) };
        Ok(Some(CsvRecord { record: Some(&self.record), quoted: &self.quoted, surplus }))
    }

    /// Number of blank lines behind the last record, once there is no next one.
    pub(crate) fn blank_lines_at_end(&self) -> usize {
        self.blank_lines_at_end
    }

    /// Reads a record and the blank lines before it.
    fn read(&mut self) {
        let mut is_blank = true;
        while is_blank {
            let read = self.reader.read_byte_record(&mut self.record);
            let end = if read.is_ok() { self.reader.position().byte() } else { u64::MAX };
            let raw = raw_bytes(&self.reader, self.position..end);
            // Those that end with LF alone `csv` skips.
            let skipped = raw.iter().take_while(|byte| **byte == b'\n').count();
            let raw = raw.get(skipped..).unwrap_or_default();
            is_blank = raw == b"\r\n";
            self.blank_lines += skipped + usize::from(is_blank);
            match read {
                Ok(true) if is_blank => {}
                Ok(true) => self.pending = Some(check(raw, &mut self.quoted)),
                Ok(false) => self.blank_lines_at_end = std::mem::take(&mut self.blank_lines),
                Err(_) if self.reader.get_ref().is_full() => {
                    self.pending = Some(Err(describe_too_large(raw, &mut self.quoted)));
                }
                Err(error) => self.pending = Some(Err(CsvError::Io(error.into()))),
            }
            self.position = end;
            self.reader.get_mut().release(end);
        }
    }
}

/// Bytes `range` of the stream, without the byte order mark.
fn raw_bytes<R: Read>(reader: &Reader<RawWindow<R>>, range: Range<u64>) -> &[u8] {
    let start = range.start;
    let raw = reader.get_ref().bytes(range);
    if start == 0 { raw.strip_prefix(BYTE_ORDER_MARK).unwrap_or(raw) } else { raw }
}

/// Checks the raw bytes of a record, its line's end included, and finds its quoted fields. Returns
/// the number of bytes of the line's end that `csv` takes for content.
fn check(raw: &[u8], quoted: &mut Vec<bool>) -> Result<usize, CsvError> {
    quoted.clear();
    let (content, surplus) = match raw {
        [content @ .., b'\r', b'\n'] => (content, 1),
        [content @ .., b'\n'] => (content, 0),
        content => (content, 0),
    };
    // Almost every record: every empty field is null, and nothing can be wrong.
    if memchr2(b'"', b'\r', content).is_some() {
        walk(raw, quoted)?;
    }
    Ok(surplus)
}

/// The fault of a record that is too large, of which `raw` is the beginning.
fn describe_too_large(raw: &[u8], quoted: &mut Vec<bool>) -> CsvError {
    let field = match walk(raw, quoted) {
        Err(CsvError::Record { field, .. }) => field,
        _ => quoted.len().saturating_sub(1),
    };
    let why = "belongs to a record of over 32 MiB or 2,097,152 fields, which no format could send; is a quote never closed?";
    CsvError::Record { field, why }
}

/// Goes over a raw record as RFC 4180 has it; fills in which fields are quoted. Returns the first
/// violation: up to there `csv` and RFC 4180 agree on fields.
fn walk(raw: &[u8], quoted: &mut Vec<bool>) -> Result<(), CsvError> {
    quoted.clear();
    let byte = |at: usize| raw.get(at).copied();
    let mut at = 0;
    loop {
        let field = quoted.len();
        let broken = |why| Err(CsvError::Record { field, why });
        let is_quoted = byte(at) == Some(b'"');
        if is_quoted {
            let Some(quote) = closing_quote(raw, at + 1) else {
                return broken("opens a quote that is never closed");
            };
            at = quote + 1;
        } else {
            let rest = raw.get(at..).unwrap_or_default();
            let ends = |byte: &u8| matches!(byte, b',' | b'\n' | b'\r' | b'"');
            at += rest.iter().position(ends).unwrap_or(rest.len());
        }
        quoted.push(is_quoted);
        match (byte(at), byte(at + 1)) {
            (Some(b','), _) => at += 1,
            (None | Some(b'\n'), _) | (Some(b'\r'), Some(b'\n')) => return Ok(()),
            (Some(b'\r'), _) => {
                return broken(
                    "has a carriage return that no line feed follows; end lines with LF or CRLF, quote line breaks",
                );
            }
            (Some(b'"'), _) => {
                return broken(
                    "has a quote inside an unquoted field; quote the whole field and double the quote",
                );
            }
            _ => {
                return broken("goes on behind its closing quote; double quotes inside a field");
            }
        }
    }
}

/// Position of the quote that closes a field whose content begins at `start`.
fn closing_quote(raw: &[u8], start: usize) -> Option<usize> {
    let mut cursor = start;
    loop {
        let quote = cursor + memchr(b'"', raw.get(cursor..)?)?;
        if raw.get(quote + 1) != Some(&b'"') {
            return Some(quote);
        }
        cursor = quote + 2;
    }
}

#[cfg(test)]
mod tests;
