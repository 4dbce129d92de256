//! Commits of snapshots and the retention that follows them. The dataset's row is locked first, so
//! that publishers of one dataset follow each other.

use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use yearbook_domain::changes::ChangeSet;
use yearbook_domain::{
    DatasetName, Millis, Namespace, ObjectKey, PreviewFacts, Snapshot, SnapshotId, StoredFile,
};

use super::commit_times::{MAX_WAIT_MS, corrected_latest_time, latest_time, next_commit_time};
use super::sql_enum::RowContext;
use super::{
    bump_revision, changes, database_time, history_writes, holds, log_entries, preview_facts,
    snapshot_writes, snapshots, source_checks, unreferenced, waiting,
};
use crate::catalog::transaction;
use crate::sql::Connection;
use crate::{Catalog, CatalogError, Retention, WaitingRelease};

/// Locks the dataset's row, making it where there is none. [`source_checks::move_checked_at`]
/// follows in the same transaction.
const UPSERT_DATASET: &str = "
    INSERT INTO datasets (name, namespace, checked_at, retired_at) VALUES ($1, $2, 0, NULL)
    ON CONFLICT (name) DO UPDATE SET namespace = excluded.namespace, retired_at = NULL";

const HISTORY: &str =
    "SELECT number, id, created_at, held_at FROM snapshots WHERE dataset = $1 ORDER BY number";

const ALL_DATASETS: &str = "SELECT name FROM datasets ORDER BY name";

/// A version of a dataset that is to be served.
#[derive(Clone, Debug, PartialEq)]
pub struct Publication {
    /// Name of the dataset.
    pub name: DatasetName,
    /// Its grouping in bulk paths.
    pub namespace: Namespace,
    /// The version. Its file must be registered ([`Catalog::register_upload`]) and stored: from the
    /// commit on it is served. The commit sets `created_at`.
    pub snapshot: Snapshot,
    /// Id of the snapshot that this one was compared with ([`Catalog::current_snapshot`]); `None`
    /// if the dataset had none.
    pub predecessor: Option<SnapshotId>,
    /// Changes from `predecessor` to `snapshot`, where they are known. The commit sets
    /// `committed_at`.
    pub changes: Option<ChangeSet>,
    /// Preview facts of the snapshot. `None` if it was found to be the current one in the same
    /// file, which has them as they are computed now.
    pub facts: Option<PreviewFacts>,
    /// Time of the commit. None, the rule: the database's clock. An instant is for histories that
    /// are made elsewhere, such as those of tests.
    pub at: Option<Millis>,
}

/// Effect of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommitOutcome {
    /// The snapshot is now the current one.
    New,
    /// The snapshot was current already; only `checked_at` moved, and the file where it was written
    /// again.
    Unchanged,
    /// Nothing was written: the current snapshot is no longer the one that this was compared with.
    /// Compare again.
    Conflict,
    /// Nothing was written: a release of the dataset waits for its time.
    Waits(WaitingRelease),
}

/// Outcome of one transaction that would commit a snapshot.
pub(super) enum CommitAttempt {
    /// It is committed, at this time.
    Committed(CommitOutcome, Millis),
    /// The current snapshot is not the one that it was compared with.
    Conflict,
    /// A release of the dataset waits.
    Waits(WaitingRelease),
    /// The second that it would be dated at begins after so long.
    TooEarly(Duration),
}

/// Terms of a commit.
#[derive(Clone, Copy)]
pub(super) struct CommitTerms<'a> {
    /// The process that registered the files. `None` if they waited, so that they are referenced.
    pub(super) uploader: Option<&'a str>,
    /// Snapshots that stay; `None`: all, until the next commit or `gc`.
    pub(super) retention: Option<Retention>,
}

/// A snapshot that retention dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DroppedSnapshot {
    /// Name of the dataset.
    pub dataset: DatasetName,
    /// Its id.
    pub id: SnapshotId,
    /// Time of its commit.
    pub created_at: Millis,
}

impl Catalog {
    /// Makes a snapshot the current one and drops what `retention` no longer keeps, leaving
    /// tombstones; the same id as the current one only moves `checked_at`. Either way a retired
    /// dataset is served again. Compares and swaps: [`CommitOutcome::Conflict`] when the current
    /// snapshot is neither this one nor the one that it was compared with. Sets `created_at` to the
    /// present second, which it waits for where another snapshot of the dataset has it
    /// (contract-7-times).
    ///
    /// # Errors
    /// [`CatalogError::DeletedConcurrently`] when a file that it names is neither registered by
    /// this process nor referenced already; [`CatalogError::Query`] when the database does not
    /// answer.
    pub async fn commit_snapshot(
        &self,
        publication: &Publication,
        retention: Retention,
    ) -> Result<CommitOutcome, CatalogError> {
        let keep = |attempt: &CommitAttempt| matches!(attempt, CommitAttempt::Committed(..));
        loop {
            let attempt = transaction!(self, "commit a snapshot", Write, keep, |connection| {
                Box::pin(commit(connection, publication, retention, self.uploader()))
            })?;
            match attempt {
                CommitAttempt::Committed(outcome, _) => return Ok(outcome),
                CommitAttempt::Conflict => return Ok(CommitOutcome::Conflict),
                CommitAttempt::Waits(waiting) => return Ok(CommitOutcome::Waits(waiting)),
                CommitAttempt::TooEarly(wait) => tokio::time::sleep(wait).await,
            }
        }
    }

    /// Drops what `retention` no longer keeps of any dataset now, by the database's clock, as a
    /// publish would. With `dry_run` it only lists that.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer.
    pub async fn apply_retention(
        &self,
        retention: Retention,
        dry_run: bool,
    ) -> Result<Vec<DroppedSnapshot>, CatalogError> {
        let expired = transaction!(self, "look for old snapshots", Read, |connection| async {
            let now = database_time(connection).await?;
            let names: Vec<(String,)> = connection.query(ALL_DATASETS).all().await?;
            let mut all = Vec::new();
            for (name,) in names {
                let dataset: DatasetName =
                    RowContext { table: "datasets", row: &name }.parse("name", &name)?;
                let expired: Vec<DroppedSnapshot> =
                    expired_snapshots(connection, &dataset, retention, now)
                        .await?
                        .into_iter()
                        .map(|(_, dropped)| dropped)
                        .collect();
                if !expired.is_empty() {
                    all.push((dataset, expired));
                }
            }
            Ok(all)
        })?;
        if dry_run {
            return Ok(expired.into_iter().flat_map(|(_, dropped)| dropped).collect());
        }
        let mut dropped = Vec::new();
        for (dataset, _) in expired {
            dropped.extend(transaction!(self, "drop old snapshots", Write, |connection| {
                apply_retention(connection, &dataset, retention)
            })?);
        }
        Ok(dropped)
    }
}

async fn commit(
    connection: &mut Connection<'_>,
    publication: &Publication,
    retention: Retention,
    uploader: &str,
) -> Result<CommitAttempt, sqlx::Error> {
    let Publication { name, namespace, .. } = publication;
    connection.query(UPSERT_DATASET).bind(name.as_str()).bind(namespace.as_str()).execute().await?;
    if let Some(waiting) = waiting::of_dataset(connection, name).await? {
        // One that is due is made visible before the next attempt.
        let due = waiting.release_at <= database_time(connection).await?;
        return Ok(if due { CommitAttempt::Conflict } else { CommitAttempt::Waits(waiting) });
    }
    let terms = CommitTerms { uploader: Some(uploader), retention: Some(retention) };
    let attempt = commit_as_current(connection, publication, terms).await?;
    if let CommitAttempt::Committed(_, at) = attempt {
        source_checks::move_checked_at(connection, name, at, publication.at.is_some()).await?;
        bump_revision(connection).await?;
        log_entries::append(connection, name, None).await?;
    }
    Ok(attempt)
}

/// Makes the snapshot the current one of its dataset, whose row is locked.
pub(super) fn commit_as_current<'a>(
    connection: &'a mut Connection<'_>,
    publication: &'a Publication,
    terms: CommitTerms<'a>,
) -> BoxFuture<'a, Result<CommitAttempt, sqlx::Error>> {
    async move {
        let Publication { name, snapshot, predecessor, changes, facts, .. } = publication;
        let current = snapshots::current_row(connection, name).await?;
        if let Some(current) = &current
            && current.id == snapshot.id
        {
            if current.file != snapshot.file.sha256 {
                let Some(facts) = facts else { return Ok(CommitAttempt::Conflict) };
                // The same rows in a file written again, after damage or by a newer writer: the
                // snapshot keeps its age.
                claim(connection, &snapshot.file, terms).await?;
                let before = snapshot_writes::delete_snapshot(connection, current.number).await?;
                let renewed = Snapshot { created_at: current.created_at, ..snapshot.clone() };
                let renumbered =
                    snapshot_writes::insert_snapshot(connection, name, &renewed).await?;
                changes::renumber(connection, current.number, renumbered).await?;
                preview_facts::insert(connection, renumbered, facts).await?;
                holds::restore(connection, renumbered, current.held_at).await?;
                unreferenced::drop_references(connection, &[before]).await?;
            } else if let Some(facts) = facts {
                preview_facts::replace(connection, current.number, facts).await?;
            }
            let now = present_time(connection, publication).await?;
            return Ok(CommitAttempt::Committed(CommitOutcome::Unchanged, now));
        }
        let Some(facts) = facts else { return Ok(CommitAttempt::Conflict) };
        let compared = current.as_ref().map(|current| current.id);
        // What waited was promised: it is released even where a host that knows no waiting releases
        // published meanwhile.
        if compared != *predecessor && terms.uploader.is_some() {
            return Ok(CommitAttempt::Conflict);
        }
        claim(connection, &snapshot.file, terms).await?;
        let changes = changes.as_ref().filter(|changes| Some(changes.from) == compared);
        if let Some(changes) = changes {
            claim(connection, &changes.file, terms).await?;
        }
        // After everything that may have to wait for others: nobody can have been served another
        // snapshot since then.
        let now = present_time(connection, publication).await?;
        let latest = match publication.at {
            None => corrected_latest_time(connection, name, now).await?,
            Some(_) => latest_time(connection, name, Millis(i64::MAX)).await?,
        };
        let created_at = next_commit_time(latest, now);
        let early = created_at.0.saturating_sub(now.0);
        if publication.at.is_none() && (1..=MAX_WAIT_MS).contains(&early) {
            return Ok(CommitAttempt::TooEarly(Duration::from_millis(early.unsigned_abs())));
        }
        if let Some(before) = &current {
            snapshot_writes::count_column_change(connection, name, before.number, snapshot).await?;
        }
        let number = snapshot_writes::insert_snapshot(
            connection,
            name,
            &Snapshot { created_at, ..snapshot.clone() },
        )
        .await?;
        preview_facts::insert(connection, number, facts).await?;
        if let (Some(before), Some(changes)) = (current, changes) {
            changes::insert(
                connection,
                name,
                before.number,
                number,
                &ChangeSet { committed_at: created_at, ..changes.clone() },
            )
            .await?;
        }
        // Not by `created_at`, which is of the future where a clock was ahead.
        if let Some(retention) = terms.retention {
            delete_expired(connection, name, retention, now).await?;
        }
        Ok(CommitAttempt::Committed(CommitOutcome::New, created_at))
    }
    .boxed()
}

/// Claims a file for a row that is about to reference it.
async fn claim(
    connection: &mut Connection<'_>,
    file: &StoredFile,
    terms: CommitTerms<'_>,
) -> Result<(), sqlx::Error> {
    let Some(uploader) = terms.uploader else { return Ok(()) };
    unreferenced::claim_reference(connection, &ObjectKey::snapshot(&file.sha256), uploader).await
}

/// Returns the present, as the publication sees it.
async fn present_time(
    connection: &mut Connection<'_>,
    publication: &Publication,
) -> Result<Millis, sqlx::Error> {
    match publication.at {
        Some(at) => Ok(at),
        None => database_time(connection).await,
    }
}

/// Drops the expired snapshots of one dataset.
async fn apply_retention(
    connection: &mut Connection<'_>,
    dataset: &DatasetName,
    retention: Retention,
) -> Result<Vec<DroppedSnapshot>, sqlx::Error> {
    connection.query(holds::LOCK_DATASET).bind(dataset.as_str()).execute().await?;
    let now = database_time(connection).await?;
    let dropped = delete_expired(connection, dataset, retention, now).await?;
    if !dropped.is_empty() {
        bump_revision(connection).await?;
    }
    Ok(dropped)
}

fn delete_expired<'a>(
    connection: &'a mut Connection<'_>,
    dataset: &'a DatasetName,
    retention: Retention,
    now: Millis,
) -> BoxFuture<'a, Result<Vec<DroppedSnapshot>, sqlx::Error>> {
    async move {
        let mut dropped = Vec::new();
        let mut unreferenced = Vec::new();
        for (number, snapshot) in expired_snapshots(connection, dataset, retention, now).await? {
            let history = retention.history;
            unreferenced.push(
                snapshot_writes::bury_snapshot(connection, dataset, number, now, history).await?,
            );
            if !history {
                // What follows is not known from here on, so nothing before it can be read.
                unreferenced
                    .extend(history_writes::forget_until(connection, dataset, number).await?);
            }
            dropped.push(snapshot);
        }
        unreferenced.extend(changes::drop_outdated(connection, dataset).await?);
        unreferenced::drop_references(connection, &unreferenced).await?;
        Ok(dropped)
    }
    .boxed()
}

/// Lists the snapshots that have expired at `now` and are not held, with their numbers.
async fn expired_snapshots(
    connection: &mut Connection<'_>,
    dataset: &DatasetName,
    retention: Retention,
    now: Millis,
) -> Result<Vec<(i64, DroppedSnapshot)>, sqlx::Error> {
    let history: Vec<(i64, String, i64, Option<i64>)> =
        connection.query(HISTORY).bind(dataset.as_str()).all().await?;
    let times: Vec<Millis> = history.iter().map(|(_, _, at, _)| Millis(*at)).collect();
    let expired = retention.expired_indexes(&times, now);
    let place = RowContext { table: "snapshots", row: dataset.as_str() };
    let describe = |(number, id, created_at, _): (i64, String, i64, Option<i64>)| {
        let id = place.parse("id", &id)?;
        let dataset = dataset.clone();
        Ok((number, DroppedSnapshot { dataset, id, created_at: Millis(created_at) }))
    };
    history
        .into_iter()
        .enumerate()
        .filter(|(index, (.., held_at))| expired.contains(index) && held_at.is_none())
        .map(|(_, row)| describe(row))
        .collect()
}
