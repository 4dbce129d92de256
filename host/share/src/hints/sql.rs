//! `predicateHints`: comparisons of a column with a constant in SQL. Anything else is not
//! understood, which leaves nothing out.

use yearbook_scan::{ColumnStatistics, FileStatistics, StatisticValue};

use super::{ANY, Comparison, Outcomes, compare, find_column, literal_value, null_outcomes};

/// Operators, longer ones first.
const OPERATORS: [(&str, Option<Comparison>); 7] = [
    ("<=", Some(Comparison::LessOrEqual)),
    (">=", Some(Comparison::GreaterOrEqual)),
    ("<>", None),
    ("!=", None),
    ("=", Some(Comparison::Equal)),
    ("<", Some(Comparison::Less)),
    (">", Some(Comparison::Greater)),
];

/// Outcomes of one hint.
pub(super) fn outcomes(statistics: &FileStatistics, hint: &str) -> Outcomes {
    let hint = hint.trim();
    if let Some(outcomes) = null_check(statistics, hint) {
        return outcomes;
    }
    let Some((left, operator, right)) = split(hint) else { return ANY };
    // Of two sides one is a column's name and the other a constant.
    let (name, constant, flipped) = match (column_name(left), column_name(right)) {
        (Some(name), None) => (name, right, false),
        (None, Some(name)) => (name, left, true),
        _ => return ANY,
    };
    let Some(column) = find_column(statistics, name) else { return ANY };
    let Some(value) = constant_value(column, constant) else { return ANY };
    match operator {
        Some(comparison) => {
            compare(column, if flipped { comparison.flip() } else { comparison }, &value)
        }
        None => {
            let Outcomes { may_be_true, may_be_false } = compare(column, Comparison::Equal, &value);
            Outcomes { may_be_true: may_be_false, may_be_false: may_be_true }
        }
    }
}

fn null_check(statistics: &FileStatistics, hint: &str) -> Option<Outcomes> {
    let lower = hint.to_ascii_lowercase();
    if let Some(name) = lower.strip_suffix(" is null") {
        return Some(null_outcomes(statistics, column_name(name.trim())?));
    }
    let name = column_name(lower.strip_suffix(" is not null")?.trim())?;
    let Outcomes { may_be_true, may_be_false } = null_outcomes(statistics, name);
    Some(Outcomes { may_be_true: may_be_false, may_be_false: may_be_true })
}

/// Left side, operator and right side; none where there is no operator outside of a text.
fn split(hint: &str) -> Option<(&str, Option<Comparison>, &str)> {
    let mut in_text = false;
    for (index, character) in hint.char_indices() {
        if character == '\'' {
            in_text = !in_text;
        }
        if in_text {
            continue;
        }
        let rest = &hint[index..];
        let found = OPERATORS.iter().find(|(spelling, _)| rest.starts_with(spelling));
        if let Some((spelling, comparison)) = found {
            return Some((hint[..index].trim(), *comparison, rest[spelling.len()..].trim()));
        }
    }
    None
}

/// The name, with or without backticks.
fn column_name(text: &str) -> Option<&str> {
    let name = text.strip_prefix('`').and_then(|rest| rest.strip_suffix('`')).unwrap_or(text);
    let starts_well = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let is_word = ["true", "false", "null"].iter().any(|word| name.eq_ignore_ascii_case(word));
    (starts_well && plain && !is_word).then_some(name)
}

/// The constant in the type of the column; none where SQL would cast one of them.
fn constant_value(column: &ColumnStatistics, text: &str) -> Option<StatisticValue> {
    if let Some(inner) = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
        // Escapes differ between dialects.
        let plain = !inner.contains(['\'', '\\']);
        return plain.then(|| literal_value(column, inner, "string")).flatten();
    }
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_whole = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let is_decimal = digits.starts_with(|first: char| first.is_ascii_digit())
        && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let whole = is_whole.then(|| literal_value(column, text, "long")).flatten();
    whole.or_else(|| is_decimal.then(|| literal_value(column, text, "double")).flatten())
}
