//! Text of rows under way: cells are appended to the output in steps of fixed length, and what
//! stays with the host is passed on between them.

use super::number::{NumberBuffer, ROOM};
use crate::output::push_splice;
use crate::raw::{Appender, STEP};
use crate::{Output, wire};

/// Output that rows are appended to.
pub(super) struct TextWriter<'a> {
    text: Appender<'a>,
    splices: &'a mut Vec<wire::RawSplice>,
}

impl<'a> TextWriter<'a> {
    /// Appends to `out`, which has it all after [`TextWriter::finish`].
    pub(super) fn new(out: &'a mut Output) -> Self {
        let (bytes, splices) = out.parts_mut();
        Self { text: Appender::new(bytes), splices }
    }

    pub(super) fn finish(self) {
        self.text.finish();
    }

    /// Length of the output so far, bytes.
    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// Appends a block.
    #[inline(always)]
    pub(super) fn push_block<const N: usize>(&mut self, block: &[u8; N]) {
        self.text.push_block(block);
    }

    /// Appends fewer bytes of a block than it has.
    #[inline(always)]
    pub(super) fn push_start<const N: usize>(&mut self, block: &[u8; N], length: usize) {
        self.text.push_start(block, length);
    }

    /// Appends `buffer[start..start + length]`.
    #[inline(always)]
    pub(super) fn copy(&mut self, buffer: &[u8], start: usize, length: usize) {
        const SHORT: usize = 32;
        if length < SHORT
            && let Some(text) = buffer[start..].first_chunk::<SHORT>()
        {
            self.push_start(text, length);
        } else {
            self.append(&buffer[start..start + length]);
        }
    }

    /// Appends text of any length.
    #[inline(always)]
    pub(super) fn append(&mut self, text: &[u8]) {
        self.text.extend(text);
    }

    /// Appends a range of a buffer that stays with the host.
    #[inline(always)]
    pub(super) fn pass(&mut self, buffer: u32, offset: usize, length: usize) {
        push_splice(self.splices, self.text.len(), buffer, offset, length);
    }

    /// Appends what `write` does. It may also make room.
    #[inline(always)]
    pub(super) fn write(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        self.text.with_vec(write);
    }
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
    pub(super) fn write(&self, sheet: &mut TextWriter<'_>) {
        self.start(sheet);
        sheet.push_start(&self.last, self.length);
    }

    /// Appends itself and a number, of which `write` returns the length.
    #[inline(always)]
    pub(super) fn write_with_number(
        &self,
        sheet: &mut TextWriter<'_>,
        write: impl FnOnce(&mut NumberBuffer) -> usize,
    ) {
        self.start(sheet);
        const { assert!(16 + ROOM < STEP) };
        sheet.text.push_with(|room| {
            room[..16].copy_from_slice(&self.last);
            let length = self.length & 15;
            let Some(slot) = room[length..].first_chunk_mut() else {
                unreachable!("room for both")
            };
            length + write(slot)
        });
    }

    /// All blocks but the last.
    #[inline(always)]
    fn start(&self, sheet: &mut TextWriter<'_>) {
        for block in &self.blocks {
            sheet.push_block(block);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_any_length_comes_out_in_order() {
        let source: Vec<u8> = (0..=255).cycle().take(32 * 1024).collect();
        let (mut made, mut expected) = (Output::from(b"before".to_vec()), b"before".to_vec());
        let mut sheet = TextWriter::new(&mut made);
        for round in 0..4000 {
            let start = round * 7 % 300;
            let length = match round % 50 {
                49 => round * 4 % 17_000,
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
