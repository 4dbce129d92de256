//! A stream that keeps the bytes of the record being read, so that its raw form can be looked at,
//! and ends where they are more than a row may have. Knows nothing of what fields say.

use std::io::{self, Read};
use std::ops::Range;

use memchr::memchr;
use yearbook_domain::json_size;

use super::closing_quote;

/// Largest record, in bytes: JSON takes as many for its row at least, so none that is larger could
/// be sent. While one is refused, these bytes and the fields that `csv` holds of them, up to twice
/// as much, are in memory ([`crate::memory_budget`]).
const MAX_RECORD: usize = json_size::ROW_BYTES;

/// Most fields of a record, by the same measure: `csv` holds 8 bytes, up to twice, for each.
const MAX_FIELDS: usize = MAX_RECORD / json_size::CELL_BYTES;

/// Bytes that the first read returns at least, unless the stream is shorter: `csv` finds a byte
/// order mark only in the bytes read first, and takes one that stands alone for the end.
const FIRST_BYTES: usize = 4;

/// Passes bytes on and keeps those not yet released.
pub(super) struct RawWindow<R> {
    input: R,
    /// Bytes of the stream from `first` on.
    kept: Vec<u8>,
    first: u64,
    /// Position in the stream before which nothing is needed any more.
    released: u64,
    full: bool,
}

impl<R> RawWindow<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input, kept: Vec::new(), first: 0, released: 0, full: false }
    }

    /// Bytes `range` of the stream, as far as they have been read and not been released.
    pub(super) fn bytes(&self, range: Range<u64>) -> &[u8] {
        let index = |position: u64| {
            usize::try_from(position.saturating_sub(self.first))
                .unwrap_or(usize::MAX)
                .min(self.kept.len())
        };
        self.kept.get(index(range.start)..index(range.end)).unwrap_or_default()
    }

    /// Gives up the bytes before `position`.
    pub(super) fn release(&mut self, position: u64) {
        self.released = position;
    }

    /// Returns whether reading ended because a record has more than [`MAX_RECORD`] bytes or
    /// [`MAX_FIELDS`] fields.
    pub(super) fn is_full(&self) -> bool {
        self.full
    }

    /// Drops what was released. Once a read, not once a record: each moves what is left.
    fn compact(&mut self) {
        let released = usize::try_from(self.released.saturating_sub(self.first))
            .unwrap_or(usize::MAX)
            .min(self.kept.len());
        self.kept.drain(..released);
        self.first += released as u64;
    }
}

impl<R: Read> Read for RawWindow<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.compact();
        // `csv` asks for more only within a record, so what is left is the beginning of one.
        if self.kept.len() >= MAX_RECORD || has_too_many_fields(&self.kept) {
            self.full = true;
            return Err(io::Error::other("a record is too large"));
        }
        let least = if self.first == 0 && self.kept.is_empty() { FIRST_BYTES } else { 1 };
        let mut filled = 0;
        while filled < least.min(buffer.len()) {
            match self.input.read(buffer.get_mut(filled..).unwrap_or_default()) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.kept.extend_from_slice(buffer.get(..filled).unwrap_or_default());
        Ok(filled)
    }
}

/// Returns whether a record that begins with `bytes` has more than [`MAX_FIELDS`] fields.
fn has_too_many_fields(bytes: &[u8]) -> bool {
    let mut at = 0;
    // Each field takes a byte, so almost every record ends here.
    bytes.len() > MAX_FIELDS
        && (0..MAX_FIELDS).all(|_| {
            let quoted = bytes.get(at) == Some(&b'"');
            let content = if quoted { closing_quote(bytes, at + 1) } else { Some(at) };
            let comma = content.and_then(|from| Some(from + memchr(b',', bytes.get(from..)?)?));
            at = comma.map_or(at, |comma| comma + 1);
            comma.is_some()
        })
}
