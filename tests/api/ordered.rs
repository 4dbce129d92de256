//! Order, and the first or last rows of each series, at `/data` (`docs/spec/selections.md`).

use serde_json::{Value, json};
use yearbook_domain::Plan;
use yearbook_domain::read_plan::MAX_SERIES;
use yearbook_tests::app::{Reply, TestApp, big, harvest, parks, unbounded};
use yearbook_tests::components::root;

const UNEMPLOYMENT: &str = "us_unemployment_by_industry";

async fn get(app: &TestApp, key: &str, path: &str) -> Reply {
    app.get(path).key(key).send().await
}

async fn rows(app: &TestApp, key: &str, path: &str) -> Vec<Value> {
    let reply = get(app, key, path).await;
    assert_eq!(reply.status, 200, "{path}: {}", reply.text());
    reply.json().as_array().unwrap().clone()
}

fn next_path(reply: &Reply) -> Option<String> {
    let mut links = reply.headers.get_all("link").iter().map(|link| link.to_str().unwrap());
    let next = links.find(|link| link.ends_with("rel=\"next\""))?;
    let (_, path) = next.split_once("http://test.example")?;
    path.split_once('>').map(|(path, _)| path.to_owned())
}

#[tokio::test]
async fn the_example_of_last_and_sort_contract_15() {
    let app = TestApp::start().await;
    let package = root().join("datasets").join(UNEMPLOYMENT);
    app.publish_package(&package, yearbook_catalog::clock::now()).await;
    let key = app.key(Plan::Free).await;
    let path = format!(
        "/v1/datasets/{UNEMPLOYMENT}/data?where.measure=rate&last=1&sort=-value&limit=2\
         &columns=period,industry,value"
    );
    let reply = get(&app, &key, &path).await;
    let expected = json!([
        {"period": "2010-02", "industry": "Construction", "value": 0.271},
        {"period": "2010-02", "industry": "Agriculture", "value": 0.188},
    ]);
    assert_eq!((reply.status.as_u16(), reply.json()), (200, expected));
    assert_eq!(reply.header("x-service-rows"), "2");
    assert!(reply.headers.get("x-service-total-rows").is_none(), "rows would have to tell");

    let mut all = reply.json().as_array().unwrap().clone();
    let mut page = reply;
    while let Some(next) = next_path(&page) {
        page = get(&app, &key, &next).await;
        all.extend(page.json().as_array().unwrap().clone());
    }
    assert!(all.len() > 10 && all.iter().all(|row| row["period"] == "2010-02"), "{all:?}");
    let values: Vec<f64> = all.iter().map(|row| row["value"].as_f64().unwrap()).collect();
    assert!(values.is_sorted_by(|one, other| one >= other), "{values:?}");
}

#[tokio::test]
async fn pages_of_any_order_join_to_the_whole_contract_15() {
    let app = TestApp::start().await;
    app.publish(&harvest()).await;
    let key = app.key(Plan::Enterprise).await;
    let all = rows(&app, &key, "/v1/datasets/harvest/data?limit=0").await;
    let mut newest = all.clone();
    newest.sort_by(|one, other| other["date"].as_str().cmp(&one["date"].as_str()));
    assert_eq!(rows(&app, &key, "/v1/datasets/harvest/data?sort=-date&limit=0").await, newest);
    for query in [
        "sort=-value",
        "sort=final,-region",
        "sort=-date",
        "sort=-date&where.region.not=Auckland",
        "last=2",
        "first=3&sort=-value",
        "last=4&sort=-date&where.value.ge=50",
        "last=5&dimensions=land&end=2021-06-01&columns=value",
    ] {
        let whole = rows(&app, &key, &format!("/v1/datasets/harvest/data?limit=0&{query}")).await;
        let mut path = Some(format!("/v1/datasets/harvest/data?limit=5&{query}"));
        let mut joined = Vec::new();
        while let Some(now) = path {
            let page = get(&app, &key, &now).await;
            assert_eq!(page.status, 200, "{now}: {}", page.text());
            let of_page = page.json().as_array().unwrap().clone();
            assert_eq!(page.header("x-service-rows"), of_page.len().to_string(), "{now}");
            joined.extend(of_page);
            path = next_path(&page);
        }
        assert!(joined.len() > 5 && joined == whole, "{query}: {joined:?}");
    }
    let last = rows(&app, &key, "/v1/datasets/harvest/data?last=1").await;
    assert_eq!(last.len(), 3, "a region is a series: {last:?}");
    assert!(last.iter().all(|row| row["date"] == all[all.len() - 1]["date"]), "{last:?}");
}

#[tokio::test]
async fn a_large_table_is_sorted_up_to_ten_thousand_rows_contract_15() {
    let app = TestApp::start().await;
    app.publish(&big(10_050)).await;
    let key = app.key(Plan::Enterprise).await;
    for (query, outcome) in [
        ("sort=-value&limit=10000", (200, String::new())),
        ("sort=-value&limit=10001", (413, "sort_too_large".to_owned())),
        ("sort=-value&limit=0", (413, "sort_too_large".to_owned())),
        ("sort=-value&limit=0&last=1", (413, "sort_too_large".to_owned())),
        ("sort=-date&limit=0", (200, String::new())),
        ("sort=-date,series&limit=0", (200, String::new())),
        ("sort=date,series&limit=0", (200, String::new())),
    ] {
        let path = format!("/v1/datasets/big/data?{query}&format=csv");
        assert_eq!(get(&app, &key, &path).await.outcome(), outcome, "{query}");
        assert_eq!(app.head(&path).key(&key).send().await.status, outcome.0, "{query}");
    }
    let refused = get(&app, &key, "/v1/datasets/big/data?sort=-value&limit=0").await;
    assert!(refused.text().contains("10000"), "{}", refused.text());
    let best = rows(&app, &key, "/v1/datasets/big/data?sort=-value&limit=3&columns=value").await;
    assert_eq!(best, [json!({"value": 30147}), json!({"value": 30144}), json!({"value": 30141})]);
}

#[tokio::test]
async fn keys_that_take_more_than_there_is_for_selections_are_too_large_contract_15() {
    let mut settings = unbounded();
    settings.limits.selection_bytes = 100_000;
    let app = TestApp::with(settings).await;
    app.publish(&big(10_050)).await;
    let key = app.key(Plan::Enterprise).await;
    let sorted = |limit: u64| format!("/v1/datasets/big/data?sort=-value&limit={limit}&format=csv");
    let refused = get(&app, &key, &sorted(10_000)).await;
    assert_eq!(refused.outcome(), (413, "sort_too_large".to_owned()));
    assert!(refused.text().contains("smaller limit"), "{}", refused.text());
    assert_eq!(get(&app, &key, &sorted(100)).await.outcome(), (200, String::new()));
}

#[tokio::test]
async fn what_a_caller_cannot_hold_is_too_large_contract_15() {
    // Ten thousand keys take some 730 kB.
    for (percent, expected) in [(0, (200, "")), (25, (413, "sort_too_large"))] {
        let mut settings = unbounded();
        settings.limits.selection_bytes = 1_000_000;
        settings.limits.key_share_percent = percent;
        let app = TestApp::with(settings).await;
        let id = app.publish(&big(10_050)).await;
        let key = app.key(Plan::Enterprise).await;
        let sorted = "/v1/datasets/big/data?sort=-value&limit=10000&format=csv";
        let answer = get(&app, &key, sorted).await.outcome();
        assert_eq!(answer, (expected.0, expected.1.to_owned()), "{percent}");
        let verify = format!("/cite/big/{id}?limit=10000&sort=-value&verify=true&format=text");
        assert_eq!(get(&app, &key, &verify).await.outcome(), answer, "{percent}");
    }
}

/// The address that an answer is cited by.
fn cited_path(reply: &Reply) -> Option<String> {
    let mut links = reply.headers.get_all("link").iter().map(|link| link.to_str().unwrap());
    let cited = links.find(|link| link.ends_with("rel=\"cite-as\""))?;
    let (_, path) = cited.split_once("http://test.example")?;
    path.split_once('>').map(|(path, _)| path.to_owned())
}

#[tokio::test]
async fn a_large_order_is_verified_as_far_as_it_is_answered_contract_15() {
    let app = TestApp::start().await;
    let id = app.publish(&big(10_050)).await;
    let key = app.key(Plan::Enterprise).await;
    // (query, canonical query of its citation)
    let cases = [
        ("sort=-value", "limit=100&sort=-value"),
        ("sort=-value&limit=7", "limit=7&sort=-value"),
        ("sort=-value&last=1", "last=1&sort=-value"),
        ("sort=-date", "sort=-date"),
        ("sort=-date&limit=7", "limit=7&sort=-date"),
    ];
    for (query, canonical) in cases {
        let path = format!("/v1/datasets/big/data?{query}&format=csv");
        let reply = get(&app, &key, &path).await;
        assert_eq!(reply.status, 200, "{query}");
        let cited = cited_path(&reply);
        assert_eq!(cited, Some(format!("/cite/big/{id}?{canonical}")), "{query}");
        let head = app.head(&path).key(&key).send().await;
        // HEAD does not tell how many rows an order has, so neither what a limit cuts.
        let known = (query == "sort=-date").then_some(cited).flatten();
        assert_eq!(cited_path(&head), known, "HEAD {query}");
    }
    let verify = async |query: &str| {
        get(&app, &key, &format!("/cite/big/{id}?{query}&verify=true&format=text")).await
    };
    let rows = |reply: &Reply| {
        let text = reply.text();
        text.split("Rows: ").nth(1).and_then(|rest| rest.split('.').next()).map(str::to_owned)
    };
    assert_eq!(rows(&verify("limit=100&sort=-value").await).as_deref(), Some("100"));
    assert_eq!(rows(&verify("sort=-date").await).as_deref(), Some("10050"));
    for query in ["sort=-value", "limit=10001&sort=-value", "sort=-value&last=1"] {
        let scans = app.reads().scans;
        let refused = (413, "sort_too_large".to_owned());
        assert_eq!(verify(query).await.outcome(), refused, "{query}");
        let path = format!("/cite/big/{id}?{query}&verify=true");
        assert_eq!(app.head(&path).key(&key).send().await.status, 413, "{query}");
        assert_eq!(app.reads().scans, scans, "refused before a row is read");
        assert_eq!(app.get(&format!("/cite/big/{id}?{query}")).send().await.status, 200);
    }
}

#[tokio::test]
async fn more_series_than_are_held_are_refused_contract_15() {
    let app = TestApp::start().await;
    let id = app.publish(&harvest()).await;
    let key = app.key(Plan::Enterprise).await;
    let snapshot = app.catalog_cache.dataset("harvest").unwrap().current.clone();
    // As if publishing had stored this number.
    app.reader.count_series(&snapshot, Some(MAX_SERIES + 1)).await.unwrap();
    for query in ["last=1", "first=1&limit=1", "last=1&start=2022-01-01&sort=-date"] {
        let path = format!("/v1/datasets/harvest/data?{query}");
        let refused = (413, "too_many_series".to_owned());
        assert_eq!(get(&app, &key, &path).await.outcome(), refused, "{query}");
        assert_eq!(app.head(&path).key(&key).send().await.status, 413, "{query}");
    }
    assert_eq!(get(&app, &key, "/v1/datasets/harvest/data?sort=-date").await.status, 200);
    let path = format!("/cite/harvest/{id}?last=1&verify=true");
    let refused = (413, "too_many_series".to_owned());
    assert_eq!(get(&app, &key, &path).await.outcome(), refused);
    assert_eq!(app.head(&path).key(&key).send().await.status, 413);
    let known = app.get(&path).key(&key).header("if-none-match", "*").send().await;
    assert_eq!(known.outcome(), refused, "before what the client has is compared");
}

#[tokio::test]
async fn head_reads_nothing_and_tags_hold_the_place_of_a_page_contract_15() {
    let app = TestApp::start().await;
    app.publish(&harvest()).await;
    let key = app.key(Plan::Enterprise).await;
    let head = async |query: &str| {
        let reply = app.head(&format!("/v1/datasets/harvest/data?{query}")).key(&key).send().await;
        assert_eq!(reply.status, 200, "{query}");
        (reply.header("x-service-rows"), reply.header("x-service-total-rows"))
    };
    let total = rows(&app, &key, "/v1/datasets/harvest/data?limit=0").await.len();
    let nothing = (String::new(), String::new());
    let scans = app.reads().scans;
    assert_eq!(head("last=1&limit=2").await, nothing);
    assert_eq!(head("first=1&limit=0&sort=-value").await, nothing);
    assert_eq!(head("sort=-value&limit=2").await, (String::new(), total.to_string()));
    assert_eq!(head("sort=-value&limit=0").await, (total.to_string(), total.to_string()));
    assert_eq!(app.reads().scans, scans, "HEAD reads no row");

    // Two thirds of the rows come before row 0 in this order.
    let limit = total / 3 * 2;
    let first =
        get(&app, &key, &format!("/v1/datasets/harvest/data?sort=-region&limit={limit}")).await;
    let second = get(&app, &key, &next_path(&first).unwrap()).await;
    assert_eq!(second.json().as_array().unwrap().len(), total - limit);
    assert_eq!(second.json()[0], rows(&app, &key, "/v1/datasets/harvest/data?limit=1").await[0]);
    assert_ne!(first.header("etag"), second.header("etag"));
}

#[tokio::test]
async fn metadata_lists_the_columns_of_series_contract_15() {
    let app = TestApp::start().await;
    app.publish(&harvest()).await;
    app.publish(&parks()).await;
    let package = root().join("datasets").join(UNEMPLOYMENT);
    app.publish_package(&package, yearbook_catalog::clock::now()).await;
    let key = app.key(Plan::Free).await;
    for (name, series) in [
        ("harvest", json!(["region"])),
        ("parks", Value::Null),
        (UNEMPLOYMENT, json!(["industry", "measure"])),
    ] {
        let metadata = get(&app, &key, &format!("/v1/datasets/{name}")).await.json();
        assert_eq!(metadata["series"], series, "{name}");
    }
}
