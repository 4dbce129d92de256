//! Contents of the generated project, without the tool itself.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use yearbook_sdk::testing::project::{self, HARD, generate, text};

use super::*;

#[test]
fn datasets_come_with_typed_columns_keys_and_pages() {
    let project = generate::<Dlt>(&project::request(), &[]).unwrap();
    let datasets: Value = serde_json::from_str(text(&project, "datasets.json")).unwrap();
    let long = &datasets["harvest_long"];
    assert_eq!(long["primary_key"], json!(["date", "region"]));
    assert_eq!(
        long["columns"]["date"],
        json!({"data_type": "date", "nullable": false, "description": HARD})
    );
    assert_eq!(
        (&long["columns"]["value"]["data_type"], &long["columns"]["value"]["nullable"]),
        (&json!("double"), &json!(true))
    );
    assert_eq!((&long["rows"], &datasets["places"]["rows"]), (&json!(50_000), &json!(500)));
    assert_eq!(long["attribution"], HARD);
}

#[test]
fn a_required_number_may_come_as_null_contract_4() {
    let mut request = project::request();
    request.datasets[0].columns[3].nullable = false;
    let project = generate::<Dlt>(&request, &[]).unwrap();
    let datasets: Value = serde_json::from_str(text(&project, "datasets.json")).unwrap();
    let columns = &datasets["harvest_long"]["columns"];
    assert_eq!(
        (&columns["value"]["nullable"], &columns["region"]["nullable"]),
        (&json!(true), &json!(false))
    );
}

#[test]
fn the_program_is_the_same_whatever_publishers_write() {
    let project = generate::<Dlt>(&project::request(), &[]).unwrap();
    assert_eq!(text(&project, "yearbook_pipeline.py"), include_str!("pipeline.py"));
    assert!(text(&project, ".dlt/config.toml").contains("base_url = \"https://data.example.org\""));
}

#[test]
fn a_key_is_a_placeholder_and_what_has_none_is_said() {
    let project = generate::<Dlt>(&project::request(), &[]).unwrap();
    assert_eq!(
        text(&project, ".dlt/secrets.toml"),
        "[sources.yearbook]\napi_key = \"<YOUR_API_KEY>\"\n"
    );
    assert!(
        project.warnings[0].starts_with("A full run costs 6 requests"),
        "{}",
        project.warnings[0]
    );
    assert!(project.warnings[1].ends_with(": codes."), "{}", project.warnings[1]);
}
