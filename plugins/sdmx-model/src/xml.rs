//! Text in XML 1.0.

/// Adds `text` to `out` as content and attributes of XML have it. XML 1.0 has no place for most
/// controls, and readers would make spaces of the others where they are not escaped.
///
/// ```
/// let mut out = String::new();
/// yearbook_sdmx_model::escape_xml("a < \t\u{1}", &mut out);
/// assert_eq!(out, "a &lt; &#9;\u{fffd}");
/// ```
pub fn escape_xml(text: &str, out: &mut String) {
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' => out.push_str("&#9;"),
            '\n' => out.push_str("&#10;"),
            '\r' => out.push_str("&#13;"),
            '\0'..' ' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            _ => out.push(character),
        }
    }
}
