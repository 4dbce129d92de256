//! CSV to chunks: header against schema, ragged rows, cells to values. An unquoted empty field is
//! null, `""` is an empty string (contract-7-null). Blank lines at the end are no rows
//! (contract-7-blank-lines).

pub(crate) mod csv_records;
mod foreign_content;

use std::io::{Chain, Cursor, Read};

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use yearbook_csv_records::CsvRecord;
use yearbook_domain::Column;
use yearbook_scan::schema::unchecked_schema;

use super::column_builder::ColumnBuilder;
use super::source::{TableSource, TableSourceError, check_column_names};
use super::{MAX_BYTES, MAX_ROWS, TableChunk};
use crate::faults::FaultList;
use csv_records::{CsvError, CsvRecords};

/// Bytes by which content of another kind is recognized.
const FIRST_BYTES: u64 = 64;

/// A CSV file being read.
pub(crate) struct CsvSource<R> {
    records: CsvRecords<Chain<Cursor<Vec<u8>>, R>>,
    schema: SchemaRef,
    builders: Vec<ColumnBuilder>,
    /// Set where a blank line may be a row: the only column may be null.
    has_blank_rows: bool,
    /// Data rows read.
    row: u64,
    done: bool,
}

impl<R: Read> CsvSource<R> {
    /// Reads the header. Where it does not name the columns in their order, that is the fault and
    /// no row is read.
    pub(crate) fn new(
        mut input: R,
        columns: &[Column],
        faults: &mut FaultList,
    ) -> Result<Self, TableSourceError> {
        let failed = |why: std::io::Error| TableSourceError(why.to_string());
        let mut first = Vec::new();
        input.by_ref().take(FIRST_BYTES).read_to_end(&mut first).map_err(failed)?;
        if let Some(found) = foreign_content::recognize(&first) {
            return Err(TableSourceError(found.to_owned()));
        }
        let mut records = CsvRecords::new(Cursor::new(first).chain(input));
        match records.next() {
            Ok(Some(header)) => check_header(&header, columns, faults),
            Ok(None) => faults.add_file(None, || {
                "the file is empty; its first line must name the columns".to_owned()
            }),
            Err(CsvError::Io(why)) => return Err(failed(why)),
            Err(broken) => faults.add_file(None, || format!("in the header: {broken}")),
        }
        Ok(Self {
            done: !faults.is_empty(),
            records,
            schema: unchecked_schema(columns),
            builders: columns.iter().map(|column| ColumnBuilder::new(column.column_type)).collect(),
            has_blank_rows: matches!(columns, [only] if only.nullable),
            row: 0,
        })
    }

    /// A broken file cannot be picked up again behind the fault: where a record ends is not known
    /// any more.
    fn report_broken(
        &mut self,
        broken: CsvError,
        faults: &mut FaultList,
    ) -> Result<(), TableSourceError> {
        self.done = true;
        match broken {
            CsvError::Io(why) => {
                return Err(TableSourceError(format!("after row {}: {why}", self.row)));
            }
            CsvError::Record { field, .. } => match self.schema.fields().get(field) {
                Some(_) => faults.cell(self.row + 1, field, || {
                    format!("{broken}; the rows behind it were not read")
                }),
                None => faults
                    .row(self.row + 1, || format!("{broken}; the rows behind it were not read")),
            },
        }
        Ok(())
    }
}

impl<R: Read + Send> TableSource for CsvSource<R> {
    fn next(&mut self, faults: &mut FaultList) -> Result<Option<TableChunk>, TableSourceError> {
        let (mut first_row, mut rows, mut bytes) = (self.row + 1, 0, 0);
        while !self.done && rows < MAX_ROWS && bytes < MAX_BYTES {
            let record = match self.records.next() {
                Ok(Some(record)) => record,
                Ok(None) => {
                    self.done = true;
                    if self.has_blank_rows && self.records.blank_lines_at_end() > 0 {
                        faults.row(self.row + 1, || "is a blank line at the end, which may be a null or nothing: remove it; a null there needs a second column, or Parquet or Arrow".to_owned());
                    }
                    break;
                }
                Err(broken) => {
                    self.report_broken(broken, faults)?;
                    break;
                }
            };
            self.row += 1;
            if record.len() != self.builders.len() {
                report_ragged(&record, self.builders.len(), self.row, faults);
                // A chunk's rows are consecutive, so this row ends it.
                if rows > 0 {
                    break;
                }
                first_row = self.row + 1;
                continue;
            }
            for (column, builder) in self.builders.iter_mut().enumerate() {
                builder.push(record.cell(column), self.row, column, faults);
            }
            rows += 1;
            bytes += record.bytes();
        }
        if rows == 0 {
            return Ok(None);
        }
        let columns = self.builders.iter_mut().map(ColumnBuilder::finish).collect();
        let batch = RecordBatch::try_new(self.schema.clone(), columns)
            .map_err(|why| TableSourceError(why.to_string()))?;
        Ok(Some(TableChunk { first_row, batch }))
    }
}

fn report_ragged(record: &CsvRecord<'_>, expected: usize, row: u64, faults: &mut FaultList) {
    let found = record.len();
    faults.row(row, || match found {
        1 if record.cell(0).is_none() => "is blank; remove the line".to_owned(),
        1 => format!(
            "has 1 field where the header has {expected}; write a comma for every empty field"
        ),
        _ => format!(
            "has {found} fields where the header has {expected}; quote commas inside a field"
        ),
    });
}

fn check_header(header: &CsvRecord<'_>, columns: &[Column], faults: &mut FaultList) {
    let found: Vec<&[u8]> =
        (0..header.len()).map(|field| header.cell(field).unwrap_or_default()).collect();
    if found.iter().any(|name| std::str::from_utf8(name).is_err()) {
        faults.add_file(None, || {
            "the header is not UTF-8, perhaps Latin-1 or Windows-1252; save the file as UTF-8"
                .to_owned()
        });
        return;
    }
    let found: Vec<String> =
        found.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
    check_column_names(&found, columns, faults);
}

#[cfg(test)]
mod tests;
