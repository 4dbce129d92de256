//! The end of an answer: published, unchanged or failed, and the record of it.

use std::io::Write;
use std::num::NonZeroU64;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use yearbook_catalog::SourceState;
use yearbook_domain::{CheckOutcome, FailureCause, SnapshotId};
use yearbook_publish::{DataPackage, MaxLoss, SilentReporter};

use super::*;
use crate::test_server::{Step, TestServer, whole};

pub(super) const LOOPBACK: &str = "127.0.0.1";

/// Body, validator and honesty of a source, which a test changes.
#[derive(Clone, Debug, Default)]
pub(super) struct Source {
    body: String,
    etag: Option<&'static str>,
    /// Says 304 whatever is asked about.
    always_304: bool,
    /// Says 200 whatever is asked about.
    always_200: bool,
}

async fn serve(source: &Arc<Mutex<Source>>) -> TestServer {
    let source = Arc::clone(source);
    TestServer::start(LOOPBACK, move |request| {
        let source = source.lock().unwrap().clone();
        let asked = request.header("if-none-match");
        let same = asked.is_some() && (asked == source.etag || source.always_304);
        if same && !source.always_200 {
            return vec![Step::Send(b"HTTP/1.1 304 Not Modified\r\n\r\n".to_vec())];
        }
        let etag = source.etag.map(|etag| format!("ETag: {etag}\r\n")).unwrap_or_default();
        whole("200 OK", &etag, source.body)
    })
    .await
}

impl Fixture {
    /// A package at a server that answers as `source` says.
    pub(super) async fn with_source(
        rows: u64,
        etag: Option<&'static str>,
    ) -> (Self, Arc<Mutex<Source>>, TestServer) {
        let source = Arc::new(Mutex::new(Source { body: table(rows), etag, ..Source::default() }));
        let (fixture, server) = (Self::new().await, serve(&source).await);
        fixture.write("cpi", &server.url("/cpi.csv"), "daily");
        (fixture, source, server)
    }

    async fn rows(&self) -> u64 {
        self.dataset("cpi").await.unwrap().current.rows
    }

    async fn state(&self, name: &str) -> SourceState {
        self.catalog.source_state(&dataset_name(name)).await.unwrap()
    }
}

pub(super) fn good(report: &RefreshReport) -> (RefreshOutcome, SnapshotId) {
    assert_eq!(report.reason, None, "{report:?}");
    (report.outcome, report.snapshot.unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unchanged_source_moves_checked_at_alone_contract_8() {
    let (fixture, source, server) = Fixture::with_source(2, Some("\"v1\"")).await;
    let (outcome, first) = good(&fixture.refresh_one(TODAY, false).await);
    assert_eq!((outcome, fixture.rows().await), (RefreshOutcome::Published, 2));
    // By 304, and by the same bytes from a server that knows no conditions.
    for (day, always_200) in [(1, false), (2, true)] {
        source.lock().unwrap().always_200 = always_200;
        let report = fixture.refresh_one(TODAY + day * DAY, false).await;
        assert_eq!(good(&report), (RefreshOutcome::Unchanged, first));
        let dataset = fixture.dataset("cpi").await.unwrap();
        assert_eq!((dataset.checked_at.0, dataset.snapshots.len()), (TODAY + day * DAY, 1));
        let check = fixture.state("cpi").await.last_check.unwrap();
        assert_eq!((check.outcome, check.ended_at), (CheckOutcome::Unchanged, dataset.checked_at));
    }
    let seen = server.seen();
    assert_eq!(seen.len(), 3);
    assert_eq!(seen[0].header("if-none-match"), None);
    assert_eq!(seen[1].header("if-none-match"), Some("\"v1\""));
    // Without any validator.
    *source.lock().unwrap() = Source { body: table(2), ..Source::default() };
    for day in [3, 4] {
        let report = fixture.refresh_one(TODAY + day * DAY, false).await;
        assert_eq!(good(&report), (RefreshOutcome::Unchanged, first));
    }
    assert_eq!(server.seen()[4].header("if-none-match"), None, "the source has none any more");
}

#[tokio::test(flavor = "multi_thread")]
async fn changed_bytes_are_published_even_under_the_old_validator_contract_8() {
    let (fixture, source, _server) = Fixture::with_source(2, Some("\"v1\"")).await;
    good(&fixture.refresh_one(TODAY, false).await);
    // A server that changes its bytes and not its validator, and sends them.
    *source.lock().unwrap() =
        Source { body: table(3), etag: Some("\"v1\""), always_200: true, ..Source::default() };
    let report = fixture.refresh_one(TODAY + DAY, false).await;
    assert_eq!((report.outcome, fixture.rows().await), (RefreshOutcome::Published, 3));
    // One that says 304 whatever there is: found out after thirty days.
    *source.lock().unwrap() =
        Source { body: table(4), etag: Some("\"v1\""), always_304: true, ..Source::default() };
    let report = fixture.refresh_one(TODAY + 2 * DAY, false).await;
    assert_eq!((report.outcome, fixture.rows().await), (RefreshOutcome::Unchanged, 3));
    let report = fixture.refresh_one(TODAY + 31 * DAY + HOUR, false).await;
    assert_eq!((report.outcome, fixture.rows().await), (RefreshOutcome::Published, 4));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_descriptor_over_the_same_bytes_is_published_contract_8() {
    let (fixture, _source, server) = Fixture::with_source(2, Some("\"v1\"")).await;
    let (_, first) = good(&fixture.refresh_one(TODAY, false).await);
    let mut changed = descriptor("cpi", &server.url("/cpi.csv"), "daily");
    changed["yearbook"]["attribution_text"] = "A corrected credit line".into();
    std::fs::write(fixture.packages().join("cpi/datapackage.json"), changed.to_string()).unwrap();
    let (outcome, second) = good(&fixture.refresh_one(TODAY + DAY, false).await);
    assert_eq!((outcome, second != first), (RefreshOutcome::Published, true));
    let dataset = fixture.dataset("cpi").await.unwrap();
    assert_eq!(dataset.current.credit.attribution, "A corrected credit line");
    assert_eq!(server.seen()[1].header("if-none-match"), None, "the bytes are needed");
    // What others publish by hand is not taken for the source's.
    let folder = fixture.folder.path().join("by hand");
    std::fs::create_dir_all(&folder).unwrap();
    let by_hand = folder.join("datapackage.json");
    std::fs::write(&by_hand, descriptor("cpi", "rows.csv", "daily").to_string()).unwrap();
    write_rows(&by_hand, 3);
    let publisher = fixture.refresher(private_settings(), TODAY + 2 * DAY).publisher;
    let package = DataPackage::open(&by_hand).unwrap();
    Box::pin(publisher.publish(&package, &SilentReporter)).await.unwrap();
    let (outcome, third) = good(&fixture.refresh_one(TODAY + 3 * DAY, false).await);
    assert_eq!((outcome, third), (RefreshOutcome::Published, second));
    assert_eq!(server.seen()[2].header("if-none-match"), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_beside_its_descriptor_is_read_again_contract_8() {
    let fixture = Fixture::new().await;
    let package = fixture.write("cpi", "rows.csv", "weekly");
    write_rows(&package, 2);
    let (outcome, first) = good(&fixture.refresh_one(TODAY, false).await);
    assert_eq!(outcome, RefreshOutcome::Published);
    assert_eq!(
        good(&fixture.refresh_one(TODAY + DAY, false).await),
        (RefreshOutcome::Unchanged, first)
    );
    assert_eq!(fixture.checked_at("cpi").await, Some(TODAY + DAY));
    write_rows(&package, 3);
    assert_eq!(
        fixture.refresh_one(TODAY + 2 * DAY, false).await.outcome,
        RefreshOutcome::Published
    );
    assert_eq!(fixture.rows().await, 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_that_fails_leaves_its_dataset_and_the_others_alone_contract_8() {
    let broken = Arc::new(AtomicUsize::new(0));
    let asked = Arc::clone(&broken);
    let server = TestServer::start(LOOPBACK, move |request| {
        let late = asked.load(Ordering::Relaxed) > 0;
        match request.path.as_str() {
            "/good.csv" => whole("200 OK", "", table(if late { 3 } else { 2 })),
            _ if !late => whole("200 OK", "", table(2)),
            "/gone.csv" => whole("404 Not Found", "", ""),
            "/invalid.csv" => whole("200 OK", "", "id,value\n1,many\n"),
            "/page.csv" => whole("200 OK", "", "<html>We are being redesigned</html>\n"),
            // The cut is at the end of a line.
            _ => vec![Step::Send(
                b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nid,value\n1,0.5\n".to_vec(),
            )],
        }
    })
    .await;
    let fixture = Fixture::new().await;
    let names = ["cut", "gone", "good", "invalid", "page"];
    for name in names {
        fixture.write(name, &server.url(&format!("/{name}.csv")), "daily");
    }
    let before = fixture.refresh(TODAY, false).await;
    assert!(before.iter().all(|report| report.outcome == RefreshOutcome::Published), "{before:?}");
    broken.store(1, Ordering::Relaxed);
    let after = fixture.refresh(TODAY + DAY, true).await;
    for ((report, old), name) in after.iter().zip(&before).zip(names) {
        let state = fixture.state(name).await;
        let check = state.last_check.unwrap();
        if name == "good" {
            assert_eq!((report.outcome, check.reason), (RefreshOutcome::Published, None));
            continue;
        }
        assert_eq!((report.outcome, report.snapshot), (RefreshOutcome::Failed, old.snapshot));
        assert_eq!(
            (state.current, state.checked_at),
            (old.snapshot, Some(Millis(TODAY))),
            "{name}"
        );
        let cause = match name {
            "cut" => FailureCause::Connection,
            "gone" => FailureCause::Status,
            _ => FailureCause::Data,
        };
        assert_eq!((check.outcome, check.cause), (CheckOutcome::Failed, Some(cause)));
        assert_eq!((check.reason, check.ended_at), (report.reason.clone(), Millis(TODAY + DAY)));
        assert_eq!(state.claimed_until, None);
    }
    let reason = |at: usize| after[at].reason.clone().unwrap();
    assert!(reason(1).contains("answers 404"), "{}", reason(1));
    assert!(reason(3).contains("/invalid.csv: row 1, column value"), "{}", reason(3));
    // Invalid data is not asked for again within a run; a cut answer is.
    let count = |path: &str| server.seen().iter().filter(|seen| seen.path == path).count();
    assert_eq!((count("/invalid.csv"), count("/gone.csv"), count("/cut.csv")), (2, 2, 4));
    let summary = fixture.catalog.check_summary().await.unwrap();
    let failing: Vec<_> = summary.failing.iter().map(|source| source.dataset.as_str()).collect();
    assert_eq!(failing, ["cut", "gone", "invalid", "page"]);
    assert_eq!(
        summary.outcomes.iter().find(|(outcome, _)| *outcome == CheckOutcome::Failed),
        Some(&(CheckOutcome::Failed, 4))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_package_fails_alone_contract_8() {
    let fixture = Fixture::new().await;
    let good = fixture.write("good", "rows.csv", "daily");
    write_rows(&good, 2);
    fixture.write("wrong", "ftp://example.org/x.csv", "daily");
    fixture.write("worse", "https://user:hunter2@example.org/x.csv", "daily");
    std::fs::create_dir_all(fixture.packages().join("zz")).unwrap();
    std::fs::write(fixture.packages().join("zz/datapackage.json"), "{").unwrap();
    // The same dataset again.
    let twin = fixture.packages().join("twin");
    std::fs::create_dir_all(&twin).unwrap();
    std::fs::copy(&good, twin.join("datapackage.json")).unwrap();
    std::fs::write(twin.join("rows.csv"), table(9)).unwrap();
    let mut reports = fixture.refresh(TODAY, false).await;
    reports.sort_by_key(|report| report.outcome != RefreshOutcome::Published);
    assert_eq!(reports.len(), 5);
    assert_eq!((reports[0].name.as_str(), reports[0].outcome), ("good", RefreshOutcome::Published));
    let reason = |name: &str| {
        let found = reports.iter().find(|report| report.name.ends_with(name)).unwrap();
        assert_eq!(found.outcome, RefreshOutcome::Failed);
        found.reason.clone().unwrap()
    };
    assert!(reason("twin/datapackage.json").contains("describes it too"));
    assert!(reason("zz/datapackage.json").contains("is not JSON"));
    assert!(reason("wrong").contains("write http://… or https://…"));
    assert!(reason("worse").contains("a user or a password"));
    assert!(reports.iter().all(|report| !format!("{report:?}").contains("hunter2")));
    let check = fixture.state("wrong").await.last_check.unwrap();
    assert_eq!(check.cause, Some(FailureCause::Descriptor), "{check:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_private_address_is_refused_unless_it_is_allowed_contract_8() {
    let (fixture, _source, server) = Fixture::with_source(2, None).await;
    let reports = fixture.refresh_with(&RefreshSettings::default(), TODAY, false).await;
    assert_eq!((reports[0].outcome, server.connections()), (RefreshOutcome::Failed, 0));
    assert!(reports[0].reason.as_ref().unwrap().contains("refresh.allow_private"), "{reports:?}");
    assert_eq!(fixture.refresh_one(TODAY, false).await.outcome, RefreshOutcome::Published);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_compressed_table_is_bounded_by_what_it_expands_to_contract_8() {
    let gzip = |text: &str| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    let (small, bomb) = (gzip(&table(2)), gzip(&table(400_000)));
    assert!(bomb.len() < 2_000_000, "{}", bomb.len());
    let server = TestServer::start(LOOPBACK, move |request| match request.path.as_str() {
        "/bomb.csv.gz" => whole("200 OK", "", &bomb),
        // A file that a server takes for text in a coding, which is undone on the way.
        "/coded.csv.gz" => whole("200 OK", "Content-Encoding: gzip\r\n", &small),
        // And one that is what its name does not say.
        _ => whole("200 OK", "", &small),
    })
    .await;
    let fixture = Fixture::new().await;
    for (name, path) in
        [("bomb", "/bomb.csv.gz"), ("coded", "/coded.csv.gz"), ("named", "/export.csv?a=1")]
    {
        fixture.write(name, &server.url(path), "daily");
    }
    let max_bytes = NonZeroU64::new(2_000_000).unwrap();
    let settings = RefreshSettings { max_bytes, ..private_settings() };
    let reports = fixture.refresh_with(&settings, TODAY, false).await;
    let outcomes: Vec<_> = reports.iter().map(|report| report.outcome).collect();
    assert_eq!(
        outcomes,
        [RefreshOutcome::Failed, RefreshOutcome::Published, RefreshOutcome::Published],
        "{reports:?}"
    );
    let reason = reports[0].reason.as_ref().unwrap();
    assert!(reason.contains("expands to more than 2000000 bytes"), "{reason}");
}

/// A table of so many rows without values.
fn table_of_nulls(rows: u64) -> String {
    table(rows).replace(",0.5", ",")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_that_has_lost_half_of_its_table_is_not_believed_contract_8() {
    let (fixture, source, server) = Fixture::with_source(10, Some("\"v1\"")).await;
    let (_, first) = good(&fixture.refresh_one(TODAY, false).await);
    for (day, body, expected) in [
        (1, table(0), "the number of rows falls from 10 to 0, by more than refresh.max_loss (0.5)"),
        (2, table(4), "the number of rows falls from 10 to 4, "),
        (3, table_of_nulls(10), "the number of finite values of column value falls from 10 to 0, "),
    ] {
        *source.lock().unwrap() = Source { body, ..Source::default() };
        let report = fixture.refresh_one(TODAY + day * DAY, false).await;
        let reason = report.reason.as_deref().unwrap();
        assert_eq!((report.outcome, report.snapshot), (RefreshOutcome::Failed, Some(first)));
        assert!(reason.contains(expected) && reason.contains("`yearbook.max_loss`"), "{reason}");
        let dataset = fixture.dataset("cpi").await.unwrap();
        assert_eq!((dataset.current.id, dataset.checked_at.0), (first, TODAY));
        let check = fixture.state("cpi").await.last_check.unwrap();
        assert_eq!(check.cause, Some(FailureCause::Data), "{check:?}");
    }
    // Half of it is allowed.
    *source.lock().unwrap() = Source { body: table(5), ..Source::default() };
    let report = fixture.refresh_one(TODAY + 4 * DAY, false).await;
    assert_eq!((good(&report).0, fixture.rows().await), (RefreshOutcome::Published, 5));
    // As little as an operator says, and as much as a package says.
    *source.lock().unwrap() = Source { body: table(4), ..Source::default() };
    let max_loss = MaxLoss::new(0.0).unwrap();
    let strict = RefreshSettings { max_loss, ..private_settings() };
    let reports = fixture.refresh_with(&strict, TODAY + 5 * DAY, false).await;
    assert!(reports[0].reason.as_ref().unwrap().contains("from 5 to 4"), "{reports:?}");
    let mut descriptor = descriptor("cpi", &server.url("/cpi.csv"), "daily");
    descriptor["yearbook"]["max_loss"] = 1.into();
    let file = fixture.packages().join("cpi/datapackage.json");
    std::fs::write(&file, descriptor.to_string()).unwrap();
    *source.lock().unwrap() = Source { body: table(0), ..Source::default() };
    let reports = fixture.refresh_with(&strict, TODAY + 6 * DAY, false).await;
    assert_eq!((good(&reports[0]).0, fixture.rows().await), (RefreshOutcome::Published, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_published_by_hand_may_lose_anything_contract_8() {
    let fixture = Fixture::new().await;
    let package = fixture.write("cpi", "rows.csv", "daily");
    write_rows(&package, 10);
    good(&fixture.refresh_one(TODAY, false).await);
    write_rows(&package, 0);
    let report = fixture.refresh_one(TODAY + DAY, false).await;
    assert_eq!((report.outcome, fixture.rows().await), (RefreshOutcome::Failed, 10));
    let by_hand = DataPackage::open(&package).unwrap();
    let refresher = fixture.refresher(private_settings(), TODAY + DAY);
    Box::pin(refresher.publisher.publish(&by_hand, &SilentReporter)).await.unwrap();
    assert_eq!(fixture.rows().await, 0);
    let report = fixture.refresh_one(TODAY + 2 * DAY, false).await;
    assert_eq!(good(&report).0, RefreshOutcome::Unchanged);
}
