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
    /// Descriptors of all files at most.
    descriptors: u64,
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

    /// Returns the bytes of everything.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Descriptors that it takes.
    fn descriptors(&self) -> u64 {
        1 + u64::from(self.bounds.is_some())
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
    /// Descriptors of all files at most, however few bytes they have.
    pub const DESCRIPTORS: u64 = 512;

    /// No file yet, and at most `capacity` bytes of them.
    #[must_use]
    pub fn new(capacity: u64) -> Self {
        Self::with_descriptors(capacity, Self::DESCRIPTORS)
    }

    /// The same with so many descriptors at most.
    fn with_descriptors(capacity: u64, descriptors: u64) -> Self {
        let (count, files) = (AtomicUsize::new(0), Mutex::default());
        Self { shared: Arc::new(Shared { capacity, descriptors, count, files }) }
    }

    /// Returns the bytes of all files at most.
    #[must_use]
    pub fn capacity(&self) -> u64 {
        self.shared.capacity
    }

    /// Returns whether a file of so many bytes can be added now.
    #[must_use]
    pub fn has_room(&self, bytes: u64) -> bool {
        self.shared.holds(used_of_late(&self.lock()), (bytes, 1))
    }

    /// Adds a file. Gives up others that were not read for a while, where they take too much
    /// together; returns false, and changes nothing, where that does not do.
    #[must_use]
    pub fn insert(&self, file: Arc<MadeFile>) -> bool {
        let mut files = self.lock();
        if let Some(entry) = files.get_mut(&file.stored.sha256) {
            entry.used = Instant::now();
            return true;
        }
        let added = (file.bytes, file.descriptors());
        if !self.shared.holds(used_of_late(&files), added) {
            return false;
        }
        while !self.shared.holds(files.values(), added) {
            let oldest = files.iter().min_by_key(|(_, entry)| entry.used);
            let Some(oldest) = oldest.map(|(digest, _)| *digest) else { break };
            files.remove(&oldest);
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

impl Shared {
    /// Returns whether there is room for `entries` and a file of so many bytes and descriptors.
    fn holds<'a>(&self, entries: impl Iterator<Item = &'a Entry>, added: (u64, u64)) -> bool {
        let (bytes, descriptors) =
            entries.fold(added, |(bytes, descriptors), Entry { file, .. }| {
                (bytes.saturating_add(file.bytes), descriptors + file.descriptors())
            });
        bytes <= self.capacity && descriptors <= self.descriptors
    }
}

/// Entries whose files are not given up.
fn used_of_late(files: &HashMap<Digest, Entry>) -> impl Iterator<Item = &Entry> {
    files.values().filter(|entry| entry.used.elapsed() < IDLE)
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

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::io::Write as _;

    use super::*;

    fn make_file(text: &str) -> MadeFile {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        MadeFile::new(file).unwrap()
    }

    /// Lets a while pass since `file` was used.
    fn age(made: &MadeFiles, file: &MadeFile) {
        let past = Instant::now().checked_sub(IDLE).unwrap();
        made.lock().get_mut(&file.stored.sha256).unwrap().used = past;
    }

    #[test]
    fn files_are_bounded_in_bytes_and_descriptors_and_what_is_in_use_stays_contract_21() {
        let made = MadeFiles::with_descriptors(64, 4);
        let bounded = make_file("b").with_bounds(vec![0], tempfile::tempfile().unwrap()).unwrap();
        let files = [make_file("a"), bounded, make_file("c")].map(Arc::new);
        let there = || files.each_ref().map(|file| made.contains(&file.stored.sha256));
        for file in &files {
            assert!(made.insert(Arc::clone(file)));
        }
        let next = Arc::new(make_file("d"));
        assert!(!made.has_room(1) && !made.insert(Arc::clone(&next)));
        assert!(made.insert(Arc::clone(&files[0])), "it is there already");
        assert_eq!(there(), [true; 3]);

        age(&made, &files[1]);
        assert!(!made.insert(Arc::new(make_file(&"e".repeat(65)))));
        assert_eq!(there(), [true; 3], "nothing is given up for what has no room all the same");
        assert!(made.has_room(1) && made.insert(next));
        assert_eq!(there(), [true, false, true]);
        // The second had two descriptors.
        assert!(made.insert(Arc::new(make_file("f"))) && !made.has_room(1));
    }
}
