//! The input format `sdmx-csv`: SDMX-CSV 2.0 and 1.0 (<https://github.com/sdmx-twg/sdmx-csv>), as
//! statistical offices serve observations. The first line tells what separates fields
//! ([`opening`]), the header is read in [`header`]; here rows are made of records.

use yearbook_csv_records::{CsvFault, CsvFaultKind, CsvReader, CsvRecord};
use yearbook_sdk::reader::{
    ColumnRequest, FilePlace, ReadColumn, ReadRefusal, ReaderDescription, RowBuilder,
};
use yearbook_sdk::{Kind, Options, Parameter, Reader};
use yearbook_sdmx_values::Values;

mod header;
mod opening;

use header::{Component, Header};
use opening::Opening;

yearbook_sdk::export_reader!(SdmxCsvReader);

/// A file of SDMX-CSV that is being read.
#[derive(Debug)]
pub struct SdmxCsvReader {
    opening: Opening,
    /// `None` until the first line is there.
    records: Option<CsvReader>,
    requests: Vec<ColumnRequest>,
    values: Values,
    header: Option<Header>,
    /// Text of the structure that the rows so far name.
    structure: Option<Vec<u8>>,
}

impl Reader for SdmxCsvReader {
    fn describe() -> ReaderDescription {
        let delimiter = Parameter {
            name: "delimiter",
            kind: Kind::Text,
            default: "auto",
            allowed: &["auto", "comma", "semicolon", "tab"],
            docs: "What separates fields; `auto` takes the first of the three that the header has.",
        };
        ReaderDescription {
            format: "sdmx-csv",
            version: env!("CARGO_PKG_VERSION"),
            title: "SDMX-CSV",
            parameters: [delimiter].into_iter().chain(Values::parameters()).collect(),
            example: EXAMPLE,
            docs: "SDMX-CSV 2.0, and 1.0 with its column DATAFLOW. STRUCTURE, STRUCTURE_ID and ACTION describe the message and \
                   are no columns; the other components are, under their ids. Of a column `FREQ:Frequency`, sent with `labels=both`, `FREQ` is the codes, \
                   `FREQ label` their labels, and `FREQ:Frequency` both as they stand, as plain text needs it. Every row is of one structure, and none deletes. An empty value is \
                   null, and so are NaN as a number and what `missing_values` lists. What Yearbook sends comes back \
                   exactly with `nulls` and `escaped`.",
        }
    }

    fn open(requests: &[ColumnRequest], options: &Options) -> Result<Self, ReadRefusal> {
        let delimiter = match options.text("delimiter")? {
            "comma" => Some(b','),
            "semicolon" => Some(b';'),
            "tab" => Some(b'\t'),
            _ => None,
        };
        Ok(Self {
            opening: Opening::new(delimiter),
            records: None,
            requests: requests.to_vec(),
            values: Values::from_options(options)?,
            header: None,
            structure: None,
        })
    }

    fn push(&mut self, bytes: &[u8], last: bool) -> Result<(), ReadRefusal> {
        match &mut self.records {
            Some(records) => records.push(bytes, last),
            None => self.records = self.opening.push(bytes, last)?,
        }
        let (Some(records), None) = (&mut self.records, &self.header) else { return Ok(()) };
        if next_record(records)? {
            self.header =
                Some(Header::read(&records.record(), &self.requests, self.values.escaped())?);
        } else if last {
            return Err(ReadRefusal::malformed(
                FilePlace::line(1, ""),
                "the file is empty; its first line must name the components",
            ));
        }
        Ok(())
    }

    fn columns(&self) -> Option<Vec<ReadColumn>> {
        self.header.as_ref().map(Header::columns)
    }

    fn pull(&mut self, rows: &mut RowBuilder) -> Result<(), ReadRefusal> {
        let (Some(records), Some(header)) = (&mut self.records, &self.header) else {
            return Ok(());
        };
        while !rows.is_full() && next_record(records)? {
            let record = records.record();
            if record.is_blank() {
                continue;
            }
            header.check_width(&record)?;
            header.check_message(&record, &mut self.structure)?;
            if !self.values.has_exact_nulls() && header.is_empty_match(&record) {
                continue;
            }
            let year = header.reporting_year(&record);
            for (at, component) in header.requested().iter().enumerate() {
                add_cell(rows, at, (component, year), &record, &self.values)?;
            }
            rows.end_row();
        }
        Ok(())
    }
}

/// Reads the next record; false where more bytes are needed, or at the end.
fn next_record(records: &mut CsvReader) -> Result<bool, ReadRefusal> {
    records.read().map_err(refusal)
}

fn refusal(fault: CsvFault) -> ReadRefusal {
    let sentence = match fault.kind {
        CsvFaultKind::UnclosedQuote => "has a quote that is not closed".to_owned(),
        CsvFaultKind::TooManyBytes => format!(
            "begins a record of more than {} bytes; a quote may not be closed",
            opening::BOUNDS.bytes
        ),
        CsvFaultKind::TooManyFields => format!("has more than {} fields", opening::BOUNDS.fields),
        _ => "has something behind a closing quote; double quotes inside a quoted field".to_owned(),
    };
    ReadRefusal::malformed(FilePlace::line(fault.line, ""), sentence)
}

fn add_cell(
    rows: &mut RowBuilder,
    at: usize,
    (component, year): (&Component, &str),
    record: &CsvRecord<'_>,
    values: &Values,
) -> Result<(), ReadRefusal> {
    let place = || FilePlace::line(record.line(), &component.name);
    let text = record.cell(component.position).map(std::str::from_utf8).transpose();
    let text =
        text.map_err(|_| ReadRefusal::malformed(place(), "is not UTF-8; convert the file"))?;
    let text = text.map(|text| component.part_of(text)).transpose();
    let text = text.map_err(|why| ReadRefusal::unsupported(place(), why))?.flatten();
    let checked = values.check_reporting_year(year, component.requested_type, text);
    checked.map_err(|why| ReadRefusal::unsupported(place(), why))?;
    let added = values.add(rows, at, component.requested_type, text, component.is_escaped);
    added.map_err(|why| ReadRefusal::unsupported(place(), why))
}

/// An answer of an agency with `labels=both`.
const EXAMPLE: &[u8] = b"STRUCTURE,STRUCTURE_ID,ACTION,FREQ:Frequency,REF_AREA:Reference area,TIME_PERIOD:Time period,OBS_VALUE:Observation value,OBS_STATUS:Status,NOTE:Note\n\
dataflow,TESTS:CROPS(1.0): Crops,I,Q: Quarterly,NZ: New Zealand,2024-Q1,12.5,A: Normal value,\n\
dataflow,TESTS:CROPS(1.0): Crops,I,Q: Quarterly,NZ: New Zealand,2024-Q2,,M: Missing value,\"frost, and \"\"hail\"\"\"\n\
dataflow,TESTS:CROPS(1.0): Crops,I,Q: Quarterly,AU: Australia,2024-Q1,NaN,O: Other,\n";
