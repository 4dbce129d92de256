//! Responses to failures of the service: the time to retry where that helps, the request's id, and
//! no internal detail (contract-2-5xx, contract-5-retry-after).

use std::path::Path;

use axum::body::Body;
use http::Response;
use serde_json::json;
use yearbook_domain::Plan;
use yearbook_sandbox::Limits;
use yearbook_server::ServiceSettings;
use yearbook_tests::app::{Reply, TestApp, TestRequest, big, harvest};

use super::router::keyed;

/// Routes that read stored files.
const STORED: [&str; 4] = [
    "/v1/datasets/harvest/data?",
    "/v1/series/harvest/data?",
    "/v1/datasets/harvest/changes?",
    "/v1/bulk/farms/harvest?",
];

/// The request's id.
const ID: &str = "from-a.client_1";

const BROKEN: &str =
    "Something went wrong on our side; if trying again does not help, report request id ID.";
const TIMED_OUT: &str =
    "The answer took too long to begin; ask for less, or try again. Request id: ID.";
const UNAVAILABLE: &str =
    "The service cannot answer at the moment; try again in a few seconds. Request id: ID.";

/// Headers that a failure may have besides those of every answer (id, CORS) and the month's.
const HEADERS: [&str; 6] = [
    "content-type",
    "content-length",
    "x-service-error-code",
    "cache-control",
    "vary",
    "retry-after",
];

fn unlimited() -> ServiceSettings {
    let mut settings = ServiceSettings::default();
    settings.limits.burst_per_second = 0;
    settings
}

/// Asserts that `ask`, sent plainly and with problem details, is this failure, word for word.
async fn fails(
    ask: impl Fn() -> TestRequest,
    status: u16,
    code: &str,
    sentence: &str,
    retry_after: &str,
) {
    let plain = ask().header("x-request-id", ID).send().await;
    let what = format!("{} {}", plain.status, plain.text());
    assert_eq!(plain.outcome(), (status, code.to_owned()), "{what}");
    let detail = sentence.replace("ID", ID);
    assert_eq!(plain.json(), json!({"detail": detail}), "{what}");
    assert_error_headers(&plain, retry_after);

    let problem =
        ask().header("x-request-id", ID).header("accept", "application/problem+json").send().await;
    let title = problem.status.canonical_reason();
    let expected = json!({"type": "about:blank", "title": title, "status": status, "detail": detail, "code": code, "request_id": ID});
    assert_eq!(problem.json(), expected, "{what}");
    assert_error_headers(&problem, retry_after);
}

fn assert_error_headers(reply: &Reply, retry_after: &str) {
    assert_eq!(
        (reply.header("x-request-id").as_str(), reply.header("retry-after").as_str()),
        (ID, retry_after),
        "{}",
        reply.text()
    );
    for name in reply.headers.keys().map(http::HeaderName::as_str) {
        let of_every_answer = name == "x-request-id" || name.starts_with("access-control-");
        let of_the_month = name.contains("ratelimit");
        assert!(
            of_every_answer || of_the_month || HEADERS.contains(&name),
            "{name}: {}",
            reply.header(name)
        );
    }
}

/// Publishes two versions, so that there is a file of changes too.
async fn published(app: &TestApp) {
    app.publish(&harvest()).await;
    app.publish(&harvest().with_rows("date,region,value,final\n2020-01-01,Auckland,1.5,true\n"))
        .await;
}

/// Replaces the content of every file below `folder`.
fn damage(folder: &Path) -> usize {
    let mut files = 0;
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files += damage(&path);
        } else {
            std::fs::write(&path, b"PAR1 nothing").unwrap();
            files += 1;
        }
    }
    files
}

#[tokio::test]
async fn damage_is_500_with_the_request_id_and_nothing_else_contract_2() {
    for lost in [false, true] {
        let app = TestApp::start().await;
        published(&app).await;
        let key = app.key(Plan::Enterprise).await;
        let objects = app.folder.path().join("objects");
        if lost {
            std::fs::remove_dir_all(&objects).unwrap();
        } else {
            assert!(damage(&objects) >= 3);
        }
        for path in STORED {
            fails(|| app.get(path).key(&key), 500, "internal", BROKEN, "").await;
        }
        fails(|| app.get("/v1/datasets/harvest/preview"), 500, "internal", BROKEN, "").await;
    }
}

#[tokio::test]
async fn a_plugin_that_fails_is_500_with_the_request_id_and_nothing_else_contract_2() {
    let app = TestApp::start().await;
    published(&app).await;
    app.load("evil");
    let key = app.key(Plan::Enterprise).await;
    for attack in ["panic", "recurse", "refuse"] {
        for path in &STORED[..3] {
            let path = format!("{path}format=evil&evil.attack={attack}&evil.call=part");
            fails(|| app.get(&path).key(&key), 500, "internal", BROKEN, "").await;
        }
    }
}

#[tokio::test]
async fn without_its_database_every_route_of_a_limited_key_is_503_that_says_when_to_come_back_contract_5()
 {
    let app = TestApp::start().await;
    published(&app).await;
    let key = app.key(Plan::Free).await;
    app.store.close().await;
    for path in keyed() {
        fails(|| app.get(&path).key(&key), 503, "unavailable", UNAVAILABLE, "5").await;
        let head = app.head(&path).key(&key).send().await;
        assert_eq!(
            (head.status.as_u16(), head.header("retry-after")),
            (503, "5".to_owned()),
            "{path}"
        );
    }
}

/// A service with one instance of the sandbox, which a client that has begun to read and does not
/// go on holds.
async fn at_capacity(
    settings: ServiceSettings,
    queue_ms: u64,
) -> (TestApp, String, Response<Body>) {
    let app =
        TestApp::with_limits(settings, Limits { instances: 1, queue_ms, ..Limits::default() })
            .await;
    published(&app).await;
    app.publish(&big(90_000)).await;
    let key = app.key(Plan::Enterprise).await;
    for _ in 0..50 {
        let held = app.get("/v1/datasets/big/data?limit=0&format=csv").key(&key).begin().await;
        if held.status() == 200 {
            return (app, key, held);
        }
    }
    panic!("nobody is answered");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_does_not_begin_in_time_is_503_that_says_when_to_come_back_contract_5() {
    let mut settings = unlimited();
    settings.server.response_cache_bytes = 0;
    settings.server.first_byte_ms = 400;
    let (app, key, _held) = at_capacity(settings, 60_000).await;
    for path in &STORED[..3] {
        fails(|| app.get(path).key(&key), 503, "timed_out", TIMED_OUT, "5").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn at_capacity_data_is_503_that_says_when_to_come_back_contract_5() {
    let mut settings = unlimited();
    settings.server.response_cache_bytes = 0;
    let (app, key, _held) = at_capacity(settings, 20).await;
    for path in &STORED[..3] {
        fails(
            || app.get(path).key(&key),
            503,
            "busy",
            "The service is at capacity; try again in 1 s.",
            "1",
        )
        .await;
    }
}
