//! A part for which a guest returns more than one call may: its rows are given once more, in
//! halves, to a fresh instance. Only where parts are independent, because what the spent instance
//! held is lost. Bytes stay a pure function: whether a part is too long is decided by its rows and
//! the component alone, and so is where it is halved.

use arrow::array::RecordBatch;
use arrow::datatypes::Schema;

use super::{Notes, PluginEncoder, concat};
use crate::encode::{EncodeError, EncoderInstance};
use crate::guest::bindings::exports::yearbook::plugin::encoder::Piece;
use crate::options::OptionValue;
use crate::trap::Trap;

/// Output of one chunk: a piece, or one for each half.
pub(crate) type ChunkOutput = Vec<Piece>;

impl PluginEncoder {
    /// Makes `part` with `instance`. Returns the instance that goes on, which is another one where
    /// the part was halved. `with_head`: the instance has made the header, and will make the
    /// footer. Blocking.
    pub(crate) fn encode_chunk(
        &self,
        mut instance: Box<EncoderInstance>,
        part: &[RecordBatch],
        schema: &Schema,
        options: &[OptionValue],
        with_head: bool,
    ) -> Result<(Box<EncoderInstance>, ChunkOutput), EncodeError> {
        let batch = concat(part).map_err(|error| EncodeError::Host(error.to_string()))?;
        let unmade = match instance.try_encode_chunk(&batch) {
            Ok(piece) => return Ok((instance, vec![piece])),
            Err(unmade) => unmade,
        };
        if !self.should_split(&unmade.error, &batch) {
            return Err(instance.dump_chunk_failure(unmade));
        }
        tracing::debug!(
            plugin = self.description.format,
            rows = batch.num_rows(),
            "a part is made in halves"
        );
        let mut instance = Box::new(instance.reopen(self, schema, options)?);
        if with_head {
            instance.encode_header()?;
        }
        let middle = batch.num_rows() / 2;
        let halves = [batch.slice(0, middle), batch.slice(middle, batch.num_rows() - middle)];
        let pieces =
            halves.iter().map(|half| instance.encode_chunk(half)).collect::<Result<_, _>>()?;
        Ok((instance, pieces))
    }

    fn should_split(&self, error: &EncodeError, batch: &RecordBatch) -> bool {
        let too_long = matches!(error.trap(), Some(Trap::Output(_)));
        too_long && batch.num_rows() > 1 && self.description.separator.is_some()
    }

    /// The bytes of a part, with the separator between its pieces. Their notes are counted and
    /// kept.
    pub(crate) fn assemble_chunk(&self, pieces: ChunkOutput, notes: &mut Notes) -> Vec<u8> {
        let separator = self.description.separator.as_deref().unwrap_or_default();
        let mut pieces = pieces.into_iter();
        let Some(first) = pieces.next() else { return Vec::new() };
        let mut bytes = first.bytes;
        notes.take(bytes.len(), first.note);
        for piece in pieces {
            notes.advance(separator.len());
            notes.take(piece.bytes.len(), piece.note);
            bytes.extend_from_slice(separator);
            bytes.extend_from_slice(&piece.bytes);
        }
        bytes
    }
}
