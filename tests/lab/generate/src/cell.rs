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

/// Year, month and day of the `days`th day after 2000-01-01 in the Gregorian calendar (Hinnant's
/// algorithm over 400-year eras).
pub(super) fn date(days: u64) -> (u64, u64, u64) {
    // Days since 0000-03-01; 730,425 of them precede 2000-01-01.
    let days = days + 730_425;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn days_follow_the_gregorian_calendar() {
        for (days, expected) in [
            (0, (2000, 1, 1)),
            (59, (2000, 2, 29)),
            (60, (2000, 3, 1)),
            (366, (2001, 1, 1)),
            (9_821, (2026, 11, 21)),
        ] {
            assert_eq!(date(days), expected);
        }
    }

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
