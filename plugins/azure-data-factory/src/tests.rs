//! Contents of the generated factory, without the tool itself.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use serde_json::json;
use yearbook_sdk::Value as Chosen;
use yearbook_sdk::testing::project::{self, generate, text};

use super::*;

fn made(source: &str) -> Project {
    generate::<AzureDataFactory>(
        &project::request(),
        &[("source", Chosen::Text(source.to_owned()))],
    )
    .unwrap()
}

#[test]
fn a_file_is_named_after_its_resource() {
    for source in ["parquet", "rest"] {
        for file in made(source).files.iter().filter(|file| file.path.ends_with(".json")) {
            let resource: Value = serde_json::from_slice(&file.content).unwrap();
            let name = file.path.rsplit('/').next().unwrap().trim_end_matches(".json");
            assert_eq!(resource["name"], name);
        }
    }
}

#[test]
fn the_key_is_a_secret_of_a_vault() {
    for source in ["parquet", "rest"] {
        let service: Value =
            serde_json::from_str(text(&made(source), "linkedService/YearbookService.json"))
                .unwrap();
        let header = &service["properties"]["typeProperties"]["authHeaders"]["X-API-Key"];
        assert_eq!(
            (&header["type"], &header["store"]["referenceName"]),
            (&json!("AzureKeyVaultSecret"), &json!(VAULT))
        );
    }
}

#[test]
fn one_request_a_dataset_or_pages_that_follow_links() {
    let pipeline = |source| -> Value {
        serde_json::from_str(text(&made(source), "pipeline/CopyYearbookDatasets.json")).unwrap()
    };
    let parquet = pipeline("parquet");
    let each = &parquet["properties"]["activities"][0]["typeProperties"];
    assert_eq!(each["isSequential"], true);
    assert_eq!(
        each["activities"][0]["inputs"][0]["parameters"]["query"],
        "format=parquet&limit=1000000000"
    );
    assert_eq!(
        parquet["properties"]["parameters"]["datasets"]["defaultValue"],
        json!(["harvest_long", "prices_wide", "places", "codes"])
    );
    let rest = &pipeline("rest")["properties"]["activities"][0]["typeProperties"]["activities"][0]
        ["typeProperties"]["source"];
    assert_eq!(rest["paginationRules"], json!({"supportRFC5988": "true"}));
}

#[test]
fn a_row_cap_that_would_cut_a_file_short_is_said() {
    let parquet = made("parquet").warnings;
    assert!(parquet[0].starts_with("A full run costs 4 requests"), "{}", parquet[0]);
    assert!(
        parquet[1].contains("cut short: harvest_long.") && parquet[1].contains("source=rest"),
        "{}",
        parquet[1]
    );
    let rest = made("rest").warnings;
    assert!(
        rest[0].starts_with("A full run costs 16 requests")
            && rest[0].contains("more than a month has"),
        "{}",
        rest[0]
    );
    assert!(!rest.iter().any(|warning| warning.contains("cut short")));
}
