//! The catalog in the memory of a running server: at most half a second old, and still there when
//! the database is not.

mod database_clock;
pub(crate) mod dataset_set;
mod facts_cache;
mod polling;
mod releasing;
pub(crate) mod revisioned;
mod view;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use arc_swap::{ArcSwap, Guard};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use tokio::sync::{Mutex, Semaphore, SemaphorePermit, watch};
use tokio::time::timeout;
use yearbook_cache::Cache;
use yearbook_counters::Metric as _;
use yearbook_domain::{
    Dataset, DatasetName, Millis, PreviewFacts, Snapshot, SnapshotId, SnapshotSummary, WaitingFiles,
};

use crate::{Catalog, CatalogError, CheckSummary, CitedSnapshot, DatasetSet, PluginRelease};
use database_clock::DatabaseClock;
use facts_cache::PreviewFactsCache;
use polling::{PollCounters, poll_loop};
use releasing::AppliedReleases;
use revisioned::RevisionedCache;
use view::ServedView;

/// A database that takes longer than this counts as failed.
const QUERY_TIMEOUT: Duration = Duration::from_secs(5);

/// Snapshots other than current ones that are remembered, those that do not exist included. Pinned
/// reads and cursors of one dataset use few; each takes some ten kilobytes.
const MAX_PINNED_SNAPSHOTS: u64 = 1024;

/// Cited snapshots that are remembered, those that do not exist included; some ten kilobytes each.
const MAX_CITED_SNAPSHOTS: u64 = 1024;

/// Lookups at once of cited snapshots that are not retained, and may never have been: anybody may
/// ask for them, and clients with keys need the other connections.
const UNLISTED_LOOKUPS: usize = 1;

/// Longest wait for such a lookup.
const LOOKUP_PATIENCE: Duration = Duration::from_secs(1);

type PinnedSnapshotCache = Cache<(DatasetName, SnapshotId), Option<Arc<Snapshot>>>;

pub use database_clock::ClockReading;
pub use polling::PollMetrics;

/// The catalog in memory.
pub struct CatalogCache {
    store: Arc<Catalog>,
    view: ArcSwap<ServedView>,
    healthy: AtomicBool,
    started: Instant,
    following: PollCounters,
    /// Time at which the view was last known to be current, nanoseconds after the start.
    right_at_ns: AtomicU64,
    /// One refresh at a time.
    refreshing: Mutex<()>,
    pinned: RevisionedCache<(DatasetName, SnapshotId), Option<Arc<Snapshot>>>,
    facts: PreviewFactsCache,
    cited: RevisionedCache<(DatasetName, SnapshotId), Option<Arc<CitedSnapshot>>>,
    /// Permits for lookups of cited snapshots that are not retained.
    unlisted: Semaphore,
    /// Last checks of all sources.
    checks: RevisionedCache<(), Arc<CheckSummary>>,
    /// Plugin releases as the view has them, for those who follow them.
    releases: watch::Sender<Arc<[PluginRelease]>>,
    /// Revisions of the view, for those who follow what it shows.
    revisions: watch::Sender<i64>,
    clock: DatabaseClock,
    /// Releases that the view turned to by itself.
    turned: std::sync::Mutex<AppliedReleases>,
    /// Files that lie where they waited, for readers of the store.
    waiting_files: std::sync::Mutex<WaitingFiles>,
}

impl CatalogCache {
    /// Interval of polls, unless a test sets another: with the time that reading takes, a publish
    /// is seen well within the 2 s of contract-6-two-seconds.
    pub const POLL_INTERVAL: Duration = Duration::from_millis(500);

    /// Reads the catalog, then polls its revision every `every` and reads again only when that
    /// moved. Polling ends when the last `Arc` is dropped.
    ///
    /// # Errors
    /// [`CatalogError`] when the first read fails: a server that has nothing to serve should not
    /// start.
    pub async fn start(store: Arc<Catalog>, every: Duration) -> Result<Arc<Self>, CatalogError> {
        if let Err(failure) = store.settle_due_releases().await {
            tracing::warn!(%failure, "releases that are due are not settled in the catalog yet");
        }
        let view = ServedView::load(&store, &DatasetSet::default(), 0).await?;
        let revision = view.revision;
        let live = Arc::new(Self {
            pinned: RevisionedCache::new(revision, || {
                PinnedSnapshotCache::new(MAX_PINNED_SNAPSHOTS)
            }),
            facts: PreviewFactsCache::new(revision),
            cited: RevisionedCache::new(revision, || Cache::new(MAX_CITED_SNAPSHOTS)),
            unlisted: Semaphore::new(UNLISTED_LOOKUPS),
            checks: RevisionedCache::new(revision, || Cache::new(1)),
            releases: watch::Sender::new(Arc::clone(&view.releases)),
            revisions: watch::Sender::new(revision),
            view: ArcSwap::from_pointee(view),
            store,
            healthy: AtomicBool::new(true),
            started: Instant::now(),
            following: PollCounters::default(),
            right_at_ns: AtomicU64::new(0),
            refreshing: Mutex::new(()),
            clock: DatabaseClock::new(),
            turned: std::sync::Mutex::default(),
            waiting_files: std::sync::Mutex::default(),
        });
        tokio::spawn(poll_loop(Arc::downgrade(&live), every, live.store.change_notifications()));
        Ok(live)
    }

    /// Returns the view, having turned it to what is due.
    fn view(&self) -> Guard<Arc<ServedView>> {
        let view = self.view.load();
        if view.next_release().is_none_or(|at| !self.clock.has_reached(at)) {
            return view;
        }
        drop(view);
        self.turn();
        self.view.load()
    }

    /// Returns the dataset called `name`; `None` when there is none or it is retired.
    #[must_use]
    pub fn dataset(&self, name: &str) -> Option<Arc<Dataset>> {
        self.view().datasets.get(name).cloned()
    }

    /// Returns every dataset that is not retired, sorted by name.
    #[must_use]
    pub fn datasets(&self) -> Arc<[Arc<Dataset>]> {
        Arc::clone(&self.view().sorted)
    }

    /// Returns a receiver of every known plugin release, by kind and name, oldest first, which
    /// wakes when they change. It does not keep the cache alive.
    #[must_use]
    pub fn releases(&self) -> watch::Receiver<Arc<[PluginRelease]>> {
        self.releases.subscribe()
    }

    /// Returns a receiver of the view's revision, which wakes when the view was read again. It does
    /// not keep the cache alive.
    #[must_use]
    pub fn revision_changes(&self) -> watch::Receiver<i64> {
        self.revisions.subscribe()
    }

    /// Returns a number that names what the view in memory shows, and that grows.
    #[must_use]
    pub fn revision(&self) -> i64 {
        self.view().revision
    }

    /// Returns [`crate::Revisions::all`] as they were last read.
    #[must_use]
    pub fn database_revision(&self) -> i64 {
        self.view.load().revisions.all
    }

    /// Returns [`crate::Revisions::keys`] as they were last read.
    pub(crate) fn keys_revision(&self) -> i64 {
        self.view.load().revisions.keys
    }

    /// Returns true when the database answered the last poll.
    #[must_use]
    pub fn healthy(&self) -> bool {
        self.healthy.load(Ordering::Relaxed)
    }

    /// Returns a retained snapshot of `dataset`, from memory where possible. None: it was dropped
    /// or never existed ([`Catalog::snapshot_status`]).
    ///
    /// # Errors
    /// [`CatalogError::Shared`] when the database has to be read and fails.
    pub async fn snapshot(
        &self,
        dataset: &Dataset,
        id: &SnapshotId,
    ) -> Result<Option<Arc<Snapshot>>, CatalogError> {
        if dataset.current.id == *id {
            return Ok(Some(Arc::clone(&dataset.current)));
        }
        let pinned = self.pinned.for_revision(self.revision());
        let fetch = async {
            self.settled().await?;
            Ok(self.store.snapshot(&dataset.name, id).await?.map(Arc::new))
        };
        pinned.try_get_with((dataset.name.clone(), *id), fetch).await.map_err(CatalogError::Shared)
    }

    /// Returns the preview facts of the retained snapshot `id` of `dataset`, from memory where
    /// possible. `None` as in [`Catalog::preview_facts`].
    ///
    /// # Errors
    /// [`CatalogError::Shared`] when the database has to be read and fails.
    pub async fn preview_facts(
        &self,
        dataset: &Dataset,
        id: &SnapshotId,
    ) -> Result<Option<Arc<PreviewFacts>>, CatalogError> {
        if !self.facts.has(&dataset.name, id) {
            self.settled().await?;
        }
        self.facts.get(&self.store, self.revision(), &dataset.name, id).await
    }

    /// Returns the time at which a dataset that is not served was retired; `None` if there was
    /// never one.
    #[must_use]
    pub fn retired_at(&self, name: &str) -> Option<Millis> {
        self.view().datasets.retired_at(name)
    }

    /// Returns what citations state of the snapshot `id` of a dataset, retained or not, of a
    /// retired dataset too; `None` where it never existed. The database is not asked for datasets
    /// that never existed, and once at a time for snapshots that may not exist.
    ///
    /// # Errors
    /// [`CatalogError::Shared`] when the database has to be read and fails, or with
    /// [`CatalogError::TooManyLookups`] when others have taken the turn for too long.
    pub async fn cited_snapshot(
        &self,
        dataset: &DatasetName,
        id: &SnapshotId,
    ) -> Result<Option<Arc<CitedSnapshot>>, CatalogError> {
        let served = self.dataset(dataset.as_str());
        if served.is_none() && self.retired_at(dataset.as_str()).is_none() {
            return Ok(None);
        }
        let cited = self.cited.for_revision(self.revision());
        let fetch = async {
            self.settled().await?;
            let is_id = |summary: &SnapshotSummary| summary.id == *id;
            let listed = served.is_some_and(|served| served.snapshots.iter().any(is_id));
            let _permit = if listed { None } else { Some(self.acquire_unlisted().await?) };
            Ok(self.store.cited_snapshot(dataset, id).await?.map(Arc::new))
        };
        cited.try_get_with((dataset.clone(), *id), fetch).await.map_err(CatalogError::Shared)
    }

    async fn acquire_unlisted(&self) -> Result<SemaphorePermit<'_>, CatalogError> {
        let permit = timeout(LOOKUP_PATIENCE, self.unlisted.acquire()).await;
        let late = || CatalogError::TooManyLookups { after: LOOKUP_PATIENCE };
        permit.ok().and_then(Result::ok).ok_or_else(late)
    }

    /// Returns the last checks of all sources, from memory where possible.
    ///
    /// # Errors
    /// [`CatalogError::Shared`] when the database has to be read and fails.
    pub async fn check_summary(&self) -> Result<Arc<CheckSummary>, CatalogError> {
        let checks = self.checks.for_revision(self.revision());
        let fetch = async {
            with_query_timeout(&self.store, self.store.check_summary()).await.map(Arc::new)
        };
        Box::pin(checks.try_get_with((), fetch)).await.map_err(CatalogError::Shared)
    }

    /// Polls the database now instead of at the next tick. On failure the last view stays and
    /// [`CatalogCache::healthy`] turns false until the database answers again.
    ///
    /// # Errors
    /// [`CatalogError`] of the database.
    pub async fn refresh(&self) -> Result<(), CatalogError> {
        let _one_at_a_time = self.refreshing.lock().await;
        self.refresh_alone().await
    }

    fn refresh_alone(&self) -> BoxFuture<'_, Result<(), CatalogError>> {
        async move {
            let begun = Instant::now();
            let outcome = self.reload_if_changed().await;
            self.count(begun, outcome.is_ok());
            let was_healthy = self.healthy.swap(outcome.is_ok(), Ordering::Relaxed);
            match &outcome {
                Err(failure) if was_healthy => {
                    tracing::error!(
                        %failure,
                        "the catalog does not answer: serving what is in memory"
                    )
                }
                Ok(()) if !was_healthy => tracing::info!("the catalog answers again"),
                _ => {}
            }
            outcome
        }
        .boxed()
    }

    /// Returns the results of polling.
    #[must_use]
    pub fn counts(&self) -> PollMetrics {
        let right_at = Duration::from_nanos(self.right_at_ns.load(Ordering::Relaxed));
        let age = self.started.elapsed().saturating_sub(right_at);
        PollMetrics { age, ..self.following.read() }
    }

    fn count(&self, begun: Instant, right: bool) {
        self.following.polls.increment();
        self.following.time.add(begun.elapsed());
        if right {
            // Right as of when it was asked for.
            let right_at = (begun - self.started).as_nanos();
            self.right_at_ns.store(u64::try_from(right_at).unwrap_or(u64::MAX), Ordering::Relaxed);
        } else {
            self.following.failures.increment();
        }
    }

    async fn reload_if_changed(&self) -> Result<(), CatalogError> {
        // A database that takes no writes still tells what there is.
        if let Err(failure) = self.settle().await {
            tracing::warn!(%failure, "a release that is due is not settled in the catalog yet");
        }
        let asked = Instant::now();
        let (revisions, time) = with_query_timeout(&self.store, self.store.poll()).await?;
        self.clock.hear(time, asked, Instant::now());
        let known = self.view.load_full();
        if revisions != known.revisions {
            let view = ServedView::load(&self.store, &known.datasets, self.turns()).await?;
            tracing::debug!(
                revision = view.revisions.all,
                datasets = view.sorted.len(),
                "read the catalog again"
            );
            self.take_in(view);
        }
        Ok(())
    }
}

async fn with_query_timeout<T>(
    store: &Catalog,
    answer: impl Future<Output = Result<T, CatalogError>>,
) -> Result<T, CatalogError> {
    let late =
        |_| CatalogError::TimedOut { location: store.describe().location, after: QUERY_TIMEOUT };
    timeout(QUERY_TIMEOUT, answer).await.map_err(late)?
}
