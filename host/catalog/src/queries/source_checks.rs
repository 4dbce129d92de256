//! Checks of sources by `yearbook refresh` (contract-8-last-check): the lease of the host that
//! asks, the end of the last check, and the validators of the answer that is published. Never asks
//! a source.

mod state;
mod summary;

use std::time::Duration;

use yearbook_domain::{CheckOutcome, DatasetName, FailureCause, Millis, SnapshotId};

pub use self::state::{LastCheck, SourceAnswer, SourceState};
pub use self::summary::{CheckSummary, FailingSource};

use self::state::state;
use self::summary::summary;
use super::{bump_revision, database_time, snapshots};
use crate::catalog::transaction;
use crate::sql::Connection;
use crate::{Catalog, CatalogError};

/// Locks the row of a source, making it where there is none.
const LOCK_SOURCE: &str = "
    INSERT INTO source_checks (dataset) VALUES ($1)
    ON CONFLICT (dataset) DO UPDATE SET dataset = excluded.dataset";

const CLAIM: &str = "UPDATE source_checks SET claimed_until = $2 WHERE dataset = $1";

const RELEASE: &str = "UPDATE source_checks SET claimed_until = NULL WHERE dataset = $1";

const END_CHECK: &str = "
    INSERT INTO source_checks (dataset, ended_at, outcome, cause, reason) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (dataset) DO UPDATE SET claimed_until = NULL, ended_at = excluded.ended_at, outcome = excluded.outcome,
        cause = excluded.cause, reason = excluded.reason";

const SET_ANSWER: &str = "
    UPDATE source_checks SET address = $2, fetched_at = $3, etag = $4, last_modified = $5, content = $6, descriptor = $7,
        snapshot = $8
    WHERE dataset = $1";

/// Locks the dataset's row, as every writer of its history does.
const LOCK_SERVED: &str =
    "UPDATE datasets SET checked_at = checked_at WHERE name = $1 AND retired_at IS NULL";

/// Never turns the time back, unless a clock that was ahead wrote it: from beyond `$3`.
const SET_CHECKED_AT: &str = "
    UPDATE datasets SET checked_at = $2 WHERE name = $1 AND (checked_at < $2 OR checked_at > $3)";

/// Result of asking for the right to ask a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClaimOutcome {
    /// The source is the caller's until it ends the check or the lease runs out.
    Claimed(Box<SourceState>),
    /// Another refresh asks it, until this time at most.
    Held(Millis),
}

/// A failed check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedCheck {
    /// Kind of failure.
    pub cause: FailureCause,
    /// Sentence for operators.
    pub reason: String,
}

impl Catalog {
    /// Reads what is known of a dataset's source.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer or holds a value of a newer
    /// version.
    pub async fn source_state(&self, dataset: &DatasetName) -> Result<SourceState, CatalogError> {
        transaction!(self, "look a source up", Read, |connection| state(connection, dataset))
    }

    /// Takes the right to ask a source for `lease`; with `even_if_held`, from the host that has it.
    /// A lease that ends later than one that begins now was taken by a clock that was ahead, and
    /// has ended. `at` is the present where it is not that of the database.
    ///
    /// # Errors
    /// As [`Catalog::source_state`].
    pub async fn claim_source(
        &self,
        dataset: &DatasetName,
        lease: Duration,
        even_if_held: bool,
        at: Option<Millis>,
    ) -> Result<ClaimOutcome, CatalogError> {
        transaction!(self, "claim a source", Write, |connection| async {
            connection.query(LOCK_SOURCE).bind(dataset.as_str()).execute().await?;
            let known = state(connection, dataset).await?;
            let now = at.unwrap_or(known.now);
            let until = now.0.saturating_add(i64::try_from(lease.as_millis()).unwrap_or(i64::MAX));
            let held = known.claimed_until.filter(|held| *held > now && held.0 <= until);
            if let Some(held) = held.filter(|_| !even_if_held) {
                return Ok(ClaimOutcome::Held(held));
            }
            connection.query(CLAIM).bind(dataset.as_str()).bind(until).execute().await?;
            Ok(ClaimOutcome::Claimed(Box::new(known)))
        })
    }

    /// Gives the right to ask a source back without having asked.
    ///
    /// # Errors
    /// As [`Catalog::source_state`].
    pub async fn release_source(&self, dataset: &DatasetName) -> Result<(), CatalogError> {
        transaction!(self, "release a source", Write, |connection| async {
            connection.query(RELEASE).bind(dataset.as_str()).execute().await.map(drop)
        })
    }

    /// Records a check that found `snapshot` to be what the source says, and `answer`, where it
    /// came over HTTP. Moves `checked_at` (contract-8-checked) and returns true where `snapshot` is
    /// current and the dataset is served; else it only ends the check, for another publisher was
    /// faster.
    ///
    /// # Errors
    /// As [`Catalog::source_state`].
    pub async fn record_good_check(
        &self,
        dataset: &DatasetName,
        outcome: CheckOutcome,
        snapshot: &SnapshotId,
        answer: Option<&SourceAnswer>,
        at: Option<Millis>,
    ) -> Result<bool, CatalogError> {
        transaction!(self, "record a check", Write, |connection| {
            record_good(connection, dataset, outcome, snapshot, answer, at)
        })
    }

    /// Records a check that failed. `checked_at` stays.
    ///
    /// # Errors
    /// As [`Catalog::source_state`].
    pub async fn record_failed_check(
        &self,
        dataset: &DatasetName,
        failure: &FailedCheck,
        at: Option<Millis>,
    ) -> Result<(), CatalogError> {
        transaction!(self, "record a failed check", Write, |connection| async {
            let at = present(connection, at).await?;
            end_check(connection, dataset, CheckOutcome::Failed, Some(failure), at).await?;
            bump_revision(connection).await
        })
    }

    /// Reads the last checks of all sources but those of retired datasets.
    ///
    /// # Errors
    /// As [`Catalog::source_state`].
    pub async fn check_summary(&self) -> Result<CheckSummary, CatalogError> {
        transaction!(self, "count checks of sources", Read, |connection| summary(connection))
    }
}

async fn record_good(
    connection: &mut Connection<'_>,
    dataset: &DatasetName,
    outcome: CheckOutcome,
    snapshot: &SnapshotId,
    answer: Option<&SourceAnswer>,
    at: Option<Millis>,
) -> Result<bool, sqlx::Error> {
    // From here on nobody commits a snapshot of the dataset, nor retires it.
    let served = connection.query(LOCK_SERVED).bind(dataset.as_str()).execute().await? > 0;
    let current = snapshots::current_row(connection, dataset).await?;
    let stated = at.is_some();
    let at = present(connection, at).await?;
    let holds = served && current.is_some_and(|current| current.id == *snapshot);
    if holds {
        move_checked_at(connection, dataset, at, stated).await?;
    }
    end_check(connection, dataset, outcome, None, at).await?;
    let answer = answer.filter(|_| holds);
    connection
        .query(SET_ANSWER)
        .bind(dataset.as_str())
        .bind(answer.map(|answer| answer.address.clone()))
        .bind(answer.map(|answer| answer.fetched_at.0))
        .bind(answer.and_then(|answer| answer.etag.clone()))
        .bind(answer.and_then(|answer| answer.last_modified.clone()))
        .bind(answer.map(|answer| answer.content.as_str().to_owned()))
        .bind(answer.map(|answer| answer.descriptor.as_str().to_owned()))
        .bind(answer.map(|answer| answer.snapshot.as_str().to_owned()))
        .execute()
        .await?;
    bump_revision(connection).await?;
    Ok(holds)
}

async fn end_check(
    connection: &mut Connection<'_>,
    dataset: &DatasetName,
    outcome: CheckOutcome,
    failure: Option<&FailedCheck>,
    at: Millis,
) -> Result<(), sqlx::Error> {
    connection
        .query(END_CHECK)
        .bind(dataset.as_str())
        .bind(at.0)
        .bind(outcome.as_str())
        .bind(failure.map(|failure| failure.cause.as_str()))
        .bind(failure.map(|failure| failure.reason.clone()))
        .execute()
        .await
        .map(drop)
}

async fn present(
    connection: &mut Connection<'_>,
    at: Option<Millis>,
) -> Result<Millis, sqlx::Error> {
    match at {
        Some(at) => Ok(at),
        None => database_time(connection).await,
    }
}

/// Moves the time of a dataset's last good check to `to`. Where that is `stated`, as in histories
/// that are made elsewhere, it says nothing about the present, and no later time is of the future.
pub(super) async fn move_checked_at(
    connection: &mut Connection<'_>,
    dataset: &DatasetName,
    to: Millis,
    stated: bool,
) -> Result<(), sqlx::Error> {
    let present = if stated { Millis(i64::MAX) } else { database_time(connection).await? };
    let statement = connection.query(SET_CHECKED_AT).bind(dataset.as_str()).bind(to.0);
    statement.bind(present.0).execute().await.map(drop)
}
