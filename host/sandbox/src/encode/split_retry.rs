//! A part for which a guest returns more than one call may: its rows are given once more, in
//! halves, to a fresh instance. Only where parts are independent, because what the spent instance
//! held is lost. Bytes stay a pure function: whether a part is too long is decided by its rows and
//! the component alone, and so is where it is halved.

use arrow::array::RecordBatch;
use arrow::datatypes::Schema;
use yearbook_engine::Trap;

use super::body_channel::Segments;
use super::part::BodyBuilder;
use super::{Notes, PluginEncoder, concat};
use crate::encode::{EncodedPart, EncoderInstance};
use crate::guest_error::GuestError;
use crate::options::OptionValue;

/// Output of one chunk: a piece, or one for each half.
pub(crate) type PartOutput = Vec<EncodedPart>;

/// A part whose bytes are joined, and what the tail must know of it.
pub(crate) struct JoinedPart {
    /// Its bytes, in order.
    pub(crate) segments: Segments,
    /// Its notes.
    pub(crate) notes: PartNotes,
}

/// Length and note of each piece of a part.
pub(crate) type PartNotes = Vec<(usize, Vec<u8>)>;

impl PluginEncoder {
    /// Makes `part` with `instance`. Returns the instance that goes on, which is another one where
    /// the part was halved. `with_head`: the instance has made the header, and will make the
    /// footer. Blocking.
    pub(crate) fn encode_part(
        &self,
        mut instance: Box<EncoderInstance>,
        part: &[RecordBatch],
        schema: &Schema,
        options: &[OptionValue],
        with_head: bool,
    ) -> Result<(Box<EncoderInstance>, PartOutput), GuestError> {
        let batch = concat(part).map_err(|error| GuestError::Host(error.to_string()))?;
        let unmade = match instance.try_encode_part(&batch) {
            Ok(piece) => return Ok((instance, vec![piece])),
            Err(unmade) => unmade,
        };
        if !self.should_split(&unmade.error, &batch) {
            return Err(instance.dump_part_failure(unmade));
        }
        tracing::debug!(plugin = self.name(), rows = batch.num_rows(), "a part is made in halves");
        let mut instance = Box::new(instance.reopen(self, schema, options)?);
        if with_head {
            instance.encode_header()?;
        }
        let middle = batch.num_rows() / 2;
        let halves = [batch.slice(0, middle), batch.slice(middle, batch.num_rows() - middle)];
        let pieces =
            halves.iter().map(|half| instance.encode_part(half)).collect::<Result<_, _>>()?;
        Ok((instance, pieces))
    }

    fn should_split(&self, error: &GuestError, batch: &RecordBatch) -> bool {
        let too_long = matches!(error.trap(), Some(Trap::Output(_)));
        too_long && batch.num_rows() > 1 && self.description.separator.is_some()
    }

    /// The bytes of a part, with the separator between its pieces. Blocking: it copies.
    pub(crate) fn join_part(&self, pieces: PartOutput) -> JoinedPart {
        let (mut notes, mut body) = (PartNotes::new(), BodyBuilder::default());
        for (position, mut piece) in pieces.into_iter().enumerate() {
            if position > 0 {
                body.extend(self.separator());
            }
            notes.push(piece.take_note());
            piece.append_to_body(&mut body);
        }
        JoinedPart { segments: body.finish(), notes }
    }

    /// Counts the pieces of a part and keeps their notes.
    pub(crate) fn take_notes(&self, pieces: PartNotes, notes: &mut Notes) {
        for (position, (length, note)) in pieces.into_iter().enumerate() {
            if position > 0 {
                notes.advance(self.separator().len());
            }
            notes.take(length, note);
        }
    }

    /// Appends the bytes of a part, with the separator between its pieces.
    pub(crate) fn append_part(&self, pieces: &[EncodedPart], out: &mut Vec<u8>) {
        for (position, piece) in pieces.iter().enumerate() {
            if position > 0 {
                out.extend_from_slice(self.separator());
            }
            piece.append_to(out);
        }
    }

    fn separator(&self) -> &[u8] {
        self.description.separator.as_deref().unwrap_or_default()
    }
}
