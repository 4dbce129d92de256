//! Versions of a dataset as of a time, those that retention dropped included
//! (contract-21-as-of).

use std::sync::Arc;

use futures::future::BoxFuture;
use yearbook_catalog::{KnownHistory, PastVersion, VersionAt};
use yearbook_domain::{Dataset, Millis, Refusal, Snapshot, SnapshotId};

use crate::{Core, Error};

/// Files of versions that retention dropped.
pub trait PastFiles: Send + Sync {
    /// Returns the version with a file that can be read: its own, or one made again.
    ///
    /// Fails with [`Error::Rebuilding`] where that takes longer than a request may wait.
    fn open(
        &self,
        dataset: &Dataset,
        past: PastVersion,
    ) -> BoxFuture<'_, Result<Arc<Snapshot>, Error>>;

    /// Returns the table of revisions of `history`, which ends with `newest`. The numbers are those
    /// of this version and of the one since which revisions are told. Its id is that of no
    /// snapshot.
    ///
    /// Fails as [`PastFiles::open`].
    fn revisions(
        &self,
        dataset: &Dataset,
        newest: Arc<Snapshot>,
        versions: (u64, Option<u64>),
        history: KnownHistory,
    ) -> BoxFuture<'_, Result<Arc<Snapshot>, Error>>;
}

impl Core {
    /// Returns the version of `dataset` that was current at `at`, with a file that can be read.
    ///
    /// # Errors
    /// 404 before the first version, 410 where it is not known, 503 while it is being made again;
    /// those of the catalog and the store.
    pub async fn version_at(&self, dataset: &Dataset, at: Millis) -> Result<Arc<Snapshot>, Error> {
        // Whatever the current version became when it was seen last, nothing is newer.
        if at >= dataset.current.created_at {
            return Ok(Arc::clone(&dataset.current));
        }
        let found = self.catalog.version_at(&dataset.name, at).await?;
        let gone = || Refusal::NoSuchDataset { name: dataset.name.to_string() };
        match found.ok_or_else(gone)? {
            VersionAt::Retained(id) => match self.catalog_cache.snapshot(dataset, &id).await? {
                Some(snapshot) => Ok(snapshot),
                None => self.past_version(dataset, id.as_str()).await?.ok_or(Error::Unavailable),
            },
            VersionAt::Past(past) => self.past_files.open(dataset, *past).await,
            VersionAt::NotPublishedYet(first) => Err(Refusal::NotPublishedYet { first }.into()),
            VersionAt::Gone(oldest) => Err(Refusal::HistoryGone { oldest }.into()),
        }
    }

    /// Returns the version called `id` that retention dropped and the history gives back; `None`
    /// where it has none.
    ///
    /// # Errors
    /// As [`Core::version_at`].
    pub async fn past_version(
        &self,
        dataset: &Dataset,
        id: &str,
    ) -> Result<Option<Arc<Snapshot>>, Error> {
        let Some(id) = SnapshotId::parse(id) else { return Ok(None) };
        match self.catalog.past_version(&dataset.name, &id).await? {
            Some(past) => self.past_files.open(dataset, past).await.map(Some),
            None => Ok(None),
        }
    }
}
