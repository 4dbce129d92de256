//! Releases that a descriptor plans.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use serde_json::{Value, json};

use super::{good, open, problem, with};

fn planned(releases: Value) -> Value {
    with("/yearbook/releases", releases)
}

#[test]
fn planned_releases_are_instants_with_titles_contract_21() {
    assert_eq!(open(&good()).unwrap().meaning.releases, []);
    assert_eq!(open(&planned(Value::Null)).unwrap().meaning.releases, []);
    let package = open(&planned(json!([
        {"at": "2026-11-27T10:45:00[Pacific/Auckland]", "title": "Retail trade, Māori regions"},
        {"at": "2026-08-20T22:45:00Z", "title": "Retail trade"},
    ])))
    .unwrap();
    let found: Vec<(String, &str)> = package
        .meaning
        .releases
        .iter()
        .map(|release| (release.at.to_rfc3339(), release.title.as_str()))
        .collect();
    // In the order of the package.
    assert_eq!(
        found,
        [
            ("2026-11-26T21:45:00Z".to_owned(), "Retail trade, Māori regions"),
            ("2026-08-20T22:45:00Z".to_owned(), "Retail trade"),
        ]
    );
    let hundred: Vec<Value> = (0..100).map(at_minute).collect();
    assert_eq!(open(&planned(json!(hundred))).unwrap().meaning.releases.len(), 100);
}

fn at_minute(number: usize) -> Value {
    json!({"at": format!("2026-11-27T{:02}:{:02}:00Z", number / 60, number % 60), "title": "One"})
}

#[test]
fn faults_of_planned_releases_are_named_by_their_place_contract_21() {
    let at = "2026-11-27T10:45:00Z";
    let many: Vec<Value> = (0..101).map(at_minute).collect();
    for (releases, expected) in [
        (json!({"at": at, "title": "One"}), "yearbook.releases: must be an array, not an object"),
        (json!([at]), "yearbook.releases[0]: must be an object, not a string"),
        (
            json!([{"title": "One"}]),
            "yearbook.releases[0].at: is missing; give a time with its offset",
        ),
        (json!([{"at": at}]), "yearbook.releases[0].title: is missing; give what is released"),
        (
            json!([{"at": at, "title": "One", "tilte": "Two"}]),
            "yearbook.releases[0].tilte: is not a known key; the nearest is \"title\"",
        ),
        (json!([{"at": 7, "title": "One"}]), "yearbook.releases[0].at: must be a string"),
        (
            json!([{"at": "2026-11-27T10:45:00", "title": "One"}]),
            "yearbook.releases[0].at: \"2026-11-27T10:45:00\" has neither offset nor zone; write",
        ),
        (
            json!([{"at": "2026-09-27T02:30:00[Pacific/Auckland]", "title": "One"}]),
            "yearbook.releases[0].at: \"2026-09-27T02:30:00[Pacific/Auckland]\" does not exist",
        ),
        (
            json!([{"at": at, "title": "One"}, {"at": "2026-11-27T11:45:00+01:00", "title": "Two"}]),
            "yearbook.releases[1].at: is the time of another release",
        ),
        (json!([{"at": at, "title": " "}]), "yearbook.releases[0].title: is blank"),
        (
            json!([{"at": at, "title": "a\nb"}]),
            "yearbook.releases[0].title: has a control character",
        ),
        (json!(many), "yearbook.releases: has 101 releases; at most 100 are kept"),
    ] {
        let found = problem(&planned(releases));
        assert!(found.starts_with(expected), "{found}");
    }
}
