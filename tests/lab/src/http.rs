//! HTTP/1.1 for measuring, by `ureq`: a request, and a download timed to its first byte and to its
//! last. Each has a connection of its own. Discards bodies, but a body that was cut off is an
//! error, so that it is not measured.

use std::io::Read as _;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use ureq::http::Response;
use ureq::{Agent, Body};

/// Longest silence of a server.
const TIMEOUT: Duration = Duration::from_secs(300);

/// Bytes that are read at once.
const BUFFER_BYTES: usize = 256 << 10;

static AGENT: LazyLock<Agent> = LazyLock::new(|| {
    Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .max_idle_connections(0)
        .proxy(None)
        .timeout_per_read(Some(TIMEOUT))
        .build()
        .new_agent()
});

/// An HTTP request: a GET, or a POST where it has a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HttpRequest {
    pub(crate) url: String,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Option<String>,
}

impl HttpRequest {
    pub(crate) fn get(url: impl Into<String>) -> Self {
        Self { url: url.into(), headers: Vec::new(), body: None }
    }

    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
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
    /// Of the body.
    pub(crate) bytes: u64,
}

/// Sends the request and reads the head of the answer, whatever its status.
pub(crate) fn send(ask: &HttpRequest) -> Result<Response<Body>> {
    let builder = ureq::http::Request::builder().uri(&ask.url).header("Connection", "close");
    let builder =
        ask.headers.iter().fold(builder, |builder, (name, value)| builder.header(*name, value));
    let answer = match &ask.body {
        None => builder.body(()).map(|request| AGENT.run(request)),
        Some(body) => builder.method("POST").body(body.as_str()).map(|request| AGENT.run(request)),
    };
    let answer = answer.with_context(|| format!("{} is no address", ask.url))?;
    answer.with_context(|| format!("no answer of {}", ask.url))
}

/// The same for an answer with status 200 whose end can be distinguished from a cut.
fn send_whole(ask: &HttpRequest) -> Result<Response<Body>> {
    let answer = send(ask)?;
    let headers = answer.headers();
    ensure!(
        answer.status() == 200
            && (headers.contains_key("content-length")
                || headers.contains_key("transfer-encoding")),
        "{}: {answer:?}",
        ask.url
    );
    Ok(answer)
}

/// Sends the request and reads the answer to its end.
pub(crate) fn get(ask: &HttpRequest) -> Result<Download> {
    let started = Instant::now();
    let mut body = send_whole(ask)?.into_body().into_reader();
    let mut buffer = vec![0; BUFFER_BYTES];
    let (mut bytes, mut first) = (0, None);
    loop {
        let read = body.read(&mut buffer).with_context(|| format!("{} was cut off", ask.url))?;
        if read == 0 {
            break;
        }
        first = first.or_else(|| Some(started.elapsed()));
        bytes += read as u64;
    }
    let seconds = started.elapsed();
    Ok(Download {
        seconds: seconds.as_secs_f64(),
        first_byte: first.unwrap_or(seconds).as_secs_f64(),
        bytes,
    })
}

/// The body of the answer.
pub(crate) fn body(ask: &HttpRequest) -> Result<Vec<u8>> {
    let mut body = Vec::new();
    let mut reader = send_whole(ask)?.into_body().into_reader();
    reader.read_to_end(&mut body).with_context(|| format!("{} was cut off", ask.url))?;
    Ok(body)
}

/// The value of a header of the answer.
pub(crate) fn response_header(ask: &HttpRequest, name: &str) -> Result<String> {
    let answer = send(ask)?;
    let value = answer.headers().get(name).and_then(|value| value.to_str().ok());
    value.map(str::to_owned).with_context(|| format!("{} sent no {name}", ask.url))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::io::{BufRead as _, BufReader, Write as _};
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    /// The download of an answer that a server sends as it is.
    fn download(answer: &'static str) -> Result<Download> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let head = BufReader::new(stream.try_clone().unwrap());
            assert!(head.lines().any(|line| line.unwrap().is_empty()));
            stream.write_all(answer.as_bytes()).unwrap();
        });
        let download = get(&HttpRequest::get(url));
        server.join().unwrap();
        download
    }

    #[test]
    fn a_body_that_was_cut_off_is_not_measured() {
        const CHUNKED: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n";
        const CHUNKED_WHOLE: &str =
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n0\r\n\r\n";
        assert_eq!(download(CHUNKED_WHOLE).unwrap().bytes, 4);
        assert!(download(CHUNKED).is_err());
        assert_eq!(download("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab").unwrap().bytes, 2);
        assert!(download("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab").is_err());
        assert!(download("HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nab").is_err());
        assert!(download("HTTP/1.1 200 OK\r\n\r\nab").is_err(), "no end to distinguish from a cut");
    }
}
