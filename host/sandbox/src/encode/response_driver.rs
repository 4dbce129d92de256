//! The rest of a response after its first part. Where parts are independent several instances make
//! them at once; they leave in order either way. Room for a chunk is reserved before the chunk is
//! made, so instances never work ahead of their client by more than the channel's bound, and by one
//! chunk alone where the byte budget of all bodies or the caller's share of it is used up; reading
//! the next part overlaps making the present ones. Which instance makes a part never shows in the
//! bytes.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use tokio::runtime::Handle;
use tokio::sync::mpsc::OwnedPermit;
use tokio::time::{Instant, sleep_until, timeout};
use tracing::{Instrument as _, Span};
use yearbook_shares::{ByteLease, CallerShare};

use super::body_channel::{BodySender, EncodedChunk, EncodedChunks, channel};
use super::coalesce::{BatchCoalescer, BatchGroup};
use super::instance_pool::{InstanceLease, InstancePool};
use super::split_retry::JoinedPart;
use super::{Notes, PluginEncoder, ResponseSize};
use crate::encode::EncoderInstance;
use crate::guest_error::GuestError;
use crate::observe::{CallMetrics, ResponseMetrics};
use crate::options::OptionValue;

/// A response that is being made.
pub(crate) struct ResponseDriver {
    encoder: Arc<PluginEncoder>,
    /// On whose account bytes wait for the client.
    holder: CallerShare,
    schema: SchemaRef,
    options: Arc<[OptionValue]>,
    notes: Notes,
    parts: BatchCoalescer,
    sink: BodySender,
    hands: InstancePool,
    making: FuturesUnordered<BoxFuture<'static, Result<PartResult, GuestError>>>,
    /// Parts from the first that has not left to the last that was begun.
    places: VecDeque<PendingPart>,
    /// Parts that have left.
    left: usize,
}

/// A part that has been read, and its bytes.
type ReadyGroup = (BatchGroup, ByteLease);

/// End of a response without an error.
enum DriveOutcome {
    Complete,
    /// The client is gone, or as good as gone.
    Abandoned,
}

/// Room for a part, and the part when it is made.
struct PendingPart {
    room: OwnedPermit<EncodedChunk>,
    pieces: Option<JoinedPart>,
}

/// A part, and the instance that is free again.
struct PartResult {
    position: usize,
    pieces: JoinedPart,
    instance: Box<EncoderInstance>,
    first: bool,
}

impl ResponseDriver {
    /// The response, and its body. `instance` has made head and first part, which stand in `notes`.
    pub(crate) fn new(
        encoder: Arc<PluginEncoder>,
        holder: CallerShare,
        schema: SchemaRef,
        options: Arc<[OptionValue]>,
        instance: Box<EncoderInstance>,
        notes: Notes,
        parts: BatchCoalescer,
    ) -> (Self, EncodedChunks) {
        let independent = encoder.description.separator.is_some();
        let width = if independent { encoder.host.admission.max_parallel_parts() } else { 1 };
        let (sink, chunks) = channel(encoder.host.limits.buffered_chunks.max(1) + width - 1);
        let hands = InstancePool::new(instance, width, holder.clone());
        let (making, places) = (FuturesUnordered::new(), VecDeque::new());
        (
            Self {
                encoder,
                holder,
                schema,
                options,
                notes,
                parts,
                sink,
                hands,
                making,
                places,
                left: 0,
            },
            chunks,
        )
    }

    /// Starts [`ResponseDriver::run`] within `span`: as a task of `runtime`, which overlaps reading
    /// and making, or on the worker where there is but one. There nothing overlaps, and each trip
    /// to it would be a wait for nothing.
    pub(crate) fn spawn(
        self: Box<Self>,
        runtime: &Handle,
        chunk: EncodedChunk,
        account: ResponseMetrics,
        span: Span,
    ) {
        let (workers, holder) =
            (Arc::clone(&self.encoder.host.admission.workers), self.holder.clone());
        let rest = self.run(chunk, account).instrument(span);
        if workers.threads() == 1 {
            runtime.spawn(async move { workers.drive(holder, rest).await });
        } else {
            runtime.spawn(rest);
        }
    }

    /// Sends `chunk`, which is the head with the first part, then makes and sends the rest.
    async fn run(self: Box<Self>, chunk: EncodedChunk, account: ResponseMetrics) {
        let encoder = Arc::clone(&self.encoder);
        let (ending, _open) = self.sink.ending();
        match self.send_rest(chunk, &account.work()).await {
            Ok(DriveOutcome::Complete) => account.complete(),
            Ok(DriveOutcome::Abandoned) => drop(account),
            Err(error) => {
                let (plugin, digest) = (encoder.name(), encoder.digest());
                tracing::error!(plugin, %digest, %error, "a response was cut off after its first byte");
                if error.is_failure_of_the_plugin() {
                    ending.attribute_to_plugin();
                }
                account.finish_failed(&error);
            }
        }
    }

    async fn send_rest(
        mut self,
        chunk: EncodedChunk,
        work: &Arc<CallMetrics>,
    ) -> Result<DriveOutcome, GuestError> {
        let patience = self.encoder.host.limits.stalled_client_timeout();
        let Ok(Ok(first)) = timeout(patience, self.sink.sender.clone().reserve_owned()).await
        else {
            return Ok(DriveOutcome::Abandoned);
        };
        first.send(self.with_lease(chunk));
        // The next part as soon as it is read, and room for its chunk.
        let (mut ready, mut room): (Option<ReadyGroup>, Option<OwnedPermit<EncodedChunk>>) =
            (None, None);
        // The first is set once there are no more parts, the second while the next one is read.
        let (mut read, mut reading) = (false, false);
        let (mut patient_until, mut steps) = (Instant::now() + patience, 0);
        loop {
            if ready.is_some() && room.is_some() {
                if let Some(hand) = self.hands.take(&self.encoder)
                    && let (Some(part), Some(room)) = (ready.take(), room.take())
                {
                    self.start_part(hand, part, room, Arc::clone(work));
                }
            } else if read
                && ready.is_none()
                && self.making.is_empty()
                && let Some(room) = room.take()
            {
                return self.finish(room).await.map(|()| DriveOutcome::Complete);
            }
            let waiting = room.is_none() && self.making.is_empty();
            if !waiting {
                (patient_until, steps) = (Instant::now() + patience, self.holder.steps());
            }
            // Listens before it looks, so that bytes that go in between are not missed.
            let freed = self.holder.wait_for_bytes();
            let may_go_on = ready.is_some() || room.is_some() || self.holder.may_continue();
            let parts = &mut self.parts;
            tokio::select! {
                () = self.sink.sender.closed() => return Ok(DriveOutcome::Abandoned),
                () = freed, if !may_go_on => {}
                reserved = self.sink.sender.clone().reserve_owned(), if room.is_none() && may_go_on => match reserved {
                    Ok(reserved) => room = Some(reserved),
                    Err(_) => return Ok(DriveOutcome::Abandoned),
                },
                Some(made) = self.making.next() => self.complete_part(made?),
                // What has begun goes on: its clock runs, whatever clients do.
                part = async { reading = true; parts.next().await },
                    if ready.is_none() && !read && (may_go_on || reading) =>
                {
                    let part = part?;
                    (read, reading) = (part.is_none(), false);
                    ready = part.map(|part| (part, self.holder.lease(self.parts.last_group_bytes())));
                }
                () = sleep_until(patient_until), if waiting => {
                    // A client that takes a chunk step by step leaves nothing untouched.
                    let taken = self.holder.steps();
                    if taken == steps {
                        return Ok(DriveOutcome::Abandoned);
                    }
                    (patient_until, steps) = (Instant::now() + patience, taken);
                }
                () = self.hands.idle_timeout(), if self.hands.has_idle() => self.hands.drop_idle(),
            }
        }
    }

    /// `chunk`, counted until the client takes it.
    fn with_lease(&self, chunk: EncodedChunk) -> EncodedChunk {
        let lease = self.holder.lease(chunk.bytes());
        chunk.with_lease(lease)
    }

    /// Begins a part.
    fn start_part(
        &mut self,
        hand: InstanceLease,
        (part, lease): ReadyGroup,
        room: OwnedPermit<EncodedChunk>,
        account: Arc<CallMetrics>,
    ) {
        let position = self.left + self.places.len();
        self.places.push_back(PendingPart { room, pieces: None });
        let (encoder, schema, options) =
            (Arc::clone(&self.encoder), Arc::clone(&self.schema), Arc::clone(&self.options));
        let opener = Arc::clone(&encoder);
        let work = move || {
            let (instance, first) = match hand {
                InstanceLease::Reused { instance, first } => (instance, first),
                InstanceLease::New(permit) => (
                    Box::new(EncoderInstance::open(
                        &opener,
                        ResponseSize::ManyParts,
                        permit,
                        account,
                        &schema,
                        &options,
                    )?),
                    false,
                ),
            };
            let (instance, pieces) =
                opener.encode_part(instance, &part, &schema, &options, first)?;
            let pieces = opener.join_part(pieces);
            drop((part, lease));
            Ok(PartResult { position, pieces, instance, first })
        };
        let holder = self.holder.clone();
        self.making.push(Box::pin(async move { encoder.run_on_worker(&holder, work).await }));
    }

    /// Puts a part in its place, and sends what is whole from the front on.
    fn complete_part(&mut self, made: PartResult) {
        self.hands.give_back(made.instance, made.first);
        if let Some(place) = self.places.get_mut(made.position - self.left) {
            place.pieces = Some(made.pieces);
        }
        let separator = self.encoder.description.separator.as_ref();
        while let Some(PendingPart { room, pieces }) = self.places.pop_front() {
            let Some(pieces) = pieces else {
                self.places.push_front(PendingPart { room, pieces });
                break;
            };
            self.left += 1;
            let lead = separator.cloned().unwrap_or_default();
            self.notes.advance(lead.len());
            let JoinedPart { segments, notes } = pieces;
            self.encoder.take_notes(notes, &mut self.notes);
            if !lead.is_empty() || !segments.is_empty() {
                room.send(self.with_lease(EncodedChunk::new(lead.into(), segments)));
            }
        }
    }

    /// Makes and sends the tail.
    async fn finish(mut self, room: OwnedPermit<EncodedChunk>) -> Result<(), GuestError> {
        let Some(mut instance) = self.hands.first() else {
            return Err(GuestError::Host("the instance that makes the tail was lost".to_owned()));
        };
        let (notes, hands) = (self.notes, self.hands);
        let work = move || {
            let tail = instance.encode_footer(&notes);
            // Clearing the instances' memory is a worker's business too.
            drop((instance, hands));
            tail
        };
        let tail = self.encoder.run_on_worker(&self.holder, work).await?;
        if !tail.is_empty() {
            let lease = self.holder.lease(tail.len());
            room.send(EncodedChunk::new(tail.into(), Vec::new()).with_lease(lease));
        }
        self.sink.finish();
        Ok(())
    }
}
