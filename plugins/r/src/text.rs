//! Text literals of R.

use std::fmt::Write;

/// `text` between quotes, in ASCII alone: R reads a script in the encoding of the session. R has no
/// text with a zero in it, so that those are left out.
pub(crate) fn literal(text: &str) -> String {
    let mut literal = String::with_capacity(text.len() + 2);
    literal.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => {
                literal.push('\\');
                literal.push(character);
            }
            '\0' => {}
            ' '..='~' => literal.push(character),
            _ => {
                let _ = write!(literal, "\\U{{{:x}}}", u32::from(character));
            }
        }
    }
    literal.push('"');
    literal
}

/// `c("a", "b")`.
pub(crate) fn vector<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    let literals: Vec<String> = texts.map(literal).collect();
    if literals.is_empty() {
        "character(0)".to_owned()
    } else {
        format!("c({})", literals.join(", "))
    }
}
