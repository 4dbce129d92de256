//! Several hosts on one catalog in PostgreSQL, and hosts whose database goes away
//! (contract-5-exact, contract-5-away, contract-6-postgres).

use std::time::{Duration, Instant};

use futures::future::join_all;
use yearbook_catalog::DatabaseSettings;
use yearbook_domain::{DatasetName, Millis, Plan};
use yearbook_releases::ReleaseMonitorSettings;
use yearbook_tests::app::{HostFixture, PostgresProxy, TestApp, harvest, parks, postgres};

use crate::plugins::test_hosts::{
    TWO_SECONDS, embedded, eventually, patched, record_release, serving, start_reconciler,
};

const DATA: &str = "/v1/datasets/parks/data?limit=5";

/// Two hosts on one database and one folder of stored files.
async fn two() -> Option<(TestApp, TestApp)> {
    let fixture = HostFixture { database: postgres()?, ..HostFixture::default() };
    Some((TestApp::on_fixture(&fixture).await, TestApp::on_fixture(&fixture).await))
}

#[tokio::test(flavor = "multi_thread")]
async fn what_one_host_publishes_every_host_serves_within_2_s_contract_6() {
    let Some((here, there)) = two().await else { return };
    let key = here.key(Plan::Enterprise).await;
    here.publish(&parks()).await;
    let begun = Instant::now();
    eventually(|| there.catalog_cache.dataset("parks").is_some()).await;
    assert!(begun.elapsed() < TWO_SECONDS, "{:?}", begun.elapsed());
    let (left, right) =
        (here.get(DATA).key(&key).send().await, there.get(DATA).key(&key).send().await);
    assert_eq!(
        (left.status.as_u16(), &left.body, left.header("etag")),
        (200, &right.body, right.header("etag"))
    );
    // A cursor of one host is good on the other.
    let next = left.header("x-next-page");
    assert_eq!(there.get(&format!("{DATA}&cursor={next}")).key(&key).send().await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revoked_key_is_refused_by_every_host_within_2_s_contract_6() {
    let Some((here, there)) = two().await else { return };
    here.publish(&parks()).await;
    let key = here.key(Plan::Pro).await;
    let status = async |app: &TestApp| app.get(DATA).key(&key).send().await.status.as_u16();
    there.catalog_cache.refresh().await.unwrap();
    assert_eq!((status(&here).await, status(&there).await), (200, 200));
    let id = here.store.keys().await.unwrap().remove(0).id;
    here.store.revoke_key(&id, yearbook_catalog::clock::now()).await.unwrap();
    let begun = Instant::now();
    while (status(&here).await, status(&there).await) != (401, 401) {
        assert!(begun.elapsed() < TWO_SECONDS);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_requests_over_two_hosts_get_no_more_than_the_quota_contract_5() {
    let Some((here, there)) = two().await else { return };
    here.publish(&parks()).await;
    let key = here.key(Plan::Free).await;
    there.catalog_cache.refresh().await.unwrap();
    let replies = join_all(
        (0..50).map(|index| if index % 2 == 0 { &here } else { &there }.get(DATA).key(&key).send()),
    )
    .await;
    let answered = replies.iter().filter(|reply| reply.status == 200).count();
    let refused =
        replies.iter().filter(|reply| reply.outcome() == (429, "quota_used_up".to_owned())).count();
    assert_eq!((answered, refused), (10, 40));
    // What was reserved and not answered is given back, wherever it was reserved.
    let other = here.key(Plan::Free).await;
    there.catalog_cache.refresh().await.unwrap();
    join_all((0..50).map(|index| {
        if index % 2 == 0 { &here } else { &there }
            .get(&format!("{DATA}&cursor=x"))
            .key(&other)
            .send()
    }))
    .await;
    let me = there.get("/v1/me").key(&other).send().await.json();
    assert_eq!(me["requests"]["used"], 0, "{me}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_release_is_served_by_every_host_within_2_s_contract_6() {
    let Some((here, there)) = two().await else { return };
    let _keepers =
        (start_reconciler(&here, embedded()).await, start_reconciler(&there, embedded()).await);
    let newer = record_release(
        &here,
        patched("json", "0.1.0", "0.2.0"),
        yearbook_catalog::ReleaseState::Promoted,
    )
    .await;
    let begun = Instant::now();
    let both = || {
        [&here, &there]
            .iter()
            .all(|app| serving(&app.registry, "json").as_ref() == Some(&newer.digest))
    };
    eventually(both).await;
    assert!(begun.elapsed() < TWO_SECONDS, "{:?}", begun.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_database_unlimited_keys_read_on_and_limited_ones_are_refused_at_once() {
    let Some(database) = postgres() else { return };
    for silent in [false, true] {
        let line = PostgresProxy::to(&database).await;
        let bounds =
            DatabaseSettings { acquire_ms: 500, answer_ms: 1_000, ..DatabaseSettings::default() };
        let app = TestApp::on_fixture(&HostFixture {
            database: line.url.clone(),
            bounds,
            ..HostFixture::default()
        })
        .await;
        app.publish(&parks()).await;
        let (pro, free) = (app.key(Plan::Pro).await, app.key(Plan::Free).await);
        let ask = async |key: &str| {
            let begun = Instant::now();
            let reply = app.get(DATA).key(key).send().await;
            (reply, begun.elapsed())
        };
        assert_eq!(
            (ask(&pro).await.0.status.as_u16(), ask(&free).await.0.status.as_u16()),
            (200, 200)
        );

        if silent {
            line.blackhole()
        } else {
            line.cut()
        }
        // The first find out, within the bounds that are set; a later client gets the refusal.
        for (reply, took) in join_all((0..20).map(|_| ask(&free))).await {
            assert_eq!(reply.outcome(), (503, "unavailable".to_owned()));
            assert!(took < 2 * TWO_SECONDS, "{took:?}");
        }
        for _ in 0..20 {
            let (reply, took) = ask(&free).await;
            assert_eq!(
                (reply.outcome(), reply.header("retry-after")),
                ((503, "unavailable".to_owned()), "5".to_owned())
            );
            assert!(took < Duration::from_millis(500), "{took:?}");
            let (reply, took) = ask(&pro).await;
            assert_eq!(reply.status, 200);
            assert!(took < Duration::from_millis(500), "{took:?}");
        }

        line.mend();
        let begun = Instant::now();
        while ask(&free).await.0.status != 200 {
            assert!(begun.elapsed() < 2 * TWO_SECONDS, "it does not recover");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        // Every answer was counted, and no refusal: the two that the Free key got, and nothing of
        // the silence.
        eventually(|| app.catalog_cache.healthy()).await;
        let me = app.get("/v1/me").key(&free).send().await.json();
        assert_eq!(me["requests"]["used"], 2, "{me}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_database_no_key_goes_on_for_longer_than_the_stated_time() {
    let Some(database) = postgres() else { return };
    let line = PostgresProxy::to(&database).await;
    let bounds =
        DatabaseSettings { acquire_ms: 200, stale_keys_s: 1, ..DatabaseSettings::default() };
    let app = TestApp::on_fixture(&HostFixture {
        database: line.url.clone(),
        bounds,
        ..HostFixture::default()
    })
    .await;
    app.publish(&parks()).await;
    let pro = app.key(Plan::Pro).await;
    let status = async || app.get(DATA).key(&pro).send().await.status.as_u16();
    assert_eq!(status().await, 200);
    line.cut();
    let begun = Instant::now();
    while status().await == 200 {
        assert!(begun.elapsed() < 2 * TWO_SECONDS, "it goes on for ever");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(begun.elapsed() > Duration::from_millis(500), "{:?}", begun.elapsed());
    assert_eq!(
        app.get("/v1/datasets/parks/preview").send().await.status,
        200,
        "what needs no key is served"
    );
    line.mend();
    while status().await != 200 {
        assert!(begun.elapsed() < 4 * TWO_SECONDS, "it does not recover");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    app.publish(&harvest()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn three_hosts_that_are_asked_all_the_time_show_no_release_early_contract_21() {
    let Some((here, there)) = two().await else { return };
    let third = here.second_host(ReleaseMonitorSettings::default()).await;
    let key = here.key(Plan::Enterprise).await;
    here.publish(&harvest()).await;
    for host in [&there, &third] {
        host.catalog_cache.refresh().await.unwrap();
    }
    let clock = async || here.store.database_time().await.unwrap();
    for round in 0..3 {
        let at = Millis(clock().await.0 + 2_500).whole_second();
        let rows = harvest().with_appended(&format!("2030-01-0{},Auckland,7,true\n", round + 1));
        let id = here.release(&rows, at).await;
        // Until the host shows it; fails where it did so before the time.
        let watch = async |host: &TestApp| {
            let path = "/v1/datasets/harvest/data?limit=1";
            loop {
                let reply = host.head(path).key(&key).send().await;
                let pinned = host.get(&format!("{path}&snapshot={id}")).key(&key).send().await;
                let shown = reply.header("x-service-snapshot-id") == id;
                let now = clock().await;
                if shown || pinned.status == 200 {
                    assert!(now >= at, "shown at {now:?}, due at {at:?}");
                }
                if shown {
                    return;
                }
                assert!(now.0 < at.0 + 20_000, "not shown at {now:?}, due at {at:?}");
            }
        };
        tokio::join!(watch(&here), watch(&there), watch(&third), watch(&here), watch(&third));
        here.catalog_cache.settled().await.unwrap();
        let settled = here.store.current_snapshot(&DatasetName::parse("harvest").unwrap()).await;
        assert_eq!(settled.unwrap().unwrap().created_at, at);
    }
}
