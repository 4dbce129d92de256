//! The response cache: bodies come from memory, and nobody can tell (contract-3-kept).

use futures::future::join_all;
use yearbook_domain::{Millis, Plan};
use yearbook_server::{ResponseCacheStats, ServiceSettings};
use yearbook_tests::app::{Reply, TestApp, big, harvest, parks};
use yearbook_tests::components::component;

/// Published at one moment, so that two services say the same.
const AT: Millis = Millis(1_795_219_200_000);

async fn app_with(change: impl FnOnce(&mut ServiceSettings)) -> TestApp {
    let mut settings = ServiceSettings::default();
    settings.limits.burst_per_second = 0;
    change(&mut settings);
    let app = TestApp::with(settings).await;
    app.publish_at(&harvest(), AT).await;
    app
}

async fn app() -> TestApp {
    app_with(|_| ()).await
}

/// Hits and misses so far.
fn cache_counts(app: &TestApp) -> (u64, u64) {
    let ResponseCacheStats { hits, misses, .. } = app.response_cache();
    (hits, misses)
}

/// Everything that a client sees and that may not depend on the cache.
fn parts(reply: &Reply) -> (u16, Vec<(String, String)>, Vec<u8>) {
    let mut headers: Vec<_> = reply
        .headers
        .keys()
        .filter(|name| *name != "x-request-id")
        .map(|name| (name.to_string(), reply.header(name.as_str())))
        .collect();
    headers.sort();
    (reply.status.as_u16(), headers, reply.body.to_vec())
}

#[tokio::test]
async fn a_kept_response_is_the_same_bytes_and_headers() {
    let (with, without) =
        (app().await, app_with(|settings| settings.server.response_cache_bytes = 0).await);
    let (key, other) = (with.key(Plan::Enterprise).await, without.key(Plan::Enterprise).await);
    let mut expected = (0, 0);
    for path in ["/v1/datasets/harvest/data", "/v1/series/harvest/data"] {
        for query in [
            "",
            "limit=3",
            "limit=0&format=csv",
            "format=arrow&columns=value,date",
            "format=parquet",
            "dimensions=M%C4%81ori&limit=2",
        ] {
            for coding in ["identity", "gzip", "zstd"] {
                let ask = async |app: &TestApp, key: &str| {
                    let ask = app.get(&format!("{path}?{query}")).header("accept-encoding", coding);
                    ask.key(key).send().await
                };
                let (first, second, plain) =
                    (ask(&with, &key).await, ask(&with, &key).await, ask(&without, &other).await);
                assert_eq!(parts(&first), parts(&second), "{path}?{query} {coding}");
                // Each service signs cursors with a secret of its own.
                let unsigned = |reply: &Reply| {
                    let (status, mut headers, body) = parts(reply);
                    headers.retain(|(name, _)| name != "link" && name != "x-next-page");
                    (status, headers, body)
                };
                assert_eq!(unsigned(&first), unsigned(&plain), "{path}?{query} {coding}");
                assert_eq!(
                    first.header("x-next-page").is_empty(),
                    plain.header("x-next-page").is_empty(),
                    "{path}?{query} {coding}"
                );
                expected.0 += 1;
            }
        }
    }
    let (hits, misses) = cache_counts(&with);
    assert!(
        hits > expected.0 && misses < expected.0,
        "{hits} {misses}: the alias shares what its canonical address made"
    );
    assert_eq!(without.response_cache(), ResponseCacheStats::default());
}

#[tokio::test]
async fn headers_that_depend_on_address_and_alias_are_made_each_time_contract_3() {
    let app = app().await;
    let key = app.key(Plan::Enterprise).await;
    let links = async |path: &str| {
        let reply = app.get(path).key(&key).send().await;
        reply
            .headers
            .get_all("link")
            .iter()
            .map(|value| value.to_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let canonical = links("/v1/datasets/harvest/data?limit=2").await;
    assert!(
        canonical.len() == 2 && canonical[0].contains("/v1/datasets/harvest/data?limit=2&cursor="),
        "{canonical:?}"
    );
    let alias = links("/v1/series/harvest/data?limit=2&x=1").await;
    assert!(
        alias.len() == 3 && alias[0].contains("/v1/series/harvest/data?limit=2&x=1&cursor="),
        "{alias:?}"
    );
    assert!(
        alias[1].ends_with("/v1/datasets/harvest/data?limit=2&x=1>; rel=\"canonical\""),
        "{alias:?}"
    );
    assert_eq!(cache_counts(&app), (1, 1));
}

#[tokio::test]
async fn a_kept_response_is_charged_and_refused_like_any_other_contract_5() {
    let app = app().await;
    let (paying, free) = (app.key(Plan::Enterprise).await, app.key(Plan::Free).await);
    let path = "/v1/datasets/harvest/data";
    app.get(path).key(&paying).send().await;
    for used in 1..=10 {
        let reply = app.get(path).key(&free).send().await;
        assert_eq!(
            (reply.status.as_u16(), reply.header("x-ratelimit-remaining")),
            (200, (10 - used).to_string())
        );
    }
    assert_eq!(cache_counts(&app), (10, 1));
    assert_eq!(app.get(path).key(&free).send().await.outcome(), (429, "quota_used_up".to_owned()));
    assert_eq!(app.get(path).send().await.status, 401);
    assert_eq!(app.get(path).key("yb_guess").send().await.status, 401);
    assert_eq!(app.head(path).key(&free).send().await.status, 200);
    assert_eq!(cache_counts(&app), (10, 1), "refusals and HEAD never get as far as the cache");
}

#[tokio::test]
async fn a_kept_response_is_slowed_down_like_any_other_contract_5() {
    let app = app_with(|settings| {
        settings.limits.burst_per_second = 1;
        settings.limits.burst_size = 2;
    })
    .await;
    let key = app.key(Plan::Enterprise).await;
    let path = "/v1/datasets/harvest/data";
    let statuses = join_all((0..4).map(|_| app.get(path).key(&key).send())).await;
    assert_eq!(statuses.iter().filter(|reply| reply.status == 429).count(), 2);
}

#[tokio::test]
async fn a_refreshed_snapshot_is_served_at_once() {
    let app = app().await;
    let key = app.key(Plan::Enterprise).await;
    let path = "/v1/datasets/harvest/data?start=2030-01-01";
    let (before, again) =
        (app.get(path).key(&key).send().await, app.get(path).key(&key).send().await);
    assert_eq!((before.text().as_str(), again.text().as_str()), ("[]", "[]"));
    app.publish(&harvest().with_appended("2030-02-01,Otago,1.5,true\n")).await;
    let after = app.get(path).key(&key).send().await;
    assert!(after.text().contains("Otago"), "{}", after.text());
    assert_ne!(before.header("etag"), after.header("etag"));
    let pinned = app
        .get(&format!("{path}&snapshot={}", before.header("x-service-snapshot-id")))
        .key(&key)
        .send()
        .await;
    assert_eq!((pinned.text().as_str(), pinned.header("etag")), ("[]", before.header("etag")));
}

#[tokio::test]
async fn another_release_of_a_plugin_makes_everything_anew() {
    let app = app().await;
    let key = app.key(Plan::Enterprise).await;
    let path = "/v1/datasets/harvest/data?format=csv";
    let before = app.get(path).key(&key).send().await;
    // The same program with a custom section: other bytes, so another digest.
    let mut release = component("csv");
    release.extend_from_slice(&[0, 5, 4, b'n', b'o', b't', b'e']);
    app.replace_encoder(&release);
    let after = app.get(path).key(&key).send().await;
    assert_ne!(before.header("etag"), after.header("etag"));
    assert_eq!(before.body, after.body);
    assert_eq!(cache_counts(&app), (0, 2));
    app.replace_encoder(&component("csv"));
    assert_eq!(app.get(path).key(&key).send().await.header("etag"), before.header("etag"));
    assert_eq!(cache_counts(&app), (1, 2), "the former release's answers are still true");
}

#[tokio::test]
async fn a_plan_that_caps_rows_has_answers_of_its_own_contract_5() {
    let app = app_with(|settings| settings.plans.starter.row_cap = Some(5)).await;
    let (top, capped) = (app.key(Plan::Enterprise).await, app.key(Plan::Starter).await);
    let path = "/v1/datasets/harvest/data?limit=20";
    for _ in 0..2 {
        let (all, some) =
            (app.get(path).key(&top).send().await, app.get(path).key(&capped).send().await);
        assert_eq!(
            (all.json().as_array().unwrap().len(), some.json().as_array().unwrap().len()),
            (20, 5)
        );
        assert_eq!(
            (all.header("x-service-truncated"), some.header("x-service-truncated")),
            (String::new(), "true".to_owned())
        );
        assert_eq!(some.header("x-plan-row-cap"), "5");
    }
    assert_eq!(cache_counts(&app), (2, 2));
    // Where the cap does not matter, neither does the plan: one entry, and no header names a cap.
    let small = "/v1/datasets/harvest/data?limit=3";
    let (all, some) =
        (app.get(small).key(&top).send().await, app.get(small).key(&capped).send().await);
    assert_eq!(all.body, some.body);
    assert_eq!(some.header("x-service-truncated"), "");
    assert_eq!(cache_counts(&app), (3, 3));
}

#[tokio::test]
async fn conditions_are_checked_before_the_cache_contract_3() {
    let app = app().await;
    let key = app.key(Plan::Enterprise).await;
    let path = "/v1/datasets/harvest/data";
    let tag = app.get(path).key(&key).send().await.header("etag");
    let same = app.get(path).key(&key).header("if-none-match", &tag).send().await;
    assert_eq!((same.status.as_u16(), same.body.len()), (304, 0));
    let other = app.get(path).key(&key).header("if-none-match", "\"other\"").send().await;
    assert_eq!((other.status.as_u16(), other.header("etag")), (200, tag));
    let range = app.get(path).key(&key).header("range", "bytes=0-3").send().await;
    assert_eq!(
        (range.status.as_u16(), range.body.len()),
        (200, other.body.len()),
        "ranges are for stored files"
    );
    assert_eq!(cache_counts(&app), (2, 1));
}

#[tokio::test]
async fn large_answers_are_not_kept_and_memory_is_bounded() {
    let app = app_with(|settings| settings.server.response_cache_bytes = 200_000).await;
    app.publish(&big(30_000)).await;
    let key = app.key(Plan::Enterprise).await;
    for _ in 0..2 {
        let reply = app.get("/v1/datasets/big/data?limit=0&format=csv").key(&key).send().await;
        assert!(!reply.cut && reply.body.len() > 600_000);
    }
    assert_eq!(cache_counts(&app), (0, 2));
    for limit in 1..200 {
        app.get(&format!("/v1/datasets/big/data?limit={limit}")).key(&key).send().await;
        let counts = app.response_cache();
        assert!(counts.bytes <= 200_000, "{counts:?}");
    }
    assert!(app.response_cache().entries > 10);
}

#[tokio::test]
async fn a_crowd_that_asks_for_the_same_is_served_by_one_instance() {
    let app = app().await;
    let key = app.key(Plan::Enterprise).await;
    let replies =
        join_all((0..30).map(|_| app.get("/v1/datasets/harvest/data").key(&key).send())).await;
    assert!(replies.iter().all(|reply| reply.status == 200 && reply.body == replies[0].body));
    assert_eq!(cache_counts(&app), (29, 1));
    assert_eq!(app.free_instances(), 16);
}

#[tokio::test]
async fn what_a_dataset_refuses_is_refused_though_its_neighbour_is_kept_contract_1() {
    let app = app().await;
    app.publish(&parks()).await;
    let key = app.key(Plan::Enterprise).await;
    app.get("/v1/datasets/parks/data").key(&key).send().await;
    assert_eq!(app.get("/v1/datasets/parks/data?limit=0").key(&key).send().await.status, 413);
    assert_eq!(app.get("/v1/datasets/parks/data?columns=none").key(&key).send().await.status, 422);
    assert_eq!(app.get("/v1/datasets/parks/data?snapshot=0123").key(&key).send().await.status, 404);
    assert_eq!(app.get("/v1/datasets/park/data").key(&key).send().await.status, 404);
    assert_eq!(cache_counts(&app), (0, 1));
}
