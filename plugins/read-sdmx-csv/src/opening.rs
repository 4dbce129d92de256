//! The beginning of a file: its encoding, and what separates its fields.

use memchr::memchr;
use yearbook_csv_records::{CsvReader, CsvStrictness, RecordBounds};
use yearbook_sdk::reader::{FilePlace, ReadRefusal};

/// Bounds of a record. A quote that is never closed makes one record of the whole rest.
pub(crate) const BOUNDS: RecordBounds = RecordBounds { bytes: 16 << 20, fields: 16_384 };

/// Bytes up to the end of the first line.
#[derive(Debug)]
pub(crate) struct Opening {
    bytes: Vec<u8>,
    /// `None` if the first line tells.
    delimiter: Option<u8>,
}

impl Opening {
    pub(crate) fn new(delimiter: Option<u8>) -> Self {
        Self { bytes: Vec::new(), delimiter }
    }

    /// Takes the next bytes; a reader of all so far once the first line is among them.
    ///
    /// # Errors
    /// [`ReadRefusal`] for UTF-16 and for lines that end in carriage returns alone.
    pub(crate) fn push(
        &mut self,
        bytes: &[u8],
        last: bool,
    ) -> Result<Option<CsvReader>, ReadRefusal> {
        self.bytes.extend_from_slice(bytes);
        let is_complete = last || memchr(b'\n', bytes).is_some();
        if !is_complete && self.bytes.len() <= BOUNDS.bytes {
            return Ok(None);
        }
        // Of UTF-16 the byte order mark, or the NUL of one of the letters that begin a header.
        if matches!(*self.bytes, [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] | [0, ..] | [_, 0, ..]) {
            return Err(ReadRefusal::malformed(
                FilePlace::line(1, ""),
                "is UTF-16, not UTF-8; save the file as UTF-8, in Excel as \"CSV UTF-8\"",
            ));
        }
        // Its rows would be names of columns, which refusals list.
        let line = first_line(&self.bytes);
        if memchr(b'\r', line.strip_suffix(b"\r").unwrap_or(line)).is_some() {
            return Err(ReadRefusal::malformed(
                FilePlace::line(1, ""),
                "has a carriage return without a line feed; save the file with lines that end in LF or CRLF",
            ));
        }
        let delimiter = self.delimiter.unwrap_or_else(|| find_delimiter(&self.bytes));
        let mut reader = CsvReader::new(delimiter, CsvStrictness::QuotedFields, BOUNDS);
        reader.push(&std::mem::take(&mut self.bytes), last);
        Ok(Some(reader))
    }
}

fn first_line(bytes: &[u8]) -> &[u8] {
    &bytes[..memchr(b'\n', bytes).unwrap_or(bytes.len())]
}

/// The first of comma, semicolon and tab that the first line has outside quotes and brackets, which
/// name what separates the values of one field.
fn find_delimiter(bytes: &[u8]) -> u8 {
    let mut quoted = false;
    for byte in first_line(bytes) {
        match byte {
            b'"' | b'[' | b']' => quoted = !quoted,
            b',' | b';' | b'\t' if !quoted => return *byte,
            _ => {}
        }
    }
    b','
}
