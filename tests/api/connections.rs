//! Connections that never begin, never end or never read, over real sockets: each is closed in
//! time, and nobody else waits for it.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use yearbook_domain::Plan;
use yearbook_server::{LimitSettings, ServerSettings, ServiceSettings};
use yearbook_tests::app::big;
use yearbook_tests::http2::kind::{HEADERS, PING, SETTINGS};
use yearbook_tests::http2::{END_HEADERS, END_STREAM, PREFACE, client_preface, frame};

use super::wire::{
    NEIGHBOUR, PATIENCE, SocketServer, connect_from, get, health, sent, until_closed, wait_until,
};

/// A deadline that no test reaches.
const NEVER_MS: u64 = 600_000;

/// A deadline that a test waits for.
const SOON_MS: u64 = 400;

/// All deadlines far away.
fn patient() -> ServerSettings {
    ServerSettings {
        header_read_ms: NEVER_MS,
        idle_ms: NEVER_MS,
        write_idle_ms: NEVER_MS,
        shutdown_ms: 5_000,
        ..ServerSettings::default()
    }
}

/// Connections that send nothing; one that is closed at once may be so before it is made.
async fn connect_many(server: SocketAddr, many: usize) -> Vec<TcpStream> {
    let mut made = Vec::new();
    for _ in 0..many {
        made.extend(TcpStream::connect(server).await);
    }
    made
}

#[tokio::test]
async fn silent_sockets_of_one_address_leave_half_of_the_slots_to_others() {
    let server = SocketServer::start(ServerSettings { connections: 8, ..patient() }).await;
    let mut silent = connect_many(server.address, 8).await;
    wait_until(async || server.refused("address").await == 4).await;
    // What has no slot is closed at once and does not wait for ever.
    for refused in silent.iter_mut().skip(4) {
        assert!(until_closed(refused).await.is_empty());
    }
    silent.truncate(4);
    assert_eq!((server.open().await, server.timed_out("head").await), (4, 0));
    for _ in 0..20 {
        let mut other = connect_from(NEIGHBOUR, server.address).await;
        assert_eq!(get(&mut other, "/health").await, 200);
    }
    // Who hangs up makes room for the same address, too.
    silent.truncate(1);
    server.until_open(1).await;
    assert_eq!(get(&mut TcpStream::connect(server.address).await.unwrap(), "/health").await, 200);
}

/// A client that connects again as soon as it is refused would keep a core busy with nothing else.
#[tokio::test]
async fn an_address_that_collects_refused_connections_has_them_closed_late() {
    const REFUSED: u64 = 10;
    let server = ServerSettings { connections: 8, ..patient() };
    let mut settings = ServiceSettings { server, ..ServiceSettings::default() };
    settings.limits =
        LimitSettings { burst_per_second: 0, refusals_per_second: 1, ..settings.limits };
    let server = SocketServer::start_with(settings).await;
    let _silent = connect_many(server.address, 4).await;
    let began = Instant::now();
    let mut refused = Vec::new();
    for _ in 0..REFUSED {
        // One that is closed at once may be so before it is made.
        refused.extend(
            TcpStream::connect(server.address).await.map(|stream| (stream, Instant::now())),
        );
    }
    // One of them at once, and one for each second.
    let at_once = 2 + began.elapsed().as_secs();
    let mut other = connect_from(NEIGHBOUR, server.address).await;
    assert_eq!(get(&mut other, "/health").await, 200);
    let mut late = 0;
    for (stream, connected) in &mut refused {
        assert!(until_closed(stream).await.is_empty());
        late += u64::from(connected.elapsed() >= Duration::from_millis(400));
    }
    assert!(late + at_once >= REFUSED, "{late} of {REFUSED} were late");
    assert_eq!(server.refused("address").await, REFUSED);
}

#[tokio::test]
async fn eight_silent_sockets_on_eight_slots_are_closed_in_time() {
    let server = SocketServer::start(ServerSettings {
        connections: 8,
        header_read_ms: SOON_MS,
        ..patient()
    })
    .await;
    let mut silent = Vec::new();
    for from in ["127.0.0.1", "127.0.0.2"].into_iter().cycle().take(8) {
        silent.push(connect_from(from.parse().unwrap(), server.address).await);
    }
    // All slots are taken, so this one waits for the first that comes free.
    let mut ninth = connect_from("127.0.0.3".parse().unwrap(), server.address).await;
    assert_eq!(get(&mut ninth, "/health").await, 200);
    for socket in &mut silent {
        assert!(until_closed(socket).await.is_empty());
    }
    assert_eq!(
        (
            server.timed_out("head").await,
            server.refused("address").await,
            server.refused("full").await
        ),
        (8, 0, 0)
    );
    server.until_open(1).await;
}

#[tokio::test]
async fn a_head_that_is_late_closes_its_connection_http_1_and_2() {
    let server = SocketServer::start(ServerSettings { header_read_ms: SOON_MS, ..patient() }).await;
    let preface_and = |more: &[u8]| [PREFACE, more].concat();
    let cases: [(&str, Vec<u8>); 8] = [
        ("nothing", vec![]),
        ("the first byte of the preface", PREFACE[..1].to_vec()),
        ("half of the preface", PREFACE[..12].to_vec()),
        ("the preface but for its end", PREFACE[..23].to_vec()),
        ("the preface alone", PREFACE.to_vec()),
        ("a greeting and no request", client_preface()),
        (
            "pings and no request",
            preface_and(&[frame(SETTINGS, 0, 0, &[]), frame(PING, 0, 0, &[0; 8])].concat()),
        ),
        ("half of a head", b"GET /health HTTP/1.1\r\nHost: t\r\n".to_vec()),
    ];
    let many = u64::try_from(cases.len()).unwrap();
    for (name, bytes) in cases {
        let mut socket = sent(server.address, &bytes).await;
        let answer = until_closed(&mut socket).await;
        assert!(!answer.starts_with(b"HTTP/1.1 2"), "{name}");
    }
    assert_eq!(server.timed_out("head").await, many);

    // A head that trickles, on a connection that has had an answer.
    let mut socket = TcpStream::connect(server.address).await.unwrap();
    assert_eq!(get(&mut socket, "/health").await, 200);
    let trickle = async {
        socket.write_all(b"GET /health HTTP/1.1\r\n").await?;
        loop {
            socket.write_all(b"x: y\r\n").await?;
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let ended: Result<std::io::Result<()>, _> = tokio::time::timeout(PATIENCE, trickle).await;
    assert!(ended.is_ok_and(|written| written.is_err()));
    assert_eq!((server.timed_out("head").await, server.timed_out("idle").await), (many + 1, 0));
    server.until_open(0).await;
}

#[tokio::test]
async fn an_idle_connection_is_closed_and_one_that_is_used_is_not() {
    let server = SocketServer::start(ServerSettings { idle_ms: 1_500, ..patient() }).await;
    let mut socket = TcpStream::connect(server.address).await.unwrap();
    // Longer in all than an idle connection lives.
    for _ in 0..20 {
        assert_eq!(get(&mut socket, "/health").await, 200);
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert!(until_closed(&mut socket).await.is_empty());
    assert_eq!((server.timed_out("idle").await, server.timed_out("head").await), (1, 0));
    server.until_open(0).await;
}

/// Asks for `path` on a connection of HTTP/2 and reads all of its body, slowly at first.
async fn http2_get(
    sender: &mut h2::client::SendRequest<Bytes>,
    path: &str,
    pause: Duration,
    key: &str,
) -> (u16, usize) {
    let request =
        http::Request::get(format!("http://t{path}")).header("x-api-key", key).body(()).unwrap();
    let (response, _) = sender.send_request(request, true).unwrap();
    let response = response.await.unwrap();
    let (status, mut body) = (response.status().as_u16(), response.into_body());
    tokio::time::sleep(pause).await;
    let mut bytes = 0;
    while let Some(chunk) = body.data().await {
        let chunk = chunk.unwrap();
        bytes += chunk.len();
        body.flow_control().release_capacity(chunk.len()).unwrap();
    }
    (status, bytes)
}

#[tokio::test]
async fn http_2_that_only_answers_pings_is_idle_and_an_open_stream_is_not() {
    let server = SocketServer::start(ServerSettings { idle_ms: 1_000, ..patient() }).await;
    server.app.publish(&big(90_000)).await;
    let key = server.app.key(Plan::Enterprise).await;
    let stream = TcpStream::connect(server.address).await.unwrap();
    let (mut sender, mut connection) = h2::client::handshake(stream).await.unwrap();
    let mut pings = connection.ping_pong().unwrap();
    let connection = tokio::spawn(connection);
    // Open for three times as long as an idle connection lives, since its reader takes its time.
    let path = "/v1/datasets/big/data?limit=0&format=csv";
    let (status, bytes) = http2_get(&mut sender, path, Duration::from_millis(3_000), &key).await;
    assert_eq!((status, bytes > 1 << 20, server.timed_out("idle").await), (200, true, 0));
    // From now on there are pings and their answers, both ways.
    let pinging = tokio::spawn(async move {
        while pings.ping(h2::Ping::opaque()).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    let ended = tokio::time::timeout(PATIENCE, connection)
        .await
        .expect("the server should hang up")
        .unwrap();
    assert!(ended.is_ok(), "it says goodbye first: {ended:?}");
    pinging.await.unwrap();
    assert_eq!(server.timed_out("idle").await, 1);
    server.until_open(0).await;
}

#[tokio::test]
async fn http_2_that_answers_nothing_is_closed_after_goodbye() {
    let server = SocketServer::start(ServerSettings { idle_ms: SOON_MS, ..patient() }).await;
    let request = frame(HEADERS, END_STREAM | END_HEADERS, 1, &health());
    let mut socket = sent(server.address, &[client_preface(), request].concat()).await;
    // Neither our settings nor our pings are acknowledged.
    until_closed(&mut socket).await;
    assert_eq!(server.timed_out("idle").await, 1);
    server.until_open(0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_that_never_reads_is_cut_off_and_a_slow_one_is_not() {
    let server = SocketServer::start(ServerSettings { write_idle_ms: 1_500, ..patient() }).await;
    // Some 20 MB as JSON: more than sockets and buffers hold.
    server.app.publish(&big(400_000)).await;
    let key = server.app.key(Plan::Enterprise).await;
    let free = server.app.free_instances();
    let request = format!(
        "GET /v1/datasets/big/data?limit=0&start=1900-01-01 HTTP/1.1\r\nHost: t\r\nX-API-Key: {key}\r\n\r\n"
    );
    let mut deaf = sent(server.address, request.as_bytes()).await;
    wait_until(async || server.timed_out("write").await == 1).await;
    // Reset, so that neither the rest comes nor an end.
    let mut rest = Vec::new();
    let cut = deaf.read_to_end(&mut rest).await;
    assert!(cut.is_err() && !rest.ends_with(b"0\r\n\r\n"), "what was cut must not look whole");
    wait_until(async || server.app.free_instances() == free).await;
    let mut slow = sent(server.address, request.as_bytes()).await;
    // Some of it every 100 ms, for three times as long as the deaf one has.
    let mut taken = vec![0; 128 << 10];
    for _ in 0..45 {
        slow.read_exact(&mut taken).await.unwrap();
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    // It gets everything.
    let mut last = [0; 5];
    loop {
        let count = slow.read(&mut taken).await.unwrap();
        let seen = [&last[..], &taken[..count]].concat();
        last.copy_from_slice(&seen[seen.len() - 5..]);
        if last == *b"0\r\n\r\n" {
            break;
        }
        assert!(count > 0, "it was cut off, too");
    }
    drop(slow);
    wait_until(async || server.app.free_instances() == free).await;
    assert_eq!(server.timed_out("write").await, 1);
    server.until_open(0).await;
}

#[tokio::test]
async fn the_admin_listener_has_the_same_bounds() {
    let admin = |metric: &str| format!("yearbook_connections_{metric}");
    let server = SocketServer::start(patient()).await;
    let _silent = connect_many(server.admin, 64).await;
    wait_until(async || {
        server.metric(&admin("refused_total{listener=\"admin\",reason=\"address\"}")).await == 32
    })
    .await;
    let mut other = connect_from(NEIGHBOUR, server.admin).await;
    assert_eq!(get(&mut other, "/health").await, 200);
    assert_eq!(
        server.metric(&admin("open{listener=\"public\"}")).await,
        0,
        "each listener counts its own"
    );

    let server = SocketServer::start(ServerSettings { header_read_ms: SOON_MS, ..patient() }).await;
    let mut socket = sent(server.admin, &PREFACE[..12]).await;
    assert!(until_closed(&mut socket).await.is_empty());
    assert_eq!(
        server.metric(&admin("timed_out_total{listener=\"admin\",reason=\"head\"}")).await,
        1
    );
}

#[tokio::test]
async fn a_stop_does_not_wait_for_idle_connections() {
    let mut server =
        SocketServer::start(ServerSettings { connections: 4, shutdown_ms: NEVER_MS, ..patient() })
            .await;
    let mut others = Vec::new();
    // Nothing, half of a preface, an answered request, and one that waits for a slot.
    others.push(TcpStream::connect(server.address).await.unwrap());
    others.push(sent(server.address, &PREFACE[..12]).await);
    for _ in 0..2 {
        let mut kept = connect_from(NEIGHBOUR, server.address).await;
        assert_eq!(get(&mut kept, "/health").await, 200);
        others.push(kept);
    }
    others.push(connect_from("127.0.0.3".parse().unwrap(), server.address).await);
    wait_until(async || server.open().await == 5).await;
    server.stop().await;
    for socket in &mut others {
        until_closed(socket).await;
    }
}

#[tokio::test]
async fn frequent_refusals_come_late() {
    const PER_SECOND: usize = 20;
    const AT_ONCE: usize = PER_SECOND / 10;
    let server = SocketServer::start_with(ServiceSettings {
        server: patient(),
        limits: LimitSettings {
            burst_per_second: 0,
            refusals_per_second: u32::try_from(PER_SECOND).unwrap(),
            ..LimitSettings::default()
        },
        ..ServiceSettings::default()
    })
    .await;
    let mut sockets = Vec::new();
    for _ in 0..3 * PER_SECOND {
        sockets.push(TcpStream::connect(server.address).await.unwrap());
    }
    let refusals = sockets.iter_mut().map(async |socket| {
        let begun = Instant::now();
        assert_eq!(get(socket, "/v1/no-such-route").await, 404);
        begun.elapsed()
    });
    let refused = async {
        let times = futures::future::join_all(refusals).await;
        let late = times.iter().filter(|time| **time >= Duration::from_millis(500)).count();
        // On a busy machine the bucket fills while they come.
        assert!((1..=times.len() - AT_ONCE).contains(&late), "{late} of {}", times.len());
    };
    let polite = async {
        let mut other = connect_from(NEIGHBOUR, server.address).await;
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_millis(500) {
            assert_eq!(get(&mut other, "/health").await, 200, "success is never late");
        }
    };
    tokio::join!(refused, polite);
}
