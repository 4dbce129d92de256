//! A dataset whose every version is known in advance, so that any body can be checked by itself:
//! all rows of version n say n.

use std::collections::HashMap;
use std::io::Cursor;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use yearbook_domain::Digest;

use arrow::array::AsArray;
use arrow::datatypes::Int64Type;
use arrow::ipc::reader::StreamReader;
use serde_json::{Value, json};
use tempfile::TempDir;
use yearbook_catalog::{Catalog, CommitOutcome, DatabaseSettings, Publication, Retention};
use yearbook_publish::UploadRegistry;
use yearbook_publish::{DataPackage, SilentReporter};
use yearbook_storage::{ObjectStorage, StorageSettings};
use yearbook_workers::Workers;

/// Rows of the table: enough for a body in several chunks.
const ROWS: u64 = 10_000;

/// Version of each snapshot.
#[derive(Default)]
pub(crate) struct PublishedVersions {
    by_snapshot: Mutex<HashMap<String, u64>>,
    /// SHA-256 of bodies by path and entity tag, for those that are not written down here.
    by_tag: Mutex<HashMap<String, String>>,
    newest: AtomicU64,
}

/// The publisher.
pub(crate) struct VersionPublisher {
    store: Arc<Catalog>,
    files: ObjectStorage,
    workers: Arc<Workers>,
    versions: Arc<PublishedVersions>,
}

impl VersionPublisher {
    /// A publisher with a line of its own to the catalog.
    pub(crate) async fn open(
        database: &str,
        storage: &str,
        variables: &[(String, String)],
        versions: Arc<PublishedVersions>,
    ) -> Self {
        let store = yearbook_catalog::open(database, &DatabaseSettings::default()).await.unwrap();
        let files =
            ObjectStorage::open_with(storage, &StorageSettings::default(), variables).unwrap();
        let files = files.with_upload_registrar(Arc::new(UploadRegistry(Arc::clone(&store))));
        Self { store, files, workers: Workers::new(1), versions }
    }

    /// Publishes the next version. Fails where the store does; nothing of it is seen then.
    pub(crate) async fn publish(&mut self) -> Result<u64, String> {
        let version = self.versions.newest.load(Ordering::SeqCst) + 1;
        let folder = TempDir::new().unwrap();
        std::fs::write(folder.path().join("data.csv"), csv(version, ROWS)).unwrap();
        std::fs::write(folder.path().join("datapackage.json"), descriptor().to_string()).unwrap();
        let package = DataPackage::open(&folder.path().join("datapackage.json")).unwrap();
        let current =
            self.store.current_snapshot(package.name()).await.map_err(|error| error.to_string())?;
        let publishing = yearbook_publish::publish(
            &self.files,
            &self.workers,
            &package,
            current.as_ref(),
            &SilentReporter,
        );
        let draft = Box::pin(publishing).await.map_err(|error| error.to_string())?;
        // Before anybody can be served it.
        self.versions.by_snapshot.lock().unwrap().insert(draft.snapshot.id.to_string(), version);
        let publication = Publication {
            name: draft.name,
            namespace: draft.namespace,
            snapshot: draft.snapshot,
            predecessor: current.map(|current| current.id),
            changes: draft.changes,
            facts: draft.facts,
            at: None,
        };
        let committed = self
            .store
            .commit_snapshot(&publication, Retention::default())
            .await
            .map_err(|error| error.to_string())?;
        assert_ne!(committed, CommitOutcome::Conflict, "nobody else publishes it");
        self.versions.newest.store(version, Ordering::SeqCst);
        Ok(version)
    }
}

/// Resources that are requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum FleetRequest {
    Csv,
    Few,
    Json,
    Arrow,
    Parquet,
    Bulk,
    Preview,
}

impl FleetRequest {
    pub(crate) const ALL: [Self; 7] =
        [Self::Csv, Self::Few, Self::Json, Self::Arrow, Self::Parquet, Self::Bulk, Self::Preview];

    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::Csv => "/v1/datasets/pulse/data?limit=0&format=csv",
            Self::Few => "/v1/datasets/pulse/data?limit=20&format=csv",
            Self::Json => "/v1/datasets/pulse/data?limit=0",
            Self::Arrow => "/v1/datasets/pulse/data?limit=0&format=arrow",
            Self::Parquet => "/v1/datasets/pulse/data?limit=0&format=parquet",
            Self::Bulk => "/v1/bulk/tests/pulse?freshness=current",
            Self::Preview => "/v1/datasets/pulse/preview",
        }
    }
}

impl PublishedVersions {
    /// The newest that is committed.
    pub(crate) fn newest(&self) -> u64 {
        self.newest.load(Ordering::SeqCst)
    }

    /// The version of a whole 200, all of it of one snapshot.
    ///
    /// # Errors
    /// Returns what is wrong with the response.
    pub(crate) fn check_response(
        &self,
        asked: FleetRequest,
        snapshot: &str,
        tag: &str,
        body: &[u8],
    ) -> Result<u64, String> {
        let version = *self
            .by_snapshot
            .lock()
            .unwrap()
            .get(snapshot)
            .ok_or_else(|| format!("nobody published {snapshot}"))?;
        let right = match asked {
            FleetRequest::Csv => body == csv(version, ROWS).as_bytes(),
            FleetRequest::Few => body == csv(version, 20).as_bytes(),
            FleetRequest::Json => body == self::json(version).as_bytes(),
            FleetRequest::Arrow => arrow(body, version),
            FleetRequest::Bulk => tag == format!("\"{}\"", sha256(body)),
            FleetRequest::Preview => preview(body, snapshot, version),
            FleetRequest::Parquet => body.starts_with(b"PAR1") && body.ends_with(b"PAR1"),
        };
        if !right {
            return Err(format!(
                "{asked:?} of {} bytes is not that of version {version}",
                body.len()
            ));
        }
        let digest = sha256(body);
        let mut known = self.by_tag.lock().unwrap();
        let first =
            known.entry(format!("{} {tag}", asked.path())).or_insert_with(|| digest.clone());
        if *first == digest {
            Ok(version)
        } else {
            Err(format!("{asked:?} {tag} has been other bytes"))
        }
    }
}

fn csv(version: u64, rows: u64) -> String {
    let mut text = "id,series,version\n".to_owned();
    (0..rows).for_each(|id| text.push_str(&format!("{id},series {},{version}\n", id % 7)));
    text
}

fn json(version: u64) -> String {
    let rows: Vec<String> = (0..ROWS)
        .map(|id| format!(r#"{{"id":{id},"series":"series {}","version":{version}}}"#, id % 7))
        .collect();
    format!("[{}]", rows.join(","))
}

fn arrow(body: &[u8], version: u64) -> bool {
    let Ok(reader) = StreamReader::try_new(Cursor::new(body), None) else { return false };
    let mut ids = 0..i64::try_from(ROWS).unwrap();
    let version = i64::try_from(version).unwrap();
    for batch in reader {
        let Ok(batch) = batch else { return false };
        let column =
            |index: usize| batch.column(index).as_primitive::<Int64Type>().values().to_vec();
        if column(0).into_iter().any(|id| ids.next() != Some(id))
            || column(2).into_iter().any(|found| found != version)
        {
            return false;
        }
    }
    ids.is_empty()
}

fn preview(body: &[u8], snapshot: &str, version: u64) -> bool {
    let Ok(document) = serde_json::from_slice::<Value>(body) else { return false };
    let rows = document["rows"].as_array().cloned().unwrap_or_default();
    document["snapshot_id"] == snapshot
        && rows.len() == 10
        && rows.iter().all(|row| row["version"] == version)
}

fn descriptor() -> Value {
    let fields = json!([{"name": "id", "type": "integer"}, {"name": "series", "type": "string"}, {"name": "version", "type": "integer"}]);
    json!({
        "name": "pulse",
        "title": "A table that is another every second",
        "licenses": [{"name": "CC-BY-4.0"}],
        "sources": [{"title": "Tests", "path": "https://example.org/pulse"}],
        "resources": [{"name": "pulse", "path": "data.csv", "schema": {"fields": fields, "primaryKey": ["id"]}}],
        "yearbook": {"namespace": "tests", "source": "Tests", "attribution_text": "Synthetic", "source_url_precision": "source",
            "dimensions": ["series"], "bulk_redistribution": true},
    })
}

fn sha256(bytes: &[u8]) -> String {
    Digest::compute(bytes).to_string()
}
