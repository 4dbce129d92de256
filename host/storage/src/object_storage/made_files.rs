//! Files that are made on this machine and read as if they lay in the store: rows that were put
//! together again. They are temporary files without names, so a process that is killed leaves
//! nothing behind, and they are bounded: what was not read for longest goes.

use std::collections::HashMap;
use std::fs::File;
use std::io::Seek as _;
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use yearbook_domain::{Digest, StoredFile};

use super::hash::hash_file;
use super::{ObjectStorage, Sidecar};
use crate::StorageFailure;

/// Time after its last use in which a file is not given up: a response may be about to read on.
const IDLE: Duration = Duration::from_secs(600);

/// Files made on this machine. Clones share them.
#[derive(Clone, Debug)]
pub struct MadeFiles {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    /// Bytes of all files at most.
    capacity: u64,
    /// Number of files, read without the lock.
    count: AtomicUsize,
    files: Mutex<HashMap<Digest, Entry>>,
}

#[derive(Debug)]
struct Entry {
    file: Arc<MadeFile>,
    used: Instant,
}

/// A file that was made, and what stands beside it. Values do not: they are counted where one asks.
#[derive(Debug)]
pub struct MadeFile {
    stored: StoredFile,
    file: File,
    /// Head and chunks of the bounds of rows.
    bounds: Option<(Bytes, File)>,
    /// Bytes of everything.
    bytes: u64,
}

impl MadeFile {
    /// Blocking: takes a finished file.
    ///
    /// # Errors
    /// Fails where a temporary file cannot be read.
    pub fn new(mut file: File) -> std::io::Result<Self> {
        file.rewind()?;
        let (stored, _) = hash_file(&mut file)?;
        let bytes = stored.bytes;
        Ok(Self { stored, file, bounds: None, bytes })
    }

    /// Adds bounds of rows: head and chunks.
    ///
    /// # Errors
    /// As [`MadeFile::new`].
    pub fn with_bounds(mut self, head: Vec<u8>, chunks: File) -> std::io::Result<Self> {
        self.bytes += head.len() as u64 + chunks.metadata()?.len();
        self.bounds = Some((head.into(), chunks));
        Ok(self)
    }

    /// Returns what it is called.
    #[must_use]
    pub fn stored(&self) -> &StoredFile {
        &self.stored
    }

    /// Blocking: bytes of the file.
    pub(super) fn read(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>, StorageFailure> {
        let one = |range: &Range<u64>| {
            if range.start > range.end || range.end > self.stored.bytes {
                let why = format!("it refers to bytes {range:?} of {}", self.stored.bytes);
                return Err(StorageFailure::damaged(&ObjectStorage::key(&self.stored), why));
            }
            read_at(&self.file, range.start, range.end - range.start).map_err(unreadable)
        };
        ranges.iter().map(one).collect()
    }

    /// Blocking: all of what stands beside it.
    pub(super) fn sidecar(&self, sidecar: Sidecar) -> Result<Option<Bytes>, StorageFailure> {
        match (sidecar, &self.bounds) {
            (Sidecar::Values, _) | (Sidecar::Bounds, None) => Ok(None),
            (Sidecar::Bounds, Some((head, chunks))) => {
                let rest = read_all(chunks).map_err(unreadable)?;
                Ok(Some([&head[..], &rest].concat().into()))
            }
        }
    }

    /// Blocking: a part of what stands beside it, as far as there is so much.
    pub(super) fn sidecar_range(
        &self,
        sidecar: Sidecar,
        range: &Range<u64>,
    ) -> Result<Option<Bytes>, StorageFailure> {
        let (head, body) = match (sidecar, &self.bounds) {
            (Sidecar::Bounds, Some((head, chunks))) => (head.clone(), chunks),
            (Sidecar::Values, _) | (Sidecar::Bounds, None) => return Ok(None),
        };
        let skipped = head.len() as u64;
        let length = body.metadata().map_err(unreadable)?.len();
        let at = |offset: u64| usize::try_from(offset.min(skipped)).unwrap_or(usize::MAX);
        let first = head.slice(at(range.start)..at(range.end.max(range.start)));
        let start = range.start.max(skipped) - skipped;
        let end = (range.end.max(skipped) - skipped).min(length);
        if end <= start {
            return Ok(Some(first));
        }
        let rest = read_at(body, start, end - start).map_err(unreadable)?;
        Ok(Some(if first.is_empty() { rest } else { [first, rest].concat().into() }))
    }
}

fn read_all(file: &File) -> std::io::Result<Bytes> {
    read_at(file, 0, file.metadata()?.len())
}

fn read_at(file: &File, start: u64, length: u64) -> std::io::Result<Bytes> {
    let length = usize::try_from(length).map_err(std::io::Error::other)?;
    let mut bytes = vec![0; length];
    file.read_exact_at(&mut bytes, start)?;
    Ok(bytes.into())
}

fn unreadable(source: std::io::Error) -> StorageFailure {
    StorageFailure::local("read a temporary file in", &std::env::temp_dir(), source)
}

impl MadeFiles {
    /// No file yet, and at most `capacity` bytes of them.
    #[must_use]
    pub fn new(capacity: u64) -> Self {
        let shared = Shared { capacity, count: AtomicUsize::new(0), files: Mutex::default() };
        Self { shared: Arc::new(shared) }
    }

    /// Adds a file. Gives up others that were not read for a while, where they take too much
    /// together; returns false, and adds nothing, where that does not do.
    #[must_use]
    pub fn insert(&self, file: Arc<MadeFile>) -> bool {
        let mut files = self.lock();
        files.remove(&file.stored.sha256);
        let mut bytes: u64 = files.values().map(|entry| entry.file.bytes).sum();
        while bytes.saturating_add(file.bytes) > self.shared.capacity {
            let oldest = files.iter().min_by_key(|(_, entry)| entry.used);
            let Some((&digest, entry)) = oldest.filter(|(_, entry)| entry.used.elapsed() >= IDLE)
            else {
                return false;
            };
            bytes -= entry.file.bytes;
            files.remove(&digest);
        }
        files.insert(file.stored.sha256, Entry { file, used: Instant::now() });
        self.shared.count.store(files.len(), Ordering::Release);
        true
    }

    /// Returns the file with this digest, which is used from now on; `None` where there is none.
    #[must_use]
    pub fn find(&self, sha256: &Digest) -> Option<Arc<MadeFile>> {
        // Hardly any read asks for one.
        if self.shared.count.load(Ordering::Acquire) == 0 {
            return None;
        }
        let mut files = self.lock();
        let entry = files.get_mut(sha256)?;
        entry.used = Instant::now();
        Some(Arc::clone(&entry.file))
    }

    /// Returns whether the file with this digest is there; asking is no use of it.
    #[must_use]
    pub fn contains(&self, sha256: &Digest) -> bool {
        self.lock().contains_key(sha256)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Digest, Entry>> {
        self.shared.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl From<Arc<MadeFile>> for MadeFiles {
    /// Nothing but this file.
    fn from(file: Arc<MadeFile>) -> Self {
        let files = Self::new(file.bytes);
        files.shared.count.store(1, Ordering::Release);
        files.lock().insert(file.stored.sha256, Entry { file, used: Instant::now() });
        files
    }
}

impl ObjectStorage {
    /// The same store, in which files of `made` are found too.
    #[must_use]
    pub fn with_made_files(&self, made: MadeFiles) -> Self {
        Self { made_files: Some(made), ..self.clone() }
    }

    /// Returns whether the file was made on this machine.
    #[must_use]
    pub fn is_made(&self, file: &StoredFile) -> bool {
        self.made_file(file).is_some()
    }

    /// The file, where it was made on this machine.
    pub(super) fn made_file(&self, file: &StoredFile) -> Option<Arc<MadeFile>> {
        self.made_files.as_ref()?.find(&file.sha256)
    }
}
