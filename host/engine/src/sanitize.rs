//! Text of guests, made fit for a log, a terminal or a client: cut, on one line, and without
//! characters that move a cursor or reorder text. Sentences of the compiler count as guests', since
//! they quote a component's names.

/// Longest sentence taken from a guest, bytes.
const SENTENCE_BYTES: usize = 1024;

/// A sentence for people, cut; whatever is not to be shown is a blank.
pub fn sanitize_sentence(sentence: &str) -> String {
    sanitize(sentence, SENTENCE_BYTES)
}

/// Text of any origin on one line, at most `bytes` long; whatever is not to be shown is a blank.
#[must_use]
pub fn sanitize(text: &str, bytes: usize) -> String {
    let end = text.floor_char_boundary(bytes);
    text[..end].chars().map(|c| if is_hidden(c) { ' ' } else { c }).collect()
}

/// A line for the log, escaped, at most `bytes` long with its escapes.
pub fn escape_log_line(line: &str, bytes: usize) -> String {
    let mut out = String::new();
    for c in line.chars() {
        let escaped = c.escape_debug();
        if out.len() + escaped.clone().map(char::len_utf8).sum::<usize>() > bytes {
            break;
        }
        out.extend(escaped);
    }
    out
}

/// Control characters, line and paragraph separators, marks that reorder what stands around them
/// (Unicode Annex 9), and the byte order mark.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_is_one_line_that_reads_as_it_stands() {
        assert_eq!(sanitize_sentence("a\r\nb\u{1b}[2J\u{202e}c\u{2028}d"), "a  b [2J c d");
        assert_eq!(sanitize_sentence(&"é".repeat(2000)).len(), 1024);
        assert_eq!(
            sanitize_sentence(&format!("x{}", "é".repeat(2000))).len(),
            1023,
            "never within a character"
        );
    }

    #[test]
    fn a_line_of_the_log_is_bounded_with_its_escapes() {
        assert_eq!(escape_log_line("a\r\nb\u{1b}\"\u{202e}", 100), "a\\r\\nb\\u{1b}\\\"\\u{202e}");
        assert_eq!(escape_log_line(&"\u{1b}".repeat(5000), 4096).len(), 4096 / 6 * 6);
        assert_eq!(escape_log_line("abc", 2), "ab");
    }
}
