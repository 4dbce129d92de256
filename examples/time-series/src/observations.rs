//! The format that no client can name: an element an observation.

use yearbook_sdk::{Batch, Description, Encoder, Error, Kind, Options, Output, Parameter, Schema};

use crate::xml::{self, tag};

/// One response. The first column has dates, the second values.
pub struct Observations {
    factor: f64,
    published: String,
}

impl Encoder for Observations {
    fn describe() -> Description {
        Description {
            format: "time-series",
            version: env!("CARGO_PKG_VERSION"),
            media_type: xml::MEDIA_TYPE,
            extension: "xml",
            separator: Some(b""),
            part_rows: None,
            dictionaries: false,
            compressible: true,
            parameters: vec![
                Parameter {
                    name: "factor",
                    kind: Kind::Number,
                    default: "1",
                    allowed: &[],
                    docs: "Every value is multiplied by it.",
                },
                Parameter {
                    name: "published",
                    kind: Kind::Text,
                    default: "",
                    allowed: &[],
                    docs: "The day of publication.",
                },
            ],
            docs: "One element an observation, with date and value.",
        }
    }

    fn open(schema: Schema, options: &Options) -> Result<Self, Error> {
        if schema.fields.len() != 2 {
            return Err(Error::UnsupportedSchema("a series has dates and values".to_owned()));
        }
        let (factor, published) = (options.number("factor")?, options.text("published")?);
        Ok(Self { factor, published: published.to_owned() })
    }

    fn part(&mut self, batch: Batch, out: &mut Output) -> Result<(), Error> {
        let (dates, values) = (batch.column(0), batch.column(1));
        for row in 0..batch.rows() {
            let date = dates.text(row).unwrap_or_default();
            // What is not multiplied keeps its digits.
            let value = match (values.integer(row), values.number(row)) {
                (Some(whole), _) if self.factor == 1.0 => whole.to_string(),
                (Some(whole), _) => (whole as f64 * self.factor).to_string(),
                (None, Some(number)) if self.factor == 1.0 => number.to_string(),
                (None, Some(number)) => (number * self.factor).to_string(),
                (None, None) => ".".to_owned(),
            };
            let attributes = [
                ("realtime_start", &*self.published),
                ("realtime_end", &*self.published),
                ("date", date),
                ("value", &value),
            ];
            out.extend_from_slice(tag("observation", &attributes, "/>\n").as_bytes());
        }
        Ok(())
    }
}
