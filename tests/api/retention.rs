//! Requests that name a snapshot which retention dropped, and its file.

use std::time::Duration;

use yearbook_catalog::Retention;
use yearbook_domain::{Millis, Plan};
use yearbook_publish::{GcSettings, GcSummary, collect_garbage};
use yearbook_tests::app::{Reply, TestApp, harvest};

const DAY: i64 = 86_400_000;

async fn collect(app: &TestApp, unnamed_for: Duration) -> GcSummary {
    // What was let go an instant ago is too young, however short the age.
    tokio::time::sleep(Duration::from_millis(5)).await;
    let retention = Retention { snapshots: 1, hours: 0, history: true };
    let collected = collect_garbage(
        &app.store,
        &app.files,
        GcSettings { retention, unnamed_for, dry_run: false },
    )
    .await
    .unwrap();
    app.catalog_cache.refresh().await.unwrap();
    collected
}

#[tokio::test]
async fn the_refusal_of_a_dropped_snapshot_says_what_to_do_contract_3() {
    let app = TestApp::start().await;
    let key = app.key(Plan::Enterprise).await;
    let mut ids = Vec::new();
    for (days, value) in [(90, "1"), (60, "2"), (40, "3"), (0, "4")] {
        let rows = format!(
            "date,region,value,final\n2024-01-01,Nelson,{value},true\n2024-01-02,Nelson,{value},true\n"
        );
        ids.push(
            app.publish_at(
                &harvest().with_rows(&rows),
                Millis(yearbook_catalog::clock::now().0 - days * DAY),
            )
            .await,
        );
    }
    let get = async |query: &str| {
        app.get(&format!("/v1/datasets/harvest/{query}")).key(&key).send().await
    };
    let first = get(&format!("data?limit=1&snapshot={}", ids[0])).await;
    let cursor = first.header("x-next-page");
    let outcome = |reply: &Reply| {
        (reply.outcome(), reply.json()["detail"].as_str().unwrap_or_default().to_owned())
    };

    let collected = collect(&app, Duration::from_secs(3600)).await;
    assert_eq!(
        collected.dropped.iter().map(|dropped| dropped.id.as_str()).collect::<Vec<_>>(),
        [&ids[0], &ids[1]],
        "40 days ago is `monthly`"
    );
    assert!(
        collected.removed.is_empty() && collected.later.len() >= 2,
        "responses may still read them: {collected:?}"
    );
    for query in [format!("data?snapshot={}", ids[0]), format!("data?limit=1&cursor={cursor}")] {
        let (outcome, sentence) = outcome(&get(&query).await);
        assert_eq!(outcome, (410, "snapshot_gone".to_owned()), "{query}");
        assert!(
            sentence.contains(&ids[0])
                && sentence.contains("start again without cursor and snapshot"),
            "{sentence}"
        );
    }
    let late = get(&format!("changes?since={}", ids[0])).await;
    assert_eq!(late.outcome(), (410, "watermark_gone".to_owned()));
    assert_eq!(late.header("x-service-watermark"), ids[2]);
    assert_eq!(get(&format!("changes?since={}", ids[2])).await.status, 200);

    let removed = collect(&app, Duration::ZERO).await.removed;
    assert_eq!(removed.len(), collected.later.len(), "{removed:?}");
    for id in &ids[2..] {
        assert_eq!(get(&format!("data?snapshot={id}")).await.status, 200);
    }
    assert_eq!(get(&format!("changes?since={}", ids[2])).await.status, 200);
}
