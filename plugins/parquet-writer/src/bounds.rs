//! The least and the greatest value of a page or chunk, as statistics and page index spell them.

use std::cmp::Ordering;

use crate::column_type::PhysicalType;

/// Bytes of text in a bound at most.
const MAX_TEXT_BYTES: usize = 64;

/// Least and greatest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MinMax {
    pub(crate) min: MinMaxBound,
    pub(crate) max: MinMaxBound,
}

/// One of them, in the plain encoding without a length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MinMaxBound {
    pub(crate) bytes: Vec<u8>,
    /// True for a value of the page, false for one that is merely beyond all of them.
    pub(crate) exact: bool,
}

impl MinMax {
    /// Of numbers and booleans, by their bytes.
    pub(crate) fn exact(min: &[u8], max: &[u8]) -> Self {
        let bound = |bytes: &[u8]| MinMaxBound { bytes: bytes.to_vec(), exact: true };
        Self { min: bound(min), max: bound(max) }
    }

    /// Of text, which must be UTF-8: cut between characters where it is long.
    pub(crate) fn text(min: &[u8], max: &[u8]) -> Self {
        Self { min: lower_bound(min), max: upper_bound(max) }
    }

    /// Of both together.
    pub(crate) fn join(mut self, other: &Self, physical: PhysicalType) -> Self {
        if compare(&other.min.bytes, &self.min.bytes, physical).is_lt() {
            self.min = other.min.clone();
        }
        if compare(&other.max.bytes, &self.max.bytes, physical).is_gt() {
            self.max = other.max.clone();
        }
        self
    }
}

/// The order that the format defines for a type.
pub(crate) fn compare(left: &[u8], right: &[u8], physical: PhysicalType) -> Ordering {
    let number = |bytes: &[u8]| bytes.first_chunk().copied().unwrap_or_default();
    match physical {
        PhysicalType::Int64 => {
            i64::from_le_bytes(number(left)).cmp(&i64::from_le_bytes(number(right)))
        }
        // Bounds are never NaN.
        PhysicalType::Double => {
            f64::from_le_bytes(number(left)).total_cmp(&f64::from_le_bytes(number(right)))
        }
        PhysicalType::Boolean | PhysicalType::Text | PhysicalType::Binary => left.cmp(right),
    }
}

/// A text that is not greater, of at most [`MAX_TEXT_BYTES`] bytes.
fn lower_bound(text: &[u8]) -> MinMaxBound {
    let end = char_boundary(text);
    MinMaxBound { bytes: text[..end].to_vec(), exact: end == text.len() }
}

/// A text that is not less: of at most [`MAX_TEXT_BYTES`] bytes unless there is none such, whose
/// last character that has a successor of the same length is replaced by it.
fn upper_bound(text: &[u8]) -> MinMaxBound {
    let end = char_boundary(text);
    if end == text.len() {
        return MinMaxBound { bytes: text.to_vec(), exact: true };
    }
    let short = str::from_utf8(&text[..end]).unwrap_or_default();
    let next = short.char_indices().rev().find_map(|(start, last)| {
        let next = char::from_u32(u32::from(last) + 1)
            .filter(|next| next.len_utf8() == last.len_utf8())?;
        let mut bytes = short.as_bytes()[..start].to_vec();
        bytes.extend_from_slice(next.encode_utf8(&mut [0; 4]).as_bytes());
        Some(bytes)
    });
    match next {
        Some(bytes) => MinMaxBound { bytes, exact: false },
        None => MinMaxBound { bytes: text.to_vec(), exact: true },
    }
}

/// Place to cut: after at most [`MAX_TEXT_BYTES`] bytes, before a character.
fn char_boundary(text: &[u8]) -> usize {
    if text.len() <= MAX_TEXT_BYTES {
        return text.len();
    }
    let continues = |at: &usize| text[*at] & 0xc0 == 0x80;
    (0..=MAX_TEXT_BYTES).rev().find(|at| !continues(at)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_cut_between_characters_and_still_bounds() {
        let long = |end: &str| format!("{}{end}", "a".repeat(63));
        for (text, min, max) in [
            ("short".to_owned(), "short".to_owned(), "short".to_owned()),
            (String::new(), String::new(), String::new()),
            ("x".repeat(64), "x".repeat(64), "x".repeat(64)),
            ("x".repeat(65), "x".repeat(64), format!("{}y", "x".repeat(63))),
            // Two bytes that do not fit any more.
            (long("éb"), long(""), format!("{}b", "a".repeat(62))),
            // The character before the surrogates and the greatest of one byte have no successor of
            // their length.
            (
                format!("{}\u{d7ff}z", "a".repeat(61)),
                format!("{}\u{d7ff}", "a".repeat(61)),
                format!("{}b", "a".repeat(60)),
            ),
            (long("\u{7f}b"), long("\u{7f}"), format!("{}b", "a".repeat(62))),
        ] {
            let bounds = MinMax::text(text.as_bytes(), text.as_bytes());
            assert_eq!(bounds.min.bytes, min.as_bytes());
            assert_eq!(bounds.max.bytes, max.as_bytes());
            assert_eq!((bounds.min.exact, bounds.max.exact), (min == text, max == text));
            assert!(
                bounds.min.bytes.as_slice() <= text.as_bytes()
                    && text.as_bytes() <= bounds.max.bytes.as_slice()
            );
        }
    }

    #[test]
    fn a_text_that_nothing_short_is_above_stands_whole() {
        let text = "\u{10ffff}".repeat(20);
        let bounds = MinMax::text(text.as_bytes(), text.as_bytes());
        assert_eq!(bounds.max, MinMaxBound { bytes: text.clone().into_bytes(), exact: true });
        assert_eq!(bounds.min, MinMaxBound { bytes: text.as_bytes()[..64].to_vec(), exact: false });
    }

    #[test]
    fn joined_bounds_hold_both_in_the_order_of_their_type() {
        let exact = |value: i64| MinMax::exact(&value.to_le_bytes(), &value.to_le_bytes());
        let joined =
            exact(-1).join(&exact(256), PhysicalType::Int64).join(&exact(3), PhysicalType::Int64);
        assert_eq!(joined, MinMax::exact(&(-1_i64).to_le_bytes(), &256_i64.to_le_bytes()));
        let exact = |value: f64| MinMax::exact(&value.to_le_bytes(), &value.to_le_bytes());
        let joined = exact(-0.5).join(&exact(-2.0), PhysicalType::Double);
        assert_eq!(joined, MinMax::exact(&(-2.0_f64).to_le_bytes(), &(-0.5_f64).to_le_bytes()));
    }
}
