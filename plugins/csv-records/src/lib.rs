//! Records of CSV (RFC 4180) out of bytes that come in pieces, for the host and for guests. The
//! crate `csv-core` parses. It reads leniently and tells no quoted field from an unquoted one; both
//! are looked up in the raw bytes of the few records that have a quote or a carriage return
//! ([`departures`]). Knows nothing of files, encodings and types.

mod departures;

use csv_core::{ReadRecordResult, Reader, ReaderBuilder, Terminator};
use memchr::memchr2;

/// A byte order mark, which is no content.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Capacity for content and for fields that a reader begins with.
const FIRST_CAPACITY: usize = 256;

/// Bounds of one record.
#[derive(Clone, Copy, Debug)]
pub struct RecordBounds {
    /// Most bytes.
    pub bytes: usize,
    /// Most fields.
    pub fields: usize,
}

/// Departures from RFC 4180 that a reader refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CsvStrictness {
    /// All.
    Rfc4180,
    /// Departures in quoted fields; a quote or a carriage return inside another field is content.
    QuotedFields,
    /// None: anything is a record.
    Lenient,
}

/// A kind of [`CsvFault`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CsvFaultKind {
    /// A quote that is never closed.
    UnclosedQuote,
    /// Something between a closing quote and the next field.
    TextBehindQuote,
    /// A quote inside a field that is not quoted.
    BareQuote,
    /// A carriage return outside quotes that no line feed follows.
    BareCarriageReturn,
    /// More than [`RecordBounds::bytes`].
    TooManyBytes,
    /// More than [`RecordBounds::fields`].
    TooManyFields,
}

/// A record that is refused. Where the next begins is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CsvFault {
    /// The fault.
    pub kind: CsvFaultKind,
    /// Line of the record's first byte, from 1.
    pub line: u64,
    /// Position of the field in its record, from 0.
    pub field: usize,
}

/// A record, valid until the next is read.
#[derive(Clone, Copy, Debug)]
pub struct CsvRecord<'a> {
    content: &'a [u8],
    /// Ends of the fields in `content`; one for a blank line.
    ends: &'a [usize],
    /// Fields that are quoted; empty where none is.
    quoted: &'a [bool],
    line: u64,
}

impl CsvRecord<'static> {
    /// A blank line: one field, which is null.
    pub const BLANK: Self = Self { content: &[], ends: &[0], quoted: &[], line: 0 };
}

impl<'a> CsvRecord<'a> {
    /// Number of fields, at least 1.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "there is always a field")]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Content of a field, without quotes; `None` if it is empty and not quoted, or beyond the
    /// last.
    #[must_use]
    pub fn cell(&self, field: usize) -> Option<&'a [u8]> {
        let start = if field == 0 { 0 } else { *self.ends.get(field - 1)? };
        let cell = self.content.get(start..*self.ends.get(field)?)?;
        let is_quoted = || self.quoted.get(field).copied().unwrap_or(false);
        (!cell.is_empty() || is_quoted()).then_some(cell)
    }

    /// Bytes of content.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.content.len()
    }

    /// Returns true for a line without a byte.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        self.ends.len() == 1 && self.cell(0).is_none()
    }

    /// Line of its first byte, from 1.
    #[must_use]
    pub fn line(&self) -> u64 {
        self.line
    }
}

/// A reader of records one after the other.
#[derive(Debug)]
pub struct CsvReader {
    parser: Reader,
    delimiter: u8,
    strictness: CsvStrictness,
    bounds: RecordBounds,
    /// Bytes from `start` on; those before it are dropped with the next push.
    input: Vec<u8>,
    /// Beginning of the record at hand.
    start: usize,
    /// End of the bytes that were parsed.
    parsed: usize,
    /// Set once no more bytes come.
    is_last: bool,
    /// Set once the byte order mark has been looked for.
    begun: bool,
    /// Content of the record at hand: the first `written` bytes.
    content: Vec<u8>,
    written: usize,
    /// As [`CsvRecord::ends`]: the first `fields`.
    ends: Vec<usize>,
    fields: usize,
    quoted: Vec<bool>,
    line: u64,
    blank_lines: u64,
}

impl CsvReader {
    /// A reader before its first byte.
    #[must_use]
    pub fn new(delimiter: u8, strictness: CsvStrictness, bounds: RecordBounds) -> Self {
        // With a line feed for its only terminator, a record ends exactly behind that line feed,
        // and a lone carriage return ends none.
        let mut parser =
            ReaderBuilder::new().delimiter(delimiter).terminator(Terminator::Any(b'\n')).build();
        // The parser would take a second byte order mark away at its own beginning.
        parser.read_record(b"\n", &mut [0], &mut [0]);
        parser.set_line(1);
        Self {
            parser,
            delimiter,
            strictness,
            bounds,
            input: Vec::new(),
            start: 0,
            parsed: 0,
            is_last: false,
            begun: false,
            content: vec![0; FIRST_CAPACITY],
            written: 0,
            ends: vec![0; FIRST_CAPACITY],
            fields: 0,
            quoted: Vec::new(),
            line: 1,
            blank_lines: 0,
        }
    }

    /// Takes the next bytes, and whether they are the last ones.
    pub fn push(&mut self, bytes: &[u8], is_last: bool) {
        self.input.drain(..self.start);
        self.parsed -= self.start;
        self.start = 0;
        self.input.extend_from_slice(bytes);
        self.is_last = is_last;
    }

    /// Reads the next [`Self::record`]; false where more bytes are needed, or at the end. A blank
    /// line is a record, but for the end of the file behind the last line's.
    ///
    /// # Errors
    /// [`CsvFault`]; nothing more can be read.
    pub fn read(&mut self) -> Result<bool, CsvFault> {
        if !self.begun && !self.skip_byte_order_mark() {
            return Ok(false);
        }
        if self.parsed > self.start {
            return self.parse();
        }
        self.written = 0;
        self.fields = 0;
        self.quoted.clear();
        self.line = self.parser.line() + self.blank_lines;
        // `csv-core` skips blank lines.
        let length = match self.input.get(self.start..).unwrap_or_default() {
            [b'\n', ..] => 1,
            [b'\r', b'\n', ..] => 2,
            [] => return Ok(false),
            [b'\r'] if !self.is_last => return Ok(false),
            _ => return self.parse(),
        };
        self.start += length;
        self.parsed = self.start;
        self.blank_lines += 1;
        self.ends[0] = 0;
        self.fields = 1;
        Ok(true)
    }

    /// The record that was read last.
    #[must_use]
    pub fn record(&self) -> CsvRecord<'_> {
        CsvRecord {
            content: &self.content[..self.written],
            ends: &self.ends[..self.fields],
            quoted: &self.quoted,
            line: self.line,
        }
    }

    /// Skips a byte order mark; false where it is not known yet whether there is one.
    fn skip_byte_order_mark(&mut self) -> bool {
        self.begun = self.is_last || self.input.len() >= BYTE_ORDER_MARK.len();
        if self.begun && self.input.starts_with(BYTE_ORDER_MARK) {
            self.start = BYTE_ORDER_MARK.len();
            self.parsed = self.start;
        }
        self.begun
    }

    /// Parses on in the record at hand.
    fn parse(&mut self) -> Result<bool, CsvFault> {
        loop {
            // No bytes mean the end of the file to the parser.
            if self.parsed == self.input.len() && !self.is_last {
                return self.check_length(self.fields).map(|()| false);
            }
            let (result, read, written, fields) = self.parser.read_record(
                &self.input[self.parsed..],
                &mut self.content[self.written..],
                &mut self.ends[self.fields..],
            );
            self.parsed += read;
            self.written += written;
            self.fields += fields;
            match result {
                ReadRecordResult::Record => return self.finish_record().map(|()| true),
                ReadRecordResult::OutputFull if self.written > self.bounds.bytes => {
                    return self.refuse(self.fields, CsvFaultKind::TooManyBytes);
                }
                ReadRecordResult::OutputFull => {
                    let most = self.bounds.bytes.saturating_add(1);
                    self.content.resize(most.min(2 * self.content.len()), 0);
                }
                ReadRecordResult::OutputEndsFull if self.fields >= self.bounds.fields => {
                    return self.refuse(self.fields, CsvFaultKind::TooManyFields);
                }
                ReadRecordResult::OutputEndsFull => {
                    self.ends.resize(self.bounds.fields.min(2 * self.ends.len()), 0);
                }
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::End => return Ok(false),
            }
        }
    }

    /// Checks the raw bytes of a record that was parsed, and finds its quoted fields.
    fn finish_record(&mut self) -> Result<(), CsvFault> {
        self.check_length(self.fields - 1)?;
        let raw = &self.input[self.start..self.parsed];
        let line = raw.strip_suffix(b"\n").unwrap_or(raw);
        let is_ended = line.len() < raw.len() || self.strictness != CsvStrictness::Rfc4180;
        let line = line.strip_suffix(b"\r").filter(|_| is_ended).unwrap_or(line);
        // Almost every record has neither: every empty field is null, and nothing can be wrong.
        if memchr2(b'"', b'\r', line).is_some() {
            let found = departures::find(line, self.delimiter, self.strictness, &mut self.quoted);
            if let Some((field, kind)) = found {
                return self.refuse(field, kind);
            }
        }
        // The parser takes the carriage return of the line's end for content.
        if raw[line.len()..].starts_with(b"\r") {
            self.written -= 1;
            self.ends[self.fields - 1] = self.written;
        }
        self.start = self.parsed;
        Ok(())
    }

    fn check_length(&self, field: usize) -> Result<(), CsvFault> {
        if self.parsed - self.start > self.bounds.bytes {
            return self.refuse(field, CsvFaultKind::TooManyBytes);
        }
        Ok(())
    }

    fn refuse<T>(&self, field: usize, kind: CsvFaultKind) -> Result<T, CsvFault> {
        Err(CsvFault { kind, line: self.line, field })
    }
}

#[cfg(test)]
mod tests;
