//! Publishing: a data package becomes a stored file and a draft for the catalog
//! (contract-7-atomic). Until the caller commits the draft nothing is visible; dropping the future
//! at any point leaves at most an object that nothing refers to.

pub(crate) mod stages;

use std::sync::Arc;

use futures::{StreamExt as _, TryStreamExt as _};
use yearbook_domain::changes::ChangeSet;
use yearbook_domain::meaning::{DatasetMeaning, words_of_labels};
use yearbook_domain::{DatasetName, Millis, Namespace, PreviewFacts, Snapshot};
use yearbook_facts::TablePass;
use yearbook_scan::row_bounds_are_intact;
use yearbook_storage::{ObjectStorage, Sidecar};
use yearbook_workers::Workers;

use crate::diff;
use crate::error::PublishError;
use crate::memory_budget::PublishMemory;
use crate::package::DataPackage;
use crate::progress::ProgressReporter;
use stages::TablePart;

/// A snapshot for the catalog to commit.
#[derive(Clone, Debug, PartialEq)]
pub struct SnapshotDraft {
    /// The dataset's address.
    pub name: DatasetName,
    /// Its grouping.
    pub namespace: Namespace,
    /// The version; its file is in the store. Where it is new, the commit says when it was created.
    pub snapshot: Snapshot,
    /// Set if the snapshot is the current one that was passed in, so that only `checked_at` moves.
    pub unchanged: bool,
    /// Changes since the snapshot that was passed in; `None` without one, when it is the same
    /// one, or when its file is damaged.
    pub changes: Option<ChangeSet>,
    /// Preview facts; `None` where nothing was written, since the catalog has them as they are now.
    pub facts: Option<PreviewFacts>,
}

/// The current snapshot of a dataset, with which a package is compared.
#[derive(Clone, Copy)]
pub(crate) struct ComparedSnapshot<'a> {
    pub(crate) snapshot: &'a Snapshot,
    /// False where its preview facts are missing or those of a former version, so that they are
    /// computed again.
    pub(crate) has_facts: bool,
}

/// Reads, checks, sorts and stores the package's table. `current` is the dataset's current
/// snapshot, if it has one: when the id comes out the same, and its file and what stands beside it
/// are intact, nothing is written.
///
/// Changes since `current` are stored beside it. Memory: [`PublishMemory::default`].
///
/// # Errors
/// [`PublishError::Table`] with the faults, and the other variants as they say.
pub async fn publish(
    files: &ObjectStorage,
    workers: &Arc<Workers>,
    package: &DataPackage,
    current: Option<&Snapshot>,
    progress: &dyn ProgressReporter,
) -> Result<SnapshotDraft, PublishError> {
    publish_within(PublishMemory::default(), files, workers, package, current, progress).await
}

/// The same within another budget of memory, which changes no byte and no fault. Temporary disk:
/// rows beyond the budget, compressed, and the stored file; then fingerprints of rows beyond the
/// budget, and the file of changes. All of it lies in the system's temporary folder, in files
/// without names.
///
/// # Errors
/// As [`publish`].
pub async fn publish_within(
    memory: PublishMemory,
    files: &ObjectStorage,
    workers: &Arc<Workers>,
    package: &DataPackage,
    current: Option<&Snapshot>,
    progress: &dyn ProgressReporter,
) -> Result<SnapshotDraft, PublishError> {
    let package = complete(workers, package).await?;
    let current = current.map(|snapshot| ComparedSnapshot { snapshot, has_facts: true });
    publish_completed(memory, files, workers, &package, current, progress).await
}

/// The package with what its file tells of the columns, where a reader is needed for that.
pub(crate) async fn complete(
    workers: &Workers,
    package: &DataPackage,
) -> Result<Arc<DataPackage>, PublishError> {
    stages::complete(workers, Arc::new(package.clone())).await
}

/// The same as [`publish_within`] for a package from [`complete`], however often it is compared.
pub(crate) async fn publish_completed(
    memory: PublishMemory,
    files: &ObjectStorage,
    workers: &Arc<Workers>,
    package: &Arc<DataPackage>,
    current: Option<ComparedSnapshot<'_>>,
    progress: &dyn ProgressReporter,
) -> Result<SnapshotDraft, PublishError> {
    let (rows, findings) = stages::read(workers, package, memory, progress).await?;
    let (id, digest) = stages::compute_id(workers, package, &rows, progress).await?;
    let draft = |snapshot, unchanged, changes, facts| SnapshotDraft {
        name: package.name.clone(),
        namespace: package.namespace.clone(),
        snapshot,
        unchanged,
        changes,
        facts,
    };
    let has_facts = current.is_some_and(|current| current.has_facts);
    let current = current.map(|current| current.snapshot);
    if let Some(current) = current.filter(|current| current.id == id)
        && has_facts
        && files.blocks_are_intact(&current.file).await?
        && files.sidecar_is_intact(&current.file, Sidecar::Values).await?
        && row_bounds_are_intact(files, workers, current).await?
    {
        return Ok(draft(current.clone(), true, None, None));
    }
    let mut columns = package.columns.clone();
    for (column, texts) in columns.iter_mut().zip(&findings.texts) {
        if let Some(texts) = texts {
            column.few_values = texts.are_few();
            column.text_traits = texts.traits();
        }
    }
    let label_words = words_of_labels(findings.labels.values());
    let words = package.words(&columns);
    let counted = stages::count(words, rows.rows(), digest)?;
    let count = (counted, TablePass::update);
    progress.stage("writing", Some(rows.rows()));
    let blocks = stages::read_blocks(workers, &rows, stages::all_columns(&columns));
    let blocks = blocks.map_ok(TablePart::Block).boxed();
    let written = stages::write(workers, (words, &id), blocks, count, progress).await?;
    let (facts, values) =
        stages::summarise(workers, (written.counted, findings.labels), &rows, progress).await?;
    progress.stage("storing", None);
    let file = files.put_open_file(written.file, &std::env::temp_dir()).await?;
    files.put_sidecar(&file, Sidecar::Values, &values).await?;
    if let Some(bounds) = written.bounds {
        stages::store_bounds(files, &file, bounds).await?;
    }
    let snapshot = Snapshot {
        id,
        // The commit sets it.
        created_at: Millis(0),
        rows: rows.rows(),
        file,
        title: package.title.clone(),
        description: package.description.clone(),
        keywords: package.keywords.clone(),
        credit: package.credit.clone(),
        refresh_cadence: package.refresh_cadence.map(|cadence| cadence.as_str().to_owned()),
        bulk_redistribution: package.bulk_redistribution,
        columns,
        primary_key: package.primary_key.clone(),
        dimensions: package.dimensions.clone(),
        date_column: package.date_column.clone(),
        date_range: findings.date_range,
        layout: package.layout,
        bbox: findings.bbox,
        meaning: DatasetMeaning { label_words, ..package.meaning.clone() },
    };
    // Comparing reads the stored files, so the table need not be held any longer.
    drop(rows);
    // What was damaged, missing or of a former version was stored again: the snapshot is the same.
    match current {
        Some(current) if current.id == snapshot.id && current.file == snapshot.file => {
            Ok(draft(current.clone(), true, None, Some(facts)))
        }
        Some(current) if current.id != snapshot.id => {
            let changes =
                compare_with_current(memory, files, workers, current, &snapshot, progress).await?;
            Ok(draft(snapshot, false, changes, Some(facts)))
        }
        _ => Ok(draft(snapshot, false, None, Some(facts))),
    }
}

/// The changes since `old`. None when its file cannot be read: what is wrong with the past must not
/// keep the present from being published, and clients learn that the history begins again.
async fn compare_with_current(
    memory: PublishMemory,
    files: &ObjectStorage,
    workers: &Arc<Workers>,
    old: &Snapshot,
    new: &Snapshot,
    progress: &dyn ProgressReporter,
) -> Result<Option<ChangeSet>, PublishError> {
    match diff::compare_snapshots(memory, files, workers, old, new, progress).await {
        Ok(changes) => Ok(Some(changes)),
        Err(failure) if failure.is_of_one_snapshot() => {
            tracing::warn!(%failure, "the changes since the last snapshot are unknown");
            Ok(None)
        }
        Err(failure) => Err(failure.into()),
    }
}

#[cfg(test)]
mod tests;
