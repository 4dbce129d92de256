//! HTTP/2 by hand, frame by frame (RFC 9113): client libraries read what they asked for, which an
//! attacker does not.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt};

/// The first bytes of every connection (RFC 9113, 3.4).
pub const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Kinds of frames (RFC 9113, 6).
pub mod kind {
    #![expect(missing_docs, reason = "the names of the standard")]

    pub const DATA: u8 = 0;
    pub const HEADERS: u8 = 1;
    pub const RST_STREAM: u8 = 3;
    pub const SETTINGS: u8 = 4;
    pub const PING: u8 = 6;
    pub const GOAWAY: u8 = 7;
    pub const WINDOW_UPDATE: u8 = 8;
    pub const CONTINUATION: u8 = 9;
}

/// Flag of SETTINGS and PING: an answer.
pub const ACK: u8 = 1;
/// Flag of DATA and HEADERS: nothing more comes on the stream.
pub const END_STREAM: u8 = 1;
/// Flag of HEADERS and CONTINUATION: no more fields come.
pub const END_HEADERS: u8 = 4;

/// A frame that came: kind, flags, stream and payload.
#[derive(Debug)]
pub struct Http2Frame {
    /// One of [`kind`].
    pub kind: u8,
    /// Their meaning is the kind's.
    pub flags: u8,
    /// 0 for the connection.
    pub stream: u32,
    /// The rest of it.
    pub payload: Vec<u8>,
}

impl Http2Frame {
    /// The next one.
    ///
    /// # Errors
    /// Fails when the connection ends before it does.
    pub async fn read(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<Self> {
        let mut head = [0; 9];
        stream.read_exact(&mut head).await?;
        let [a, b, c, kind, flags, number @ ..] = head;
        let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
        stream.read_exact(&mut payload).await?;
        Ok(Self { kind, flags, stream: u32::from_be_bytes(number), payload })
    }
}

/// One frame (RFC 9113, 4.1).
///
/// # Panics
/// Panics when `payload` is longer than 4 GiB.
#[must_use]
pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len())
        .unwrap_or_else(|_| panic!("{} bytes are no frame", payload.len()))
        .to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// The preface and empty settings: windows are 65,535 bytes a stream and a connection.
#[must_use]
pub fn client_preface() -> Vec<u8> {
    [PREFACE, &frame(kind::SETTINGS, 0, 0, &[])].concat()
}

/// A GET on stream `id`, which is odd and larger than any before.
#[must_use]
pub fn get(id: u32, path: &str, key: &str) -> Vec<u8> {
    // Indexed `:method: GET` and `:scheme: http`; the rest as literals that nobody stores (RFC
    // 7541, 6.2.2).
    let mut block = vec![0x82, 0x86];
    for (name, value) in [(4, path), (1, "test.example")] {
        block.push(name);
        literal(&mut block, value);
    }
    block.push(0);
    literal(&mut block, "x-api-key");
    literal(&mut block, key);
    frame(kind::HEADERS, END_HEADERS | END_STREAM, id, &block)
}

/// A string without Huffman coding; its length has a prefix of seven bits (RFC 7541, 5.1 and 5.2).
fn literal(block: &mut Vec<u8>, text: &str) {
    let mut length = text.len();
    if length < 127 {
        block.extend(u8::try_from(length));
    } else {
        block.push(127);
        length -= 127;
        while length >= 128 {
            block.extend(u8::try_from(length % 128 + 128));
            length /= 128;
        }
        block.extend(u8::try_from(length));
    }
    block.extend(text.as_bytes());
}
