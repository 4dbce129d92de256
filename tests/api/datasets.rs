//! `/v1/datasets` (spec-2.1-list, spec-2.1-detail).

use serde_json::json;
use yearbook_domain::{DatasetName, Plan};
use yearbook_tests::app::{TestApp, harvest, parks};

#[tokio::test]
async fn the_list_is_sorted_and_has_five_fields_spec_2_1() {
    let app = TestApp::start().await;
    let key = app.key(Plan::Enterprise).await;
    assert_eq!(app.get("/v1/datasets").key(&key).send().await.json(), json!([]));
    app.publish(&parks()).await;
    app.publish(&harvest()).await;
    assert_eq!(
        app.get("/v1/datasets").key(&key).send().await.json(),
        json!([
            {"name": "harvest", "namespace": "farms", "source": "Ministry of Harvest", "title": "Title of harvest", "description": null},
            {"name": "parks", "namespace": "places", "source": "Council", "title": "Title of parks", "description": null},
        ])
    );
}

#[tokio::test]
async fn a_retired_dataset_is_404_contract_4() {
    let app = TestApp::start().await;
    app.publish(&parks()).await;
    let key = app.key(Plan::Enterprise).await;
    app.store.retire_dataset(&DatasetName::parse("parks").unwrap()).await.unwrap();
    app.catalog_cache.refresh().await.unwrap();
    for path in [
        "/v1/datasets/parks",
        "/v1/datasets/parks/data",
        "/v1/series/parks/data",
        "/v1/datasets/parks/preview",
    ] {
        assert_eq!(
            app.get(path).key(&key).send().await.outcome(),
            (404, "no_such_dataset".to_owned()),
            "{path}"
        );
    }
    assert_eq!(app.get("/v1/datasets").key(&key).send().await.json(), json!([]));
}

#[tokio::test]
async fn every_retained_snapshot_is_listed_contract_4() {
    let app = TestApp::start().await;
    let old = app.publish(&harvest()).await;
    let new = app
        .publish(&harvest().with_rows("date,region,value,final\n2024-01-01,Nelson,1.5,true\n"))
        .await;
    let key = app.key(Plan::Enterprise).await;
    let meta = app.get("/v1/datasets/harvest").key(&key).send().await.json();
    let ids: Vec<&str> = meta["snapshots"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|snapshot| snapshot["id"].as_str())
        .collect();
    assert_eq!(ids, [&old, &new]);
    let versions = [0, 1].map(|index| meta["snapshots"][index]["version"].as_u64());
    assert_eq!(versions, [Some(0), Some(1)]);
    assert_eq!(
        (&meta["current_snapshot_id"], &meta["row_count_at_last_refresh"]),
        (&json!(new), &json!(1))
    );
}
