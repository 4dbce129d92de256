//! Rules of SQLite alone: its file is opened, shared, migrated and killed.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection};
use tempfile::TempDir;
use yearbook_domain::{Millis, Plan};

use super::SqliteFile;

mod faults;

use crate::queries::unreferenced::IS_REFERENCED;
use crate::suite::changes::following;
use crate::suite::fixtures::{
    DAY, TODAY, commit, issue_key, key_id, name, publication, publish, snapshot_id,
};
use crate::{
    Catalog, CatalogError, DatabaseSettings, NewSignupLink, QueueOutcome, QueuedMail,
    ReserveOutcome, Retention, SignupBounds, sqlite_url,
};

fn folder() -> (TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let url = sqlite_url(&folder.path().join("catalogue.db"));
    (folder, url)
}

async fn open_catalog(url: &str) -> Catalog {
    Catalog::new(SqliteFile::open(url, &DatabaseSettings::default()).await.unwrap())
}

/// A connection of somebody else's.
async fn external_connection(folder: &TempDir) -> SqliteConnection {
    SqliteConnectOptions::new()
        .filename(folder.path().join("catalogue.db"))
        .connect()
        .await
        .unwrap()
}

#[tokio::test]
async fn every_connection_has_the_settings_that_sharing_and_durability_need() {
    let (_folder, url) = folder();
    let store = SqliteFile::open(&url, &DatabaseSettings::default()).await.unwrap();
    for (pool, query_only) in [(&store.readers, 1), (&store.writer, 0)] {
        for (pragma, expected) in [
            ("PRAGMA synchronous", 2),
            ("PRAGMA foreign_keys", 1),
            ("PRAGMA busy_timeout", 5_000),
            ("PRAGMA query_only", query_only),
        ] {
            let value: i64 = sqlx::query_scalar(pragma).fetch_one(pool).await.unwrap();
            assert_eq!(value, expected, "{pragma}");
        }
        let mode: String = sqlx::query_scalar("PRAGMA journal_mode").fetch_one(pool).await.unwrap();
        assert_eq!(mode, "wal");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_processes_may_make_the_catalogue_at_the_same_time() {
    let (_folder, url) = folder();
    let mut opening = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let url = url.clone();
        opening.spawn(async move { open_catalog(&url).await.revision().await.unwrap() });
    }
    assert_eq!(opening.join_all().await, [0; 8]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_waits_for_another_process_and_a_read_does_not() {
    let (folder, url) = folder();
    let store = open_catalog(&url).await;
    issue_key(&store, "key_1", Plan::Free).await;
    let mut stranger = external_connection(&folder).await;
    let lock = stranger.begin_with("BEGIN IMMEDIATE").await.unwrap();
    let begun = Instant::now();
    let key = key_id("key_1");
    let waiting = store.reserve_request(&key, "2026-11", 10);
    let holding = async {
        assert_eq!(store.used_requests(&key_id("key_1"), "2026-11").await.unwrap(), 0);
        assert!(begun.elapsed() < Duration::from_millis(250), "a read waited");
        tokio::time::sleep(Duration::from_millis(300)).await;
        lock.rollback().await.unwrap();
    };
    let (reserved, ()) = tokio::join!(waiting, holding);
    assert_eq!(reserved.unwrap(), ReserveOutcome::Granted { used: 1 });
    assert!(begun.elapsed() >= Duration::from_millis(300));
}

#[tokio::test]
async fn a_mail_is_queued_without_a_look_at_accounts_contract_10() {
    let (folder, url) = folder();
    let store = open_catalog(&url).await;
    let rename = "ALTER TABLE accounts RENAME TO hidden";
    sqlx::raw_sql(rename).execute(&mut external_connection(&folder).await).await.unwrap();
    let at = Millis(TODAY);
    let link = NewSignupLink { hash: [1; 32], address: [2; 32], network: [3; 32], at };
    let mail = QueuedMail {
        id: "mail_1".to_owned(),
        address: link.address,
        sealed: vec![4],
        created_at: at,
        expires_at: Millis(TODAY + 1),
        attempts: 0,
    };
    let bounds = SignupBounds { per_address: 1, per_network: 1, in_all: 1 };
    let outcome = store.queue_mail(&link, &mail, bounds).await.unwrap();
    assert_eq!(outcome, QueueOutcome::Queued, "nothing tells a known address from another");
    assert!(store.account(&link.address, at).await.is_err());
}

#[tokio::test]
async fn every_migration_in_the_folder_is_built_in() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../migrations/sqlite");
    let mut files: Vec<i64> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            entry.unwrap().file_name().to_string_lossy().split('_').next().unwrap().parse().unwrap()
        })
        .collect();
    files.sort_unstable();
    let built_in: Vec<i64> =
        crate::migrations::sqlite_migrator().iter().map(|migration| migration.version).collect();
    assert_eq!(files, built_in, "touch host/catalog/src/migrations.rs after adding a migration");
}

#[tokio::test]
async fn an_older_host_works_on_a_catalogue_that_a_newer_one_has_expanded() {
    let (folder, url) = folder();
    let store = open_catalog(&url).await;
    publish(&store, "cpi", "one", TODAY).await;
    assert_eq!(store.datasets().await.unwrap().len(), 1);
    let newer = "
        ALTER TABLE snapshots ADD COLUMN colour TEXT;
        ALTER TABLE keys ADD COLUMN colour TEXT NOT NULL DEFAULT 'blue';
        INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) VALUES (9999, 'newer', 1, x'00', 0);";
    sqlx::raw_sql(newer).execute(&mut external_connection(&folder).await).await.unwrap();
    // Running, and started again.
    for host in [store, open_catalog(&url).await] {
        publish(&host, "cpi", "two", TODAY + 1).await;
        assert_eq!(host.datasets().await.unwrap()[0].current.id, snapshot_id("two"));
        assert!(host.snapshot(&name("cpi"), &snapshot_id("one")).await.unwrap().is_some());
    }
}

#[tokio::test]
async fn a_catalogue_whose_migrations_were_altered_is_refused() {
    let (folder, url) = folder();
    open_catalog(&url).await.close().await;
    sqlx::raw_sql("UPDATE _sqlx_migrations SET checksum = x'00'")
        .execute(&mut external_connection(&folder).await)
        .await
        .unwrap();
    let failure = SqliteFile::open(&url, &DatabaseSettings::default()).await.err().unwrap();
    assert!(matches!(failure, CatalogError::Migrate { .. }), "{failure}");
    assert!(failure.to_string().contains("catalogue.db"), "{failure}");
}

#[tokio::test]
async fn a_value_that_makes_no_sense_is_named_with_its_place() {
    let (folder, url) = folder();
    let store = open_catalog(&url).await;
    publish(&store, "cpi", "one", TODAY).await;
    let damage = "UPDATE columns SET role = 'colour' WHERE name = 'region'";
    sqlx::raw_sql(damage).execute(&mut external_connection(&folder).await).await.unwrap();
    let message = store.datasets().await.unwrap_err().to_string();
    for part in [
        "catalogue.db",
        "list datasets",
        "columns.role",
        &format!("region in dataset cpi, snapshot {}", snapshot_id("one")),
        "colour",
    ] {
        assert!(message.contains(part), "{part}: {message}");
    }
}

#[tokio::test]
async fn a_check_finds_what_does_not_belong() {
    let (folder, url) = folder();
    let store = open_catalog(&url).await;
    publish(&store, "cpi", "one", TODAY).await;
    assert_eq!(store.check_integrity().await.unwrap(), Vec::<String>::new());
    let damage = "
        PRAGMA foreign_keys = OFF;
        INSERT INTO usage (key_id, month, used) VALUES ('nobody', '2026-11', 1);
        PRAGMA ignore_check_constraints = ON;
        UPDATE snapshots SET bulk_redistribution = 7;";
    sqlx::raw_sql(damage).execute(&mut external_connection(&folder).await).await.unwrap();
    let problems = store.check_integrity().await.unwrap();
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert!(problems[0].contains("snapshots"), "{problems:?}");
    assert!(problems[1].contains("usage") && problems[1].contains("keys"), "{problems:?}");
}

/// Publishes without end into the catalog whose address stands on standard input. Does nothing by
/// itself: the test below runs it in a process of its own.
#[tokio::test]
#[ignore = "the other half of killing_a_publisher_at_any_moment_leaves_a_whole_catalogue"]
async fn publisher_to_be_killed() {
    let mut url = String::new();
    std::io::stdin().read_line(&mut url).unwrap();
    if url.trim().is_empty() {
        return;
    }
    let store = open_catalog(url.trim()).await;
    let begun = store.revision().await.unwrap();
    println!("publishing");
    for index in begun.. {
        publish(&store, "cpi", &format!("s{index}"), TODAY + index).await;
    }
}

#[tokio::test]
async fn killing_a_publisher_at_any_moment_leaves_a_whole_catalogue() {
    let (_folder, url) = folder();
    let server = open_catalog(&url).await;
    publish(&server, "cpi", "first", TODAY).await;
    let mut seen = server.revision().await.unwrap();
    for delay in [1, 7, 23, 40, 61] {
        let mut publisher = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "sqlite::tests::publisher_to_be_killed", "--ignored", "--nocapture"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        writeln!(publisher.stdin.take().unwrap(), "{url}").unwrap();
        let mut lines = BufReader::new(publisher.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap().contains("publishing")), "the publisher began");
        while server.revision().await.unwrap() == seen {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        tokio::time::sleep(Duration::from_millis(delay)).await;
        publisher.kill().unwrap();
        publisher.wait().unwrap();

        seen = server.revision().await.unwrap();
        let dataset = server.datasets().await.unwrap().remove(0);
        // One revision a commit, and every commit has all its parts.
        assert_eq!(i64::try_from(dataset.snapshots.len()).unwrap(), seen);
        assert_eq!(dataset.current.columns.len(), 7);
        let versions = dataset.snapshots.iter().map(|summary| summary.version);
        assert!(versions.eq(0..dataset.snapshots.len() as u64), "dense, whatever was killed");
        assert_eq!(dataset.current.id, snapshot_id(&format!("s{}", seen - 1)));
        let fresh = open_catalog(&url).await;
        assert_eq!(fresh.datasets().await.unwrap()[0].current, dataset.current);
    }
}

#[tokio::test]
async fn changes_outside_of_a_range_are_not_read_contract_12() {
    let (folder, url) = folder();
    let store = open_catalog(&url).await;
    commit(&store, &publication("cpi", "a", TODAY), Retention::default()).await.unwrap();
    for (index, (from, to)) in (1..).zip([("a", "b"), ("b", "c"), ("c", "d"), ("d", "e")]) {
        let at = TODAY + index * DAY;
        commit(&store, &following(from, to, at), Retention::default()).await.unwrap();
    }
    // A read of the changes of version 1 or 4 fails.
    let damage = "UPDATE changes SET columns = 'none' WHERE version IN (1, 4)";
    sqlx::raw_sql(damage).execute(&mut external_connection(&folder).await).await.unwrap();
    for (versions, readable) in [(2..=3, true), (3..=3, true), (1..=2, false), (3..=4, false)] {
        let found = store.change_range(&name("cpi"), versions.clone(), 4).await;
        assert_eq!(found.is_ok(), readable, "{versions:?}: {found:?}");
    }
    let plan: Vec<(i64, i64, i64, String)> = sqlx::query_as(
        "EXPLAIN QUERY PLAN SELECT * FROM changes WHERE dataset = 'cpi' AND version >= 2 AND version <= 3 ORDER BY version",
    )
    .fetch_all(&mut external_connection(&folder).await)
    .await
    .unwrap();
    let steps: Vec<&str> = plan.iter().map(|(_, _, _, step)| step.as_str()).collect();
    assert!(steps.len() == 1 && steps[0].contains("changes_by_version"), "{steps:?}");
}

#[tokio::test]
async fn rows_that_name_a_file_are_found_by_indexes() {
    let (folder, url) = folder();
    open_catalog(&url).await;
    let plan: Vec<(i64, i64, i64, String)> =
        sqlx::query_as(AssertSqlSafe(format!("EXPLAIN QUERY PLAN {IS_REFERENCED}")))
            .bind("snapshot")
            .bind("none")
            .fetch_all(&mut external_connection(&folder).await)
            .await
            .unwrap();
    let steps: Vec<&str> = plan.iter().map(|(_, _, _, step)| step.as_str()).collect();
    // The others have few rows.
    for table in ["snapshots", "changes", "past_versions", "past_changes"] {
        let search = format!("SEARCH {table} USING COVERING INDEX {table}_by_file");
        assert!(steps.iter().any(|step| step.starts_with(&search)), "{table}: {steps:?}");
    }
}
