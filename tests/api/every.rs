//! Rules of every route, new ones included: its prefix, its methods, its keys.

use http::Method;
use serde_json::Value;
use yearbook_catalog::key;
use yearbook_domain::Plan;
use yearbook_tests::app::{TestApp, harvest};

use super::router::{keyed, routes};

async fn with_harvest() -> TestApp {
    let app = TestApp::start().await;
    app.publish(&harvest()).await;
    app
}

#[tokio::test]
async fn whatever_wants_a_key_stands_below_v1_and_nowhere_else_spec_9_1() {
    let app = with_harvest().await;
    let key = app.key(Plan::Enterprise).await;
    for path in keyed() {
        let rest = path.strip_prefix("/v1").unwrap_or_else(|| panic!("{path} is not below /v1"));
        assert_eq!(app.get(&path).key(&key).send().await.status, 200, "{path}");
        for elsewhere in
            [rest.to_owned(), format!("/v2{rest}"), format!("/V1{rest}"), format!("/api{path}")]
        {
            let reply = app.get(&elsewhere).key(&key).send().await;
            let (status, code) = reply.outcome();
            let nothing = ["no_such_route", "no_such_adapter"].contains(&code.as_str());
            // Pages for people may have such an address; data has not.
            assert!(
                (status == 404 && nothing) || reply.header("content-type").contains("html"),
                "{elsewhere}"
            );
        }
    }
    let description = app.get("/openapi.json").send().await.json();
    for (path, item) in description["paths"].as_object().unwrap() {
        let wants_key =
            item["get"]["security"].as_array().is_some_and(|schemes| !schemes.is_empty());
        assert!(
            !wants_key || path.starts_with("/v1/"),
            "{path} is described with a key and is not below /v1"
        );
    }
}

#[tokio::test]
async fn every_route_refuses_other_methods_with_those_that_it_has_contract_2() {
    let app = with_harvest().await;
    let key = app.key(Plan::Enterprise).await;
    let others = [
        Method::POST,
        Method::PUT,
        Method::PATCH,
        Method::DELETE,
        Method::TRACE,
        Method::from_bytes(b"PURGE").unwrap(),
    ];
    for route in routes().into_iter().filter(|route| route.read_only) {
        for method in &others {
            let path = &route.address;
            for reply in [
                app.ask(method.as_str(), path).send().await,
                app.ask(method.as_str(), path).key(&key).send().await,
            ] {
                assert_eq!(
                    reply.outcome(),
                    (405, "method_not_allowed".to_owned()),
                    "{method} {path}"
                );
                assert_eq!(reply.header("allow"), "GET, HEAD, OPTIONS", "{method} {path}");
                let body = reply.json();
                let members: Vec<(&String, bool)> = body
                    .as_object()
                    .unwrap()
                    .iter()
                    .map(|(name, value)| (name, value.is_string()))
                    .collect();
                assert_eq!(members, [(&"detail".to_owned(), true)], "{method} {path}");
            }
        }
    }
    assert_eq!(
        app.get("/v1/me").key(&key).send().await.json()["requests"]["used"],
        0,
        "none of it is charged"
    );
}

#[tokio::test]
async fn every_route_that_answers_get_answers_head_contract_3() {
    let app = with_harvest().await;
    let key = app.key(Plan::Enterprise).await;
    for route in routes() {
        let path = &route.address;
        let (get, head) =
            (app.get(path).key(&key).send().await, app.head(path).key(&key).send().await);
        assert_eq!((get.status.as_u16(), get.body.is_empty()), (200, false), "{path}");
        assert_eq!((head.status.as_u16(), head.body.len()), (200, 0), "{path}");
        assert_eq!(head.header("content-type"), get.header("content-type"), "{path}");
        // A route with a key has the same refusal for both.
        if route.keyed {
            let (get, head) = (app.get(path).send().await, app.head(path).send().await);
            assert_eq!(
                (get.outcome(), head.outcome(), head.body.len()),
                ((401, "key_missing".to_owned()), get.outcome(), 0),
                "{path}"
            );
        }
    }
}

#[tokio::test]
async fn a_well_formed_key_that_was_never_issued_is_401_on_every_route_spec_5_3() {
    let app = with_harvest().await;
    let issued = app.key(Plan::Enterprise).await;
    let (never, _) = key::issue().unwrap();
    // Its checksum is right: only the catalog can tell.
    assert!(key::parse(never.expose()).is_some());
    for path in keyed() {
        for method in ["GET", "HEAD"] {
            let reply = app.ask(method, &path).key(never.expose()).send().await;
            assert_eq!(reply.outcome(), (401, "key_invalid".to_owned()), "{method} {path}");
            assert!(reply.header("www-authenticate").starts_with("ApiKey"), "{method} {path}");
            let body = if method == "GET" { reply.json() } else { Value::Null };
            assert!(!body.to_string().contains(never.expose()), "{body}");
        }
        assert_eq!(app.get(&path).key(&issued).send().await.status, 200, "{path}");
    }
}
