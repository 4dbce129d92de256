//! Publishers of one dataset that meet: each waits within its own publication until the other has
//! committed.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use serde_json::{Map, Value};
use tempfile::TempDir;
use yearbook_catalog::{DatabaseSettings, open, sqlite_url};
use yearbook_domain::{SnapshotId, SourceColumn};

use super::*;
use crate::format_reader::{ColumnFacts, FormatReader, FormatReading};
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
    interleaved_with(shared, shared.package(slow), fast).await
}

/// The same for a package that is published slowly.
async fn interleaved_with(
    shared: &Shared,
    package: DataPackage,
    fast: &[u32],
) -> Result<PublishResult, PublishFailure> {
    let ((reached, is_reached), (leave, is_left)) = (channel(), channel());
    let publisher = shared.publisher();
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

/// A reader of one row with `value`, which knows a unit, and counts the files that it begins.
#[derive(Debug)]
struct OneRowReader {
    value: i64,
    opened: Arc<AtomicUsize>,
}

impl FormatReader for OneRowReader {
    fn title(&self) -> &str {
        "One row"
    }

    fn open(
        &self,
        _columns: &[SourceColumn],
        _options: &Map<String, Value>,
    ) -> Result<Box<dyn FormatReading>, String> {
        self.opened.fetch_add(1, Ordering::Relaxed);
        Ok(Box::new(OneRow { value: self.value, pending: false }))
    }
}

struct OneRow {
    value: i64,
    pending: bool,
}

impl FormatReading for OneRow {
    fn push(&mut self, _bytes: &[u8], last: bool) -> Result<(), String> {
        self.pending = last;
        Ok(())
    }

    fn columns(&mut self) -> Result<Option<Vec<ColumnFacts>>, String> {
        let value = ColumnFacts { unit: Some("tonnes".to_owned()), ..ColumnFacts::default() };
        Ok(Some(vec![ColumnFacts::default(), value]))
    }

    fn pull(&mut self) -> Result<Option<RecordBatch>, String> {
        if !std::mem::take(&mut self.pending) {
            return Ok(None);
        }
        let column = |value| Arc::new(Int64Array::from(vec![value])) as ArrayRef;
        let columns = [("id", column(1)), ("value", column(self.value))];
        RecordBatch::try_from_iter(columns).map(Some).map_err(|error| error.to_string())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn facts_of_a_former_version_are_computed_again_by_the_next_publication_contract_9() {
    let shared = Shared::new().await;
    let published = shared.publish(1).await.publication;
    let name = DatasetName::parse("met").unwrap();
    let id = published.snapshot.id;
    let stored = async || shared.store.preview_facts(&name, &id).await.unwrap().unwrap();
    let now = stored().await;
    let former = PreviewFacts { version: FACTS_VERSION - 1, ..now.clone() };
    let former = Publication { facts: Some(former), ..published };
    shared.store.commit_snapshot(&former, Retention::default()).await.unwrap();
    assert_eq!(stored().await.version, FACTS_VERSION - 1);
    let again = shared.publish(1).await;
    assert!(again.unchanged && again.publication.facts.is_some());
    assert_eq!(stored().await, now);
    assert!(shared.publish(1).await.publication.facts.is_none(), "nothing is left to do");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_file_tells_of_its_columns_is_read_once_however_often_it_is_compared_contract_7() {
    let shared = Shared::new().await;
    shared.publish(1).await;
    let folder = shared.folder.path().join("read");
    write(&folder, 3);
    let descriptor = folder.join("datapackage.json");
    let text = std::fs::read_to_string(&descriptor).unwrap();
    let text = text.replace(r#""path": "met.csv""#, r#""path": "met.csv", "format": "one-row""#);
    std::fs::write(&descriptor, text).unwrap();
    let opened = Arc::new(AtomicUsize::new(0));
    let reader = OneRowReader { value: 3, opened: Arc::clone(&opened) };
    let package = DataPackage::open(&folder).unwrap().with_reader(Arc::new(reader));
    let published = interleaved_with(&shared, package, &[2]).await.unwrap();
    assert_eq!(published.publication.snapshot.columns[1].unit.as_deref(), Some("tonnes"));
    // Once for the columns, and once for the rows of each attempt.
    assert_eq!(opened.load(Ordering::Relaxed), 3);
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
