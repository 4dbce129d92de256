//! Keys (hashes only) and shared secrets, within a transaction.

use crate::sql::Connection;
use yearbook_domain::Millis;

use crate::error::UnreadableValue;
use crate::rows::{FoundKeyRow, KeyRow};
use crate::sql_enum::encode_enum;
use crate::{KeyHash, KeyRecord, statements};

pub(crate) async fn insert(
    connection: &mut Connection<'_>,
    key: &KeyRecord,
    hash: &KeyHash,
) -> Result<(), sqlx::Error> {
    connection
        .query(statements::INSERT_KEY)
        .bind(&key.id)
        .bind(hash.as_bytes().as_slice())
        .bind(&key.label)
        .bind(encode_enum(&key.plan)?)
        .bind(key.created_at.0)
        .bind(key.revoked_at.map(|at| at.0))
        .execute()
        .await?;
    connection.query(statements::BUMP_REVISION).execute().await.map(drop)
}

pub(crate) async fn all(connection: &mut Connection<'_>) -> Result<Vec<KeyRecord>, sqlx::Error> {
    let rows: Vec<KeyRow> = connection.query(statements::KEYS).all().await?;
    rows.into_iter().map(KeyRow::read).collect()
}

pub(crate) async fn find(
    connection: &mut Connection<'_>,
    hash: &KeyHash,
) -> Result<Option<KeyRecord>, sqlx::Error> {
    let found: Option<FoundKeyRow> =
        connection.query(statements::KEY).bind(hash.as_bytes().as_slice()).fetch_optional().await?;
    found.map_or(Ok(None), |row| row.into_record_if_matches(hash))
}

pub(crate) async fn revoke(
    connection: &mut Connection<'_>,
    id: &str,
    at: Millis,
) -> Result<bool, sqlx::Error> {
    let done = connection.query(statements::REVOKE_KEY).bind(id).bind(at.0).execute().await?;
    if done == 0 {
        return Ok(false);
    }
    connection.query(statements::BUMP_REVISION).execute().await?;
    Ok(true)
}

/// The stored secret; `fresh` becomes it when there is none.
pub(crate) async fn secret(
    connection: &mut Connection<'_>,
    name: &str,
    fresh: [u8; 32],
    now: Millis,
) -> Result<[u8; 32], sqlx::Error> {
    connection
        .query(statements::INSERT_SECRET_IF_ABSENT)
        .bind(name)
        .bind(fresh.as_slice())
        .bind(now.0)
        .execute()
        .await?;
    let (stored,): (Vec<u8>,) = connection.query(statements::SECRET).bind(name).fetch_one().await?;
    let length = stored.len();
    stored.try_into().map_err(|_| {
        UnreadableValue {
            table: "secrets",
            column: "value",
            row: name.to_owned(),
            found: format!("{length} bytes"),
        }
        .into()
    })
}
