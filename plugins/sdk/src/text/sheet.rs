//! Where rows are written: a vector with room behind what is written, so that a cell is a few copies of a
//! fixed length and one look at the room, whatever the cell's own length.

use super::number::{ROOM, Slot};

/// Bytes of room made at a time. Room costs a pass of zeros over memory that is written next anyway.
const STEP: usize = 2048;

/// Text whose last row is not finished.
#[derive(Debug)]
pub(super) struct Sheet {
    /// Text, then room.
    bytes: Vec<u8>,
    /// Where the room begins.
    at: usize,
}

impl Sheet {
    /// Goes on after what is there.
    pub(super) fn after(bytes: Vec<u8>) -> Self {
        Self { at: bytes.len(), bytes }
    }

    /// What was written.
    pub(super) fn into_bytes(mut self) -> Vec<u8> {
        self.bytes.truncate(self.at);
        self.bytes
    }

    /// How many bytes are written.
    pub(super) fn len(&self) -> usize {
        self.at
    }

    /// Allocates for this many more bytes at once.
    pub(super) fn reserve(&mut self, bytes: usize) {
        self.bytes.reserve((self.at + bytes).saturating_sub(self.bytes.len()));
    }

    /// The first bytes of the room. What is to stay there is kept with [`Sheet::keep`].
    #[inline(always)]
    pub(super) fn room<const N: usize>(&mut self) -> &mut [u8; N] {
        if self.bytes.len() - self.at < N {
            self.make_room(N);
        }
        match self.bytes[self.at..].first_chunk_mut() {
            Some(room) => room,
            None => unreachable!("there is room"),
        }
    }

    #[cold]
    #[inline(never)]
    fn make_room(&mut self, bytes: usize) {
        self.bytes.resize(self.at + bytes.max(STEP), 0);
    }

    /// Makes the first bytes of the room text. No more than were asked for with [`Sheet::room`].
    #[inline(always)]
    pub(super) fn keep(&mut self, bytes: usize) {
        self.at += bytes;
    }

    /// Appends `buffer[start..start + length]`.
    #[inline(always)]
    pub(super) fn copy(&mut self, buffer: &[u8], start: usize, length: usize) {
        const SHORT: usize = 32;
        if length <= SHORT
            && let Some(text) = buffer[start..].first_chunk::<SHORT>()
        {
            *self.room() = *text;
            self.keep(length);
        } else {
            self.append(&buffer[start..start + length]);
        }
    }

    /// Appends text of any length.
    #[inline(never)]
    pub(super) fn append(&mut self, text: &[u8]) {
        let end = self.at + text.len();
        if let Some(room) = self.bytes.get_mut(self.at..end) {
            room.copy_from_slice(text);
            self.at = end;
        } else {
            self.write(|out| out.extend_from_slice(text));
        }
    }

    /// Appends what `write` does.
    pub(super) fn write(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        self.bytes.truncate(self.at);
        write(&mut self.bytes);
        self.at = self.bytes.len();
    }
}

/// Text that is written often, in blocks of 16 bytes.
#[derive(Debug, Default)]
pub(super) struct Piece {
    blocks: Vec<[u8; 16]>,
    last: [u8; 16],
    /// Of `last`.
    length: usize,
}

impl Piece {
    pub(super) fn new(parts: &[&[u8]]) -> Self {
        let text = parts.concat();
        let full = text.len().saturating_sub(1) / 16;
        let (blocks, rest) = text.split_at(full * 16);
        let mut last = [0; 16];
        last[..rest.len()].copy_from_slice(rest);
        Self { blocks: blocks.as_chunks().0.to_vec(), last, length: rest.len() }
    }

    /// Appends itself.
    #[inline(always)]
    pub(super) fn put(&self, sheet: &mut Sheet) {
        self.start(sheet);
        *sheet.room() = self.last;
        sheet.keep(self.length);
    }

    /// Appends itself and a number, of which `write` returns the length.
    #[inline(always)]
    pub(super) fn put_before(&self, sheet: &mut Sheet, write: impl FnOnce(&mut Slot) -> usize) {
        self.start(sheet);
        let room = sheet.room::<{ 16 + ROOM }>();
        room[..16].copy_from_slice(&self.last);
        let length = self.length.min(16);
        let Some(slot) = room[length..].first_chunk_mut() else { unreachable!("room for both") };
        let written = write(slot);
        sheet.keep(length + written);
    }

    /// All blocks but the last.
    #[inline(always)]
    fn start(&self, sheet: &mut Sheet) {
        for block in &self.blocks {
            *sheet.room() = *block;
            sheet.keep(16);
        }
    }
}
