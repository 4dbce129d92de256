//! Plugin releases and their history, within a transaction.

use crate::sql::Connection;
use yearbook_domain::{Millis, Stored};

use super::unreferenced;
use crate::rows::{EventRow, ReleaseRow};
use crate::sql_enum::{RowContext, encode_enum, encode_u64};
use crate::{
    ChangeOutcome, PluginRelease, ReleaseChange, ReleaseEvent, ReleaseId, ReleaseState,
    StateTransition, statements,
};

pub(crate) async fn register(
    connection: &mut Connection<'_>,
    release: &PluginRelease,
    declarer: &str,
) -> Result<bool, sqlx::Error> {
    let ReleaseId { kind, name, digest } = &release.id;
    if current_state(connection, &release.id).await?.is_some() {
        return Ok(false);
    }
    unreferenced::claim_reference(connection, &Stored::component(digest), declarer).await?;
    connection
        .query(statements::REGISTER_RELEASE)
        .bind(kind)
        .bind(name)
        .bind(digest)
        .bind(&release.version)
        .bind(encode_u64(release.bytes)?)
        .bind(&release.by)
        .bind(release.installed_at.0)
        .bind(encode_enum(&release.state)?)
        .bind(release.built_in)
        .bind(&release.reason)
        .execute()
        .await?;
    let number = insert_event(
        connection,
        &release.id,
        release.state.as_str(),
        &release.by,
        release.installed_at,
        release.reason.as_deref(),
    )
    .await?;
    if matches!(release.state, ReleaseState::Installed | ReleaseState::Promoted) {
        set_promotion(connection, &release.id, number).await?;
    }
    bump_revision(connection).await?;
    Ok(true)
}

pub(crate) async fn change(
    connection: &mut Connection<'_>,
    change: &ReleaseChange,
    declarer: &str,
) -> Result<ChangeOutcome, sqlx::Error> {
    let Some(stands) = current_state(connection, &change.id).await? else {
        return Ok(ChangeOutcome::NoSuchRelease);
    };
    if !stands.state.can_transition_to(change.to) {
        return Ok(ChangeOutcome::NotAllowedFrom(stands.state));
    }
    let component = Stored::component(&change.id.digest);
    if stands.state == ReleaseState::Removed {
        unreferenced::claim_reference(connection, &component, declarer).await?;
    }
    // Whom an operator puts into service again begins anew.
    let quarantines = if change.to == ReleaseState::Promoted { 0 } else { stands.quarantines };
    apply_change(connection, change, None, quarantines).await?;
    if change.to == ReleaseState::Removed {
        unreferenced::drop_references(connection, &[component]).await?;
    }
    Ok(ChangeOutcome::Done)
}

pub(crate) async fn transition(
    connection: &mut Connection<'_>,
    settlement: &StateTransition,
) -> Result<bool, sqlx::Error> {
    let StateTransition { change, from, against, until } = settlement;
    let Some(found) = current_state(connection, &change.id).await? else { return Ok(false) };
    if found.state != *from || found.pinned || !from.can_transition_to(change.to) {
        return Ok(false);
    }
    if let Some(digest) = against {
        let against = ReleaseId { digest: digest.clone(), ..change.id.clone() };
        if current_state(connection, &against)
            .await?
            .is_none_or(|stands| stands.state != ReleaseState::Promoted)
        {
            return Ok(false);
        }
    }
    let quarantines =
        found.quarantines.saturating_add(i64::from(change.to == ReleaseState::Quarantined));
    apply_change(connection, change, *until, quarantines).await?;
    Ok(true)
}

/// Where a release stands.
struct CurrentState {
    state: ReleaseState,
    pinned: bool,
    quarantines: i64,
}

async fn current_state(
    connection: &mut Connection<'_>,
    id: &ReleaseId,
) -> Result<Option<CurrentState>, sqlx::Error> {
    let found: Option<(String, bool, i64)> = connection
        .query(statements::RELEASE_STATE)
        .bind(&id.kind)
        .bind(&id.name)
        .bind(&id.digest)
        .fetch_optional()
        .await?;
    let Some((state, pinned, quarantines)) = found else { return Ok(None) };
    let state = RowContext { table: "plugin_releases", row: &id.name }.parse("state", &state)?;
    Ok(Some(CurrentState { state, pinned, quarantines }))
}

async fn apply_change(
    connection: &mut Connection<'_>,
    change: &ReleaseChange,
    until: Option<Millis>,
    quarantines: i64,
) -> Result<(), sqlx::Error> {
    let ReleaseChange { id, to, by, at, reason } = change;
    let number = insert_event(connection, id, to.as_str(), by, *at, reason.as_deref()).await?;
    connection
        .query(statements::CHANGE_RELEASE)
        .bind(&id.kind)
        .bind(&id.name)
        .bind(&id.digest)
        .bind(to.as_str())
        .bind(reason)
        .bind(until.map(|until| until.0))
        .bind(quarantines)
        .execute()
        .await?;
    if matches!(to, ReleaseState::Installed | ReleaseState::Promoted) {
        set_promotion(connection, id, number).await?;
    }
    if *to == ReleaseState::Installed {
        connection
            .query(statements::DELETE_CANARY_TOTALS)
            .bind(&id.kind)
            .bind(&id.name)
            .bind(&id.digest)
            .execute()
            .await?;
    }
    if *to != ReleaseState::Promoted {
        connection
            .query(statements::UNPIN_RELEASE)
            .bind(&id.kind)
            .bind(&id.name)
            .bind(&id.digest)
            .execute()
            .await?;
    }
    bump_revision(connection).await
}

/// Writes down which event installed or promoted a release.
async fn set_promotion(
    connection: &mut Connection<'_>,
    id: &ReleaseId,
    number: i64,
) -> Result<(), sqlx::Error> {
    let query = connection
        .query(statements::SET_RELEASE_PROMOTION)
        .bind(&id.kind)
        .bind(&id.name)
        .bind(&id.digest)
        .bind(number);
    query.execute().await.map(drop)
}

pub(crate) async fn pin(
    connection: &mut Connection<'_>,
    id: &ReleaseId,
    to: bool,
    by: &str,
    at: Millis,
) -> Result<bool, sqlx::Error> {
    if to {
        // The pin that the name has goes first: a name has one.
        connection
            .query(statements::UNPIN_OTHERS)
            .bind(&id.kind)
            .bind(&id.name)
            .bind(&id.digest)
            .execute()
            .await?;
    }
    let done = connection
        .query(statements::PIN_RELEASE)
        .bind(&id.kind)
        .bind(&id.name)
        .bind(&id.digest)
        .bind(to)
        .bind(ReleaseState::Promoted.as_str())
        .execute()
        .await?;
    if done == 0 {
        return Ok(false);
    }
    insert_event(connection, id, if to { "pinned" } else { "unpinned" }, by, at, None).await?;
    bump_revision(connection).await?;
    Ok(true)
}

pub(crate) async fn all(
    connection: &mut Connection<'_>,
) -> Result<Vec<PluginRelease>, sqlx::Error> {
    let rows: Vec<ReleaseRow> = connection.query(statements::RELEASES).all().await?;
    rows.into_iter().map(ReleaseRow::read).collect()
}

pub(crate) async fn events(
    connection: &mut Connection<'_>,
) -> Result<Vec<ReleaseEvent>, sqlx::Error> {
    let rows: Vec<EventRow> = connection.query(statements::RELEASE_EVENTS).all().await?;
    Ok(rows.into_iter().map(EventRow::read).collect())
}

/// Adds an event; its number.
async fn insert_event(
    connection: &mut Connection<'_>,
    id: &ReleaseId,
    what: &str,
    by: &str,
    at: Millis,
    reason: Option<&str>,
) -> Result<i64, sqlx::Error> {
    let (number,): (i64,) = connection
        .query(statements::INSERT_EVENT)
        .bind(&id.kind)
        .bind(&id.name)
        .bind(&id.digest)
        .bind(what)
        .bind(by)
        .bind(at.0)
        .bind(reason)
        .fetch_one()
        .await?;
    Ok(number)
}

async fn bump_revision(connection: &mut Connection<'_>) -> Result<(), sqlx::Error> {
    connection.query(statements::BUMP_REVISION).execute().await.map(drop)
}
