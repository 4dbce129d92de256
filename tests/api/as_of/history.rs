//! Versions that retention dropped: history reads them again.

use std::time::Duration;

use serde_json::json;
use yearbook_catalog::{Retention, VersionAt};
use yearbook_domain::{DatasetName, Millis, Plan};
use yearbook_publish::{GcSettings, collect_garbage};
use yearbook_tests::app::{HostFixture, TestApp, harvest};

use super::{DATA, at, get, next, publish, service, used};

/// Drops all versions but the newest, and their files.
async fn drop_old(app: &TestApp) -> usize {
    let retention = Retention { snapshots: 1, hours: 0, history: true };
    let settings = GcSettings { retention, unnamed_for: Duration::ZERO, dry_run: false };
    let mut dropped = 0;
    for _ in 0..2 {
        // What was let go an instant ago is too young, however short the age.
        tokio::time::sleep(Duration::from_millis(5)).await;
        let collected = collect_garbage(&app.store, &app.files, settings).await.unwrap();
        dropped += collected.dropped.len();
    }
    app.catalog_cache.refresh().await.unwrap();
    dropped
}

/// Reads `path` until its version has been made again.
async fn patiently(app: &TestApp, key: &str, path: &str) -> yearbook_tests::app::Reply {
    for _ in 0..100 {
        let reply = get(app, key, path).await;
        if reply.status != 503 {
            return reply;
        }
        assert_eq!(reply.outcome().1, "rebuilding");
        assert!(!reply.header("retry-after").is_empty());
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("{path} is not made again");
}

#[tokio::test]
async fn what_retention_dropped_is_read_as_of_its_time_contract_21() {
    let (app, key, ids) = service().await;
    let then = get(&app, &key, &format!("{DATA}?as_of=2024-03-01T12:00:00Z")).await;
    let page = get(&app, &key, &format!("{DATA}?as_of=2024-03-01T12:00:00Z&limit=3")).await;
    let plain = get(&app, &key, &format!("{DATA}?snapshot={}&limit=3", ids[0])).await;
    let dropped = drop_old(&app).await;
    assert_eq!(dropped, 2);

    let path = format!("{DATA}?as_of=2024-03-01T12:00:00Z");
    let again = patiently(&app, &key, &path).await;
    assert_eq!(again.status, 200, "{}", again.text());
    assert_eq!(again.json(), then.json());
    for name in ["x-service-snapshot-id", "last-modified", "x-service-attribution"] {
        assert_eq!(again.header(name), then.header(name), "{name}");
    }
    let values = "/v1/datasets/harvest/values?columns=value&as_of=2024-03-01T12:00:00Z";
    let values = patiently(&app, &key, values).await.json();
    assert_eq!((&values["snapshot_id"], &values["rows"]), (&json!(ids[0]), &json!(7)));

    // Pages as of a time go on; those of a snapshot do not, and say how its rows are read.
    let second = patiently(&app, &key, &next(&page)).await;
    assert_eq!(second.json().as_array().unwrap().len(), 3, "{}", second.text());
    let third = patiently(&app, &key, &next(&second)).await;
    assert_eq!(third.json().as_array().unwrap().len(), 1);
    let before = used(&app, &key).await;
    let cursor = plain.header("x-next-page");
    for query in [format!("snapshot={}", ids[0]), format!("cursor={cursor}&limit=3")] {
        for path in [DATA, "/v1/datasets/harvest/values"] {
            if path != DATA && query.starts_with("cursor") {
                continue;
            }
            let gone = get(&app, &key, &format!("{path}?{query}")).await;
            assert_eq!(gone.outcome(), (410, "snapshot_gone".to_owned()), "{path} {query}");
            let sentence = gone.json()["detail"].as_str().unwrap().to_owned();
            assert!(sentence.contains("as_of=2024-03-01T10:00:00Z"), "{sentence}");
        }
    }
    let gone = get(&app, &key, &format!("/v1/datasets/harvest/changes?since={}", ids[0])).await;
    if gone.status == 410 {
        let sentence = gone.json()["detail"].as_str().unwrap().to_owned();
        assert!(sentence.contains("as_of=2024-03-01T10:00:00Z"), "{sentence}");
    }
    assert_eq!(used(&app, &key).await, before + u64::from(gone.status == 200));
    let named = patiently(&app, &key, &format!("{DATA}?as_of=2024-03-01T10:00:00Z")).await;
    assert_eq!(named.header("x-service-snapshot-id"), ids[0], "the time that sentences name");
}

#[tokio::test]
async fn a_version_that_came_back_has_its_own_time_contract_21() {
    let app = TestApp::start().await;
    let key = app.key(Plan::Enterprise).await;
    // Little of it changes, so that every version is made again.
    let rest: String = (1..=500).map(|row| format!("2024-01-02,R{row},{row},true\n")).collect();
    let times = ["10:00:00", "11:00:00", "12:00:00", "13:00:00"];
    for (time, value) in times.iter().zip([1, 2, 1, 3]) {
        let rows = format!("date,region,value,final\n2024-01-01,Nelson,{value},true\n{rest}");
        app.publish_at(&harvest().with_rows(&rows), at(&format!("2024-03-01T{time}Z"))).await;
    }
    let name = DatasetName::parse("harvest").unwrap();
    for is_dropped in [false, true] {
        if is_dropped {
            assert_eq!(drop_old(&app).await, 3);
        }
        for time in [times[0], times[2]] {
            let as_of = format!("2024-03-01T{time}Z");
            if is_dropped {
                let found = app.store.version_at(&name, at(&as_of)).await.unwrap();
                assert!(matches!(found, Some(VersionAt::Past(past)) if !past.file_kept), "{time}");
            }
            let first = patiently(&app, &key, &format!("{DATA}?as_of={as_of}&limit=1")).await;
            let second = patiently(&app, &key, &next(&first)).await;
            for page in [first, second] {
                assert_eq!(page.status, 200, "{}", page.text());
                assert_eq!(page.header("last-modified"), format!("Fri, 01 Mar 2024 {time} GMT"));
            }
        }
    }
}

#[tokio::test]
async fn a_version_that_is_retained_again_is_not_made_contract_21() {
    // There is no room to make any.
    let fixture = HostFixture { past_bytes: 1, ..HostFixture::default() };
    let app = TestApp::on_fixture(&fixture).await;
    let key = app.key(Plan::Enterprise).await;
    for (hour, version) in (10..).zip([0, 1, 0]) {
        let value = version + 1;
        let rows = format!("date,region,value,final\n2024-01-01,Nelson,{value},true\n");
        let rows = format!("{rows}2024-01-02,Nelson,9,true\n");
        app.publish_at(&harvest().with_rows(&rows), at(&format!("2024-03-01T{hour}:00:00Z"))).await;
    }
    let path = |hour: u32| format!("{DATA}?as_of=2024-03-01T{hour}:00:00Z&limit=1");
    let begun = get(&app, &key, &path(10)).await;
    assert_eq!(drop_old(&app).await, 2);
    for page in [get(&app, &key, &path(10)).await, get(&app, &key, &next(&begun)).await] {
        assert_eq!(page.status, 200, "{}", page.text());
        assert_eq!(page.header("last-modified"), "Fri, 01 Mar 2024 10:00:00 GMT");
    }
    let other = get(&app, &key, &path(11)).await;
    assert_eq!(other.outcome(), (413, "history_too_large".to_owned()));
}

#[tokio::test]
async fn what_has_no_room_at_all_is_refused_without_making_it_twice_contract_21() {
    let fixture = HostFixture { past_bytes: 1, ..HostFixture::default() };
    let app = TestApp::on_fixture(&fixture).await;
    for version in 0..3 {
        publish(&app, version).await;
    }
    let key = app.key(Plan::Enterprise).await;
    assert_eq!(drop_old(&app).await, 2);
    let before = used(&app, &key).await;
    let of_then = "as_of=2024-03-01T12:00:00Z";
    for path in [
        format!("{DATA}?{of_then}"),
        format!("/v1/datasets/harvest/values?{of_then}"),
        "/v1/datasets/harvest/revisions".to_owned(),
    ] {
        let mut reads = Vec::new();
        for _ in 0..2 {
            let refused = get(&app, &key, &path).await;
            assert_eq!(refused.outcome(), (413, "history_too_large".to_owned()), "{path}");
            assert!(!refused.headers.contains_key("retry-after"), "{path}");
            reads.push(app.files.counts());
        }
        assert_eq!(reads[0], reads[1], "{path}");
    }
    assert_eq!(used(&app, &key).await, before);
    // What is wrong in itself is told before.
    let wrong = get(&app, &key, &format!("{DATA}?{of_then}&columns=x")).await;
    assert_eq!(wrong.problems(), [("columns".to_owned(), "value_error".to_owned())]);
}

#[tokio::test]
async fn the_page_of_a_dropped_snapshot_names_the_time_contract_21() {
    let (app, key, ids) = service().await;
    drop_old(&app).await;
    let path = format!("/cite/harvest/{}?columns=date%2Cvalue", ids[1]);
    let page = app.get(&path).header("accept", "text/html").send().await;
    assert_eq!(page.status, 200, "{}", page.text());
    let address = "/v1/datasets/harvest/data?as_of=2024-03-01T18:30:00Z&columns=date%2Cvalue";
    let shown = address.replace('&', "&#38;");
    assert!(page.text().contains(&shown), "{}", page.text());
    let read = patiently(&app, &key, address).await;
    assert_eq!(read.header("x-service-snapshot-id"), ids[1]);
    let verify = get(&app, &key, &format!("{path}&verify=true")).await;
    assert_eq!(verify.outcome(), (410, "snapshot_gone".to_owned()));
    let sentence = verify.json()["detail"].as_str().unwrap().to_owned();
    assert!(sentence.contains("as_of=2024-03-01T18:30:00Z"), "{sentence}");
    let text = app.get(&format!("/cite/harvest/{}", ids[1])).header("accept", "text/plain");
    let text = text.send().await.text();
    assert!(text.contains("as_of=2024-03-01T18:30:00Z"), "{text}");
}

#[tokio::test]
async fn times_that_history_forgot_are_410_contract_21() {
    let (app, key, ids) = service().await;
    drop_old(&app).await;
    let name = yearbook_domain::DatasetName::parse("harvest").unwrap();
    let before = Millis::parse_iso8601("2024-03-02T00:00:00Z").unwrap();
    assert_eq!(app.store.forget_history(&name, before).await.unwrap(), 1);
    app.catalog_cache.refresh().await.unwrap();
    let charged = used(&app, &key).await;
    for path in [DATA, "/v1/datasets/harvest/values", "/v1/datasets/harvest/link"] {
        let gone = get(&app, &key, &format!("{path}?as_of=2024-03-01T12:00:00Z")).await;
        assert_eq!(gone.outcome(), (410, "history_gone".to_owned()), "{path}");
        let sentence = gone.json()["detail"].as_str().unwrap().to_owned();
        assert!(sentence.contains("2024-03-01T18:30:00Z"), "{sentence}");
    }
    assert_eq!(used(&app, &key).await, charged);
    let oldest = patiently(&app, &key, &format!("{DATA}?as_of=2024-03-01T18:30:00Z")).await;
    assert_eq!(oldest.header("x-service-snapshot-id"), ids[1]);
    // Without history there is no time to name.
    let gone = get(&app, &key, &format!("{DATA}?snapshot={}", ids[0])).await;
    assert_eq!(gone.outcome(), (410, "snapshot_gone".to_owned()));
    assert!(!gone.text().contains("as_of"), "{}", gone.text());
}

#[tokio::test]
async fn a_time_between_versions_that_are_not_known_is_410_contract_21() {
    let (app, key, ids) = service().await;
    let name = yearbook_domain::DatasetName::parse("harvest").unwrap();
    let held = yearbook_domain::SnapshotId::parse(&ids[0]).unwrap();
    app.store.hold_snapshot(&name, &held).await.unwrap();
    assert_eq!(drop_old(&app).await, 1, "one is held");
    let before = Millis::parse_iso8601("2026-01-01T00:00:00Z").unwrap();
    assert_eq!(app.store.forget_history(&name, before).await.unwrap(), 1);
    app.catalog_cache.refresh().await.unwrap();
    let get = async |time: &str| get(&app, &key, &format!("{DATA}?as_of={time}")).await;
    // Nobody knows when the next version came, but this one was there from its own time on.
    for time in ["2024-03-01T10:00:00Z", "2024-03-01T10:00:00.9Z"] {
        assert_eq!(get(time).await.header("x-service-snapshot-id"), ids[0], "{time}");
    }
    for time in ["2024-03-01T10:00:01Z", "2024-03-01", "2025-07-08"] {
        let gone = get(time).await;
        assert_eq!(gone.outcome(), (410, "history_gone".to_owned()), "{time}");
        assert!(gone.text().contains("2025-07-09T00:00:00Z"), "{}", gone.text());
    }
    assert_eq!(get("2025-07-09").await.header("x-service-snapshot-id"), ids[2]);
}
