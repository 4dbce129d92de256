//! What changed from snapshot to snapshot, within a transaction.

use crate::sql::Connection;
use yearbook_domain::DatasetName;
use yearbook_domain::changes::ChangeSet;

use crate::rows::ChangesRow;
use crate::sql_enum::{encode_list, encode_u64};
use crate::statements;

/// The part of the history that leads to the current snapshot without a gap.
pub(crate) async fn changes_to_current(
    connection: &mut Connection<'_>,
    dataset: &DatasetName,
) -> Result<Vec<ChangeSet>, sqlx::Error> {
    let current: Option<(i64, String, String, i64)> =
        connection.query(statements::CURRENT).bind(dataset.as_str()).fetch_optional().await?;
    let rows: Vec<ChangesRow> =
        connection.query(statements::CHANGES).bind(dataset.as_str()).all().await?;
    let mut wanted = current.map(|(number, ..)| number);
    let mut history = Vec::new();
    for row in rows {
        if wanted != Some(row.number) {
            break;
        }
        wanted = Some(row.from_number);
        history.push(row.read()?);
    }
    history.reverse();
    Ok(history)
}

/// Remembers what changed between the snapshots with these numbers.
pub(crate) async fn insert(
    connection: &mut Connection<'_>,
    dataset: &DatasetName,
    before: i64,
    number: i64,
    changes: &ChangeSet,
) -> Result<(), sqlx::Error> {
    let [from, to] = [&changes.from_credit, &changes.to_credit].map(Option::as_ref);
    connection
        .query(statements::INSERT_CHANGES)
        .bind(number)
        .bind(dataset.as_str())
        .bind(before)
        .bind(&changes.from)
        .bind(&changes.to)
        .bind(changes.committed_at.0)
        .bind(encode_u64(changes.rows)?)
        .bind(&changes.file.sha256)
        .bind(encode_u64(changes.file.bytes)?)
        .bind(encode_list(&changes.columns)?)
        .bind(from.map(|line| line.attribution.as_str()))
        .bind(from.map(|line| line.licence.as_str()))
        .bind(to.map(|line| line.attribution.as_str()))
        .bind(to.map(|line| line.licence.as_str()))
        .execute()
        .await?;
    Ok(())
}
