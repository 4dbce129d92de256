//! What parts leave for the tail: kept in the order of the parts, with each part's place in the
//! response, and never more than a limit.

use crate::bindings::exports::yearbook::plugin::encoder as wire;
use crate::failure::Trap;

/// The notes of one response, and how long the response is so far.
pub(crate) struct Notes {
    /// Bytes of the response that have been made.
    written: u64,
    kept: Vec<(u64, Vec<u8>)>,
    bytes: usize,
    limit: usize,
}

impl Notes {
    /// For a new response whose notes may have `limit` bytes together.
    pub(crate) fn new(limit: usize) -> Self {
        Self { written: 0, kept: Vec::new(), bytes: 0, limit }
    }

    /// Counts bytes of the response that are no part's own: its head, a separator.
    pub(crate) fn skip(&mut self, bytes: usize) {
        self.written += bytes as u64;
    }

    /// Takes the note of the next part, which has `bytes` bytes.
    ///
    /// # Errors
    /// [`Trap::Notes`] when there are too many.
    pub(crate) fn take(&mut self, bytes: usize, note: Vec<u8>) -> Result<(), Trap> {
        if !note.is_empty() {
            self.bytes = self.bytes.saturating_add(note.len());
            if self.bytes > self.limit {
                return Err(Trap::Notes(self.limit));
            }
            self.kept.push((self.written, note));
        }
        self.skip(bytes);
        Ok(())
    }

    /// Bytes of all notes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Calls `with` with what crosses to the tail.
    pub(crate) fn borrow<T>(&self, with: impl FnOnce(&[wire::Noted<'_>]) -> T) -> T {
        let notes: Vec<wire::Noted<'_>> = self.kept.iter().map(|(offset, note)| wire::Noted { offset: *offset, note }).collect();
        with(&notes)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn a_note_says_where_its_part_begins_in_the_response() {
        let mut notes = Notes::new(100);
        notes.skip(4);
        notes.take(10, b"a".to_vec()).unwrap();
        notes.skip(1);
        notes.take(20, Vec::new()).unwrap();
        notes.skip(1);
        notes.take(30, b"bb".to_vec()).unwrap();
        let seen = notes.borrow(|notes| notes.iter().map(|noted| (noted.offset, noted.note.to_vec())).collect::<Vec<_>>());
        assert_eq!(seen, [(4, b"a".to_vec()), (36, b"bb".to_vec())]);
    }

    #[test]
    fn notes_beyond_their_limit_are_refused() {
        let mut notes = Notes::new(3);
        notes.take(1, vec![0; 3]).unwrap();
        assert_eq!(notes.take(1, vec![0; 1]), Err(Trap::Notes(3)));
    }
}
