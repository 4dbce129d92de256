//! CSV's fields: RFC 4180, section 2, rules 5 to 7; numbers that are not finite as in Table Schema.

use super::{Dialect, HELD_BYTES, any_byte, first_byte};
use crate::Traits;
use crate::view::HeldText;

/// CSV's spelling of values.
///
/// ```
/// use yearbook_sdk::text::Dialect;
/// use yearbook_sdk::text::csv::Csv;
///
/// let mut out = Vec::new();
/// Csv { delimiter: b';' }.text(b"a;b", &mut out);
/// assert_eq!(out, b"\"a;b\"");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Csv {
    /// Stands between fields.
    pub delimiter: u8,
}

impl Dialect for Csv {
    const NULL: &'static [u8] = b"";
    const NAN: &'static [u8] = b"NaN";
    const INFINITY: &'static [u8] = b"INF";
    const NEGATIVE_INFINITY: &'static [u8] = b"-INF";
    const QUOTE: &'static [u8] = b"";
    const EMPTY_TEXT: &'static [u8] = b"\"\"";
    const NESTED: bool = false;

    #[inline(always)]
    fn is_plain(&self, text: &[u8]) -> bool {
        let delimiter = self.delimiter;
        !any_byte(text, |byte| {
            (byte == delimiter) | (byte == b'"') | (byte == b'\n') | (byte == b'\r')
        })
    }

    fn held_text(&self) -> HeldText {
        let delimiter = match self.delimiter {
            b',' => Traits::NO_COMMA,
            b';' => Traits::NO_SEMICOLON,
            b'|' => Traits::NO_VERTICAL_BAR,
            b'\t' => Traits::NO_TAB,
            // No trait says anything of it, so no value is plain.
            _ => return HeldText { mean_bytes: u32::MAX, all: Traits::NONE, each: Traits::NONE },
        };
        HeldText {
            mean_bytes: HELD_BYTES,
            all: Traits::NO_QUOTE,
            each: delimiter | Traits::NO_LINE_BREAK,
        }
    }

    fn escape(&self, text: &[u8], out: &mut Vec<u8>) {
        out.push(b'"');
        let mut rest = text;
        while let Some(position) = first_byte(rest, |byte| byte == b'"') {
            let (plain, from) = rest.split_at(position + 1);
            out.extend_from_slice(plain);
            out.push(b'"');
            rest = from;
        }
        out.extend_from_slice(rest);
        out.push(b'"');
    }
}
