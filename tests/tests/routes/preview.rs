//! `/preview` (spec 4, contract 4): for anybody, ten rows, no geometry.

use serde_json::json;
use yearbook_server::Settings;
use yearbook_tests::app::{TestApp, harvest, parks};

#[tokio::test]
async fn anybody_sees_the_newest_ten_rows_contract_4() {
    let app = TestApp::start().await;
    let id = app.publish(&harvest()).await;
    let preview = app.get("/v1/datasets/harvest/preview").send().await.json();
    let rows = preview["rows"].as_array().unwrap();
    assert_eq!((rows.len(), &preview["snapshot_id"], &preview["hidden_columns"]), (10, &json!(id), &json!([])));
    let dates: Vec<&str> = rows.iter().filter_map(|row| row["date"].as_str()).collect();
    assert_eq!((dates.first(), dates.iter().rev().is_sorted()), (Some(&"2023-04-01"), true));
    assert_eq!(preview["columns"][2], json!({"name": "value", "type": "number"}));
}

#[tokio::test]
async fn geometry_is_hidden_contract_4() {
    let app = TestApp::start().await;
    app.publish(&parks()).await;
    let preview = app.get("/v1/datasets/parks/preview").send().await.json();
    assert_eq!(preview["hidden_columns"], json!(["geometry_wkt"]));
    assert!(preview["rows"].as_array().unwrap().iter().all(|row| row.get("geometry_wkt").is_none() && row.get("park").is_some()));
}

#[tokio::test]
async fn a_burst_from_one_address_is_refused_contract_4() {
    let mut settings = Settings::default();
    settings.limits.burst_per_second = 1;
    settings.limits.burst_size = 3;
    let app = TestApp::with(settings).await;
    app.publish(&parks()).await;
    for _ in 0..3 {
        assert_eq!(app.get("/v1/datasets/parks/preview").send().await.status, 200);
    }
    let refused = app.get("/v1/datasets/parks/preview").send().await;
    assert_eq!(refused.outcome(), (429, "too_fast".to_owned()));
    assert_eq!((refused.header("retry-after"), refused.header("x-ratelimit-remaining")), ("1".to_owned(), "0".to_owned()));
}
