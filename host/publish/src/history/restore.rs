//! A version whose file was not kept, made again of the next version that has one and of what
//! changed in between.

use std::sync::Arc;

use yearbook_domain::changes::HistorySegment;
use yearbook_domain::{DatasetName, Namespace, ResultDigest, Snapshot};
use yearbook_scan::Reader;
use yearbook_storage::{MadeFile, MadeFiles, ObjectStorage};
use yearbook_workers::Workers;

use super::rewound_rows::{RewoundRows, damaged_history};
use super::stored_rows::blocks;
use super::write_table;
use crate::diff::AlignedSnapshot;
use crate::error::PublishError;
use crate::memory_budget::PublishMemory;
use crate::progress::SilentReporter;
use crate::publish::stages::{TableWords, hash_table};

/// A version that is to be made again.
#[derive(Clone, Copy)]
pub struct RestoredVersion<'a> {
    /// Name of its dataset.
    pub name: &'a DatasetName,
    /// Grouping of its dataset.
    pub namespace: &'a Namespace,
    /// Its words, and its file, which is not there.
    pub snapshot: &'a Snapshot,
    /// Digest of its rows.
    pub digest: ResultDigest,
}

/// Makes `version` again, the first one of `segment`.
///
/// # Errors
/// [`PublishError::Storage`] of a damaged object where the rows do not have the digest of the
/// version; else as publishing.
pub async fn restore(
    memory: PublishMemory,
    files: &ObjectStorage,
    workers: &Arc<Workers>,
    version: RestoredVersion<'_>,
    segment: &HistorySegment,
) -> Result<Arc<MadeFile>, PublishError> {
    let RestoredVersion { name, namespace, snapshot, digest } = version;
    let words = TableWords {
        name,
        namespace,
        credit: &snapshot.credit,
        columns: &snapshot.columns,
        primary_key: &snapshot.primary_key,
        date_column: snapshot.date_column.as_deref(),
    };
    let reader = Reader::new(files.clone(), Arc::clone(workers));
    let (order, budget) = (words.sorted_by(), memory.table_bytes());
    let version = (snapshot, order.as_slice());
    let rows = RewoundRows::open(reader, workers, version, segment, budget).await?;
    let made = Arc::new(write_table(workers, words, &snapshot.id, rows.parts(workers)).await?);
    // The file that it had, but for another release of the writer: then its rows are hashed.
    let leads_back = made.stored().sha256 == snapshot.file.sha256
        || match compute_digest(files, workers, snapshot, &made).await {
            Ok(found) => found == digest,
            // It has another number of rows, say.
            Err(PublishError::Storage(failure)) if failure.is_of_one_object() => false,
            Err(failure) => return Err(failure),
        };
    if !leads_back {
        return Err(damaged_history(&segment.last).into());
    }
    Ok(made)
}

/// The digest of the rows of `snapshot` in the file that was made of it.
async fn compute_digest(
    files: &ObjectStorage,
    workers: &Arc<Workers>,
    snapshot: &Snapshot,
    made: &Arc<MadeFile>,
) -> Result<ResultDigest, PublishError> {
    let files = files.with_made_files(MadeFiles::from(Arc::clone(made)));
    let reader = Reader::new(files, Arc::clone(workers));
    let made = Snapshot { file: made.stored().clone(), ..snapshot.clone() };
    let table = AlignedSnapshot::new(&made, &snapshot.columns);
    let blocks = blocks(table.scan(&reader).await?);
    let hasher = hash_table(workers, &snapshot.columns, blocks, &SilentReporter).await?;
    Ok(hasher.finish())
}
