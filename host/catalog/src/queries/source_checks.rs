//! Checks of sources by `yearbook refresh` (contract-8-last-check): the lease of whoever asks, the
//! end of the last check, and the validators of the answer that is published. Never asks a source.

use std::time::Duration;

use yearbook_domain::{
    CheckOutcome, DatasetName, Digest, FailureCause, Millis, SnapshotId, refresh,
};

use super::sql_enum::{RowContext, encode_enum};
use super::{bump_revision, database_time, snapshots};
use crate::catalog::transaction;
use crate::database::sql::Connection;
use crate::{Catalog, CatalogError};

const DATASET: &str = "SELECT checked_at, retired_at FROM datasets WHERE name = $1";

const SOURCE: &str = "
    SELECT claimed_until, ended_at, outcome, cause, reason, address, fetched_at, etag, last_modified, content, descriptor, snapshot
    FROM source_checks WHERE dataset = $1";

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

/// Never turns the time back.
const SET_CHECKED_AT: &str =
    "UPDATE datasets SET checked_at = $2 WHERE name = $1 AND checked_at < $2";

/// Sources of retired datasets are not asked, so how their checks ended no longer matters; nor does
/// a failure that a publication by hand followed.
macro_rules! last_checks {
    ($columns:literal, $rest:literal) => {
        concat!(
            "SELECT ",
            $columns,
            " FROM source_checks c LEFT JOIN datasets d ON d.name = c.dataset
            WHERE c.outcome IS NOT NULL AND d.retired_at IS NULL
                AND (c.outcome <> 'failed' OR d.checked_at IS NULL OR c.ended_at >= d.checked_at) ",
            $rest
        )
    };
}

const COUNT_OUTCOMES: &str = last_checks!("c.outcome, COUNT(*) AS sources", "GROUP BY c.outcome");

/// Oldest first: whoever looks for the cause begins there.
const FAILING: &str = last_checks!(
    "c.dataset, c.cause, c.ended_at",
    "AND c.outcome = 'failed' AND c.cause IS NOT NULL ORDER BY c.ended_at, c.dataset LIMIT 1000"
);

/// Knowledge of the catalog about a dataset's source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceState {
    /// Time by the database's clock.
    pub now: Millis,
    /// Time of the last check that ended well, a publication by hand included; none: the dataset
    /// does not exist.
    pub checked_at: Option<Millis>,
    /// Time at which the dataset was retired; none: it is served, or does not exist.
    pub retired_at: Option<Millis>,
    /// Its current snapshot.
    pub current: Option<SnapshotId>,
    /// End of the lease of whoever asks the source; it may have passed.
    pub claimed_until: Option<Millis>,
    /// The last check that ended.
    pub last_check: Option<LastCheck>,
    /// The answer that is published, where it came over HTTP.
    pub answer: Option<SourceAnswer>,
}

impl SourceState {
    /// Returns the earliest time of the next check for a source with `cadence`; none: never.
    #[must_use]
    pub fn next_check(&self, cadence: Option<refresh::Cadence>) -> Option<Millis> {
        let failed = self.last_check.as_ref();
        let failed = failed.filter(|check| check.outcome == CheckOutcome::Failed);
        refresh::next_check(cadence, self.checked_at, failed.map(|check| check.ended_at))
    }
}

/// The end of a check (contract-8-last-check).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastCheck {
    /// Time at which it ended.
    pub ended_at: Millis,
    /// Its outcome.
    pub outcome: CheckOutcome,
    /// Kind of failure; none unless it failed.
    pub cause: Option<FailureCause>,
    /// Sentence for operators; none unless it failed.
    pub reason: Option<String>,
}

/// An answer of a source, and what was made of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceAnswer {
    /// The address as the descriptor has it.
    pub address: String,
    /// Time at which the whole answer was read.
    pub fetched_at: Millis,
    /// Its `ETag`.
    pub etag: Option<String>,
    /// Its `Last-Modified`, as it was sent.
    pub last_modified: Option<String>,
    /// Digest of its bytes, without a coding.
    pub content: Digest,
    /// Digest of the descriptor that it was published with.
    pub descriptor: Digest,
    /// The snapshot that came of it.
    pub snapshot: SnapshotId,
}

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

/// Last checks of all sources, for metrics.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckSummary {
    /// Sources by the outcome of their last check.
    pub outcomes: Vec<(CheckOutcome, u64)>,
    /// Sources whose last check failed, oldest failure first, 1,000 at most.
    pub failing: Vec<FailingSource>,
}

/// A source whose last check failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailingSource {
    /// Its dataset, which need not exist yet.
    pub dataset: DatasetName,
    /// Kind of failure.
    pub cause: FailureCause,
    /// Time of the failure.
    pub failed_at: Millis,
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

    /// Takes the right to ask a source for `lease`; with `even_if_held`, from whoever has it. `at`
    /// is the present where it is not that of the database.
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
        transaction!(self, "claim a source", Write, |connection| {
            claim(connection, dataset, lease, even_if_held, at)
        })
    }

    /// Gives the right to ask a source back without having asked.
    ///
    /// # Errors
    /// As [`Catalog::source_state`].
    pub async fn release_source(&self, dataset: &DatasetName) -> Result<(), CatalogError> {
        transaction!(self, "release a source", Write, |connection| release(connection, dataset))
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
        transaction!(self, "record a failed check", Write, |connection| {
            record_failed(connection, dataset, failure, at)
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

/// A row of `source_checks`.
#[derive(Default, sqlx::FromRow)]
struct SourceRow {
    claimed_until: Option<i64>,
    ended_at: Option<i64>,
    outcome: Option<String>,
    cause: Option<String>,
    reason: Option<String>,
    address: Option<String>,
    fetched_at: Option<i64>,
    etag: Option<String>,
    last_modified: Option<String>,
    content: Option<String>,
    descriptor: Option<String>,
    snapshot: Option<String>,
}

impl SourceRow {
    fn last_check(&self, place: &RowContext<'_>) -> Result<Option<LastCheck>, sqlx::Error> {
        let (Some(ended_at), Some(outcome)) = (self.ended_at, &self.outcome) else {
            return Ok(None);
        };
        Ok(Some(LastCheck {
            ended_at: Millis(ended_at),
            outcome: place.parse("outcome", outcome)?,
            cause: self.cause.as_ref().map(|cause| place.parse("cause", cause)).transpose()?,
            reason: self.reason.clone(),
        }))
    }

    fn answer(self, place: &RowContext<'_>) -> Result<Option<SourceAnswer>, sqlx::Error> {
        let (Some(address), Some(fetched_at)) = (self.address, self.fetched_at) else {
            return Ok(None);
        };
        let word = |word: Option<String>| word.unwrap_or_default();
        Ok(Some(SourceAnswer {
            address,
            fetched_at: Millis(fetched_at),
            etag: self.etag,
            last_modified: self.last_modified,
            content: place.parse("content", &word(self.content))?,
            descriptor: place.parse("descriptor", &word(self.descriptor))?,
            snapshot: place.parse("snapshot", &word(self.snapshot))?,
        }))
    }
}

async fn state(
    connection: &mut Connection<'_>,
    dataset: &DatasetName,
) -> Result<SourceState, sqlx::Error> {
    let now = database_time(connection).await?;
    let known: Option<(i64, Option<i64>)> =
        connection.query(DATASET).bind(dataset.as_str()).fetch_optional().await?;
    let (checked_at, retired_at) =
        known.map_or((None, None), |(checked, retired)| (Some(Millis(checked)), retired));
    let current = snapshots::current_row(connection, dataset).await?.map(|current| current.id);
    let row: Option<SourceRow> =
        connection.query(SOURCE).bind(dataset.as_str()).fetch_optional().await?;
    let row = row.unwrap_or_default();
    let place = RowContext { table: "source_checks", row: dataset.as_str() };
    Ok(SourceState {
        now,
        checked_at,
        retired_at: retired_at.map(Millis),
        current,
        claimed_until: row.claimed_until.map(Millis),
        last_check: row.last_check(&place)?,
        answer: row.answer(&place)?,
    })
}

async fn claim(
    connection: &mut Connection<'_>,
    dataset: &DatasetName,
    lease: Duration,
    even_if_held: bool,
    at: Option<Millis>,
) -> Result<ClaimOutcome, sqlx::Error> {
    connection.query(LOCK_SOURCE).bind(dataset.as_str()).execute().await?;
    let known = state(connection, dataset).await?;
    let now = at.unwrap_or(known.now);
    if let Some(until) = known.claimed_until.filter(|until| *until > now && !even_if_held) {
        return Ok(ClaimOutcome::Held(until));
    }
    let until = now.0.saturating_add(i64::try_from(lease.as_millis()).unwrap_or(i64::MAX));
    connection.query(CLAIM).bind(dataset.as_str()).bind(until).execute().await?;
    Ok(ClaimOutcome::Claimed(Box::new(known)))
}

async fn release(
    connection: &mut Connection<'_>,
    dataset: &DatasetName,
) -> Result<(), sqlx::Error> {
    connection.query(RELEASE).bind(dataset.as_str()).execute().await.map(drop)
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
    let at = present(connection, at).await?;
    let holds = served && current.is_some_and(|current| current.id == *snapshot);
    if holds {
        connection.query(SET_CHECKED_AT).bind(dataset.as_str()).bind(at.0).execute().await?;
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

async fn record_failed(
    connection: &mut Connection<'_>,
    dataset: &DatasetName,
    failure: &FailedCheck,
    at: Option<Millis>,
) -> Result<(), sqlx::Error> {
    let at = present(connection, at).await?;
    end_check(connection, dataset, CheckOutcome::Failed, Some(failure), at).await?;
    bump_revision(connection).await
}

async fn end_check(
    connection: &mut Connection<'_>,
    dataset: &DatasetName,
    outcome: CheckOutcome,
    failure: Option<&FailedCheck>,
    at: Millis,
) -> Result<(), sqlx::Error> {
    let cause = failure.map(|failure| encode_enum(&failure.cause)).transpose()?;
    connection
        .query(END_CHECK)
        .bind(dataset.as_str())
        .bind(at.0)
        .bind(encode_enum(&outcome)?)
        .bind(cause)
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

async fn summary(connection: &mut Connection<'_>) -> Result<CheckSummary, sqlx::Error> {
    let place = RowContext { table: "source_checks", row: "" };
    let counted: Vec<(String, i64)> = connection.query(COUNT_OUTCOMES).all().await?;
    let count = |(outcome, sources): (String, i64)| {
        Ok((place.parse("outcome", &outcome)?, place.count("outcome", sources)?))
    };
    let failing: Vec<(String, String, i64)> = connection.query(FAILING).all().await?;
    let describe = |(dataset, cause, failed_at): (String, String, i64)| {
        let place = RowContext { table: "source_checks", row: &dataset };
        Ok(FailingSource {
            cause: place.parse("cause", &cause)?,
            failed_at: Millis(failed_at),
            dataset: place.parse("dataset", &dataset)?,
        })
    };
    Ok(CheckSummary {
        outcomes: counted.into_iter().map(count).collect::<Result<_, sqlx::Error>>()?,
        failing: failing.into_iter().map(describe).collect::<Result<_, sqlx::Error>>()?,
    })
}
