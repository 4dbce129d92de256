//! Remains of versions, which retention leaves for the history (contract-21-history). A version
//! keeps its file where what changed to the next one does not give its rows back, or where too much
//! changed between the files around it. Decides nothing about which versions are dropped
//! (`publications.rs`).

use yearbook_domain::{Column, DatasetName, ObjectKey, PreviewFacts, Snapshot};

use super::changes::{self, ChangesRow};
use super::past_versions::{have_same_columns, past_by_number};
use super::snapshots;
use super::sql_enum::{RowContext, encode_json, encode_u64};
use crate::sql::Connection;

/// Bytes of changes, for each byte of a version's file, from which the version keeps its file: that
/// bounds what is read to make a version again, and what history takes.
const CHANGES_FOR_EACH_FILE: u64 = 4;

/// An older release, which does not know this history, would remove its files.
const REQUIRE_HISTORY: &str =
    "UPDATE revision SET least_migration = 4 WHERE only_row = 1 AND least_migration < 4";

const INSERT_PAST: &str = "
    INSERT INTO past_versions (number, dataset, version, id, created_at, snapshot, digest, axis, file_sha256, file_bytes)
    SELECT s.number, s.dataset, s.version, s.id, s.created_at, $2, f.digest, $4,
        CASE WHEN $3 THEN s.file_sha256 END, CASE WHEN $3 THEN s.file_bytes END
    FROM snapshots s JOIN preview_facts f ON f.snapshot = s.number WHERE s.number = $1";

const FACTS: &str = "SELECT facts FROM preview_facts WHERE snapshot = $1";

const INSERT_PAST_CHANGES: &str = "
    INSERT INTO past_changes (number, dataset, from_number, version, file_sha256, file_bytes, changes)
    VALUES ($1, $2, $3, $4, $5, $6, $7)";

const IS_PAST: &str = "SELECT COUNT(*) FROM past_versions WHERE number = $1";

/// Sums the changes around the version with a number, from the version before it that has a file to
/// the next one that has: what is between is made again of them.
const CHANGED_BYTES: &str = "
    WITH files AS (
        SELECT number FROM snapshots WHERE dataset = $1
        UNION ALL SELECT number FROM past_versions WHERE dataset = $1 AND file_sha256 IS NOT NULL
    ), changed AS (
        SELECT number, file_bytes FROM changes WHERE dataset = $1
        UNION ALL SELECT number, file_bytes FROM past_changes WHERE dataset = $1
    )
    SELECT CAST(COALESCE(SUM(file_bytes), 0) AS BIGINT) FROM changed
    WHERE number > (SELECT COALESCE(MAX(number), 0) FROM files WHERE number < $2)
        AND number <= (SELECT COALESCE(MIN(number), $2) FROM files WHERE number > $2)";

const FORGET_VERSIONS: &str =
    "DELETE FROM past_versions WHERE dataset = $1 AND number <= $2 RETURNING file_sha256";

const FORGET_CHANGES: &str =
    "DELETE FROM past_changes WHERE dataset = $1 AND from_number <= $2 RETURNING file_sha256";

/// Adds the version of a snapshot that is about to be deleted; `words` are its JSON.
pub(super) async fn insert(
    connection: &mut Connection<'_>,
    dataset: &DatasetName,
    number: i64,
    snapshot: &Snapshot,
    words: String,
) -> Result<(), sqlx::Error> {
    connection.query(REQUIRE_HISTORY).execute().await?;
    let keep_file = match changes::leading_from(connection, dataset, number).await? {
        None => true,
        Some(row) => {
            let next = row.number;
            let next_snapshot = match snapshots::by_number(connection, next).await? {
                Some(snapshot) => Some(snapshot),
                None => past_by_number(connection, dataset, next).await?.map(|past| past.snapshot),
            };
            let statement = connection.query(CHANGED_BYTES).bind(dataset.as_str()).bind(number);
            let (changed,): (i64,) = statement.fetch_one().await?;
            let changed = u64::try_from(changed).unwrap_or(u64::MAX);
            let most = snapshot.file.bytes.saturating_mul(CHANGES_FOR_EACH_FILE);
            changed > most || !next_snapshot.is_some_and(|next| gives_back(&next, snapshot))
        }
    };
    let (facts,): (String,) = connection.query(FACTS).bind(number).fetch_one().await?;
    // Facts of another release tell nothing.
    let facts = PreviewFacts::from_json(&facts).ok();
    let axis = encode_json(&facts.and_then(|facts| facts.axis))?;
    let statement = connection.query(INSERT_PAST).bind(number).bind(words).bind(keep_file);
    statement.bind(axis).execute().await.map(drop)
}

/// Returns true where the rows of `older` follow from those of `newer` and the changes between
/// them, in their order: they have the same columns, primary key and column of dates.
fn gives_back(newer: &Snapshot, older: &Snapshot) -> bool {
    // Labels stand beside the file alone.
    let is_labelled = |column: &Column| column.meaning.as_ref().is_some_and(|found| found.labelled);
    !older.primary_key.is_empty()
        && newer.primary_key == older.primary_key
        && newer.date_column == older.date_column
        && have_same_columns(&newer.columns, &older.columns)
        && !older.columns.iter().any(is_labelled)
}

/// Takes over changes that no retained snapshot needs, where a version of the past comes before
/// them; returns false where none does.
pub(super) async fn keep_changes(
    connection: &mut Connection<'_>,
    dataset: &DatasetName,
    row: ChangesRow,
) -> Result<bool, sqlx::Error> {
    let (number, from_number) = (row.number, row.from_number);
    let (past,): (i64,) = connection.query(IS_PAST).bind(from_number).fetch_one().await?;
    if past == 0 {
        return Ok(false);
    }
    let set = row.read()?;
    connection
        .query(INSERT_PAST_CHANGES)
        .bind(number)
        .bind(dataset.as_str())
        .bind(from_number)
        .bind(encode_u64(set.version)?)
        .bind(set.file.sha256.as_str())
        .bind(encode_u64(set.file.bytes)?)
        .bind(encode_json(&set)?)
        .execute()
        .await?;
    Ok(true)
}

/// Forgets the versions up to the one with this number, and the changes that lead on from them;
/// returns the files that they named.
pub(super) async fn forget_until(
    connection: &mut Connection<'_>,
    dataset: &DatasetName,
    number: i64,
) -> Result<Vec<ObjectKey>, sqlx::Error> {
    let mut files = Vec::new();
    for statement in [FORGET_VERSIONS, FORGET_CHANGES] {
        let statement = connection.query(statement).bind(dataset.as_str()).bind(number);
        let named: Vec<(Option<String>,)> = statement.all().await?;
        for (sha256,) in named {
            let Some(sha256) = sha256 else { continue };
            let place = RowContext { table: "past_versions", row: &sha256 };
            files.push(ObjectKey::snapshot(&place.parse("file_sha256", &sha256)?));
        }
    }
    Ok(files)
}
