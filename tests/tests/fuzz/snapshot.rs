//! Stored files: Parquet that a store damaged, or that somebody put there with a checksum of his own. Reading one is an error or
//! rows, never a panic, and no more rows than the catalogue says.

use std::sync::Arc;

use futures::StreamExt;
use tempfile::TempDir;
use tokio::runtime::Runtime;
use yearbook_domain::{ReadPlan, Snapshot};
use yearbook_snapshot::{Files, Package, Reader, Silent, publish};
use yearbook_tests::components::root;
use yearbook_tests::fuzz::Target;
use yearbook_workers::Workers;

use super::package::unpacked;

const SNAPSHOT: Target = Target { name: "snapshot", inputs: 400, words: &["PAR1", "date", "region", "ARROW:schema"] };

#[test]
fn a_stored_file_that_is_wrong_is_an_error_and_never_a_panic() {
    let runtime = Runtime::new().unwrap();
    let folder = TempDir::new().unwrap();
    let files = Files::open(&format!("file:{}", folder.path().join("store").display())).unwrap();
    let workers = Workers::new(1);
    // What the catalogue says of the files in the corpus, which were made of this package.
    let package = root().join("tests/fixtures/fuzz/package/series");
    let package = Package::open(&unpacked(&std::fs::read(package).unwrap(), folder.path())).unwrap();
    let draft = runtime.block_on(Box::pin(publish(&files, &workers, &package, None, &Silent))).unwrap();
    let (mut whole, mut read) = (0, 0);
    SNAPSHOT.run(|input| {
        let path = folder.path().join("damaged");
        std::fs::write(&path, input).unwrap();
        // With checksums of its own, so that the damage reaches what reads Parquet.
        let file = runtime.block_on(files.put_snapshot(&path)).unwrap();
        let stored = folder.path().join("store/snapshots").join(format!("{}.parquet", file.sha256));
        let snapshot = Arc::new(Snapshot { file, ..draft.snapshot.clone() });
        for needle in [None, Some("Waikato".to_owned())] {
            let plan = ReadPlan { needle, ..ReadPlan::everything(draft.name.clone(), draft.namespace.clone(), Arc::clone(&snapshot)) };
            let reader = Reader::new(files.clone(), Arc::clone(&workers));
            let rows = async move {
                let mut batches = reader.scan(&plan).await?.batches;
                let mut rows = 0;
                while let Some(batch) = batches.next().await {
                    rows += batch?.num_rows() as u64;
                }
                Ok::<_, yearbook_snapshot::Failure>(rows)
            };
            read += 1;
            match runtime.block_on(workers.drive(rows)) {
                Ok(Ok(rows)) => {
                    whole += 1;
                    assert!(rows <= draft.snapshot.rows, "{rows} rows");
                }
                Ok(Err(failure)) => assert!(!failure.to_string().contains("panicked"), "{failure}"),
                Err(panicked) => panic!("{panicked}"),
            }
        }
        std::fs::remove_file(stored).unwrap();
    });
    assert!(whole > 0 && whole < read, "{whole} of {read} could be read: nothing was tried");
}
