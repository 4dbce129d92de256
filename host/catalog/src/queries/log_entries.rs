//! The log of what was published (contract-21-log-append). Entries are only ever added, in the
//! transaction that makes their version visible; hashes follow from them. Never hashes.

use yearbook_domain::{DatasetName, LogEntry, Millis, SnapshotId};

use super::sql_enum::{RowContext, encode_u64};
use crate::catalog::transaction;
use crate::sql::Connection;
use crate::{Catalog, CatalogError};

/// Name of the secret that gives the log's key.
pub const LOG_SECRET: &str = "log";

/// Adds the versions that are visible and not in the log: the one that was just committed, and
/// those that a host of a release without a log has committed.
const APPEND: &str = "
    INSERT INTO log_entries (entry, dataset, version, snapshot, digest, committed_at, released_at)
    SELECT (SELECT COALESCE(MAX(entry) + 1, 0) FROM log_entries) + ROW_NUMBER() OVER (ORDER BY s.number) - 1,
        s.dataset, s.version, s.id, f.digest,
        CASE WHEN s.number = (SELECT MAX(number) FROM snapshots WHERE dataset = $1)
            THEN COALESCE($2, s.created_at) ELSE s.created_at END, s.created_at
    FROM snapshots s JOIN preview_facts f ON f.snapshot = s.number
    WHERE s.dataset = $1
        AND NOT EXISTS (SELECT 1 FROM log_entries l WHERE l.dataset = s.dataset AND l.version = s.version)";

const SIZE: &str = "SELECT CAST(COALESCE(MAX(entry) + 1, 0) AS BIGINT) FROM log_entries";

const ENTRIES: &str = "
    SELECT entry, dataset, version, snapshot, digest, committed_at, released_at FROM log_entries
    WHERE entry >= $1 AND entry < $2 ORDER BY entry";

/// Selects the newest entry of a snapshot: data may have gone back to what it was.
const ENTRY_OF: &str = "
    SELECT entry, dataset, version, snapshot, digest, committed_at, released_at FROM log_entries
    WHERE dataset = $1 AND snapshot = $2 ORDER BY entry DESC LIMIT 1";

const HASH_COUNT: &str =
    "SELECT CAST(COALESCE(MAX(number) + 1, 0) AS BIGINT) FROM log_hashes WHERE level = $1";

const HASHES: &str = "
    SELECT number, hash FROM log_hashes WHERE level = $1 AND number >= $2 AND number < $3 ORDER BY number";

const INSERT_HASH: &str = "
    INSERT INTO log_hashes (level, number, hash) VALUES ($1, $2, $3) ON CONFLICT (level, number) DO NOTHING";

type EntryRow = (i64, String, i64, String, String, i64, i64);

impl Catalog {
    /// Counts the entries of the log.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer.
    pub async fn log_size(&self) -> Result<u64, CatalogError> {
        transaction!(self, "read the log's size", SingleRead, |connection| size(connection))
    }

    /// Reads up to `count` entries of the log from `first` on.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer.
    pub async fn log_entries(&self, first: u64, count: u64) -> Result<Vec<LogEntry>, CatalogError> {
        transaction!(self, "read the log", SingleRead, |connection| range(connection, first, count))
    }

    /// Reads the newest entry of a snapshot, with its index; `None` where there is none.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer.
    pub async fn log_entry_of(
        &self,
        dataset: &DatasetName,
        snapshot: &SnapshotId,
    ) -> Result<Option<(u64, LogEntry)>, CatalogError> {
        transaction!(self, "look an entry of the log up", SingleRead, |connection| async {
            let statement = connection.query(ENTRY_OF).bind(dataset.as_str());
            let row: Option<EntryRow> = statement.bind(snapshot.as_str()).fetch_optional().await?;
            row.map(read).transpose()
        })
    }

    /// Counts the stored hashes of a level of the log's tree; they are dense.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer.
    pub async fn log_hash_count(&self, level: u8) -> Result<u64, CatalogError> {
        transaction!(self, "count the log's hashes", SingleRead, |connection| async {
            let statement = connection.query(HASH_COUNT).bind(i64::from(level));
            let (count,): (i64,) = statement.fetch_one().await?;
            PLACE.count("number", count)
        })
    }

    /// Reads up to `count` stored hashes of a level of the log's tree from `first` on.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer.
    pub async fn log_hashes(
        &self,
        level: u8,
        first: u64,
        count: u64,
    ) -> Result<Vec<[u8; 32]>, CatalogError> {
        transaction!(self, "read the log's hashes", SingleRead, |connection| async {
            let end = encode_u64(first.saturating_add(count))?;
            let statement = connection.query(HASHES).bind(i64::from(level));
            let rows: Vec<(i64, Vec<u8>)> =
                statement.bind(encode_u64(first)?).bind(end).all().await?;
            rows.iter().map(|(_, hash)| PLACE.bytes32("hash", hash)).collect()
        })
    }

    /// Stores hashes of a level of the log's tree from `first` on; those that are there stay.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database takes no writes.
    pub async fn insert_log_hashes(
        &self,
        level: u8,
        first: u64,
        hashes: &[[u8; 32]],
    ) -> Result<(), CatalogError> {
        transaction!(self, "store the log's hashes", Write, |connection| async {
            for (number, hash) in (first..).zip(hashes) {
                let statement = connection.query(INSERT_HASH).bind(i64::from(level));
                statement.bind(encode_u64(number)?).bind(hash.to_vec()).execute().await?;
            }
            Ok(())
        })
    }
}

const PLACE: RowContext<'static> = RowContext { table: "log_entries", row: "the log" };

/// Counts the entries of the log.
pub(super) async fn size(connection: &mut Connection<'_>) -> Result<u64, sqlx::Error> {
    let (size,): (i64,) = connection.query(SIZE).fetch_one().await?;
    PLACE.count("entry", size)
}

/// Reads up to `count` entries of the log from `first` on.
pub(super) async fn range(
    connection: &mut Connection<'_>,
    first: u64,
    count: u64,
) -> Result<Vec<LogEntry>, sqlx::Error> {
    let end = encode_u64(first.saturating_add(count))?;
    let statement = connection.query(ENTRIES).bind(encode_u64(first)?).bind(end);
    let rows: Vec<EntryRow> = statement.all().await?;
    rows.into_iter().map(|row| read(row).map(|(_, entry)| entry)).collect()
}

/// Adds to the log what is visible of a dataset and not in it. After [`super::bump_revision`],
/// whose row every writer passes until it has committed: so indexes are dense and in the order of
/// commits, and a transaction that is rolled back leaves no hole. `committed_at` is that of a
/// version that has waited.
pub(super) async fn append(
    connection: &mut Connection<'_>,
    dataset: &DatasetName,
    committed_at: Option<Millis>,
) -> Result<(), sqlx::Error> {
    let statement = connection.query(APPEND).bind(dataset.as_str());
    statement.bind(committed_at.map(|at| at.0)).execute().await.map(drop)
}

fn read(row: EntryRow) -> Result<(u64, LogEntry), sqlx::Error> {
    let (index, dataset, version, snapshot, digest, committed, released) = row;
    let entry = LogEntry {
        dataset: PLACE.parse("dataset", &dataset)?,
        version: PLACE.count("version", version)?,
        snapshot: PLACE.parse("snapshot", &snapshot)?,
        digest: PLACE.parse("digest", &digest)?,
        committed: Millis(committed),
        released: Millis(released),
    };
    Ok((PLACE.count("entry", index)?, entry))
}
