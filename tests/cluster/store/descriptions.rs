//! Descriptions for readers of Iceberg in a bucket, distinguished: datasets of the same rows, and
//! two histories of one dataset. Never reads a manifest; `tests/external/iceberg` does.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Handle;
use yearbook_catalog::{Catalog, Retention};
use yearbook_domain::{DatasetName, Digest, Millis, Plan, SnapshotId};
use yearbook_iceberg::IcebergWriter;
use yearbook_publish::{
    DataPackage, GcSettings, ProgressReporter, Publisher, collect_garbage, finish_releases,
};
use yearbook_storage::{ObjectStorage, StorageSettings};
use yearbook_tests::app::{HostFixture, S3Server, TestApp, TestTable, harvest, unbounded};
use yearbook_workers::Workers;

const DAY: i64 = 86_400_000;

/// A service that describes what it publishes.
async fn describing(fixture: &HostFixture) -> TestApp {
    let mut settings = unbounded();
    settings.share.iceberg = true;
    TestApp::with_settings_on(fixture, settings).await
}

/// Answer of `loadTable` about a table.
async fn load_table(app: &TestApp, key: &str, namespace: &str, name: &str) -> Value {
    let path = format!("/share/iceberg/v1/namespaces/{namespace}/tables/{name}");
    let reply = app.get(&path).bearer(key).send().await;
    assert_eq!(reply.status, 200, "{path}: {}", reply.text());
    reply.json()
}

/// An object of the bucket by its address.
fn object(s3: &S3Server, address: &Value) -> Vec<u8> {
    let address = address.as_str().unwrap();
    let key = address.split_once(&format!("{}/", s3.url.trim_end_matches('/'))).unwrap().1;
    std::fs::read(s3.below().join(key)).unwrap_or_else(|failure| panic!("{address}: {failure}"))
}

/// Digests of the files of a dataset's retained versions, oldest first.
async fn files(app: &TestApp, name: &str) -> Vec<(SnapshotId, Digest)> {
    let versions = app.store.retained_versions(&DatasetName::parse(name).unwrap()).await.unwrap();
    versions.iter().map(|kept| (kept.snapshot.id, kept.snapshot.file.sha256)).collect()
}

/// Checks that an answer of `loadTable` tells the versions of a dataset and nothing else: their
/// ids, and manifests that lie beside their files and name them.
async fn check_described(s3: &S3Server, app: &TestApp, name: &str, loaded: &Value) {
    let files = files(app, name).await;
    let snapshots = loaded["metadata"]["snapshots"].as_array().unwrap();
    assert_eq!(snapshots.len(), files.len(), "{name}: {loaded}");
    for (told, (id, sha256)) in snapshots.iter().zip(&files) {
        assert_eq!(told["summary"]["yearbook.snapshot-id"], id.as_str(), "{name}");
        let folder = format!("/iceberg/{sha256}/");
        let list = &told["manifest-list"];
        assert!(list.as_str().unwrap().contains(&folder), "{name}: {told}");
        assert!(contains(&object(s3, list), &folder), "{name}: the list names another manifest");
        let manifest = json!(list.as_str().unwrap().replace(".snapshot.avro", ".manifest.avro"));
        // Where readers may read it, and not where it waited.
        let file = format!("/snapshots/{sha256}.parquet");
        assert!(contains(&object(s3, &manifest), &file), "{name}: another file");
    }
    let (_, newest) = files.last().unwrap();
    let location = loaded["metadata-location"].as_str().unwrap();
    assert!(location.contains(&format!("/iceberg/{newest}/")), "{name}: {location}");
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

fn rows(value: &str) -> TestTable {
    harvest().with_rows(&format!("date,region,value,final\n2020-01-01,Auckland,{value},true\n"))
}

/// True where the bucket has objects that describe a file.
fn is_described(s3: &S3Server, sha256: &Digest) -> bool {
    let folder = std::fs::read_dir(s3.below().join("iceberg").join(sha256.as_str()));
    folder.into_iter().flatten().next().is_some()
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_of_the_same_rows_share_no_description_contract_12() {
    let s3 = S3Server::start().await;
    let fixture = HostFixture::with_s3(&s3, StorageSettings::default());
    let app = describing(&fixture).await;
    let key = app.key(Plan::Enterprise).await;
    let now = yearbook_catalog::clock::now().0;
    let days_ago = |days: i64| Millis(now - days * DAY);
    // The same rows as version 0 of four tables: another name, namespace or word each.
    let described = |table: TestTable| table.with("/description", json!("In another word."));
    let tables = [
        ("farms", "harvest", harvest()),
        ("farms", "crop", harvest().named("crop")),
        ("fields", "yield", harvest().named("yield").with("/yearbook/namespace", json!("fields"))),
        ("farms", "words", described(harvest().named("words"))),
    ];
    for (_, _, table) in &tables {
        app.publish_at(table, days_ago(90)).await;
    }
    let mut seen = HashSet::new();
    for (namespace, name, _) in &tables {
        let loaded = load_table(&app, &key, namespace, name).await;
        check_described(&s3, &app, name, &loaded).await;
        for told in [&loaded["metadata"]["table-uuid"], &loaded["metadata-location"]] {
            assert!(seen.insert(told.to_string()), "{name} shares {told}");
        }
        let (_, sha256) = files(&app, name).await[0];
        assert!(seen.insert(sha256.to_string()), "{name} shares its file");
    }
    // The same rows once more as version 1 of two tables, in other words.
    for name in ["harvest", "crop"] {
        app.publish_at(&described(harvest().named(name)), days_ago(60)).await;
    }
    let (_, dropped) = files(&app, "crop").await[0];
    app.publish_at(&rows("1.5").named("crop"), days_ago(0)).await;
    // Retention drops version 0 of both, and the file goes with what describes it.
    assert!(is_described(&s3, &dropped));
    let retention = Retention { snapshots: 1, hours: 0, history: true };
    for _ in 0..2 {
        // What was let go an instant ago is too young, however short the age.
        tokio::time::sleep(Duration::from_millis(5)).await;
        let settings = GcSettings { retention, unnamed_for: Duration::ZERO, dry_run: false };
        collect_garbage(&app.store, &app.files, settings).await.unwrap();
    }
    assert!(!is_described(&s3, &dropped), "gc took it");
    let retired = app.store.retire_dataset(&DatasetName::parse("words").unwrap()).await.unwrap();
    assert!(retired);
    // As a host tells it that has nothing in memory.
    let fresh = describing(&fixture).await;
    for (namespace, name) in [("farms", "harvest"), ("farms", "crop"), ("fields", "yield")] {
        let loaded = load_table(&fresh, &key, namespace, name).await;
        check_described(&s3, &fresh, name, &loaded).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restored_catalog_describes_its_own_history_contract_12() {
    let s3 = S3Server::start().await;
    let first = describing(&HostFixture::with_s3(&s3, StorageSettings::default())).await;
    for table in [harvest(), rows("1.5"), rows("2.5")] {
        first.publish(&table).await;
    }
    let lost = files(&first, "harvest").await;
    // A catalog as it was before version 1, on a bucket that has all three.
    let app = describing(&HostFixture::with_s3(&s3, StorageSettings::default())).await;
    let key = app.key(Plan::Enterprise).await;
    for table in [harvest(), rows("3.5")] {
        app.publish(&table).await;
    }
    let loaded = load_table(&app, &key, "farms", "harvest").await;
    check_described(&s3, &app, "harvest", &loaded).await;
    // The same version of the same file as before, after another version 1.
    app.publish(&rows("2.5")).await;
    let found = files(&app, "harvest").await;
    assert_eq!((found[0], found[2]), (lost[0], lost[2]), "the same files");
    assert_ne!(found[1], lost[1]);
    let loaded = load_table(&app, &key, "farms", "harvest").await;
    check_described(&s3, &app, "harvest", &loaded).await;
    let parents = &loaded["metadata"]["snapshots"];
    assert_eq!(
        (&parents[1]["parent-snapshot-id"], &parents[2]["parent-snapshot-id"]),
        (&json!(1), &json!(2))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_release_is_described_once_it_is_visible_contract_21() {
    let s3 = S3Server::start().await;
    let fixture = HostFixture::with_s3(&s3, StorageSettings::default());
    let app = describing(&fixture).await;
    let key = app.key(Plan::Enterprise).await;
    app.publish(&harvest()).await;
    let now = app.store.database_time().await.unwrap();
    let at = Millis(now.0 + 2_500).whole_second();
    let id = app.release(&rows("9.5"), at).await;
    let described = async || load_table(&app, &key, "farms", "harvest").await;
    let before = described().await;
    let waiting = std::fs::read_dir(s3.below().join("waiting")).unwrap();
    for file in waiting {
        let name = file.unwrap().file_name().into_string().unwrap();
        let (sha256, _) = name.split_once('.').unwrap();
        assert!(!is_described(&s3, &Digest::parse(sha256).unwrap()), "{name}");
    }
    while app.catalog_cache.dataset("harvest").unwrap().current.id.as_str() != id {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let writer = IcebergWriter::new(Arc::clone(&app.store), &app.files, Workers::new(1)).unwrap();
    let moved = finish_releases(&app.store, &app.files, Some(&writer)).await.unwrap();
    assert!(moved >= 1);
    app.catalog_cache.refresh().await.unwrap();
    let after = described().await;
    assert_ne!(before["metadata-location"], after["metadata-location"]);
    check_described(&s3, &app, "harvest", &after).await;
}

/// Releases `table`, and waits until it is visible.
async fn release_now(app: &TestApp, table: &TestTable) {
    let now = app.store.database_time().await.unwrap();
    let id = app.release(table, Millis(now.0 + 2_500).whole_second()).await;
    while app.catalog_cache.dataset("harvest").unwrap().current.id.as_str() != id {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_release_is_described_whoever_moved_its_files_contract_21() {
    let s3 = S3Server::start().await;
    let fixture = HostFixture::with_s3(&s3, StorageSettings::default());
    let app = describing(&fixture).await;
    let key = app.key(Plan::Enterprise).await;
    app.publish(&harvest()).await;
    let writer = IcebergWriter::new(Arc::clone(&app.store), &app.files, Workers::new(1)).unwrap();
    // New rows, whose files another one moves, and then the first ones again: nothing is to move.
    for table in [rows("9.5"), harvest()] {
        release_now(&app, &table).await;
        finish_releases(&app.store, &app.files, None).await.unwrap();
        finish_releases(&app.store, &app.files, Some(&writer)).await.unwrap();
        app.catalog_cache.refresh().await.unwrap();
        let loaded = load_table(&app, &key, "farms", "harvest").await;
        check_described(&s3, &app, "harvest", &loaded).await;
    }
}

/// Makes a release visible as soon as a table is read.
struct ReleaseMeanwhile {
    store: Arc<Catalog>,
    at: Millis,
}

impl ProgressReporter for ReleaseMeanwhile {
    fn stage(&self, _name: &str, _total: Option<u64>) {
        let settle = async {
            while self.store.database_time().await.unwrap() < self.at {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            self.store.settle_due_releases().await.unwrap();
        };
        tokio::task::block_in_place(|| Handle::current().block_on(settle));
    }

    fn advance(&self, _by: u64) {}
}

#[tokio::test(flavor = "multi_thread")]
async fn a_release_that_becomes_visible_during_a_publish_is_described_contract_21() {
    let s3 = S3Server::start().await;
    let fixture = HostFixture::with_s3(&s3, StorageSettings::default());
    let app = describing(&fixture).await;
    let key = app.key(Plan::Enterprise).await;
    app.publish(&harvest()).await;
    let now = app.store.database_time().await.unwrap();
    let at = Millis(now.0 + 9_000).whole_second();
    let released = app.release(&rows("9.5"), at).await;
    let (store, workers) = (Arc::clone(&app.store), Workers::new(2));
    let writer = IcebergWriter::new(Arc::clone(&store), &app.files, Arc::clone(&workers)).unwrap();
    let publisher = Publisher::new(Arc::clone(&store), &app.files, workers, Retention::default())
        .with_iceberg(writer);
    let folder = TempDir::new().unwrap();
    let package = DataPackage::open(&rows("10.5").write(folder.path())).unwrap();
    assert!(app.store.database_time().await.unwrap() < at, "it waits");
    let meanwhile = ReleaseMeanwhile { store, at };
    Box::pin(publisher.publish(&package, &meanwhile)).await.unwrap();
    let found = files(&app, "harvest").await;
    assert_eq!((found.len(), found[1].0.to_string()), (3, released));
    app.catalog_cache.refresh().await.unwrap();
    let loaded = load_table(&app, &key, "farms", "harvest").await;
    check_described(&s3, &app, "harvest", &loaded).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn credentials_that_reach_what_waits_are_refused_contract_21() {
    let s3 = S3Server::start().await;
    let open = |secret: Option<&str>| {
        let mut variables = s3.variables();
        if let Some(secret) = secret {
            let own = variables.iter_mut().find(|(name, _)| name == "AWS_SECRET_ACCESS_KEY");
            own.unwrap().1 = secret.to_owned();
        }
        ObjectStorage::open_with(&s3.url, &StorageSettings::default(), &variables).unwrap()
    };
    let files = open(None);
    assert!(files.waiting_is_readable_by(&open(None)).await.unwrap());
    assert!(!files.waiting_is_readable_by(&open(Some("of nobody"))).await.unwrap());
}
