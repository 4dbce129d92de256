//! The catalogue: which datasets and snapshots there are, who may ask, and what they used. The only
//! crate that speaks SQL. It never touches stored data, plugins, HTTP, the environment or
//! arguments.
//!
//! [`Store`] is what a database must do; [`open`] finds the implementation for an address. Above it
//! stand what a running server uses: [`CatalogCache`] (the catalogue in memory), [`KeyVerifier`] (who a key
//! belongs to) and [`Meter`] (monthly quotas).

pub mod key;

mod catalogue;
mod database;
mod failure;
mod generation;
mod key_ring;
mod live;
mod meter;
mod migrations;
mod model;
mod open;
#[cfg_attr(not(feature = "postgres"), path = "postgres_absent.rs")]
mod postgres;
mod release;
mod reservation;
mod retention;
mod rows;
mod settings;
mod shelf;
mod sql;
mod sqlite;
#[cfg_attr(not(feature = "postgres"), expect(dead_code, reason = "PostgreSQL alone needs it"))]
mod statements;
mod store;
mod tables;
mod words;

#[cfg(test)]
mod suite;

pub use failure::Failure;
pub use key::{IssuedKey, KeyHash};
pub use key_ring::{KeyLookup, KeyVerifier, UncachedKey};
pub use live::{CatalogCache, PollMetrics};
pub use meter::{Meter, Usage};
pub use model::{
    CatalogDescription, CommitOutcome, DELETION_DEADLINE, Declared, DeletionBatch, Dropped,
    KeyRecord, Publication, Reserved, Revisions, SnapshotStatus, UnreferencedObject,
    UsageIncrement,
};
pub use open::{open, sqlite_url};
pub use release::{
    ChangeOutcome, Line, PluginRelease, ReleaseChange, ReleaseEvent, ReleaseId, ReleaseState,
    ReleaseUsage, Settlement, Trial, lines,
};
pub use reservation::{Reservation, UsedUp};
pub use retention::{Retention, monthly_snapshot};
pub use settings::DatabaseSettings;
pub use shelf::DatasetSet;
pub use store::Store;
