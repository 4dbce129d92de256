//! Rules about the catalog in memory.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;
use std::time::Duration;

use super::TestDatabase;
use super::fixtures::{
    DAY, KEEP_NEWEST_ONLY, TODAY, commit, name, publication, publish, register, snapshot_id,
    wait_until,
};
use super::releases::release;
use crate::CatalogCache;

/// A period at which nothing happens by itself during a test.
const NEVER: Duration = Duration::from_secs(3600);
const TWO_SECONDS: Duration = Duration::from_secs(2);

pub(crate) async fn a_publish_by_another_process_is_seen_within_2_s_contract_6(
    place: TestDatabase,
) {
    let (server, publisher) = (place.host().await, place.host().await);
    publish(&publisher, "cpi", "one", TODAY).await;
    let live = CatalogCache::start(server, CatalogCache::POLL_INTERVAL).await.unwrap();
    assert_eq!(live.dataset("cpi").unwrap().current.id, snapshot_id("one"));
    assert!(live.dataset("rent").is_none());

    publish(&publisher, "rent", "two", TODAY).await;
    publish(&publisher, "cpi", "three", TODAY + 1).await;
    wait_until(TWO_SECONDS, async || live.dataset("rent").is_some()).await;
    wait_until(TWO_SECONDS, async || {
        live.dataset("cpi").is_some_and(|dataset| dataset.current.id == snapshot_id("three"))
    })
    .await;
    let names: Vec<String> =
        live.datasets().iter().map(|dataset| dataset.name.to_string()).collect();
    assert_eq!(names, ["cpi", "rent"]);

    publisher.retire_dataset(&name("cpi")).await.unwrap();
    wait_until(TWO_SECONDS, async || live.dataset("cpi").is_none()).await;
}

pub(crate) async fn the_last_view_stays_when_the_database_fails(place: TestDatabase) {
    let store = place.host().await;
    let faulty = store.with_faults();
    publish(&store, "cpi", "one", TODAY).await;
    let live = CatalogCache::start(faulty.clone(), Duration::from_millis(20)).await.unwrap();
    assert!(live.healthy());

    faulty.fail(true);
    wait_until(TWO_SECONDS, async || !live.healthy()).await;
    publish(&store, "cpi", "two", TODAY + 1).await;
    assert!(live.refresh().await.is_err());
    assert_eq!(live.dataset("cpi").unwrap().current.id, snapshot_id("one"));

    faulty.fail(false);
    wait_until(TWO_SECONDS, async || live.healthy()).await;
    assert_eq!(live.dataset("cpi").unwrap().current.id, snapshot_id("two"));

    let none = store.with_faults();
    none.fail(true);
    assert!(
        CatalogCache::start(none, NEVER).await.is_err(),
        "a server with nothing to serve does not start"
    );
}

pub(crate) async fn the_catalogue_is_read_again_only_when_the_revision_moved(place: TestDatabase) {
    let store = place.host().await;
    let faulty = store.with_faults();
    publish(&store, "cpi", "one", TODAY).await;
    let live = CatalogCache::start(faulty.clone(), NEVER).await.unwrap();
    let before = live.dataset("cpi").unwrap();
    let asked = faulty.calls();
    for _ in 0..10 {
        live.refresh().await.unwrap();
    }
    assert_eq!(faulty.calls(), asked);
    assert!(Arc::ptr_eq(&before, &live.dataset("cpi").unwrap()));

    publish(&store, "cpi", "one", TODAY + DAY).await;
    live.refresh().await.unwrap();
    assert_eq!(faulty.calls(), 2 * asked - 1, "everything once, and nothing is due");
    assert_eq!(live.dataset("cpi").unwrap().checked_at.0, TODAY + DAY);
    assert_eq!(live.database_revision(), store.revision().await.unwrap());
}

pub(crate) async fn unknown_names_cost_no_query_contract_5(place: TestDatabase) {
    let store = place.host().await;
    let faulty = store.with_faults();
    for dataset in ["cpi", "old"] {
        publish(&store, dataset, dataset, TODAY).await;
    }
    store.retire_dataset(&name("old")).await.unwrap();
    let live = CatalogCache::start(faulty.clone(), NEVER).await.unwrap();
    let asked = faulty.calls();
    assert_eq!(live.cited_snapshot(&name("none"), &snapshot_id("cpi")).await.unwrap(), None);
    assert!(live.retired_at("none").is_none() && live.retired_at("cpi").is_none());
    assert!(live.retired_at("old").is_some());
    assert_eq!(faulty.calls(), asked);
    assert!(live.cited_snapshot(&name("old"), &snapshot_id("old")).await.unwrap().is_some());
    // Only the database knows of snapshots that are not retained, and is asked for one at a time.
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..8 {
        let live = Arc::clone(&live);
        tasks.spawn(async move {
            let id = snapshot_id(&format!("none {number}"));
            live.cited_snapshot(&name("cpi"), &id).await.unwrap()
        });
    }
    assert_eq!(tasks.join_all().await, vec![None; 8]);
    assert_eq!((faulty.calls(), faulty.max_concurrent_lookups()), (asked + 9, 1));
}

pub(crate) async fn pinned_snapshots_are_remembered_until_the_revision_moves(place: TestDatabase) {
    let store = place.host().await;
    let faulty = store.with_faults();
    for (id, day) in [("a", -3), ("b", -2), ("c", -1)] {
        publish(&store, "cpi", id, TODAY + day * DAY).await;
    }
    let live = CatalogCache::start(faulty.clone(), NEVER).await.unwrap();
    let dataset = live.dataset("cpi").unwrap();
    let asked = faulty.calls();
    assert_eq!(
        live.snapshot(&dataset, &snapshot_id("c")).await.unwrap().unwrap().id,
        snapshot_id("c")
    );
    assert_eq!(faulty.calls(), asked, "the current one is in memory");
    for _ in 0..3 {
        assert_eq!(
            live.snapshot(&dataset, &snapshot_id("b")).await.unwrap().unwrap().id,
            snapshot_id("b")
        );
        assert!(live.snapshot(&dataset, &snapshot_id("none")).await.unwrap().is_none());
    }
    assert_eq!(faulty.calls(), asked + 2);

    // A commit that drops b.
    commit(&store, &publication("cpi", "d", TODAY), KEEP_NEWEST_ONLY).await.unwrap();
    live.refresh().await.unwrap();
    assert!(live.snapshot(&dataset, &snapshot_id("b")).await.unwrap().is_none());
    faulty.fail(true);
    assert!(
        live.snapshot(&dataset, &snapshot_id("a")).await.is_err(),
        "a failure is not the same as none"
    );
    faulty.fail(false);
    assert!(
        live.snapshot(&dataset, &snapshot_id("a")).await.unwrap().is_some(),
        "and is not remembered"
    );
}

pub(crate) async fn following_ends_with_the_last_handle(place: TestDatabase) {
    let store = place.host().await;
    let live = CatalogCache::start(Arc::clone(&store), Duration::from_millis(10)).await.unwrap();
    let weak = Arc::downgrade(&live);
    drop(live);
    wait_until(TWO_SECONDS, async || weak.strong_count() == 0).await;
}

pub(crate) async fn a_release_of_another_process_is_known_within_2_s_contract_6(
    place: TestDatabase,
) {
    let (server, operator) = (place.host().await, place.host().await);
    let live = CatalogCache::start(server, CatalogCache::POLL_INTERVAL).await.unwrap();
    let mut releases = live.releases();
    assert!(releases.borrow_and_update().is_empty());
    register(&operator, &release("csv", "a", TODAY)).await.unwrap();
    tokio::time::timeout(TWO_SECONDS, releases.changed()).await.unwrap().unwrap();
    assert_eq!(releases.borrow_and_update().len(), 1);

    // What is no business of plugins wakes nobody who follows them.
    publish(&operator, "cpi", "one", TODAY).await;
    live.refresh().await.unwrap();
    assert!(!releases.has_changed().unwrap());
}
