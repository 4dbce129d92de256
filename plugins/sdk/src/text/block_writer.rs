//! Buffer for rows: a block of fixed size, so that a cell is a few copies of a fixed length
//! and one comparison, whatever the cell's own length. Full blocks, and long texts past them, go to
//! the output.

use super::number::{NumberBuffer, ROOM};
use crate::Output;

/// Bytes of a block. It stays in a usual L1 cache beside what is read.
const SIZE: usize = 16 * 1024;

/// Texts from this length on don't pass through the block.
const LONG: usize = 1024;

/// A block, kept between batches.
#[derive(Debug)]
pub(super) struct BlockBuffer(Box<[u8; SIZE]>);

impl Default for BlockBuffer {
    fn default() -> Self {
        Self(Box::new([0; SIZE]))
    }
}

/// Text under way. Only what is outlined sees more than one field: as long as no reference to the
/// whole leaves the loop over the rows, the fields stand in registers.
pub(super) struct BlockWriter<'a> {
    block: &'a mut [u8; SIZE],
    /// Bytes of the block that are text.
    at: usize,
    out: &'a mut Output,
}

impl<'a> BlockWriter<'a> {
    /// Text to append to `out`.
    pub(super) fn new(block: &'a mut BlockBuffer, out: &'a mut Output) -> Self {
        Self { block: &mut block.0, at: 0, out }
    }

    /// Appends what is left in the block.
    pub(super) fn finish(self) {
        self.out.extend_from_slice(&self.block[..self.at]);
    }

    /// Length of the output so far, bytes.
    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.out.len() + self.at
    }

    /// Allocates for this many more bytes at once.
    #[inline(always)]
    pub(super) fn reserve(&mut self, bytes: usize) {
        self.out.reserve(self.at + bytes);
    }

    /// Room for text. What is to stay of it is kept with [`BlockWriter::advance`].
    #[inline(always)]
    pub(super) fn spare<const N: usize>(&mut self) -> &mut [u8; N] {
        if self.at > SIZE - N {
            flush(self.out, self.block, self.at);
            self.at = 0;
        }
        match self.block[self.at..].first_chunk_mut() {
            Some(room) => room,
            None => unreachable!("there is room"),
        }
    }

    /// Makes the first bytes of the room text: no more than were asked for.
    #[inline(always)]
    pub(super) fn advance(&mut self, bytes: usize) {
        self.at += bytes;
    }

    /// Appends `buffer[start..start + length]`.
    #[inline(always)]
    pub(super) fn copy(&mut self, buffer: &[u8], start: usize, length: usize) {
        const SHORT: usize = 32;
        if length <= SHORT
            && let Some(text) = buffer[start..].first_chunk::<SHORT>()
        {
            self.spare::<SHORT>().copy_from_slice(text);
            self.advance(length);
        } else {
            self.append(&buffer[start..start + length]);
        }
    }

    /// Appends text of any length.
    #[inline(always)]
    pub(super) fn append(&mut self, text: &[u8]) {
        if text.len() < LONG {
            self.spare::<LONG>()[..text.len()].copy_from_slice(text);
            self.advance(text.len());
        } else {
            self.write(|out| out.extend_from_slice(text));
        }
    }

    /// Appends a range of a buffer that stays with the host.
    #[inline(always)]
    pub(super) fn pass(&mut self, buffer: u32, offset: usize, length: usize) {
        // What is in the block comes to stand before it.
        self.out.splice(self.out.len() + self.at, buffer, offset, length);
    }

    /// Appends what `write` does.
    #[inline(always)]
    pub(super) fn write(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        flush(self.out, self.block, self.at);
        self.at = 0;
        write(self.out);
    }
}

#[cold]
#[inline(never)]
fn flush(out: &mut Vec<u8>, block: &[u8; SIZE], at: usize) {
    out.extend_from_slice(&block[..at]);
}

/// Text that is written often, in blocks of 16 bytes.
#[derive(Debug)]
pub(super) struct RepeatedText {
    blocks: Vec<[u8; 16]>,
    last: [u8; 16],
    /// Of `last`: at most 15.
    length: usize,
}

impl RepeatedText {
    pub(super) fn new(parts: &[&[u8]]) -> Self {
        let text = parts.concat();
        let (blocks, rest) = text.as_chunks();
        let mut last = [0; 16];
        last[..rest.len()].copy_from_slice(rest);
        Self { blocks: blocks.to_vec(), last, length: rest.len() }
    }

    /// Appends itself.
    #[inline(always)]
    pub(super) fn write(&self, sheet: &mut BlockWriter<'_>) {
        self.start(sheet);
        sheet.spare::<16>().copy_from_slice(&self.last);
        sheet.advance(self.length & 15);
    }

    /// Appends itself and a number, of which `write` returns the length.
    #[inline(always)]
    pub(super) fn write_with_number(
        &self,
        sheet: &mut BlockWriter<'_>,
        write: impl FnOnce(&mut NumberBuffer) -> usize,
    ) {
        self.start(sheet);
        let room = sheet.spare::<{ 16 + ROOM }>();
        room[..16].copy_from_slice(&self.last);
        let length = self.length & 15;
        let Some(slot) = room[length..].first_chunk_mut() else { unreachable!("room for both") };
        let written = write(slot);
        sheet.advance(length + written);
    }

    /// All blocks but the last.
    #[inline(always)]
    fn start(&self, sheet: &mut BlockWriter<'_>) {
        for block in &self.blocks {
            sheet.spare::<16>().copy_from_slice(block);
            sheet.advance(16);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_any_length_comes_out_in_order_whatever_the_block_holds() {
        let source: Vec<u8> = (0..=255).cycle().take(2 * SIZE).collect();
        let (mut block, mut made, mut expected) =
            (BlockBuffer::default(), Output::from(b"before".to_vec()), b"before".to_vec());
        let mut sheet = BlockWriter::new(&mut block, &mut made);
        for round in 0..4000 {
            let start = round * 7 % 300;
            let length = match round % 50 {
                49 => round % (SIZE + 10),
                48 => LONG - 2 + round % 4,
                _ => round % 70,
            };
            let text = &source[start..start + length];
            expected.extend_from_slice(text);
            match round % 3 {
                0 => sheet.copy(&source, start, length),
                // The buffer ends with the text, so there is nothing to copy past its end.
                1 => sheet.copy(&source[..start + length], start, length),
                _ => {
                    RepeatedText::new(&[&text[..length / 2], &text[length / 2..]]).write(&mut sheet)
                }
            }
            assert_eq!(sheet.len(), expected.len());
        }
        RepeatedText::new(&[b"a number: "]).write_with_number(&mut sheet, |slot| {
            slot[0] = b'7';
            1
        });
        sheet.finish();
        expected.extend_from_slice(b"a number: 7");
        assert_eq!(*made, expected);
    }
}
