//! Abuse of HTTP/1.1 and HTTP/2 themselves, frame by frame: what the libraries bound by settings of
//! ours, and that nothing is held for a request's body, which no route takes.

use std::collections::HashMap;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use yearbook_server::ServerSettings;
use yearbook_tests::http2::kind::{
    CONTINUATION, DATA, GOAWAY, HEADERS, PING, RST_STREAM, SETTINGS, WINDOW_UPDATE,
};
use yearbook_tests::http2::{END_HEADERS, END_STREAM, client_preface, frame};

use super::wire::{
    PATIENCE, SocketServer, get, goaway, health, read_frame, sent, until_closed, wait_until,
};

/// Reason "this is too much" of HTTP/2 (RFC 9113, 7).
const ENHANCE_YOUR_CALM: u32 = 0xb;

/// Reason "all is well".
const NO_ERROR: u32 = 0;

/// Bytes that sockets hold on both sides, and more.
const TAKEN: usize = 32 << 20;

#[tokio::test]
async fn a_body_or_trailers_that_trickle_hold_nothing_http_1() {
    let server = SocketServer::start(ServerSettings::default()).await;
    let begun = |more: &str| format!("GET /health HTTP/1.1\r\nHost: t\r\n{more}");
    for (name, request, drop_by_drop) in [
        ("a body", begun("Content-Length: 1000\r\n\r\n"), "x"),
        ("chunks", begun("Transfer-Encoding: chunked\r\n\r\n"), "1\r\nx\r\n"),
        ("the head of a chunk", begun("Transfer-Encoding: chunked\r\n\r\n1;"), "x"),
        ("trailers", begun("Transfer-Encoding: chunked\r\nTrailer: x\r\n\r\n0\r\n"), "x: y\r\n"),
        (
            "a body of another method",
            begun("").replace("GET", "POST") + "Content-Length: 1000\r\n\r\n",
            "x",
        ),
    ] {
        let socket = sent(server.address, request.as_bytes()).await;
        let (mut reader, mut writer) = socket.into_split();
        let trickle = tokio::spawn(async move {
            while writer.write_all(drop_by_drop.as_bytes()).await.is_ok() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        });
        // The answer does not wait for the rest, and the connection ends with it.
        let mut answer = Vec::new();
        drop(
            tokio::time::timeout(PATIENCE, reader.read_to_end(&mut answer))
                .await
                .expect("the connection should end"),
        );
        assert!(
            answer.starts_with(b"HTTP/1.1 200") || answer.starts_with(b"HTTP/1.1 405"),
            "{name}"
        );
        drop(reader);
        tokio::time::timeout(PATIENCE, trickle).await.unwrap().unwrap();
        server.until_open(0).await;
    }
    // A small body that has come whole costs nothing, not even the connection.
    let mut socket = sent(server.address, begun("Content-Length: 2\r\n\r\n{}").as_bytes()).await;
    let mut begin = [0; 12];
    socket.read_exact(&mut begin).await.unwrap();
    assert_eq!(&begin, b"HTTP/1.1 200");
}

#[tokio::test]
async fn a_body_or_trailers_that_trickle_hold_nothing_http_2() {
    let server = SocketServer::start(ServerSettings::default()).await;
    // A request that announces a body, whose data and trailers never end.
    let mut socket = sent(
        server.address,
        &[client_preface(), frame(HEADERS, END_HEADERS, 1, &health())].concat(),
    )
    .await;
    let mut answered = false;
    loop {
        let frame = read_frame(&mut socket).await.expect("the connection lives on");
        assert_ne!(frame.kind, GOAWAY);
        answered |= frame.kind == HEADERS && frame.stream == 1;
        // The stream is closed for both sides, so that nothing waits for its end.
        if frame.kind == RST_STREAM {
            assert_eq!(
                (frame.stream, frame.payload.as_slice()),
                (1, NO_ERROR.to_be_bytes().as_slice())
            );
            break;
        }
    }
    assert!(answered);
    // What still comes is dropped, and the next request is answered.
    let late =
        [frame(DATA, 0, 1, b"x"), frame(HEADERS, END_HEADERS | END_STREAM, 3, &health())].concat();
    socket.write_all(&late).await.unwrap();
    while read_frame(&mut socket).await.expect("an answer").stream != 3 {}
    assert_eq!(server.metric("yearbook_http_requests_in_flight").await, 0);
}

#[tokio::test]
async fn expect_100_continue_is_answered_by_the_final_status_rfc_9110_10_1_1() {
    let server = SocketServer::start(ServerSettings::default()).await;
    for (method, framing, status) in [
        ("GET", "Content-Length: 1000", "200"),
        ("GET", "Transfer-Encoding: chunked", "200"),
        ("POST", "Content-Length: 1000", "405"),
        ("GET", "Content-Length: 0", "200"),
    ] {
        let request = format!(
            "{method} /health HTTP/1.1\r\nHost: t\r\nExpect: 100-continue\r\n{framing}\r\nConnection: close\r\n\r\n"
        );
        let mut socket = sent(server.address, request.as_bytes()).await;
        let answer = String::from_utf8(until_closed(&mut socket).await).unwrap();
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status}")) && !answer.contains(" 100 "),
            "{method} {framing}: {answer}"
        );
    }
    // Nobody asks for the body, so who waits with it holds nothing either.
    server.until_open(0).await;
}

#[tokio::test]
async fn http_2_says_our_bounds_in_its_settings() {
    let server = SocketServer::start(ServerSettings::default()).await;
    let mut socket = sent(server.address, &client_preface()).await;
    let settings = read_frame(&mut socket).await.unwrap();
    assert_eq!((settings.kind, settings.flags), (SETTINGS, 0));
    let number = |pair: &[u8]| (pair[1], u32::from_be_bytes(pair[2..].try_into().unwrap()));
    let said: HashMap<u8, u32> = settings.payload.chunks_exact(6).map(number).collect();
    let of = |id: u8, default: u32| said.get(&id).copied().unwrap_or(default);
    // SETTINGS_MAX_CONCURRENT_STREAMS, _INITIAL_WINDOW_SIZE, _MAX_FRAME_SIZE,
    // _MAX_HEADER_LIST_SIZE, with the defaults of RFC 9113, 6.5.2: none, 65,535, 16,384, none.
    assert_eq!(
        (of(3, u32::MAX), of(4, 65_535), of(5, 16_384), of(6, u32::MAX)),
        (128, 65_535, 16_384, 65_536)
    );
    // The window of all streams together is as small: it is never enlarged.
    socket.write_all(&frame(PING, 0, 0, &[7; 8])).await.unwrap();
    loop {
        let frame = read_frame(&mut socket).await.unwrap();
        assert_ne!(frame.kind, WINDOW_UPDATE);
        if frame.kind == PING && frame.flags == 1 {
            break;
        }
    }
}

#[tokio::test]
async fn a_rapid_reset_ends_its_own_connection_alone() {
    let server = SocketServer::start(ServerSettings::default()).await;
    let mut other = TcpStream::connect(server.address).await.unwrap();
    let mut bytes = client_preface();
    for number in 0..2_000_u32 {
        let stream = 2 * number + 1;
        bytes.extend(frame(HEADERS, END_HEADERS | END_STREAM, stream, &health()));
        bytes.extend(frame(RST_STREAM, 0, stream, &8_u32.to_be_bytes()));
    }
    let mut socket = sent(server.address, &bytes).await;
    assert_eq!(goaway(&mut socket).await, ENHANCE_YOUR_CALM);
    assert_eq!(get(&mut other, "/health").await, 200);
    drop(other);
    server.until_open(0).await;
    wait_until(async || server.metric("yearbook_http_requests_in_flight").await == 0).await;
}

#[tokio::test]
async fn streams_that_we_must_reset_are_numbered_made_you_reset() {
    let server = SocketServer::start(ServerSettings::default()).await;
    let mut bytes = client_preface();
    for number in 0..3_000_u32 {
        let stream = 2 * number + 1;
        bytes.extend(frame(HEADERS, END_HEADERS, stream, &health()));
        // A window that grows beyond 2^31 is a mistake for which we reset the stream.
        bytes.extend(frame(WINDOW_UPDATE, 0, stream, &0x7fff_ffff_u32.to_be_bytes()));
    }
    let mut socket = sent(server.address, &bytes).await;
    assert_eq!(goaway(&mut socket).await, ENHANCE_YOUR_CALM);
    server.until_open(0).await;
}

#[tokio::test]
async fn header_blocks_without_end_end_their_connection() {
    let server = SocketServer::start(ServerSettings::default()).await;
    // A field of 4 KiB that is not indexed, and one of nothing.
    let field = |bytes: usize| {
        [&[0, 1, b'x'][..], &[0x7f, 0x81, 0x1f][..], &vec![b'y'; bytes][..]].concat()
    };
    for (name, payload) in [("full frames", field(4_096)), ("empty frames", Vec::new())] {
        let mut socket =
            sent(server.address, &[client_preface(), frame(HEADERS, 0, 1, &health())].concat())
                .await;
        let more = frame(CONTINUATION, 0, 1, &payload).repeat(64);
        let mut written = 0;
        while written < TAKEN {
            match tokio::time::timeout(PATIENCE, socket.write_all(&more))
                .await
                .expect("it is read or refused")
            {
                Ok(()) => written += more.len(),
                Err(_) => break,
            }
        }
        assert!(written < TAKEN, "{name}");
        server.until_open(0).await;
    }
}

#[tokio::test]
async fn a_flood_of_pings_or_settings_stops_at_a_client_that_does_not_read() {
    let server =
        SocketServer::start(ServerSettings { write_idle_ms: 500, ..ServerSettings::default() })
            .await;
    for (done, (name, one)) in
        [("pings", frame(PING, 0, 0, &[0; 8])), ("settings", frame(SETTINGS, 0, 0, &[]))]
            .into_iter()
            .enumerate()
    {
        let first = frame(HEADERS, END_HEADERS | END_STREAM, 1, &health());
        let mut socket = sent(server.address, &[client_preface(), first].concat()).await;
        let many = one.repeat(4_096);
        let mut written = 0;
        // Every one is answered, and while the answers are not taken no more are read.
        while written < TAKEN {
            match tokio::time::timeout(PATIENCE, socket.write_all(&many))
                .await
                .expect("it is read or refused")
            {
                Ok(()) => written += many.len(),
                Err(_) => break,
            }
        }
        assert!(written < TAKEN, "{name}");
        server.until_open(0).await;
        assert_eq!(server.timed_out("write").await, u64::try_from(done).unwrap() + 1, "{name}");
    }
}
