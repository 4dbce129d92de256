//! Contents of the generated manifest, without the tool itself.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use serde_json::json;
use yearbook_sdk::Value;
use yearbook_sdk::testing::project::{self, HARD, generate, text};

use super::*;

#[test]
fn every_sync_is_a_full_refresh_unless_its_owner_chooses_otherwise_contract_4() {
    let request = project::request();
    let project = generate::<Airbyte>(&request, &[]).unwrap();
    assert!(!text(&project, "manifest.yaml").contains("incremental_sync"));
    assert!(
        project.warnings.iter().all(|warning| !warning.contains("misses")),
        "{:?}",
        project.warnings
    );
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
fn a_table_that_begins_too_early_to_be_read_on_is_read_whole_contract_4() {
    let mut request = project::request();
    request.datasets.truncate(1);
    for (first, is_read_on) in [("1000-01-01", true), ("0999-12-31", false)] {
        request.datasets[0].date_range = Some((first.to_owned(), "2026-06-30".to_owned()));
        let project =
            generate::<Airbyte>(&request, &[("incremental", Value::Boolean(true))]).unwrap();
        let manifest = text(&project, "manifest.yaml");
        assert_eq!(manifest.contains("incremental_sync"), is_read_on, "{first}");
        let warnings = project.warnings.join("\n");
        assert_eq!(warnings.contains("May be synced incrementally"), is_read_on, "{warnings}");
    }
}

#[test]
fn a_text_that_looks_like_a_reference_is_none_contract_4() {
    let (text, kept) = ("#/100,000 people", " #/100,000 people");
    let mut request = project::request();
    request.datasets.truncate(1);
    let dataset = &mut request.datasets[0];
    dataset.columns[3].description = Some(text.to_owned());
    for field in [&mut dataset.attribution, &mut dataset.licence, &mut dataset.source] {
        text.clone_into(field);
    }
    (dataset.title, dataset.source_url) = (Some(text.to_owned()), Some(text.to_owned()));
    let manifest = manifest::manifest(&request, false);
    let properties = &manifest["streams"][0]["schema_loader"]["schema"]["properties"];
    assert_eq!(properties["value"]["description"], kept);
    for (name, credit) in manifest["metadata"]["credits"]["harvest_long"].as_object().unwrap() {
        assert_eq!(credit, kept, "{name}");
    }
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
    let project =
        generate::<Airbyte>(&project::request(), &[("incremental", Value::Boolean(true))]).unwrap();
    assert!(text(&project, "manifest.yaml").contains("api_token: \"{{ config['api_key'] }}\""));
    assert!(text(&project, "config.json").contains("<YOUR_API_KEY>"));
    assert!(
        project.warnings[0].starts_with("A full run costs 6 requests"),
        "{}",
        project.warnings[0]
    );
    assert!(
        project.warnings[1].contains("harvest_long, prices_wide.")
            && project.warnings[2].ends_with(": codes.")
    );
}
