//! `/share/delta` and `/share/files` (contract-12): Delta Sharing in URL mode.

use std::time::Duration;

use serde_json::{Value, json};
use yearbook_catalog::{HoldOutcome, Retention, key};
use yearbook_domain::{DatasetName, Digest, KeyId, Millis, Plan, SnapshotId};
use yearbook_server::{LimitSettings, ServiceSettings};
use yearbook_tests::app::{Reply, TestApp, TestRequest, TestTable, harvest, parks, unbounded};

const SHARES: &str = "/share/delta/shares";
const TABLE: &str = "/share/delta/shares/yearbook/schemas/farms/tables/harvest";
const DELTA: &str = "responseformat=delta;readerfeatures=deletionvectors";

/// A service with the harvest and a key that opens the share.
async fn shared() -> (TestApp, String) {
    let app = TestApp::start().await;
    app.publish(&harvest()).await;
    let key = app.key(Plan::Enterprise).await;
    (app, key)
}

fn second_version() -> TestTable {
    harvest().with_rows("date,region,value,final\n2020-01-01,Auckland,1.5,true\n")
}

fn query(app: &TestApp, key: &str, body: &Value) -> TestRequest {
    app.ask("POST", &format!("{TABLE}/query")).bearer(key).json_body(body)
}

/// Path and query of an address in an answer.
fn address(action: &Value) -> String {
    let url = action["url"].as_str().unwrap_or_else(|| panic!("{action}"));
    url.strip_prefix("http://test.example").unwrap().to_owned()
}

/// The address of the newest version's file.
async fn newest_address(app: &TestApp, key: &str) -> String {
    address(&query(app, key, &json!({})).send().await.json_lines()[2]["file"])
}

/// Status and code of the protocol.
fn refusal(reply: &Reply) -> (u16, String) {
    let body = reply.json();
    let members: Vec<&String> = body.as_object().unwrap().keys().collect();
    assert_eq!(members, ["errorCode", "message"], "{body}");
    assert!(body["message"].as_str().unwrap().ends_with('.'), "{body}");
    (reply.status.as_u16(), body["errorCode"].as_str().unwrap().to_owned())
}

fn refused(status: u16, code: &str) -> (u16, String) {
    (status, code.to_owned())
}

#[tokio::test]
async fn the_share_opens_for_enterprise_keys_alone_contract_12() {
    let (app, key) = shared().await;
    for plan in [Plan::Free, Plan::Starter, Plan::Pro] {
        let other = app.key(plan).await;
        let reply = app.get(SHARES).bearer(&other).send().await;
        assert_eq!(refusal(&reply), refused(403, "PERMISSION_DENIED"), "{plan}");
    }
    for request in [
        app.get(SHARES),
        app.get(SHARES).key(&key),
        app.get(SHARES).header("authorization", &format!("Basic {key}")),
        app.get(SHARES).bearer("yb_nobody"),
        app.get(&format!("{TABLE}/metadata")),
    ] {
        let reply = request.send().await;
        assert_eq!(refusal(&reply), refused(401, "UNAUTHENTICATED"));
        assert_eq!(reply.header("www-authenticate"), "Bearer realm=\"yearbook\"");
    }
    assert_eq!(app.get(SHARES).bearer(&key).send().await.status, 200);
}

#[tokio::test]
async fn tables_are_datasets_that_may_be_handed_on_contract_12() {
    let (app, key) = shared().await;
    // Alone in its namespace, and its licence forbids bulk.
    app.publish(&parks()).await;
    let ask = |path: &str| app.get(path).bearer(&key).send();
    let names = |reply: &Reply| -> Vec<String> {
        let items = reply.json()["items"].as_array().unwrap().clone();
        items.iter().map(|item| item["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&ask(SHARES).await), ["yearbook"]);
    assert_eq!(names(&ask(&format!("{SHARES}/yearbook/schemas")).await), ["farms"]);
    let tables = ask(&format!("{SHARES}/yearbook/schemas/farms/tables")).await;
    assert_eq!(names(&tables), ["harvest"]);
    let table = &tables.json()["items"][0];
    assert_eq!(
        (&table["schema"], &table["share"]),
        (&json!("farms"), &json!("yearbook")),
        "{table}"
    );
    // The same in every release: clients know tables by it.
    assert_eq!(table["shareId"], "2d17f11a-7593-8cc2-8348-766028b76d6d", "{table}");
    assert_eq!(names(&ask(&format!("{SHARES}/yearbook/all-tables")).await), ["harvest"]);
    assert_eq!(ask(&format!("{SHARES}/YearBook")).await.json()["share"]["name"], "yearbook");
    // Names have any case.
    let upper = format!("{SHARES}/YEARBOOK/schemas/Farms/tables/HARVEST/version");
    assert_eq!(ask(&upper).await.status, 200);
    for unknown in [
        "elsewhere/schemas",
        "yearbook/schemas/places/tables",
        "yearbook/schemas/farms/tables/parks/version",
        "yearbook/schemas/places/tables/parks/metadata",
        "yearbook/schemas/farms/tables/%FF/version",
    ] {
        let reply = ask(&format!("{SHARES}/{unknown}")).await;
        assert_eq!(refusal(&reply), refused(404, "RESOURCE_DOES_NOT_EXIST"), "{unknown}");
    }
    let nowhere = ask("/share/delta/elsewhere").await;
    assert_eq!(refusal(&nowhere), refused(404, "ENDPOINT_NOT_FOUND"));
    let method = app.ask("PUT", SHARES).bearer(&key).send().await;
    assert_eq!(refusal(&method), refused(405, "METHOD_NOT_ALLOWED"));
    let method = app.get(&format!("{TABLE}/query")).bearer(&key).send().await;
    assert_eq!((method.status.as_u16(), method.header("allow").contains("POST")), (405, true));
}

#[tokio::test]
async fn the_share_has_the_name_of_the_settings_contract_12() {
    let mut settings = unbounded();
    settings.share.name = "statistics".to_owned().try_into().unwrap();
    let app = TestApp::with(settings).await;
    let key = app.key(Plan::Enterprise).await;
    let shares = app.get(SHARES).bearer(&key).send().await.json();
    assert_eq!(shares["items"][0]["name"], "statistics");
}

#[tokio::test]
async fn lists_page_without_gaps_while_datasets_are_published_contract_12() {
    let app = TestApp::start().await;
    let key = app.key(Plan::Enterprise).await;
    for number in (0..20).step_by(2) {
        app.publish(&harvest().named(&format!("table_{number:02}"))).await;
    }
    let mut seen: Vec<String> = Vec::new();
    let mut token = String::new();
    for round in 0.. {
        let path = format!("{SHARES}/yearbook/all-tables?maxResults=3&pageToken={token}");
        let page = app.get(&path).bearer(&key).send().await.json();
        let items = page["items"].as_array().unwrap();
        seen.extend(items.iter().map(|item| item["name"].as_str().unwrap().to_owned()));
        // Before, within and behind what was sent.
        if let Some(number) = [1, 19, 5].get(round) {
            app.publish(&harvest().named(&format!("table_{number:02}"))).await;
            app.publish(&second_version().named("table_10")).await;
        }
        match page["nextPageToken"].as_str() {
            Some(next) => token = next.to_owned(),
            None => break,
        }
    }
    assert!(seen.is_sorted_by(|one, next| one < next), "{seen:?}");
    let kept = (0..20).step_by(2).map(|number| format!("table_{number:02}"));
    for name in kept.chain(["table_19".to_owned()]) {
        assert!(seen.contains(&name), "{name} is missing: {seen:?}");
    }
    let foreign = format!("{SHARES}/yearbook/schemas?pageToken={token}");
    let reply = app.get(&foreign).bearer(&key).send().await;
    assert_eq!(refusal(&reply), refused(400, "INVALID_PARAMETER_VALUE"));
}

#[tokio::test]
async fn a_table_has_version_metadata_and_one_file_contract_12() {
    let (app, key) = shared().await;
    app.publish(&second_version()).await;
    for request in [app.head(TABLE), app.get(&format!("{TABLE}/version"))] {
        let reply = request.bearer(&key).send().await;
        assert_eq!((reply.status.as_u16(), reply.body.len()), (200, 0));
        assert_eq!(reply.header("delta-table-version"), "1");
    }
    let reply = app.get(&format!("{TABLE}/metadata")).bearer(&key).send().await;
    assert_eq!(reply.header("content-type"), "application/x-ndjson; charset=utf-8");
    assert_eq!(reply.header("delta-sharing-capabilities"), "responseformat=parquet");
    let lines = reply.json_lines();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0], json!({"protocol": {"minReaderVersion": 1}}));
    let metadata = &lines[1]["metaData"];
    assert_eq!(metadata["partitionColumns"], json!([]));
    assert_eq!(metadata["configuration"]["enableChangeDataFeed"], "true");
    assert_eq!(metadata["configuration"]["yearbook.licence"], "CC-BY-4.0");
    let schema: Value = serde_json::from_str(metadata["schemaString"].as_str().unwrap()).unwrap();
    let types: Vec<(&str, &str)> = schema["fields"]
        .as_array()
        .unwrap()
        .iter()
        .map(|field| (field["name"].as_str().unwrap(), field["type"].as_str().unwrap()))
        .collect();
    let expected =
        [("date", "string"), ("region", "string"), ("value", "double"), ("final", "boolean")];
    assert_eq!(types, expected);
    let comment = schema["fields"][0]["metadata"]["comment"].as_str().unwrap();
    assert!(comment.contains("YYYY-MM-DD"), "{comment}");

    for (body, version, rows) in
        [(json!({}), 1, 1), (json!({"version": 1}), 1, 1), (json!({"version": 0}), 0, 120)]
    {
        let reply = query(&app, &key, &body).send().await;
        assert_eq!(reply.header("delta-table-version"), version.to_string());
        let lines = reply.json_lines();
        assert_eq!(lines.len(), 3, "{body}");
        let file = &lines[2]["file"];
        assert_eq!((&file["version"], &file["partitionValues"]), (&json!(version), &json!({})));
        let stats: Value = serde_json::from_str(file["stats"].as_str().unwrap()).unwrap();
        assert_eq!(stats["numRecords"], rows);
        assert_eq!(stats["minValues"]["date"], "2020-01-01");
        let fetched = app.get(&address(file)).send().await;
        assert_eq!((fetched.status.as_u16(), fetched.cut), (200, false));
        assert_eq!(file["size"], fetched.body.len());
        assert_eq!(file["id"], Digest::compute(&fetched.body).to_string());
    }
    for (body, code) in [
        (json!({"version": 7}), "INVALID_PARAMETER_VALUE"),
        (json!({"version": "x"}), "INVALID_PARAMETER_VALUE"),
        (json!({"timestamp": "noon"}), "INVALID_PARAMETER_VALUE"),
        (json!([]), "INVALID_PARAMETER_VALUE"),
        (json!({"startingVersion": 5}), "INVALID_PARAMETER_VALUE"),
    ] {
        assert_eq!(refusal(&query(&app, &key, &body).send().await), refused(400, code), "{body}");
    }
    let files = query(&app, &key, &json!({"startingVersion": 1})).send().await.json_lines();
    assert!(files[2]["remove"].is_object() && files[3]["add"].is_object(), "{files:?}");
    let long = json!({"predicateHints": ["x".repeat(300 << 10)]});
    let reply = query(&app, &key, &long).send().await;
    assert_eq!(refusal(&reply), refused(413, "MALFORMED_REQUEST"));
}

#[tokio::test]
async fn files_of_other_columns_stand_behind_metadata_of_their_own_contract_12() {
    let (app, key) = shared().await;
    app.publish(&second_version()).await;
    let noted = "date,region,value,final,note\n2020-01-01,Auckland,1.5,true,";
    let columns = harvest().with_field("note", "string");
    app.publish(&columns.with_rows(&format!("{noted}a\n"))).await;
    let columns = harvest().with_field("note", "integer");
    app.publish(&columns.with_rows(&format!("{noted}7\n"))).await;
    // Each line by its kind and version; metadata by the type of the column that comes, too.
    let shown = |line: &Value| -> Option<String> {
        let (kind, action) = line.as_object().unwrap().iter().next().unwrap();
        let note = match action["schemaString"].as_str() {
            None => String::new(),
            Some(schema) => {
                let schema: Value = serde_json::from_str(schema).unwrap();
                let fields = schema["fields"].as_array().unwrap();
                let note = fields.iter().find(|field| field["name"] == "note");
                format!(" {}", note.map_or("without", |note| note["type"].as_str().unwrap()))
            }
        };
        (kind != "protocol").then(|| format!("{kind} {}{note}", action["version"]))
    };
    for (first, expected) in [
        (
            0,
            &[
                "metaData 0 without",
                "add 0",
                "remove 1",
                "add 1",
                "metaData 2 string",
                "remove 2",
                "add 2",
                "metaData 3 long",
                "remove 3",
                "add 3",
            ][..],
        ),
        (1, &["metaData 1 without", "remove 1", "add 1", "metaData 2 string"]),
        (3, &["metaData 3 long", "remove 3", "add 3"]),
    ] {
        let body = json!({"startingVersion": first});
        let lines = query(&app, &key, &body).send().await.json_lines();
        let lines: Vec<String> = lines.iter().filter_map(shown).collect();
        assert_eq!(lines[..expected.len()], *expected, "{body}");
    }
}

#[tokio::test]
async fn hints_leave_out_what_is_proved_empty_and_nothing_else_contract_12() {
    let (app, key) = shared().await;
    let leaf = |value: &str| {
        json!({"op": "equal", "children": [
            {"op": "column", "name": "date", "valueType": "string"},
            {"op": "literal", "value": value, "valueType": "string"},
        ]})
        .to_string()
    };
    for (body, files) in [
        (json!({"predicateHints": ["date >= '2030-01-01'"]}), 0),
        (json!({"predicateHints": ["date >= '2020-01-01'", "region = 'A'"]}), 0),
        (json!({"predicateHints": ["date >= '2023-04-01'"]}), 1),
        (json!({"predicateHints": ["value > 1000000"]}), 1),
        (json!({"predicateHints": ["nonsense ((", "date IS NOT NULL"]}), 1),
        (json!({"jsonPredicateHints": leaf("1999-01-01")}), 0),
        (json!({"jsonPredicateHints": leaf("2020-01-01")}), 1),
        (json!({"jsonPredicateHints": "{"}), 1),
        (json!({"limitHint": 0}), 1),
        (json!({"limitHint": 3}), 1),
    ] {
        let lines = query(&app, &key, &body).send().await.json_lines();
        assert_eq!(lines.len() - 2, files, "{body}");
    }
}

#[tokio::test]
async fn answers_have_the_format_and_the_end_that_a_client_asks_for_contract_12() {
    let (app, key) = shared().await;
    let ask = |capabilities: &str| {
        query(&app, &key, &json!({"includeRefreshToken": true}))
            .header("delta-sharing-capabilities", capabilities)
            .send()
    };
    let plain = ask("responseformat=delta,parquet").await;
    assert_eq!(plain.header("delta-sharing-capabilities"), "responseformat=parquet");
    assert_eq!(plain.json_lines().len(), 3, "no end was asked for");
    let reply = ask("responseformat=delta;includeEndStreamAction=true").await;
    assert_eq!(
        reply.header("delta-sharing-capabilities"),
        "responseformat=delta;includeendstreamaction=true"
    );
    let lines = reply.json_lines();
    assert_eq!(lines[0]["protocol"]["deltaProtocol"]["minReaderVersion"], 1);
    let metadata = &lines[1]["metaData"]["deltaMetadata"];
    assert_eq!(metadata["configuration"]["delta.enableChangeDataFeed"], "true");
    let file = &lines[2]["file"];
    let add = &file["deltaSingleAction"]["add"];
    assert!(add["path"].as_str().unwrap().contains("/share/files/"), "{file}");
    assert_eq!((&add["dataChange"], &add["partitionValues"]), (&json!(true), &json!({})));
    let end = &lines[3]["endStreamAction"];
    assert_eq!(end["minUrlExpirationTimestamp"], file["expirationTimestamp"]);
    let token = &end["refreshToken"];
    let again = query(&app, &key, &json!({"refreshToken": token})).send().await;
    assert_eq!(again.header("delta-table-version"), "0");
    let scheme = |text: &str| query(&app, &key, &json!({})).header("fileidhash", text).send();
    assert_eq!(scheme("Delta").await.header("fileidhash"), "delta");
    assert_eq!(refusal(&scheme("md5").await), refused(400, "INVALID_PARAMETER_VALUE"));
}

#[tokio::test]
async fn time_leads_to_the_version_of_that_time_contract_12() {
    const NOON: i64 = 1_795_262_400_000; // 2026-11-21T12:00:00Z
    let app = TestApp::start().await;
    // No clock is shown milliseconds, so none count.
    app.publish_at(&harvest(), Millis(NOON + 640)).await;
    app.publish_at(&second_version(), Millis(NOON + 3_600_999)).await;
    let key = app.key(Plan::Enterprise).await;
    let shown = app.get("/v1/datasets/harvest").key(&key).send().await.json();
    for version in [0, 1] {
        let timestamp = &shown["snapshots"][version]["created_at"];
        let reply = query(&app, &key, &json!({"timestamp": timestamp})).send().await;
        assert_eq!(reply.header("delta-table-version"), version.to_string(), "{timestamp}");
        let file = &reply.json_lines()[2]["file"];
        let millis = Millis::parse_iso8601(timestamp.as_str().unwrap()).unwrap();
        assert_eq!(file["timestamp"], millis.0, "{file}");
    }
    for (timestamp, expected) in [
        ("2026-11-21T11:59:59Z", None),
        ("2026-11-21T12:00:00Z", Some("0")),
        ("2026-11-21 12:59:59", Some("0")),
        ("2026-11-21T14:00:00+01:00", Some("1")),
        ("2026-11-21T13:00:01Z", None),
    ] {
        let reply = query(&app, &key, &json!({"timestamp": timestamp})).send().await;
        let version = reply.header("delta-table-version");
        match expected {
            Some(expected) => assert_eq!(version, expected, "{timestamp}"),
            None => assert_eq!(reply.status, 400, "{timestamp}"),
        }
        let encoded = timestamp.replace(' ', "%20").replace('+', "%2B");
        let path = format!("{TABLE}/metadata?timestamp={encoded}");
        let metadata = app.get(&path).bearer(&key).send().await;
        assert_eq!(metadata.header("delta-table-version"), version, "{timestamp}");
    }
    for (timestamp, expected) in [
        ("2026-11-21T00:00:00Z", Some("0")),
        ("2026-11-21T12:00:01Z", Some("1")),
        ("2026-11-21T13:00:01Z", None),
    ] {
        let path = format!("{TABLE}/version?startingTimestamp={timestamp}");
        let reply = app.get(&path).bearer(&key).send().await;
        match expected {
            Some(expected) => assert_eq!(reply.header("delta-table-version"), expected),
            None => assert_eq!(refusal(&reply), refused(400, "INVALID_PARAMETER_VALUE")),
        }
    }
}

#[tokio::test]
async fn an_empty_value_is_a_wrong_one_contract_12() {
    let (app, key) = shared().await;
    let wrong = refused(400, "INVALID_PARAMETER_VALUE");
    for path in [
        "/version?startingTimestamp=",
        "/metadata?version=",
        "/metadata?timestamp=",
        "/changes?startingVersion=",
        "/changes?startingTimestamp=",
        "/changes?startingVersion=0&endingVersion=",
        "/changes?startingVersion=0&endingTimestamp=",
        "/changes?startingVersion=0&includeHistoricalMetadata=",
        "/changes?startingVersion=0&includeHistoricalMetadata=perhaps",
    ] {
        let reply = app.get(&format!("{TABLE}{path}")).bearer(&key).send().await;
        assert_eq!(refusal(&reply), wrong, "{path}");
    }
    let reply = query(&app, &key, &json!({"timestamp": ""})).send().await;
    assert_eq!(refusal(&reply), wrong);
    let reply = app.get(&format!("{SHARES}?maxResults=")).bearer(&key).send().await;
    assert_eq!(refusal(&reply), wrong);
    for path in [
        format!("{SHARES}?pageToken="),
        format!("{TABLE}/changes?startingVersion=0&includeHistoricalMetadata=True"),
    ] {
        assert_eq!(app.get(&path).bearer(&key).send().await.status, 200, "{path}");
    }
}

#[tokio::test]
async fn times_of_dropped_versions_are_known_and_their_rows_are_not_contract_12() {
    const NOON: i64 = 1_605_960_000_000; // 2020-11-21T12:00:00Z
    const HOUR: i64 = 3_600_000;
    let app = TestApp::start().await;
    let rows = |value: &str| {
        harvest().with_rows(&format!("date,region,value,final\n2020-01-01,Auckland,{value},true\n"))
    };
    let mut ids = Vec::new();
    for (hour, table) in (0..).zip([harvest(), rows("1.5"), rows("2.5"), rows("3.5")]) {
        ids.push(app.publish_at(&table, Millis(NOON + hour * HOUR)).await);
    }
    let (name, first) = (DatasetName::parse("harvest").unwrap(), SnapshotId::parse(&ids[0]));
    let held = app.store.hold_snapshot(&name, &first.unwrap()).await.unwrap();
    assert_eq!(held, HoldOutcome::Held);
    // Versions 0 and 3 stay.
    let dropped =
        app.store.apply_retention(Retention { snapshots: 1, hours: 0, history: true }, false).await;
    assert_eq!(dropped.unwrap().len(), 2);
    app.catalog_cache.refresh().await.unwrap();
    let key = app.key(Plan::Enterprise).await;
    for (timestamp, expected) in [
        ("2020-11-21T12:00:00Z", Some("0")),
        ("2020-11-21T12:59:59Z", Some("0")),
        ("2020-11-21T13:00:00Z", None),
        ("2020-11-21T14:30:00Z", None),
        ("2020-11-21T15:00:00Z", Some("3")),
    ] {
        let reply = query(&app, &key, &json!({"timestamp": timestamp})).send().await;
        match expected {
            Some(expected) => assert_eq!(reply.header("delta-table-version"), expected),
            None => {
                assert_eq!(refusal(&reply), refused(400, "RESOURCE_DOES_NOT_EXIST"), "{timestamp}")
            }
        }
    }
    let path = format!("{TABLE}/version?startingTimestamp=2020-11-21T12:30:00Z");
    let reply = app.get(&path).bearer(&key).send().await;
    assert_eq!(reply.header("delta-table-version"), "1");
    let range = "startingTimestamp=2020-11-21T12:30:00Z&endingTimestamp=2020-11-21T14:30:00Z";
    let changes = app.get(&format!("{TABLE}/changes?{range}")).bearer(&key).send().await;
    let versions: Vec<Value> =
        changes.json_lines()[2..].iter().map(|line| line["cdf"]["version"].clone()).collect();
    assert_eq!(versions, [json!(1), json!(2)]);
}

#[tokio::test]
async fn changes_that_are_not_known_any_more_are_400_contract_12() {
    const NOON: i64 = 1_605_960_000_000; // 2020-11-21T12:00:00Z
    const HOUR: i64 = 3_600_000;
    let app = TestApp::start().await;
    let rows = |value: &str| {
        harvest().with_rows(&format!("date,region,value,final\n2020-01-01,Auckland,{value},true\n"))
    };
    for (hour, table) in (0..).zip([harvest(), rows("1.5"), rows("2.5"), rows("3.5")]) {
        app.publish_at(&table, Millis(NOON + hour * HOUR)).await;
    }
    // Version 3 alone stays.
    let dropped =
        app.store.apply_retention(Retention { snapshots: 1, hours: 0, history: true }, false).await;
    assert_eq!(dropped.unwrap().len(), 3);
    app.catalog_cache.refresh().await.unwrap();
    let key = app.key(Plan::Enterprise).await;
    let ask = |range: &str| app.get(&format!("{TABLE}/changes?{range}")).bearer(&key).send();
    let check = async |range: &str, expected: &str| {
        let reply = ask(range).await;
        assert_eq!(refusal(&reply), refused(400, "RESOURCE_DOES_NOT_EXIST"), "{range}");
        assert_eq!(reply.json()["message"], expected, "{range}");
    };
    let whole = "It is not known what led to version 3; read it whole.";
    check("startingVersion=0", "Version 0 is not kept any more; read version 3.").await;
    check("startingVersion=2", whole).await;
    check("startingVersion=1&endingVersion=2", whole).await;
    check("startingTimestamp=2020-11-21T13:00:00Z", whole).await;
    app.publish_at(&rows("4.5"), Millis(NOON + 4 * HOUR)).await;
    let later = "Changes are known from version 4 on; read version 3 whole and go on from there.";
    check("startingVersion=3", later).await;
    check("startingTimestamp=2020-11-21T13:00:00Z&endingVersion=3", later).await;
    let known = ask("startingTimestamp=2020-11-21T15:30:00Z").await.json_lines();
    assert_eq!((known.len(), &known[2]["cdf"]["version"]), (3, &json!(4)));
}

#[tokio::test]
async fn changes_begin_with_all_rows_and_go_on_with_the_stored_files_contract_12() {
    let (app, key) = shared().await;
    app.publish(&second_version()).await;
    app.publish(&harvest()).await;
    let ask = |range: &str, capabilities: &str| {
        app.get(&format!("{TABLE}/changes?{range}"))
            .bearer(&key)
            .header("delta-sharing-capabilities", capabilities)
            .send()
    };
    let kinds = |reply: &Reply| -> Vec<(String, u64)> {
        let of = |line: &Value| {
            let (kind, action) = line.as_object().unwrap().iter().next().unwrap();
            (kind.clone(), action["version"].as_u64().unwrap())
        };
        reply.json_lines()[2..].iter().map(of).collect()
    };
    let all = ask("startingVersion=0", "").await;
    let expected = [("add", 0), ("cdf", 1), ("cdf", 2)].map(|(kind, of)| (kind.to_owned(), of));
    assert_eq!(kinds(&all), expected);
    for (line, kind) in all.json_lines()[2..].iter().zip(["add", "cdf", "cdf"]) {
        let fetched = app.get(&address(&line[kind])).send().await;
        assert!(fetched.status == 200 && fetched.body.starts_with(b"PAR1"), "{line}");
        assert_eq!(line[kind]["size"], fetched.body.len());
    }
    // Both ends are included.
    assert_eq!(kinds(&ask("startingVersion=1&endingVersion=1", "").await), expected[1..2]);
    let delta = ask("startingVersion=1", DELTA).await.json_lines();
    assert_eq!(delta[1]["metaData"]["version"], 1);
    let cdc = &delta[2]["file"]["deltaSingleAction"]["cdc"];
    assert_eq!(cdc["dataChange"], false, "{cdc}");
    for (range, code) in [
        ("", "INVALID_PARAMETER_VALUE"),
        ("startingVersion=2&endingVersion=1", "INVALID_PARAMETER_VALUE"),
        ("startingVersion=0&endingVersion=3", "INVALID_PARAMETER_VALUE"),
        ("startingVersion=3", "INVALID_PARAMETER_VALUE"),
        ("startingVersion=-1", "INVALID_PARAMETER_VALUE"),
        ("startingVersion=0&startingTimestamp=2026-01-01T00:00:00Z", "INVALID_PARAMETER_VALUE"),
        ("startingTimestamp=2999-01-01T00:00:00Z", "INVALID_PARAMETER_VALUE"),
    ] {
        assert_eq!(refusal(&ask(range, "").await), refused(400, code), "{range}");
    }
    let early = ask("startingTimestamp=2001-01-01T00:00:00Z", "").await;
    assert_eq!(kinds(&early), expected);
}

#[tokio::test]
async fn an_address_answers_head_and_ranges_contract_12() {
    let (app, key) = shared().await;
    let path = newest_address(&app, &key).await;
    let (_, query) = path.split_once('?').unwrap();
    let names: Vec<&str> = query.split('&').map(|pair| pair.split_once('=').unwrap().0).collect();
    assert_eq!(names, ["k", "sp", "se", "sig"]);
    let whole = app.get(&path).send().await;
    let head = app.head(&path).send().await;
    assert_eq!((head.status.as_u16(), head.body.len()), (200, 0));
    assert_eq!(head.header("content-length"), whole.body.len().to_string());
    assert_eq!(head.header("accept-ranges"), "bytes");
    for (range, expected) in
        [("bytes=0-3", &whole.body[..4]), ("bytes=-4", &whole.body[whole.body.len() - 4..])]
    {
        let part = app.get(&path).header("range", range).send().await;
        assert_eq!((part.status.as_u16(), &part.body[..]), (206, expected), "{range}");
    }
    let beyond = app.get(&path).header("range", "bytes=99999999-").send().await;
    assert_eq!(beyond.status, 416);
    let tag = whole.header("etag");
    let cached = app.get(&path).header("if-none-match", &tag).send().await;
    assert_eq!(cached.status, 304);
}

/// The first to ask for a file, here or on another host, may find it cut short.
#[tokio::test]
async fn a_file_that_is_cut_short_is_500_until_it_is_whole_again_contract_12() {
    let row = |row: i32| {
        let (year, month, day) = (1900 + row / 336, row / 28 % 12 + 1, row % 28 + 1);
        // Digits that no compression shortens.
        format!("{year}-{month:02}-{day:02},Auckland,{},true\n", f64::from(row).sin())
    };
    let rows: String = (0..10_000).map(row).collect();
    let app = TestApp::start().await;
    app.publish(&harvest().with_rows(&format!("date,region,value,final\n{rows}"))).await;
    let key = app.key(Plan::Enterprise).await;
    let path = newest_address(&app, &key).await;
    // Its checksums are in memory.
    let rows = app.get("/v1/datasets/harvest/data?limit=1").key(&key).send().await;
    assert_eq!(rows.status, 200);
    let digest = path.strip_prefix("/share/files/").unwrap().split('?').next().unwrap();
    let objects = app.folder.path().join("objects/snapshots");
    let object = objects.join(format!("{digest}.parquet"));
    let whole = std::fs::read(&object).unwrap();
    assert!(whole.len() > 3 << 14);
    for length in [0, 2 << 14, whole.len() - 1] {
        std::fs::write(&object, &whole[..length]).unwrap();
        assert_eq!(app.get(&path).send().await.status, 500, "{length}");
        assert_eq!(app.head(&path).send().await.status, 500, "{length}");
    }
    std::fs::write(&object, &whole).unwrap();
    let reply = app.get(&path).send().await;
    assert!(reply.status == 200 && reply.body[..] == whole[..]);
    let head = app.head(&path).send().await;
    assert_eq!(head.header("content-length"), whole.len().to_string());
}

#[tokio::test]
async fn an_address_that_was_changed_or_has_ended_is_403_contract_12() {
    let mut settings = unbounded();
    settings.share.url_seconds = 2;
    let app = TestApp::with(settings).await;
    app.publish(&harvest()).await;
    let other = Digest::compute(
        &app.get(&{
            app.publish(&parks().with("/yearbook/bulk_redistribution", json!(true))).await;
            let key = app.key(Plan::Enterprise).await;
            let path = format!("{SHARES}/yearbook/schemas/places/tables/parks/query");
            let reply = app.ask("POST", &path).bearer(&key).json_body(&json!({})).send().await;
            address(&reply.json_lines()[2]["file"])
        })
        .send()
        .await
        .body,
    );
    let key = app.key(Plan::Enterprise).await;
    let path = newest_address(&app, &key).await;
    assert_eq!(app.get(&path).send().await.status, 200);
    let digest = path.strip_prefix("/share/files/").unwrap().split('?').next().unwrap();
    let mut altered = vec![
        path.replace(digest, other.as_str()),
        path.replace("sp=r", "sp=w"),
        path.split_once('?').unwrap().0.to_owned(),
        format!("{path}A"),
        format!("{path}&x=1"),
    ];
    for index in ("/share/files/".len()..path.len()).step_by(3) {
        let mut text = path.clone().into_bytes();
        text[index] = if text[index] == b'1' { b'2' } else { b'1' };
        altered.push(String::from_utf8(text).unwrap());
    }
    let mut sentences = std::collections::HashSet::new();
    for altered in altered {
        let reply = app.get(&altered).send().await;
        assert_eq!(refusal(&reply), refused(403, "PERMISSION_DENIED"), "{altered}");
        sentences.insert(reply.text());
    }
    tokio::time::sleep(Duration::from_millis(2_100)).await;
    let ended = app.get(&path).send().await;
    assert_eq!(refusal(&ended), refused(403, "PERMISSION_DENIED"));
    sentences.insert(ended.text());
    assert_eq!(sentences.len(), 1, "nobody learns what was wrong");
}

#[tokio::test]
async fn revocation_ends_lists_and_addresses_within_2_s_contract_12() {
    let (app, key) = shared().await;
    let path = newest_address(&app, &key).await;
    let id = path.split("k=").nth(1).unwrap().split('&').next().unwrap();
    let id = KeyId::parse(id).unwrap();
    assert!(key::parse(&key).is_some() && !path.contains(&key), "the key itself is not told");
    assert!(app.store.revoke_key(&id, yearbook_catalog::clock::now()).await.unwrap());
    let begun = std::time::Instant::now();
    loop {
        let listed = app.get(SHARES).bearer(&key).send().await.status.as_u16();
        let fetched = app.get(&path).send().await.status.as_u16();
        if (listed, fetched) == (401, 403) {
            break;
        }
        assert!(begun.elapsed() < Duration::from_secs(2), "{listed} {fetched}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn a_burst_is_503_with_the_time_to_wait_contract_12() {
    let settings = ServiceSettings {
        limits: LimitSettings { burst_per_second: 1, burst_size: 2, ..LimitSettings::default() },
        ..ServiceSettings::default()
    };
    let app = TestApp::with(settings).await;
    let key = app.key(Plan::Enterprise).await;
    let mut statuses = Vec::new();
    for _ in 0..6 {
        let reply = app.get(SHARES).bearer(&key).send().await;
        statuses.push(reply.status.as_u16());
        if reply.status != 200 {
            assert_eq!(refusal(&reply), refused(503, "TEMPORARILY_UNAVAILABLE"));
            assert!(reply.header("retry-after").parse::<u64>().is_ok_and(|seconds| seconds > 0));
        }
        let bad = app.get("/share/files/x?k=a").send().await.status.as_u16();
        assert!(bad == 403 || bad == 503, "{bad}");
    }
    assert!(statuses.contains(&200) && statuses.contains(&503), "{statuses:?}");
}

#[tokio::test]
async fn requests_and_bytes_of_the_share_are_counted_contract_12() {
    let (app, key) = shared().await;
    let path = newest_address(&app, &key).await;
    let bytes = app.get(&path).send().await.body.len();
    let of =
        |operation: &str| format!("yearbook_share_requests_total{{operation=\"{operation}\"}}");
    assert_eq!(app.metric(&of("query")).await, Some(1.0));
    assert_eq!(app.metric(&of("file")).await, Some(1.0));
    assert_eq!(app.metric("yearbook_share_file_bytes_total").await, Some(bytes as f64));
}

#[tokio::test]
async fn a_description_with_separators_of_lines_stays_on_its_line_contract_12() {
    let app = TestApp::start().await;
    let title = "Harvest\u{2028}of\u{2029}all";
    app.publish(&harvest().with("/description", json!(title))).await;
    let key = app.key(Plan::Enterprise).await;
    let reply = app.get(&format!("{TABLE}/metadata")).bearer(&key).send().await;
    let text = reply.text();
    assert!(!text.contains(['\u{85}', '\u{2028}', '\u{2029}']), "{text}");
    assert_eq!(reply.json_lines()[1]["metaData"]["description"], title);
}

#[tokio::test]
async fn a_version_whose_licence_forbids_it_is_not_handed_on_contract_12() {
    let (app, key) = shared().await;
    app.publish(&second_version().with("/yearbook/bulk_redistribution", json!(false))).await;
    let gone = query(&app, &key, &json!({"version": 0})).send().await;
    assert_eq!(refusal(&gone), refused(404, "RESOURCE_DOES_NOT_EXIST"));
    app.publish(&harvest()).await;
    let forbidden = query(&app, &key, &json!({"version": 1})).send().await;
    assert_eq!(refusal(&forbidden), refused(403, "PERMISSION_DENIED"));
    let path = format!("{TABLE}/changes?startingVersion=0");
    let changes = app.get(&path).bearer(&key).send().await;
    assert_eq!(refusal(&changes), refused(403, "PERMISSION_DENIED"));
    assert_eq!(query(&app, &key, &json!({"version": 2})).send().await.status, 200);
}

#[tokio::test]
async fn columns_that_come_are_part_of_changes_and_types_that_change_are_not_contract_12() {
    let (app, key) = shared().await;
    let header = "date,region,value,final,note\n2020-01-01,Auckland,1.5,true,";
    app.publish(&harvest().with_field("note", "string").with_rows(&format!("{header}a\n"))).await;
    let ask = |range: &str| app.get(&format!("{TABLE}/changes?{range}")).bearer(&key).send();
    let names = |line: &Value| -> Vec<String> {
        let schema = line["metaData"]["schemaString"].as_str().unwrap();
        let schema: Value = serde_json::from_str(schema).unwrap();
        let fields = schema["fields"].as_array().unwrap();
        fields.iter().map(|field| field["name"].as_str().unwrap().to_owned()).collect()
    };
    let lines = ask("startingVersion=0").await.json_lines();
    assert_eq!((names(&lines[1]).len(), lines.len()), (5, 4), "nulls where there was no column");
    // As Python's client writes it, which cannot read two schemas.
    let lines = ask("startingVersion=0&includeHistoricalMetadata=True").await.json_lines();
    assert_eq!((names(&lines[1]).len(), lines.len()), (5, 4));
    let lines = ask("startingVersion=0&includeHistoricalMetadata=true").await.json_lines();
    assert_eq!((names(&lines[1]).len(), names(&lines[3]).len()), (4, 5));
    assert!(lines[2]["add"].is_object() && lines[4]["cdf"].is_object());
    app.publish(&harvest().with_field("note", "integer").with_rows(&format!("{header}7\n"))).await;
    let refused_range = ask("startingVersion=0").await;
    assert_eq!(refusal(&refused_range), refused(400, "INVALID_PARAMETER_VALUE"));
    assert_eq!(ask("startingVersion=2").await.status, 200);
}

#[tokio::test]
async fn names_that_are_no_utf_8_are_refused_like_all_others_contract_12() {
    let mut settings = ServiceSettings::default();
    settings.share.iceberg = true;
    let app = TestApp::with(settings).await;
    let key = app.key(Plan::Enterprise).await;
    for (path, kind) in [
        ("namespaces/%FF", "NoSuchNamespaceException"),
        ("namespaces/%FF/tables", "NoSuchNamespaceException"),
        ("namespaces/farms/tables/%FF", "NoSuchTableException"),
    ] {
        let reply = app.get(&format!("/share/iceberg/v1/{path}")).bearer(&key).send().await;
        assert_eq!(reply.status, 404, "{path}: {}", reply.text());
        assert_eq!(reply.json()["error"]["type"], kind, "{path}");
    }
    let reply = app.get("/docs/%FF").send().await;
    assert_eq!(reply.outcome(), (404, "no_such_route".to_owned()));
}
