//! Contents of the generated manifest, without the tool itself.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use serde_json::json;
use yearbook_sdk::Value;
use yearbook_sdk::testing::project::{self, HARD, generate, text};

use super::*;

#[test]
fn every_sync_is_a_full_refresh_unless_its_owner_chooses_otherwise_contract_4() {
    let request = project::request();
    let made = generate::<Airbyte>(&request, &[]).unwrap();
    assert!(!text(&made, "manifest.yaml").contains("incremental_sync"));
    assert!(made.warnings.iter().all(|warning| !warning.contains("misses")), "{:?}", made.warnings);
    let chosen = generate::<Airbyte>(&request, &[("incremental", Value::Boolean(true))]).unwrap();
    assert!(text(&chosen, "manifest.yaml").contains("incremental_sync"));
    assert!(
        chosen.warnings.iter().any(|warning| warning.contains("misses changes to older rows")),
        "{:?}",
        chosen.warnings
    );
}

#[test]
fn dated_tables_may_be_read_on_and_others_are_read_whole() {
    let manifest = manifest::manifest(&project::request(), true);
    let stream = |index: usize| manifest["streams"][index].clone();
    assert_eq!(
        (&stream(0)["incremental_sync"]["cursor_field"], &stream(0)["primary_key"]),
        (&json!("date"), &json!(["date", "region"]))
    );
    assert!(stream(2).get("incremental_sync").is_none(), "spatial");
    assert!(
        stream(3).get("incremental_sync").is_none() && stream(3).get("primary_key").is_none(),
        "undated"
    );
    assert_eq!(stream(2)["retriever"]["paginator"]["pagination_strategy"]["page_size"], 500);
    assert_eq!(manifest["check"]["stream_names"], json!(["codes"]), "the smallest");
}

#[test]
fn texts_of_publishers_stand_where_nothing_is_interpolated() {
    let mut request = project::request();
    request.datasets.truncate(1);
    let manifest = manifest::manifest(&request, false);
    assert_eq!(manifest["metadata"]["credits"]["harvest_long"]["attribution"], HARD);
    assert_eq!(
        manifest["streams"][0]["schema_loader"]["schema"]["properties"]["value"]["description"],
        HARD
    );
    assert!(!manifest["streams"][0]["retriever"].to_string().contains("it's"));
}

#[test]
fn a_key_is_asked_for_and_a_limited_plan_is_warned() {
    let made =
        generate::<Airbyte>(&project::request(), &[("incremental", Value::Boolean(true))]).unwrap();
    assert!(text(&made, "manifest.yaml").contains("api_token: \"{{ config['api_key'] }}\""));
    assert!(text(&made, "config.json").contains("<YOUR_API_KEY>"));
    assert!(made.warnings[0].starts_with("A full run costs 6 requests"), "{}", made.warnings[0]);
    assert!(
        made.warnings[1].contains("harvest_long, prices_wide.")
            && made.warnings[2].ends_with(": codes.")
    );
}
