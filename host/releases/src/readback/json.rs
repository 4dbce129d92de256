//! JSON, and JSON values one after the other: the same values whatever the space between them and
//! the order of members. A number is the same whether it is written `1`, `1.0` or `1e0`.

use serde_json::{Deserializer, Number, Value};

use super::{ValueComparison, quote};

pub(super) fn compare(one: &[u8], other: &[u8]) -> ValueComparison {
    let mut ones = Deserializer::from_slice(one).into_iter::<Value>();
    let mut others = Deserializer::from_slice(other).into_iter::<Value>();
    loop {
        match (ones.next(), others.next()) {
            (None, None) => return ValueComparison::Equal,
            (Some(Err(_)), _) => {
                return ValueComparison::Unsupported(
                    "the response of the release that serves is no JSON either".to_owned(),
                );
            }
            (_, Some(Err(error))) => {
                return ValueComparison::Different(format!("it is no JSON: {error}"));
            }
            (Some(Ok(one)), Some(Ok(other))) => {
                if let Some(difference) = find_difference(&one, &other, &mut String::new()) {
                    return ValueComparison::Different(difference);
                }
            }
            (Some(_), None) => return ValueComparison::Different("it ends early".to_owned()),
            (None, Some(_)) => {
                return ValueComparison::Different("it goes on after its end".to_owned());
            }
        }
    }
}

/// The first difference; `path` leads to the two values. The parser bounds how deep they are.
fn find_difference(one: &Value, other: &Value, path: &mut String) -> Option<String> {
    let unlike = |path: &str| {
        Some(format!(
            "{} instead of {} at {path:?}",
            quote(&other.to_string()),
            quote(&one.to_string())
        ))
    };
    match (one, other) {
        (Value::Number(a), Value::Number(b)) if same_number(a, b) => None,
        (Value::Array(ones), Value::Array(others)) => {
            let found = ones.iter().zip(others).enumerate().find_map(|(at, (one, other))| {
                find_difference_at(path, &at.to_string(), one, other)
            });
            found.or_else(|| {
                (ones.len() != others.len()).then(|| {
                    format!("{} elements instead of {} at {path:?}", others.len(), ones.len())
                })
            })
        }
        (Value::Object(ones), Value::Object(others)) => {
            let found = ones.iter().find_map(|(name, one)| match others.get(name) {
                Some(other) => find_difference_at(path, name, one, other),
                None => Some(format!("no member {} at {path:?}", quote(name))),
            });
            found.or_else(|| {
                (ones.len() != others.len()).then(|| {
                    format!("{} members instead of {} at {path:?}", others.len(), ones.len())
                })
            })
        }
        (one, other) if one == other => None,
        _ => unlike(path),
    }
}

fn find_difference_at(path: &mut String, step: &str, one: &Value, other: &Value) -> Option<String> {
    let end = path.len();
    path.push('/');
    path.push_str(step);
    let found = find_difference(one, other, path);
    path.truncate(end);
    found
}

fn same_number(one: &Number, other: &Number) -> bool {
    // Whole numbers are compared as such: beyond 2^53 two of them may be one float.
    match (one.is_f64(), other.is_f64()) {
        (false, false) => one == other,
        _ => one.as_f64() == other.as_f64(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_compared_and_not_how_they_are_written() {
        let of = |one: &str, other: &str| compare(one.as_bytes(), other.as_bytes());
        assert_eq!(
            of(r#"[{"a":1.0,"b":null}]"#, "[ {\"b\": null,\n \"a\": 1e0} ]"),
            ValueComparison::Equal
        );
        assert_eq!(of("{\"a\":1}\n{\"a\":2}\n", "{\"a\":1}{\"a\":2}"), ValueComparison::Equal);
        let unlike = |one: &str, other: &str, why: &str| {
            assert_eq!(of(one, other), ValueComparison::Different(why.to_owned()))
        };
        unlike(r#"[{"a":1}]"#, r#"[{"a":"1"}]"#, "`\"1\"` instead of `1` at \"/0/a\"");
        unlike(
            "[9007199254740993]",
            "[9007199254740992]",
            "`9007199254740992` instead of `9007199254740993` at \"/0\"",
        );
        unlike(r#"[{"a":1}]"#, r#"[{"a":1,"b":2}]"#, "2 members instead of 1 at \"/0\"");
        unlike("[1,2]", "[1]", "1 elements instead of 2 at \"\"");
        unlike("1 2", "1", "it ends early");
        assert!(
            matches!(of("[1]", "[1"), ValueComparison::Different(why) if why.starts_with("it is no JSON"))
        );
        assert!(
            matches!(of("[1]", &"[".repeat(100_000)), ValueComparison::Different(_)),
            "however deep"
        );
    }
}
