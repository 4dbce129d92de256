//! Conditions on columns as they are sent: `where.COLUMN` and `where.COLUMN.OPERATOR`
//! (contract-15-conditions). Each is validated by itself; the dataset judges columns and values.

use std::collections::HashMap;

use serde_json::json;

use super::scalar;
use crate::ValidationError;
use crate::validation::ParameterLocation;
use crate::words;

/// Pairs of column and operator at most.
const MAX_PAIRS: usize = 64;

/// Values at most, over all conditions.
const MAX_VALUES: usize = 1_024;

/// Values of `contains` and `starts` at most, together: each is looked for in every distinct text.
const MAX_TEXT_SEARCHES: usize = 64;

/// Bytes of a value at most.
pub const MAX_VALUE_BYTES: usize = 1_024;

/// Beginning of the names of conditions.
const PREFIX: &str = "where.";

/// Comparison of a column with the values of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operator {
    /// Equal to any value; the one without a name.
    Equal,
    /// Equal to none of the values.
    Not,
    /// Greater or equal.
    AtLeast,
    /// Greater.
    Above,
    /// Less or equal.
    AtMost,
    /// Less.
    Below,
    /// Contains any of the texts, case folded.
    Contains,
    /// Begins with any of the texts, case folded.
    Starts,
    /// Is null, or is not.
    Null,
}

words! {
    Operator {
        Equal = "", Not = "not", AtLeast = "ge", Above = "gt", AtMost = "le", Below = "lt",
        Contains = "contains", Starts = "starts", Null = "null",
    }
}

impl Operator {
    /// Returns the operators that have a name, in the order of the contract.
    pub fn named() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|operator| *operator != Self::Equal)
    }

    /// Returns the name of the parameter that compares `column` so.
    #[must_use]
    pub fn parameter(self, column: &str) -> String {
        match self {
            Self::Equal => format!("{PREFIX}{column}"),
            named => format!("{PREFIX}{column}.{}", named.as_str()),
        }
    }

    /// Returns true where each repetition adds an alternative; otherwise the last value wins.
    fn is_repeatable(self) -> bool {
        matches!(self, Self::Equal | Self::Not | Self::Contains | Self::Starts)
    }
}

/// The values of one pair of column and operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionParameter {
    /// Name of the column, as sent.
    pub column: String,
    /// The comparison.
    pub operator: Operator,
    /// Values as sent; never empty. One alone where the last wins.
    pub values: Vec<String>,
}

impl ConditionParameter {
    /// Returns the name of the parameter as sent.
    #[must_use]
    pub fn parameter(&self) -> String {
        self.operator.parameter(&self.column)
    }
}

/// Returns true for names of parameters that are conditions, or are meant to be.
#[must_use]
pub fn is_condition(name: &str) -> bool {
    name.strip_prefix("where")
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('.') || rest.starts_with('['))
}

/// Parses the conditions among `pairs`, in the order sent.
///
/// # Errors
/// Every problem there is.
pub(crate) fn parse_conditions(
    pairs: &[(String, String)],
) -> Result<Vec<ConditionParameter>, Vec<ValidationError>> {
    let sent = || pairs.iter().filter(|(name, _)| is_condition(name));
    let values = sent().count();
    if values == 0 {
        return Ok(Vec::new());
    }
    if values > MAX_VALUES {
        return Err(vec![too_many(&format!("{values} values and may have {MAX_VALUES}"))]);
    }
    // Of a repeated `null` the last wins, so that it alone is judged.
    let last_null: HashMap<&str, usize> = sent()
        .enumerate()
        .filter(|(_, (name, _))| name.ends_with(".null"))
        .map(|(at, (name, _))| (name.as_str(), at))
        .collect();
    let mut problems = Vec::new();
    let mut conditions: Vec<ConditionParameter> = Vec::new();
    for (at, (name, raw)) in sent().enumerate() {
        let (column, operator) = match parse_name(name, raw) {
            Ok(parsed) => parsed,
            Err(problem) => {
                problems.push(problem);
                continue;
            }
        };
        if raw.len() > MAX_VALUE_BYTES {
            problems.push(value_too_long(name, raw));
            continue;
        }
        if operator == Operator::Null
            && last_null.get(name.as_str()) == Some(&at)
            && let Err(problem) = scalar::parse_boolean(name, raw)
        {
            problems.push(problem);
        }
        let known = conditions
            .iter_mut()
            .find(|known| known.column == column && known.operator == operator);
        match known {
            Some(known) if operator.is_repeatable() => {
                if !known.values.contains(raw) {
                    known.values.push(raw.clone());
                }
            }
            Some(known) => known.values = vec![raw.clone()],
            None => conditions.push(ConditionParameter {
                column: column.to_owned(),
                operator,
                values: vec![raw.clone()],
            }),
        }
    }
    if conditions.len() > MAX_PAIRS {
        let found = conditions.len();
        let sentence = format!("{found} pairs of column and operator and may have {MAX_PAIRS}");
        problems.push(too_many(&sentence));
    }
    let searches: usize = conditions
        .iter()
        .filter(|condition| matches!(condition.operator, Operator::Contains | Operator::Starts))
        .map(|condition| condition.values.len())
        .sum();
    if searches > MAX_TEXT_SEARCHES {
        let sentence =
            format!("{searches} values of contains and starts and may have {MAX_TEXT_SEARCHES}");
        problems.push(too_many(&sentence));
    }
    if problems.is_empty() { Ok(conditions) } else { Err(problems) }
}

/// Column and operator of a parameter. The column ends at the first dot, so that a column may be
/// called like an operator.
fn parse_name<'a>(name: &'a str, raw: &str) -> Result<(&'a str, Operator), ValidationError> {
    let refuse = |sentence: &str| Err(ValidationError::value_error(name, sentence, raw));
    let shape = "write conditions as where.COLUMN=VALUE or where.COLUMN.OPERATOR=VALUE";
    let Some(rest) = name.strip_prefix(PREFIX) else { return refuse(shape) };
    let (column, operator) = match rest.split_once('.') {
        None => (rest, Operator::Equal),
        Some((column, word)) => match Operator::named().find(|named| named.as_str() == word) {
            Some(operator) => (column, operator),
            None => return refuse(&unknown_operator(word)),
        },
    };
    if column.is_empty() { refuse(shape) } else { Ok((column, operator)) }
}

fn unknown_operator(word: &str) -> String {
    let names: Vec<&str> = Operator::named().map(Operator::as_str).collect();
    let nearest = nearest_name(word, names.iter().copied());
    let nearest = nearest.map(|name| format!("the nearest is '{name}'; ")).unwrap_or_default();
    let names = names.join(", ");
    format!(
        "unknown operator '{word}'; {nearest}a condition has no operator (equal) or one of {names}"
    )
}

fn too_many(what: &str) -> ValidationError {
    let sentence = format!("the conditions have {what}; ask in several requests");
    ValidationError::value_error("where", &sentence, "")
}

fn value_too_long(name: &str, raw: &str) -> ValidationError {
    ValidationError::new(
        ParameterLocation::Query,
        name,
        "bytes_too_long",
        format!("Data should have at most {MAX_VALUE_BYTES} bytes"),
        Some(raw),
    )
    .with_context(json!({"max_length": MAX_VALUE_BYTES}))
}

/// Bytes of a name for which the nearest known one is sought at most: the search takes time that
/// grows with one times the other.
const MAX_MISSPELLED_BYTES: usize = 64;

/// Known names that are compared at most.
const MAX_COMPARED: usize = 1_000;

/// Returns the one of `known` that was probably meant by `word`. `None` if none is like it.
pub(crate) fn nearest_name<'a>(
    word: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    if word.len() > MAX_MISSPELLED_BYTES {
        return None;
    }
    known
        .into_iter()
        .take(MAX_COMPARED)
        .filter(|name| name.len() <= MAX_MISSPELLED_BYTES)
        .map(|name| (strsim::jaro(word, name), name))
        .filter(|(likeness, _)| *likeness > 0.7)
        .max_by(|(one, _), (other, _)| one.total_cmp(other))
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests;
