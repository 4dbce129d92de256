//! Rules about retiring datasets and dropping snapshots.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::TestDatabase;
use super::fixtures::{
    DAY, KEEP_NEWEST_ONLY, TODAY, commit, history, name, publication, publish, snapshot,
    snapshot_id,
};
use crate::{CommitOutcome, Retention, SnapshotStatus};

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
            Retention { snapshots: 2, hours: 24, history: false },
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
