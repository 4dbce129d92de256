//! Knowledge of the catalog about one source: when it was asked, how that ended, and the answer
//! that is published. Reads alone.

use yearbook_domain::{
    CheckOutcome, DatasetName, Digest, FailureCause, Millis, SnapshotId, refresh,
};

use crate::queries::sql_enum::RowContext;
use crate::queries::{database_time, snapshots};
use crate::sql::Connection;

const DATASET: &str = "SELECT checked_at, retired_at FROM datasets WHERE name = $1";

const SOURCE: &str = "
    SELECT claimed_until, ended_at, outcome, cause, reason, address, fetched_at, etag, last_modified, content, descriptor, snapshot
    FROM source_checks WHERE dataset = $1";

/// Knowledge of the catalog about a dataset's source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceState {
    /// Time by the database's clock.
    pub now: Millis,
    /// Time of the last check that ended well, a publication by hand included; `None` if the
    /// dataset does not exist.
    pub checked_at: Option<Millis>,
    /// Time at which the dataset was retired; `None` if it is served, or does not exist.
    pub retired_at: Option<Millis>,
    /// Its current snapshot.
    pub current: Option<SnapshotId>,
    /// End of the lease of the host that asks the source; it may have passed.
    pub claimed_until: Option<Millis>,
    /// The last check that ended.
    pub last_check: Option<LastCheck>,
    /// The answer that is published, where it came over HTTP.
    pub answer: Option<SourceAnswer>,
}

impl SourceState {
    /// Returns the earliest time of the next check for a source with `cadence`; `None` if it never
    /// comes. Checks after `now` are those of a clock that was ahead, and count as none.
    #[must_use]
    pub fn next_check(&self, cadence: Option<refresh::Cadence>, now: Millis) -> Option<Millis> {
        let failed = self.last_check.as_ref();
        let failed = failed.filter(|check| check.outcome == CheckOutcome::Failed);
        let past = |at: &Millis| *at <= now;
        let failed_at = failed.map(|check| check.ended_at).filter(past);
        refresh::next_check(cadence, self.checked_at.filter(past), failed_at)
    }
}

/// The end of a check (contract-8-last-check).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastCheck {
    /// Time at which it ended.
    pub ended_at: Millis,
    /// Its outcome.
    pub outcome: CheckOutcome,
    /// Kind of failure; `None` unless it failed.
    pub cause: Option<FailureCause>,
    /// Sentence for operators; `None` unless it failed.
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

pub(super) async fn state(
    connection: &mut Connection<'_>,
    dataset: &DatasetName,
) -> Result<SourceState, sqlx::Error> {
    let now = database_time(connection).await?;
    let known: Option<(i64, Option<i64>)> =
        connection.query(DATASET).bind(dataset.as_str()).fetch_optional().await?;
    let (checked_at, retired_at) =
        known.map_or((None, None), |(checked, retired)| (Some(Millis(checked)), retired));
    let current = snapshots::current_row(connection, dataset).await?.map(|current| current.id);
    // A release that was withdrawn leaves its dataset without a version, as if it had never been.
    let checked_at = checked_at.filter(|_| current.is_some());
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
