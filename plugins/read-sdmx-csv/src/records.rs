//! Records of RFC 4180 out of bytes that come in pieces: fields as ranges of one buffer, copied
//! once. Never looks at what a field says.

use memchr::{memchr, memchr2};
use yearbook_sdk::reader::{FilePlace, ReadRefusal};

/// Longest record, bytes. A quote that nobody closes makes one record of the whole rest.
const RECORD_BYTES: usize = 16 << 20;

/// Most fields of a record.
const FIELDS: usize = 16_384;

/// The byte order mark, which some agencies send.
const MARK: &[u8] = b"\xEF\xBB\xBF";

/// Place of a field.
#[derive(Clone, Copy, Debug)]
struct Field {
    start: usize,
    end: usize,
    /// Quotes stand around it.
    quoted: bool,
    /// Quotes inside are doubled.
    doubled: bool,
}

/// The bytes that are there, and the place of the next record in them.
#[derive(Debug)]
pub(crate) struct Records {
    buffer: Vec<u8>,
    at: usize,
    last: bool,
    begun: bool,
    /// None until the header has told.
    delimiter: Option<u8>,
    /// Line of the next record, from 1.
    line: u64,
    fields: Vec<Field>,
    /// Bytes of the record at hand that hold no end of it, so that it is not searched again.
    searched: usize,
}

/// One record.
#[derive(Debug)]
pub(crate) struct Record<'a> {
    buffer: &'a [u8],
    fields: &'a [Field],
    line: u64,
}

/// The outcome of looking for a field's end.
enum Scan {
    /// The field; then where the next begins, and whether the record ends with it.
    Field(Field, usize, bool),
    /// The bytes end before the field does.
    More,
}

impl Records {
    pub(crate) fn new(delimiter: Option<u8>) -> Self {
        Self {
            buffer: Vec::new(),
            at: 0,
            last: false,
            begun: false,
            delimiter,
            line: 1,
            fields: Vec::new(),
            searched: 0,
        }
    }

    /// Takes the next bytes.
    pub(crate) fn push(&mut self, bytes: &[u8], last: bool) {
        self.buffer.drain(..self.at);
        self.at = 0;
        self.buffer.extend_from_slice(bytes);
        self.last = last;
    }

    /// The next record; none where more bytes are needed, or at the end.
    ///
    /// # Errors
    /// A record that is not of RFC 4180, or too long, with its line.
    pub(crate) fn next(&mut self) -> Result<Option<Record<'_>>, ReadRefusal> {
        if !self.skip_mark()? || self.at >= self.buffer.len() {
            return Ok(None);
        }
        // A record is looked at once it is there as a whole, except for quoted line breaks.
        let rest = &self.buffer[self.at..];
        if !self.last && memchr(b'\n', rest.get(self.searched..).unwrap_or_default()).is_none() {
            self.searched = rest.len();
            return self.check_length().map(|()| None);
        }
        let delimiter = match self.delimiter {
            Some(delimiter) => delimiter,
            None => *self.delimiter.insert(find_delimiter(rest)),
        };
        self.fields.clear();
        let mut start = self.at;
        loop {
            match self.scan_field(start, delimiter)? {
                Scan::More => return self.check_length().map(|()| None),
                Scan::Field(field, next, ends) => {
                    self.fields.push(field);
                    if self.fields.len() > FIELDS {
                        return Err(self.malformed(format!("has more than {FIELDS} fields")));
                    }
                    start = next;
                    if ends {
                        break;
                    }
                }
            }
        }
        let line = self.line;
        let breaks = memchr::memchr_iter(b'\n', &self.buffer[self.at..start]).count();
        self.line += breaks as u64;
        self.at = start;
        self.searched = 0;
        Ok(Some(Record { buffer: &self.buffer, fields: &self.fields, line }))
    }

    /// Refuses a record that is too long before it is there as a whole.
    fn check_length(&self) -> Result<(), ReadRefusal> {
        if self.buffer.len() - self.at > RECORD_BYTES {
            return Err(self.malformed(format!(
                "begins a record of more than {RECORD_BYTES} bytes; a quote may not be closed"
            )));
        }
        Ok(())
    }

    /// Skips a byte order mark; false where it is not known yet whether there is one.
    fn skip_mark(&mut self) -> Result<bool, ReadRefusal> {
        if !self.begun {
            if self.buffer.len() < MARK.len() && !self.last {
                return Ok(false);
            }
            // Of UTF-16 the byte order mark, or the NUL of one of the letters that begin a header.
            if matches!(*self.buffer, [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] | [0, ..] | [_, 0, ..]) {
                return Err(self.malformed(
                    "is UTF-16, not UTF-8; save the file as UTF-8, in Excel as \"CSV UTF-8\""
                        .to_owned(),
                ));
            }
            self.at = if self.buffer.starts_with(MARK) { MARK.len() } else { 0 };
            self.begun = true;
        }
        Ok(true)
    }

    fn scan_field(&self, start: usize, delimiter: u8) -> Result<Scan, ReadRefusal> {
        let rest = &self.buffer[start..];
        if rest.first() == Some(&b'"') {
            return self.scan_quoted(start, delimiter);
        }
        match memchr2(delimiter, b'\n', rest) {
            Some(at) if rest[at] == b'\n' => {
                let mut end = start + at;
                if end > start && self.buffer[end - 1] == b'\r' {
                    end -= 1;
                }
                self.plain(start, end, start + at + 1, true)
            }
            Some(at) => self.plain(start, start + at, start + at + 1, false),
            None if self.last => self.plain(start, self.buffer.len(), self.buffer.len(), true),
            None => Ok(Scan::More),
        }
    }

    fn plain(
        &self,
        start: usize,
        end: usize,
        next: usize,
        ends: bool,
    ) -> Result<Scan, ReadRefusal> {
        Ok(Scan::Field(Field { start, end, quoted: false, doubled: false }, next, ends))
    }

    fn scan_quoted(&self, start: usize, delimiter: u8) -> Result<Scan, ReadRefusal> {
        let (mut at, mut doubled) = (start + 1, false);
        loop {
            let Some(quote) = memchr(b'"', self.buffer.get(at..).unwrap_or_default()) else {
                if self.last {
                    return Err(self.malformed("has a quote that is not closed".to_owned()));
                }
                return Ok(Scan::More);
            };
            let end = at + quote;
            let field = Field { start: start + 1, end, quoted: true, doubled };
            match (self.buffer.get(end + 1), self.buffer.get(end + 2)) {
                (Some(b'"'), _) => {
                    doubled = true;
                    at = end + 2;
                }
                (Some(b'\n'), _) => return Ok(Scan::Field(field, end + 2, true)),
                (Some(b'\r'), Some(b'\n')) => return Ok(Scan::Field(field, end + 3, true)),
                (Some(byte), _) if *byte == delimiter => {
                    return Ok(Scan::Field(field, end + 2, false));
                }
                (Some(b'\r'), None) if !self.last => return Ok(Scan::More),
                (None, _) if !self.last => return Ok(Scan::More),
                (None, _) | (Some(b'\r'), None) => {
                    return Ok(Scan::Field(field, self.buffer.len(), true));
                }
                _ => {
                    return Err(self.malformed(
                        "has something behind a closing quote; double quotes inside a quoted field"
                            .to_owned(),
                    ));
                }
            }
        }
    }

    fn malformed(&self, sentence: String) -> ReadRefusal {
        ReadRefusal::malformed(FilePlace::line(self.line, ""), sentence)
    }
}

/// The first of comma, semicolon and tab that the first line has outside quotes and brackets, which
/// name what separates the values of one field.
fn find_delimiter(rest: &[u8]) -> u8 {
    let line = &rest[..memchr(b'\n', rest).unwrap_or(rest.len())];
    let mut quoted = false;
    for byte in line {
        match byte {
            b'"' | b'[' | b']' => quoted = !quoted,
            b',' | b';' | b'\t' if !quoted => return *byte,
            _ => {}
        }
    }
    b','
}

impl Record<'_> {
    /// Line of its first byte, from 1.
    pub(crate) fn line(&self) -> u64 {
        self.line
    }

    /// Number of fields.
    pub(crate) fn len(&self) -> usize {
        self.fields.len()
    }

    /// True for an empty line.
    pub(crate) fn is_blank(&self) -> bool {
        matches!(self.fields, [field] if field.start == field.end && !field.quoted)
    }

    /// A field, which is written to `scratch` where quotes in it are doubled; empty where there is
    /// none.
    pub(crate) fn field<'b>(&'b self, position: usize, scratch: &'b mut Vec<u8>) -> &'b [u8] {
        let Some(field) = self.fields.get(position) else { return &[] };
        let raw = &self.buffer[field.start..field.end];
        if !field.doubled {
            return raw;
        }
        scratch.clear();
        let mut rest = raw;
        while let Some(at) = memchr(b'"', rest) {
            scratch.extend_from_slice(&rest[..=at]);
            rest = rest.get(at + 2..).unwrap_or_default();
        }
        scratch.extend_from_slice(rest);
        scratch
    }

    /// A field as it stands in the file, quotes inside still doubled.
    pub(crate) fn raw(&self, position: usize) -> &[u8] {
        self.fields.get(position).map_or(&[], |field| &self.buffer[field.start..field.end])
    }
}
