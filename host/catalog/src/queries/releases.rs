//! Plugin releases. The policy behind a change lies with its author; the code of
//! a release lies in the object store.

mod changes;

use yearbook_domain::{Digest, Millis};

use self::changes::{change_state, pin, register, transition_state};
use super::ReleaseIdRow;
use super::sql_enum::RowContext;
use crate::catalog::transaction;
use crate::sql::Statement;
use crate::{Catalog, CatalogError, PluginRelease, ReleaseId, ReleaseOrigin, ReleaseState};

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
    /// another host was quicker, or the decision no longer holds. A release whose quarantine ends
    /// keeps its place behind those that were promoted meanwhile.
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
        transaction!(self, "list plugin releases", SingleRead, |connection| async {
            let rows: Vec<ReleaseRow> = connection.query(RELEASES).all().await?;
            rows.into_iter().map(ReleaseRow::read).collect()
        })
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
