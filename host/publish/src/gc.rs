//! `yearbook gc`: drops the snapshots that retention no longer keeps, then removes from the object
//! store what nothing has named for long (decision 0170). Safe beside running hosts, publishers,
//! installs and another `gc`: the catalog decides, this only does it.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use yearbook_catalog::{
    Catalog, CatalogError, DELETION_DEADLINE, DroppedSnapshot, Retention, UnreferencedObject,
};
use yearbook_domain::{Millis, ObjectKey};
use yearbook_storage::{ObjectStorage, StaleUpload, StorageFailure, StoredObject};

/// Removed at a time: as many as a store removes well before [`DELETION_DEADLINE`] has passed.
const BATCH_SIZE: usize = 50;

/// Settings of a run.
#[derive(Clone, Copy, Debug)]
pub struct GcSettings {
    /// Snapshots that stay.
    pub retention: Retention,
    /// Age at which unreferenced objects go: longer than any response that began to read them.
    pub unnamed_for: Duration,
    /// Only say what would go.
    pub dry_run: bool,
}

/// Objects that went, or would.
#[derive(Clone, Debug, Default)]
pub struct GcSummary {
    /// Snapshots that retention dropped. Their files go when they have been unnamed for long
    /// enough.
    pub dropped: Vec<DroppedSnapshot>,
    /// Removed from the object store, with their bytes.
    pub removed: Vec<(UnreferencedObject, u64)>,
    /// Unnamed for too short a time, with their bytes.
    pub later: Vec<(UnreferencedObject, u64)>,
    /// Condemned by another `gc`, which is at work or died a short while ago.
    pub being_removed: usize,
    /// Files of unfinished uploads that were removed.
    pub leftovers: Vec<StaleUpload>,
}

/// Reasons for which a run ended early.
#[derive(Debug, thiserror::Error)]
pub enum GcError {
    /// The catalog failed.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// The object store failed.
    #[error(transparent)]
    Storage(#[from] StorageFailure),
    /// Objects marked by this run may belong to another `gc` by now.
    #[error(
        "the object store takes minutes to remove a few files, so the rest was left alone; see what is the matter with it, and run `yearbook gc` again in ten minutes"
    )]
    TooSlow,
}

/// Collects once.
///
/// # Errors
/// [`GcError`]. Objects that had been removed by then are gone, and the next
/// run goes on.
pub async fn collect_garbage(
    store: &Catalog,
    files: &ObjectStorage,
    settings: GcSettings,
) -> Result<GcSummary, GcError> {
    let GcSettings { retention, unnamed_for, dry_run } = settings;
    let mut collected = GcSummary {
        dropped: store.apply_retention(retention, dry_run).await?,
        ..GcSummary::default()
    };
    let age = i64::try_from(unnamed_for.as_millis()).unwrap_or(i64::MAX);
    let before = Millis(store.database_time().await?.0.saturating_sub(age));
    let mut held: HashMap<ObjectKey, u64> = files
        .held()
        .await?
        .into_iter()
        .map(|StoredObject { stored, bytes }| (stored, bytes))
        .collect();
    loop {
        let mut found: Vec<ObjectKey> = held.keys().cloned().collect();
        found.sort();
        let begun = Instant::now();
        let at_most = if dry_run { usize::MAX } else { BATCH_SIZE };
        let condemned = store.mark_for_deletion(&found, before, at_most, dry_run).await?;
        let with_bytes = |loose: &UnreferencedObject| {
            (loose.clone(), held.get(&loose.stored).copied().unwrap_or(0))
        };
        collected.later = condemned.later.iter().map(with_bytes).collect();
        collected.being_removed = condemned.being_removed;
        collected.removed.extend(condemned.due.iter().map(with_bytes));
        if condemned.due.is_empty() || dry_run {
            break;
        }
        let due: Vec<ObjectKey> = condemned.due.into_iter().map(|loose| loose.stored).collect();
        for stored in &due {
            remove_marked(files, stored, begun).await?;
            held.remove(stored);
        }
        store.forget_deleted(&due, condemned.at).await?;
    }
    collected.leftovers = files.remove_stale_uploads(unnamed_for, dry_run).await?;
    Ok(collected)
}

/// Removes one thing that was condemned at `begun`, unless that is so long ago that it may belong
/// to somebody else by now.
async fn remove_marked(
    files: &ObjectStorage,
    stored: &ObjectKey,
    begun: Instant,
) -> Result<(), GcError> {
    let left = DELETION_DEADLINE.saturating_sub(begun.elapsed());
    if left.is_zero() {
        return Err(GcError::TooSlow);
    }
    tokio::time::timeout(left, files.remove(stored)).await.map_err(|_| GcError::TooSlow)??;
    Ok(())
}
