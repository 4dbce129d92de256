//! Rules about datasets, snapshots, retention and the revision.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use yearbook_domain::{Millis, Namespace, Plan, SnapshotId};

use super::TestDatabase;
use super::fixtures::{
    DAY, HOUR, KEEP_NEWEST_ONLY, TODAY, bare_snapshot, commit, digest, issue_key, key_id, name,
    publication, publish, snapshot, snapshot_id,
};
use crate::{
    Catalog, CommitOutcome, DatasetSet, Publication, Retention, SnapshotStatus, UsageIncrement,
};

pub(crate) async fn a_fresh_catalogue_is_empty(place: TestDatabase) {
    let store = place.host().await;
    assert!(store.datasets().await.unwrap().is_empty());
    assert!(store.keys().await.unwrap().is_empty());
    assert!(store.releases().await.unwrap().is_empty());
    assert!(store.referenced_files().await.unwrap().is_empty());
    assert_eq!(store.snapshot(&name("cpi"), &snapshot_id("a")).await.unwrap(), None);
    assert_eq!(
        store.snapshot_status(&name("cpi"), &snapshot_id("a")).await.unwrap(),
        SnapshotStatus::Unknown
    );
    assert!(!store.retire_dataset(&name("cpi")).await.unwrap());
}

pub(crate) async fn a_snapshot_comes_back_as_it_went_in(place: TestDatabase) {
    let (writer, reader) = (place.host().await, place.host().await);
    for (dataset, snapshot) in
        [("full", snapshot("f1", TODAY)), ("bare", bare_snapshot("b1", TODAY))]
    {
        let publication =
            Publication { snapshot: snapshot.clone(), ..publication(dataset, "x", TODAY) };
        assert_eq!(
            commit(&writer, &publication, Retention::default()).await.unwrap(),
            CommitOutcome::New
        );
        assert_eq!(
            reader.snapshot(&name(dataset), &snapshot.id).await.unwrap().as_ref(),
            Some(&snapshot)
        );
        let datasets = reader.datasets().await.unwrap();
        let found = datasets.iter().find(|found| found.name == name(dataset)).unwrap();
        assert_eq!(*found.current, snapshot);
        assert_eq!(
            (&found.namespace, Some(found.checked_at)),
            (&publication.namespace, publication.at)
        );
        assert_eq!(found.snapshots.len(), 1);
        let summary = &found.snapshots[0];
        assert_eq!(
            (&summary.id, summary.created_at, summary.rows),
            (&snapshot.id, snapshot.created_at, snapshot.rows)
        );
    }
    assert_eq!(
        reader.snapshot(&name("full"), &snapshot_id("b1")).await.unwrap(),
        None,
        "a snapshot belongs to one dataset"
    );
}

pub(crate) async fn datasets_are_sorted_by_name(place: TestDatabase) {
    let store = place.host().await;
    for dataset in ["rent", "a_b", "cpi", "ab", "a1"] {
        publish(&store, dataset, dataset, TODAY).await;
    }
    let names: Vec<String> =
        store.datasets().await.unwrap().iter().map(|dataset| dataset.name.to_string()).collect();
    assert_eq!(names, ["a1", "a_b", "ab", "cpi", "rent"]);
}

pub(crate) async fn what_moved_is_read_again_and_nothing_else(place: TestDatabase) {
    let (writer, reader) = (place.host().await, place.host().await);
    publish(&writer, "still", "one", TODAY).await;
    let mut known = reader.dataset_set(&DatasetSet::default()).await.unwrap();
    let still = Arc::clone(known.get("still").unwrap());
    let file = digest("f");
    for step in 0..8 {
        match step {
            0 => publish(&writer, "cpi", "a", TODAY - 70 * DAY).await,
            1 => publish(&writer, "cpi", "b", TODAY - 50 * DAY).await,
            // Looked at again, and nothing new.
            2 => publish(&writer, "cpi", "b", TODAY).await,
            3 => {
                let mut renewed = publication("cpi", "b", TODAY);
                renewed.snapshot.file.sha256 = file;
                commit(&writer, &renewed, Retention::default()).await.unwrap();
            }
            4 => {
                let moved = Publication {
                    namespace: Namespace::parse("rents").unwrap(),
                    ..publication("cpi", "b", TODAY)
                };
                commit(
                    &writer,
                    &Publication {
                        snapshot: known.get("cpi").unwrap().current.as_ref().clone(),
                        ..moved
                    },
                    Retention::default(),
                )
                .await
                .unwrap();
            }
            5 => {
                assert_eq!(writer.apply_retention(KEEP_NEWEST_ONLY, false).await.unwrap().len(), 1)
            }
            6 => assert!(writer.retire_dataset(&name("cpi")).await.unwrap()),
            // So many that all are read.
            _ => {
                for number in 0..40 {
                    publish(&writer, &format!("many_{number}"), &format!("m{number}"), TODAY).await;
                }
            }
        }
        let now = reader.dataset_set(&known).await.unwrap();
        assert_eq!(
            now.sorted(),
            reader.dataset_set(&DatasetSet::default()).await.unwrap().sorted(),
            "{step}"
        );
        assert_ne!(now.sorted(), known.sorted(), "{step}");
        let alone = reader.dataset(&name("cpi")).await.unwrap();
        assert_eq!(alone.as_ref(), now.get("cpi").map(Arc::as_ref), "{step}");
        assert_eq!(Arc::ptr_eq(now.get("still").unwrap(), &still), step < 7, "{step}");
        known = now;
    }
}

pub(crate) async fn the_newest_commit_is_current(place: TestDatabase) {
    let store = place.host().await;
    publish(&store, "cpi", "first", TODAY).await;
    // A publisher's clock may be behind: the order of commits counts.
    publish(&store, "cpi", "second", TODAY - HOUR).await;
    assert_eq!(history(&store).await, ["first", "second"].map(snapshot_id));
    assert_eq!(store.datasets().await.unwrap()[0].current.id, snapshot_id("second"));
    let second = store.snapshot(&name("cpi"), &snapshot_id("second")).await.unwrap().unwrap();
    assert_eq!(second.created_at, Millis(TODAY + 1_000), "later all the same");
    assert_eq!(
        store.snapshot(&name("cpi"), &snapshot_id("first")).await.unwrap(),
        Some(snapshot("first", TODAY))
    );
}

pub(crate) async fn a_file_written_anew_replaces_the_old_one_and_the_snapshot_keeps_its_age(
    place: TestDatabase,
) {
    let store = place.host().await;
    publish(&store, "cpi", "first", TODAY).await;
    let mut repaired = Publication {
        snapshot: snapshot("first", TODAY + HOUR),
        ..publication("cpi", "first", TODAY + HOUR)
    };
    repaired.snapshot.file.sha256 = digest("f");
    assert_eq!(
        commit(&store, &repaired, Retention::default()).await.unwrap(),
        CommitOutcome::Unchanged
    );
    let current = store.snapshot(&name("cpi"), &snapshot_id("first")).await.unwrap().unwrap();
    assert_eq!(
        (current.file, current.created_at),
        (repaired.snapshot.file.clone(), snapshot("first", TODAY).created_at)
    );
    assert_eq!(store.referenced_files().await.unwrap(), [repaired.snapshot.file]);
    assert_eq!(history(&store).await, ["first"].map(snapshot_id));
}

pub(crate) async fn the_same_snapshot_only_moves_checked_at_contract_7(place: TestDatabase) {
    let store = place.host().await;
    publish(&store, "cpi", "same", TODAY).await;
    let again = publication("cpi", "same", TODAY + DAY);
    assert_eq!(
        commit(&store, &again, Retention::default()).await.unwrap(),
        CommitOutcome::Unchanged
    );
    let dataset = store.datasets().await.unwrap().remove(0);
    assert_eq!(dataset.checked_at, Millis(TODAY + DAY));
    assert_eq!(dataset.current.created_at, Millis(TODAY));
    assert_eq!(dataset.snapshots.len(), 1);
}

pub(crate) async fn a_late_publisher_does_not_turn_checked_at_back(place: TestDatabase) {
    let store = place.host().await;
    publish(&store, "cpi", "same", TODAY).await;
    publish(&store, "cpi", "same", TODAY - DAY).await;
    assert_eq!(store.datasets().await.unwrap()[0].checked_at, Millis(TODAY));
}

pub(crate) async fn data_that_went_back_is_current_again(place: TestDatabase) {
    let store = place.host().await;
    for (id, at) in [("a", TODAY), ("b", TODAY + HOUR), ("a", TODAY + 2 * HOUR)] {
        assert_eq!(
            commit(&store, &publication("cpi", id, at), Retention::default()).await.unwrap(),
            CommitOutcome::New
        );
    }
    assert_eq!(history(&store).await, ["a", "b", "a"].map(snapshot_id));
    let found = store.snapshot(&name("cpi"), &snapshot_id("a")).await.unwrap().unwrap();
    assert_eq!(found.created_at, Millis(TODAY + 2 * HOUR));
}

pub(crate) async fn a_retired_dataset_is_gone_until_published_again_contract_4(
    place: TestDatabase,
) {
    let store = place.host().await;
    publish(&store, "cpi", "one", TODAY).await;
    publish(&store, "rent", "two", TODAY).await;
    assert!(store.retire_dataset(&name("cpi")).await.unwrap());
    assert!(!store.retire_dataset(&name("cpi")).await.unwrap(), "retired already");
    let names: Vec<String> =
        store.datasets().await.unwrap().iter().map(|dataset| dataset.name.to_string()).collect();
    assert_eq!(names, ["rent"]);
    assert_eq!(store.referenced_files().await.unwrap().len(), 2, "what comes back needs its file");
    assert_eq!(
        store.current_snapshot(&name("cpi")).await.unwrap().unwrap().id,
        snapshot_id("one"),
        "what comes back is compared with it"
    );

    let again = publication("cpi", "one", TODAY + DAY);
    assert_eq!(
        commit(&store, &again, Retention::default()).await.unwrap(),
        CommitOutcome::Unchanged
    );
    assert_eq!(history(&store).await, ["one"].map(snapshot_id));
}

pub(crate) async fn what_retention_drops_leaves_a_tombstone_contract_4(place: TestDatabase) {
    let store = place.host().await;
    // 14 days apart: the first of November lies between b and c.
    for (id, day) in [("a", -42), ("b", -28), ("c", -14), ("d", -1), ("e", 0)] {
        commit(
            &store,
            &publication("cpi", id, TODAY + day * DAY),
            Retention { snapshots: 2, hours: 24 },
        )
        .await
        .unwrap();
    }
    assert_eq!(
        history(&store).await,
        ["b", "d", "e"].map(snapshot_id),
        "b is what `monthly` names"
    );
    for (id, standing) in [
        ("a", SnapshotStatus::Dropped),
        ("b", SnapshotStatus::Retained),
        ("c", SnapshotStatus::Dropped),
        ("x", SnapshotStatus::Unknown),
    ] {
        assert_eq!(
            store.snapshot_status(&name("cpi"), &snapshot_id(id)).await.unwrap(),
            standing,
            "{id}"
        );
        assert_eq!(
            store.snapshot(&name("cpi"), &snapshot_id(id)).await.unwrap().is_some(),
            standing == SnapshotStatus::Retained,
            "{id}"
        );
    }
    assert_eq!(
        store.snapshot_status(&name("rent"), &snapshot_id("a")).await.unwrap(),
        SnapshotStatus::Unknown
    );
}

pub(crate) async fn a_dropped_snapshot_that_is_published_again_is_retained(place: TestDatabase) {
    let store = place.host().await;
    for (id, day) in [("a", -10), ("b", -9), ("c", -8), ("b", -7), ("d", -6), ("e", -5)] {
        commit(&store, &publication("cpi", id, TODAY + day * DAY), KEEP_NEWEST_ONLY).await.unwrap();
    }
    // The oldest of this month is what `monthly` names.
    assert_eq!(history(&store).await, ["a", "e"].map(snapshot_id));
    assert_eq!(
        store.snapshot_status(&name("cpi"), &snapshot_id("b")).await.unwrap(),
        SnapshotStatus::Dropped
    );
    commit(&store, &publication("cpi", "b", TODAY), KEEP_NEWEST_ONLY).await.unwrap();
    assert_eq!(
        store.snapshot_status(&name("cpi"), &snapshot_id("b")).await.unwrap(),
        SnapshotStatus::Retained
    );
    assert_eq!(history(&store).await, ["a", "b"].map(snapshot_id));
}

pub(crate) async fn datasets_do_not_drop_each_others_history(place: TestDatabase) {
    let store = place.host().await;
    for day in [-100, -50, -10] {
        publish(&store, "rent", &format!("rent{day}"), TODAY + day * DAY).await;
    }
    for day in [-3, -2, -1, 0] {
        commit(
            &store,
            &publication("cpi", &format!("cpi{day}"), TODAY + day * DAY),
            KEEP_NEWEST_ONLY,
        )
        .await
        .unwrap();
    }
    let lengths: Vec<usize> =
        store.datasets().await.unwrap().iter().map(|dataset| dataset.snapshots.len()).collect();
    assert_eq!(lengths, [2, 3]);
}

pub(crate) async fn referenced_files_are_those_of_retained_snapshots(place: TestDatabase) {
    let store = place.host().await;
    for (id, day) in [("a", -10), ("b", -9), ("c", -8)] {
        commit(&store, &publication("cpi", id, TODAY + day * DAY), KEEP_NEWEST_ONLY).await.unwrap();
    }
    // The same bytes under another dataset are one file.
    publish(&store, "rent", "c", TODAY).await;
    let files = store.referenced_files().await.unwrap();
    let mut expected = [snapshot("a", 0).file, snapshot("c", 0).file];
    expected.sort_by_key(|file| file.sha256);
    assert_eq!(files, expected);
}

pub(crate) async fn the_revision_moves_with_every_change_that_readers_must_notice(
    place: TestDatabase,
) {
    let store = place.host().await;
    let other = place.host().await;
    let mut seen = other.revision().await.unwrap();
    let mut moved = async |what: &str, expected: bool| {
        let now = other.revision().await.unwrap();
        assert_eq!(now > seen, expected, "{what}: {seen} to {now}");
        seen = now;
    };
    publish(&store, "cpi", "one", TODAY).await;
    moved("commit", true).await;
    publish(&store, "cpi", "one", TODAY + 1).await;
    moved("commit of the same", true).await;
    store.retire_dataset(&name("cpi")).await.unwrap();
    moved("retire", true).await;
    store.retire_dataset(&name("cpi")).await.unwrap();
    moved("retire again", false).await;
    issue_key(&store, "key_1", Plan::Free).await;
    moved("insert_key", true).await;
    store.reserve_request(&key_id("key_1"), "2026-11", 10).await.unwrap();
    store.refund_request(&key_id("key_1"), "2026-11").await.unwrap();
    store
        .add_usage(&[UsageIncrement {
            key_id: key_id("key_1"),
            month: "2026-11".to_owned(),
            requests: 3,
        }])
        .await
        .unwrap();
    store.secret("cursor").await.unwrap();
    moved("usage and secrets", false).await;
    store.revoke_key(&key_id("key_1"), Millis(TODAY)).await.unwrap();
    moved("revoke_key", true).await;
    store.revoke_key(&key_id("key_2"), Millis(TODAY)).await.unwrap();
    moved("revoke_key of none", false).await;
}

pub(crate) async fn a_commit_that_fails_leaves_nothing(place: TestDatabase) {
    let store = place.host().await;
    publish(&store, "cpi", "good", TODAY).await;
    let before = (store.datasets().await.unwrap(), store.revision().await.unwrap());
    // More rows than any database counts: found out after the dataset's row has been written.
    let mut bad = publication("cpi", "bad", TODAY + DAY);
    bad.snapshot.rows = u64::MAX;
    let failure = commit(&store, &bad, Retention::default()).await.unwrap_err();
    assert!(failure.is_safe_to_retry(), "{failure}");
    assert_eq!((store.datasets().await.unwrap(), store.revision().await.unwrap()), before);
    publish(&store, "cpi", "better", TODAY + DAY).await;
    assert_eq!(history(&store).await, ["good", "better"].map(snapshot_id));
}

pub(crate) async fn concurrent_publishers_leave_one_whole_history(place: TestDatabase) {
    let hosts = [place.host().await, place.host().await];
    let mut tasks = tokio::task::JoinSet::new();
    for index in 0..20_i64 {
        let host = Arc::clone(&hosts[usize::from(index % 2 == 0)]);
        tasks
            .spawn(async move { publish(&host, "cpi", &format!("s{index}"), TODAY + index).await });
    }
    tasks.join_all().await;
    let mut ids = history(&hosts[0]).await;
    // All are younger than a day.
    assert_eq!(ids.len(), 20);
    let dataset = hosts[1].dataset(&name("cpi")).await.unwrap().unwrap();
    let seconds: Vec<i64> =
        dataset.snapshots.iter().map(|summary| summary.created_at.0 / 1_000).collect();
    assert!(seconds.is_sorted_by(|one, next| one < next), "{seconds:?}");
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 20);
}

pub(crate) async fn readers_never_see_half_a_commit(place: TestDatabase) {
    let (writer, reader) = (place.host().await, place.host().await);
    publish(&writer, "cpi", "s0", TODAY).await;
    let publishing = tokio::spawn(async move {
        for index in 1..40 {
            publish(&writer, "cpi", &format!("s{index}"), TODAY + index).await;
        }
    });
    while !publishing.is_finished() {
        let dataset = reader.datasets().await.unwrap().remove(0);
        assert_eq!(dataset.current.columns.len(), 6);
        assert_eq!(dataset.snapshots.last().unwrap().id, dataset.current.id);
    }
    publishing.await.unwrap();
}

async fn history(store: &Catalog) -> Vec<SnapshotId> {
    let datasets = store.datasets().await.unwrap();
    let dataset = datasets.iter().find(|dataset| dataset.name == name("cpi")).unwrap();
    assert_eq!(dataset.snapshots.last().unwrap().id, dataset.current.id);
    dataset.snapshots.iter().map(|summary| summary.id).collect()
}
