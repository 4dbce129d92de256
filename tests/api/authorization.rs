//! Keys where `X-API-Key` cannot be sent: `Authorization` with Bearer or Basic.

use base64::prelude::{BASE64_STANDARD, Engine as _};
use http::header::WWW_AUTHENTICATE;
use yearbook_domain::Plan;
use yearbook_tests::app::{Reply, TestApp, TestRequest, harvest};

use super::router::{keyed, routes};

const ME: &str = "/v1/me";

/// A service with one table, an Enterprise key, and the addresses that want one.
async fn service() -> (TestApp, String, Vec<String>) {
    let app = TestApp::start().await;
    let id = app.publish(&harvest()).await;
    let key = app.key(Plan::Enterprise).await;
    let verified = format!("/cite/harvest/{id}?verify=true&");
    (app, key, keyed().into_iter().chain([verified]).collect())
}

fn basic(user: &str, password: &str) -> String {
    format!("Basic {}", BASE64_STANDARD.encode(format!("{user}:{password}")))
}

fn with(request: TestRequest, authorization: &str) -> TestRequest {
    request.header("authorization", authorization)
}

/// Lines of `WWW-Authenticate`.
fn challenges(reply: &Reply) -> Vec<&str> {
    let lines = reply.headers.get_all(WWW_AUTHENTICATE).iter();
    lines.map(|line| line.to_str().unwrap()).collect()
}

#[tokio::test]
async fn every_keyed_route_takes_the_key_in_authorization_contract_15() {
    let (app, key, addresses) = service().await;
    let token = format!("Bearer {key}");
    for path in addresses {
        let answers = async |request: TestRequest| request.send().await.outcome();
        let (fine, invalid, missing) = (
            (200, String::new()),
            (401, "key_invalid".to_owned()),
            (401, "key_missing".to_owned()),
        );
        for (authorization, expected) in [
            (token.clone(), &fine),
            (format!("bearer  {key}"), &fine),
            (basic(&key, ""), &fine),
            (basic(&key, "anything"), &fine),
            (basic("", &key), &fine),
            (basic("anybody", &key), &fine),
            (basic(&key, "yb_nobody"), &fine),
            (basic("yb_nobody", &key), &invalid),
            (basic("anybody", "anything"), &invalid),
            ("Basic".to_owned(), &invalid),
            ("Basic %%%".to_owned(), &invalid),
            ("Bearer".to_owned(), &invalid),
            ("Bearer yb_nobody".to_owned(), &invalid),
            (format!("Bearer {key}é"), &invalid),
            ("Négociate".to_owned(), &invalid),
            (format!("Digest {key}"), &missing),
            (key.clone(), &missing),
            (String::new(), &missing),
        ] {
            for method in ["GET", "HEAD"] {
                let request = with(app.ask(method, &path), &authorization);
                assert_eq!(&answers(request).await, expected, "{method} {path} {authorization}");
            }
        }
        // Empty counts as missing; anything else decides alone.
        assert_eq!(answers(with(app.get(&path).key(""), &token)).await, fine, "{path}");
        assert_eq!(answers(with(app.get(&path).key("yb_x"), &token)).await, invalid, "{path}");
        let unknown = "Bearer yb_nobody";
        assert_eq!(answers(with(app.get(&path).key(&key), unknown)).await, fine, "{path}");
    }
}

#[tokio::test]
async fn a_key_in_authorization_is_the_same_key_contract_15() {
    let app = TestApp::start().await;
    app.publish(&harvest()).await;
    let key = app.key(Plan::Free).await;
    for authorization in [basic(&key, ""), basic("me", &key), format!("Bearer {key}")] {
        let reply = with(app.get("/v1/datasets"), &authorization).send().await;
        assert_eq!(reply.header("x-ratelimit-limit"), "10");
        let bulk = with(app.get("/v1/bulk/farms/harvest"), &authorization).send().await;
        assert_eq!(bulk.status, 402, "the plan of the key");
    }
    assert_eq!(app.get(ME).key(&key).send().await.json()["requests"]["used"], 3);
    let id = app.store.keys().await.unwrap()[0].id.clone();
    app.store.revoke_key(&id, yearbook_catalog::clock::now()).await.unwrap();
    app.catalog_cache.refresh().await.unwrap();
    let reply = with(app.get(ME), &basic(&key, "")).send().await;
    assert_eq!(reply.outcome(), (401, "key_invalid".to_owned()));
}

#[tokio::test]
async fn a_401_asks_a_person_for_basic_and_no_script_contract_15() {
    let (app, _, addresses) = service().await;
    const API_KEY: &str = "ApiKey realm=\"yearbook\", header=\"X-API-Key\"";
    const BASIC: &str = "Basic realm=\"yearbook\", charset=\"UTF-8\"";
    for path in addresses {
        for key in ["", "yb_nobody"] {
            let challenged = async |mode: Option<&str>| {
                let request = app.get(&path).key(key).header("origin", "https://page.example");
                let request = match mode {
                    Some(mode) => request.header("sec-fetch-mode", mode),
                    None => request,
                };
                let reply = request.send().await;
                assert_eq!(reply.status, 401, "{path}");
                challenges(&reply).into_iter().map(str::to_owned).collect::<Vec<_>>()
            };
            for mode in [None, Some("navigate")] {
                assert_eq!(challenged(mode).await, [API_KEY, BASIC], "{path} {mode:?}");
            }
            for mode in ["cors", "no-cors", "same-origin", "websocket", ""] {
                assert_eq!(challenged(Some(mode)).await, [API_KEY], "{path} {mode}");
            }
        }
    }
}

#[tokio::test]
async fn a_picture_on_another_site_spends_nobody_s_month_contract_15() {
    let app = TestApp::start().await;
    app.publish(&harvest()).await;
    let key = app.key(Plan::Free).await;
    const CHART: &str = "/v1/datasets/harvest/data?format=svg";
    let ask = async |authorization: &str, site: &str, destination: &str| {
        let request = with(app.get(CHART), authorization).header("sec-fetch-site", site);
        let request = match destination {
            "" => request,
            other => request.header("sec-fetch-dest", other),
        };
        request.send().await.outcome()
    };
    let remembered = basic(&key, "");
    let missing = (401, "key_missing".to_owned());
    for site in ["cross-site", "same-site"] {
        for destination in ["", "image", "iframe", "script", "empty"] {
            assert_eq!(ask(&remembered, site, destination).await, missing, "{site} {destination}");
        }
        assert_eq!(ask("Basic !", site, "image").await, missing, "{site}");
    }
    let used = async || app.get(ME).key(&key).send().await.json()["requests"]["used"].clone();
    assert_eq!(used().await, 0);
    // A person who follows a link, a page of ours, and whoever sets a header on purpose.
    let fine = (200, String::new());
    assert_eq!(ask(&remembered, "cross-site", "document").await, fine);
    assert_eq!(ask(&remembered, "same-origin", "image").await, fine);
    assert_eq!(ask(&remembered, "none", "document").await, fine);
    assert_eq!(ask(&format!("Bearer {key}"), "cross-site", "empty").await, fine);
    assert_eq!(used().await, 4);
}

#[tokio::test]
async fn answers_vary_by_authorization_where_they_vary_by_the_key_contract_15() {
    let (app, key, _) = service().await;
    let mut varying = 0;
    for route in routes() {
        let reply = app.get(&route.address).key(&key).send().await;
        let vary = reply.header("vary");
        let names = |name: &str| vary.split(',').any(|varied| varied.trim() == name);
        assert_eq!(names("Authorization"), names("X-API-Key"), "{}: {vary}", route.template);
        varying += usize::from(names("Authorization"));
    }
    assert!(varying >= 6, "{varying}");
}

#[tokio::test]
async fn scripts_on_other_pages_may_send_authorization_contract_15() {
    let (app, _, addresses) = service().await;
    for path in addresses.iter().filter(|path| path.starts_with("/v1/")) {
        let preflight = app
            .ask("OPTIONS", path)
            .header("origin", "https://page.example")
            .header("access-control-request-method", "GET")
            .header("access-control-request-headers", "authorization")
            .send()
            .await;
        assert_eq!(preflight.status, 200, "{path}");
        // `*` would not cover it (Fetch, CORS non-wildcard request-header name).
        let allowed = preflight.header("access-control-allow-headers");
        assert!(allowed.split(',').any(|name| name.trim() == "authorization"), "{allowed}");
    }
}
