//! An S3-compatible server in this process, on a port of this machine, with a folder behind it; and
//! what may go wrong between it and us.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::convert::Infallible;
use std::error::Error;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt;
use http::header::CONTENT_LENGTH;
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use s3s::auth::SimpleAuth;
use s3s::service::{S3Service, S3ServiceBuilder};
use s3s_fs::FileSystem;
use tempfile::TempDir;
use tokio::net::TcpListener;

/// The bucket that is there.
const BUCKET: &str = "shelf";

/// Prefix of the store in the bucket.
const PREFIX: &str = "some/prefix";

const KEY: &str = "TESTKEY";
const SECRET: &str = "a secret of the tests";

type Cause = Box<dyn Error + Send + Sync>;
type Body = http_body_util::combinators::UnsyncBoxBody<Bytes, Cause>;

/// Faults of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum S3Fault {
    /// They are answered by this status.
    Status(u16),
    /// Their connection ends without an answer.
    Reset,
    /// Their answer begins so much later.
    Slow(Duration),
    /// They are never answered.
    Silent,
    /// The body of what is read ends after so many bytes, and the connection with it.
    Truncated(usize),
    /// One byte of what is read is another, this far into it.
    Flipped(usize),
    /// A read body has so many bytes more, as its head states.
    Overlong(u64),
}

/// The present fault.
#[derive(Clone, Copy, Debug, Default)]
struct InjectedFault {
    fault: Option<S3Fault>,
    /// Number of requests that are spared first.
    after: u64,
    /// Number of requests that fail then.
    times: u64,
}

/// A running server.
pub struct S3Server {
    /// Address of the store, for `storage.url`.
    pub url: String,
    /// Folder of the bucket's objects.
    pub folder: Arc<TempDir>,
    /// Address of the server.
    pub endpoint: String,
    shared: Arc<Shared>,
}

struct Shared {
    service: S3Service,
    trouble: Mutex<InjectedFault>,
    requests: AtomicU64,
    /// Bytes that [`S3Fault::Overlong`] has sent.
    beyond: Arc<AtomicU64>,
}

impl S3Server {
    /// A server with an empty bucket.
    pub async fn start() -> Self {
        let folder = TempDir::new().unwrap();
        std::fs::create_dir(folder.path().join(BUCKET)).unwrap();
        let mut builder = S3ServiceBuilder::new(FileSystem::new(folder.path()).unwrap());
        builder.set_auth(SimpleAuth::from_single(KEY, SECRET));
        let shared = Arc::new(Shared {
            service: builder.build(),
            trouble: Mutex::default(),
            requests: AtomicU64::new(0),
            beyond: Arc::default(),
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let accepting = Arc::clone(&shared);
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                // Head and body are two writes, and the second would wait 40 ms for the client to
                // have heard of the first.
                socket.set_nodelay(true).unwrap();
                let shared = Arc::clone(&accepting);
                let answer = service_fn(move |request| Arc::clone(&shared).answer(request));
                tokio::spawn(async move {
                    // A fault ends the connection with an error.
                    let _ = Builder::new(TokioExecutor::new())
                        .serve_connection(TokioIo::new(socket), answer)
                        .await;
                });
            }
        });
        Self { url: format!("s3://{BUCKET}/{PREFIX}"), folder: Arc::new(folder), endpoint, shared }
    }

    /// Returns the variables that an environment sets for this server.
    #[must_use]
    pub fn variables(&self) -> Vec<(String, String)> {
        let pairs = [
            ("AWS_ACCESS_KEY_ID", KEY),
            ("AWS_SECRET_ACCESS_KEY", SECRET),
            ("AWS_REGION", "us-east-1"),
            ("AWS_ENDPOINT_URL", &self.endpoint),
            ("AWS_ALLOW_HTTP", "true"),
        ];
        pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec()
    }

    /// The folder that holds what lies at [`S3Server::url`].
    #[must_use]
    pub fn below(&self) -> PathBuf {
        self.folder.path().join(BUCKET).join(PREFIX)
    }

    /// Requests so far.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.shared.requests.load(Ordering::SeqCst)
    }

    /// Bytes beyond what was asked for that have been sent so far.
    #[must_use]
    pub fn sent_beyond(&self) -> u64 {
        self.shared.beyond.load(Ordering::SeqCst)
    }

    /// Has `fault` befall one request, after the next `after`.
    pub fn fail_after(&self, after: u64, fault: S3Fault) {
        *self.shared.trouble.lock().unwrap() =
            InjectedFault { fault: Some(fault), after, times: 1 };
    }

    /// Has `fault` befall every request.
    pub fn fail_from_now(&self, fault: S3Fault) {
        *self.shared.trouble.lock().unwrap() =
            InjectedFault { fault: Some(fault), after: 0, times: u64::MAX };
    }

    /// As if nothing had been.
    pub fn mend(&self) {
        *self.shared.trouble.lock().unwrap() = InjectedFault::default();
    }
}

impl Shared {
    /// Returns the fault of the next request.
    fn next_fault(&self) -> Option<S3Fault> {
        let mut trouble = self.trouble.lock().unwrap();
        if let Some(after) = trouble.after.checked_sub(1) {
            trouble.after = after;
            return None;
        }
        trouble.times = trouble.times.checked_sub(1)?;
        trouble.fault
    }

    async fn answer(self: Arc<Self>, request: Request<Incoming>) -> Result<Response<Body>, Cause> {
        self.requests.fetch_add(1, Ordering::SeqCst);
        let reads = request.method() == Method::GET;
        let fault = self.next_fault();
        match fault {
            Some(S3Fault::Status(status)) => {
                let body = Full::new(Bytes::from_static(b"<Error><Code>SlowDown</Code></Error>"));
                let body = body.map_err(|never: Infallible| match never {}).boxed_unsync();
                return Ok(Response::builder().status(StatusCode::from_u16(status)?).body(body)?);
            }
            Some(S3Fault::Reset) => return Err("reset".into()),
            Some(S3Fault::Slow(wait)) => tokio::time::sleep(wait).await,
            Some(S3Fault::Silent) => std::future::pending::<()>().await,
            _ => {}
        }
        let (mut head, body) = self
            .service
            .call(request.map(s3s::Body::from))
            .await
            .map_err(|failure| format!("{failure:?}"))?
            .into_parts();
        let body = body.map_err(Cause::from);
        let body = match fault {
            Some(S3Fault::Truncated(bytes)) if reads => truncated(body, bytes),
            Some(S3Fault::Flipped(at)) if reads => flipped(body, at),
            Some(S3Fault::Overlong(bytes)) if reads => {
                let stated = head
                    .headers
                    .get(CONTENT_LENGTH)
                    .and_then(|length| length.to_str().ok()?.parse().ok())
                    .unwrap_or(0);
                head.headers.insert(CONTENT_LENGTH, (stated + bytes).into());
                overlong(body, bytes, Arc::clone(&self.beyond))
            }
            _ => body.boxed_unsync(),
        };
        Ok(Response::from_parts(head, body))
    }
}

/// The first `bytes` of `body`; then it fails.
fn truncated(
    body: impl hyper::body::Body<Data = Bytes, Error = Cause> + Send + 'static,
    bytes: usize,
) -> Body {
    let mut left = bytes;
    let mut over = false;
    let cut = body.into_data_stream().map(move |piece| {
        if over {
            return Err("truncated".into());
        }
        let mut piece = piece?;
        piece.truncate(left);
        left -= piece.len();
        over = left == 0;
        Ok(Frame::data(piece))
    });
    // Bodies that are shorter fail at their end.
    StreamBody::new(cut.chain(futures::stream::once(async { Err("truncated".into()) })))
        .boxed_unsync()
}

/// `body` with the byte at `at` turned over.
fn flipped(
    body: impl hyper::body::Body<Data = Bytes, Error = Cause> + Send + 'static,
    at: usize,
) -> Body {
    let mut left = Some(at);
    let turned = body.into_data_stream().map(move |piece| {
        let piece = piece?;
        let Some(place) = left else { return Ok(Frame::data(piece)) };
        if place >= piece.len() {
            left = Some(place - piece.len());
            return Ok(Frame::data(piece));
        }
        left = None;
        let mut bytes = piece.to_vec();
        bytes[place] ^= 0x20;
        Ok(Frame::data(bytes.into()))
    });
    StreamBody::new(turned).boxed_unsync()
}

/// `body` and so many bytes more, which are counted as they are sent.
fn overlong(
    body: impl hyper::body::Body<Data = Bytes, Error = Cause> + Send + 'static,
    bytes: u64,
    sent: Arc<AtomicU64>,
) -> Body {
    const PIECE: u64 = 64 << 10;
    let more = futures::stream::iter((0..bytes).step_by(64 << 10)).map(move |at| {
        let piece = PIECE.min(bytes - at);
        sent.fetch_add(piece, Ordering::SeqCst);
        Ok(Frame::data(vec![7; usize::try_from(piece)?].into()))
    });
    StreamBody::new(body.into_data_stream().map(|piece| piece.map(Frame::data)).chain(more))
        .boxed_unsync()
}
