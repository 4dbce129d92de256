//! Versions of a dataset as of a time, those that retention dropped included
//! (contract-21-as-of).

use std::sync::Arc;

use yearbook_catalog::{PastVersion, VersionAt};
use yearbook_domain::{CalendarUnit, Dataset, Millis, Refusal, Snapshot, SnapshotId};

use crate::{Core, Error};

impl Core {
    /// Returns the version of `dataset` that was current at `at`, with a file that can be read.
    ///
    /// # Errors
    /// 404 before the first version, 410 where it is not known, 413 where there is no room to make
    /// it again, 503 while it is being made; those of the catalog and the store.
    pub async fn version_at(&self, dataset: &Dataset, at: Millis) -> Result<Arc<Snapshot>, Error> {
        // Whatever the current version became when it was seen last, nothing is newer.
        if at >= dataset.current.created_at {
            return Ok(Arc::clone(&dataset.current));
        }
        let found = self.catalog.version_at(&dataset.name, at).await?;
        let gone = || Refusal::NoSuchDataset { name: dataset.name.to_string() };
        match found.ok_or_else(gone)? {
            // As it was then: data may have gone back to it since, at another time.
            VersionAt::Retained(snapshot) => Ok(Arc::new(*snapshot)),
            VersionAt::Past(past) => self.open_past(dataset, *past).await,
            VersionAt::NotPublishedYet(first) => Err(Refusal::NotPublishedYet { first }.into()),
            VersionAt::Gone(oldest) => Err(Refusal::HistoryGone { oldest }.into()),
        }
    }

    /// Returns the unit of the distances of dates in the version called `id`
    /// (contract-16-axis).
    ///
    /// # Errors
    /// Those of the catalog.
    pub async fn axis(
        &self,
        dataset: &Dataset,
        id: &SnapshotId,
    ) -> Result<Option<CalendarUnit>, Error> {
        if let Some(facts) = self.catalog_cache.preview_facts(dataset, id).await? {
            return Ok(facts.axis);
        }
        let past = self.catalog.past_version(&dataset.name, id).await?;
        Ok(past.and_then(|past| past.axis))
    }

    /// Returns the version that was current at `at` where it is called `id`; `None` where another
    /// one was, which is not made again.
    ///
    /// # Errors
    /// As [`Core::version_at`].
    pub async fn version_with_id_at(
        &self,
        dataset: &Dataset,
        id: &SnapshotId,
        at: Millis,
    ) -> Result<Option<Arc<Snapshot>>, Error> {
        if at >= dataset.current.created_at && dataset.current.id == *id {
            return Ok(Some(Arc::clone(&dataset.current)));
        }
        match self.catalog.version_at(&dataset.name, at).await? {
            Some(VersionAt::Retained(found)) if found.id == *id => Ok(Some(Arc::new(*found))),
            Some(VersionAt::Past(past)) if past.snapshot.id == *id => {
                self.open_past(dataset, *past).await.map(Some)
            }
            _ => Ok(None),
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
        id: &SnapshotId,
    ) -> Result<Option<Arc<Snapshot>>, Error> {
        match self.catalog.past_version(&dataset.name, id).await? {
            Some(past) => self.open_past(dataset, past).await.map(Some),
            None => Ok(None),
        }
    }
    /// Returns `past` with a file that can be read. Where data have gone back to it, a version that
    /// is retained has its rows, and none is made.
    async fn open_past(
        &self,
        dataset: &Dataset,
        past: PastVersion,
    ) -> Result<Arc<Snapshot>, Error> {
        if !past.file_kept
            && let Some(same) = self.catalog_cache.snapshot(dataset, &past.snapshot.id).await?
        {
            // The id decides everything but the file, what is known of that, and the time.
            let created_at = past.snapshot.created_at;
            return Ok(Arc::new(Snapshot { created_at, ..Snapshot::clone(&same) }));
        }
        self.past_files.open(dataset, past).await
    }
}
