//! Contents of the generated descriptor, without the tool itself.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use serde_json::json;
use yearbook_sdk::Value;
use yearbook_sdk::testing::project::{self, HARD, generate};

use super::*;

#[test]
fn resources_have_keys_types_and_credits() {
    let package = package::package(&project::request(), ResourceSource::Rows);
    let long = &package["resources"][0];
    assert_eq!(
        long["path"],
        "https://data.example.org/v1/datasets/harvest_long/data?format=csv&limit=1000000000"
    );
    assert_eq!(
        package["resources"][1]["path"],
        "https://data.example.org/v1/datasets/prices_wide/data?format=csv&limit=0"
    );
    assert_eq!(
        (&long["schema"]["primaryKey"], &long["schema"]["missingValues"]),
        (&json!(["date", "region"]), &json!([""]))
    );
    assert_eq!(long["schema"]["fields"][0]["constraints"], json!({"required": true}));
    assert!(
        long["schema"]["fields"][2].get("constraints").is_none(),
        "a text of no characters is a value"
    );
    assert_eq!((&long["attribution"], &long["sources"][0]["title"]), (&json!(HARD), &json!(HARD)));
    assert!(package["resources"][3]["schema"].get("primaryKey").is_none());
}

#[test]
fn files_stand_where_plan_and_licence_allow_them() {
    let mut request = project::request();
    request.plan.row_cap = None;
    let options = [("source", Value::Text("bulk".to_owned()))];
    let none = generate::<Frictionless>(&request, &options).unwrap();
    assert!(
        none.warnings.iter().any(|warning| warning.contains("has no bulk files")),
        "{:?}",
        none.warnings
    );
    request.plan.bulk = BulkFiles::Monthly;
    let package = package::package(&request, ResourceSource::Files);
    assert_eq!(
        package["resources"][0]["path"],
        "https://data.example.org/v1/bulk/tests/harvest_long"
    );
    assert_eq!(
        (&package["resources"][0]["format"], &package["resources"][2]["format"]),
        (&json!("parquet"), &json!("csv"))
    );
    let monthly = generate::<Frictionless>(&request, &options).unwrap();
    assert!(
        monthly
            .warnings
            .iter()
            .any(|warning| warning.contains("forbids") && warning.ends_with(": places."))
    );
    assert!(monthly.warnings.iter().any(|warning| warning.contains("when the month began")));
}

#[test]
fn a_licence_that_is_no_identifier_keeps_its_words_as_a_title() {
    let mut request = project::request();
    request.datasets[0].licence = "Crown © (see site)".to_owned();
    let licence =
        package::package(&request, ResourceSource::Rows)["resources"][0]["licenses"][0].clone();
    assert_eq!(licence, json!({"name": "Crown----see-site-", "title": "Crown © (see site)"}));
}

#[test]
fn rows_beyond_the_cap_are_said() {
    let made = generate::<Frictionless>(&project::request(), &[]).unwrap();
    assert!(
        made.warnings[1].contains("caps a response at 50000 rows")
            && made.warnings[1].contains(": harvest_long.")
    );
}
