//! Contents of the generated connector, without the tool itself.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use serde_json::json;
use yearbook_sdk::testing::project::{self, generate, text};

use super::*;

#[test]
fn every_dataset_has_its_path_and_its_typed_rows() {
    let document = openapi::document(&project::request());
    assert_eq!(document["paths"].as_object().unwrap().len(), 4);
    let row = &document["components"]["schemas"]["harvest_long_row"];
    assert_eq!(row["properties"]["date"]["format"], "date");
    assert_eq!(
        (&row["properties"]["value"]["nullable"], row["properties"]["date"].get("nullable")),
        (&json!(true), None)
    );
    assert_eq!(row["required"], json!(["date", "period", "region", "value", "final"]));
    assert_eq!(row["x-primary-key"], json!(["date", "region"]));
    let parameters = |name: &str| {
        document["paths"][format!("/v1/datasets/{name}/data")]["get"]["parameters"]
            .as_array()
            .unwrap()
            .len()
    };
    assert_eq!(
        (parameters("harvest_long"), parameters("codes")),
        (4, 2),
        "start and end only where there is a date"
    );
}

#[test]
fn a_row_may_have_null_for_a_required_number_contract_4() {
    let mut request = project::request();
    request.datasets[0].columns[3].nullable = false;
    let document = openapi::document(&request);
    let row = &document["components"]["schemas"]["harvest_long_row"]["properties"];
    assert_eq!((&row["value"]["nullable"], row["region"].get("nullable")), (&json!(true), None));
}

#[test]
fn the_program_has_the_table_and_no_text_of_a_publisher() {
    let project = generate::<Fivetran>(&project::request(), &[]).unwrap();
    let program = text(&project, "connector.py");
    assert!(program.contains("\"harvest_long\": {\n        \"rows\": 50000,\n        \"primary_key\": [\"date\", \"region\"],"));
    assert!(program.contains("\"value\": \"DOUBLE\",") && !program.contains("DATASETS = {}"));
    assert!(!program.contains("</script>"), "titles and credits stay out of code");
}

#[test]
fn a_key_is_a_placeholder_and_a_limited_plan_is_warned() {
    let project = generate::<Fivetran>(&project::request(), &[]).unwrap();
    let configuration: serde_json::Value =
        serde_json::from_str(text(&project, "configuration.json")).unwrap();
    assert_eq!(
        configuration,
        json!({"base_url": "https://data.example.org", "api_key": "<YOUR_API_KEY>"})
    );
    assert!(
        project.warnings[0].starts_with("A full run costs 6 requests"),
        "{}",
        project.warnings[0]
    );
    assert!(
        project.warnings.iter().any(|warning| warning.ends_with("codes.")),
        "{:?}",
        project.warnings
    );
}
