//! Rules about preview facts, tombstones and holds.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;
use std::time::Duration;

use yearbook_domain::{ChangeCounts, SnapshotId};

use super::TestDatabase;
use super::changes::following;
use super::fixtures::{
    DAY, KEEP_NEWEST_ONLY, TODAY, commit, digest, facts, name, publication, snapshot_id,
};
use crate::{
    CatalogCache, CitedState, CommitOutcome, HoldOutcome, Publication, Retention, SnapshotStatus,
};

fn with_facts(id: &str, at: i64, rows: u64) -> Publication {
    Publication { facts: Some(facts(rows)), ..publication("cpi", id, at) }
}

pub(crate) async fn preview_facts_are_stored_with_their_snapshot_contract_9(place: TestDatabase) {
    let store = place.host().await;
    let live = CatalogCache::start(Arc::clone(&store), Duration::from_secs(3600)).await.unwrap();
    commit(&store, &with_facts("a", TODAY, 7), Retention::default()).await.unwrap();
    live.refresh().await.unwrap();
    let dataset = live.dataset("cpi").unwrap();
    let read = async |id: &str| live.preview_facts(&dataset, &snapshot_id(id)).await.unwrap();
    assert_eq!(read("a").await.as_deref(), Some(&facts(7)));
    assert!(Arc::ptr_eq(&read("a").await.unwrap(), &read("a").await.unwrap()), "read once");
    assert_eq!(read("b").await, None);

    // A file that is written again has facts of its own.
    let mut anew = with_facts("a", TODAY + DAY, 9);
    anew.snapshot.file.sha256 = digest("f");
    commit(&store, &anew, Retention::default()).await.unwrap();
    assert_eq!(store.preview_facts(&name("cpi"), &snapshot_id("a")).await.unwrap(), Some(facts(9)));
    // A publisher that found the file of before intact compares again.
    let found = Publication { facts: None, ..with_facts("a", TODAY + DAY, 7) };
    let conflict = store.commit_snapshot(&found, Retention::default()).await.unwrap();
    assert_eq!(conflict, CommitOutcome::Conflict);
    assert_eq!(store.preview_facts(&name("cpi"), &snapshot_id("a")).await.unwrap(), Some(facts(9)));
}

pub(crate) async fn versions_say_what_they_changed_contract_9(place: TestDatabase) {
    let store = place.host().await;
    commit(&store, &publication("cpi", "a", TODAY), Retention::default()).await.unwrap();
    commit(&store, &following("a", "b", TODAY + DAY), Retention::default()).await.unwrap();
    // What it was compared with could not be read.
    commit(&store, &publication("cpi", "c", TODAY + 2 * DAY), Retention::default()).await.unwrap();
    let counts = async || -> Vec<Option<ChangeCounts>> {
        let dataset = store.dataset(&name("cpi")).await.unwrap().unwrap();
        dataset.snapshots.iter().map(|summary| summary.changes).collect()
    };
    let known = ChangeCounts { inserted: 1, deleted: 2, updated: 2 };
    assert_eq!(counts().await, [None, Some(known), None]);
}

pub(crate) async fn a_dropped_snapshot_is_cited_as_it_was_contract_13(place: TestDatabase) {
    let store = place.host().await;
    commit(&store, &with_facts("a", TODAY - 80 * DAY, 7), KEEP_NEWEST_ONLY).await.unwrap();
    let cited =
        async |id: &str| store.cited_snapshot(&name("cpi"), &snapshot_id(id)).await.unwrap();
    let kept = cited("a").await.unwrap();
    assert_eq!((kept.digest, kept.state), (facts(7).digest, CitedState::Retained));
    // It is no longer `monthly` once another one is from before this month.
    let mut next = with_facts("b", TODAY - 40 * DAY, 8);
    next.snapshot.title = Some("Another title".to_owned());
    commit(&store, &next, KEEP_NEWEST_ONLY).await.unwrap();
    commit(&store, &with_facts("c", TODAY, 9), KEEP_NEWEST_ONLY).await.unwrap();
    let status = store.snapshot_status(&name("cpi"), &snapshot_id("a")).await.unwrap();
    assert_eq!(status, SnapshotStatus::Dropped);
    let gone = cited("a").await.unwrap();
    assert_eq!(gone.snapshot, kept.snapshot, "every word of it");
    assert_eq!(gone.digest, kept.digest);
    assert!(matches!(gone.state, CitedState::Dropped(_)), "{:?}", gone.state);
    assert_eq!(cited("never").await, None);

    store.retire_dataset(&name("cpi")).await.unwrap();
    assert!(matches!(cited("c").await.unwrap().state, CitedState::Retired(_)));
    assert!(matches!(cited("a").await.unwrap().state, CitedState::Dropped(_)));
}

pub(crate) async fn a_held_snapshot_is_kept_for_ever_contract_13(place: TestDatabase) {
    let store = place.host().await;
    let hold = async |id: &str| store.hold_snapshot(&name("cpi"), &snapshot_id(id)).await.unwrap();
    let retained = async || -> Vec<(SnapshotId, bool)> {
        let dataset = store.dataset(&name("cpi")).await.unwrap().unwrap();
        dataset.snapshots.iter().map(|summary| (summary.id, summary.held)).collect()
    };
    // Retention goes by the database's clock.
    let today = store.database_time().await.unwrap().0;
    for (id, day) in [("a", -90), ("b", -80), ("c", -70)] {
        commit(&store, &publication("cpi", id, today + day * DAY), Retention::default())
            .await
            .unwrap();
    }
    assert_eq!(hold("a").await, HoldOutcome::Held);
    assert_eq!(hold("a").await, HoldOutcome::AlreadyHeld);
    assert_eq!(hold("never").await, HoldOutcome::Unknown);
    assert!(store.dataset(&name("cpi")).await.unwrap().unwrap().snapshots[0].held);
    // Neither a publish nor `gc` drops it.
    commit(&store, &publication("cpi", "d", today), KEEP_NEWEST_ONLY).await.unwrap();
    store.apply_retention(KEEP_NEWEST_ONLY, false).await.unwrap();
    let [a, c, d] = ["a", "c", "d"].map(snapshot_id);
    assert_eq!(retained().await, [(a, true), (c, false), (d, false)], "c is `monthly`");
    assert_eq!(hold("b").await, HoldOutcome::Dropped);

    // The current one, whose file is then written again.
    assert_eq!(hold("d").await, HoldOutcome::Held);
    let mut anew = publication("cpi", "d", today + DAY);
    anew.snapshot.file.sha256 = digest("f");
    commit(&store, &anew, KEEP_NEWEST_ONLY).await.unwrap();
    assert_eq!(retained().await, [(a, true), (c, false), (d, true)]);
}
