//! The past of a dataset, made of what publishing stored: versions whose file was not kept
//! (contract-21-history), and every row with the versions in which it was (contract-21-revisions).
//! Both follow from the lives of rows (`lives`); what is held is the budget of their sorts.

mod events;
mod lives;
mod restore;
mod revisions;

use std::collections::BTreeMap;
use std::sync::Arc;

use yearbook_domain::{ResultDigest, SnapshotId};
use yearbook_storage::MadeFile;
use yearbook_workers::Workers;

use crate::error::PublishError;
use crate::progress::SilentReporter;
use crate::publish::stages::{TableWords, run_on_worker, summarise, temporary_file_error, write};
use yearbook_sort::SortedRows;

pub use restore::{RestoredVersion, restore};
pub use revisions::{RevisedTable, RevisionRange, VALID_FROM, VALID_TO, revisions};

/// Stage of publishing, as failures name it.
const STAGE: &str = "reading the history";

/// Writes sorted rows as publishing does, with what stands beside them.
async fn write_table(
    workers: &Workers,
    words: TableWords<'_>,
    (id, digest): (&SnapshotId, ResultDigest),
    rows: &Arc<SortedRows>,
) -> Result<MadeFile, PublishError> {
    let written = write(workers, words, (id, digest), rows, &SilentReporter).await?;
    let counted = (written.counted, BTreeMap::new());
    let (_, values) = summarise(workers, counted, rows, &SilentReporter).await?;
    let (file, bounds) = (written.file, written.bounds);
    let job = move || {
        let made = MadeFile::new(file, &values)?;
        let Some(bounds) = bounds else { return Ok(made) };
        let (head, chunks) = bounds.finish(&made.stored().sha256)?;
        made.with_bounds(head, chunks)
    };
    run_on_worker(workers, STAGE, job).await?.map_err(temporary_file_error)
}

#[cfg(test)]
mod tests;
