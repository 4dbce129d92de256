//! Rules about checking keys (contract-5-mistyped, contract-5-unknown, contract-6-two-seconds).

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;
use std::time::Duration;

use yearbook_domain::{Millis, Plan, PlanTable};

use super::TestDatabase;
use super::fixtures::{TODAY, caller, issue_key, key_id, publish, wait_until};
use crate::{
    Catalog, CatalogCache, CatalogError, DatabaseSettings, KeyLookup, KeyRecord, KeyVerifier, key,
};

const TWO_SECONDS: Duration = Duration::from_secs(2);

/// A server's key ring, with a faulty between it and the store.
async fn verifier(store: &Arc<Catalog>) -> (KeyVerifier, Arc<Catalog>) {
    let (ring, faulty, _) = verifier_with_settings(store, &DatabaseSettings::default()).await;
    (ring, faulty)
}

async fn verifier_with_settings(
    store: &Arc<Catalog>,
    settings: &DatabaseSettings,
) -> (KeyVerifier, Arc<Catalog>, Arc<CatalogCache>) {
    let faulty = store.with_faults();
    let live = CatalogCache::start(faulty.clone(), CatalogCache::POLL_INTERVAL).await.unwrap();
    (
        KeyVerifier::new(faulty.clone(), Arc::clone(&live), settings, PlanTable::default()),
        faulty,
        live,
    )
}

pub(crate) async fn a_mistyped_key_costs_no_query_contract_5(place: TestDatabase) {
    let store = place.host().await;
    let text = issue_key(&store, "key_1", Plan::Free).await;
    let (ring, faulty) = verifier(&store).await;
    let asked = faulty.calls();
    let last = if text.ends_with('x') { 'y' } else { 'x' };
    let mistyped = format!("{}{last}", &text[..text.len() - 1]);
    for bad in [
        "",
        "yb_",
        "secret",
        &text.to_lowercase(),
        &text[..text.len() - 1],
        &format!("{text} "),
        &mistyped,
    ] {
        assert_eq!(ring.check(bad).await.unwrap(), None, "{bad}");
    }
    assert_eq!(faulty.calls(), asked);
    assert_eq!(ring.check(&text).await.unwrap(), Some(caller("key_1", Plan::Free)));
    assert_eq!(faulty.calls(), asked + 1);
}

pub(crate) async fn a_good_key_is_asked_for_once(place: TestDatabase) {
    let store = place.host().await;
    let text = issue_key(&store, "key_1", Plan::Enterprise).await;
    let (ring, faulty) = verifier(&store).await;
    let ring = Arc::new(ring);
    let asked = faulty.calls();
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..50 {
        let (ring, text) = (Arc::clone(&ring), text.clone());
        tasks.spawn(async move { ring.check(&text).await.unwrap() });
    }
    for found in tasks.join_all().await {
        assert_eq!(found, Some(caller("key_1", Plan::Enterprise)));
    }
    assert_eq!(faulty.calls(), asked + 1);
}

pub(crate) async fn an_unknown_key_works_within_2_s_of_being_made_contract_6(place: TestDatabase) {
    let (server, operator) = (place.host().await, place.host().await);
    let (ring, faulty) = verifier(&server).await;
    let (text, hash) = key::issue().unwrap();
    let asked = faulty.calls();
    for _ in 0..10 {
        assert_eq!(ring.check(text.expose()).await.unwrap(), None);
    }
    assert_eq!(faulty.calls(), asked + 1, "that there is none is remembered");

    let record = KeyRecord {
        id: key_id("key_1"),
        label: None,
        plan: Plan::Pro,
        created_at: Millis(TODAY),
        revoked_at: None,
    };
    operator.insert_key(&record, &hash).await.unwrap();
    wait_until(TWO_SECONDS, async || ring.check(text.expose()).await.unwrap().is_some()).await;
}

pub(crate) async fn a_revoked_key_is_refused_within_2_s_contract_6(place: TestDatabase) {
    let (server, operator) = (place.host().await, place.host().await);
    let text = issue_key(&operator, "key_1", Plan::Free).await;
    let (ring, _) = verifier(&server).await;
    assert!(ring.check(&text).await.unwrap().is_some());
    operator.revoke_key(&key_id("key_1"), crate::clock::now()).await.unwrap();
    wait_until(TWO_SECONDS, async || ring.check(&text).await.unwrap().is_none()).await;
}

pub(crate) async fn ended_links_are_known_to_every_host_within_2_s_contract_15(
    place: TestDatabase,
) {
    let (server, operator) = (place.host().await, place.host().await);
    let text = issue_key(&operator, "key_1", Plan::Free).await;
    let (ring, _) = verifier(&server).await;
    let id = key_id("key_1");
    let epoch = async || ring.caller_of_signed_id(&id).await.unwrap().unwrap().link_epoch();
    assert_eq!(epoch().await, 0);
    assert_eq!(ring.check(&text).await.unwrap().unwrap().link_epoch(), 0);
    operator.end_links(&id).await.unwrap();
    wait_until(TWO_SECONDS, async || epoch().await == 1).await;
    assert_eq!(ring.check(&text).await.unwrap().unwrap().link_epoch(), 1, "new links work");
}

pub(crate) async fn a_failing_database_does_not_make_a_key_unknown(place: TestDatabase) {
    let store = place.host().await;
    let known = issue_key(&store, "key_1", Plan::Pro).await;
    let unseen = issue_key(&store, "key_2", Plan::Pro).await;
    let (ring, faulty) = verifier(&store).await;
    assert!(ring.check(&known).await.unwrap().is_some());
    faulty.fail(true);
    assert!(ring.check(&known).await.unwrap().is_some(), "from memory");
    let failure = ring.check(&unseen).await.unwrap_err();
    assert!(!format!("{failure} {failure:?}").contains(&unseen[3..]), "a key is never shown");
    faulty.fail(false);
    assert!(ring.check(&unseen).await.unwrap().is_some(), "a failure is not remembered");
}

pub(crate) async fn what_is_known_of_keys_outlives_everything_but_a_change_of_keys(
    place: TestDatabase,
) {
    let store = place.host().await;
    let known = issue_key(&store, "key_1", Plan::Pro).await;
    issue_key(&store, "key_2", Plan::Pro).await;
    let (ring, faulty, live) = verifier_with_settings(&store, &DatabaseSettings::default()).await;
    assert!(ring.check(&known).await.unwrap().is_some());
    publish(&store, "cpi", "one", TODAY).await;
    issue_key(&store, "key_3", Plan::Pro).await;
    live.refresh().await.unwrap();
    faulty.fail(true);
    assert!(ring.check(&known).await.unwrap().is_some(), "from memory");
    faulty.fail(false);
    store.revoke_key(&key_id("key_2"), Millis(TODAY)).await.unwrap();
    live.refresh().await.unwrap();
    faulty.fail(true);
    assert!(ring.check(&known).await.is_err(), "some key was revoked: it may be this one");
}

pub(crate) async fn without_the_database_known_keys_go_on_for_the_stated_time(place: TestDatabase) {
    let store = place.host().await;
    let known = issue_key(&store, "key_1", Plan::Pro).await;
    let (ring, faulty, live) = verifier_with_settings(
        &store,
        &DatabaseSettings { stale_keys_s: 1, ..DatabaseSettings::default() },
    )
    .await;
    assert!(ring.check(&known).await.unwrap().is_some());
    faulty.fail(true);
    wait_until(TWO_SECONDS, async || !live.healthy()).await;
    let went_on = wait_until(2 * TWO_SECONDS, async || ring.check(&known).await.is_err()).await;
    assert!(live.counts().age > Duration::from_secs(1), "{went_on:?}");
    faulty.fail(false);
    wait_until(TWO_SECONDS, async || ring.check(&known).await.is_ok()).await;
}

pub(crate) async fn unknown_keys_are_looked_up_a_few_at_a_time_contract_5(place: TestDatabase) {
    let store = place.host().await;
    let text = issue_key(&store, "key_1", Plan::Free).await;
    let settings =
        DatabaseSettings { connections: 8, acquire_ms: 60_000, ..DatabaseSettings::default() };
    let (ring, faulty, _live) = verifier_with_settings(&store, &settings).await;
    let ring = Arc::new(ring);
    let mut flood = tokio::task::JoinSet::new();
    for _ in 0..40 {
        let (ring, (unknown, _)) = (Arc::clone(&ring), key::issue().unwrap());
        flood.spawn(async move { ring.check(unknown.expose()).await.unwrap() });
    }
    assert_eq!(
        ring.check(&text).await.unwrap(),
        Some(caller("key_1", Plan::Free)),
        "a new key has its turn in the flood"
    );
    assert!(flood.join_all().await.iter().all(Option::is_none));
    assert_eq!(faulty.max_concurrent_lookups(), 2, "a quarter of the connections");
}

pub(crate) async fn an_unknown_key_that_waits_too_long_is_told_to_come_back_contract_5(
    place: TestDatabase,
) {
    let store = place.host().await;
    let settings =
        DatabaseSettings { connections: 1, acquire_ms: 5, ..DatabaseSettings::default() };
    let (ring, _, _live) = verifier_with_settings(&store, &settings).await;
    // The faulty takes 20 ms to answer each, one after the other.
    let keys: Vec<_> = (0..10).map(|_| key::issue().unwrap().0).collect();
    let ring = Arc::new(ring);
    let mut checks = tokio::task::JoinSet::new();
    for (index, key) in keys.iter().cloned().enumerate() {
        let ring = Arc::clone(&ring);
        checks.spawn(async move { (index, ring.check(key.expose()).await) });
    }
    let mut outcomes = checks.join_all().await;
    outcomes.sort_unstable_by_key(|(index, _)| *index);
    let outcomes: Vec<_> = outcomes.into_iter().map(|(_, outcome)| outcome).collect();
    let late = outcomes.iter().position(Result::is_err).expect("nobody has so much patience");
    assert!(
        outcomes.iter().all(|outcome| outcome
            .as_ref()
            .map_or_else(CatalogError::is_overload, Option::is_none)),
        "{outcomes:?}"
    );
    assert_eq!(
        ring.check(keys[late].expose()).await.unwrap(),
        None,
        "that it was not looked up is not remembered"
    );
}

pub(crate) async fn a_revocation_does_not_make_other_keys_strangers_contract_5(
    place: TestDatabase,
) {
    let store = place.host().await;
    let (kept, revoked) =
        (issue_key(&store, "key_1", Plan::Pro).await, issue_key(&store, "key_2", Plan::Pro).await);
    let (stranger, _) = key::issue().unwrap();
    let (ring, _, live) = verifier_with_settings(&store, &DatabaseSettings::default()).await;
    for text in [&kept, &revoked] {
        assert!(
            matches!(ring.check_cached(text).await.unwrap(), KeyLookup::Uncached(key) if !key.was_previously_valid()),
            "nobody has asked yet"
        );
        assert!(ring.check(text).await.unwrap().is_some());
        assert!(matches!(ring.check_cached(text).await.unwrap(), KeyLookup::Valid(_)));
    }
    store.revoke_key(&key_id("key_2"), Millis(TODAY)).await.unwrap();
    live.refresh().await.unwrap();
    for (text, known) in [(kept.as_str(), true), (&revoked, true), (stranger.expose(), false)] {
        assert!(
            matches!(ring.check_cached(text).await.unwrap(), KeyLookup::Uncached(key) if key.was_previously_valid() == known)
        );
    }
    assert_eq!(
        (ring.check(&kept).await.unwrap().is_some(), ring.check(&revoked).await.unwrap()),
        (true, None)
    );
    assert!(
        matches!(ring.check_cached(&revoked).await.unwrap(), KeyLookup::Invalid),
        "remembered for a moment"
    );
    tokio::time::sleep(TWO_SECONDS).await;
    assert!(
        matches!(ring.check_cached(&revoked).await.unwrap(), KeyLookup::Uncached(key) if !key.was_previously_valid()),
        "a stranger by now"
    );
}
