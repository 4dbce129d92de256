//! Statements of the repository's own packages: licence, cadence, sources, credit and
//! topics (contract-7-demo-credit). Reads descriptors alone; no table.

use super::*;

/// Interval between checks of a source (contract-7-cadence).
const CADENCES: [&str; 8] =
    ["hourly", "daily", "weekly", "monthly", "quarterly", "annual", "irregular", "none"];

/// Credit lines that an agency prescribes, by namespace, each with the licence that asks for it.
const PRESCRIBED: [(&str, &str, &str); 4] = [
    (
        "linz",
        "CC-BY-4.0",
        "Sourced from the LINZ Data Service and licensed for reuse under CC BY 4.0",
    ),
    (
        "stats_nz",
        "CC-BY-4.0",
        "This work is based on/includes Stats NZ's data which are licensed by Stats NZ for reuse under the Creative Commons Attribution 4.0 International licence.",
    ),
    (
        "ons",
        "OGL-UK-3.0",
        "Contains National Statistics data © Crown copyright and database right 2015; Contains Ordnance Survey data © Crown copyright and database right 2015",
    ),
    (
        "un_desa",
        "CC-BY-3.0-IGO",
        "United Nations, Department of Economic and Social Affairs, Population Division (2018). World Urbanization Prospects: The 2018 Revision. CC BY 3.0 IGO",
    ),
];

/// Names by which a prescribed or customary credit calls its agency, where that is not the full
/// name.
const CALLED: [(&str, &str); 3] =
    [("linz", "LINZ"), ("ons", "National Statistics"), ("gapminder", "Gapminder.org")];

/// Marks a dataset that was made up.
const SYNTHETIC: &str = "SYNTHETIC";

/// Every descriptor of the repository, with the folder that holds it.
fn descriptors() -> Vec<(PathBuf, Value)> {
    let read = |path: PathBuf| {
        let text = std::fs::read(&path).unwrap();
        (
            path.parent().unwrap().to_owned(),
            serde_json::from_slice(&text).unwrap_or_else(|why| panic!("{}: {why}", path.display())),
        )
    };
    packages().into_iter().map(read).collect()
}

fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

fn is_address(text: &str) -> bool {
    text.starts_with("https://")
}

fn has_geometry(package: &Value) -> bool {
    let fields = package.pointer("/resources/0/schema/fields").and_then(Value::as_array).unwrap();
    fields.iter().any(|field| field["name"] == "geometry_wkt")
}

/// Everything that one descriptor says wrongly or not at all.
fn faults(folder: &Path, package: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    let mut check = |holds: bool, fault: &str| {
        if !holds {
            faults.push(format!("{}: {fault}", text(package, "/name")));
        }
    };
    let synthetic = text(package, "/title").starts_with(SYNTHETIC);

    check(!text(package, "/description").is_empty(), "has no description");
    check(package["keywords"].as_array().is_some_and(|words| !words.is_empty()), "has no topics");
    for licence in package["licenses"].as_array().unwrap() {
        check(
            !text(licence, "/name").is_empty() && !text(licence, "/title").is_empty(),
            "a licence lacks its name or title",
        );
        let path = text(licence, "/path");
        check(
            is_address(path) || !path.is_empty() && folder.join(path).is_file(),
            "a licence has neither an address nor a file",
        );
    }
    for source in package["sources"].as_array().unwrap() {
        let title = text(source, "/title");
        // A source without an address says where its reason stands.
        check(
            is_address(text(source, "/path")) || synthetic && title.contains("README.md"),
            "a source has neither an address nor a reason",
        );
        check(!title.is_empty(), "a source has no title");
    }
    for field in package.pointer("/resources/0/schema/fields").and_then(Value::as_array).unwrap() {
        check(
            !text(field, "/description").is_empty(),
            &format!("column {} has no description", field["name"]),
        );
        check(
            !matches!(text(field, "/unit"), "%" | "percent"),
            &format!("column {} is no proportion", field["name"]),
        );
    }

    let yearbook = &package["yearbook"];
    check(CADENCES.contains(&text(yearbook, "/refresh_cadence")), "its cadence is not in the list");
    check(
        yearbook["bulk_redistribution"].is_boolean(),
        "does not say whether the file may be handed out",
    );
    let (namespace, credit) = (text(yearbook, "/namespace"), text(yearbook, "/attribution_text"));
    let called = CALLED.iter().find(|(known, _)| *known == namespace);
    let agencies = called.map_or_else(|| text(yearbook, "/source"), |(_, name)| name);
    let named = synthetic
        || credit.contains(agencies)
        || agencies.split(" and ").all(|agency| credit.contains(agency));
    check(!agencies.is_empty() && named, "the credit names no agency");
    for (_, licence, line) in PRESCRIBED.iter().filter(|(known, ..)| *known == namespace) {
        check(credit == *line, "the credit is not the prescribed one");
        check(text(package, "/licenses/0/name") == *licence, "the licence is not the agency's");
    }
    faults
}

#[test]
fn every_package_of_the_repository_is_credited_and_licensed_contract_7() {
    let found: Vec<String> =
        descriptors().iter().flat_map(|(folder, package)| faults(folder, package)).collect();
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn what_a_package_fails_to_say_is_noticed_contract_7() {
    let (folder, good) = descriptors()
        .into_iter()
        .find(|(_, package)| text(package, "/yearbook/namespace") == "linz")
        .unwrap();
    for (pointer, value) in [
        ("/keywords", json!([])),
        ("/licenses/0/title", json!("")),
        ("/licenses/0/path", json!("LICENCE.md")),
        ("/licenses/0/name", json!("CC0-1.0")),
        ("/sources/0/path", Value::Null),
        (
            "/resources/0/schema/fields/0",
            json!({"name": "share", "description": "Share.", "unit": "%"}),
        ),
        ("/yearbook/refresh_cadence", json!("yearly")),
        ("/yearbook/bulk_redistribution", Value::Null),
        ("/yearbook/attribution_text", json!("Land Information New Zealand")),
    ] {
        let mut package = good.clone();
        *package.pointer_mut(pointer).unwrap() = value;
        assert!(!faults(&folder, &package).is_empty(), "{pointer}");
    }
}

#[test]
fn two_thirds_of_the_real_datasets_are_spatial_spec_2_2() {
    let packages = descriptors();
    let real: Vec<&Value> = packages
        .iter()
        .map(|(_, package)| package)
        .filter(|package| !text(package, "/title").starts_with(SYNTHETIC))
        .collect();
    let names: std::collections::BTreeSet<&str> =
        real.iter().map(|package| text(package, "/name")).collect();
    assert!(names.len() >= 25, "{names:?}");
    assert_eq!(names.len(), real.len(), "a real dataset has one version: what was published");
    let spatial = real.iter().filter(|package| has_geometry(package)).count();
    assert!(spatial * 3 >= real.len() * 2, "{spatial} of {}", real.len());
}
