//! Contents of the generated project, without the tool itself.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use yearbook_sdk::testing::project::{self, HARD, generate, text};

use super::*;

#[test]
fn datasets_come_with_typed_columns_keys_and_pages() {
    let made = generate::<Dlt>(&project::request(), &[]).unwrap();
    let datasets: Value = serde_json::from_str(text(&made, "datasets.json")).unwrap();
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
fn the_program_is_the_same_whatever_publishers_write() {
    let made = generate::<Dlt>(&project::request(), &[]).unwrap();
    assert_eq!(text(&made, "yearbook_pipeline.py"), include_str!("pipeline.py"));
    assert!(text(&made, ".dlt/config.toml").contains("base_url = \"https://data.example.org\""));
}

#[test]
fn a_key_is_a_placeholder_and_what_has_none_is_said() {
    let made = generate::<Dlt>(&project::request(), &[]).unwrap();
    assert_eq!(
        text(&made, ".dlt/secrets.toml"),
        "[sources.yearbook]\napi_key = \"<YOUR_API_KEY>\"\n"
    );
    assert!(made.warnings[0].starts_with("A full run costs 6 requests"), "{}", made.warnings[0]);
    assert!(made.warnings[1].ends_with(": codes."), "{}", made.warnings[1]);
}
