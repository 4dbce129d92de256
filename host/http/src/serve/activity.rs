//! Events of one connection: written down by its stream and its requests as they happen, without a
//! lock, and read by the loop that drives it.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::HttpBody;
use bytes::Bytes;
use bytes_utils::SegmentedBuf;
use http::header::CONTENT_LENGTH;
use http::{Response, Version};
use http_body::{Frame, SizeHint};
use tokio::time::Instant;

use super::gathered_body::GatheredBody;

/// Events on a connection so far. Times are since it was accepted, by the monotonic
/// clock: a jump of the calendar moves none of them.
#[derive(Debug)]
pub(super) struct ConnectionActivity {
    accepted: Instant,
    /// A first request's head was complete.
    began: AtomicBool,
    /// One request at a time, and heads that are read byte by byte.
    http1: AtomicBool,
    /// Requests whose response has not ended.
    open: AtomicU32,
    /// Time at which the last response ended, milliseconds.
    quiet_ms: AtomicU64,
    /// Bytes came after the last complete head.
    unread_head: AtomicBool,
    /// The socket takes no more bytes.
    blocked: AtomicBool,
    /// Writes of which the socket took something. It may wrap around.
    writes: AtomicU32,
    /// The connection is to be reset, so that nobody takes what was sent for all of it.
    reset: AtomicBool,
}

/// A request that is being answered, until this is dropped.
pub(super) struct OpenRequest {
    activity: Arc<ConnectionActivity>,
    /// Its client knows no chunks: a body of unknown length ends with the connection.
    is_before_http11: bool,
}

/// A body that keeps its request open.
pub(super) struct OpenBody {
    body: GatheredBody,
    request: OpenRequest,
    /// It ends with the connection, which is reset until all of it was handed out.
    ends_with_connection: bool,
}

impl ConnectionActivity {
    /// Activity of a connection that was accepted just now.
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            accepted: Instant::now(),
            began: AtomicBool::new(false),
            http1: AtomicBool::new(false),
            open: AtomicU32::new(0),
            quiet_ms: AtomicU64::new(0),
            unread_head: AtomicBool::new(false),
            blocked: AtomicBool::new(false),
            writes: AtomicU32::new(0),
            reset: AtomicBool::new(false),
        })
    }

    /// Time at which the connection was accepted.
    pub(super) fn accepted(&self) -> Instant {
        self.accepted
    }

    /// Time since then.
    pub(super) fn elapsed(&self) -> Duration {
        self.accepted.elapsed()
    }

    /// Returns whether a first head was complete.
    pub(super) fn has_begun(&self) -> bool {
        self.began.load(Ordering::Acquire)
    }

    /// Returns whether a request is open.
    pub(super) fn is_open(&self) -> bool {
        self.open.load(Ordering::Acquire) > 0
    }

    /// Time at which the last response ended.
    pub(super) fn last_response_end(&self) -> Duration {
        Duration::from_millis(self.quiet_ms.load(Ordering::Acquire))
    }

    /// Returns whether part of a further head has come. On HTTP/2, where other frames come too,
    /// nobody knows.
    pub(super) fn is_reading_head(&self) -> bool {
        self.http1.load(Ordering::Relaxed) && self.unread_head.load(Ordering::Relaxed)
    }

    /// While the socket takes no bytes, a number that changes when it has taken some.
    pub(super) fn blocked_write(&self) -> Option<u32> {
        self.blocked.load(Ordering::Relaxed).then(|| self.writes.load(Ordering::Relaxed))
    }

    /// Notes that bytes were read.
    pub(super) fn note_read(&self) {
        self.unread_head.store(true, Ordering::Relaxed);
    }

    /// Notes what came of writing: whether bytes were taken, or none can be for now.
    pub(super) fn note_write(&self, blocked: bool) {
        if !blocked {
            self.writes
                .store(self.writes.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        }
        self.blocked.store(blocked, Ordering::Relaxed);
    }

    /// Has the connection be reset when it is closed.
    pub(super) fn reset(&self) {
        self.reset.store(true, Ordering::Relaxed);
    }

    /// Has it be closed as usual after all.
    fn unset_reset(&self) {
        self.reset.store(false, Ordering::Relaxed);
    }

    /// Returns whether it is to be reset.
    pub(super) fn is_reset(&self) -> bool {
        self.reset.load(Ordering::Relaxed)
    }
}

impl OpenRequest {
    /// Notes a request whose head is complete.
    pub(super) fn begin(activity: &Arc<ConnectionActivity>, version: Version) -> Self {
        activity.open.fetch_add(1, Ordering::AcqRel);
        activity.http1.store(version < Version::HTTP_2, Ordering::Relaxed);
        activity.unread_head.store(false, Ordering::Relaxed);
        activity.began.store(true, Ordering::Release);
        Self { activity: Arc::clone(activity), is_before_http11: version < Version::HTTP_11 }
    }

    /// `response`, with whose body the request ends. Where only the end of the connection tells
    /// the client that it has all of it, a close looks like success (contract-3-cut): until then
    /// the connection is to be reset, since it is dropped before a body that breaks off is.
    pub(super) fn until_end_of(self, response: Response<GatheredBody>) -> Response<OpenBody> {
        let body = response.body();
        let ends_with_connection = self.is_before_http11
            && !body.is_end_stream()
            && body.size_hint().exact().is_none()
            && !response.headers().contains_key(CONTENT_LENGTH);
        if ends_with_connection {
            self.activity.reset();
        }
        response.map(|body| OpenBody { body, request: self, ends_with_connection })
    }
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        // Before the count, so that whoever finds none open finds the time, too.
        let now = u64::try_from(self.activity.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.activity.quiet_ms.fetch_max(now, Ordering::AcqRel);
        self.activity.open.fetch_sub(1, Ordering::AcqRel);
    }
}

impl HttpBody for OpenBody {
    type Data = SegmentedBuf<Bytes>;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, axum::Error>>> {
        let this = &mut *self;
        let polled = Pin::new(&mut this.body).poll_frame(context);
        if this.ends_with_connection {
            let has_ended = match &polled {
                Poll::Ready(None) => true,
                Poll::Ready(Some(Ok(_))) => this.body.is_end_stream(),
                Poll::Ready(Some(Err(_))) | Poll::Pending => false,
            };
            if has_ended {
                this.request.activity.unset_reset();
            }
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use futures::stream;
    use http_body_util::BodyExt;

    use super::*;

    #[test]
    fn a_request_is_open_until_its_body_is_dropped() {
        let activity = ConnectionActivity::new();
        activity.note_read();
        assert!(
            !activity.has_begun() && !activity.is_reading_head(),
            "nobody knows what it will be"
        );
        let one = OpenRequest::begin(&activity, Version::HTTP_11);
        assert!(activity.has_begun() && activity.is_open() && !activity.is_reading_head());
        let response = Response::new(GatheredBody::new(Body::from("x")));
        let body = one.until_end_of(response).into_body();
        assert_eq!((body.size_hint().exact(), body.is_end_stream()), (Some(1), false));
        assert!(activity.is_open());
        drop(body);
        assert!(!activity.is_open());
        activity.note_read();
        assert!(activity.is_reading_head());
        let two = OpenRequest::begin(&activity, Version::HTTP_2);
        activity.note_read();
        assert!(!activity.is_reading_head(), "on HTTP/2 it may be any frame");
        drop(two);
    }

    /// Returns whether a close resets the connection as soon as the response is there, after the
    /// first chunk and after the next step.
    async fn resets(
        version: Version,
        chunks: Vec<Result<&'static str, &'static str>>,
    ) -> [bool; 3] {
        let activity = ConnectionActivity::new();
        let body = Body::from_stream(stream::iter(chunks));
        let response = Response::new(GatheredBody::new(body));
        let mut body = OpenRequest::begin(&activity, version).until_end_of(response).into_body();
        let mut seen = [activity.is_reset(); 3];
        for after in &mut seen[1..] {
            let _ = body.frame().await;
            *after = activity.is_reset();
        }
        seen
    }

    #[tokio::test]
    async fn a_body_that_ends_with_its_connection_resets_it_until_all_is_out_contract_3() {
        let whole = || vec![Ok("one")];
        let broken = || vec![Ok("one"), Err("expected by this test")];
        assert_eq!(resets(Version::HTTP_10, whole()).await, [true, false, false]);
        assert_eq!(resets(Version::HTTP_10, broken()).await, [true, true, true]);
        assert_eq!(resets(Version::HTTP_11, broken()).await, [false; 3], "it has chunks");

        let activity = ConnectionActivity::new();
        for body in [Body::empty(), Body::from("x")] {
            let request = OpenRequest::begin(&activity, Version::HTTP_10);
            drop(request.until_end_of(Response::new(GatheredBody::new(body))));
            assert!(!activity.is_reset(), "its length is told");
        }
    }

    #[test]
    fn a_write_that_is_blocked_again_has_got_on() {
        let activity = ConnectionActivity::new();
        assert_eq!(activity.blocked_write(), None);
        activity.note_write(true);
        let first = activity.blocked_write();
        activity.note_write(true);
        assert_eq!(activity.blocked_write(), first, "nothing was taken");
        activity.note_write(false);
        assert_eq!(activity.blocked_write(), None);
        activity.note_write(true);
        assert!(activity.blocked_write().is_some_and(|write| Some(write) != first));
    }
}
