//! Rules about datasets and the order of their snapshots.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::sync::Arc;

use yearbook_domain::{Millis, Namespace};

use super::TestDatabase;
use super::changes::following;
use super::fixtures::{
    DAY, HOUR, KEEP_NEWEST_ONLY, TODAY, bare_snapshot, commit, digest, history, name, publication,
    publish, snapshot, snapshot_id,
};
use crate::{CommitOutcome, DatasetSet, Publication, Retention, SnapshotStatus, VersionAt};

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

pub(crate) async fn many_datasets_are_read_at_once_as_one_by_one(place: TestDatabase) {
    let store = place.host().await;
    // More than are read one by one.
    for number in 0..40 {
        let (dataset, id) = (format!("d{number}"), format!("i{number}"));
        let mut published = publication(&dataset, &id, TODAY);
        published.snapshot = match number % 3 {
            0 => bare_snapshot(&id, TODAY),
            _ => snapshot(&id, TODAY),
        };
        for (at, column) in published.snapshot.columns.iter_mut().enumerate() {
            column.description = Some(format!("{at} \"quoted\" \\ é \u{1f600}\n{number}"));
            (column.nullable, column.few_values) = (number % 2 == 0, at % 2 == 1);
        }
        commit(&store, &published, Retention::default()).await.unwrap();
    }
    let all = store.datasets().await.unwrap();
    assert_eq!(all.len(), 40);
    for dataset in all {
        let alone = store.dataset(&dataset.name).await.unwrap().unwrap();
        assert_eq!(*alone.current, *dataset.current);
        assert_eq!(alone, dataset);
    }
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

pub(crate) async fn a_known_history_has_retained_and_dropped_versions_contract_21(
    place: TestDatabase,
) {
    let keep = Retention { snapshots: 2, hours: 0, history: true };
    let store = place.host().await;
    let at = |number: i64| TODAY + number * DAY;
    publish(&store, "rent", "z", TODAY).await;
    commit(&store, &publication("cpi", "v0", at(0)), keep).await.unwrap();
    for number in 1..12 {
        let (before, id) = (format!("v{}", number - 1), format!("v{number}"));
        let mut next = following(&before, &id, at(number));
        match number {
            // Other columns.
            5 => {
                next.snapshot.columns.pop();
                next.changes.as_mut().unwrap().columns.pop();
            }
            // What changed is not known.
            9 => next.changes = None,
            _ => {}
        }
        commit(&store, &next, keep).await.unwrap();
    }
    let cpi = name("cpi");
    let known = store.known_history(&cpi, 11).await.unwrap().unwrap();
    let times: BTreeMap<u64, Millis> =
        (0..).zip((0..12).map(|number| Millis(at(number)))).collect();
    assert_eq!(known.times, times);
    assert_eq!(store.known_times(&cpi, 11).await.unwrap(), times);
    assert_eq!(known.credits.len(), 12);
    let parts = known.segments.iter().map(|part| (part.first, part.changes.len()));
    assert_eq!(parts.collect::<Vec<_>>(), [(0, 4), (5, 0), (6, 2), (9, 2)]);
    let mut dropped = 0;
    for part in &known.segments {
        for (set, version) in part.changes.iter().zip(part.first + 1..) {
            let ids = [version - 1, version].map(|version| snapshot_id(&format!("v{version}")));
            assert_eq!((set.version, [set.from, set.to]), (version, ids));
        }
        let last = part.first + part.changes.len() as u64;
        let words = store.version_words(&cpi, last).await.unwrap();
        assert_eq!(words.as_ref(), Some(&part.last), "{last}");
        let id = match store.version_at(&cpi, times[&last]).await.unwrap().unwrap() {
            VersionAt::Retained(snapshot) => snapshot.id,
            VersionAt::Past(past) => {
                dropped += 1;
                past.snapshot.id
            }
            other => panic!("{last}: {other:?}"),
        };
        assert_eq!(id, part.last.id, "{last}");
    }
    assert_eq!(dropped, 3, "the first of the month and the two newest are retained");
    let older = store.known_history(&cpi, 7).await.unwrap().unwrap();
    assert_eq!(older.segments.last().map(|part| part.changes.len()), Some(1));
    assert_eq!(store.known_history(&name("none"), 7).await.unwrap(), None);
}
