//! The format `ndjson`: one JSON object a line (<https://github.com/ndjson/ndjson-spec>), with the
//! values that `json` has. Every line ends in a line feed, so a body that was cut off inside a line
//! is seen to be; between lines it is not.

use yearbook_sdk::text::{Rows, json};
use yearbook_sdk::{Batch, Description, Encoder, Error, Options, Output, Schema, View};

yearbook_sdk::export_encoder!(NdjsonEncoder);

/// One response, an object a line.
#[derive(Debug)]
pub struct NdjsonEncoder(Rows<json::Json>);

impl Encoder for NdjsonEncoder {
    fn describe() -> Description {
        Description {
            format: "ndjson",
            version: env!("CARGO_PKG_VERSION"),
            media_type: "application/x-ndjson",
            extension: "ndjson",
            separator: Some(b""),
            part_rows: None,
            dictionaries: true,
            compressible: true,
            parameters: Vec::new(),
            docs: "One JSON object a row and line (JSON Lines), for programs that read row by row. The values are those of `json`: \
                   every column is present, null, NaN and infinities are null, floats have the fewest digits that read back as the same float. \
                   An empty result is an empty body.",
        }
    }

    fn open(schema: Schema, _: &Options) -> Result<Self, Error> {
        json::objects(&schema.fields, b"}\n").map(Self)
    }

    fn views(&self) -> Vec<View> {
        self.0.views()
    }

    fn part(&mut self, batch: Batch, out: &mut Output) -> Result<(), Error> {
        self.0.write(&batch, out);
        Ok(())
    }
}
