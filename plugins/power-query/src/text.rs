//! Text literals of M.

use std::fmt::Write;

/// `text` between quotes. A quote is doubled, and whatever could end a line or begin an escape is
/// one: `#(lf)`, `#(#)(`.
pub(crate) fn literal(text: &str) -> String {
    let mut literal = String::with_capacity(text.len() + 2);
    literal.push('"');
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            '"' => literal.push_str("\"\""),
            '#' if rest.peek() == Some(&'(') => literal.push_str("#(#)"),
            '\n' => literal.push_str("#(lf)"),
            '\r' => literal.push_str("#(cr)"),
            '\t' => literal.push_str("#(tab)"),
            _ if character.is_control() || matches!(character, '\u{2028}' | '\u{2029}') => {
                let _ = write!(literal, "#({:04X})", u32::from(character));
            }
            _ => literal.push(character),
        }
    }
    literal.push('"');
    literal
}
