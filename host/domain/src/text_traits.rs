//! Traits of text: classes of bytes that it has none of, as the plugin interface names them
//! (`wit/`, `traits`). They are found by looking at every byte, several looks at a block while it
//! lies in the nearest cache. Single bytes are looked for by memchr, which picks the widest vectors
//! of the machine; ranges are loops without branches, which become vector instructions.

use bitflags::bitflags;
use memchr::{memchr, memchr2, memchr3};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Bytes that are looked at for every class before the next ones are: half of the nearest cache.
const BLOCK: usize = 16 << 10;
/// Most single bytes that all traits together name.
const SINGLES: usize = 12;

bitflags! {
    /// Set of traits. The number of each is stored in catalogues: none may change.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct TextTraits: u16 {
        /// No byte is above 0x7f.
        const ASCII = 1;
        /// No byte is below 0x20.
        const NO_CONTROL = 1 << 1;
        /// No line feed and no carriage return.
        const NO_LINE_BREAK = 1 << 2;
        /// No horizontal tab.
        const NO_TAB = 1 << 3;
        /// No `"`.
        const NO_QUOTE = 1 << 4;
        /// No `'`.
        const NO_APOSTROPHE = 1 << 5;
        /// No `\`.
        const NO_BACKSLASH = 1 << 6;
        /// No `,`.
        const NO_COMMA = 1 << 7;
        /// No `;`.
        const NO_SEMICOLON = 1 << 8;
        /// No `|`.
        const NO_VERTICAL_BAR = 1 << 9;
        /// No `&`, `<` or `>`.
        const NO_MARKUP = 1 << 10;
    }
}

impl TextTraits {
    /// Key of the field metadata that hands traits of a column from the one that reads it to the
    /// one that encodes it. It never leaves the host.
    pub const FIELD_KEY: &str = "yearbook.host.text_traits";

    /// Returns whether `text` has all of them.
    #[must_use]
    pub fn hold_for(self, text: &[u8]) -> bool {
        self.is_empty() || AbsentBytes::new(self).hold_for(text)
    }

    /// Returns those that `text` has.
    #[must_use]
    pub fn held_by(self, text: &[u8]) -> Self {
        self.iter().filter(|one| one.hold_for(text)).collect()
    }

    /// Returns the value of [`TextTraits::FIELD_KEY`] for a column whose values have all of them.
    #[must_use]
    pub fn to_field_value(self) -> String {
        self.bits().to_string()
    }

    /// Reads such a value; no traits for anything else.
    #[must_use]
    pub fn from_field_value(value: &str) -> Self {
        value.parse().map(Self::from_bits_truncate).unwrap_or_default()
    }
}

impl Serialize for TextTraits {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.bits().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for TextTraits {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        u16::deserialize(deserializer).map(Self::from_bits_truncate)
    }
}

/// Bytes that text with some traits has none of.
#[derive(Debug)]
pub struct AbsentBytes {
    singles: [u8; SINGLES],
    count: usize,
    /// Bytes below this one.
    below: u8,
    /// Bytes with any of these bits.
    bits: u8,
}

impl AbsentBytes {
    /// The bytes that text with all of `traits` has none of.
    #[must_use]
    pub fn new(traits: TextTraits) -> Self {
        let named: [(TextTraits, &[u8]); 9] = [
            (TextTraits::NO_LINE_BREAK, b"\n\r"),
            (TextTraits::NO_TAB, b"\t"),
            (TextTraits::NO_QUOTE, b"\""),
            (TextTraits::NO_APOSTROPHE, b"'"),
            (TextTraits::NO_BACKSLASH, b"\\"),
            (TextTraits::NO_COMMA, b","),
            (TextTraits::NO_SEMICOLON, b";"),
            (TextTraits::NO_VERTICAL_BAR, b"|"),
            (TextTraits::NO_MARKUP, b"&<>"),
        ];
        let mut classes = Self { singles: [0; SINGLES], count: 0, below: 0, bits: 0 };
        let wanted = named.iter().filter(|(name, _)| traits.contains(*name));
        for (place, &byte) in
            classes.singles.iter_mut().zip(wanted.clone().flat_map(|(_, bytes)| *bytes))
        {
            *place = byte;
        }
        classes.count = wanted.map(|(_, bytes)| bytes.len()).sum();
        if traits.contains(TextTraits::NO_CONTROL) {
            classes.below = b' ';
        }
        if traits.contains(TextTraits::ASCII) {
            classes.bits = 0x80;
        }
        classes
    }

    /// Returns whether `text` has none of them.
    #[must_use]
    pub fn hold_for(&self, text: &[u8]) -> bool {
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
        let classes: [(TextTraits, &[u8]); 11] = [
            (TextTraits::ASCII, &beyond_ascii),
            (TextTraits::NO_CONTROL, &control),
            (TextTraits::NO_LINE_BREAK, b"\n\r"),
            (TextTraits::NO_TAB, b"\t"),
            (TextTraits::NO_QUOTE, b"\""),
            (TextTraits::NO_APOSTROPHE, b"'"),
            (TextTraits::NO_BACKSLASH, b"\\"),
            (TextTraits::NO_COMMA, b","),
            (TextTraits::NO_SEMICOLON, b";"),
            (TextTraits::NO_VERTICAL_BAR, b"|"),
            (TextTraits::NO_MARKUP, b"&<>"),
        ];
        for (name, bytes) in classes {
            for byte in 0..=255 {
                let expected = !bytes.contains(&byte);
                for (length, at) in [(1, 0), (255, 254), (900, 700)] {
                    let mut text = vec![b'a'; length];
                    text[at] = byte;
                    assert_eq!(AbsentBytes::new(name).hold_for(&text), expected, "{name:?} {byte}");
                    assert!(AbsentBytes::new(TextTraits::empty()).hold_for(&text));
                    // All traits at once: any byte of any class is found.
                    let every = classes.iter().any(|(_, bytes)| bytes.contains(&byte));
                    assert_eq!(
                        AbsentBytes::new(TextTraits::all()).hold_for(&text),
                        !every,
                        "{byte}"
                    );
                }
            }
            assert!(AbsentBytes::new(name).hold_for(b""));
        }
    }

    #[test]
    fn a_byte_is_found_on_either_side_of_a_blocks_border() {
        let classes = [
            (TextTraits::ASCII, 0x80),
            (TextTraits::NO_CONTROL, 0x1f),
            (TextTraits::NO_QUOTE, b'"'),
            (TextTraits::NO_LINE_BREAK, b'\r'),
            (TextTraits::NO_MARKUP, b'>'),
            (TextTraits::all(), b'|'),
        ];
        for (name, byte) in classes {
            let mut text = vec![b'a'; BLOCK + 1];
            assert!(AbsentBytes::new(name).hold_for(&text));
            for at in [0, BLOCK - 1, BLOCK] {
                text[at] = byte;
                assert!(!AbsentBytes::new(name).hold_for(&text), "{name:?} at {at}");
                text[at] = b'a';
            }
        }
    }
}
