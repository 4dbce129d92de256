//! The store as a whole: listing and removing what it holds, for `yearbook gc`, and trying it out,
//! for `yearbook doctor`. Decides nothing.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use futures::TryStreamExt;
use object_store::path::Path as Key;
use object_store::{ObjectStoreExt, PutPayload};
use yearbook_domain::{Digest, ObjectKey, StoredKind};

use super::ObjectStorage;
use super::hash::run_blocking;
use super::sidecar::Sidecar;
use crate::StorageFailure;

/// Folders of the store, each with the endings of the objects that a digest has there. What others
/// need comes first, and is removed first: a file never stands without its checksums.
const OBJECT_KINDS: [(StoredKind, &str, &[&str]); 3] = [
    (StoredKind::Snapshot, "snapshots", FILE_ENDINGS),
    (StoredKind::Waiting, "waiting", FILE_ENDINGS),
    (StoredKind::Component, "plugins", &["wasm", "wasm.minisig"]),
];

const FILE_ENDINGS: &[&str] =
    &[Sidecar::Values.ending(), Sidecar::Bounds.ending(), "parquet", "crc32"];

/// Something that the store holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredObject {
    /// The object's key.
    pub stored: ObjectKey,
    /// Bytes of all its objects.
    pub bytes: u64,
}

/// A file of an upload that was never finished, in a store that is a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StaleUpload {
    /// Its path.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
}

impl ObjectStorage {
    /// Everything that the store holds under a digest, sorted; objects with other names are not
    /// ours. In memory: some 150 bytes each.
    ///
    /// # Errors
    /// The store's refusal.
    pub async fn held(&self) -> Result<Vec<StoredObject>, StorageFailure> {
        let mut held: BTreeMap<ObjectKey, u64> = BTreeMap::new();
        for (kind, folder, endings) in OBJECT_KINDS {
            let mut objects = self.store.list(Some(&Key::from(folder)));
            while let Some(object) =
                objects.try_next().await.map_err(|source| StorageFailure::store(folder, source))?
            {
                let name = object.location.filename().and_then(|name| name.split_once('.'));
                let named = name.filter(|(_, ending)| endings.contains(ending));
                let Some(sha256) = named.and_then(|(sha256, _)| Digest::parse(sha256)) else {
                    continue;
                };
                *held.entry(ObjectKey { kind, sha256 }).or_default() += object.size;
            }
        }
        Ok(held.into_iter().map(|(stored, bytes)| StoredObject { stored, bytes }).collect())
    }

    /// Removes all objects of `stored`; those that are gone already are no error.
    ///
    /// # Errors
    /// The store's refusal; some may be gone by then.
    pub async fn remove(&self, stored: &ObjectKey) -> Result<(), StorageFailure> {
        self.remove_companions(stored).await?;
        for ending in endings(stored.kind) {
            let key = format!("{stored}.{ending}");
            match self.store.delete(&Key::from(key.as_str())).await {
                Ok(()) | Err(object_store::Error::NotFound { .. }) => {}
                Err(source) => return Err(StorageFailure::store(&key, source)),
            }
        }
        Ok(())
    }

    /// Files of uploads into a folder that nobody has written to for `age`, by the clock of the
    /// folder's file system; removed unless this is a `dry_run`. A store on the network ends
    /// unfinished uploads by a rule of its own.
    ///
    /// # Errors
    /// [`StorageFailure::Local`] when a folder cannot be read or written.
    pub async fn remove_stale_uploads(
        &self,
        age: Duration,
        dry_run: bool,
    ) -> Result<Vec<StaleUpload>, StorageFailure> {
        let Some(local) = self.local_folder.clone() else { return Ok(Vec::new()) };
        run_blocking(move || {
            let root = local.folder();
            remove_stale_files(root, age, dry_run).map_err(|source| {
                StorageFailure::local("remove what failed uploads left in", root, source)
            })
        })
        .await?
    }

    /// Stores an object of its own, reads it back and removes it.
    ///
    /// # Errors
    /// The store's refusal; [`StorageFailure::Damaged`] when something else comes back.
    pub async fn probe(&self) -> Result<(), StorageFailure> {
        let name = format!("snapshots/doctor-{}", std::process::id());
        let refused = |source| StorageFailure::store(&name, source);
        let (key, content) = (Key::from(name.as_str()), "written by yearbook doctor");
        self.store.put(&key, PutPayload::from_static(content.as_bytes())).await.map_err(refused)?;
        let read = async { self.store.get(&key).await?.bytes().await }.await.map_err(refused);
        let removed = self.store.delete(&key).await.map_err(refused);
        if read? != content.as_bytes() {
            return Err(StorageFailure::damaged(&name, "what was written does not come back"));
        }
        removed
    }
}

/// Returns the endings of the objects of one kind, those that need others first.
pub(super) fn endings(kind: StoredKind) -> &'static [&'static str] {
    let of_kind = OBJECT_KINDS.into_iter().find(|(known, ..)| *known == kind);
    of_kind.map_or(&[], |(.., endings)| endings)
}

fn remove_stale_files(
    root: &Path,
    age: Duration,
    dry_run: bool,
) -> std::io::Result<Vec<StaleUpload>> {
    let now = tempfile::tempfile_in(root)?.metadata()?.modified()?;
    let mut found = Vec::new();
    for (_, folder, _) in OBJECT_KINDS {
        let entries = match std::fs::read_dir(root.join(folder)) {
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            if !entry.file_name().to_str().is_some_and(is_upload_name) {
                continue;
            }
            // One that was finished or removed meanwhile is none.
            let Ok(metadata) = entry.metadata() else { continue };
            if now.duration_since(metadata.modified()?).is_ok_and(|silent| silent >= age) {
                if !dry_run {
                    std::fs::remove_file(entry.path())?;
                }
                found.push(StaleUpload { path: entry.path(), bytes: metadata.len() });
            }
        }
    }
    Ok(found)
}

/// Returns whether the name is of an upload under way: its final name, `#` and a number, as
/// `object_store` names it.
fn is_upload_name(name: &str) -> bool {
    let number = name.rsplit_once('#').map(|(_, number)| number);
    number.is_some_and(|number| {
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[tokio::test]
    async fn what_is_held_is_listed_and_removed_with_all_that_belongs_to_it() {
        let folder = tempfile::tempdir().unwrap();
        let files = ObjectStorage::open(&format!("file:{}", folder.path().join("store").display()))
            .unwrap();
        assert_eq!(files.held().await.unwrap(), []);
        let source = folder.path().join("source");
        std::fs::write(&source, vec![7; 100]).unwrap();
        let file = files.put_snapshot(&source).await.unwrap();
        let component = files.put_component(b"\0asm"[..].into()).await.unwrap();
        files.put_signature(&component, b"signed"[..].into()).await.unwrap();
        // Nobody's digest, and somebody else's file.
        for name in ["README.md", &format!("{}.txt", file.sha256), "abc.parquet"] {
            std::fs::write(folder.path().join("store/snapshots").join(name), b"x").unwrap();
        }
        let (snapshot, component) =
            (ObjectKey::snapshot(&file.sha256), ObjectKey::component(&component));
        let held = |stored: &ObjectKey, bytes| StoredObject { stored: stored.clone(), bytes };
        assert_eq!(files.held().await.unwrap(), [held(&snapshot, 108), held(&component, 10)]);
        for stored in [&snapshot, &component] {
            files.remove(stored).await.unwrap();
            files.remove(stored).await.unwrap();
        }
        assert_eq!(files.held().await.unwrap(), []);
        assert_eq!(std::fs::read_dir(folder.path().join("store/snapshots")).unwrap().count(), 3);
        assert_eq!(std::fs::read_dir(folder.path().join("store/plugins")).unwrap().count(), 0);
    }

    #[tokio::test]
    async fn what_failed_uploads_left_goes_once_nobody_writes_to_it() {
        let folder = tempfile::tempdir().unwrap();
        let files = ObjectStorage::open(&format!("file:{}", folder.path().display())).unwrap();
        assert_eq!(files.remove_stale_uploads(Duration::ZERO, false).await.unwrap(), []);
        std::fs::create_dir(folder.path().join("snapshots")).unwrap();
        let path = folder.path().join("snapshots").join(format!("{}.parquet#1", "a".repeat(64)));
        for name in [
            path.as_path(),
            &folder.path().join("snapshots/notes#today"),
            &folder.path().join("snapshots/a.parquet"),
        ] {
            std::fs::write(name, b"half").unwrap();
        }
        assert_eq!(files.remove_stale_uploads(Duration::from_secs(3600), false).await.unwrap(), []);
        let leftover = [StaleUpload { path: path.clone(), bytes: 4 }];
        assert_eq!(files.remove_stale_uploads(Duration::ZERO, true).await.unwrap(), leftover);
        assert!(path.exists(), "a dry run removes nothing");
        assert_eq!(files.remove_stale_uploads(Duration::ZERO, false).await.unwrap(), leftover);
        assert_eq!(std::fs::read_dir(folder.path().join("snapshots")).unwrap().count(), 2);
    }
}
