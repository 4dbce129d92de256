//! Views: what an encoder wants to see of its columns, in the words of the interface.

use std::ops::BitOr;

/// Choice of what crosses of a column. [`View::WHOLE`] is what an encoder gets that says nothing.
///
/// ```
/// use yearbook_sdk::View;
/// use yearbook_sdk::view::Crossing;
///
/// let plain = View { plain: true, ..View::WHOLE };
/// assert_eq!(plain.crossing, Crossing::Whole);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct View {
    /// Set where dictionary-encoded text should arrive plain.
    pub plain: bool,
    /// Buffers that cross.
    pub crossing: Crossing,
}

/// Buffers of a column that cross.
///
/// ```
/// use yearbook_sdk::View;
/// use yearbook_sdk::view::Crossing;
///
/// assert_eq!(View::LENGTHS.crossing, Crossing::Lengths);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Crossing {
    /// All of them.
    Whole,
    /// Validity and offsets of text or binary values; the values stay with the host where they are
    /// long enough and have the traits. Columns of other types cross whole.
    Offsets(HeldText),
    /// None: only their lengths are known.
    Lengths,
}

/// Values of variable length that may stay with the host.
///
/// ```
/// use yearbook_sdk::view::{Crossing, HeldText};
/// use yearbook_sdk::{Traits, View};
///
/// let text = HeldText { mean_bytes: 128, all: Traits::NO_QUOTE, each: Traits::NO_COMMA };
/// assert_eq!(View::held(text).crossing, Crossing::Offsets(text));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeldText {
    /// Shortest mean length for which they stay, bytes.
    pub mean_bytes: u32,
    /// Traits that all values of a batch must have; otherwise the column crosses whole.
    pub all: Traits,
    /// Traits that the encoder wants to know of each value:
    /// [`HeldColumn::has_each`](crate::column::HeldColumn::has_each).
    pub each: Traits,
}

impl View {
    /// Every buffer crosses.
    ///
    /// ```
    /// use yearbook_sdk::View;
    ///
    /// assert!(!View::WHOLE.plain, "dictionaries stay dictionaries");
    /// ```
    pub const WHOLE: Self = Self { plain: false, crossing: Crossing::Whole };

    /// No buffer crosses, whatever the type; text is plain.
    ///
    /// ```
    /// use yearbook_sdk::View;
    ///
    /// assert!(View::LENGTHS.plain);
    /// ```
    pub const LENGTHS: Self = Self { plain: true, crossing: Crossing::Lengths };

    /// Long text stays with the host.
    ///
    /// ```
    /// use yearbook_sdk::view::{Crossing, HeldText};
    /// use yearbook_sdk::{Traits, View};
    ///
    /// let text = HeldText { mean_bytes: 128, all: Traits::NO_QUOTE, each: Traits::NO_COMMA };
    /// assert_eq!(View::held(text).crossing, Crossing::Offsets(text));
    /// ```
    #[must_use]
    pub const fn held(text: HeldText) -> Self {
        Self { plain: false, crossing: Crossing::Offsets(text) }
    }
}

/// Classes of bytes that values are free of.
///
/// ```
/// use yearbook_sdk::Traits;
///
/// let csv = Traits::NO_COMMA | Traits::NO_QUOTE | Traits::NO_LINE_BREAK;
/// assert!(csv.hold_for(b"plain; text") && !csv.hold_for(b"a,b"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Traits(u16);

impl Traits {
    /// Nothing is asked.
    ///
    /// ```
    /// use yearbook_sdk::Traits;
    ///
    /// assert!(Traits::NONE.hold_for(b"\xff\0"));
    /// ```
    pub const NONE: Self = Self(0);
    /// No byte is above 0x7f.
    ///
    /// ```
    /// use yearbook_sdk::Traits;
    ///
    /// assert!(Traits::ASCII.hold_for(b"a"));
    /// assert!(!Traits::ASCII.hold_for("é".as_bytes()));
    /// ```
    pub const ASCII: Self = Self(1);
    /// No byte is below 0x20.
    ///
    /// ```
    /// use yearbook_sdk::Traits;
    ///
    /// assert!(Traits::NO_CONTROL.hold_for(b"a b"));
    /// assert!(!Traits::NO_CONTROL.hold_for(b"a\tb"));
    /// ```
    pub const NO_CONTROL: Self = Self(1 << 1);
    /// No line feed and no carriage return.
    ///
    /// ```
    /// use yearbook_sdk::Traits;
    ///
    /// assert!(Traits::NO_LINE_BREAK.hold_for(b"a\tb"));
    /// assert!(!Traits::NO_LINE_BREAK.hold_for(b"a\nb"));
    /// ```
    pub const NO_LINE_BREAK: Self = Self(1 << 2);
    /// No horizontal tab.
    ///
    /// ```
    /// use yearbook_sdk::Traits;
    ///
    /// assert!(Traits::NO_TAB.hold_for(b"a\nb"));
    /// assert!(!Traits::NO_TAB.hold_for(b"a\tb"));
    /// ```
    pub const NO_TAB: Self = Self(1 << 3);
    /// No `"`.
    ///
    /// ```
    /// use yearbook_sdk::Traits;
    ///
    /// assert!(Traits::NO_QUOTE.hold_for(b"it's"));
    /// assert!(!Traits::NO_QUOTE.hold_for(b"a \"b\""));
    /// ```
    pub const NO_QUOTE: Self = Self(1 << 4);
    /// No `'`.
    ///
    /// ```
    /// use yearbook_sdk::Traits;
    ///
    /// assert!(Traits::NO_APOSTROPHE.hold_for(b"a \"b\""));
    /// assert!(!Traits::NO_APOSTROPHE.hold_for(b"it's"));
    /// ```
    pub const NO_APOSTROPHE: Self = Self(1 << 5);
    /// No `\`.
    ///
    /// ```
    /// use yearbook_sdk::Traits;
    ///
    /// assert!(Traits::NO_BACKSLASH.hold_for(b"a/b"));
    /// assert!(!Traits::NO_BACKSLASH.hold_for(b"a\\b"));
    /// ```
    pub const NO_BACKSLASH: Self = Self(1 << 6);
    /// No `,`.
    ///
    /// ```
    /// use yearbook_sdk::Traits;
    ///
    /// assert!(Traits::NO_COMMA.hold_for(b"a;b"));
    /// assert!(!Traits::NO_COMMA.hold_for(b"a,b"));
    /// ```
    pub const NO_COMMA: Self = Self(1 << 7);
    /// No `;`.
    ///
    /// ```
    /// use yearbook_sdk::Traits;
    ///
    /// assert!(Traits::NO_SEMICOLON.hold_for(b"a,b"));
    /// assert!(!Traits::NO_SEMICOLON.hold_for(b"a;b"));
    /// ```
    pub const NO_SEMICOLON: Self = Self(1 << 8);
    /// No `|`.
    ///
    /// ```
    /// use yearbook_sdk::Traits;
    ///
    /// assert!(Traits::NO_VERTICAL_BAR.hold_for(b"a/b"));
    /// assert!(!Traits::NO_VERTICAL_BAR.hold_for(b"a|b"));
    /// ```
    pub const NO_VERTICAL_BAR: Self = Self(1 << 9);
    /// No `&`, `<` or `>`.
    ///
    /// ```
    /// use yearbook_sdk::Traits;
    ///
    /// assert!(Traits::NO_MARKUP.hold_for(b"a"));
    /// assert!(!Traits::NO_MARKUP.hold_for(b"<a>"));
    /// ```
    pub const NO_MARKUP: Self = Self(1 << 10);

    /// These and the others.
    ///
    /// ```
    /// use yearbook_sdk::Traits;
    ///
    /// assert_eq!(Traits::ASCII.and(Traits::NO_TAB), Traits::ASCII | Traits::NO_TAB);
    /// ```
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// A bit for each, in the order of the interface's `traits`.
    #[cfg(target_family = "wasm")]
    pub(crate) const fn bits(self) -> u16 {
        self.0
    }

    /// Returns whether all of `other` are among them.
    ///
    /// ```
    /// use yearbook_sdk::Traits;
    ///
    /// assert!((Traits::ASCII | Traits::NO_TAB).contains(Traits::ASCII));
    /// assert!(!Traits::ASCII.contains(Traits::NO_TAB));
    /// ```
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns whether `text` has all of them.
    ///
    /// ```
    /// use yearbook_sdk::Traits;
    ///
    /// assert!(Traits::ASCII.hold_for(b"Maori") && !Traits::ASCII.hold_for("Māori".as_bytes()));
    /// ```
    #[must_use]
    pub fn hold_for(self, text: &[u8]) -> bool {
        let breaks = |byte: u8| match byte {
            b'\n' | b'\r' => Self::NO_LINE_BREAK,
            b'\t' => Self::NO_TAB,
            b'"' => Self::NO_QUOTE,
            b'\'' => Self::NO_APOSTROPHE,
            b'\\' => Self::NO_BACKSLASH,
            b',' => Self::NO_COMMA,
            b';' => Self::NO_SEMICOLON,
            b'|' => Self::NO_VERTICAL_BAR,
            b'&' | b'<' | b'>' => Self::NO_MARKUP,
            128.. => Self::ASCII,
            _ => Self::NONE,
        };
        text.iter().all(|&byte| {
            let control = if byte < b' ' { Self::NO_CONTROL } else { Self::NONE };
            self.0 & (breaks(byte) | control).0 == 0
        })
    }
}

impl BitOr for Traits {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        self.and(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_byte_takes_a_trait_away() {
        let all = Traits::NO_COMMA | Traits::NO_LINE_BREAK;
        assert!(all.hold_for(b"a;b\t\"c"));
        assert!(!all.hold_for(b"a,b"));
        assert!(!all.hold_for(b"a\rb"));
        assert!(!Traits::NO_CONTROL.hold_for(b"\t"));
        assert!(!Traits::ASCII.hold_for("é".as_bytes()));
        assert!(all.contains(Traits::NO_COMMA) && !all.contains(Traits::ASCII));
        assert!(Traits::NONE.hold_for(b"\0\xff"));
    }
}
