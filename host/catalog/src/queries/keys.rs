//! Keys (hashes only) and secrets that hosts share. Never sees the text of a key.

use yearbook_domain::{KeyId, Millis, Plan};

use super::bump_revision;
use super::sql_enum::RowContext;
use crate::catalog::transaction;
use crate::sql::Connection;
use crate::{Catalog, CatalogError, KeyHash};

const INSERT_KEY: &str = "
    INSERT INTO keys (id, hash, label, plan, created_at, revoked_at, account, usage_key)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";

const KEYS: &str =
    "SELECT id, label, plan, created_at, revoked_at FROM keys ORDER BY created_at, id";

const KEY: &str = "
    SELECT hash, usage_key, link_epoch, id, label, plan, created_at, revoked_at
    FROM keys WHERE hash = $1";

const KEY_BY_ID: &str = "
    SELECT hash, usage_key, link_epoch, id, label, plan, created_at, revoked_at
    FROM keys WHERE id = $1";

/// A key that was to end later ends now.
const REVOKE_KEY: &str = "
    UPDATE keys SET revoked_at = $2
    WHERE id = $1 AND (revoked_at IS NULL OR revoked_at > $2)";

/// Every link of an earlier epoch has ended.
const END_LINKS: &str = "UPDATE keys SET link_epoch = link_epoch + 1 WHERE id = $1";

/// Stores the secret of the first host to come; the others find it.
const INSERT_SECRET_IF_ABSENT: &str = "
    INSERT INTO secrets (name, value, created_at) VALUES ($1, $2, $3) ON CONFLICT (name) DO NOTHING";

const SECRET: &str = "SELECT value FROM secrets WHERE name = $1";

/// Operation that authenticates a caller.
pub(crate) const LOOK_UP_KEY: &str = "look a key up";

/// A key as operators see it. Does not hold the key itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRecord {
    /// Public identifier, for listing and revoking.
    pub id: KeyId,
    /// Note of the operator on whose it is.
    pub label: Option<String>,
    /// Plan that it was issued for.
    pub plan: Plan,
    /// Time of issue.
    pub created_at: Millis,
    /// Time from which it does not work any more, which may lie ahead; `None` if it works.
    pub revoked_at: Option<Millis>,
}

/// A key, and where its requests are counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundKey {
    /// The key.
    pub record: KeyRecord,
    /// Identifier of the key under which its requests are counted: its own, or that of the first
    /// key of its account.
    pub usage_key: KeyId,
    /// Number of times that its links were ended: links of another one do not work.
    pub link_epoch: i64,
}

impl Catalog {
    /// Adds a key.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the id or the hash is taken, or the database does not answer.
    pub async fn insert_key(&self, key: &KeyRecord, hash: &KeyHash) -> Result<(), CatalogError> {
        transaction!(self, "add a key", Write, |connection| async {
            insert(connection, key, hash, None).await?;
            bump_revision(connection).await
        })
    }

    /// Lists every key, revoked ones included, oldest first.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer.
    pub async fn keys(&self) -> Result<Vec<KeyRecord>, CatalogError> {
        transaction!(self, "list keys", SingleRead, |connection| async {
            let rows: Vec<KeyRow> = connection.query(KEYS).all().await?;
            rows.into_iter().map(KeyRow::read).collect()
        })
    }

    /// Reads the key with this hash, revoked or not.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer.
    pub async fn key(&self, hash: &KeyHash) -> Result<Option<FoundKey>, CatalogError> {
        transaction!(self, LOOK_UP_KEY, SingleRead, |connection| async {
            let found: Option<FoundKeyRow> =
                connection.query(KEY).bind(hash.as_bytes().as_slice()).fetch_optional().await?;
            found.map_or(Ok(None), |row| row.into_key_if_matches(hash))
        })
    }

    /// Reads the key with this identifier, revoked or not.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer.
    pub async fn key_by_id(&self, id: &KeyId) -> Result<Option<FoundKey>, CatalogError> {
        transaction!(self, LOOK_UP_KEY, SingleRead, |connection| async {
            let found: Option<FoundKeyRow> =
                connection.query(KEY_BY_ID).bind(id.as_str()).fetch_optional().await?;
            found.map(FoundKeyRow::into_key).transpose()
        })
    }

    /// Revokes a key. False when there is none or it is revoked already.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer.
    pub async fn revoke_key(&self, id: &KeyId, at: Millis) -> Result<bool, CatalogError> {
        transaction!(self, "revoke a key", Write, |connection| async {
            let changed =
                connection.query(REVOKE_KEY).bind(id.as_str()).bind(at.0).execute().await?;
            if changed == 0 {
                return Ok(false);
            }
            bump_revision(connection).await?;
            Ok(true)
        })
    }

    /// Ends every link of a key so far. False when there is no such key.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer.
    pub async fn end_links(&self, id: &KeyId) -> Result<bool, CatalogError> {
        transaction!(self, "end links", Write, |connection| async {
            if connection.query(END_LINKS).bind(id.as_str()).execute().await? == 0 {
                return Ok(false);
            }
            bump_revision(connection).await?;
            Ok(true)
        })
    }

    /// Reads the secret called `name`, made at first use; the same on every host for ever.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer; [`CatalogError::Random`].
    pub async fn secret(&self, name: &str) -> Result<[u8; 32], CatalogError> {
        let mut fresh = [0_u8; 32];
        getrandom::fill(&mut fresh)?;
        transaction!(self, "read a secret", Write, |connection| {
            secret(connection, name, fresh, crate::clock::now())
        })
    }
}

/// A row of `keys`.
#[derive(sqlx::FromRow)]
pub(super) struct KeyRow {
    id: String,
    label: Option<String>,
    plan: String,
    created_at: i64,
    revoked_at: Option<i64>,
}

impl KeyRow {
    pub(super) fn read(self) -> Result<KeyRecord, sqlx::Error> {
        let place = RowContext { table: "keys", row: &self.id };
        Ok(KeyRecord {
            plan: place.parse("plan", &self.plan)?,
            label: self.label,
            created_at: Millis(self.created_at),
            revoked_at: self.revoked_at.map(Millis),
            id: place.parse("id", &self.id)?,
        })
    }
}

/// A row of `keys` found by its hash.
#[derive(sqlx::FromRow)]
struct FoundKeyRow {
    hash: Vec<u8>,
    usage_key: Option<String>,
    link_epoch: i64,
    #[sqlx(flatten)]
    key: KeyRow,
}

impl FoundKeyRow {
    /// Returns the key, if its hash is the one looked for. An index may stop comparing at the first
    /// byte that differs; this comparison takes the same time whatever it is given.
    fn into_key_if_matches(self, hash: &KeyHash) -> Result<Option<FoundKey>, sqlx::Error> {
        if !hash.matches_stored(&self.hash) {
            return Ok(None);
        }
        self.into_key().map(Some)
    }

    fn into_key(self) -> Result<FoundKey, sqlx::Error> {
        let record = self.key.read()?;
        let place = RowContext { table: "keys", row: record.id.as_str() };
        let usage_key = match &self.usage_key {
            Some(usage_key) => place.parse("usage_key", usage_key)?,
            None => record.id.clone(),
        };
        Ok(FoundKey { record, usage_key, link_epoch: self.link_epoch })
    }
}

/// Adds a key: of an account and counted under its first key, or of an operator.
pub(super) async fn insert(
    connection: &mut Connection<'_>,
    key: &KeyRecord,
    hash: &KeyHash,
    account: Option<(&str, Option<&str>)>,
) -> Result<(), sqlx::Error> {
    connection
        .query(INSERT_KEY)
        .bind(key.id.as_str())
        .bind(hash.as_bytes().as_slice())
        .bind(&key.label)
        .bind(key.plan.as_str())
        .bind(key.created_at.0)
        .bind(key.revoked_at.map(|at| at.0))
        .bind(account.map(|(id, _)| id))
        .bind(account.and_then(|(_, usage_key)| usage_key))
        .execute()
        .await
        .map(drop)
}

/// Reads the stored secret; `fresh` becomes it when there is none.
async fn secret(
    connection: &mut Connection<'_>,
    name: &str,
    fresh: [u8; 32],
    now: Millis,
) -> Result<[u8; 32], sqlx::Error> {
    connection
        .query(INSERT_SECRET_IF_ABSENT)
        .bind(name)
        .bind(fresh.as_slice())
        .bind(now.0)
        .execute()
        .await?;
    let (stored,): (Vec<u8>,) = connection.query(SECRET).bind(name).fetch_one().await?;
    RowContext { table: "secrets", row: name }.bytes32("value", &stored)
}
