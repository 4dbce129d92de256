//! Stored files: Parquet that a store damaged, or that somebody put there with a checksum of his
//! own. Reading one is an error or rows, and no more rows than the catalog says. Our code never
//! panics; where the Parquet reader does, the worker makes it an error that names the file.

use std::panic;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::StreamExt;
use tempfile::TempDir;
use tokio::runtime::Runtime;
use yearbook_domain::{ReadPlan, Snapshot};
use yearbook_publish::{DataPackage, SilentReporter, SnapshotDraft, publish};
use yearbook_scan::Reader;
use yearbook_storage::{ObjectStorage, StorageFailure};
use yearbook_workers::Workers;

use super::package::unpack;
use super::{FuzzSubject, FuzzTargetSpec};
use crate::components::root;

const SNAPSHOT: FuzzTargetSpec = FuzzTargetSpec {
    name: "snapshot",
    inputs: 400,
    words: &["PAR1", "date", "region", "ARROW:schema"],
};

/// The crates that decode: a panic there is a damaged file, and ours nowhere.
const DECODERS: [&str; 2] = ["/parquet-", "/arrow-"];

/// True where the last panic was in one of [`DECODERS`].
static DECODER_PANICKED: AtomicBool = AtomicBool::new(false);

/// Has every panic say whether a decoder made it. Those are not handed on: libFuzzer's hook would
/// end the process.
fn watch_panics() {
    let outer = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        let file = panic.location().map_or("", |location| location.file());
        let decodes = DECODERS.iter().any(|decoder| file.contains(decoder));
        DECODER_PANICKED.store(decodes, Ordering::SeqCst);
        if !decodes {
            outer(panic);
        }
    }));
}

/// True where `failure` is no panic, or one of a decoder's.
fn is_damage(failure: &StorageFailure) -> bool {
    !failure.to_string().contains("panicked") || DECODER_PANICKED.load(Ordering::SeqCst)
}

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
        watch_panics();
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
                Ok::<_, StorageFailure>(rows)
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
                Ok(Err(failure)) => assert!(is_damage(&failure), "{failure}"),
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
