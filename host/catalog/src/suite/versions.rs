//! Rules about the versions of a dataset: dense numbers that protocols for tables count by.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use yearbook_domain::SnapshotId;

use super::TestDatabase;
use super::changes::following;
use super::fixtures::{
    DAY, KEEP_NEWEST_ONLY, TODAY, commit, digest, name, publication, publish, snapshot_id,
};
use crate::{Catalog, Retention};

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
    // The same once more, and in a file written anew.
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
