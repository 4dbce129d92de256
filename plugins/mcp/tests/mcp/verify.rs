//! `verify_figure` over versions that differ (contract-20).

use serde_json::{Value, json};
use yearbook_sdk::adapter::{Edition, Fact, Question, Refusal, Version};

use crate::kit::{answer_with, refused, structure, tool, tool_call};

/// The harvest of the north in March 2024, which is 1.5.
fn claim(value: &Value) -> Value {
    json!({
        "dataset": "harvest_long",
        "where": { "region": "north" },
        "start": "2024-03",
        "end": "2024-03",
        "value": value,
    })
}

/// Answers over `versions` older editions, in which the value is 1, 2, … more than now.
fn verify(arguments: Value, versions: usize) -> (Value, Vec<Question>) {
    let request = tool_call("verify_figure", arguments);
    let id = |number: usize| format!("{number:032}");
    let (document, asked) = answer_with(&request, |question, fact| match (question, fact) {
        (_, Fact::Dataset(mut dataset)) => {
            dataset.editions.truncate(1);
            dataset.editions[0].version = 100;
            dataset.editions.extend((1..=versions).map(|number| Edition {
                id: id(number),
                version: 100 - number as u64,
                published_at: format!("2026-0{}-01T09:00:00Z", 6 - number),
                rows: 72,
            }));
            Fact::Dataset(dataset)
        }
        (Question::Rows(selection), fact) => {
            let Version::Snapshot(snapshot) = &selection.version else { return fact };
            let number: u32 = snapshot.parse().unwrap();
            let current = yearbook_sdk::testing::sample::SampleCatalogue::new();
            let selection =
                yearbook_sdk::adapter::Selection { version: Version::Current, ..selection.clone() };
            let mut table = current.rows(&selection).unwrap();
            for cell in table.rows.iter_mut().flatten().flatten() {
                if let yearbook_sdk::Value::Number(value) = cell {
                    *value += f64::from(number);
                }
            }
            table.known.snapshot.clone_from(snapshot);
            table.known.published_at = format!("2026-0{}-01T09:00:00Z", 6 - number);
            Fact::Rows(table)
        }
        (_, fact) => fact,
    });
    (structure(&document), asked)
}

#[test]
fn a_figure_that_is_published_stands_contract_20() {
    for value in [json!(1.5), json!("1.5"), json!("1.500"), json!("15e-1")] {
        let (told, asked) = verify(claim(&value), 3);
        assert_eq!(told["verdict"], "stands", "{value}");
        // The dataset and the current rows, and no older version.
        assert_eq!(asked.len(), 2);
        assert_eq!(told["versions_compared"][0]["matching_rows"], 1);
        assert_eq!(
            (&told["versions_not_compared"], &told["stood_until"]),
            (&json!(3), &json!(null))
        );
        let now = &told["published_now"];
        assert_eq!(
            now["rows"],
            json!([{ "date": "2024-03-01", "period": "2024-03", "region": "north", "value": 1.5 }])
        );
        for name in ["snapshot", "published_at", "citation"] {
            assert!(now[name].is_string(), "{name}");
        }
        assert!(now["credit"]["line"].is_string());
        assert_eq!(told["claim"]["column"], "value");
    }
}

#[test]
fn a_figure_of_an_older_version_stood_until_the_next_contract_20() {
    let (told, asked) = verify(claim(&json!(2.5)), 3);
    assert_eq!(
        (&told["verdict"], &told["stood_until"]),
        (&json!("stood"), &json!("2026-07-01T09:00:00Z"))
    );
    assert_eq!(asked.len(), 5, "a dataset and four reads");
    assert_eq!(told["published_then"]["rows"][0]["value"], 2.5);
    assert_eq!(told["published_then"]["published_at"], "2026-05-01T09:00:00Z");
    let (told, _) = verify(claim(&json!(4.5)), 3);
    assert_eq!(
        (&told["verdict"], &told["stood_until"]),
        (&json!("stood"), &json!("2026-04-01T09:00:00Z"))
    );
    assert_eq!(told["published_now"]["rows"][0]["value"], 1.5);
}

#[test]
fn no_end_is_told_of_a_figure_behind_versions_that_were_not_compared_contract_20() {
    let request = tool_call("verify_figure", claim(&json!(9.5)));
    let told = |is_dropped: bool| {
        let (document, _) = answer_with(&request, |question, fact| match (question, fact) {
            (_, Fact::Dataset(mut dataset)) => {
                dataset.editions[0].version = 3;
                dataset.editions[1].version = 1;
                if !is_dropped {
                    // The sample catalogue refuses a version that it does not have.
                    let between = Edition { version: 2, ..dataset.editions[1].clone() };
                    dataset.editions.insert(1, Edition { id: "2".repeat(32), ..between });
                }
                Fact::Dataset(dataset)
            }
            (Question::Rows(selection), Fact::Rows(mut table)) => {
                let is_old = selection.version != Version::Current;
                for cell in table.rows.iter_mut().flatten().flatten() {
                    if let yearbook_sdk::Value::Number(value) = cell {
                        *value += if is_old { 8.0 } else { 0.0 };
                    }
                }
                Fact::Rows(table)
            }
            (_, fact) => fact,
        });
        structure(&document)
    };
    for is_dropped in [false, true] {
        let told = told(is_dropped);
        assert_eq!(told["versions_not_compared"], u32::from(!is_dropped));
        assert_eq!((&told["verdict"], &told["stood_until"]), (&json!("stood"), &json!(null)));
        assert_eq!(told["published_then"]["rows"][0]["value"], 9.5);
        let sentence = told["explanation"].as_str().unwrap();
        assert!(sentence.contains("since 2026-07-01T09:00:00Z or before"), "{sentence}");
    }
}

#[test]
fn never_says_which_versions_were_compared_contract_20() {
    let (told, asked) = verify(claim(&json!(5.5)), 5);
    assert_eq!(told["verdict"], "never");
    assert_eq!(asked.len(), 5, "a request has four reads");
    assert_eq!(told["versions_compared"].as_array().unwrap().len(), 4);
    assert_eq!(told["versions_not_compared"], 2);
    assert!(told["explanation"].as_str().unwrap().contains("2 older versions were not compared"));
    assert_eq!(told["published_then"], json!(null));
    // Over the catalogue as it is: both versions are the same.
    let told = tool("verify_figure", claim(&json!(8)));
    assert_eq!((&told["verdict"], &told["versions_not_compared"]), (&json!("never"), &json!(0)));
}

#[test]
fn a_version_that_is_refused_is_not_compared_contract_20() {
    let request = tool_call("verify_figure", claim(&json!(9)));
    let (document, _) = answer_with(&request, |question, fact| match question {
        Question::Rows(selection) if selection.version != Version::Current => {
            Fact::Refused(Refusal::new(410, "it is gone"))
        }
        _ => fact,
    });
    let told = structure(&document);
    assert_eq!((&told["verdict"], &told["versions_not_compared"]), (&json!("never"), &json!(1)));
    assert_eq!(told["versions_compared"][1]["refused"], "it is gone");
}

#[test]
fn a_value_that_is_close_is_named_contract_20() {
    for (value, unit, kind, power) in [
        (json!(1500), None, "power_of_ten", json!(-3)),
        (json!("0.15"), None, "power_of_ten", json!(1)),
        (json!(150), None, "percent_against_proportion", json!(null)),
        (json!(150), Some("percent"), "power_of_ten", json!(-2)),
        (json!(2), None, "rounding", json!(null)),
    ] {
        let mut arguments = claim(&value);
        arguments["unit"] = json!(unit);
        let told = tool("verify_figure", arguments);
        assert_eq!(told["verdict"], "never", "{value}");
        let named = &told["differs_by"][0];
        assert_eq!((&named["kind"], &named["published"]), (&json!(kind), &json!(1.5)), "{value}");
        assert_eq!(named.get("power").unwrap_or(&Value::Null), &power);
    }
}

#[test]
fn nothing_is_said_of_rows_that_were_not_seen_contract_20() {
    // Four months of three regions are seen whole, 72 rows too; no row is not.
    let mut all = claim(&json!(77));
    all["where"] = json!({});
    (all["start"], all["end"]) = (json!(null), json!(null));
    assert_eq!(
        tool("verify_figure", all.clone())["published_now"]["rows"].as_array().unwrap().len(),
        72
    );
    let request = tool_call("verify_figure", all);
    let (document, _) = answer_with(&request, |_, fact| match fact {
        Fact::Rows(mut table) => {
            table.known.next = Some("cursor".into());
            Fact::Rows(table)
        }
        fact => fact,
    });
    let body: Value = serde_json::from_slice(&document.body).unwrap();
    assert_eq!(body["result"]["isError"], true);
    let sentence = body["result"]["content"][0]["text"].as_str().unwrap();
    assert!(sentence.contains("more than 200 rows"), "{sentence}");
    let mut none = claim(&json!(1.5));
    none["where"]["region"] = json!("west");
    assert!(refused("verify_figure", none).contains("no row is selected"));
}

#[test]
fn the_column_of_a_figure_holds_numbers_contract_20() {
    let of =
        |dataset: &str, column: Value| json!({ "dataset": dataset, "column": column, "value": 1 });
    assert!(
        refused("verify_figure", of("prices_wide", json!(null)))
            .starts_with("column: name one of ")
    );
    assert!(refused("verify_figure", of("codes", json!("code"))).contains("it holds no numbers"));
    assert!(refused("verify_figure", of("codes", json!("colour"))).contains("no such column"));
    let largest = json!({ "dataset": "codes", "column": "count", "value": i64::MAX });
    assert_eq!(tool("verify_figure", largest)["verdict"], "stands");
    let almost = json!({ "dataset": "codes", "column": "count", "value": i64::MAX - 1 });
    assert_eq!(tool("verify_figure", almost)["verdict"], "never");
    for value in [json!("about 5"), json!("1,234"), json!(true), json!([1])] {
        let sentence = refused(
            "verify_figure",
            json!({ "dataset": "codes", "column": "count", "value": value }),
        );
        assert!(sentence.starts_with("value: this is a number"), "{sentence}");
    }
}
