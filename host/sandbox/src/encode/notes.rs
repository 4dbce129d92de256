//! Notes that chunks leave for the footer: kept in the order of the parts, with each part's place
//! in the response. How many there may be, the instance that takes them knows.

use crate::guest::bindings::exports::yearbook::plugin::encoder as wire;

/// The notes of one response, and how long the response is so far.
pub(crate) struct Notes {
    /// Bytes of the response that have been made.
    written: u64,
    kept: Vec<(u64, Vec<u8>)>,
    bytes: usize,
}

impl Notes {
    /// For a new response.
    pub(crate) fn new() -> Self {
        Self { written: 0, kept: Vec::new(), bytes: 0 }
    }

    /// Notes of a response whose parts are all made: each with the place of its part.
    pub(crate) fn from_entries(kept: &[(u64, Vec<u8>)]) -> Self {
        Self {
            written: 0,
            bytes: kept.iter().map(|(_, note)| note.len()).sum(),
            kept: kept.to_vec(),
        }
    }

    /// Each note with the place of its part.
    pub(crate) fn entries(&self) -> &[(u64, Vec<u8>)] {
        &self.kept
    }

    /// Counts bytes of the response that are no part's own: its head, a separator.
    pub(crate) fn advance(&mut self, bytes: usize) {
        self.written += bytes as u64;
    }

    /// Takes the note of the next part, which has `bytes` bytes.
    pub(crate) fn take(&mut self, bytes: usize, note: Vec<u8>) {
        if !note.is_empty() {
            self.bytes = self.bytes.saturating_add(note.len());
            self.kept.push((self.written, note));
        }
        self.advance(bytes);
    }

    /// Bytes of all notes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Calls `with` with what crosses to the tail.
    pub(crate) fn borrow<T>(&self, with: impl FnOnce(&[wire::Noted<'_>]) -> T) -> T {
        let notes: Vec<wire::Noted<'_>> =
            self.kept.iter().map(|(offset, note)| wire::Noted { offset: *offset, note }).collect();
        with(&notes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_says_where_its_part_begins_in_the_response() {
        let mut notes = Notes::new();
        notes.advance(4);
        notes.take(10, b"a".to_vec());
        notes.advance(1);
        notes.take(20, Vec::new());
        notes.advance(1);
        notes.take(30, b"bb".to_vec());
        let seen = notes.borrow(|notes| {
            notes.iter().map(|noted| (noted.offset, noted.note.to_vec())).collect::<Vec<_>>()
        });
        assert_eq!(seen, [(4, b"a".to_vec()), (36, b"bb".to_vec())]);
    }
}
