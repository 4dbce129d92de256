//! Versions of a time (contract-21-as-of): every route that reads rows of a dataset reads those
//! that were current then.

mod history;
mod versions;

use yearbook_domain::{Millis, Plan};
use yearbook_tests::app::{Reply, TestApp, TestTable, harvest};

const DATA: &str = "/v1/datasets/harvest/data";

/// Times of three publications.
const TIMES: [&str; 3] = ["2024-03-01T10:00:00Z", "2024-03-01T18:30:00Z", "2025-07-09T00:00:00Z"];

/// Rows of a version: seven days, on which its number is the value.
fn table(version: usize) -> TestTable {
    let row = |day: usize| format!("2024-01-0{day},Nelson,{version},true\n");
    let rows: String = (1..=7).map(row).collect();
    harvest().with_rows(&format!("date,region,value,final\n{rows}"))
}

async fn publish(app: &TestApp, version: usize) -> String {
    app.publish_at(&table(version), at(TIMES[version])).await
}

fn at(time: &str) -> Millis {
    Millis::parse_iso8601(time).unwrap()
}

/// A service with three versions, and their ids.
async fn service() -> (TestApp, String, [String; 3]) {
    let app = TestApp::start().await;
    let ids = [publish(&app, 0).await, publish(&app, 1).await, publish(&app, 2).await];
    let key = app.key(Plan::Enterprise).await;
    (app, key, ids)
}

async fn get(app: &TestApp, key: &str, path: &str) -> Reply {
    app.get(path).key(key).send().await
}

/// The value that each row of an answer has.
fn value(reply: &Reply) -> f64 {
    assert_eq!(reply.status, 200, "{}", reply.text());
    reply.json()[0]["value"].as_f64().unwrap()
}

/// Address of the next page.
fn next(reply: &Reply) -> String {
    let links = reply.headers.get_all("link").iter().map(|value| value.to_str().unwrap());
    let next = links.filter_map(|link| link.strip_suffix(">; rel=\"next\"")).next().unwrap();
    next.strip_prefix("<http://test.example").unwrap().to_owned()
}

async fn used(app: &TestApp, key: &str) -> u64 {
    let me = get(app, key, "/v1/me").await.json();
    me["requests"]["used"].as_u64().unwrap()
}
