//! A damaged file is a failure that names it, for its dataset alone: never a panic, never other
//! data.

use super::super::*;
use super::fixture::{FixtureOptions, FixtureRandom, StoredFixture, plan, read, snapshot_id};
use super::sample;

fn assert_names(failure: &StorageFailure, stored: &StoredFixture) {
    let text = failure.to_string();
    assert!(
        text.contains(&ObjectStorage::key(&stored.snapshot.file)) && text.contains("publish"),
        "{text}"
    );
}

#[tokio::test]
async fn a_flipped_byte_anywhere_is_noticed() {
    let stored = StoredFixture::new(&FixtureOptions {
        rows: 400,
        group: 150,
        page: 30,
        ..FixtureOptions::default()
    })
    .await;
    let plan = plan(&stored.snapshot);
    let intact = std::fs::read(stored.object()).unwrap();
    let (sound, _) = stored.read(&plan).await.unwrap();
    let mut random = FixtureRandom(3);
    for at in (0..intact.len()).step_by(intact.len() / 150).chain(intact.len() - 12..intact.len()) {
        let mut damaged = intact.clone();
        damaged[at] ^= 1 << random.below(8);
        std::fs::write(stored.object(), &damaged).unwrap();
        // A reader that knows the file well and one that has never seen it.
        for reader in [stored.reader.clone(), stored.afresh(None)] {
            match read(&reader, &plan).await {
                Err(failure) => assert_names(&failure, &stored),
                // The reader that holds the footer does not read it again; what it gives is right
                // all the same.
                Ok((rows, _)) => assert_eq!(rows, sound, "byte {at}"),
            }
        }
        assert!(read(&stored.afresh(None), &plan).await.is_err(), "byte {at}");
    }
    std::fs::write(stored.object(), &intact).unwrap();
    assert_eq!(
        stored.read(&plan).await.unwrap().0,
        sound,
        "a restored file is served again at once"
    );
}

#[tokio::test]
async fn a_truncated_or_missing_file_is_named() {
    let stored =
        StoredFixture::new(&FixtureOptions { rows: 200, ..FixtureOptions::default() }).await;
    let plan = plan(&stored.snapshot);
    let intact = std::fs::read(stored.object()).unwrap();
    for length in (0..intact.len()).step_by(intact.len() / 20) {
        std::fs::write(stored.object(), &intact[..length]).unwrap();
        assert_names(&read(&stored.afresh(None), &plan).await.unwrap_err(), &stored);
    }
    std::fs::remove_file(stored.object()).unwrap();
    let failure = read(&stored.afresh(None), &plan).await.unwrap_err();
    assert!(matches!(failure, StorageFailure::Missing { .. }));
    assert_names(&failure, &stored);
    assert_names(
        &stored.afresh(None).preview(&stored.snapshot, sample(10)).await.unwrap_err(),
        &stored,
    );
}

#[tokio::test]
async fn garbage_that_was_stored_as_such_fails_without_taking_the_process_along() {
    let stored = StoredFixture::new(&FixtureOptions {
        rows: 400,
        group: 150,
        page: 30,
        ..FixtureOptions::default()
    })
    .await;
    let intact = std::fs::read(stored.object()).unwrap();
    let files =
        ObjectStorage::open(&format!("file:{}/store", stored.folder.path().display())).unwrap();
    let path = stored.folder.path().join("garbage.parquet");
    let mut random = FixtureRandom(5);
    let mut failed = 0;
    for _ in 0..200 {
        let mut garbage = intact.clone();
        for _ in 0..1 + random.below(3) {
            let at = random.below(garbage.len());
            garbage[at] ^= 1 << random.below(8);
        }
        std::fs::write(&path, &garbage).unwrap();
        let mut snapshot = stored.snapshot.clone();
        // Its checksums are right, so the decoder sees it.
        snapshot.file = files.put_snapshot(&path).await.unwrap();
        if let Err(failure) = stored.read(&plan(&snapshot)).await {
            assert!(failure.to_string().contains(&ObjectStorage::key(&snapshot.file)), "{failure}");
            failed += 1;
        }
    }
    assert!(failed > 0, "some of it cannot be decoded");
    assert!(stored.read(&plan(&stored.snapshot)).await.is_ok(), "other files are served as before");
}

#[tokio::test]
async fn a_file_that_is_not_what_the_catalogue_says_is_refused() {
    let mut stored = StoredFixture::new(&FixtureOptions::rows(100)).await;
    stored.snapshot.rows = 99;
    assert_names(&stored.read(&plan(&stored.snapshot)).await.unwrap_err(), &stored);
    stored.snapshot.rows = 100;
    stored.snapshot.columns[4].name = "absent".to_owned();
    stored.snapshot.id = snapshot_id("s2");
    assert_names(&stored.read(&plan(&stored.snapshot)).await.unwrap_err(), &stored);
    stored.snapshot.columns[4].name = "count".to_owned();
    stored.snapshot.columns[4].column_type = yearbook_domain::ColumnType::Boolean;
    stored.snapshot.id = snapshot_id("s3");
    assert_names(&stored.read(&plan(&stored.snapshot)).await.unwrap_err(), &stored);
}
