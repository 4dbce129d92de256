//! Times at which keys were last used. Never touches `keys` itself: a change there makes every host
//! forget what it knows of keys.

use std::collections::HashMap;

use yearbook_domain::{KeyId, Millis};

use super::sql_enum::RowContext;
use crate::catalog::transaction;
use crate::{Catalog, CatalogError};

/// Never turns the time back, for several hosts write it, unless a clock that was ahead wrote it:
/// from a day later.
const UPSERT_USE: &str = "
    INSERT INTO key_uses (key_id, used_at) SELECT id, $2 FROM keys WHERE id = $1
    ON CONFLICT (key_id) DO UPDATE SET used_at = excluded.used_at
    WHERE key_uses.used_at < excluded.used_at OR key_uses.used_at > excluded.used_at + 86400000";

const USES: &str = "SELECT key_id, used_at FROM key_uses";

impl Catalog {
    /// Stores when keys were last used. Keys that do not exist any more are left out.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer.
    pub async fn record_key_uses(&self, uses: &[(KeyId, Millis)]) -> Result<(), CatalogError> {
        transaction!(self, "note the use of keys", Write, |connection| async {
            // Each row stays locked until the end: one order for all hosts rules deadlocks out.
            let mut uses: Vec<&(KeyId, Millis)> = uses.iter().collect();
            uses.sort_unstable_by(|left, right| left.0.cmp(&right.0));
            for (key, at) in uses {
                connection.query(UPSERT_USE).bind(key.as_str()).bind(at.0).execute().await?;
            }
            Ok(())
        })
    }

    /// Reads when each key was last used, to the minute; keys that were never used are left out.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer.
    pub async fn key_uses(&self) -> Result<HashMap<KeyId, Millis>, CatalogError> {
        transaction!(self, "list the use of keys", SingleRead, |connection| async {
            let rows: Vec<(String, i64)> = connection.query(USES).all().await?;
            let read = |(key, at): (String, i64)| {
                let place = RowContext { table: "key_uses", row: &key };
                Ok((place.parse("key_id", &key)?, Millis(at)))
            };
            rows.into_iter().map(read).collect()
        })
    }
}
