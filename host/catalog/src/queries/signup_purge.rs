//! The end of what sign-up stores: expired links and mails, and accounts that were deleted in a
//! month that has ended.

use yearbook_domain::Millis;

use super::{mails, signup_links, webhooks};
use crate::catalog::transaction;
use crate::{Catalog, CatalogError};

/// Finds accounts that nothing counts for any more, and locks them before any key: one that is
/// being opened again is done first, and is none of them then.
const LOCK_FORGOTTEN_ACCOUNTS: &str =
    "UPDATE accounts SET deleted_at = deleted_at WHERE deleted_at < $1 RETURNING id";

const DELETE_USAGE: &str =
    "DELETE FROM usage WHERE key_id IN (SELECT id FROM keys WHERE account = $1)";

const DELETE_USES: &str =
    "DELETE FROM key_uses WHERE key_id IN (SELECT id FROM keys WHERE account = $1)";

const DELETE_KEYS: &str = "DELETE FROM keys WHERE account = $1";

const DELETE_ACCOUNT: &str = "DELETE FROM accounts WHERE id = $1";

/// Time after which nothing counts requests for a deleted account any more, milliseconds.
const SETTLED_MS: i64 = 24 * 3_600_000;

/// Rows that [`Catalog::purge_signup`] deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PurgedSignup {
    /// Mails that were not handed over in time.
    pub mails: u64,
    /// Links that had expired.
    pub links: u64,
    /// Accounts that were deleted in an earlier month.
    pub accounts: u64,
}

impl Catalog {
    /// Deletes expired links and mails, and the accounts that were deleted in a month that has
    /// ended, with their keys and counts.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer.
    pub async fn purge_signup(&self, now: Millis) -> Result<PurgedSignup, CatalogError> {
        transaction!(self, "purge sign-up", Write, |connection| async {
            let mut purged = PurgedSignup {
                mails: mails::delete_expired(connection, now).await?,
                links: signup_links::delete_expired(connection, now).await?,
                accounts: 0,
            };
            let before = now.month_start().0.min(now.0.saturating_sub(SETTLED_MS));
            let forgotten: Vec<(String,)> =
                connection.query(LOCK_FORGOTTEN_ACCOUNTS).bind(before).all().await?;
            for (account,) in forgotten {
                for statement in [DELETE_USAGE, DELETE_USES, DELETE_KEYS] {
                    connection.query(statement).bind(&account).execute().await?;
                }
                webhooks::remove_of_account(connection, &account).await?;
                purged.accounts +=
                    connection.query(DELETE_ACCOUNT).bind(&account).execute().await?;
            }
            Ok(purged)
        })
    }
}
