//! Links that sign-up mails, each stored as a hash for 24 hours, and the bounds on their number.
//! Never sees a link, an address or the address of a client: hashes and HMACs alone.

use yearbook_domain::Millis;

use super::sql_enum::RowContext;
use crate::catalog::transaction;
use crate::sql::Connection;
use crate::{Catalog, CatalogError};

/// Serializes the transactions that count links before they add one: in PostgreSQL the row stays
/// locked until the end, and each statement sees what was committed before it.
pub(super) const PASS_GATE: &str = "UPDATE signup_gate SET passed = passed + 1 WHERE only_row = 1";

const LINKS_OF_ADDRESS: &str = "
    SELECT count(*) FROM signup_links
    WHERE address_hmac = $1 AND created_at > $2 AND created_at <= $3";

const LINKS_OF_NETWORK: &str = "
    SELECT count(*) FROM signup_links
    WHERE network_hmac = $1 AND created_at > $2 AND created_at <= $3";

const LINKS_OF_ALL: &str = "
    SELECT count(*), min(created_at) FROM signup_links WHERE created_at > $1 AND created_at <= $2";

const INSERT_LINK: &str = "
    INSERT INTO signup_links (hash, address_hmac, network_hmac, created_at, expires_at, used_at)
    VALUES ($1, $2, $3, $4, $5, $6)";

const LINK: &str =
    "SELECT address_hmac FROM signup_links WHERE hash = $1 AND used_at IS NULL AND expires_at > $2";

const USE_LINK: &str = "
    UPDATE signup_links SET used_at = $2 WHERE hash = $1 AND used_at IS NULL AND expires_at > $2
    RETURNING address_hmac";

/// Dates links that a clock that was ahead has made, after `$2`, from now on.
const DATE_FUTURE_LINKS: &str =
    "UPDATE signup_links SET created_at = $1, expires_at = $3 WHERE created_at > $2";

const DELETE_EXPIRED_LINKS: &str = "DELETE FROM signup_links WHERE expires_at <= $1";

/// HMAC of an address, or of a network, under a secret of the installation.
pub type SignupHmac = [u8; 32];

/// Time that links are valid and count against the bounds, milliseconds.
pub const LINK_LIFETIME_MS: i64 = 24 * 3_600_000;

/// Difference between the clocks of hosts, milliseconds, up to which links of the future count: a
/// clock that was ahead by more must not fill the bounds until that time has come.
const CLOCK_SKEW_MS: i64 = 5 * 60_000;

/// Time, milliseconds, by which what was made in the future was made by a clock that was ahead: no
/// two hosts differ so much for long.
const FUTURE_MS: i64 = 3_600_000;

/// Gives a whole life from `now` on to what was made in the future, as `statement` says.
pub(super) async fn date_future(
    connection: &mut Connection<'_>,
    statement: &'static str,
    now: Millis,
) -> Result<(), sqlx::Error> {
    let (future, ends) = (now.0.saturating_add(FUTURE_MS), now.0.saturating_add(LINK_LIFETIME_MS));
    connection.query(statement).bind(now.0).bind(future).bind(ends).execute().await.map(drop)
}

/// A link to add.
#[derive(Clone, Copy, Debug)]
pub struct NewSignupLink {
    /// SHA-256 of the link's token.
    pub hash: [u8; 32],
    /// The address that it is mailed to.
    pub address: SignupHmac,
    /// The network that asked for it.
    pub network: SignupHmac,
    /// Time of the request.
    pub at: Millis,
}

/// Mails in 24 hours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignupBounds {
    /// To one address.
    pub per_address: u32,
    /// Asked for from one network.
    pub per_network: u32,
    /// Of the installation.
    pub in_all: u32,
}

/// Outcome of a request for a mail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueOutcome {
    /// The mail waits.
    Queued,
    /// Nothing was stored: the address has had its mails.
    AddressExhausted,
    /// Nothing was stored: the network has had its mails.
    NetworkExhausted,
    /// Nothing was stored: the installation has had its mails until at least this instant.
    InstallationExhausted {
        /// The instant at which the oldest link expires.
        until: Millis,
    },
}

impl Catalog {
    /// Reads whose link this is; `None` when it was used, has expired or never existed. Consumes
    /// nothing.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer.
    pub async fn link_address(
        &self,
        hash: &[u8; 32],
        now: Millis,
    ) -> Result<Option<SignupHmac>, CatalogError> {
        transaction!(self, "look a link up", SingleRead, |connection| async {
            let found: Option<(Vec<u8>,)> =
                connection.query(LINK).bind(hash.as_slice()).bind(now.0).fetch_optional().await?;
            found.map(read_address).transpose()
        })
    }
}

/// Decides whether one more link fits the bounds. No other host decides until the transaction ends.
pub(super) async fn admit(
    connection: &mut Connection<'_>,
    link: &NewSignupLink,
    bounds: SignupBounds,
) -> Result<QueueOutcome, sqlx::Error> {
    connection.query(PASS_GATE).execute().await?;
    let since = link.at.0.saturating_sub(LINK_LIFETIME_MS);
    let latest = link.at.0.saturating_add(CLOCK_SKEW_MS);
    let (all, oldest): (i64, Option<i64>) =
        connection.query(LINKS_OF_ALL).bind(since).bind(latest).fetch_one().await?;
    if all >= i64::from(bounds.in_all) {
        let oldest = oldest.unwrap_or(link.at.0);
        return Ok(QueueOutcome::InstallationExhausted {
            until: Millis(oldest.saturating_add(LINK_LIFETIME_MS)),
        });
    }
    for (statement, of, bound, exhausted) in [
        (LINKS_OF_NETWORK, link.network, bounds.per_network, QueueOutcome::NetworkExhausted),
        (LINKS_OF_ADDRESS, link.address, bounds.per_address, QueueOutcome::AddressExhausted),
    ] {
        let statement = connection.query(statement).bind(of.as_slice());
        let (links,): (i64,) = statement.bind(since).bind(latest).fetch_one().await?;
        if links >= i64::from(bound) {
            return Ok(exhausted);
        }
    }
    Ok(QueueOutcome::Queued)
}

pub(super) async fn insert(
    connection: &mut Connection<'_>,
    link: &NewSignupLink,
    used_at: Option<Millis>,
) -> Result<(), sqlx::Error> {
    connection
        .query(INSERT_LINK)
        .bind(link.hash.as_slice())
        .bind(link.address.as_slice())
        .bind(link.network.as_slice())
        .bind(link.at.0)
        .bind(link.at.0.saturating_add(LINK_LIFETIME_MS))
        .bind(used_at.map(|at| at.0))
        .execute()
        .await
        .map(drop)
}

fn read_address((hmac,): (Vec<u8>,)) -> Result<SignupHmac, sqlx::Error> {
    RowContext { table: "signup_links", row: "a row" }.bytes32("address_hmac", &hmac)
}

/// Uses a link up: of many that try, one gets the address.
pub(super) async fn take(
    connection: &mut Connection<'_>,
    hash: &[u8; 32],
    now: Millis,
) -> Result<Option<SignupHmac>, sqlx::Error> {
    let found: Option<(Vec<u8>,)> =
        connection.query(USE_LINK).bind(hash.as_slice()).bind(now.0).fetch_optional().await?;
    found.map(read_address).transpose()
}

/// Deletes the links that have expired, and dates those of the future from now on.
pub(super) async fn delete_expired(
    connection: &mut Connection<'_>,
    now: Millis,
) -> Result<u64, sqlx::Error> {
    date_future(connection, DATE_FUTURE_LINKS, now).await?;
    connection.query(DELETE_EXPIRED_LINKS).bind(now.0).execute().await
}
