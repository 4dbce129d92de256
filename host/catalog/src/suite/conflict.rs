//! Rules about publishers of one dataset that do not know of each other: a commit compares and
//! swaps, and tells the time.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use yearbook_domain::{Millis, ObjectKey};

use super::TestDatabase;
use super::changes::following;
use super::fixtures::{HOUR, TODAY, name, publication, publish, snapshot_id};
use crate::{Catalog, CommitOutcome, Publication, Retention};

/// Commits, once, what was compared with `predecessor`.
async fn compared(store: &Catalog, predecessor: Option<&str>, id: &str) -> CommitOutcome {
    let drafted = match predecessor {
        Some(from) => following(from, id, TODAY + HOUR),
        None => publication("cpi", id, TODAY + HOUR),
    };
    let changed = drafted.changes.iter().map(|changes| &changes.file);
    for file in std::iter::once(&drafted.snapshot.file).chain(changed) {
        store.register_upload(&ObjectKey::snapshot(&file.sha256)).await.unwrap();
    }
    let drafted = Publication { predecessor: predecessor.map(snapshot_id), ..drafted };
    store.commit_snapshot(&drafted, Retention::default()).await.unwrap()
}

pub(crate) async fn a_draft_whose_predecessor_has_moved_is_refused(place: TestDatabase) {
    let (store, other) = (place.host().await, place.host().await);
    assert_eq!(
        compared(&store, Some("a"), "b").await,
        CommitOutcome::Conflict,
        "there is nothing to follow"
    );
    assert!(store.datasets().await.unwrap().is_empty());
    assert_eq!(compared(&store, None, "a").await, CommitOutcome::New);
    // Two compared with `a`, and one of them is faster.
    assert_eq!(compared(&other, Some("a"), "b").await, CommitOutcome::New);
    let before = (store.datasets().await.unwrap(), store.revision().await.unwrap());
    for (what, predecessor, id) in [
        ("another one", Some("a"), "c"),
        ("unchanged when it was compared", Some("a"), "a"),
        ("found no snapshot", None, "c"),
    ] {
        assert_eq!(compared(&store, predecessor, id).await, CommitOutcome::Conflict, "{what}");
        assert_eq!(
            (store.datasets().await.unwrap(), store.revision().await.unwrap()),
            before,
            "{what}"
        );
    }
    // What it compares again follows without a gap.
    assert_eq!(compared(&store, Some("b"), "c").await, CommitOutcome::New);
    let changes = store.changes(&name("cpi")).await.unwrap();
    assert_eq!(
        changes.iter().map(|set| [set.from, set.to]).collect::<Vec<_>>(),
        [["a", "b"], ["b", "c"]].map(|step| step.map(snapshot_id))
    );
}

pub(crate) async fn what_is_current_already_is_unchanged_whatever_it_was_compared_with(
    place: TestDatabase,
) {
    let store = place.host().await;
    assert_eq!(compared(&store, None, "a").await, CommitOutcome::New);
    assert_eq!(compared(&store, Some("a"), "b").await, CommitOutcome::New);
    for predecessor in [None, Some("a"), Some("b")] {
        assert_eq!(
            compared(&store, predecessor, "b").await,
            CommitOutcome::Unchanged,
            "{predecessor:?}"
        );
    }
    // The same content counts, not the same row of the history.
    assert_eq!(compared(&store, Some("b"), "a").await, CommitOutcome::New);
    assert_eq!(compared(&store, Some("a"), "c").await, CommitOutcome::New);
    assert_eq!(store.changes(&name("cpi")).await.unwrap().len(), 3);
}

pub(crate) async fn a_retired_dataset_is_followed_without_a_gap(place: TestDatabase) {
    let store = place.host().await;
    publish(&store, "cpi", "a", TODAY).await;
    store.retire_dataset(&name("cpi")).await.unwrap();
    assert_eq!(compared(&store, Some("x"), "b").await, CommitOutcome::Conflict);
    assert!(
        store.dataset(&name("cpi")).await.unwrap().is_none(),
        "what is refused brings nothing back"
    );
    assert_eq!(compared(&store, Some("a"), "b").await, CommitOutcome::New);
    assert_eq!(store.changes(&name("cpi")).await.unwrap().len(), 1);
}

pub(crate) async fn the_database_tells_when_and_no_two_snapshots_share_a_second(
    place: TestDatabase,
) {
    let hosts = [place.host().await, place.host().await];
    let begun = hosts[0].database_time().await.unwrap();
    for (index, (from, to)) in
        [(None, "a"), (Some("a"), "b"), (Some("b"), "c"), (Some("c"), "c")].into_iter().enumerate()
    {
        let store = Arc::clone(&hosts[index % 2]);
        let drafted = match from {
            Some(from) => following(from, to, 0),
            None => publication("cpi", to, 0),
        };
        for file in
            drafted.changes.iter().map(|changes| &changes.file).chain([&drafted.snapshot.file])
        {
            store.register_upload(&ObjectKey::snapshot(&file.sha256)).await.unwrap();
        }
        let drafted = Publication { predecessor: from.map(snapshot_id), at: None, ..drafted };
        assert_ne!(
            store.commit_snapshot(&drafted, Retention::default()).await.unwrap(),
            CommitOutcome::Conflict
        );
        let current = store.current_snapshot(&name("cpi")).await.unwrap().unwrap();
        let now = store.database_time().await.unwrap();
        assert!(current.created_at <= now, "dated ahead: {:?} {now:?}", current.created_at);
    }
    let dataset = hosts[1].dataset(&name("cpi")).await.unwrap().unwrap();
    let times: Vec<Millis> = dataset.snapshots.iter().map(|summary| summary.created_at).collect();
    assert!(begun.whole_second() <= times[0], "{begun:?} {times:?}");
    assert!(times.iter().all(|at| *at == at.whole_second()), "whole seconds: {times:?}");
    assert!(times.is_sorted_by(|one, next| one < next), "{times:?}");
    let changes = hosts[0].changes(&name("cpi")).await.unwrap();
    assert_eq!(changes.iter().map(|set| set.committed_at).collect::<Vec<_>>(), times[1..]);
    assert!(dataset.checked_at >= times[2], "looked at once more since");
}
