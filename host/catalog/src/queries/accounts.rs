//! Accounts of sign-up and their keys. An account is known by the HMAC of its address, and every
//! change of it uses up a mailed link in the same transaction, so that a link works once whatever
//! hosts it reaches. Never sees an address, a link or a key.

use yearbook_domain::{KeyId, Millis};

use super::bump_revision;
use super::keys::{self, KeyRecord, KeyRow};
use super::signup_links::{self, NewSignupLink, QueueOutcome, SignupBounds, SignupHmac};
use super::sql_enum::RowContext;
use super::webhooks::{self, NewWebhook, WebhookRecord};
use crate::catalog::transaction;
use crate::sql::Connection;
use crate::{Catalog, CatalogError, KeyHash};

/// Adds the account or finds it, and locks its row: what becomes of one account is decided by one
/// transaction at a time.
const ENSURE_ACCOUNT: &str = "
    INSERT INTO accounts (id, address_hmac, created_at, deleted_at) VALUES ($1, $2, $3, NULL)
    ON CONFLICT (address_hmac) DO UPDATE SET address_hmac = excluded.address_hmac
    RETURNING id, deleted_at";

const REOPEN_ACCOUNT: &str = "UPDATE accounts SET deleted_at = NULL, created_at = $2 WHERE id = $1";

/// Finds an account that is not deleted, and locks its row.
const LOCK_ACCOUNT: &str = "
    UPDATE accounts SET created_at = created_at WHERE address_hmac = $1 AND deleted_at IS NULL
    RETURNING id";

const ACCOUNT: &str =
    "SELECT id, created_at FROM accounts WHERE address_hmac = $1 AND deleted_at IS NULL";

const MARK_DELETED: &str = "UPDATE accounts SET deleted_at = $2 WHERE id = $1";

/// The key that the account's requests are counted under.
const FIRST_KEY: &str = "SELECT id FROM keys WHERE account = $1 AND usage_key IS NULL";

const WORKING_KEYS: &str = "
    SELECT id, label, plan, created_at, revoked_at FROM keys
    WHERE account = $1 AND (revoked_at IS NULL OR revoked_at > $2) ORDER BY created_at, id";

/// Ends the keys that would work for longer.
const END_KEYS: &str = "
    UPDATE keys SET revoked_at = $2
    WHERE account = $1 AND (revoked_at IS NULL OR revoked_at > $2)";

/// Every link to rows that was made with a key of the account has ended.
const END_LINKS: &str = "UPDATE keys SET link_epoch = link_epoch + 1 WHERE account = $1";

const DELETE_MAILS_OF_ADDRESS: &str = "DELETE FROM mails WHERE address_hmac = $1";

/// An account that is not deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountRecord {
    /// Identifier, which is no secret.
    pub id: String,
    /// Time at which it was opened.
    pub created_at: Millis,
    /// The key under whose id its requests are counted.
    pub usage_key: KeyId,
    /// The keys that work now, oldest first.
    pub keys: Vec<KeyRecord>,
    /// Addresses that are told of new versions, oldest first.
    pub webhooks: Vec<WebhookRecord>,
}

/// A key to add to an account.
#[derive(Clone, Debug)]
pub struct NewAccountKey {
    /// Identifier of the account, if there is none yet.
    pub account_id: String,
    /// The key.
    pub record: KeyRecord,
    /// Its hash.
    pub hash: KeyHash,
}

/// Change of an account.
#[derive(Clone, Debug)]
pub enum AccountChange {
    /// A first key; opens the account.
    Open(NewAccountKey),
    /// A new key, whose predecessors end at the given instant at the latest.
    Replace(NewAccountKey, Millis),
    /// The end of every link to rows so far.
    EndLinks,
    /// The end of every key.
    Revoke,
    /// One more address that is told of new versions.
    AddWebhook(NewWebhook),
    /// The end of the address with this id.
    RemoveWebhook(String),
    /// The end of every key and of the account.
    Delete,
}

/// Outcome of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccountOutcome {
    /// The change is made and the link used up.
    Done,
    /// Nothing changed: the link was used, has expired or never existed.
    LinkGone,
    /// Nothing changed, and the link stays valid: there is an account already (opening), or none
    /// (every other change).
    OtherState,
    /// Nothing changed, and the link stays valid: the account has as many addresses that are told
    /// of new versions as it may have.
    TooManyWebhooks,
}

impl Catalog {
    /// Reads the account of an address; `None` when there is none or it is deleted.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer.
    pub async fn account(
        &self,
        address: &SignupHmac,
        now: Millis,
    ) -> Result<Option<AccountRecord>, CatalogError> {
        transaction!(self, "read an account", Read, |connection| async {
            let found: Option<(String, i64)> =
                connection.query(ACCOUNT).bind(address.as_slice()).fetch_optional().await?;
            let Some((id, created_at)) = found else { return Ok(None) };
            let first = first_key(connection, &id).await?.ok_or(sqlx::Error::RowNotFound)?;
            let usage_key = RowContext { table: "keys", row: &first }.parse("id", &first)?;
            let rows: Vec<KeyRow> =
                connection.query(WORKING_KEYS).bind(&id).bind(now.0).all().await?;
            let keys = rows.into_iter().map(KeyRow::read).collect::<Result<_, _>>()?;
            let webhooks = webhooks::of_account(connection, &id).await?;
            let created_at = Millis(created_at);
            Ok(Some(AccountRecord { id, created_at, usage_key, keys, webhooks }))
        })
    }

    /// Uses the link with this hash up and changes the account of its address.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer; nothing changed then, unless the
    /// error is [`CatalogError::CommitUnknown`].
    pub async fn change_account(
        &self,
        link: &[u8; 32],
        change: &AccountChange,
        now: Millis,
    ) -> Result<AccountOutcome, CatalogError> {
        let done = |outcome: &AccountOutcome| *outcome == AccountOutcome::Done;
        transaction!(self, "change an account", Write, done, |connection| {
            change_by_link(connection, link, change, now)
        })
    }

    /// Issues a key to an address that nobody confirmed, within `bounds`: opens its account, or
    /// adds to it and ends the earlier keys at `others_end`. The link is stored as used, to be
    /// counted.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer.
    pub async fn issue_unconfirmed(
        &self,
        link: &NewSignupLink,
        key: &NewAccountKey,
        others_end: Millis,
        bounds: SignupBounds,
    ) -> Result<QueueOutcome, CatalogError> {
        let queued = |outcome: &QueueOutcome| *outcome == QueueOutcome::Queued;
        transaction!(self, "issue a key", Write, queued, |connection| async {
            let outcome = signup_links::admit(connection, link, bounds).await?;
            if outcome != QueueOutcome::Queued {
                return Ok(outcome);
            }
            signup_links::insert(connection, link, Some(link.at)).await?;
            if open(connection, &link.address, key).await? == AccountOutcome::OtherState {
                let account =
                    lock(connection, &link.address).await?.ok_or(sqlx::Error::RowNotFound)?;
                end_keys(connection, &account, others_end).await?;
                insert_key(connection, &account, key).await?;
                bump_revision(connection).await?;
            }
            Ok(outcome)
        })
    }
}

async fn change_by_link(
    connection: &mut Connection<'_>,
    link: &[u8; 32],
    change: &AccountChange,
    now: Millis,
) -> Result<AccountOutcome, sqlx::Error> {
    let Some(address) = signup_links::take(connection, link, now).await? else {
        return Ok(AccountOutcome::LinkGone);
    };
    if let AccountChange::Open(key) = change {
        return open(connection, &address, key).await;
    }
    let Some(account) = lock(connection, &address).await? else {
        return Ok(AccountOutcome::OtherState);
    };
    match change {
        AccountChange::Open(_) | AccountChange::Revoke => {
            end_keys(connection, &account, now).await?;
        }
        AccountChange::EndLinks => {
            connection.query(END_LINKS).bind(&account).execute().await?;
        }
        AccountChange::Replace(key, others_end) => {
            end_keys(connection, &account, *others_end).await?;
            insert_key(connection, &account, key).await?;
        }
        AccountChange::AddWebhook(webhook) => {
            if !webhooks::insert_of_account(connection, &account, webhook).await? {
                return Ok(AccountOutcome::TooManyWebhooks);
            }
        }
        AccountChange::RemoveWebhook(id) => {
            webhooks::remove(connection, id, Some(&account)).await?;
        }
        AccountChange::Delete => {
            end_keys(connection, &account, now).await?;
            webhooks::remove_of_account(connection, &account).await?;
            connection.query(MARK_DELETED).bind(&account).bind(now.0).execute().await?;
            let mails = connection.query(DELETE_MAILS_OF_ADDRESS).bind(address.as_slice());
            mails.execute().await?;
        }
    }
    bump_revision(connection).await?;
    Ok(AccountOutcome::Done)
}

async fn open(
    connection: &mut Connection<'_>,
    address: &SignupHmac,
    key: &NewAccountKey,
) -> Result<AccountOutcome, sqlx::Error> {
    let (account, deleted_at): (String, Option<i64>) = connection
        .query(ENSURE_ACCOUNT)
        .bind(&key.account_id)
        .bind(address.as_slice())
        .bind(key.record.created_at.0)
        .fetch_one()
        .await?;
    if deleted_at.is_some() {
        let reopened = key.record.created_at.0;
        connection.query(REOPEN_ACCOUNT).bind(&account).bind(reopened).execute().await?;
    } else if account != key.account_id {
        return Ok(AccountOutcome::OtherState);
    }
    insert_key(connection, &account, key).await?;
    bump_revision(connection).await?;
    Ok(AccountOutcome::Done)
}

async fn lock(
    connection: &mut Connection<'_>,
    address: &SignupHmac,
) -> Result<Option<String>, sqlx::Error> {
    let found: Option<(String,)> =
        connection.query(LOCK_ACCOUNT).bind(address.as_slice()).fetch_optional().await?;
    Ok(found.map(|(id,)| id))
}

async fn first_key(
    connection: &mut Connection<'_>,
    account: &str,
) -> Result<Option<String>, sqlx::Error> {
    let found: Option<(String,)> =
        connection.query(FIRST_KEY).bind(account).fetch_optional().await?;
    Ok(found.map(|(id,)| id))
}

async fn end_keys(
    connection: &mut Connection<'_>,
    account: &str,
    at: Millis,
) -> Result<(), sqlx::Error> {
    connection.query(END_KEYS).bind(account).bind(at.0).execute().await.map(drop)
}

/// Adds a key that is counted with the first one of the account.
async fn insert_key(
    connection: &mut Connection<'_>,
    account: &str,
    NewAccountKey { record, hash, .. }: &NewAccountKey,
) -> Result<(), sqlx::Error> {
    let usage_key = first_key(connection, account).await?;
    keys::insert(connection, record, hash, Some((account, usage_key.as_deref()))).await
}
