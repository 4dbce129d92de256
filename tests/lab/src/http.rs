//! HTTP/1.1 for measuring: a request, and a download over a connection of its own, timed to its
//! first byte and to its last. Discards bodies; checks only their ends, so that a body that was cut
//! off is not measured.

use std::io::{Read, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

/// Longest silence of a server.
const TIMEOUT: Duration = Duration::from_secs(300);

/// Longest head of a response.
const HEAD_BYTES: usize = 64 << 10;

/// An HTTP request: a GET, or a POST where it has a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HttpRequest {
    pub(crate) url: String,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Option<String>,
}

impl HttpRequest {
    pub(crate) fn get(url: String) -> Self {
        Self { url, headers: Vec::new(), body: None }
    }

    pub(crate) fn with(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }
}

/// A whole answer with status 200.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Download {
    /// From before connecting to the last byte.
    pub(crate) seconds: f64,
    /// To the first byte of the body; its headers may come long before.
    pub(crate) first_byte: f64,
    /// Of the body, the lengths of chunks included.
    pub(crate) bytes: u64,
}

/// An answer whose head has been read.
pub(crate) struct ResponseStart {
    /// The rest of the body comes here.
    pub(crate) stream: TcpStream,
    pub(crate) head: String,
    /// The part of the body that came with the head.
    pub(crate) body: Vec<u8>,
}

/// Sends the request over a connection of its own and reads the head of the answer, whatever its
/// status.
pub(crate) fn send(ask: &HttpRequest) -> Result<ResponseStart> {
    let (host, path) = ask
        .url
        .strip_prefix("http://")
        .and_then(|rest| rest.split_once('/'))
        .context("an address without a path")?;
    let mut stream = TcpStream::connect(host).with_context(|| format!("cannot reach {host}"))?;
    stream.set_read_timeout(Some(TIMEOUT)).context("cannot set a timeout")?;
    stream.write_all(request(ask, host, path).as_bytes()).context("cannot send a request")?;
    let (head, body) = read_head(&mut stream, &mut vec![0; 64 << 10])?;
    Ok(ResponseStart { stream, head, body })
}

/// Sends the request and reads the answer to its end.
pub(crate) fn get(ask: &HttpRequest) -> Result<Download> {
    let started = Instant::now();
    let ResponseStart { mut stream, head, body } = send(ask)?;
    let mut buffer = vec![0; 256 << 10];
    let end = BodyEnd::from_head(&head).with_context(|| format!("{}: {head:?}", ask.url))?;
    let mut bytes = u64::try_from(body.len()).context("a length")?;
    let mut first = (bytes > 0).then(|| started.elapsed());
    let mut last = body.get(body.len().saturating_sub(END.len())..).unwrap_or_default().to_vec();
    loop {
        let read = stream.read(&mut buffer).with_context(|| format!("{} was cut off", ask.url))?;
        if read == 0 {
            break;
        }
        first = first.or_else(|| Some(started.elapsed()));
        bytes += u64::try_from(read).context("a length")?;
        last.extend_from_slice(&buffer[read.saturating_sub(END.len())..read]);
        last.drain(..last.len().saturating_sub(END.len()));
    }
    let seconds = started.elapsed().as_secs_f64();
    if !end.is_reached(bytes, &last) {
        bail!("{} was cut off after {bytes} bytes", ask.url);
    }
    Ok(Download { seconds, first_byte: first.map_or(seconds, |first| first.as_secs_f64()), bytes })
}

/// The body of an answer that says how long it is.
pub(crate) fn body(ask: &HttpRequest) -> Result<Vec<u8>> {
    let ResponseStart { mut stream, head, mut body } = send(ask)?;
    let Some(BodyEnd::Length(length)) = BodyEnd::from_head(&head) else {
        bail!("{}: {head:?}", ask.url);
    };
    stream.read_to_end(&mut body).with_context(|| format!("{} was cut off", ask.url))?;
    if body.len() as u64 != length {
        bail!("{} was cut off after {} bytes", ask.url, body.len());
    }
    Ok(body)
}

/// The value of a header of the answer.
pub(crate) fn response_header(ask: &HttpRequest, name: &str) -> Result<String> {
    header_value(&send(ask)?.head, name)
        .map(str::to_owned)
        .with_context(|| format!("{} sent no {name}", ask.url))
}

fn request(ask: &HttpRequest, host: &str, path: &str) -> String {
    let headers: String =
        ask.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let (method, body) = ask.body.as_ref().map_or(("GET", ""), |body| ("POST", body.as_str()));
    let length =
        if body.is_empty() { String::new() } else { format!("Content-Length: {}\r\n", body.len()) };
    format!(
        "{method} /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{headers}{length}\r\n{body}"
    )
}

/// The head as text and what was read of the body with it.
fn read_head(stream: &mut TcpStream, buffer: &mut [u8]) -> Result<(String, Vec<u8>)> {
    let mut read = Vec::new();
    while read.len() < HEAD_BYTES {
        let more = stream.read(buffer).context("no answer")?;
        if more == 0 {
            break;
        }
        read.extend_from_slice(&buffer[..more]);
        if let Some(at) = read.windows(4).position(|window| window == b"\r\n\r\n") {
            let body = read.split_off(at + 4);
            return Ok((String::from_utf8_lossy(&read).into_owned(), body));
        }
    }
    bail!("an answer without an end of its headers")
}

/// Last bytes of a body with chunks.
const END: &[u8] = b"0\r\n\r\n";

/// Sign of the end of a body.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum BodyEnd {
    Length(u64),
    Chunk,
}

impl BodyEnd {
    /// None where the answer is not 200, or its end could not be told from a cut.
    pub(crate) fn from_head(head: &str) -> Option<Self> {
        if !head.starts_with("HTTP/1.1 200") {
            return None;
        }
        if header_value(head, "transfer-encoding")
            .is_some_and(|coding| coding.eq_ignore_ascii_case("chunked"))
        {
            return Some(Self::Chunk);
        }
        header_value(head, "content-length")?.parse().ok().map(Self::Length)
    }

    pub(crate) fn is_reached(&self, bytes: u64, last: &[u8]) -> bool {
        match self {
            Self::Length(length) => bytes == *length,
            Self::Chunk => last == END,
        }
    }
}

fn header_value<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let lines = head.lines().skip(1).filter_map(|line| line.split_once(':'));
    lines
        .into_iter()
        .find(|(found, _)| found.eq_ignore_ascii_case(name))
        .map(|(_, value)| value.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_that_was_cut_off_is_not_measured() {
        let chunked = BodyEnd::from_head("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        assert_eq!(chunked, Some(BodyEnd::Chunk));
        assert!(
            BodyEnd::Chunk.is_reached(20, b"0\r\n\r\n")
                && !BodyEnd::Chunk.is_reached(20, b"ab\r\n\r")
        );
        let length =
            BodyEnd::from_head("HTTP/1.1 200 OK\r\nX-Note: a: b\r\ncontent-length: 7\r\n\r\n");
        assert_eq!(length, Some(BodyEnd::Length(7)));
        assert!(BodyEnd::Length(7).is_reached(7, b"") && !BodyEnd::Length(7).is_reached(6, b""));
        for refused in
            ["HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n"]
        {
            assert_eq!(BodyEnd::from_head(refused), None);
        }
    }
}
