//! The catalog: datasets and snapshots, keys, usage and plugin releases. The only crate that speaks
//! SQL. It never touches stored data, plugins, HTTP, the environment or arguments.
//!
//! [`Catalog`] is the database; [`open()`] opens the one at an address. Above it is what a running
//! server uses: [`CatalogCache`] (the catalog in memory), [`KeyVerifier`] (the holder of a key) and
//! [`Quota`] (monthly quotas).
//!
//! A future is compiled by each crate that awaits it, with all that it awaits. Where that is much,
//! a function that is not `async` boxes it here (decision 0442).

pub mod clock;
pub mod key;

mod cache;
mod catalog;
mod database;
mod error;
mod migrations;
mod open;
#[cfg_attr(not(feature = "postgres"), path = "postgres_absent.rs")]
mod postgres;
mod queries;
mod quota;
mod retention;
mod settings;
mod sql;
mod sqlite;
mod uploads;

#[cfg(test)]
mod suite;

pub use cache::dataset_set::DatasetSet;
pub use cache::{CatalogCache, ClockReading, PollMetrics};
pub use catalog::Catalog;
pub use database::CatalogDescription;
pub use error::CatalogError;
pub use key::uses::KeyUses;
pub use key::verifier::{Caller, KeyLookup, KeyVerifier, UncachedKey};
pub use key::{IssuedKey, KeyHash};
pub use open::{open, sqlite_url};
pub use queries::Revisions;
pub use queries::accounts::{AccountChange, AccountOutcome, AccountRecord, NewAccountKey};
pub use queries::canary::{CanaryTotals, ReleaseUsage};
pub use queries::citations::{CitedSnapshot, CitedState};
pub use queries::future_times::FutureTimes;
pub use queries::holds::HoldOutcome;
pub use queries::hosts::HostRecord;
pub use queries::keys::{FoundKey, KeyRecord};
pub use queries::known_history::KnownHistory;
pub use queries::log_entries::LOG_SECRET;
pub use queries::mails::QueuedMail;
pub use queries::past_versions::{PastVersion, VersionAt};
pub use queries::publications::{CommitOutcome, DroppedSnapshot, Publication};
pub use queries::release_events::ReleaseEvent;
pub use queries::releases::{ChangeOutcome, ReleaseChange, StateTransition};
pub use queries::signup_links::{
    LINK_LIFETIME_MS, NewSignupLink, QueueOutcome, SignupBounds, SignupHmac,
};
pub use queries::signup_purge::PurgedSignup;
pub use queries::snapshots::SnapshotStatus;
pub use queries::source_checks::{
    CheckSummary, ClaimOutcome, FailedCheck, FailingSource, LastCheck, SourceAnswer, SourceState,
};
pub use queries::unreferenced::{
    DELETION_DEADLINE, DeletionBatch, UnreferencedObject, UploadRegistration,
};
pub use queries::usage::{ReserveOutcome, UsageIncrement};
pub use queries::versions::{ChangeRange, RetainedVersion};
pub use queries::waiting::{ChangeOfWaiting, WaitingRelease, is_near};
pub use queries::waiting_commits::{NewRelease, ReleaseOutcome};
pub use queries::waiting_datasets::FutureDataset;
pub use queries::webhooks::{
    AfterFailure, DueWebhook, NewWebhook, WEBHOOKS_OF_AN_ACCOUNT, WebhookFacts, WebhookRecord,
};
pub use quota::reservation::{QuotaExceeded, QuotaReservation, ReserveError};
pub use quota::{Quota, QuotaUsage};
pub use retention::{Retention, monthly_snapshot};
pub use settings::DatabaseSettings;
pub use uploads::{UploadError, register_upload};
pub use yearbook_domain::release::{
    PluginRelease, ReleaseId, ReleaseOrigin, ReleaseState, ServingOrder, lines,
};
