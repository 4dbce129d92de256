//! A client among liars: each test is a way in which a source is not what it should be.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{Read, Seek, Write};
use std::num::{NonZeroU64, NonZeroUsize};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant as WallInstant;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest as _, Sha256};

use super::*;
use crate::test_server::{Step, TestServer, whole};

const HOST: &str = "127.0.0.1";

const MAX_BYTES: u64 = 1 << 20;

fn client_with(timeout_seconds: u64) -> SourceClient {
    let settings = RefreshSettings {
        max_bytes: NonZeroU64::new(MAX_BYTES).unwrap(),
        timeout_seconds: NonZeroU64::new(timeout_seconds).unwrap(),
        allow_private: true,
        ..RefreshSettings::default()
    };
    SourceClient::new(&settings).unwrap().with_back_off(Duration::from_millis(10))
}

fn client() -> SourceClient {
    client_with(20)
}

async fn ask(client: &SourceClient, url: &str) -> Result<FetchedAnswer, CheckFailure> {
    client.fetch(url, &RequestConditions::default(), &|_| {}).await
}

fn text(answer: FetchedAnswer) -> String {
    let FetchedAnswer::Body { mut download, .. } = answer else { panic!("no body") };
    let mut text = String::new();
    download.file.rewind().unwrap();
    download.file.read_to_string(&mut text).unwrap();
    assert_eq!(download.content, yearbook_domain::Digest::compute(text.as_bytes()));
    text
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Asks a server that always answers so, and returns the failure with the number of requests.
async fn failure_of(answer: Vec<Step>) -> (CheckFailure, usize) {
    let server = TestServer::start(HOST, move |_| answer.clone()).await;
    let failure = ask(&client_with(3), &server.url("/data.csv")).await.unwrap_err();
    (failure, server.seen().len())
}

#[tokio::test]
async fn a_kept_answer_is_asked_about_by_both_its_validators_contract_8() {
    let date = "Mon, 23 Nov 2026 00:00:00 GMT";
    for tag in ["\"v1\"", "W/\"v1\""] {
        let server = TestServer::start(HOST, move |request| {
            if request.header("if-none-match") == Some(tag)
                && request.header("if-modified-since") == Some(date)
            {
                return vec![Step::Send(b"HTTP/1.1 304 Not Modified\r\n\r\n".to_vec())];
            }
            whole("200 OK", &format!("ETag: {tag}\r\nLast-Modified: {date}\r\n"), "a,b\n")
        })
        .await;
        let client = client();
        let received = AtomicU64::new(0);
        let nothing = RequestConditions::default();
        let listener = |bytes| received.store(bytes, Ordering::Relaxed);
        let first = client.fetch(&server.url("/"), &nothing, &listener).await.unwrap();
        assert_eq!(received.load(Ordering::Relaxed), 4);
        let FetchedAnswer::Body { validators, .. } = &first else { panic!("no body") };
        let validators = validators.clone();
        assert_eq!(validators.etag.as_deref(), Some(tag));
        assert_eq!(validators.last_modified.as_deref(), Some(date));
        assert_eq!(text(first), "a,b\n");
        let again = client.fetch(&server.url("/"), &validators, &|_| {}).await.unwrap();
        assert!(matches!(again, FetchedAnswer::NotModified));
        let seen = server.seen();
        assert_eq!((seen.len(), seen[0].header("if-none-match")), (2, None));
        assert!(seen[0].header("user-agent").unwrap().starts_with("yearbook/"));
    }
}

#[tokio::test]
async fn a_304_that_nobody_asked_for_is_not_believed_contract_8() {
    let (failure, requests) =
        failure_of(vec![Step::Send(b"HTTP/1.1 304 Not Modified\r\n\r\n".to_vec())]).await;
    assert_eq!((failure.cause, requests), (FailureCause::Answer, 1), "{failure:?}");
}

#[tokio::test]
async fn a_connection_that_breaks_is_tried_three_times_contract_8() {
    let cut = |_: &_| {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\ndate,value\n";
        vec![Step::Send(head.as_bytes().to_vec())]
    };
    // The third attempt is good.
    let server = TestServer::start(HOST, move |request| {
        if request.number < 2 { cut(request) } else { whole("200 OK", "", "whole\n") }
    })
    .await;
    assert_eq!(text(ask(&client(), &server.url("/")).await.unwrap()), "whole\n");
    assert_eq!(server.seen().len(), 3);
    // None is.
    for answer in [
        "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\ndate,value\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\ndate,\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\ndate,\r\n",
        "HTTP/1.1 200 OK\r\nContent-Le",
        "",
        "220 mail.example.org ESMTP\r\n\r\n",
    ] {
        let (failure, requests) = failure_of(vec![Step::Send(answer.into())]).await;
        assert_eq!((failure.cause, requests), (FailureCause::Connection, 3), "{failure:?}");
        assert!(failure.reason.ends_with("; 3 attempts were made"), "{failure:?}");
    }
    let port = {
        let gone = TestServer::start(HOST, |_| Vec::new()).await;
        gone.address.port()
    };
    let failure = ask(&client(), &format!("http://{HOST}:{port}/")).await.unwrap_err();
    assert_eq!(failure.cause, FailureCause::Connection);
    assert!(failure.reason.starts_with("cannot connect to http://127.0.0.1:"), "{failure:?}");
}

#[tokio::test]
async fn a_busy_source_is_asked_again_when_it_said_contract_8() {
    let server = TestServer::start(HOST, |request| match request.number {
        0 => whole("503 Busy", "Retry-After: 1\r\n", "later"),
        1 => whole("429 Slow down", "", "later"),
        _ => whole("200 OK", "", "now\n"),
    })
    .await;
    let begun = WallInstant::now();
    assert_eq!(text(ask(&client(), &server.url("/")).await.unwrap()), "now\n");
    assert!(begun.elapsed() >= Duration::from_secs(1), "{:?}", begun.elapsed());
    assert_eq!(server.seen().len(), 3);
    // An hour is too late for this run, which does not wait for it.
    let begun = WallInstant::now();
    let (failure, requests) = failure_of(whole("503 Busy", "Retry-After: 3600\r\n", "later")).await;
    assert_eq!((failure.cause, requests), (FailureCause::Status, 1));
    assert!(failure.reason.contains("another attempt would come too late"), "{failure:?}");
    assert!(begun.elapsed() < Duration::from_secs(3));
    // What will be so again is not tried again.
    for status in ["404 Not Found", "403 Forbidden", "204 No Content", "206 Partial Content"] {
        let (failure, requests) = failure_of(whole(status, "", "")).await;
        assert_eq!((failure.cause, requests), (FailureCause::Status, 1), "{failure:?}");
    }
}

#[tokio::test]
async fn an_answer_without_an_end_ends_at_the_bound_contract_8() {
    let chunk = |bytes: usize| {
        let mut chunk = format!("{bytes:x}\r\n").into_bytes();
        chunk.extend(vec![b'x'; bytes]);
        chunk.extend(b"\r\n");
        chunk
    };
    let head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    // As fast as it can: the bound on bytes.
    let endless = vec![Step::Send(head.clone()), Step::Repeat(chunk(16 << 10), Duration::ZERO)];
    let (failure, requests) = failure_of(endless).await;
    assert_eq!((failure.cause, requests), (FailureCause::TooLarge, 1), "{failure:?}");
    assert!(failure.reason.contains("refresh.max_bytes"), "{failure:?}");
    // A byte at a time: the bound on time, with a connection that is never silent.
    let begun = WallInstant::now();
    let dripping = vec![Step::Send(head), Step::Repeat(chunk(1), Duration::from_millis(50))];
    let (failure, _) = failure_of(dripping).await;
    assert_eq!(failure.cause, FailureCause::Timeout, "{failure:?}");
    assert!(failure.reason.contains("within 3 s (refresh.timeout_seconds)"), "{failure:?}");
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    // Silence, before the header and within the body.
    for silent in [
        vec![Step::Wait(Duration::from_secs(60))],
        vec![
            Step::Send(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab".to_vec()),
            Step::Wait(Duration::from_secs(60)),
        ],
    ] {
        let begun = WallInstant::now();
        let (failure, _) = failure_of(silent).await;
        let causes = [FailureCause::Timeout, FailureCause::Connection];
        assert!(causes.contains(&failure.cause), "{failure:?}");
        assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    }
    // Announced beforehand: not a byte of it is read.
    let announced = "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n";
    let (failure, requests) = failure_of(vec![Step::Send(announced.into())]).await;
    assert_eq!((failure.cause, requests), (FailureCause::TooLarge, 1), "{failure:?}");
}

#[tokio::test]
async fn a_gzip_bomb_ends_at_the_bound_contract_8() {
    let coded = |bytes: &[u8]| whole("200 OK", "Content-Encoding: gzip\r\n", bytes);
    let bomb = gzip(&vec![b'0'; 64 << 20]);
    assert!(bomb.len() < 100_000, "{}", bomb.len());
    let (failure, requests) = failure_of(coded(&bomb)).await;
    assert_eq!((failure.cause, requests), (FailureCause::TooLarge, 1), "{failure:?}");
    // What fits is decoded, several members too.
    let members = [gzip(b"date,value\n"), gzip(b"2024-01-01,1\n")].concat();
    let server =
        TestServer::start(HOST, move |_| whole("200 OK", "Content-Encoding: gzip\r\n", &members))
            .await;
    let answer = ask(&client(), &server.url("/")).await.unwrap();
    assert_eq!(text(answer), "date,value\n2024-01-01,1\n");
    // A coding that was cut, or is none, or was not asked for.
    let cut = gzip(b"date,value\n2024-01-01,1\n");
    for body in [&cut[..cut.len() - 9], &cut[..12], b"date,value\n", b""] {
        let (failure, _) = failure_of(coded(body)).await;
        assert_eq!(failure.cause, FailureCause::Answer, "{failure:?}");
    }
    let (failure, _) = failure_of(whole("200 OK", "Content-Encoding: br\r\n", "xyz")).await;
    assert_eq!(failure.cause, FailureCause::Answer);
}

#[tokio::test]
async fn an_answer_that_may_have_been_cut_is_not_believed_contract_8() {
    // Its end is the end of the connection, however that comes about.
    for answer in ["HTTP/1.1 200 OK\r\n\r\na,b\n1,2\n", "HTTP/1.0 200 OK\r\n\r\na,b\n1,2\n"] {
        let (failure, requests) = failure_of(vec![Step::Send(answer.into())]).await;
        assert_eq!((failure.cause, requests), (FailureCause::Answer, 1), "{failure:?}");
        assert!(failure.reason.contains("does not say where its answer ends"), "{failure:?}");
    }
    // A length that is too short, which only a digest gives away.
    let digest = STANDARD.encode(Sha256::digest(b"a,b\n1,2\n3,4\n"));
    let headers = format!("Repr-Digest: sha-256=:{digest}:\r\n");
    let (failure, requests) = failure_of(whole("200 OK", &headers, "a,b\n1,2\n")).await;
    assert_eq!((failure.cause, requests), (FailureCause::Answer, 3), "{failure:?}");
    let server =
        TestServer::start(HOST, move |_| whole("200 OK", &headers, "a,b\n1,2\n3,4\n")).await;
    assert!(ask(&client(), &server.url("/")).await.is_ok());
    // Two lengths that contradict each other.
    let twice = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 8\r\n\r\na,b\n1,2\n";
    let (failure, _) = failure_of(vec![Step::Send(twice.into())]).await;
    assert_eq!(failure.cause, FailureCause::Connection, "{failure:?}");
}

#[tokio::test]
async fn redirects_are_followed_within_reason_contract_8() {
    let to = |place: &str| whole("302 Found", &format!("Location: {place}\r\n"), "");
    let server = TestServer::start(HOST, move |request| match request.path.as_str() {
        "/old.csv" => to("/newer.csv"),
        "/newer.csv" => to("newest.csv?a=1"),
        _ => whole("200 OK", "", "here\n"),
    })
    .await;
    assert_eq!(text(ask(&client(), &server.url("/old.csv")).await.unwrap()), "here\n");
    let server = TestServer::start(HOST, move |_| to("/again.csv")).await;
    let failure = ask(&client(), &server.url("/again.csv")).await.unwrap_err();
    assert_eq!((failure.cause, server.seen().len()), (FailureCause::Answer, 11), "{failure:?}");
    for place in ["ftp://example.org/a", "file:///etc/passwd", "http://a:b@127.0.0.1/", "http://"] {
        let (failure, requests) = failure_of(to(place)).await;
        assert_eq!((failure.cause, requests), (FailureCause::Answer, 1), "{place}: {failure:?}");
        assert!(!failure.reason.contains("a:b"), "{failure:?}");
    }
    let (failure, _) = failure_of(whole("302 Found", "", "")).await;
    assert_eq!(failure.cause, FailureCause::Answer);
}

#[tokio::test]
async fn a_source_in_a_private_network_is_refused_without_another_attempt_contract_8() {
    let inside = TestServer::start(HOST, |_| whole("200 OK", "", "secret\n")).await;
    let client = SourceClient::new(&RefreshSettings::default()).unwrap();
    let by_name = format!("http://localhost:{}/", inside.address.port());
    for url in [inside.url("/"), by_name] {
        let failure = ask(&client, &url).await.unwrap_err();
        assert_eq!(failure.cause, FailureCause::PrivateAddress, "{failure:?}");
        assert_eq!(failure.retry, RetryAdvice::Never);
        assert!(failure.reason.contains("refresh.allow_private"), "{failure:?}");
    }
    assert_eq!(inside.connections(), 0);
}

#[tokio::test]
async fn what_is_no_address_is_refused_without_asking() {
    for address in ["https://", "http://exa mple.org/", "http://[::1", "gopher://example.org/"] {
        let failure = ask(&client(), address).await.unwrap_err();
        assert_eq!(failure.retry, RetryAdvice::Never, "{address}");
    }
}

#[test]
fn the_default_bounds_are_those_of_the_contract_8() {
    let settings = RefreshSettings::default();
    assert_eq!(settings.timeout(), Duration::from_secs(300));
    assert_eq!(NonZeroUsize::try_from(settings.parallel).unwrap().get(), 4);
    assert_eq!((ATTEMPTS, settings.allow_private), (3, false));
}
