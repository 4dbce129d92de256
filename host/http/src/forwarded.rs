//! Lists that proxies add to: `X-Forwarded-*` and `Forwarded` (RFC 7239). Read from the right,
//! because what a proxy adds stands right of what the client wrote. Trusts nobody; who wrote an
//! entry is decided by `client` and `origin`.

use http::HeaderMap;
use http::header::HeaderName;

/// Entries of all lines of `name`, the last one first.
pub(super) fn entries<'h>(
    headers: &'h HeaderMap,
    name: &HeaderName,
) -> impl Iterator<Item = &'h [u8]> + use<'h> {
    let lines: Vec<_> = headers.get_all(name).iter().collect();
    lines
        .into_iter()
        .rev()
        .flat_map(|line| QuotedSplit { rest: Some(line.as_bytes()), separator: b',' })
}

/// A parameter of one element, `for="[2001:db8::1]:4711";proto=https`. None where it is missing, or
/// stands there twice: that is a forgery or a mistake.
pub(super) fn parameter<'e>(element: &'e [u8], name: &str) -> Option<&'e str> {
    let mut found = QuotedSplit { rest: Some(element), separator: b';' }.filter_map(|pair| {
        let (key, value) = std::str::from_utf8(pair).ok()?.split_once('=')?;
        key.trim().eq_ignore_ascii_case(name).then(|| value.trim())
    });
    let value = found.next()?;
    if found.next().is_some() {
        return None;
    }
    // No address, scheme or host needs a character that is escaped, so a value with one fails where
    // it is parsed.
    Some(value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(value))
}

/// Pieces between separators that stand outside of quoted strings, from the right. A quote that the
/// client left open cannot hide what stands right of it.
struct QuotedSplit<'a> {
    rest: Option<&'a [u8]>,
    separator: u8,
}

impl<'a> Iterator for QuotedSplit<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let rest = self.rest.take()?;
        let mut quoted = false;
        for (index, byte) in rest.iter().enumerate().rev() {
            let (before, _) = rest.split_at(index);
            if *byte == b'"' && !(quoted && is_escaped(before)) {
                quoted = !quoted;
            } else if *byte == self.separator && !quoted {
                self.rest = Some(before);
                return rest.get(index + 1..);
            }
        }
        Some(rest)
    }
}

/// Returns whether the character after `before` is escaped.
fn is_escaped(before: &[u8]) -> bool {
    before.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_cut_outside_of_quotes_from_the_right_rfc_7239_4() {
        let cut = |text: &'static str| {
            let pieces = QuotedSplit { rest: Some(text.as_bytes()), separator: b',' };
            pieces.map(|piece| String::from_utf8_lossy(piece).trim().to_owned()).collect::<Vec<_>>()
        };
        for (text, expected) in [
            ("a, b", &["b", "a"][..]),
            ("", &[""]),
            (",", &["", ""]),
            ("host=\"a,b\", c", &["c", "host=\"a,b\""]),
            // A client's open quote, and one that it escapes.
            ("for=\", for=192.0.2.1", &["for=192.0.2.1", "for=\""]),
            ("host=\"a\\\",b\", c", &["c", "host=\"a\\\",b\""]),
            ("host=\"a\\\\\",b", &["b", "host=\"a\\\\\""]),
        ] {
            assert_eq!(cut(text), expected, "{text}");
        }
    }

    #[test]
    fn a_parameter_counts_once_and_in_any_case_rfc_7239_4() {
        let of = |text: &'static str| parameter(text.as_bytes(), "proto");
        assert_eq!(of("for=192.0.2.1;Proto=https"), Some("https"));
        assert_eq!(of(" proto = \"https\" "), Some("https"));
        assert_eq!(
            of("host=\"x;proto=http\";proto=https"),
            Some("https"),
            "quoted text is no parameter"
        );
        for none in ["for=192.0.2.1", "proto", "proto=http;proto=https", ""] {
            assert_eq!(of(none), None, "{none}");
        }
    }
}
