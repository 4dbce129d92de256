//! Declined requests and failures in an encoder's `open`: one status, with a body or without
//! (contract-3-head-declined).

use serde_json::Value;
use yearbook_domain::Plan;
use yearbook_server::ServiceSettings;
use yearbook_tests::app::{TestApp, harvest, parks};

fn calls(app: &TestApp, format: &str) -> u64 {
    app.sandbox
        .metrics_snapshots()
        .into_iter()
        .find(|counts| counts.release.id.name == format)
        .map_or(0, |counts| counts.calls)
}

#[tokio::test]
async fn what_an_encoder_declines_has_one_status_for_get_head_and_304_contract_3() {
    let mut settings = ServiceSettings::default();
    settings.limits.burst_per_second = 0;
    settings.plans.starter.requests_per_month = Some(0);
    let app = TestApp::with(settings).await;
    app.publish(&harvest()).await;
    app.publish(&parks()).await;
    app.load("geojson");
    app.load("evil");
    let (key, spent) = (app.key(Plan::Free).await, app.key(Plan::Starter).await);
    // (path, status)
    let cases = [
        ("/v1/datasets/harvest/data?format=geojson", 422),
        ("/v1/datasets/harvest/changes?format=geojson", 422),
        ("/v1/datasets/parks/data?format=geojson&geometry=false", 422),
        ("/v1/datasets/harvest/data?format=evil&evil.attack=panic&evil.call=open", 500),
        ("/v1/datasets/harvest/changes?format=evil&evil.attack=refuse&evil.call=open", 500),
        ("/v1/datasets/parks/data?format=geojson", 200),
        ("/v1/datasets/harvest/data?format=csv", 200),
        ("/v1/datasets/parks/changes?format=geojson", 200),
    ];
    for (path, status) in cases {
        let get = app.get(path).key(&key).send().await;
        assert_eq!(get.status, status, "{path}: {}", get.text());
        let head = app.head(path).key(&key).send().await;
        assert_eq!((head.outcome(), head.body.len()), (get.outcome(), 0), "HEAD {path}");
        // What GET refuses is refused whatever the precondition (RFC 9110, 13.2.1).
        for (name, value, condition) in
            [("if-none-match", "*", 304), ("if-match", "\"another\"", 412)]
        {
            let expected = if status == 200 { condition } else { status };
            for method in ["GET", "HEAD"] {
                let reply = app.ask(method, path).key(&key).header(name, value).send().await;
                assert_eq!(reply.status, expected, "{method} {path} {name}");
                if status == 422 && method == "GET" {
                    let detail = |body: &Value| body["detail"].clone();
                    assert_eq!(detail(&reply.json()), detail(&get.json()), "{path}");
                }
            }
        }
        // 422 comes before a used-up month (contract-1-order); a month that is used up still
        // answers HEAD.
        let used_up = app.get(path).key(&spent).send().await;
        assert_eq!(used_up.status, if status == 422 { 422 } else { 429 }, "{path}");
        assert_eq!(app.head(path).key(&spent).send().await.status, status, "{path}");
    }
    let charged = app.get("/v1/me").key(&key).send().await.json()["requests"]["used"].as_u64();
    assert_eq!(charged, Some(3), "the bodies");
    assert_eq!(app.free_instances(), 16);
}

#[tokio::test]
async fn an_encoder_is_asked_once_and_not_at_all_by_who_has_its_tag_contract_3() {
    let app = TestApp::start().await;
    app.publish(&harvest()).await;
    let key = app.key(Plan::Enterprise).await;
    let path = "/v1/datasets/harvest/data?format=csv";
    let tag = app.get(path).key(&key).send().await.header("etag");
    let begun = calls(&app, "csv");
    for _ in 0..3 {
        let same = app.get(path).key(&key).header("if-none-match", &tag).send().await;
        assert_eq!(same.status, 304);
    }
    assert_eq!(calls(&app, "csv"), begun, "a tag proves that the encoder accepted");
    for query in ["", "&limit=5", "&start=2021-01-01"] {
        assert_eq!(app.head(&format!("{path}{query}")).key(&key).send().await.status, 200);
        assert_eq!(
            app.get(&format!("{path}{query}"))
                .key(&key)
                .header("if-none-match", "*")
                .send()
                .await
                .status,
            304
        );
    }
    assert_eq!(calls(&app, "csv"), begun + 1, "one schema, one set of options, one question");
    app.head(&format!("{path}&csv.delimiter=;")).key(&key).send().await;
    app.head(&format!("{path}&columns=value")).key(&key).send().await;
    assert_eq!(calls(&app, "csv"), begun + 3);
}
