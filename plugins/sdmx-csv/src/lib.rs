//! The format `sdmx-csv`: SDMX-CSV 2.0 (<https://github.com/sdmx-twg/sdmx-csv>). What the columns
//! are follows from their roles and from parameters, in [`structure`]; rows are written as in
//! `csv`.

use yearbook_sdk::text::{Dialect as _, Rows, csv};
use yearbook_sdk::{
    Batch, Description, Encoder, Error, Kind, Options, Output, Parameter, Schema, View,
};

mod structure;

yearbook_sdk::export_encoder!(SdmxCsvEncoder);

/// SDMX-CSV has one delimiter by default, which its readers expect.
const DIALECT: csv::Csv = csv::Csv { delimiter: b',' };

/// One response in SDMX-CSV.
#[derive(Debug)]
pub struct SdmxCsvEncoder {
    rows: Rows<csv::Csv>,
    header: Vec<u8>,
}

impl Encoder for SdmxCsvEncoder {
    fn describe() -> Description {
        let text = |name, default, allowed, docs| Parameter {
            name,
            kind: Kind::Text,
            default,
            allowed,
            docs,
        };
        Description {
            format: "sdmx-csv",
            version: env!("CARGO_PKG_VERSION"),
            media_type: "application/vnd.sdmx.data+csv; version=2.0.0",
            extension: "csv",
            separator: Some(b""),
            part_rows: None,
            dictionaries: true,
            compressible: true,
            parameters: vec![
                text(
                    "structure",
                    "dataflow",
                    &["dataflow", "datastructure", "dataprovision"],
                    "What `structure_id` names.",
                ),
                text(
                    "structure_id",
                    "",
                    &[],
                    "`AGENCY:ID(VERSION)` of the structure; otherwise `namespace:dataset(1.0)`.",
                ),
                text(
                    "action",
                    "I",
                    &["I", "A", "R", "D"],
                    "What a receiver should do: information, append (or merge), replace, delete.",
                ),
                text(
                    "time_period",
                    "",
                    &[],
                    "The column that becomes TIME_PERIOD; otherwise the period codes, or else the date.",
                ),
                text(
                    "obs_value",
                    "",
                    &[],
                    "The column that becomes OBS_VALUE; otherwise the only one that holds values.",
                ),
            ],
            docs: "SDMX-CSV 2.0: STRUCTURE, STRUCTURE_ID and ACTION, then the dataset's columns in their order, of which one is \
                   TIME_PERIOD and, where there is one column of values, that one OBS_VALUE; a wide table keeps the names of its \
                   columns as measures. The other columns are dimensions and attributes under their own names. Values are \
                   written as in `csv`. The structure itself is not published here: a reader needs one, and the dataset's metadata says what it must hold.",
        }
    }

    fn open(schema: Schema, options: &Options) -> Result<Self, Error> {
        let names =
            structure::names(&schema, options.text("time_period")?, options.text("obs_value")?)?;
        let id = structure::structure_id(&schema, options.text("structure_id")?)?;
        let mut first = Vec::new();
        for constant in [options.text("structure")?, &id, options.text("action")?] {
            DIALECT.text(constant.as_bytes(), &mut first);
            first.push(b',');
        }
        let mut header = b"STRUCTURE,STRUCTURE_ID,ACTION".to_vec();
        for name in names {
            header.push(b',');
            DIALECT.text(name.as_bytes(), &mut header);
        }
        header.push(b'\n');
        let leads = (0..schema.fields.len())
            .map(|position| if position == 0 { first.clone() } else { b",".to_vec() })
            .collect();
        Ok(Self { rows: Rows::new(DIALECT, &schema.fields, leads, b"\n")?, header })
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
