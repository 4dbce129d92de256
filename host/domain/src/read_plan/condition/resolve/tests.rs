//! Conditions against columns of each type.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;
use crate::query::{parse_data, parse_pairs};
use crate::read_plan::names::Table;
use crate::{Snapshot, fixtures};

fn snapshot() -> Snapshot {
    fixtures::snapshot(vec![
        Column::new("date", ColumnType::Date, ColumnRole::Date),
        Column::new("industry", ColumnType::String, ColumnRole::Dimension),
        Column::new("count", ColumnType::Integer, ColumnRole::Value),
        Column::new("value", ColumnType::Number, ColumnRole::Value),
        Column::new("final", ColumnType::Boolean, ColumnRole::Attribute),
        Column::new(GEOMETRY_COLUMN, ColumnType::String, ColumnRole::Geometry),
    ])
}

fn resolved(raw: &str) -> Result<Vec<Condition>, Vec<ValidationError>> {
    let (selection, _) = parse_data(&parse_pairs(raw), &["json"]).unwrap();
    let snapshot = snapshot();
    resolve_conditions(
        &ColumnNames::new(&snapshot.columns, 1, Table::Dataset),
        &selection.conditions,
    )
}

/// The only condition's values, as canonical text.
fn values(raw: &str) -> Vec<String> {
    let conditions = resolved(raw).unwrap();
    assert_eq!(conditions.len(), 1, "{raw}");
    conditions[0].test.values()
}

/// Kind and sentence of the only problem.
fn problem(raw: &str) -> (&'static str, String) {
    let mut problems = resolved(raw).unwrap_err();
    assert_eq!(problems.len(), 1, "{raw}: {problems:?}");
    let problem = problems.remove(0);
    assert_eq!(Some(problem.loc[1].as_str()), raw.split(['=', '&']).next());
    (problem.kind, problem.msg)
}

#[test]
fn values_have_the_column_s_type_contract_15() {
    // (as sent, canonical text)
    let cases: [(&str, &[&str]); 14] = [
        ("where.industry=b&where.industry=a", &["a", "b"]),
        ("where.date.ge=2020-02-29", &["2020-02-29"]),
        ("where.count=%2B5", &["5"]),
        ("where.count=1e%2B05&where.count=1e5&where.count=100000", &["100000"]),
        ("where.count=9007199254740993", &["9007199254740993"]),
        ("where.count=-1.50e2", &["-150"]),
        ("where.count.not=10&where.count.not=9", &["9", "10"]),
        ("where.value=5&where.value=5.0", &["5.0"]),
        ("where.value=1_0.50", &["10.5"]),
        ("where.value=-0", &["0.0"]),
        ("where.value=NaN&where.value=INF&where.value=-INF", &["-INF", "INF", "NaN"]),
        ("where.value.lt=INF", &["INF"]),
        ("where.final=yes&where.final=1", &["true"]),
        ("where.final.null=off", &["false"]),
    ];
    for (raw, expected) in cases {
        assert_eq!(values(raw), expected, "{raw}");
    }
}

#[test]
fn a_value_of_another_type_is_refused_contract_15() {
    let cases = [
        ("where.count=1.5", "int_parsing"),
        ("where.count=15e-1", "int_parsing"),
        ("where.count=many", "int_parsing"),
        ("where.count=9223372036854775808", "int_parsing_size"),
        ("where.value=x", "float_parsing"),
        ("where.value=nan", "float_parsing"),
        ("where.value=Infinity", "float_parsing"),
        ("where.value=0x10", "float_parsing"),
        ("where.value=1e999", "finite_number"),
        ("where.value.ge=NaN", "finite_number"),
        ("where.final=2", "bool_parsing"),
        ("where.date=2020-13-01", "date_from_datetime_parsing"),
        ("where.date=2020-01-01T00:00:00", "date_from_datetime_inexact"),
    ];
    for (raw, kind) in cases {
        assert_eq!(problem(raw).0, kind, "{raw}");
    }
}

#[test]
fn an_operator_that_a_type_does_not_have_is_refused_contract_15() {
    for raw in ["where.value.contains=1", "where.count.starts=1", "where.date.contains=2020"] {
        let (kind, msg) = problem(raw);
        assert_eq!(kind, "value_error");
        assert!(msg.ends_with("it has equality and not, ge, gt, le, lt, null"), "{msg}");
    }
    let (_, msg) = problem("where.final.ge=true");
    assert_eq!(
        msg,
        "Value error, column 'final' is of type boolean and has no operator 'ge'; it has equality and not, null"
    );
    for operator in ["not", "ge", "gt", "le", "lt", "contains", "starts", "null"] {
        let raw = format!("where.industry.{operator}=1");
        assert!(resolved(&raw).is_ok(), "{raw}");
    }
}

#[test]
fn an_unknown_column_is_named_with_the_nearest_contract_15() {
    assert_eq!(
        problem("where.industy=Mining").1,
        "Value error, unknown column 'industy'; the nearest is 'industry'; this dataset has date, industry, count, value, final, geometry_wkt"
    );
    let (_, far) = problem("where.zzz=1");
    assert!(far.starts_with("Value error, unknown column 'zzz'; this dataset has date,"), "{far}");
    let long = format!("where.{}=1", "industry".repeat(9));
    assert!(!problem(&long).1.contains("nearest"), "no name is sought for one of 72 bytes");
    assert!(problem("where.geometry_wkt=POINT").1.contains("bbox=west,south,east,north"));
}

#[test]
fn conditions_are_the_same_in_any_order_contract_15() {
    let one = resolved("where.value.ge=1&where.industry=b&where.industry=a&where.value.lt=2");
    let other = resolved("where.industry=a&where.value.lt=2.0&where.industry=b&where.value.ge=1");
    assert_eq!(one.unwrap(), other.unwrap());
}
