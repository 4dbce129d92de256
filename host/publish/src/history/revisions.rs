//! Every row with the time from which and until which it was published so, as a table
//! (contract-21-revisions): what the newest columns show of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::{StreamExt as _, TryStreamExt as _};
use yearbook_domain::changes::{HistorySegment, VALID_FROM, VALID_TO};
use yearbook_domain::{
    Column, ColumnRole, ColumnType, DatasetName, Digest, Millis, Namespace, Snapshot, SnapshotId,
};
use yearbook_scan::schema::unchecked_schema;
use yearbook_sort::ExternalSorter;
use yearbook_storage::{MadeFile, ObjectStorage};
use yearbook_workers::Workers;

use super::dated_rows::{DatedRows, RevisionRange};
use super::events::collect;
use super::lives::tell_lives;
use super::{STAGE, write_table};
use crate::error::PublishError;
use crate::memory_budget::PublishMemory;
use crate::publish::stages::{
    TablePart, TableWords, all_columns, read_blocks, run_on_worker, sort_error,
};

/// A table of revisions.
pub struct RevisedTable {
    /// Its file.
    pub file: MadeFile,
    /// Words of its rows: the newest version with the columns of time. Its id is no snapshot's.
    pub snapshot: Snapshot,
}

/// Makes the table of revisions of a dataset, whose newest version of `range` is `newest`.
/// `segments` may go on after it. `times` are those of all their versions.
///
/// # Errors
/// As publishing.
pub async fn revisions(
    memory: PublishMemory,
    files: &ObjectStorage,
    workers: &Arc<Workers>,
    (name, namespace): (&DatasetName, &Namespace),
    newest: &Snapshot,
    segments: &[HistorySegment],
    (times, range): (BTreeMap<u64, Millis>, RevisionRange),
) -> Result<RevisedTable, PublishError> {
    let columns = revised_columns(newest);
    // Rows without a key are told apart by all of their values.
    let key = if newest.primary_key.is_empty() {
        newest.columns.iter().map(|column| column.name.clone()).collect()
    } else {
        newest.primary_key.clone()
    };
    let primary_key: Vec<String> = key.into_iter().chain([VALID_FROM.to_owned()]).collect();
    let words = TableWords {
        name,
        namespace,
        credit: &newest.credit,
        columns: &columns,
        primary_key: &primary_key,
        date_column: newest.date_column.as_deref(),
    };
    let schema = unchecked_schema(&columns);
    let budget = memory.table_bytes() / 2;
    let sorter = ExternalSorter::new(Arc::clone(&schema), &words.sorted_by(), budget);
    let sink = DatedRows { sorter: sorter.map_err(sort_error(STAGE))?, schema, times, range };
    let events = collect(memory, files, workers, &newest.columns, segments, sink).await?;
    let starts = segments.iter().map(|segment| segment.first).collect();
    let job = move || tell_lives(events, starts)?.sorter.finish().map(Arc::new);
    let rows = run_on_worker(workers, STAGE, job).await?.map_err(sort_error(STAGE))?;
    let id =
        SnapshotId::from_digest(Digest::compute(format!("revisions {}", newest.id).as_bytes()));
    let number = rows.rows();
    let blocks = read_blocks(workers, &rows, all_columns(&columns));
    let blocks = blocks.map_ok(TablePart::Block).boxed();
    let file = write_table(workers, words, &id, blocks).await?;
    let stored = file.stored().clone();
    let keyed = !newest.primary_key.is_empty();
    let snapshot = Snapshot {
        id,
        rows: number,
        file: stored,
        primary_key: if keyed { primary_key } else { Vec::new() },
        columns,
        ..newest.clone()
    };
    Ok(RevisedTable { file, snapshot })
}

/// Columns of the table: those of the newest version, any of which may be null in older ones, and
/// the two of time.
fn revised_columns(newest: &Snapshot) -> Vec<Column> {
    let older = |column: &Column| Column {
        nullable: true,
        few_values: false,
        text_traits: yearbook_domain::TextTraits::empty(),
        ..column.clone()
    };
    let time = |name: &str, nullable| Column {
        nullable,
        ..Column::new(name, ColumnType::String, ColumnRole::Attribute)
    };
    let times = [time(VALID_FROM, false), time(VALID_TO, true)];
    newest.columns.iter().map(older).chain(times).collect()
}
