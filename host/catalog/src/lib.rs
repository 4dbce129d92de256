//! The catalogue: which datasets and snapshots there are, who may ask, and what they used. The only
//! crate that speaks SQL. It never touches stored data, plugins, HTTP, the environment or
//! arguments.
//!
//! [`Store`] is what a database must do; [`open`] finds the implementation for an address. Above it
//! stand what a running server uses: [`CatalogCache`] (the catalogue in memory), [`KeyVerifier`]
//! (who a key belongs to) and [`Meter`] (monthly quotas).

pub mod key;

mod catalog;
mod catalog_cache;
mod database;
mod dataset_set;
mod error;
mod key_verifier;
mod migrations;
mod model;
mod open;
#[cfg_attr(not(feature = "postgres"), path = "postgres_absent.rs")]
mod postgres;
mod queries;
mod quota;
mod release;
mod reservation;
mod retention;
mod revisioned_cache;
mod rows;
mod settings;
mod sql;
mod sql_catalog;
mod sql_enum;
mod sqlite;
#[cfg_attr(not(feature = "postgres"), expect(dead_code, reason = "PostgreSQL alone needs it"))]
mod statements;
mod uploads;

#[cfg(test)]
mod suite;

pub use catalog::Catalog;
pub use catalog_cache::{CatalogCache, PollMetrics};
pub use dataset_set::DatasetSet;
pub use error::CatalogError;
pub use key::{IssuedKey, KeyHash};
pub use key_verifier::{KeyLookup, KeyVerifier, UncachedKey};
pub use model::{
    CatalogDescription, CommitOutcome, DELETION_DEADLINE, DeletionBatch, DroppedSnapshot,
    KeyRecord, Publication, ReserveOutcome, Revisions, SnapshotStatus, UnreferencedObject,
    UploadRegistration, UsageIncrement,
};
pub use open::{open, sqlite_url};
pub use quota::{Quota, QuotaUsage};
pub use release::{
    CanaryTotals, ChangeOutcome, PluginRelease, ReleaseChange, ReleaseEvent, ReleaseId,
    ReleaseState, ReleaseUsage, ServingOrder, StateTransition, lines,
};
pub use reservation::{QuotaExceeded, Reservation};
pub use retention::{Retention, monthly_snapshot};
pub use settings::DatabaseSettings;
pub use uploads::{UploadError, register_upload};
