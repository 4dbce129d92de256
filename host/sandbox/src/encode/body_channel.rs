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

use crate::encode::TruncatedBody;

/// Bytes in order.
pub(crate) type Segments = Vec<Bytes>;

/// Bytes that belong together, in pieces so that a part need not be copied to stand behind its
/// separator.
pub(crate) struct BodyChunk {
    /// The head or a separator; may be empty.
    pub(crate) lead: Bytes,
    /// May be none.
    pub(crate) segments: Segments,
    /// Counts it while it waits for its client.
    #[expect(dead_code, reason = "it is held, not read")]
    pub(crate) lease: Option<ByteLease>,
}

/// Sender of a response's chunks.
pub(crate) struct BodySender {
    pub(crate) sender: mpsc::Sender<BodyChunk>,
    ending: Arc<Completion>,
}

/// End of a response, known once there are no more chunks.
#[derive(Default)]
pub(crate) struct Completion {
    whole: AtomicBool,
    by_plugin: AtomicBool,
}

impl BodyChunk {
    /// Its bytes, counted.
    pub(crate) fn len(&self) -> usize {
        self.lead.len() + self.segments.iter().map(Bytes::len).sum::<usize>()
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
    pub(crate) fn ending(&self) -> (Arc<Completion>, mpsc::Sender<BodyChunk>) {
        (Arc::clone(&self.ending), self.sender.clone())
    }
}

/// A channel that holds at most `bound` chunks, those in the making included.
pub(crate) fn channel(
    bound: usize,
) -> (BodySender, BoxStream<'static, Result<Bytes, TruncatedBody>>) {
    let (sender, receiver) = mpsc::channel(bound.max(1));
    let ending = Arc::<Completion>::default();
    let sink = BodySender { sender, ending: Arc::clone(&ending) };
    (sink, body_stream(receiver, ending))
}

/// The client's end. A channel that closes before the response is whole is a cut, never an end: so
/// a maker that gave up, failed or panicked cannot look like success.
fn body_stream(
    receiver: mpsc::Receiver<BodyChunk>,
    ending: Arc<Completion>,
) -> BoxStream<'static, Result<Bytes, TruncatedBody>> {
    futures::stream::unfold(Some((receiver, ending, VecDeque::<Bytes>::new())), |state| async {
        let (mut receiver, ending, mut held) = state?;
        loop {
            while let Some(bytes) = held.pop_front() {
                if !bytes.is_empty() {
                    return Some((Ok(bytes), Some((receiver, ending, held))));
                }
            }
            match receiver.recv().await {
                Some(BodyChunk { lead, segments, .. }) => {
                    held = segments.into();
                    held.push_front(lead);
                }
                None if ending.whole.load(Ordering::Acquire) => return None,
                None => {
                    return Some((
                        Err(TruncatedBody { by_plugin: ending.by_plugin.load(Ordering::Acquire) }),
                        None,
                    ));
                }
            }
        }
    })
    .boxed()
}
