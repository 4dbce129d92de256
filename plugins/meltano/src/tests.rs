//! Contents of the generated project, without the tool itself.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use yearbook_sdk::Value;
use yearbook_sdk::testing::project::{self, generate, text};

use super::*;

fn stream(request: &Request, index: usize, geometry: bool) -> serde_json::Value {
    TapStream::new(&request.datasets[index], &request.plan, geometry, true).definition()
}

#[test]
fn every_table_is_read_whole_unless_its_owner_chooses_otherwise_contract_4() {
    let request = project::request();
    let project = generate::<Meltano>(&request, &[]).unwrap();
    let yaml = text(&project, "meltano.yml");
    assert!(!yaml.contains("replication_key") && !yaml.contains("source_search"), "{yaml}");
    assert!(yaml.contains("primary_keys") && yaml.contains("do_timestamp_file: true"), "{yaml}");
    assert!(
        !text(&project, "README.md").contains("--full-refresh"),
        "nothing is left for a person to remember"
    );
    assert!(
        project.warnings.iter().all(|warning| !warning.contains("misses")),
        "{:?}",
        project.warnings
    );
    let chosen = generate::<Meltano>(&request, &[("incremental", Value::Boolean(true))]).unwrap();
    assert!(text(&chosen, "meltano.yml").contains("replication_key: date"));
    assert!(text(&chosen, "meltano.yml").contains("do_timestamp_file: false"));
    assert!(
        chosen.warnings.iter().any(|warning| warning.contains("misses changes to older rows")),
        "{:?}",
        chosen.warnings
    );
}

#[test]
fn dated_tables_read_on_where_that_is_chosen_and_others_are_read_whole() {
    let request = project::request();
    let long = stream(&request, 0, true);
    assert_eq!(long["path"], "/datasets/harvest_long/data");
    assert_eq!(
        (&long["replication_key"], &long["source_search_field"]),
        (&json!("date"), &json!("start"))
    );
    assert_eq!(long["primary_keys"], json!(["date", "region"]));
    assert_eq!(long["params"], json!({"limit": 50_000, "format": "json"}));
    assert!(stream(&request, 2, true).get("replication_key").is_none(), "spatial");
    assert!(stream(&request, 3, true).get("replication_key").is_none(), "undated");
}

#[test]
fn a_tap_that_reads_on_has_a_date_to_begin_with_contract_4() {
    let mut request = project::request();
    let tap = |request: &Request, incremental| {
        let options = [("incremental", Value::Boolean(incremental))];
        let project = generate::<Meltano>(request, &options).unwrap();
        // Quoted: YAML has dates of its own.
        text(&project, "meltano.yml").contains("start_date: \"0001-01-01\"")
    };
    assert!(tap(&request, true) && !tap(&request, false));
    request.datasets.drain(..3);
    assert!(!tap(&request, true), "no dataset has a date");
}

#[test]
fn columns_are_typed_in_place_and_nullable_where_they_are() {
    let schema = stream(&project::request(), 0, true)["schema"]["properties"].clone();
    assert_eq!(schema["date"], json!({"type": ["string"], "format": "date"}));
    assert_eq!(schema["value"], json!({"type": ["number", "null"]}));
    assert_eq!(schema["final"], json!({"type": ["boolean", "null"]}));
}

#[test]
fn geometry_is_left_out_of_request_and_schema_alike() {
    let request = project::request();
    let whole = stream(&request, 2, true);
    assert!(
        whole["schema"]["properties"].get("geometry_wkt").is_some()
            && whole["params"].get("geometry").is_none()
    );
    let without = stream(&request, 2, false);
    assert!(without["schema"]["properties"].get("geometry_wkt").is_none());
    assert_eq!(without["params"]["geometry"], "false");
    assert_eq!(without["replication_key"], "date");
    let yaml = generate::<Meltano>(&request, &[("geometry", Value::Boolean(false))]).unwrap();
    assert!(text(&yaml, "meltano.yml").contains("geometry: \"false\""));
}

#[test]
fn a_limited_plan_is_told_what_a_run_costs_and_never_sees_a_key() {
    let mut request = project::request();
    let project = generate::<Meltano>(&request, &[]).unwrap();
    // 120,001 rows in pages of 50,000, and one request for each of the others.
    assert!(
        project.warnings[0]
            .starts_with("A full run costs 6 requests, and the free plan has 10 a month"),
        "{}",
        project.warnings[0]
    );
    assert!(text(&project, "README.md").contains("A full run costs 6 requests"));
    assert!(
        text(&project, "meltano.yml").contains("$SERVICE_API_KEY")
            && !text(&project, "meltano.yml").contains("yb_")
    );
    request.plan.monthly_requests = None;
    assert!(!generate::<Meltano>(&request, &[]).unwrap().warnings[0].contains("costs"));
}
