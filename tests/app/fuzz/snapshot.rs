//! Stored files: Parquet that a store damaged, or that somebody put there with a checksum of his
//! own. Reading one is an error or rows, never a panic, and no more rows than the catalog says.

use std::sync::Arc;

use futures::StreamExt;
use tempfile::TempDir;
use tokio::runtime::Runtime;
use yearbook_domain::{ReadPlan, Snapshot};
use yearbook_publish::{DataPackage, SilentReporter, SnapshotDraft, publish};
use yearbook_scan::Reader;
use yearbook_storage::ObjectStorage;
use yearbook_workers::Workers;

use super::package::unpack;
use super::{FuzzSubject, FuzzTargetSpec};
use crate::components::root;

const SNAPSHOT: FuzzTargetSpec = FuzzTargetSpec {
    name: "snapshot",
    inputs: 400,
    words: &["PAR1", "date", "region", "ARROW:schema"],
};

/// A store, and what a catalog says of the files in the corpus.
pub struct SnapshotSubject {
    runtime: Runtime,
    folder: TempDir,
    files: ObjectStorage,
    workers: Arc<Workers>,
    draft: SnapshotDraft,
    whole: u64,
    read: u64,
}

impl FuzzSubject for SnapshotSubject {
    const TARGET: FuzzTargetSpec = SNAPSHOT;

    fn start() -> Self {
        let (runtime, folder) = (Runtime::new().unwrap(), TempDir::new().unwrap());
        let files = ObjectStorage::open(&format!("file:{}", folder.path().join("store").display()))
            .unwrap();
        let workers = Workers::new(1);
        // The files in the corpus were made of this package.
        let package = root().join("tests/fixtures/fuzz/package/series");
        let package =
            DataPackage::open(&unpack(&std::fs::read(package).unwrap(), folder.path())).unwrap();
        let draft = runtime
            .block_on(Box::pin(publish(&files, &workers, &package, None, &SilentReporter)))
            .unwrap();
        Self { runtime, folder, files, workers, draft, whole: 0, read: 0 }
    }

    fn check(&mut self, input: &[u8]) {
        let path = self.folder.path().join("damaged");
        std::fs::write(&path, input).unwrap();
        // With checksums of its own, so that the damage reaches what reads Parquet.
        let file = self.runtime.block_on(self.files.put_snapshot(&path)).unwrap();
        let stored =
            self.folder.path().join("store/snapshots").join(format!("{}.parquet", file.sha256));
        let draft = &self.draft;
        let snapshot = Arc::new(Snapshot { file, ..draft.snapshot.clone() });
        for needle in [None, Some("Waikato".to_owned())] {
            let everything = ReadPlan::full_scan(
                draft.name.clone(),
                draft.namespace.clone(),
                Arc::clone(&snapshot),
            );
            let plan = ReadPlan { search_text: needle, ..everything };
            let reader = Reader::new(self.files.clone(), Arc::clone(&self.workers));
            let rows = async move {
                let mut batches = reader.scan(&plan).await?.batches;
                let mut rows = 0;
                while let Some(batch) = batches.next().await {
                    rows += batch?.num_rows() as u64;
                }
                Ok::<_, yearbook_storage::StorageFailure>(rows)
            };
            self.read += 1;
            match self
                .runtime
                .block_on(self.workers.drive(yearbook_shares::CallerShare::default(), rows))
            {
                Ok(Ok(rows)) => {
                    self.whole += 1;
                    assert!(rows <= draft.snapshot.rows, "{rows} rows");
                }
                Ok(Err(failure)) => assert!(!failure.to_string().contains("panicked"), "{failure}"),
                Err(panicked) => panic!("{panicked}"),
            }
        }
        std::fs::remove_file(stored).unwrap();
    }

    fn end(&self) {
        let Self { whole, read, .. } = self;
        assert!(*whole > 0 && whole < read, "{whole} of {read} could be read: nothing was tried");
    }
}
