//! Addresses that are told of new versions (contract-21-webhooks), received over a real line.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, StatusCode, Uri};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::net::TcpListener;
use yearbook_catalog::WebhookRecord;
use yearbook_domain::DatasetName;
use yearbook_tests::app::{BASE_URL, HostFixture, TestApp, harvest, parks, postgres};

/// A message as it came.
#[derive(Clone, Debug)]
struct Received {
    path: String,
    headers: HeaderMap,
    body: String,
}

impl Received {
    fn header(&self, name: &str) -> &str {
        self.headers[name].to_str().unwrap()
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    /// Name and version that it tells of.
    fn version(&self) -> (String, u64) {
        let data = &self.json()["data"];
        (data["name"].as_str().unwrap().to_owned(), data["version"].as_u64().unwrap())
    }
}

/// Receivers at one address, which do what their path says.
#[derive(Clone)]
struct Receivers {
    address: SocketAddr,
    received: Arc<Mutex<Vec<Received>>>,
    /// Attempts that ended at a receiver that stalls.
    given_up: Arc<AtomicUsize>,
}

/// Counts an attempt that ends.
struct Stalled(Arc<AtomicUsize>);

impl Drop for Stalled {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl Receivers {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let receivers = Self {
            address: listener.local_addr().unwrap(),
            received: Arc::default(),
            given_up: Arc::default(),
        };
        let router = Router::new().fallback(answer).with_state(receivers.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        receivers
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    fn at(&self, path: &str) -> Vec<Received> {
        let received = self.received.lock().unwrap();
        received.iter().filter(|one| one.path == path).cloned().collect()
    }

    /// Waits for `count` messages at `path`.
    async fn wait(&self, path: &str, count: usize) -> Vec<Received> {
        for _ in 0..1_500 {
            let received = self.at(path);
            if received.len() >= count {
                return received;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("{path} has {:?} of {count} messages", self.at(path));
    }
}

async fn answer(
    State(receivers): State<Receivers>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let path = uri.path().to_owned();
    let earlier = receivers.at(&path).len();
    let body = String::from_utf8(body.to_vec()).unwrap();
    receivers.received.lock().unwrap().push(Received { path: path.clone(), headers, body });
    match path.as_str() {
        "/busy" if earlier == 0 => StatusCode::SERVICE_UNAVAILABLE.into_response(),
        "/stall" => {
            let _stalled = Stalled(Arc::clone(&receivers.given_up));
            std::future::pending().await
        }
        "/redirect" => (StatusCode::FOUND, [("location", "/inside")]).into_response(),
        "/gone" => StatusCode::GONE.into_response(),
        _ => StatusCode::NO_CONTENT.into_response(),
    }
}

/// An address that takes a connection and says what is no HTTP.
async fn liar() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (mut line, _) = listener.accept().await.unwrap();
            let _ = tokio::io::AsyncWriteExt::write_all(&mut line, b"220 hello\r\n").await;
        }
    });
    format!("http://{address}/")
}

/// Adds an address, and returns its id and secret.
async fn add(app: &TestApp, url: &str, dataset: Option<&str>) -> (String, String) {
    let dataset = dataset.map(|name| DatasetName::parse(name).unwrap());
    let webhook = app.webhooks.make(url, dataset).unwrap().unwrap();
    app.store.add_webhook(&webhook).await.unwrap();
    let secret = app.webhooks.secret(&webhook.id);
    (webhook.id, secret)
}

async fn record(app: &TestApp, id: &str) -> WebhookRecord {
    let records = app.store.webhooks().await.unwrap();
    records.into_iter().find(|record| record.id == id).unwrap()
}

/// HMAC-SHA256 as RFC 2104 writes it.
fn hmac_sha256(key: &[u8], text: &[u8]) -> Vec<u8> {
    let pad = |byte: u8| -> Vec<u8> {
        let filled = key.iter().copied().chain(std::iter::repeat(0)).take(64);
        filled.map(|letter| letter ^ byte).collect()
    };
    let inner = Sha256::digest([pad(0x36), text.to_vec()].concat());
    Sha256::digest([pad(0x5c), inner.to_vec()].concat()).to_vec()
}

#[tokio::test]
async fn a_version_is_told_signed_with_its_facts_and_an_address_contract_21_webhooks() {
    let app = TestApp::start().await;
    let receivers = Receivers::start().await;
    app.webhooks.start();
    app.publish(&harvest()).await;
    let (_, secret) = add(&app, &receivers.url("/all"), None).await;
    add(&app, &receivers.url("/parks"), Some("parks")).await;
    let snapshot = app.publish(&harvest().with_appended("2024-01-01,Auckland,777.5,true\n")).await;
    app.publish(&parks()).await;
    let told = receivers.wait("/all", 2).await;
    assert_eq!(told[0].version(), ("harvest".to_owned(), 1), "not what was there before");
    assert_eq!(told[1].version(), ("parks".to_owned(), 0));
    assert_eq!(receivers.wait("/parks", 1).await[0].version(), ("parks".to_owned(), 0));

    let message = told[0].json();
    let key = app.key(yearbook_domain::Plan::Enterprise).await;
    let metadata = app.get("/v1/datasets/harvest").key(&key).send().await.json();
    let released_at = metadata["last_refreshed_at"].clone();
    assert_eq!(
        message,
        json!({
            "type": "dataset.published",
            "timestamp": released_at,
            "data": {
                "name": "harvest",
                "version": 1,
                "snapshot_id": snapshot,
                "digest": message["data"]["digest"],
                "released_at": released_at,
                "rows": 121,
                "inserted": 1,
                "deleted": 0,
                "updated": 0,
                "largest_revision": null,
                "url": format!("{BASE_URL}/v1/datasets/harvest"),
            },
        })
    );
    assert!(message["data"]["digest"].as_str().unwrap().starts_with("yb1:"), "{message}");
    for one in &told {
        let (id, at) = (one.header("webhook-id"), one.header("webhook-timestamp"));
        let secret = STANDARD.decode(secret.strip_prefix("whsec_").unwrap()).unwrap();
        let tag = hmac_sha256(&secret, format!("{id}.{at}.{}", one.body).as_bytes());
        assert_eq!(one.header("webhook-signature"), format!("v1,{}", STANDARD.encode(tag)));
        assert_eq!(one.header("content-type"), "application/json");
        let age = yearbook_catalog::clock::now().0 / 1_000 - at.parse::<i64>().unwrap();
        assert!((0..60).contains(&age), "{age}");
    }
    assert_ne!(told[0].header("webhook-id"), told[1].header("webhook-id"));
}

#[tokio::test]
async fn no_receiver_delays_another_or_leads_elsewhere_contract_21_webhooks() {
    let app = TestApp::start().await;
    let receivers = Receivers::start().await;
    // As many as have places, and each of them before the one that answers.
    for _ in 0..20 {
        add(&app, &receivers.url("/stall"), None).await;
    }
    let (redirect, _) = add(&app, &receivers.url("/redirect"), None).await;
    let (gone, _) = add(&app, &receivers.url("/gone"), None).await;
    let (lies, _) = add(&app, &liar().await, None).await;
    let (away, _) = add(&app, "http://127.0.0.1:1/", None).await;
    let (busy, _) = add(&app, &receivers.url("/busy"), None).await;
    add(&app, &receivers.url("/well"), None).await;
    app.webhooks.start();
    app.publish(&harvest()).await;
    receivers.wait("/well", 1).await;
    app.publish(&parks()).await;
    receivers.wait("/well", 2).await;
    assert_eq!(receivers.at("/stall").len(), 20, "they still stall");

    // What was not taken comes again, the same.
    let busy_told = receivers.wait("/busy", 3).await;
    assert_eq!(busy_told[0].header("webhook-id"), busy_told[1].header("webhook-id"));
    assert_eq!(busy_told[0].body, busy_told[1].body);
    assert_eq!(busy_told[2].version(), ("parks".to_owned(), 0));
    assert_eq!(record(&app, &busy).await.last_failure, None);
    for (id, words) in [
        (&redirect, "status 302"),
        (&gone, "status 410, which asks for no more"),
        (&lies, "no answer that HTTP knows"),
        (&away, "no connection"),
    ] {
        let record = record(&app, id).await;
        assert_eq!(record.last_failure.as_deref(), Some(words));
        assert_eq!(record.ended_at.is_some(), *id == gone, "{record:?}");
    }
    assert_eq!((receivers.at("/inside").len(), receivers.at("/gone").len()), (0, 1));
}

#[tokio::test]
async fn more_silent_receivers_than_places_delay_no_other_contract_21_webhooks() {
    let app = TestApp::start().await;
    let receivers = Receivers::start().await;
    for _ in 0..150 {
        add(&app, &receivers.url("/stall"), Some("harvest")).await;
    }
    add(&app, &receivers.url("/well"), Some("parks")).await;
    app.webhooks.start();
    app.publish(&harvest()).await;
    // None of them has failed yet, so each may have any place.
    receivers.wait("/stall", 64).await;
    app.publish(&parks()).await;
    receivers.wait("/well", 1).await;
    assert_eq!(receivers.given_up.load(Ordering::Relaxed), 0, "an attempt had to end first");
}

#[tokio::test]
async fn several_hosts_tell_each_version_once_and_in_order_contract_21_webhooks() {
    let Some(database) = postgres() else { return };
    let fixture = HostFixture { database, ..HostFixture::default() };
    let hosts = [TestApp::on_fixture(&fixture).await, TestApp::on_fixture(&fixture).await];
    let receivers = Receivers::start().await;
    add(&hosts[0], &receivers.url("/all"), None).await;
    hosts.iter().for_each(|host| host.webhooks.start());
    let mut table = harvest();
    for number in 1..5 {
        hosts[number % 2].publish(&table).await;
        table = table.with_appended(&format!("2024-01-0{number},Auckland,777.5,true\n"));
    }
    receivers.wait("/all", 4).await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    let versions: Vec<u64> = receivers.at("/all").iter().map(|one| one.version().1).collect();
    assert_eq!(versions, [0, 1, 2, 3]);
}
