//! Commits of releases that wait, and their becoming visible at their time (contract-21-releases):
//! whoever first needs the catalog after it, host or command, makes the version current, in the
//! database's own time. Until then it stands in no table that anybody serves from.

use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use yearbook_domain::changes::ChangeSet;
use yearbook_domain::{
    DatasetName, Digest, Millis, Namespace, ObjectKey, PreviewFacts, Snapshot, SnapshotId,
};

use super::commit_times::{corrected_latest_time, next_commit_time};
use super::publications::{
    CommitAttempt, CommitOutcome, CommitTerms, Publication, commit_as_current,
};
use super::sql_enum::{RowContext, encode_json, encode_u64};
use super::waiting::{self, WaitingRelease};
use super::{
    bump_revision, bump_waiting, database_time, log_entries, snapshots, source_checks, unreferenced,
};
use crate::catalog::transaction;
use crate::sql::Connection;
use crate::{Catalog, CatalogError};

/// Locks the dataset's row, making it where there is none: without a snapshot nobody sees it. What
/// it says is that of the current version.
const LOCK_OR_MAKE: &str = "
    INSERT INTO datasets (name, namespace, checked_at, retired_at) VALUES ($1, $2, 0, NULL)
    ON CONFLICT (name) DO UPDATE SET checked_at = datasets.checked_at RETURNING retired_at";

const INSERT: &str = "
    INSERT INTO waiting_releases (dataset, release_at, snapshot_id, file_sha256, file_bytes, changes_sha256, changes_bytes, publication)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING id";

const INSERT_FILE: &str =
    "INSERT INTO waiting_files (sha256) VALUES ($1) ON CONFLICT (sha256) DO NOTHING";

const RENEW_ANNOUNCEMENT: &str = "
    UPDATE announcements SET title = $2, release_at = $3,
        moves = moves + CASE WHEN release_at <> $3 THEN 1 ELSE 0 END
    WHERE dataset = $1 AND snapshot_id IS NULL";

const ANNOUNCE: &str = "
    INSERT INTO announcements (dataset, title, announced_at, release_at) VALUES ($1, $2, $3, $4)";

/// Keeps out programs that know no waiting releases: they would publish in between, and look for
/// released files where they do not lie.
const REQUIRE_WAITING: &str =
    "UPDATE revision SET least_migration = 5 WHERE only_row = 1 AND least_migration < 5";

const DUE: &str = "SELECT id FROM waiting_releases WHERE release_at <= $1 ORDER BY release_at, id";

const TAKE: &str = "
    DELETE FROM waiting_releases WHERE id = $1 AND release_at <= $2 RETURNING release_at, publication";

/// Makes the dataset one that is served, as a publish does.
const SERVE: &str = "UPDATE datasets SET namespace = $2, retired_at = NULL WHERE name = $1";

const END_ANNOUNCEMENT: &str =
    "UPDATE announcements SET snapshot_id = $2 WHERE dataset = $1 AND snapshot_id IS NULL";

/// A version that is to be visible at an instant.
#[derive(Clone, Debug)]
pub struct NewRelease<'a> {
    /// The version. Its files must be registered as waiting ones and stored so.
    pub publication: &'a Publication,
    /// The instant, a whole second.
    pub release_at: Millis,
    /// Title of an announcement; `None`: nobody is told.
    pub announce: Option<&'a str>,
    /// Set to withdraw another release of the dataset that waits.
    pub replace: bool,
}

/// Effect of the commit of a release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReleaseOutcome {
    /// It waits, under this number.
    Waits(i64),
    /// Its time has passed, so it is visible.
    Visible,
    /// Nothing was written: the snapshot is current already.
    Unchanged,
    /// The snapshot is current already, so nothing waits any more: the release that it replaces is
    /// withdrawn.
    Withdrawn(WaitingRelease),
    /// Nothing was written: the current snapshot is no longer the one that this was compared with.
    Conflict,
    /// Nothing was written: another release of the dataset waits.
    OtherWaits(WaitingRelease),
    /// Nothing was written: the release that this would replace is due too soon.
    TooLate(WaitingRelease),
}

/// Outcome of one transaction that would commit a release.
enum ReleaseAttempt {
    Ended(ReleaseOutcome),
    /// The second that it would be dated at begins after so long.
    TooEarly(Duration),
}

/// A publication as it waits.
#[derive(Serialize, Deserialize)]
pub(super) struct WaitingPublication {
    pub(super) namespace: Namespace,
    pub(super) predecessor: Option<SnapshotId>,
    pub(super) snapshot: Snapshot,
    pub(super) changes: Option<ChangeSet>,
    pub(super) facts: Option<PreviewFacts>,
    /// Time of its commit.
    pub(super) committed_at: Option<Millis>,
}

impl Catalog {
    /// Commits a version that nobody sees before its time, or at once where that has passed.
    ///
    /// # Errors
    /// As [`Catalog::commit_snapshot`].
    pub async fn commit_release(
        &self,
        release: &NewRelease<'_>,
    ) -> Result<ReleaseOutcome, CatalogError> {
        let keep = |attempt: &ReleaseAttempt| {
            use ReleaseOutcome::{Visible, Waits, Withdrawn};
            matches!(attempt, ReleaseAttempt::Ended(Waits(_) | Withdrawn(_) | Visible))
        };
        loop {
            let attempt = transaction!(self, "commit a release", Write, keep, |connection| {
                commit_release(connection, release, self.uploader())
            })?;
            match attempt {
                ReleaseAttempt::Ended(outcome) => return Ok(outcome),
                ReleaseAttempt::TooEarly(wait) => tokio::time::sleep(wait).await,
            }
        }
    }

    /// Makes visible what is due by the database's clock. Returns how many there were.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer or holds a value of a newer
    /// version.
    pub fn settle_due_releases(&self) -> BoxFuture<'_, Result<usize, CatalogError>> {
        self.settle_releases(Vec::new())
    }

    /// Makes visible what is due by the database's clock, and `shown` releases, which hosts show by
    /// what that clock was before it was set back. Returns how many there were.
    pub(crate) fn settle_releases(
        &self,
        shown: Vec<i64>,
    ) -> BoxFuture<'_, Result<usize, CatalogError>> {
        async move {
            let due: Vec<i64> =
                transaction!(self, "look for due releases", Read, |connection| async {
                    let now = database_time(connection).await?;
                    let rows: Vec<(i64,)> = connection.query(DUE).bind(now.0).all().await?;
                    Ok(rows.into_iter().map(|(id,)| id).collect())
                })?;
            let early = shown.iter().filter(|id| !due.contains(id));
            let mut settled = 0;
            for id in due.iter().chain(early).copied() {
                let is_shown = shown.contains(&id);
                settled += usize::from(transaction!(
                    self,
                    "make a release visible",
                    Write,
                    |connection| { Box::pin(settle(connection, id, is_shown)) }
                )?);
            }
            Ok(settled)
        }
        .boxed()
    }
}

async fn commit_release(
    connection: &mut Connection<'_>,
    release: &NewRelease<'_>,
    uploader: &str,
) -> Result<ReleaseAttempt, sqlx::Error> {
    use ReleaseAttempt::{Ended, TooEarly};
    let NewRelease { publication, release_at, announce, replace } = *release;
    let Publication { name, namespace, snapshot, predecessor, changes, facts, .. } = publication;
    let locked = connection.query(LOCK_OR_MAKE).bind(name.as_str()).bind(namespace.as_str());
    let (retired_at,): (Option<i64>,) = locked.fetch_one().await?;
    let now = database_time(connection).await?;
    let other = waiting::of_dataset(connection, name).await?;
    if let Some(other) = &other {
        if other.release_at <= now {
            return Ok(Ended(ReleaseOutcome::Conflict));
        }
        if !replace {
            return Ok(Ended(ReleaseOutcome::OtherWaits(other.clone())));
        }
        if waiting::is_near(other.release_at, now) {
            return Ok(Ended(ReleaseOutcome::TooLate(other.clone())));
        }
    }
    let current = snapshots::current_row(connection, name).await?.map(|current| current.id);
    // A retired dataset waits to come back, with the same data too.
    if current == Some(snapshot.id) && retired_at.is_none() {
        let Some(other) = other else { return Ok(Ended(ReleaseOutcome::Unchanged)) };
        waiting::withdraw(connection, &other, false).await?;
        bump_waiting(connection).await?;
        return Ok(Ended(ReleaseOutcome::Withdrawn(other)));
    }
    if current != *predecessor {
        return Ok(Ended(ReleaseOutcome::Conflict));
    }
    if release_at <= now {
        let latest = corrected_latest_time(connection, name, now).await?;
        let early = next_commit_time(latest, now).0.saturating_sub(now.0);
        if early > 0 {
            return Ok(TooEarly(Duration::from_millis(early.unsigned_abs())));
        }
    }
    if let Some(other) = &other {
        waiting::withdraw(connection, other, announce.is_some()).await?;
    }
    let changes = changes.as_ref().filter(|changes| Some(changes.from) == *predecessor);
    for file in std::iter::once(&snapshot.file).chain(changes.map(|changes| &changes.file)) {
        take_file(connection, &file.sha256, uploader).await?;
    }
    let visible_at = if release_at <= now { now.whole_second() } else { release_at };
    let stored = WaitingPublication {
        namespace: namespace.clone(),
        predecessor: *predecessor,
        snapshot: snapshot.clone(),
        changes: changes.cloned(),
        facts: facts.clone(),
        // Never the very instant at which it is visible, as it is of what has not waited.
        committed_at: Some(if now == visible_at { Millis(now.0.saturating_add(1)) } else { now }),
    };
    let (id,): (i64,) = connection
        .query(INSERT)
        .bind(name.as_str())
        .bind(visible_at.0)
        .bind(snapshot.id.as_str())
        .bind(snapshot.file.sha256.as_str())
        .bind(encode_u64(snapshot.file.bytes)?)
        .bind(changes.map(|changes| changes.file.sha256.as_str().to_owned()))
        .bind(changes.map(|changes| encode_u64(changes.file.bytes)).transpose()?)
        .bind(encode_json(&stored)?)
        .fetch_one()
        .await?;
    if let Some(title) = announce {
        announce_release(connection, (name, title), release_at, now).await?;
    }
    connection.query(REQUIRE_WAITING).execute().await?;
    if release_at <= now {
        make_visible(connection, name, (id, now)).await?;
        return Ok(Ended(ReleaseOutcome::Visible));
    }
    bump_waiting(connection).await?;
    Ok(Ended(ReleaseOutcome::Waits(id)))
}

/// References a file where it waits; one that lies with the others already is taken from there.
async fn take_file(
    connection: &mut Connection<'_>,
    file: &Digest,
    uploader: &str,
) -> Result<(), sqlx::Error> {
    if unreferenced::is_referenced(connection, &ObjectKey::snapshot(file)).await? {
        return Ok(());
    }
    unreferenced::claim_reference(connection, &ObjectKey::waiting(file), uploader).await?;
    connection.query(INSERT_FILE).bind(file.as_str()).execute().await.map(drop)
}

async fn announce_release(
    connection: &mut Connection<'_>,
    (name, title): (&DatasetName, &str),
    release_at: Millis,
    now: Millis,
) -> Result<(), sqlx::Error> {
    let renewed = connection.query(RENEW_ANNOUNCEMENT).bind(name.as_str()).bind(title);
    if renewed.bind(release_at.0).execute().await? > 0 {
        return Ok(());
    }
    let made = connection.query(ANNOUNCE).bind(name.as_str()).bind(title);
    made.bind(now.0).bind(release_at.0).execute().await.map(drop)
}

/// Makes a release visible unless somebody else did, or it is not due.
async fn settle(
    connection: &mut Connection<'_>,
    id: i64,
    is_shown: bool,
) -> Result<bool, sqlx::Error> {
    let Some(name) = waiting::lock_dataset_of(connection, id).await? else { return Ok(false) };
    let now = if is_shown { Millis(i64::MAX) } else { database_time(connection).await? };
    make_visible(connection, &name, (id, now)).await
}

/// Makes the release `id` of a dataset that is locked current, where it is due at `now`.
async fn make_visible(
    connection: &mut Connection<'_>,
    name: &DatasetName,
    (id, now): (i64, Millis),
) -> Result<bool, sqlx::Error> {
    let taken: Option<(i64, String)> =
        connection.query(TAKE).bind(id).bind(now.0).fetch_optional().await?;
    let Some((release_at, publication)) = taken else { return Ok(false) };
    let place = RowContext { table: "waiting_releases", row: name.as_str() };
    let waited: WaitingPublication = place.decode_json("publication", &publication)?;
    connection.query(SERVE).bind(name.as_str()).bind(waited.namespace.as_str()).execute().await?;
    // Whatever was committed before it was made before its time.
    corrected_latest_time(connection, name, Millis(release_at)).await?;
    let id = waited.snapshot.id;
    let publication = Publication {
        name: name.clone(),
        namespace: waited.namespace,
        snapshot: waited.snapshot,
        predecessor: waited.predecessor,
        changes: waited.changes,
        facts: waited.facts,
        at: Some(Millis(release_at)),
    };
    let terms = CommitTerms { uploader: None, retention: None };
    let attempt = commit_as_current(connection, &publication, terms).await?;
    if let CommitAttempt::Committed(_, at) = attempt {
        source_checks::move_checked_at(connection, name, at, false).await?;
    }
    let ended = connection.query(END_ANNOUNCEMENT).bind(name.as_str()).bind(id.as_str());
    ended.execute().await?;
    bump_revision(connection).await?;
    log_entries::append(connection, name, waited.committed_at).await?;
    bump_waiting(connection).await?;
    Ok(matches!(
        attempt,
        CommitAttempt::Committed(CommitOutcome::New | CommitOutcome::Unchanged, _)
    ))
}
