//! The format `arrow`: Arrow's IPC stream, made by arrow-rs; dictionaries, which cross in few
//! bytes, become plain text first. The head is the schema message, each part a record batch
//! message, the tail the end-of-stream marker: a body that was cut off lacks it (contract-3-cut).

use arrow::array::RecordBatch;
use arrow::buffer::Buffer;
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use arrow::ipc::writer::StreamEncoder;
use yearbook_sdk::arrow::DictionaryUnpacker;
use yearbook_sdk::{Batch, Description, Encoder, Error, Note, Options, Schema};

yearbook_sdk::export_encoder!(ArrowEncoder);

/// One response as an Arrow IPC stream.
pub struct ArrowEncoder {
    plain: DictionaryUnpacker,
    writer: StreamEncoder,
    /// The schema message, then the end-of-stream marker.
    empty: Vec<u8>,
}

/// Length of the end-of-stream marker: a continuation and a length of zero.
const END_OF_STREAM_BYTES: usize = 8;

impl Encoder for ArrowEncoder {
    fn describe() -> Description {
        Description {
            format: "arrow",
            version: env!("CARGO_PKG_VERSION"),
            media_type: "application/vnd.apache.arrow.stream",
            extension: "arrows",
            separator: Some(b""),
            part_rows: None,
            dictionaries: true,
            compressible: false,
            parameters: Vec::new(),
            docs: "Arrow's IPC streaming format, uncompressed, with plain (not dictionary-encoded) columns. \
                   Source, licence and attribution stand in the schema's metadata.",
        }
    }

    fn open(schema: Schema, _: &Options) -> Result<Self, Error> {
        let plain = DictionaryUnpacker::new(&schema)?;
        let schema = plain.schema();
        let declined = |error: ArrowError| {
            Error::UnsupportedSchema(format!(
                "Arrow's stream format cannot carry this table: {error}"
            ))
        };
        let empty =
            StreamEncoder::try_new(schema).and_then(StreamEncoder::finish).map_err(declined)?;
        let empty = empty.iter().flat_map(|buffer| buffer.as_slice()).copied().collect();
        let mut writer = StreamEncoder::try_new(schema).map_err(declined)?;
        // The first call writes the schema too, which is the head's business.
        writer.encode(&RecordBatch::new_empty(SchemaRef::clone(schema))).map_err(declined)?;
        Ok(Self { plain, writer, empty })
    }

    fn head(&mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        out.extend_from_slice(&self.empty[..self.empty.len() - END_OF_STREAM_BYTES]);
        Ok(())
    }

    fn part(&mut self, batch: Batch, out: &mut Vec<u8>) -> Result<(), Error> {
        let batch = self.plain.record_batch(batch)?;
        let buffers =
            self.writer.encode(&batch).map_err(|error| Error::Internal(error.to_string()))?;
        out.reserve(buffers.iter().map(Buffer::len).sum());
        buffers.iter().for_each(|buffer| out.extend_from_slice(buffer));
        Ok(())
    }

    fn tail(&mut self, _: &[Note], out: &mut Vec<u8>) -> Result<(), Error> {
        out.extend_from_slice(&self.empty[self.empty.len() - END_OF_STREAM_BYTES..]);
        Ok(())
    }
}
