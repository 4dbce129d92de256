//! Refusals of the host, which adapters write in their API's own form.

use serde_json::{Value, json};
use yearbook_sandbox::adapter::Document;
use yearbook_tests::app::{Reply, TestApp};

use super::{address, document, get, said, service, written};

/// The refusal of a body that is too long, whose text is what `refusal` says.
async fn too_long(app: &TestApp, refusal: Option<Value>) -> Reply {
    let parameters: Vec<(&str, Value)> =
        refusal.map(|said| ("refusal", said)).into_iter().collect();
    let long = Value::from("x".repeat(64 << 10));
    app.ask("POST", &address("", &parameters)).json_body(&long).send().await
}

fn with_status(status: u16) -> Option<Value> {
    let written: Document = document(status, "<error/>");
    Some(said(&written))
}

#[tokio::test]
async fn what_no_adapter_can_be_told_is_refused_as_on_v1_contract_17() {
    let app = service().await;
    let segments = format!("/api/scripted/request{}", "/x".repeat(32));
    let parameters = format!("/api/scripted/request?{}", "x&".repeat(257));
    for (path, status, code) in [
        ("/api/scripted/%FF", 400, "not_text"),
        ("/api/scripted/request?a=%FF", 400, "not_text"),
        ("/api/scripted/request?%FF", 400, "not_text"),
        (segments.as_str(), 414, "too_many_segments"),
        (parameters.as_str(), 414, "too_many_parameters"),
    ] {
        let reply = get(&app, path).await;
        assert_eq!(reply.outcome(), (status, code.to_owned()), "{path}");
        assert!(reply.json()["detail"].is_string(), "{path}");
    }
    for (path, least) in
        [(&segments[..segments.len() - 2], 200), (&parameters[..parameters.len() - 2], 200)]
    {
        assert_eq!(get(&app, path).await.status, least, "{path}");
    }
    let long = app.get("/api/scripted/request").header("x-scripted", &"x".repeat(1_025));
    assert_eq!(long.send().await.outcome(), (431, "header_too_long".to_owned()));
    let fits = app.get("/api/scripted/request").header("x-scripted", &"x".repeat(1_024));
    assert_eq!(fits.send().await.status, 200);
}

#[tokio::test]
async fn a_refusal_has_the_body_of_its_adapter_contract_17() {
    let app = service().await;
    let reply = too_long(&app, None).await;
    assert_eq!(reply.outcome(), (413, "body_too_long".to_owned()));
    let refusal = reply.json();
    assert_eq!(refusal["status"], 413);
    assert_eq!(refusal["code"], "body_too_long");
    let sentence = refusal["problems"][0]["sentence"].as_str().unwrap();
    assert!(sentence.starts_with("The body of the request is longer"), "{sentence}");
    assert_eq!(reply.header("cache-control"), "no-store");
    assert_eq!(reply.header("content-security-policy"), "sandbox; default-src 'none'");
    assert!(!reply.headers.contains_key("etag"));
}

#[tokio::test]
async fn an_adapter_chooses_the_status_of_a_refusal_within_its_class_contract_17() {
    let app = service().await;
    for (status, expected) in [(413, 413), (400, 400), (422, 422), (200, 200)] {
        let reply = too_long(&app, with_status(status)).await;
        assert_eq!(reply.outcome(), (expected, "body_too_long".to_owned()), "{status}");
        assert_eq!(reply.text(), "<error/>", "{status}");
    }
    // Another class is the adapter's failure.
    for status in [202, 303, 501] {
        let reply = too_long(&app, with_status(status)).await;
        assert_eq!(reply.outcome(), (413, "body_too_long".to_owned()), "{status}");
        assert!(reply.json()["detail"].is_string(), "{status}: {}", reply.text());
    }
    // What a client and its proxies act upon stays.
    let wrong = app.get(&address("", &[("refusal", with_status(400).unwrap())])).key("yb_nobody");
    let reply = wrong.send().await;
    assert_eq!(reply.outcome(), (401, "key_invalid".to_owned()));
    assert_eq!(reply.text(), "<error/>");
    assert!(reply.headers.contains_key("www-authenticate"));
}

#[tokio::test]
async fn a_refusal_that_its_adapter_cannot_write_has_the_body_of_v1_contract_17() {
    let app = service().await;
    let path = "/api/scripted/?refusal=trap";
    let long = Value::from("x".repeat(64 << 10));
    let reply = app.ask("POST", path).json_body(&long).send().await;
    assert_eq!(reply.outcome(), (413, "body_too_long".to_owned()));
    assert!(reply.json()["detail"].is_string(), "{}", reply.text());
    let fits = app.ask("POST", "/api/scripted/request").json_body(&json!(["x".repeat(1 << 15)]));
    assert_eq!(fits.send().await.status, 200);
}

#[tokio::test]
async fn a_method_that_its_adapter_does_not_take_is_405_in_its_own_form_contract_17() {
    let app = service().await;
    app.load("time-series");
    for method in ["POST", "PUT", "PATCH", "DELETE", "TRACE", "PURGE"] {
        let reply = app.ask(method, "/api/time-series/series").json_body(&json!({})).send().await;
        assert_eq!(reply.outcome(), (405, "method_not_allowed".to_owned()), "{method}");
        assert_eq!(reply.header("allow"), "GET, HEAD, OPTIONS");
        assert!(reply.header("content-type").contains("xml"), "{method}: {}", reply.text());
        assert!(reply.text().contains("use GET, HEAD or OPTIONS"), "{}", reply.text());
    }
    assert!(app.get("/api/time-series/series").send().await.text().contains("series_id"));
    let reply = app.ask("DELETE", "/api/scripted/request").send().await;
    assert_eq!(reply.outcome(), (405, "method_not_allowed".to_owned()));
    assert_eq!(reply.json()["status"], 405, "{}", reply.text());
    assert_eq!(reply.header("allow"), "GET, HEAD, POST, OPTIONS");
    // Where an adapter itself refuses to be read, reading is none of its methods.
    let reply = get(&app, &written(&document(405, "no"))).await;
    assert_eq!((reply.status.as_u16(), reply.header("allow").as_str()), (405, "POST, OPTIONS"));
    for (path, methods) in [
        ("/api/time-series/series", "GET, HEAD, OPTIONS"),
        ("/api/scripted/request", "GET, HEAD, POST, OPTIONS"),
    ] {
        let reply = app.ask("OPTIONS", path).send().await;
        assert_eq!(reply.header("allow"), methods, "{path}");
    }
}
