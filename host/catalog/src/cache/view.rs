//! The catalog as one instant shows it, and as it is once what was waiting is visible. Never
//! decides when that is.

use std::collections::HashSet;
use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use yearbook_domain::{Announcement, Dataset, Digest, Millis};

use super::dataset_set::DatasetSet;
use super::with_query_timeout;
use crate::{Catalog, CatalogError, FutureDataset, PluginRelease, Revisions};

/// Bits of a view's revision that count releases that this host turned to by itself.
const TURN_BITS: u32 = 16;

/// The datasets that are served, and what waits.
pub(super) struct ServedView {
    /// Counts of the database.
    pub(super) revisions: Revisions,
    /// Names the view among those of this host.
    pub(super) revision: i64,
    pub(super) datasets: DatasetSet,
    pub(super) sorted: Arc<[Arc<Dataset>]>,
    pub(super) releases: Arc<[PluginRelease]>,
    pub(super) announcements: Arc<[Announcement]>,
    /// By time.
    pub(super) waiting: Vec<FutureDataset>,
    /// Files that lie where they waited.
    pub(super) waiting_files: HashSet<Digest>,
}

impl ServedView {
    /// Reads the revision first: if the catalog changes in between, the view is newer than its
    /// revision and the next tick reads it once more. Reads only datasets that are not as `known`.
    /// `turns` counts the releases that this host turned to.
    pub(super) fn load<'a>(
        store: &'a Catalog,
        known: &'a DatasetSet,
        turns: u16,
    ) -> BoxFuture<'a, Result<Self, CatalogError>> {
        async move {
            let revisions = with_query_timeout(store, store.revisions()).await?;
            // Before the datasets: what waits no longer is among them.
            let waiting = with_query_timeout(store, store.future_datasets()).await?;
            let waiting_files = with_query_timeout(store, store.waiting_files(false)).await?;
            let announcements = with_query_timeout(store, store.announcements()).await?.into();
            let datasets = with_query_timeout(store, store.dataset_set(known)).await?;
            let sorted = datasets.sorted().into();
            let releases = with_query_timeout(store, store.releases()).await?.into();
            let revision = name_revision(revisions, turns);
            Ok(Self {
                revisions,
                revision,
                datasets,
                sorted,
                releases,
                announcements,
                waiting,
                waiting_files,
            })
        }
        .boxed()
    }

    /// Time of the next release.
    pub(super) fn next_release(&self) -> Option<Millis> {
        self.waiting.first().map(|waiting| waiting.release_at)
    }

    /// Returns the view with what `is_due` in place of what was current, the `turns`-th of this
    /// host; `None` where nothing is.
    pub(super) fn after_releases(
        &self,
        is_due: impl Fn(&FutureDataset) -> bool,
        turns: u16,
    ) -> Option<Self> {
        let (due, waiting): (Vec<_>, Vec<_>) =
            self.waiting.iter().cloned().partition(|waiting| is_due(waiting));
        if due.is_empty() {
            return None;
        }
        let datasets = self.datasets.with_released(due.iter().map(|due| &due.dataset));
        let announced = |announcement: &Announcement| {
            let released = due.iter().find(|due| due.dataset.name == announcement.dataset);
            let waits = announcement.snapshot.is_none();
            let snapshot = released.filter(|_| waits).map(|due| due.dataset.current.id);
            Announcement { snapshot: snapshot.or(announcement.snapshot), ..announcement.clone() }
        };
        Some(Self {
            revisions: self.revisions,
            revision: name_revision(self.revisions, turns),
            sorted: datasets.sorted().into(),
            datasets,
            releases: Arc::clone(&self.releases),
            announcements: self.announcements.iter().map(announced).collect(),
            waiting,
            waiting_files: self.waiting_files.clone(),
        })
    }
}

/// Returns a number that no other view of this host has.
fn name_revision(revisions: Revisions, turns: u16) -> i64 {
    (revisions.all << TURN_BITS) | i64::from(turns)
}
