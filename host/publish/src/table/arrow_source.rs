//! Parquet and Arrow IPC to chunks: column names and types against the schema, then batches cut and
//! converted.

mod claimed_sizes;

use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufReader, Read, Seek};

use arrow::array::RecordBatch;
use arrow::datatypes::{Schema, SchemaRef};
use arrow::error::ArrowError;
use arrow::ipc::reader::{FileReader, StreamReader};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use yearbook_domain::Column;
use yearbook_scan::schema::unchecked_schema;

use super::TableChunk;
use super::convert::{self, Conversion};
use super::source::{TableInput, TableSource, TableSourceError, check_column_names};
use crate::faults::FaultList;

/// Rows decoded and converted at a time: few, since one may hold a large geometry.
const BATCH_ROWS: usize = 8_192;

/// Bytes that the compressed buffers of one batch may expand to, whatever a table may have.
const MAX_EXPANDED_BYTES: u64 = 8 << 30;

/// First bytes of an Arrow IPC file; a stream has none (Arrow columnar format, "IPC File Format").
const IPC_MAGIC: &[u8] = b"ARROW1";

/// Batches of any Arrow reader.
struct ArrowSource {
    batches: Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>> + Send>,
    conversions: Vec<Conversion>,
    schema: SchemaRef,
    /// Pieces of the batch read last.
    pending: VecDeque<RecordBatch>,
    row: u64,
}

/// Opens a Parquet file.
pub(crate) fn open_parquet(
    file: File,
    columns: &[Column],
    faults: &mut FaultList,
) -> Result<TableInput, TableSourceError> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(file)
        .map_err(|why| TableSourceError(why.to_string()))?;
    let schema = builder.schema().clone();
    let rows = u64::try_from(builder.metadata().file_metadata().num_rows()).ok();
    let reader = builder
        .with_batch_size(BATCH_ROWS)
        .build()
        .map_err(|why| TableSourceError(why.to_string()))?;
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
        pending: VecDeque::new(),
        row: 0,
    };
    TableInput { source: Box::new(source), total, position: None }
}

impl TableSource for ArrowSource {
    fn next(&mut self, faults: &mut FaultList) -> Result<Option<TableChunk>, TableSourceError> {
        let failed = |row: u64, why: String| TableSourceError(format!("after row {row}: {why}"));
        while self.pending.is_empty() {
            let Some(batch) = self.batches.next() else { return Ok(None) };
            let batch = batch.map_err(|why| match why {
                // A reader names a place of its own.
                ArrowError::ExternalError(why) => TableSourceError(why.to_string()),
                why => failed(self.row, why.to_string()),
            })?;
            let mut at = 0;
            while at < batch.num_rows() {
                let length = BATCH_ROWS.min(batch.num_rows() - at);
                self.pending.push_back(batch.slice(at, length));
                at += length;
            }
        }
        let Some(piece) = self.pending.pop_front() else { return Ok(None) };
        let first_row = self.row + 1;
        self.row += piece.num_rows() as u64;
        let mut columns = Vec::with_capacity(self.conversions.len());
        for (index, (conversion, array)) in self.conversions.iter().zip(piece.columns()).enumerate()
        {
            columns.push(
                conversion
                    .apply(array, first_row, index, faults)
                    .map_err(|why| failed(first_row - 1, why.to_string()))?,
            );
        }
        let batch = RecordBatch::try_new(self.schema.clone(), columns)
            .map_err(|why| failed(first_row - 1, why.to_string()))?;
        Ok(Some(TableChunk { first_row, batch }))
    }
}

#[cfg(test)]
mod tests;
