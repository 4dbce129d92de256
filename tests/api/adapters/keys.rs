//! Keys: where an adapter's clients may send them, and that no log has one.

use std::io::Write;
use std::sync::{Arc, Mutex};

use base64::prelude::{BASE64_STANDARD, Engine as _};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::MakeWriter;
use yearbook_domain::Plan;
use yearbook_server::LimitSettings;
use yearbook_tests::app::{Reply, TestApp, unbounded};

use super::{get, service};

/// A service that takes keys in addresses where an adapter declares it.
async fn lenient() -> TestApp {
    let mut settings = unbounded();
    settings.adapters.keys_in_addresses = true;
    let app = TestApp::with(settings).await;
    app.load("scripted");
    app
}

/// Names of the parameters that the adapter was given.
fn parameters(reply: &Reply) -> Vec<String> {
    assert_eq!(reply.status, 200, "{}", reply.text());
    let request = reply.json();
    let query = request["query"].as_array().unwrap();
    query.iter().map(|pair| pair[0].as_str().unwrap().to_owned()).collect()
}

/// Returns whether the answer says how much of a month is left, as to every key of a plan with a
/// quota.
fn is_counted(reply: &Reply) -> bool {
    reply.headers.contains_key("x-ratelimit-limit")
}

#[tokio::test]
async fn a_wrong_key_is_401_before_its_adapter_is_asked_contract_17() {
    let app = service().await;
    let key = app.key(Plan::Free).await;
    let wrong = format!("{}x", &key[..key.len() - 1]);
    // An adapter that was asked would fail there.
    for reply in [
        app.get("/api/scripted/trap").key(&wrong).send().await,
        app.get("/api/scripted/trap").bearer(&wrong).send().await,
    ] {
        assert_eq!(reply.outcome(), (401, "key_invalid".to_owned()));
        assert_eq!(reply.json()["code"], "key_invalid", "the body is the adapter's");
        assert!(reply.header("www-authenticate").starts_with("ApiKey"));
        assert_eq!(reply.header("cache-control"), "no-store");
    }
    let basic = format!("Basic {}", BASE64_STANDARD.encode(format!("{key}:")));
    for reply in [
        app.get("/api/scripted/request").key(&key).send().await,
        app.get("/api/scripted/request").bearer(&key).send().await,
        app.get("/api/scripted/request").header("authorization", &basic).send().await,
    ] {
        assert!(parameters(&reply).is_empty() && is_counted(&reply));
    }
    let reply = get(&app, "/api/scripted/request").await;
    assert!(parameters(&reply).is_empty() && !is_counted(&reply), "no key is needed");
}

#[tokio::test]
async fn a_key_in_an_address_counts_where_the_operator_allows_it_contract_17() {
    let strict = service().await;
    let key = strict.key(Plan::Free).await;
    let address = |key: &str| format!("/api/scripted/request?a=1&api_key={key}&b=2");
    let reply = get(&strict, &address(&key)).await;
    assert_eq!(parameters(&reply), ["a", "b"]);
    assert!(!is_counted(&reply), "it is left out, and does not count");
    assert_eq!(get(&strict, &address("nonsense")).await.status, 200);

    let app = lenient().await;
    let key = app.key(Plan::Free).await;
    for query in [
        format!("a=1&api_key={key}&b=2"),
        format!("a=1&b=2&api%5Fkey={key}"),
        format!("api_key=&a=1&api_key={key}&b=2&api_key=other"),
    ] {
        let reply = get(&app, &format!("/api/scripted/request?{query}")).await;
        assert_eq!(parameters(&reply), ["a", "b"], "{query}");
        assert!(is_counted(&reply), "{query}");
    }
    let wrong = get(&app, "/api/scripted/trap?api_key=nonsense").await;
    assert_eq!(wrong.outcome(), (401, "key_invalid".to_owned()));
    // A header decides.
    let other = app.get(&address("nonsense")).key(&key).send().await;
    assert!(is_counted(&other));
    // Elsewhere it is no key.
    let rows = get(&app, &format!("/v1/datasets?api_key={key}")).await;
    assert_eq!(rows.status, 401);
}

#[tokio::test]
async fn a_post_is_read_before_it_is_refused_contract_17() {
    let app = service().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let served = app.serve_public(listener, std::future::pending());
    let head = "POST /api/scripted/trap HTTP/1.1\r\nHost: t\r\nX-API-Key: nonsense\r\n\
                Content-Type: text/plain\r\nContent-Length: 5\r\n\r\n";
    client.write_all(head.as_bytes()).await.unwrap();
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    client.write_all(b"hello").await.unwrap();
    let mut answer = vec![0; 8_192];
    let read = client.read(&mut answer).await.unwrap();
    assert!(answer[..read].starts_with(b"HTTP/1.1 401"), "{answer:?}");
    // An answer that did not wait for the body would end the connection, which clients use again.
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    let next = "GET /api/scripted/request HTTP/1.1\r\nHost: t\r\n\r\n";
    client.write_all(next.as_bytes()).await.unwrap();
    client.read_exact(&mut answer[..12]).await.unwrap();
    assert!(answer.starts_with(b"HTTP/1.1 200"), "{answer:?}");
    served.abort();
}

#[tokio::test]
async fn clients_without_a_key_have_a_burst_for_each_address_contract_17() {
    let mut settings = unbounded();
    settings.limits =
        LimitSettings { burst_per_second: 1, burst_size: 2, ..LimitSettings::default() };
    let app = TestApp::with(settings).await;
    app.load("scripted");
    let key = app.key(Plan::Pro).await;
    let from = |address: &str| app.get("/api/scripted/request").peer(address);
    // A key that is not in memory yet counts against its address.
    assert_eq!(from("192.0.2.3").key(&key).send().await.status, 200);
    for _ in 0..2 {
        assert_eq!(from("192.0.2.1").send().await.status, 200);
    }
    let refused = from("192.0.2.1").send().await;
    assert_eq!(refused.outcome(), (429, "slow_down".to_owned()));
    assert_eq!(refused.json()["code"], "slow_down", "the body is the adapter's");
    assert!(refused.headers.contains_key("retry-after") && is_counted(&refused));
    assert_eq!(from("192.0.2.2").send().await.status, 200);
    assert_eq!(from("192.0.2.1").key(&key).send().await.status, 200, "a key has its own");
}

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Log {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

/// The answer to a GET of `path` on a connection of its own.
async fn fetch(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = format!("GET {path} HTTP/1.1\r\nHost: test.example\r\nConnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test]
async fn no_line_of_the_log_has_the_key_of_an_address_contract_17() {
    let app = lenient().await;
    let key = app.key(Plan::Free).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let log = Log::default();
    let layers = tracing_subscriber::fmt().with_max_level(LevelFilter::TRACE);
    let subscriber = layers.with_writer(log.clone()).with_ansi(false).finish();
    // Of this thread, on which connections and handlers run.
    let guard = tracing::subscriber::set_default(subscriber);
    let served = app.serve_public(listener, std::future::pending());
    let wrong = format!("{}x", &key[..key.len() - 1]);
    for key in [&key, &wrong] {
        for path in ["request", "trap", "spin/x"] {
            let path = format!("/api/scripted/{path}?a=1&api_key={key}");
            let answer = fetch(&address, &path).await;
            assert!(answer.starts_with("HTTP/1.1 "), "{answer}");
            assert!(!answer.contains(key.as_str()), "{answer}");
        }
        for path in ["/api/other/x", "/api/scripted/%FF", "/api"] {
            fetch(&address, &format!("{path}?api_key={key}")).await;
        }
    }
    served.abort();
    drop(guard);
    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(log.contains("/api/scripted/request"), "nothing was logged");
    let secret = &key[..key.len() - 1];
    assert_eq!(log.lines().find(|line| line.contains(secret)), None);
    assert!(!app.metrics().await.contains(secret));
}
