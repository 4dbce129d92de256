//! Bounds of what transforms may see and give: plans, licences, rows that are held.

use serde_json::json;
use yearbook_domain::Plan;
use yearbook_tests::app::{TestApp, big, harvest, unbounded};

use super::{DATA, get, load, rows};

fn outcome(status: u16, code: &str) -> (u16, String) {
    (status, code.to_owned())
}

#[tokio::test]
async fn a_plan_bounds_the_rows_that_transforms_see_contract_16() {
    let mut settings = unbounded();
    settings.plans.free.transform_rows = Some(60);
    let app = TestApp::with(settings).await;
    load(&app);
    app.publish(&harvest()).await;
    let free = app.key(Plan::Free).await;
    let refused = outcome(413, "too_many_rows_to_transform");
    for (query, expected) in [
        ("apply=idle", &refused),
        // Conditions do not count.
        ("apply=idle&where.region=Auckland", &refused),
        ("apply=idle&limit=1", &refused),
        ("apply=idle&start=2022-01-01", &outcome(200, "")),
        ("apply=idle&end=2021-08-01", &outcome(200, "")),
        ("apply=idle&end=2021-09-01", &refused),
        // Rows before `start` are seen, too.
        ("apply=growth&start=2021-12-01&growth.periods=2", &outcome(200, "")),
        ("apply=growth&start=2021-12-01&growth.periods=20", &refused),
        ("limit=100", &outcome(200, "")),
    ] {
        let path = format!("{DATA}?{query}");
        assert_eq!(get(&app, &free, &path).await.outcome(), *expected, "{query}");
    }
    let sentence = get(&app, &free, &format!("{DATA}?apply=idle")).await.text();
    assert!(sentence.contains("120 rows") && sentence.contains("start and end"), "{sentence}");
    let used = get(&app, &free, "/v1/me").await.json()["requests"]["used"].clone();
    assert_eq!(used, json!(4), "what is refused is not charged");
    let enterprise = app.key(Plan::Enterprise).await;
    assert_eq!(get(&app, &enterprise, &format!("{DATA}?apply=idle")).await.status, 200);
}

#[tokio::test]
async fn a_licence_without_derivatives_forbids_transforms_contract_16() {
    let app = TestApp::start().await;
    load(&app);
    let key = app.key(Plan::Enterprise).await;
    for (licence, forbidden) in [
        ("CC-BY-4.0", false),
        ("CC-BY-NC-4.0", false),
        ("CC-BY-ND-4.0", true),
        ("CC-BY-NC-ND-3.0", true),
    ] {
        app.publish(&harvest().with("/licenses/0/name", json!(licence))).await;
        let metadata = get(&app, &key, "/v1/datasets/harvest").await.json();
        assert_eq!(metadata["no_derivatives"], forbidden, "{licence}");
        let expected = if forbidden { outcome(403, "no_derivatives") } else { outcome(200, "") };
        let reply = get(&app, &key, &format!("{DATA}?apply=growth")).await;
        assert_eq!(reply.outcome(), expected, "{licence}");
        assert_eq!(get(&app, &key, DATA).await.status, 200, "{licence}");
    }
}

#[tokio::test]
async fn sorted_rows_of_transforms_are_held_up_to_ten_thousand_contract_16() {
    let app = TestApp::start().await;
    load(&app);
    app.publish(&big(10_050)).await;
    let key = app.key(Plan::Enterprise).await;
    for (query, expected) in [
        ("sort=-value&limit=10000", outcome(200, "")),
        ("sort=-value&limit=10001", outcome(413, "sort_too_large")),
        ("sort=-value&limit=0", outcome(413, "sort_too_large")),
        ("limit=0", outcome(200, "")),
    ] {
        let path = format!("/v1/datasets/big/data?apply=idle&{query}&format=csv");
        assert_eq!(get(&app, &key, &path).await.outcome(), expected, "{query}");
    }
    let best =
        rows(&app, &key, "/v1/datasets/big/data?apply=idle&sort=-value&limit=2&columns=value");
    assert_eq!(best.await, [json!({"value": 30147}), json!({"value": 30144})]);
}

#[tokio::test]
async fn the_row_cap_holds_for_what_is_sent_contract_16() {
    let mut settings = unbounded();
    settings.plans.free.row_cap = Some(7);
    let app = TestApp::with(settings).await;
    load(&app);
    app.publish(&harvest()).await;
    let key = app.key(Plan::Free).await;
    for query in ["apply=growth&limit=0", "apply=growth&last=9&limit=50"] {
        let reply = get(&app, &key, &format!("{DATA}?{query}")).await;
        assert_eq!(reply.status, 200, "{query}: {}", reply.text());
        assert_eq!(reply.json().as_array().unwrap().len(), 7, "{query}");
        assert_eq!(reply.header("x-service-truncated"), "true", "{query}");
        assert_eq!(reply.header("x-plan-row-cap"), "7", "{query}");
    }
}
