//! The choice of sources to ask: by cadence, by lease, and not when they are retired.

use std::sync::atomic::{AtomicUsize, Ordering};

use yearbook_catalog::{NewRelease, Publication, ReleaseOutcome};
use yearbook_domain::{Cadence, Digest, Namespace, Snapshot, SnapshotId};

use super::*;
use crate::test_server::{Step, TestServer, whole};

async fn server() -> TestServer {
    TestServer::start("127.0.0.1", |_| whole("200 OK", "", table(2))).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_is_asked_when_its_cadence_has_passed_contract_8() {
    let (fixture, server) = (Fixture::new().await, server().await);
    for cadence in Cadence::ALL {
        let name = cadence.as_str();
        fixture.write(name, &server.url(&format!("/{name}.csv")), name);
    }
    let first = fixture.refresh(TODAY, true).await;
    assert!(first.iter().all(|report| report.outcome == RefreshOutcome::Published), "{first:?}");
    let mut at = TODAY;
    // Just before and just when each is due, TODAY being the 23rd of November.
    for (later, due) in [
        (HOUR - 1, vec![]),
        (HOUR, vec!["hourly"]),
        (DAY - 1, vec!["hourly"]),
        (DAY, vec!["daily", "irregular"]),
        (7 * DAY - 1, vec!["daily", "hourly", "irregular"]),
        (7 * DAY, vec!["weekly"]),
        (30 * DAY - 1, vec!["daily", "hourly", "irregular", "weekly"]),
        (30 * DAY, vec!["monthly"]),
        (92 * DAY - 1, vec!["daily", "hourly", "irregular", "monthly", "weekly"]),
        (92 * DAY, vec!["quarterly"]),
        (
            365 * DAY,
            vec!["annual", "daily", "hourly", "irregular", "monthly", "quarterly", "weekly"],
        ),
    ] {
        at = at.max(TODAY + later);
        let reports = fixture.refresh(at, true).await;
        let asked: Vec<&str> = reports
            .iter()
            .filter(|report| report.outcome != RefreshOutcome::Skipped)
            .map(|report| report.name.as_str())
            .collect();
        assert_eq!(asked, due, "after {later} ms: {reports:?}");
        for skipped in reports.iter().filter(|report| report.outcome == RefreshOutcome::Skipped) {
            let reason = skipped.reason.as_ref().unwrap();
            let expected = if skipped.name == "none" { "closed release" } else { "not due before" };
            assert!(reason.contains(expected) && skipped.snapshot.is_some(), "{skipped:?}");
        }
    }
    // Without --due everything is asked.
    let all = fixture.refresh(at, false).await;
    assert!(all.iter().all(|report| report.outcome == RefreshOutcome::Unchanged), "{all:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_retired_dataset_stays_retired_contract_8() {
    let (fixture, server) = (Fixture::new().await, server().await);
    fixture.write("cpi", &server.url("/cpi.csv"), "daily");
    fixture.refresh(TODAY, false).await;
    assert!(fixture.catalog.retire_dataset(&dataset_name("cpi")).await.unwrap());
    for due_only in [false, true] {
        let report = fixture.refresh_one(TODAY + 9 * DAY, due_only).await;
        assert_eq!(report.outcome, RefreshOutcome::Skipped);
        assert!(report.reason.unwrap().contains("`yearbook publish` brings it back"));
    }
    assert_eq!((server.seen().len(), fixture.dataset("cpi").await), (1, None));
}

#[tokio::test(flavor = "multi_thread")]
async fn two_refreshes_at_once_ask_a_source_once_contract_8() {
    let fixture = Fixture::new().await;
    let server = TestServer::start("127.0.0.1", |_| {
        let slow = vec![Step::Wait(Duration::from_millis(500))];
        [slow, whole("200 OK", "", table(2))].concat()
    })
    .await;
    for name in ["a", "b", "c"] {
        fixture.write(name, &server.url(&format!("/{name}.csv")), "daily");
    }
    let (mut one, mut other) =
        tokio::join!(fixture.refresh(TODAY, true), fixture.refresh(TODAY, true));
    one.append(&mut other);
    let count = |outcome| one.iter().filter(|report| report.outcome == outcome).count();
    let (published, skipped) = (count(RefreshOutcome::Published), count(RefreshOutcome::Skipped));
    assert_eq!((published, skipped, server.seen().len()), (3, 3, 3), "{one:?}");
    let reasons: Vec<_> = one.iter().filter_map(|report| report.reason.as_ref()).collect();
    assert!(
        reasons.iter().all(|reason| {
            reason.contains("another refresh asks it") || reason.contains("not due before")
        }),
        "{reasons:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refresh_that_died_holds_its_source_for_a_while_contract_8() {
    let fixture = Fixture::new().await;
    let server = TestServer::start("127.0.0.1", |request| match request.number {
        0 => vec![Step::Wait(Duration::from_secs(60))],
        _ => whole("200 OK", "", table(2)),
    })
    .await;
    fixture.write("cpi", &server.url("/cpi.csv"), "daily");
    let dying = fixture.refresh(TODAY, true);
    assert!(tokio::time::timeout(Duration::from_millis(500), dying).await.is_err());
    let held = fixture.refresh_one(TODAY + 60_000, true).await;
    assert_eq!((held.outcome, server.seen().len()), (RefreshOutcome::Skipped, 1), "{held:?}");
    // An operator who names it need not wait, and nobody has to when the lease has ended.
    let asked = fixture.refresh_one(TODAY + 60_000, false).await;
    assert_eq!(asked.outcome, RefreshOutcome::Published);
    let report = fixture.refresh_one(TODAY + 2 * DAY, true).await;
    assert_eq!(report.outcome, RefreshOutcome::Unchanged);
}

#[tokio::test(flavor = "multi_thread")]
async fn sources_are_asked_a_few_at_a_time_contract_8() {
    let fixture = Fixture::new().await;
    let open = Arc::new(AtomicUsize::new(0));
    let most = Arc::new(AtomicUsize::new(0));
    let counted = (Arc::clone(&open), Arc::clone(&most));
    let server = TestServer::start("127.0.0.1", move |_| {
        let (open, most) = &counted;
        most.fetch_max(open.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        let open = Arc::clone(open);
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(150));
            open.fetch_sub(1, Ordering::SeqCst);
        });
        let slow = vec![Step::Wait(Duration::from_millis(200))];
        [slow, whole("200 OK", "", table(2))].concat()
    })
    .await;
    for source in 0..12 {
        fixture.write(&format!("s{source}"), &server.url(&format!("/{source}.csv")), "daily");
    }
    let reports = fixture.refresh(TODAY, false).await;
    assert!(
        reports.iter().all(|report| report.outcome == RefreshOutcome::Published),
        "{reports:?}"
    );
    let most = most.load(Ordering::SeqCst);
    assert!((2..=4).contains(&most), "{most} at the same time");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dataset_of_which_a_release_waits_is_not_asked_about_contract_21() {
    let (fixture, server) = (Fixture::new().await, server().await);
    fixture.write("cpi", &server.url("/cpi.csv"), "daily");
    fixture.refresh(TODAY, false).await;
    let current = fixture.dataset("cpi").await.unwrap().current;
    let now = fixture.catalog.database_time().await.unwrap();
    let snapshot =
        Snapshot { id: SnapshotId::from_digest(Digest::compute(b"next")), ..(*current).clone() };
    let publication = Publication {
        name: dataset_name("cpi"),
        namespace: Namespace::parse("prices").unwrap(),
        predecessor: Some(current.id),
        snapshot,
        changes: None,
        facts: None,
        at: None,
    };
    let release = NewRelease {
        publication: &publication,
        release_at: Millis(now.0 + 3_600_000),
        announce: None,
        replace: false,
    };
    // Its file is one that is stored.
    let outcome = fixture.catalog.commit_release(&release).await.unwrap();
    assert!(matches!(outcome, ReleaseOutcome::Waits(_)), "{outcome:?}");
    for due_only in [false, true] {
        let report = fixture.refresh_one(TODAY + 9 * DAY, due_only).await;
        assert_eq!((report.outcome, report.snapshot), (RefreshOutcome::Skipped, Some(current.id)));
        assert!(report.reason.unwrap().contains("waits until"));
    }
    assert_eq!(server.seen().len(), 1, "its source was not asked again");
}
