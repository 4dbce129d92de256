//! Rules about what lies in the object store without a name, and about retention without a publish.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::Duration;

use yearbook_domain::{Millis, ObjectKey};

use super::TestDatabase;
use super::fixtures::{
    DAY, KEEP_NEWEST_ONLY, TODAY, commit, digest, name, publication, publish, register, snapshot,
    snapshot_id,
};
use super::releases::release;
use crate::{
    Catalog, CatalogError, CommitOutcome, DeletionBatch, Publication, ReleaseChange, ReleaseState,
    Retention, SnapshotStatus, UploadRegistration,
};

const ANY: usize = 100;

fn file(id: &str) -> ObjectKey {
    ObjectKey::snapshot(&snapshot(id, 0).file.sha256)
}

/// An instant after all that has happened.
async fn after_all(store: &Catalog) -> Millis {
    tokio::time::sleep(Duration::from_millis(3)).await;
    store.database_time().await.unwrap()
}

async fn condemn(store: &Catalog, found: &[ObjectKey], before: Millis) -> DeletionBatch {
    store.mark_for_deletion(found, before, ANY, false).await.unwrap()
}

fn names(list: &[crate::UnreferencedObject]) -> Vec<ObjectKey> {
    list.iter().map(|loose| loose.stored.clone()).collect()
}

pub(crate) async fn the_clock_is_the_present(place: TestDatabase) {
    let store = place.host().await;
    let off = store.database_time().await.unwrap().0 - crate::clock::now().0;
    assert!(off.abs() < 2_000, "{off} ms");
}

pub(crate) async fn what_nobody_declared_is_not_named(place: TestDatabase) {
    let (store, other) = (place.host().await, place.host().await);
    let refused = |outcome: Result<_, CatalogError>| {
        matches!(outcome, Err(CatalogError::DeletedConcurrently(_)))
    };
    assert!(refused(
        store.commit_snapshot(&publication("cpi", "a", TODAY), Retention::default()).await
    ));
    assert!(store.datasets().await.unwrap().is_empty(), "nothing was changed");
    assert!(matches!(
        store.register_release(&release("csv", "a", TODAY)).await,
        Err(CatalogError::DeletedConcurrently(_))
    ));
    assert!(store.releases().await.unwrap().is_empty());
    publish(&store, "cpi", "a", TODAY).await;
    // What is named already needs no declaration, by whatever it is named.
    other.commit_snapshot(&publication("rent", "a", TODAY), Retention::default()).await.unwrap();
    assert!(
        store.register_upload(&file("b")).await.unwrap() == UploadRegistration::Registered
            && names(&condemn(&store, &[file("b")], Millis(0)).await.due).is_empty()
    );
    let second =
        Publication { predecessor: Some(snapshot_id("a")), ..publication("cpi", "b", TODAY + 1) };
    assert_eq!(
        store.commit_snapshot(&second, Retention::default()).await.unwrap(),
        CommitOutcome::New
    );
}

pub(crate) async fn what_is_loose_for_long_is_removed_once_and_what_is_named_never(
    place: TestDatabase,
) {
    let (store, other) = (place.host().await, place.host().await);
    publish(&store, "cpi", "named", TODAY).await;
    let found = [file("named"), file("orphan"), ObjectKey::component(&digest("c"))];
    let early = store.database_time().await.unwrap();
    assert_eq!(
        names(&condemn(&store, &found, early).await.later),
        found[1..],
        "found for the first time"
    );
    let late = after_all(&store).await;
    let tried = store.mark_for_deletion(&found, late, ANY, true).await.unwrap();
    let one = store.mark_for_deletion(&found, late, 1, false).await.unwrap();
    assert_eq!((names(&tried.due), names(&one.due)), (found[1..].to_vec(), found[1..2].to_vec()));
    // Another gc takes the rest, and leaves what is in hand.
    let rest = condemn(&other, &found, late).await;
    assert_eq!((names(&rest.due), rest.being_removed), (found[2..].to_vec(), 1));
    assert_eq!(
        store.register_upload(&file("orphan")).await.unwrap(),
        UploadRegistration::BeingDeleted
    );
    other.forget_deleted(&names(&one.due), Millis(one.at.0 - 1)).await.unwrap();
    assert_eq!(
        store.register_upload(&file("orphan")).await.unwrap(),
        UploadRegistration::BeingDeleted,
        "it is not theirs"
    );
    store.forget_deleted(&names(&one.due), one.at).await.unwrap();
    assert_eq!(
        store.register_upload(&file("orphan")).await.unwrap(),
        UploadRegistration::Registered
    );
}

pub(crate) async fn what_was_removed_meanwhile_is_not_named(place: TestDatabase) {
    let store = place.host().await;
    store.register_upload(&file("a")).await.unwrap();
    let due = condemn(&store, &[file("a")], after_all(&store).await).await;
    let slow =
        async || store.commit_snapshot(&publication("cpi", "a", TODAY), Retention::default()).await;
    assert!(
        matches!(slow().await, Err(CatalogError::DeletedConcurrently(_))),
        "it is being removed"
    );
    store.forget_deleted(&names(&due.due), due.at).await.unwrap();
    let message = slow().await.unwrap_err().to_string();
    assert!(
        message.contains(&file("a").to_string()) && message.contains("do it again"),
        "{message}"
    );
    publish(&store, "cpi", "a", TODAY).await;
}

pub(crate) async fn what_is_let_go_is_loose_from_then_on(place: TestDatabase) {
    let store = place.host().await;
    let found = [file("a"), file("b"), file("c"), ObjectKey::component(&digest("a"))];
    let before = after_all(&store).await;
    for (id, day) in [("a", -10), ("b", -9), ("c", -8)] {
        commit(&store, &publication("cpi", id, TODAY + day * DAY), KEEP_NEWEST_ONLY).await.unwrap();
    }
    let csv = release("csv", "a", TODAY);
    register(&store, &csv).await.unwrap();
    let change = |to| ReleaseChange {
        id: csv.id.clone(),
        to,
        by: "ann".to_owned(),
        at: Millis(TODAY),
        reason: None,
    };
    store.change_release(&change(ReleaseState::Removed)).await.unwrap();
    // The oldest of this month is what `monthly` names.
    let looked = condemn(&store, &found, before).await;
    assert_eq!(
        (names(&looked.due), names(&looked.later)),
        (vec![], vec![file("b"), found[3].clone()])
    );
    assert!(looked.later.iter().all(|loose| loose.since >= before));
    let due = condemn(&store, &found, after_all(&store).await).await;
    assert_eq!(names(&due.due), [file("b"), found[3].clone()]);
    store.forget_deleted(&names(&due.due), due.at).await.unwrap();
    // A release that was removed serves again once its component has been stored again.
    let promote = change(ReleaseState::Promoted);
    assert!(matches!(
        store.change_release(&promote).await,
        Err(CatalogError::DeletedConcurrently(_))
    ));
    store.register_upload(&found[3]).await.unwrap();
    store.change_release(&promote).await.unwrap();
    assert!(names(&condemn(&store, &found, after_all(&store).await).await.due).is_empty());
}

pub(crate) async fn retention_applies_without_a_publish(place: TestDatabase) {
    let store = place.host().await;
    let now = store.database_time().await.unwrap().0;
    for (id, at) in
        [("a", now - 90 * DAY), ("b", now - 60 * DAY), ("c", now - 40 * DAY), ("d", now)]
    {
        publish(&store, "cpi", id, at).await;
    }
    store.retire_dataset(&name("cpi")).await.unwrap();
    let before = store.revision().await.unwrap();
    let ids = |dropped: &[crate::DroppedSnapshot]| {
        dropped.iter().map(|dropped| (dropped.dataset.to_string(), dropped.id)).collect::<Vec<_>>()
    };
    let tried = store.apply_retention(KEEP_NEWEST_ONLY, true).await.unwrap();
    let old = ["a", "b"].map(|label| ("cpi".to_owned(), snapshot_id(label)));
    assert_eq!(ids(&tried), old, "c is what `monthly` names, d is current");
    assert_eq!(store.revision().await.unwrap(), before, "a dry run does nothing");
    assert_eq!(store.apply_retention(KEEP_NEWEST_ONLY, false).await.unwrap(), tried);
    assert!(store.revision().await.unwrap() > before);
    let before = store.revision().await.unwrap();
    assert_eq!(store.apply_retention(KEEP_NEWEST_ONLY, false).await.unwrap(), []);
    assert_eq!(store.revision().await.unwrap(), before, "nothing to notice");
    for (id, standing) in [
        ("a", SnapshotStatus::Dropped),
        ("b", SnapshotStatus::Dropped),
        ("c", SnapshotStatus::Retained),
        ("d", SnapshotStatus::Retained),
    ] {
        assert_eq!(
            store.snapshot_status(&name("cpi"), &snapshot_id(id)).await.unwrap(),
            standing,
            "{id}"
        );
    }
}
