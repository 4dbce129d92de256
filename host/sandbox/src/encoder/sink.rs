//! The channel between the task that makes a response and the body that a client reads. Its bound is how
//! far encoding may run ahead of the client; its end is the response's end only when the tail was sent
//! (decision 0011).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use futures::StreamExt;
use futures::stream::BoxStream;
use tokio::sync::mpsc;

use crate::failure::CutOff;

/// Bytes that belong together, in two pieces so that a part need not be copied to stand behind its
/// separator.
pub(crate) struct Chunk {
    /// The head or a separator; may be empty.
    pub(crate) lead: Bytes,
    /// May be empty.
    pub(crate) bytes: Bytes,
}

/// Where a response's maker puts chunks.
pub(crate) struct Sink {
    pub(crate) sender: mpsc::Sender<Chunk>,
    whole: Arc<AtomicBool>,
}

impl Sink {
    /// Says that nothing is missing. Until then the body has no end, whatever way its maker ends.
    pub(crate) fn finish(self) {
        self.whole.store(true, Ordering::Release);
    }
}

/// A channel that holds at most `bound` chunks, those in the making included.
pub(crate) fn channel(bound: usize) -> (Sink, BoxStream<'static, Result<Bytes, CutOff>>) {
    let (sender, receiver) = mpsc::channel(bound.max(1));
    let whole = Arc::new(AtomicBool::new(false));
    let sink = Sink { sender, whole: Arc::clone(&whole) };
    (sink, chunks(receiver, whole))
}

/// The client's end. A channel that closes before the response is whole is a cut, never an end: so a
/// maker that gave up, failed or panicked cannot look like success.
fn chunks(receiver: mpsc::Receiver<Chunk>, whole: Arc<AtomicBool>) -> BoxStream<'static, Result<Bytes, CutOff>> {
    futures::stream::unfold(Some((receiver, whole, Bytes::new())), |state| async {
        let (mut receiver, whole, mut held) = state?;
        loop {
            if !held.is_empty() {
                return Some((Ok(std::mem::take(&mut held)), Some((receiver, whole, held))));
            }
            match receiver.recv().await {
                Some(Chunk { lead, bytes }) if lead.is_empty() => held = bytes,
                Some(Chunk { lead, bytes }) => return Some((Ok(lead), Some((receiver, whole, bytes)))),
                None if whole.load(Ordering::Acquire) => return None,
                None => return Some((Err(CutOff), None)),
            }
        }
    })
    .boxed()
}
