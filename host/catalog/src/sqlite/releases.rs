//! Plugin releases and their history, within a transaction.

use sqlx::SqliteConnection;
use yearbook_domain::Millis;

use crate::rows::{EventRow, ReleaseRow};
use crate::words::{Place, whole, word};
use crate::{Changed, PluginRelease, ReleaseChange, ReleaseEvent, ReleaseId, ReleaseState, statements};

pub(super) async fn register(connection: &mut SqliteConnection, release: &PluginRelease) -> Result<bool, sqlx::Error> {
    let ReleaseId { kind, name, digest } = &release.id;
    let done = sqlx::query(statements::REGISTER_RELEASE)
        .bind(kind)
        .bind(name)
        .bind(digest)
        .bind(&release.version)
        .bind(whole(release.bytes)?)
        .bind(&release.by)
        .bind(release.installed_at.0)
        .bind(word(&release.state)?)
        .bind(release.built_in)
        .bind(&release.reason)
        .execute(&mut *connection)
        .await?;
    if done.rows_affected() == 0 {
        return Ok(false);
    }
    let number =
        tell(connection, &release.id, release.state.as_str(), &release.by, release.installed_at, release.reason.as_deref()).await?;
    if release.state == ReleaseState::Promoted {
        sqlx::query(statements::PROMOTE_RELEASE).bind(kind).bind(name).bind(digest).bind(number).execute(&mut *connection).await?;
    }
    moved(connection).await?;
    Ok(true)
}

pub(super) async fn change(connection: &mut SqliteConnection, change: &ReleaseChange) -> Result<Changed, sqlx::Error> {
    let ReleaseChange { id, to, by, at, reason } = change;
    let found: Option<String> = sqlx::query_scalar(statements::RELEASE_STATE)
        .bind(&id.kind)
        .bind(&id.name)
        .bind(&id.digest)
        .fetch_optional(&mut *connection)
        .await?;
    let Some(found) = found else { return Ok(Changed::NoSuchRelease) };
    let state: ReleaseState = Place { table: "plugin_releases", row: &id.name }.parse("state", &found)?;
    if !state.may_become(*to) {
        return Ok(Changed::Not(state));
    }
    let number = tell(connection, id, to.as_str(), by, *at, reason.as_deref()).await?;
    sqlx::query(statements::CHANGE_RELEASE)
        .bind(&id.kind)
        .bind(&id.name)
        .bind(&id.digest)
        .bind(to.as_str())
        .bind(reason)
        .execute(&mut *connection)
        .await?;
    let follow = if *to == ReleaseState::Promoted { statements::PROMOTE_RELEASE } else { statements::UNPIN_RELEASE };
    sqlx::query(follow).bind(&id.kind).bind(&id.name).bind(&id.digest).bind(number).execute(&mut *connection).await?;
    moved(connection).await?;
    Ok(Changed::Done)
}

pub(super) async fn pin(connection: &mut SqliteConnection, id: &ReleaseId, to: bool, by: &str, at: Millis) -> Result<bool, sqlx::Error> {
    if to {
        // The pin that the name has goes first: a name has one.
        sqlx::query(statements::UNPIN_OTHERS).bind(&id.kind).bind(&id.name).bind(&id.digest).execute(&mut *connection).await?;
    }
    let done = sqlx::query(statements::PIN_RELEASE)
        .bind(&id.kind)
        .bind(&id.name)
        .bind(&id.digest)
        .bind(to)
        .bind(ReleaseState::Promoted.as_str())
        .execute(&mut *connection)
        .await?;
    if done.rows_affected() == 0 {
        return Ok(false);
    }
    tell(connection, id, if to { "pinned" } else { "unpinned" }, by, at, None).await?;
    moved(connection).await?;
    Ok(true)
}

pub(super) async fn all(connection: &mut SqliteConnection) -> Result<Vec<PluginRelease>, sqlx::Error> {
    let rows: Vec<ReleaseRow> = sqlx::query_as(statements::RELEASES).fetch_all(connection).await?;
    rows.into_iter().map(ReleaseRow::read).collect()
}

pub(super) async fn events(connection: &mut SqliteConnection) -> Result<Vec<ReleaseEvent>, sqlx::Error> {
    let rows: Vec<EventRow> = sqlx::query_as(statements::RELEASE_EVENTS).fetch_all(connection).await?;
    Ok(rows.into_iter().map(EventRow::read).collect())
}

/// Adds an event; its number.
async fn tell(
    connection: &mut SqliteConnection,
    id: &ReleaseId,
    what: &str,
    by: &str,
    at: Millis,
    reason: Option<&str>,
) -> Result<i64, sqlx::Error> {
    sqlx::query_scalar(statements::INSERT_EVENT)
        .bind(&id.kind)
        .bind(&id.name)
        .bind(&id.digest)
        .bind(what)
        .bind(by)
        .bind(at.0)
        .bind(reason)
        .fetch_one(connection)
        .await
}

async fn moved(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    sqlx::query(statements::MOVE_REVISION).execute(connection).await.map(drop)
}
