//! Plugin releases and their history, within a transaction.

use sqlx::SqliteConnection;
use yearbook_domain::Millis;

use crate::rows::{EventRow, ReleaseRow};
use crate::words::{Place, whole, word};
use crate::{Changed, PluginRelease, ReleaseChange, ReleaseEvent, ReleaseId, ReleaseState, Settlement, statements};

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
    if matches!(release.state, ReleaseState::Installed | ReleaseState::Promoted) {
        number_it(connection, &release.id, number).await?;
    }
    moved(connection).await?;
    Ok(true)
}

pub(super) async fn change(connection: &mut SqliteConnection, change: &ReleaseChange) -> Result<Changed, sqlx::Error> {
    let Some(stands) = stands(connection, &change.id).await? else { return Ok(Changed::NoSuchRelease) };
    if !stands.state.may_become(change.to) {
        return Ok(Changed::Not(stands.state));
    }
    // Whom an operator puts into service again begins anew.
    let quarantines = if change.to == ReleaseState::Promoted { 0 } else { stands.quarantines };
    apply(connection, change, None, quarantines).await?;
    Ok(Changed::Done)
}

pub(super) async fn settle(connection: &mut SqliteConnection, settlement: &Settlement) -> Result<bool, sqlx::Error> {
    let Settlement { change, from, against, until } = settlement;
    let Some(found) = stands(connection, &change.id).await? else { return Ok(false) };
    if found.state != *from || found.pinned || !from.may_become(change.to) {
        return Ok(false);
    }
    if let Some(digest) = against {
        let against = ReleaseId { digest: digest.clone(), ..change.id.clone() };
        if stands(connection, &against).await?.is_none_or(|stands| stands.state != ReleaseState::Promoted) {
            return Ok(false);
        }
    }
    let quarantines = found.quarantines.saturating_add(i64::from(change.to == ReleaseState::Quarantined));
    apply(connection, change, *until, quarantines).await?;
    Ok(true)
}

/// Where a release stands.
struct Stands {
    state: ReleaseState,
    pinned: bool,
    quarantines: i64,
}

async fn stands(connection: &mut SqliteConnection, id: &ReleaseId) -> Result<Option<Stands>, sqlx::Error> {
    let found: Option<(String, bool, i64)> =
        sqlx::query_as(statements::RELEASE_STANDS).bind(&id.kind).bind(&id.name).bind(&id.digest).fetch_optional(&mut *connection).await?;
    let Some((state, pinned, quarantines)) = found else { return Ok(None) };
    let state = Place { table: "plugin_releases", row: &id.name }.parse("state", &state)?;
    Ok(Some(Stands { state, pinned, quarantines }))
}

async fn apply(
    connection: &mut SqliteConnection,
    change: &ReleaseChange,
    until: Option<Millis>,
    quarantines: i64,
) -> Result<(), sqlx::Error> {
    let ReleaseChange { id, to, by, at, reason } = change;
    let number = tell(connection, id, to.as_str(), by, *at, reason.as_deref()).await?;
    sqlx::query(statements::CHANGE_RELEASE)
        .bind(&id.kind)
        .bind(&id.name)
        .bind(&id.digest)
        .bind(to.as_str())
        .bind(reason)
        .bind(until.map(|until| until.0))
        .bind(quarantines)
        .execute(&mut *connection)
        .await?;
    if matches!(to, ReleaseState::Installed | ReleaseState::Promoted) {
        number_it(connection, id, number).await?;
    }
    if *to == ReleaseState::Installed {
        sqlx::query(statements::FORGET_TRIALS).bind(&id.kind).bind(&id.name).bind(&id.digest).execute(&mut *connection).await?;
    }
    if *to != ReleaseState::Promoted {
        sqlx::query(statements::UNPIN_RELEASE).bind(&id.kind).bind(&id.name).bind(&id.digest).execute(&mut *connection).await?;
    }
    moved(connection).await
}

/// Writes down which event installed or promoted a release.
async fn number_it(connection: &mut SqliteConnection, id: &ReleaseId, number: i64) -> Result<(), sqlx::Error> {
    let query = sqlx::query(statements::NUMBER_RELEASE).bind(&id.kind).bind(&id.name).bind(&id.digest).bind(number);
    query.execute(connection).await.map(drop)
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
