//! Names of series: the values of a key joined by commas, in quotes where only these tell one from
//! another.

use super::series_book::SeriesKey;
use crate::xml::one_line;

/// Stands for a null.
const NONE: &str = "(none)";

/// Name of a series: the values of its key joined by `, `, then its value column where that tells
/// it from others.
pub(super) fn joined(key: &SeriesKey, column: Option<&str>) -> String {
    parts(key, column).map(|part| one_line(part.unwrap_or(NONE))).collect::<Vec<_>>().join(", ")
}

/// Name of a series that no other one has: values that could be read as others are in quotes.
pub(super) fn unambiguous(key: &SeriesKey, column: Option<&str>) -> String {
    let plain = |text: &str| {
        !text.is_empty() && text != NONE && !text.contains([',', '"']) && one_line(text) == text
    };
    let part = |part: Option<&str>| match part {
        Some(text) if !plain(text) => quoted(text),
        part => part.unwrap_or(NONE).to_owned(),
    };
    parts(key, column).map(part).collect::<Vec<_>>().join(", ")
}

/// Returns whether a series has this name, each of its values as it is or in quotes.
pub(super) fn is_named(name: &str, key: &SeriesKey, column: Option<&str>) -> bool {
    let mut rest = Some(name);
    for (place, part) in parts(key, column).enumerate() {
        if place > 0 {
            rest = rest.and_then(|rest| rest.strip_prefix(',')).map(str::trim_start);
        }
        rest = rest.and_then(|rest| {
            let in_quotes = part.and_then(|part| rest.strip_prefix(&quoted(part)));
            in_quotes.or_else(|| rest.strip_prefix(&one_line(part.unwrap_or(NONE))))
        });
    }
    rest == Some("")
}

fn parts<'a>(key: &'a SeriesKey, column: Option<&'a str>) -> impl Iterator<Item = Option<&'a str>> {
    key.iter().map(Option::as_deref).chain(column.map(Some))
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn key(values: &[Option<&str>]) -> SeriesKey {
        values.iter().map(|value| value.map(str::to_owned)).collect()
    }

    #[test]
    fn values_have_quotes_where_others_could_be_meant() {
        for (values, column, name, other) in [
            (vec![Some("a"), Some("b")], None, "a, b", "a, b"),
            (vec![Some("a, b"), Some("c")], None, "a, b, c", "\"a, b\", c"),
            (vec![Some("a"), Some("b, c")], None, "a, b, c", "a, \"b, c\""),
            (vec![None], Some("rate"), "(none), rate", "(none), rate"),
            (vec![Some("(none)")], Some("rate"), "(none), rate", "\"(none)\", rate"),
            (vec![Some("")], Some("rate"), ", rate", "\"\", rate"),
            (vec![Some("a  b")], None, "a b", "\"a  b\""),
            (vec![Some("5\" pipe")], None, "5\" pipe", "\"5\"\" pipe\""),
        ] {
            let key = key(&values);
            assert_eq!(
                (joined(&key, column).as_str(), unambiguous(&key, column).as_str()),
                (name, other)
            );
        }
        assert!(is_named("\"a\",b", &key(&[Some("a"), Some("b")]), None));
        assert!(!is_named("a, b, c", &key(&[Some("a"), Some("b")]), None));
        assert!(!is_named("a", &key(&[Some("a"), Some("b")]), None));
    }

    proptest! {
        #[test]
        fn a_series_has_both_of_its_names_and_no_other_has_the_second(
            keys in prop::collection::vec(prop::collection::vec(prop::option::of("[a,\"() ]{0,4}"), 2), 2..6),
        ) {
            for key in &keys {
                prop_assert!(is_named(joined(key, None).trim(), key, None));
                prop_assert!(is_named(&unambiguous(key, None), key, None));
            }
            let keys: BTreeSet<_> = keys.into_iter().collect();
            let names: BTreeSet<_> = keys.iter().map(|key| unambiguous(key, None)).collect();
            prop_assert_eq!(names.len(), keys.len());
        }
    }
}
