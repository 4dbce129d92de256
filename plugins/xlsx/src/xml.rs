//! Text in XML, as spreadsheets have it (ECMA-376 part 1, 22.9.2.19).

/// UTF-16 units that a cell may hold.
pub(crate) const MAX_CELL_UNITS: usize = 32_767;

/// Appends text as an element's content. Characters that XML cannot have are written `_xHHHH_`, and
/// what only looks like that is written so that it stays as it is.
pub(crate) fn escape(text: &str, out: &mut Vec<u8>) {
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| matches!(c, '\0'..='\x08' | '\x0b'..='\x1f' | '&' | '<' | '>' | '_' | '\u{fffe}' | '\u{ffff}'))
    {
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

/// True for text that begins as `_xHHHH_` does.
fn looks_escaped(text: &str) -> bool {
    match text.as_bytes() {
        [b'_', b'x', digits @ ..] => {
            digits.len() > 4 && digits[..4].iter().all(u8::is_ascii_hexdigit) && digits[4] == b'_'
        }
        _ => false,
    }
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
