//! The past of a dataset, made of what publishing stored: versions whose file was not kept
//! (contract-21-history), and every row with the versions in which it was (contract-21-revisions).
//! The first are a newer version with its changes taken back (`rewound_rows`), the second the lives
//! of rows (`lives`); what is held is a budget of rows that changed.

mod change_columns;
mod dated_rows;
mod events;
mod lives;
mod old_rows;
mod restore;
mod revisions;
mod rewound_rows;
mod row_map;
mod segment_changes;
mod stored_rows;

use yearbook_domain::SnapshotId;
use yearbook_storage::MadeFile;
use yearbook_workers::Workers;

use crate::error::PublishError;
use crate::progress::SilentReporter;
use crate::publish::stages::{PartStream, TableWords, run_on_worker, temporary_file_error, write};

pub use dated_rows::RevisionRange;
pub use restore::{RestoredVersion, restore};
pub use revisions::{RevisedTable, revisions};

/// Stage of publishing, as failures name it.
const STAGE: &str = "reading the history";

/// Writes a table in order as publishing does, with the bounds of its geometry.
async fn write_table(
    workers: &Workers,
    words: TableWords<'_>,
    id: &SnapshotId,
    parts: PartStream<'_>,
) -> Result<MadeFile, PublishError> {
    let count = ((), |(): &mut (), _: &_| Ok(()));
    let written = write(workers, (words, id), parts, count, &SilentReporter).await?;
    let (file, bounds) = (written.file, written.bounds);
    let job = move || {
        let made = MadeFile::new(file)?;
        let Some(bounds) = bounds else { return Ok(made) };
        let (head, chunks) = bounds.finish(&made.stored().sha256)?;
        made.with_bounds(head, chunks)
    };
    run_on_worker(workers, STAGE, job).await?.map_err(temporary_file_error)
}

#[cfg(test)]
mod tests;
