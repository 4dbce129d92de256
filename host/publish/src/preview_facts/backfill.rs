//! Preview facts and counts of changes of what older versions published, computed from stored files
//! (contract-9-facts). Safe beside servers and publishers, and again after it was stopped: each
//! snapshot is one transaction.

use std::sync::Arc;

use arrow::array::{AsArray, RecordBatch};
use arrow::error::ArrowError;
use futures::TryStreamExt;
use yearbook_catalog::{Catalog, CatalogError, SnapshotWithoutFacts};
use yearbook_domain::changes::{CHANGE_TYPE, ChangeSet};
use yearbook_domain::{ChangeCounts, Column, DatasetName, PreviewFacts, Snapshot, SnapshotId};
use yearbook_scan::Reader;
use yearbook_scan::schema::{change_file_columns, unchecked_schema};
use yearbook_storage::{ObjectStorage, StorageFailure};
use yearbook_workers::Workers;

use super::{TablePass, TableShape};
use crate::progress::ProgressReporter;

/// Numbers of what a backfill has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BackfillSummary {
    /// Snapshots that have facts now.
    pub snapshots: u64,
    /// Sets of changes that have counts now.
    pub changes: u64,
    /// Snapshots and sets of changes whose file is missing or damaged: they stay as they were.
    pub unreadable: u64,
}

/// Reasons for which a backfill stops before its end. What it has done stays done.
#[derive(Debug, thiserror::Error)]
pub enum BackfillFailure {
    /// The catalog.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// The object store does not answer.
    #[error(transparent)]
    Storage(#[from] StorageFailure),
}

/// Facts and counts that older versions did not compute.
#[derive(Clone, Debug)]
pub struct MissingFacts {
    snapshots: Vec<SnapshotWithoutFacts>,
    changes: Vec<(DatasetName, ChangeSet)>,
}

impl MissingFacts {
    /// Looks for them in the catalog.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer.
    pub async fn find(catalog: &Catalog) -> Result<Self, CatalogError> {
        Ok(Self {
            snapshots: catalog.snapshots_without_facts().await?,
            changes: catalog.uncounted_changes().await?,
        })
    }

    /// Returns true when nothing is missing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.snapshots.is_empty() && self.changes.is_empty()
    }
}

/// Computes what is missing. A file that cannot be read is logged and passed over: `yearbook doctor
/// --deep` says more about it.
///
/// # Errors
/// [`BackfillFailure`].
pub async fn backfill_facts(
    catalog: &Catalog,
    files: &ObjectStorage,
    workers: &Arc<Workers>,
    missing: &MissingFacts,
    progress: &dyn ProgressReporter,
) -> Result<BackfillSummary, BackfillFailure> {
    let reader = Reader::new(files.clone(), Arc::clone(workers));
    let mut summary = BackfillSummary::default();
    progress.stage("computing preview facts", Some(missing.snapshots.len() as u64));
    for without in &missing.snapshots {
        progress.advance(1);
        let Some(snapshot) = catalog.snapshot(&without.dataset, &without.id).await? else {
            // Dropped a moment ago.
            continue;
        };
        match read_facts(&reader, workers, &snapshot).await {
            Ok(facts) => {
                catalog.store_preview_facts(without, &facts).await?;
                summary.snapshots += 1;
            }
            Err(failure) => pass_over(failure, &mut summary)?,
        }
    }
    progress.stage("counting changes", Some(missing.changes.len() as u64));
    for (dataset, changes) in &missing.changes {
        progress.advance(1);
        let Some(current) = catalog.current_snapshot(dataset).await? else { continue };
        match count_changes(&reader, workers, changes, current).await {
            Ok(counts) => {
                catalog.store_change_counts(dataset, changes, counts).await?;
                summary.changes += 1;
            }
            Err(failure) => pass_over(failure, &mut summary)?,
        }
    }
    Ok(summary)
}

fn pass_over(failure: StorageFailure, summary: &mut BackfillSummary) -> Result<(), StorageFailure> {
    if failure.is_outage() {
        return Err(failure);
    }
    tracing::warn!(%failure, "a stored file cannot be read");
    summary.unreadable += 1;
    Ok(())
}

/// The facts of a stored snapshot.
pub(crate) async fn read_facts(
    reader: &Reader,
    workers: &Arc<Workers>,
    snapshot: &Snapshot,
) -> Result<PreviewFacts, StorageFailure> {
    let file = FileScan { reader, workers, snapshot: plain(snapshot) };
    let mut counted =
        TablePass::new(TableShape::of_snapshot(snapshot)).map_err(|error| file.failure(&error))?;
    let all: Vec<usize> = (0..snapshot.columns.len()).collect();
    let count =
        |mut counted: TablePass, batch: RecordBatch| counted.update(&batch).map(|()| counted);
    counted = file.fold(&all, counted, count).await?;
    let mut lines = file.run(move || counted.finish()).await?;
    let columns = lines.columns().to_vec();
    if !columns.is_empty() {
        let draw =
            |mut lines: super::LinePass, batch: RecordBatch| lines.update(&batch).map(|()| lines);
        lines = file.fold(&columns, lines, draw).await?;
    }
    file.run(move || lines.finish()).await
}

/// The kinds of the rows in a file of changes that lead to `current`.
async fn count_changes(
    reader: &Reader,
    workers: &Arc<Workers>,
    changes: &ChangeSet,
    current: Snapshot,
) -> Result<ChangeCounts, StorageFailure> {
    // To the scan, a file of changes is a snapshot without date axis or key.
    let snapshot = Snapshot {
        id: SnapshotId::from_digest(changes.file.sha256),
        rows: changes.rows,
        file: changes.file.clone(),
        columns: change_file_columns(&changes.columns),
        primary_key: Vec::new(),
        dimensions: Vec::new(),
        date_column: None,
        date_range: None,
        ..current
    };
    let column = snapshot.column_index(CHANGE_TYPE).unwrap_or_default();
    let file = FileScan { reader, workers, snapshot: plain(&snapshot) };
    let count = |mut counts: ChangeCounts, batch: RecordBatch| {
        let kinds = batch.column(0).as_string::<i32>();
        for kind in kinds.iter().flatten() {
            match kind {
                "insert" => counts.inserted += 1,
                "delete" => counts.deleted += 1,
                "update_postimage" => counts.updated += 1,
                _ => {}
            }
        }
        Ok(counts)
    };
    file.fold(&[column], ChangeCounts::default(), count).await
}

/// The snapshot with text read as text, not as dictionaries.
fn plain(snapshot: &Snapshot) -> Snapshot {
    let mut snapshot = snapshot.clone();
    snapshot.columns.iter_mut().for_each(|column| column.few_values = false);
    snapshot
}

/// A stored file that is read from beginning to end.
struct FileScan<'a> {
    reader: &'a Reader,
    workers: &'a Arc<Workers>,
    snapshot: Snapshot,
}

impl FileScan<'_> {
    /// Hands each batch of `columns` to `step` on a worker, with what the one before made.
    async fn fold<T, F>(&self, columns: &[usize], start: T, step: F) -> Result<T, StorageFailure>
    where
        T: Send + 'static,
        F: Fn(T, RecordBatch) -> Result<T, ArrowError> + Copy + Send + 'static,
    {
        let read: Vec<Column> = columns
            .iter()
            .filter_map(|position| self.snapshot.columns.get(*position).cloned())
            .collect();
        let schema = unchecked_schema(&read);
        let rows = 0..self.snapshot.rows;
        let mut batches =
            self.reader.scan_rows(&self.snapshot, columns, schema, rows).await?.batches;
        let mut state = start;
        while let Some(batch) = batches.try_next().await? {
            state = self.run(move || step(state, batch)).await?;
        }
        Ok(state)
    }

    async fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> Result<T, ArrowError> + Send + 'static,
    ) -> Result<T, StorageFailure> {
        match self.workers.run(job).await {
            Ok(done) => done.map_err(|error| self.failure(&error)),
            Err(_) => Err(StorageFailure::Mismatch {
                what: ObjectStorage::key(&self.snapshot.file),
                why: "computing its preview facts panicked".to_owned(),
            }),
        }
    }

    fn failure(&self, error: &ArrowError) -> StorageFailure {
        StorageFailure::damaged(&ObjectStorage::key(&self.snapshot.file), error.to_string())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use serde_json::json;
    use yearbook_catalog::{DatabaseSettings, Publication, Retention, open, sqlite_url};
    use yearbook_domain::Stored;

    use super::*;
    use crate::{DataPackage, SilentReporter, publish};

    #[tokio::test]
    async fn what_an_older_version_published_is_filled_up_contract_9() {
        let folder = tempfile::tempdir().unwrap();
        let url = sqlite_url(&folder.path().join("catalog.db"));
        let catalog = open(&url, &DatabaseSettings::default()).await.unwrap();
        let files =
            ObjectStorage::open(&format!("file:{}/store", folder.path().display())).unwrap();
        let workers = Workers::new(1);
        let descriptor = json!({
            "name": "cpi", "licenses": [{"name": "CC-BY-4.0"}], "sources": [{"title": "Stats NZ", "path": "https://stats.govt.nz/a"}],
            "resources": [{"path": "table.csv", "schema": {"primaryKey": ["date", "region"], "fields": [
                {"name": "date", "type": "date"}, {"name": "region", "type": "string"}, {"name": "value", "type": "number"},
            ]}}],
            "yearbook": {"namespace": "tests", "date_filter_column": "date", "dimensions": ["region"]}
        });
        std::fs::write(folder.path().join("datapackage.json"), descriptor.to_string()).unwrap();
        let mut expected = Vec::new();
        for rows in [
            "2020-01-01,a,1\n2020-01-01,b,2\n2020-02-01,a,3\n",
            "2020-01-01,a,1\n2020-02-01,a,4\n2020-02-01,b,NaN\n2020-03-01,b,5\n",
        ] {
            let csv = format!("date,region,value\n{rows}");
            std::fs::write(folder.path().join("table.csv"), csv).unwrap();
            let package = DataPackage::open(folder.path()).unwrap();
            let current = catalog.current_snapshot(package.name()).await.unwrap();
            let draft = publish(&files, &workers, &package, current.as_ref(), &SilentReporter)
                .await
                .unwrap();
            let counts = draft.changes.as_ref().map(|changes| changes.counts);
            expected.push((draft.snapshot.id, draft.facts.unwrap(), counts));
            let mut changes = draft.changes;
            changes.iter_mut().for_each(|changes| changes.counts = None);
            for file in [Some(&draft.snapshot.file), changes.as_ref().map(|changes| &changes.file)]
            {
                let Some(file) = file else { continue };
                catalog.register_upload(&Stored::snapshot(&file.sha256)).await.unwrap();
            }
            let publication = Publication {
                name: draft.name,
                namespace: draft.namespace,
                snapshot: draft.snapshot,
                predecessor: current.map(|current| current.id),
                changes,
                facts: None,
                at: None,
            };
            catalog.commit_snapshot(&publication, Retention::default()).await.unwrap();
        }
        let name = DatasetName::parse("cpi").unwrap();
        let missing = MissingFacts::find(&catalog).await.unwrap();
        assert!(!missing.is_empty());
        let done =
            backfill_facts(&catalog, &files, &workers, &missing, &SilentReporter).await.unwrap();
        assert_eq!(done, BackfillSummary { snapshots: 2, changes: 1, unreadable: 0 });
        for (id, facts, _) in &expected {
            let stored = catalog.preview_facts(&name, id).await.unwrap();
            assert_eq!(stored.as_ref(), Some(facts));
        }
        let dataset = catalog.dataset(&name).await.unwrap().unwrap();
        let counted: Vec<_> = dataset.snapshots.iter().map(|summary| summary.changes).collect();
        let counts = ChangeCounts { inserted: 2, deleted: 1, updated: 1 };
        assert_eq!(counted, [None, Some(counts)]);
        assert_eq!(expected[1].2, Some(Some(counts)), "as publishing counts them");
        assert!(MissingFacts::find(&catalog).await.unwrap().is_empty());
    }
}
