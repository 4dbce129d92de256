//! The queue of mails: rows that wait until they are handed over, each leased to one host while it
//! sends. Never sees an address or a text: what a row holds is sealed.

use yearbook_domain::Millis;

use super::signup_links::{
    self, NewSignupLink, QueueOutcome, SignupBounds, SignupHmac, date_future,
};
use super::sql_enum::RowContext;
use crate::catalog::transaction;
use crate::sql::{Connection, Statement};
use crate::{Catalog, CatalogError};

const INSERT_MAIL: &str = "
    INSERT INTO mails (id, address_hmac, sealed, created_at, expires_at, attempts, due_at)
    VALUES ($1, $2, $3, $4, $5, 0, $4)";

const MAILS: &str = "
    SELECT id, address_hmac, sealed, created_at, expires_at, attempts FROM mails
    WHERE expires_at > $1 ORDER BY created_at, id";

const DUE: &str =
    "SELECT count(*) FROM mails WHERE (due_at <= $1 OR due_at > $2) AND expires_at > $1";

const WAITING: &str = "SELECT count(*) FROM mails WHERE expires_at > $1";

/// Takes the mail that has been due for longest. The condition stands twice: of two hosts that have
/// chosen one mail, the later one finds its lease taken. A clock that was ahead put off what is due
/// after `$3`.
const CLAIM_MAIL: &str = "
    UPDATE mails SET due_at = $2, attempts = attempts + 1
    WHERE id = (
        SELECT id FROM mails WHERE (due_at <= $1 OR due_at > $3) AND expires_at > $1
        ORDER BY due_at, id LIMIT 1
    ) AND (due_at <= $1 OR due_at > $3)
    RETURNING id, address_hmac, sealed, created_at, expires_at, attempts";

const DEFER_MAIL: &str = "UPDATE mails SET due_at = $2 WHERE id = $1";

const DELETE_MAIL: &str = "DELETE FROM mails WHERE id = $1";

/// Dates mails that a clock that was ahead has queued, after `$2`, from now on.
const DATE_FUTURE_MAILS: &str =
    "UPDATE mails SET created_at = $1, expires_at = $3 WHERE created_at > $2";

const DELETE_EXPIRED_MAILS: &str = "DELETE FROM mails WHERE expires_at <= $1";

/// Time, milliseconds, that neither a lease nor a pause between two attempts reaches.
const LONGEST_PAUSE_MS: i64 = 3_600_000;

/// A mail that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuedMail {
    /// Identifier, which is no secret.
    pub id: String,
    /// The address that it goes to.
    pub address: SignupHmac,
    /// Address and link, which only the holder of the installation's secret can read.
    pub sealed: Vec<u8>,
    /// Time of the request.
    pub created_at: Millis,
    /// Time from which it is not sent any more.
    pub expires_at: Millis,
    /// Attempts to send it so far, one under way included.
    pub attempts: u64,
}

impl Catalog {
    /// Adds a link and its mail if all `bounds` allow it: exact however many hosts ask at once.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer.
    pub async fn queue_mail(
        &self,
        link: &NewSignupLink,
        mail: &QueuedMail,
        bounds: SignupBounds,
    ) -> Result<QueueOutcome, CatalogError> {
        let queued = |outcome: &QueueOutcome| *outcome == QueueOutcome::Queued;
        transaction!(self, "queue a mail", Write, queued, |connection| async {
            let outcome = signup_links::admit(connection, link, bounds).await?;
            if outcome == QueueOutcome::Queued {
                signup_links::insert(connection, link, None).await?;
                insert(connection, mail).await?;
            }
            Ok(outcome)
        })
    }

    /// Lists the mails that wait, oldest first.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer.
    pub async fn mails(&self, now: Millis) -> Result<Vec<QueuedMail>, CatalogError> {
        transaction!(self, "list mails", SingleRead, |connection| async {
            let rows: Vec<MailRow> = connection.query(MAILS).bind(now.0).all().await?;
            rows.into_iter().map(MailRow::read).collect()
        })
    }

    /// Counts the mails that wait.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer.
    pub async fn waiting_mails(&self, now: Millis) -> Result<u64, CatalogError> {
        transaction!(self, "count mails", SingleRead, |connection| {
            count(connection.query(WAITING).bind(now.0))
        })
    }

    /// Counts the mails whose next attempt is due.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer.
    pub async fn due_mails(&self, now: Millis) -> Result<u64, CatalogError> {
        transaction!(self, "count due mails", SingleRead, |connection| {
            count(connection.query(DUE).bind(now.0).bind(put_off(now)))
        })
    }

    /// Leases a mail that is due until `lease_ends`; no other host gets it before. None: no mail is
    /// due.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer.
    pub async fn claim_mail(
        &self,
        now: Millis,
        lease_ends: Millis,
    ) -> Result<Option<QueuedMail>, CatalogError> {
        transaction!(self, "claim a mail", Write, |connection| async {
            let statement = connection.query(CLAIM_MAIL).bind(now.0).bind(lease_ends.0);
            let claimed: Option<MailRow> = statement.bind(put_off(now)).fetch_optional().await?;
            claimed.map(MailRow::read).transpose()
        })
    }

    /// Ends the lease of a mail that was not handed over; `due_at` is its next attempt.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer.
    pub async fn defer_mail(&self, id: &str, due_at: Millis) -> Result<(), CatalogError> {
        transaction!(self, "defer a mail", Write, |connection| async {
            connection.query(DEFER_MAIL).bind(id).bind(due_at.0).execute().await.map(drop)
        })
    }

    /// Deletes a mail that is handed over, or never will be. False when there is none.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer.
    pub async fn delete_mail(&self, id: &str) -> Result<bool, CatalogError> {
        transaction!(self, "delete a mail", Write, |connection| async {
            Ok(connection.query(DELETE_MAIL).bind(id).execute().await? > 0)
        })
    }
}

/// A row of `mails`.
#[derive(sqlx::FromRow)]
struct MailRow {
    id: String,
    address_hmac: Vec<u8>,
    sealed: Vec<u8>,
    created_at: i64,
    expires_at: i64,
    attempts: i64,
}

impl MailRow {
    fn read(self) -> Result<QueuedMail, sqlx::Error> {
        let context = RowContext { table: "mails", row: &self.id };
        Ok(QueuedMail {
            attempts: context.count("attempts", self.attempts)?,
            address: context.bytes32("address_hmac", &self.address_hmac)?,
            sealed: self.sealed,
            created_at: Millis(self.created_at),
            expires_at: Millis(self.expires_at),
            id: self.id,
        })
    }
}

async fn insert(connection: &mut Connection<'_>, mail: &QueuedMail) -> Result<(), sqlx::Error> {
    connection
        .query(INSERT_MAIL)
        .bind(&mail.id)
        .bind(mail.address.as_slice())
        .bind(mail.sealed.as_slice())
        .bind(mail.created_at.0)
        .bind(mail.expires_at.0)
        .execute()
        .await
        .map(drop)
}

/// Time after which no mail is due at `now` but those of a clock that was ahead.
fn put_off(now: Millis) -> i64 {
    now.0.saturating_add(LONGEST_PAUSE_MS)
}

async fn count(statement: Statement<'_>) -> Result<u64, sqlx::Error> {
    let (count,): (i64,) = statement.fetch_one().await?;
    RowContext { table: "mails", row: "all" }.count("count", count)
}

/// Deletes the mails that nobody handed over in time, and with them the addresses. Dates those of
/// the future from now on.
pub(super) async fn delete_expired(
    connection: &mut Connection<'_>,
    now: Millis,
) -> Result<u64, sqlx::Error> {
    date_future(connection, DATE_FUTURE_MAILS, now).await?;
    connection.query(DELETE_EXPIRED_MAILS).bind(now.0).execute().await
}
