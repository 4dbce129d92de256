//! The steps of publishing. Each hands small jobs to the workers and tells progress in between;
//! reading a local file on a worker is meant, since decoding it is the greater part by far.

mod blocks;
mod read_rows;

use std::collections::BTreeMap;
use std::fs::File;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::error::ArrowError;
use parquet::errors::ParquetError;
use yearbook_domain::meaning::ValueTexts;
use yearbook_domain::{
    Column, ColumnRole, Credit, DatasetName, Namespace, PreviewFacts, ResultDigest, SnapshotId,
    StoredFile,
};
use yearbook_facts::{LinePass, TablePass, TableShape};
use yearbook_scan::schema::credit_entries;
use yearbook_scan::{ResultHasher, RowBoundsWriter, compress_values};
use yearbook_sort::{RowBlock, SortError, SortedRows};
use yearbook_storage::{ObjectStorage, Sidecar};
use yearbook_workers::Workers;

pub(crate) use self::blocks::{BlockStream, PartStream, TablePart, for_each, read_blocks};
pub(super) use self::read_rows::read;
use crate::error::PublishError;
use crate::package::DataPackage;
use crate::progress::ProgressReporter;
use crate::snapshot_id::snapshot_id;
use crate::table::reader_columns;
use crate::write::{FileCompression, SnapshotFileMetadata, SnapshotWriter};

/// Adds what a reader's file tells of its columns.
pub(super) async fn complete(
    workers: &Workers,
    package: Arc<DataPackage>,
) -> Result<Arc<DataPackage>, PublishError> {
    if package.reader_source.is_none() {
        return Ok(package);
    }
    run_on_worker(workers, "reading the columns", move || reader_columns::complete(&package))
        .await?
}

/// Positions of the columns of a table in its sorted rows.
pub(crate) fn all_columns(columns: &[Column]) -> Vec<usize> {
    (0..columns.len()).collect()
}

/// Computes the snapshot id, and the digest of the whole table.
pub(super) async fn compute_id(
    workers: &Workers,
    package: &DataPackage,
    rows: &Arc<SortedRows>,
    progress: &dyn ProgressReporter,
) -> Result<(SnapshotId, ResultDigest), PublishError> {
    progress.stage("identifying", Some(rows.rows()));
    let blocks = read_blocks(workers, rows, all_columns(&package.columns));
    let hasher = hash_table(workers, &package.columns, blocks, progress).await?;
    Ok((snapshot_id(package, &hasher), hasher.finish()))
}

/// Hashes all rows of a table with `columns`.
pub(crate) async fn hash_table(
    workers: &Workers,
    columns: &[Column],
    blocks: BlockStream<'_>,
    progress: &dyn ProgressReporter,
) -> Result<ResultHasher, PublishError> {
    const STAGE: &str = "identifying";
    let take = |mut hasher: ResultHasher, block: &RowBlock| {
        hasher.update(&block.rows).map_err(internal_error(STAGE))?;
        Ok(hasher)
    };
    let hasher = ResultHasher::new(columns.iter());
    for_each(workers, STAGE, blocks, progress, hasher, take).await
}

/// A file in the temporary folder, and what was found on the way.
pub(crate) struct WrittenTable<T> {
    pub(crate) file: File,
    pub(crate) counted: T,
    /// Bounds of the rows of a table with geometry.
    pub(crate) bounds: Option<RowBoundsWriter>,
}

/// Words of a table that its stored file depends on, beside its rows.
#[derive(Clone, Copy)]
pub(crate) struct TableWords<'a> {
    pub(crate) name: &'a DatasetName,
    pub(crate) namespace: &'a Namespace,
    pub(crate) credit: &'a Credit,
    /// With `few_values` decided.
    pub(crate) columns: &'a [Column],
    pub(crate) primary_key: &'a [String],
    pub(crate) date_column: Option<&'a str>,
}

impl TableWords<'_> {
    /// Date column, then primary key (contract-3-order), as positions.
    pub(crate) fn sorted_by(&self) -> Vec<usize> {
        let key = self.primary_key.iter().map(String::as_str);
        let key = key.filter(|name| self.date_column != Some(*name));
        let names = self.date_column.into_iter().chain(key);
        names
            .filter_map(|name| self.columns.iter().position(|column| column.name == name))
            .collect()
    }
}

impl DataPackage {
    /// Words of its table, whose columns became `columns`.
    pub(super) fn words<'a>(&'a self, columns: &'a [Column]) -> TableWords<'a> {
        TableWords {
            name: &self.name,
            namespace: &self.namespace,
            credit: &self.credit,
            columns,
            primary_key: &self.primary_key,
            date_column: self.date_column.as_deref(),
        }
    }
}

/// Begins to count so many rows of a table with `digest`.
pub(super) fn count(
    words: TableWords<'_>,
    rows: u64,
    digest: ResultDigest,
) -> Result<TablePass, PublishError> {
    let shape = TableShape::new(words.columns.to_vec(), words.primary_key, rows);
    TablePass::new(shape, digest).map_err(internal_error("writing"))
}

/// A count of rows as they come, in a state.
pub(crate) trait CountRows<T>:
    Fn(&mut T, &RecordBatch) -> Result<(), ArrowError> + Send + Sync + 'static
{
}

impl<T, F> CountRows<T> for F where
    F: Fn(&mut T, &RecordBatch) -> Result<(), ArrowError> + Send + Sync + 'static
{
}

/// Writes the file to the temporary folder, without a name there: a process that is killed leaves
/// nothing behind. The rows that are written are counted on the way, by `count` in `counted`, and
/// their geometry is bounded; those that are copied are not.
pub(crate) async fn write<T: Send + 'static>(
    workers: &Workers,
    (words, id): (TableWords<'_>, &SnapshotId),
    parts: PartStream<'_>,
    (counted, count): (T, impl CountRows<T>),
    progress: &dyn ProgressReporter,
) -> Result<WrittenTable<T>, PublishError> {
    const STAGE: &str = "writing";
    let temporary = tempfile::tempfile().map_err(temporary_file_error)?;
    let file = temporary.try_clone().map_err(temporary_file_error)?;
    let columns = words.columns;
    let description = SnapshotFileMetadata {
        columns,
        sorted_by: &words.sorted_by(),
        words: credit_entries(words.name, words.namespace, id, words.credit),
        compression: FileCompression::Fast,
    };
    let writer = SnapshotWriter::new(file, &description).map_err(parquet_error(STAGE))?;
    let geometry = columns.iter().position(|column| column.role == ColumnRole::Geometry);
    let mut bounds = None;
    if let Some(column) = geometry.and_then(|position| columns.get(position)) {
        let temporary = tempfile::tempfile().map_err(temporary_file_error)?;
        bounds = Some(RowBoundsWriter::new(temporary, column.few_values));
    }
    let take = move |(mut writer, mut counted, mut bounds), part: &TablePart| {
        let block = match part {
            TablePart::Block(block) => block,
            TablePart::Copy(group) => {
                SnapshotWriter::copy(&mut writer, group).map_err(parquet_error(STAGE))?;
                return Ok((writer, counted, bounds));
            }
        };
        count(&mut counted, &block.rows).map_err(internal_error(STAGE))?;
        let group = SnapshotWriter::append(&mut writer, &block.rows, block.ends_group);
        let group = group.map_err(parquet_error(STAGE))?;
        let column = geometry.and_then(|position| block.rows.columns().get(position));
        if let (Some(bounds), Some(column)) = (&mut bounds, column) {
            RowBoundsWriter::update(bounds, column).map_err(internal_error(STAGE))?;
            group.map_or(Ok(()), |bytes| bounds.end_group(bytes)).map_err(temporary_file_error)?;
        }
        Ok((writer, counted, bounds))
    };
    let state = (writer, counted, bounds);
    let (writer, counted, bounds) = for_each(workers, STAGE, parts, progress, state, take).await?;
    run_on_worker(workers, STAGE, move || writer.finish()).await?.map_err(parquet_error(STAGE))?;
    Ok(WrittenTable { file: temporary, counted, bounds })
}

/// Stores the bounds of the rows of a stored file beside it.
pub(super) async fn store_bounds(
    files: &ObjectStorage,
    file: &StoredFile,
    bounds: RowBoundsWriter,
) -> Result<(), PublishError> {
    let (head, chunks) = bounds.finish(&file.sha256).map_err(temporary_file_error)?;
    Ok(files.put_sidecar_file(file, Sidecar::Bounds, head, chunks).await?)
}

/// Draws the lines of previews, reading again the columns that they need. Returns the facts, and
/// the values of the columns that have few in their stored form, labels with them.
pub(super) async fn summarise(
    workers: &Workers,
    (counted, labels): (TablePass, BTreeMap<usize, ValueTexts>),
    rows: &Arc<SortedRows>,
    progress: &dyn ProgressReporter,
) -> Result<(PreviewFacts, Vec<u8>), PublishError> {
    const STAGE: &str = "summarising";
    let finish = move || {
        let (lines, values) = counted.finish()?;
        Ok::<_, ArrowError>((lines, compress_values(&values.with_labels(labels))?))
    };
    let (mut lines, values) =
        run_on_worker(workers, STAGE, finish).await?.map_err(internal_error(STAGE))?;
    if lines.columns().is_empty() {
        progress.stage(STAGE, None);
    } else {
        let take = |mut lines: LinePass, block: &RowBlock| {
            lines.update(&block.rows).map_err(internal_error(STAGE))?;
            Ok(lines)
        };
        progress.stage(STAGE, Some(rows.rows()));
        let needed = read_blocks(workers, rows, lines.columns().to_vec());
        lines = for_each(workers, STAGE, needed, progress, lines, take).await?;
    }
    let facts = run_on_worker(workers, STAGE, move || lines.finish()).await?;
    Ok((facts.map_err(internal_error(STAGE))?, values))
}

pub(crate) async fn run_on_worker<T: Send + 'static>(
    workers: &Workers,
    stage: &'static str,
    job: impl FnOnce() -> T + Send + 'static,
) -> Result<T, PublishError> {
    workers.run(job).await.map_err(internal_error(stage))
}

fn internal_error<E: std::fmt::Display>(stage: &'static str) -> impl Fn(E) -> PublishError {
    move |why| PublishError::Internal { stage, why: why.to_string() }
}

pub(crate) fn sort_error(stage: &'static str) -> impl Fn(SortError) -> PublishError {
    move |error| match error {
        SortError::Io(source) => temporary_file_error(source),
        SortError::Rows(why) => internal_error(stage)(why),
    }
}

fn parquet_error(stage: &'static str) -> impl Fn(ParquetError) -> PublishError {
    move |error| match error {
        ParquetError::External(source) => match source.downcast::<std::io::Error>() {
            Ok(source) => temporary_file_error(*source),
            Err(source) => internal_error(stage)(source),
        },
        error => internal_error(stage)(error),
    }
}

pub(crate) fn temporary_file_error(source: std::io::Error) -> PublishError {
    PublishError::TemporaryFile { folder: std::env::temp_dir(), source }
}
