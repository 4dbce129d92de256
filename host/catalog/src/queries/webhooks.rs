//! Addresses that are told of each version (contract-21-webhooks), each with the entry of the log
//! from which on it is to be told. Of several hosts, one attempts a message at a time. Never sends.

use yearbook_domain::{ChangeCounts, DatasetName, LargestRevision, LogEntry, Millis};

use super::changes::{known_counts, revision};
use super::log_entries;
use super::sql_enum::{RowContext, encode_u64};
use crate::catalog::transaction;
use crate::sql::Connection;
use crate::{Catalog, CatalogError};

/// Addresses of one account at most.
pub const WEBHOOKS_OF_AN_ACCOUNT: u64 = 5;

const INSERT: &str = "
    INSERT INTO webhooks (id, account, url, dataset, created_at, next_entry)
    VALUES ($1, $2, $3, $4, $5, $6)";

/// Selects addresses.
macro_rules! webhooks {
    ($which:literal) => {
        concat!(
            "SELECT id, account, url, dataset, created_at, attempts, last_failure, ended_at FROM webhooks",
            $which
        )
    };
}

const ALL: &str = webhooks!(" ORDER BY created_at, id");

const OF_ACCOUNT: &str = webhooks!(" WHERE account = $1 ORDER BY created_at, id");

const REMOVE: &str = "DELETE FROM webhooks WHERE id = $1 AND (account = $2 OR $2 IS NULL)";

const REMOVE_OF_ACCOUNT: &str = "DELETE FROM webhooks WHERE account = $1";

/// Time after which no attempt is due, milliseconds: longer than any pause. Only a clock that was
/// ahead put off what is due later.
const LONGEST_PAUSE_MS: i64 = 27 * 3_600_000;

/// Time by which a version may be later than this host's clock, milliseconds: it is some host's
/// own. Only a clock that was ahead dated what is later.
const CLOCK_SKEW_MS: i64 = 5 * 60_000;

/// Lists addresses that are to be told of something now; those that answered last time come first.
const DUE: &str = "
    SELECT w.id, w.url, w.attempts, w.due_at, l.entry
    FROM webhooks w JOIN log_entries l ON l.entry = CASE
        WHEN w.dataset IS NULL THEN (SELECT MIN(entry) FROM log_entries WHERE entry >= w.next_entry)
        ELSE (SELECT MIN(entry) FROM log_entries WHERE dataset = w.dataset AND entry >= w.next_entry)
    END
    WHERE w.ended_at IS NULL AND (w.due_at <= $1 OR w.due_at > $2)
    AND (l.released_at <= $3 OR l.released_at > $4)
    ORDER BY w.attempts, w.due_at, w.id LIMIT $5";

const CLAIM: &str = "
    UPDATE webhooks SET due_at = $3
    WHERE id = $1 AND due_at = $2 AND attempts = $4 AND next_entry <= $5 AND ended_at IS NULL";

const DELIVERED: &str = "
    UPDATE webhooks SET next_entry = $2 + 1, attempts = 0, due_at = 0, last_failure = NULL
    WHERE id = $1 AND next_entry <= $2";

const FAILED: &str = "
    UPDATE webhooks SET attempts = attempts + 1, due_at = $3, last_failure = $4, ended_at = $5
    WHERE id = $1 AND next_entry <= $2";

const FACTS: &str = "
    SELECT s.row_count, c.inserted, c.deleted, c.updated, c.largest_revision
    FROM log_entries l
    LEFT JOIN snapshots s ON s.dataset = l.dataset AND s.version = l.version
    LEFT JOIN changes c ON c.dataset = l.dataset AND c.version = l.version
    WHERE l.entry = $1";

/// An address to add.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewWebhook {
    /// Identifier, which is no secret.
    pub id: String,
    /// The address.
    pub url: String,
    /// The dataset whose versions it is told of; `None`: every dataset.
    pub dataset: Option<DatasetName>,
    /// Time at which it is added.
    pub created_at: Millis,
}

/// An address that is told of each version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookRecord {
    /// Identifier, which is no secret.
    pub id: String,
    /// Account that it belongs to; `None`: the operator.
    pub account: Option<String>,
    /// The address.
    pub url: String,
    /// The dataset whose versions it is told of; `None`: every dataset.
    pub dataset: Option<DatasetName>,
    /// Time at which it was added.
    pub created_at: Millis,
    /// Failed attempts since a message was taken.
    pub attempts: u64,
    /// Reason why the last attempt failed; `None`: it did not.
    pub last_failure: Option<String>,
    /// Time from which nothing is sent there any more; `None`: it works.
    pub ended_at: Option<Millis>,
}

/// An address that is to be told of an entry of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueWebhook {
    /// Identifier.
    pub id: String,
    /// The address.
    pub url: String,
    /// Failed attempts for this entry.
    pub attempts: u64,
    /// Index of the entry.
    pub entry: u64,
    /// Time since which it is due.
    pub due_at: Millis,
}

/// A version that an address is told of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookFacts {
    /// Its entry of the log.
    pub entry: LogEntry,
    /// Number of its rows; `None` where the version was dropped since.
    pub rows: Option<u64>,
    /// Rows that it changed, where that is known.
    pub changes: Option<ChangeCounts>,
    /// The value that it revised most.
    pub largest_revision: Option<LargestRevision>,
}

/// Outcome of a failed attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterFailure {
    /// There is another attempt at this time.
    Retry(Millis),
    /// The address ends at this time.
    End(Millis),
}

impl Catalog {
    /// Adds an address of the operator.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database takes no writes.
    pub async fn add_webhook(&self, webhook: &NewWebhook) -> Result<(), CatalogError> {
        transaction!(self, "add a webhook", Write, |connection| async {
            insert(connection, None, webhook).await
        })
    }

    /// Lists all addresses, oldest first.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer.
    pub async fn webhooks(&self) -> Result<Vec<WebhookRecord>, CatalogError> {
        transaction!(self, "list webhooks", SingleRead, |connection| async {
            let rows: Vec<WebhookRow> = connection.query(ALL).all().await?;
            rows.into_iter().map(WebhookRow::read).collect()
        })
    }

    /// Removes an address, whomever it belongs to; returns false where there is none.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database takes no writes.
    pub async fn remove_webhook(&self, id: &str) -> Result<bool, CatalogError> {
        transaction!(self, "remove a webhook", Write, |connection| remove(connection, id, None))
    }

    /// Lists up to `most` addresses that are to be told of an entry that is older than `visible`.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer.
    pub async fn due_webhooks(
        &self,
        now: Millis,
        visible: Millis,
        most: usize,
    ) -> Result<Vec<DueWebhook>, CatalogError> {
        transaction!(self, "list webhooks that are due", SingleRead, |connection| async {
            let most = i64::try_from(most).unwrap_or(i64::MAX);
            let put_off = now.0.saturating_add(LONGEST_PAUSE_MS);
            let misdated = now.0.saturating_add(CLOCK_SKEW_MS);
            let statement = connection.query(DUE).bind(now.0).bind(put_off);
            let statement = statement.bind(visible.0).bind(misdated).bind(most);
            let rows: Vec<(String, String, i64, i64, i64)> = statement.all().await?;
            rows.into_iter()
                .map(|(id, url, attempts, due_at, entry)| {
                    let attempts = context(&id).count("attempts", attempts)?;
                    let entry = context(&id).count("entry", entry)?;
                    Ok(DueWebhook { id, url, attempts, entry, due_at: Millis(due_at) })
                })
                .collect()
        })
    }

    /// Takes an attempt until `lease_ends`; returns false where another host was faster.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database takes no writes.
    pub async fn claim_webhook(
        &self,
        webhook: &DueWebhook,
        lease_ends: Millis,
    ) -> Result<bool, CatalogError> {
        transaction!(self, "claim a webhook", Write, |connection| async {
            let statement = connection.query(CLAIM).bind(&webhook.id).bind(webhook.due_at.0);
            let statement = statement.bind(lease_ends.0).bind(encode_u64(webhook.attempts)?);
            Ok(statement.bind(encode_u64(webhook.entry)?).execute().await? > 0)
        })
    }

    /// Reads what an address is told of an entry of the log.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer.
    pub async fn webhook_facts(&self, entry: u64) -> Result<WebhookFacts, CatalogError> {
        transaction!(self, "read what a webhook is told", Read, |connection| async {
            let statement = connection.query(FACTS).bind(encode_u64(entry)?);
            let row: FactsRow = statement.fetch_one().await?;
            let mut entries = log_entries::range(connection, entry, 1).await?;
            row.read(entries.pop().ok_or(sqlx::Error::RowNotFound)?)
        })
    }

    /// Notes that an address took the message of an entry.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database takes no writes.
    pub async fn webhook_delivered(&self, webhook: &DueWebhook) -> Result<(), CatalogError> {
        transaction!(self, "note a delivery", Write, |connection| async {
            let statement = connection.query(DELIVERED).bind(&webhook.id);
            statement.bind(encode_u64(webhook.entry)?).execute().await.map(drop)
        })
    }

    /// Notes that an address did not take the message of an entry, and what becomes of it.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database takes no writes.
    pub async fn webhook_failed(
        &self,
        webhook: &DueWebhook,
        why: &str,
        then: AfterFailure,
    ) -> Result<(), CatalogError> {
        let (due_at, ended_at) = match then {
            AfterFailure::Retry(at) => (at, None),
            AfterFailure::End(at) => (at, Some(at.0)),
        };
        transaction!(self, "note a failed delivery", Write, |connection| async {
            let statement = connection.query(FAILED).bind(&webhook.id);
            let statement = statement.bind(encode_u64(webhook.entry)?).bind(due_at.0).bind(why);
            statement.bind(ended_at).execute().await.map(drop)
        })
    }
}

/// Adds an address, which is told of what is published from now on.
async fn insert(
    connection: &mut Connection<'_>,
    account: Option<&str>,
    webhook: &NewWebhook,
) -> Result<(), sqlx::Error> {
    let size = encode_u64(log_entries::size(connection).await?)?;
    let statement = connection.query(INSERT).bind(&webhook.id).bind(account).bind(&webhook.url);
    let dataset = webhook.dataset.as_ref().map(DatasetName::as_str);
    let statement = statement.bind(dataset).bind(webhook.created_at.0).bind(size);
    statement.execute().await.map(drop)
}

/// Adds an address of an account; returns false where it has as many as it may.
pub(super) async fn insert_of_account(
    connection: &mut Connection<'_>,
    account: &str,
    webhook: &NewWebhook,
) -> Result<bool, sqlx::Error> {
    let existing = of_account(connection, account).await?;
    if existing.len() as u64 >= WEBHOOKS_OF_AN_ACCOUNT {
        return Ok(false);
    }
    insert(connection, Some(account), webhook).await?;
    Ok(true)
}

/// Lists the addresses of an account.
pub(super) async fn of_account(
    connection: &mut Connection<'_>,
    account: &str,
) -> Result<Vec<WebhookRecord>, sqlx::Error> {
    let rows: Vec<WebhookRow> = connection.query(OF_ACCOUNT).bind(account).all().await?;
    rows.into_iter().map(WebhookRow::read).collect()
}

/// Removes an address, of `account` alone where there is one.
pub(super) async fn remove(
    connection: &mut Connection<'_>,
    id: &str,
    account: Option<&str>,
) -> Result<bool, sqlx::Error> {
    let removed = connection.query(REMOVE).bind(id).bind(account).execute().await?;
    Ok(removed > 0)
}

/// Removes all addresses of an account.
pub(super) async fn remove_of_account(
    connection: &mut Connection<'_>,
    account: &str,
) -> Result<(), sqlx::Error> {
    connection.query(REMOVE_OF_ACCOUNT).bind(account).execute().await.map(drop)
}

fn context(id: &str) -> RowContext<'_> {
    RowContext { table: "webhooks", row: id }
}

#[derive(sqlx::FromRow)]
struct WebhookRow {
    id: String,
    account: Option<String>,
    url: String,
    dataset: Option<String>,
    created_at: i64,
    attempts: i64,
    last_failure: Option<String>,
    ended_at: Option<i64>,
}

impl WebhookRow {
    fn read(self) -> Result<WebhookRecord, sqlx::Error> {
        let place = context(&self.id);
        let dataset = self.dataset.as_deref().map(|name| place.parse("dataset", name));
        Ok(WebhookRecord {
            dataset: dataset.transpose()?,
            attempts: place.count("attempts", self.attempts)?,
            account: self.account,
            url: self.url,
            created_at: Millis(self.created_at),
            last_failure: self.last_failure,
            ended_at: self.ended_at.map(Millis),
            id: self.id,
        })
    }
}

#[derive(sqlx::FromRow)]
struct FactsRow {
    row_count: Option<i64>,
    inserted: Option<i64>,
    deleted: Option<i64>,
    updated: Option<i64>,
    largest_revision: Option<String>,
}

impl FactsRow {
    fn read(self, entry: LogEntry) -> Result<WebhookFacts, sqlx::Error> {
        let id = entry.snapshot.to_string();
        let place = RowContext { table: "snapshots", row: &id };
        let rows = self.row_count.map(|rows| place.count("row_count", rows)).transpose()?;
        let changes = known_counts(&place, (self.inserted, self.deleted, self.updated))?;
        let largest_revision = revision(&place, self.largest_revision.as_deref())?;
        Ok(WebhookFacts { entry, rows, changes, largest_revision })
    }
}
