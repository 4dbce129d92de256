//! Cells of a CSV table: numbers with few and with many digits, texts that need quotes, dates.

use std::io::{Result, Write};

use super::random::SplitMix64;

/// A text; quoted where RFC 4180 asks for it, and where it is empty, because an empty cell is null.
pub(super) fn text(out: &mut dyn Write, text: &str) -> Result<()> {
    if text.is_empty() || text.contains(['"', ',', '\n', '\r']) {
        write!(out, "\"{}\"", text.replace('"', "\"\""))
    } else {
        out.write_all(text.as_bytes())
    }
}

/// A float: mostly one decimal as statistics have it, one in five with every digit, a few very
/// large or very small, one in fifty null.
pub(super) fn number(out: &mut dyn Write, random: &mut SplitMix64, scale: f64) -> Result<()> {
    match random.next_below(200) {
        0..4 => Ok(()),
        4 => write!(out, "{:e}", random.next_fraction() * 1e-12),
        5 => write!(out, "{:e}", (random.next_fraction() - 0.5) * 1e19),
        6..50 => write!(out, "{}", (random.next_fraction() - 0.25) * scale),
        _ => write!(out, "{:.1}", random.next_fraction() * scale),
    }
}

/// A note: usually null, else something that tries quoting, line breaks or scripts beyond ASCII.
pub(super) fn note(out: &mut dyn Write, random: &mut SplitMix64) -> Result<()> {
    const NOTES: [&str; 8] = [
        "",
        "revised",
        "a \"quoted\" word",
        "one, two, three",
        "first line\nsecond line",
        "Te Ika-a-Māui",
        "température à 20 °C, 数値",
        "tab\tand backslash \\ and 😀",
    ];
    if random.next_below(4) == 0 { text(out, random.choose(&NOTES)) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn an_empty_text_is_not_null() {
        let written = |value| {
            let mut out = Vec::new();
            text(&mut out, value).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(written(""), "\"\"");
        assert_eq!(written("a\"b"), "\"a\"\"b\"");
        assert_eq!(written("plain"), "plain");
    }
}
