//! Rules about the versions of a dataset: dense numbers that protocols for tables count by.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use yearbook_domain::changes::ChangeSet;
use yearbook_domain::{ColumnType, Millis, ObjectKey, Snapshot, SnapshotId};

use super::TestDatabase;
use super::changes::following;
use super::fixtures::{
    DAY, KEEP_NEWEST_ONLY, TODAY, commit, digest, name, publication, publish, snapshot, snapshot_id,
};
use super::log_entries::execute;
use crate::{
    Catalog, ChangeRange, NewRelease, Publication, ReleaseOutcome, Retention, SnapshotStatus,
    UploadRegistration,
};

/// Versions of `cpi` with their snapshots, oldest first.
async fn versions(store: &Catalog) -> Vec<(u64, SnapshotId)> {
    let dataset = store.dataset(&name("cpi")).await.unwrap().unwrap();
    dataset.snapshots.iter().map(|summary| (summary.version, summary.id)).collect()
}

fn labelled<const N: usize>(labels: [(u64, &str); N]) -> [(u64, SnapshotId); N] {
    labels.map(|(version, label)| (version, snapshot_id(label)))
}

pub(crate) async fn versions_are_dense_and_never_given_twice_contract_12(place: TestDatabase) {
    let store = place.host().await;
    publish(&store, "other", "z", TODAY).await;
    commit(&store, &publication("cpi", "a", TODAY - 80 * DAY), KEEP_NEWEST_ONLY).await.unwrap();
    commit(&store, &following("a", "b", TODAY - 40 * DAY), KEEP_NEWEST_ONLY).await.unwrap();
    // The same once more, and in a file written again.
    let mut renewed = publication("cpi", "b", TODAY - 39 * DAY);
    commit(&store, &renewed, KEEP_NEWEST_ONLY).await.unwrap();
    renewed.snapshot.file.sha256 = digest("anew");
    commit(&store, &renewed, KEEP_NEWEST_ONLY).await.unwrap();
    assert_eq!(versions(&store).await, labelled([(0, "a"), (1, "b")]));
    for (from, to, day) in [("b", "c", -9), ("c", "d", -8), ("d", "a", -7)] {
        commit(&store, &following(from, to, TODAY + day * DAY), KEEP_NEWEST_ONLY).await.unwrap();
    }
    // Retention dropped the first a, c and d; the id of a came back as another version.
    assert_eq!(versions(&store).await, labelled([(1, "b"), (4, "a")]));
    let changes = store.changes(&name("cpi")).await.unwrap();
    let numbered: Vec<(u64, SnapshotId)> =
        changes.iter().map(|changes| (changes.version, changes.to)).collect();
    assert_eq!(numbered, labelled([(2, "c"), (3, "d"), (4, "a")]));
    store.retire_dataset(&name("cpi")).await.unwrap();
    commit(&store, &following("a", "e", TODAY), Retention::default()).await.unwrap();
    assert_eq!(versions(&store).await, labelled([(1, "b"), (4, "a"), (5, "e")]));
}

pub(crate) async fn a_commit_that_fails_takes_no_version_contract_12(place: TestDatabase) {
    let store = place.host().await;
    publish(&store, "cpi", "a", TODAY).await;
    let mut bad = publication("cpi", "bad", TODAY + DAY);
    bad.snapshot.rows = u64::MAX;
    commit(&store, &bad, Retention::default()).await.unwrap_err();
    publish(&store, "cpi", "b", TODAY + DAY).await;
    assert_eq!(versions(&store).await, labelled([(0, "a"), (1, "b")]));
}

/// Times that the columns of `cpi` changed.
async fn column_changes(store: &Catalog) -> u64 {
    store.dataset(&name("cpi")).await.unwrap().unwrap().column_changes
}

/// Publication whose column `code` has another type.
fn with_type(mut publication: Publication, column_type: ColumnType) -> Publication {
    publication.snapshot.columns[5].column_type = column_type;
    publication
}

pub(crate) async fn changes_of_columns_are_counted_whatever_retention_drops_contract_19(
    place: TestDatabase,
) {
    let store = place.host().await;
    let at = |day: i64| TODAY + day * DAY;
    let text = |publication| with_type(publication, ColumnType::String);
    commit(&store, &publication("cpi", "a", at(-80)), KEEP_NEWEST_ONLY).await.unwrap();
    commit(&store, &following("a", "b", at(-70)), KEEP_NEWEST_ONLY).await.unwrap();
    assert_eq!(column_changes(&store).await, 0);
    commit(&store, &text(following("b", "c", at(-60))), KEEP_NEWEST_ONLY).await.unwrap();
    assert_eq!(column_changes(&store).await, 1);
    // The same again, and in a file written again.
    let mut renewed = text(publication("cpi", "c", at(-50)));
    commit(&store, &renewed, KEEP_NEWEST_ONLY).await.unwrap();
    renewed.snapshot.file.sha256 = digest("anew");
    commit(&store, &renewed, KEEP_NEWEST_ONLY).await.unwrap();
    commit(&store, &text(following("c", "d", at(-8))), KEEP_NEWEST_ONLY).await.unwrap();
    commit(&store, &text(following("d", "e", at(-7))), KEEP_NEWEST_ONLY).await.unwrap();
    assert_eq!(column_changes(&store).await, 1);
    // Back to what they were, while retired.
    store.retire_dataset(&name("cpi")).await.unwrap();
    commit(&store, &following("e", "f", at(-6)), KEEP_NEWEST_ONLY).await.unwrap();
    let dropped = store.snapshot_status(&name("cpi"), &snapshot_id("a")).await.unwrap();
    assert_eq!((dropped, column_changes(&store).await), (SnapshotStatus::Dropped, 2));
}

pub(crate) async fn columns_that_wait_are_counted_as_they_will_be_contract_19(place: TestDatabase) {
    let store = place.host().await;
    publish(&store, "cpi", "a", TODAY).await;
    let waits = with_type(publication("cpi", "b", TODAY), ColumnType::String);
    let waits = Publication { predecessor: Some(snapshot_id("a")), at: None, ..waits };
    let file = ObjectKey::waiting(&waits.snapshot.file.sha256);
    assert_eq!(store.register_upload(&file).await.unwrap(), UploadRegistration::Registered);
    let release_at = Millis(store.database_time().await.unwrap().0 + DAY).whole_second();
    let release = NewRelease { publication: &waits, release_at, announce: None, replace: false };
    let outcome = store.commit_release(&release).await.unwrap();
    let ReleaseOutcome::Waits(id) = outcome else { panic!("{outcome:?}") };
    let future = store.future_datasets().await.unwrap();
    assert_eq!((column_changes(&store).await, future[0].dataset.column_changes), (0, 1));
    assert_eq!(store.settle_releases(vec![id]).await.unwrap(), 1);
    assert_eq!(column_changes(&store).await, 1);
}

pub(crate) async fn columns_of_kept_versions_are_counted_by_the_migration_contract_19(
    place: TestDatabase,
) {
    let store = place.host().await;
    publish(&store, "other", "z", TODAY).await;
    for (id, day) in [("a", 0), ("b", 1), ("c", 2)] {
        publish(&store, "cpi", id, TODAY + day * DAY).await;
    }
    let mut fewer = publication("cpi", "d", TODAY + 3 * DAY);
    fewer.snapshot.columns.pop();
    let text = with_type(publication("cpi", "e", TODAY + 4 * DAY), ColumnType::String);
    for version in [fewer, text] {
        commit(&store, &version, Retention::default()).await.unwrap();
    }
    // The statement of the migration, the same for both databases.
    let [fill, other] = [
        include_str!("../../../../migrations/sqlite/0009_column_changes.sql"),
        include_str!("../../../../migrations/postgres/0009_column_changes.sql"),
    ]
    .map(|migration| &migration[migration.find("UPDATE datasets").unwrap()..]);
    assert_eq!(fill, other);
    for (statement, expected) in [("UPDATE datasets SET column_changes = 0", 0), (fill, 2)] {
        execute(&store, statement).await.unwrap();
        assert_eq!(column_changes(&store).await, expected);
    }
}

pub(crate) async fn two_hosts_that_publish_give_each_version_once_contract_12(place: TestDatabase) {
    let hosts = [place.host().await, place.host().await];
    let mut tasks = tokio::task::JoinSet::new();
    for index in 0..20_i64 {
        let host = Arc::clone(&hosts[usize::from(index % 2 == 0)]);
        tasks
            .spawn(async move { publish(&host, "cpi", &format!("s{index}"), TODAY + index).await });
    }
    tasks.join_all().await;
    let given: Vec<u64> =
        versions(&hosts[0]).await.into_iter().map(|(version, _)| version).collect();
    assert_eq!(given, (0..20).collect::<Vec<u64>>());
}

pub(crate) async fn retained_versions_and_times_of_dropped_ones_are_read_at_once_contract_12(
    place: TestDatabase,
) {
    let store = place.host().await;
    assert_eq!(store.retained_versions(&name("cpi")).await.unwrap(), []);
    publish(&store, "other", "z", TODAY).await;
    let at = |day: i64| TODAY + day * DAY;
    commit(&store, &publication("cpi", "b", at(-40)), KEEP_NEWEST_ONLY).await.unwrap();
    for (from, to, day) in [("b", "c", -9), ("c", "d", -8), ("d", "e", -7)] {
        commit(&store, &following(from, to, at(day)), KEEP_NEWEST_ONLY).await.unwrap();
    }
    store.retire_dataset(&name("cpi")).await.unwrap();
    // b is what `monthly` names; c and d are gone.
    let retained = store.retained_versions(&name("cpi")).await.unwrap();
    let found: Vec<(u64, &Snapshot)> =
        retained.iter().map(|kept| (kept.version, &kept.snapshot)).collect();
    assert_eq!(found, [(0, &snapshot("b", at(-40))), (3, &snapshot("e", at(-7)))]);
    for (versions, expected) in [
        (0..4, vec![(1, at(-9)), (2, at(-8)), (3, at(-7))]),
        (1..3, vec![(1, at(-9)), (2, at(-8))]),
        (2..2, vec![]),
        (4..9, vec![]),
    ] {
        let times = store.commit_times(&name("cpi"), versions.clone()).await.unwrap();
        let expected: Vec<(u64, Millis)> =
            expected.into_iter().map(|(version, at)| (version, Millis(at))).collect();
        assert_eq!(times, expected, "{versions:?}");
    }
    assert_eq!(store.commit_times(&name("other"), 0..9).await.unwrap(), []);
}

pub(crate) async fn changes_are_those_of_both_ends_and_between_contract_12(place: TestDatabase) {
    let store = place.host().await;
    publish(&store, "other", "z", TODAY).await;
    let at = |day: i64| TODAY + day * DAY;
    let steps = [("a", "b", -9), ("b", "c", -8), ("c", "d", -7), ("d", "a", -6)];
    commit(&store, &publication("cpi", "a", at(-40)), Retention::default()).await.unwrap();
    for (from, to, day) in steps {
        commit(&store, &following(from, to, at(day)), Retention::default()).await.unwrap();
    }
    let all = store.changes(&name("cpi")).await.unwrap();
    assert_eq!(all.len(), steps.len());
    let found =
        async |versions, newest| store.change_range(&name("cpi"), versions, newest).await.unwrap();
    let known = |sets: &[ChangeSet]| ChangeRange::Known(sets.to_vec());
    for (versions, expected) in
        [(1..=4, &all[..]), (2..=3, &all[1..3]), (1..=1, &all[..1]), (4..=4, &all[3..])]
    {
        assert_eq!(found(versions.clone(), 4).await, known(expected), "{versions:?}");
    }
    // A reader whose newest version is an older one.
    assert_eq!(found(1..=2, 2).await, known(&all[..2]));

    // What version 5 was compared with could not be read, so nothing leads to it.
    commit(&store, &publication("cpi", "e", at(-5)), Retention::default()).await.unwrap();
    for versions in [1..=5, 3..=4, 5..=5] {
        assert_eq!(found(versions, 5).await, ChangeRange::KnownFrom(6));
    }
    assert_eq!(found(3..=4, 4).await, known(&all[2..]), "as long as version 5 is not known of");
    for (from, to, day) in [("e", "f", -4), ("f", "g", -3)] {
        commit(&store, &following(from, to, at(day)), Retention::default()).await.unwrap();
    }
    for versions in [1..=7, 3..=4, 5..=6] {
        assert_eq!(found(versions, 7).await, ChangeRange::KnownFrom(6));
    }
    let ChangeRange::Known(sets) = found(6..=7, 7).await else { panic!("both are known") };
    assert_eq!(sets, store.changes(&name("cpi")).await.unwrap());
    // Of the months before, g alone is kept, and what led to it goes.
    commit(&store, &following("g", "h", at(30)), KEEP_NEWEST_ONLY).await.unwrap();
    assert_eq!(versions(&store).await, labelled([(7, "g"), (8, "h")]));
    assert_eq!(found(7..=8, 8).await, ChangeRange::KnownFrom(8));
    assert_eq!(found(8..=8, 8).await, known(&store.changes(&name("cpi")).await.unwrap()));
    let other = store.change_range(&name("other"), 1..=1, 1).await.unwrap();
    assert_eq!(other, ChangeRange::KnownFrom(2));
}

pub(crate) async fn licences_along_changes_are_those_of_dropped_snapshots_too_contract_12(
    place: TestDatabase,
) {
    let store = place.host().await;
    commit(&store, &publication("cpi", "a", TODAY - 80 * DAY), KEEP_NEWEST_ONLY).await.unwrap();
    for (from, to, day, allowed) in [
        ("a", "b", -40, true),
        ("b", "c", -9, true),
        ("c", "d", -8, false),
        ("d", "e", -7, true),
        ("e", "f", -6, true),
        ("f", "g", -5, true),
    ] {
        let mut next = following(from, to, TODAY + day * DAY);
        next.snapshot.bulk_redistribution = allowed;
        // A text that speaks of it says nothing.
        next.snapshot.title = Some("\"bulk_redistribution\":false".to_owned());
        commit(&store, &next, KEEP_NEWEST_ONLY).await.unwrap();
    }
    let status = store.snapshot_status(&name("cpi"), &snapshot_id("d")).await.unwrap();
    assert_eq!(status, SnapshotStatus::Dropped);
    let forbidden =
        async |versions| store.changes_forbid_bulk(&name("cpi"), versions).await.unwrap();
    for (versions, expected) in [
        (2..=6, true),
        (2..=2, false),
        (3..=3, true),
        (4..=4, true),
        (5..=6, false),
        (7..=9, false),
    ] {
        assert_eq!(forbidden(versions.clone()).await, expected, "{versions:?}");
    }
    // Retained ones alike.
    let mut newest = following("g", "h", TODAY);
    newest.snapshot.bulk_redistribution = false;
    commit(&store, &newest, Retention::default()).await.unwrap();
    assert!(forbidden(7..=7).await);
    assert!(!store.changes_forbid_bulk(&name("other"), 0..=9).await.unwrap());
}
