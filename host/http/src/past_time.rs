//! Times as of which snapshots that retention dropped are read again (contract-21-as-of-sentence).

use yearbook_domain::{DatasetName, Millis, Refusal, SnapshotId};

use crate::{Core, Error};

impl Core {
    /// Returns the time as of which the rows of a dropped snapshot are read again; `None` where
    /// history does not have them.
    ///
    /// # Errors
    /// Those of the catalog.
    pub async fn past_time(
        &self,
        dataset: &DatasetName,
        id: &SnapshotId,
    ) -> Result<Option<Millis>, Error> {
        let past = self.catalog.past_version(dataset, id).await?;
        Ok(past.map(|past| past.snapshot.created_at))
    }

    /// Returns the refusal of a snapshot that is not kept any more.
    ///
    /// # Errors
    /// Those of the catalog.
    pub async fn snapshot_gone(
        &self,
        dataset: &DatasetName,
        id: &SnapshotId,
    ) -> Result<Refusal, Error> {
        let as_of = self.past_time(dataset, id).await?;
        Ok(Refusal::SnapshotGone { id: id.to_string(), as_of })
    }
}
