//! Errors after which SQLite has ended a transaction by itself: a full disk, an interruption, a
//! commit that is refused. Whatever fails once, the next call works.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use sqlx::sqlite::SqlitePool;

use super::*;
use crate::database::Database;
use crate::sql::TransactionMode;
use crate::sqlite::is_full;
use crate::suite::fixtures::HOUR;
use crate::{ClaimOutcome, UsageIncrement};

const MONTH: &str = "2026-11";

/// A catalog with the key `key_1`, and its connection for writing.
async fn catalog(url: &str) -> (Catalog, SqlitePool) {
    let file = SqliteFile::open(url, &DatabaseSettings::default()).await.unwrap();
    let writer = file.writer.clone();
    let store = Catalog::new(file);
    issue_key(&store, "key_1", Plan::Free).await;
    (store, writer)
}

async fn set(writer: &SqlitePool, pragma: &'static str) {
    sqlx::raw_sql(pragma).execute(&mut *writer.acquire().await.unwrap()).await.unwrap();
}

/// Lets so many steps of the connection's next statements pass and interrupts the one after; true
/// once it has.
async fn interrupt_after(writer: &SqlitePool, mut steps: u32) -> Arc<AtomicBool> {
    let mut connection = writer.acquire().await.unwrap();
    let interrupted = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&interrupted);
    let goes_on = move || {
        let now = steps == 0 && !told.swap(true, Ordering::SeqCst);
        steps = steps.saturating_sub(1);
        !now
    };
    connection.lock_handle().await.unwrap().set_progress_handler(1, goes_on);
    interrupted
}

async fn interrupt_no_more(writer: &SqlitePool) {
    let mut connection = writer.acquire().await.unwrap();
    connection.lock_handle().await.unwrap().remove_progress_handler();
}

/// Runs `operation` with an interruption at every step, one at a time, and once more after each.
/// `works` takes a result, and the number of times that it may have happened before unnoticed.
async fn interrupt_everywhere<T>(
    writer: &SqlitePool,
    operation: impl AsyncFn() -> Result<T, CatalogError>,
    works: impl Fn(T, u64) -> bool,
) {
    let mut failures = 0;
    for steps in 0.. {
        let interrupted = interrupt_after(writer, steps).await;
        let outcome = operation().await;
        let interrupted = interrupted.load(Ordering::SeqCst);
        interrupt_no_more(writer).await;
        let failed = outcome.is_err();
        assert!(interrupted || !failed);
        failures += u32::from(failed);
        let unnoticed = u64::from(matches!(outcome, Err(CatalogError::CommitUnknown { .. })));
        let outcome = if failed { operation().await } else { outcome };
        assert!(works(outcome.unwrap(), unnoticed), "after an interruption at step {steps}");
        if !interrupted {
            break;
        }
    }
    assert!(failures > 3, "{failures} steps were interrupted");
}

#[tokio::test]
async fn after_a_full_disk_requests_are_counted_again_contract_5() {
    let (_folder, url) = folder();
    let (store, writer) = catalog(&url).await;
    // No file grows beyond its present size.
    set(&writer, "PRAGMA max_page_count = 1").await;
    let issued = AtomicU32::new(1);
    let failure = loop {
        let number = issued.fetch_add(1, Ordering::Relaxed);
        let counts = |requests| UsageIncrement {
            key_id: key_id("key_1"),
            month: format!("{}-01", 10_000 + number),
            requests,
        };
        if let Err(failure) = store.add_usage(&[counts(1)]).await {
            break failure;
        }
    };
    let CatalogError::Query { source, .. } = &failure else { panic!("{failure}") };
    assert!(is_full(source) && failure.is_safe_to_retry(), "{failure}");
    set(&writer, "PRAGMA max_page_count = 1000000").await;
    let key = key_id("key_1");
    for used in 1..=3 {
        let granted = store.reserve_request(&key, MONTH, 10).await.unwrap();
        assert_eq!(granted, ReserveOutcome::Granted { used });
    }
}

#[tokio::test]
async fn a_check_of_writes_writes_contract_6() {
    let (folder, url) = folder();
    let (store, _) = catalog(&url).await;
    let mut stranger = external_connection(&folder).await;
    // SQLite moves its counter where a transaction has written a page, and only there.
    let mut version = async || -> i64 {
        sqlx::query_scalar("PRAGMA data_version").fetch_one(&mut stranger).await.unwrap()
    };
    let before = version().await;
    store.check_writable().await.unwrap();
    assert_ne!(version().await, before);
}

#[tokio::test]
async fn whatever_step_of_a_write_fails_the_next_write_works_contract_5() {
    let (_folder, url) = folder();
    let (store, writer) = catalog(&url).await;
    let key = key_id("key_1");
    let used = AtomicU64::new(0);
    // Exactly once: what certainly failed is not counted.
    let counted = |outcome, unnoticed| {
        let ReserveOutcome::Granted { used: now } = outcome else { return false };
        let before = used.swap(now, Ordering::Relaxed);
        now == before + 1 || now == before + 1 + unnoticed
    };
    interrupt_everywhere(
        &writer,
        async || store.reserve_request(&key, MONTH, 1_000).await,
        counted,
    )
    .await;
    let counts = ["2026-12", "2027-01"].map(|month| UsageIncrement {
        key_id: key.clone(),
        month: month.to_owned(),
        requests: 1,
    });
    interrupt_everywhere(&writer, async || store.add_usage(&counts).await, |(), _| true).await;
    interrupt_everywhere(&writer, async || store.refund_request(&key, MONTH).await, |(), _| true)
        .await;
    interrupt_everywhere(&writer, async || store.check_writable().await, |(), _| true).await;
    let lease = Duration::from_secs(900);
    let claim = async || store.claim_source(&name("cpi"), lease, true, None).await;
    let claimed = |outcome, _| matches!(outcome, ClaimOutcome::Claimed(_));
    interrupt_everywhere(&writer, claim, claimed).await;
    let now = Millis(TODAY + HOUR);
    interrupt_everywhere(&writer, async || store.claim_mail(now, now).await, |_, _| true).await;
}

#[tokio::test]
async fn after_a_commit_that_is_refused_the_next_write_works_contract_5() {
    let (_folder, url) = folder();
    let (store, writer) = catalog(&url).await;
    let key = key_id("key_1");
    let mut connection = writer.acquire().await.unwrap();
    connection.lock_handle().await.unwrap().set_commit_hook(|| false);
    drop(connection);
    let failure = store.reserve_request(&key, MONTH, 10).await.unwrap_err();
    assert!(matches!(failure, CatalogError::CommitUnknown { .. }), "{failure}");
    // The connection was replaced, and the hook with it.
    let granted = store.reserve_request(&key, MONTH, 10).await.unwrap();
    assert_eq!(granted, ReserveOutcome::Granted { used: 1 });
}

#[tokio::test]
async fn a_reader_whose_transaction_sqlite_ended_does_not_go_on_seeing_the_past_contract_6() {
    let (_folder, url) = folder();
    let file = SqliteFile::open(&url, &DatabaseSettings::default()).await.unwrap();
    let readers = file.readers.clone();
    let database: Database = file.into();
    // All of them at once, and twice: the first time as after an error of the disk.
    for ended in [true, false] {
        let mut sessions = Vec::new();
        for _ in 0..readers.options().get_max_connections() {
            let mut session = database.begin(TransactionMode::Read).await.unwrap();
            if ended {
                session.connection().query("ROLLBACK").execute().await.unwrap();
            }
            let sql = "SELECT value, keys FROM revision";
            let _: (i64, i64) = session.connection().query(sql).fetch_one().await.unwrap();
            sessions.push(session);
        }
    }
    let store = open_catalog(&url).await;
    publish(&store, "cpi", "one", TODAY).await;
    let seen = Catalog::new(database);
    for _ in 0..readers.options().get_max_connections() {
        assert_eq!(seen.revision().await.unwrap(), 1);
        assert_eq!(seen.datasets().await.unwrap().len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_locked_file_is_waited_for_as_long_as_the_settings_say() {
    let (folder, url) = folder();
    let settings = DatabaseSettings { acquire_ms: 300, answer_ms: 900, ..Default::default() };
    let store = Catalog::new(SqliteFile::open(&url, &settings).await.unwrap());
    issue_key(&store, "key_1", Plan::Free).await;
    let key = key_id("key_1");
    let mut stranger = external_connection(&folder).await;
    let lock = stranger.begin_with("BEGIN IMMEDIATE").await.unwrap();
    let begun = Instant::now();
    let count = async || {
        let failure = store.reserve_request(&key, MONTH, 10).await.unwrap_err();
        assert!(failure.is_safe_to_retry(), "{failure}");
        begun.elapsed().as_millis()
    };
    // One has the connection and waits for the lock, the other one waits for the connection.
    let (one, other) = tokio::join!(count(), count());
    let (soon, late) = (one.min(other), one.max(other));
    assert!((300..900).contains(&soon) && (900..2_000).contains(&late), "{soon} {late}");
    assert!(store.check_writable().await.is_err(), "a server here is not ready");
    lock.rollback().await.unwrap();
    let granted = store.reserve_request(&key, MONTH, 10).await.unwrap();
    assert_eq!(granted, ReserveOutcome::Granted { used: 1 });
}
