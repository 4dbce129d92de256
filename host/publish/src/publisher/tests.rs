//! Publishers of one dataset that meet: each waits within its own publication until the other has
//! committed.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use tempfile::TempDir;
use yearbook_catalog::{DatabaseSettings, open, sqlite_url};
use yearbook_domain::SnapshotId;

use super::*;
use crate::progress::SilentReporter;

/// Time that a publication waits for another before the test has failed.
const PATIENCE: Duration = Duration::from_secs(60);

struct Shared {
    folder: TempDir,
    store: Arc<Catalog>,
    files: ObjectStorage,
}

impl Shared {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store =
            open(&sqlite_url(&folder.path().join("catalogue.db")), &DatabaseSettings::default())
                .await
                .unwrap();
        let files = ObjectStorage::open(&format!("file:{}", folder.path().join("store").display()))
            .unwrap();
        Self { folder, store, files }
    }

    fn publisher(&self) -> Publisher {
        Publisher::new(Arc::clone(&self.store), &self.files, Workers::new(1), Retention::default())
    }

    /// A package whose only row says `value`.
    fn package(&self, value: u32) -> DataPackage {
        let folder = self.folder.path().join(format!("package {value}"));
        write(&folder, value);
        DataPackage::open(&folder).unwrap()
    }

    async fn publish(&self, value: u32) -> PublishResult {
        Box::pin(self.publisher().publish(&self.package(value), &SilentReporter)).await.unwrap()
    }

    async fn history(&self) -> Vec<(SnapshotId, SnapshotId)> {
        let changes = self.store.changes(&DatasetName::parse("met").unwrap()).await.unwrap();
        changes.into_iter().map(|set| (set.from, set.to)).collect()
    }
}

fn write(folder: &Path, value: u32) {
    std::fs::create_dir_all(folder).unwrap();
    std::fs::write(folder.join("met.csv"), format!("id,value\n1,{value}\n")).unwrap();
    let descriptor = r#"{
        "name": "met", "licenses": [{"name": "CC-BY-4.0"}], "sources": [{"title": "Stats NZ"}], "yearbook": {"namespace": "tests"},
        "resources": [{"path": "met.csv", "schema": {"primaryKey": ["id"],
            "fields": [{"name": "id", "type": "integer"}, {"name": "value", "type": "integer"}]}}]
    }"#;
    std::fs::write(folder.join("datapackage.json"), descriptor).unwrap();
}

/// Says that a package is compared from now on with what was found to be current, and waits for
/// leave to go on; once each for as many publications as there are leaves.
struct Gate {
    reached: Sender<()>,
    leave: Mutex<Receiver<()>>,
}

impl ProgressReporter for Gate {
    fn stage(&self, name: &str, _total: Option<u64>) {
        if name == "identifying" {
            self.reached.send(()).unwrap();
            self.leave.lock().unwrap().recv_timeout(PATIENCE).unwrap();
        }
    }

    fn advance(&self, _by: u64) {}
}

/// Publishes `slow`; each time it has found what is current, one of `fast` is published before it
/// goes on.
async fn interleaved(
    shared: &Shared,
    slow: u32,
    fast: &[u32],
) -> Result<PublishResult, PublishFailure> {
    let ((reached, is_reached), (leave, is_left)) = (channel(), channel());
    let (publisher, package) = (shared.publisher(), shared.package(slow));
    let gate = Gate { reached, leave: Mutex::new(is_left) };
    let publishing =
        tokio::spawn(async move { Box::pin(publisher.publish(&package, &gate)).await });
    let mut fast = fast.iter();
    let mut reached = Some(is_reached);
    while let Some(is_reached) = reached.take() {
        let next = tokio::task::spawn_blocking(move || {
            is_reached.recv_timeout(PATIENCE).ok().map(|()| is_reached)
        });
        reached = next.await.unwrap();
        if reached.is_some() {
            if let Some(value) = fast.next() {
                shared.publish(*value).await;
            }
            leave.send(()).unwrap();
        }
    }
    publishing.await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_publisher_that_was_overtaken_compares_again_and_leaves_no_gap() {
    let shared = Shared::new().await;
    let a = shared.publish(1).await.publication.snapshot.id;
    let c = interleaved(&shared, 3, &[2]).await.unwrap();
    let history = shared.history().await;
    let b = history[0].1;
    assert_eq!(history, [(a, b), (b, c.publication.snapshot.id)]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unchanged_is_decided_against_what_is_current_at_the_commit() {
    let shared = Shared::new().await;
    let a = shared.publish(1).await.publication.snapshot.id;
    let name = DatasetName::parse("met").unwrap();
    let first = shared.store.current_snapshot(&name).await.unwrap().unwrap();
    // Found to be unchanged, and then there is another one: this publisher's comes after it, with a
    // time of its own.
    let again = interleaved(&shared, 1, &[2]).await.unwrap();
    assert!(!again.unchanged);
    let dataset = shared.store.dataset(&name).await.unwrap().unwrap();
    let times: Vec<i64> = dataset.snapshots.iter().map(|summary| summary.created_at.0).collect();
    assert_eq!((dataset.snapshots.len(), &dataset.current.id), (3, &a));
    assert!(
        times.is_sorted_by(|one, next| one < next) && dataset.current.created_at > first.created_at,
        "{times:?}"
    );
    let history = shared.history().await;
    assert_eq!(
        history.iter().map(|(from, _)| from == &a).collect::<Vec<_>>(),
        [true, false],
        "followed without a gap: {history:?}"
    );
    // And the other way round: what both publish is new once.
    let both = interleaved(&shared, 4, &[4]).await.unwrap();
    assert!(both.unchanged);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_publisher_that_is_always_overtaken_gives_up() {
    let shared = Shared::new().await;
    shared.publish(1).await;
    let fast: Vec<u32> = (10..10 + u32::try_from(MAX_ATTEMPTS).unwrap()).collect();
    let outcome = interleaved(&shared, 2, &fast).await;
    assert!(matches!(&outcome, Err(PublishFailure::TooManyConflicts { .. })), "{outcome:?}");
    assert_eq!(
        shared.history().await.len(),
        MAX_ATTEMPTS,
        "each of the others follows the one before"
    );
}
