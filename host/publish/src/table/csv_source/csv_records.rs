//! RFC 4180 records out of a stream of bytes, in one growing buffer. Knows nothing of types; tells
//! a quoted field from an unquoted one, because that is what tells `""` from null.

use std::io::{self, Read};

use memchr::memchr;

/// Bytes of the buffer at first; it doubles while a single record does not fit.
const FIRST_BUFFER: usize = 1 << 20;

/// Largest record, in bytes: a quote that is never closed must not take all memory before it is
/// noticed.
const MAX_RECORD: usize = 256 << 20;

/// Why there is no next record.
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
        /// What is wrong and what to do.
        why: &'static str,
    },
}

/// Where a field lies in the buffer, without its quotes.
#[derive(Clone, Copy, Debug)]
struct Field {
    start: usize,
    end: usize,
    quoted: bool,
    /// Whether doubled quotes must be undone.
    doubled: bool,
}

/// A record, valid until the next is read.
#[derive(Debug)]
pub(crate) struct CsvRecord<'a> {
    bytes: &'a [u8],
    fields: &'a [Field],
}

impl CsvRecord<'_> {
    /// Number of fields, at least 1.
    pub(crate) fn len(&self) -> usize {
        self.fields.len()
    }

    /// A field's content; none where it is empty and not quoted, or beyond the last.
    pub(crate) fn cell(&self, field: usize) -> Option<&[u8]> {
        let field = self.fields.get(field)?;
        let text = self.bytes.get(field.start..field.end)?;
        (field.quoted || !text.is_empty()).then_some(text)
    }

    /// Bytes of content.
    pub(crate) fn bytes(&self) -> usize {
        self.fields.iter().map(|field| field.end - field.start).sum()
    }
}

/// Reads records one after the other.
pub(crate) struct CsvRecords<R> {
    input: R,
    buffer: Vec<u8>,
    /// Where the next record starts in the buffer.
    start: usize,
    /// Where the bytes read so far end.
    end: usize,
    fields: Vec<Field>,
    /// Whether the input has been read to its end.
    exhausted: bool,
    /// Whether nothing has been read yet, so that a byte order mark may come.
    fresh: bool,
}

/// What one pass over the buffer found.
enum Scan {
    /// A whole record; where the next starts.
    Complete(usize),
    /// The record goes on behind the buffer.
    More,
}

impl<R: Read> CsvRecords<R> {
    pub(crate) fn new(input: R) -> Self {
        Self {
            input,
            buffer: vec![0; FIRST_BUFFER],
            start: 0,
            end: 0,
            fields: Vec::new(),
            exhausted: false,
            fresh: true,
        }
    }

    /// The next record; none at the end. After an error nothing more can be read.
    pub(crate) fn next(&mut self) -> Result<Option<CsvRecord<'_>>, CsvError> {
        loop {
            if self.start == self.end && self.exhausted {
                return Ok(None);
            }
            if self.start < self.end
                && let Scan::Complete(next) = self.scan()?
            {
                self.undouble();
                self.start = next;
                return Ok(Some(CsvRecord { bytes: &self.buffer, fields: &self.fields }));
            }
            self.fill()?;
        }
    }

    /// Finds the fields of the record at `start`.
    fn scan(&mut self) -> Result<Scan, CsvError> {
        let bytes = self.buffer.get(..self.end).unwrap_or_default();
        let byte = |at: usize| bytes.get(at).copied();
        self.fields.clear();
        let mut at = self.start;
        loop {
            let field = self.fields.len();
            let broken = |why| Err(CsvError::Record { field, why });
            if byte(at) == Some(b'"') {
                let start = at + 1;
                let (mut cursor, mut doubled) = (start, false);
                at = loop {
                    let Some(quote) = memchr(b'"', bytes.get(cursor..).unwrap_or_default())
                        .map(|found| cursor + found)
                    else {
                        return if self.exhausted {
                            broken("opens a quote that is never closed")
                        } else {
                            Ok(Scan::More)
                        };
                    };
                    match byte(quote + 1) {
                        Some(b'"') => {
                            doubled = true;
                            cursor = quote + 2;
                        }
                        None if !self.exhausted => return Ok(Scan::More),
                        _ => break quote,
                    }
                };
                self.fields.push(Field { start, end: at, quoted: true, doubled });
                at += 1;
            } else {
                let rest = bytes.get(at..).unwrap_or_default();
                match rest.iter().position(|b| matches!(b, b',' | b'\n' | b'\r' | b'"')) {
                    None if !self.exhausted => return Ok(Scan::More),
                    None => {
                        self.fields.push(Field {
                            start: at,
                            end: bytes.len(),
                            quoted: false,
                            doubled: false,
                        });
                        at = bytes.len();
                    }
                    Some(length) => {
                        self.fields.push(Field {
                            start: at,
                            end: at + length,
                            quoted: false,
                            doubled: false,
                        });
                        at += length;
                    }
                }
            }
            match (byte(at), byte(at + 1)) {
                (Some(b','), _) => at += 1,
                (Some(b'\n'), _) => return Ok(Scan::Complete(at + 1)),
                (Some(b'\r'), Some(b'\n')) => return Ok(Scan::Complete(at + 2)),
                (None, _) if self.exhausted => return Ok(Scan::Complete(at)),
                (None, _) | (Some(b'\r'), None) if !self.exhausted => return Ok(Scan::More),
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
                    return broken(
                        "goes on behind its closing quote; double quotes inside a field",
                    );
                }
            }
        }
    }

    /// Turns `""` into `"` in place.
    fn undouble(&mut self) {
        for field in self.fields.iter_mut().filter(|field| field.doubled) {
            let (mut from, mut to) = (field.start, field.start);
            while from < field.end {
                let value = self.buffer.get(from).copied().unwrap_or_default();
                if let Some(place) = self.buffer.get_mut(to) {
                    *place = value;
                }
                // Inside a field quotes come in pairs.
                from += if value == b'"' { 2 } else { 1 };
                to += 1;
            }
            field.end = to;
        }
    }

    /// Reads on, moving an unfinished record to the front and doubling a buffer that it fills.
    fn fill(&mut self) -> Result<(), CsvError> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        if self.end == self.buffer.len() {
            if self.buffer.len() >= MAX_RECORD {
                return Err(CsvError::Record {
                    field: self.fields.len(),
                    why: "belongs to a record of over 256 MiB; is a quote never closed?",
                });
            }
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
        // Filled to the brim: a record that is scanned again from its start must not be scanned for
        // every small read.
        while self.end < self.buffer.len() && !self.exhausted {
            match self.input.read(self.buffer.get_mut(self.end..).unwrap_or_default()) {
                Ok(0) => self.exhausted = true,
                Ok(read) => self.end += read,
                Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
                Err(why) => return Err(CsvError::Io(why)),
            }
        }
        if std::mem::take(&mut self.fresh)
            && self.buffer.get(..self.end).is_some_and(|bytes| bytes.starts_with(b"\xEF\xBB\xBF"))
        {
            self.start = 3;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
