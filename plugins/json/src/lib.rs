//! The format `json`: an array of objects, or with `json.envelope=true` an object that also says
//! where the data comes from (spec-2.3-envelope, contract-3-json). Never touches Arrow libraries:
//! text is written straight from columns.

use yearbook_sdk::text::{Rows, json};
use yearbook_sdk::{
    Batch, Description, Encoder, Error, Kind, Note, Options, Output, Parameter, Schema, View,
};

mod envelope;

yearbook_sdk::export_encoder!(JsonEncoder);

/// One response in JSON.
#[derive(Debug)]
pub struct JsonEncoder {
    rows: Rows<json::Json>,
    head: Vec<u8>,
    tail: &'static [u8],
}

impl Encoder for JsonEncoder {
    fn describe() -> Description {
        Description {
            format: "json",
            version: env!("CARGO_PKG_VERSION"),
            media_type: "application/json",
            extension: "json",
            separator: Some(b","),
            part_rows: None,
            dictionaries: true,
            compressible: true,
            parameters: vec![Parameter {
                name: "envelope",
                kind: Kind::Boolean,
                default: "false",
                allowed: &[],
                docs: "Wraps the rows in an object with `data_sources` (licence and credit) and `data`.",
            }],
            docs: "An array of objects, one a row, with every column present. Null, NaN and infinities are null; \
                   numbers are written in full, floats with the fewest digits that read back as the same float; \
                   binary columns are hexadecimal; dates and times are ISO 8601.",
        }
    }

    fn open(schema: Schema, options: &Options) -> Result<Self, Error> {
        let enveloped = options.boolean("envelope")?;
        let rows = json::objects(&schema.fields, b"},")?;
        let (head, tail): (_, &[u8]) =
            if enveloped { (envelope::head(&schema), b"]}") } else { (b"[".to_vec(), b"]") };
        Ok(Self { rows, head, tail })
    }

    fn views(&self) -> Vec<View> {
        self.rows.views()
    }

    fn head(&mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        out.extend_from_slice(&self.head);
        Ok(())
    }

    fn part(&mut self, batch: Batch, out: &mut Output) -> Result<(), Error> {
        self.rows.write(&batch, out);
        // The comma after the last row is the separator, which the host writes.
        out.pop();
        Ok(())
    }

    fn tail(&mut self, _: &[Note], out: &mut Vec<u8>) -> Result<(), Error> {
        out.extend_from_slice(self.tail);
        Ok(())
    }
}
