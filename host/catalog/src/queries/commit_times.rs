//! Times of commits (contract-7-times): whole seconds, no two alike in a dataset, none of the
//! future.

use yearbook_domain::{DatasetName, Millis};

use crate::sql::Connection;

/// Clocks may have been turned back, so the newest snapshot need not have the latest time.
const LATEST: &str =
    "SELECT MAX(created_at) FROM snapshots WHERE dataset = $1 AND created_at <= $2";

/// Versions of the future by their numbers, dropped ones too.
const FUTURE_VERSIONS: &str = "
    SELECT number FROM snapshots WHERE dataset = $1 AND created_at > $2
    UNION SELECT number FROM past_versions WHERE dataset = $1 AND created_at > $2
    UNION SELECT number FROM changes WHERE dataset = $1 AND committed_at > $2 ORDER BY number";

const DATE_SNAPSHOT: &str = "UPDATE snapshots SET created_at = $2 WHERE number = $1";

const DATE_PAST: &str = "UPDATE past_versions SET created_at = $2 WHERE number = $1";

const DATE_CHANGES: &str = "UPDATE changes SET committed_at = $2 WHERE number = $1";

/// Longest time, milliseconds, that a commit waits for the second that it is dated at. Beyond it
/// the clock was turned back, and what it has dated gets dates of the past.
pub(super) const MAX_WAIT_MS: i64 = 5_000;

/// Returns true where the latest version was dated by a clock that was ahead of `now`.
pub(super) fn is_ahead(latest: Option<Millis>, now: Millis) -> bool {
    latest.is_some_and(|latest| latest.0 > now.0.saturating_add(MAX_WAIT_MS))
}

/// Returns the latest time of a snapshot, once what a clock that was ahead has made has dates
/// before `now`.
pub(super) async fn corrected_latest_time(
    connection: &mut Connection<'_>,
    name: &DatasetName,
    now: Millis,
) -> Result<Option<Millis>, sqlx::Error> {
    let latest = latest_time(connection, name, Millis(i64::MAX)).await?;
    if !is_ahead(latest, now) {
        return Ok(latest);
    }
    for (number, at) in future_versions(connection, name, now).await? {
        for statement in [DATE_SNAPSHOT, DATE_PAST, DATE_CHANGES] {
            connection.query(statement).bind(number).bind(at.0).execute().await?;
        }
    }
    latest_time(connection, name, now).await
}

/// Returns the latest time of a snapshot, of those until `until`.
pub(super) async fn latest_time(
    connection: &mut Connection<'_>,
    name: &DatasetName,
    until: Millis,
) -> Result<Option<Millis>, sqlx::Error> {
    let statement = connection.query(LATEST).bind(name.as_str()).bind(until.0);
    let (latest,): (Option<i64>,) = statement.fetch_one().await?;
    Ok(latest.map(Millis))
}

/// Returns the numbers of the versions that a clock that was ahead has made, with the dates that
/// they get: in their order, a second apart, at the last seconds before `now`. They were made by
/// then, and nothing tells when.
pub(super) async fn future_versions(
    connection: &mut Connection<'_>,
    name: &DatasetName,
    now: Millis,
) -> Result<Vec<(i64, Millis)>, sqlx::Error> {
    let numbers: Vec<(i64,)> =
        connection.query(FUTURE_VERSIONS).bind(name.as_str()).bind(now.0).all().await?;
    let seconds = i64::try_from(numbers.len()).unwrap_or(i64::MAX);
    let first = Millis(now.0.saturating_sub(seconds.saturating_mul(1_000)));
    let first = next_commit_time(latest_time(connection, name, now).await?, first);
    let dates = (first.0..).step_by(1_000).map(Millis);
    Ok(numbers.into_iter().map(|(number,)| number).zip(dates).collect())
}

/// Returns the second of `now`, or the one after `latest` where that is later: all that clients see
/// and send back of a commit's time.
pub(super) fn next_commit_time(latest: Option<Millis>, now: Millis) -> Millis {
    let next = latest.map(|latest| Millis(latest.whole_second().0.saturating_add(1_000)));
    next.map_or(now.whole_second(), |next| next.max(now.whole_second()))
}
