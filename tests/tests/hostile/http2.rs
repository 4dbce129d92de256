//! HTTP/2 as somebody speaks it who follows no rule but its framing (RFC 9113): frames by hand, since a
//! client library would read what it asked for.

use tokio::io::{AsyncReadExt, AsyncWriteExt, Result};
use tokio::net::TcpStream;

/// What every connection begins with (RFC 9113, 3.4).
pub(crate) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;

const ACK: u8 = 1;
const END_STREAM_AND_HEADERS: u8 = 5;

/// Sends the preface and empty settings: windows are 65,535 bytes a stream and a connection.
pub(crate) async fn begin(stream: &mut TcpStream) -> Result<()> {
    stream.write_all(PREFACE).await?;
    stream.write_all(&frame(SETTINGS, 0, 0, &[])).await?;
    stream.write_all(&frame(SETTINGS, ACK, 0, &[])).await
}

/// A GET on stream `id`, which is odd and larger than any before.
pub(crate) fn get(id: u32, path: &str, key: &str) -> Vec<u8> {
    // Indexed `:method: GET` and `:scheme: http`; the rest as literals that nobody stores (RFC 7541, 6.2.2).
    let mut block = vec![0x82, 0x86];
    for (name, value) in [(4, path), (1, "test.example")] {
        block.push(name);
        literal(&mut block, value);
    }
    block.push(0);
    literal(&mut block, "x-api-key");
    literal(&mut block, key);
    frame(HEADERS, END_STREAM_AND_HEADERS, id, &block)
}

/// Gives up stream `id` (CANCEL).
pub(crate) fn reset(id: u32) -> Vec<u8> {
    frame(RST_STREAM, 0, id, &[0, 0, 0, 8])
}

/// Takes what comes until the connection ends; no window is ever opened again, so bodies stay unread.
pub(crate) async fn until_closed(stream: &mut TcpStream) {
    let mut buffer = vec![0; 16 << 10];
    while stream.read(&mut buffer).await.is_ok_and(|read| read > 0) {}
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("a frame is short").to_be_bytes();
    let mut bytes = vec![length[1], length[2], length[3], kind, flags];
    bytes.extend(stream.to_be_bytes());
    bytes.extend(payload);
    bytes
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
