//! Plugin releases. The policy behind a change lies with its author; the code of
//! a release lies in the object store.

use yearbook_domain::{Digest, Millis, Stored};

use super::canary::delete_canary_totals;
use super::release_events::insert_event;
use super::sql_enum::{RowContext, encode_enum, encode_u64};
use super::{ReleaseIdRow, bump_revision, unreferenced};
use crate::catalog::transaction;
use crate::database::sql::{Connection, Statement};
use crate::{Catalog, CatalogError, PluginRelease, ReleaseId, ReleaseOrigin, ReleaseState};

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

const RELEASES: &str = "
    SELECT kind, name, digest, version, bytes, installed_by, installed_at, state, built_in, promotion, pinned, reason, until, quarantines,
        reference, reference_manifest
    FROM plugin_releases ORDER BY kind, name, installed_at, digest";

/// A change of state that an operator or a host makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReleaseChange {
    /// The release.
    pub id: ReleaseId,
    /// State to reach.
    pub to: ReleaseState,
    /// Author of the change.
    pub by: String,
    /// Time of the change.
    pub at: Millis,
    /// Reason, where one was given.
    pub reason: Option<String>,
}

/// Outcome of a [`ReleaseChange`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeOutcome {
    /// The release is in the new state, and the history has an event of it.
    Done,
    /// There is no such release.
    NoSuchRelease,
    /// No such transition from the state that the release is in; nothing happened.
    NotAllowedFrom(ReleaseState),
}

/// A change of state that hosts decide from what they measured. Each host may decide it; it happens
/// once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateTransition {
    /// The change.
    pub change: ReleaseChange,
    /// State that the release must still be in; in any other one, another host was quicker.
    pub from: ReleaseState,
    /// Digest of the release that must still be promoted for the decision to hold.
    pub against: Option<Digest>,
    /// End of a quarantine.
    pub until: Option<Millis>,
}

impl Catalog {
    /// Makes a plugin release known, with an event of it. A release that is known already (same
    /// kind, name and digest) stays as it is, so that hosts may register what they embed at every
    /// start; false then. Only its origin follows the newest one that is named.
    ///
    /// # Errors
    /// [`CatalogError::DeletedConcurrently`] when its component is neither registered by this
    /// process nor referenced already; [`CatalogError::Query`] when the database does not answer.
    pub async fn register_release(&self, release: &PluginRelease) -> Result<bool, CatalogError> {
        transaction!(self, "register a plugin release", WriteReleases, |connection| {
            register(connection, release, self.uploader())
        })
    }

    /// Moves a release into another state, if it may go there from where it stands, with an event
    /// of it. A release that stops being promoted loses its pin. One that was removed needs its
    /// component registered.
    ///
    /// # Errors
    /// As [`Catalog::register_release`].
    pub async fn change_release(
        &self,
        change: &ReleaseChange,
    ) -> Result<ChangeOutcome, CatalogError> {
        transaction!(self, "change a plugin release", WriteReleases, |connection| {
            change_state(connection, change, self.uploader())
        })
    }

    /// Makes a change that hosts decided from what they measured, if the release is in the state
    /// where they saw it and is not pinned: exactly once, however many hosts decide it. False:
    /// another host was quicker, or the decision no longer holds.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer.
    pub async fn transition_release(
        &self,
        transition: &StateTransition,
    ) -> Result<bool, CatalogError> {
        transaction!(self, "settle a plugin release", WriteReleases, |connection| {
            transition_state(connection, transition)
        })
    }

    /// Pins a promoted release (`to`: true) in the place of the one that its name has pinned, or
    /// removes its pin. False when it is not promoted, or is so already.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer.
    pub async fn pin_release(
        &self,
        id: &ReleaseId,
        to: bool,
        by: &str,
        at: Millis,
    ) -> Result<bool, CatalogError> {
        transaction!(self, "pin a plugin release", WriteReleases, |connection| {
            pin(connection, id, to, by, at)
        })
    }

    /// Lists every known plugin release, by kind and name, oldest first.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer or holds a value of a newer
    /// version.
    pub async fn releases(&self) -> Result<Vec<PluginRelease>, CatalogError> {
        transaction!(self, "list plugin releases", SingleRead, |connection| all(connection))
    }
}

impl Statement<'_> {
    /// Binds kind, name and digest of a release.
    pub(super) fn bind_release(self, id: &ReleaseId) -> Self {
        self.bind(id.kind.as_str()).bind(&id.name).bind(id.digest.as_str())
    }
}

/// A row of `plugin_releases`.
#[derive(sqlx::FromRow)]
struct ReleaseRow {
    #[sqlx(flatten)]
    id: ReleaseIdRow,
    version: String,
    bytes: i64,
    installed_by: String,
    installed_at: i64,
    state: String,
    built_in: bool,
    promotion: i64,
    pinned: bool,
    reason: Option<String>,
    until: Option<i64>,
    quarantines: i64,
    reference: Option<String>,
    reference_manifest: Option<String>,
}

impl ReleaseRow {
    fn read(self) -> Result<PluginRelease, sqlx::Error> {
        let place = RowContext { table: "plugin_releases", row: &self.id.name };
        let manifest = self.reference_manifest.as_deref();
        let manifest = manifest.map(|text| place.parse("reference_manifest", text)).transpose()?;
        Ok(PluginRelease {
            origin: self
                .reference
                .zip(manifest)
                .map(|(reference, manifest)| ReleaseOrigin { reference, manifest }),
            bytes: place.count("bytes", self.bytes)?,
            state: place.parse("state", &self.state)?,
            version: self.version,
            by: self.installed_by,
            installed_at: Millis(self.installed_at),
            built_in: self.built_in,
            promotion: self.promotion,
            pinned: self.pinned,
            reason: self.reason,
            until: self.until.map(Millis),
            quarantines: u32::try_from(self.quarantines).unwrap_or(u32::MAX),
            id: self.id.read("plugin_releases")?,
        })
    }
}

async fn register(
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
    let component = Stored::component(&release.id.digest);
    unreferenced::claim_reference(connection, &component, uploader).await?;
    connection
        .query(REGISTER_RELEASE)
        .bind_release(&release.id)
        .bind(&release.version)
        .bind(encode_u64(release.bytes)?)
        .bind(&release.by)
        .bind(release.installed_at.0)
        .bind(encode_enum(&release.state)?)
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

async fn change_state(
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
    let component = Stored::component(&change.id.digest);
    if current.state == ReleaseState::Removed {
        unreferenced::claim_reference(connection, &component, uploader).await?;
    }
    // A release that an operator promotes again starts with a clean record.
    let quarantines = if change.to == ReleaseState::Promoted { 0 } else { current.quarantines };
    apply_change(connection, change, None, quarantines).await?;
    if change.to == ReleaseState::Removed {
        unreferenced::drop_references(connection, &[component]).await?;
    }
    Ok(ChangeOutcome::Done)
}

async fn transition_state(
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
    apply_change(connection, change, *until, quarantines).await?;
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

async fn apply_change(
    connection: &mut Connection<'_>,
    change: &ReleaseChange,
    until: Option<Millis>,
    quarantines: i64,
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
    if matches!(to, ReleaseState::Installed | ReleaseState::Promoted) {
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

async fn pin(
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

async fn all(connection: &mut Connection<'_>) -> Result<Vec<PluginRelease>, sqlx::Error> {
    let rows: Vec<ReleaseRow> = connection.query(RELEASES).all().await?;
    rows.into_iter().map(ReleaseRow::read).collect()
}
