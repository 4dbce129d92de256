//! Swaps under load: no request fails, no response is made by two releases, and what was swapped out goes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use http_body_util::BodyExt;
use yearbook_catalog::ReleaseState;
use yearbook_domain::Plan;
use yearbook_tests::app::{TestApp, big};
use yearbook_tests::components::component;

use super::hosts::{change, embedded, eventually, keep, patched, record, serving};

/// Rows that make a response of several batches.
const ROWS: usize = 90_000;
const PATH: &str = "/v1/datasets/big/data?limit=0&format=evil";
/// Clients that ask without pause.
const CLIENTS: usize = 4;

/// By which release a body was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Made {
    One,
    Other,
}

fn made(body: &str) -> Made {
    assert!(body.starts_with("head ") && body.ends_with(" tail"), "not whole: {body}");
    let (one, other) = (body.matches(" rows").count(), body.matches(" ROWS").count());
    assert!(one + other > 1 && (one == 0 || other == 0), "made by two releases: {body}");
    if other == 0 { Made::One } else { Made::Other }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_response_in_flight_ends_with_the_release_that_it_began_with() {
    let app = TestApp::start().await;
    app.publish(&big(ROWS)).await;
    let key = app.key(Plan::Enterprise).await;
    let _keeper = keep(&app, embedded()).await;
    record(&app, component("evil"), ReleaseState::Promoted).await;
    let other = record(&app, patched("evil", " rows ", " ROWS "), ReleaseState::Installed).await;
    app.live.refresh().await.unwrap();
    eventually(|| serving(&app.registry, "evil").is_some()).await;

    let mut body = app.get(PATH).key(&key).begin().await.into_body();
    let mut text = body.frame().await.unwrap().unwrap().into_data().unwrap().to_vec();
    change(&app, &other, ReleaseState::Promoted).await;
    eventually(|| serving(&app.registry, "evil").as_ref() == Some(&other.digest)).await;
    assert_eq!(made(&app.get(PATH).key(&key).send().await.text()), Made::Other, "a new request has the new release");
    while let Some(frame) = body.frame().await {
        text.extend_from_slice(&frame.unwrap().into_data().unwrap());
    }
    assert_eq!(made(&String::from_utf8(text).unwrap()), Made::One);
}

async fn swap_under_load(swaps: usize) {
    let app = Arc::new(TestApp::start().await);
    app.publish(&big(ROWS)).await;
    let key = app.key(Plan::Enterprise).await;
    let _keeper = keep(&app, embedded()).await;
    let releases = [
        record(&app, component("evil"), ReleaseState::Promoted).await,
        record(&app, patched("evil", " rows ", " ROWS "), ReleaseState::Installed).await,
    ];
    app.live.refresh().await.unwrap();
    eventually(|| serving(&app.registry, "evil").is_some()).await;

    let stop = Arc::new(AtomicBool::new(false));
    let answered = Arc::new([const { AtomicUsize::new(0) }; 2]);
    let clients: Vec<_> = (0..CLIENTS)
        .map(|_| {
            let (app, key, stop, answered) = (Arc::clone(&app), key.clone(), Arc::clone(&stop), Arc::clone(&answered));
            tokio::spawn(async move {
                while !stop.load(Ordering::Relaxed) {
                    let reply = app.get(PATH).key(&key).send().await;
                    assert_eq!((reply.status.as_u16(), reply.cut), (200, false), "{}", reply.text());
                    answered[made(&reply.text()) as usize].fetch_add(1, Ordering::Relaxed);
                }
            })
        })
        .collect();

    let mut swapped_out = Vec::new();
    for swap in 0..swaps {
        let next = &releases[(swap + 1) % 2];
        swapped_out.push(Arc::downgrade(app.registry.current().encoder("evil").unwrap()));
        change(&app, next, ReleaseState::Promoted).await;
        eventually(|| serving(&app.registry, "evil").as_ref() == Some(&next.digest)).await;
    }
    stop.store(true, Ordering::Relaxed);
    for client in clients {
        client.await.unwrap();
    }
    let [one, other] = [0, 1].map(|made| answered[made].load(Ordering::Relaxed));
    println!("{swaps} swaps under {CLIENTS} clients: {one} responses by the one release, {other} by the other");
    assert!(one > 0 && other > 0, "both releases answered: {one}, {other}");
    // Nothing holds on to what was swapped out: its code, memory and tables are free again.
    eventually(|| swapped_out.iter().all(|release| release.strong_count() == 0)).await;
    assert_eq!(app.free_instances(), 16);
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_swaps_under_load_fail_no_request_and_mix_no_response() {
    Box::pin(swap_under_load(50)).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a minute or so; the same with more swaps"]
async fn a_thousand_swaps_under_load_fail_no_request_and_mix_no_response() {
    Box::pin(swap_under_load(1000)).await;
}
