//! One body with its bytes counted until the transport has let go of them, handed out in steps that
//! fit the client's pace. Whoever watches it can take away what it holds, and ends its transport
//! then.

use std::pin::Pin;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use std::task::{Context, Poll, ready};

use axum::body::{Body, HttpBody};
use bytes::Bytes;
use futures::task::AtomicWaker;
use http_body::{Frame, SizeHint};
use yearbook_shares::ByteLease;

use super::pace::CutReason;
use super::transport::TransportTask;
use super::{BodyMonitor, OpenResponse};
use crate::body::BodyError;

/// Bytes of a step: the first, and whenever the client was slow. Two kilobytes a second keep up
/// with it.
const FIRST_STEP: usize = 64 << 10;

/// Bytes of a step of a client that keeps up. Larger ones would save nothing.
const LARGEST_STEP: usize = 512 << 10;

/// Says that a body does not wait for its client.
const NOT_WAITING: u64 = u64::MAX;

/// A body that is watched.
pub(super) struct MonitoredBody {
    watch: Arc<BodyState>,
    watched: Arc<BodyMonitor>,
    id: u64,
    /// Bytes to come, where that is known.
    remaining: Option<u64>,
    step: usize,
    ended: bool,
}

/// State of a body, and the memory that it holds.
pub(super) struct BodyState {
    /// Time at which it began to wait for its client, in checks.
    waits_since: AtomicU64,
    taken: AtomicU64,
    unsent: Arc<InFlightChunks>,
    transport: Option<TransportTask>,
    holds: Mutex<Option<BodySource>>,
    cut: OnceLock<CutReason>,
}

/// Source of a body's bytes.
struct BodySource {
    body: Body,
    /// Chunks that have come and have not been handed out.
    chunk: Bytes,
    ended: bool,
    open: OpenResponse,
}

/// Chunks that the transport has not let go of.
#[derive(Default)]
struct InFlightChunks {
    chunks: AtomicUsize,
    waker: AtomicWaker,
}

/// A chunk in memory.
struct LeasedChunk {
    bytes: Bytes,
    unsent: Arc<InFlightChunks>,
    _lease: ByteLease,
}

impl MonitoredBody {
    pub(super) fn new(body: Body, open: OpenResponse, watched: &Arc<BodyMonitor>) -> Self {
        let remaining = body.size_hint().exact();
        let source = BodySource { body, chunk: Bytes::new(), ended: false, open };
        let watch = Arc::new(BodyState {
            waits_since: AtomicU64::new(watched.now()),
            taken: AtomicU64::new(0),
            unsent: Arc::default(),
            transport: TransportTask::current(),
            holds: Mutex::new(Some(source)),
            cut: OnceLock::new(),
        });
        let id = watched.begin(Arc::clone(&watch));
        Self { watch, watched: Arc::clone(watched), id, remaining, step: FIRST_STEP, ended: false }
    }

    /// The size of the next step: clients that took the last one within a look get larger ones.
    fn adapt(&mut self, now: u64) {
        if self.watch.bytes_taken() > 0
            && let Some(since) = self.watch.waiting_since()
        {
            let keeps_up = now.saturating_sub(since) <= 1;
            self.step = if keeps_up { LARGEST_STEP.min(self.step * 2) } else { FIRST_STEP };
        }
    }
}

impl BodyState {
    /// Time at which it began to wait for its client; none where it does not wait.
    pub(super) fn waiting_since(&self) -> Option<u64> {
        Some(self.waits_since.load(Ordering::Relaxed)).filter(|since| *since != NOT_WAITING)
    }

    /// Bytes handed out so far.
    pub(super) fn bytes_taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }

    /// Lets go of everything and ends the transport. Not where the body is being asked for bytes at
    /// this moment, or has ended.
    pub(super) fn cut(&self, reason: CutReason) -> bool {
        let mut holds = match self.holds.try_lock() {
            Ok(holds) => holds,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return false,
        };
        if holds.is_none() {
            return false;
        }
        // Before the lock is let go of: a body that holds nothing and was not cut has ended well.
        let _ = self.cut.set(reason);
        let held = holds.take();
        drop(holds);
        drop(held);
        self.unsent.waker.wake();
        if let Some(transport) = &self.transport {
            transport.end();
        }
        true
    }

    /// Nothing under the lock can fail half-way but the body itself, which is then not asked again.
    fn lock_source(&self) -> MutexGuard<'_, Option<BodySource>> {
        self.holds.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl BodySource {
    /// Fetches the next chunk; false at the end, and for trailers, which we have none of.
    fn poll_chunk(
        &mut self,
        context: &mut Context<'_>,
        unsent: &Arc<InFlightChunks>,
    ) -> Poll<Result<bool, axum::Error>> {
        while self.chunk.is_empty() && !self.ended {
            let frame = ready!(Pin::new(&mut self.body).poll_frame(context)).transpose()?;
            let bytes = frame.and_then(|frame| frame.into_data().ok());
            self.ended = bytes.is_none();
            if let Some(bytes) = bytes.filter(|bytes| !bytes.is_empty()) {
                unsent.chunks.fetch_add(1, Ordering::Relaxed);
                let lease = self.open.holder().lease(bytes.len());
                self.chunk = Bytes::from_owner(LeasedChunk {
                    bytes,
                    unsent: Arc::clone(unsent),
                    _lease: lease,
                });
            }
        }
        Poll::Ready(Ok(!self.chunk.is_empty()))
    }
}

impl HttpBody for MonitoredBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = &mut *self;
        let now = this.watched.now();
        this.adapt(now);
        let watch = &this.watch;
        let mut holds = watch.lock_source();
        let Some(source) = holds.as_mut() else {
            let cut =
                watch.cut.get().map(|reason| Err(axum::Error::new(BodyError::new(reason.name()))));
            return Poll::Ready(cut);
        };
        match source.poll_chunk(context, &watch.unsent) {
            Poll::Pending => {
                // Asked ahead, it goes on waiting for its client, and is asked again when all has
                // gone: only then is it us for whom the client waits.
                watch.unsent.waker.register(context.waker());
                if watch.unsent.chunks.load(Ordering::Acquire) == 0 {
                    watch.waits_since.store(NOT_WAITING, Ordering::Relaxed);
                }
                Poll::Pending
            }
            Poll::Ready(Ok(true)) => {
                let bytes = source.chunk.split_to(this.step.min(source.chunk.len()));
                let taken = bytes.len() as u64;
                this.remaining = this.remaining.map(|remaining| remaining.saturating_sub(taken));
                watch.taken.fetch_add(taken, Ordering::Relaxed);
                // A chunk may last longer than whoever makes the next one waits for a client.
                source.open.holder().record_step();
                watch.waits_since.store(now, Ordering::Relaxed);
                Poll::Ready(Some(Ok(Frame::data(bytes))))
            }
            Poll::Ready(Ok(false)) => {
                // The end is told when all has gone: an HTTP/2 stream without a task could not be
                // cut.
                watch.unsent.waker.register(context.waker());
                if watch.transport.is_some() && watch.unsent.chunks.load(Ordering::Acquire) > 0 {
                    watch.waits_since.store(now, Ordering::Relaxed);
                    return Poll::Pending;
                }
                *holds = None;
                this.ended = true;
                Poll::Ready(None)
            }
            Poll::Ready(Err(failure)) => {
                *holds = None;
                Poll::Ready(Some(Err(failure)))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.ended
    }

    fn size_hint(&self) -> SizeHint {
        self.remaining.map_or_else(SizeHint::new, SizeHint::with_exact)
    }
}

impl Drop for MonitoredBody {
    fn drop(&mut self) {
        self.watched.unregister(self.id);
        // Whoever looks at it just now may hold it for a moment longer.
        let held = self.watch.lock_source().take();
        drop(held);
    }
}

impl AsRef<[u8]> for LeasedChunk {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for LeasedChunk {
    fn drop(&mut self) {
        if self.unsent.chunks.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.unsent.waker.wake();
        }
    }
}
