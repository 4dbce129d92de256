//! The first bytes of a response: up to the first rows, or all of it where it fits in one chunk.
//! Most responses fit, and one job on a worker makes all of them.

use std::sync::Arc;

use arrow::datatypes::{Schema, SchemaRef};
use bytes::Bytes;
use yearbook_shares::{CallerShare, SlotPermit};

use super::body_channel::{EncodedChunk, EncodedChunks};
use super::coalesce::{BatchCoalescer, BatchGroup};
use super::part::SHORT_BYTES;
use super::response_driver::ResponseDriver;
use super::split_retry::PartOutput;
use super::{Batches, EncodedPart, EncoderInstance, Notes, PluginEncoder, ResponseSize};
use crate::guest_error::GuestError;
use crate::observe::CallMetrics;
use crate::options::OptionValue;

/// Most bytes of a small response's rows, as plain columns: a hundred rows of thirty columns.
const SMALL_BYTES: usize = 32 << 10;

impl PluginEncoder {
    /// Encodes up to the first rows, or all of a response that fits in one part.
    pub(super) async fn first_bytes(
        self: &Arc<Self>,
        permit: SlotPermit,
        holder: &CallerShare,
        work: &Arc<CallMetrics>,
        schema: SchemaRef,
        chosen: &[OptionValue],
        batches: Batches,
    ) -> Result<FirstBytes, GuestError> {
        self.check_turns()?;
        let options = Arc::<[OptionValue]>::from(self.description.parameters.complete(chosen));
        let mut parts = BatchCoalescer::new(batches, &self.description);
        // Whether there is a second part tells whether the response is done after the first: most
        // are, and then one trip to a worker makes all of it.
        let first = parts.next().await?;
        let bytes = parts.last_group_bytes();
        let size = if first.is_some() && parts.has_next().await? {
            ResponseSize::ManyParts
        } else if bytes > SMALL_BYTES {
            ResponseSize::OnePart
        } else {
            ResponseSize::Small
        };
        let (encoder, for_guest) = (Arc::clone(self), Arc::clone(work));
        let arguments = (Arc::clone(&schema), Arc::clone(&options));
        let begun = self
            .run_on_worker(holder, move || {
                encoder.begin(permit, for_guest, &arguments.0, &arguments.1, first, size)
            })
            .await?;
        Ok(match begun {
            FirstJob::Complete(bytes) => FirstBytes::Whole(bytes),
            FirstJob::Incomplete { instance, notes, chunk } => {
                let (response, chunks) = ResponseDriver::new(
                    Arc::clone(self),
                    holder.clone(),
                    schema,
                    options,
                    instance,
                    notes,
                    parts,
                );
                FirstBytes::Streaming { response: Box::new(response), chunk, chunks }
            }
        })
    }

    /// Blocking: opens the response and encodes up to its first rows, or all of one part.
    fn begin(
        &self,
        permit: SlotPermit,
        work: Arc<CallMetrics>,
        schema: &Schema,
        options: &[OptionValue],
        first: Option<BatchGroup>,
        size: ResponseSize,
    ) -> Result<FirstJob, GuestError> {
        let instance = EncoderInstance::open(self, size, permit, work, schema, options)?;
        let mut instance = Box::new(instance);
        let mut notes = Notes::new();
        let head = instance.encode_header()?;
        notes.advance(head.len());
        let mut part = PartOutput::new();
        if let Some(first) = first {
            (instance, part) = self.encode_part(instance, &first, schema, options, true)?;
            self.take_notes(part.iter_mut().map(EncodedPart::take_note).collect(), &mut notes);
        }
        if size == ResponseSize::ManyParts {
            let segments = self.join_part(part).segments;
            let chunk = EncodedChunk::new(head.into(), segments);
            return Ok(FirstJob::Incomplete { instance, notes, chunk });
        }
        let tail = instance.encode_footer(&notes)?;
        let bytes = part.iter().map(EncodedPart::len).sum::<usize>();
        let mut whole = Vec::with_capacity(head.len() + bytes + tail.len().max(SHORT_BYTES));
        whole.extend_from_slice(&head);
        self.append_part(&part, &mut whole);
        whole.extend_from_slice(&tail);
        Ok(FirstJob::Complete(whole.into()))
    }
}

/// A response when its first bytes are made.
pub(super) enum FirstBytes {
    Whole(Bytes),
    Streaming { response: Box<ResponseDriver>, chunk: EncodedChunk, chunks: EncodedChunks },
}

/// A response after its first job on a worker.
enum FirstJob {
    Complete(Bytes),
    Incomplete { instance: Box<EncoderInstance>, notes: Notes, chunk: EncodedChunk },
}
