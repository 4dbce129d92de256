//! Rules about checking keys (contract 5 and 6).

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;
use std::time::Duration;

use yearbook_domain::{Millis, Plan};

use super::Place;
use super::fixtures::{TODAY, caller, eventually, issue_key, publish};
use super::probe::Probe;
use crate::{DatabaseSettings, KeyRecord, KeyRing, Live, Store, key};

const TWO_SECONDS: Duration = Duration::from_secs(2);

/// A server's key ring, with a probe between it and the store.
async fn ring(store: &Arc<dyn Store>) -> (KeyRing, Arc<Probe>) {
    let (ring, probe, _) = ring_with(store, &DatabaseSettings::default()).await;
    (ring, probe)
}

async fn ring_with(store: &Arc<dyn Store>, settings: &DatabaseSettings) -> (KeyRing, Arc<Probe>, Arc<Live>) {
    let probe = Probe::on(Arc::clone(store));
    let live = Live::start(probe.clone(), Live::PERIOD).await.unwrap();
    (KeyRing::new(probe.clone(), Arc::clone(&live), settings), probe, live)
}

pub(crate) async fn a_mistyped_key_costs_no_query_contract_5(place: Place) {
    let store = place.host().await;
    let text = issue_key(&*store, "key_1", Plan::Free).await;
    let (ring, probe) = ring(&store).await;
    let asked = probe.calls();
    let last = if text.ends_with('x') { 'y' } else { 'x' };
    let mistyped = format!("{}{last}", &text[..text.len() - 1]);
    for bad in ["", "yb_", "secret", &text.to_lowercase(), &text[..text.len() - 1], &format!("{text} "), &mistyped] {
        assert_eq!(ring.check(bad).await.unwrap(), None, "{bad}");
    }
    assert_eq!(probe.calls(), asked);
    assert_eq!(ring.check(&text).await.unwrap(), Some(caller("key_1", Plan::Free)));
    assert_eq!(probe.calls(), asked + 1);
}

pub(crate) async fn a_good_key_is_asked_for_once(place: Place) {
    let store = place.host().await;
    let text = issue_key(&*store, "key_1", Plan::Enterprise).await;
    let (ring, probe) = ring(&store).await;
    let ring = Arc::new(ring);
    let asked = probe.calls();
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..50 {
        let (ring, text) = (Arc::clone(&ring), text.clone());
        tasks.spawn(async move { ring.check(&text).await.unwrap() });
    }
    for found in tasks.join_all().await {
        assert_eq!(found, Some(caller("key_1", Plan::Enterprise)));
    }
    assert_eq!(probe.calls(), asked + 1);
}

pub(crate) async fn an_unknown_key_works_within_2_s_of_being_made_contract_6(place: Place) {
    let (server, operator) = (place.host().await, place.host().await);
    let (ring, probe) = ring(&server).await;
    let (text, hash) = key::issue().unwrap();
    let asked = probe.calls();
    for _ in 0..10 {
        assert_eq!(ring.check(text.expose()).await.unwrap(), None);
    }
    assert_eq!(probe.calls(), asked + 1, "that there is none is remembered");

    let record = KeyRecord { id: "key_1".to_owned(), label: None, plan: Plan::Pro, created_at: Millis(TODAY), revoked_at: None };
    operator.insert_key(&record, &hash).await.unwrap();
    eventually(TWO_SECONDS, async || ring.check(text.expose()).await.unwrap().is_some()).await;
}

pub(crate) async fn a_revoked_key_is_refused_within_2_s_contract_6(place: Place) {
    let (server, operator) = (place.host().await, place.host().await);
    let text = issue_key(&*operator, "key_1", Plan::Free).await;
    let (ring, _) = ring(&server).await;
    assert!(ring.check(&text).await.unwrap().is_some());
    operator.revoke_key("key_1", Millis::now()).await.unwrap();
    eventually(TWO_SECONDS, async || ring.check(&text).await.unwrap().is_none()).await;
}

pub(crate) async fn a_failing_database_does_not_make_a_key_unknown(place: Place) {
    let store = place.host().await;
    let known = issue_key(&*store, "key_1", Plan::Pro).await;
    let unseen = issue_key(&*store, "key_2", Plan::Pro).await;
    let (ring, probe) = ring(&store).await;
    assert!(ring.check(&known).await.unwrap().is_some());
    probe.fail(true);
    assert!(ring.check(&known).await.unwrap().is_some(), "from memory");
    let failure = ring.check(&unseen).await.unwrap_err();
    assert!(!format!("{failure} {failure:?}").contains(&unseen[3..]), "a key is never shown");
    probe.fail(false);
    assert!(ring.check(&unseen).await.unwrap().is_some(), "a failure is not remembered");
}

pub(crate) async fn what_is_known_of_keys_outlives_everything_but_a_change_of_keys(place: Place) {
    let store = place.host().await;
    let known = issue_key(&*store, "key_1", Plan::Pro).await;
    issue_key(&*store, "key_2", Plan::Pro).await;
    let (ring, probe, live) = ring_with(&store, &DatabaseSettings::default()).await;
    assert!(ring.check(&known).await.unwrap().is_some());
    publish(&*store, "cpi", "one", TODAY).await;
    issue_key(&*store, "key_3", Plan::Pro).await;
    live.refresh().await.unwrap();
    probe.fail(true);
    assert!(ring.check(&known).await.unwrap().is_some(), "from memory");
    probe.fail(false);
    store.revoke_key("key_2", Millis(TODAY)).await.unwrap();
    live.refresh().await.unwrap();
    probe.fail(true);
    assert!(ring.check(&known).await.is_err(), "some key was revoked: it may be this one");
}

pub(crate) async fn without_the_database_known_keys_go_on_for_the_stated_time(place: Place) {
    let store = place.host().await;
    let known = issue_key(&*store, "key_1", Plan::Pro).await;
    let (ring, probe, live) = ring_with(&store, &DatabaseSettings { stale_keys_s: 1, ..DatabaseSettings::default() }).await;
    assert!(ring.check(&known).await.unwrap().is_some());
    probe.fail(true);
    eventually(TWO_SECONDS, async || !live.healthy()).await;
    let went_on = eventually(2 * TWO_SECONDS, async || ring.check(&known).await.is_err()).await;
    assert!(live.counts().age > Duration::from_secs(1), "{went_on:?}");
    probe.fail(false);
    eventually(TWO_SECONDS, async || ring.check(&known).await.is_ok()).await;
}
