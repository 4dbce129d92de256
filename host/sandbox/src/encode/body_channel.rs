//! The channel between the task that makes a response and the body that a client reads. Its bound
//! is how far encoding may run ahead of the client; its end is the response's end only when the
//! tail was sent (decision 0011).

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use futures::StreamExt;
use futures::stream::BoxStream;
use tokio::sync::mpsc;
use yearbook_shares::ByteLease;

/// Bytes in order.
pub(crate) type Segments = Vec<Bytes>;

/// Bytes that were made together: an iterator over their segments, so that nothing need be copied
/// to stand behind a head, a separator or another range. They are counted until the last segment is
/// taken: whoever takes it counts it then.
pub struct EncodedChunk {
    /// None of them is empty.
    segments: VecDeque<Bytes>,
    lease: Option<ByteLease>,
}

/// Chunks of a response as its client takes them. One that is an error is the last one, and the
/// body has no end.
pub type EncodedChunks = BoxStream<'static, Result<EncodedChunk, TruncatedBody>>;

/// A response was cut off after its first byte. The reason is in the log; the client must see a
/// body without its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the response was cut off")]
pub struct TruncatedBody {
    /// Set where the plugin is at fault.
    pub by_plugin: bool,
}

/// Sender of a response's chunks.
pub(crate) struct BodySender {
    pub(crate) sender: mpsc::Sender<EncodedChunk>,
    ending: Arc<Completion>,
}

/// End of a response, known once there are no more chunks.
#[derive(Default)]
pub(crate) struct Completion {
    whole: AtomicBool,
    by_plugin: AtomicBool,
}

impl EncodedChunk {
    /// A chunk that nobody counts: `lead`, which is a head, a separator or nothing, and what
    /// follows it.
    #[must_use]
    pub fn new(lead: Bytes, segments: Vec<Bytes>) -> Self {
        let mut segments = VecDeque::from(segments);
        if !lead.is_empty() {
            segments.push_front(lead);
        }
        Self { segments, lease: None }
    }

    /// The same, counted by `lease`.
    pub(crate) fn with_lease(self, lease: ByteLease) -> Self {
        Self { lease: Some(lease), ..self }
    }

    /// Bytes of the segments that have not been taken.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.segments.iter().map(Bytes::len).sum()
    }
}

impl Iterator for EncodedChunk {
    type Item = Bytes;

    fn next(&mut self) -> Option<Bytes> {
        let segment = self.segments.pop_front();
        if self.segments.is_empty() {
            self.lease = None;
        }
        segment
    }
}

impl Completion {
    /// Says that the plugin is to blame for what is missing.
    pub(crate) fn attribute_to_plugin(&self) {
        self.by_plugin.store(true, Ordering::Release);
    }
}

impl BodySender {
    /// Says that nothing is missing. Until then the body has no end, whatever way its maker ends.
    pub(crate) fn finish(self) {
        self.ending.whole.store(true, Ordering::Release);
    }

    /// Holds the channel open until what is said here can be seen.
    pub(crate) fn ending(&self) -> (Arc<Completion>, mpsc::Sender<EncodedChunk>) {
        (Arc::clone(&self.ending), self.sender.clone())
    }
}

/// A channel that holds at most `bound` chunks, those in the making included.
pub(crate) fn channel(bound: usize) -> (BodySender, EncodedChunks) {
    let (sender, receiver) = mpsc::channel(bound.max(1));
    let ending = Arc::<Completion>::default();
    let sink = BodySender { sender, ending: Arc::clone(&ending) };
    (sink, body_stream(receiver, ending))
}

/// The client's end. A channel that closes before the response is whole is a cut, never an end: so
/// a maker that gave up, failed or panicked cannot look like success.
fn body_stream(receiver: mpsc::Receiver<EncodedChunk>, ending: Arc<Completion>) -> EncodedChunks {
    futures::stream::unfold(Some((receiver, ending)), |state| async {
        let (mut receiver, ending) = state?;
        match receiver.recv().await {
            Some(chunk) => Some((Ok(chunk), Some((receiver, ending)))),
            None if ending.whole.load(Ordering::Acquire) => None,
            None => {
                let by_plugin = ending.by_plugin.load(Ordering::Acquire);
                Some((Err(TruncatedBody { by_plugin }), None))
            }
        }
    })
    .boxed()
}

#[cfg(test)]
mod tests {
    use yearbook_shares::{CallerRegistry, SharePercent};

    use super::*;

    #[test]
    fn a_chunk_is_counted_until_its_last_segment_is_taken() {
        let callers = CallerRegistry::new(SharePercent { key: 25, address: 50 }, 1 << 20);
        let holder = callers.holder(Some("a client"), None);
        let segments = vec![Bytes::from_static(b"north"), Bytes::from_static(b"south")];
        let chunk = EncodedChunk::new(Bytes::from_static(b","), segments);
        let mut chunk = chunk.with_lease(holder.lease(11));
        assert_eq!((chunk.bytes(), callers.bytes().used()), (11, 11));
        assert_eq!(chunk.by_ref().take(2).collect::<Vec<_>>().concat(), b",north");
        assert_eq!((chunk.bytes(), callers.bytes().used()), (5, 11));
        assert_eq!(chunk.next().as_deref(), Some(&b"south"[..]));
        assert_eq!((chunk.bytes(), callers.bytes().used()), (0, 0));
        assert_eq!(chunk.next(), None);
    }
}
