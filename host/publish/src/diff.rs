//! Changes between two snapshots (contract-4-changes-law): found when the newer one is published,
//! kept in a file of their own, read when a client asks. The law: rows of A + changes(A→B) = rows
//! of B, both seen with B's columns.

mod change_file;
mod column_revisions;
pub(crate) mod fingerprints;
mod largest_revision;
mod row_fates;

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions, new_null_array};
use arrow::buffer::BooleanBuffer;
use arrow::compute::kernels::cmp::distinct;
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use futures::stream::BoxStream;
use futures::{StreamExt as _, TryStreamExt as _};
use yearbook_domain::changes::ChangeSet;
use yearbook_domain::{Column, Snapshot};
use yearbook_scan::schema::unchecked_schema;
use yearbook_scan::{Reader, Scan};
use yearbook_sort::SortError;
use yearbook_storage::{ObjectStorage, StorageFailure};
use yearbook_workers::Workers;

use crate::memory_budget::PublishMemory;
use crate::progress::ProgressReporter;

use self::change_file::ChangeFileWriter;
use self::fingerprints::{FingerprintSorter, PlaceOrder, SortedFingerprints};
use self::row_fates::RowFates;

/// Compares two stored snapshots: row by row where both have the same primary key, otherwise as two
/// bags of whole rows, of which some went away and some came. Both files are read as streams, twice
/// where rows changed. Fingerprints of their rows are sorted and merged: some 90 bytes a row while
/// they fit the budget, on disk beyond it. Rows with a key that are the same in the same place need
/// none. What is held besides is two bits a row and a batch of each file.
///
/// # Errors
/// A [`StorageFailure`] that names the file at fault, the older one's included.
pub(crate) async fn compare_snapshots(
    memory: PublishMemory,
    files: &ObjectStorage,
    workers: &Arc<Workers>,
    old: &Snapshot,
    new: &Snapshot,
    progress: &dyn ProgressReporter,
) -> Result<ChangeSet, StorageFailure> {
    progress.stage("comparing", Some(old.rows + new.rows));
    let comparison = Comparison {
        workers: Arc::clone(workers),
        reader: Reader::new(files.clone(), Arc::clone(workers)),
        target: unchecked_schema(&new.columns),
        budget: memory.fingerprint_bytes(),
        progress,
    };
    let older = Arc::new(AlignedSnapshot::new(old, &new.columns));
    let newer = Arc::new(AlignedSnapshot::new(new, &new.columns));
    let key = older.key(old, new);
    let [sorted_old, sorted_new] = comparison.sort([&older, &newer], &key).await?;
    let (old_rows, new_rows) = (old.rows, new.rows);
    let merge = move || row_fates::compare((sorted_old, old_rows), (sorted_new, new_rows));
    let [before, after] = comparison.run(merge).await?;

    progress.stage("writing changes", Some(old.rows + new.rows));
    let mut sink = ChangeFileWriter::new(new, &key)?;
    for (side, fates) in [(older, before), (newer, after)] {
        sink = comparison.write(&side, fates, sink).await?;
    }
    let (written, counts, largest_revision) = comparison.run(move || Ok(sink.finish()?)).await?;
    let file = files.put_open_file(written, &std::env::temp_dir()).await?;
    Ok(ChangeSet {
        from: old.id,
        to: new.id,
        version: 0,
        committed_at: new.created_at,
        rows: counts.file_rows(),
        counts,
        largest_revision,
        file,
        columns: new.columns.clone(),
        from_credit: (&old.credit).into(),
        to_credit: (&new.credit).into(),
    })
}

/// State that all passes share.
struct Comparison<'a> {
    workers: Arc<Workers>,
    reader: Reader,
    /// The newer snapshot's columns, plain and nullable.
    target: SchemaRef,
    /// Bytes of the fingerprints of one side.
    budget: usize,
    progress: &'a dyn ProgressReporter,
}

impl Comparison<'_> {
    /// The fingerprints of both sides, in order.
    async fn sort(
        &self,
        sides: [&Arc<AlignedSnapshot>; 2],
        key: &[usize],
    ) -> Result<[SortedFingerprints; 2], StorageFailure> {
        let sorter = |order| {
            let sorter = FingerprintSorter::new(&self.target, key, order, self.budget);
            sorter.map_err(|error| comparison_failure(error.to_string()))
        };
        let mut sorters = [sorter(PlaceOrder::FirstRowFirst)?, sorter(PlaceOrder::LastRowFirst)?];
        let [older, newer] = sides;
        let mut rows =
            SideBySide::new([older.scan(&self.reader).await?, newer.scan(&self.reader).await?]);
        let has_key = !key.is_empty();
        while let Some(batches) = rows.next().await? {
            self.progress
                .advance(batches.iter().flatten().map(|rows| rows.num_rows() as u64).sum());
            let (sides, target) = (sides.map(Arc::clone), Arc::clone(&self.target));
            let job = move || {
                let align = |side: usize| {
                    let rows = batches[side].as_ref();
                    rows.map(|rows| sides[side].align(rows, Arc::clone(&target))).transpose()
                };
                let aligned = [align(0)?, align(1)?];
                let differ = match &aligned {
                    [Some(old), Some(new)] if has_key => Some(differing_rows(old, new)?),
                    _ => None,
                };
                for (sorter, rows) in sorters.iter_mut().zip(aligned) {
                    if let Some(rows) = rows {
                        sorter.update(&rows, differ.as_ref())?;
                    }
                }
                Ok(sorters)
            };
            sorters = self.run(job).await?;
        }
        let [older, newer] = sorters;
        self.run(move || Ok([older.finish()?, newer.finish()?])).await
    }

    /// Appends the changed rows of one side to the file of changes.
    async fn write(
        &self,
        side: &Arc<AlignedSnapshot>,
        mut fates: RowFates,
        mut sink: ChangeFileWriter,
    ) -> Result<ChangeFileWriter, StorageFailure> {
        if fates.is_unchanged() {
            self.progress.advance(side.snapshot.rows);
            return Ok(sink);
        }
        let mut rows = side.scan(&self.reader).await?.batches;
        let mut behind = 0;
        while let Some(batch) = rows.try_next().await? {
            let first = behind;
            behind += batch.num_rows() as u64;
            self.progress.advance(batch.num_rows() as u64);
            let found = fates.next_changes(batch.num_rows());
            if found.is_empty() {
                continue;
            }
            let (side, target) = (Arc::clone(side), Arc::clone(&self.target));
            let job = move || {
                sink.append(&side.align(&batch, target)?, first, &found)?;
                Ok(sink)
            };
            sink = self.run(job).await?;
        }
        Ok(sink)
    }

    async fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> Result<T, SortError> + Send + 'static,
    ) -> Result<T, StorageFailure> {
        let done = self.workers.run(job).await;
        done.map_err(|_| comparison_failure("it panicked".to_owned()))?.map_err(|error| match error
        {
            SortError::Io(source) => {
                StorageFailure::local("use a temporary file in", &std::env::temp_dir(), source)
            }
            SortError::Rows(why) => comparison_failure(why.to_string()),
        })
    }
}

/// Rows of two files in step.
struct SideBySide {
    batches: [BoxStream<'static, Result<RecordBatch, StorageFailure>>; 2],
    /// Rest of the batch at hand.
    rest: [Option<RecordBatch>; 2],
}

impl SideBySide {
    fn new(scans: [Scan; 2]) -> Self {
        Self { batches: scans.map(|scan| scan.batches.fuse().boxed()), rest: [None, None] }
    }

    /// The next rows of both, which stand in the same places; those of one where the other has
    /// ended, `None` where both have.
    async fn next(&mut self) -> Result<Option<[Option<RecordBatch>; 2]>, StorageFailure> {
        for (rest, batches) in self.rest.iter_mut().zip(&mut self.batches) {
            while rest.as_ref().is_none_or(|rest| rest.num_rows() == 0) {
                *rest = batches.try_next().await?;
                if rest.is_none() {
                    break;
                }
            }
        }
        let Some(rows) = self.rest.iter().flatten().map(RecordBatch::num_rows).min() else {
            return Ok(None);
        };
        Ok(Some(self.rest.each_mut().map(|rest| {
            let whole = rest.as_mut()?;
            let next = whole.slice(0, rows);
            *whole = whole.slice(rows, whole.num_rows() - rows);
            Some(next)
        })))
    }
}

/// True for rows that are not the same in both. Numbers are the same by their bits, as they are in
/// Arrow's row format.
fn differing_rows(old: &RecordBatch, new: &RecordBatch) -> Result<BooleanArray, ArrowError> {
    let columns = old.columns().iter().zip(new.columns());
    let mut differ = BooleanBuffer::new_unset(old.num_rows());
    for (old, new) in columns {
        differ = &differ | distinct(old, new)?.values();
    }
    Ok(differ.into())
}

fn comparison_failure(why: String) -> StorageFailure {
    StorageFailure::Mismatch { what: "a comparison of snapshots".to_owned(), why }
}

/// A snapshot as the newer one's columns show it.
pub(crate) struct AlignedSnapshot {
    /// With text read plain.
    snapshot: Snapshot,
    /// For each column of the newer snapshot, this one's with the same name and type.
    positions: Vec<Option<usize>>,
    /// Positions of the columns that are read; never empty.
    read: Vec<usize>,
}

impl AlignedSnapshot {
    /// A column of another type is another one, even where its values are stored alike.
    pub(crate) fn new(snapshot: &Snapshot, target: &[Column]) -> Self {
        let same = |wanted: &Column, column: &Column| {
            wanted.name == column.name && wanted.column_type == column.column_type
        };
        let find =
            |wanted: &Column| snapshot.columns.iter().position(|column| same(wanted, column));
        let positions: Vec<Option<usize>> = target.iter().map(find).collect();
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

    /// Starts reading the rows.
    pub(crate) async fn scan(&self, reader: &Reader) -> Result<Scan, StorageFailure> {
        self.scan_window(reader, 0..self.snapshot.rows).await
    }

    /// Starts reading the rows of `window`.
    pub(crate) async fn scan_window(
        &self,
        reader: &Reader,
        window: Range<u64>,
    ) -> Result<Scan, StorageFailure> {
        let columns: Vec<Column> = self
            .read
            .iter()
            .filter_map(|position| self.snapshot.columns.get(*position).cloned())
            .collect();
        reader.scan_rows(&self.snapshot, &self.read, unchecked_schema(&columns), window).await
    }

    /// A batch of this side with the newer snapshot's columns.
    pub(crate) fn align(
        &self,
        batch: &RecordBatch,
        target: SchemaRef,
    ) -> Result<RecordBatch, ArrowError> {
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

#[cfg(test)]
pub(crate) mod tests;
