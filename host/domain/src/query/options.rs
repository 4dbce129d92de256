//! Parameters that encoders declare, as query parameters `<format>.<name>` (contract 1, step 4).

use serde_json::json;

use super::scalar;
use crate::Problem;
use crate::problem::Place;

/// Bytes of a value at most. A plugin may write an option into every cell, so a long one would be a
/// lever; the longest that anybody needs is the name of a column.
pub const VALUE_BYTES: usize = 256;

/// The type of a declared parameter's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Any text.
    Text,
    /// A 64-bit integer.
    Integer,
    /// A finite number.
    Number,
    /// A boolean, written as contract 2 lists.
    Boolean,
}

/// A value that suits its declaration.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Of [`Kind::Text`].
    Text(String),
    /// Of [`Kind::Integer`].
    Integer(i64),
    /// Of [`Kind::Number`].
    Number(f64),
    /// Of [`Kind::Boolean`].
    Boolean(bool),
}

/// Judges `raw` for the query parameter called `name` (`csv.delimiter`). When `allowed` is not
/// empty, only the texts in it pass.
///
/// # Errors
/// The [`Problem`] in Pydantic's words.
pub fn judge(name: &str, kind: Kind, allowed: &[String], raw: &str) -> Result<Value, Problem> {
    if raw.len() > VALUE_BYTES {
        let msg = format!("Data should have at most {VALUE_BYTES} bytes");
        return Err(Problem::new(Place::Query, name, "bytes_too_long", msg, Some(raw))
            .with_ctx(json!({"max_length": VALUE_BYTES})));
    }
    if !allowed.is_empty() {
        scalar::literal(name, raw, allowed.iter().map(String::as_str))?;
    }
    match kind {
        Kind::Text => Ok(Value::Text(raw.to_owned())),
        Kind::Integer => scalar::integer(name, raw).map(Value::Integer),
        Kind::Number => scalar::number(name, raw).map(Value::Number),
        Kind::Boolean => scalar::boolean(name, raw).map(Value::Boolean),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(kind: Kind, allowed: &[&str], raw: &str, expected: Result<Value, &str>) {
        let allowed: Vec<String> = allowed.iter().map(|text| (*text).to_owned()).collect();
        let got = judge("csv.x", kind, &allowed, raw);
        assert_eq!(
            got.as_ref().map_err(|problem| problem.msg.as_str()),
            expected.as_ref().map_err(|text| *text),
            "{kind:?} {raw:?}"
        );
    }

    #[test]
    fn declared_parameters_are_judged_in_pydantics_words() {
        check(Kind::Text, &[], "", Ok(Value::Text(String::new())));
        check(Kind::Text, &[",", ";"], ";", Ok(Value::Text(";".to_owned())));
        check(Kind::Text, &[",", ";", "|"], "x", Err("Input should be ',', ';' or '|'"));
        check(Kind::Integer, &[], "-1_0", Ok(Value::Integer(-10)));
        check(Kind::Integer, &[], "9223372036854775807", Ok(Value::Integer(i64::MAX)));
        check(Kind::Integer, &[], "-9223372036854775808", Ok(Value::Integer(i64::MIN)));
        check(
            Kind::Integer,
            &[],
            "9223372036854775808",
            Err("Unable to parse input string as an integer, exceeded maximum size"),
        );
        check(
            Kind::Integer,
            &[],
            "x",
            Err("Input should be a valid integer, unable to parse string as an integer"),
        );
        check(Kind::Number, &[], " 1_0.5 ", Ok(Value::Number(10.5)));
        check(Kind::Number, &[], "inf", Err("Input should be a finite number"));
        check(
            Kind::Number,
            &[],
            "x",
            Err("Input should be a valid number, unable to parse string as a number"),
        );
        check(Kind::Boolean, &[], "Yes", Ok(Value::Boolean(true)));
        check(Kind::Boolean, &["true"], "false", Err("Input should be 'true'"));
        check(
            Kind::Boolean,
            &[],
            "",
            Err("Input should be a valid boolean, unable to interpret input"),
        );
    }

    #[test]
    fn a_value_is_bounded_before_anything_else_is_asked_of_it() {
        let (longest, longer) = ("x".repeat(VALUE_BYTES), "x".repeat(VALUE_BYTES + 1));
        check(Kind::Text, &[], &longest, Ok(Value::Text(longest.clone())));
        let bound = Err("Data should have at most 256 bytes");
        for kind in [Kind::Text, Kind::Integer, Kind::Number, Kind::Boolean] {
            check(kind, &[], &longer, bound.clone());
            check(kind, &["x"], &"1".repeat(12_000), bound.clone());
        }
        check(Kind::Text, &[], &"é".repeat(VALUE_BYTES / 2 + 1), bound);
    }
}
