//! Adapters at `/api/{name}` (`docs/spec/adapters.md`), by a guest that does what a request says.

mod as_of;
mod documents;
mod facts;
mod keys;
mod refusals;
mod rows;
mod wrapped;

use serde::Serialize;
use serde_json::{Value, json};
use yearbook_sandbox::adapter::{Document, Reply as Said};
use yearbook_sandbox::catalogue::Question;
use yearbook_tests::app::{Reply, TestApp};

/// A service that has the adapter.
async fn service() -> TestApp {
    let app = TestApp::start().await;
    app.load("scripted");
    app
}

/// Address of the adapter at `path` with these parameters, whose values are JSON.
fn address(path: &str, parameters: &[(&str, Value)]) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    for (name, value) in parameters {
        query.append_pair(name, &value.to_string());
    }
    format!("/api/scripted{path}?{}", query.finish())
}

fn said(value: &impl Serialize) -> Value {
    serde_json::to_value(value).unwrap()
}

/// A document of plain text.
fn document(status: u16, body: &str) -> Document {
    Document {
        status,
        media_type: "text/plain".to_owned(),
        language: None,
        location: None,
        links: Vec::new(),
        body: body.into(),
    }
}

/// Address that is answered with `document`.
fn written(document: &Document) -> String {
    address("", &[("replies", json!([said(&Said::Document(document.clone()))]))])
}

/// Address that asks `questions`, a list each call, and is answered with all facts.
fn asked(questions: &[Vec<Question>]) -> String {
    let replies: Vec<Value> =
        questions.iter().map(|asked| said(&Said::Ask(asked.clone()))).collect();
    address("/facts", &[("replies", Value::from(replies))])
}

async fn get(app: &TestApp, path: &str) -> Reply {
    app.get(path).send().await
}

#[tokio::test]
async fn a_request_reaches_its_adapter_decoded_once_contract_17() {
    let app = service().await;
    let reply = app
        .get("/api/scripted/request/a%2Fb/%2541/%C3%A9//?x=1+2&x=%2B%26&y&=z&")
        .header("accept", "application/json")
        .header("accept-language", "mi, en;q=0.5")
        .header("x-scripted", "one")
        .header("x-scripted", "two")
        .header("cookie", "secret=1")
        .header("user-agent", "secret/2")
        .send()
        .await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    assert_eq!(
        reply.json(),
        json!({
            "method": "Get",
            "base": "http://test.example/api/scripted",
            "path": ["request", "a/b", "%41", "é", ""],
            "query": [["x", "1 2"], ["x", "+&"], ["y", ""], ["", "z"]],
            "headers": [
                ["accept", "application/json"],
                ["accept-language", "mi, en;q=0.5"],
                ["x-scripted", "one, two"],
            ],
            "body": [],
        })
    );
    let posted = app.ask("POST", "/api/scripted/request").json_body(&json!({"a": 1})).send().await;
    assert_eq!(posted.status, 200, "{}", posted.text());
    let request = posted.json();
    assert_eq!(request["method"], "Post");
    assert_eq!(request["body"], said(&b"{\"a\":1}".to_vec()));
    assert_eq!(request["headers"], json!([["content-type", "application/json"]]));
}

#[tokio::test]
async fn lines_of_one_header_are_one_list_contract_17() {
    let app = service().await;
    let ask = async |languages: &[&str]| {
        let asked = app.get("/api/scripted/request").header("accept", "text/csv");
        let asked = asked.header("accept", "application/json;q=0.5");
        let asked =
            languages.iter().fold(asked, |asked, line| asked.header("accept-language", line));
        asked.send().await
    };
    let reply = ask(&["mi", "en;q=0.5"]).await;
    assert_eq!(
        reply.json()["headers"],
        json!([
            ["accept", "text/csv, application/json;q=0.5"],
            ["accept-language", "mi, en;q=0.5"]
        ])
    );
    // The answer in memory is that of all lines.
    let other = ask(&["mi", "de;q=0.5"]).await;
    assert_eq!(other.json()["headers"][1], json!(["accept-language", "mi, de;q=0.5"]));
    let long = "x".repeat(600);
    let long = long.as_str();
    assert_eq!(ask(&[long, long]).await.outcome(), (431, "header_too_long".to_owned()));
}

#[tokio::test]
async fn an_adapter_is_mounted_while_it_is_loaded_contract_17() {
    let app = TestApp::start().await;
    for path in ["/api/scripted", "/api/scripted/", "/api/scripted/request"] {
        let reply = get(&app, path).await;
        assert_eq!(reply.outcome(), (404, "no_such_adapter".to_owned()), "{path}");
    }
    app.load("scripted");
    for path in ["/api/scripted", "/api/scripted/", "/api/scripted/request"] {
        assert_eq!(get(&app, path).await.status, 200, "{path}");
    }
    for path in ["/api", "/api/", "/api/other/request", "/api/Scripted", "/api/scripted2"] {
        assert_eq!(get(&app, path).await.status, 404, "{path}");
    }
    let put = app.ask("PUT", "/api/scripted/request").send().await;
    assert_eq!(put.outcome(), (405, "method_not_allowed".to_owned()));
    assert_eq!(put.header("allow"), "GET, HEAD, POST, OPTIONS");
    let unknown = app.ask("PUT", "/api/other/request").send().await;
    assert_eq!(unknown.status, 404);
}

#[tokio::test]
async fn scripts_of_other_pages_may_post_and_send_what_is_declared_contract_17() {
    let app = service().await;
    let preflight = async |path: &str| {
        let asked = app.ask("OPTIONS", path).header("origin", "https://other.example");
        let asked = asked.header("access-control-request-method", "POST");
        asked.header("access-control-request-headers", "x-scripted").send().await
    };
    let allowed = |reply: &Reply| {
        let mut lines = reply.headers.get_all("access-control-allow-headers").iter();
        lines.any(|line| line.to_str().unwrap().contains("x-scripted"))
    };
    let reply = preflight("/api/scripted/request").await;
    assert!(reply.status.is_success() && allowed(&reply), "{reply:?}");
    assert!(reply.header("access-control-allow-methods").contains("POST"));
    for other in ["/v1/datasets", "/api/other"] {
        assert!(!allowed(&preflight(other).await), "{other}");
    }
}

#[tokio::test]
async fn a_request_has_four_calls_and_64_questions_contract_17() {
    let app = service().await;
    let one = vec![Question::Formats];
    let three = get(&app, &asked(&vec![one.clone(); 3])).await;
    assert_eq!(three.status, 200, "{}", three.text());
    assert_eq!(three.json().as_array().unwrap().len(), 3);
    let four = get(&app, &asked(&vec![one; 4])).await;
    assert_eq!(four.outcome(), (500, "internal".to_owned()));
    // The body is that of `/v1`.
    assert!(four.json()["detail"].is_string(), "{}", four.text());

    let many = get(&app, &asked(&[vec![Question::Formats; 40], vec![Question::Formats; 30]])).await;
    assert_eq!(many.status, 200, "{}", many.text());
    let facts = many.json();
    let facts = facts.as_array().unwrap();
    let refused: Vec<bool> = facts.iter().map(|fact| fact.get("Refused").is_some()).collect();
    assert_eq!(refused.iter().position(|refused| *refused), Some(64));
    assert!(refused[64..].iter().all(|refused| *refused) && refused.len() == 70);
    assert_eq!(facts[64]["Refused"]["status"], 413);
}

#[tokio::test]
async fn a_failure_of_an_adapter_has_the_body_of_v1_and_counts_contract_17() {
    let app = service().await;
    let failures = || app.metric("yearbook_plugin_traps_total{name=\"scripted\"}");
    let before = failures().await.unwrap_or_default();
    let reply = get(&app, "/api/scripted/trap").await;
    assert_eq!(reply.outcome(), (500, "internal".to_owned()));
    assert!(reply.json()["detail"].is_string(), "{}", reply.text());
    assert_eq!(failures().await.unwrap_or_default() - before, 1.0);
    let head = app.head("/api/scripted/trap").send().await;
    assert_eq!((head.status.as_u16(), head.body.len()), (500, 0));
}
