//! The raw query string, taken apart as HTML forms and every client library write it: `&` between
//! pairs, `+` for a space, percent-encoded UTF-8. Checks nothing.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

/// Names and values in the order sent. A part without `=` has an empty value; an empty part is
/// dropped. Bytes that are not UTF-8 become U+FFFD, so that a wrong byte can be refused, or match
/// nothing, like any other wrong character.
#[must_use]
pub fn parse_pairs(raw: &str) -> Vec<(String, String)> {
    raw.split('&')
        .filter(|part| !part.is_empty())
        .map(|part| {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            (decode(name).into_owned(), decode(value).into_owned())
        })
        .collect()
}

/// The value of `name`; the last one where it is repeated (contract-2-repeated).
#[must_use]
pub fn last_value<'a>(pairs: &'a [(String, String)], name: &str) -> Option<&'a str> {
    pairs.iter().rev().find(|(candidate, _)| candidate == name).map(|(_, value)| value.as_str())
}

/// Names in the order sent, as [`parse_pairs`] has them. One without escapes is not copied.
pub fn parameter_names(raw: &str) -> impl Iterator<Item = Cow<'_, str>> {
    let parts = raw.split('&').filter(|part| !part.is_empty());
    parts.map(|part| decode(part.split_once('=').map_or(part, |(name, _)| name)))
}

fn decode(text: &str) -> Cow<'_, str> {
    if text.contains('+') {
        let spaced = text.replace('+', " ");
        return Cow::Owned(percent_decode_str(&spaced).decode_utf8_lossy().into_owned());
    }
    percent_decode_str(text).decode_utf8_lossy()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(raw: &str, expected: &[(&str, &str)]) {
        let expected: Vec<_> = expected
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        assert_eq!(parse_pairs(raw), expected, "{raw}");
        let names: Vec<_> = parameter_names(raw).collect();
        let expected: Vec<_> = expected.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, expected, "{raw}");
    }

    #[test]
    fn query_strings_decode_like_forms() {
        check("", &[]);
        check("&&", &[]);
        check("a=1&b=2", &[("a", "1"), ("b", "2")]);
        check("a&b=", &[("a", ""), ("b", "")]);
        check("a=b=c", &[("a", "b=c")]);
        check("limit=%2B5", &[("limit", "+5")]);
        check("limit=+1", &[("limit", " 1")]);
        check("dimensions=M%C4%81ori+food", &[("dimensions", "Māori food")]);
        check("dimensions=Māori", &[("dimensions", "Māori")]);
        check("d=a%26b%3D%2B", &[("d", "a&b=+")]);
        check("d=%", &[("d", "%")]);
        check("d=%4", &[("d", "%4")]);
        check("d=%zz", &[("d", "%zz")]);
        check("%73tart=x", &[("start", "x")]);
        check("a+b&a%2Cb=1", &[("a b", ""), ("a,b", "1")]);
    }

    #[test]
    fn bytes_that_are_not_utf_8_become_replacement_characters() {
        check("d=%FF%41", &[("d", "\u{FFFD}A")]);
        check("d=%C4", &[("d", "\u{FFFD}")]);
    }

    #[test]
    fn the_last_of_a_repeated_parameter_wins_contract_2() {
        let pairs = parse_pairs("limit=1&limit=2&x=3&limit=");
        assert_eq!(last_value(&pairs, "limit"), Some(""));
        assert_eq!(last_value(&pairs, "x"), Some("3"));
        assert_eq!(last_value(&pairs, "y"), None);
    }
}
