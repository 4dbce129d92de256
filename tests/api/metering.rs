//! Quotas and bursts (contract-5-charged, contract-5-burst).

use std::time::{Duration, Instant};

use futures::future::join_all;
use yearbook_catalog::key;
use yearbook_domain::Plan;
use yearbook_server::ServiceSettings;
use yearbook_tests::app::{TestApp, harvest, parks};

use super::statements::Statements;

#[tokio::test]
async fn the_eleventh_concurrent_request_of_a_free_key_is_refused_contract_5() {
    let app = TestApp::start().await;
    app.publish(&parks()).await;
    let key = app.key(Plan::Free).await;
    let replies =
        join_all((0..50).map(|_| app.get("/v1/datasets/parks/data").key(&key).send())).await;
    let answered = replies.iter().filter(|reply| reply.status == 200).count();
    let refused =
        replies.iter().filter(|reply| reply.outcome() == (429, "quota_used_up".to_owned())).count();
    assert_eq!((answered, refused), (10, 40));
    let late = app.get("/v1/datasets/parks/data").key(&key).send().await;
    assert_eq!(
        (late.header("x-ratelimit-limit"), late.header("x-ratelimit-remaining")),
        ("10".to_owned(), "0".to_owned())
    );
    assert!(late.header("retry-after").parse::<u64>().is_ok_and(|seconds| seconds > 0));
    assert!(late.header("ratelimit-policy").starts_with("\"month\";q=10;w="));
    assert!(late.header("ratelimit").starts_with("\"month\";r=0;t="));
}

#[tokio::test]
async fn only_answered_gets_are_charged_contract_5() {
    let app = TestApp::start().await;
    app.publish(&parks()).await;
    let key = app.key(Plan::Free).await;
    let used =
        async || app.get("/v1/me").key(&key).send().await.json()["requests"]["used"].as_u64();
    for free in [
        "/v1/datasets/nothing",
        "/v1/datasets/parks/data?limit=x",
        "/v1/datasets/parks/data?limit=0",
        "/v1/me",
        "/v1/nothing",
    ] {
        app.get(free).key(&key).send().await;
    }
    for head in ["/v1/datasets", "/v1/datasets/parks", "/v1/datasets/parks/data"] {
        assert_eq!(app.head(head).key(&key).send().await.status, 200, "{head}");
    }
    assert_eq!(used().await, Some(0));
    for (index, path) in
        ["/v1/datasets", "/v1/datasets/parks", "/v1/datasets/parks/data", "/v1/series/parks/data"]
            .into_iter()
            .enumerate()
    {
        let reply = app.get(path).key(&key).send().await;
        assert_eq!(reply.header("x-ratelimit-remaining"), (9 - index).to_string(), "{path}");
    }
    assert_eq!(used().await, Some(4));
}

#[tokio::test]
async fn head_and_304_are_answered_when_the_quota_is_used_up_contract_5() {
    let mut settings = ServiceSettings::default();
    settings.plans.free.requests_per_month = Some(1);
    let app = TestApp::with(settings).await;
    app.publish(&parks()).await;
    let key = app.key(Plan::Free).await;
    let path = "/v1/datasets/parks/data";
    let tag = app.get(path).key(&key).send().await.header("etag");
    assert_eq!(app.get(path).key(&key).send().await.status, 429);
    assert_eq!(app.head(path).key(&key).send().await.status, 200);
    assert_eq!(app.get(path).key(&key).header("if-none-match", &tag).send().await.status, 304);
    assert_eq!(app.get("/v1/me").key(&key).send().await.json()["requests"]["left"], 0);
}

#[tokio::test]
async fn unlimited_plans_have_no_rate_limit_headers_contract_5() {
    let app = TestApp::start().await;
    let key = app.key(Plan::Pro).await;
    let reply = app.get("/v1/datasets").key(&key).send().await;
    assert_eq!(
        (reply.status.as_u16(), reply.header("x-ratelimit-limit"), reply.header("ratelimit")),
        (200, String::new(), String::new())
    );
}

#[tokio::test]
async fn a_burst_says_the_buckets_numbers_and_the_end_of_the_month_the_months_contract_5() {
    let mut settings = ServiceSettings::default();
    settings.limits.burst_per_second = 1;
    settings.limits.burst_size = 3;
    settings.plans.free.requests_per_month = Some(1);
    let app = TestApp::with(settings).await;
    app.publish(&parks()).await;
    let key = app.key(Plan::Free).await;
    let path = "/v1/datasets/parks/data";
    assert_eq!(app.get(path).key(&key).send().await.status, 200);
    let month = app.get(path).key(&key).send().await;
    assert_eq!(month.outcome(), (429, "quota_used_up".to_owned()));
    assert_eq!(
        (month.header("x-ratelimit-limit"), month.header("x-ratelimit-remaining")),
        ("1".to_owned(), "0".to_owned())
    );
    assert!(
        month.header("ratelimit").starts_with("\"month\";r=0;t=")
            && month.header("ratelimit-policy").starts_with("\"month\";q=1;w=")
    );
    app.get(path).key(&key).send().await;
    for reply in [app.get(path).key(&key).send().await, app.head(path).key(&key).send().await] {
        assert_eq!(reply.outcome(), (429, "slow_down".to_owned()));
        let now = yearbook_catalog::clock::now().0.div_euclid(1000);
        assert_eq!(
            (reply.header("x-ratelimit-limit"), reply.header("x-ratelimit-remaining")),
            ("3".to_owned(), "0".to_owned())
        );
        assert_eq!(
            (reply.header("ratelimit"), reply.header("ratelimit-policy")),
            ("\"burst\";r=0;t=1".to_owned(), "\"burst\";q=3;w=3".to_owned())
        );
        let (wait, reset) = (
            reply.header("retry-after"),
            reply.header("x-ratelimit-reset").parse::<i64>().unwrap(),
        );
        assert_eq!(wait, "1");
        assert!((now..=now + 1).contains(&reset), "{reset} is not 1 s after a moment before {now}");
    }
}

#[tokio::test]
async fn a_burst_is_refused_without_the_database_contract_5() {
    let mut settings = ServiceSettings::default();
    settings.limits.burst_per_second = 1;
    settings.limits.burst_size = 1;
    let app = TestApp::with(settings).await;
    let key = app.key(Plan::Free).await;
    let statements = Statements::start();
    let before = statements.usage();
    assert_eq!(app.get("/v1/me").key(&key).send().await.status, 200);
    assert!(statements.usage() > before, "the month is looked up");
    let mut silent = false;
    // Where tests share a process, others may ask meanwhile; a refusal that asked would be heard in
    // every round.
    for _ in 0..20 {
        let before = statements.usage();
        let reply = app.get("/v1/me").key(&key).send().await;
        if reply.status == 429 {
            assert_eq!(reply.header("ratelimit-policy"), "\"burst\";q=1;w=1");
            silent |= statements.usage() == before;
        }
    }
    assert!(silent, "every refusal asked the database");
}

/// A service whose buckets hold `burst_size` requests and fill by one a second.
async fn hasty(burst_size: u32) -> TestApp {
    let mut settings = ServiceSettings::default();
    settings.limits.burst_per_second = 1;
    settings.limits.burst_size = burst_size;
    TestApp::with(settings).await
}

#[tokio::test]
async fn unknown_keys_beyond_the_bucket_of_their_address_ask_no_database_contract_5() {
    let app = hasty(3).await;
    let statements = Statements::start();
    let mut silent = false;
    let known = app.key(Plan::Enterprise).await;
    assert_eq!(app.get("/v1/me").key(&known).send().await.status, 200);
    for round in 0..20 {
        let (unknown, _) = key::issue().unwrap();
        let before = statements.keys();
        let reply = app.get("/v1/me").key(unknown.expose()).send().await;
        match reply.status.as_u16() {
            401 => assert!(statements.keys() > before, "round {round}"),
            // Where tests share a process, others may ask meanwhile; a refusal that asked would be
            // heard in every round.
            429 => silent |= statements.keys() == before,
            status => panic!("{status}"),
        }
    }
    assert!(silent, "every refusal asked the database");
    assert_eq!(
        app.get("/v1/me").key(&known).send().await.status,
        200,
        "a key in memory has a bucket of its own"
    );
}

#[tokio::test]
async fn unknown_names_cost_no_query_contract_5() {
    let app = TestApp::start().await;
    app.publish(&harvest()).await;
    let statements = Statements::start();
    let id = "0".repeat(32);
    let known = app.get(&format!("/cite/harvest/{id}")).send().await;
    assert!(known.status == 404 && statements.datasets() > 0, "statements are counted");
    // Where tests share a process, others may ask meanwhile.
    let mut silent = false;
    for round in 0..10 {
        let before = statements.datasets();
        for path in [
            format!("/datasets/none_{round}"),
            format!("/datasets/none_{round}/versions"),
            format!("/datasets/none_{round}/chart.svg"),
            format!("/datasets/none_{round}.jsonld"),
            format!("/v1/datasets/none_{round}/preview"),
            format!("/cite/none_{round}/{id}"),
        ] {
            assert_eq!(app.get(&path).send().await.status, 404, "{path}");
        }
        silent |= statements.datasets() == before;
    }
    assert!(silent, "every refusal asked the database");
}

#[tokio::test]
async fn an_unknown_key_is_looked_up_once_in_a_while_contract_5() {
    let app = TestApp::start().await;
    let statements = Statements::start();
    let (unknown, _) = key::issue().unwrap();
    let asked: Vec<usize> = {
        let mut asked = Vec::new();
        for _ in 0..20 {
            let before = statements.keys();
            assert_eq!(app.get("/v1/me").key(unknown.expose()).send().await.status, 401);
            asked.push(statements.keys() - before);
        }
        asked
    };
    assert!(asked.iter().filter(|&&asked| asked == 0).count() > 10, "{asked:?}");
}

#[tokio::test]
async fn a_valid_key_costs_its_address_nothing_even_when_it_is_new_contract_5() {
    let app = hasty(1).await;
    for round in 0..5 {
        let key = app.key(Plan::Enterprise).await;
        assert_eq!(app.get("/v1/me").key(&key).send().await.status, 200, "round {round}");
    }
    let guess = |text: &'static str| app.get("/v1/me").key(text).send();
    assert_eq!(guess("yb_guess").await.status, 401, "the address has its token still");
    let late = app.key(Plan::Enterprise).await;
    let statuses =
        [guess("yb_guess").await.status, app.get("/v1/me").key(&late).send().await.status];
    // Its bucket fills by one a second, and this may have taken one.
    assert!(statuses.contains(&http::StatusCode::TOO_MANY_REQUESTS), "{statuses:?}");
}

#[tokio::test]
async fn what_an_encoder_declines_writes_nothing_to_the_database_contract_5() {
    let app = TestApp::start().await;
    app.publish(&harvest()).await;
    app.load("geojson");
    let key = app.key(Plan::Free).await;
    let statements = Statements::start();
    let mut silent = 0;
    for limit in 1..=20 {
        let route = if limit % 2 == 0 { "data" } else { "changes" };
        let before = statements.usage_writes();
        let reply = app
            .get(&format!("/v1/datasets/harvest/{route}?format=geojson&limit={limit}"))
            .key(&key)
            .send()
            .await;
        assert_eq!(reply.status, 422, "{}", reply.text());
        silent += usize::from(statements.usage_writes() == before);
    }
    // Where tests share a process, others may write meanwhile.
    assert!(silent > 10, "{silent} of 20 wrote nothing");
    let before = statements.usage_writes();
    assert_eq!(app.get("/v1/datasets/harvest/data").key(&key).send().await.status, 200);
    assert!(statements.usage_writes() > before, "an answer is counted");
}

#[tokio::test]
async fn a_key_in_a_tight_loop_is_slowed_down_contract_5() {
    let mut settings = ServiceSettings::default();
    settings.limits.burst_per_second = 1;
    settings.limits.burst_size = 2;
    let app = TestApp::with(settings).await;
    let (hasty, calm) = (app.key(Plan::Enterprise).await, app.key(Plan::Enterprise).await);
    let statuses: Vec<u16> = join_all((0..4).map(|_| app.get("/v1/me").key(&hasty).send()))
        .await
        .iter()
        .map(|reply| reply.status.as_u16())
        .collect();
    assert_eq!(statuses.iter().filter(|status| **status == 429).count(), 2, "{statuses:?}");
    assert_eq!(
        app.get("/v1/me").key(&calm).send().await.status,
        200,
        "another key has its own bucket"
    );
    let guesses: Vec<u16> = join_all((0..4).map(|_| app.get("/v1/me").key("yb_guess").send()))
        .await
        .iter()
        .map(|reply| reply.status.as_u16())
        .collect();
    assert_eq!((guesses[0], guesses[3]), (401, 429), "guessing keys is slowed down by address");
}

#[tokio::test]
async fn by_default_a_hundred_come_at_once_and_fifty_a_second_after_contract_5() {
    for (path, has_key) in [("/v1/me", true), ("/v1/datasets/parks/preview", false)] {
        // Each has its own: a key that is looked up returns a token of its address, where the
        // bucket and what was returned may count one moment twice.
        let app = TestApp::with(ServiceSettings::default()).await;
        app.publish(&parks()).await;
        let key = if has_key { app.key(Plan::Enterprise).await } else { String::new() };
        let key = key.as_str();
        let burst = async || {
            let replies = join_all((0..300).map(|_| app.get(path).key(key).send())).await;
            let refused =
                replies.iter().find(|reply| reply.status == 429).expect("300 at once are too many");
            assert_eq!(refused.header("ratelimit-policy"), "\"burst\";q=100;w=2", "{path}");
            replies.iter().filter(|reply| reply.status == 200).count()
        };
        // What the bucket has earned since a moment: one in 20 ms, and what is left of the last.
        let earned =
            |since: Instant| usize::try_from(since.elapsed().as_millis() / 20).unwrap() + 1;
        let begun = Instant::now();
        let first = burst().await;
        assert!(
            (100..=100 + earned(begun)).contains(&first),
            "{path}: {first} in {:?}",
            begun.elapsed()
        );
        // Somebody was refused, so the bucket was empty at some moment before this one.
        tokio::time::sleep(Duration::from_secs(1)).await;
        let second = burst().await;
        assert!(
            (50..=earned(begun)).contains(&second),
            "{path}: {second} in {:?}",
            begun.elapsed()
        );
    }
}
