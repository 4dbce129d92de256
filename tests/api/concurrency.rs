//! Over a real socket: what only a connection shows.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use yearbook_domain::Plan;
use yearbook_sandbox::Limits;
use yearbook_server::ServerSettings;
use yearbook_tests::app::{TestApp, big};

async fn socket(
    app: &TestApp,
) -> (
    std::net::SocketAddr,
    tokio::sync::oneshot::Sender<()>,
    tokio::task::JoinHandle<std::io::Result<()>>,
) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = tokio::sync::oneshot::channel();
    let router = app.router.clone();
    let server = tokio::spawn(async move {
        let settings = ServerSettings { shutdown_ms: 5_000, ..ServerSettings::default() };
        yearbook_server::serve(listener, router, &settings, async { drop(stopped.await) }).await
    });
    (address, stop, server)
}

#[tokio::test]
async fn a_stop_lets_an_open_response_finish() {
    let app = TestApp::start().await;
    app.publish(&big(90_000)).await;
    let key = app.key(Plan::Enterprise).await;
    let (address, stop, server) = socket(&app).await;
    let mut client = TcpStream::connect(address).await.unwrap();
    let request = format!(
        "GET /v1/datasets/big/data?limit=0&format=csv HTTP/1.1\r\nHost: t\r\nX-API-Key: {key}\r\nConnection: close\r\n\r\n"
    );
    client.write_all(request.as_bytes()).await.unwrap();
    let mut begun = [0; 12];
    client.read_exact(&mut begun).await.unwrap();
    assert_eq!(&begun, b"HTTP/1.1 200");
    stop.send(()).unwrap();
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(TcpStream::connect(address).await.is_err(), "no new connections");
    let mut rest = Vec::new();
    client.read_to_end(&mut rest).await.unwrap();
    assert!(rest.ends_with(b"\r\n0\r\n\r\n"), "the last chunk arrived");
    server.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_client_that_goes_away_frees_what_it_held() {
    let app = TestApp::start().await;
    app.publish(&big(90_000)).await;
    let key = app.key(Plan::Enterprise).await;
    let (address, stop, server) = socket(&app).await;
    // More than there are sandbox instances: each is dropped after its first bytes.
    for _ in 0..40 {
        let mut client = TcpStream::connect(address).await.unwrap();
        let request = format!(
            "GET /v1/datasets/big/data?limit=0 HTTP/1.1\r\nHost: t\r\nX-API-Key: {key}\r\n\r\n"
        );
        client.write_all(request.as_bytes()).await.unwrap();
        let mut begun = [0; 12];
        client.read_exact(&mut begun).await.unwrap();
        assert_eq!(&begun, b"HTTP/1.1 200");
    }
    stop.send(()).unwrap();
    server.await.unwrap().unwrap();
}

#[tokio::test]
async fn answers_without_a_body_keep_the_connection() {
    let app = TestApp::start().await;
    app.publish(&big(100)).await;
    let key = app.key(Plan::Enterprise).await;
    let (address, _stop, _server) = socket(&app).await;
    let mut client = TcpStream::connect(address).await.unwrap();
    let path = "/v1/datasets/big/data";
    for (request, status) in [
        (format!("HEAD {path} HTTP/1.1\r\nHost: t\r\nX-API-Key: {key}\r\n\r\n"), "200"),
        (
            format!(
                "GET {path} HTTP/1.1\r\nHost: t\r\nX-API-Key: {key}\r\nIf-None-Match: *\r\n\r\n"
            ),
            "304",
        ),
        (format!("HEAD /v1/datasets HTTP/1.1\r\nHost: t\r\nX-API-Key: {key}\r\n\r\n"), "200"),
    ] {
        client.write_all(request.as_bytes()).await.unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(client.read_u8().await.unwrap());
        }
        let head = String::from_utf8(head).unwrap();
        assert!(head.starts_with(&format!("HTTP/1.1 {status}")), "{head}");
        assert!(
            !head.contains("connection: close")
                && !head.contains("transfer-encoding")
                && !head.contains("content-length: 0"),
            "{head}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_hundred_clients_that_stop_reading_do_not_stop_others() {
    const STALLED: usize = 200;
    let mut settings = yearbook_server::ServiceSettings::default();
    settings.limits.burst_per_second = 0;
    // One key plays all of them here; what it may hold otherwise is another test.
    (settings.limits.key_share_percent, settings.server.body_bytes) = (0, 2 << 30);
    let app = TestApp::with_limits(settings, Limits::default()).await;
    // Some 20 MB as JSON: more than sockets and buffers hold.
    app.publish(&big(400_000)).await;
    let key = app.key(Plan::Enterprise).await;
    let (address, stop, server) = socket(&app).await;
    let all = app.free_instances();
    let request = format!(
        "GET /v1/datasets/big/data?limit=0&start=1900-01-01 HTTP/1.1\r\nHost: t\r\nX-API-Key: {key}\r\n\r\n"
    );
    let mut stalled = Vec::new();
    for _ in 0..STALLED {
        let mut client = TcpStream::connect(address).await.unwrap();
        client.write_all(request.as_bytes()).await.unwrap();
        let mut begun = [0; 12];
        client.read_exact(&mut begun).await.unwrap();
        assert_eq!(&begun, b"HTTP/1.1 200");
        stalled.push(client);
    }
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(
        app.free_instances(),
        all - STALLED,
        "every stalled client is in the middle of its response"
    );
    for _ in 0..20 {
        let reply = app.get("/v1/datasets/big/data").key(&key).send().await;
        assert_eq!(reply.outcome().0, 200);
    }
    drop(stalled);
    tokio::time::timeout(Duration::from_secs(20), async {
        while app.free_instances() < all {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await
    .expect("what the clients held is free again");
    stop.send(()).unwrap();
    server.await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unexpected_body_is_not_read() {
    /// Bytes that sockets hold on both sides, and more.
    const TAKEN: usize = 32 << 20;
    let app = TestApp::start().await;
    let (address, _stop, _server) = socket(&app).await;
    for framing in ["Content-Length: 100000000000", "Transfer-Encoding: chunked"] {
        let mut client = TcpStream::connect(address).await.unwrap();
        client
            .write_all(format!("GET /health HTTP/1.1\r\nHost: t\r\n{framing}\r\n\r\n").as_bytes())
            .await
            .unwrap();
        let chunk = [b"10000\r\n".as_slice(), &[b'x'; 65_536], b"\r\n"].concat();
        let mut sent = 0;
        // A client that goes on sending gets an error, or is not read from.
        while sent < TAKEN {
            match tokio::time::timeout(Duration::from_secs(2), client.write_all(&chunk)).await {
                Ok(Ok(())) => sent += chunk.len(),
                _ => break,
            }
        }
        assert!(sent < TAKEN, "{framing}");
    }
    // The answer does not wait for the body.
    let mut client = TcpStream::connect(address).await.unwrap();
    client
        .write_all(b"GET /health HTTP/1.1\r\nHost: t\r\nContent-Length: 1000\r\n\r\n")
        .await
        .unwrap();
    let mut begun = [0; 12];
    tokio::time::timeout(Duration::from_secs(5), client.read_exact(&mut begun))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(&begun, b"HTTP/1.1 200");
}
