//! A client of HTTP/2 that does what no library would: it opens streams and leaves them unread.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::timeout;
use yearbook_tests::http2::kind::{DATA, HEADERS, PING, RST_STREAM, SETTINGS, WINDOW_UPDATE};
use yearbook_tests::http2::{self, ACK, END_STREAM, Http2Frame, frame};

/// Longer than anything that a test waits for.
const PATIENCE: Duration = Duration::from_secs(60);

/// Event on a stream.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Http2Event {
    /// The head of an answer, with its status.
    Head(u16),
    /// So many bytes of its body.
    Bytes(u32),
    /// Its end.
    End,
    /// The stream was reset.
    Reset,
}

/// A connection.
pub(super) struct Http2Client {
    socket: TcpStream,
    next: u32,
    /// The end of a stream whose last bytes have been read.
    ended: Option<u32>,
}

impl Http2Client {
    /// Connects; each stream begins with `window` bytes that the server may send.
    pub(super) async fn connect(address: SocketAddr, window: u32) -> Self {
        let mut socket = TcpStream::connect(address).await.unwrap();
        socket.write_all(http2::PREFACE).await.unwrap();
        let mut client = Self { socket, next: 1, ended: None };
        // No dynamic table, so that a status is always spelled out.
        let settings = [&[0, 1, 0, 0, 0, 0, 0, 4], window.to_be_bytes().as_slice()].concat();
        client.send(SETTINGS, 0, 0, &settings).await;
        client
    }

    /// Asks for `path` on a new stream.
    pub(super) async fn get(&mut self, path: &str, key: &str) -> u32 {
        let stream = self.next;
        self.next += 2;
        self.write(&http2::get(stream, path, key)).await;
        stream
    }

    /// Lets the server send so many bytes more, on a stream or (0) on the connection.
    pub(super) async fn allow(&mut self, stream: u32, bytes: u32) {
        self.send(WINDOW_UPDATE, 0, stream, &bytes.to_be_bytes()).await;
    }

    /// Returns the next event and its stream. None when the connection has ended.
    pub(super) async fn next(&mut self) -> Option<(u32, Http2Event)> {
        timeout(PATIENCE, self.event()).await.expect("nothing arrives")
    }

    /// The same within `patience`.
    pub(super) async fn next_within(
        &mut self,
        patience: Duration,
    ) -> Option<Option<(u32, Http2Event)>> {
        // A frame that is cut by the timeout would be lost, so the first byte alone is waited for.
        if self.ended.is_none() && timeout(patience, self.socket.peek(&mut [0])).await.is_err() {
            return None;
        }
        Some(self.next().await)
    }

    /// Statuses of so many answers, in the order in which they arrive.
    pub(super) async fn statuses(&mut self, count: usize) -> Vec<u16> {
        let mut statuses = Vec::new();
        while statuses.len() < count {
            if let (_, Http2Event::Head(status)) = self.next().await.unwrap() {
                statuses.push(status);
            }
        }
        statuses
    }

    async fn event(&mut self) -> Option<(u32, Http2Event)> {
        if let Some(stream) = self.ended.take() {
            return Some((stream, Http2Event::End));
        }
        loop {
            let Http2Frame { kind, flags, stream, payload } =
                Http2Frame::read(&mut self.socket).await.ok()?;
            match kind {
                SETTINGS if flags & ACK == 0 => self.send(SETTINGS, ACK, 0, &[]).await,
                PING if flags & ACK == 0 => self.send(PING, ACK, 0, &payload).await,
                HEADERS => return Some((stream, Http2Event::Head(status(&payload)))),
                DATA => {
                    let ended = flags & END_STREAM != 0;
                    if payload.is_empty() && ended {
                        return Some((stream, Http2Event::End));
                    }
                    self.ended = ended.then_some(stream);
                    return Some((
                        stream,
                        Http2Event::Bytes(u32::try_from(payload.len()).unwrap()),
                    ));
                }
                RST_STREAM => return Some((stream, Http2Event::Reset)),
                _ => {}
            }
        }
    }

    async fn send(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        self.write(&frame(kind, flags, stream, payload)).await;
    }

    async fn write(&mut self, frame: &[u8]) {
        // A server that has ended the connection is noticed by reading.
        let _ = self.socket.write_all(frame).await;
    }
}

/// The status of a head, its first field: 200 by its index, others by their digits in Huffman's
/// code.
fn status(block: &[u8]) -> u16 {
    let block = &block[block.iter().take_while(|byte| **byte & 0xE0 == 0x20).count()..];
    match block {
        [0x88, ..] => 200,
        [_, _, 0x68, 0x4F, ..] => 429,
        [_, _, 0x6C, 0x0C, ..] => 503,
        other => panic!("a status that no test expects: {:02x?}", &other[..8.min(other.len())]),
    }
}
