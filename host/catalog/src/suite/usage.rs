//! Rules about counted requests (contract-5-exact).

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use yearbook_domain::Plan;

use super::TestDatabase;
use super::fixtures::{issue_key, key_id};
use crate::{ReserveOutcome, UsageIncrement};

const MONTH: &str = "2026-11";

pub(crate) async fn the_eleventh_request_is_refused_contract_5(place: TestDatabase) {
    let store = place.host().await;
    issue_key(&store, "key_1", Plan::Free).await;
    for used in 1..=10 {
        assert_eq!(
            store.reserve_request(&key_id("key_1"), MONTH, 10).await.unwrap(),
            ReserveOutcome::Granted { used }
        );
    }
    assert_eq!(
        store.reserve_request(&key_id("key_1"), MONTH, 10).await.unwrap(),
        ReserveOutcome::Exhausted { used: 10 }
    );
    assert_eq!(store.used_requests(&key_id("key_1"), MONTH).await.unwrap(), 10);
    assert!(store.reserve_request(&key_id("no_such_key"), MONTH, 10).await.is_err());
}

pub(crate) async fn of_fifty_concurrent_requests_on_two_hosts_ten_are_granted_contract_5(
    place: TestDatabase,
) {
    let hosts = [place.host().await, place.host().await];
    issue_key(&hosts[0], "key_1", Plan::Free).await;
    let mut tasks = tokio::task::JoinSet::new();
    for index in 0..50 {
        let host = Arc::clone(&hosts[index % 2]);
        tasks
            .spawn(async move { host.reserve_request(&key_id("key_1"), MONTH, 10).await.unwrap() });
    }
    let answers = tasks.join_all().await;
    let mut granted: Vec<u64> = answers
        .iter()
        .filter_map(
            |answer| if let ReserveOutcome::Granted { used } = answer { Some(*used) } else { None },
        )
        .collect();
    granted.sort_unstable();
    assert_eq!(granted, (1..=10).collect::<Vec<u64>>(), "each count is given once");
    assert_eq!(
        answers.iter().filter(|&&answer| answer == ReserveOutcome::Exhausted { used: 10 }).count(),
        40
    );
    assert_eq!(hosts[1].used_requests(&key_id("key_1"), MONTH).await.unwrap(), 10);
}

pub(crate) async fn what_is_given_back_can_be_taken_again(place: TestDatabase) {
    let store = place.host().await;
    issue_key(&store, "key_1", Plan::Free).await;
    assert_eq!(
        store.reserve_request(&key_id("key_1"), MONTH, 1).await.unwrap(),
        ReserveOutcome::Granted { used: 1 }
    );
    store.refund_request(&key_id("key_1"), MONTH).await.unwrap();
    assert_eq!(
        store.reserve_request(&key_id("key_1"), MONTH, 1).await.unwrap(),
        ReserveOutcome::Granted { used: 1 }
    );
    store.refund_request(&key_id("key_1"), MONTH).await.unwrap();
    store.refund_request(&key_id("key_1"), MONTH).await.unwrap();
    assert_eq!(store.used_requests(&key_id("key_1"), MONTH).await.unwrap(), 0, "never below zero");
}

pub(crate) async fn months_and_keys_are_counted_apart(place: TestDatabase) {
    let store = place.host().await;
    issue_key(&store, "key_1", Plan::Free).await;
    issue_key(&store, "key_2", Plan::Free).await;
    for (key, month) in [("key_1", "2026-11"), ("key_1", "2026-12"), ("key_2", "2026-11")] {
        assert_eq!(
            store.reserve_request(&key_id(key), month, 1).await.unwrap(),
            ReserveOutcome::Granted { used: 1 },
            "{key} {month}"
        );
        assert_eq!(
            store.reserve_request(&key_id(key), month, 1).await.unwrap(),
            ReserveOutcome::Exhausted { used: 1 },
            "{key} {month}"
        );
    }
}

pub(crate) async fn a_limit_of_zero_grants_nothing(place: TestDatabase) {
    let store = place.host().await;
    issue_key(&store, "key_1", Plan::Free).await;
    assert_eq!(
        store.reserve_request(&key_id("key_1"), MONTH, 0).await.unwrap(),
        ReserveOutcome::Exhausted { used: 0 }
    );
    assert_eq!(
        store.reserve_request(&key_id("key_1"), MONTH, u64::MAX).await.unwrap(),
        ReserveOutcome::Granted { used: 1 }
    );
    assert_eq!(
        store.reserve_request(&key_id("key_1"), MONTH, 0).await.unwrap(),
        ReserveOutcome::Exhausted { used: 1 }
    );
}

pub(crate) async fn unlimited_usage_is_added_all_or_none(place: TestDatabase) {
    let store = place.host().await;
    issue_key(&store, "key_1", Plan::Pro).await;
    let count = |key: &str, requests| UsageIncrement {
        key_id: key_id(key),
        month: MONTH.to_owned(),
        requests,
    };
    store.add_usage(&[]).await.unwrap();
    store.add_usage(&[count("key_1", 7)]).await.unwrap();
    store.add_usage(&[count("key_1", 5)]).await.unwrap();
    assert_eq!(store.used_requests(&key_id("key_1"), MONTH).await.unwrap(), 12);
    assert!(store.add_usage(&[count("key_1", 100), count("no_such_key", 1)]).await.is_err());
    assert_eq!(store.used_requests(&key_id("key_1"), MONTH).await.unwrap(), 12);
}
