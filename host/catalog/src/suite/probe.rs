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
    Changed, Committed, Condemned, Declared, Dropped, Failure, KeyHash, KeyRecord, PluginRelease,
    Publication, ReleaseChange, ReleaseEvent, ReleaseId, ReleaseUse, Reserved, Retention,
    Revisions, Settlement, Shelf, Standing, Store, StoreDescription, Trial, UsageCount,
};

pub(super) struct Probe {
    inner: Arc<dyn Store>,
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

impl Probe {
    pub(super) fn on(inner: Arc<dyn Store>) -> Arc<Self> {
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
    pub(super) fn hold(&self) {
        self.gate.forget_permits(Semaphore::MAX_PERMITS);
    }

    pub(super) fn let_go(&self) {
        self.gate.add_permits(1_000);
    }

    pub(super) fn reserving(&self) -> u64 {
        self.reserving.load(Ordering::SeqCst)
    }

    pub(super) fn most_looking(&self) -> u64 {
        self.most_looking.load(Ordering::SeqCst)
    }

    fn asked(&self) -> Result<&dyn Store, Failure> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        self.there()
    }

    fn there(&self) -> Result<&dyn Store, Failure> {
        if self.failing.load(Ordering::SeqCst) {
            let source = sqlx::Error::PoolClosed;
            return Err(Failure::Query {
                location: "(probe)".to_owned(),
                doing: "answer: told to fail",
                source,
            });
        }
        Ok(&*self.inner)
    }
}

#[async_trait]
impl Store for Probe {
    fn describe(&self) -> StoreDescription {
        self.inner.describe()
    }
    async fn ping(&self) -> Result<(), Failure> {
        self.asked()?.ping().await
    }
    async fn check(&self) -> Result<Vec<String>, Failure> {
        self.asked()?.check().await
    }
    async fn revisions(&self) -> Result<Revisions, Failure> {
        self.there()?.revisions().await
    }
    fn moves(&self) -> Option<watch::Receiver<()>> {
        self.inner.moves()
    }
    async fn shelf(&self, known: &Shelf) -> Result<Shelf, Failure> {
        self.asked()?.shelf(known).await
    }
    async fn dataset(&self, name: &DatasetName) -> Result<Option<Dataset>, Failure> {
        self.asked()?.dataset(name).await
    }
    async fn current(&self, dataset: &DatasetName) -> Result<Option<Snapshot>, Failure> {
        self.asked()?.current(dataset).await
    }
    async fn snapshot(&self, dataset: &DatasetName, id: &str) -> Result<Option<Snapshot>, Failure> {
        self.asked()?.snapshot(dataset, id).await
    }
    async fn standing(&self, dataset: &DatasetName, id: &str) -> Result<Standing, Failure> {
        self.asked()?.standing(dataset, id).await
    }
    async fn changes(&self, dataset: &DatasetName) -> Result<Vec<ChangeSet>, Failure> {
        self.asked()?.changes(dataset).await
    }
    async fn commit(
        &self,
        publication: &Publication,
        retention: Retention,
    ) -> Result<Committed, Failure> {
        self.asked()?.commit(publication, retention).await
    }
    async fn retire(&self, dataset: &DatasetName) -> Result<bool, Failure> {
        self.asked()?.retire(dataset).await
    }
    async fn referenced_files(&self) -> Result<Vec<StoredFile>, Failure> {
        self.asked()?.referenced_files().await
    }
    async fn clock(&self) -> Result<Millis, Failure> {
        self.asked()?.clock().await
    }
    async fn retain(&self, retention: Retention, dry_run: bool) -> Result<Vec<Dropped>, Failure> {
        self.asked()?.retain(retention, dry_run).await
    }
    async fn declare(&self, stored: &Stored) -> Result<Declared, Failure> {
        self.asked()?.declare(stored).await
    }
    async fn condemn(
        &self,
        found: &[Stored],
        before: Millis,
        at_most: usize,
        dry_run: bool,
    ) -> Result<Condemned, Failure> {
        self.asked()?.condemn(found, before, at_most, dry_run).await
    }
    async fn forget(&self, removed: &[Stored], at: Millis) -> Result<(), Failure> {
        self.asked()?.forget(removed, at).await
    }
    async fn insert_key(&self, key: &KeyRecord, hash: &KeyHash) -> Result<(), Failure> {
        self.asked()?.insert_key(key, hash).await
    }
    async fn keys(&self) -> Result<Vec<KeyRecord>, Failure> {
        self.asked()?.keys().await
    }
    async fn key(&self, hash: &KeyHash) -> Result<Option<KeyRecord>, Failure> {
        let looking = self.looking.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_looking.fetch_max(looking, Ordering::SeqCst);
        let found = match self.asked() {
            Ok(store) => store.key(hash).await,
            Err(failure) => Err(failure),
        };
        // Long enough that concurrent checks meet.
        tokio::time::sleep(Duration::from_millis(20)).await;
        self.looking.fetch_sub(1, Ordering::SeqCst);
        found
    }
    async fn revoke_key(&self, id: &str, at: Millis) -> Result<bool, Failure> {
        self.asked()?.revoke_key(id, at).await
    }
    async fn reserve(&self, key_id: &str, month: &str, limit: u64) -> Result<Reserved, Failure> {
        self.reserving.fetch_add(1, Ordering::SeqCst);
        let _permit = self.gate.acquire().await;
        self.asked()?.reserve(key_id, month, limit).await
    }
    async fn release(&self, key_id: &str, month: &str) -> Result<(), Failure> {
        self.asked()?.release(key_id, month).await
    }
    async fn add_usage(&self, counts: &[UsageCount]) -> Result<(), Failure> {
        self.asked()?.add_usage(counts).await
    }
    async fn used(&self, key_id: &str, month: &str) -> Result<u64, Failure> {
        self.asked()?.used(key_id, month).await
    }
    async fn secret(&self, name: &str) -> Result<[u8; 32], Failure> {
        self.asked()?.secret(name).await
    }
    async fn register_release(&self, release: &PluginRelease) -> Result<bool, Failure> {
        self.asked()?.register_release(release).await
    }
    async fn change_release(&self, change: &ReleaseChange) -> Result<Changed, Failure> {
        self.asked()?.change_release(change).await
    }
    async fn settle_release(&self, settlement: &Settlement) -> Result<bool, Failure> {
        self.asked()?.settle_release(settlement).await
    }
    async fn add_trial(&self, seen: &Trial) -> Result<Trial, Failure> {
        self.asked()?.add_trial(seen).await
    }
    async fn trials(&self) -> Result<Vec<Trial>, Failure> {
        self.asked()?.trials().await
    }
    async fn add_release_use(&self, seen: &[ReleaseUse]) -> Result<(), Failure> {
        self.asked()?.add_release_use(seen).await
    }
    async fn release_use(&self) -> Result<Vec<ReleaseUse>, Failure> {
        self.asked()?.release_use().await
    }
    async fn pin_release(
        &self,
        id: &ReleaseId,
        to: bool,
        by: &str,
        at: Millis,
    ) -> Result<bool, Failure> {
        self.asked()?.pin_release(id, to, by, at).await
    }
    async fn releases(&self) -> Result<Vec<PluginRelease>, Failure> {
        self.asked()?.releases().await
    }
    async fn release_events(&self) -> Result<Vec<ReleaseEvent>, Failure> {
        self.asked()?.release_events().await
    }
    async fn close(&self) {
        self.inner.close().await;
    }
}
