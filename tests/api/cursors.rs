//! Paging (contract-3-pages): cursors, pinned snapshots, and what happens when data moves on.

use std::time::Duration;

use serde_json::Value;
use yearbook_domain::Plan;
use yearbook_releases::ReleaseMonitorSettings;
use yearbook_tests::app::{HostFixture, Reply, TestApp, harvest, parks};

fn next_path(reply: &Reply) -> Option<String> {
    let link = reply.header("link");
    let (_, path) = link.split_once("http://test.example").unwrap_or_default();
    path.split_once('>').filter(|_| link.contains("rel=\"next\"")).map(|(path, _)| path.to_owned())
}

#[tokio::test]
async fn pages_join_to_the_whole_contract_3() {
    let app = TestApp::start().await;
    app.publish(&harvest()).await;
    let key = app.key(Plan::Enterprise).await;
    for filter in [
        "",
        "&dimensions=m%C4%81ori+land",
        "&start=2020-05-01&end=2022-03-01",
        "&columns=value,region&geometry=false",
    ] {
        let whole = app
            .get(&format!("/v1/series/harvest/data?limit=0{filter}"))
            .key(&key)
            .send()
            .await
            .json();
        let mut path = Some(format!("/v1/series/harvest/data?limit=7{filter}"));
        let mut rows: Vec<Value> = Vec::new();
        while let Some(now) = path {
            let page = app.get(&now).key(&key).send().await;
            assert_eq!(page.status, 200, "{now}: {}", page.text());
            rows.extend(page.json().as_array().unwrap().clone());
            path = next_path(&page);
        }
        assert_eq!(Value::Array(rows), whole, "{filter}");
    }
}

#[tokio::test]
async fn limit_format_and_key_may_change_between_pages_a_filter_may_not_contract_3() {
    let app = TestApp::start().await;
    app.publish(&harvest()).await;
    app.publish(&parks()).await;
    let (one, other) = (app.key(Plan::Enterprise).await, app.key(Plan::Free).await);
    let first = app.get("/v1/datasets/harvest/data?limit=2&dimensions=land").key(&one).send().await;
    let cursor = first.header("x-next-page");
    assert!(!cursor.is_empty());
    let get = async |path: &str, query: &str| {
        app.get(&format!("/v1/datasets/{path}/data?{query}")).key(&other).send().await
    };
    let good = get("harvest", &format!("cursor={cursor}&dimensions=land&limit=1&format=csv")).await;
    assert_eq!(
        good.text().lines().nth(1),
        Some("2020-02-01,Auckland,10.5,false"),
        "{}",
        good.text()
    );
    for (path, query) in [
        ("harvest", format!("cursor={cursor}")),
        ("harvest", format!("cursor={cursor}&dimensions=Land")),
        ("harvest", format!("cursor={cursor}&dimensions=land&geometry=false")),
        ("parks", format!("cursor={cursor}&dimensions=land")),
        ("harvest", format!("cursor={cursor}A&dimensions=land")),
        ("harvest", "cursor=garbage&dimensions=land".to_owned()),
    ] {
        let reply = get(path, &query).await;
        assert_eq!(
            reply.problems(),
            [("cursor".to_owned(), "value_error".to_owned())],
            "{path} {query}"
        );
    }
    let several = get("harvest", "cursor=x&columns=y&csv.delimiter=long").await.problems();
    let names: Vec<&str> = several.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        ["cursor", "columns", "csv.delimiter"],
        "all at once, in the order of declaration"
    );
    assert_eq!(
        get("harvest", "cursor=&limit=1").await.status,
        200,
        "an empty cursor counts as absent"
    );
}

#[tokio::test]
async fn a_cursor_keeps_reading_its_own_snapshot_contract_3() {
    let app = TestApp::start().await;
    let old = app.publish(&harvest()).await;
    let key = app.key(Plan::Enterprise).await;
    let first = app.get("/v1/datasets/harvest/data?limit=100").key(&key).send().await;
    let new = app
        .publish(&harvest().with_rows("date,region,value,final\n2024-01-01,Nelson,1.5,true\n"))
        .await;
    assert_ne!(old, new);

    let second = app.get(&next_path(&first).unwrap()).key(&key).send().await;
    assert_eq!(
        (second.json().as_array().unwrap().len(), second.header("x-service-snapshot-id")),
        (20, old.clone())
    );
    let current = app.get("/v1/datasets/harvest/data").key(&key).send().await;
    assert_eq!(
        (current.json().as_array().unwrap().len(), current.header("x-service-snapshot-id")),
        (1, new.clone())
    );
    let pinned = app
        .get(&format!("/v1/datasets/harvest/data?limit=0&snapshot={old}"))
        .key(&key)
        .send()
        .await;
    assert_eq!(
        (pinned.json().as_array().unwrap().len(), pinned.header("x-service-snapshot-id")),
        (120, old.clone())
    );

    let cursor = first.header("x-next-page");
    let mixed = app
        .get(&format!("/v1/datasets/harvest/data?cursor={cursor}&snapshot={new}"))
        .key(&key)
        .send()
        .await;
    assert_eq!(mixed.problems(), [("snapshot".to_owned(), "value_error".to_owned())]);
}

#[tokio::test]
async fn a_cursor_goes_on_at_a_host_that_has_not_read_its_snapshot_contract_3() {
    // Neither reads the catalog by itself.
    let fixture = HostFixture { poll_interval: Duration::from_hours(1), ..HostFixture::default() };
    let app = TestApp::on_fixture(&fixture).await;
    app.publish(&harvest()).await;
    let key = app.key(Plan::Enterprise).await;
    let other = app.second_host(ReleaseMonitorSettings::default()).await;
    let rows = "date,region,value,final\n2024-01-01,Nelson,1,true\n2024-01-02,Nelson,2,true\n";
    let id = app.publish(&harvest().with_rows(rows)).await;
    let first = app.get("/v1/datasets/harvest/data?limit=1").key(&key).send().await;
    let behind = other.get("/v1/datasets/harvest/data?limit=1").key(&key).send().await;
    assert_ne!(behind.header("x-service-snapshot-id"), id);
    let second = other.get(&next_path(&first).unwrap()).key(&key).send().await;
    assert_eq!(second.status, 200, "{}", second.text());
    assert_eq!(second.header("x-service-snapshot-id"), id);
    assert_eq!(second.json()[0]["date"], "2024-01-02");
}

#[tokio::test]
async fn a_snapshot_that_never_was_is_404_as_for_changes_contract_3() {
    let app = TestApp::start().await;
    let snapshot = app.publish(&harvest()).await;
    app.publish(&harvest().with_rows("date,region,value,final\n2024-01-01,Nelson,1.5,true\n"))
        .await;
    let key = app.key(Plan::Enterprise).await;
    let another = app.publish(&parks()).await;
    for id in ["nothing", "", "00000000000000000000000000000000", another.as_str()] {
        for method in ["GET", "HEAD"] {
            let reply = app
                .ask(method, &format!("/v1/datasets/harvest/data?snapshot={id}"))
                .key(&key)
                .send()
                .await;
            assert_eq!(reply.outcome(), (404, "no_such_snapshot".to_owned()), "{method} {id}");
        }
    }
    let changes = app
        .get("/v1/datasets/harvest/changes?since=00000000000000000000000000000000")
        .key(&key)
        .send()
        .await;
    assert_eq!(changes.outcome(), (404, "no_such_snapshot".to_owned()));
    assert_eq!(
        app.get(&format!("/v1/datasets/harvest/data?snapshot={snapshot}"))
            .key(&key)
            .send()
            .await
            .status,
        200
    );
    let wrong =
        app.get("/v1/datasets/harvest/data?snapshot=nothing&columns=x").key(&key).send().await;
    assert_eq!(
        wrong.problems(),
        [("columns".to_owned(), "value_error".to_owned())],
        "422 comes first (contract-1-order)"
    );
}
