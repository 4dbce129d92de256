//! From a range of a stored file to decoded batches: bytes are fetched on the reactor, decoded on
//! workers.

use std::fmt::Display;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{BooleanBufferBuilder, RecordBatch};
use bytes::Bytes;
use parquet::DecodeResult;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReader, RowSelection};
use parquet::arrow::push_decoder::{
    ParquetPushDecoder, ParquetPushDecoderBuilder, RowGroupSelection,
};
use parquet::errors::ParquetError;
use yearbook_storage::ObjectStorage;

use super::caller_workers::CallerWorkers;
use super::column_cache::ColumnCache;
use super::fetch::FetchBudget;
use super::footer::ParquetFile;
use super::page_cache::PageCache;
use super::row_range::{ReadTaskLimits, RowRange};
use crate::StorageFailure;

/// Everything that reading a file needs. Cheap to clone.
#[derive(Clone)]
pub(crate) struct FileSource {
    pub(crate) files: Arc<ObjectStorage>,
    /// On the account of the caller who reads.
    pub(crate) workers: CallerWorkers,
    pub(crate) parquet: Arc<ParquetFile>,
    pub(crate) cache: Arc<PageCache>,
    pub(crate) columns: Arc<ColumnCache>,
    pub(crate) budget: FetchBudget,
    pub(crate) task_limits: ReadTaskLimits,
}

impl FileSource {
    /// Fetches what decoding `range` needs and no more: the pages, of the columns in `mask`, that
    /// hold wanted rows. What comes back decodes without further input. None when no row is wanted.
    pub(crate) async fn reader(
        &self,
        how: &ArrowReaderMetadata,
        mask: ProjectionMask,
        range: RowRange,
        batch_rows: usize,
    ) -> Result<Option<ParquetRecordBatchReader>, StorageFailure> {
        let group = range.group;
        let rows_of_group = self.parquet.rows_of(group);
        let builder = ParquetPushDecoderBuilder::new_with_metadata(how.clone())
            .with_projection(mask)
            .with_batch_size(batch_rows);
        let start = move || {
            let selection = RowGroupSelection::new(group, to_row_selection(range, rows_of_group));
            try_next_reader(builder.with_row_group_selections(vec![selection]).build()?)
        };
        if self.files.is_local() {
            return self.fetch_local(group, start).await;
        }
        let mut state = self.run_on_worker(group, start).await?;
        loop {
            match state {
                FetchState::Ready(reader) => return Ok(reader),
                FetchState::NeedsData(decoder, ranges) => {
                    let got = self.files.get_ranges(&self.parquet.file, &ranges).await?;
                    let parquet = Arc::clone(&self.parquet);
                    let job = move || advance_decoder(&parquet, group, *decoder, ranges, got);
                    state = self.run_on_worker(group, job).await?;
                }
            }
        }
    }

    /// The same where nothing has to be waited for: one job, and no thread but a worker's.
    async fn fetch_local(
        &self,
        group: usize,
        start: impl FnOnce() -> Result<FetchState, ParquetError> + Send + 'static,
    ) -> Result<Option<ParquetRecordBatchReader>, StorageFailure> {
        let (files, parquet) = (Arc::clone(&self.files), Arc::clone(&self.parquet));
        let job = move || {
            let damaged = |error| decode_failure(&parquet, group, error);
            let mut state = start().map_err(damaged)?;
            loop {
                match state {
                    FetchState::Ready(reader) => return Ok(reader),
                    FetchState::NeedsData(decoder, ranges) => {
                        let got = files.get_ranges_blocking(&parquet.file, &ranges)?;
                        state = advance_decoder(&parquet, group, *decoder, ranges, got)
                            .map_err(damaged)?;
                    }
                }
            }
        };
        self.workers.run(job).await.map_err(|_| panic_failure(&self.parquet, group))?
    }

    /// The next batch of a reader, decoded and then treated by `after` on a worker; `None` at the
    /// end.
    pub(crate) async fn batch<T: Send + 'static>(
        &self,
        group: usize,
        mut reader: ParquetRecordBatchReader,
        after: impl FnOnce(RecordBatch) -> Result<T, ParquetError> + Send + 'static,
    ) -> Result<Option<(ParquetRecordBatchReader, T)>, StorageFailure> {
        let job = move || match reader.next().transpose()? {
            Some(batch) => Ok(Some((reader, after(batch)?))),
            None => Ok(None),
        };
        self.run_on_worker(group, job).await
    }

    /// Runs `job` on a worker; what goes wrong is put down to the file.
    pub(crate) async fn run_on_worker<T: Send + 'static>(
        &self,
        group: usize,
        job: impl FnOnce() -> Result<T, ParquetError> + Send + 'static,
    ) -> Result<T, StorageFailure> {
        let done = self.workers.run(job).await.map_err(|_| panic_failure(&self.parquet, group))?;
        done.map_err(|error| decode_failure(&self.parquet, group, error))
    }
}

fn decode_failure(parquet: &ParquetFile, group: usize, error: impl Display) -> StorageFailure {
    StorageFailure::damaged(&parquet.key, format!("row group {group}: {error}"))
}

fn panic_failure(parquet: &ParquetFile, group: usize) -> StorageFailure {
    decode_failure(parquet, group, "decoding panicked")
}

enum FetchState {
    NeedsData(Box<ParquetPushDecoder>, Vec<Range<u64>>),
    Ready(Option<ParquetRecordBatchReader>),
}

fn advance_decoder(
    parquet: &ParquetFile,
    group: usize,
    mut decoder: ParquetPushDecoder,
    ranges: Vec<Range<u64>>,
    got: Vec<Bytes>,
) -> Result<FetchState, ParquetError> {
    parquet.validate_dictionaries(group, &ranges, &got)?;
    decoder.push_ranges(ranges, got)?;
    try_next_reader(decoder)
}

fn try_next_reader(mut decoder: ParquetPushDecoder) -> Result<FetchState, ParquetError> {
    Ok(match decoder.try_next_reader()? {
        DecodeResult::NeedsData(ranges) => FetchState::NeedsData(Box::new(decoder), ranges),
        DecodeResult::Data(reader) => FetchState::Ready(Some(reader)),
        DecodeResult::Finished => FetchState::Ready(None),
    })
}

/// The wanted rows as the decoder counts them, from the beginning of the row group; `None` for all
/// of it.
fn to_row_selection(range: RowRange, rows_of_group: usize) -> Option<RowSelection> {
    let Some(wanted) = range.wanted else {
        let whole = range.rows == (0..rows_of_group);
        return (!whole).then(|| {
            RowSelection::from_consecutive_ranges(std::iter::once(range.rows), rows_of_group)
        });
    };
    let mut mask = BooleanBufferBuilder::new(rows_of_group);
    mask.append_n(range.rows.start, false);
    mask.append_buffer(&wanted);
    mask.append_n(rows_of_group.saturating_sub(mask.len()), false);
    Some(RowSelection::from_boolean_buffer(mask.finish()))
}
