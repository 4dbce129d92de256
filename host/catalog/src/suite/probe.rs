//! A store that counts what it is asked, fails on demand and can be held up: what tests put between
//! a store and what stands on it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::{Semaphore, watch};
use yearbook_domain::changes::ChangeSet;
use yearbook_domain::{Dataset, DatasetName, Millis, Snapshot, Stored, StoredFile};

use crate::{
    CanaryTotals, Catalog, CatalogDescription, CatalogError, ChangeOutcome, CommitOutcome,
    DatasetSet, DeletionBatch, DroppedSnapshot, KeyHash, KeyRecord, PluginRelease, Publication,
    ReleaseChange, ReleaseEvent, ReleaseId, ReleaseUsage, ReserveOutcome, Retention, Revisions,
    SnapshotStatus, StateTransition, UploadRegistration, UsageIncrement,
};

pub(super) struct FaultyCatalog {
    inner: Arc<dyn Catalog>,
    /// Questions other than for the revision.
    calls: AtomicU64,
    failing: AtomicBool,
    /// Calls of `reserve` that have reached the store.
    reserving: AtomicU64,
    /// `reserve` needs one of these.
    gate: Semaphore,
    /// Calls of `key` under way, and the most that were at once.
    looking: AtomicU64,
    most_looking: AtomicU64,
}

impl FaultyCatalog {
    pub(super) fn wrap(inner: Arc<dyn Catalog>) -> Arc<Self> {
        Arc::new(Self {
            inner,
            calls: AtomicU64::new(0),
            failing: AtomicBool::new(false),
            reserving: AtomicU64::new(0),
            gate: Semaphore::new(Semaphore::MAX_PERMITS),
            looking: AtomicU64::new(0),
            most_looking: AtomicU64::new(0),
        })
    }

    pub(super) fn calls(&self) -> u64 {
        self.calls.load(Ordering::SeqCst)
    }

    pub(super) fn fail(&self, failing: bool) {
        self.failing.store(failing, Ordering::SeqCst);
    }

    /// Holds up every `reserve` from now on.
    pub(super) fn block_reservations(&self) {
        self.gate.forget_permits(Semaphore::MAX_PERMITS);
    }

    pub(super) fn unblock_reservations(&self) {
        self.gate.add_permits(1_000);
    }

    pub(super) fn pending_reservations(&self) -> u64 {
        self.reserving.load(Ordering::SeqCst)
    }

    pub(super) fn max_concurrent_lookups(&self) -> u64 {
        self.most_looking.load(Ordering::SeqCst)
    }

    fn count_call(&self) -> Result<&dyn Catalog, CatalogError> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        self.fail_if_told()
    }

    fn fail_if_told(&self) -> Result<&dyn Catalog, CatalogError> {
        if self.failing.load(Ordering::SeqCst) {
            let source = sqlx::Error::PoolClosed;
            return Err(CatalogError::Query {
                location: "(probe)".to_owned(),
                doing: "answer: told to fail",
                source,
            });
        }
        Ok(&*self.inner)
    }
}

#[async_trait]
impl Catalog for FaultyCatalog {
    fn describe(&self) -> CatalogDescription {
        self.inner.describe()
    }
    async fn ping(&self) -> Result<(), CatalogError> {
        self.count_call()?.ping().await
    }
    async fn check_integrity(&self) -> Result<Vec<String>, CatalogError> {
        self.count_call()?.check_integrity().await
    }
    async fn revisions(&self) -> Result<Revisions, CatalogError> {
        self.fail_if_told()?.revisions().await
    }
    fn change_notifications(&self) -> Option<watch::Receiver<()>> {
        self.inner.change_notifications()
    }
    async fn dataset_set(&self, known: &DatasetSet) -> Result<DatasetSet, CatalogError> {
        self.count_call()?.dataset_set(known).await
    }
    async fn dataset(&self, name: &DatasetName) -> Result<Option<Dataset>, CatalogError> {
        self.count_call()?.dataset(name).await
    }
    async fn current_snapshot(
        &self,
        dataset: &DatasetName,
    ) -> Result<Option<Snapshot>, CatalogError> {
        self.count_call()?.current_snapshot(dataset).await
    }
    async fn snapshot(
        &self,
        dataset: &DatasetName,
        id: &str,
    ) -> Result<Option<Snapshot>, CatalogError> {
        self.count_call()?.snapshot(dataset, id).await
    }
    async fn snapshot_status(
        &self,
        dataset: &DatasetName,
        id: &str,
    ) -> Result<SnapshotStatus, CatalogError> {
        self.count_call()?.snapshot_status(dataset, id).await
    }
    async fn changes(&self, dataset: &DatasetName) -> Result<Vec<ChangeSet>, CatalogError> {
        self.count_call()?.changes(dataset).await
    }
    async fn commit_snapshot(
        &self,
        publication: &Publication,
        retention: Retention,
    ) -> Result<CommitOutcome, CatalogError> {
        self.count_call()?.commit_snapshot(publication, retention).await
    }
    async fn retire_dataset(&self, dataset: &DatasetName) -> Result<bool, CatalogError> {
        self.count_call()?.retire_dataset(dataset).await
    }
    async fn referenced_files(&self) -> Result<Vec<StoredFile>, CatalogError> {
        self.count_call()?.referenced_files().await
    }
    async fn database_time(&self) -> Result<Millis, CatalogError> {
        self.count_call()?.database_time().await
    }
    async fn apply_retention(
        &self,
        retention: Retention,
        dry_run: bool,
    ) -> Result<Vec<DroppedSnapshot>, CatalogError> {
        self.count_call()?.apply_retention(retention, dry_run).await
    }
    async fn register_upload(&self, stored: &Stored) -> Result<UploadRegistration, CatalogError> {
        self.count_call()?.register_upload(stored).await
    }
    async fn mark_for_deletion(
        &self,
        found: &[Stored],
        before: Millis,
        at_most: usize,
        dry_run: bool,
    ) -> Result<DeletionBatch, CatalogError> {
        self.count_call()?.mark_for_deletion(found, before, at_most, dry_run).await
    }
    async fn forget_deleted(&self, removed: &[Stored], at: Millis) -> Result<(), CatalogError> {
        self.count_call()?.forget_deleted(removed, at).await
    }
    async fn insert_key(&self, key: &KeyRecord, hash: &KeyHash) -> Result<(), CatalogError> {
        self.count_call()?.insert_key(key, hash).await
    }
    async fn keys(&self) -> Result<Vec<KeyRecord>, CatalogError> {
        self.count_call()?.keys().await
    }
    async fn key(&self, hash: &KeyHash) -> Result<Option<KeyRecord>, CatalogError> {
        let looking = self.looking.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_looking.fetch_max(looking, Ordering::SeqCst);
        let found = match self.count_call() {
            Ok(store) => store.key(hash).await,
            Err(failure) => Err(failure),
        };
        // Long enough that concurrent checks meet.
        tokio::time::sleep(Duration::from_millis(20)).await;
        self.looking.fetch_sub(1, Ordering::SeqCst);
        found
    }
    async fn revoke_key(&self, id: &str, at: Millis) -> Result<bool, CatalogError> {
        self.count_call()?.revoke_key(id, at).await
    }
    async fn reserve_request(
        &self,
        key_id: &str,
        month: &str,
        limit: u64,
    ) -> Result<ReserveOutcome, CatalogError> {
        self.reserving.fetch_add(1, Ordering::SeqCst);
        let _permit = self.gate.acquire().await;
        self.count_call()?.reserve_request(key_id, month, limit).await
    }
    async fn refund_request(&self, key_id: &str, month: &str) -> Result<(), CatalogError> {
        self.count_call()?.refund_request(key_id, month).await
    }
    async fn add_usage(&self, counts: &[UsageIncrement]) -> Result<(), CatalogError> {
        self.count_call()?.add_usage(counts).await
    }
    async fn used_requests(&self, key_id: &str, month: &str) -> Result<u64, CatalogError> {
        self.count_call()?.used_requests(key_id, month).await
    }
    async fn secret(&self, name: &str) -> Result<[u8; 32], CatalogError> {
        self.count_call()?.secret(name).await
    }
    async fn register_release(&self, release: &PluginRelease) -> Result<bool, CatalogError> {
        self.count_call()?.register_release(release).await
    }
    async fn change_release(&self, change: &ReleaseChange) -> Result<ChangeOutcome, CatalogError> {
        self.count_call()?.change_release(change).await
    }
    async fn transition_release(&self, settlement: &StateTransition) -> Result<bool, CatalogError> {
        self.count_call()?.transition_release(settlement).await
    }
    async fn add_canary_totals(&self, seen: &CanaryTotals) -> Result<CanaryTotals, CatalogError> {
        self.count_call()?.add_canary_totals(seen).await
    }
    async fn canary_totals(&self) -> Result<Vec<CanaryTotals>, CatalogError> {
        self.count_call()?.canary_totals().await
    }
    async fn add_release_usage(&self, seen: &[ReleaseUsage]) -> Result<(), CatalogError> {
        self.count_call()?.add_release_usage(seen).await
    }
    async fn release_usage(&self) -> Result<Vec<ReleaseUsage>, CatalogError> {
        self.count_call()?.release_usage().await
    }
    async fn pin_release(
        &self,
        id: &ReleaseId,
        to: bool,
        by: &str,
        at: Millis,
    ) -> Result<bool, CatalogError> {
        self.count_call()?.pin_release(id, to, by, at).await
    }
    async fn releases(&self) -> Result<Vec<PluginRelease>, CatalogError> {
        self.count_call()?.releases().await
    }
    async fn release_events(&self) -> Result<Vec<ReleaseEvent>, CatalogError> {
        self.count_call()?.release_events().await
    }
    async fn close(&self) {
        self.inner.close().await;
    }
}
