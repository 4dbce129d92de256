//! Rules about monthly quotas (contract-5-exact, contract-5-charged).

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;
use std::time::Duration;

use yearbook_domain::{Millis, Plan};

use super::TestDatabase;
use super::fixtures::{caller, issue_key, key_id, wait_until};
use crate::{Catalog, Quota, QuotaExceeded, QuotaReservation, QuotaUsage, ReserveError};

const TWO_SECONDS: Duration = Duration::from_secs(2);

async fn used(store: &Catalog) -> u64 {
    store.used_requests(&key_id("key_1"), &crate::clock::now().month()).await.unwrap()
}

fn exceeded(outcome: Result<QuotaReservation, ReserveError>) -> QuotaExceeded {
    match outcome {
        Err(ReserveError::Exceeded(exceeded)) => exceeded,
        Err(ReserveError::Failed(failure)) => panic!("{failure}"),
        Ok(_) => panic!("a request was left"),
    }
}

pub(crate) async fn a_reservation_carries_what_the_headers_say(place: TestDatabase) {
    let store = place.host().await;
    issue_key(&store, "key_1", Plan::Free).await;
    let meter = Quota::new(Arc::clone(&store));
    let caller = caller("key_1", Plan::Free);
    for used in 1..=10 {
        let reservation = meter.reserve(&caller).await.unwrap();
        assert_eq!(
            (reservation.used(), reservation.limit(), reservation.left()),
            (used, Some(10), Some(10 - used))
        );
        assert_eq!(reservation.resets_at(), crate::clock::now().next_month());
        reservation.commit();
    }
    let refused = exceeded(meter.reserve(&caller).await);
    assert_eq!(
        (refused.used, refused.limit, refused.resets_at),
        (10, 10, crate::clock::now().next_month())
    );
    let usage = meter.usage(&caller).await.unwrap();
    assert_eq!(
        usage,
        QuotaUsage { used: 10, limit: Some(10), resets_at: crate::clock::now().next_month() }
    );
    assert_eq!(usage.left(), Some(0));
}

pub(crate) async fn a_dropped_reservation_is_given_back_contract_5(place: TestDatabase) {
    let store = place.host().await;
    issue_key(&store, "key_1", Plan::Free).await;
    let meter = Quota::new(Arc::clone(&store));
    let held: Vec<_> = {
        let mut held = Vec::new();
        for _ in 0..10 {
            held.push(meter.reserve(&caller("key_1", Plan::Free)).await.unwrap());
        }
        held
    };
    assert_eq!(used(&store).await, 10);
    drop(held);
    wait_until(TWO_SECONDS, async || used(&store).await == 0).await;
}

pub(crate) async fn a_released_reservation_is_given_back_at_once(place: TestDatabase) {
    let store = place.host().await;
    issue_key(&store, "key_1", Plan::Free).await;
    let meter = Quota::new(Arc::clone(&store));
    let reservation = meter.reserve(&caller("key_1", Plan::Free)).await.unwrap();
    reservation.release().await;
    assert_eq!(used(&store).await, 0);
}

pub(crate) async fn a_committed_reservation_stays_charged(place: TestDatabase) {
    let store = place.host().await;
    issue_key(&store, "key_1", Plan::Free).await;
    let meter = Quota::new(Arc::clone(&store));
    meter.reserve(&caller("key_1", Plan::Free)).await.unwrap().commit();
    meter.shutdown().await.unwrap();
    assert_eq!(used(&store).await, 1);
}

pub(crate) async fn a_caller_that_goes_away_while_waiting_is_charged_nothing(place: TestDatabase) {
    let store = place.host().await;
    issue_key(&store, "key_1", Plan::Free).await;
    let faulty = store.with_faults();
    let meter = Quota::new(faulty.clone());
    faulty.block_reservations();
    let waiting = tokio::spawn({
        let meter = Arc::clone(&meter);
        async move { meter.reserve(&caller("key_1", Plan::Free)).await.map(drop) }
    });
    wait_until(TWO_SECONDS, async || faulty.pending_reservations() == 1).await;
    waiting.abort();
    assert!(waiting.await.unwrap_err().is_cancelled());
    let before = faulty.calls();
    faulty.unblock_reservations();
    // The database counts the request, then takes it back.
    wait_until(TWO_SECONDS, async || faulty.calls() == before + 2).await;
    wait_until(TWO_SECONDS, async || used(&store).await == 0).await;
}

pub(crate) async fn what_could_not_be_given_back_is_given_back_later(place: TestDatabase) {
    let store = place.host().await;
    issue_key(&store, "key_1", Plan::Free).await;
    let faulty = store.with_faults();
    let meter = Quota::new(faulty.clone());
    let caller = caller("key_1", Plan::Free);
    let first = meter.reserve(&caller).await.unwrap();
    let second = meter.reserve(&caller).await.unwrap();
    faulty.fail(true);
    assert!(matches!(meter.reserve(&caller).await, Err(ReserveError::Failed(_))));
    first.release().await;
    drop(second);
    assert!(meter.shutdown().await.is_err());
    assert_eq!(used(&store).await, 2);
    faulty.fail(false);
    meter.shutdown().await.unwrap();
    assert_eq!(used(&store).await, 0);
}

pub(crate) async fn unlimited_plans_are_counted_in_memory_and_written_each_second(
    place: TestDatabase,
) {
    let store = place.host().await;
    issue_key(&store, "key_1", Plan::Enterprise).await;
    let faulty = store.with_faults();
    let meter = Quota::new(faulty.clone());
    let caller = caller("key_1", Plan::Enterprise);
    for index in 0..100 {
        let reservation = meter.reserve(&caller).await.unwrap();
        assert_eq!((reservation.limit(), reservation.left()), (None, None));
        match index % 4 {
            0 => drop(reservation),
            1 => reservation.release().await,
            _ => drop(reservation.commit()),
        }
    }
    wait_until(TWO_SECONDS, async || used(&store).await == 50).await;
    // A hundred requests, one or two writes.
    assert!(faulty.calls() <= 2, "{}", faulty.calls());
    let usage = meter.usage(&caller).await.unwrap();
    assert_eq!((usage.used, usage.limit, usage.left()), (50, None, None));
}

pub(crate) async fn shutdown_writes_every_count(place: TestDatabase) {
    let store = place.host().await;
    issue_key(&store, "key_1", Plan::Pro).await;
    let meter = Quota::new(Arc::clone(&store));
    for _ in 0..7 {
        meter.reserve(&caller("key_1", Plan::Pro)).await.unwrap().commit();
    }
    assert_eq!(meter.usage(&caller("key_1", Plan::Pro)).await.unwrap().used, 7);
    meter.shutdown().await.unwrap();
    assert_eq!(used(&store).await, 7);
    meter.shutdown().await.unwrap();
    assert_eq!(used(&store).await, 7);
}

pub(crate) async fn counts_survive_a_failing_database(place: TestDatabase) {
    let store = place.host().await;
    issue_key(&store, "key_1", Plan::Pro).await;
    let faulty = store.with_faults();
    let meter = Quota::new(faulty.clone());
    faulty.fail(true);
    for _ in 0..5 {
        let reserved = meter.reserve(&caller("key_1", Plan::Pro)).await;
        reserved.unwrap().commit();
        assert!(meter.shutdown().await.is_err());
    }
    faulty.fail(false);
    meter.shutdown().await.unwrap();
    assert_eq!(used(&store).await, 5);
}

pub(crate) async fn no_two_meters_grant_the_last_request_contract_5(place: TestDatabase) {
    let hosts = [place.host().await, place.host().await];
    issue_key(&hosts[0], "key_1", Plan::Free).await;
    let meters = hosts.clone().map(Quota::new);
    let mut tasks = tokio::task::JoinSet::new();
    for index in 0..50 {
        let meter = Arc::clone(&meters[index % 2]);
        tasks.spawn(async move {
            match meter.reserve(&caller("key_1", Plan::Free)).await {
                Ok(reservation) => {
                    reservation.commit();
                    true
                }
                Err(ReserveError::Exceeded(_)) => false,
                Err(ReserveError::Failed(failure)) => panic!("{failure}"),
            }
        });
    }
    assert_eq!(tasks.join_all().await.into_iter().filter(|&granted| granted).count(), 10);
    assert_eq!(used(&hosts[0]).await, 10);
}

pub(crate) async fn a_month_that_ends_is_charged_to_the_month_it_began_in(place: TestDatabase) {
    let store = place.host().await;
    issue_key(&store, "key_1", Plan::Free).await;
    let meter = Quota::new(Arc::clone(&store));
    let caller = caller("key_1", Plan::Free);
    let (before, after) = (Millis(1_798_761_599_999), Millis(1_798_761_600_000));
    for _ in 0..10 {
        meter.reserve_at(&caller, before).await.unwrap().commit();
    }
    let refused = exceeded(meter.reserve_at(&caller, before).await);
    assert_eq!(refused.resets_at, after);
    let held = meter.reserve_at(&caller, after).await.unwrap();
    assert_eq!(
        (held.used(), store.used_requests(&key_id("key_1"), "2026-12").await.unwrap()),
        (1, 10)
    );
    held.release().await;
    assert_eq!(
        (
            store.used_requests(&key_id("key_1"), "2027-01").await.unwrap(),
            store.used_requests(&key_id("key_1"), "2026-12").await.unwrap()
        ),
        (0, 10)
    );
}

pub(crate) async fn a_clock_that_jumps_neither_loses_nor_doubles_a_charge_contract_5(
    place: TestDatabase,
) {
    let store = place.host().await;
    issue_key(&store, "key_1", Plan::Free).await;
    let meter = Quota::new(Arc::clone(&store));
    let caller = caller("key_1", Plan::Free);
    let (december, january) = (Millis(1_798_761_599_999), Millis(1_798_761_600_000));
    let used = async |month: &str| store.used_requests(&key_id("key_1"), month).await.unwrap();
    for _ in 0..9 {
        meter.reserve_at(&caller, december).await.unwrap().commit();
    }
    // Forwards and back again: what January was charged is January's, and December goes on at ten.
    meter.reserve_at(&caller, january).await.unwrap().commit();
    meter.reserve_at(&caller, december).await.unwrap().commit();
    assert!(
        matches!(meter.reserve_at(&caller, december).await, Err(ReserveError::Exceeded(_))),
        "a jump gives nobody a month anew"
    );
    assert_eq!((used("2026-12").await, used("2027-01").await), (10, 1));
    // What is given back goes to the month that it came from, whatever the clock says by then.
    let held = meter.reserve_at(&caller, january).await.unwrap();
    assert!(matches!(meter.reserve_at(&caller, december).await, Err(ReserveError::Exceeded(_))));
    held.release().await;
    assert_eq!((used("2026-12").await, used("2027-01").await), (10, 1));
}
