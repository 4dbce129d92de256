//! Shares of callers, in process: the largest share of one, the refusal beyond it, and the shares
//! of others (contract-5-share).

use axum::body::Body;
use http::Response;
use yearbook_domain::Plan;
use yearbook_sandbox::Limits;
use yearbook_server::ServiceSettings;
use yearbook_tests::app::{TestApp, big};

const ROWS: &str = "/v1/datasets/big/data?limit=0&format=csv";
const FILE: &str = "/v1/bulk/tests/big";

const SENTENCE: &str = "Too many answers to you are open at once; read them to their end or close them, then try again in 5 s.";

fn settings() -> ServiceSettings {
    let mut settings = ServiceSettings::default();
    settings.limits.burst_per_second = 0;
    settings.server.response_cache_bytes = 0;
    settings
}

async fn service(settings: ServiceSettings, instances: u32) -> TestApp {
    let app = TestApp::with_limits(
        settings,
        Limits { instances, queue_ms: 50, parallel_parts: 1, ..Limits::default() },
    )
    .await;
    app.publish(&big(90_000)).await;
    app
}

/// Opens answers until one is refused: those that are open, and the refusal's status and code.
async fn open_until_refused(
    app: &TestApp,
    path: &str,
    key: &str,
    peer: &str,
) -> (Vec<Response<Body>>, (u16, String)) {
    let mut held = Vec::new();
    loop {
        let reply = app.get(path).key(key).peer(peer).begin().await;
        if reply.status() != 200 {
            let code = reply.headers()["x-service-error-code"].to_str().unwrap().to_owned();
            assert!(reply.headers().contains_key("retry-after"));
            return (held, (reply.status().as_u16(), code));
        }
        held.push(reply);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_and_an_address_have_a_share_of_what_may_be_open_contract_5() {
    let of_responses = {
        let mut settings = settings();
        settings.server.open_responses = 16;
        settings
    };
    // Instances run out before open responses do, and the other way round.
    for (path, settings, instances) in [(ROWS, settings(), 16), (FILE, of_responses, 16)] {
        let app = service(settings, instances).await;
        let mut keys = Vec::new();
        for _ in 0..4 {
            keys.push(app.key(Plan::Enterprise).await);
        }
        let (first, refusal) = open_until_refused(&app, path, &keys[0], "192.0.2.1").await;
        assert_eq!(
            (first.len(), refusal),
            (4, (429, "too_many_open".to_owned())),
            "{path}: a quarter for a key"
        );
        let refused = app.get(path).key(&keys[0]).send().await;
        assert_eq!(
            (refused.json()["detail"].as_str(), refused.header("retry-after").as_str()),
            (Some(SENTENCE), "5")
        );
        let (second, _) = open_until_refused(&app, path, &keys[1], "192.0.2.1").await;
        let (third, refusal) = open_until_refused(&app, path, &keys[2], "192.0.2.1").await;
        assert_eq!((second.len(), third.len()), (4, 0), "{path}: half for an address");
        assert_eq!(refusal, (429, "too_many_open".to_owned()));
        let metrics = app.metrics().await;
        let resource = if path == ROWS { "instances" } else { "responses" };
        for (caller, count) in [("key", 2), ("address", 1)] {
            let sample = format!(
                "yearbook_http_callers_at_share{{resource=\"{resource}\",caller=\"{caller}\"}} {count}"
            );
            assert!(metrics.contains(&sample), "{sample}: {metrics}");
        }
        let (fourth, _) = open_until_refused(&app, path, &keys[2], "192.0.2.2").await;
        let (fifth, refusal) = open_until_refused(&app, path, &keys[3], "192.0.2.3").await;
        assert_eq!((fourth.len(), fifth.len()), (4, 4), "{path}: others have theirs");
        assert_eq!(
            refusal,
            (503, "busy".to_owned()),
            "{path}: where all are taken it is nobody's own fault"
        );
        drop((first, second, fourth, fifth));
        while app.free_instances() < 16 {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        assert_eq!(
            app.get(path).key(&keys[0]).begin().await.status(),
            200,
            "{path}: what was closed counts no more"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_holds_its_share_is_refused_uncharged_contract_5() {
    let app = service(settings(), 8).await;
    let key = app.key(Plan::Starter).await;
    let used = async || {
        app.get("/v1/me").key(&key).send().await.json()["requests"]["used"].as_u64().unwrap()
    };
    let (held, (status, _)) =
        open_until_refused(&app, "/v1/datasets/big/data?limit=50000&format=csv", &key, "192.0.2.1")
            .await;
    assert_eq!((held.len(), status, used().await), (2, 429, 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn without_shares_one_key_may_hold_everything_contract_6() {
    let mut settings = settings();
    (settings.limits.key_share_percent, settings.limits.address_share_percent) = (0, 0);
    let app = service(settings, 8).await;
    let key = app.key(Plan::Enterprise).await;
    let (held, refusal) = open_until_refused(&app, ROWS, &key, "192.0.2.1").await;
    assert_eq!((held.len(), refusal), (8, (503, "busy".to_owned())));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_document_of_some_size_counts_for_its_address_contract_5() {
    let mut settings = settings();
    settings.server.open_responses = 8;
    let app = service(settings, 8).await;
    let open = async |peer: &str| app.get("/openapi.json").peer(peer).begin().await;
    let held = [
        open("192.0.2.1").await,
        open("192.0.2.1").await,
        open("192.0.2.1").await,
        open("192.0.2.1").await,
    ];
    assert!(held.iter().all(|reply| reply.status() == 200));
    let refused = app.get("/openapi.json").peer("192.0.2.1").send().await;
    assert_eq!(refused.outcome(), (429, "too_many_open".to_owned()));
    assert_eq!(refused.json()["detail"], SENTENCE);
    assert_eq!(open("192.0.2.2").await.status(), 200);
    assert_eq!(
        app.get("/health").peer("192.0.2.1").send().await.status,
        200,
        "small answers are not counted"
    );
}
