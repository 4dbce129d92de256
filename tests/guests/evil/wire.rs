//! A client on a real socket, one request a connection, that tells a whole body from a cut one.

use std::net::SocketAddr;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The status of an answer of which nothing came: a server's head waits for the first bytes of its
/// body, and where the body fails before both are sent, the connection is dropped with them.
pub(crate) const NOTHING: u16 = 0;

/// An answer, read until the server closed.
pub(crate) struct RawResponse {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
    /// True if the body ended as its framing says.
    pub(crate) whole: bool,
}

/// Asks for `path`, with problem details for an error.
pub(crate) async fn get(address: SocketAddr, path: &str, key: &str) -> RawResponse {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "GET {path} HTTP/1.1\r\nHost: test.example\r\nX-API-Key: {key}\r\nAccept: application/problem+json, */*;q=0.1\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut bytes = Vec::new();
    // A body that is cut may end in a reset.
    let _ = stream.read_to_end(&mut bytes).await;
    read(&bytes)
}

fn read(bytes: &[u8]) -> RawResponse {
    if bytes.is_empty() {
        return RawResponse {
            status: NOTHING,
            head: String::new(),
            body: Vec::new(),
            whole: false,
        };
    }
    let end = bytes
        .windows(4)
        .position(|window| window == b"\r\n\r\n")
        .unwrap_or_else(|| panic!("no head: {bytes:?}"));
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap();
    let rest = &bytes[end + 4..];
    let (body, whole) = match header(&head, "content-length") {
        Some(length) => (rest.to_vec(), length.parse() == Ok(rest.len())),
        None => unchunked(rest),
    };
    RawResponse { status, head, body, whole }
}

/// The chunks' bytes, and whether the last chunk came.
fn unchunked(mut rest: &[u8]) -> (Vec<u8>, bool) {
    let mut body = Vec::new();
    while let Some(end) = rest.windows(2).position(|window| window == b"\r\n") {
        let Ok(size) = usize::from_str_radix(std::str::from_utf8(&rest[..end]).unwrap(), 16) else {
            break;
        };
        if size == 0 {
            return (body, true);
        }
        let Some(chunk) = rest.get(end + 2..end + 2 + size) else { break };
        body.extend_from_slice(chunk);
        rest = rest.get(end + 4 + size..).unwrap_or_default();
    }
    (body, false)
}

/// A header's value.
fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines().find_map(|line| {
        line.split_once(": ")
            .filter(|(found, _)| found.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
    })
}

impl RawResponse {
    /// The body as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as JSON, the request's id replaced by `ID`.
    pub(crate) fn problem(&self) -> Value {
        let expected =
            if self.status == 422 { "application/json" } else { "application/problem+json" };
        assert_eq!(self.header("content-type"), Some(expected), "{}", self.head);
        let id = self.header("x-request-id").unwrap_or_default();
        serde_json::from_str(&self.text().replace(id, "ID")).unwrap()
    }

    /// A header's value.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        header(&self.head, name)
    }
}
