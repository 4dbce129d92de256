//! `/metrics`: its series, their sums, and a bound on their number that no client moves.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use futures::StreamExt;
use yearbook_catalog::FailedCheck;
use yearbook_domain::{CheckOutcome, DatasetName, FailureCause, Millis, Plan};
use yearbook_exposition::{MetricSample, parse_samples};
use yearbook_tests::app::{TestApp, TestRequest, big, parks};
use yearbook_tests::components::root;

/// Every sample; each line that is no comment has to be one.
fn samples(text: &str) -> Vec<MetricSample> {
    let samples = parse_samples(text);
    assert_eq!(samples.len(), text.lines().filter(|line| !line.starts_with('#')).count(), "{text}");
    samples
}

/// Sum of the samples of `name` whose labels contain all of `labels`; 0 where there are none.
async fn sum(app: &TestApp, name: &str, labels: &[&str]) -> f64 {
    app.metric(&format!("{name}{{{}}}", labels.join(","))).await.unwrap_or(0.0)
}

const DATA: &str = "route=\"/v1/datasets/{name}/data\"";

#[tokio::test]
async fn requests_are_counted_by_route_method_status_format_and_plan_issue_6_7() {
    let app = TestApp::start().await;
    app.publish(&parks()).await;
    let key = app.key(Plan::Free).await;
    let bytes = app.get("/v1/datasets/parks/data?format=csv").key(&key).send().await.body.len();
    app.head("/v1/datasets/parks/data").key(&key).send().await;
    app.get("/v1/datasets/nothing/data").key(&key).send().await;
    app.get("/v1/datasets/parks/data").send().await;
    let requests = async |labels: &[&str]| sum(&app, "yearbook_http_requests_total", labels).await;
    assert_eq!(
        requests(&[DATA, "method=\"GET\"", "status=\"200\"", "format=\"csv\"", "plan=\"free\""])
            .await,
        1.0
    );
    assert_eq!(
        requests(&[DATA, "method=\"HEAD\"", "status=\"200\"", "format=\"json\"", "plan=\"free\""])
            .await,
        1.0
    );
    assert_eq!(requests(&[DATA, "status=\"404\"", "format=\"json\"", "plan=\"free\""]).await, 1.0);
    assert_eq!(requests(&[DATA, "status=\"401\"", "format=\"none\"", "plan=\"none\""]).await, 1.0);
    assert_eq!(requests(&[]).await, 4.0, "the admin listener counts nothing of its own");
    assert!(sum(&app, "yearbook_http_response_bytes_total", &[DATA]).await >= bytes as f64);
    for histogram in ["yearbook_http_first_byte_seconds", "yearbook_http_request_duration_seconds"]
    {
        assert_eq!(sum(&app, &format!("{histogram}_count"), &[DATA]).await, 4.0);
        assert_eq!(sum(&app, &format!("{histogram}_bucket"), &[DATA, "le=\"+Inf\""]).await, 4.0);
        assert!(sum(&app, &format!("{histogram}_sum"), &[DATA]).await > 0.0);
    }
    assert_eq!(sum(&app, "yearbook_http_requests_in_flight", &[]).await, 0.0);
    assert_eq!(
        sum(
            &app,
            "yearbook_plugin_responses_total",
            &["kind=\"encoder\",name=\"csv\"", "outcome=\"completed\""]
        )
        .await,
        1.0
    );
    assert_eq!(sum(&app, "yearbook_plugin_rows_total", &["name=\"csv\""]).await, 3.0);
}

#[tokio::test]
async fn no_client_can_make_a_series_of_its_own() {
    let app = TestApp::start().await;
    app.publish(&parks()).await;
    let key = app.key(Plan::Free).await;
    let ask = async |number: u32| {
        let data = format!("/v1/datasets/parks{number}/data?format=f{number}");
        app.get(&data).key(&key).send().await;
        app.get(&format!("/v1/datasets/x{number}")).key(&key).send().await;
        app.get(&format!("/no/such/{number}")).send().await;
        app.ask(&format!("M{number}"), "/v1/datasets").send().await;
        app.get("/health")
            .header("x-request-id", &format!("r{number}"))
            .header("accept", &format!("a/b{number}"))
            .send()
            .await;
    };
    ask(1).await;
    let before = samples(&app.metrics().await);
    for number in 2..40 {
        ask(number).await;
    }
    let after = samples(&app.metrics().await);
    assert_eq!(
        after.len(),
        before.len(),
        "{:?}",
        after
            .iter()
            .map(|sample| (&sample.name, &sample.labels))
            .filter(|new| !before.iter().any(|sample| (&sample.name, &sample.labels) == *new))
            .collect::<Vec<_>>()
    );
    assert_eq!(
        sum(&app, "yearbook_http_requests_total", &["route=\"unmatched\"", "status=\"404\""]).await,
        39.0
    );
    assert_eq!(
        sum(&app, "yearbook_http_requests_total", &["method=\"other\"", "status=\"405\""]).await,
        39.0
    );
}

#[tokio::test]
async fn a_response_that_ends_early_is_counted_as_aborted_and_leaves_nothing_in_flight() {
    let app = TestApp::start().await;
    app.publish(&big(90_000)).await;
    let key = app.key(Plan::Enterprise).await;
    let path = "/v1/datasets/big/data?limit=0&format=csv";
    let whole = app.get(path).key(&key).send().await.body.len();
    let mut body = app.get(path).key(&key).begin().await.into_body().into_data_stream();
    let some = body.next().await.unwrap().unwrap().len();
    assert_eq!(sum(&app, "yearbook_http_requests_in_flight", &[]).await, 1.0);
    drop(body);
    assert_eq!(sum(&app, "yearbook_http_requests_in_flight", &[]).await, 0.0);
    assert_eq!(sum(&app, "yearbook_http_aborted_total", &[DATA]).await, 1.0);
    assert_eq!(
        sum(&app, "yearbook_http_response_bytes_total", &[DATA]).await,
        (whole + some) as f64
    );
    for _ in 0..500 {
        if sum(&app, "yearbook_plugin_responses_total", &["outcome=\"abandoned\""]).await == 1.0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the plugin's response was not given up");
}

#[tokio::test]
async fn metrics_are_on_the_admin_listener_alone_contract_6() {
    let app = TestApp::start().await;
    assert_eq!(app.get("/metrics").send().await.status, 404);
    let admin = |path: &str| TestRequest::to(app.admin.clone(), "GET", path);
    let classic = admin("/metrics").send().await;
    assert_eq!(
        (classic.status.as_u16(), classic.header("content-type")),
        (200, "text/plain; version=0.0.4; charset=utf-8".to_owned())
    );
    let open = admin("/metrics")
        .header("accept", "application/openmetrics-text;version=1.0.0,text/plain;q=0.5")
        .send()
        .await;
    assert_eq!(
        open.header("content-type"),
        "application/openmetrics-text; version=1.0.0; charset=utf-8"
    );
    assert!(open.text().ends_with("# EOF\n") && !classic.text().contains("# EOF"));
    assert_eq!(admin("/health").send().await.json()["status"], "ok");
    assert_eq!(admin("/health/full").send().await.json()["status"], "ok");
    assert_eq!(admin("/v1/datasets").send().await.outcome(), (404, "no_such_route".to_owned()));
    assert_eq!(TestRequest::to(app.admin.clone(), "POST", "/metrics").send().await.status, 405);
}

/// Names of families as the older format prints them, with their kinds.
fn families(text: &str) -> BTreeMap<String, String> {
    let kind = |line: &str| {
        line.strip_prefix("# TYPE ")?
            .split_once(' ')
            .map(|(name, kind)| (name.to_owned(), kind.to_owned()))
    };
    text.lines().filter_map(kind).collect()
}

/// A service that has done something of everything.
async fn busy() -> TestApp {
    let app = TestApp::start().await;
    app.publish(&parks()).await;
    let key = app.key(Plan::Free).await;
    assert_eq!(app.get("/v1/datasets/parks/data").key(&key).send().await.status, 200);
    record_failed_check(&app, &DatasetName::parse("parks").unwrap()).await;
    app
}

/// A source of the dataset did not answer when it was refreshed, 1,900,000,000.5 s after 1970.
async fn record_failed_check(app: &TestApp, dataset: &DatasetName) {
    let failure = FailedCheck { cause: FailureCause::Timeout, reason: "no answer".to_owned() };
    let at = Some(Millis(1_900_000_000_500));
    app.store.record_failed_check(dataset, &failure, at).await.unwrap();
    app.catalog_cache.refresh().await.unwrap();
}

#[tokio::test]
async fn the_page_for_operators_lists_the_metrics_there_are_and_no_others_issue_6_7() {
    let page = std::fs::read_to_string(root().join("docs/operations.md")).unwrap();
    let row = |line: &str| {
        let mut cells = line.strip_prefix("| `")?.split(" | ");
        Some((cells.next()?.trim_end_matches('`').to_owned(), cells.next()?.to_owned()))
    };
    let listed: BTreeMap<String, String> =
        page.lines().filter_map(row).filter(|(name, _)| name.contains("_")).collect();
    assert_eq!(listed, families(&busy().await.metrics().await));
}

#[tokio::test]
async fn every_query_of_the_dashboard_asks_for_a_metric_that_exists_issue_6_7() {
    let text = std::fs::read_to_string(root().join("docs/grafana/yearbook.json")).unwrap();
    let dashboard: serde_json::Value = serde_json::from_str(&text).unwrap();
    let metrics = busy().await.metrics().await;
    let exist: BTreeSet<String> = samples(&metrics).into_iter().map(|sample| sample.name).collect();
    let panels: Vec<_> = dashboard["panels"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|panel| panel["type"] != "row")
        .collect();
    let queries: Vec<&str> = panels
        .iter()
        .flat_map(|panel| panel["targets"].as_array().unwrap())
        .map(|target| target["expr"].as_str().unwrap())
        .collect();
    assert!(queries.len() >= panels.len() && panels.len() > 10);
    for query in queries {
        let words = query.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let asked: Vec<&str> = words
            .filter(|word| word.starts_with("yearbook_") || word.starts_with("process_"))
            .collect();
        assert!(!asked.is_empty(), "{query}");
        for name in asked {
            assert!(exist.contains(name), "{name} in {query}");
        }
    }
}

#[tokio::test]
async fn the_last_checks_of_sources_are_metrics_contract_8() {
    let app = TestApp::start().await;
    app.publish(&parks()).await;
    assert_eq!(app.metric("yearbook_refresh_sources").await, None, "nothing was ever refreshed");
    let parks = DatasetName::parse("parks").unwrap();
    record_failed_check(&app, &parks).await;
    let failed = "yearbook_refresh_failed_timestamp_seconds{dataset=\"parks\",cause=\"timeout\"}";
    assert_eq!(app.metric(failed).await, Some(1_900_000_000.5));
    let sources = async |outcome: &str| {
        app.metric(&format!("yearbook_refresh_sources{{outcome=\"{outcome}\"}}")).await
    };
    assert_eq!((sources("failed").await, sources("unchanged").await), (Some(1.0), Some(0.0)));
    let snapshot = app.store.current_snapshot(&parks).await.unwrap().unwrap().id;
    let outcome = CheckOutcome::Unchanged;
    assert!(app.store.record_good_check(&parks, outcome, &snapshot, None, None).await.unwrap());
    app.catalog_cache.refresh().await.unwrap();
    assert_eq!((sources("failed").await, sources("unchanged").await), (Some(0.0), Some(1.0)));
    assert_eq!(app.metric(failed).await, None);
}
