//! What lies in the object store without a name in the catalogue, within a transaction (decision
//! 0170). Who stores something declares it first; what names it claims it, and is refused once
//! `yearbook gc` may have removed it; `gc` condemns what has been loose for long, removes it, and
//! forgets it. Each of these is alone with the table and with what is named until its transaction
//! ends.

use std::collections::{HashMap, HashSet};

use yearbook_domain::{Millis, Stored, StoredKind};

use crate::error::DeletedConcurrently;
use crate::sql::Connection;
use crate::sql_enum::{RowContext, encode_enum};
use crate::{DeletionBatch, UnreferencedObject, UploadRegistration, statements};

/// For how long what is condemned belongs to the `gc` that condemned it, milliseconds: twice
/// [`crate::REMOVE_WITHIN`], so that what that began to remove has long been removed. One that has
/// not forgotten it by then is dead.
const DELETION_LEASE_MS: i64 = 600_000;

/// Nobody declared it.
const NO_UPLOADER: &str = "";

/// Somebody is about to store `stored`, or to rely on what is there.
pub(crate) async fn register_upload(
    connection: &mut Connection<'_>,
    stored: &Stored,
    declarer: &str,
) -> Result<UploadRegistration, sqlx::Error> {
    let now = lock_objects(connection).await?;
    let kind = encode_enum(&stored.kind)?;
    let (condemned,): (Option<i64>,) = connection
        .query(statements::MARKED_FOR_DELETION_AT)
        .bind(&kind)
        .bind(&stored.sha256)
        .fetch_one()
        .await?;
    if let Some(at) = condemned {
        if is_leased(at, now) {
            return Ok(UploadRegistration::BeingDeleted);
        }
        // Whoever declared it before that may find it gone.
        connection
            .query(statements::DELETE_UNREFERENCED)
            .bind(&kind)
            .bind(&stored.sha256)
            .execute()
            .await?;
    }
    insert_unreferenced(connection, stored, declarer, now).await?;
    Ok(UploadRegistration::Registered)
}

/// A row of the catalogue is about to name `stored`, which from now on is no longer loose.
pub(crate) async fn claim_reference(
    connection: &mut Connection<'_>,
    stored: &Stored,
    declarer: &str,
) -> Result<(), sqlx::Error> {
    lock_objects(connection).await?;
    let kind = encode_enum(&stored.kind)?;
    let declared = connection
        .query(statements::TAKE_REGISTERED_UPLOAD)
        .bind(&kind)
        .bind(&stored.sha256)
        .bind(declarer)
        .execute()
        .await?;
    if declared == 0 && !is_referenced(connection, stored).await? {
        return Err(DeletedConcurrently(stored.clone()).into());
    }
    connection
        .query(statements::DELETE_UNREFERENCED)
        .bind(&kind)
        .bind(&stored.sha256)
        .execute()
        .await?;
    Ok(())
}

/// What named these no longer does; those that nothing else names are loose from now on.
pub(crate) async fn drop_references(
    connection: &mut Connection<'_>,
    stored: &[Stored],
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

/// Condemns at most `at_most` of what was `found` in the object store and has been loose since
/// before `before`.
pub(crate) async fn condemn(
    connection: &mut Connection<'_>,
    found: &[Stored],
    before: Millis,
    at_most: usize,
) -> Result<DeletionBatch, sqlx::Error> {
    let now = lock_objects(connection).await?;
    let named = referenced_objects(connection).await?;
    let known = unreferenced_objects(connection).await?;
    let mut result =
        DeletionBatch { at: now, due: Vec::new(), later: Vec::new(), being_removed: 0 };
    for stored in found.iter().filter(|stored| !named.contains(stored)) {
        match known.get(stored) {
            None => {
                insert_unreferenced(connection, stored, NO_UPLOADER, now).await?;
                result.later.push(UnreferencedObject { stored: stored.clone(), since: now });
            }
            Some((_, Some(at))) if is_leased(*at, now) => result.being_removed += 1,
            Some((since, _)) => {
                let list = if *since < before.0 { &mut result.due } else { &mut result.later };
                list.push(UnreferencedObject { stored: stored.clone(), since: Millis(*since) });
            }
        }
    }
    result.due.truncate(at_most);
    for UnreferencedObject { stored, .. } in &result.due {
        connection
            .query(statements::MARK_FOR_DELETION)
            .bind(encode_enum(&stored.kind)?)
            .bind(&stored.sha256)
            .bind(now.0)
            .execute()
            .await?;
    }
    // Of what was never stored, or is gone, or was named by a host that knew nothing of this table.
    let found: HashSet<&Stored> = found.iter().collect();
    for (stored, (since, condemned)) in &known {
        let in_hand = condemned.is_some_and(|at| is_leased(at, now)) || *since >= before.0;
        if !in_hand && (named.contains(stored) || !found.contains(stored)) {
            connection
                .query(statements::DELETE_UNREFERENCED)
                .bind(encode_enum(&stored.kind)?)
                .bind(&stored.sha256)
                .execute()
                .await?;
        }
    }
    Ok(result)
}

/// What was condemned at `at` is no longer in the object store.
pub(crate) async fn forget_deleted(
    connection: &mut Connection<'_>,
    removed: &[Stored],
    at: Millis,
) -> Result<(), sqlx::Error> {
    for stored in removed {
        connection
            .query(statements::DELETE_MARKED)
            .bind(encode_enum(&stored.kind)?)
            .bind(&stored.sha256)
            .bind(at.0)
            .execute()
            .await?;
    }
    Ok(())
}

/// The database's clock.
pub(crate) async fn database_time(connection: &mut Connection<'_>) -> Result<Millis, sqlx::Error> {
    let statement = if connection.is_postgres() {
        statements::CLOCK_OF_POSTGRES
    } else {
        statements::CLOCK_OF_SQLITE
    };
    let (now,): (i64,) = connection.query(statement).fetch_one().await?;
    Ok(Millis(now))
}

/// Waits until nobody else decides what is named, and says what time it is then.
async fn lock_objects(connection: &mut Connection<'_>) -> Result<Millis, sqlx::Error> {
    // Whoever writes to an SQLite file is alone with it.
    if connection.is_postgres() {
        connection.query(statements::LOCK_OBJECTS).execute().await?;
    }
    database_time(connection).await
}

fn is_leased(condemned: i64, now: Millis) -> bool {
    now.0 - condemned < DELETION_LEASE_MS
}

async fn insert_unreferenced(
    connection: &mut Connection<'_>,
    stored: &Stored,
    declarer: &str,
    since: Millis,
) -> Result<(), sqlx::Error> {
    let kind = encode_enum(&stored.kind)?;
    connection
        .query(statements::UPSERT_UNREFERENCED)
        .bind(kind)
        .bind(&stored.sha256)
        .bind(declarer)
        .bind(since.0)
        .execute()
        .await
        .map(drop)
}

async fn is_referenced(
    connection: &mut Connection<'_>,
    stored: &Stored,
) -> Result<bool, sqlx::Error> {
    let (rows,): (i64,) = connection
        .query(statements::IS_REFERENCED)
        .bind(encode_enum(&stored.kind)?)
        .bind(&stored.sha256)
        .fetch_one()
        .await?;
    Ok(rows > 0)
}

async fn referenced_objects(
    connection: &mut Connection<'_>,
) -> Result<HashSet<Stored>, sqlx::Error> {
    let rows: Vec<(String, String)> =
        connection.query(statements::REFERENCED_OBJECTS).all().await?;
    rows.into_iter()
        .map(|(kind, sha256)| Ok(Stored { kind: parse_object_kind(&kind, &sha256)?, sha256 }))
        .collect()
}

/// Since when each is loose, by whoever declared it last, and when it was condemned.
async fn unreferenced_objects(
    connection: &mut Connection<'_>,
) -> Result<HashMap<Stored, (i64, Option<i64>)>, sqlx::Error> {
    let rows: Vec<(String, String, i64, Option<i64>)> =
        connection.query(statements::UNREFERENCED_OBJECTS).all().await?;
    let read = |(kind, sha256, since, condemned): (String, String, i64, Option<i64>)| {
        Ok((Stored { kind: parse_object_kind(&kind, &sha256)?, sha256 }, (since, condemned)))
    };
    rows.into_iter().map(read).collect()
}

fn parse_object_kind(word: &str, sha256: &str) -> Result<StoredKind, sqlx::Error> {
    RowContext { table: "loose_files", row: sha256 }.parse("kind", word)
}
