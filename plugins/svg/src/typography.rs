//! Widths of text without a font at hand: estimates that are rather too wide than too narrow, and
//! the cutting and wrapping that follow from them.

/// Width of a character in thousandths of the font's size.
fn character_width(character: char) -> u32 {
    match character {
        ' ' | '\u{a0}' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | 'i' | 'j' | 'l' | 'I' => 320,
        'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '/' | '-' | '"' | '\u{202f}' => 400,
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '—' | '…' => 950,
        '0'..='9' | 'a'..='z' => 620,
        'A'..='Z' => 730,
        '\u{300}'..='\u{36f}' | '\u{200b}'..='\u{200d}' | '\u{fe00}'..='\u{fe0f}' => 0,
        '\u{a1}'..='\u{52f}' | '\u{2010}'..='\u{2bff}' => 680,
        // Scripts that have no narrow letters, and pictures.
        _ => 1_050,
    }
}

/// Width of `text` at a font size, in pixels.
#[must_use]
pub fn text_width(text: &str, size: f64) -> f64 {
    f64::from(text.chars().map(character_width).fold(0, u32::saturating_add)) * size / 1_000.0
}

/// `text`, cut so that it fits with an ellipsis at its end.
#[must_use]
pub fn truncate(text: &str, size: f64, width: f64) -> String {
    if text_width(text, size) <= width {
        return text.to_owned();
    }
    let room = width - text_width("…", size);
    let mut used = 0.0;
    let fits = text.char_indices().find(|(_, character)| {
        used += f64::from(character_width(*character)) * size / 1_000.0;
        used > room
    });
    let end = fits.map_or(text.len(), |(at, _)| at);
    format!("{}…", text[..end].trim_end())
}

/// `text`, cut at its beginning so that it fits with an ellipsis there.
#[must_use]
pub fn truncate_start(text: &str, size: f64, width: f64) -> String {
    if text_width(text, size) <= width {
        return text.to_owned();
    }
    let backwards: String = text.chars().rev().collect();
    truncate(&backwards, size, width).chars().rev().collect()
}

/// `text` as lines that fit, broken between words; beyond `most` lines it is cut.
#[must_use]
pub fn wrap(text: &str, size: f64, width: f64, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    let mut words = text.split_whitespace().peekable();
    while let Some(word) = words.next() {
        let longer = if line.is_empty() { word.to_owned() } else { format!("{line} {word}") };
        if line.is_empty() || text_width(&longer, size) <= width {
            line = longer;
            continue;
        }
        if lines.len() + 1 == most {
            // The rest stands on the last line, which is cut.
            line =
                [longer].into_iter().chain(words.map(str::to_owned)).collect::<Vec<_>>().join(" ");
            break;
        }
        lines.push(truncate(&line, size, width));
        line = word.to_owned();
    }
    if !line.is_empty() && lines.len() < most {
        lines.push(truncate(&line, size, width));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_and_wrapped_to_its_width() {
        assert_eq!(truncate("short", 10.0, 100.0), "short");
        let cut = truncate("a text that is much too long for its place", 10.0, 100.0);
        assert!(cut.ends_with('…') && text_width(&cut, 10.0) <= 100.0, "{cut}");
        let text = "one two three four five six seven eight nine ten eleven twelve";
        let lines = wrap(text, 10.0, 100.0, 9);
        assert_eq!(lines.join(" "), text);
        assert!(lines.iter().all(|line| text_width(line, 10.0) <= 100.0), "{lines:?}");
        let two = wrap(text, 10.0, 100.0, 2);
        assert!(two.len() == 2 && two[1].ends_with('…'), "{two:?}");
        assert_eq!(wrap("", 10.0, 100.0, 2), Vec::<String>::new());
        let word = wrap(&"x".repeat(10_000), 10.0, 100.0, 2);
        assert!(word.len() == 1 && text_width(&word[0], 10.0) <= 100.0);
    }
}
