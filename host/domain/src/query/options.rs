//! Parameters that encoders declare, as query parameters `<format>.<name>` (contract-1-order).

use serde_json::json;

use super::scalar;
use crate::ValidationError;
use crate::validation::ParameterLocation;

/// Bytes of a value at most. A plugin may write an option into every cell, so a long one would be a
/// lever; the longest that anybody needs is the name of a column.
pub const MAX_VALUE_BYTES: usize = 256;

/// The type of a declared parameter's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterType {
    /// Any text.
    Text,
    /// A 64-bit integer.
    Integer,
    /// A finite number.
    Number,
    /// A boolean, written as contract-2-booleans lists.
    Boolean,
}

/// A value that suits its declaration.
#[derive(Clone, Debug, PartialEq)]
pub enum ParameterValue {
    /// Of [`ParameterType::Text`].
    Text(String),
    /// Of [`ParameterType::Integer`].
    Integer(i64),
    /// Of [`ParameterType::Number`].
    Number(f64),
    /// Of [`ParameterType::Boolean`].
    Boolean(bool),
}

/// Judges `raw` for the query parameter called `name` (`csv.delimiter`). When `allowed` is not
/// empty, only the texts in it pass.
///
/// # Errors
/// The [`ValidationError`] in Pydantic's words.
pub fn validate(
    name: &str,
    kind: ParameterType,
    allowed: &[String],
    raw: &str,
) -> Result<ParameterValue, ValidationError> {
    if raw.len() > MAX_VALUE_BYTES {
        let msg = format!("Data should have at most {MAX_VALUE_BYTES} bytes");
        return Err(ValidationError::new(
            ParameterLocation::Query,
            name,
            "bytes_too_long",
            msg,
            Some(raw),
        )
        .with_context(json!({"max_length": MAX_VALUE_BYTES})));
    }
    if !allowed.is_empty() {
        scalar::check_literal(name, raw, allowed.iter().map(String::as_str))?;
    }
    match kind {
        ParameterType::Text => Ok(ParameterValue::Text(raw.to_owned())),
        ParameterType::Integer => scalar::parse_integer(name, raw).map(ParameterValue::Integer),
        ParameterType::Number => scalar::parse_number(name, raw).map(ParameterValue::Number),
        ParameterType::Boolean => scalar::parse_boolean(name, raw).map(ParameterValue::Boolean),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(
        kind: ParameterType,
        allowed: &[&str],
        raw: &str,
        expected: Result<ParameterValue, &str>,
    ) {
        let allowed: Vec<String> = allowed.iter().map(|text| (*text).to_owned()).collect();
        let got = validate("csv.x", kind, &allowed, raw);
        assert_eq!(
            got.as_ref().map_err(|problem| problem.msg.as_str()),
            expected.as_ref().map_err(|text| *text),
            "{kind:?} {raw:?}"
        );
    }

    #[test]
    fn declared_parameters_are_judged_in_pydantics_words() {
        check(ParameterType::Text, &[], "", Ok(ParameterValue::Text(String::new())));
        check(ParameterType::Text, &[",", ";"], ";", Ok(ParameterValue::Text(";".to_owned())));
        check(ParameterType::Text, &[",", ";", "|"], "x", Err("Input should be ',', ';' or '|'"));
        check(ParameterType::Integer, &[], "-1_0", Ok(ParameterValue::Integer(-10)));
        check(
            ParameterType::Integer,
            &[],
            "9223372036854775807",
            Ok(ParameterValue::Integer(i64::MAX)),
        );
        check(
            ParameterType::Integer,
            &[],
            "-9223372036854775808",
            Ok(ParameterValue::Integer(i64::MIN)),
        );
        check(
            ParameterType::Integer,
            &[],
            "9223372036854775808",
            Err("Unable to parse input string as an integer, exceeded maximum size"),
        );
        check(
            ParameterType::Integer,
            &[],
            "x",
            Err("Input should be a valid integer, unable to parse string as an integer"),
        );
        check(ParameterType::Number, &[], " 1_0.5 ", Ok(ParameterValue::Number(10.5)));
        check(ParameterType::Number, &[], "inf", Err("Input should be a finite number"));
        check(
            ParameterType::Number,
            &[],
            "x",
            Err("Input should be a valid number, unable to parse string as a number"),
        );
        check(ParameterType::Boolean, &[], "Yes", Ok(ParameterValue::Boolean(true)));
        check(ParameterType::Boolean, &["true"], "false", Err("Input should be 'true'"));
        check(
            ParameterType::Boolean,
            &[],
            "",
            Err("Input should be a valid boolean, unable to interpret input"),
        );
    }

    #[test]
    fn a_value_is_bounded_before_anything_else_is_asked_of_it() {
        let (longest, longer) = ("x".repeat(MAX_VALUE_BYTES), "x".repeat(MAX_VALUE_BYTES + 1));
        check(ParameterType::Text, &[], &longest, Ok(ParameterValue::Text(longest.clone())));
        let bound = Err("Data should have at most 256 bytes");
        for kind in [
            ParameterType::Text,
            ParameterType::Integer,
            ParameterType::Number,
            ParameterType::Boolean,
        ] {
            check(kind, &[], &longer, bound.clone());
            check(kind, &["x"], &"1".repeat(12_000), bound.clone());
        }
        check(ParameterType::Text, &[], &"é".repeat(MAX_VALUE_BYTES / 2 + 1), bound);
    }
}
