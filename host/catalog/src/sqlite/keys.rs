//! Keys (hashes only) and shared secrets, within a transaction.

use sqlx::SqliteConnection;
use yearbook_domain::Millis;

use crate::failure::Unreadable;
use crate::rows::{FoundKeyRow, KeyRow};
use crate::words::word;
use crate::{KeyHash, KeyRecord, statements};

pub(super) async fn insert(connection: &mut SqliteConnection, key: &KeyRecord, hash: &KeyHash) -> Result<(), sqlx::Error> {
    sqlx::query(statements::INSERT_KEY)
        .bind(&key.id)
        .bind(hash.as_bytes().as_slice())
        .bind(&key.label)
        .bind(word(&key.plan)?)
        .bind(key.created_at.0)
        .bind(key.revoked_at.map(|at| at.0))
        .execute(&mut *connection)
        .await?;
    sqlx::query(statements::MOVE_REVISION).execute(&mut *connection).await.map(drop)
}

pub(super) async fn all(connection: &mut SqliteConnection) -> Result<Vec<KeyRecord>, sqlx::Error> {
    let rows: Vec<KeyRow> = sqlx::query_as(statements::KEYS).fetch_all(connection).await?;
    rows.into_iter().map(KeyRow::read).collect()
}

pub(super) async fn find(connection: &mut SqliteConnection, hash: &KeyHash) -> Result<Option<KeyRecord>, sqlx::Error> {
    let found: Option<FoundKeyRow> = sqlx::query_as(statements::KEY).bind(hash.as_bytes().as_slice()).fetch_optional(connection).await?;
    found.map_or(Ok(None), |row| row.read_if(hash))
}

pub(super) async fn revoke(connection: &mut SqliteConnection, id: &str, at: Millis) -> Result<bool, sqlx::Error> {
    let done = sqlx::query(statements::REVOKE_KEY).bind(id).bind(at.0).execute(&mut *connection).await?;
    if done.rows_affected() == 0 {
        return Ok(false);
    }
    sqlx::query(statements::MOVE_REVISION).execute(&mut *connection).await?;
    Ok(true)
}

/// The stored secret; `fresh` becomes it when there is none.
pub(super) async fn secret(connection: &mut SqliteConnection, name: &str, fresh: [u8; 32], now: Millis) -> Result<[u8; 32], sqlx::Error> {
    sqlx::query(statements::OFFER_SECRET).bind(name).bind(fresh.as_slice()).bind(now.0).execute(&mut *connection).await?;
    let stored: Vec<u8> = sqlx::query_scalar(statements::SECRET).bind(name).fetch_one(&mut *connection).await?;
    let length = stored.len();
    stored
        .try_into()
        .map_err(|_| Unreadable { table: "secrets", column: "value", row: name.to_owned(), found: format!("{length} bytes") }.into())
}
