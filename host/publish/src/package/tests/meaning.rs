//! Languages, statuses, labels and notes of a descriptor.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use serde_json::{Value, json};
use yearbook_domain::ColumnRole;
use yearbook_domain::meaning::Language;

use super::{good, open, problem};
use crate::{DataPackage, PublishError};

/// `good` with a text column `state` of statuses, in English and Māori, and these words under
/// `"yearbook"`.
fn with_words(words: Value) -> Value {
    let mut descriptor = good();
    descriptor["languages"] = json!(["en", "mi"]);
    let fields = &mut descriptor["resources"][0]["schema"]["fields"];
    fields.as_array_mut().unwrap().push(json!({"name": "state", "type": "string"}));
    let yearbook = descriptor["yearbook"].as_object_mut().unwrap();
    yearbook.extend(words.as_object().unwrap().clone());
    descriptor
}

fn status(of: &str, codes: &Value) -> Value {
    with_words(json!({"status": {"state": {"of": [of], "codes": codes}}}))
}

#[test]
fn what_is_said_of_values_is_taken_whole_contract_21() {
    let mut descriptor = with_words(json!({
        "status": {"state": {"of": ["value"], "codes": [
            {"code": "x", "label": {"en": "Secret", "mi": "Muna"}, "confidential": true}, {"code": "y"},
        ]}},
        "labels": {"group": {"a": {"en": "Food", "mi": "Kai"}}, "code": {"from": "group"}},
        "notes": [{"text": "All.", "column": "value", "where": {"date.ge": "2025-01-01", "group": ["a", "b"], "flag": true}}],
        "no_derivatives": true,
    }));
    descriptor["title"] = json!({"en": "Prices", "mi": "Utu"});
    let package = open(&descriptor).unwrap();
    assert_eq!(package.title.as_deref(), Some("Prices"));
    let maori = Language::parse("mi").unwrap();
    assert_eq!(package.meaning.title[&maori], "Utu");
    assert!(package.meaning.no_derivatives);
    let note = &package.meaning.notes[0];
    assert_eq!(note.conditions["group"], ["a", "b"]);
    assert_eq!(note.conditions["flag"], ["true"]);
    let state = package.columns.last().unwrap();
    assert_eq!(state.role, ColumnRole::Status);
    let codes = &state.status().unwrap().codes;
    assert_eq!(codes.codes(), ["x", "y"]);
    assert_eq!(codes.is_confidential("x"), Some(true));
    assert_eq!(codes.label("x", Some(&maori)), Some("Muna"));
    assert_eq!(package.labels.len(), 2);
}

#[test]
fn faults_of_meanings_are_named_by_their_place_contract_21() {
    let codes = json!("sdmx-obs");
    let mut languages = good();
    languages["languages"] = json!(["en", "en_GB"]);
    let mut text = good();
    text["title"] = json!({"en": "Prices"});
    let mut foreign = with_words(json!({}));
    foreign["title"] = json!({"en": "Prices", "de": "Preise"});
    let mut mute = with_words(json!({}));
    mute["title"] = json!({"mi": "Utu"});
    let long = "x".repeat(2_001);
    let many: Vec<Value> = (0..201).map(|_| json!({"text": "n"})).collect();
    for (descriptor, expected) in [
        (languages, "languages[1]: \"en_GB\" is no tag of a language"),
        (text, "title: is an object of texts by language; name the languages in `languages`"),
        (foreign, "title.de: is none of the package's languages en, mi"),
        (mute, "title: has no text in en, the first language"),
        (
            status("value", &json!("sdmx")),
            "yearbook.status.state.codes: \"sdmx\" is no list of statuses",
        ),
        (
            status("valeu", &codes),
            "yearbook.status.state.of[0]: there is no column \"valeu\"; the nearest is \"value\"",
        ),
        (status("flag", &codes), "yearbook.status.state.of: column \"flag\" holds no values"),
        (
            with_words(json!({"status": {"group": {"of": ["value"], "codes": "sdmx-obs"}}})),
            "yearbook.status.group: column \"group\" must be text, and neither a dimension nor part of the primary key",
        ),
        (
            with_words(json!({"labels": {"value": {"1": "one"}}})),
            "yearbook.labels.value: column \"value\" measures; only codes have labels",
        ),
        (
            with_words(json!({"labels": {"group": {"from": "flag"}}})),
            "yearbook.labels.group: \"flag\" must be another column, and hold text",
        ),
        (
            with_words(json!({"notes": [{"text": "n", "where": {"valeu.ge": 1}}]})),
            "yearbook.notes[0].where: where.valeu.ge: ",
        ),
        (
            with_words(json!({"notes": [{"text": "n", "where": {"value.ge": "many"}}]})),
            "yearbook.notes[0].where: where.value.ge: ",
        ),
        (
            with_words(json!({"notes": [{"text": long}]})),
            "yearbook.notes[0]: is longer than 2000 bytes",
        ),
        (
            status("value", &json!([{"code": "x", "confidental": true}])),
            "yearbook.status.state.codes[0].confidental: is not a known key; the nearest is \"confidential\"",
        ),
        (
            with_words(
                json!({"status": {"state": {"of": ["value"], "codes": "sdmx-obs", "for": 1}}}),
            ),
            "yearbook.status.state.for: is not a known key",
        ),
        (
            with_words(json!({"labels": {"group": {"a": " "}}})),
            "yearbook.labels.group.a: is blank; say something or leave it out",
        ),
        (
            with_words(json!({"labels": {"group": {"a": {"en": "A", "mi": ""}}}})),
            "yearbook.labels.group.a.mi: is blank; say something or leave it out",
        ),
        (
            with_words(json!({"labels": {"group": {"from": "cod"}}})),
            "yearbook.labels.group.from: there is no column \"cod\"; the nearest is \"code\"",
        ),
        (
            with_words(json!({"labels": {"group": {"from": "code", "a": "A"}}})),
            "yearbook.labels.group.from: names a column, so it stands alone",
        ),
        (
            with_words(json!({"labels": {"group": {"a": {"en": "A", "EN": "B"}}}})),
            "yearbook.labels.group.a.EN: is a language that is there twice",
        ),
        (
            with_words(json!({"notes": [{"text": "n", "where": {"group": null}}]})),
            "yearbook.notes[0].where.group: must be text, a number, true or false",
        ),
        (
            with_words(json!({"notes": [{"text": "n", "where": {"group": []}}]})),
            "yearbook.notes[0].where.group: has no value",
        ),
        (
            with_words(json!({"notes": [{"text": "n", "about": "value"}]})),
            "yearbook.notes[0].about: is not a known key",
        ),
        (
            with_words(
                json!({"notes": vec![json!({"text": "n", "where": {"group": "x".repeat(1_000)}}); 70]}),
            ),
            "yearbook.notes: has 70",
        ),
        (with_words(json!({"notes": many})), "yearbook.notes: has 201 notes; at most 200 are kept"),
    ] {
        let found = problem(&descriptor);
        assert!(found.starts_with(expected), "{found}");
    }
}

#[test]
fn two_columns_of_one_list_cannot_speak_of_one_value_contract_21() {
    let mut descriptor = status("value", &json!("sdmx-obs"));
    let fields = &mut descriptor["resources"][0]["schema"]["fields"];
    fields.as_array_mut().unwrap().push(json!({"name": "zone", "type": "string"}));
    let statuses = &mut descriptor["yearbook"]["status"];
    statuses["zone"] = json!({"of": ["value"], "codes": "sdmx-conf"});
    open(&descriptor).unwrap();
    descriptor["yearbook"]["status"]["zone"]["codes"] = json!("sdmx-obs");
    let found = problem(&descriptor);
    assert!(found.contains("\"value\" has another column with statuses of such a list"), "{found}");
}

#[test]
fn a_member_that_stands_twice_is_refused_with_its_place_contract_21() {
    let codes = json!([{"code": "x", "confidential": true}]);
    let text = status("value", &codes).to_string();
    for (once, twice, place) in [
        (
            r#""confidential":true"#,
            r#""confidential":true,"confidential":false,"confidential":false"#,
            "yearbook.status.state.codes[0].confidential",
        ),
        (r#""status":{"#, r#""status":{},"status":{"#, "yearbook.status"),
        (r#""name":"cpi","#, r#""name":"cpi","name":"cpi","#, "name"),
    ] {
        let descriptor = text.replacen(once, twice, 1);
        assert_ne!(descriptor, text);
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("cpi.csv"), "").unwrap();
        std::fs::write(folder.path().join("datapackage.json"), descriptor).unwrap();
        let found = match DataPackage::open(folder.path()) {
            Err(PublishError::Descriptor { problems, .. }) => problems,
            other => panic!("expected a problem, got {other:?}"),
        };
        assert_eq!(found.len(), 1, "{found:?}");
        let expected = format!("{place}: stands twice, and only one of them could hold");
        assert!(found[0].to_string().starts_with(&expected), "{found:?}");
    }
}
