//! Tools that find, describe, read and cite (contract-20).

use serde_json::{Value, json};
use yearbook_sdk::adapter::{
    Applied, BoundingBox, Condition, Operator, Pick, Question, Selection, Version,
};
use yearbook_sdk::testing::project::HARD;

use crate::kit::{answer_with, refused, tool, tool_call};

fn names(values: &Value, name: &str) -> Vec<String> {
    let values = values.as_array().unwrap().iter();
    values.map(|value| value[name].as_str().unwrap().to_owned()).collect()
}

/// Checks that all is there which belongs to every number.
fn has_source(structure: &Value) {
    for name in ["snapshot", "published_at", "citation"] {
        assert!(!structure[name].as_str().unwrap().is_empty(), "{name}");
    }
    assert!(!structure["credit"]["line"].as_str().unwrap().is_empty());
}

/// The selection with which the host was asked for rows.
fn selected(name: &str, arguments: Value) -> Selection {
    let (_, asked) = answer_with(&tool_call(name, arguments), |_, fact| fact);
    let selection = asked.into_iter().find_map(|question| match question {
        Question::Rows(selection) | Question::Citation(selection) => Some(selection),
        _ => None,
    });
    selection.unwrap()
}

#[test]
fn datasets_are_found_and_described_contract_20() {
    let found = tool("search_datasets", json!({ "query": "harvest" }));
    assert_eq!(
        (&found["total"], names(&found["datasets"], "dataset")),
        (&json!(1), vec!["harvest_long".into()])
    );
    let harvest = &found["datasets"][0];
    assert_eq!(harvest["title"], HARD);
    assert_eq!(harvest["dates"], json!(["2024-01-01", "2025-12-01"]));
    assert_eq!(names(&harvest["columns"], "name"), ["date", "period", "region", "value", "final"]);
    assert!(harvest["credit"]["source"].is_string());
    assert_eq!(
        tool("search_datasets", json!({ "limit": 2 }))["datasets"].as_array().unwrap().len(),
        2
    );
    assert_eq!(tool("search_datasets", json!({}))["total"], 4);

    let described = tool("describe_dataset", json!({ "dataset": "harvest_long" }));
    assert_eq!(described["series_columns"], json!(["region"]));
    assert_eq!(described["primary_key"], json!(["date", "region"]));
    assert_eq!(described["distance_of_dates"], "month");
    assert_eq!(described["notes"], json!([HARD]));
    assert_eq!(described["editions"].as_array().unwrap().len(), 2);
    assert_eq!(described["snapshot"], described["editions"][0]["snapshot"]);
    // A value column has a unit, known or not; no other column has one that is not.
    let columns = described["columns"].as_array().unwrap();
    assert!(columns.iter().all(|column| column["role"] != "value" || column.get("unit").is_some()));
    let places = tool("describe_dataset", json!({ "dataset": "places" }));
    assert_eq!(places["bbox"], json!([168.3, -46.5, -176.5, -36.8]));
    let sentence = refused("describe_dataset", json!({ "dataset": "nothing" }));
    assert_eq!(sentence, "there is no dataset 'nothing' (search_datasets finds names)");
}

#[test]
fn values_are_listed_with_their_rows_contract_20() {
    let listed =
        tool("list_values", json!({ "dataset": "harvest_long", "columns": ["region", "final"] }));
    has_source(&listed);
    let region = &listed["columns"][0];
    assert_eq!((&region["distinct"], &region["values_remain"]), (&json!(3), &json!(false)));
    let north = json!({ "value": "north", "label": null, "rows": 24, "first": "2024-01-01", "last": "2025-12-01" });
    assert!(region["values"].as_array().unwrap().contains(&north), "{region}");
    let arguments = json!({
        "dataset": "harvest_long",
        "columns": "region",
        "where": { "region.not": "north" },
        "limit": 1,
    });
    let some = tool("list_values", arguments);
    assert_eq!(
        (&some["columns"][0]["distinct"], &some["columns"][0]["values_remain"]),
        (&json!(2), &json!(true))
    );
    let all = json!({ "dataset": "harvest_long", "columns": [] });
    assert!(refused("list_values", all).starts_with("columns: "));
}

#[test]
fn rows_have_all_that_belongs_to_their_numbers_contract_20() {
    let data = tool(
        "get_data",
        json!({ "dataset": "harvest_long", "where": { "region": "north" }, "limit": 2 }),
    );
    has_source(&data);
    let row = json!({ "date": "2024-01-01", "period": "2024-01", "region": "north", "value": 1.0, "final": true });
    assert_eq!(data["rows"][0], row);
    assert_eq!((&data["rows_remain"], &data["changed_by"]), (&json!(true), &json!(null)));
    assert!(data["columns"][3].get("unit").is_some());
    let all = tool("get_data", json!({ "dataset": "codes", "limit": 200 }));
    assert_eq!((&all["rows_remain"], &all["rows_in_selection"]), (&json!(false), &json!(4)));
    // The largest integer, and text that must be escaped twice.
    assert_eq!(all["rows"][0]["count"].as_i64(), Some(i64::MAX));
    assert_eq!(all["rows"][2]["code"], HARD);
    let twenty = tool("get_data", json!({ "dataset": "harvest_long" }));
    assert_eq!(twenty["rows"].as_array().unwrap().len(), 20);
    let applied = tool("get_data", json!({ "dataset": "harvest_long", "apply": ["growth"] }));
    assert_eq!(applied["changed_by"], "changed by growth");
}

#[test]
fn arguments_are_the_selection_of_v1_contract_20() {
    let selection = selected(
        "get_data",
        json!({
            "dataset": "places",
            "where": { "name": ["a", "b"], "name.not": "c", "x.ge": 5, "y.null": false, "z": true },
            "start": "2024",
            "end": "2024-06-30",
            "last": 1,
            "sort": ["-name", "date"],
            "bbox": [170, -50.5, -170, 0],
            "columns": ["name", "date"],
            "apply": [
                { "name": "aggregate", "options": { "by": ["name", "date"], "min": 1 } },
                { "name": "growth" },
            ],
            "as_of": "2024-01-01",
            "limit": 7,
        }),
    );
    let condition = |column: &str, operator, values: &[&str]| Condition {
        column: column.to_owned(),
        operator,
        values: values.iter().map(|value| (*value).to_owned()).collect(),
    };
    let mut expected = Selection {
        version: Version::AsOf("2024-01-01".into()),
        start: Some("2024".into()),
        end: Some("2024-06-30".into()),
        conditions: vec![
            condition("name", Operator::Equal, &["a", "b"]),
            condition("name", Operator::NotEqual, &["c"]),
            condition("x", Operator::Ge, &["5"]),
            condition("y", Operator::IsNotNull, &[]),
            condition("z", Operator::Equal, &["true"]),
        ],
        bbox: Some(BoundingBox { west: 170.0, south: -50.5, east: -170.0, north: 0.0 }),
        columns: Some(vec!["name".into(), "date".into()]),
        sort: vec![("name".into(), true), ("date".into(), false)],
        pick: Pick::Last(1),
        limit: Some(7),
        ..Selection::new("places")
    };
    let option = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let options = vec![option("by", "name,date"), option("min", "1")];
    expected.apply = vec![
        Applied { transform: "aggregate".into(), options },
        Applied { transform: "growth".into(), options: vec![] },
    ];
    assert_eq!(selection, expected);
    let cited = selected("cite", json!({ "dataset": "codes" }));
    assert_eq!((cited.limit, cited.version, cited.geometry), (Some(0), Version::Current, true));
    let some = json!({ "dataset": "places", "where": { "name": "Auckland" } });
    assert!(!selected("cite", some).geometry);
}

#[test]
fn wrong_arguments_are_named_contract_20() {
    let with = |name: &str, value: Value| {
        let mut arguments = json!({ "dataset": "harvest_long" });
        arguments[name] = value;
        refused("get_data", arguments)
    };
    for (name, value, begins) in [
        ("colour", json!(1), "colour: there is no such argument; there are dataset, where,"),
        ("dataset", json!(null), "dataset: this argument is needed"),
        ("dataset", json!(7), "dataset: this is a text"),
        ("limit", json!(0), "limit: this is a whole number from 1 to 200"),
        ("limit", json!(201), "limit: "),
        ("limit", json!("5"), "limit: "),
        ("first", json!(1001), "first: "),
        ("where", json!("region=north"), "where: this is an object"),
        ("where", json!({ "region": [] }), "where.region: "),
        ("where", json!({ "region": null }), "where.region: for rows without a value write"),
        ("where", json!({ "region": {} }), "where.region: "),
        ("where", json!({ "region.like": "n" }), "where.region.like: there is no operator 'like'"),
        ("where", json!({ "value.ge": [1, 2] }), "where.value.ge: this takes one value"),
        ("where", json!({ "value.null": "maybe" }), "where.value.null: this is true or false"),
        ("sort", json!([1]), "sort: "),
        ("bbox", json!([1, 2, 3]), "bbox: "),
        ("bbox", json!("1,2,3,4"), "bbox: "),
        ("columns", json!({}), "columns: "),
        ("apply", json!("growth"), "apply: "),
        ("apply", json!([{}]), "apply: each step has a name"),
        ("apply", json!([{ "name": "growth", "options": [] }]), "apply: options are an object"),
        // What the host refuses.
        ("start", json!("soon"), "start: start is a date"),
        ("where", json!({ "colour": "red" }), "where.colour: there is no column 'colour'"),
        ("as_of", json!("then"), "as_of: as_of is a date or a time"),
    ] {
        let shown = value.to_string();
        let sentence = with(name, value);
        assert!(sentence.starts_with(begins), "{name} {shown}: {sentence}");
    }
    let both = json!({ "dataset": "codes", "first": 1, "last": 1 });
    assert!(refused("get_data", both).starts_with("last: first and last exclude each other"));
}

#[test]
fn a_citation_has_text_address_and_digest_contract_20() {
    let cited = tool("cite", json!({ "dataset": "places" }));
    has_source(&cited);
    assert!(cited["text"].as_str().unwrap().contains(cited["snapshot"].as_str().unwrap()));
    assert_eq!(cited["digest"], json!(null));
    let digest = format!("yb1:{}", "0a".repeat(32));
    let request = tool_call("cite", json!({ "dataset": "places" }));
    let (document, _) = answer_with(&request, |_, fact| match fact {
        yearbook_sdk::adapter::Fact::Citation(mut cited) => {
            cited.text = format!("A yb1:title. Digest: {digest}. Licence: x.\n");
            yearbook_sdk::adapter::Fact::Citation(cited)
        }
        fact => fact,
    });
    assert_eq!(crate::kit::structure(&document)["digest"], json!(digest));
}
