//! A version whose file was not kept, made again of the next version that has one and of what
//! changed in between: the rows that were there from the beginning.

use std::sync::Arc;

use arrow::array::{BooleanArray, RecordBatch};
use arrow::compute::filter_record_batch;
use yearbook_domain::changes::HistorySegment;
use yearbook_domain::{DatasetName, Namespace, ResultDigest, Snapshot};
use yearbook_scan::schema::unchecked_schema;
use yearbook_storage::{MadeFile, ObjectStorage, StorageFailure};
use yearbook_workers::Workers;

use super::events::{Life, LifeSink, collect};
use super::lives::tell_lives;
use super::{STAGE, write_table};
use crate::error::PublishError;
use crate::memory_budget::PublishMemory;
use crate::progress::SilentReporter;
use crate::publish::stages::{TableWords, hash_table, run_on_worker, sort_error};
use yearbook_sort::{ExternalSorter, SortError};

/// A version that is to be made again.
#[derive(Clone, Copy)]
pub struct RestoredVersion<'a> {
    /// Name of its dataset.
    pub name: &'a DatasetName,
    /// Grouping of its dataset.
    pub namespace: &'a Namespace,
    /// Its words; its file is not read.
    pub snapshot: &'a Snapshot,
    /// Digest of its rows.
    pub digest: ResultDigest,
}

/// Makes `version` again, the first one of `segment`.
///
/// # Errors
/// [`PublishError::Storage`] with [`StorageFailure::Damaged`] where the rows do not have the digest
/// of the version; else as publishing.
pub async fn restore(
    memory: PublishMemory,
    files: &ObjectStorage,
    workers: &Arc<Workers>,
    version: RestoredVersion<'_>,
    segment: &HistorySegment,
) -> Result<MadeFile, PublishError> {
    let RestoredVersion { name, namespace, snapshot, digest } = version;
    let words = TableWords {
        name,
        namespace,
        credit: &snapshot.credit,
        columns: &snapshot.columns,
        primary_key: &snapshot.primary_key,
        date_column: snapshot.date_column.as_deref(),
    };
    let schema = unchecked_schema(&snapshot.columns);
    let sorter = ExternalSorter::new(schema, &words.sorted_by(), memory.table_bytes() / 2);
    let sink = OldestRows(sorter.map_err(sort_error(STAGE))?);
    let segments = std::slice::from_ref(segment);
    let events = collect(memory, files, workers, &snapshot.columns, segments, sink).await?;
    let starts = vec![segment.first];
    let job = move || tell_lives(events, starts)?.0.finish().map(Arc::new);
    let rows = run_on_worker(workers, STAGE, job).await?.map_err(sort_error(STAGE))?;
    let found = hash_table(workers, &snapshot.columns, &rows, &SilentReporter).await?;
    if found.finish() != digest {
        let why = "what changed since then does not lead back to the rows that it had";
        let file = ObjectStorage::key(&segment.last.file);
        return Err(StorageFailure::damaged(&file, why).into());
    }
    write_table(workers, words, (&snapshot.id, digest), &rows).await
}

/// Rows of the oldest version.
struct OldestRows(ExternalSorter);

impl LifeSink for OldestRows {
    fn take(&mut self, rows: &RecordBatch, lives: &[Life]) -> Result<(), SortError> {
        let oldest = BooleanArray::from_iter(lives.iter().map(|life| Some(life.from.is_none())));
        let rows = filter_record_batch(rows, &oldest)?;
        if rows.num_rows() == 0 { Ok(()) } else { self.0.add(rows) }
    }
}
