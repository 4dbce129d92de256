//! Ends of links: their time, their key, and all links of the key.

use yearbook_domain::{KeyId, Plan};
use yearbook_server::ServiceSettings;

use super::{DATA, ending, link, outcome, service};

#[tokio::test]
async fn a_link_ends_with_its_time_and_with_its_key_contract_15() {
    let (app, key) = service(ServiceSettings::default(), Plan::Pro).await;
    let id = app.store.keys().await.unwrap()[0].id.clone();
    let now = yearbook_catalog::clock::now().0.div_euclid(1000);
    assert_eq!(app.get(&ending(&app, &id, now + 60).await).send().await.status, 200);
    for ends in [now, now - 1, 0, i64::MIN] {
        let reply = app.get(&ending(&app, &id, ends).await).send().await;
        assert_eq!(reply.outcome(), outcome(410, "link_ended"), "{ends}");
    }
    let unknown = KeyId::parse("key_nobody").unwrap();
    let reply = app.get(&ending(&app, &unknown, now + 60).await).send().await;
    assert_eq!(reply.outcome(), outcome(410, "link_ended"));

    let path = link(&app, &key, "limit=1").await;
    assert_eq!(app.get(&path).send().await.status, 200);
    app.store.revoke_key(&id, yearbook_catalog::clock::now()).await.unwrap();
    app.catalog_cache.refresh().await.unwrap();
    for method in ["GET", "HEAD"] {
        let reply = app.ask(method, &path).send().await;
        assert_eq!(reply.outcome(), outcome(410, "link_ended"), "{method}");
    }
}

#[tokio::test]
async fn every_link_of_a_key_so_far_is_ended_at_once_contract_15() {
    let (app, key) = service(ServiceSettings::default(), Plan::Pro).await;
    let id = app.store.keys().await.unwrap()[0].id.clone();
    let other = app.key(Plan::Pro).await;
    let old = [link(&app, &key, "limit=1").await, link(&app, &key, "format=csv").await];
    let others = link(&app, &other, "limit=1").await;
    assert!(app.store.end_links(&id).await.unwrap());
    app.catalog_cache.refresh().await.unwrap();
    for path in &old {
        assert_eq!(app.get(path).send().await.outcome(), outcome(410, "link_ended"));
    }
    assert_eq!(app.get(&others).send().await.status, 200, "those of other keys work");
    assert_eq!(app.get(DATA).key(&key).send().await.status, 200, "the key works");
    let new = link(&app, &key, "limit=1").await;
    assert_eq!(app.get(&new).send().await.status, 200, "new ones work");
}
