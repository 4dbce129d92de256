//! The suite of every object store: content addresses, checks of every byte that is read, nothing
//! half-written.

use std::io::Write as _;
use std::sync::Arc;

use bytes::Bytes;
use futures::TryStreamExt;
use object_store::memory::InMemory;
use object_store::path::Path as Key;
use object_store::{ObjectStore, ObjectStoreExt, PutPayload};
use tempfile::TempDir;
use yearbook_domain::{Digest, ObjectKey, StoredFile};
use yearbook_storage::{ObjectStorage, Sidecar, StorageFailure, StorageSettings};
use yearbook_tests::app::S3Server;

/// More than two parts of an upload, ending within a block.
const LARGE: usize = (16 << 20) + 12_345;

/// A store, and a way around it by which its objects can be damaged.
struct StoreUnderTest {
    name: &'static str,
    files: ObjectStorage,
    behind: Arc<dyn ObjectStore>,
    _ground: Option<S3Server>,
    _folder: TempDir,
}

impl StoreUnderTest {
    async fn all() -> Vec<Self> {
        let memory = Arc::new(InMemory::new());
        let folder = || TempDir::new().unwrap();
        let local = folder();
        let path = local.path().join("objects");
        let files = ObjectStorage::open(&format!("file:{}", path.display())).unwrap();
        let behind = |path: &std::path::Path| {
            Arc::new(object_store::local::LocalFileSystem::new_with_prefix(path).unwrap())
        };
        let s3 = S3Server::start().await;
        let below = s3.below();
        std::fs::create_dir_all(&below).unwrap();
        vec![
            Self {
                name: "memory",
                files: ObjectStorage::from_store(Arc::clone(&memory) as _),
                behind: memory,
                _ground: None,
                _folder: folder(),
            },
            Self { name: "folder", files, behind: behind(&path), _ground: None, _folder: local },
            Self {
                name: "S3",
                files: open(&s3),
                behind: behind(&below),
                _ground: Some(s3),
                _folder: folder(),
            },
        ]
    }

    /// Stores `content` as a snapshot's file.
    async fn put(&self, content: &[u8]) -> Result<StoredFile, StorageFailure> {
        let source = TempDir::new().unwrap();
        std::fs::write(source.path().join("file"), content).unwrap();
        self.files.put_snapshot(&source.path().join("file")).await
    }

    /// Puts something else in the place of an object.
    async fn replace(&self, key: &str, content: Option<Vec<u8>>) {
        match content {
            Some(content) => {
                drop(self.behind.put(&Key::from(key), PutPayload::from(content)).await.unwrap())
            }
            None => self.behind.delete(&Key::from(key)).await.unwrap(),
        }
    }

    /// Names of everything that can be seen in the store.
    async fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self
            .behind
            .list(None)
            .map_ok(|object| object.location.to_string())
            .try_collect()
            .await
            .unwrap();
        names.sort();
        names
    }
}

fn open(s3: &S3Server) -> ObjectStorage {
    ObjectStorage::open_with(&s3.url, &StorageSettings::default(), &s3.variables()).unwrap()
}

fn content(length: usize) -> Vec<u8> {
    (0..length).map(|at| u8::try_from(at * 31 % 251).unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn files_are_named_by_their_content_and_read_back_by_range_in_every_store() {
    for subject in StoreUnderTest::all().await {
        let name = subject.name;
        for length in [0, 1, 100_000, LARGE] {
            let content = content(length);
            let file = subject.put(&content).await.unwrap();
            assert_eq!(
                (file.sha256, file.bytes),
                (Digest::compute(&content), length as u64),
                "{name}"
            );
            assert_eq!(
                subject.put(&content).await.unwrap(),
                file,
                "{name}: the second time is no mistake"
            );
            assert_eq!(subject.files.size(&file).await.unwrap(), Some(file.bytes), "{name}");
            let end = file.bytes;
            let ranges = [0..end, end / 2..end, 0..end.min(1), end..end, end / 3..end / 2];
            let got = subject.files.get_ranges(&file, &ranges).await.unwrap();
            for (range, got) in ranges.iter().zip(got) {
                let expected = &content
                    [usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap()];
                assert!(got == expected, "{name}: {range:?} of {length}");
            }
            let streamed: Vec<Bytes> =
                subject.files.stream(&file, 0..end, || u64::MAX).try_collect().await.unwrap();
            assert!(streamed.concat() == content, "{name}: {length} as a stream");
        }
        assert_eq!(
            subject.names().await.len(),
            8,
            "{name}: nothing lies there but the files and their checksums"
        );
        subject.files.ping().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_stands_beside_a_file_is_stored_and_read_in_parts_in_every_store() {
    for subject in StoreUnderTest::all().await {
        let (name, files) = (subject.name, &subject.files);
        let file = subject.put(b"x").await.unwrap();
        for length in [5, 100_000, LARGE] {
            let content = content(length);
            let (head, rest) = content.split_at(5);
            let mut body = tempfile::tempfile().unwrap();
            body.write_all(rest).unwrap();
            files.put_sidecar_file(&file, Sidecar::Bounds, head.to_vec(), body).await.unwrap();
            for (start, end) in [(0, length), (3, 5), (length - 1, length + 9)] {
                let expected = &content[start..end.min(length)];
                let range = start as u64..end as u64;
                let got = files.get_sidecar_range(&file, Sidecar::Bounds, range.clone()).await;
                let got = got.unwrap();
                assert!(got.as_deref() == Some(expected), "{name}: {range:?} of {length}");
                if files.is_local() {
                    let got = files.get_sidecar_range_blocking(&file, Sidecar::Bounds, range);
                    assert!(got.unwrap().as_deref() == Some(expected), "{name}: {length}");
                }
            }
            let behind = length as u64..length as u64 + 1;
            let behind = files.get_sidecar_range(&file, Sidecar::Bounds, behind).await;
            assert!(matches!(behind, Err(StorageFailure::Damaged { .. })), "{name}: {behind:?}");
        }
        files.remove(&ObjectKey::snapshot(&file.sha256)).await.unwrap();
        assert_eq!(subject.names().await, [""; 0], "{name}: it goes with the file");
        let gone = files.get_sidecar_range(&file, Sidecar::Bounds, 0..1).await;
        assert_eq!(gone.unwrap(), None, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn damage_is_named_and_publishing_again_repairs_it_in_every_store() {
    for subject in StoreUnderTest::all().await {
        let name = subject.name;
        let content = content(100_000);
        let file = subject.put(&content).await.unwrap();
        assert_eq!(subject.files.get_range(&file, 0..100_000).await.unwrap(), content, "{name}");
        let mut flipped = content.clone();
        flipped[50_000] ^= 4;
        for damaged in
            [flipped, content[..99_999].to_vec(), [&content[..], b"more"].concat(), Vec::new()]
        {
            let length = damaged.len();
            subject.replace(&ObjectStorage::key(&file), Some(damaged)).await;
            let got = subject.files.get_range(&file, 0..100_000).await;
            let damaged_key = ObjectStorage::key(&file);
            // Bytes behind the published ones are never read.
            match got {
                Ok(bytes) => assert!(length > 100_000 && bytes == content, "{name}: {length}"),
                Err(failure) => assert!(
                    matches!(&failure, StorageFailure::Damaged { key, .. } if *key == damaged_key),
                    "{name}: {failure}"
                ),
            }
            assert_eq!(subject.put(&content).await.unwrap(), file, "{name}");
            assert_eq!(
                subject.files.get_range(&file, 0..100_000).await.unwrap(),
                content,
                "{name}"
            );
        }
        subject.replace(&ObjectStorage::key(&file), None).await;
        assert!(
            matches!(
                subject.files.get_range(&file, 0..1).await,
                Err(StorageFailure::Missing { .. })
            ),
            "{name}"
        );
        assert_eq!(subject.files.size(&file).await.unwrap(), None, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn checksums_that_are_lost_or_damaged_are_made_anew_in_every_store() {
    for subject in StoreUnderTest::all().await {
        for (index, damage) in
            [None, Some(Vec::new()), Some(b"garbage".to_vec()), Some(vec![0; 1 << 20])]
                .into_iter()
                .enumerate()
        {
            // Of a file each: those of one are kept in memory.
            let content = content(100_000 + index);
            let file = subject.put(&content).await.unwrap();
            subject.replace(&ObjectStorage::checksums_key(&file), damage).await;
            assert_eq!(
                subject.files.get_range(&file, 3..5).await.unwrap(),
                content[3..5],
                "{}",
                subject.name
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_that_fails_leaves_nothing_visible_in_any_store() {
    for subject in StoreUnderTest::all().await {
        assert!(
            subject.files.put_snapshot(subject._folder.path()).await.is_err(),
            "a folder is not a file"
        );
        assert!(subject.files.put_snapshot(&subject._folder.path().join("absent")).await.is_err());
        assert!(subject.names().await.is_empty(), "{}", subject.name);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn components_come_back_as_they_went_in_or_not_at_all_from_every_store() {
    for subject in StoreUnderTest::all().await {
        let name = subject.name;
        let files = &subject.files;
        let bytes = Bytes::from_static(b"\0asm and more");
        let size = bytes.len() as u64;
        let digest = files.put_component(bytes.clone()).await.unwrap();
        assert_eq!(files.get_component(&digest, size).await.unwrap(), bytes, "{name}");
        assert!(
            files.has_component(&digest, size).await.unwrap()
                && !files.has_component(&digest, size + 1).await.unwrap(),
            "{name}"
        );
        assert_eq!(files.get_signature(&digest).await.unwrap(), None, "{name}");
        files.put_signature(&digest, Bytes::from_static(b"signed")).await.unwrap();
        assert_eq!(
            files.get_signature(&digest).await.unwrap().as_deref(),
            Some(&b"signed"[..]),
            "{name}"
        );
        subject
            .replace(&ObjectStorage::component_key(&digest), Some(b"\0asm and evil".to_vec()))
            .await;
        assert!(
            matches!(
                files.get_component(&digest, size).await,
                Err(StorageFailure::ComponentDamaged { .. })
            ),
            "{name}"
        );
        subject.replace(&ObjectStorage::component_key(&digest), None).await;
        assert!(
            matches!(
                files.get_component(&digest, size).await,
                Err(StorageFailure::ComponentMissing { .. })
            ),
            "{name}"
        );
    }
}
