//! Classes of bytes that text is free of, found by looking at every byte: loops without branches
//! over blocks, which the compiler turns into the machine's vector instructions.

use crate::guest::bindings::exports::yearbook::plugin::encoder::Traits;

/// Bytes that are looked at between two decisions to go on.
const BLOCK: usize = 256;
/// Most single bytes that all traits together name.
const SINGLES: usize = 12;

/// Bytes that text with some traits has none of.
#[derive(Debug)]
pub(super) struct ByteClasses {
    /// Single bytes; places that are not needed repeat the first.
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
        let first = classes.singles[0];
        classes.singles[classes.count..].fill(first);
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
        match self.count {
            0 => self.below == 0 && self.bits == 0 || !self.has_any::<0>(text),
            1..=4 => !self.has_any::<4>(text),
            _ => !self.has_any::<SINGLES>(text),
        }
    }

    /// Looks for the first `N` single bytes, and for the ranges.
    fn has_any<const N: usize>(&self, text: &[u8]) -> bool {
        let mut singles = [0; N];
        singles.copy_from_slice(&self.singles[..N]);
        let (below, bits) = (self.below, self.bits);
        let test = |byte: u8| {
            let single = singles.iter().fold(false, |found, &single| found | (byte == single));
            single | (byte < below) | (byte & bits != 0)
        };
        let any = |block: &[u8]| block.iter().fold(false, |found, &byte| found | test(byte));
        let (blocks, rest) = text.as_chunks::<BLOCK>();
        blocks.iter().any(|block| any(block)) || any(rest)
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
                for (length, at) in [(1, 0), (255, 254), (256, 255), (257, 256), (900, 700)] {
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
}
