//! Rules about releases that wait for their time.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;
use std::time::Duration;

use yearbook_domain::{Dataset, Millis, ObjectKey};

use super::fixtures::{
    TODAY, commit, history, name, publication, publish, snapshot, snapshot_id, wait_until,
};
use super::{TestDatabase, changes};
use crate::{
    Catalog, CatalogCache, ChangeOfWaiting, CommitOutcome, NewRelease, Publication, ReleaseOutcome,
    Retention, SnapshotStatus, UploadRegistration, VersionAt, WaitingRelease,
};

const PATIENCE: Duration = Duration::from_secs(20);

const MINUTE: i64 = 60_000;

/// A version that follows `a`.
pub(super) fn following_a(id: &str) -> Publication {
    let predecessor = Some(snapshot_id("a"));
    Publication { at: None, predecessor, ..changes::following("a", id, TODAY) }
}

/// Commits a release whose files are stored and registered.
pub(super) async fn release(store: &Catalog, release: &NewRelease<'_>) -> ReleaseOutcome {
    let Publication { snapshot, changes, .. } = release.publication;
    for file in std::iter::once(&snapshot.file).chain(changes.iter().map(|set| &set.file)) {
        let registered = store.register_upload(&ObjectKey::waiting(&file.sha256)).await.unwrap();
        assert_eq!(registered, UploadRegistration::Registered);
    }
    store.commit_release(release).await.unwrap()
}

pub(super) async fn release_in(
    store: &Catalog,
    publication: &Publication,
    ms: i64,
) -> (i64, Millis) {
    let at = Millis(store.database_time().await.unwrap().0 + ms).whole_second();
    let terms =
        NewRelease { publication, release_at: at, announce: Some("Prices"), replace: false };
    let ReleaseOutcome::Waits(id) = release(store, &terms).await else { panic!("it waits") };
    (id, at)
}

/// Waits until the database's clock stands at `at`.
pub(super) async fn wait_for(store: &Catalog, at: Millis) {
    wait_until(PATIENCE, async || store.database_time().await.unwrap() >= at).await;
}

pub(crate) async fn what_waits_is_in_nothing_that_is_served_contract_21(place: TestDatabase) {
    let store = place.host().await;
    publish(&store, "cpi", "a", TODAY).await;
    let before = (store.revision().await.unwrap(), store.datasets().await.unwrap());
    let waits = following_a("b");
    let (id, at) = release_in(&store, &waits, 10 * MINUTE).await;
    let new = Publication { predecessor: None, at: None, ..publication("rent", "r", TODAY) };
    release_in(&store, &new, 20 * MINUTE).await;

    assert_eq!((store.revision().await.unwrap(), store.datasets().await.unwrap()), before);
    assert_eq!(store.current_snapshot(&name("cpi")).await.unwrap().unwrap().id, snapshot_id("a"));
    for (dataset, id) in [("cpi", "b"), ("rent", "r")] {
        let (dataset, id) = (name(dataset), snapshot_id(id));
        assert_eq!(store.snapshot_status(&dataset, &id).await.unwrap(), SnapshotStatus::Unknown);
        assert_eq!(store.snapshot(&dataset, &id).await.unwrap(), None);
        assert_eq!(store.cited_snapshot(&dataset, &id).await.unwrap(), None);
        assert_eq!(store.preview_facts(&dataset, &id).await.unwrap(), None);
    }
    assert_eq!(store.dataset(&name("rent")).await.unwrap(), None);
    assert_eq!(store.version_at(&name("rent"), at).await.unwrap(), None);
    let found = store.version_at(&name("cpi"), at).await.unwrap();
    assert!(
        matches!(found, Some(VersionAt::Retained(snapshot)) if snapshot.id == snapshot_id("a"))
    );
    assert_eq!(store.changes(&name("cpi")).await.unwrap(), []);
    assert_eq!(store.settle_due_releases().await.unwrap(), 0);

    let listed = store.waiting_releases().await.unwrap();
    let expected = WaitingRelease {
        id,
        dataset: name("cpi"),
        snapshot: snapshot_id("b"),
        release_at: at,
        announced: Some("Prices".to_owned()),
    };
    assert_eq!((listed.len(), &listed[0]), (2, &expected));
}

pub(crate) async fn while_a_release_waits_nothing_else_becomes_of_its_dataset_contract_21(
    place: TestDatabase,
) {
    let store = place.host().await;
    publish(&store, "cpi", "a", TODAY).await;
    let (id, at) = release_in(&store, &following_a("b"), 10 * MINUTE).await;
    let waiting = store.waiting_release(&name("cpi")).await.unwrap().unwrap();
    for other in ["c", "b", "a"] {
        let publication = publication("cpi", other, TODAY + 1);
        let refused = commit(&store, &publication, Retention::default()).await.unwrap();
        assert_eq!(refused, CommitOutcome::Waits(waiting.clone()), "{other}");
    }
    assert!(!store.retire_dataset(&name("cpi")).await.unwrap());
    let second = following_a("c");
    let terms = NewRelease { publication: &second, release_at: at, announce: None, replace: false };
    assert_eq!(release(&store, &terms).await, ReleaseOutcome::OtherWaits(waiting));

    // In its place, which takes the announcement back.
    let replacing = NewRelease { replace: true, ..terms };
    let ReleaseOutcome::Waits(next) = release(&store, &replacing).await else { panic!("waits") };
    assert_ne!(next, id);
    assert_eq!(store.announcements().await.unwrap(), []);
    assert_eq!(store.withdraw_release(id).await.unwrap(), ChangeOfWaiting::Unknown);
    // The data of now in its place leaves nothing to wait for.
    let back =
        Publication { predecessor: Some(snapshot_id("a")), ..publication("cpi", "a", TODAY) };
    let back = NewRelease { publication: &back, ..replacing };
    let waiting = store.waiting_release(&name("cpi")).await.unwrap().unwrap();
    let refused = release(&store, &NewRelease { replace: false, ..back }).await;
    assert_eq!(refused, ReleaseOutcome::OtherWaits(waiting.clone()));
    assert_eq!(release(&store, &back).await, ReleaseOutcome::Withdrawn(waiting));
    assert_eq!(store.waiting_releases().await.unwrap(), []);
    assert!(store.waiting_files(false).await.unwrap().is_empty());
    assert_eq!(release(&store, &back).await, ReleaseOutcome::Unchanged);
    let next = release_in(&store, &following_a("e"), 10 * MINUTE).await.0;
    let done = ChangeOfWaiting::Done(name("cpi"));
    assert_eq!(store.withdraw_release(next).await.unwrap(), done);
    assert_eq!(store.waiting_releases().await.unwrap(), []);
    assert!(store.waiting_files(false).await.unwrap().is_empty());
    // It left no hole.
    publish(&store, "cpi", "d", TODAY + 1).await;
    let versions = store.dataset(&name("cpi")).await.unwrap().unwrap().snapshots;
    assert_eq!(versions.iter().map(|summary| summary.version).collect::<Vec<_>>(), [0, 1]);
}

pub(crate) async fn a_dataset_whose_first_release_is_withdrawn_was_never_checked_contract_8(
    place: TestDatabase,
) {
    let store = place.host().await;
    let (id, _) = release_in(&store, &publication("cpi", "a", TODAY), 10 * MINUTE).await;
    assert_eq!(store.withdraw_release(id).await.unwrap(), ChangeOfWaiting::Done(name("cpi")));
    let state = store.source_state(&name("cpi")).await.unwrap();
    assert_eq!((state.checked_at, state.current), (None, None));
}

pub(crate) async fn a_release_is_visible_from_its_time_on_contract_21(place: TestDatabase) {
    let (store, other) = (place.host().await, place.host().await);
    publish(&store, "cpi", "a", TODAY).await;
    let waits = following_a("b");
    let (_, at) = release_in(&store, &waits, 2_500).await;
    let future = store.future_datasets().await.unwrap();
    wait_for(&store, at).await;
    let (one, two) = tokio::join!(store.settle_due_releases(), other.settle_due_releases());
    assert_eq!(one.unwrap() + two.unwrap(), 1, "made visible once");

    assert_eq!(history(&store).await, [snapshot_id("a"), snapshot_id("b")]);
    let dataset = store.dataset(&name("cpi")).await.unwrap().unwrap();
    assert_eq!(dataset.current.created_at, at);
    assert_eq!(dataset.checked_at, at);
    assert_eq!(dataset.snapshots[1].version, 1);
    assert_eq!(*future[0].dataset, dataset, "what hosts turned to");
    let changes = store.changes(&name("cpi")).await.unwrap();
    assert_eq!((changes.len(), changes[0].committed_at), (1, at));
    assert_eq!(store.waiting_releases().await.unwrap(), []);
    let announced = store.announcements().await.unwrap();
    assert_eq!(announced[0].snapshot, Some(snapshot_id("b")));

    // Its files are read from where they waited until they are moved.
    let files = store.waiting_files(true).await.unwrap();
    assert!(files.contains(&waits.snapshot.file.sha256) && files.len() == 2, "{files:?}");
    let [file, changed] = [&waits.snapshot.file, &waits.changes.as_ref().unwrap().file];
    for file in [file, changed] {
        store.record_moved_file(&file.sha256).await.unwrap();
    }
    assert!(store.waiting_files(false).await.unwrap().is_empty());
    let old = [ObjectKey::waiting(&file.sha256), ObjectKey::snapshot(&file.sha256)];
    let late = Millis(store.database_time().await.unwrap().0 + MINUTE);
    let gone = store.mark_for_deletion(&old, late, 9, false).await.unwrap().due;
    let gone: Vec<ObjectKey> = gone.into_iter().map(|loose| loose.stored).collect();
    assert_eq!(gone, old[..1], "the copy is in use");
}

pub(crate) async fn a_release_is_moved_and_withdrawn_until_ten_seconds_before_contract_21(
    place: TestDatabase,
) {
    let store = place.host().await;
    publish(&store, "cpi", "a", TODAY).await;
    let (id, at) = release_in(&store, &following_a("b"), 10 * MINUTE).await;
    let now = store.database_time().await.unwrap();
    let near = Millis(now.0 + 9_000);
    assert_eq!(store.move_release(id, near).await.unwrap(), ChangeOfWaiting::TooNear);
    let done = ChangeOfWaiting::Done(name("cpi"));
    let later = Millis(at.0 + MINUTE);
    // To the time that it has already is no move.
    for later in [later, later, Millis(now.0 + 11_000).whole_second()] {
        assert_eq!(store.move_release(id, later).await.unwrap(), done);
        let waiting = store.waiting_release(&name("cpi")).await.unwrap().unwrap();
        assert_eq!((waiting.id, waiting.release_at), (id, later));
    }
    let announced = store.announcements().await.unwrap();
    assert_eq!((announced.len(), announced[0].moves), (1, 2));
    let waiting = store.waiting_release(&name("cpi")).await.unwrap().unwrap();
    wait_for(&store, Millis(waiting.release_at.0 - 9_900)).await;
    let late = ChangeOfWaiting::TooLate(waiting.release_at);
    assert_eq!(store.withdraw_release(id).await.unwrap(), late);
    assert_eq!(store.move_release(id, at).await.unwrap(), late);
    let other = following_a("c");
    let terms = NewRelease { publication: &other, release_at: at, announce: None, replace: true };
    assert_eq!(release(&store, &terms).await, ReleaseOutcome::TooLate(waiting));
}

pub(crate) async fn a_release_that_is_late_is_visible_at_its_commit_contract_21(
    place: TestDatabase,
) {
    let store = place.host().await;
    publish(&store, "cpi", "a", TODAY).await;
    let now = store.database_time().await.unwrap();
    let waits = following_a("b");
    let terms = NewRelease {
        publication: &waits,
        release_at: Millis(now.0 - MINUTE).whole_second(),
        announce: None,
        replace: false,
    };
    assert_eq!(release(&store, &terms).await, ReleaseOutcome::Visible);
    let current = store.dataset(&name("cpi")).await.unwrap().unwrap().current.clone();
    assert_eq!(current.id, snapshot_id("b"));
    assert!(current.created_at >= now.whole_second());
    assert_eq!(store.released_versions().await.unwrap(), [(name("cpi"), 1)], "it has waited");
    // The same data again waits for nothing.
    assert_eq!(release(&store, &terms).await, ReleaseOutcome::Unchanged);
    let old = following_a("c");
    let stale = NewRelease { publication: &old, ..terms };
    assert_eq!(release(&store, &stale).await, ReleaseOutcome::Conflict);
}

pub(crate) async fn a_retired_dataset_comes_back_at_the_time_of_its_release_contract_21(
    place: TestDatabase,
) {
    let store = place.host().await;
    publish(&store, "cpi", "a", TODAY).await;
    store.retire_dataset(&name("cpi")).await.unwrap();
    let (_, at) = release_in(&store, &following_a("b"), 2_500).await;
    let live = CatalogCache::start(Arc::clone(&store), Duration::from_millis(200)).await.unwrap();
    assert_eq!((live.dataset("cpi"), live.retired_at("cpi").is_some()), (None, true));
    wait_until(PATIENCE, async || live.dataset("cpi").is_some()).await;
    assert!(store.database_time().await.unwrap() >= at);
    assert_eq!(live.retired_at("cpi"), None);

    // With the same data.
    live.settled().await.unwrap();
    let before = store.dataset(&name("cpi")).await.unwrap().unwrap();
    store.retire_dataset(&name("cpi")).await.unwrap();
    let same = Publication { predecessor: Some(snapshot_id("b")), at: None, ..following_a("b") };
    wait_until(PATIENCE, async || live.dataset("cpi").is_none()).await;
    let (_, at) = release_in(&store, &Publication { changes: None, ..same }, 2_500).await;
    wait_until(PATIENCE, async || live.dataset("cpi").is_some()).await;
    assert!(store.database_time().await.unwrap() >= at);
    let turned = live.dataset("cpi").unwrap();
    assert_eq!(*turned, Dataset { checked_at: at, ..before });
    live.settled().await.unwrap();
    assert_eq!(store.dataset(&name("cpi")).await.unwrap().unwrap(), *turned);
}

pub(crate) async fn hosts_turn_to_a_release_at_its_time_and_never_before_contract_21(
    place: TestDatabase,
) {
    let (store, publisher) = (place.host().await, place.host().await);
    publish(&publisher, "cpi", "a", TODAY).await;
    let live = CatalogCache::start(Arc::clone(&store), Duration::from_millis(200)).await.unwrap();
    let (_, at) = release_in(&publisher, &following_a("b"), 3_000).await;
    let woken = live.revision_changes();
    let is_new = |dataset: Option<Arc<Dataset>>| {
        dataset.is_some_and(|dataset| dataset.current.id == snapshot_id("b"))
    };
    wait_until(PATIENCE, async || !live.waiting_snapshots().is_empty()).await;
    let (revision, dataset) = (live.revision(), live.dataset("cpi").unwrap());
    assert!(!woken.has_changed().unwrap(), "what waits wakes nobody");
    while !is_new(live.dataset("cpi")) {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert!(store.database_time().await.unwrap() >= at, "never early");
    assert!(live.revision() > revision && woken.has_changed().unwrap());
    let turned = live.dataset("cpi").unwrap();
    assert_eq!((dataset.current.id, turned.current.created_at), (snapshot_id("a"), at));
    live.settled().await.unwrap();
    live.refresh().await.unwrap();
    assert_eq!(*live.dataset("cpi").unwrap(), *turned, "as the database has it");
    assert_eq!(store.dataset(&name("cpi")).await.unwrap().unwrap(), *turned);
    assert!(live.waiting_snapshots().is_empty());
}

pub(crate) async fn what_a_host_shows_is_visible_though_the_clock_was_set_back_contract_21(
    place: TestDatabase,
) {
    let store = place.host().await;
    publish(&store, "cpi", "a", TODAY).await;
    // By the clock of before its time had come, by that of now it has not.
    let (id, at) = release_in(&store, &following_a("b"), 10 * MINUTE).await;
    assert_eq!(store.settle_due_releases().await.unwrap(), 0);
    assert_eq!(store.settle_releases(vec![id]).await.unwrap(), 1);
    let current = store.dataset(&name("cpi")).await.unwrap().unwrap().current.clone();
    assert_eq!((current.id, current.created_at), (snapshot_id("b"), at));
    assert_eq!(store.waiting_releases().await.unwrap(), []);
    assert_eq!(store.settle_releases(vec![id]).await.unwrap(), 0, "once");
}

pub(crate) async fn a_host_that_hears_nothing_shows_no_release_contract_21(place: TestDatabase) {
    let store = place.host().await;
    publish(&store, "cpi", "a", TODAY).await;
    let faulty = store.with_faults();
    let live = CatalogCache::start(faulty.clone(), Duration::from_millis(100)).await.unwrap();
    let (_, at) = release_in(&store, &following_a("b"), 4_000).await;
    wait_until(PATIENCE, async || !live.waiting_snapshots().is_empty()).await;
    faulty.fail(true);
    wait_for(&store, Millis(at.0 + 500)).await;
    assert_eq!(live.clock_reading(), None);
    assert_eq!(live.dataset("cpi").unwrap().current.id, snapshot_id("a"));
    faulty.fail(false);
    wait_until(PATIENCE, async || live.dataset("cpi").unwrap().current.id == snapshot_id("b"))
        .await;
}

pub(crate) async fn what_waits_is_kept_by_retention_and_counted_for_nothing_contract_21(
    place: TestDatabase,
) {
    let store = place.host().await;
    publish(&store, "cpi", "a", TODAY).await;
    let waits = following_a("b");
    release_in(&store, &waits, 10 * MINUTE).await;
    let keep = Retention { snapshots: 1, hours: 0, history: true };
    assert_eq!(store.apply_retention(keep, false).await.unwrap(), []);
    let files = [
        ObjectKey::snapshot(&snapshot("a", 0).file.sha256),
        ObjectKey::waiting(&waits.snapshot.file.sha256),
    ];
    let late = Millis(store.database_time().await.unwrap().0 + MINUTE);
    let batch = store.mark_for_deletion(&files, late, 9, false).await.unwrap();
    assert_eq!((batch.due, batch.later), (Vec::new(), Vec::new()));
}
