//! Parquet and Arrow IPC to chunks: column names and types against the schema, then batches cut and
//! converted.

mod claimed_sizes;
mod dictionary_pages;
mod row_texts;

use std::fs::File;
use std::io::{BufReader, Read, Seek};

use arrow::array::RecordBatch;
use arrow::datatypes::{Schema, SchemaRef};
use arrow::error::ArrowError;
use arrow::ipc::reader::{FileReader, StreamReader};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::errors::ParquetError;
use yearbook_domain::{Column, json_size};
use yearbook_scan::schema::unchecked_schema;

use self::row_texts::RowTexts;
use super::TableChunk;
use super::convert::{self, Conversion};
use super::source::{TableInput, TableSource, TableSourceError, check_column_names};
use crate::faults::FaultList;

/// Rows decoded and converted at a time: few, since one may hold a large geometry.
const BATCH_ROWS: usize = 8_192;

/// Bytes that the compressed buffers of one batch may expand to, whatever a table may have.
const MAX_EXPANDED_BYTES: u64 = 8 << 30;

/// Rows with too much text that are named: to look behind one more takes a piece each.
const MAX_LONG_ROWS: u32 = 100;

/// First bytes of an Arrow IPC file; a stream has none (Arrow columnar format, "IPC File Format").
const IPC_MAGIC: &[u8] = b"ARROW1";

/// Batches of any Arrow reader.
struct ArrowSource {
    batches: Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>> + Send>,
    conversions: Vec<Conversion>,
    schema: SchemaRef,
    /// Rows of the batch read last that are still to come.
    rest: Option<RecordBatch>,
    row: u64,
    /// Rows with too much text so far.
    too_long: u32,
}

/// Opens a Parquet file.
pub(crate) fn open_parquet(
    file: File,
    columns: &[Column],
    faults: &mut FaultList,
) -> Result<TableInput, TableSourceError> {
    let failed = |why: ParquetError| TableSourceError(why.to_string());
    let pages = file.try_clone().map_err(|why| failed(why.into()))?;
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(failed)?;
    let schema = builder.schema().clone();
    let rows = u64::try_from(builder.metadata().file_metadata().num_rows()).ok();
    let batch_rows = dictionary_pages::batch_rows(pages, builder.metadata()).map_err(failed)?;
    let reader = builder.with_batch_size(batch_rows).build().map_err(failed)?;
    Ok(open_batches(&schema, Box::new(reader), columns, rows, faults))
}

/// Opens an Arrow IPC file or stream, the table of which may have `max_bytes`.
pub(crate) fn open_ipc(
    mut file: File,
    max_bytes: u64,
    columns: &[Column],
    faults: &mut FaultList,
) -> Result<TableInput, TableSourceError> {
    let failed = |why: String| TableSourceError(why);
    let mut magic = [0; IPC_MAGIC.len()];
    let is_file = file.read_exact(&mut magic).is_ok() && magic == IPC_MAGIC;
    let claimed = if is_file { claimed_sizes::of_file } else { claimed_sizes::of_stream };
    let claimed = claimed(&mut file).map_err(|why| failed(why.to_string()))?;
    let most = MAX_EXPANDED_BYTES.min(max_bytes);
    if claimed > most {
        return Err(failed(format!(
            "a batch expands to {claimed} bytes, and {most} are allowed; write smaller batches"
        )));
    }
    file.rewind().map_err(|why| failed(why.to_string()))?;
    let file = BufReader::new(file);
    if is_file {
        let reader = FileReader::try_new(file, None).map_err(|why| failed(why.to_string()))?;
        Ok(open_batches(&reader.schema(), Box::new(reader), columns, None, faults))
    } else {
        let reader = StreamReader::try_new(file, None).map_err(|why| failed(why.to_string()))?;
        Ok(open_batches(&reader.schema(), Box::new(reader), columns, None, faults))
    }
}

pub(crate) fn open_batches(
    schema: &Schema,
    batches: Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>> + Send>,
    columns: &[Column],
    total: Option<u64>,
    faults: &mut FaultList,
) -> TableInput {
    let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
    check_column_names(&names, columns, faults);
    let mut conversions = Vec::new();
    if faults.is_empty() {
        for (field, column) in schema.fields().iter().zip(columns) {
            match convert::between(field.data_type(), column.column_type) {
                Ok(conversion) => conversions.push(conversion),
                Err(why) => faults.add_file(Some(&column.name), || why),
            }
        }
    }
    // With a fault in the schema there is nothing to read: no row could be checked.
    let batches = if faults.is_empty() { batches } else { Box::new(std::iter::empty()) };
    let source = ArrowSource {
        batches,
        conversions,
        schema: unchecked_schema(columns),
        rest: None,
        row: 0,
        too_long: 0,
    };
    TableInput { source: Box::new(source), total, position: None }
}

/// The failure of a reader behind a row.
fn failed_after(row: u64, why: &ArrowError) -> TableSourceError {
    TableSourceError(format!("after row {row}: {why}"))
}

impl ArrowSource {
    /// The next rows as the file has them, so few that their text can be written out. A row that
    /// is too long for that is a fault, and is left out.
    fn next_piece(
        &mut self,
        faults: &mut FaultList,
    ) -> Result<Option<RecordBatch>, TableSourceError> {
        loop {
            let batch = match self.rest.take() {
                Some(rest) => rest,
                None => match self.batches.next() {
                    None => return Ok(None),
                    Some(Ok(batch)) => batch,
                    // A reader names a place of its own.
                    Some(Err(ArrowError::ExternalError(why))) => {
                        return Err(TableSourceError(why.to_string()));
                    }
                    Some(Err(why)) => return Err(failed_after(self.row, &why)),
                },
            };
            let piece = batch.slice(0, BATCH_ROWS.min(batch.num_rows()));
            let texts = RowTexts::new(&piece);
            let rows = texts.first_rows();
            let taken = rows.max(1);
            if taken < batch.num_rows() {
                self.rest = Some(batch.slice(taken, batch.num_rows() - taken));
            }
            if rows > 0 {
                return Ok(Some(piece.slice(0, rows)));
            }
            if batch.num_rows() > 0 {
                self.row += 1;
                self.too_long += 1;
                if self.too_long > MAX_LONG_ROWS {
                    return Err(TableSourceError(format!(
                        "more than {MAX_LONG_ROWS} rows have over {} bytes of text; split or simplify them",
                        json_size::ROW_BYTES
                    )));
                }
                let (row, limit) = (texts.row_bytes(0), json_size::ROW_BYTES);
                let (column, bytes) = texts.longest(0);
                faults.cell(self.row, column, || {
                    format!("takes {bytes} of its row's {row} bytes of text; a row may take {limit}, more could be sent in no format: split or simplify it")
                });
            }
        }
    }
}

impl TableSource for ArrowSource {
    fn next(&mut self, faults: &mut FaultList) -> Result<Option<TableChunk>, TableSourceError> {
        let Some(piece) = self.next_piece(faults)? else { return Ok(None) };
        let first_row = self.row + 1;
        self.row += piece.num_rows() as u64;
        let mut columns = Vec::with_capacity(self.conversions.len());
        for (index, (conversion, array)) in self.conversions.iter().zip(piece.columns()).enumerate()
        {
            columns.push(
                conversion
                    .apply(array, first_row, index, faults)
                    .map_err(|why| failed_after(first_row - 1, &why))?,
            );
        }
        let batch = RecordBatch::try_new(self.schema.clone(), columns)
            .map_err(|why| failed_after(first_row - 1, &why))?;
        Ok(Some(TableChunk { first_row, batch }))
    }
}

#[cfg(test)]
mod tests;
