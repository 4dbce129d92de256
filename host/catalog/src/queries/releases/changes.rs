//! Changes of releases within a transaction: each is checked against the state that the release is
//! in, leaves an event, and bumps the revision where hosts must notice it.

use yearbook_domain::{Millis, ObjectKey};

use super::{ChangeOutcome, ReleaseChange, StateTransition};
use crate::queries::canary::delete_canary_totals;
use crate::queries::release_events::insert_event;
use crate::queries::sql_enum::{RowContext, encode_u64};
use crate::queries::{bump_revision, unreferenced};
use crate::sql::Connection;
use crate::{PluginRelease, ReleaseId, ReleaseOrigin, ReleaseState};

const REGISTER_RELEASE: &str = "
    INSERT INTO plugin_releases (kind, name, digest, version, bytes, installed_by, installed_at, state, built_in, reason, reference, reference_manifest)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";

const RELEASE_STATE: &str = "SELECT state, pinned, quarantines FROM plugin_releases WHERE kind = $1 AND name = $2 AND digest = $3";

const CHANGE_RELEASE: &str = "
    UPDATE plugin_releases SET state = $4, reason = $5, until = $6, quarantines = $7 WHERE kind = $1 AND name = $2 AND digest = $3";

const SET_RELEASE_ORIGIN: &str = "
    UPDATE plugin_releases SET reference = $4, reference_manifest = $5
    WHERE kind = $1 AND name = $2 AND digest = $3";

const SET_RELEASE_PROMOTION: &str =
    "UPDATE plugin_releases SET promotion = $4 WHERE kind = $1 AND name = $2 AND digest = $3";

const UNPIN_RELEASE: &str =
    "UPDATE plugin_releases SET pinned = FALSE WHERE kind = $1 AND name = $2 AND digest = $3";

const UNPIN_OTHERS: &str = "
    UPDATE plugin_releases SET pinned = FALSE WHERE kind = $1 AND name = $2 AND digest <> $3
    AND EXISTS (SELECT 1 FROM plugin_releases WHERE kind = $1 AND name = $2 AND digest = $3 AND state = 'promoted')";

const PIN_RELEASE: &str = "
    UPDATE plugin_releases SET pinned = $4
    WHERE kind = $1 AND name = $2 AND digest = $3 AND pinned <> $4 AND (state = $5 OR NOT $4)";

pub(super) async fn register(
    connection: &mut Connection<'_>,
    release: &PluginRelease,
    uploader: &str,
) -> Result<bool, sqlx::Error> {
    if current_state(connection, &release.id).await?.is_some() {
        if let Some(origin) = &release.origin {
            set_origin(connection, &release.id, origin).await?;
        }
        return Ok(false);
    }
    let component = ObjectKey::component(&release.id.digest);
    unreferenced::claim_reference(connection, &component, uploader).await?;
    connection
        .query(REGISTER_RELEASE)
        .bind_release(&release.id)
        .bind(&release.version)
        .bind(encode_u64(release.bytes)?)
        .bind(&release.by)
        .bind(release.installed_at.0)
        .bind(release.state.as_str())
        .bind(release.built_in)
        .bind(&release.reason)
        .bind(release.origin.as_ref().map(|origin| origin.reference.as_str()))
        .bind(release.origin.as_ref().map(|origin| origin.manifest.as_str()))
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

pub(super) async fn change_state(
    connection: &mut Connection<'_>,
    change: &ReleaseChange,
    uploader: &str,
) -> Result<ChangeOutcome, sqlx::Error> {
    let Some(current) = current_state(connection, &change.id).await? else {
        return Ok(ChangeOutcome::NoSuchRelease);
    };
    if !current.state.can_transition_to(change.to) {
        return Ok(ChangeOutcome::NotAllowedFrom(current.state));
    }
    let component = ObjectKey::component(&change.id.digest);
    if current.state == ReleaseState::Removed {
        unreferenced::claim_reference(connection, &component, uploader).await?;
    }
    // A release that an operator promotes again starts with a clean record.
    let quarantines = if change.to == ReleaseState::Promoted { 0 } else { current.quarantines };
    apply_change(connection, change, None, quarantines, true).await?;
    if change.to == ReleaseState::Removed {
        unreferenced::drop_references(connection, &[component]).await?;
    }
    Ok(ChangeOutcome::Done)
}

pub(super) async fn transition_state(
    connection: &mut Connection<'_>,
    transition: &StateTransition,
) -> Result<bool, sqlx::Error> {
    let StateTransition { change, from, against, until } = transition;
    let Some(current) = current_state(connection, &change.id).await? else { return Ok(false) };
    if current.state != *from || current.pinned || !from.can_transition_to(change.to) {
        return Ok(false);
    }
    if let Some(digest) = against {
        let against = ReleaseId { digest: *digest, ..change.id.clone() };
        if current_state(connection, &against)
            .await?
            .is_none_or(|promoted| promoted.state != ReleaseState::Promoted)
        {
            return Ok(false);
        }
    }
    let quarantines =
        current.quarantines.saturating_add(i64::from(change.to == ReleaseState::Quarantined));
    // Back from a quarantine it keeps its place: what was promoted meanwhile has replaced it.
    let is_numbered = *from != ReleaseState::Quarantined;
    apply_change(connection, change, *until, quarantines, is_numbered).await?;
    Ok(true)
}

/// State of a release, as far as a change of it needs to know.
struct CurrentState {
    state: ReleaseState,
    pinned: bool,
    quarantines: i64,
}

async fn current_state(
    connection: &mut Connection<'_>,
    id: &ReleaseId,
) -> Result<Option<CurrentState>, sqlx::Error> {
    let found: Option<(String, bool, i64)> =
        connection.query(RELEASE_STATE).bind_release(id).fetch_optional().await?;
    let Some((state, pinned, quarantines)) = found else { return Ok(None) };
    let state = RowContext { table: "plugin_releases", row: &id.name }.parse("state", &state)?;
    Ok(Some(CurrentState { state, pinned, quarantines }))
}

/// Stores a change that may be made. `is_numbered`: a release that is installed or promoted goes
/// before all earlier ones.
async fn apply_change(
    connection: &mut Connection<'_>,
    change: &ReleaseChange,
    until: Option<Millis>,
    quarantines: i64,
    is_numbered: bool,
) -> Result<(), sqlx::Error> {
    let ReleaseChange { id, to, by, at, reason } = change;
    let number = insert_event(connection, id, to.as_str(), by, *at, reason.as_deref()).await?;
    connection
        .query(CHANGE_RELEASE)
        .bind_release(id)
        .bind(to.as_str())
        .bind(reason)
        .bind(until.map(|until| until.0))
        .bind(quarantines)
        .execute()
        .await?;
    if is_numbered && matches!(to, ReleaseState::Installed | ReleaseState::Promoted) {
        set_promotion(connection, id, number).await?;
    }
    if *to == ReleaseState::Installed {
        delete_canary_totals(connection, id).await?;
    }
    if *to != ReleaseState::Promoted {
        connection.query(UNPIN_RELEASE).bind_release(id).execute().await?;
    }
    bump_revision(connection).await
}

/// Stores where a known release was installed from last. Nothing that serves changes, so neither
/// the revision nor the history does.
async fn set_origin(
    connection: &mut Connection<'_>,
    id: &ReleaseId,
    origin: &ReleaseOrigin,
) -> Result<(), sqlx::Error> {
    connection
        .query(SET_RELEASE_ORIGIN)
        .bind_release(id)
        .bind(&origin.reference)
        .bind(origin.manifest.as_str())
        .execute()
        .await
        .map(drop)
}

/// Stores the number of the event that installed or promoted a release.
async fn set_promotion(
    connection: &mut Connection<'_>,
    id: &ReleaseId,
    number: i64,
) -> Result<(), sqlx::Error> {
    let query = connection.query(SET_RELEASE_PROMOTION).bind_release(id).bind(number);
    query.execute().await.map(drop)
}

pub(super) async fn pin(
    connection: &mut Connection<'_>,
    id: &ReleaseId,
    to: bool,
    by: &str,
    at: Millis,
) -> Result<bool, sqlx::Error> {
    if to {
        // The pin that the name has goes first: a name has one.
        connection.query(UNPIN_OTHERS).bind_release(id).execute().await?;
    }
    let changed = connection
        .query(PIN_RELEASE)
        .bind_release(id)
        .bind(to)
        .bind(ReleaseState::Promoted.as_str())
        .execute()
        .await?;
    if changed == 0 {
        return Ok(false);
    }
    insert_event(connection, id, if to { "pinned" } else { "unpinned" }, by, at, None).await?;
    bump_revision(connection).await?;
    Ok(true)
}
