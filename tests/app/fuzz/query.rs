//! Path and query of a request, through the whole service.

use std::fmt::Write;

use serde_json::Value;
use tokio::runtime::Runtime;
use yearbook_domain::Plan;
use yearbook_domain::query::{parse_data, parse_pairs};

use super::{FuzzSubject, FuzzTargetSpec};
use crate::app::{Reply, TestApp, harvest, parks};

const QUERY: FuzzTargetSpec = FuzzTargetSpec {
    name: "query",
    inputs: 1_500,
    words: &[
        "start=",
        "end=",
        "limit=",
        "dimensions=",
        "format=",
        "geometry=",
        "envelope=",
        "cursor=",
        "snapshot=",
        "columns=",
        "since=",
        "freshness=",
        "&",
        "=",
        "json",
        "csv",
        "arrow",
        "parquet",
        "harvest",
        "parks",
        "/data",
        "/changes",
        "/preview",
        "2020-01-01",
        "date,value",
        "true",
        "%2e%2e",
        "%C3%A9",
    ],
};

/// `bytes` as a client could write them into an address: what may not stand there is
/// percent-encoded.
pub(super) fn address(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes {
        match byte {
            b'a'..=b'z'
            | b'A'..=b'Z'
            | b'0'..=b'9'
            | b'-'
            | b'.'
            | b'_'
            | b'~'
            | b'/'
            | b'?'
            | b'&'
            | b'='
            | b'+'
            | b','
            | b'%' => text.push(char::from(*byte)),
            _ => write!(text, "%{byte:02X}").unwrap(),
        }
    }
    text
}

/// A service, and a key that may ask for everything.
pub struct QuerySubject {
    runtime: Runtime,
    app: TestApp,
    key: String,
}

impl FuzzSubject for QuerySubject {
    const TARGET: FuzzTargetSpec = QUERY;

    fn start() -> Self {
        let runtime = Runtime::new().unwrap();
        let (app, key) = runtime.block_on(async {
            let app = TestApp::start().await;
            app.publish(&harvest()).await;
            app.publish(&parks()).await;
            let key = app.key(Plan::Enterprise).await;
            (app, key)
        });
        Self { runtime, app, key }
    }

    fn check(&mut self, input: &[u8]) {
        let path = format!("/v1/datasets/{}", address(input));
        if path.parse::<http::Uri>().is_err() {
            return;
        }
        let raw = path.split_once('?').map_or("", |(_, raw)| raw);
        let _ = parse_data(&parse_pairs(raw), &["json", "csv"]);
        let reply = self.runtime.block_on(self.app.get(&path).key(&self.key).send());
        assert_valid_reply(&path, &reply);
    }
}

/// A right answer, or a refusal that says what is wrong.
fn assert_valid_reply(path: &str, reply: &Reply) {
    let status = reply.status.as_u16();
    assert!(
        matches!(status, 200 | 308 | 404 | 406 | 410 | 413 | 414 | 422),
        "{status} for {path}: {}",
        reply.text()
    );
    assert!(!reply.cut, "{path} is cut off");
    for (name, value) in &reply.headers {
        assert!(
            !value.as_bytes().iter().any(|byte| byte.is_ascii_control()),
            "{name}: {value:?} for {path}"
        );
    }
    if status == 422 {
        let detail = reply.json()["detail"].clone();
        let problems = detail
            .as_array()
            .filter(|problems| !problems.is_empty())
            .unwrap_or_else(|| panic!("{detail} for {path}"));
        for problem in problems {
            assert!(
                matches!(problem["loc"][0].as_str(), Some("query" | "path")),
                "{problem} for {path}"
            );
            assert!(
                problem["msg"].is_string() && problem["type"].is_string(),
                "{problem} for {path}"
            );
        }
    } else if status == 308 {
        let location = reply.header("location");
        assert!(
            location.starts_with("../")
                && !path.split('?').next().unwrap_or_default().ends_with("//"),
            "{location} for {path}"
        );
    } else if status != 200 {
        assert!(
            reply.json()["detail"].as_str().is_some_and(|sentence| !sentence.is_empty()),
            "{} for {path}",
            reply.text()
        );
    } else if reply.header("content-type") == "application/json" {
        assert!(matches!(reply.json(), Value::Array(_) | Value::Object(_)), "{path}");
    }
}
