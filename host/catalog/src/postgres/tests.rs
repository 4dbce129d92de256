//! Rules of PostgreSQL alone. Runs where `YEARBOOK_TEST_POSTGRES` is the address of a server
//! to make schemas on, as `cargo xtask test` sets it, and requires it; skipped, saying so, where it
//! is not.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::disallowed_methods, reason = "variables name the servers of the test run")]

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, Connection, PgConnection};
use tokio::sync::watch;
use yearbook_domain::{Millis, Plan, PlanTable};
use yearbook_prerequisites::Prerequisite;

use crate::suite::fixtures::{TODAY, caller, issue_key, key_id, publish, snapshot_id};
use crate::{
    Catalog, CatalogCache, CatalogError, DatabaseSettings, KeyVerifier, Quota, ReserveOutcome, key,
    open,
};

const TWO_SECONDS: Duration = Duration::from_secs(2);

/// Variable with the address of a server for tests.
const VARIABLE: &str = "YEARBOOK_TEST_POSTGRES";

/// A schema for one test; the first host makes it.
#[derive(Clone)]
pub(crate) struct TestSchema(String);

impl TestSchema {
    /// None where there is no server and none is required.
    pub(crate) fn new() -> Option<Self> {
        let server = Prerequisite::Postgres.or_skip(
            std::env::var(VARIABLE).ok(),
            format!("{VARIABLE} names no PostgreSQL server"),
        )?;
        let mut random = [0; 8];
        getrandom::fill(&mut random).unwrap();
        let and = if server.contains('?') { '&' } else { '?' };
        Some(Self(format!(
            "{server}{and}options[search_path]=test_{:016x}",
            u64::from_ne_bytes(random)
        )))
    }

    /// Another host's store in the schema.
    pub(crate) async fn store(&self) -> Arc<Catalog> {
        open(&self.0, &DatabaseSettings { connections: 4, ..DatabaseSettings::default() })
            .await
            .unwrap()
    }

    /// A connection of somebody else's.
    async fn external_connection(&self) -> PgConnection {
        self.0.parse::<PgConnectOptions>().unwrap().connect().await.unwrap()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_hosts_may_make_the_catalogue_at_the_same_time() {
    let Some(schema) = TestSchema::new() else { return };
    let mut opening = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let schema = schema.clone();
        opening.spawn(async move { schema.store().await.revision().await.unwrap() });
    }
    assert_eq!(opening.join_all().await, [0; 8]);
}

#[test]
fn both_databases_have_the_same_migrations() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../migrations");
    let names = |database: &str| {
        let entries = std::fs::read_dir(folder.join(database)).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort_unstable();
        names
    };
    assert_eq!(names("postgres"), names("sqlite"));
    let built_in = crate::migrations::postgres_migrator().iter().count();
    assert_eq!(
        built_in,
        names("postgres").len(),
        "touch host/catalog/src/migrations.rs after adding a migration"
    );
}

#[tokio::test]
async fn an_older_host_works_on_an_expanded_catalogue_and_not_on_a_contracted_one() {
    let Some(schema) = TestSchema::new() else { return };
    let store = schema.store().await;
    let newer = "
        ALTER TABLE snapshots ADD COLUMN colour TEXT;
        INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) VALUES (9999, 'newer', TRUE, '', 0);";
    sqlx::raw_sql(newer).execute(&mut schema.external_connection().await).await.unwrap();
    for host in [store, schema.store().await] {
        publish(&host, "cpi", "two", TODAY + 1).await;
        assert_eq!(host.datasets().await.unwrap()[0].current.id, snapshot_id("two"));
    }
    sqlx::raw_sql("UPDATE revision SET least_migration = 9999")
        .execute(&mut schema.external_connection().await)
        .await
        .unwrap();
    let failure = open(&schema.0, &DatabaseSettings::default()).await.err().unwrap();
    assert!(matches!(failure, CatalogError::TooNew { least: 9999, .. }), "{failure}");
    assert!(failure.to_string().contains("run a newer version"), "{failure}");
}

#[tokio::test]
async fn what_others_commit_is_told_and_usage_is_not() {
    let Some(schema) = TestSchema::new() else { return };
    let (server, operator) = (schema.store().await, schema.store().await);
    issue_key(&operator, "key_1", Plan::Free).await;
    let mut moves = server.change_notifications().unwrap();
    let told = async |moves: &mut watch::Receiver<()>| {
        tokio::time::timeout(TWO_SECONDS / 4, moves.changed()).await.is_ok()
    };
    let mut publishes = 0;
    // Listening begins beside everything else.
    while !told(&mut moves).await {
        publishes += 1;
        assert!(publishes < 20, "nobody tells");
        publish(&operator, "cpi", &format!("s{publishes}"), TODAY + publishes).await;
    }
    while told(&mut moves).await {}
    operator.reserve_request(&key_id("key_1"), "2026-11", 10).await.unwrap();
    assert!(!told(&mut moves).await, "no host has to look");
    operator.revoke_key(&key_id("key_1"), Millis(TODAY)).await.unwrap();
    assert!(told(&mut moves).await);
}

#[tokio::test]
async fn a_statement_that_waits_too_long_is_given_up_and_costs_its_connection_alone() {
    let Some(schema) = TestSchema::new() else { return };
    let settings =
        DatabaseSettings { connections: 1, answer_ms: 300, ..DatabaseSettings::default() };
    let store = open(&schema.0, &settings).await.unwrap();
    issue_key(&store, "key_1", Plan::Free).await;
    let mut stranger = schema.external_connection().await;
    let mut lock = stranger.begin().await.unwrap();
    sqlx::raw_sql("LOCK TABLE usage IN ACCESS EXCLUSIVE MODE").execute(&mut *lock).await.unwrap();
    let begun = Instant::now();
    let failure = store.reserve_request(&key_id("key_1"), "2026-11", 10).await.unwrap_err();
    assert!(begun.elapsed() < TWO_SECONDS && failure.is_safe_to_retry(), "{failure}");
    lock.rollback().await.unwrap();
    store.revision().await.unwrap();
    assert_eq!(
        store.reserve_request(&key_id("key_1"), "2026-11", 10).await.unwrap(),
        ReserveOutcome::Granted { used: 1 }
    );
}

#[tokio::test]
async fn a_flood_of_unknown_keys_leaves_connections_to_limited_keys_contract_5() {
    let Some(schema) = TestSchema::new() else { return };
    let settings = DatabaseSettings { connections: 4, ..DatabaseSettings::default() };
    let store = open(&schema.0, &settings).await.unwrap();
    issue_key(&store, "key_1", Plan::Free).await;
    let live = CatalogCache::start(Arc::clone(&store), CatalogCache::POLL_INTERVAL).await.unwrap();
    let ring =
        Arc::new(KeyVerifier::new(Arc::clone(&store), live, &settings, PlanTable::default()));
    let meter = Quota::new(Arc::clone(&store));
    let reserve = async || meter.reserve(&caller("key_1", Plan::Free)).await.unwrap().commit();
    reserve().await;
    // Every lookup of a key takes as long as a statement may take; counting requests needs no lock
    // on that table.
    let mut stranger = schema.external_connection().await;
    let mut lock = stranger.begin().await.unwrap();
    sqlx::raw_sql("LOCK TABLE keys IN ACCESS EXCLUSIVE MODE").execute(&mut *lock).await.unwrap();
    let mut flood = tokio::task::JoinSet::new();
    for _ in 0..200 {
        let (ring, (unknown, _)) = (Arc::clone(&ring), key::issue().unwrap());
        flood.spawn(async move { ring.check(unknown.expose()).await });
    }
    // Longer than anybody waits for a connection: a caller that takes all of them is noticed.
    for _ in 0..6 {
        tokio::time::sleep(Duration::from_millis(250)).await;
        reserve().await;
    }
    lock.rollback().await.unwrap();
    let outcomes = flood.join_all().await;
    let overloaded = outcomes
        .iter()
        .filter(|outcome| outcome.as_ref().is_err_and(CatalogError::is_overload))
        .count();
    assert!(overloaded >= 190, "{overloaded} of 200 gave up waiting for their turn");
    assert_eq!(
        store.used_requests(&key_id("key_1"), &crate::clock::now().month()).await.unwrap(),
        7
    );
}

#[tokio::test]
async fn a_server_that_cannot_be_reached_is_named_without_its_password() {
    // Nothing listens on the discard port of a test machine.
    let url = "postgres://ann:hunter2@127.0.0.1:9/yearbook";
    let begun = Instant::now();
    let message = open(url, &DatabaseSettings::default()).await.err().unwrap().to_string();
    assert!(begun.elapsed() < TWO_SECONDS);
    assert!(
        message.contains("127.0.0.1:9/yearbook")
            && message.contains("Check that PostgreSQL runs there"),
        "{message}"
    );
    assert!(!message.contains("hunter2"), "{message}");
}

#[tokio::test]
async fn a_check_finds_what_does_not_belong() {
    let Some(schema) = TestSchema::new() else { return };
    let store = schema.store().await;
    assert_eq!(store.check_integrity().await.unwrap(), Vec::<String>::new());
    // The first version of a dataset waits, or was withdrawn.
    let waits = "INSERT INTO datasets (name, namespace, checked_at) VALUES ('lost', 'prices', 1)";
    let mut connection = schema.external_connection().await;
    sqlx::raw_sql(waits).execute(&mut connection).await.unwrap();
    assert_eq!(store.check_integrity().await.unwrap(), Vec::<String>::new());
    let damage = "UPDATE datasets SET versions = 1 WHERE name = 'lost'";
    sqlx::raw_sql(damage).execute(&mut connection).await.unwrap();
    assert_eq!(store.check_integrity().await.unwrap(), ["a dataset has no snapshot"]);
}

#[tokio::test]
async fn tls_is_spoken_and_certificates_are_checked() {
    let url = std::env::var("YEARBOOK_TEST_POSTGRES_TLS").ok();
    let Some(url) = Prerequisite::Postgres
        .or_skip(url, "YEARBOOK_TEST_POSTGRES_TLS names no PostgreSQL server")
    else {
        return;
    };
    let (address, authority) = url.split_once("verify-full&sslrootcert=").unwrap();
    let schema = |mode: &str| format!("{address}{mode}&options[search_path]=by_tls");
    let of = |url: String| async move { open(&url, &DatabaseSettings::default()).await };
    for mode in [
        "require".to_owned(),
        format!("verify-ca&sslrootcert={authority}"),
        format!("verify-full&sslrootcert={authority}"),
    ] {
        let store = of(schema(&mode)).await.unwrap();
        assert_eq!(store.revision().await.unwrap(), 0, "{mode}");
        let mut stranger =
            schema(&mode).parse::<PgConnectOptions>().unwrap().connect().await.unwrap();
        let encrypted =
            sqlx::query_scalar("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()")
                .fetch_one(&mut stranger)
                .await;
        assert!(encrypted.is_ok_and(|yes: bool| yes), "{mode}");
        store.close().await;
    }
    // Nobody whom we trust has signed it; and it is not the certificate of that name.
    let elsewhere =
        schema(&format!("verify-full&sslrootcert={authority}")).replace("@localhost", "@127.0.0.1");
    for url in [schema("verify-full"), elsewhere] {
        let message = of(url).await.err().unwrap().to_string();
        assert!(message.contains("certificate") && !message.contains("yearbook:"), "{message}");
    }
}
