//! A release that serves and fails: requests are answered by the one before, and it goes out of service for a while; one client alone cannot
//! bring that about.

use std::time::{Duration, Instant};

use yearbook_catalog::{PluginRelease, ReleaseId, ReleaseState};
use yearbook_domain::Plan;
use yearbook_platform::GuardSettings;
use yearbook_tests::app::{TestApp, big, harvest};

use super::canary::{host, quick};
use super::hosts::{eventually, patched, record, serving};

fn path(limit: usize) -> String {
    format!("/v1/datasets/harvest/data?format=evil&limit={limit}")
}

async fn release(app: &TestApp, id: &ReleaseId) -> PluginRelease {
    app.store.releases().await.unwrap().into_iter().find(|release| release.id == *id).unwrap()
}

/// Waits until the release stands so.
async fn stands(app: &TestApp, id: &ReleaseId, state: ReleaseState) -> PluginRelease {
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
    let (app, key, _keeper, good) = host(GuardSettings { quarantine_seconds: 1, ..quick() }).await;
    let other_key = app.key(Plan::Enterprise).await;
    let expected = app.get(&path(2)).key(&key).send().await;
    let bad = record(&app, patched("evil", "temper:calm", "temper:trap"), ReleaseState::Promoted).await;
    app.live.refresh().await.unwrap();
    eventually(|| serving(&app.registry, "evil").as_ref() == Some(&bad.digest)).await;
    // The one before answers, under its own tag.
    for (limit, key) in [(2, &key), (2, &other_key), (1, &key), (3, &key)] {
        let reply = app.get(&path(limit)).key(key).send().await;
        assert_eq!((reply.status.as_u16(), reply.cut), (200, false), "{}", reply.text());
        assert!(limit != 2 || (&reply.body, reply.header("etag")) == (&expected.body, expected.header("etag")));
    }
    let found = stands(&app, &bad, ReleaseState::Quarantined).await;
    let reason = found.reason.unwrap();
    assert!(reason.contains("it failed") && reason.contains("2 clients") && reason.contains("trapped"), "{reason}");
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
    let told: Vec<String> = app.store.release_events().await.unwrap().into_iter().filter(|event| event.id == bad).map(|e| e.what).collect();
    assert_eq!(told, ["promoted", "quarantined", "installed", "rolled_back"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_release_that_traps_after_the_first_byte_cuts_responses_and_is_quarantined_for_that_too() {
    let (app, key, _keeper, good) = host(quick()).await;
    app.publish(&big(90_000)).await;
    app.live.refresh().await.unwrap();
    let other_key = app.key(Plan::Enterprise).await;
    let bad = record(&app, patched("evil", "temper:calm", "temper:late"), ReleaseState::Promoted).await;
    app.live.refresh().await.unwrap();
    eventually(|| serving(&app.registry, "evil").as_ref() == Some(&bad.digest)).await;
    let ask = async |limit: usize, key: &str| app.get(&format!("/v1/datasets/big/data?format=evil&limit={limit}")).key(key).send().await;
    // One client, and the same request again and again: no reason to take the release from others.
    for _ in 0..4 {
        let reply = ask(90_000, &key).await;
        assert!(reply.status.as_u16() == 200 && reply.cut && reply.body.starts_with(b"head "), "nothing can take its place by now");
    }
    // What is made in one part is whole: the release is not broken for everybody.
    let reply = app.get(&path(2)).key(&other_key).send().await;
    assert!(reply.status.as_u16() == 200 && !reply.cut);
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(release(&app, &bad).await.state, ReleaseState::Promoted);
    for (limit, key) in [(89_999, &other_key), (89_998, &key)] {
        assert!(ask(limit, key).await.cut);
    }
    let reason = stands(&app, &bad, ReleaseState::Quarantined).await.reason.unwrap();
    assert!(reason.contains("2 clients") && reason.contains("the last: it failed after the first byte of a response"), "{reason}");
    eventually(|| serving(&app.registry, "evil").as_ref() == Some(&good.digest)).await;
    let reply = ask(90_000, &key).await;
    assert!(reply.status.as_u16() == 200 && !reply.cut, "whole, by the release before");
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_are_answered_by_the_release_before_where_nothing_was_sent_yet() {
    let (app, key, _keeper, _) = host(GuardSettings { strikes: 0, ..quick() }).await;
    app.publish(&harvest().with_rows("date,region,value,final\n2024-01-01,north,1.5,true\n")).await;
    app.live.refresh().await.unwrap();
    let ask = async || app.get("/v1/datasets/harvest/changes?format=evil").key(&key).send().await;
    let expected = ask().await;
    assert!(expected.status.as_u16() == 200 && expected.body.len() > 9, "{}", expected.text());
    let bad = record(&app, patched("evil", "temper:calm", "temper:trap"), ReleaseState::Promoted).await;
    app.live.refresh().await.unwrap();
    eventually(|| serving(&app.registry, "evil").as_ref() == Some(&bad.digest)).await;
    eventually(|| app.guard.previous(app.registry.current().encoder("evil").unwrap()).is_some()).await;
    let reply = ask().await;
    assert_eq!((reply.status.as_u16(), reply.cut, &reply.body), (200, false, &expected.body));
    for header in ["etag", "x-service-watermark", "x-service-has-more"] {
        assert_eq!(reply.header(header), expected.header(header));
    }
    // A release that is pinned answers for itself.
    app.store.pin_release(&bad, true, "ann", yearbook_domain::Millis::now()).await.unwrap();
    app.live.refresh().await.unwrap();
    eventually(|| app.guard.previous(app.registry.current().encoder("evil").unwrap()).is_none()).await;
    assert_eq!(ask().await.outcome(), (500, "internal".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn options_of_one_client_take_a_release_from_nobody() {
    let (app, key, _keeper, evil) = host(quick()).await;
    for limit in 1..=20 {
        let reply = app.get(&format!("{}&evil.attack=panic", path(limit))).key(&key).send().await;
        assert_eq!(reply.status.as_u16(), 500);
    }
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(release(&app, &evil).await.state, ReleaseState::Promoted);
    let other_key = app.key(Plan::Enterprise).await;
    assert_eq!(app.get(&path(1)).key(&other_key).send().await.status.as_u16(), 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_release_of_a_format_is_503_until_its_quarantine_is_over_and_a_pinned_one_stays() {
    let (app, key, _keeper, good) = host(GuardSettings { quarantine_seconds: 2, ..quick() }).await;
    let bad = record(&app, patched("evil", "temper:calm", "temper:trap"), ReleaseState::Promoted).await;
    app.store.pin_release(&bad, true, "ann", yearbook_domain::Millis::now()).await.unwrap();
    app.live.refresh().await.unwrap();
    eventually(|| serving(&app.registry, "evil").as_ref() == Some(&bad.digest)).await;
    let break_it = async || {
        for limit in 1..=3 {
            let reply = app.get(&path(limit)).key(&key).send().await;
            assert_eq!(reply.outcome(), (500, "internal".to_owned()), "nothing takes the place of a pinned release");
        }
    };
    break_it().await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(release(&app, &bad).await.state, ReleaseState::Promoted);

    app.store.pin_release(&bad, false, "ann", yearbook_domain::Millis::now()).await.unwrap();
    super::hosts::change(&app, &good, ReleaseState::RolledBack).await;
    // One client is enough where nobody got anything.
    eventually(|| app.guard.previous(app.registry.current().encoder("evil").unwrap()).is_none()).await;
    break_it().await;
    stands(&app, &bad, ReleaseState::Quarantined).await;
    eventually(|| app.registry.current().is_unavailable("evil")).await;
    assert_eq!(app.get(&path(1)).key(&key).send().await.outcome(), (503, "format_unavailable".to_owned()));
    stands(&app, &bad, ReleaseState::Promoted).await;
}
