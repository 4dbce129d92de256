//! Words of enums whose variants have one each: on the wire, in the database, in metrics.

/// Implements `ALL`, `as_str` and `parse` of an enum, given its variants in order with their words.
#[macro_export]
macro_rules! words {
    ($type:ident { $($variant:ident = $word:literal),+ $(,)? }) => {
        impl $type {
            /// All of them, in the order of documents.
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$variant),+];

            /// Returns its word.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word),+
                }
            }

            /// Returns the one with this word. `None` for any other text.
            #[must_use]
            pub fn parse(word: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|known| known.as_str() == word)
            }
        }
    };
}
