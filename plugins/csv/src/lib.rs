//! The format `csv`: RFC 4180 with LF, always a header line (contract-3-csv). Never touches Arrow
//! libraries: text is written straight from columns.

use yearbook_sdk::text::{Dialect as _, Rows, csv};
use yearbook_sdk::{
    Batch, Description, Encoder, Error, Kind, Options, Output, Parameter, Schema, View,
};

yearbook_sdk::export_encoder!(CsvEncoder);

/// One response in CSV.
#[derive(Debug)]
pub struct CsvEncoder {
    rows: Rows<csv::Csv>,
    header: Vec<u8>,
}

impl Encoder for CsvEncoder {
    fn describe() -> Description {
        Description {
            format: "csv",
            version: env!("CARGO_PKG_VERSION"),
            media_type: "text/csv; charset=utf-8; header=present",
            extension: "csv",
            separator: Some(b""),
            part_rows: None,
            dictionaries: true,
            compressible: true,
            parameters: vec![Parameter {
                name: "delimiter",
                kind: Kind::Text,
                default: ",",
                allowed: &[",", ";", "\t", "|"],
                docs: "The character between fields: comma, semicolon, tab or vertical bar.",
            }],
            docs: "RFC 4180 in UTF-8 with a header line and LF at the end of each line. Null is an empty field, \
                   an empty text is `\"\"`; a field is quoted when it holds the delimiter, a quote or a line break. \
                   Numbers that are not finite are NaN, INF and -INF; binary columns are hexadecimal.",
        }
    }

    fn open(schema: Schema, options: &Options) -> Result<Self, Error> {
        let &[delimiter] = options.text("delimiter")?.as_bytes() else {
            return Err(Error::InvalidOption(
                "csv.delimiter must be one character: `,`, `;`, tab or `|`".to_owned(),
            ));
        };
        let quoting = csv::Csv { delimiter };
        let lead = |position| if position == 0 { Vec::new() } else { vec![delimiter] };
        let mut header = Vec::new();
        for (position, field) in schema.fields.iter().enumerate() {
            header.extend(lead(position));
            quoting.text(field.name.as_bytes(), &mut header);
        }
        header.push(b'\n');
        let leads = (0..schema.fields.len()).map(lead).collect();
        Ok(Self { rows: Rows::new(quoting, &schema.fields, leads, b"\n")?, header })
    }

    fn views(&self) -> Vec<View> {
        self.rows.views()
    }

    fn head(&mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        out.extend_from_slice(&self.header);
        Ok(())
    }

    fn part(&mut self, batch: Batch, out: &mut Output) -> Result<(), Error> {
        self.rows.write(&batch, out);
        Ok(())
    }
}
