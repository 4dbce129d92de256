//! Text in UTF-16 or UTF-32, recognized by its first bytes. Knows no format.

/// Returns whether `first` begins text in UTF-16 or UTF-32 of either byte order: with its byte
/// order mark, or with an ASCII character, which has a NUL among its first two bytes there.
pub(crate) fn is_wide_text(first: &[u8]) -> bool {
    matches!(first, [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] | [0, ..] | [_, 0, ..])
}
