//! Rules about the log of what was published.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;
use std::time::Duration;

use yearbook_domain::{LogEntry, Millis, ObjectKey};

use super::TestDatabase;
use super::fixtures::{
    DAY, KEEP_NEWEST_ONLY, TODAY, commit, digest, facts, name, publication, publish, snapshot_id,
};
use crate::catalog::transaction;
use crate::{Catalog, CatalogError, NewRelease, ReleaseOutcome, Retention, UploadRegistration};

async fn log(store: &Catalog) -> Vec<(String, u64, LogEntry)> {
    let entries = store.log_entries(0, 1_000).await.unwrap();
    assert_eq!(store.log_size().await.unwrap(), entries.len() as u64);
    let named = |entry: LogEntry| (entry.dataset.to_string(), entry.version, entry);
    entries.into_iter().map(named).collect()
}

/// Runs a statement that no host of this release would run.
pub(super) async fn execute(store: &Catalog, statement: &'static str) -> Result<(), CatalogError> {
    transaction!(store, "play another host", Write, |connection| async {
        connection.query(statement).execute().await.map(drop)
    })
}

pub(crate) async fn a_version_is_logged_when_it_becomes_visible_contract_21(place: TestDatabase) {
    let store = place.host().await;
    assert!(log(&store).await.is_empty());
    publish(&store, "cpi", "a", TODAY).await;
    publish(&store, "gdp", "x", TODAY).await;
    // Neither the same again, nor in a file that was written anew, is another version.
    publish(&store, "cpi", "a", TODAY + 1_000).await;
    let mut anew = publication("cpi", "a", TODAY + 2_000);
    anew.snapshot.file.sha256 = digest("f");
    commit(&store, &anew, Retention::default()).await.unwrap();
    publish(&store, "cpi", "b", TODAY + DAY).await;
    // What failed leaves no hole.
    let mut bad = publication("cpi", "bad", TODAY + DAY);
    bad.snapshot.rows = u64::MAX;
    commit(&store, &bad, Retention::default()).await.unwrap_err();
    // Data may go back to what it was.
    publish(&store, "cpi", "a", TODAY + 2 * DAY).await;
    let logged = log(&store).await;
    let order: Vec<(&str, u64)> =
        logged.iter().map(|(name, version, _)| (name.as_str(), *version)).collect();
    assert_eq!(order, [("cpi", 0), ("gdp", 0), ("cpi", 1), ("cpi", 2)]);
    let entry = &logged[2].2;
    assert_eq!((entry.snapshot, entry.digest), (snapshot_id("b"), facts(1).digest));
    assert_eq!((entry.committed, entry.released), (Millis(TODAY + DAY), Millis(TODAY + DAY)));
    let found = store.log_entry_of(&name("cpi"), &snapshot_id("a")).await.unwrap().unwrap();
    assert_eq!(found, (3, logged[3].2.clone()), "the newest");
    assert_eq!(store.log_entry_of(&name("cpi"), &snapshot_id("x")).await.unwrap(), None);
    assert_eq!(store.log_entries(1, 2).await.unwrap(), [logged[1].2.clone(), logged[2].2.clone()]);
    // Retention, and retiring the dataset, take nothing away.
    commit(&store, &publication("cpi", "c", TODAY + 90 * DAY), KEEP_NEWEST_ONLY).await.unwrap();
    store.retire_dataset(&name("cpi")).await.unwrap();
    let later = log(&store).await;
    assert_eq!((&later[..4], later.len()), (&logged[..], 5));
}

pub(crate) async fn a_release_is_logged_at_its_time_and_not_before_contract_21(
    place: TestDatabase,
) {
    let store = place.host().await;
    publish(&store, "gdp", "x", TODAY).await;
    let waiting = publication("cpi", "a", TODAY);
    let file = ObjectKey::waiting(&waiting.snapshot.file.sha256);
    assert_eq!(store.register_upload(&file).await.unwrap(), UploadRegistration::Registered);
    let now = store.database_time().await.unwrap();
    let release_at = Millis(now.whole_second().0 + 3_000);
    let release = NewRelease { publication: &waiting, release_at, announce: None, replace: false };
    let outcome = store.commit_release(&release).await.unwrap();
    assert!(matches!(outcome, ReleaseOutcome::Waits(_)), "{outcome:?}");
    assert_eq!(store.settle_due_releases().await.unwrap(), 0);
    assert_eq!(log(&store).await.len(), 1, "nothing tells of it");
    let found = store.log_entry_of(&waiting.name, &waiting.snapshot.id).await.unwrap();
    assert_eq!(found, None);
    while store.database_time().await.unwrap() < release_at {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(store.settle_due_releases().await.unwrap(), 1);
    let (_, _, entry) = log(&store).await.pop().unwrap();
    assert_eq!((entry.snapshot, entry.released), (waiting.snapshot.id, release_at));
    assert!((now..release_at).contains(&entry.committed), "{entry:?}");
    assert_eq!(store.settle_due_releases().await.unwrap(), 0);
    assert_eq!(log(&store).await.len(), 2, "once");
}

pub(crate) async fn two_hosts_that_publish_leave_a_dense_log_contract_21(place: TestDatabase) {
    let hosts = [place.host().await, place.host().await];
    let mut tasks = tokio::task::JoinSet::new();
    for index in 0..20_i64 {
        let host = Arc::clone(&hosts[usize::from(index % 2 == 0)]);
        let dataset = ["cpi", "gdp", "ppi"][usize::try_from(index % 3).unwrap()];
        tasks.spawn(async move { publish(&host, dataset, &format!("s{index}"), TODAY).await });
    }
    tasks.join_all().await;
    let logged = log(&hosts[0]).await;
    assert_eq!(logged.len(), 20);
    for dataset in ["cpi", "gdp", "ppi"] {
        let versions: Vec<u64> =
            logged.iter().filter(|(name, ..)| name == dataset).map(|(_, v, _)| *v).collect();
        assert!(versions.iter().copied().eq(0..versions.len() as u64), "{dataset}: {versions:?}");
    }
}

pub(crate) async fn what_an_older_host_published_is_logged_with_the_next_version_contract_21(
    place: TestDatabase,
) {
    let store = place.host().await;
    publish(&store, "cpi", "a", TODAY).await;
    publish(&store, "cpi", "b", TODAY + DAY).await;
    // As a host leaves it that does not know the log.
    let forget = "DELETE FROM log_entries WHERE entry = 1";
    execute(&store, forget).await.unwrap();
    publish(&store, "cpi", "c", TODAY + 2 * DAY).await;
    let versions: Vec<u64> = log(&store).await.into_iter().map(|(_, version, _)| version).collect();
    assert_eq!(versions, [0, 1, 2]);
}

pub(crate) async fn the_log_begins_with_what_can_still_be_read_contract_21(place: TestDatabase) {
    let store = place.host().await;
    let retention = Retention { snapshots: 1, hours: 0, history: true };
    for (dataset, id, day) in [
        ("cpi", "a", -80),
        ("gdp", "x", -70),
        ("cpi", "b", -60),
        ("cpi", "c", -50),
        ("cpi", "d", 0),
    ] {
        let version = publication(dataset, id, TODAY + day * DAY);
        commit(&store, &version, retention).await.unwrap();
    }
    let dataset = store.dataset(&name("cpi")).await.unwrap().unwrap();
    assert!(dataset.snapshots.len() < 4, "retention dropped some");
    let before = log(&store).await;
    // The statement of the migration, the same for both databases.
    let [fill, other] = [
        include_str!("../../../../migrations/sqlite/0006_log.sql"),
        include_str!("../../../../migrations/postgres/0006_log.sql"),
    ]
    .map(|migration| &migration[migration.find("INSERT INTO log_entries").unwrap()..]);
    assert_eq!(fill, other);
    for statement in ["DELETE FROM log_entries", fill] {
        execute(&store, statement).await.unwrap();
    }
    assert_eq!(log(&store).await, before, "by their times");
}

pub(crate) async fn hashes_are_added_once_and_read_in_order_contract_21(place: TestDatabase) {
    let store = place.host().await;
    assert_eq!(store.log_hash_count(1).await.unwrap(), 0);
    store.insert_log_hashes(1, 0, &[[1; 32], [2; 32]]).await.unwrap();
    store.insert_log_hashes(1, 1, &[[9; 32], [3; 32]]).await.unwrap();
    store.insert_log_hashes(2, 0, &[[7; 32]]).await.unwrap();
    assert_eq!(store.log_hash_count(1).await.unwrap(), 3);
    assert_eq!(store.log_hashes(1, 1, 5).await.unwrap(), [[2; 32], [3; 32]]);
    assert_eq!(store.log_hashes(2, 0, 5).await.unwrap(), [[7; 32]]);
}
