//! Rules about single transactions: the revision that readers poll, and commits side by side.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use yearbook_domain::{Millis, Plan};

use super::TestDatabase;
use super::fixtures::{
    DAY, TODAY, commit, history, issue_key, key_id, name, publication, publish, snapshot_id,
};
use crate::{Retention, UsageIncrement};

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
        assert_eq!(dataset.current.columns.len(), 7);
        assert_eq!(dataset.snapshots.last().unwrap().id, dataset.current.id);
    }
    publishing.await.unwrap();
}
