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
use http::Version;
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
pub(super) struct OpenRequest(Arc<ConnectionActivity>);

/// A body that keeps its request open.
pub(super) struct OpenBody {
    body: GatheredBody,
    _request: OpenRequest,
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
        Self(Arc::clone(activity))
    }

    /// `body`, with which the request ends.
    pub(super) fn until_end_of(self, body: GatheredBody) -> OpenBody {
        OpenBody { body, _request: self }
    }
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        // Before the count, so that whoever finds none open finds the time, too.
        let now = u64::try_from(self.0.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.0.quiet_ms.fetch_max(now, Ordering::AcqRel);
        self.0.open.fetch_sub(1, Ordering::AcqRel);
    }
}

impl HttpBody for OpenBody {
    type Data = SegmentedBuf<Bytes>;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
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
        let body = one.until_end_of(GatheredBody::new(Body::from("x")));
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
