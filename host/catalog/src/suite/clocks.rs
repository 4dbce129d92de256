//! Rules about a clock that was ahead once: what it wrote holds nothing up until that time comes.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;
use std::time::Duration;

use yearbook_domain::{Cadence, CheckOutcome, FailureCause, Millis, ObjectKey, Plan, PlanTable};

use super::accounts::{link, queue};
use super::fixtures::{
    DAY, HOUR, TODAY, commit, digest, history, issue_key, key_id, name, publication, publish,
    snapshot_id,
};
use super::waiting::{following_a, release, release_in, wait_for};
use super::{TestDatabase, changes};
use crate::catalog::transaction;
use crate::{
    Catalog, CatalogCache, CatalogError, ClaimOutcome, DatabaseSettings, FailedCheck, KeyVerifier,
    NewRelease, Publication, QueueOutcome, ReleaseOutcome, Retention, SignupBounds,
    UploadRegistration, VersionAt,
};

const LEASE: Duration = Duration::from_secs(900);

/// Time of a clock that is ahead by a year.
async fn ahead(store: &Catalog) -> Millis {
    Millis(store.database_time().await.unwrap().0 + 365 * DAY)
}

pub(crate) async fn a_lease_of_the_future_has_ended_and_a_check_of_the_future_is_due_contract_8(
    place: TestDatabase,
) {
    let store = place.host().await;
    let (cpi, future) = (name("cpi"), ahead(&store).await);
    let claimed = |outcome| matches!(outcome, ClaimOutcome::Claimed(_));
    assert!(claimed(store.claim_source(&cpi, LEASE, false, Some(future)).await.unwrap()));
    assert!(claimed(store.claim_source(&cpi, LEASE, false, None).await.unwrap()));
    assert!(!claimed(store.claim_source(&cpi, LEASE, false, None).await.unwrap()), "held now");
    publish(&store, "cpi", "a", future.0).await;
    let failure = FailedCheck { cause: FailureCause::Status, reason: "404".to_owned() };
    store.record_failed_check(&cpi, &failure, Some(future)).await.unwrap();
    let state = store.source_state(&cpi).await.unwrap();
    assert!(state.checked_at.unwrap() > state.now);
    let next = state.next_check(Some(Cadence::Annual), state.now).unwrap();
    assert!(next <= state.now, "due");
    // The check moves the time to the present, and the source is due a year later.
    let snapshot = snapshot_id("a");
    let unchanged = CheckOutcome::Unchanged;
    assert!(store.record_good_check(&cpi, unchanged, &snapshot, None, None).await.unwrap());
    let state = store.source_state(&cpi).await.unwrap();
    assert!(state.checked_at.unwrap() <= state.now, "{state:?}");
    assert!(state.next_check(Some(Cadence::Annual), state.now).unwrap() > state.now);
}

pub(crate) async fn a_snapshot_of_the_future_drops_no_young_one_and_is_checked_now_contract_6(
    place: TestDatabase,
) {
    let store = place.host().await;
    let future = ahead(&store).await;
    let now = future.0 - 365 * DAY;
    for (id, at) in [("a", now - 2 * HOUR), ("b", now - HOUR), ("c", future.0)] {
        publish(&store, "cpi", id, at).await;
    }
    let present = |id| Publication { at: None, ..publication("cpi", id, now) };
    commit(&store, &present("c"), Retention::default()).await.unwrap();
    let dataset = store.datasets().await.unwrap().remove(0);
    assert!(dataset.checked_at.0 < now + HOUR, "the same again: {dataset:?}");
    let day = Retention { snapshots: 1, hours: 24, history: false };
    commit(&store, &present("d"), day).await.unwrap();
    assert_eq!(history(&store).await, ["a", "b", "c", "d"].map(snapshot_id));
    // What the clock dated has a date of the past, after the version before it, and so have its
    // changes.
    let dataset = store.datasets().await.unwrap().remove(0);
    let times: Vec<i64> = dataset.snapshots.iter().map(|summary| summary.created_at.0).collect();
    assert_eq!(times[..2], [now - 2 * HOUR, now - HOUR].map(|at| Millis(at).whole_second().0));
    assert!(times.is_sorted_by(|one, next| one + 1_000 <= *next), "{times:?}");
    assert!(times[3] <= store.database_time().await.unwrap().0, "{times:?}");
    assert_eq!(store.future_times(5_000).await.unwrap(), []);
}

pub(crate) async fn a_dropped_version_of_the_future_gets_a_date_of_the_past_contract_21(
    place: TestDatabase,
) {
    let store = place.host().await;
    let keep = Retention { snapshots: 1, hours: 0, history: true };
    // Three days of one month, so that the second version is dropped.
    let future = TODAY + 3_650 * DAY;
    for (id, day) in [("a", 0), ("b", 1), ("c", 2)] {
        commit(&store, &publication("cpi", id, future + day * DAY), keep).await.unwrap();
    }
    let (cpi, dropped) = (name("cpi"), snapshot_id("b"));
    let before = store.past_version(&cpi, &dropped).await.unwrap().unwrap();
    assert_eq!((before.version, before.snapshot.created_at), (1, Millis(future + DAY)));
    let found = store.future_times(5_000).await.unwrap();
    let found: Vec<_> = found.iter().map(|times| (times.what, times.rows)).collect();
    assert!(found.contains(&("dropped versions", 1)), "{found:?}");

    let present = Publication { at: None, ..publication("cpi", "d", TODAY) };
    commit(&store, &present, keep).await.unwrap();
    assert_eq!(store.future_times(5_000).await.unwrap(), []);
    let found = store.version_at(&cpi, Millis(future + 9 * DAY)).await.unwrap();
    assert!(
        matches!(&found, Some(VersionAt::Retained(newest)) if newest.id == snapshot_id("d")),
        "{found:?}"
    );
    let times: Vec<Millis> = store.known_times(&cpi, 3).await.unwrap().into_values().collect();
    assert_eq!(times.len(), 4);
    assert!(times.is_sorted_by(|one, next| one.0 + 1_000 <= next.0), "{times:?}");
    let after = store.past_version(&cpi, &dropped).await.unwrap().unwrap();
    assert_eq!(after.snapshot.created_at, times[1]);
    let words = store.version_words(&cpi, 1).await.unwrap().unwrap();
    assert_eq!(words.created_at, times[1]);
}

pub(crate) async fn a_release_waits_for_no_version_of_the_future_contract_21(place: TestDatabase) {
    let store = place.host().await;
    publish(&store, "cpi", "a", ahead(&store).await.0).await;
    let late = following_a("b");
    let terms = NewRelease {
        publication: &late,
        release_at: Millis(store.database_time().await.unwrap().0 - 60_000).whole_second(),
        announce: None,
        replace: false,
    };
    let released = tokio::time::timeout(Duration::from_secs(10), release(&store, &terms)).await;
    assert_eq!(released.unwrap(), ReleaseOutcome::Visible);
    let dataset = store.dataset(&name("cpi")).await.unwrap().unwrap();
    let now = store.database_time().await.unwrap();
    assert_eq!(dataset.current.id, snapshot_id("b"));
    assert!(dataset.current.created_at <= now && dataset.checked_at <= now, "{dataset:?}");
    assert_eq!(store.future_times(5_000).await.unwrap(), []);

    // One that waits has its own time, whatever the version before it has.
    publish(&store, "cpi", "c", ahead(&store).await.0).await;
    let predecessor = Some(snapshot_id("c"));
    let waits = Publication { at: None, predecessor, ..changes::following("c", "d", TODAY) };
    let (_, at) = release_in(&store, &waits, 2_500).await;
    let turned = store.future_datasets().await.unwrap().remove(0).dataset;
    assert_eq!(turned.current.created_at, at, "as hosts turn to it");
    wait_for(&store, at).await;
    assert_eq!(store.settle_due_releases().await.unwrap(), 1);
    let dataset = store.dataset(&name("cpi")).await.unwrap().unwrap();
    assert_eq!((dataset.current.id, dataset.current.created_at), (snapshot_id("d"), at));
    assert_eq!(turned.snapshots, dataset.snapshots);
    assert_eq!(dataset.checked_at, at);
    assert_eq!(store.future_times(5_000).await.unwrap(), []);
}

pub(crate) async fn links_of_the_future_fill_no_bounds_and_mails_of_the_future_are_due_contract_10(
    place: TestDatabase,
) {
    let store = place.host().await;
    let future = ahead(&store).await;
    let now = Millis(future.0 - 365 * DAY);
    let bounds = SignupBounds { per_address: 1, per_network: 1, in_all: 1 };
    let ask = async |number, at: Millis| queue(&store, &link(number, 1, 1, at.0), bounds).await;
    assert_eq!(ask(1, future).await, QueueOutcome::Queued);
    assert_eq!(ask(2, now).await, QueueOutcome::Queued);
    // A clock that is ahead by seconds is another host's.
    assert_ne!(ask(3, Millis(now.0 - 4_000)).await, QueueOutcome::Queued);
    assert_eq!(store.due_mails(now).await.unwrap(), 2);
    let lease_ends = Millis(now.0 + 60_000);
    for _ in 0..2 {
        assert!(store.claim_mail(now, lease_ends).await.unwrap().is_some());
    }
    assert_eq!(store.claim_mail(now, lease_ends).await.unwrap(), None, "both are leased");
    // Nor do they live until that time: they have a day from the next purge on.
    assert_eq!(store.purge_signup(now).await.unwrap().links, 0);
    assert_eq!(store.purge_signup(Millis(now.0 + DAY - 1)).await.unwrap().links, 0);
    let purged = store.purge_signup(Millis(now.0 + DAY)).await.unwrap();
    assert_eq!((purged.links, purged.mails), (2, 2));
}

pub(crate) async fn marks_and_registrations_of_the_future_keep_no_object(place: TestDatabase) {
    let store = place.host().await;
    let future = ahead(&store).await;
    let orphan = ObjectKey::snapshot(&digest("orphan"));
    store.register_upload(&orphan).await.unwrap();
    date_objects(&store, future, None).await.unwrap();
    let found = [orphan.clone()];
    let condemn = async || {
        tokio::time::sleep(Duration::from_millis(3)).await;
        let before = store.database_time().await.unwrap();
        store.mark_for_deletion(&found, before, 10, false).await.unwrap()
    };
    assert_eq!(condemn().await.later.len(), 1, "unreferenced from now on");
    assert_eq!(condemn().await.due.len(), 1);
    assert_eq!(store.register_upload(&orphan).await.unwrap(), UploadRegistration::BeingDeleted);
    date_objects(&store, Millis(0), Some(future)).await.unwrap();
    assert_eq!(store.register_upload(&orphan).await.unwrap(), UploadRegistration::Registered);
}

async fn date_objects(
    store: &Catalog,
    since: Millis,
    marked: Option<Millis>,
) -> Result<u64, CatalogError> {
    transaction!(store, "date objects", Write, |connection| {
        let statement = connection.query("UPDATE loose_files SET since = $1, condemned = $2");
        statement.bind(since.0).bind(marked.map(|at| at.0)).execute()
    })
}

pub(crate) async fn a_key_that_was_revoked_in_the_future_is_revoked_contract_5(
    place: TestDatabase,
) {
    let store = place.host().await;
    let live = CatalogCache::start(Arc::clone(&store), CatalogCache::POLL_INTERVAL).await.unwrap();
    let settings = DatabaseSettings::default();
    let keys =
        KeyVerifier::new(Arc::clone(&store), Arc::clone(&live), &settings, PlanTable::default());
    let text = issue_key(&store, "key_1", Plan::Pro).await;
    assert!(keys.check(&text).await.unwrap().is_some());
    let (key, future) = (key_id("key_1"), ahead(&store).await);
    assert!(store.revoke_key(&key, future).await.unwrap());
    live.refresh().await.unwrap();
    assert!(keys.check(&text).await.unwrap().is_none());
    // Its last use is what it is.
    let now = store.database_time().await.unwrap();
    for at in [future, now] {
        store.record_key_uses(&[(key.clone(), at)]).await.unwrap();
        assert_eq!(store.key_uses().await.unwrap()[&key], at);
    }
}

pub(crate) async fn times_of_the_future_are_counted_contract_6(place: TestDatabase) {
    let store = place.host().await;
    let future = ahead(&store).await;
    let now = Millis(future.0 - 365 * DAY);
    publish(&store, "gdp", "a", now.0).await;
    assert_eq!(store.future_times(5_000).await.unwrap(), []);
    publish(&store, "cpi", "a", future.0).await;
    publish(&store, "cpi", "b", future.0 + DAY).await;
    let found = store.future_times(5_000).await.unwrap();
    let found: Vec<_> = found.iter().map(|times| (times.what, times.rows)).collect();
    assert_eq!(found, [("snapshots", 2), ("checks of datasets", 1)]);
    issue_key(&store, "key_1", Plan::Free).await;
    assert!(store.revoke_key(&key_id("key_1"), future).await.unwrap());
    let bounds = SignupBounds { per_address: 1, per_network: 1, in_all: 1 };
    assert_eq!(queue(&store, &link(1, 1, 1, future.0), bounds).await, QueueOutcome::Queued);
    let claim = store.claim_source(&name("cpi"), LEASE, false, Some(future)).await.unwrap();
    assert!(matches!(claim, ClaimOutcome::Claimed(_)));
    let found = store.future_times(5_000).await.unwrap();
    let found: Vec<_> = found.iter().map(|times| (times.what, times.rows)).collect();
    for kind in [("mailed links", 1), ("mails", 1), ("leases and revocations", 2)] {
        assert!(found.contains(&kind), "{found:?}");
    }
}
