//! Messages that nobody should send: each has an answer (contract-20).

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::kit::{message, post, refused, send, tool};

const TOOLS: [&str; 6] =
    ["search_datasets", "describe_dataset", "list_values", "get_data", "cite", "verify_figure"];
const ARGUMENTS: [&str; 18] = [
    "query", "limit", "dataset", "columns", "where", "start", "end", "first", "last", "sort",
    "bbox", "apply", "as_of", "column", "value", "unit", "name", "options",
];

/// Values of every shape, among them some that are right.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (1..300u32).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "[-+0-9.eE]{0,12}".prop_map(Value::from),
        proptest::sample::select(vec![
            "harvest_long",
            "places",
            "codes",
            "region",
            "value",
            "count",
            "date",
            "north",
            "2024",
        ])
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        let names = prop_oneof![
            any::<String>(),
            proptest::sample::select(ARGUMENTS.to_vec()).prop_map(str::to_owned),
            "(region|value|date)(\\.(not|ge|null|contains|x|))?",
        ];
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            proptest::collection::vec((names, inner), 0..6)
                .prop_map(|members| members.into_iter().collect::<Map<_, _>>().into()),
        ]
    })
}

#[test]
fn thousands_of_values_are_refused_with_the_bound_contract_20() {
    let ones = |number: usize| json!(vec![1; number]);
    for (conditions, sent) in [
        (json!({ "value": ones(8_192) }), 8_192),
        (json!({ "value": ones(1_000), "value.not": ones(24), "region": "north" }), 1_025),
    ] {
        for (name, mut arguments) in [
            ("list_values", json!({ "columns": "region" })),
            ("get_data", json!({})),
            ("cite", json!({})),
            ("verify_figure", json!({ "value": 1 })),
        ] {
            arguments["dataset"] = json!("harvest_long");
            arguments["where"] = conditions.clone();
            let sentence = format!(
                "where: the conditions have {sent} values and may have 1024; ask in several calls"
            );
            assert_eq!(refused(name, arguments), sentence, "{name}");
        }
    }
    let most = json!({ "dataset": "harvest_long", "where": { "value": ones(1_024) } });
    assert!(tool("cite", most)["citation"].is_string());
}

proptest! {
    #[test]
    fn every_call_has_a_result_or_an_error_contract_20(
        tool in proptest::sample::select(TOOLS.to_vec()),
        dataset in proptest::sample::select(vec!["harvest_long", "prices_wide", "places", "codes"]),
        arguments in proptest::collection::vec(
            (proptest::sample::select(ARGUMENTS.to_vec()), value()),
            0..5,
        ),
    ) {
        let mut sent = Map::new();
        sent.insert("dataset".to_owned(), json!(dataset));
        sent.extend(arguments.into_iter().map(|(name, value)| (name.to_owned(), value)));
        let params = json!({ "name": tool, "arguments": sent });
        let (status, body) = send(&post(&message("tools/call", params)));
        prop_assert_eq!(status, 200);
        let result = &body["result"];
        prop_assert_eq!(result["isError"] == false, result["structuredContent"].is_object());
        prop_assert!(!result["content"][0]["text"].as_str().unwrap_or_default().is_empty());
    }

    #[test]
    fn every_message_has_an_answer_contract_20(sent in value(), params in value()) {
        let status = send(&post(&sent)).0;
        prop_assert!(matches!(status, 202 | 400), "{}", status);
        let message = json!({ "jsonrpc": "2.0", "id": sent, "method": "tools/call", "params": params });
        let (status, body) = send(&post(&message));
        prop_assert!(matches!(status, 200 | 400), "{}", status);
        prop_assert!(body.get("error").is_some() || body.get("result").is_some());
    }
}
