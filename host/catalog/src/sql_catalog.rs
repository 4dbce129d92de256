//! The catalogue in a database. Each method is one transaction; what happens inside it is in
//! `tables`, how one begins and ends in `database`. Has no line for a particular database.

mod garbage_collection;

use async_trait::async_trait;
use tokio::sync::watch;
use yearbook_domain::changes::ChangeSet;
use yearbook_domain::{Dataset, DatasetName, Millis, Snapshot, Stored, StoredFile};

use crate::database::{self, Database, DatabaseSession, TransactionMode};
use crate::error::DeletedConcurrently;
use crate::queries::{changes, keys, release_metrics, releases, snapshots, unreferenced, usage};
use crate::{
    CanaryTotals, Catalog, CatalogDescription, CatalogError, ChangeOutcome, CommitOutcome,
    DatasetSet, DeletionBatch, DroppedSnapshot, KeyHash, KeyRecord, PluginRelease, Publication,
    ReleaseChange, ReleaseEvent, ReleaseId, ReleaseUsage, ReserveOutcome, Retention, Revisions,
    SnapshotStatus, StateTransition, UploadRegistration, UsageIncrement, statements,
};

/// A store in some database.
pub(crate) struct SqlCatalog {
    database: Database,
    /// Names this process's declarations.
    declarer: String,
}

impl SqlCatalog {
    /// The catalogue in `database`, whose tables are up to date.
    pub(crate) fn new(database: impl Into<Database>) -> Self {
        // Without random numbers no two processes of a machine have the same name, and nothing else
        // of the catalogue works.
        let random = getrandom::u64().unwrap_or_default();
        Self {
            database: database.into(),
            declarer: format!("{}-{random:016x}", std::process::id()),
        }
    }

    async fn begin(
        &self,
        doing: &'static str,
        begin: TransactionMode,
    ) -> Result<DatabaseSession, CatalogError> {
        self.database.begin(begin).await.map_err(|source| self.failed(doing, source))
    }

    /// Commits what `outcome` holds; a transaction whose outcome is an error is rolled back.
    async fn finish_transaction<T>(
        &self,
        doing: &'static str,
        session: DatabaseSession,
        outcome: Result<T, sqlx::Error>,
    ) -> Result<T, CatalogError> {
        match outcome {
            Ok(value) => {
                let unsettled = |source| CatalogError::CommitUnknown {
                    location: self.describe().location,
                    doing,
                    source,
                };
                session.commit().await.map_err(unsettled).map(|()| value)
            }
            Err(source) => {
                session.abandon(&source).await;
                Err(self.failed(doing, source))
            }
        }
    }

    fn failed(&self, doing: &'static str, source: sqlx::Error) -> CatalogError {
        if let sqlx::Error::Decode(inner) = &source
            && let Some(DeletedConcurrently(stored)) = inner.downcast_ref()
        {
            return CatalogError::DeletedConcurrently(stored.clone());
        }
        CatalogError::Query { location: self.describe().location, doing, source }
    }
}

#[async_trait]
impl Catalog for SqlCatalog {
    fn describe(&self) -> CatalogDescription {
        self.database.describe()
    }

    async fn ping(&self) -> Result<(), CatalogError> {
        let doing = "answer a ping";
        let mut session = self.begin(doing, TransactionMode::Probe).await?;
        let outcome = session.connection().query(statements::PING).execute().await.map(drop);
        self.finish_transaction(doing, session, outcome).await
    }

    async fn check_integrity(&self) -> Result<Vec<String>, CatalogError> {
        let doing = "check itself";
        let mut session = self.begin(doing, TransactionMode::SingleRead).await?;
        let outcome = database::problems(&mut session.connection()).await;
        self.finish_transaction(doing, session, outcome).await
    }

    async fn database_time(&self) -> Result<Millis, CatalogError> {
        let doing = "tell the time";
        let mut session = self.begin(doing, TransactionMode::SingleRead).await?;
        let outcome = unreferenced::database_time(&mut session.connection()).await;
        self.finish_transaction(doing, session, outcome).await
    }

    async fn revisions(&self) -> Result<Revisions, CatalogError> {
        let doing = "read its revision";
        let mut session = self.begin(doing, TransactionMode::Probe).await?;
        let outcome = session
            .connection()
            .query(statements::REVISION)
            .fetch_one()
            .await
            .map(|(all, keys)| Revisions { all, keys });
        self.finish_transaction(doing, session, outcome).await
    }

    fn change_notifications(&self) -> Option<watch::Receiver<()>> {
        self.database.change_notifications()
    }

    async fn dataset_set(&self, known: &DatasetSet) -> Result<DatasetSet, CatalogError> {
        let doing = "list datasets";
        let mut session = self.begin(doing, TransactionMode::Read).await?;
        let outcome = snapshots::dataset_set(&mut session.connection(), known).await;
        self.finish_transaction(doing, session, outcome).await
    }

    async fn dataset(&self, name: &DatasetName) -> Result<Option<Dataset>, CatalogError> {
        let doing = "look a dataset up";
        let mut session = self.begin(doing, TransactionMode::Read).await?;
        let outcome = snapshots::dataset(&mut session.connection(), name).await;
        self.finish_transaction(doing, session, outcome).await
    }

    async fn current_snapshot(
        &self,
        dataset: &DatasetName,
    ) -> Result<Option<Snapshot>, CatalogError> {
        let doing = "read the current snapshot";
        let mut session = self.begin(doing, TransactionMode::Read).await?;
        let outcome = snapshots::current(&mut session.connection(), dataset).await;
        self.finish_transaction(doing, session, outcome).await
    }

    async fn snapshot(
        &self,
        dataset: &DatasetName,
        id: &str,
    ) -> Result<Option<Snapshot>, CatalogError> {
        let doing = "read a snapshot";
        let mut session = self.begin(doing, TransactionMode::Read).await?;
        let outcome = snapshots::snapshot(&mut session.connection(), dataset, id).await;
        self.finish_transaction(doing, session, outcome).await
    }

    async fn snapshot_status(
        &self,
        dataset: &DatasetName,
        id: &str,
    ) -> Result<SnapshotStatus, CatalogError> {
        let doing = "look a snapshot up";
        let mut session = self.begin(doing, TransactionMode::Read).await?;
        let outcome = snapshots::snapshot_status(&mut session.connection(), dataset, id).await;
        self.finish_transaction(doing, session, outcome).await
    }

    async fn changes(&self, dataset: &DatasetName) -> Result<Vec<ChangeSet>, CatalogError> {
        let doing = "list changes";
        let mut session = self.begin(doing, TransactionMode::Read).await?;
        let outcome = changes::changes_to_current(&mut session.connection(), dataset).await;
        self.finish_transaction(doing, session, outcome).await
    }

    async fn commit_snapshot(
        &self,
        publication: &Publication,
        retention: Retention,
    ) -> Result<CommitOutcome, CatalogError> {
        let doing = "commit a snapshot";
        let mut session = self.begin(doing, TransactionMode::Write).await?;
        let outcome =
            snapshots::commit(&mut session.connection(), publication, retention, &self.declarer)
                .await;
        match outcome {
            Ok(CommitOutcome::Conflict) => {
                self.roll_back_transaction(doing, session, outcome).await
            }
            outcome => self.finish_transaction(doing, session, outcome).await,
        }
    }

    async fn retire_dataset(&self, dataset: &DatasetName) -> Result<bool, CatalogError> {
        let doing = "retire a dataset";
        let mut session = self.begin(doing, TransactionMode::Write).await?;
        let outcome = snapshots::retire(&mut session.connection(), dataset).await;
        self.finish_transaction(doing, session, outcome).await
    }

    async fn referenced_files(&self) -> Result<Vec<StoredFile>, CatalogError> {
        let doing = "list the files in use";
        let mut session = self.begin(doing, TransactionMode::SingleRead).await?;
        let outcome = snapshots::referenced_files(&mut session.connection()).await;
        self.finish_transaction(doing, session, outcome).await
    }

    async fn apply_retention(
        &self,
        retention: Retention,
        dry_run: bool,
    ) -> Result<Vec<DroppedSnapshot>, CatalogError> {
        self.delete_expired_snapshots(retention, dry_run).await
    }

    async fn register_upload(&self, stored: &Stored) -> Result<UploadRegistration, CatalogError> {
        let doing = "declare a file";
        let mut session = self.begin(doing, TransactionMode::Write).await?;
        let outcome =
            unreferenced::register_upload(&mut session.connection(), stored, &self.declarer).await;
        self.finish_transaction(doing, session, outcome).await
    }

    async fn mark_for_deletion(
        &self,
        found: &[Stored],
        before: Millis,
        at_most: usize,
        dry_run: bool,
    ) -> Result<DeletionBatch, CatalogError> {
        self.mark_unreferenced_for_deletion(found, before, at_most, dry_run).await
    }

    async fn forget_deleted(&self, removed: &[Stored], at: Millis) -> Result<(), CatalogError> {
        let doing = "forget removed files";
        let mut session = self.begin(doing, TransactionMode::Write).await?;
        let outcome = unreferenced::forget_deleted(&mut session.connection(), removed, at).await;
        self.finish_transaction(doing, session, outcome).await
    }

    async fn insert_key(&self, key: &KeyRecord, hash: &KeyHash) -> Result<(), CatalogError> {
        let doing = "add a key";
        let mut session = self.begin(doing, TransactionMode::Write).await?;
        let outcome = keys::insert(&mut session.connection(), key, hash).await;
        self.finish_transaction(doing, session, outcome).await
    }

    async fn keys(&self) -> Result<Vec<KeyRecord>, CatalogError> {
        let doing = "list keys";
        let mut session = self.begin(doing, TransactionMode::SingleRead).await?;
        let outcome = keys::all(&mut session.connection()).await;
        self.finish_transaction(doing, session, outcome).await
    }

    async fn key(&self, hash: &KeyHash) -> Result<Option<KeyRecord>, CatalogError> {
        let doing = "look a key up";
        let mut session = self.begin(doing, TransactionMode::SingleRead).await?;
        let outcome = keys::find(&mut session.connection(), hash).await;
        self.finish_transaction(doing, session, outcome).await
    }

    async fn revoke_key(&self, id: &str, at: Millis) -> Result<bool, CatalogError> {
        let doing = "revoke a key";
        let mut session = self.begin(doing, TransactionMode::Write).await?;
        let outcome = keys::revoke(&mut session.connection(), id, at).await;
        self.finish_transaction(doing, session, outcome).await
    }

    async fn reserve_request(
        &self,
        key_id: &str,
        month: &str,
        limit: u64,
    ) -> Result<ReserveOutcome, CatalogError> {
        let doing = "count a request";
        let mut session = self.begin(doing, TransactionMode::Write).await?;
        let outcome = usage::reserve(&mut session.connection(), key_id, month, limit).await;
        self.finish_transaction(doing, session, outcome).await
    }

    async fn refund_request(&self, key_id: &str, month: &str) -> Result<(), CatalogError> {
        let doing = "give a request back";
        let mut session = self.begin(doing, TransactionMode::Write).await?;
        let outcome = usage::release(&mut session.connection(), key_id, month).await;
        self.finish_transaction(doing, session, outcome).await
    }

    async fn add_usage(&self, counts: &[UsageIncrement]) -> Result<(), CatalogError> {
        let doing = "add to usage";
        let mut session = self.begin(doing, TransactionMode::Write).await?;
        let outcome = usage::add(&mut session.connection(), counts).await;
        self.finish_transaction(doing, session, outcome).await
    }

    async fn used_requests(&self, key_id: &str, month: &str) -> Result<u64, CatalogError> {
        let doing = "read usage";
        let mut session = self.begin(doing, TransactionMode::SingleRead).await?;
        let outcome = usage::used(&mut session.connection(), key_id, month).await;
        self.finish_transaction(doing, session, outcome).await
    }

    async fn secret(&self, name: &str) -> Result<[u8; 32], CatalogError> {
        let doing = "read a secret";
        let mut fresh = [0_u8; 32];
        getrandom::fill(&mut fresh)?;
        let mut session = self.begin(doing, TransactionMode::Write).await?;
        let outcome = keys::secret(&mut session.connection(), name, fresh, Millis::now()).await;
        self.finish_transaction(doing, session, outcome).await
    }

    async fn register_release(&self, release: &PluginRelease) -> Result<bool, CatalogError> {
        let doing = "register a plugin release";
        let mut session = self.begin(doing, TransactionMode::WriteReleases).await?;
        let outcome = releases::register(&mut session.connection(), release, &self.declarer).await;
        self.finish_transaction(doing, session, outcome).await
    }

    async fn change_release(&self, change: &ReleaseChange) -> Result<ChangeOutcome, CatalogError> {
        let doing = "change a plugin release";
        let mut session = self.begin(doing, TransactionMode::WriteReleases).await?;
        let outcome = releases::change(&mut session.connection(), change, &self.declarer).await;
        self.finish_transaction(doing, session, outcome).await
    }

    async fn transition_release(&self, settlement: &StateTransition) -> Result<bool, CatalogError> {
        let doing = "settle a plugin release";
        let mut session = self.begin(doing, TransactionMode::WriteReleases).await?;
        let outcome = releases::transition(&mut session.connection(), settlement).await;
        self.finish_transaction(doing, session, outcome).await
    }

    async fn add_canary_totals(&self, seen: &CanaryTotals) -> Result<CanaryTotals, CatalogError> {
        let doing = "add to a trial";
        let mut session = self.begin(doing, TransactionMode::Write).await?;
        let outcome = release_metrics::add_canary_totals(&mut session.connection(), seen).await;
        self.finish_transaction(doing, session, outcome).await
    }

    async fn canary_totals(&self) -> Result<Vec<CanaryTotals>, CatalogError> {
        let doing = "list trials";
        let mut session = self.begin(doing, TransactionMode::SingleRead).await?;
        let outcome = release_metrics::canary_totals(&mut session.connection()).await;
        self.finish_transaction(doing, session, outcome).await
    }

    async fn add_release_usage(&self, seen: &[ReleaseUsage]) -> Result<(), CatalogError> {
        let doing = "add to the use of plugins";
        let mut session = self.begin(doing, TransactionMode::Write).await?;
        let outcome = release_metrics::add_release_usage(&mut session.connection(), seen).await;
        self.finish_transaction(doing, session, outcome).await
    }

    async fn release_usage(&self) -> Result<Vec<ReleaseUsage>, CatalogError> {
        let doing = "list the use of plugins";
        let mut session = self.begin(doing, TransactionMode::SingleRead).await?;
        let outcome = release_metrics::release_usage(&mut session.connection()).await;
        self.finish_transaction(doing, session, outcome).await
    }

    async fn pin_release(
        &self,
        id: &ReleaseId,
        to: bool,
        by: &str,
        at: Millis,
    ) -> Result<bool, CatalogError> {
        let doing = "pin a plugin release";
        let mut session = self.begin(doing, TransactionMode::WriteReleases).await?;
        let outcome = releases::pin(&mut session.connection(), id, to, by, at).await;
        self.finish_transaction(doing, session, outcome).await
    }

    async fn releases(&self) -> Result<Vec<PluginRelease>, CatalogError> {
        let doing = "list plugin releases";
        let mut session = self.begin(doing, TransactionMode::SingleRead).await?;
        let outcome = releases::all(&mut session.connection()).await;
        self.finish_transaction(doing, session, outcome).await
    }

    async fn release_events(&self) -> Result<Vec<ReleaseEvent>, CatalogError> {
        let doing = "list what happened to plugins";
        let mut session = self.begin(doing, TransactionMode::SingleRead).await?;
        let outcome = releases::events(&mut session.connection()).await;
        self.finish_transaction(doing, session, outcome).await
    }

    async fn close(&self) {
        self.database.close().await;
    }
}
