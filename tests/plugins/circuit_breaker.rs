//! A release that serves and fails: requests are answered by the one before, and it goes out of
//! service for a while; one client alone cannot bring that about, nor options, nor the data of one
//! dataset.

use std::time::{Duration, Instant};

use yearbook_catalog::{PluginRelease, ReleaseId, ReleaseState};
use yearbook_domain::Plan;
use yearbook_releases::ReleaseMonitorSettings;
use yearbook_sandbox::{Limits, ReleasePolicy, ResponseOutcome};
use yearbook_tests::app::{TestApp, big, harvest, parks, wide};
use yearbook_tests::components::component;

use super::canary::{fast_settings, host};
use super::test_hosts::{embedded, eventually, patched, record_release, serving, start_reconciler};

fn path(limit: usize) -> String {
    path_of("harvest", limit)
}

fn path_of(dataset: &str, limit: usize) -> String {
    format!("/v1/datasets/{dataset}/data?format=evil&limit={limit}")
}

/// Publishes two datasets more: the data of fewer than three convicts no release.
async fn three_datasets(app: &TestApp) {
    app.publish(&parks()).await;
    app.publish(&big(200)).await;
    app.catalog_cache.refresh().await.unwrap();
}

async fn release(app: &TestApp, id: &ReleaseId) -> PluginRelease {
    app.store.releases().await.unwrap().into_iter().find(|release| release.id == *id).unwrap()
}

/// Waits until the release stands so.
pub(super) async fn wait_for_state(
    app: &TestApp,
    id: &ReleaseId,
    state: ReleaseState,
) -> PluginRelease {
    let begun = Instant::now();
    loop {
        let found = release(app, id).await;
        if found.state == state {
            return found;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{found:?}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_release_that_traps_is_quarantined_while_clients_get_whole_responses() {
    let (app, key, _reconciler, good) =
        host(ReleaseMonitorSettings { quarantine_seconds: 1, ..fast_settings() }).await;
    three_datasets(&app).await;
    let other_key = app.key(Plan::Enterprise).await;
    let expected = app.get(&path(2)).key(&key).send().await;
    let bad =
        record_release(&app, patched("evil", "temper:calm", "temper:trap"), ReleaseState::Promoted)
            .await;
    app.catalog_cache.refresh().await.unwrap();
    eventually(|| serving(&app.registry, "evil").as_ref() == Some(&bad.digest)).await;
    // The one before answers, under its own tag.
    for (dataset, limit, key) in
        [("harvest", 2, &key), ("harvest", 2, &other_key), ("parks", 1, &key), ("big", 3, &key)]
    {
        let reply = app.get(&path_of(dataset, limit)).key(key).send().await;
        assert_eq!((reply.status.as_u16(), reply.cut), (200, false), "{}", reply.text());
        assert!(
            limit != 2
                || (&reply.body, reply.header("etag")) == (&expected.body, expected.header("etag"))
        );
    }
    let found = wait_for_state(&app, &bad, ReleaseState::Quarantined).await;
    let reason = found.reason.unwrap();
    assert!(
        reason.contains("it failed") && reason.contains("2 clients") && reason.contains("trapped"),
        "{reason}"
    );
    assert_eq!((found.quarantines, found.until.is_some()), (1, true));
    eventually(|| serving(&app.registry, "evil").as_ref() == Some(&good.digest)).await;
    // Its time over, it has to show beside the other that it works, and does not.
    let begun = Instant::now();
    while release(&app, &bad).await.state != ReleaseState::RolledBack {
        let reply = app.get(&path(2)).key(&key).send().await;
        assert_eq!((reply.status.as_u16(), &reply.body), (200, &expected.body));
        assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", release(&app, &bad).await);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let messages: Vec<String> = app
        .store
        .release_events()
        .await
        .unwrap()
        .into_iter()
        .filter(|event| event.id == bad)
        .map(|e| e.what)
        .collect();
    assert_eq!(messages, ["promoted", "quarantined", "installed", "rolled_back"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_release_that_traps_after_the_first_byte_cuts_responses_and_is_quarantined_for_that_too()
{
    let (app, key, _reconciler, good) = host(fast_settings()).await;
    for name in ["big", "second", "third"] {
        app.publish(&big(90_000).named(name)).await;
    }
    app.catalog_cache.refresh().await.unwrap();
    let other_key = app.key(Plan::Enterprise).await;
    let bad =
        record_release(&app, patched("evil", "temper:calm", "temper:late"), ReleaseState::Promoted)
            .await;
    app.catalog_cache.refresh().await.unwrap();
    eventually(|| serving(&app.registry, "evil").as_ref() == Some(&bad.digest)).await;
    let ask_of = async |dataset: &str, limit: usize, key: &str| {
        app.get(&path_of(dataset, limit)).key(key).send().await
    };
    let ask = async |limit: usize, key: &str| ask_of("big", limit, key).await;
    // One client, and the same request again and again: no reason to take the release from others.
    for _ in 0..4 {
        let reply = ask(90_000, &key).await;
        assert!(
            reply.status.as_u16() == 200 && reply.cut && reply.body.starts_with(b"head "),
            "nothing can take its place by now"
        );
    }
    // What is made in one part is whole: the release is not broken for everybody.
    let reply = app.get(&path(2)).key(&other_key).send().await;
    assert!(reply.status.as_u16() == 200 && !reply.cut);
    // Two clients and three requests, but one dataset.
    for (limit, key) in [(89_999, &other_key), (89_998, &key)] {
        assert!(ask(limit, key).await.cut);
    }
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(release(&app, &bad).await.state, ReleaseState::Promoted);
    for (dataset, key) in [("second", &other_key), ("third", &key)] {
        assert!(ask_of(dataset, 90_000, key).await.cut);
    }
    let reason = wait_for_state(&app, &bad, ReleaseState::Quarantined).await.reason.unwrap();
    assert!(
        reason.contains("2 clients")
            && reason.contains("the last: it failed after the first byte of a response"),
        "{reason}"
    );
    eventually(|| serving(&app.registry, "evil").as_ref() == Some(&good.digest)).await;
    let reply = ask(90_000, &key).await;
    assert!(reply.status.as_u16() == 200 && !reply.cut, "whole, by the release before");
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_are_answered_by_the_release_before_where_nothing_was_sent_yet() {
    let (app, key, _reconciler, _) =
        host(ReleaseMonitorSettings { strikes: 0, ..fast_settings() }).await;
    app.publish(&harvest().with_rows("date,region,value,final\n2024-01-01,north,1.5,true\n")).await;
    app.catalog_cache.refresh().await.unwrap();
    let ask = async || app.get("/v1/datasets/harvest/changes?format=evil").key(&key).send().await;
    let expected = ask().await;
    assert!(expected.status.as_u16() == 200 && expected.body.len() > 9, "{}", expected.text());
    let bad =
        record_release(&app, patched("evil", "temper:calm", "temper:trap"), ReleaseState::Promoted)
            .await;
    app.catalog_cache.refresh().await.unwrap();
    eventually(|| serving(&app.registry, "evil").as_ref() == Some(&bad.digest)).await;
    eventually(|| {
        app.release_monitor
            .fallback_release(app.registry.current().encoder("evil").unwrap())
            .is_some()
    })
    .await;
    let reply = ask().await;
    assert_eq!((reply.status.as_u16(), reply.cut, &reply.body), (200, false, &expected.body));
    for header in ["etag", "x-service-watermark", "x-service-has-more"] {
        assert_eq!(reply.header(header), expected.header(header));
    }
    // A release that is pinned answers for itself.
    app.store.pin_release(&bad, true, "ann", yearbook_catalog::clock::now()).await.unwrap();
    app.catalog_cache.refresh().await.unwrap();
    eventually(|| {
        app.release_monitor
            .fallback_release(app.registry.current().encoder("evil").unwrap())
            .is_none()
    })
    .await;
    assert_eq!(ask().await.outcome(), (500, "internal".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn options_that_clients_choose_quarantine_no_release() {
    let (app, key, _reconciler, evil) = host(fast_settings()).await;
    three_datasets(&app).await;
    let other_key = app.key(Plan::Enterprise).await;
    for limit in 1..=10 {
        for (dataset, key) in
            [("harvest", &key), ("parks", &other_key), ("big", &key), ("big", &other_key)]
        {
            let reply = app
                .get(&format!("{}&evil.attack=panic", path_of(dataset, limit)))
                .key(key)
                .send()
                .await;
            assert_eq!(reply.status.as_u16(), 500);
        }
    }
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(release(&app, &evil).await.state, ReleaseState::Promoted);
    assert_eq!(app.get(&path(1)).key(&other_key).send().await.status.as_u16(), 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_release_of_a_format_is_503_until_its_quarantine_is_over_and_a_pinned_one_stays() {
    let (app, key, _reconciler, good) =
        host(ReleaseMonitorSettings { quarantine_seconds: 2, ..fast_settings() }).await;
    three_datasets(&app).await;
    let bad =
        record_release(&app, patched("evil", "temper:calm", "temper:trap"), ReleaseState::Promoted)
            .await;
    app.store.pin_release(&bad, true, "ann", yearbook_catalog::clock::now()).await.unwrap();
    app.catalog_cache.refresh().await.unwrap();
    eventually(|| serving(&app.registry, "evil").as_ref() == Some(&bad.digest)).await;
    let break_it = async || {
        for dataset in ["harvest", "parks", "big"] {
            let reply = app.get(&path_of(dataset, 1)).key(&key).send().await;
            assert_eq!(
                reply.outcome(),
                (500, "internal".to_owned()),
                "nothing takes the place of a pinned release"
            );
        }
    };
    break_it().await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(release(&app, &bad).await.state, ReleaseState::Promoted);

    app.store.pin_release(&bad, false, "ann", yearbook_catalog::clock::now()).await.unwrap();
    super::test_hosts::set_state(&app, &good, ReleaseState::RolledBack).await;
    // One client is enough where nobody got anything.
    eventually(|| {
        app.release_monitor
            .fallback_release(app.registry.current().encoder("evil").unwrap())
            .is_none()
    })
    .await;
    break_it().await;
    wait_for_state(&app, &bad, ReleaseState::Quarantined).await;
    eventually(|| app.registry.current().is_unavailable("evil")).await;
    assert_eq!(
        app.get(&path(1)).key(&key).send().await.outcome(),
        (503, "format_unavailable".to_owned())
    );
    wait_for_state(&app, &bad, ReleaseState::Promoted).await;
}

/// Returns the counters of the release that serves `format`.
fn counts(app: &TestApp, format: &str) -> yearbook_sandbox::PluginMetricsSnapshot {
    app.registry.current().encoder(format).unwrap().metrics().counts()
}

#[tokio::test(flavor = "multi_thread")]
async fn two_keys_that_page_through_wide_tables_do_not_quarantine_json() {
    // One row of a wide table is more than a call may return here.
    let limits = Limits { instances: 16, output_bytes_per_call: 256 << 10, ..Limits::default() };
    let app = TestApp::with_monitor_and_limits(fast_settings(), limits).await;
    app.publish(&harvest()).await;
    for name in ["wide", "wider", "widest"] {
        app.publish(&wide(8, 150, 3_000).named(name)).await;
    }
    let _reconciler = start_reconciler(&app, embedded()).await;
    let json = serving(&app.registry, "json").unwrap();
    let (one, other, neighbour) = (
        app.key(Plan::Starter).await,
        app.key(Plan::Starter).await,
        app.key(Plan::Enterprise).await,
    );
    for limit in 1..=8 {
        for (dataset, key) in
            [("wide", &one), ("wider", &other), ("widest", &one), ("wide", &other)]
        {
            let reply = app
                .get(&format!("/v1/datasets/{dataset}/data?format=json&limit={limit}"))
                .key(key)
                .send()
                .await;
            assert_eq!(reply.outcome(), (413, "answer_too_large".to_owned()), "{}", reply.text());
            let rows = if limit == 1 { "" } else { "ask for fewer rows with limit, or " };
            let sentence = format!(
                "The answer is larger than 'json' can make; {rows}name fewer columns with columns."
            );
            assert_eq!(reply.json()["detail"], sentence.as_str());
        }
        let reply = app
            .get(&format!("/v1/datasets/harvest/data?format=json&limit={limit}"))
            .key(&neighbour)
            .send()
            .await;
        assert_eq!((reply.status.as_u16(), reply.json().as_array().unwrap().len()), (200, limit));
    }
    // What is advised helps.
    let narrow = app
        .get("/v1/datasets/wide/data?format=json&limit=8&columns=row,text_1")
        .key(&one)
        .send()
        .await;
    assert_eq!((narrow.status.as_u16(), narrow.json().as_array().unwrap().len()), (200, 8));
    app.publish(&wide(8, 150, 3_001).named("wide")).await;
    app.catalog_cache.refresh().await.unwrap();
    let changes = app.get("/v1/datasets/wide/changes?format=json").key(&one).send().await;
    assert_eq!(changes.outcome(), (413, "answer_too_large".to_owned()), "{}", changes.text());
    assert_eq!(
        changes.json()["detail"],
        "The answer is larger than 'json' can make; ask for fewer rows with limit.",
        "no columns there"
    );
    tokio::time::sleep(Duration::from_millis(300)).await;
    let found = app
        .store
        .releases()
        .await
        .unwrap()
        .into_iter()
        .find(|release| release.id.digest == json)
        .unwrap();
    assert_eq!((found.state, found.quarantines), (ReleaseState::Promoted, 0));
    let counts = counts(&app, "json");
    assert_eq!((counts.failures(), serving(&app.registry, "json")), (0, Some(json)));
    assert!(counts.outcome(ResponseOutcome::TooLarge) > 0);
    for (key, used) in [(&one, 1), (&other, 0)] {
        assert_eq!(
            app.get("/v1/me").key(key).send().await.json()["requests"]["used"],
            used,
            "what is refused is not charged"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plugin_that_runs_into_a_limit_at_every_small_input_is_found_all_the_same() {
    // The release takes 64 MiB at every part.
    let limits = Limits { instances: 16, memory_bytes: 32 << 20, ..Limits::default() };
    let app = TestApp::with_monitor_and_limits(fast_settings(), limits).await;
    app.publish(&harvest()).await;
    three_datasets(&app).await;
    let (key, other_key) = (app.key(Plan::Enterprise).await, app.key(Plan::Enterprise).await);
    let _reconciler = start_reconciler(&app, embedded()).await;
    let fat =
        record_release(&app, patched("evil", "temper:calm", "temper:fat!"), ReleaseState::Promoted)
            .await;
    app.catalog_cache.refresh().await.unwrap();
    eventually(|| serving(&app.registry, "evil").is_some()).await;
    for (dataset, key) in [("harvest", &key), ("parks", &other_key), ("big", &key)] {
        assert_eq!(
            app.get(&path_of(dataset, 2)).key(key).send().await.outcome(),
            (500, "internal".to_owned())
        );
    }
    let reason = wait_for_state(&app, &fat, ReleaseState::Quarantined).await.reason.unwrap();
    assert!(reason.contains("wanted more memory than 33554432 bytes"), "{reason}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_release_of_a_built_in_format_stays_and_what_it_failed_at_is_not_tried_again() {
    let app = TestApp::with_monitor(fast_settings()).await;
    app.publish(&harvest()).await;
    three_datasets(&app).await;
    let (key, other_key) = (app.key(Plan::Enterprise).await, app.key(Plan::Enterprise).await);
    // As a binary would bring it: one that fails at every part.
    let bytes = patched("evil", "temper:calm", "temper:trap");
    let brought = yearbook_releases::EmbeddedComponent {
        name: "evil".to_owned(),
        bytes,
        by: "embedded".to_owned(),
    };
    let _reconciler = start_reconciler(&app, [embedded(), vec![brought]].concat()).await;
    eventually(|| serving(&app.registry, "evil").is_some()).await;
    let digest = serving(&app.registry, "evil").unwrap();
    let fail = async || {
        for (dataset, key) in
            [("harvest", &key), ("parks", &other_key), ("big", &key), ("harvest", &other_key)]
        {
            let reply = app.get(&path_of(dataset, 2)).key(key).send().await;
            assert_eq!(reply.outcome(), (500, "internal".to_owned()));
            assert_eq!(
                app.head(&path_of(dataset, 2)).key(key).send().await.status.as_u16(),
                500,
                "HEAD has the status of GET"
            );
        }
    };
    fail().await;
    let begun = counts(&app, "evil").begun;
    assert_eq!(begun, 3, "one for each input");
    for _ in 0..20 {
        fail().await;
    }
    assert_eq!(counts(&app, "evil").begun, begun, "the same answer without another run");
    let other_input = app.get(&path_of("harvest", 3)).key(&key).send().await;
    assert_eq!(
        (other_input.status.as_u16(), counts(&app, "evil").begun),
        (500, begun + 1),
        "another input is tried"
    );
    tokio::time::sleep(Duration::from_millis(300)).await;
    let release = app
        .store
        .releases()
        .await
        .unwrap()
        .into_iter()
        .find(|release| release.id.digest == digest)
        .unwrap();
    assert_eq!(
        (release.built_in, release.state, release.quarantines),
        (true, ReleaseState::Promoted, 0)
    );
    assert!(!app.registry.current().is_unavailable("evil"));

    // One that was installed beside it goes, and the one of the binary serves again.
    let newer =
        record_release(&app, patched("evil", "temper:calm", "temper:late"), ReleaseState::Promoted)
            .await;
    for name in ["second", "third"] {
        app.publish(&big(90_000).named(name)).await;
    }
    app.publish(&big(90_000)).await;
    app.catalog_cache.refresh().await.unwrap();
    eventually(|| serving(&app.registry, "evil").as_ref() == Some(&newer.digest)).await;
    for (dataset, key) in [("big", &key), ("second", &other_key), ("third", &key)] {
        assert!(app.get(&path_of(dataset, 90_000)).key(key).send().await.cut);
    }
    wait_for_state(&app, &newer, ReleaseState::Quarantined).await;
    eventually(|| serving(&app.registry, "evil").as_ref() == Some(&digest)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_option_of_twelve_thousand_characters_is_refused_by_name_and_reaches_no_plugin() {
    let app = TestApp::start().await;
    app.publish(&harvest()).await;
    app.registry.add(&app.sandbox.load(&component("sdmx-csv")).unwrap()).unwrap();
    app.registry.add(&app.sandbox.load(&component("dbt")).unwrap()).unwrap();
    let key = app.key(Plan::Enterprise).await;
    let get = async |query: &str| app.get(query).key(&key).send().await;
    let data = |option: &str| {
        format!("/v1/datasets/harvest/data?format=sdmx-csv&sdmx-csv.structure_id={option}")
    };
    let id = |bytes: usize| format!("A:{}(1.0)", "B".repeat(bytes - "A:(1.0)".len()));
    let too_long = |name: &str| vec![(name.to_owned(), "bytes_too_long".to_owned())];
    for bytes in [257, 12_000] {
        let reply = get(&data(&id(bytes))).await;
        assert_eq!(reply.problems(), too_long("sdmx-csv.structure_id"));
        let problem = &reply.json()["detail"][0];
        assert_eq!(
            (&problem["msg"], &problem["ctx"]["max_length"]),
            (&"Data should have at most 256 bytes".into(), &256.into())
        );
        // Whichever format is asked for, and on every route that takes options.
        let changes = data(&id(bytes))
            .replace("/data?", "/changes?")
            .replace("format=sdmx-csv", "format=json");
        assert_eq!(get(&changes).await.problems(), too_long("sdmx-csv.structure_id"));
        let dbt = get(&format!(
            "/v1/integrations/dbt?datasets=harvest&dbt.loaded_at={}",
            "x".repeat(bytes)
        ))
        .await;
        assert_eq!(dbt.problems(), too_long("dbt.loaded_at"));
    }
    assert_eq!(counts(&app, "sdmx-csv").begun, 0);
    let longest = get(&data(&id(256))).await;
    assert_eq!(longest.status.as_u16(), 200, "{}", longest.text());
}
