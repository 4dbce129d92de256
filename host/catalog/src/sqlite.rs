//! The catalogue in an SQLite file. Several processes may share it (`yearbook serve` beside
//! `yearbook publish`): see `sqlite/connect.rs` for what that takes. Each method here is one
//! transaction; what happens inside it is in the files below, grouped by table.

mod changes;
mod check;
mod connect;
mod history;
mod keys;
mod observed;
mod releases;
mod usage;

#[cfg(test)]
mod tests;

use async_trait::async_trait;
use sqlx::Transaction;
use sqlx::pool::PoolConnection;
use sqlx::sqlite::{Sqlite, SqlitePool};
use yearbook_domain::changes::ChangeSet;
use yearbook_domain::{Dataset, DatasetName, Millis, Snapshot, StoredFile};

use crate::{
    Changed, Committed, Failure, KeyHash, KeyRecord, PluginRelease, Publication, ReleaseChange, ReleaseEvent, ReleaseId, ReleaseUse,
    Reserved, Retention, Settlement, Standing, Store, StoreDescription, Trial, UsageCount, statements,
};

/// A store in an SQLite file or in memory.
pub(crate) struct SqliteStore {
    readers: SqlitePool,
    /// One connection: within a process writers queue here, first come first served, and only
    /// processes contend for the file's lock.
    writer: SqlitePool,
    /// Path of the file, for messages.
    location: String,
}

impl SqliteStore {
    async fn read(&self, doing: &'static str) -> Result<Transaction<'static, Sqlite>, Failure> {
        self.told(doing, self.readers.begin().await)
    }

    async fn reader(&self, doing: &'static str) -> Result<PoolConnection<Sqlite>, Failure> {
        self.told(doing, self.readers.acquire().await)
    }

    /// Takes the write lock at once: a transaction that began by reading could not wait for it.
    async fn write(&self, doing: &'static str) -> Result<Transaction<'static, Sqlite>, Failure> {
        self.told(doing, self.writer.begin_with("BEGIN IMMEDIATE").await)
    }

    /// Commits what `outcome` holds; a transaction whose outcome is an error rolls back when dropped.
    async fn done<T>(
        &self,
        doing: &'static str,
        transaction: Transaction<'static, Sqlite>,
        outcome: Result<T, sqlx::Error>,
    ) -> Result<T, Failure> {
        let value = self.told(doing, outcome)?;
        let committed = transaction.commit().await;
        committed.map_err(|source| Failure::Unsettled { location: self.location.clone(), doing, source })?;
        Ok(value)
    }

    fn told<T>(&self, doing: &'static str, outcome: Result<T, sqlx::Error>) -> Result<T, Failure> {
        outcome.map_err(|source| Failure::Query { location: self.location.clone(), doing, source })
    }
}

#[async_trait]
impl Store for SqliteStore {
    fn describe(&self) -> StoreDescription {
        StoreDescription { kind: "sqlite", location: self.location.clone() }
    }

    async fn ping(&self) -> Result<(), Failure> {
        let doing = "answer a ping";
        let mut connection = self.reader(doing).await?;
        self.told(doing, sqlx::query(statements::PING).execute(&mut *connection).await).map(drop)
    }

    async fn check(&self) -> Result<Vec<String>, Failure> {
        let doing = "check itself";
        let mut connection = self.reader(doing).await?;
        self.told(doing, check::problems(&mut connection).await)
    }

    async fn revision(&self) -> Result<i64, Failure> {
        let doing = "read its revision";
        let mut connection = self.reader(doing).await?;
        self.told(doing, sqlx::query_scalar(statements::REVISION).fetch_one(&mut *connection).await)
    }

    async fn datasets(&self) -> Result<Vec<Dataset>, Failure> {
        let doing = "list datasets";
        let mut transaction = self.read(doing).await?;
        let outcome = history::datasets(&mut transaction).await;
        self.done(doing, transaction, outcome).await
    }

    async fn snapshot(&self, dataset: &DatasetName, id: &str) -> Result<Option<Snapshot>, Failure> {
        let doing = "read a snapshot";
        let mut transaction = self.read(doing).await?;
        let outcome = history::snapshot(&mut transaction, dataset, id).await;
        self.done(doing, transaction, outcome).await
    }

    async fn standing(&self, dataset: &DatasetName, id: &str) -> Result<Standing, Failure> {
        let doing = "look a snapshot up";
        let mut transaction = self.read(doing).await?;
        let outcome = history::standing(&mut transaction, dataset, id).await;
        self.done(doing, transaction, outcome).await
    }

    async fn changes(&self, dataset: &DatasetName) -> Result<Vec<ChangeSet>, Failure> {
        let doing = "list changes";
        let mut transaction = self.read(doing).await?;
        let outcome = changes::of(&mut transaction, dataset).await;
        self.done(doing, transaction, outcome).await
    }

    async fn commit(&self, publication: &Publication, retention: Retention) -> Result<Committed, Failure> {
        let doing = "commit a snapshot";
        let mut transaction = self.write(doing).await?;
        let outcome = history::commit(&mut transaction, publication, retention).await;
        self.done(doing, transaction, outcome).await
    }

    async fn retire(&self, dataset: &DatasetName) -> Result<bool, Failure> {
        let doing = "retire a dataset";
        let mut transaction = self.write(doing).await?;
        let outcome = history::retire(&mut transaction, dataset, Millis::now()).await;
        self.done(doing, transaction, outcome).await
    }

    async fn referenced_files(&self) -> Result<Vec<StoredFile>, Failure> {
        let doing = "list the files in use";
        let mut connection = self.reader(doing).await?;
        self.told(doing, history::referenced_files(&mut connection).await)
    }

    async fn insert_key(&self, key: &KeyRecord, hash: &KeyHash) -> Result<(), Failure> {
        let doing = "add a key";
        let mut transaction = self.write(doing).await?;
        let outcome = keys::insert(&mut transaction, key, hash).await;
        self.done(doing, transaction, outcome).await
    }

    async fn keys(&self) -> Result<Vec<KeyRecord>, Failure> {
        let doing = "list keys";
        let mut connection = self.reader(doing).await?;
        self.told(doing, keys::all(&mut connection).await)
    }

    async fn key(&self, hash: &KeyHash) -> Result<Option<KeyRecord>, Failure> {
        let doing = "look a key up";
        let mut connection = self.reader(doing).await?;
        self.told(doing, keys::find(&mut connection, hash).await)
    }

    async fn revoke_key(&self, id: &str, at: Millis) -> Result<bool, Failure> {
        let doing = "revoke a key";
        let mut transaction = self.write(doing).await?;
        let outcome = keys::revoke(&mut transaction, id, at).await;
        self.done(doing, transaction, outcome).await
    }

    async fn reserve(&self, key_id: &str, month: &str, limit: u64) -> Result<Reserved, Failure> {
        let doing = "count a request";
        let mut transaction = self.write(doing).await?;
        let outcome = usage::reserve(&mut transaction, key_id, month, limit).await;
        self.done(doing, transaction, outcome).await
    }

    async fn release(&self, key_id: &str, month: &str) -> Result<(), Failure> {
        let doing = "give a request back";
        let mut transaction = self.write(doing).await?;
        let outcome = usage::release(&mut transaction, key_id, month).await;
        self.done(doing, transaction, outcome).await
    }

    async fn add_usage(&self, counts: &[UsageCount]) -> Result<(), Failure> {
        let doing = "add to usage";
        let mut transaction = self.write(doing).await?;
        let outcome = usage::add(&mut transaction, counts).await;
        self.done(doing, transaction, outcome).await
    }

    async fn used(&self, key_id: &str, month: &str) -> Result<u64, Failure> {
        let doing = "read usage";
        let mut connection = self.reader(doing).await?;
        self.told(doing, usage::used(&mut connection, key_id, month).await)
    }

    async fn secret(&self, name: &str) -> Result<[u8; 32], Failure> {
        let doing = "read a secret";
        let mut fresh = [0_u8; 32];
        getrandom::fill(&mut fresh)?;
        let mut transaction = self.write(doing).await?;
        let outcome = keys::secret(&mut transaction, name, fresh, Millis::now()).await;
        self.done(doing, transaction, outcome).await
    }

    async fn register_release(&self, release: &PluginRelease) -> Result<bool, Failure> {
        let doing = "register a plugin release";
        let mut transaction = self.write(doing).await?;
        let outcome = releases::register(&mut transaction, release).await;
        self.done(doing, transaction, outcome).await
    }

    async fn change_release(&self, change: &ReleaseChange) -> Result<Changed, Failure> {
        let doing = "change a plugin release";
        let mut transaction = self.write(doing).await?;
        let outcome = releases::change(&mut transaction, change).await;
        self.done(doing, transaction, outcome).await
    }

    async fn settle_release(&self, settlement: &Settlement) -> Result<bool, Failure> {
        let doing = "settle a plugin release";
        let mut transaction = self.write(doing).await?;
        let outcome = releases::settle(&mut transaction, settlement).await;
        self.done(doing, transaction, outcome).await
    }

    async fn add_trial(&self, seen: &Trial) -> Result<Trial, Failure> {
        let doing = "add to a trial";
        let mut transaction = self.write(doing).await?;
        let outcome = observed::add_trial(&mut transaction, seen).await;
        self.done(doing, transaction, outcome).await
    }

    async fn trials(&self) -> Result<Vec<Trial>, Failure> {
        let doing = "list trials";
        let mut connection = self.reader(doing).await?;
        self.told(doing, observed::trials(&mut connection).await)
    }

    async fn add_release_use(&self, seen: &[ReleaseUse]) -> Result<(), Failure> {
        let doing = "add to the use of plugins";
        let mut transaction = self.write(doing).await?;
        let outcome = observed::add_use(&mut transaction, seen).await;
        self.done(doing, transaction, outcome).await
    }

    async fn release_use(&self) -> Result<Vec<ReleaseUse>, Failure> {
        let doing = "list the use of plugins";
        let mut connection = self.reader(doing).await?;
        self.told(doing, observed::uses(&mut connection).await)
    }

    async fn pin_release(&self, id: &ReleaseId, to: bool, by: &str, at: Millis) -> Result<bool, Failure> {
        let doing = "pin a plugin release";
        let mut transaction = self.write(doing).await?;
        let outcome = releases::pin(&mut transaction, id, to, by, at).await;
        self.done(doing, transaction, outcome).await
    }

    async fn releases(&self) -> Result<Vec<PluginRelease>, Failure> {
        let doing = "list plugin releases";
        let mut connection = self.reader(doing).await?;
        self.told(doing, releases::all(&mut connection).await)
    }

    async fn release_events(&self) -> Result<Vec<ReleaseEvent>, Failure> {
        let doing = "list what happened to plugins";
        let mut connection = self.reader(doing).await?;
        self.told(doing, releases::events(&mut connection).await)
    }

    async fn close(&self) {
        self.readers.close().await;
        self.writer.close().await;
    }
}
