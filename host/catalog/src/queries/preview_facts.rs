//! Preview facts of snapshots, one row each, and what older binaries left out of them. Never reads
//! the files that hold the rows.

use yearbook_domain::changes::ChangeSet;
use yearbook_domain::preview_facts::FACTS_VERSION;
use yearbook_domain::{ChangeCounts, DatasetName, PreviewFacts, SnapshotId};

use super::sql_enum::{RowContext, encode_u64};
use super::{bump_revision, changes};
use crate::catalog::transaction;
use crate::database::sql::Connection;
use crate::{Catalog, CatalogError};

/// Does nothing for a snapshot that was dropped meanwhile.
const UPSERT_FACTS: &str = "
    INSERT INTO preview_facts (snapshot, version, digest, facts)
    SELECT number, $2, $3, $4 FROM snapshots WHERE number = $1
    ON CONFLICT (snapshot) DO UPDATE SET version = excluded.version, digest = excluded.digest, facts = excluded.facts";

/// Selects the facts of a retained snapshot. The history may hold an id twice; the newest counts.
const FACTS: &str = "
    SELECT f.facts FROM preview_facts f JOIN snapshots s ON s.number = f.snapshot
    WHERE s.dataset = $1 AND s.id = $2 ORDER BY s.number DESC LIMIT 1";

/// Lists retained snapshots without facts of the present version.
const WITHOUT_FACTS: &str = "
    SELECT s.number, s.dataset, s.id FROM snapshots s LEFT JOIN preview_facts f ON f.snapshot = s.number
    WHERE f.version IS NULL OR f.version < $1 ORDER BY s.number";

const DATASETS_WITHOUT_COUNTS: &str =
    "SELECT DISTINCT dataset FROM changes WHERE inserted IS NULL ORDER BY dataset";

const SET_COUNTS: &str = "
    UPDATE changes SET inserted = $4, deleted = $5, updated = $6
    WHERE dataset = $1 AND from_id = $2 AND to_id = $3 AND inserted IS NULL";

/// A retained snapshot whose preview facts are missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotWithoutFacts {
    /// Number of the snapshot in the catalog.
    pub number: i64,
    /// Name of the dataset.
    pub dataset: DatasetName,
    /// Id of the snapshot.
    pub id: SnapshotId,
}

impl Catalog {
    /// Reads the preview facts of a retained snapshot. None: there are none, or they were written
    /// by a newer version in a form that this one does not know.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer.
    pub async fn preview_facts(
        &self,
        dataset: &DatasetName,
        id: &SnapshotId,
    ) -> Result<Option<PreviewFacts>, CatalogError> {
        let text = transaction!(self, "read preview facts", SingleRead, |connection| {
            read(connection, dataset, id)
        })?;
        let facts = text.map(|text| PreviewFacts::from_json(&text)).transpose();
        Ok(facts.unwrap_or_else(|failure| {
            tracing::warn!(%dataset, %id, %failure, "preview facts of another version");
            None
        }))
    }

    /// Lists retained snapshots, those of retired datasets included, without preview facts of this
    /// version, oldest first.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer.
    pub async fn snapshots_without_facts(&self) -> Result<Vec<SnapshotWithoutFacts>, CatalogError> {
        transaction!(self, "look for snapshots without preview facts", SingleRead, |connection| {
            without_facts(connection)
        })
    }

    /// Stores the preview facts of a retained snapshot; nothing happens where it was dropped
    /// meanwhile.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer.
    pub async fn store_preview_facts(
        &self,
        snapshot: &SnapshotWithoutFacts,
        facts: &PreviewFacts,
    ) -> Result<(), CatalogError> {
        transaction!(self, "store preview facts", Write, |connection| {
            store(connection, snapshot.number, facts)
        })
    }

    /// Lists the changes of every dataset whose rows were not counted by kind, as far as they lead
    /// to its current snapshot.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer.
    pub async fn uncounted_changes(&self) -> Result<Vec<(DatasetName, ChangeSet)>, CatalogError> {
        transaction!(self, "look for changes without counts", Read, |connection| {
            uncounted(connection)
        })
    }

    /// Stores the numbers of rows of a set of changes.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer.
    pub async fn store_change_counts(
        &self,
        dataset: &DatasetName,
        changes: &ChangeSet,
        counts: ChangeCounts,
    ) -> Result<(), CatalogError> {
        transaction!(self, "store counts of changes", Write, |connection| {
            set_counts(connection, dataset, changes, counts)
        })
    }
}

/// Stores the facts of snapshot `number`, within the transaction that inserts it.
pub(super) async fn upsert(
    connection: &mut Connection<'_>,
    number: i64,
    facts: &PreviewFacts,
) -> Result<(), sqlx::Error> {
    connection
        .query(UPSERT_FACTS)
        .bind(number)
        .bind(i64::from(facts.version))
        .bind(facts.digest.to_string())
        .bind(facts.to_json())
        .execute()
        .await
        .map(drop)
}

async fn store(
    connection: &mut Connection<'_>,
    number: i64,
    facts: &PreviewFacts,
) -> Result<(), sqlx::Error> {
    upsert(connection, number, facts).await?;
    bump_revision(connection).await
}

async fn read(
    connection: &mut Connection<'_>,
    dataset: &DatasetName,
    id: &SnapshotId,
) -> Result<Option<String>, sqlx::Error> {
    let row: Option<(String,)> =
        connection.query(FACTS).bind(dataset.as_str()).bind(id.as_str()).fetch_optional().await?;
    Ok(row.map(|(facts,)| facts))
}

async fn without_facts(
    connection: &mut Connection<'_>,
) -> Result<Vec<SnapshotWithoutFacts>, sqlx::Error> {
    let rows: Vec<(i64, String, String)> =
        connection.query(WITHOUT_FACTS).bind(i64::from(FACTS_VERSION)).all().await?;
    let read = |(number, dataset, id): (i64, String, String)| {
        let place = RowContext { table: "snapshots", row: &id };
        let (dataset, id) = (place.parse("dataset", &dataset)?, place.parse("id", &id)?);
        Ok(SnapshotWithoutFacts { number, dataset, id })
    };
    rows.into_iter().map(read).collect()
}

async fn uncounted(
    connection: &mut Connection<'_>,
) -> Result<Vec<(DatasetName, ChangeSet)>, sqlx::Error> {
    let names: Vec<(String,)> = connection.query(DATASETS_WITHOUT_COUNTS).all().await?;
    let mut found = Vec::new();
    for (name,) in names {
        let dataset: DatasetName =
            RowContext { table: "changes", row: &name }.parse("dataset", &name)?;
        let history = changes::changes_to_current(connection, &dataset).await?;
        let uncounted = history.into_iter().filter(|set| set.counts.is_none());
        found.extend(uncounted.map(|set| (dataset.clone(), set)));
    }
    Ok(found)
}

async fn set_counts(
    connection: &mut Connection<'_>,
    dataset: &DatasetName,
    changes: &ChangeSet,
    counts: ChangeCounts,
) -> Result<(), sqlx::Error> {
    connection
        .query(SET_COUNTS)
        .bind(dataset.as_str())
        .bind(changes.from.as_str())
        .bind(changes.to.as_str())
        .bind(encode_u64(counts.inserted)?)
        .bind(encode_u64(counts.deleted)?)
        .bind(encode_u64(counts.updated)?)
        .execute()
        .await?;
    bump_revision(connection).await
}
