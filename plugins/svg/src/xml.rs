//! Text that is safe in XML 1.0, whatever a publisher wrote. Never touches layout.

/// Appends `text` with the characters that XML reserves escaped, and with those that it cannot hold
/// or that would reorder what stands beside them left out.
pub fn push_text(text: &str, out: &mut String) {
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.extend(displayable(other)),
        }
    }
}

/// Text on one line: white space as single spaces, without characters that cannot be shown.
#[must_use]
pub fn one_line(text: &str) -> String {
    let shown: String = text.chars().filter_map(displayable).collect();
    shown.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The character as it is shown; `None` for one that is not.
fn displayable(character: char) -> Option<char> {
    match character {
        '\t' | '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}' => Some(' '),
        character if character.is_control() => None,
        // Marks of direction reach beyond the text that they stand in.
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => None,
        '\u{61c}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => None,
        other => Some(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_xml_reserves_is_escaped_and_what_it_forbids_is_left_out() {
        for (text, expected) in [
            ("a<b>&\"c\"'", "a&lt;b&gt;&amp;&quot;c&quot;&#39;"),
            ("</text><script>", "&lt;/text&gt;&lt;script&gt;"),
            ("a\u{0}\u{8}b\u{202e}c\u{fffe}", "abc"),
            ("a\nb", "a b"),
            ("Māori 日本 🦉", "Māori 日本 🦉"),
        ] {
            let mut out = String::new();
            push_text(text, &mut out);
            assert_eq!(out, expected);
        }
    }

    #[test]
    fn lines_and_runs_of_spaces_become_single_spaces() {
        assert_eq!(one_line("  a \t b\u{2028}c\r\n"), "a b c");
    }
}
