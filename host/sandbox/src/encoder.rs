//! Step 10 of a request: batches in, bytes out, through a fresh instance. The first chunk is awaited,
//! so that what fails before any byte is still an honest status; afterwards the client's reading pace
//! drives the scan, and a client that goes away ends both.

mod notes;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use bytes::Bytes;
use futures::StreamExt;
use futures::stream::BoxStream;
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tracing::Instrument;

use crate::bindings::EncoderPluginPre;
use crate::description::{Description, OptionValue};
use crate::failure::{BoxError, CutOff, EncodeError};
use crate::host::HostState;
use crate::instance::Instance;
use crate::sandbox::Sandbox;

pub(crate) use notes::Notes;

/// Rows of a response: batches of one schema.
pub type Batches = BoxStream<'static, Result<RecordBatch, BoxError>>;

/// A response body.
pub enum Encoded {
    /// All of it, where it fitted in one batch.
    Whole(Bytes),
    /// Its chunks as the client takes them. A chunk that is an error is the last one, and the body
    /// has no end.
    Stream(BoxStream<'static, Result<Bytes, CutOff>>),
}

/// A loaded output format.
pub struct Encoder {
    pub(crate) sandbox: Arc<Sandbox>,
    pub(crate) pre: EncoderPluginPre<HostState>,
    pub(crate) description: Description,
    pub(crate) digest: String,
    pub(crate) bytes: u64,
}

impl Encoder {
    /// What it makes.
    #[must_use]
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// Lower-case hexadecimal SHA-256 of the component.
    #[must_use]
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// Size of the component in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// How many instances of its sandbox are free at this moment, for all encoders together.
    #[must_use]
    pub fn free_instances(&self) -> usize {
        self.sandbox.free_instances()
    }

    /// Encodes `batches` of `schema`. `chosen` are the options that the client named; the rest are
    /// defaults. Returns once the first bytes are made.
    ///
    /// # Errors
    /// [`EncodeError`], before any byte is sent. Dropping the future, or the stream that it returns,
    /// stops the scan and gives the instance back.
    pub async fn encode(self: &Arc<Self>, schema: SchemaRef, chosen: &[OptionValue], mut batches: Batches) -> Result<Encoded, EncodeError> {
        let options = self.description.complete(chosen);
        let permit = self.permit().await?;
        // Two batches tell whether the response is done after the first: most are, and then one trip
        // to a worker makes all of it.
        let first = batches.next().await.transpose().map_err(EncodeError::Input)?;
        let second = if first.is_some() { batches.next().await.transpose().map_err(EncodeError::Input)? } else { None };
        let done = second.is_none();
        let encoder = Arc::clone(self);
        let begun = self.on_worker(move || encoder.begin(permit, &schema, &options, first.as_ref(), done)).await??;
        match begun {
            Begun::Done(bytes) => Ok(Encoded::Whole(bytes)),
            Begun::More(response, bytes) => {
                let (sender, receiver) = mpsc::channel(self.sandbox.limits.buffered_chunks.max(1));
                let whole = Arc::new(AtomicBool::new(false));
                let driven = Arc::clone(self).drive(response, bytes, second, batches, Sink { sender, whole: Arc::clone(&whole) });
                // The request's span goes along, so that a cut is logged with the request's id.
                tokio::spawn(driven.in_current_span());
                Ok(Encoded::Stream(chunks(receiver, whole)))
            }
        }
    }

    async fn permit(&self) -> Result<OwnedSemaphorePermit, EncodeError> {
        let instances = Arc::clone(&self.sandbox.instances);
        match tokio::time::timeout(self.sandbox.limits.queue(), instances.acquire_owned()).await {
            Ok(Ok(permit)) => Ok(permit),
            _ => Err(EncodeError::Busy { retry_after: 1 }),
        }
    }

    async fn on_worker<T: Send + 'static>(&self, job: impl FnOnce() -> T + Send + 'static) -> Result<T, EncodeError> {
        self.sandbox.workers.run(job).await.map_err(|panicked| EncodeError::Host(panicked.to_string()))
    }

    /// Blocking: opens the response and encodes up to its first rows, or all of it when `done`.
    fn begin(
        &self,
        permit: OwnedSemaphorePermit,
        schema: &arrow::datatypes::Schema,
        options: &[OptionValue],
        first: Option<&RecordBatch>,
        done: bool,
    ) -> Result<Begun, EncodeError> {
        let instance = Instance::open(self, permit, schema, options)?;
        let mut response = Box::new(Response { instance, notes: Notes::new(self.sandbox.limits.note_bytes), begun: false });
        let mut bytes = response.instance.head()?;
        response.notes.skip(bytes.len());
        if let Some(batch) = first {
            append(&mut bytes, response.part(self, batch)?);
        }
        if done {
            append(&mut bytes, response.instance.tail(&response.notes)?);
            return Ok(Begun::Done(bytes.into()));
        }
        Ok(Begun::More(response, bytes.into()))
    }

    /// Sends the rest of a response. Room for a chunk is reserved before the chunk is made, so an
    /// instance never works ahead of its client by more than the channel's bound; decoding the next
    /// batch overlaps encoding the present one.
    async fn drive(
        self: Arc<Self>,
        mut response: Box<Response>,
        first: Bytes,
        mut batch: Option<RecordBatch>,
        mut batches: Batches,
        sink: Sink,
    ) {
        let patience = self.sandbox.limits.stalled_client();
        let mut chunk = Some(first);
        loop {
            // Without room the client is gone, or as good as gone.
            let Ok(Ok(room)) = tokio::time::timeout(patience, sink.sender.reserve()).await else { return };
            if let Some(bytes) = chunk.take() {
                room.send(bytes);
                continue;
            }
            let last = batch.is_none();
            let encoder = Arc::clone(&self);
            let work = self.on_worker(move || {
                let bytes = match &batch {
                    Some(batch) => response.part(&encoder, batch),
                    None => response.instance.tail(&response.notes),
                };
                bytes.map(|bytes| (response, bytes))
            });
            let next = async { if last { None } else { batches.next().await } };
            let (made, next) = tokio::join!(work, next);
            let made = made.and_then(|made| made);
            let next = next.transpose().map_err(EncodeError::Input);
            match made.and_then(|made| next.map(|next| (made, next))) {
                Ok(((returned, bytes), next)) => {
                    (response, batch) = (returned, next);
                    if !bytes.is_empty() {
                        room.send(bytes.into());
                    }
                    if last {
                        sink.whole.store(true, Ordering::Release);
                        return;
                    }
                }
                Err(error) => {
                    tracing::error!(plugin = self.description.format, digest = self.digest, %error, "a response was cut off after its first byte");
                    return;
                }
            }
        }
    }
}

/// Where a driver puts chunks. `whole` is set once nothing is missing, whatever way the driver ends.
struct Sink {
    sender: mpsc::Sender<Bytes>,
    whole: Arc<AtomicBool>,
}

/// The client's end. A channel that closes before the response is whole is a cut, never an end: so a
/// driver that gave up, failed or panicked cannot look like success.
fn chunks(receiver: mpsc::Receiver<Bytes>, whole: Arc<AtomicBool>) -> BoxStream<'static, Result<Bytes, CutOff>> {
    futures::stream::unfold(Some((receiver, whole)), |state| async {
        let (mut receiver, whole) = state?;
        match receiver.recv().await {
            Some(bytes) => Some((Ok(bytes), Some((receiver, whole)))),
            None if whole.load(Ordering::Acquire) => None,
            None => Some((Err(CutOff), None)),
        }
    })
    .boxed()
}

/// Whether a response was finished by its first trip to a worker.
enum Begun {
    Done(Bytes),
    More(Box<Response>, Bytes),
}

/// A response whose head is made.
struct Response {
    instance: Instance,
    notes: Notes,
    /// Whether there is a part already.
    begun: bool,
}

impl Response {
    /// The next part, behind its separator.
    fn part(&mut self, encoder: &Encoder, batch: &RecordBatch) -> Result<Vec<u8>, EncodeError> {
        let piece = self.instance.part(batch)?;
        let separator = encoder.description.separator.as_deref().filter(|_| std::mem::replace(&mut self.begun, true)).unwrap_or_default();
        self.notes.skip(separator.len());
        let plugin = || encoder.description.format.clone();
        self.notes.take(piece.bytes.len(), piece.note).map_err(|trap| EncodeError::Trapped { plugin: plugin(), trap })?;
        Ok(if separator.is_empty() { piece.bytes } else { [separator, &piece.bytes].concat() })
    }
}

/// Appends without copying where there is nothing to append to.
fn append(bytes: &mut Vec<u8>, more: Vec<u8>) {
    if bytes.is_empty() { *bytes = more } else { bytes.extend_from_slice(&more) }
}
