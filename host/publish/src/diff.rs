//! Changes between two snapshots (contract-4-changes-law): found when the newer one is published,
//! kept in a file of their own, read when a client asks. The law: rows of A + changes(A→B) = rows
//! of B, both seen with B's columns.

mod change_file;
mod row_index;

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions, new_null_array};
use arrow::datatypes::{DataType, SchemaRef};
use arrow::error::ArrowError;
use futures::TryStreamExt;
use yearbook_domain::changes::ChangeSet;
use yearbook_domain::{Column, Snapshot};
use yearbook_scan::schema::{stored_type, unchecked_schema};
use yearbook_scan::{Reader, Scan};
use yearbook_storage::{ObjectStorage, StorageFailure};
use yearbook_workers::Workers;

use crate::progress::ProgressReporter;

use self::change_file::ChangeFileWriter;
use self::row_index::RowIndex;

/// Compares two stored snapshots: row by row where both have the same primary key, otherwise as two
/// bags of whole rows, of which some went away and some came. Both files are read as streams; what
/// is held is an index of the newer one, under 100 bytes a row, and one batch.
///
/// # Errors
/// A [`Failure`] that names the file at fault, the older one's included.
pub(crate) async fn compare_snapshots(
    files: &ObjectStorage,
    workers: &Arc<Workers>,
    old: &Snapshot,
    new: &Snapshot,
    progress: &dyn ProgressReporter,
) -> Result<ChangeSet, StorageFailure> {
    progress.stage("comparing", Some(old.rows + new.rows));
    let reader = Reader::new(files.clone(), Arc::clone(workers));
    let comparison =
        Comparison { workers: Arc::clone(workers), target: unchecked_schema(&new.columns) };
    let (older, newer) = (ComparedSnapshot::new(old, new), ComparedSnapshot::new(new, new));

    let mut index = RowIndex::new(&comparison.target, older.key(old, new))?;
    let mut rows = newer.scan(&reader).await?.batches;
    while let Some(batch) = rows.try_next().await? {
        index = comparison.run(move || index.insert(&batch)).await?;
    }
    let mut sink = ChangeFileWriter::new(&new.columns)?;
    for (side, is_older) in [(older, true), (newer, false)] {
        let side = Arc::new(side);
        let mut rows = side.scan(&reader).await?.batches;
        while let Some(batch) = rows.try_next().await? {
            progress.advance(batch.num_rows() as u64);
            let (side, target) = (Arc::clone(&side), Arc::clone(&comparison.target));
            let job = move || {
                let batch = side.align(&batch, target)?;
                let found = if is_older {
                    index.classify_old(&batch)?
                } else {
                    index.classify_new(&batch)?
                };
                sink.append(&batch, &found)?;
                Ok((index, sink))
            };
            (index, sink) = comparison.run(job).await?;
        }
    }
    let (written, counts) = comparison.run(move || sink.finish()).await?;
    let file = files.put_open_file(written, &std::env::temp_dir()).await?;
    Ok(ChangeSet {
        from: old.id,
        to: new.id,
        version: 0,
        committed_at: new.created_at,
        rows: counts.file_rows(),
        counts: Some(counts),
        file,
        columns: new.columns.clone(),
        from_credit: Some((&old.credit).into()),
        to_credit: Some((&new.credit).into()),
    })
}

/// State that both passes share.
struct Comparison {
    workers: Arc<Workers>,
    /// The newer snapshot's columns, plain and nullable.
    target: SchemaRef,
}

impl Comparison {
    async fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> Result<T, ArrowError> + Send + 'static,
    ) -> Result<T, StorageFailure> {
        let failed = |why: String| StorageFailure::Mismatch {
            what: "a comparison of snapshots".to_owned(),
            why,
        };
        self.workers
            .run(job)
            .await
            .map_err(|_| failed("it panicked".to_owned()))?
            .map_err(|error| failed(error.to_string()))
    }
}

/// A snapshot as the newer one's columns show it.
struct ComparedSnapshot {
    /// With text read plain.
    snapshot: Snapshot,
    /// For each column of the newer snapshot, this one's with the same name and type.
    positions: Vec<Option<usize>>,
    /// Positions of the columns that are read; never empty.
    read: Vec<usize>,
}

impl ComparedSnapshot {
    fn new(snapshot: &Snapshot, target: &Snapshot) -> Self {
        let same = |wanted: &Column, column: &Column| {
            wanted.name == column.name && type_of(wanted) == type_of(column)
        };
        let find =
            |wanted: &Column| snapshot.columns.iter().position(|column| same(wanted, column));
        let positions: Vec<Option<usize>> = target.columns.iter().map(find).collect();
        let mut read: Vec<usize> = positions.iter().flatten().copied().collect();
        if read.is_empty() {
            // Nothing in common: the number of rows still counts.
            read.push(0);
        }
        let mut snapshot = snapshot.clone();
        snapshot.columns.iter_mut().for_each(|column| column.few_values = false);
        Self { snapshot, positions, read }
    }

    /// Positions, in the newer snapshot, of the primary key, where this older side has the same
    /// one; empty otherwise.
    fn key(&self, old: &Snapshot, new: &Snapshot) -> Vec<usize> {
        let sorted = |names: &[String]| {
            let mut names = names.to_vec();
            names.sort_unstable();
            names
        };
        let key: Vec<usize> =
            new.primary_key.iter().filter_map(|name| new.column_index(name)).collect();
        let known =
            key.iter().all(|position| self.positions.get(*position).is_some_and(Option::is_some));
        if known && sorted(&old.primary_key) == sorted(&new.primary_key) { key } else { Vec::new() }
    }

    async fn scan(&self, reader: &Reader) -> Result<Scan, StorageFailure> {
        let columns: Vec<Column> = self
            .read
            .iter()
            .filter_map(|position| self.snapshot.columns.get(*position).cloned())
            .collect();
        reader
            .scan_rows(
                &self.snapshot,
                &self.read,
                unchecked_schema(&columns),
                0..self.snapshot.rows,
            )
            .await
    }

    /// A batch of this side with the newer snapshot's columns.
    fn align(&self, batch: &RecordBatch, target: SchemaRef) -> Result<RecordBatch, ArrowError> {
        let mut there = batch.columns().iter();
        let mut column =
            |(position, field): (&Option<usize>, &Arc<arrow::datatypes::Field>)| -> ArrayRef {
                let found = position.and_then(|_| there.next()).cloned();
                found.unwrap_or_else(|| new_null_array(field.data_type(), batch.num_rows()))
            };
        let columns: Vec<ArrayRef> =
            self.positions.iter().zip(target.fields()).map(&mut column).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(target, columns, &options)
    }
}

fn type_of(column: &Column) -> DataType {
    stored_type(column.column_type)
}

#[cfg(test)]
mod tests;
