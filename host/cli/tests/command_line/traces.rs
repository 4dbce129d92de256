//! Traces as a collector gets them, and collectors that are not there. Needs the built-in plugins
//! (`cargo xtask plugins`).

#[path = "traces/collector.rs"]
mod collector;

use std::net::TcpListener;
use std::time::{Duration, Instant};
use yearbook_domain::hex::encode_hex;

use opentelemetry_proto::tonic::trace::v1::Span;

use self::collector::{CollectedSpans, TestCollector, attributes};
use crate::binary::Yearbook;
use crate::served::CliServer;

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const PARENT: &str = "b7ad6b7169203331";

#[track_caller]
fn only<'a>(seen: &'a CollectedSpans, name: &str) -> &'a Span {
    let names: Vec<_> = seen.spans.iter().map(|span| &span.name).collect();
    let mut found = seen.spans.iter().filter(|span| span.name == name);
    found
        .next()
        .filter(|_| found.next().is_none())
        .unwrap_or_else(|| panic!("one {name} in {names:?}"))
}

/// Spans of one request of rows to a server that trusts `trusted`, and its key.
fn traced(trusted: &str) -> (CollectedSpans, String) {
    let collector = TestCollector::start();
    let served = CliServer::start(&[
        ("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url),
        ("OTEL_EXPORTER_OTLP_HEADERS", "x-tenant=statistics"),
        ("YEARBOOK_SERVER__TRUSTED_PROXIES", trusted),
    ]);
    let parent = format!("traceparent: 00-{TRACE}-{PARENT}-01");
    let answer = served.get(
        "/v1/datasets/tiny/data?dimensions=secretword",
        &[&parent, "X-Forwarded-For: 203.0.113.77"],
    );
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let key = served.key.clone();
    let line = format!("Authorization: Bearer {key}");
    let me = format!("GET /v1/me HTTP/1.1\r\nHost: x\r\n{line}\r\nConnection: close\r\n\r\n");
    assert!(served.raw(me.as_bytes()).starts_with("HTTP/1.1 200"), "{line}");
    // What is left is sent when the server stops.
    served.stop();
    (collector.spans(), key)
}

#[test]
fn a_request_is_a_span_with_plan_scan_and_plugin_below_it() {
    let (seen, key) = traced("127.0.0.0/8");
    let request = only(&seen, "GET /v1/datasets/{name}/data");
    assert_eq!(
        (encode_hex(&request.trace_id), encode_hex(&request.parent_span_id)),
        (TRACE.to_owned(), PARENT.to_owned()),
        "a trusted proxy's trace"
    );
    assert_eq!(request.kind, 2, "a server's");
    let said = attributes(&request.attributes);
    for (name, value) in [
        ("http.request.method", "GET"),
        ("http.route", "/v1/datasets/{name}/data"),
        ("url.path", "/v1/datasets/tiny/data"),
        ("http.response.status_code", "200"),
        ("yearbook.plan", "pro"),
        ("yearbook.format", "json"),
    ] {
        assert_eq!(said.get(name).map(String::as_str), Some(value), "{said:#?}");
    }
    for name in ["plan", "scan", "plugin"] {
        let span = only(&seen, name);
        assert_eq!(encode_hex(&span.trace_id), TRACE, "{name}");
        assert_eq!(encode_hex(&span.parent_span_id), encode_hex(&request.span_id), "{name}");
        assert!(
            span.start_time_unix_nano >= request.start_time_unix_nano
                && span.end_time_unix_nano >= span.start_time_unix_nano,
            "{name}"
        );
    }
    let plugin = attributes(&only(&seen, "plugin").attributes);
    assert_eq!(
        (plugin["kind"].as_str(), plugin["name"].as_str(), plugin["outcome"].as_str()),
        ("encoder", "json", "completed")
    );
    assert!(plugin["digest"].len() == 64 && !plugin["version"].is_empty(), "{plugin:?}");
    assert_eq!(attributes(&only(&seen, "plan").attributes)["dataset"], "tiny");

    assert_eq!(seen.service["service.name"], "yearbook");
    assert!(
        seen.heads[0].starts_with("POST /v1/traces HTTP/1.1\r\n")
            && seen.heads[0].contains("x-tenant: statistics"),
        "{}",
        seen.heads[0]
    );
    only(&seen, "GET /v1/me");
    let everything = format!("{:?}{:?}", seen.spans, seen.service);
    for secret in [&key, "127.0.0.1", "203.0.113.77", "secretword"] {
        assert!(!everything.contains(secret), "{secret} in {everything}");
    }
}

#[test]
fn the_token_of_a_link_is_in_no_span_contract_15() {
    let collector = TestCollector::start();
    let served = CliServer::start(&[("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url)]);
    let made = served.get("/v1/datasets/tiny/link?format=csv", &[]);
    let token = made.split("/l/").nth(1).unwrap().split(".csv").next().unwrap().to_owned();
    for (path, status) in [(format!("/l/{token}.csv"), 200), (format!("/proxied/l/{token}"), 404)] {
        assert!(served.get(&path, &[]).starts_with(&format!("HTTP/1.1 {status}")), "{path}");
    }
    served.stop();
    let seen = collector.spans();
    let read = attributes(&only(&seen, "GET /l/{file}").attributes);
    assert_eq!((&*read["url.path"], &*read["http.route"]), ("/l/", "/l/{file}"));
    let everything = format!("{:?}{:?}", seen.spans, seen.service);
    assert!(everything.contains("/proxied/l/") && !everything.contains(&token[..20]));
}

#[test]
fn a_stranger_s_trace_is_not_taken_over() {
    let (seen, _) = traced("10.0.0.0/8");
    let request = only(&seen, "GET /v1/datasets/{name}/data");
    assert_ne!(encode_hex(&request.trace_id), TRACE);
    assert!(request.parent_span_id.is_empty(), "{request:?}");
    assert_eq!(encode_hex(&only(&seen, "plugin").trace_id), encode_hex(&request.trace_id));
}

#[test]
fn nothing_is_sampled_where_the_sampler_says_so() {
    let collector = TestCollector::start();
    let served = CliServer::start(&[
        ("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url),
        ("OTEL_TRACES_SAMPLER", "always_off"),
    ]);
    assert!(served.get("/v1/datasets/tiny/data", &[]).starts_with("HTTP/1.1 200"));
    served.stop();
    assert_eq!(collector.spans().spans.len(), 0);
}

#[test]
fn a_collector_that_is_not_there_or_never_answers_slows_nobody() {
    let hanging = TcpListener::bind("127.0.0.1:0").unwrap();
    let hangs = format!("http://{}", hanging.local_addr().unwrap());
    let closed = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}", listener.local_addr().unwrap())
    };
    for url in [hangs, closed] {
        let variables = [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", url.as_str()),
            // A queue that is full at once, and batches all the time.
            ("OTEL_BSP_MAX_QUEUE_SIZE", "8"),
            ("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "2"),
            ("OTEL_BSP_SCHEDULE_DELAY", "10"),
            ("YEARBOOK_LIMITS__BURST_PER_SECOND", "0"),
        ];
        let served = CliServer::start(&variables);
        for _ in 0..100 {
            let begun = Instant::now();
            assert!(served.get("/v1/datasets/tiny/data", &[]).starts_with("HTTP/1.1 200"));
            // The collector is given five seconds; nobody may wait for a part of that.
            assert!(begun.elapsed() < Duration::from_secs(2), "{url}: {:?}", begun.elapsed());
        }
        let begun = Instant::now();
        let log = served.stop();
        assert!(
            begun.elapsed() < Duration::from_secs(10),
            "{url}: stopping took {:?}",
            begun.elapsed()
        );
        assert!(
            log.contains("the last traces were not taken by the collector")
                || log.contains("BatchSpanProcessor"),
            "{url}: {log}"
        );
    }
}

#[test]
fn a_collector_s_address_is_plain_http() {
    for (url, advice) in [
        ("https://collector.example.org", "wants TLS"),
        ("collector:4318", "must be like http://127.0.0.1:4318"),
    ] {
        let said =
            Yearbook::new().run_with(&[("OTEL_EXPORTER_OTLP_ENDPOINT", url)], &["serve"]).failed(1);
        assert!(said.contains("log.otlp_endpoint") && said.contains(advice), "{said}");
    }
}

#[test]
fn every_line_of_a_json_log_has_the_request_s_id_with_traces_or_without() {
    let collector = TestCollector::start();
    for endpoint in ["", collector.url.as_str()] {
        let variables = [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint),
            ("YEARBOOK_LOG__FORMAT", "json"),
            ("YEARBOOK_LOG__LEVEL", "info,yearbook_http=debug,yearbook_sandbox=debug"),
        ];
        let served = CliServer::start(&variables);
        assert!(
            served
                .get("/v1/datasets/tiny/data", &["X-Request-Id: asked-by-a-test"])
                .starts_with("HTTP/1.1 200")
        );
        let log = served.stop();
        let lines: Vec<serde_json::Value> = log
            .lines()
            .map(|line| {
                serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))
            })
            .collect();
        for message in ["answered", "the plugin's response ended"] {
            let line = lines
                .iter()
                .find(|line| line["message"] == message)
                .unwrap_or_else(|| panic!("no {message:?} in {log}"));
            let spans = line["spans"].as_array().unwrap();
            assert!(
                spans
                    .iter()
                    .any(|span| span["name"] == "request" && span["id"] == "asked-by-a-test"),
                "{line}"
            );
        }
    }
}
