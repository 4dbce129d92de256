//! History of plugin releases: one event for each change. Never changes a release.

use serde::Serialize;
use yearbook_domain::Millis;

use super::ReleaseIdRow;
use crate::catalog::transaction;
use crate::sql::Connection;
use crate::{Catalog, CatalogError, ReleaseId};

const INSERT_EVENT: &str = "
    INSERT INTO plugin_events (kind, name, digest, what, by_whom, at, reason) VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING number";

const RELEASE_EVENTS: &str = "SELECT number, kind, name, digest, what, by_whom, at, reason FROM plugin_events ORDER BY number";

/// One event in the history of releases.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReleaseEvent {
    /// Grows with time.
    pub number: i64,
    /// The release.
    #[serde(flatten)]
    pub id: ReleaseId,
    /// A state's word, or `pinned` or `unpinned`.
    pub what: String,
    /// Author.
    pub by: String,
    /// Time of the event.
    #[serde(serialize_with = "serialize_rfc3339")]
    pub at: Millis,
    /// Reason, where one was given.
    pub reason: Option<String>,
}

fn serialize_rfc3339<S: serde::Serializer>(at: &Millis, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&at.to_rfc3339())
}

impl Catalog {
    /// Lists every event of plugin releases, oldest first.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer.
    pub async fn release_events(&self) -> Result<Vec<ReleaseEvent>, CatalogError> {
        transaction!(self, "list what happened to plugins", SingleRead, |connection| async {
            let rows: Vec<EventRow> = connection.query(RELEASE_EVENTS).all().await?;
            rows.into_iter().map(EventRow::read).collect()
        })
    }
}

/// A row of `plugin_events`.
#[derive(sqlx::FromRow)]
struct EventRow {
    number: i64,
    #[sqlx(flatten)]
    id: ReleaseIdRow,
    what: String,
    by_whom: String,
    at: i64,
    reason: Option<String>,
}

impl EventRow {
    fn read(self) -> Result<ReleaseEvent, sqlx::Error> {
        Ok(ReleaseEvent {
            number: self.number,
            id: self.id.read("plugin_events")?,
            what: self.what,
            by: self.by_whom,
            at: Millis(self.at),
            reason: self.reason,
        })
    }
}

/// Adds an event and returns its number.
pub(super) async fn insert_event(
    connection: &mut Connection<'_>,
    id: &ReleaseId,
    what: &str,
    by: &str,
    at: Millis,
    reason: Option<&str>,
) -> Result<i64, sqlx::Error> {
    let (number,): (i64,) = connection
        .query(INSERT_EVENT)
        .bind_release(id)
        .bind(what)
        .bind(by)
        .bind(at.0)
        .bind(reason)
        .fetch_one()
        .await?;
    Ok(number)
}
