//! Values as XML writes them inside an attribute.

use yearbook_sdk::text::{Dialect, any_byte};
use yearbook_sdmx_model::escape_xml;

/// XML 1.0, inside quotes.
#[derive(Debug)]
pub(crate) struct Xml;

impl Dialect for Xml {
    /// Attributes of null are left out.
    const NULL: &'static [u8] = b"";
    const NAN: &'static [u8] = b"NaN";
    const INFINITY: &'static [u8] = b"INF";
    const NEGATIVE_INFINITY: &'static [u8] = b"-INF";
    const QUOTE: &'static [u8] = b"";
    const EMPTY_TEXT: &'static [u8] = b"";
    const NESTED: bool = false;

    #[inline(always)]
    fn is_plain(&self, text: &[u8]) -> bool {
        // Two characters that XML does not have begin with 0xEF.
        !any_byte(text, |byte| {
            (byte < b' ')
                | (byte == b'&')
                | (byte == b'<')
                | (byte == b'>')
                | (byte == b'"')
                | (byte == 0xEF)
        })
    }

    fn escape(&self, text: &[u8], out: &mut Vec<u8>) {
        let mut escaped = String::with_capacity(text.len() + 8);
        escape_xml(&String::from_utf8_lossy(text), &mut escaped);
        out.extend_from_slice(escaped.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_kept_or_replaced_where_xml_has_no_such_character_xml_1_0() {
        for (text, written) in [
            ("a b", "a b"),
            ("", ""),
            ("<a href=\"b\">&c</a>", "&lt;a href=&quot;b&quot;&gt;&amp;c&lt;/a&gt;"),
            ("a\tb\r\nc", "a&#9;b&#13;&#10;c"),
            ("a\u{0}b\u{1f}\u{ffff}\u{fffe}", "a\u{fffd}b\u{fffd}\u{fffd}\u{fffd}"),
            ("ﬁ\u{ff21}Ō'", "ﬁ\u{ff21}Ō'"),
        ] {
            let mut out = Vec::new();
            Xml.text(text.as_bytes(), &mut out);
            assert_eq!(String::from_utf8_lossy(&out), written);
        }
    }
}
