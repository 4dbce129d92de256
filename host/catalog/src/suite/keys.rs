//! Rules about keys and secrets.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::HashSet;
use std::sync::Arc;

use yearbook_domain::{Millis, Plan};

use super::TestDatabase;
use super::fixtures::{TODAY, issue_key, key_id};
use crate::{KeyRecord, key};

pub(crate) async fn a_key_is_found_by_its_hash_alone(place: TestDatabase) {
    let store = place.host().await;
    let (_, hash) = key::issue().unwrap();
    let (_, other) = key::issue().unwrap();
    let label = Some("Ngā Tatauranga “lab”; DROP TABLE keys".to_owned());
    let record = KeyRecord {
        id: key_id("key_1"),
        label,
        plan: Plan::Pro,
        created_at: Millis(TODAY),
        revoked_at: None,
    };
    store.insert_key(&record, &hash).await.unwrap();
    let found = store.key(&hash).await.unwrap().unwrap();
    assert_eq!((&found.record, found.usage_key.as_str()), (&record, "key_1"));
    assert_eq!(store.key(&other).await.unwrap(), None);

    let older = KeyRecord {
        id: key_id("key_0"),
        label: None,
        plan: Plan::Free,
        created_at: Millis(TODAY - 1),
        revoked_at: None,
    };
    store.insert_key(&older, &other).await.unwrap();
    assert_eq!(store.keys().await.unwrap(), [older, record], "oldest first");
}

pub(crate) async fn ids_and_hashes_are_unique(place: TestDatabase) {
    let store = place.host().await;
    let record = |id: &str| KeyRecord {
        id: key_id(id),
        label: None,
        plan: Plan::Free,
        created_at: Millis(TODAY),
        revoked_at: None,
    };
    let ((_, first), (_, second)) = (key::issue().unwrap(), key::issue().unwrap());
    store.insert_key(&record("key_1"), &first).await.unwrap();
    assert!(store.insert_key(&record("key_1"), &second).await.is_err());
    assert!(store.insert_key(&record("key_2"), &first).await.is_err());
    assert_eq!(store.keys().await.unwrap(), [record("key_1")]);
}

pub(crate) async fn a_key_is_revoked_once(place: TestDatabase) {
    let store = place.host().await;
    let hash = key::parse(&issue_key(&store, "key_1", Plan::Starter).await).unwrap();
    assert!(store.revoke_key(&key_id("key_1"), Millis(TODAY + 5)).await.unwrap());
    assert!(!store.revoke_key(&key_id("key_1"), Millis(TODAY + 9)).await.unwrap());
    assert!(!store.revoke_key(&key_id("key_2"), Millis(TODAY)).await.unwrap());
    assert_eq!(store.key(&hash).await.unwrap().unwrap().record.revoked_at, Some(Millis(TODAY + 5)));
}

pub(crate) async fn a_secret_is_the_same_on_every_host_for_ever(place: TestDatabase) {
    let hosts = [place.host().await, place.host().await];
    let mut tasks = tokio::task::JoinSet::new();
    for index in 0..16 {
        let host = Arc::clone(&hosts[index % 2]);
        tasks.spawn(async move { host.secret("cursor").await.unwrap() });
    }
    let secrets: HashSet<[u8; 32]> = tasks.join_all().await.into_iter().collect();
    assert_eq!(secrets.len(), 1);
    assert!(!secrets.contains(&[0; 32]));
    let other = hosts[0].secret("other").await.unwrap();
    assert!(!secrets.contains(&other));
}

pub(crate) async fn links_of_one_key_are_ended_at_a_time(place: TestDatabase) {
    let store = place.host().await;
    for id in ["key_1", "key_2"] {
        issue_key(&store, id, Plan::Free).await;
    }
    let epoch =
        async |id: &str| store.key_by_id(&key_id(id)).await.unwrap().map(|key| key.link_epoch);
    assert_eq!((epoch("key_1").await, epoch("key_2").await), (Some(0), Some(0)));
    for ended in 1..=2 {
        assert!(store.end_links(&key_id("key_1")).await.unwrap());
        assert_eq!((epoch("key_1").await, epoch("key_2").await), (Some(ended), Some(0)));
    }
    assert!(!store.end_links(&key_id("key_3")).await.unwrap());
}
