//! Publishing a package into a catalog that others publish into too: what is committed is what
//! was compared with the current snapshot, and where another publisher was faster it is compared
//! again (decision 0195).

mod stored_parts;

use std::sync::Arc;

use yearbook_catalog::{
    Catalog, CatalogError, CommitOutcome, NewRelease, Publication, ReleaseOutcome, Retention,
    WaitingRelease,
};
use yearbook_domain::preview_facts::FACTS_VERSION;
use yearbook_domain::{DatasetName, Millis, PreviewFacts, Snapshot, WaitingFiles};
use yearbook_iceberg::{IcebergFailure, IcebergWriter};
use yearbook_storage::ObjectStorage;
use yearbook_workers::Workers;

use crate::error::PublishError;
use crate::format_reader::ReaderProvider;
use crate::memory_budget::PublishMemory;
use crate::package::DataPackage;
use crate::progress::ProgressReporter;
use crate::publish::{ComparedSnapshot, SnapshotDraft, complete, publish_completed};
use crate::released_files::attempt_to_finish_releases;
use crate::uploads::UploadRegistry;

/// Attempts at publishing a package: each failed one means that another publisher of
/// the same dataset was faster.
const MAX_ATTEMPTS: usize = 5;

/// Publishes packages into one catalogue.
pub struct Publisher {
    store: Arc<Catalog>,
    files: ObjectStorage,
    workers: Arc<Workers>,
    retention: Retention,
    at: Option<Millis>,
    memory: PublishMemory,
    readers: Option<Arc<dyn ReaderProvider>>,
    iceberg: Option<IcebergWriter>,
}

/// A package that is published.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishResult {
    /// The committed publication. Its snapshot's `created_at` is set by the catalogue.
    pub publication: Publication,
    /// Set if the snapshot was current already.
    pub unchanged: bool,
}

/// Terms of a release at an instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReleaseTerms {
    /// The instant, a whole second.
    pub at: Millis,
    /// Title of its announcement, that of the package where it has none; `None`: nobody is told.
    pub announce: Option<Option<String>>,
    /// Set to withdraw another release of the dataset that waits.
    pub replace: bool,
}

/// A package whose release was committed.
#[derive(Clone, Debug, PartialEq)]
pub struct ReleaseResult {
    /// The publication.
    pub publication: Publication,
    /// Its effect: it waits, is visible, or was current already.
    pub outcome: ReleaseOutcome,
}

/// Reasons for which a package is not published.
#[derive(Debug, thiserror::Error)]
pub enum PublishFailure {
    /// The package has faults, or could not be stored.
    #[error(transparent)]
    Package(#[from] PublishError),
    /// The catalog did not say what is current.
    #[error("cannot read what is published")]
    Current(#[source] CatalogError),
    /// The catalog failed at the last step.
    #[error(
        "{name} is stored but not committed, so nothing has changed for clients; publish it again"
    )]
    CommitFailed {
        /// The dataset.
        name: DatasetName,
        /// The catalog's error.
        source: CatalogError,
    },
    /// The catalog did not answer the last step, which may have happened.
    #[error(
        "{name} is stored, and whether it is committed is not known; publish it again, which changes nothing if it is"
    )]
    CommitUnknown {
        /// The dataset.
        name: DatasetName,
        /// The catalog's error.
        source: CatalogError,
    },
    /// The table was not described for readers of Iceberg, so nothing was committed.
    #[error(transparent)]
    Iceberg(#[from] IcebergFailure),
    /// A release of the dataset waits.
    #[error(
        "release {} of {} waits until {}, and nothing else of it is published before; withdraw it with `yearbook release withdraw {}`, or replace it with --release-at and --replace",
        .0.id, .0.dataset, .0.release_at.to_rfc3339(), .0.id
    )]
    Waits(WaitingRelease),
    /// The release that would be replaced is due too soon.
    #[error(
        "release {} of {} is due at {}, and in its last ten seconds it is not replaced; publish after it",
        .0.id, .0.dataset, .0.release_at.to_rfc3339()
    )]
    TooLate(WaitingRelease),
    /// Others publish the same dataset again and again.
    #[error(
        "other publishers of {name} were faster {MAX_ATTEMPTS} times in a row; let one process publish it"
    )]
    TooManyConflicts {
        /// The dataset.
        name: DatasetName,
    },
}

impl PublishFailure {
    /// The failure of the last step.
    fn after_commit(name: &DatasetName, source: CatalogError) -> Self {
        let name = name.clone();
        if matches!(source, CatalogError::CommitUnknown { .. }) {
            Self::CommitUnknown { name, source }
        } else {
            Self::CommitFailed { name, source }
        }
    }
}

impl Publisher {
    /// A publisher that declares what it stores and drops what `retention` no longer keeps.
    #[must_use]
    pub fn new(
        store: Arc<Catalog>,
        files: &ObjectStorage,
        workers: Arc<Workers>,
        retention: Retention,
    ) -> Self {
        let files = files.with_upload_registrar(Arc::new(UploadRegistry(Arc::clone(&store))));
        Self {
            store,
            files,
            workers,
            retention,
            at: None,
            readers: None,
            iceberg: None,
            memory: PublishMemory::default(),
        }
    }

    /// The same for a history that is made elsewhere: see [`Publication::at`].
    #[must_use]
    pub fn with_created_at(self, at: Millis) -> Self {
        Self { at: Some(at), ..self }
    }

    /// The same, which has readers for packages in other formats than CSV, Parquet and Arrow.
    #[must_use]
    pub fn with_readers(self, readers: Arc<dyn ReaderProvider>) -> Self {
        Self { readers: Some(readers), ..self }
    }

    /// The same, which describes each version for readers of Iceberg before it is visible
    /// (contract-12-iceberg-files).
    #[must_use]
    pub fn with_iceberg(self, writer: IcebergWriter) -> Self {
        Self { iceberg: Some(writer), ..self }
    }

    /// The same within another budget of memory.
    #[must_use]
    pub fn with_memory(self, memory: PublishMemory) -> Self {
        Self { memory, ..self }
    }

    /// Checks, stores, compares and commits a package. Nothing is visible before the commit;
    /// dropping the future earlier leaves at most files that nothing refers to.
    ///
    /// # Errors
    /// [`PublishFailure`]; nothing has become visible, unless the catalog failed at the last step
    /// and cannot say.
    pub async fn publish(
        &self,
        package: &DataPackage,
        progress: &dyn ProgressReporter,
    ) -> Result<PublishResult, PublishFailure> {
        let package = self.complete(package).await?;
        let name = package.name();
        for tries_left in (0..MAX_ATTEMPTS).rev() {
            let publication = self.compare(&self.files, &package, progress).await?;
            let described = match &self.iceberg {
                Some(iceberg) if self.nothing_waits(name).await? => {
                    // What waited until a moment ago is described too, where it is to lie.
                    attempt_to_finish_releases(&self.store, &self.files, Some(iceberg)).await;
                    let next = &publication.snapshot;
                    Box::pin(iceberg.describe_next(name, next, self.at)).await?
                }
                _ => None,
            };
            match self.store.commit_snapshot(&publication, self.retention).await {
                Ok(CommitOutcome::Conflict) => tell_of_conflict(name, tries_left),
                Ok(CommitOutcome::Waits(waiting)) => return Err(PublishFailure::Waits(waiting)),
                // A file that was found unchanged may be gone by now where another publisher was
                // faster.
                Err(CatalogError::DeletedConcurrently(stored)) if tries_left > 0 => {
                    tracing::info!(%name, tries_left, %stored, "storing again")
                }
                Ok(committed) => {
                    Box::pin(self.check_description(name, described)).await;
                    return Ok(PublishResult {
                        publication,
                        unchanged: committed == CommitOutcome::Unchanged,
                    });
                }
                Err(source) => return Err(PublishFailure::after_commit(name, source)),
            }
        }
        Err(PublishFailure::TooManyConflicts { name: name.clone() })
    }

    /// Checks, stores, compares and commits a package that nobody sees before its time
    /// (contract-21-releases). What is stored lies where readers of the bucket cannot reach it.
    ///
    /// # Errors
    /// As [`Publisher::publish`].
    pub async fn release(
        &self,
        package: &DataPackage,
        terms: &ReleaseTerms,
        progress: &dyn ProgressReporter,
    ) -> Result<ReleaseResult, PublishFailure> {
        let package = self.complete(&package.clone().with_embargo()).await?;
        let name = package.name();
        let files = self.files.with_waiting_files(WaitingFiles::default()).with_waiting_uploads();
        for tries_left in (0..MAX_ATTEMPTS).rev() {
            let publication = self.compare(&files, &package, progress).await?;
            let title = terms.announce.as_ref().map(|title| {
                let title = title.as_deref().or(publication.snapshot.title.as_deref());
                title.unwrap_or(name.as_str())
            });
            let release = NewRelease {
                publication: &publication,
                release_at: terms.at,
                announce: title,
                replace: terms.replace,
            };
            match self.store.commit_release(&release).await {
                Ok(ReleaseOutcome::Conflict) => tell_of_conflict(name, tries_left),
                Err(CatalogError::DeletedConcurrently(stored)) if tries_left > 0 => {
                    tracing::info!(%name, tries_left, %stored, "storing again")
                }
                Ok(ReleaseOutcome::OtherWaits(waiting)) => {
                    return Err(PublishFailure::Waits(waiting));
                }
                Ok(ReleaseOutcome::TooLate(waiting)) => {
                    return Err(PublishFailure::TooLate(waiting));
                }
                Ok(outcome) => return Ok(ReleaseResult { publication, outcome }),
                Err(source) => return Err(PublishFailure::after_commit(name, source)),
            }
        }
        Err(PublishFailure::TooManyConflicts { name: name.clone() })
    }

    /// Returns true where no release of the dataset waits, so that this version follows.
    async fn nothing_waits(&self, name: &DatasetName) -> Result<bool, PublishFailure> {
        let waiting = self.store.waiting_release(name).await.map_err(PublishFailure::Current)?;
        Ok(waiting.is_none())
    }

    /// The package with its reader and what its file tells of the columns.
    async fn complete(&self, package: &DataPackage) -> Result<Arc<DataPackage>, PublishFailure> {
        let with_reader = self.find_reader(package).await?;
        Ok(complete(&self.workers, with_reader.as_ref().unwrap_or(package)).await?)
    }

    /// Stores the package's table in `files` and compares it with what is current.
    async fn compare(
        &self,
        files: &ObjectStorage,
        package: &Arc<DataPackage>,
        progress: &dyn ProgressReporter,
    ) -> Result<Publication, PublishFailure> {
        let name = package.name();
        attempt_to_finish_releases(&self.store, &self.files, self.iceberg.as_ref()).await;
        let current = self.store.current_snapshot(name).await.map_err(PublishFailure::Current)?;
        // A release may have become current since: its file is where it waited.
        let waited = self.store.waiting_files(true).await.map_err(PublishFailure::Current)?;
        files.waiting_files().replace(waited);
        let facts = self.stored_facts(name, current.as_ref()).await?;
        let has_facts = facts.as_ref().is_some_and(|facts| facts.version == FACTS_VERSION);
        let draft = publish_completed(
            self.memory,
            files,
            &self.workers,
            package,
            current.as_ref().map(|snapshot| ComparedSnapshot { snapshot, has_facts }),
            progress,
        )
        .await?;
        check_loss(package, current.as_ref(), facts.as_ref(), &draft)?;
        Ok(Publication {
            name: draft.name,
            namespace: draft.namespace,
            snapshot: draft.snapshot,
            predecessor: current.map(|current| current.id),
            changes: draft.changes,
            facts: draft.facts,
            at: self.at,
        })
    }

    /// The preview facts of what is current, as far as this version reads them.
    async fn stored_facts(
        &self,
        name: &DatasetName,
        current: Option<&Snapshot>,
    ) -> Result<Option<PreviewFacts>, PublishFailure> {
        let Some(current) = current else { return Ok(None) };
        self.store.preview_facts(name, &current.id).await.map_err(PublishFailure::Current)
    }

    /// Describes the table again where the newest version is not the one that was described: others
    /// published, and the last of them what was current before. A failure is logged; the next
    /// publication tries again.
    async fn check_description(&self, name: &DatasetName, described: Option<u64>) {
        let (Some(iceberg), Some(described)) = (&self.iceberg, described) else { return };
        let checked = async {
            let dataset = self.store.dataset(name).await?;
            let newest = dataset.and_then(|dataset| dataset.snapshots.last().cloned());
            match newest {
                Some(newest) if newest.version != described => {
                    iceberg.describe_retained(name).await
                }
                _ => Ok(0),
            }
        };
        if let Err(failure) = checked.await {
            tracing::warn!(%name, %failure, "the table is not described for readers of Iceberg");
        }
    }

    /// The package with its reader, where it needs one that it does not have.
    async fn find_reader(
        &self,
        package: &DataPackage,
    ) -> Result<Option<DataPackage>, PublishError> {
        let Some(format) = package.missing_reader() else { return Ok(None) };
        let found = match &self.readers {
            Some(readers) => readers.find_reader(format).await,
            None => Err(format!("the format {format:?} cannot be read here")),
        };
        match found {
            Ok(reader) => Ok(Some(package.clone().with_reader(reader))),
            Err(why) => Err(PublishError::NoReader { path: package.data().to_owned(), why }),
        }
    }
}

fn tell_of_conflict(name: &DatasetName, tries_left: usize) {
    tracing::info!(%name, tries_left, "another publisher was faster: comparing again");
}

/// Refuses a draft that has lost more of what is current than the package allows.
fn check_loss(
    package: &DataPackage,
    current: Option<&Snapshot>,
    old: Option<&PreviewFacts>,
    draft: &SnapshotDraft,
) -> Result<(), PublishFailure> {
    let (Some(max_loss), Some(current), Some(new)) =
        (package.max_loss, current, draft.facts.as_ref())
    else {
        return Ok(());
    };
    match max_loss.describe_excess(current.rows, old, new) {
        Some(why) => Err(PublishError::Loss { path: package.data.clone(), why }.into()),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
