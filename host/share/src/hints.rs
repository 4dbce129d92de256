//! Predicates that a client sends as hints (contract-12-hints). A file is left out only where its
//! statistics prove that no row of it matches; whatever is not understood leaves nothing out.

mod sql;

use serde::Deserialize;
use yearbook_scan::{ColumnStatistics, FileStatistics, StatisticValue};

/// Depth of a tree of predicates; deeper ones are not understood.
const MAX_DEPTH: usize = 32;

/// Outcomes that a predicate may have for the rows of a file. SQL's third, unknown, is neither.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Outcomes {
    may_be_true: bool,
    may_be_false: bool,
}

/// Nothing is known.
const ANY: Outcomes = Outcomes { may_be_true: true, may_be_false: true };

/// A node of `jsonPredicateHints`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PredicateNode {
    op: String,
    #[serde(default)]
    children: Vec<PredicateNode>,
    #[serde(default)]
    name: String,
    #[serde(default)]
    value: String,
    #[serde(default)]
    value_type: String,
}

/// Comparison of a column with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Equal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Comparison {
    /// The same with its sides exchanged.
    fn flip(self) -> Self {
        match self {
            Self::Equal => Self::Equal,
            Self::Less => Self::Greater,
            Self::LessOrEqual => Self::GreaterOrEqual,
            Self::Greater => Self::Less,
            Self::GreaterOrEqual => Self::LessOrEqual,
        }
    }
}

/// Returns false where `statistics` prove that no row matches all of the hints.
pub(super) fn may_match(
    statistics: &FileStatistics,
    sql_hints: &[String],
    json_hint: Option<&str>,
) -> bool {
    if statistics.rows == 0 {
        return true;
    }
    let sql = sql_hints.iter().all(|hint| sql::outcomes(statistics, hint).may_be_true);
    let tree = json_hint.and_then(|text| serde_json::from_str::<PredicateNode>(text).ok());
    sql && tree.is_none_or(|tree| outcomes(statistics, &tree, 0).may_be_true)
}

fn outcomes(statistics: &FileStatistics, node: &PredicateNode, depth: usize) -> Outcomes {
    if depth > MAX_DEPTH {
        return ANY;
    }
    let child = |child: &PredicateNode| outcomes(statistics, child, depth + 1);
    match (node.op.as_str(), &*node.children) {
        ("and", [_, _, ..]) => {
            let all = node.children.iter().map(child);
            all.fold(Outcomes { may_be_true: true, may_be_false: false }, |one, other| Outcomes {
                may_be_true: one.may_be_true && other.may_be_true,
                may_be_false: one.may_be_false || other.may_be_false,
            })
        }
        ("or", [_, _, ..]) => {
            let all = node.children.iter().map(child);
            all.fold(Outcomes { may_be_true: false, may_be_false: true }, |one, other| Outcomes {
                may_be_true: one.may_be_true || other.may_be_true,
                may_be_false: one.may_be_false && other.may_be_false,
            })
        }
        ("not", [inner]) => {
            let Outcomes { may_be_true, may_be_false } = child(inner);
            Outcomes { may_be_true: may_be_false, may_be_false: may_be_true }
        }
        ("isNull", [column]) if column.op == "column" => null_outcomes(statistics, &column.name),
        (op, [left, right]) => match comparison(op) {
            Some(comparison) => compare_nodes(statistics, comparison, left, right),
            None => ANY,
        },
        _ => ANY,
    }
}

fn comparison(op: &str) -> Option<Comparison> {
    match op {
        "equal" => Some(Comparison::Equal),
        "lessThan" => Some(Comparison::Less),
        "lessThanOrEqual" => Some(Comparison::LessOrEqual),
        "greaterThan" => Some(Comparison::Greater),
        "greaterThanOrEqual" => Some(Comparison::GreaterOrEqual),
        _ => None,
    }
}

fn compare_nodes(
    statistics: &FileStatistics,
    comparison: Comparison,
    left: &PredicateNode,
    right: &PredicateNode,
) -> Outcomes {
    let (column, literal, comparison) = match (left.op.as_str(), right.op.as_str()) {
        ("column", "literal") => (left, right, comparison),
        ("literal", "column") => (right, left, comparison.flip()),
        _ => return ANY,
    };
    // Both sides are cast to their types, which must agree for the bounds to mean anything.
    if !column.value_type.is_empty() && column.value_type != literal.value_type {
        return ANY;
    }
    let Some(found) = find_column(statistics, &column.name) else { return ANY };
    match literal_value(found, &literal.value, &literal.value_type) {
        Some(value) => compare(found, comparison, &value),
        None => ANY,
    }
}

/// The column called `name`, in any case, as clients compare names.
fn find_column<'a>(statistics: &'a FileStatistics, name: &str) -> Option<&'a ColumnStatistics> {
    statistics.columns.iter().find(|column| column.name.eq_ignore_ascii_case(name))
}

/// Outcomes of `column IS NULL`.
fn null_outcomes(statistics: &FileStatistics, name: &str) -> Outcomes {
    let nulls = find_column(statistics, name).and_then(|column| column.nulls);
    nulls.map_or(ANY, |nulls| Outcomes {
        may_be_true: nulls > 0,
        may_be_false: nulls < statistics.rows,
    })
}

/// The literal as a value that compares with the bounds of `column` as the client would compare it;
/// none where that is not certain. Single-precision floats are none: they are rounded.
fn literal_value(
    column: &ColumnStatistics,
    text: &str,
    value_type: &str,
) -> Option<StatisticValue> {
    let kind = column.min.as_ref().or(column.max.as_ref())?;
    match (kind, value_type) {
        (StatisticValue::Boolean(_), "bool") => text.parse().ok().map(StatisticValue::Boolean),
        (StatisticValue::Integer(_), "int" | "long") => {
            text.parse().ok().map(StatisticValue::Integer)
        }
        (StatisticValue::Number(_), "double") => {
            let value = text.parse::<f64>().ok().filter(|value| value.is_finite());
            value.map(StatisticValue::Number)
        }
        (StatisticValue::Text(_), "string") => Some(StatisticValue::Text(text.to_owned())),
        _ => None,
    }
}

/// Outcomes of `column comparison value`. A null is unknown, so only values count.
fn compare(column: &ColumnStatistics, comparison: Comparison, value: &StatisticValue) -> Outcomes {
    // Unknown bounds exclude nothing.
    let all_above = |or_equal: bool| {
        column.min.as_ref().is_some_and(|min| min > value || or_equal && min == value)
    };
    let all_below = |or_equal: bool| {
        column.max.as_ref().is_some_and(|max| max < value || or_equal && max == value)
    };
    let never = match comparison {
        Comparison::Equal => all_above(false) || all_below(false),
        Comparison::Less => all_above(true),
        Comparison::LessOrEqual => all_above(false),
        Comparison::Greater => all_below(true),
        Comparison::GreaterOrEqual => all_below(false),
    };
    let always = match comparison {
        Comparison::Equal => all_above(true) && all_below(true),
        Comparison::Less => all_below(false),
        Comparison::LessOrEqual => all_below(true),
        Comparison::Greater => all_above(false),
        Comparison::GreaterOrEqual => all_above(true),
    };
    Outcomes { may_be_true: !never, may_be_false: !always }
}

#[cfg(test)]
mod tests;
