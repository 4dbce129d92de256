//! Ids of values.

use std::borrow::Cow;

/// Makes text an id, which [`decode`] turns back: SDMX takes `[A-Za-z0-9_@$-]+`. Every other byte
/// of UTF-8, and `$`, becomes `$` and two upper-case hexadecimal digits; the empty text is `$`.
///
/// ```
/// use yearbook_sdmx_model::encode;
///
/// assert_eq!(encode("AKL_1"), "AKL_1");
/// assert_eq!(encode("New Zealand"), "New$20Zealand");
/// assert_eq!(encode(""), "$");
/// ```
#[must_use]
pub fn encode(value: &str) -> Cow<'_, str> {
    if value.is_empty() {
        return Cow::Borrowed("$");
    }
    if value.bytes().all(stands) {
        return Cow::Borrowed(value);
    }
    let mut id = String::with_capacity(value.len() + 8);
    for byte in value.bytes() {
        if stands(byte) {
            id.push(char::from(byte));
        } else {
            id.push('$');
            id.extend([byte >> 4, byte & 15].map(digit));
        }
    }
    Cow::Owned(id)
}

/// The text of which [`encode`] made this id; `None` for an id that it makes of none.
///
/// ```
/// use yearbook_sdmx_model::decode;
///
/// assert_eq!(decode("New$20Zealand").as_deref(), Some("New Zealand"));
/// assert_eq!(decode("$").as_deref(), Some(""));
/// assert_eq!(decode("$41"), None, "a letter stands for itself");
/// ```
#[must_use]
pub fn decode(id: &str) -> Option<Cow<'_, str>> {
    if id == "$" {
        return Some(Cow::Borrowed(""));
    }
    if !id.is_empty() && id.bytes().all(stands) {
        return Some(Cow::Borrowed(id));
    }
    let mut bytes = Vec::with_capacity(id.len());
    let mut rest = id.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let (byte, tail) = if *first == b'$' {
            let (digits, tail) = tail.split_first_chunk::<2>()?;
            (value(digits[0])? << 4 | value(digits[1])?, tail)
        } else {
            (*first, tail)
        };
        bytes.push(byte);
        rest = tail;
    }
    let text = String::from_utf8(bytes).ok()?;
    (encode(&text) == id).then_some(Cow::Owned(text))
}

/// Returns whether a byte stands for itself.
fn stands(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'@' | b'-')
}

fn digit(number: u8) -> char {
    char::from(if number < 10 { b'0' + number } else { b'A' + number - 10 })
}

fn value(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn values_have_ids_by_one_rule_contract_19() {
        for (text, id) in [
            ("", "$"),
            ("A-b_1@x", "A-b_1@x"),
            ("$", "$24"),
            ("1.5", "1$2E5"),
            ("-5", "-5"),
            ("Ōtaki", "$C5$8Ctaki"),
            ("a.b+c", "a$2Eb$2Bc"),
        ] {
            assert_eq!(encode(text), id);
            assert_eq!(decode(id).as_deref(), Some(text));
        }
    }

    #[test]
    fn what_the_rule_makes_of_no_text_is_no_id_contract_19() {
        for id in ["$$", "$2", "$2e", "$41", "a b", "é", "$FF", "a$", "$2G"] {
            assert_eq!(decode(id), None, "{id}");
        }
        assert_eq!(decode(""), None, "an empty part of a key is a wildcard");
    }

    proptest! {
        #[test]
        fn every_text_has_an_id_of_its_own_contract_19(text in any::<String>()) {
            let id = encode(&text).into_owned();
            let is_id = |byte: u8| stands(byte) || byte == b'$';
            prop_assert!(!id.is_empty() && id.bytes().all(is_id));
            let back = decode(&id);
            prop_assert_eq!(back.as_deref(), Some(&*text));
        }
    }
}
