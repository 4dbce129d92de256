//! What a database must do for the catalogue. One suite (`suite.rs`) runs on every implementation.
//!
//! Every method is one transaction. Dropping a future before it is done leaves either all of its
//! effect or none.

use async_trait::async_trait;
use tokio::sync::watch;
use yearbook_domain::changes::ChangeSet;
use yearbook_domain::{Dataset, DatasetName, Millis, Snapshot, Stored, StoredFile};

use crate::{
    CanaryTotals, CatalogDescription, CatalogError, ChangeOutcome, CommitOutcome, DatasetSet,
    DeletionBatch, DroppedSnapshot, KeyHash, KeyRecord, PluginRelease, Publication, ReleaseChange,
    ReleaseEvent, ReleaseId, ReleaseUsage, ReserveOutcome, Retention, Revisions, SnapshotStatus,
    StateTransition, UploadRegistration, UsageIncrement,
};

/// A catalogue in some database, shared by every host and by every command that runs beside them.
///
/// All methods fail with [`Failure::Query`] when the database does not answer or holds a value that
/// this version cannot read.
#[async_trait]
pub trait Catalog: Send + Sync + 'static {
    /// Which database this is, for people.
    fn describe(&self) -> CatalogDescription;

    /// Asks the database for the smallest possible answer.
    async fn ping(&self) -> Result<(), CatalogError>;

    /// Looks through the whole database for damage and says what it finds, a sentence each; empty:
    /// sound. Takes as long as reading the database does: for `yearbook doctor`.
    async fn check_integrity(&self) -> Result<Vec<String>, CatalogError>;

    /// The database's clock, which every host shares.
    async fn database_time(&self) -> Result<Millis, CatalogError>;

    /// How often the catalogue has changed.
    async fn revisions(&self) -> Result<Revisions, CatalogError>;

    /// [`Revisions::all`].
    async fn revision(&self) -> Result<i64, CatalogError> {
        Ok(self.revisions().await?.all)
    }

    /// Wakes when the database tells of a change, which is sooner than asking finds out. None: it
    /// tells nothing.
    fn change_notifications(&self) -> Option<watch::Receiver<()>>;

    /// Every dataset that is not retired, as of one instant. Only what has moved since `known` was
    /// read is read again.
    async fn dataset_set(&self, known: &DatasetSet) -> Result<DatasetSet, CatalogError>;

    /// [`Store::dataset_set`] from scratch, sorted by name.
    async fn datasets(&self) -> Result<Vec<Dataset>, CatalogError> {
        Ok(self
            .dataset_set(&DatasetSet::default())
            .await?
            .sorted()
            .iter()
            .map(|dataset| Dataset::clone(dataset))
            .collect())
    }

    /// One of them; none when there is none or it is retired.
    async fn dataset(&self, name: &DatasetName) -> Result<Option<Dataset>, CatalogError>;

    /// The newest snapshot of a dataset, retired or not: what a publisher compares with.
    async fn current_snapshot(
        &self,
        dataset: &DatasetName,
    ) -> Result<Option<Snapshot>, CatalogError>;

    /// A retained snapshot; none when it was dropped or never existed ([`Store::snapshot_status`]
    /// tells).
    async fn snapshot(
        &self,
        dataset: &DatasetName,
        id: &str,
    ) -> Result<Option<Snapshot>, CatalogError>;

    /// Whether a snapshot is kept, was dropped, or never existed.
    async fn snapshot_status(
        &self,
        dataset: &DatasetName,
        id: &str,
    ) -> Result<SnapshotStatus, CatalogError>;

    /// What changed from one snapshot to the next, oldest first, as one history without gaps that
    /// ends with the current snapshot and begins no earlier than the oldest retained one. Empty:
    /// nothing is known of what came before the current one.
    async fn changes(&self, dataset: &DatasetName) -> Result<Vec<ChangeSet>, CatalogError>;

    /// Makes a snapshot the current one and drops what `retention` no longer keeps, leaving a
    /// tombstone; the same id as the current one only moves `checked_at`. Either way a retired
    /// dataset is served again. Compares and swaps: [`CommitOutcome::Conflict`] when the current
    /// snapshot is neither this one nor the one that it was compared with. `created_at` is set
    /// here, later than that of every other snapshot of the dataset by the clock of HTTP, which has
    /// whole seconds. [`Failure::Swept`] when a file that it names is neither declared by this
    /// store nor named already.
    async fn commit_snapshot(
        &self,
        publication: &Publication,
        retention: Retention,
    ) -> Result<CommitOutcome, CatalogError>;

    /// Stops serving a dataset; its snapshots stay. False when there is none or it is retired
    /// already.
    async fn retire_dataset(&self, dataset: &DatasetName) -> Result<bool, CatalogError>;

    /// Every stored file that a retained snapshot or its changes need, those of retired datasets
    /// included; each once, sorted by digest.
    async fn referenced_files(&self) -> Result<Vec<StoredFile>, CatalogError>;

    /// Drops what `retention` no longer keeps of any dataset now, by the database's clock, as a
    /// publish would; with `dry_run` only says what that is.
    async fn apply_retention(
        &self,
        retention: Retention,
        dry_run: bool,
    ) -> Result<Vec<DroppedSnapshot>, CatalogError>;

    /// Says that this process is about to store something, or to rely on what is stored under that
    /// name: before it looks whether it is there. Holds until this store commits a name for it.
    async fn register_upload(&self, stored: &Stored) -> Result<UploadRegistration, CatalogError>;

    /// Of what was `found` in the object store, condemns at most `at_most` that nothing has named
    /// or declared since `before`, by the database's clock. What is loose and not known to be is
    /// known from now on. With `dry_run` nothing is condemned or remembered.
    async fn mark_for_deletion(
        &self,
        found: &[Stored],
        before: Millis,
        at_most: usize,
        dry_run: bool,
    ) -> Result<DeletionBatch, CatalogError>;

    /// Forgets what was condemned at `at` and is no longer in the object store.
    async fn forget_deleted(&self, removed: &[Stored], at: Millis) -> Result<(), CatalogError>;

    /// Adds a key. Fails when the id or the hash is taken.
    async fn insert_key(&self, key: &KeyRecord, hash: &KeyHash) -> Result<(), CatalogError>;

    /// Every key, revoked ones included, oldest first.
    async fn keys(&self) -> Result<Vec<KeyRecord>, CatalogError>;

    /// The key with this hash, revoked or not.
    async fn key(&self, hash: &KeyHash) -> Result<Option<KeyRecord>, CatalogError>;

    /// Revokes a key. False when there is none or it is revoked already.
    async fn revoke_key(&self, id: &str, at: Millis) -> Result<bool, CatalogError>;

    /// Counts one request of `key_id` in `month` if fewer than `limit` are counted: exact however
    /// many hosts ask at once.
    async fn reserve_request(
        &self,
        key_id: &str,
        month: &str,
        limit: u64,
    ) -> Result<ReserveOutcome, CatalogError>;

    /// Takes one counted request back. Never goes below zero.
    async fn refund_request(&self, key_id: &str, month: &str) -> Result<(), CatalogError>;

    /// Adds requests of plans without a limit, all or none.
    async fn add_usage(&self, counts: &[UsageIncrement]) -> Result<(), CatalogError>;

    /// Requests counted for `key_id` in `month`.
    async fn used_requests(&self, key_id: &str, month: &str) -> Result<u64, CatalogError>;

    /// The secret called `name`, made at first use; the same on every host for ever.
    async fn secret(&self, name: &str) -> Result<[u8; 32], CatalogError>;

    /// Makes a plugin release known, with an event that tells so. One that is known already (same
    /// kind, name and digest) stays as it is, so that hosts may register what they embed at every
    /// start; false then. [`Failure::Swept`] when its component is neither declared by this store
    /// nor named already.
    async fn register_release(&self, release: &PluginRelease) -> Result<bool, CatalogError>;

    /// Moves a release into another state, if it may go there from where it stands, with an event
    /// that tells so. A release that stops being promoted loses its pin. One that was removed needs
    /// its component declared.
    async fn change_release(&self, change: &ReleaseChange) -> Result<ChangeOutcome, CatalogError>;

    /// Does what hosts concluded from what they saw, if the release stands where they saw it and is
    /// not pinned: exactly once, however many hosts conclude it. False: somebody was quicker, or it
    /// no longer holds.
    async fn transition_release(&self, settlement: &StateTransition) -> Result<bool, CatalogError>;

    /// Adds what one host saw of a release that waits; the sum of all hosts.
    async fn add_canary_totals(&self, seen: &CanaryTotals) -> Result<CanaryTotals, CatalogError>;

    /// Every sum of [`Store::add_canary_totals`].
    async fn canary_totals(&self) -> Result<Vec<CanaryTotals>, CatalogError>;

    /// Adds responses of releases, all or none.
    async fn add_release_usage(&self, seen: &[ReleaseUsage]) -> Result<(), CatalogError>;

    /// Every sum of [`Store::add_release_usage`].
    async fn release_usage(&self) -> Result<Vec<ReleaseUsage>, CatalogError>;

    /// Pins a promoted release (`to`: true) in the place of the one that its name has pinned, or
    /// takes its pin away. False when it is not promoted, or stands so already.
    async fn pin_release(
        &self,
        id: &ReleaseId,
        to: bool,
        by: &str,
        at: Millis,
    ) -> Result<bool, CatalogError>;

    /// Every known plugin release, by kind and name, oldest first.
    async fn releases(&self) -> Result<Vec<PluginRelease>, CatalogError>;

    /// Everything that happened to plugin releases, oldest first.
    async fn release_events(&self) -> Result<Vec<ReleaseEvent>, CatalogError>;

    /// Finishes what is under way and closes every connection. The store cannot be used afterwards.
    async fn close(&self);
}
