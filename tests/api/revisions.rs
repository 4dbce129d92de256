//! Rows of all versions (contract-21-revisions): the law beside rows as of each time, pages that
//! end where the first one did, what the route refuses, and the triangle.

mod columns;
mod hosts;
mod reads;

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};
use yearbook_catalog::Retention;
use yearbook_domain::{DatasetName, Millis, Plan};
use yearbook_publish::{GcSettings, collect_garbage};
use yearbook_releases::ReleaseMonitorSettings;
use yearbook_tests::app::{Reply, TestApp, TestTable, harvest};

const REVISIONS: &str = "/v1/datasets/harvest/revisions";

/// Rows of each version: what was revised, came, went and came back.
const VERSIONS: [&str; 5] = [
    "2024-01-01,Nelson,1,false\n2024-01-02,Nelson,2,false\n2024-01-02,Otago,7,true\n",
    "2024-01-01,Nelson,1,true\n2024-01-02,Nelson,2.5,false\n",
    "2024-01-01,Nelson,1,true\n2024-01-02,Nelson,2.5,false\n2024-01-02,Otago,7,true\n2024-01-03,Nelson,,false\n",
    "2024-01-01,Nelson,1,true\n2024-01-02,Nelson,2,false\n2024-01-02,Otago,7,true\n2024-01-03,Nelson,3,false\n",
    "2024-01-01,Nelson,1,true\n2024-01-02,Nelson,2.5,true\n2024-01-02,Otago,7,true\n2024-01-03,Nelson,3,false\n",
];

fn version(number: usize) -> TestTable {
    harvest().with_rows(&format!("date,region,value,final\n{}", VERSIONS[number]))
}

/// Time of a version, an hour after the one before.
fn time(number: usize) -> String {
    format!("2024-03-01T{:02}:00:00Z", 10 + number)
}

async fn publish(app: &TestApp, number: usize, table: &TestTable) -> String {
    app.publish_at(table, Millis::parse_iso8601(&time(number)).unwrap()).await
}

async fn get(app: &TestApp, key: &str, path: &str) -> Reply {
    for _ in 0..100 {
        let reply = app.get(path).key(key).send().await;
        if reply.outcome().1 != "rebuilding" {
            return reply;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("{path} is not made");
}

/// Rows without what their members are called, sorted.
fn sorted(rows: impl IntoIterator<Item = Value>) -> Vec<String> {
    let mut rows: Vec<String> = rows.into_iter().map(|row| row.to_string()).collect();
    rows.sort();
    rows
}

/// The rows of `revisions` that were so at `time`, without their times.
fn valid_at(revisions: &Value, time: &str) -> Vec<String> {
    let valid = revisions.as_array().unwrap().iter().filter(|row| {
        let from = row["_valid_from"].as_str().unwrap();
        from <= time && row["_valid_to"].as_str().is_none_or(|to| time < to)
    });
    sorted(valid.map(|row| {
        let mut row = row.clone();
        let members = row.as_object_mut().unwrap();
        members.remove("_valid_from");
        members.remove("_valid_to");
        row
    }))
}

async fn check_law(app: &TestApp, key: &str, versions: usize, selection: &str) {
    let all = get(app, key, &format!("{REVISIONS}?limit=0{selection}")).await;
    assert_eq!(all.status, 200, "{}", all.text());
    let all = all.json();
    for number in 0..versions {
        let then = format!("/v1/datasets/harvest/data?limit=0&as_of={}{selection}", time(number));
        let then = get(app, key, &then).await.json();
        let rows = then.as_array().unwrap().iter().cloned();
        assert_eq!(valid_at(&all, &time(number)), sorted(rows), "{selection} at {number}");
    }
}

async fn drop_all_but_the_newest(app: &TestApp) {
    let retention = Retention { snapshots: 1, hours: 0, history: true };
    let settings = GcSettings { retention, unnamed_for: Duration::ZERO, dry_run: false };
    for _ in 0..2 {
        // What was let go an instant ago is too young, however short the age.
        tokio::time::sleep(Duration::from_millis(5)).await;
        collect_garbage(&app.store, &app.files, settings).await.unwrap();
    }
    app.catalog_cache.refresh().await.unwrap();
}

#[tokio::test]
async fn revisions_valid_at_a_time_are_the_rows_of_that_time_contract_21() {
    for keyed in [true, false] {
        let app = TestApp::start().await;
        let key = app.key(Plan::Enterprise).await;
        for number in 0..VERSIONS.len() {
            let table = version(number);
            let table = if keyed { table } else { table.without_key() };
            publish(&app, number, &table).await;
        }
        for dropped in [false, true] {
            if dropped {
                drop_all_but_the_newest(&app).await;
            }
            for selection in [
                "",
                "&where.region=Nelson",
                "&where.value.ge=2",
                "&start=2024-01-02",
                "&where.value.null=true",
            ] {
                check_law(&app, &key, VERSIONS.len(), selection).await;
            }
        }
    }
}

#[tokio::test]
async fn each_row_is_told_as_often_as_it_was_published_differently_contract_21() {
    let app = TestApp::start().await;
    let key = app.key(Plan::Enterprise).await;
    for number in 0..VERSIONS.len() {
        publish(&app, number, &version(number)).await;
    }
    let path = format!(
        "{REVISIONS}?where.region=Nelson&start=2024-01-02&columns=date,value,_valid_from,_valid_to&format=csv"
    );
    let reply = get(&app, &key, &path).await;
    assert_eq!(
        reply.text(),
        "date,value,_valid_from,_valid_to\n\
         2024-01-02,2.0,2024-03-01T10:00:00Z,2024-03-01T11:00:00Z\n\
         2024-01-02,2.5,2024-03-01T11:00:00Z,2024-03-01T13:00:00Z\n\
         2024-01-02,2.0,2024-03-01T13:00:00Z,2024-03-01T14:00:00Z\n\
         2024-01-02,2.5,2024-03-01T14:00:00Z,\n\
         2024-01-03,,2024-03-01T12:00:00Z,2024-03-01T13:00:00Z\n\
         2024-01-03,3.0,2024-03-01T13:00:00Z,\n"
    );
    assert!(
        !reply
            .headers
            .get_all("link")
            .iter()
            .any(|link| link.to_str().unwrap().contains("cite-as"))
    );
    // What had ended by a time is left out, and both times are columns.
    let count = async |query: &str| {
        get(&app, &key, &format!("{REVISIONS}?limit=0&{query}"))
            .await
            .json()
            .as_array()
            .unwrap()
            .len()
    };
    assert_eq!(count("").await, 10);
    assert_eq!(count("since=2024-03-01T12:30:00Z").await, 7);
    assert_eq!(count("since=2024-03-01").await, 4);
    assert_eq!(count("where._valid_to.null=true").await, 4);
    assert_eq!(count("where._valid_from.ge=2024-03-01T13:00:00Z").await, 3);
    let newest = get(&app, &key, &format!("{REVISIONS}?sort=-_valid_from&limit=1")).await.json();
    assert_eq!(newest[0]["_valid_from"], "2024-03-01T14:00:00Z");
}

#[tokio::test]
async fn pages_end_with_the_version_of_the_first_contract_21() {
    let app = TestApp::start().await;
    let key = app.key(Plan::Enterprise).await;
    let mut ids = Vec::new();
    for number in 0..4 {
        ids.push(publish(&app, number, &version(number)).await);
    }
    let whole = get(&app, &key, &format!("{REVISIONS}?limit=0")).await;
    let mut page = get(&app, &key, &format!("{REVISIONS}?limit=4")).await;
    // The next version comes in between, and what came before goes.
    publish(&app, 4, &version(4)).await;
    drop_all_but_the_newest(&app).await;
    let mut joined = page.json().as_array().unwrap().clone();
    while !page.header("x-next-page").is_empty() {
        let cursor = page.header("x-next-page");
        page = get(&app, &key, &format!("{REVISIONS}?limit=4&cursor={cursor}")).await;
        assert_eq!(page.status, 200, "{}", page.text());
        assert_eq!(page.header("x-service-snapshot-id"), ids[3]);
        joined.extend(page.json().as_array().unwrap().clone());
    }
    assert_eq!(json!(joined), whole.json());

    // Today is not over: what is published in between is not what the first page began with.
    let today = yearbook_catalog::clock::now().date();
    let page = get(&app, &key, &format!("{REVISIONS}?since={today}&limit=1")).await;
    let path = format!("{REVISIONS}?since={today}&limit=1&cursor={}", page.header("x-next-page"));
    publish(&app, 5, &version(3)).await;
    let page = get(&app, &key, &path).await;
    assert_eq!((page.status.as_u16(), page.json().as_array().unwrap().len()), (200, 1), "{path}");

    // A cursor goes on with its own rows alone.
    let first = get(&app, &key, &format!("{REVISIONS}?limit=4")).await;
    let (cursor, of_rows) = (first.header("x-next-page"), "/v1/datasets/harvest/data?limit=1");
    let data = get(&app, &key, of_rows).await.header("x-next-page");
    for path in [
        format!("/v1/datasets/harvest/data?limit=4&cursor={cursor}"),
        format!("{REVISIONS}?limit=1&cursor={data}"),
        format!("{REVISIONS}?limit=4&since=2024-03-01T12:00:00Z&cursor={cursor}"),
        format!("{REVISIONS}?limit=4&start=2024-01-02&cursor={cursor}"),
    ] {
        let reply = get(&app, &key, &path).await;
        assert_eq!(reply.problems(), [("cursor".to_owned(), "value_error".to_owned())], "{path}");
    }
}

#[tokio::test]
async fn revisions_are_told_of_all_versions_alone_and_keep_the_manners_of_rows_contract_21() {
    let app = TestApp::start().await;
    let key = app.key(Plan::Enterprise).await;
    publish(&app, 0, &version(0)).await;
    publish(&app, 1, &version(1)).await;
    for (parameter, value) in
        [("first", "1"), ("last", "1"), ("snapshot", "x"), ("as_of", "2024-01-01")]
    {
        let reply = get(&app, &key, &format!("{REVISIONS}?{parameter}={value}")).await;
        assert_eq!(reply.problems(), [(parameter.to_owned(), "value_error".to_owned())]);
    }
    for since in ["x", "2100-01-01", "2024-03-01T10:00:00"] {
        let reply = get(&app, &key, &format!("{REVISIONS}?since={since}")).await;
        assert_eq!(
            (reply.status.as_u16(), reply.problems()[0].0.as_str()),
            (422, "since"),
            "{since}"
        );
    }
    assert_eq!(get(&app, &key, "/v1/datasets/nothing/revisions").await.status, 404);
    assert_eq!(app.get(REVISIONS).send().await.status, 401);
    let reply = get(&app, &key, REVISIONS).await;
    let tag = reply.header("etag");
    assert_ne!(tag, get(&app, &key, "/v1/datasets/harvest/data").await.header("etag"));
    let same = app.get(REVISIONS).key(&key).header("if-none-match", &tag).send().await;
    assert_eq!(same.status, 304);
    assert_eq!(app.head(REVISIONS).key(&key).send().await.header("etag"), tag);
    publish(&app, 2, &version(2)).await;
    assert_ne!(get(&app, &key, REVISIONS).await.header("etag"), tag);
}

#[tokio::test]
async fn the_triangle_has_a_column_for_each_version_that_changed_a_value_contract_21() {
    let app = TestApp::start().await;
    let key = app.key(Plan::Enterprise).await;
    for number in 0..VERSIONS.len() {
        publish(&app, number, &version(number)).await;
    }
    let path = format!("{REVISIONS}?where.region=Nelson&apply=pivot&pivot.column=_valid_from");
    let reply = get(&app, &key, &path).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    let triangle = reply.json();
    let cell = |row: usize, version: usize| {
        let members: BTreeMap<String, Value> =
            serde_json::from_value(triangle[row].clone()).unwrap();
        members
            .iter()
            .find(|(name, _)| name.contains(&format!("t{:02}", 10 + version)))
            .map(|(_, value)| value.clone())
    };
    assert_eq!(cell(2, 0), Some(json!(2.0)), "{triangle}");
    assert_eq!(cell(2, 1), Some(json!(2.5)), "{triangle}");
    assert_eq!(cell(2, 2), Some(Value::Null), "the value of before still stood: {triangle}");
}

#[tokio::test]
async fn transforms_over_time_decline_rows_of_several_versions_contract_21() {
    let app = TestApp::start().await;
    let key = app.key(Plan::Enterprise).await;
    for number in 0..2 {
        publish(&app, number, &version(number)).await;
    }
    for asked in [
        "growth",
        "growth&columns=date,value",
        "growth&growth.unit=day",
        "resample&resample.to=month",
    ] {
        let reply = get(&app, &key, &format!("{REVISIONS}?apply={asked}")).await;
        assert_eq!(reply.status, 422, "{asked}: {}", reply.text());
        assert!(reply.text().contains("`as_of`"), "{asked}: {}", reply.text());
    }
    let path = format!("{REVISIONS}?apply=aggregate&aggregate.by=_valid_from&aggregate.with=count");
    let reply = get(&app, &key, &path).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
}

#[tokio::test]
async fn more_credit_than_an_answer_has_is_refused_contract_21() {
    let app = TestApp::start().await;
    let key = app.key(Plan::Enterprise).await;
    for number in 0..9 {
        let credit = format!("{number}{}", "x".repeat(2_000));
        let table = version(number % VERSIONS.len());
        publish(&app, number, &table.with("/yearbook/attribution_text", json!(credit))).await;
    }
    let reply = get(&app, &key, REVISIONS).await;
    assert_eq!(reply.outcome(), (413, "too_many_versions".to_owned()));
    let later = get(&app, &key, &format!("{REVISIONS}?since={}", time(1))).await;
    assert_eq!(later.status, 200, "{}", later.text());
    let credit = later.header("x-service-attribution");
    assert!(credit.contains("; ") && credit.len() > 14_000);
}

#[tokio::test]
async fn pages_go_on_after_their_newest_version_was_dropped_and_end_with_the_history_contract_21() {
    let app = TestApp::start().await;
    let key = app.key(Plan::Enterprise).await;
    for number in 0..3 {
        publish(&app, number, &version(number)).await;
    }
    let whole = get(&app, &key, &format!("{REVISIONS}?limit=0")).await;
    let first = get(&app, &key, &format!("{REVISIONS}?limit=2")).await;
    publish(&app, 3, &version(3)).await;
    publish(&app, 4, &version(4)).await;
    drop_all_but_the_newest(&app).await;
    // A host that has made nothing yet.
    let other = app.second_host(ReleaseMonitorSettings::default()).await;
    let path = format!("{REVISIONS}?limit=0&cursor={}", first.header("x-next-page"));
    let rest = get(&other, &key, &path).await;
    assert_eq!(rest.status, 200, "{}", rest.text());
    let joined = [first.json(), rest.json()];
    let joined: Vec<Value> =
        joined.iter().flat_map(|page| page.as_array().unwrap().clone()).collect();
    assert_eq!(json!(joined), whole.json());

    let name = DatasetName::parse("harvest").unwrap();
    let before = Millis::parse_iso8601(&time(2)).unwrap();
    assert_eq!(app.store.forget_history(&name, before).await.unwrap(), 2);
    // Until then a history of a moment ago may be told.
    tokio::time::sleep(Duration::from_millis(2_100)).await;
    for host in [&app, &other] {
        let reply = get(host, &key, &path).await;
        assert_eq!(reply.outcome(), (410, "history_gone".to_owned()));
        assert!(reply.text().contains(&time(2)), "{}", reply.text());
    }
}

#[tokio::test]
async fn one_licence_that_forbids_changed_rows_forbids_those_of_all_versions_contract_21() {
    let app = TestApp::start().await;
    let key = app.key(Plan::Enterprise).await;
    for (number, licence) in ["CC-BY-4.0", "CC-BY-ND-4.0", "CC0-1.0"].into_iter().enumerate() {
        let table = version(number).with("/licenses", json!([{"name": licence}]));
        publish(&app, number, &table).await;
    }
    let path = format!("{REVISIONS}?apply=pivot&pivot.column=_valid_from");
    let reply = get(&app, &key, &path).await;
    assert_eq!(reply.outcome(), (403, "no_derivatives".to_owned()));
    let later = get(&app, &key, &format!("{path}&since={}", time(2))).await;
    assert_eq!(later.status, 200, "{}", later.text());
    assert_eq!(get(&app, &key, REVISIONS).await.status, 200);
}

#[tokio::test]
async fn a_dropped_version_goes_through_transforms_as_it_did_contract_21() {
    let app = TestApp::start().await;
    let key = app.key(Plan::Enterprise).await;
    for number in 0..3 {
        publish(&app, number, &version(number)).await;
    }
    // A pivot has to know the values of its column before it reads a row.
    let paths = ["growth", "pivot&pivot.column=region"]
        .map(|transform| format!("/v1/datasets/harvest/data?apply={transform}&as_of={}", time(1)));
    let mut answers = Vec::new();
    for path in &paths {
        answers.push(get(&app, &key, path).await);
    }
    drop_all_but_the_newest(&app).await;
    for (path, before) in paths.iter().zip(answers) {
        let after = get(&app, &key, path).await;
        assert_eq!((before.status.as_u16(), before.text()), (after.status.as_u16(), after.text()));
        assert_eq!(after.status, 200, "{}", after.text());
    }
}
