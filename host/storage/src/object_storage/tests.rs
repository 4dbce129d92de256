//! Guarantees of the store of files: content addresses, checks of every byte read, nothing
//! half-written.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

use super::*;

fn store() -> (tempfile::TempDir, ObjectStorage) {
    let dir = tempfile::tempdir().unwrap();
    let files = ObjectStorage::open(&format!("file:{}/a/store", dir.path().display())).unwrap();
    (dir, files)
}

fn names(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir.join("a/store/snapshots"));
    let mut names: Vec<_> = entries
        .map(|all| all.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect())
        .unwrap_or_default();
    names.sort();
    names
}

#[test]
fn addresses_of_other_kinds_are_refused_with_advice() {
    for url in [
        "s3:bucket",
        "s3://",
        "s3://Bucket/x",
        "s3:///x",
        "s3://b/../x",
        "postgres:x",
        "/just/a/path",
        "file:",
        "file://host/path",
        "",
    ] {
        let failure = ObjectStorage::open(url).unwrap_err().to_string();
        assert!(
            failure.contains("file:/path/to/folder or s3://bucket/prefix") && failure.contains(url),
            "{failure}"
        );
    }
    let secret = ObjectStorage::open("s3://key:secret@bucket/x").unwrap_err().to_string();
    assert!(secret.contains("***@bucket") && !secret.contains("secret@"), "{secret}");
    let dir = tempfile::tempdir().unwrap();
    let redirect =
        StorageSettings { bulk: crate::BulkDelivery::Redirect, ..StorageSettings::default() };
    let failure =
        ObjectStorage::open_with(&format!("file:{}", dir.path().display()), &redirect, &[])
            .unwrap_err()
            .to_string();
    assert!(failure.contains("storage.bulk = \"stream\""), "{failure}");
    assert!(ObjectStorage::open(&format!("file://{}", dir.path().display())).is_ok());
}

#[tokio::test]
async fn a_file_is_stored_under_its_digest_and_read_back_by_range() {
    let (dir, files) = store();
    let source = dir.path().join("source");
    let bytes: Vec<u8> =
        (0..TRANSFER_BYTES * 2 + 5).map(|i| u8::try_from(i % 251).unwrap()).collect();
    std::fs::write(&source, &bytes).unwrap();
    let file = files.put_snapshot(&source).await.unwrap();
    assert_eq!(file.bytes, bytes.len() as u64);
    assert_eq!(
        names(dir.path()),
        [format!("{}.crc32", file.sha256), format!("{}.parquet", file.sha256)]
    );
    assert!(files.exists(&file).await.unwrap());
    let got = files.get_ranges(&file, &[7..9, 0..4, file.bytes - 3..file.bytes]).await.unwrap();
    assert_eq!(got, [&bytes[7..9], &bytes[..4], &bytes[bytes.len() - 3..]]);
    assert_eq!(files.put_snapshot(&source).await.unwrap(), file, "the second time is a no-op");
    files.ping().await.unwrap();
}

#[tokio::test]
async fn the_digest_is_sha_256() {
    let (dir, files) = store();
    let source = dir.path().join("source");
    std::fs::write(&source, b"abc").unwrap();
    let file = files.put_snapshot(&source).await.unwrap();
    assert_eq!(
        file.sha256.as_str(),
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        "FIPS 180-4, example 1"
    );
}

#[tokio::test]
async fn publishing_again_repairs_a_damaged_object() {
    let (dir, files) = store();
    let source = dir.path().join("source");
    std::fs::write(&source, b"what was published").unwrap();
    let file = files.put_snapshot(&source).await.unwrap();
    let object = dir.path().join("a/store").join(ObjectStorage::key(&file));
    for damage in [&b"what was publishea"[..], b"what was", b""] {
        std::fs::write(&object, damage).unwrap();
        assert_eq!(files.put_snapshot(&source).await.unwrap(), file);
        assert_eq!(std::fs::read(&object).unwrap(), b"what was published");
    }
}

#[tokio::test]
async fn missing_and_truncated_objects_are_named() {
    let (dir, files) = store();
    let source = dir.path().join("source");
    std::fs::write(&source, b"what was published").unwrap();
    let file = files.put_snapshot(&source).await.unwrap();
    let object = dir.path().join("a/store").join(ObjectStorage::key(&file));
    std::fs::write(&object, b"what").unwrap();
    for range in [0..18, 4..5, 10..12] {
        let failure = files.get_range(&file, range).await.unwrap_err();
        assert!(
            matches!(&failure, StorageFailure::Damaged { key, .. } if key == &ObjectStorage::key(&file)),
            "{failure}"
        );
    }
    assert!(!files.exists(&file).await.unwrap());
    std::fs::remove_file(&object).unwrap();
    assert!(matches!(
        files.get_range(&file, 0..1).await.unwrap_err(),
        StorageFailure::Missing { .. }
    ));
    assert_eq!(files.size(&file).await.unwrap(), None);
    assert!(matches!(
        files.get_range(&file, 0..u64::MAX).await.unwrap_err(),
        StorageFailure::Damaged { .. }
    ));
    std::fs::remove_dir_all(dir.path().join("a")).unwrap();
    assert!(files.ping().await.is_err());
}

#[tokio::test]
async fn a_file_that_is_found_has_the_size_that_was_published() {
    let (dir, files) = store();
    let source = dir.path().join("source");
    let bytes: Vec<u8> = (0..100_000_u32).map(|at| u8::try_from(at % 251).unwrap()).collect();
    std::fs::write(&source, &bytes).unwrap();
    let file = files.put_snapshot(&source).await.unwrap();
    let folder = dir.path().join("a/store");
    let object = folder.join(ObjectStorage::key(&file));
    let remote = || {
        let store = object_store::local::LocalFileSystem::new_with_prefix(&folder).unwrap();
        ObjectStorage::from_store(Arc::new(store))
    };
    let longer = [&bytes[..], &[0; 20_000]].concat();
    for known in [false, true] {
        for files in [ObjectStorage::open(&format!("file:{}", folder.display())).unwrap(), remote()]
        {
            if known {
                // Its checksums are in memory.
                assert_eq!(files.find(file.sha256).await.unwrap().as_ref(), Some(&file));
            }
            for length in [0, 5, 2 << 14, 99_999, 100_001, 120_000] {
                std::fs::write(&object, &longer[..length]).unwrap();
                let found = files.find(file.sha256).await;
                // By the sums beside it: nobody reads all of it to compare its digest.
                let by_sums = matches!(
                    &found,
                    Err(StorageFailure::Damaged { why, .. }) if !why.contains("digest")
                );
                assert!(by_sums, "{length} {found:?}");
            }
            std::fs::write(&object, &bytes).unwrap();
            assert_eq!(files.find(file.sha256).await.unwrap().as_ref(), Some(&file));
        }
    }
    std::fs::remove_file(&object).unwrap();
    assert_eq!(files.find(file.sha256).await.unwrap(), None);
}

#[tokio::test]
async fn an_upload_that_fails_leaves_nothing_visible() {
    let (dir, files) = store();
    assert!(files.put_snapshot(&dir.path().join("absent")).await.is_err());
    assert!(files.put_snapshot(dir.path()).await.is_err(), "a folder is not a file");
    assert!(names(dir.path()).is_empty());
}

#[tokio::test]
async fn a_flipped_bit_is_noticed_where_it_is_read_even_after_the_file_was_read_well() {
    let (dir, files) = store();
    let source = dir.path().join("source");
    let bytes = vec![7; 100_000];
    std::fs::write(&source, &bytes).unwrap();
    let file = files.put_snapshot(&source).await.unwrap();
    assert_eq!(files.get_range(&file, 0..100_000).await.unwrap(), bytes);
    let object = dir.path().join("a/store").join(ObjectStorage::key(&file));
    let mut damaged = bytes.clone();
    damaged[50_000] ^= 4;
    std::fs::write(&object, &damaged).unwrap();
    assert_eq!(
        files.get_range(&file, 0..10).await.unwrap(),
        bytes[..10],
        "sound blocks can still be read"
    );
    let failure = files.get_range(&file, 50_001..50_002).await.unwrap_err();
    assert!(
        failure.to_string().contains(&ObjectStorage::key(&file))
            && failure.to_string().contains("byte 49152"),
        "{failure}"
    );
}

#[tokio::test]
async fn lost_or_damaged_checksums_are_made_anew_from_a_file_whose_digest_is_right() {
    let (dir, files) = store();
    let source = dir.path().join("source");
    std::fs::write(&source, vec![7; 100_000]).unwrap();
    let file = files.put_snapshot(&source).await.unwrap();
    let root = dir.path().join("a/store");
    let sums = root.join(ObjectStorage::checksums_key(&file));
    let intact = std::fs::read(&sums).unwrap();
    let afresh = || ObjectStorage::open(&format!("file:{}", root.display())).unwrap();
    for damage in [None, Some(&b"garbage"[..]), Some(b""), Some(&intact[..4])] {
        match damage {
            Some(bytes) => std::fs::write(&sums, bytes).unwrap(),
            None => std::fs::remove_file(&sums).unwrap(),
        }
        assert_eq!(afresh().get_range(&file, 3..5).await.unwrap(), [7, 7][..]);
    }
    files.put_snapshot(&source).await.unwrap();
    assert_eq!(std::fs::read(&sums).unwrap(), intact, "publishing again restores them");
    std::fs::remove_file(&sums).unwrap();
    let mut damaged = vec![7; 100_000];
    damaged[99_999] = 8;
    std::fs::write(root.join(ObjectStorage::key(&file)), damaged).unwrap();
    assert!(matches!(
        afresh().get_range(&file, 3..5).await.unwrap_err(),
        StorageFailure::Damaged { .. }
    ));
}
