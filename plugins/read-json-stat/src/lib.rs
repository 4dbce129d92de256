//! The input format `json-stat`: JSON-stat 2.0 of the class dataset (<https://json-stat.org/full/>),
//! as Eurostat and national offices serve cubes. [`document`] gathers what the file says and
//! [`cells`] its values, [`cube`] makes columns and rows of them once all of it is there, since
//! dimensions may stand behind the values.

use yearbook_json_parser::{JsonFault, JsonParser};
use yearbook_sdk::reader::{
    ColumnRequest, FilePlace, MissingValues, ReadColumn, ReadFault, ReadRefusal, ReaderDescription,
    RowBuilder,
};
use yearbook_sdk::{Kind, Options, Parameter, Reader};

mod cells;
mod cube;
mod document;
mod number;

use cube::Cube;
use document::Document;

yearbook_sdk::export_reader!(JsonStatReader);

/// A file of JSON-stat that is being read.
#[derive(Debug)]
pub struct JsonStatReader {
    parser: JsonParser,
    document: Document,
    requests: Vec<ColumnRequest>,
    last_day: bool,
    keep_missing: bool,
    cube: Option<Cube>,
}

impl Reader for JsonStatReader {
    fn describe() -> ReaderDescription {
        let choice = |name, default, allowed, docs| Parameter {
            name,
            kind: Kind::Text,
            default,
            allowed,
            docs,
        };
        ReaderDescription {
            format: "json-stat",
            version: env!("CARGO_PKG_VERSION"),
            title: "JSON-stat",
            parameters: vec![
                choice(
                    "missing",
                    "omit",
                    &["omit", "keep"],
                    "Cells without a value: left out, or kept as rows whose value is null.",
                ),
                MissingValues::parameter(""),
                choice(
                    "period_date",
                    "first",
                    &["first", "last"],
                    "The day of a period that a column of type date gets.",
                ),
            ],
            example: EXAMPLE,
            docs: "JSON-stat 2.0, class dataset. A row is a cell of the cube, in its order. Columns are the dimensions under their \
                   ids, with the codes of their categories; `ID label` with the labels; `value`; and `status`. The unit of the \
                   value is told where the cube has one metric. The whole cube is held: 20,000,000 cells at most.",
        }
    }

    fn open(requests: &[ColumnRequest], options: &Options) -> Result<Self, ReadRefusal> {
        Ok(Self {
            parser: JsonParser::new(),
            document: Document::new(MissingValues::from_options(options)?),
            requests: requests.to_vec(),
            last_day: options.text("period_date")? == "last",
            keep_missing: options.text("missing")? == "keep",
            cube: None,
        })
    }

    fn push(&mut self, bytes: &[u8], last: bool) -> Result<(), ReadRefusal> {
        self.parser.push(bytes, &mut self.document).map_err(refusal)?;
        if last {
            self.parser.finish(&mut self.document).map_err(refusal)?;
            let document = std::mem::take(&mut self.document);
            let cube = Cube::new(document, &self.requests, self.last_day, self.keep_missing)?;
            self.cube = Some(cube);
        }
        Ok(())
    }

    fn columns(&self) -> Option<Vec<ReadColumn>> {
        self.cube.as_ref().map(Cube::columns)
    }

    fn pull(&mut self, rows: &mut RowBuilder) -> Result<(), ReadRefusal> {
        match &mut self.cube {
            Some(cube) => cube.add_rows(rows),
            None => Ok(()),
        }
    }
}

fn refusal(fault: JsonFault) -> ReadRefusal {
    let JsonFault { line, byte, path, sentence, by_handler } = fault;
    let place = FilePlace { line: Some(line), byte: Some(byte), path };
    let fault = ReadFault { place, sentence };
    if by_handler { ReadRefusal::Unsupported(fault) } else { ReadRefusal::Malformed(fault) }
}

const EXAMPLE: &[u8] = br#"{
  "version": "2.0", "class": "dataset", "label": "Crops",
  "id": ["metric", "geo", "time"], "size": [1, 2, 3],
  "role": {"metric": ["metric"], "geo": ["geo"], "time": ["time"]},
  "dimension": {
    "metric": {"category": {"label": {"YIELD": "Yield"}, "unit": {"YIELD": {"base": "t/ha", "decimals": 1}}}},
    "geo": {"label": "Region", "category": {"index": {"AU": 1, "NZ": 0}, "label": {"NZ": "New Zealand", "AU": "Australia"}}},
    "time": {"category": {"index": ["2023", "2024-Q1", "2024M02"]}}
  },
  "value": [1.5, null, 2, 3, 4.25, -1e-1],
  "status": {"1": ":", "4": "e"}
}
"#;
