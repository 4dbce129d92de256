//! An HTTP server on loopback that answers byte for byte as a test says: the truth, or any lie.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A request as it was seen.
#[derive(Clone, Debug)]
pub(crate) struct SeenRequest {
    /// Requests before it.
    pub(crate) number: usize,
    pub(crate) path: String,
    head: String,
}

impl SeenRequest {
    /// Value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (found, value) = line.split_once(':')?;
            found.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
}

/// Part of an answer.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Send(Vec<u8>),
    Wait(Duration),
    /// The same bytes until the client hangs up.
    Repeat(Vec<u8>, Duration),
}

/// An answer with a length that is right.
pub(crate) fn whole(status: &str, headers: &str, body: impl AsRef<[u8]>) -> Vec<Step> {
    let body = body.as_ref();
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n{headers}\r\n", body.len());
    vec![Step::Send([head.as_bytes(), body].concat())]
}

/// A server that lives as long as the value.
pub(crate) struct TestServer {
    pub(crate) address: SocketAddr,
    seen: Arc<Mutex<Vec<SeenRequest>>>,
    connections: Arc<Mutex<usize>>,
    task: tokio::task::JoinHandle<()>,
}

impl TestServer {
    /// Serves on a free port of `ip`.
    pub(crate) async fn start(
        ip: &str,
        answer: impl Fn(&SeenRequest) -> Vec<Step> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind((ip, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (seen, connections) = (Arc::<Mutex<Vec<_>>>::default(), Arc::<Mutex<usize>>::default());
        let answer = Arc::new(answer);
        let task = tokio::spawn({
            let (seen, connections) = (Arc::clone(&seen), Arc::clone(&connections));
            async move {
                while let Ok((stream, _)) = listener.accept().await {
                    *connections.lock().unwrap() += 1;
                    let (seen, answer) = (Arc::clone(&seen), Arc::clone(&answer));
                    tokio::spawn(async move { serve(stream, &seen, &*answer).await });
                }
            }
        });
        Self { address, seen, connections, task }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn seen(&self) -> Vec<SeenRequest> {
        self.seen.lock().unwrap().clone()
    }

    pub(crate) fn connections(&self) -> usize {
        *self.connections.lock().unwrap()
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Answers one request and hangs up.
async fn serve(
    mut stream: TcpStream,
    seen: &Mutex<Vec<SeenRequest>>,
    answer: &(impl Fn(&SeenRequest) -> Vec<Step> + Sync),
) -> Option<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    let head = String::from_utf8(head).ok()?;
    let path = head.split(' ').nth(1)?.to_owned();
    let request = {
        let mut seen = seen.lock().unwrap();
        let request = SeenRequest { number: seen.len(), path, head };
        seen.push(request.clone());
        request
    };
    for step in answer(&request) {
        match step {
            Step::Send(bytes) => stream.write_all(&bytes).await.ok()?,
            Step::Wait(time) => tokio::time::sleep(time).await,
            Step::Repeat(bytes, pause) => loop {
                stream.write_all(&bytes).await.ok()?;
                tokio::time::sleep(pause).await;
            },
        }
    }
    stream.shutdown().await.ok()
}
