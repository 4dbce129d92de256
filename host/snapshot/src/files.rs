//! Stored files, addressed by the SHA-256 of their content (architecture, Tree: `snapshot`). The only
//! module that speaks to the object store; knows nothing of Parquet.

mod digest;
mod store;

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use object_store::path::Path as Key;
use object_store::{ObjectStore, ObjectStoreExt, PutPayload};
use tokio::io::AsyncReadExt;
use yearbook_domain::StoredFile;

use crate::Failure;

/// Bytes held in memory at a time while a file is uploaded: above the least part size of S3 (5 MiB).
const UPLOAD_PART: usize = 8 << 20;

/// The object store that holds snapshots. Cheap to clone.
#[derive(Clone)]
pub struct Files {
    store: Arc<dyn ObjectStore>,
    /// Where the store is a local folder, that folder.
    folder: Option<PathBuf>,
}

impl Files {
    /// Opens the store at `url`: `file:/path/to/folder` (created when absent). Blocks briefly; call at start-up.
    ///
    /// # Errors
    /// [`Failure::Address`] for an address of no known kind, [`Failure::Local`] when the folder cannot be made.
    pub fn open(url: &str) -> Result<Self, Failure> {
        store::open(url)
    }

    /// The same over any store, for stores that [`Files::open`] does not know.
    #[must_use]
    pub fn over(store: Arc<dyn ObjectStore>) -> Self {
        Self { store, folder: None }
    }

    /// Key of a stored file.
    #[must_use]
    pub fn key(file: &StoredFile) -> String {
        format!("snapshots/{}.parquet", file.sha256)
    }

    /// Whether the store answers at all, for readiness checks.
    ///
    /// # Errors
    /// The store's refusal.
    pub async fn ping(&self) -> Result<(), Failure> {
        if let Some(folder) = &self.folder {
            let there = tokio::fs::metadata(folder).await;
            return there.map(drop).map_err(|source| Failure::Local { doing: "read", path: folder.display().to_string(), source });
        }
        match self.store.head(&Key::from("ping")).await {
            Ok(_) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(source) => Err(Failure::Store { key: "ping".to_owned(), source }),
        }
    }

    /// Uploads a finished local file under its digest. It appears whole under its final key or not at all; in a
    /// folder it is written beside it, synced, and renamed. An intact copy that is there already is kept; a
    /// damaged one is replaced, which is how publishing again repairs a store.
    ///
    /// # Errors
    /// [`Failure::Local`] when `path` cannot be read or changes while it is read, [`Failure::Store`] on the store's refusal.
    pub async fn put_snapshot(&self, path: &Path) -> Result<StoredFile, Failure> {
        let file = digest::of_local(path).await?;
        if self.is_intact(&file).await? {
            return Ok(file);
        }
        let name = Self::key(&file);
        let refused = |source| Failure::Store { key: name.clone(), source };
        let mut upload = self.store.put_multipart(&Key::from(name.as_str())).await.map_err(refused)?;
        let sent = async {
            let mut source = tokio::fs::File::open(path).await.map_err(|source| local(path, source))?;
            let mut digest = digest::Running::default();
            loop {
                let part = next_part(&mut source).await.map_err(|source| local(path, source))?;
                if part.is_empty() {
                    break;
                }
                digest = digest.and(part.clone()).await?;
                upload.put_part(PutPayload::from_bytes(part)).await.map_err(refused)?;
            }
            if digest.finish() != file {
                return Err(local(path, std::io::Error::other("it changed while it was being uploaded")));
            }
            upload.complete().await.map_err(refused)
        }
        .await;
        if let Err(failure) = sent {
            // Nothing is visible yet. What stays behind if this fails too is an unfinished upload, never an object.
            let _ = upload.abort().await;
            return Err(failure);
        }
        Ok(file)
    }

    /// Whether the file is there in its full size.
    ///
    /// # Errors
    /// The store's refusal; absence is not one.
    pub async fn exists(&self, file: &StoredFile) -> Result<bool, Failure> {
        Ok(self.size(file).await? == Some(file.bytes))
    }

    /// Size in bytes of what the store holds under the file's key; none when there is nothing.
    ///
    /// # Errors
    /// The store's refusal; absence is not one.
    pub async fn size(&self, file: &StoredFile) -> Result<Option<u64>, Failure> {
        let key = Self::key(file);
        match self.store.head(&Key::from(key.as_str())).await {
            Ok(meta) => Ok(Some(meta.size)),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(source) => Err(Failure::Store { key, source }),
        }
    }

    /// Bytes `range` of a stored file.
    ///
    /// # Errors
    /// As [`Files::get_ranges`].
    pub async fn get_range(&self, file: &StoredFile, range: Range<u64>) -> Result<Bytes, Failure> {
        let mut got = self.get_ranges(file, std::slice::from_ref(&range)).await?;
        got.pop().ok_or_else(|| Failure::Mismatch { what: Self::key(file), why: "the store returned nothing for a range".to_owned() })
    }

    /// Several ranges of a stored file, in the order asked for; neighbouring ones are read together. Each must
    /// be of use to the caller at once: all are held in memory.
    ///
    /// # Errors
    /// [`Failure::Missing`], [`Failure::Damaged`] when a range lies outside the file as published or the stored object is
    /// shorter than it, [`Failure::Store`] on the store's refusal.
    pub async fn get_ranges(&self, file: &StoredFile, ranges: &[Range<u64>]) -> Result<Vec<Bytes>, Failure> {
        let key = Self::key(file);
        // Checked first: an absurd length out of a damaged footer must not become an allocation.
        if let Some(range) = ranges.iter().find(|range| range.start > range.end || range.end > file.bytes) {
            return Err(Failure::Damaged { key, why: format!("it refers to bytes {range:?} of a file of {} bytes", file.bytes) });
        }
        let got = match self.store.get_ranges(&Key::from(key.as_str()), ranges).await {
            Ok(got) => got,
            Err(object_store::Error::NotFound { .. }) => return Err(Failure::Missing { key }),
            Err(source) => {
                // A store reports a range past the end in its own words; the size tells which it was.
                return Err(match self.size(file).await {
                    Ok(Some(size)) if size != file.bytes => short(key, size, file.bytes),
                    Ok(None) => Failure::Missing { key },
                    _ => Failure::Store { key, source },
                });
            }
        };
        let complete =
            got.len() == ranges.len() && got.iter().zip(ranges).all(|(bytes, range)| bytes.len() as u64 == range.end - range.start);
        if complete { Ok(got) } else { Err(Failure::Damaged { key, why: "the store returned fewer bytes than asked for".to_owned() }) }
    }

    /// Whether the store holds exactly these bytes. Reads them all: called by publishing alone.
    async fn is_intact(&self, file: &StoredFile) -> Result<bool, Failure> {
        if !self.exists(file).await? {
            return Ok(false);
        }
        let mut digest = digest::Running::default();
        let mut at = 0;
        while at < file.bytes {
            let end = file.bytes.min(at + UPLOAD_PART as u64);
            digest = digest.and(self.get_range(file, at..end).await?).await?;
            at = end;
        }
        Ok(digest.finish() == *file)
    }
}

impl fmt::Debug for Files {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Files({})", self.store)
    }
}

fn short(key: String, size: u64, expected: u64) -> Failure {
    Failure::Damaged { key, why: format!("{size} bytes are there, {expected} were published") }
}

fn local(path: &Path, source: std::io::Error) -> Failure {
    Failure::Local { doing: "read", path: path.display().to_string(), source }
}

/// Up to [`UPLOAD_PART`] bytes; only the last part is shorter, as stores demand.
async fn next_part(source: &mut tokio::fs::File) -> std::io::Result<Bytes> {
    let mut part = Vec::with_capacity(UPLOAD_PART);
    source.take(UPLOAD_PART as u64).read_to_end(&mut part).await?;
    Ok(part.into())
}

#[cfg(test)]
mod tests;
