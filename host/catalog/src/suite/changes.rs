//! Rules about the history of changes.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use yearbook_domain::changes::ChangeSet;
use yearbook_domain::{ChangeCounts, CreditLine, Digest, LargestRevision, SnapshotId, StoredFile};

use super::TestDatabase;
use super::fixtures::{
    DAY, HOUR, KEEP_NEWEST_ONLY, TODAY, commit, digest, name, publication, snapshot, snapshot_id,
};
use crate::{Catalog, Publication, Retention, SnapshotStatus};

fn line(id: &str) -> CreditLine {
    CreditLine { attribution: format!("Credit of {id}"), licence: format!("Licence of {id}") }
}

/// A publisher that found `from` to be current.
pub(crate) fn following(from: &str, to: &str, at: i64) -> Publication {
    let changes = ChangeSet {
        from: snapshot_id(from),
        to: snapshot_id(to),
        version: 0,
        committed_at: snapshot(to, at).created_at,
        rows: 7,
        counts: ChangeCounts { inserted: 1, deleted: 2, updated: 2 },
        largest_revision: Some(LargestRevision {
            column: "value".to_owned(),
            key: vec![("region".to_owned(), "Ōtautahi".to_owned())],
            before: i64::MAX.into(),
            after: serde_json::Number::from_f64(0.1).unwrap(),
        }),
        file: StoredFile { sha256: digest(&format!("{from}{to}")), bytes: 99 },
        columns: snapshot(to, at).columns,
        from_credit: line(from),
        to_credit: line(to),
    };
    Publication { changes: Some(changes), ..publication("cpi", to, at) }
}

async fn history(store: &Catalog) -> Vec<(SnapshotId, SnapshotId)> {
    let found = store.changes(&name("cpi")).await.unwrap();
    found.iter().map(|set| (set.from, set.to)).collect()
}

/// The ids of both snapshots of `from>to`.
fn step(text: &str) -> (SnapshotId, SnapshotId) {
    let (from, to) = text.split_once('>').unwrap();
    (snapshot_id(from), snapshot_id(to))
}

pub(crate) async fn a_history_of_changes_comes_back_in_order(place: TestDatabase) {
    let store = place.host().await;
    assert_eq!(history(&store).await, []);
    let (b, c) = (following("a", "b", TODAY + HOUR), following("b", "c", TODAY + 2 * HOUR));
    for publication in [&publication("cpi", "a", TODAY), &b, &c] {
        commit(&store, publication, Retention::default()).await.unwrap();
    }
    let [b, c] = [(b, 1), (c, 2)]
        .map(|(publication, version)| ChangeSet { version, ..publication.changes.unwrap() });
    assert_eq!(store.changes(&name("cpi")).await.unwrap(), [b, c]);
    // Back to what it was, and once more the same.
    for _ in 0..2 {
        commit(&store, &following("c", "a", TODAY + 3 * HOUR), Retention::default()).await.unwrap();
    }
    assert_eq!(history(&store).await, ["a>b", "b>c", "c>a"].map(step));
    assert_eq!(store.changes(&name("rent")).await.unwrap(), []);
    let digests: Vec<Digest> =
        store.referenced_files().await.unwrap().into_iter().map(|file| file.sha256).collect();
    assert!(["ab", "bc", "ca"].iter().all(|label| digests.contains(&digest(label))), "{digests:?}");
}

pub(crate) async fn a_gap_begins_the_history_anew(place: TestDatabase) {
    let store = place.host().await;
    commit(&store, &publication("cpi", "a", TODAY), Retention::default()).await.unwrap();
    commit(&store, &following("a", "b", TODAY + 1), Retention::default()).await.unwrap();
    // What it was compared with could not be read.
    commit(&store, &publication("cpi", "c", TODAY + 2), Retention::default()).await.unwrap();
    assert_eq!(history(&store).await, []);
    commit(&store, &following("c", "d", TODAY + 3), Retention::default()).await.unwrap();
    assert_eq!(history(&store).await, ["c>d"].map(step));
    commit(&store, &publication("cpi", "e", TODAY + 4), Retention::default()).await.unwrap();
    assert_eq!(history(&store).await, []);
}

pub(crate) async fn changes_outlive_a_snapshot_dropped_between_retained_ones(place: TestDatabase) {
    let store = place.host().await;
    commit(&store, &publication("cpi", "a", TODAY - 80 * DAY), KEEP_NEWEST_ONLY).await.unwrap();
    for (from, to, day) in [("a", "b", -40), ("b", "c", -9), ("c", "d", -8), ("d", "e", -7)] {
        commit(&store, &following(from, to, TODAY + day * DAY), KEEP_NEWEST_ONLY).await.unwrap();
    }
    // b is what `monthly` names, e is current; a is gone.
    assert_eq!(
        store.snapshot_status(&name("cpi"), &snapshot_id("c")).await.unwrap(),
        SnapshotStatus::Dropped
    );
    assert_eq!(history(&store).await, ["b>c", "c>d", "d>e"].map(step));
    let credits: Vec<_> = store
        .changes(&name("cpi"))
        .await
        .unwrap()
        .into_iter()
        .map(|set| (set.from_credit, set.to_credit))
        .collect();
    let expected = [("b", "c"), ("c", "d"), ("d", "e")].map(|(from, to)| (line(from), line(to)));
    assert_eq!(credits, expected, "the credit outlives its snapshot");
    let digests: Vec<Digest> =
        store.referenced_files().await.unwrap().into_iter().map(|file| file.sha256).collect();
    assert!(!digests.contains(&digest("ab")), "nobody can ask for it any more: {digests:?}");
}

pub(crate) async fn a_file_written_anew_keeps_its_changes(place: TestDatabase) {
    let store = place.host().await;
    commit(&store, &publication("cpi", "a", TODAY), Retention::default()).await.unwrap();
    commit(&store, &following("a", "b", TODAY + 1), Retention::default()).await.unwrap();
    let mut repaired = publication("cpi", "b", TODAY + 2);
    repaired.snapshot.file.sha256 = digest("f");
    commit(&store, &repaired, Retention::default()).await.unwrap();
    commit(&store, &following("b", "c", TODAY + 3), Retention::default()).await.unwrap();
    assert_eq!(history(&store).await, ["a>b", "b>c"].map(step));
}
