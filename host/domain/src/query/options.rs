//! Parameters that plugins declare, as query parameters `<format>.<name>` (contract-1-order), and
//! their values.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::scalar;
use crate::ValidationError;
use crate::read_plan::json_number;
use crate::validation::ParameterLocation;

/// Bytes of a value at most. A plugin may write an option into every cell, so a long one would be a
/// lever; the longest that anybody needs is the name of a column.
pub const MAX_VALUE_BYTES: usize = 256;

/// The type of a declared parameter's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ParameterKind {
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum OptionScalar {
    /// Of [`ParameterKind::Text`].
    Text(String),
    /// Of [`ParameterKind::Integer`].
    Integer(i64),
    /// Of [`ParameterKind::Number`].
    Number(f64),
    /// Of [`ParameterKind::Boolean`].
    Boolean(bool),
}

/// The value in its canonical text.
impl fmt::Display for OptionScalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Integer(integer) => integer.fmt(f),
            Self::Number(number) => f.write_str(&json_number(*number)),
            Self::Boolean(boolean) => boolean.fmt(f),
        }
    }
}

/// Checks `raw` for the query parameter called `name` (`csv.delimiter`). When `allowed` is not
/// empty, only the texts in it pass.
///
/// # Errors
/// The [`ValidationError`] in Pydantic's words.
pub fn validate(
    name: &str,
    kind: ParameterKind,
    allowed: &[String],
    raw: &str,
) -> Result<OptionScalar, ValidationError> {
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
        ParameterKind::Text => Ok(OptionScalar::Text(raw.to_owned())),
        ParameterKind::Integer => scalar::parse_integer(name, raw).map(OptionScalar::Integer),
        ParameterKind::Number => scalar::parse_number(name, raw).map(OptionScalar::Number),
        ParameterKind::Boolean => scalar::parse_boolean(name, raw).map(OptionScalar::Boolean),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(
        kind: ParameterKind,
        allowed: &[&str],
        raw: &str,
        expected: Result<OptionScalar, &str>,
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
    fn an_empty_value_is_taken_and_not_offered_contract_16() {
        let allowed = &["", "month", "quarter", "year"];
        check(ParameterKind::Text, allowed, "", Ok(OptionScalar::Text(String::new())));
        let sentence = "Input should be 'month', 'quarter' or 'year'";
        check(ParameterKind::Text, allowed, "week", Err(sentence));
    }

    #[test]
    fn declared_parameters_are_judged_in_pydantics_words() {
        check(ParameterKind::Text, &[], "", Ok(OptionScalar::Text(String::new())));
        check(ParameterKind::Text, &[",", ";"], ";", Ok(OptionScalar::Text(";".to_owned())));
        check(ParameterKind::Text, &[",", ";", "|"], "x", Err("Input should be ',', ';' or '|'"));
        check(ParameterKind::Integer, &[], "-1_0", Ok(OptionScalar::Integer(-10)));
        check(
            ParameterKind::Integer,
            &[],
            "9223372036854775807",
            Ok(OptionScalar::Integer(i64::MAX)),
        );
        check(
            ParameterKind::Integer,
            &[],
            "-9223372036854775808",
            Ok(OptionScalar::Integer(i64::MIN)),
        );
        check(
            ParameterKind::Integer,
            &[],
            "9223372036854775808",
            Err("Unable to parse input string as an integer, exceeded maximum size"),
        );
        check(
            ParameterKind::Integer,
            &[],
            "x",
            Err("Input should be a valid integer, unable to parse string as an integer"),
        );
        check(ParameterKind::Number, &[], " 1_0.5 ", Ok(OptionScalar::Number(10.5)));
        check(ParameterKind::Number, &[], "inf", Err("Input should be a finite number"));
        check(
            ParameterKind::Number,
            &[],
            "x",
            Err("Input should be a valid number, unable to parse string as a number"),
        );
        check(ParameterKind::Boolean, &[], "Yes", Ok(OptionScalar::Boolean(true)));
        check(ParameterKind::Boolean, &["true"], "false", Err("Input should be 'true'"));
        check(
            ParameterKind::Boolean,
            &[],
            "",
            Err("Input should be a valid boolean, unable to interpret input"),
        );
    }

    #[test]
    fn a_value_is_bounded_before_anything_else_is_asked_of_it() {
        let (longest, longer) = ("x".repeat(MAX_VALUE_BYTES), "x".repeat(MAX_VALUE_BYTES + 1));
        check(ParameterKind::Text, &[], &longest, Ok(OptionScalar::Text(longest.clone())));
        let bound = Err("Data should have at most 256 bytes");
        for kind in [
            ParameterKind::Text,
            ParameterKind::Integer,
            ParameterKind::Number,
            ParameterKind::Boolean,
        ] {
            check(kind, &[], &longer, bound.clone());
            check(kind, &["x"], &"1".repeat(12_000), bound.clone());
        }
        check(ParameterKind::Text, &[], &"é".repeat(MAX_VALUE_BYTES / 2 + 1), bound);
    }
}
