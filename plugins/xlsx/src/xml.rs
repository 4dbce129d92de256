//! Text in XML, as spreadsheets have it (ECMA-376 part 1, 22.9.2.19).

/// UTF-16 units that a cell may hold.
pub(crate) const MAX_CELL_UNITS: usize = 32_767;

/// Appends text as an element's content. Characters that XML cannot have are written `_xHHHH_`, and
/// what only looks like that is written so that it stays as it is.
pub(crate) fn escape(text: &str, out: &mut Vec<u8>) {
    let mut rest = text;
    let is_special = |c: char| matches!(c, '\r' | '&' | '<' | '>' | '_') || is_beyond_xml(c);
    while let Some(at) = rest.find(is_special) {
        let (plain, from) = rest.split_at(at);
        out.extend_from_slice(plain.as_bytes());
        let mut after = from.chars();
        match after.next() {
            Some('&') => out.extend_from_slice(b"&amp;"),
            Some('<') => out.extend_from_slice(b"&lt;"),
            Some('>') => out.extend_from_slice(b"&gt;"),
            // As it is, it would be read as a line feed.
            Some('\r') => out.extend_from_slice(b"&#13;"),
            Some('_') if looks_escaped(from) => out.extend_from_slice(b"_x005F_"),
            Some('_') | None => out.push(b'_'),
            Some(other) => out.extend_from_slice(format!("_x{:04X}_", u32::from(other)).as_bytes()),
        }
        rest = after.as_str();
    }
    out.extend_from_slice(rest.as_bytes());
}

/// True for a character that XML cannot have, which is written `_xHHHH_`.
fn is_beyond_xml(c: char) -> bool {
    matches!(c, '\0'..='\x08' | '\x0b' | '\x0c' | '\x0e'..='\x1f' | '\u{fffe}' | '\u{ffff}')
}

/// True for text that begins as `_xHHHH_` does once it is written: what is written of the character
/// behind the digits may begin with the last sign, too.
fn looks_escaped(text: &str) -> bool {
    let parts = text.strip_prefix("_x").and_then(|rest| rest.split_at_checked(4));
    parts.is_some_and(|(digits, rest)| {
        digits.bytes().all(|byte| byte.is_ascii_hexdigit())
            && rest.starts_with(|c: char| c == '_' || is_beyond_xml(c))
    })
}

/// As much of a text as a cell may hold, with an ellipsis at its end where that is not all; and
/// whether it is all.
pub(crate) fn truncate(text: &str) -> (&str, bool) {
    if text.len() <= MAX_CELL_UNITS {
        return (text, true);
    }
    let (mut units, mut last) = (0, 0);
    for (at, character) in text.char_indices() {
        units += character.len_utf16();
        // One unit is the ellipsis's.
        if units < MAX_CELL_UNITS {
            last = at + character.len_utf8();
        }
        if units > MAX_CELL_UNITS {
            return (&text[..last], false);
        }
    }
    (text, true)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn what_xml_cannot_have_is_escaped() {
        for (text, expected) in [
            ("a <b> & \"c\" 'd'", "a &lt;b&gt; &amp; \"c\" 'd'"),
            ("tab\t line\n return\r", "tab\t line\n return&#13;"),
            ("\0\x1f\u{ffff}\x7f", "_x0000__x001F__xFFFF_\x7f"),
            ("_x000D_ _x00G0_ _x000d_ a_b _x00", "_x005F_x000D_ _x00G0_ _x005F_x000d_ a_b _x00"),
            ("日本語 👩‍👩‍👧‍👦", "日本語 👩‍👩‍👧‍👦"),
        ] {
            let mut out = Vec::new();
            escape(text, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
    }

    /// Text as a reader has it that converts every `_xHHHH_` back.
    fn converted(text: &str) -> String {
        let (mut read, mut rest) = (String::new(), text);
        while let Some(at) = rest.find("_x") {
            let (before, from) = rest.split_at(at);
            read.push_str(before);
            let digits = from.get(2..6).filter(|_| from.get(6..7) == Some("_"));
            let code = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
            let length = match code.and_then(char::from_u32) {
                Some(character) => {
                    read.push(character);
                    7
                }
                None => {
                    read.push_str("_x");
                    2
                }
            };
            rest = &from[length..];
        }
        read + rest
    }

    #[test]
    fn what_looks_escaped_comes_back_whatever_follows_it() {
        for text in [
            "_x0041_",
            "_x0041\u{1}",
            "_x0041\u{fffe}",
            "_x0041\u{1f}_x0042_",
            "_x0041_x0042_x0043\u{0}",
            "_x_x0041\u{b}",
            "__x0041__",
            "_x00\u{1}41_",
            "_x0041",
            "_x004é_",
        ] {
            let mut out = Vec::new();
            escape(text, &mut out);
            let written = String::from_utf8(out).unwrap();
            assert_eq!(converted(&written), text, "{written}");
        }
    }

    #[test]
    fn a_cell_holds_32_767_utf_16_units() {
        for (text, units) in [
            ("a", MAX_CELL_UNITS),
            ("é", MAX_CELL_UNITS),
            ("日", MAX_CELL_UNITS),
            ("👩", MAX_CELL_UNITS / 2),
        ] {
            let longest = text.repeat(units);
            assert_eq!(truncate(&longest), (longest.as_str(), true));
            let longer = text.repeat(units + 1);
            let (cut, whole) = truncate(&longer);
            assert!(!whole);
            assert_eq!(
                cut.encode_utf16().count(),
                (MAX_CELL_UNITS - 1) / text.encode_utf16().count() * text.encode_utf16().count()
            );
        }
    }
}
