//! The version of a dataset that a request reads: a cursor's, a pinned one, that of a time
//! (contract-21-as-of), or the current one. Never touches a stored row.

use std::sync::Arc;

use yearbook_catalog::SnapshotStatus;
use yearbook_domain::{
    CursorSource, Dataset, Millis, Refusal, Selection, Snapshot, SnapshotId, SnapshotSummary,
};
use yearbook_http::Error;

use crate::ApiState;

/// The version that a request names.
pub(super) enum NamedVersion {
    /// It can be read.
    Readable(Arc<Snapshot>),
    /// It cannot. Clients are told once all else is right: a wrong name is more useful to know than
    /// a lost version.
    Refused(Refusal),
    /// The list in memory does not have this id, and only the database tells what became of it.
    Unlisted(String),
}

impl NamedVersion {
    /// Finds the version of a request that goes on at `cursor` or selects `sent` anew.
    ///
    /// # Errors
    /// 503 for one that is being made again; those of the catalog and the store.
    pub(super) async fn find(
        app: &ApiState,
        dataset: &Dataset,
        cursor: Option<&CursorSource>,
        sent: &Selection,
    ) -> Result<Self, Error> {
        // What asks the database is on the heap: most requests name no version.
        match (cursor, &sent.snapshot, &sent.as_of) {
            (Some(CursorSource::Snapshot(id)), ..) => {
                let as_of = sent.as_of.as_ref().map(|time| time.value);
                Box::pin(Self::of_cursor(app, dataset, id, as_of)).await
            }
            // It belongs to other rows, which is told by what it holds.
            (Some(CursorSource::Changes(_) | CursorSource::Revisions { .. }), ..)
            | (None, None, None) => Ok(Self::Readable(Arc::clone(&dataset.current))),
            (None, Some(id), _) => {
                Ok(match Box::pin(retained_snapshot(app, dataset, id)).await? {
                    Some(snapshot) => Self::Readable(snapshot),
                    None => Self::Unlisted(id.clone()),
                })
            }
            (None, None, Some(time)) => {
                Self::from_found(Box::pin(app.core.version_at(dataset, time.value)).await)
            }
        }
    }

    fn from_found(found: Result<Arc<Snapshot>, Error>) -> Result<Self, Error> {
        match found {
            Ok(snapshot) => Ok(Self::Readable(snapshot)),
            Err(Error::Refused(refusal)) => Ok(Self::Refused(refusal)),
            Err(error) => Err(error),
        }
    }

    /// The version that a page goes on in. As of a time pages go on however long they take.
    async fn of_cursor(
        app: &ApiState,
        dataset: &Dataset,
        id: &SnapshotId,
        as_of: Option<Millis>,
    ) -> Result<Self, Error> {
        // Of several versions with the same rows it is that of the time, as far as is known now.
        if let Some(at) = as_of {
            if is_listed_at(dataset, id, at)
                && let Some(listed) = retained_snapshot(app, dataset, id.as_str()).await?
                // Data may have gone back to it since the list was read.
                && listed.created_at <= at
            {
                return Ok(Self::Readable(listed));
            }
            if let Some(snapshot) = app.core.version_with_id_at(dataset, id, at).await? {
                return Ok(Self::Readable(snapshot));
            }
        }
        if let Some(snapshot) = retained_snapshot(app, dataset, id.as_str()).await? {
            return Ok(Self::Readable(snapshot));
        }
        if as_of.is_some()
            && let Some(snapshot) = app.core.past_version(dataset, id).await?
        {
            return Ok(Self::Readable(snapshot));
        }
        // Another host may have sent it that knew a newer version than the list in memory.
        let mut found = unlisted_snapshot(app, dataset, id.as_str()).await;
        if matches!(found, Err(Error::Refused(Refusal::NoSuchSnapshot { .. }))) {
            // It may show a release at its time, which nobody has made visible in the catalog yet.
            app.core.catalog.settle_due_releases().await?;
            found = unlisted_snapshot(app, dataset, id.as_str()).await;
        }
        Self::from_found(found)
    }

    /// Returns the version that parameters are checked against: the current one where the one that
    /// is named is gone.
    pub(super) fn readable_or_current<'a>(&'a self, dataset: &'a Dataset) -> &'a Arc<Snapshot> {
        match self {
            Self::Readable(snapshot) => snapshot,
            Self::Refused(_) | Self::Unlisted(_) => &dataset.current,
        }
    }
}

/// Returns true where the list in memory alone tells that the version at `at` is the one called
/// `id`: it has the id once, and knows which version followed.
fn is_listed_at(dataset: &Dataset, id: &SnapshotId, at: Millis) -> bool {
    let listed = &dataset.snapshots;
    let Some(place) = listed.iter().rposition(|one| one.created_at <= at) else { return false };
    let follows = |next: &SnapshotSummary| next.version == listed[place].version + 1;
    listed[place].id == *id
        && listed.get(place + 1).is_none_or(follows)
        && listed.iter().filter(|one| one.id == *id).count() == 1
}

/// Returns the retained snapshot called `id`. The list in memory answers for those that are not
/// retained, without a query.
async fn retained_snapshot(
    app: &ApiState,
    dataset: &Dataset,
    id: &str,
) -> Result<Option<Arc<Snapshot>>, Error> {
    match dataset.snapshots.iter().find(|summary| summary.id.as_str() == id) {
        Some(summary) => Ok(app.core.catalog_cache.snapshot(dataset, &summary.id).await?),
        None => Ok(None),
    }
}

/// Returns the snapshot called `id`, which the list in memory does not have.
///
/// # Errors
/// 410 for one that was dropped, 404 for one that never was.
pub(super) async fn unlisted_snapshot(
    app: &ApiState,
    dataset: &Dataset,
    id: &str,
) -> Result<Arc<Snapshot>, Error> {
    let unknown = || Refusal::NoSuchSnapshot { id: id.to_owned() };
    let parsed = SnapshotId::parse(id).ok_or_else(unknown)?;
    let found = match app.core.catalog.snapshot_status(&dataset.name, &parsed).await? {
        SnapshotStatus::Unknown => return Err(unknown().into()),
        SnapshotStatus::Dropped => None,
        // It was published a moment ago, and the list in memory does not show it yet.
        SnapshotStatus::Retained => app.core.catalog_cache.snapshot(dataset, &parsed).await?,
    };
    match found {
        Some(snapshot) => Ok(snapshot),
        None => Err(app.core.snapshot_gone(&dataset.name, &parsed).await?.into()),
    }
}
