//! Quarantines: where they begin on a service of one dataset and of an adapter with a format, and
//! where a release stands whose quarantine is over.

use std::time::Duration;

use yearbook_catalog::{ReleaseChange, ReleaseId, ReleaseState, StateTransition};
use yearbook_domain::{Plan, PluginKind};
use yearbook_releases::ReleaseMonitorSettings;
use yearbook_sandbox::PluginMetricsSnapshot;
use yearbook_tests::app::{TestApp, harvest};
use yearbook_tests::components::component;

use super::canary::{fast_settings, host};
use super::circuit_breaker::wait_for_state;
use super::test_hosts::{embedded, eventually, patched, record_release, serving, start_reconciler};

#[tokio::test(flavor = "multi_thread")]
async fn a_release_that_traps_is_quarantined_where_one_dataset_is_published_contract_6() {
    let (app, key, _reconciler, good) = host(fast_settings()).await;
    let other_key = app.key(Plan::Enterprise).await;
    let bad =
        record_release(&app, patched("evil", "temper:calm", "temper:trap"), ReleaseState::Promoted)
            .await;
    app.catalog_cache.refresh().await.unwrap();
    eventually(|| serving(&app.registry, "evil").as_ref() == Some(&bad.digest)).await;
    for (limit, key) in [(1, &key), (2, &other_key), (3, &key)] {
        let path = format!("/v1/datasets/harvest/data?format=evil&limit={limit}");
        assert!(!app.get(&path).key(key).send().await.cut);
    }
    wait_for_state(&app, &bad, ReleaseState::Quarantined).await;
    eventually(|| serving(&app.registry, "evil").as_ref() == Some(&good.digest)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_release_back_from_its_quarantine_leaves_the_one_that_replaced_it_in_front_contract_6() {
    let (app, _key, _reconciler, _) = host(fast_settings()).await;
    for (name, state) in [("csv", ReleaseState::Installed), ("meltano", ReleaseState::Promoted)] {
        let failed = record_release(&app, component(name), ReleaseState::Promoted).await;
        let newer = patched(name, "0.1.0", "0.2.0");
        let fix = record_release(&app, newer, ReleaseState::Promoted).await;
        let at = yearbook_catalog::clock::now();
        let change = ReleaseChange {
            id: failed.clone(),
            to: ReleaseState::Quarantined,
            by: "tests".to_owned(),
            at,
            reason: None,
        };
        let from = ReleaseState::Promoted;
        let quarantine = StateTransition { change, from, against: None, until: Some(at) };
        assert!(app.store.transition_release(&quarantine).await.unwrap());
        app.catalog_cache.refresh().await.unwrap();
        let reason = wait_for_state(&app, &failed, state).await.reason;
        let expected =
            format!("its quarantine is over; {} serves in its place", fix.digest.short());
        assert_eq!(reason, Some(expected));
        let lines = yearbook_catalog::lines(&app.store.releases().await.unwrap());
        let line = lines.iter().find(|line| line.name == name).unwrap();
        assert_eq!((&line.candidates[0].id, &line.waiting), (&fix, &None));
    }
}

/// Counters of an adapter's release, without those of its format.
fn counts(app: &TestApp, id: &ReleaseId) -> PluginMetricsSnapshot {
    app.sandbox.metrics_snapshots().into_iter().find(|counts| counts.release.id == *id).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_adapter_and_the_format_that_it_brings_are_counted_apart_contract_6() {
    let settings = ReleaseMonitorSettings { strike_seconds: 3, ..fast_settings() };
    let app = TestApp::with_monitor(settings).await;
    app.publish(&harvest()).await;
    let keys = [app.key(Plan::Enterprise).await, app.key(Plan::Enterprise).await];
    let _reconciler = start_reconciler(&app, embedded()).await;
    let evil = record_release(&app, component("evil-adapter"), ReleaseState::Promoted).await;
    assert_eq!(evil.kind, PluginKind::Adapter);
    app.catalog_cache.refresh().await.unwrap();
    eventually(|| app.registry.current().adapter(&evil.name).is_some()).await;
    let ask = async |path: &str, key: &str| {
        let path = format!("/api/{}/{path}", evil.name);
        app.get(&path).key(key).send().await.status.as_u16()
    };
    // Documents of adapters are kept in memory: another one each time.
    for number in 0..40 {
        assert_eq!(ask(&format!("fine?number={number}"), &keys[0]).await, 200);
    }
    // Written several times meanwhile, and out of what counts for the circuit breaker.
    tokio::time::sleep(Duration::from_secs(5)).await;
    let begun = counts(&app, &evil).begun;
    assert!(begun >= 40, "{begun}");
    let used = app.store.release_usage().await.unwrap();
    let used: Vec<u64> =
        used.iter().filter(|used| used.id == evil).map(|used| used.responses).collect();
    assert_eq!(used, [begun]);

    for (number, key) in [(1, &keys[0]), (2, &keys[1]), (3, &keys[0])] {
        assert_eq!(ask(&format!("panic/{number}"), key).await, 500);
    }
    wait_for_state(&app, &evil, ReleaseState::Quarantined).await;
}
