//! Conditions as they are sent: names, operators, repetitions and bounds.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;
use crate::query::parse_pairs;

fn parsed(raw: &str) -> Vec<(String, &'static str, Vec<String>)> {
    let conditions = parse_conditions(&parse_pairs(raw)).unwrap();
    conditions.into_iter().map(|one| (one.column, one.operator.as_str(), one.values)).collect()
}

fn problems(raw: &str) -> Vec<ValidationError> {
    parse_conditions(&parse_pairs(raw)).unwrap_err()
}

/// Name of the parameter, kind and sentence of the only problem.
fn problem(raw: &str) -> (String, &'static str, String) {
    let mut found = problems(raw);
    assert_eq!(found.len(), 1, "{raw}: {found:?}");
    let problem = found.remove(0);
    (problem.loc[1].clone(), problem.kind, problem.msg)
}

#[test]
fn a_name_has_a_column_and_an_operator_contract_15() {
    let one = |column: &str, operator, value: &str| {
        vec![(column.to_owned(), operator, vec![value.to_owned()])]
    };
    assert_eq!(parsed("where.region=Hawke's+Bay"), one("region", "", "Hawke's Bay"));
    assert_eq!(
        parsed("where.not=1"),
        one("not", "", "1"),
        "a column may be called like an operator"
    );
    assert_eq!(parsed("where.not.not=1"), one("not", "not", "1"));
    assert_eq!(parsed("where.value.ge=0.2"), one("value", "ge", "0.2"));
    assert_eq!(parsed("where.a="), one("a", "", ""), "an empty value is the empty text");
    assert_eq!(parsed("where.a=%20b,c%7C*"), one("a", "", " b,c|*"), "values are raw");
    assert_eq!(parsed("whereabouts=1&where_=2&csv.where.a=3"), []);
}

#[test]
fn what_begins_like_a_condition_and_is_none_is_refused_contract_15() {
    for name in ["where", "where.", "where..ge", "where[a]", "where[a].ge"] {
        let (parameter, kind, msg) = problem(&format!("{name}=1"));
        assert_eq!((parameter.as_str(), kind), (name, "value_error"));
        assert_eq!(
            msg,
            "Value error, write conditions as where.COLUMN=VALUE or where.COLUMN.OPERATOR=VALUE"
        );
    }
    let (parameter, kind, msg) = problem("where.value.gte=1");
    assert_eq!((parameter.as_str(), kind), ("where.value.gte", "value_error"));
    assert!(msg.starts_with("Value error, unknown operator 'gte'; "), "{msg}");
    assert!(msg.ends_with("one of not, ge, gt, le, lt, contains, starts, null"), "{msg}");
    let (_, _, msg) = problem("where.value.contain=1");
    assert!(msg.contains("the nearest is 'contains'"), "{msg}");
    for far in ["", "zz", "a.b", &"ge".repeat(40)] {
        let (_, _, msg) = problem(&format!("where.value.{far}=1"));
        assert!(msg.contains(&format!("unknown operator '{far}'; a condition")), "{msg}");
    }
}

#[test]
fn values_repeat_and_the_last_bound_wins_contract_15() {
    let values = |raw: &str| parsed(raw).into_iter().map(|(_, _, values)| values).next().unwrap();
    for operator in ["", ".not", ".contains", ".starts"] {
        let raw = format!("where.a{operator}=2&where.a{operator}=1&where.a{operator}=2");
        assert_eq!(values(&raw), ["2", "1"], "{operator}");
    }
    for operator in ["ge", "gt", "le", "lt", "null"] {
        let raw = format!("where.a.{operator}=true&where.a.{operator}=false");
        assert_eq!(values(&raw), ["false"], "{operator}");
    }
    assert_eq!(parsed("where.a=1&where.b=2&where.a.ge=3&where.a=4").len(), 3);
    assert_eq!(problem("where.a.null=perhaps").1, "bool_parsing");
}

#[test]
fn conditions_have_bounds_contract_15() {
    let many = |count: usize, pair: &dyn Fn(usize) -> String| {
        (0..count).map(pair).collect::<Vec<_>>().join("&")
    };
    let pairs = |index: usize| format!("where.c{index}=1");
    assert_eq!(parsed(&many(64, &pairs)).len(), 64);
    assert_eq!(problem(&many(65, &pairs)).0, "where");
    let values = |index: usize| format!("where.a={index}");
    assert_eq!(parsed(&many(1_024, &values))[0].2.len(), 1_024);
    assert_eq!(problem(&many(1_025, &values)).0, "where");
    let searches = |index: usize| format!("where.a.{}=x{index}", ["contains", "starts"][index % 2]);
    assert_eq!(parsed(&many(64, &searches)).len(), 2);
    assert_eq!(problem(&many(65, &searches)).0, "where");
    let long = |bytes: usize| format!("where.a={}", "x".repeat(bytes));
    assert_eq!(parsed(&long(1_024)).len(), 1);
    let (parameter, kind, msg) = problem(&long(1_025));
    assert_eq!((parameter.as_str(), kind), ("where.a", "bytes_too_long"));
    assert_eq!(msg, "Data should have at most 1024 bytes");
}

#[test]
fn every_problem_is_told_at_once_in_the_order_sent_contract_15() {
    for (raw, expected) in [
        (
            "where.b.x=1&where.a=1&where=2&where.c.null=7",
            &["where.b.x", "where", "where.c.null"][..],
        ),
        ("where.a.null=maybe&where.a.zz=1", &["where.a.null", "where.a.zz"]),
        ("where.a.null=maybe&where.a.zz=1&where.a.null=7", &["where.a.zz", "where.a.null"]),
        ("where.a.null=maybe&where.a.zz=1&where.a.null=no", &["where.a.zz"]),
    ] {
        let names: Vec<String> =
            problems(raw).into_iter().map(|problem| problem.loc[1].clone()).collect();
        assert_eq!(names, expected, "{raw}");
    }
}
