//! Parts that were lost, sources that are hostile or dated in the future, and the check that goes
//! on all the same.

use super::outcomes::{LOOPBACK, good};
use super::*;
use crate::test_server::{TestServer, whole};

/// A stream of Arrow of one message, whose body has a length of -40: that of the message.
const ENDLESS: [u8; 40] = [
    0xff, 0xff, 0xff, 0xff, 0x20, 0, 0, 0, 0x10, 0, 0, 0, 0x0c, 0, 0x10, 0, 0, 0, 0, 0, 0, 0, 0x08,
    0, 0x0c, 0, 0, 0, 0, 0, 0, 0, 0xd8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
];

#[tokio::test(flavor = "multi_thread")]
async fn what_is_lost_in_the_store_is_asked_for_and_stored_again_contract_8() {
    let (fixture, _source, server) = Fixture::with_source(2, Some("\"v1\"")).await;
    let (_, first) = good(&fixture.refresh_one(TODAY, false).await);
    let file = fixture.dataset("cpi").await.unwrap().current.file.clone();
    let path = fixture.folder.path().join("store").join(ObjectStorage::key(&file));
    let (rows, values) = (std::fs::read(&path).unwrap(), path.with_extension("values"));
    for (day, (place, left)) in
        (1..).zip([(&path, None), (&path, Some(&rows[..10])), (&values, None)])
    {
        match left {
            None => std::fs::remove_file(place).unwrap(),
            Some(left) => std::fs::write(place, left).unwrap(),
        }
        let report = fixture.refresh_one(TODAY + day * DAY, false).await;
        assert_eq!(good(&report), (RefreshOutcome::Unchanged, first));
        assert!(std::fs::read(&path).unwrap() == rows && values.exists(), "day {day}");
        let asked = server.seen().pop().unwrap();
        assert_eq!(asked.header("if-none-match"), None, "day {day}: the bytes are needed");
    }
    // All of it is there again.
    good(&fixture.refresh_one(TODAY + 9 * DAY, false).await);
    assert_eq!(server.seen().pop().unwrap().header("if-none-match"), Some("\"v1\""));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_a_clock_ahead_has_dated_is_read_again_contract_8() {
    let (fixture, _source, server) = Fixture::with_source(2, Some("\"v1\"")).await;
    let (_, first) = good(&fixture.refresh_one(TODAY + 365 * DAY, false).await);
    for day in [0, 1] {
        let report = fixture.refresh_one(TODAY + day * DAY, false).await;
        assert_eq!(good(&report), (RefreshOutcome::Unchanged, first));
    }
    let seen = server.seen();
    let asked: Vec<_> = seen.iter().map(|seen| seen.header("if-none-match")).collect();
    assert_eq!(asked, [None, None, Some("\"v1\"")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_that_leads_back_to_itself_holds_up_no_other_contract_8() {
    let server = TestServer::start(LOOPBACK, |request| match request.path.as_str() {
        "/endless.arrow" => whole("200 OK", "", ENDLESS),
        _ => whole("200 OK", "", table(2)),
    })
    .await;
    let fixture = Fixture::new().await;
    for (name, path) in [("endless", "/endless.arrow"), ("good", "/good.csv")] {
        fixture.write(name, &server.url(path), "daily");
    }
    let refreshed = Box::pin(fixture.refresh(TODAY, false));
    let reports = tokio::time::timeout(Duration::from_secs(30), refreshed).await.unwrap();
    let outcomes: Vec<_> = reports.iter().map(|report| report.outcome).collect();
    assert_eq!(outcomes, [RefreshOutcome::Failed, RefreshOutcome::Published], "{reports:?}");
    let reason = reports[0].reason.as_ref().unwrap();
    assert!(reason.contains("an Arrow IPC file or stream"), "{reason}");
}
