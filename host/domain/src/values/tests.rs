//! Parameters of `/values`, and pages of stored values. Reads no file.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use super::*;
use crate::fixtures::snapshot;
use crate::query::parse_pairs;
use crate::read_plan::FloatKey;
use crate::{Column, ColumnRole, ColumnType, DatasetName, Millis, Namespace, ReadPlan};

fn all() -> ReadPlan {
    let column = |name, of, role| Column::new(name, of, role);
    let mut snapshot = snapshot(vec![
        column("date", ColumnType::Date, ColumnRole::Date),
        column("region", ColumnType::String, ColumnRole::Dimension),
        column("code", ColumnType::Integer, ColumnRole::Key),
        column("value", ColumnType::Number, ColumnRole::Value),
        column("geometry_wkt", ColumnType::String, ColumnRole::Geometry),
        column("sector", ColumnType::String, ColumnRole::Dimension),
    ]);
    snapshot.date_column = Some("date".to_owned());
    let (name, namespace) =
        (DatasetName::parse("cpi").unwrap(), Namespace::parse("prices").unwrap());
    ReadPlan::full_scan(name, namespace, Arc::new(snapshot))
}

fn resolve(raw: &str) -> ValuesTarget {
    ValuesQuery::parse(&parse_pairs(raw), Millis(0)).unwrap().resolve(all()).unwrap()
}

fn problems(raw: &str) -> Vec<(String, String, &'static str)> {
    let parsed = ValuesQuery::parse(&parse_pairs(raw), Millis(0));
    let problems = parsed.and_then(|query| query.resolve(all())).unwrap_err();
    let problem = |problem: crate::ValidationError| {
        (problem.loc[1].clone(), problem.msg.replace("Value error, ", ""), problem.kind)
    };
    problems.into_iter().map(problem).collect()
}

#[test]
fn values_are_those_of_stored_rows_contract_16() {
    let names: Vec<String> = problems("apply=growth&limit=0").into_iter().map(|p| p.0).collect();
    assert_eq!(names, ["limit", "apply"]);
}

#[test]
fn parameters_have_their_defaults_and_bounds_contract_15() {
    let plain = resolve("");
    assert_eq!((plain.columns.as_slice(), plain.page.limit), (&[1, 5][..], 1_000));
    assert!(plain.is_whole() && plain.page.after.is_none());
    // What belongs to rows alone is unknown here.
    assert_eq!(resolve("first=0&last=x&sort=nothing&format=xml&geometry=7&cursor=a"), plain);
    assert!(resolve("snapshot=x&columns=region&limit=10000").is_whole());
    assert!(resolve("as_of=1970-01-01").is_whole(), "rows of one version, all of them");
    for raw in ["start=2020-01-01", "end=2020-01-01", "dimensions=x", "where.value.ge=1"] {
        assert!(!resolve(raw).is_whole(), "{raw}");
    }
    let target = resolve("columns=code,+region&limit=1");
    assert_eq!((target.columns.as_slice(), target.plan.columns.len()), (&[2, 1][..], 6));
    for (raw, value) in [
        ("columns=code&after=1e3", ColumnValue::Integer(1_000)),
        ("columns=region&after=", ColumnValue::Text(String::new())),
        ("columns=date&after=2020-01-31", ColumnValue::Text("2020-01-31".to_owned())),
        ("columns=value&after=-INF", ColumnValue::Number(FloatKey::new(f64::NEG_INFINITY))),
    ] {
        assert_eq!(resolve(raw).page.after, Some(value), "{raw}");
    }
}

#[test]
fn every_problem_is_told_where_it_is_contract_15() {
    let stray = "after goes on in one column; name it, and no other, in columns";
    let geometry = "geometry_wkt has no list of values; leave it out";
    let many: Vec<String> = (0..17).map(|index| format!("c{index}")).collect();
    for (raw, expected) in [
        ("limit=0", ("limit", "Input should be greater than or equal to 1", "greater_than_equal")),
        (
            "limit=10001",
            ("limit", "Input should be less than or equal to 10000", "less_than_equal"),
        ),
        ("after=x", ("after", stray, "value_error")),
        ("after=x&columns=region,sector", ("after", stray, "value_error")),
        ("columns=geometry_wkt", ("columns", geometry, "value_error")),
        ("columns=region,geometry_wkt", ("columns", geometry, "value_error")),
        (
            "columns=code&after=x",
            (
                "after",
                "Input should be a valid integer, unable to parse string as an integer",
                "int_parsing",
            ),
        ),
        (
            &format!("columns={}", many.join(",")),
            (
                "columns",
                "columns lists 17 names and may list 16 here; ask in several requests",
                "value_error",
            ),
        ),
    ] {
        let (name, sentence, kind) = expected;
        assert_eq!(problems(raw), [(name.to_owned(), sentence.to_owned(), kind)], "{raw}");
    }
    // All of one step come at once, and `after` is judged by the columns that were sent.
    for (raw, expected) in [
        (
            "limit=x&start=y&where.region.like=a&bbox=1&after=b",
            &["limit", "start", "where.region.like", "bbox", "after"][..],
        ),
        ("columns=code&after=5&start=y", &["start"]),
        ("columns=,&after=5", &["columns", "after"]),
        ("columns=code&after=x&where.nothing=1", &["where.nothing", "after"]),
        ("columns=geometry_wkt&where.nothing=1", &["columns", "where.nothing"]),
        ("columns=nothing&after=5", &["columns"]),
    ] {
        let names: Vec<String> = problems(raw).into_iter().map(|(name, ..)| name).collect();
        assert_eq!(names, expected, "{raw}");
    }
}

#[test]
fn rows_of_a_value_add_up_with_the_first_and_last_date() {
    let [early, late] = ["2020-01-31", "2021-12-31"].map(|text| Date::parse(text).unwrap());
    let mut rows = ValueRows::default();
    for date in [None, Some(late), None, Some(early)] {
        rows.merge(ValueRows::with_date(1, date));
    }
    assert_eq!(rows, ValueRows { rows: 4, first: Some(early), last: Some(late) });
}

fn counted(texts: &[&str]) -> ColumnValues {
    let rows = ValueRows { rows: 1, ..ValueRows::default() };
    ColumnValues {
        column: 1,
        distinct: None,
        nulls: 3,
        values: texts.iter().map(|text| (ColumnValue::Text((*text).to_owned()), rows)).collect(),
        has_more: false,
    }
}

#[test]
fn pages_of_stored_values_go_on_behind_a_value_and_end_with_their_bytes_contract_15() {
    let page = |texts: &[&str], limit, after: Option<&str>| {
        let stored = StoredValues::new(vec![counted(texts)]);
        let after = after.map(|text| ColumnValue::Text(text.to_owned()));
        let found = stored.column(1).unwrap().page(&ValuesPage { limit, after });
        assert_eq!((found.distinct, found.nulls), (Some(texts.len() as u64), 3));
        let values: Vec<usize> = found.values.iter().map(|(value, _)| value.text_bytes()).collect();
        (values, found.has_more)
    };
    let texts = ["a", "bb", "dddd"];
    assert_eq!(page(&texts, 2, None), (vec![1, 2], true));
    assert_eq!(page(&texts, 3, None), (vec![1, 2, 4], false));
    assert_eq!(page(&texts, 3, Some("bb")), (vec![4], false));
    assert_eq!(page(&texts, 1, Some("b")), (vec![2], true), "a value that is not there will do");
    assert_eq!(page(&texts, 3, Some("z")), (vec![], false));
    let long = ["x".repeat(MAX_TEXT_BYTES + 1), "y".to_owned(), "z".repeat(MAX_TEXT_BYTES)];
    let long: Vec<&str> = long.iter().map(String::as_str).collect();
    assert_eq!(page(&long, 3, None), (vec![MAX_TEXT_BYTES + 1], true));
    assert_eq!(page(&long, 3, Some("xy")), (vec![1], true));
    assert_eq!(page(&long, 3, Some("y")), (vec![MAX_TEXT_BYTES], false));
}

#[test]
fn a_page_ends_with_a_value_that_can_be_sent_contract_15() {
    let long = "b".repeat(MAX_VALUE_BYTES + 1);
    let short = &long[1..];
    // (values, further ones follow, values of the answer)
    let cases: [(&[&str], bool, Option<usize>); 5] = [
        (&["a", &long, &long], true, Some(1)),
        (&[&long, short], true, Some(2)),
        (&["a", &long], false, Some(2)),
        (&[&long], true, None),
        (&[], false, Some(0)),
    ];
    for (texts, has_more, expected) in cases {
        let mut column = ColumnValues { has_more, ..counted(texts) };
        let can_go_on = column.end_with_short();
        assert_eq!(can_go_on.then_some(column.values.len()), expected);
    }
}

#[test]
fn the_stored_form_reads_back_and_leaves_out_columns_with_too_many_values() {
    let date = Date::parse("2020-01-31");
    let rows = ValueRows { rows: 7, first: date, last: date };
    let integers = ColumnValues {
        column: 2,
        values: vec![(ColumnValue::Integer(i64::MIN), rows), (ColumnValue::Integer(0), rows)],
        ..counted(&[])
    };
    let booleans = ColumnValues {
        column: 3,
        values: vec![(ColumnValue::Boolean(false), ValueRows::default())],
        ..counted(&[])
    };
    let cut = ColumnValues { column: 4, has_more: true, ..counted(&["a"]) };
    let stored = StoredValues::new(vec![counted(&["", "ā"]), integers, booleans, cut]);
    assert!(stored.column(4).is_none() && stored.column(0).is_none());
    assert_eq!(StoredValues::from_json(&stored.to_json()).unwrap(), stored);
    assert!(StoredValues::from_json(b"{}").is_err());
}

#[test]
fn values_are_written_as_their_columns_are_contract_15() {
    let numbers = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 5.0, 10.5];
    let numbers = numbers.map(|number| ColumnValue::Number(FloatKey::new(number)));
    let json = serde_json::to_string(&numbers).unwrap();
    assert_eq!(json, r#"["NaN","INF","-INF",0.0,5.0,10.5]"#);
    let others = [
        ColumnValue::Integer(-5),
        ColumnValue::Boolean(true),
        ColumnValue::Text("a\"b".to_owned()),
    ];
    assert_eq!(serde_json::to_string(&others).unwrap(), r#"[-5,true,"a\"b"]"#);
}
