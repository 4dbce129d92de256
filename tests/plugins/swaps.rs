//! Swaps under load: no request fails, no response is made by two releases, and what was swapped
//! out goes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use http_body_util::BodyExt;
use yearbook_catalog::ReleaseState;
use yearbook_domain::Plan;
use yearbook_tests::app::{TestApp, big};
use yearbook_tests::components::component;

use super::test_hosts::{
    embedded, eventually, patched, record_release, serving, set_state, start_reconciler,
};

/// Rows that make a response of several batches.
const ROWS: usize = 90_000;
const PATH: &str = "/v1/datasets/big/data?limit=0&format=evil";
/// Clients that ask without pause.
const CLIENTS: usize = 4;

/// Words that the releases write between their numbers. There is one more than a host keeps at hand
/// (one serves, one would serve in its place), so that every swap loads a component and lets
/// another go.
const WORDS: [&str; 3] = [" rows ", " ROWS ", " Rows "];

/// By which release a body was made.
fn made(body: &str) -> usize {
    assert!(body.starts_with("head ") && body.ends_with(" tail"), "not whole: {body}");
    let found: Vec<usize> = (0..WORDS.len()).filter(|word| body.contains(WORDS[*word])).collect();
    assert!(
        found.len() == 1 && body.matches(WORDS[found[0]]).count() > 1,
        "made by several releases: {body}"
    );
    found[0]
}

/// Memory of this process, MiB.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or("0");
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap_or_default() >> 10
}

#[tokio::test(flavor = "multi_thread")]
async fn a_response_in_flight_ends_with_the_release_that_it_began_with() {
    let app = TestApp::start().await;
    app.publish(&big(ROWS)).await;
    let key = app.key(Plan::Enterprise).await;
    let _reconciler = start_reconciler(&app, embedded()).await;
    record_release(&app, component("evil"), ReleaseState::Promoted).await;
    let other =
        record_release(&app, patched("evil", " rows ", " ROWS "), ReleaseState::Installed).await;
    app.catalog_cache.refresh().await.unwrap();
    eventually(|| serving(&app.registry, "evil").is_some()).await;

    let mut body = app.get(PATH).key(&key).begin().await.into_body();
    let mut text = body.frame().await.unwrap().unwrap().into_data().unwrap().to_vec();
    set_state(&app, &other, ReleaseState::Promoted).await;
    eventually(|| serving(&app.registry, "evil").as_ref() == Some(&other.digest)).await;
    assert_eq!(
        made(&app.get(PATH).key(&key).send().await.text()),
        1,
        "a new request has the new release"
    );
    while let Some(frame) = body.frame().await {
        text.extend_from_slice(&frame.unwrap().into_data().unwrap());
    }
    assert_eq!(made(&String::from_utf8(text).unwrap()), 0);
}

/// Memory before and after all but the first tenth of the swaps, MiB.
async fn swap_under_load(swaps: usize) -> (usize, usize) {
    let app = Arc::new(TestApp::start().await);
    app.publish(&big(ROWS)).await;
    let key = app.key(Plan::Enterprise).await;
    let _reconciler = start_reconciler(&app, embedded()).await;
    let releases = [
        record_release(&app, component("evil"), ReleaseState::Promoted).await,
        record_release(&app, patched("evil", " rows ", WORDS[1]), ReleaseState::RolledBack).await,
        record_release(&app, patched("evil", " rows ", WORDS[2]), ReleaseState::RolledBack).await,
    ];
    app.catalog_cache.refresh().await.unwrap();
    eventually(|| serving(&app.registry, "evil").is_some()).await;

    let stop = Arc::new(AtomicBool::new(false));
    let answered = Arc::new([const { AtomicUsize::new(0) }; WORDS.len()]);
    let clients: Vec<_> = (0..CLIENTS)
        .map(|_| {
            let (app, key, stop, answered) =
                (Arc::clone(&app), key.clone(), Arc::clone(&stop), Arc::clone(&answered));
            tokio::spawn(async move {
                while !stop.load(Ordering::Relaxed) {
                    let reply = app.get(PATH).key(&key).send().await;
                    assert_eq!(
                        (reply.status.as_u16(), reply.cut),
                        (200, false),
                        "{}",
                        reply.text()
                    );
                    answered[made(&reply.text())].fetch_add(1, Ordering::Relaxed);
                }
            })
        })
        .collect();

    let mut swapped_out = Vec::new();
    let mut before = resident();
    for swap in 0..swaps {
        if swap == swaps / 10 {
            before = resident();
        }
        let next = &releases[(swap + 1) % releases.len()];
        swapped_out.push(Arc::downgrade(app.registry.current().encoder("evil").unwrap()));
        set_state(&app, next, ReleaseState::Promoted).await;
        eventually(|| serving(&app.registry, "evil").as_ref() == Some(&next.digest)).await;
    }
    stop.store(true, Ordering::Relaxed);
    for client in clients {
        client.await.unwrap();
    }
    let after = resident();
    let answered = answered.each_ref().map(|made| made.load(Ordering::Relaxed));
    println!(
        "{swaps} swaps under {CLIENTS} clients: responses by each release {answered:?}; {before} MiB, then {after} MiB"
    );
    assert!(answered.iter().all(|made| *made > 0), "every release answered: {answered:?}");
    // Nothing holds on to what was swapped out but for the release that would serve next: code,
    // memory and tables are free again.
    eventually(|| swapped_out.iter().filter(|release| release.strong_count() > 0).count() <= 1)
        .await;
    assert_eq!(app.free_instances(), 16);
    (before, after)
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_swaps_under_load_fail_no_request_and_mix_no_response() {
    Box::pin(swap_under_load(50)).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "minutes; the same with more swaps"]
async fn a_thousand_swaps_under_load_fail_no_request_and_mix_no_response() {
    let (before, after) = Box::pin(swap_under_load(1000)).await;
    assert!(after < before + 32, "memory grew from {before} MiB to {after} MiB");
}
