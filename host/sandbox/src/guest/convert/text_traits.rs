//! Classes of bytes that text is free of, found by looking at every byte, several looks at a block
//! while it lies in the nearest cache. Single bytes are looked for by memchr, which picks the
//! widest vectors of the machine; ranges are loops without branches, which become vector
//! instructions.

use memchr::{memchr, memchr2, memchr3};

use crate::guest::bindings::exports::yearbook::plugin::encoder::Traits;

/// Bytes that are looked at for every class before the next ones are: half of the nearest cache.
const BLOCK: usize = 16 << 10;
/// Most single bytes that all traits together name.
const SINGLES: usize = 12;

/// Bytes that text with some traits has none of.
#[derive(Debug)]
pub(super) struct ByteClasses {
    singles: [u8; SINGLES],
    count: usize,
    /// Bytes below this one.
    below: u8,
    /// Bytes with any of these bits.
    bits: u8,
}

impl ByteClasses {
    /// The bytes that text with all of `traits` has none of.
    pub(super) fn new(traits: Traits) -> Self {
        let named: [(Traits, &[u8]); 9] = [
            (Traits::NO_LINE_BREAK, b"\n\r"),
            (Traits::NO_TAB, b"\t"),
            (Traits::NO_QUOTE, b"\""),
            (Traits::NO_APOSTROPHE, b"'"),
            (Traits::NO_BACKSLASH, b"\\"),
            (Traits::NO_COMMA, b","),
            (Traits::NO_SEMICOLON, b";"),
            (Traits::NO_VERTICAL_BAR, b"|"),
            (Traits::NO_MARKUP, b"&<>"),
        ];
        let mut classes = Self { singles: [0; SINGLES], count: 0, below: 0, bits: 0 };
        let wanted = named.iter().filter(|(name, _)| traits.contains(*name));
        for (place, &byte) in
            classes.singles.iter_mut().zip(wanted.clone().flat_map(|(_, bytes)| *bytes))
        {
            *place = byte;
        }
        classes.count = wanted.map(|(_, bytes)| bytes.len()).sum();
        if traits.contains(Traits::NO_CONTROL) {
            classes.below = b' ';
        }
        if traits.contains(Traits::ASCII) {
            classes.bits = 0x80;
        }
        classes
    }

    /// Returns whether `text` has none of them.
    pub(super) fn is_free(&self, text: &[u8]) -> bool {
        !text.chunks(BLOCK).any(|block| self.has_single(block) || self.has_ranged(block))
    }

    fn has_single(&self, block: &[u8]) -> bool {
        self.singles[..self.count].chunks(3).any(|bytes| {
            let found = match *bytes {
                [one] => memchr(one, block),
                [one, two] => memchr2(one, two, block),
                [one, two, three] => memchr3(one, two, three, block),
                _ => None,
            };
            found.is_some()
        })
    }

    fn has_ranged(&self, block: &[u8]) -> bool {
        self.below > 0 && block.iter().fold(u8::MAX, |least, &byte| least.min(byte)) < self.below
            || self.bits > 0 && block.iter().fold(0, |all, &byte| all | byte) & self.bits > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_has_a_trait_unless_one_byte_of_it_says_otherwise() {
        let beyond_ascii: Vec<u8> = (0x80..=0xff).collect();
        let control: Vec<u8> = (0..0x20).collect();
        let classes: [(Traits, &[u8]); 11] = [
            (Traits::ASCII, &beyond_ascii),
            (Traits::NO_CONTROL, &control),
            (Traits::NO_LINE_BREAK, b"\n\r"),
            (Traits::NO_TAB, b"\t"),
            (Traits::NO_QUOTE, b"\""),
            (Traits::NO_APOSTROPHE, b"'"),
            (Traits::NO_BACKSLASH, b"\\"),
            (Traits::NO_COMMA, b","),
            (Traits::NO_SEMICOLON, b";"),
            (Traits::NO_VERTICAL_BAR, b"|"),
            (Traits::NO_MARKUP, b"&<>"),
        ];
        for (name, bytes) in classes {
            for byte in 0..=255 {
                let expected = !bytes.contains(&byte);
                for (length, at) in [(1, 0), (255, 254), (900, 700)] {
                    let mut text = vec![b'a'; length];
                    text[at] = byte;
                    assert_eq!(ByteClasses::new(name).is_free(&text), expected, "{name:?} {byte}");
                    assert!(ByteClasses::new(Traits::empty()).is_free(&text));
                    // All traits at once: any byte of any class is found.
                    let every = classes.iter().any(|(_, bytes)| bytes.contains(&byte));
                    assert_eq!(ByteClasses::new(Traits::all()).is_free(&text), !every, "{byte}");
                }
            }
            assert!(ByteClasses::new(name).is_free(b""));
        }
    }

    #[test]
    fn a_byte_is_found_on_either_side_of_a_blocks_border() {
        let classes = [
            (Traits::ASCII, 0x80),
            (Traits::NO_CONTROL, 0x1f),
            (Traits::NO_QUOTE, b'"'),
            (Traits::NO_LINE_BREAK, b'\r'),
            (Traits::NO_MARKUP, b'>'),
            (Traits::all(), b'|'),
        ];
        for (name, byte) in classes {
            let mut text = vec![b'a'; BLOCK + 1];
            assert!(ByteClasses::new(name).is_free(&text));
            for at in [0, BLOCK - 1, BLOCK] {
                text[at] = byte;
                assert!(!ByteClasses::new(name).is_free(&text), "{name:?} at {at}");
                text[at] = b'a';
            }
        }
    }
}
