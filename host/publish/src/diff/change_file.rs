//! The file of changes being written.

use std::fs::File;
use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, Int64Array, RecordBatch, StringArray, UInt32Array};
use arrow::compute::{filter_record_batch, take_record_batch};
use arrow::error::ArrowError;
use yearbook_domain::changes::REVISED;
use yearbook_domain::{ChangeCounts, LargestRevision, Snapshot};
use yearbook_scan::schema::{change_file_columns, stored_schema};
use yearbook_sort::{GROUP_BYTES, GROUP_ROWS};
use yearbook_storage::StorageFailure;

use super::column_revisions::ColumnRevisions;
use super::largest_revision::RevisionFinder;
use super::row_fates::{ChangeType, ChangedRow};
use crate::write::{FileCompression, SnapshotFileMetadata, SnapshotWriter};

/// File, numbers of rows, and the largest revision.
type FinishedChanges = (File, ChangeCounts, Option<LargestRevision>);

/// Rows on their way into a temporary file, which has no name: a process that is killed leaves
/// nothing behind.
pub(super) struct ChangeFileWriter {
    temporary: File,
    writer: SnapshotWriter,
    schema: arrow::datatypes::SchemaRef,
    counts: ChangeCounts,
    largest: RevisionFinder,
    revised: ColumnRevisions,
    /// Set where rows may move with their update.
    may_move: bool,
    /// Rows and bytes since a row group ended.
    group: (usize, usize),
}

impl ChangeFileWriter {
    /// An empty file for changes of rows of `newer`, whose primary key stands at the positions
    /// `key`.
    pub(super) fn new(newer: &Snapshot, key: &[usize]) -> Result<Self, StorageFailure> {
        let columns = &newer.columns;
        let of_key = |name: &String| key.iter().any(|position| columns[*position].name == *name);
        let may_move = newer.date_column.as_ref().is_some_and(|date| !of_key(date));
        let folder = std::env::temp_dir();
        let io = |source| StorageFailure::local("write a temporary file in", &folder, source);
        let temporary = tempfile::tempfile().map_err(io)?;
        let file = temporary.try_clone().map_err(io)?;
        let largest = RevisionFinder::new(columns, key);
        let revised =
            ColumnRevisions::new(columns, key).map_err(|error| io(std::io::Error::other(error)))?;
        let columns = change_file_columns(columns);
        let description = SnapshotFileMetadata {
            columns: &columns,
            sorted_by: &[],
            words: Vec::new(),
            compression: FileCompression::Small,
        };
        let writer = SnapshotWriter::new(file, &description)
            .map_err(|error| io(std::io::Error::other(error)))?;
        Ok(Self {
            temporary,
            writer,
            schema: stored_schema(&columns),
            counts: ChangeCounts::default(),
            largest,
            revised,
            may_move,
            group: (0, 0),
        })
    }

    /// Appends the rows of `batch` that were found; its first one has the number `first`.
    pub(super) fn append(
        &mut self,
        batch: &RecordBatch,
        first: u64,
        found: &[ChangedRow],
    ) -> Result<(), ArrowError> {
        if found.is_empty() {
            return Ok(());
        }
        let taken = take_record_batch(
            batch,
            &UInt32Array::from_iter_values(found.iter().map(|(row, _)| *row)),
        )?;
        for wanted in [ChangeType::Preimage, ChangeType::Postimage] {
            let is_wanted = found.iter().map(|(_, kind)| Some(*kind == wanted));
            let mask: BooleanArray = is_wanted.collect();
            if mask.has_true() {
                let updates = filter_record_batch(&taken, &mask)?;
                self.largest.update(wanted, &updates)?;
                self.revised.update(wanted, &updates)?;
            }
        }
        let kinds: ArrayRef =
            Arc::new(StringArray::from_iter_values(found.iter().map(|(_, kind)| kind.as_str())));
        let number = |(row, kind): &ChangedRow| {
            // A row that stays where it was has its number beside what it was before.
            let stays = *kind == ChangeType::Postimage && !self.may_move;
            (!stays).then(|| i64::try_from(first + u64::from(*row)).ok()).flatten()
        };
        let numbers: ArrayRef = Arc::new(found.iter().map(number).collect::<Int64Array>());
        let columns = taken.columns().iter().cloned().chain([kinds, numbers]).collect();
        let rows = RecordBatch::try_new(Arc::clone(&self.schema), columns)?;
        for (_, kind) in found {
            match kind {
                ChangeType::Insert => self.counts.inserted += 1,
                ChangeType::Delete => self.counts.deleted += 1,
                // Its preimage is the other half.
                ChangeType::Postimage => self.counts.updated += 1,
                ChangeType::Preimage => {}
            }
        }
        self.group = (self.group.0 + found.len(), self.group.1 + rows.get_array_memory_size());
        let full = self.group.0 >= GROUP_ROWS || self.group.1 >= GROUP_BYTES;
        self.writer.append(&rows, full)?;
        if full {
            self.group = (0, 0);
        }
        Ok(())
    }

    /// The finished file, the numbers of its rows, and the value that was revised most.
    pub(super) fn finish(mut self) -> Result<FinishedChanges, ArrowError> {
        self.writer.add_words(REVISED, self.revised.finish());
        self.writer.finish()?;
        Ok((self.temporary, self.counts, self.largest.finish()))
    }
}
