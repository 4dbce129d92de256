//! Conditions against the columns of a snapshot: names, operators of a type, values.

use super::{ColumnTest, ColumnValue, Condition, FloatKey, Side};
use crate::dataset::GEOMETRY_COLUMN;
use crate::query::{ConditionParameter, Operator, parse_conditions, scalar};
use crate::read_plan::names::{ColumnNames, Table};
use crate::{Column, ColumnRole, ColumnType, Date, ValidationError};

/// Conditions of `parameters` on the columns of a snapshot, by position and operator: two requests
/// that mean the same have the same conditions.
///
/// # Errors
/// A problem for each condition that the dataset cannot judge, in the order sent.
pub(in crate::read_plan) fn resolve_conditions(
    names: &ColumnNames<'_>,
    parameters: &[ConditionParameter],
) -> Result<Vec<Condition>, Vec<ValidationError>> {
    let mut problems = Vec::new();
    let mut conditions = Vec::with_capacity(parameters.len());
    for parameter in parameters {
        match resolve(names, parameter) {
            Ok(condition) => conditions.push(condition),
            Err(found) => problems.extend(found),
        }
    }
    conditions.sort_by_key(|condition| (condition.column, condition.test.operator().as_str()));
    if problems.is_empty() { Ok(conditions) } else { Err(problems) }
}

/// Judges conditions against columns, as those of a request: pairs of a parameter's name and a
/// value. Returns what is wrong with them.
#[must_use]
pub fn judge_conditions(columns: &[Column], pairs: &[(String, String)]) -> Vec<ValidationError> {
    let names = ColumnNames::new(columns, pairs.len(), Table::Dataset);
    let judged =
        parse_conditions(pairs).and_then(|parsed| resolve_conditions(&names, &parsed).map(drop));
    judged.err().unwrap_or_default()
}

fn resolve(
    names: &ColumnNames<'_>,
    parameter: &ConditionParameter,
) -> Result<Condition, Vec<ValidationError>> {
    let first = parameter.values.first().map_or("", String::as_str);
    let refuse = |sentence: &str| {
        Err(vec![ValidationError::value_error(&parameter.parameter(), sentence, first)])
    };
    let Some((position, column)) = names.find(&parameter.column) else {
        return refuse(&names.unknown(&parameter.column));
    };
    if column.role == ColumnRole::Geometry {
        return refuse(&format!(
            "{GEOMETRY_COLUMN} takes no conditions; choose an area with bbox=west,south,east,north"
        ));
    }
    if !has_operator(column.column_type, parameter.operator) {
        return refuse(&wrong_operator(column, parameter.operator));
    }
    Ok(Condition { column: position, test: test(column, parameter)? })
}

fn test(
    column: &Column,
    parameter: &ConditionParameter,
) -> Result<ColumnTest, Vec<ValidationError>> {
    let texts = || {
        let mut texts = parameter.values.clone();
        texts.sort_unstable();
        texts
    };
    let bound = |side| {
        let mut values = values(column, parameter)?;
        // The last of a repeated bound won when the request was parsed.
        let value = values.pop().unwrap_or(ColumnValue::Boolean(true));
        if matches!(&value, ColumnValue::Number(number) if number.is_nan()) {
            return Err(vec![scalar::not_finite(&parameter.parameter(), "NaN")]);
        }
        Ok(ColumnTest::Bound(side, value))
    };
    Ok(match parameter.operator {
        Operator::Equal => ColumnTest::AnyOf(values(column, parameter)?),
        Operator::Not => ColumnTest::NoneOf(values(column, parameter)?),
        Operator::AtLeast => bound(Side::AtLeast)?,
        Operator::Above => bound(Side::Above)?,
        Operator::AtMost => bound(Side::AtMost)?,
        Operator::Below => bound(Side::Below)?,
        Operator::Contains => ColumnTest::Contains(texts()),
        Operator::Starts => ColumnTest::Starts(texts()),
        Operator::Null => {
            let raw = parameter.values.first().map_or("", String::as_str);
            let is_null = scalar::parse_boolean(&parameter.parameter(), raw);
            ColumnTest::IsNull(is_null.map_err(|problem| vec![problem])?)
        }
    })
}

/// Values of the column's type, ascending, each once.
fn values(
    column: &Column,
    parameter: &ConditionParameter,
) -> Result<Vec<ColumnValue>, Vec<ValidationError>> {
    let name = parameter.parameter();
    let parse = |raw: &String| parse_value(column.column_type, &name, raw);
    let (mut values, mut problems) = (Vec::new(), Vec::new());
    for parsed in parameter.values.iter().map(parse) {
        match parsed {
            Ok(value) => values.push(value),
            Err(problem) => problems.push(problem),
        }
    }
    values.sort_unstable();
    values.dedup();
    if problems.is_empty() { Ok(values) } else { Err(problems) }
}

/// Parses a value of a column from the parameter called `name`.
///
/// # Errors
/// The problem of a text that is no value of the type.
pub fn parse_value(
    column_type: ColumnType,
    name: &str,
    raw: &str,
) -> Result<ColumnValue, ValidationError> {
    Ok(match column_type {
        ColumnType::String => ColumnValue::Text(raw.to_owned()),
        ColumnType::Date => {
            ColumnValue::Text(scalar::parse_date(name, raw).map(|date: Date| date.to_string())?)
        }
        ColumnType::Integer => ColumnValue::Integer(scalar::parse_whole_number(name, raw)?),
        ColumnType::Number => {
            ColumnValue::Number(FloatKey::new(scalar::parse_any_number(name, raw)?))
        }
        ColumnType::Boolean => ColumnValue::Boolean(scalar::parse_boolean(name, raw)?),
    })
}

/// Returns whether values of this type are compared so.
fn has_operator(column_type: ColumnType, operator: Operator) -> bool {
    match operator {
        Operator::Equal | Operator::Not | Operator::Null => true,
        Operator::Contains | Operator::Starts => column_type == ColumnType::String,
        Operator::AtLeast | Operator::Above | Operator::AtMost | Operator::Below => {
            column_type != ColumnType::Boolean
        }
    }
}

fn wrong_operator(column: &Column, operator: Operator) -> String {
    let allowed: Vec<&str> = Operator::named()
        .filter(|named| has_operator(column.column_type, *named))
        .map(Operator::as_str)
        .collect();
    format!(
        "column '{}' is of type {} and has no operator '{}'; it has equality and {}",
        column.name,
        column.column_type.as_str(),
        operator.as_str(),
        allowed.join(", ")
    )
}

#[cfg(test)]
mod tests;
