//! A release that waits beside the one that serves: compared on live responses, and promoted or
//! rolled back by itself. Clients get the bytes of the one that serves until it is settled.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use yearbook_catalog::{ReleaseId, ReleaseState};
use yearbook_domain::Plan;
use yearbook_releases::{PluginReconciler, ReleaseMonitorSettings};
use yearbook_tests::app::{TestApp, harvest};
use yearbook_tests::components::component;

use super::test_hosts::{embedded, eventually, patched, record_release, serving, start_reconciler};

const PATH: &str = "/v1/datasets/harvest/data?format=";

/// Every response is compared, and a few are enough.
pub(super) fn fast_settings() -> ReleaseMonitorSettings {
    ReleaseMonitorSettings {
        canary_percent: 100,
        canary_responses: 6,
        canary_seconds: 0,
        ..ReleaseMonitorSettings::default()
    }
}

/// A host whose encoder `evil` and json serve.
pub(super) async fn host(
    settings: ReleaseMonitorSettings,
) -> (TestApp, String, Arc<PluginReconciler>, ReleaseId) {
    let app = TestApp::with_monitor(settings).await;
    app.publish(&harvest()).await;
    let key = app.key(Plan::Enterprise).await;
    let reconciler = start_reconciler(&app, embedded()).await;
    let evil = record_release(&app, component("evil"), ReleaseState::Promoted).await;
    app.catalog_cache.refresh().await.unwrap();
    eventually(|| serving(&app.registry, "evil").is_some()).await;
    (app, key, reconciler, evil)
}

/// Asks for the format until `id` is settled; every answer must be the same. Where it stands then,
/// and why.
async fn wait_until_settled(app: &TestApp, key: &str, id: &ReleaseId) -> (ReleaseState, String) {
    ask_until_settled(app, key, id, &format!("{PATH}{}", id.name)).await
}

/// The same, with requests to `path`.
async fn ask_until_settled(
    app: &TestApp,
    key: &str,
    id: &ReleaseId,
    path: &str,
) -> (ReleaseState, String) {
    let begun = Instant::now();
    let asked = AtomicU64::new(0);
    // Documents of adapters are kept in memory: another one each time.
    let ask = async || {
        let number = asked.fetch_add(1, Ordering::Relaxed);
        app.get(&format!("{path}&unused={number}")).key(key).send().await
    };
    let expected = ask().await.body;
    loop {
        let found = app
            .store
            .releases()
            .await
            .unwrap()
            .into_iter()
            .find(|release| release.id == *id)
            .unwrap();
        if found.state != ReleaseState::Installed {
            return (found.state, found.reason.unwrap());
        }
        let reply = ask().await;
        assert_eq!((reply.status.as_u16(), reply.cut, &reply.body), (200, false, &expected));
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "still {:?}: {:?}",
            found.state,
            app.store.canary_totals().await.unwrap()
        );
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn install_candidate(app: &TestApp, bytes: Vec<u8>) -> ReleaseId {
    let id = record_release(app, bytes, ReleaseState::Installed).await;
    app.catalog_cache.refresh().await.unwrap();
    id
}

#[tokio::test(flavor = "multi_thread")]
async fn a_release_that_writes_the_same_is_promoted_by_itself() {
    let (app, key, _reconciler, _) = host(fast_settings()).await;
    let before = serving(&app.registry, "json").unwrap();
    let newer = install_candidate(&app, patched("json", "0.1.0", "0.2.0")).await;
    let (state, reason) = wait_until_settled(&app, &key, &newer).await;
    assert_eq!(state, ReleaseState::Promoted, "{reason}");
    assert!(
        reason.contains(&format!("responses have the values of {}", before.short())),
        "{reason}"
    );
    eventually(|| serving(&app.registry, "json").as_ref() == Some(&newer.digest)).await;
    let events = app.store.release_events().await.unwrap();
    let last = events.last().unwrap();
    assert_eq!(
        (last.what.as_str(), last.by.as_str(), last.reason.as_ref()),
        ("promoted", "yearbook", Some(&reason))
    );
    // One that was installed before is not taken for a newer one.
    assert!(
        yearbook_catalog::lines(&app.store.releases().await.unwrap())
            .iter()
            .all(|line| line.waiting.is_none())
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_release_that_differs_fails_or_costs_too_much_is_rolled_back_with_the_reason() {
    let (app, key, _reconciler, evil) = host(fast_settings()).await;
    for (from, to, why) in [
        (" rows ", " ROWS ", "its response differs from that of"),
        ("temper:calm", "temper:trap", "part (batch 1): plugin evil: trapped"),
        ("temper:calm", "temper:slow", "times the processor time"),
        ("temper:calm", "temper:fat!", "times the memory"),
        ("application/x-evil", "application/x-live", "its media type is \"application/x-live\""),
    ] {
        let newer = install_candidate(&app, patched("evil", from, to)).await;
        let (state, reason) = wait_until_settled(&app, &key, &newer).await;
        assert!(
            state == ReleaseState::RolledBack && reason.contains(why),
            "{to}: {state:?}, {reason}"
        );
        assert_eq!(serving(&app.registry, "evil").as_ref(), Some(&evil.digest));
    }
    // What was tried is gone, once what is being tried is done.
    eventually(|| app.free_instances() == 16).await;
}

/// Installs candidates beside `serving`, each of which is settled by requests to its path.
async fn settle_each<const N: usize>(
    serves: Vec<u8>,
    candidates: [(Vec<u8>, &str, ReleaseState, &str); N],
) {
    let (app, key, _reconciler, _) = Box::pin(host(fast_settings())).await;
    let incumbent = record_release(&app, serves, ReleaseState::Promoted).await;
    app.catalog_cache.refresh().await.unwrap();
    let plugins = || app.registry.current();
    let name = &incumbent.name;
    eventually(|| plugins().transform(name).is_some() || plugins().adapter(name).is_some()).await;
    for (bytes, path, settled, why) in candidates {
        let newer = install_candidate(&app, bytes).await;
        let (state, reason) = ask_until_settled(&app, &key, &newer, path).await;
        assert!(state == settled && reason.contains(why), "{why}: {state:?}, {reason}");
    }
    // What was tried is gone, once what is being tried is done.
    eventually(|| app.free_instances() == 16).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn transforms_that_wait_are_compared_by_the_rows_that_they_make_contract_6() {
    use ReleaseState::{Promoted, RolledBack};

    const INDEX: &str = "/v1/datasets/harvest/data?format=json&apply=growth&growth.as=index\
                         &growth.base=2020-03-01&columns=date,value";
    // The index is 100 at the base.
    let constant = |number: f64| [&[0x44][..], &number.to_le_bytes()].concat();
    let wrong = patched("growth", constant(100.0), constant(101.0));
    let other = patched("growth", "difference", "differenze");
    let newer = patched("growth", "0.1.0", "0.2.0");
    let settled = settle_each(
        component("growth"),
        [
            (wrong, INDEX, RolledBack, "other values in column \"value\" from row"),
            (other, INDEX, RolledBack, "its parameter \"as\" takes other values"),
            (newer, INDEX, Promoted, "responses have the values of"),
        ],
    );
    Box::pin(settled).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn adapters_that_wait_are_compared_by_documents_and_bytes_around_rows_contract_6() {
    use ReleaseState::{Promoted, RolledBack};

    const SEARCH: &str = "/api/time-series/series/search?search_text=harvest";
    const ROWS: &str = "/api/time-series/series/observations?series_id=harvest.value";
    let name = "time-series";
    let settled = settle_each(
        component(name),
        [
            (patched(name, "realtime_start", "realtime_stirt"), SEARCH, RolledBack, "from byte"),
            (patched(name, "</observations>", "</observatioms>"), ROWS, RolledBack, "around them"),
            (patched(name, "0.1.0", "0.2.0"), ROWS, Promoted, "responses have the values of"),
        ],
    );
    Box::pin(settled).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn hosts_add_up_what_they_see_and_one_verdict_is_recorded() {
    let settings = ReleaseMonitorSettings { canary_responses: 40, ..fast_settings() };
    let (app, key, _reconciler, _) = host(settings).await;
    let other = app.second_host(settings).await;
    let _other_reconciler = start_reconciler(&other, embedded()).await;
    let newer = install_candidate(&app, patched("json", "0.1.0", "0.2.0")).await;
    other.catalog_cache.refresh().await.unwrap();
    let (here, there) = tokio::join!(
        wait_until_settled(&app, &key, &newer),
        wait_until_settled(&other, &key, &newer)
    );
    assert_eq!(here, there);
    assert_eq!(here.0, ReleaseState::Promoted, "{}", here.1);
    let events = app.store.release_events().await.unwrap();
    let verdicts =
        events.iter().filter(|event| event.id == newer && event.by == "yearbook").count();
    assert_eq!(verdicts, 1, "{events:#?}");
    for host in [&app, &other] {
        eventually(|| serving(&host.registry, "json").as_ref() == Some(&newer.digest)).await;
    }
}

/// Asks `app` for what a release that waits would write differently, until one response of it has
/// been compared or two hundred have been sent. Where the release stands then, and how many
/// responses were compared.
async fn wait_until_compared(app: &TestApp, key: &str, newer: &ReleaseId) -> (ReleaseState, usize) {
    let state = async || {
        app.store
            .releases()
            .await
            .unwrap()
            .into_iter()
            .find(|release| release.id == *newer)
            .unwrap()
            .state
    };
    for _ in 0..200 {
        let reply = app.get(&format!("{PATH}evil")).key(key).send().await;
        assert_eq!((reply.status.as_u16(), reply.cut), (200, false));
        if state().await != ReleaseState::Installed {
            break;
        }
    }
    // What was drawn last is compared beside the responses, and reported some rounds later.
    tokio::time::sleep(10 * super::test_hosts::POLL_INTERVAL).await;
    (state().await, app.store.canary_totals().await.unwrap().len())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pin_leaves_a_release_waiting() {
    let (app, key, _reconciler, evil) = host(fast_settings()).await;
    app.store.pin_release(&evil, true, "ann", yearbook_catalog::clock::now()).await.unwrap();
    let newer = install_candidate(&app, patched("evil", " rows ", " ROWS ")).await;
    assert_eq!(wait_until_compared(&app, &key, &newer).await, (ReleaseState::Installed, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn with_a_share_of_zero_no_response_is_made_twice_and_with_one_in_a_hundred_some_are_contract_6()
 {
    for (canary_percent, expected) in [(0, ReleaseState::Installed), (1, ReleaseState::RolledBack)]
    {
        let (app, key, _reconciler, _) =
            host(ReleaseMonitorSettings { canary_percent, ..fast_settings() }).await;
        let newer = install_candidate(&app, patched("evil", " rows ", " ROWS ")).await;
        let (state, trials) = wait_until_compared(&app, &key, &newer).await;
        assert_eq!(state, expected, "{canary_percent} %");
        assert!(canary_percent > 0 || trials == 0, "{trials} comparisons");
    }
}
