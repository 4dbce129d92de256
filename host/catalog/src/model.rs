//! What goes into a store and comes out of it, besides the domain's own types.

use std::time::Duration;

use yearbook_domain::changes::ChangeSet;
use yearbook_domain::{DatasetName, Millis, Namespace, Plan, Snapshot, Stored};

/// A version of a dataset that is to be served.
#[derive(Clone, Debug, PartialEq)]
pub struct Publication {
    /// Which dataset.
    pub name: DatasetName,
    /// Its grouping in bulk paths.
    pub namespace: Namespace,
    /// The version. Its file must be declared ([`crate::Store::declare`]) and stored: from the
    /// commit on it is served. The commit sets `created_at`.
    pub snapshot: Snapshot,
    /// Id of the snapshot that this one was compared with ([`crate::Store::current`]); none: the
    /// dataset had none.
    pub predecessor: Option<String>,
    /// Changes from `predecessor` to `snapshot`, where they are known. The commit sets
    /// `committed_at`.
    pub changes: Option<ChangeSet>,
    /// Time of the commit. None, as everything that publishes says: the database's clock. An
    /// instant is for histories that are made elsewhere, such as those of tests.
    pub at: Option<Millis>,
}

/// What a commit did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommitOutcome {
    /// The snapshot is now the current one.
    New,
    /// It was the current one already; only `checked_at` moved, and the file where it was written
    /// anew.
    Unchanged,
    /// Nothing was written: the current snapshot is no longer the one that this was compared with.
    /// Compare again.
    Conflict,
}

/// What became of a snapshot id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SnapshotStatus {
    /// Kept: it can be read.
    Retained,
    /// Was served once, no longer kept (410).
    Dropped,
    /// Never existed (404).
    Unknown,
}

/// What came of a declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UploadRegistration {
    /// Nothing removes it until it has been loose for as long as `yearbook gc` waits.
    Registered,
    /// A `gc` is removing it at this moment; it may be declared when that is done, or in ten
    /// minutes if that died.
    BeingDeleted,
}

/// Something in the object store that no row of the catalogue names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreferencedObject {
    /// What.
    pub stored: Stored,
    /// Since when, by the database's clock.
    pub since: Millis,
}

/// What [`crate::Store::condemn`] found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeletionBatch {
    /// When, by the database's clock: says whose it is.
    pub at: Millis,
    /// Condemned now, and to be removed from the object store by whoever asked;
    /// [`DELETION_DEADLINE`] says until when.
    pub due: Vec<UnreferencedObject>,
    /// Loose for too short a time, or found for the first time.
    pub later: Vec<UnreferencedObject>,
    /// Condemned by another `gc` a short while ago.
    pub being_removed: usize,
}

/// For how long after it condemned something a `gc` may begin to remove it.
pub const DELETION_DEADLINE: Duration = Duration::from_secs(300);

/// A snapshot that retention dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DroppedSnapshot {
    /// Of which dataset.
    pub dataset: String,
    /// Which.
    pub id: String,
    /// When it was published.
    pub created_at: Millis,
}

/// A key as operators see it. The key itself is nowhere in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRecord {
    /// Public identifier, for listing and revoking.
    pub id: String,
    /// What the operator wrote to remember whose it is.
    pub label: Option<String>,
    /// What it was issued for.
    pub plan: Plan,
    /// When it was issued.
    pub created_at: Millis,
    /// When it was revoked; none: it works.
    pub revoked_at: Option<Millis>,
}

/// Answer to a reservation of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReserveOutcome {
    /// Counted; `used` includes it.
    Granted {
        /// Requests of the month, this one included.
        used: u64,
    },
    /// Not counted: the limit was reached.
    Exhausted {
        /// Requests of the month.
        used: u64,
    },
}

/// Requests to add to a key's month.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageIncrement {
    /// Whose.
    pub key_id: String,
    /// Calendar month in UTC, `2026-11`.
    pub month: String,
    /// How many.
    pub requests: u64,
}

/// How often the catalogue has changed. Numbers grow, and are of use only to be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Revisions {
    /// Changes that a running server must notice: datasets, snapshots, keys and plugin releases,
    /// not usage.
    pub all: i64,
    /// Keys that were revoked or altered: what was known of keys before holds no longer. New keys
    /// do not count.
    pub keys: i64,
}

/// Which database a store is, for people. Holds no credentials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CatalogDescription {
    /// `sqlite` or `postgres`.
    pub kind: &'static str,
    /// Path of the file, or host and database.
    pub location: String,
}
