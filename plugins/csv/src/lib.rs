//! The format `csv`: RFC 4180 with LF, always a header line (contract-3-csv), and options for
//! spreadsheets. Never touches Arrow libraries: text is written straight from columns.

use yearbook_sdk::text::{Dialect as _, Rows};
use yearbook_sdk::{
    Batch, Description, Encoder, Error, Kind, Options, Output, Parameter, Schema, View,
};

use dialect::CsvDialect;

mod dialect;

/// UTF-8's byte order mark.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

yearbook_sdk::export_encoder!(CsvEncoder);

/// One response in CSV.
#[derive(Debug)]
pub struct CsvEncoder {
    rows: Rows<CsvDialect>,
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
            parameters: vec![
                Parameter {
                    name: "delimiter",
                    kind: Kind::Text,
                    default: ",",
                    allowed: &[",", ";", "\t", "|"],
                    docs: "The character between fields: comma, semicolon, tab or vertical bar.",
                },
                flag(
                    "bom",
                    "Begin with a byte order mark, by which Excel takes the file for UTF-8.",
                ),
                flag(
                    "escape_formulas",
                    "Write an apostrophe before a text or a column's name that begins with `=`, `+`, `-`, `@`, a tab or a carriage return, \
                     which spreadsheets would take for a formula. Numbers stay as they are. Readers other than spreadsheets see the apostrophe.",
                ),
            ],
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
        let dialect = CsvDialect::new(delimiter, options.boolean("escape_formulas")?);
        let lead = |position| if position == 0 { Vec::new() } else { vec![delimiter] };
        let mut header = Vec::new();
        if options.boolean("bom")? {
            header.extend_from_slice(BYTE_ORDER_MARK);
        }
        for (position, field) in schema.fields.iter().enumerate() {
            header.extend(lead(position));
            dialect.text(field.name.as_bytes(), &mut header);
        }
        header.push(b'\n');
        let leads = (0..schema.fields.len()).map(lead).collect();
        Ok(Self { rows: Rows::new(dialect, &schema.fields, leads, b"\n")?, header })
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

fn flag(name: &'static str, docs: &'static str) -> Parameter {
    Parameter { name, kind: Kind::Boolean, default: "false", allowed: &[], docs }
}
