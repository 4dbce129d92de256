//! Objects in the object store that no row of the catalog references (decision 0170). A process
//! registers each upload before it stores or relies on the object. A row that references an object
//! claims it, and is refused once `yearbook gc` may have deleted it. `gc` marks what has been
//! unreferenced for long, deletes it, and forgets it. Each of these holds a lock on the table and
//! on what is referenced until its transaction ends.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use yearbook_domain::{Millis, ObjectKey};

use super::database_time;
use super::sql_enum::RowContext;
use crate::catalog::transaction;
use crate::error::DeletedConcurrently;
use crate::sql::{Connection, Statement};
use crate::{Catalog, CatalogError};

/// PostgreSQL alone: until the transaction ends, nobody else decides what is referenced in the
/// object store.
const LOCK_OBJECTS: &str = "SELECT pg_advisory_xact_lock(79410003, hashtext(current_schema()))";

/// Lists everything in the object store that a row of the catalog needs.
const REFERENCED_OBJECTS: &str = "
    SELECT CAST('snapshot' AS TEXT), file_sha256 FROM snapshots UNION SELECT CAST('snapshot' AS TEXT), file_sha256 FROM changes
    UNION SELECT CAST('snapshot' AS TEXT), file_sha256 FROM past_versions WHERE file_sha256 IS NOT NULL
    UNION SELECT CAST('snapshot' AS TEXT), file_sha256 FROM past_changes
    UNION SELECT CAST('snapshot' AS TEXT), file_sha256 FROM waiting_releases
    UNION SELECT CAST('snapshot' AS TEXT), changes_sha256 FROM waiting_releases WHERE changes_sha256 IS NOT NULL
    UNION SELECT CAST('waiting' AS TEXT), sha256 FROM waiting_files
    UNION SELECT CAST('component' AS TEXT), digest FROM plugin_releases WHERE state <> 'removed'";

pub(crate) const IS_REFERENCED: &str = "
    SELECT CASE
        WHEN $1 = 'snapshot' THEN (SELECT COUNT(*) FROM snapshots WHERE file_sha256 = $2) + (SELECT COUNT(*) FROM changes WHERE file_sha256 = $2)
            + (SELECT COUNT(*) FROM past_versions WHERE file_sha256 = $2) + (SELECT COUNT(*) FROM past_changes WHERE file_sha256 = $2)
            + (SELECT COUNT(*) FROM waiting_releases WHERE file_sha256 = $2 OR changes_sha256 = $2)
        WHEN $1 = 'waiting' THEN (SELECT COUNT(*) FROM waiting_files WHERE sha256 = $2)
        ELSE (SELECT COUNT(*) FROM plugin_releases WHERE digest = $2 AND state <> 'removed') END";

const UNREFERENCED_OBJECTS: &str = "SELECT kind, sha256, MAX(since), MAX(condemned) FROM loose_files GROUP BY kind, sha256 ORDER BY kind, sha256";

const MARKED_FOR_DELETION_AT: &str =
    "SELECT MAX(condemned) FROM loose_files WHERE kind = $1 AND sha256 = $2";

/// Keeps the mark of an object that is being deleted.
const UPSERT_UNREFERENCED: &str = "
    INSERT INTO loose_files (kind, sha256, declarer, since, condemned) VALUES ($1, $2, $3, $4, NULL)
    ON CONFLICT (kind, sha256, declarer) DO UPDATE SET since = excluded.since";

const MARK_FOR_DELETION: &str =
    "UPDATE loose_files SET condemned = $3 WHERE kind = $1 AND sha256 = $2";

/// Counts what a clock that was ahead has dated from now on.
const END_FUTURE: &str = "UPDATE loose_files SET since = $1 WHERE since > $1";

const TAKE_REGISTERED_UPLOAD: &str = "DELETE FROM loose_files WHERE kind = $1 AND sha256 = $2 AND declarer = $3 AND condemned IS NULL";

const DELETE_UNREFERENCED: &str = "DELETE FROM loose_files WHERE kind = $1 AND sha256 = $2";

const DELETE_MARKED: &str =
    "DELETE FROM loose_files WHERE kind = $1 AND sha256 = $2 AND condemned = $3";

/// Time after its marks in which a `gc` may begin to delete what it marked.
pub const DELETION_DEADLINE: Duration = Duration::from_secs(300);

/// Time for which a mark belongs to the `gc` that made it, milliseconds: twice
/// [`DELETION_DEADLINE`], so that a deletion that began in time has long ended. A `gc` that has not
/// forgotten its marks by then is dead.
const DELETION_LEASE_MS: i64 = 600_000;

/// Uploader of objects that no process registered.
const NO_UPLOADER: &str = "";

/// Outcome of the registration of an upload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UploadRegistration {
    /// Nothing deletes it until it has been unreferenced for as long as `yearbook gc` waits.
    Registered,
    /// A `gc` is deleting it at this moment; it may be registered when that is done, or in ten
    /// minutes if that died.
    BeingDeleted,
}

/// An object in the object store that no row of the catalog references.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreferencedObject {
    /// The object.
    pub stored: ObjectKey,
    /// Instant from which it was unreferenced, by the database's clock.
    pub since: Millis,
}

/// Result of [`Catalog::mark_for_deletion`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeletionBatch {
    /// Time of the marks, by the database's clock: tells one `gc`'s marks from another's.
    pub at: Millis,
    /// Objects marked now: the caller deletes them from the object store before
    /// [`DELETION_DEADLINE`] has passed.
    pub due: Vec<UnreferencedObject>,
    /// Objects unreferenced for too short a time, or found for the first time.
    pub later: Vec<UnreferencedObject>,
    /// Number of objects that another `gc` marked a short while ago.
    pub being_removed: usize,
}

impl Catalog {
    /// Registers that this process is about to store an object, or to rely on one that is stored:
    /// before it looks whether it is there. Holds until this process commits a reference to it.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer.
    pub async fn register_upload(
        &self,
        stored: &ObjectKey,
    ) -> Result<UploadRegistration, CatalogError> {
        transaction!(self, "declare a file", Write, |connection| {
            register_upload(connection, stored, self.uploader())
        })
    }

    /// Of what was `found` in the object store, marks at most `at_most` objects that nothing has
    /// referenced or registered since `before`, by the database's clock. Unreferenced objects that
    /// are not known as such are known from now on. With `dry_run` nothing is marked or stored.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer.
    pub async fn mark_for_deletion(
        &self,
        found: &[ObjectKey],
        before: Millis,
        at_most: usize,
        dry_run: bool,
    ) -> Result<DeletionBatch, CatalogError> {
        let keep = |_: &DeletionBatch| !dry_run;
        transaction!(self, "look for files that nothing names", Write, keep, |connection| {
            mark_for_deletion(connection, found, before, at_most)
        })
    }

    /// Forgets objects that were marked at `at` and are no longer in the object store.
    ///
    /// # Errors
    /// [`CatalogError::Query`] when the database does not answer.
    pub async fn forget_deleted(
        &self,
        deleted: &[ObjectKey],
        at: Millis,
    ) -> Result<(), CatalogError> {
        transaction!(self, "forget removed files", Write, |connection| async {
            for stored in deleted {
                connection.query(DELETE_MARKED).bind_object(stored).bind(at.0).execute().await?;
            }
            Ok(())
        })
    }
}

impl Statement<'_> {
    /// Binds the kind of an object, then its digest.
    fn bind_object(self, stored: &ObjectKey) -> Self {
        self.bind(stored.kind.as_str()).bind(stored.sha256.as_str())
    }
}

/// Registers that `uploader` is about to store `stored`, or to rely on what is there.
async fn register_upload(
    connection: &mut Connection<'_>,
    stored: &ObjectKey,
    uploader: &str,
) -> Result<UploadRegistration, sqlx::Error> {
    let now = lock_objects(connection).await?;
    let (marked,): (Option<i64>,) =
        connection.query(MARKED_FOR_DELETION_AT).bind_object(stored).fetch_one().await?;
    if let Some(at) = marked {
        if is_leased(at, now) {
            return Ok(UploadRegistration::BeingDeleted);
        }
        // A process that registered it before that may find it deleted.
        connection.query(DELETE_UNREFERENCED).bind_object(stored).execute().await?;
    }
    insert_unreferenced(connection, stored, uploader, now).await?;
    Ok(UploadRegistration::Registered)
}

/// Claims `stored` for a row that is about to reference it: it is no longer unreferenced.
pub(super) async fn claim_reference(
    connection: &mut Connection<'_>,
    stored: &ObjectKey,
    uploader: &str,
) -> Result<(), sqlx::Error> {
    lock_objects(connection).await?;
    let registered = connection
        .query(TAKE_REGISTERED_UPLOAD)
        .bind_object(stored)
        .bind(uploader)
        .execute()
        .await?;
    if registered == 0 && !is_referenced(connection, stored).await? {
        return Err(DeletedConcurrently(stored.clone()).into());
    }
    connection.query(DELETE_UNREFERENCED).bind_object(stored).execute().await?;
    Ok(())
}

/// Ends references to these objects; those without any other are unreferenced from now on.
pub(super) async fn drop_references(
    connection: &mut Connection<'_>,
    stored: &[ObjectKey],
) -> Result<(), sqlx::Error> {
    if stored.is_empty() {
        return Ok(());
    }
    let now = lock_objects(connection).await?;
    for stored in stored {
        if !is_referenced(connection, stored).await? {
            insert_unreferenced(connection, stored, NO_UPLOADER, now).await?;
        }
    }
    Ok(())
}

/// Marks at most `at_most` of what was `found` in the object store and has been unreferenced since
/// before `before`.
async fn mark_for_deletion(
    connection: &mut Connection<'_>,
    found: &[ObjectKey],
    before: Millis,
    at_most: usize,
) -> Result<DeletionBatch, sqlx::Error> {
    let now = lock_objects(connection).await?;
    connection.query(END_FUTURE).bind(now.0).execute().await?;
    let referenced = referenced_objects(connection).await?;
    let known = unreferenced_objects(connection).await?;
    let mut batch = DeletionBatch { at: now, due: Vec::new(), later: Vec::new(), being_removed: 0 };
    for stored in found.iter().filter(|stored| !referenced.contains(stored)) {
        match known.get(stored) {
            None => {
                insert_unreferenced(connection, stored, NO_UPLOADER, now).await?;
                batch.later.push(UnreferencedObject { stored: stored.clone(), since: now });
            }
            Some((_, Some(at))) if is_leased(*at, now) => batch.being_removed += 1,
            Some((since, _)) => {
                let list = if *since < before.0 { &mut batch.due } else { &mut batch.later };
                list.push(UnreferencedObject { stored: stored.clone(), since: Millis(*since) });
            }
        }
    }
    batch.due.truncate(at_most);
    for UnreferencedObject { stored, .. } in &batch.due {
        connection.query(MARK_FOR_DELETION).bind_object(stored).bind(now.0).execute().await?;
    }
    // What was never stored, or is gone, or was referenced all along.
    let found: HashSet<&ObjectKey> = found.iter().collect();
    for (stored, (since, marked)) in &known {
        let in_use = marked.is_some_and(|at| is_leased(at, now)) || *since >= before.0;
        if !in_use && (referenced.contains(stored) || !found.contains(stored)) {
            connection.query(DELETE_UNREFERENCED).bind_object(stored).execute().await?;
        }
    }
    Ok(batch)
}

/// Waits until no other transaction decides what is referenced, and returns the time then.
async fn lock_objects(connection: &mut Connection<'_>) -> Result<Millis, sqlx::Error> {
    // An SQLite file has one writer at a time.
    if connection.is_postgres() {
        connection.query(LOCK_OBJECTS).execute().await?;
    }
    database_time(connection).await
}

/// Returns true while a mark belongs to the `gc` that made it. One of the far future was made by a
/// clock that was ahead.
fn is_leased(marked: i64, now: Millis) -> bool {
    now.0.abs_diff(marked) < DELETION_LEASE_MS.unsigned_abs()
}

async fn insert_unreferenced(
    connection: &mut Connection<'_>,
    stored: &ObjectKey,
    uploader: &str,
    since: Millis,
) -> Result<(), sqlx::Error> {
    connection
        .query(UPSERT_UNREFERENCED)
        .bind_object(stored)
        .bind(uploader)
        .bind(since.0)
        .execute()
        .await
        .map(drop)
}

pub(super) async fn is_referenced(
    connection: &mut Connection<'_>,
    stored: &ObjectKey,
) -> Result<bool, sqlx::Error> {
    let (rows,): (i64,) = connection.query(IS_REFERENCED).bind_object(stored).fetch_one().await?;
    Ok(rows > 0)
}

async fn referenced_objects(
    connection: &mut Connection<'_>,
) -> Result<HashSet<ObjectKey>, sqlx::Error> {
    let rows: Vec<(String, String)> = connection.query(REFERENCED_OBJECTS).all().await?;
    rows.into_iter().map(|(kind, sha256)| read_object(&kind, &sha256)).collect()
}

/// Reads since when each object is unreferenced, by its last registration, and when it was marked.
async fn unreferenced_objects(
    connection: &mut Connection<'_>,
) -> Result<HashMap<ObjectKey, (i64, Option<i64>)>, sqlx::Error> {
    let rows: Vec<(String, String, i64, Option<i64>)> =
        connection.query(UNREFERENCED_OBJECTS).all().await?;
    let read = |(kind, sha256, since, marked): (String, String, i64, Option<i64>)| {
        Ok((read_object(&kind, &sha256)?, (since, marked)))
    };
    rows.into_iter().map(read).collect()
}

fn read_object(kind: &str, sha256: &str) -> Result<ObjectKey, sqlx::Error> {
    let place = RowContext { table: "loose_files", row: sha256 };
    Ok(ObjectKey { kind: place.parse("kind", kind)?, sha256: place.parse("sha256", sha256)? })
}
