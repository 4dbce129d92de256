//! Preview facts of snapshots, one row each. Never reads the files that hold the rows.

use yearbook_domain::{DatasetName, PreviewFacts, SnapshotId};

use crate::catalog::transaction;
use crate::sql::Connection;
use crate::{Catalog, CatalogError};

const INSERT_FACTS: &str =
    "INSERT INTO preview_facts (snapshot, version, digest, facts) VALUES ($1, $2, $3, $4)";

const DELETE_FACTS: &str = "DELETE FROM preview_facts WHERE snapshot = $1";

/// Selects the facts of a retained snapshot. The history may hold an id twice; the newest counts.
const FACTS: &str = "
    SELECT f.facts FROM preview_facts f JOIN snapshots s ON s.number = f.snapshot
    WHERE s.dataset = $1 AND s.id = $2 ORDER BY s.number DESC LIMIT 1";

impl Catalog {
    /// Reads the preview facts of a retained snapshot. `None` if it is not retained, or if a newer
    /// version wrote them in a form that this one does not know.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer.
    pub async fn preview_facts(
        &self,
        dataset: &DatasetName,
        id: &SnapshotId,
    ) -> Result<Option<PreviewFacts>, CatalogError> {
        let text = transaction!(self, "read preview facts", SingleRead, |connection| async {
            let row: Option<(String,)> = connection
                .query(FACTS)
                .bind(dataset.as_str())
                .bind(id.as_str())
                .fetch_optional()
                .await?;
            Ok(row.map(|(facts,)| facts))
        })?;
        let facts = text.map(|text| PreviewFacts::from_json(&text)).transpose();
        Ok(facts.unwrap_or_else(|failure| {
            tracing::warn!(%dataset, %id, %failure, "preview facts of another version");
            None
        }))
    }
}

/// Stores the facts of snapshot `number` in place of those that a former version computed.
pub(super) async fn replace(
    connection: &mut Connection<'_>,
    number: i64,
    facts: &PreviewFacts,
) -> Result<(), sqlx::Error> {
    connection.query(DELETE_FACTS).bind(number).execute().await?;
    insert(connection, number, facts).await
}

/// Stores the facts of snapshot `number`.
pub(super) async fn insert(
    connection: &mut Connection<'_>,
    number: i64,
    facts: &PreviewFacts,
) -> Result<(), sqlx::Error> {
    connection
        .query(INSERT_FACTS)
        .bind(number)
        .bind(i64::from(facts.version))
        .bind(facts.digest.to_string())
        .bind(facts.to_json())
        .execute()
        .await
        .map(drop)
}
