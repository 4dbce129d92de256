//! Clients that ask and do not read, over real sockets: what each may hold, for how long, and that
//! nobody else notices (contract-5-drain).

mod http2;
mod long_chunks;

use std::fmt::Write;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use yearbook_domain::Plan;
use yearbook_sandbox::Limits;
use yearbook_server::ServiceSettings;
use yearbook_tests::app::{TestApp, TestTable, big};

use self::http2::{Http2Client, Http2Event};
use super::wire::sent;

/// Bursts are another rule, and what comes from memory needs no instance.
fn settings() -> ServiceSettings {
    let mut settings = ServiceSettings::default();
    settings.limits.burst_per_second = 0;
    settings.server.response_cache_bytes = 0;
    settings
}

/// Rows that no coding makes much smaller, 240 bytes each.
fn wide(rows: usize) -> TestTable {
    let mut csv = "date,series,value,text\n".to_owned();
    let mut state = 1_u64;
    for row in 0..rows {
        let day = row / 100;
        let _ = write!(
            csv,
            "{}-{:02}-{:02},s{:02},{row},",
            1900 + day / 336,
            day / 28 % 12 + 1,
            day % 28 + 1,
            row % 100
        );
        for _ in 0..12 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let _ = write!(csv, "{:016x}", state ^ state >> 29);
        }
        csv.push('\n');
    }
    big(0).with_field("text", "string").with_rows(&csv)
}

async fn serve(app: &TestApp, settings: &ServiceSettings) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (router, server) = (app.router.clone(), settings.server.clone());
    tokio::spawn(async move {
        yearbook_server::serve(listener, router, &server, std::future::pending()).await
    });
    address
}

/// One sample of the metrics.
async fn metric(app: &TestApp, series: &str) -> f64 {
    app.metric(series).await.unwrap_or_else(|| panic!("no {series}"))
}

/// Waits until nothing is held any more.
async fn assert_nothing_held(app: &TestApp, instances: usize) {
    let all_let_go = async {
        while app.free_instances() < instances
            || metric(app, "yearbook_http_responses_open").await > 0.0
            || metric(app, "yearbook_http_body_bytes").await > 0.0
        {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), all_let_go)
        .await
        .expect("something is held for ever");
}

/// A client that reads what it asks for, on one connection.
struct PoliteClient(TcpStream);

impl PoliteClient {
    async fn connect(address: SocketAddr) -> Self {
        Self(TcpStream::connect(address).await.unwrap())
    }

    /// The status, and the time to the last byte.
    async fn get(&mut self, path: &str, key: &str) -> (String, Duration) {
        let begun = Instant::now();
        let request = format!("GET {path} HTTP/1.1\r\nHost: t\r\nX-API-Key: {key}\r\n\r\n");
        self.0.write_all(request.as_bytes()).await.unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(self.0.read_u8().await.unwrap());
        }
        let head = String::from_utf8(head).unwrap().to_lowercase();
        let length = head
            .split("content-length: ")
            .nth(1)
            .and_then(|rest| rest.split("\r\n").next())
            .unwrap();
        let mut body = vec![0; length.parse().unwrap()];
        self.0.read_exact(&mut body).await.unwrap();
        (head["http/1.1 ".len()..][..3].to_owned(), begun.elapsed())
    }

    /// The median time of so many requests, all of which are answered.
    async fn median(&mut self, path: &str, key: &str, requests: usize) -> Duration {
        let mut times = Vec::new();
        for _ in 0..requests {
            let (status, time) = self.get(path, key).await;
            assert_eq!(status, "200");
            times.push(time);
        }
        times.sort_unstable();
        times[requests / 2]
    }
}

const HUNDRED: &str = "/v1/datasets/big/data?limit=100";

#[tokio::test(flavor = "multi_thread")]
async fn one_key_with_550_unread_streams_keeps_no_other_key_waiting_contract_5() {
    const CONNECTIONS: usize = 5;
    const STREAMS: usize = 110;
    let (settings, limits) = (settings(), Limits::default());
    let app = TestApp::with_limits(settings.clone(), limits).await;
    app.publish(&wide(50_000)).await;
    // Of a plan whose month is not counted: a database that cannot count 550 requests at once on a
    // slow disk answers 503, which is no matter of shares.
    let (greedy, polite) = (app.key(Plan::Pro).await, app.key(Plan::Enterprise).await);
    let address = serve(&app, &settings).await;
    let mut client = PoliteClient::connect(address).await;
    let quiet = client.median(HUNDRED, &polite, 20).await;

    let mut attackers = Vec::new();
    for _ in 0..CONNECTIONS {
        let (greedy, mut attacker) = (greedy.clone(), Http2Client::connect(address, 1).await);
        attackers.push(tokio::spawn(async move {
            for _ in 0..STREAMS {
                attacker.get("/v1/datasets/big/data?limit=50000&format=csv", &greedy).await;
            }
            (attacker.statuses(STREAMS).await, attacker)
        }));
    }
    let (mut statuses, mut open) = (Vec::new(), Vec::new());
    for attacker in attackers {
        let (some, connection) = attacker.await.unwrap();
        statuses.extend(some);
        open.push(connection);
    }
    let answered = statuses.iter().filter(|status| **status == 200).count();
    let share = limits.instances as usize / 4;
    assert!((1..=share).contains(&answered), "{answered} of {} are open", statuses.len());
    assert!(statuses.iter().all(|status| matches!(status, 200 | 429)), "{statuses:?}");
    assert!(app.free_instances() >= limits.instances as usize - share);
    let held = metric(&app, "yearbook_http_body_bytes").await;
    assert!(
        held <= (settings.server.body_bytes / 4 + (16 << 20)) as f64,
        "{held} bytes of {answered} answers wait for one key"
    );

    let busy = client.median(HUNDRED, &polite, 40).await;
    assert!(
        busy < quiet * 10 + Duration::from_millis(100),
        "{busy:?}, without the streams {quiet:?}"
    );
    drop(open);
    assert_nothing_held(&app, limits.instances as usize).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_key_may_hold_is_its_share_and_goes_when_it_is_not_read_contract_5() {
    let mut settings = settings();
    settings.server.write_idle_ms = 1_500;
    let limits = Limits { instances: 8, queue_ms: 100, ..Limits::default() };
    let app = TestApp::with_limits(settings.clone(), limits).await;
    app.publish(&wide(30_000)).await;
    let (greedy, polite) = (app.key(Plan::Starter).await, app.key(Plan::Enterprise).await);
    let address = serve(&app, &settings).await;
    let mut attackers = Vec::new();
    let mut statuses = Vec::new();
    for _ in 0..5 {
        let mut attacker = Http2Client::connect(address, 1).await;
        for _ in 0..4 {
            attacker.get("/v1/datasets/big/data?limit=30000", &greedy).await;
        }
        statuses.extend(attacker.statuses(4).await);
        attackers.push(attacker);
        let (status, _) = PoliteClient::connect(address).await.get(HUNDRED, &polite).await;
        assert_eq!(status, "200", "beside {statuses:?}");
    }
    assert!(
        statuses.contains(&200) && statuses.contains(&429) && !statuses.contains(&503),
        "{statuses:?}"
    );
    assert_nothing_held(&app, 8).await;
    let cut = metric(&app, "yearbook_http_bodies_cut_total{reason=\"idle\"}").await;
    assert_eq!(cut, statuses.iter().filter(|status| **status == 200).count() as f64);
    // The connections are still there: their next requests are answered.
    for attacker in &mut attackers {
        let stream = attacker.get(HUNDRED, &greedy).await;
        while attacker.next().await.unwrap() != (stream, Http2Event::Head(200)) {}
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_is_not_read_is_reset_and_its_connection_stays_contract_5() {
    let mut settings = settings();
    settings.server.write_idle_ms = 500;
    let app = TestApp::with(settings.clone()).await;
    app.publish(&wide(30_000)).await;
    let key = app.key(Plan::Enterprise).await;
    let address = serve(&app, &settings).await;
    // Rows of a format, a stored file, a document: every kind of body.
    for path in ["/v1/datasets/big/data?limit=30000", "/v1/bulk/tests/big", "/openapi.json"] {
        let mut client = Http2Client::connect(address, 1).await;
        let unread = client.get(path, &key).await;
        assert_eq!(client.next().await, Some((unread, Http2Event::Head(200))), "{path}");
        loop {
            match client.next().await.expect("the connection stays") {
                (_, Http2Event::Bytes(bytes)) => client.allow(0, bytes).await,
                (stream, event) => {
                    break assert_eq!((stream, event), (unread, Http2Event::Reset), "{path}");
                }
            }
        }
        let read = client.get("/v1/datasets/big/data?limit=30000&format=csv", &key).await;
        client.allow(read, 1 << 20).await;
        loop {
            match client.next().await.expect("the connection stays") {
                (stream, Http2Event::Bytes(bytes)) => {
                    client.allow(stream, bytes).await;
                    client.allow(0, bytes).await;
                }
                (_, Http2Event::Head(status)) => assert_eq!(status, 200),
                (stream, event) => {
                    break assert_eq!((stream, event), (read, Http2Event::End), "{path}");
                }
            }
        }
        assert_nothing_held(&app, 16).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_is_not_read_is_dropped_and_its_answer_has_no_end_contract_5() {
    let mut settings = settings();
    settings.server.write_idle_ms = 500;
    let app = TestApp::with(settings.clone()).await;
    // More than sockets hold on both sides.
    app.publish(&wide(60_000)).await;
    let key = app.key(Plan::Enterprise).await;
    let address = serve(&app, &settings).await;
    for path in ["/v1/datasets/big/data?limit=60000", "/v1/bulk/tests/big"] {
        let mut client = TcpStream::connect(address).await.unwrap();
        client
            .write_all(
                format!("GET {path} HTTP/1.1\r\nHost: t\r\nX-API-Key: {key}\r\n\r\n").as_bytes(),
            )
            .await
            .unwrap();
        let mut begun = [0; 12];
        client.read_exact(&mut begun).await.unwrap();
        assert_eq!(&begun, b"HTTP/1.1 200");
        assert_nothing_held(&app, 16).await;
        let mut rest = Vec::new();
        // Reset, or closed; a whole answer would be longer than what sockets held.
        let _ = client.read_to_end(&mut rest).await;
        assert!(!rest.ends_with(b"\r\n0\r\n\r\n"), "{path}: a cut body looks whole");
        let head = String::from_utf8_lossy(&rest[..rest.len().min(4_096)]).to_lowercase();
        if let Some(length) =
            head.split("content-length: ").nth(1).and_then(|rest| rest.split("\r\n").next())
        {
            assert!(rest.len() < length.parse().unwrap(), "{path}: a cut body is whole");
        }
    }
}

/// A body without a length looks whole to HTTP/1.0 wherever its connection is closed well.
#[tokio::test(flavor = "multi_thread")]
async fn a_cut_body_resets_a_connection_of_http_1_0_contract_3() {
    let mut settings = settings();
    settings.server.write_idle_ms = 500;
    let app = TestApp::with(settings.clone()).await;
    app.publish(&wide(60_000)).await;
    app.load("evil");
    let key = app.key(Plan::Enterprise).await;
    let address = serve(&app, &settings).await;
    for (query, is_read, ends_well) in [
        ("limit=30000&format=csv", true, true),
        ("limit=0&format=evil&evil.attack=panic&evil.call=tail", true, false),
        ("limit=60000", false, false),
    ] {
        let path = format!("/v1/datasets/big/data?{query}");
        let request = format!("GET {path} HTTP/1.0\r\nHost: t\r\nX-API-Key: {key}\r\n\r\n");
        let mut client = sent(address, request.as_bytes()).await;
        client.readable().await.unwrap();
        if !is_read {
            assert_nothing_held(&app, 16).await;
        }
        let mut answer = Vec::new();
        let ended = client.read_to_end(&mut answer).await;
        assert_eq!((&answer[..12], ended.is_ok()), (&b"HTTP/1.0 200"[..], ends_well), "{query}");
    }
}

/// Reads one answer at so many bytes every so often; the bytes that arrived, and how it ended.
async fn read_at(address: SocketAddr, key: &str, bytes: u32, every: Duration) -> (u64, Http2Event) {
    let mut client = Http2Client::connect(address, bytes).await;
    let stream = client.get("/v1/datasets/big/data?limit=30000&format=csv", key).await;
    let mut taken = 0;
    loop {
        while let Some(arrived) = client.next_within(every).await {
            match arrived.expect("the connection stays").1 {
                Http2Event::Head(status) => assert_eq!(status, 200),
                Http2Event::Bytes(more) => {
                    taken += u64::from(more);
                    client.allow(0, more).await;
                }
                end => return (taken, end),
            }
        }
        client.allow(stream, bytes).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_trickles_is_cut_and_a_slow_one_gets_all_of_it_contract_5() {
    let mut settings = settings();
    settings.server.write_idle_ms = 2_000;
    settings.server.body_rate_bytes = 400_000;
    let app = TestApp::with(settings.clone()).await;
    app.publish(&wide(30_000)).await;
    let key = app.key(Plan::Enterprise).await;
    let address = serve(&app, &settings).await;
    let whole =
        app.get("/v1/datasets/big/data?limit=30000&format=csv").key(&key).send().await.body.len()
            as u64;
    // Never idle for long, and less than half of the rate; and almost four times the rate at most.
    let every = Duration::from_millis(100);
    let (trickle, slow) =
        tokio::join!(read_at(address, &key, 16_384, every), read_at(address, &key, 150_000, every));
    assert_eq!(trickle.1, Http2Event::Reset);
    assert!(trickle.0 < whole, "{} of {whole}", trickle.0);
    assert_eq!(slow, (whole, Http2Event::End));
    assert_eq!(metric(&app, "yearbook_http_bodies_cut_total{reason=\"rate\"}").await, 1.0);
    assert_nothing_held(&app, 16).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_body_is_open_for_longer_than_its_deadline_contract_5() {
    let mut settings = settings();
    settings.server.body_ms = 1_500;
    settings.server.write_idle_ms = 1_000;
    let app = TestApp::with(settings.clone()).await;
    app.publish(&wide(30_000)).await;
    let key = app.key(Plan::Enterprise).await;
    let address = serve(&app, &settings).await;
    // Far above the least rate, and too slow for the deadline.
    let (_, end) = read_at(address, &key, 30_000, Duration::from_millis(100)).await;
    assert_eq!(end, Http2Event::Reset);
    assert_eq!(metric(&app, "yearbook_http_bodies_cut_total{reason=\"deadline\"}").await, 1.0);
}

#[tokio::test(flavor = "multi_thread")]
async fn three_hundred_unread_downloads_hold_no_more_than_the_budget_and_then_nothing_contract_5() {
    let mut settings = settings();
    settings.server.write_idle_ms = 4_000;
    settings.server.body_bytes = 64 << 20;
    let app = TestApp::with(settings.clone()).await;
    app.publish(&wide(60_000)).await;
    let address = serve(&app, &settings).await;
    let mut clients = Vec::new();
    for _ in 0..3 {
        let key = app.key(Plan::Enterprise).await;
        let mut client = Http2Client::connect(address, 1).await;
        for _ in 0..100 {
            client.get("/v1/bulk/tests/big", &key).await;
        }
        clients.push(client);
    }
    let mut answered = 0;
    for client in &mut clients {
        let statuses = client.statuses(100).await;
        assert!(statuses.iter().all(|status| matches!(status, 200 | 429 | 503)), "{statuses:?}");
        answered += statuses.iter().filter(|status| **status == 200).count();
    }
    let held = metric(&app, "yearbook_http_body_bytes").await;
    assert!(answered >= 100, "{answered} downloads began");
    // Where the budget is used up, each that has begun goes on by one block (server.body_bytes).
    let most = (64 << 20) + answered * (64 << 10);
    assert!(held > 0.0 && held <= most as f64, "{held} of {most}");
    assert_nothing_held(&app, 16).await;
}
