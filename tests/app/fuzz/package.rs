//! Data packages: a descriptor and its table. What publishing takes can be read back; what it does
//! not is refused in words.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::StreamExt;
use tempfile::TempDir;
use tokio::runtime::Runtime;
use yearbook_domain::ReadPlan;
use yearbook_publish::{DataPackage, PublishError, SilentReporter, SnapshotDraft, publish};
use yearbook_scan::Reader;
use yearbook_storage::ObjectStorage;
use yearbook_workers::Workers;

use super::{FuzzSubject, FuzzTargetSpec};

const PACKAGE: FuzzTargetSpec = FuzzTargetSpec {
    name: "package",
    inputs: 250,
    words: &[
        "\"name\"",
        "\"type\"",
        "\"date\"",
        "\"number\"",
        "\"integer\"",
        "\"boolean\"",
        "\"string\"",
        "\"resources\"",
        "\"schema\"",
        "\"fields\"",
        "\"primaryKey\"",
        "\"yearbook\"",
        "\"path\"",
        "data.csv",
        "\"proportions\"",
        "\"layout\"",
        "\"wide\"",
        "null",
        "true",
        "[]",
        "2024-02-29",
        "2024-Q1",
        ",",
        "\n",
        "\"\"",
        "MULTIPOINT ((1 2))",
        "0.1",
        "\"dimensions\"",
        "geometry_wkt",
    ],
};

/// Between descriptor and table.
const PART_SEPARATOR: &[u8] = b"\n--- data.csv\n";

/// A store to publish to.
pub struct PackageSubject {
    runtime: Runtime,
    files: ObjectStorage,
    workers: Arc<Workers>,
    taken: u64,
    _store: TempDir,
}

impl FuzzSubject for PackageSubject {
    const TARGET: FuzzTargetSpec = PACKAGE;

    fn start() -> Self {
        let store = TempDir::new().unwrap();
        let files = ObjectStorage::open(&format!("file:{}", store.path().display())).unwrap();
        Self {
            runtime: Runtime::new().unwrap(),
            files,
            workers: Workers::new(2),
            taken: 0,
            _store: store,
        }
    }

    fn check(&mut self, input: &[u8]) {
        let Self { runtime, files, workers, .. } = self;
        let folder = TempDir::new().unwrap();
        let draft = DataPackage::open(&unpack(input, folder.path())).and_then(|package| {
            runtime.block_on(Box::pin(publish(files, workers, &package, None, &SilentReporter)))
        });
        match draft {
            Err(refused) => assert_explained(&refused),
            Ok(draft) => {
                let rows = draft.snapshot.rows;
                assert_eq!(runtime.block_on(read_back(files, workers, draft)), rows);
                self.taken += 1;
            }
        }
    }

    fn end(&self) {
        assert!(self.taken > 0, "nothing was published, so nothing was tried");
    }
}

/// Writes descriptor and table into `folder`; the descriptor's path.
pub(super) fn unpack(input: &[u8], folder: &Path) -> PathBuf {
    let seam = input.windows(PART_SEPARATOR.len()).position(|window| window == PART_SEPARATOR);
    let (descriptor, table) =
        seam.map_or((input, &b""[..]), |at| (&input[..at], &input[at + PART_SEPARATOR.len()..]));
    let path = folder.join("datapackage.json");
    std::fs::write(&path, descriptor).unwrap();
    std::fs::write(folder.join("data.csv"), table).unwrap();
    path
}

fn assert_explained(refused: &PublishError) {
    let text = refused.to_string();
    assert!(!text.is_empty() && !text.contains("panicked"), "{text}");
}

async fn read_back(files: &ObjectStorage, workers: &Arc<Workers>, draft: SnapshotDraft) -> u64 {
    let reader = Reader::new(files.clone(), Arc::clone(workers));
    let plan = ReadPlan::full_scan(draft.name, draft.namespace, Arc::new(draft.snapshot));
    let counted = async move {
        let mut batches = reader.scan(&plan).await.unwrap().batches;
        let mut rows = 0;
        while let Some(batch) = batches.next().await {
            rows += batch.unwrap().num_rows() as u64;
        }
        rows
    };
    workers.drive(yearbook_shares::CallerShare::default(), counted).await.unwrap()
}
