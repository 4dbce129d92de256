//! `/v1/datasets` (spec-2.1-list, spec-2.1-detail).

use bytes::Bytes;
use http_body_util::BodyExt;
use serde_json::json;
use yearbook_domain::{DatasetName, Plan};
use yearbook_server::ServiceSettings;
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

/// The body of a document, where it lies in memory.
async fn body_in_memory(app: &TestApp, key: &str, path: &str, coding: &str) -> Bytes {
    let request = app.get(path).key(key).header("accept-encoding", coding);
    let frame = request.begin().await.into_body().frame().await.unwrap().unwrap();
    frame.into_data().unwrap()
}

#[tokio::test]
async fn the_list_is_made_once_in_each_language_and_coding_and_not_compressed_for_head() {
    let mut settings = ServiceSettings::default();
    settings.limits.burst_per_second = 0;
    settings.server.compress_bytes = 1;
    let app = TestApp::with(settings).await;
    let titles = json!({"en": "Harvest", "mi": "Hauhake"});
    app.publish(&harvest().with("/languages", json!(["en", "mi"])).with("/title", titles)).await;
    let key = app.key(Plan::Enterprise).await;
    for path in ["/v1/datasets", "/v1/datasets?lang=mi"] {
        for coding in ["identity", "gzip", "zstd"] {
            let first = body_in_memory(&app, &key, path, coding).await;
            let second = body_in_memory(&app, &key, path, coding).await;
            assert_eq!(first.as_ptr(), second.as_ptr(), "{path} {coding}");
            let ask = |method| app.ask(method, path).key(&key).header("accept-encoding", coding);
            let (whole, head) = (ask("GET").send().await, ask("HEAD").send().await);
            assert_eq!((head.status.as_u16(), head.body.len()), (200, 0), "{path} {coding}");
            for name in ["content-type", "content-encoding", "etag", "vary", "cache-control"] {
                assert_eq!(head.header(name), whole.header(name), "{path} {coding} {name}");
            }
            let length =
                if coding == "identity" { whole.body.len().to_string() } else { String::new() };
            assert_eq!(head.header("content-length"), length, "{path} {coding}");
        }
    }
    let title = async |path: &str| app.get(path).key(&key).send().await.json()[0]["title"].clone();
    assert_eq!(title("/v1/datasets").await, "Harvest");
    assert_eq!(title("/v1/datasets?lang=mi").await, "Hauhake");
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
