//! Reading in a folder of this machine: on the thread that asks, without handing over to another.
//! The caller answers for being on a thread that may block.

use std::fs::File;
use std::io::ErrorKind;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use rustix::buffer::spare_capacity;
use rustix::io::Errno;
use yearbook_cache::BlockingCache;
use yearbook_domain::{Digest, StoredFile};

use super::block_checksums::BlockChecksums;
use super::verified_read::BlockRanges;
use super::{CHECKSUM_CACHE_BYTES, ObjectStorage, hash};
use crate::StorageFailure;

/// A folder that holds snapshots.
pub(super) struct LocalFolder {
    folder: PathBuf,
    /// Block checksums by digest of the file.
    sums: BlockingCache<Digest, Arc<BlockChecksums>>,
}

impl LocalFolder {
    /// The store in `folder`.
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder, sums: BlockingCache::weighted(CHECKSUM_CACHE_BYTES, BlockChecksums::weight) }
    }

    /// The folder of the store.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Blocking: [`ObjectStorage::get_ranges`] of a file in the folder `within`. The file is opened
    /// each time, so that one that was put in its place is seen, one that was deleted is missed,
    /// and its room is given back at once (decision 0112).
    pub(super) fn read(
        &self,
        file: &StoredFile,
        within: &str,
        ranges: &[Range<u64>],
    ) -> Result<Vec<Bytes>, StorageFailure> {
        let blocks = BlockRanges::covering(file, ranges)?;
        let folder = self.folder.join(within);
        let sums = self.checksums(file, &folder)?;
        blocks.check_number(&sums)?;
        let path = folder.join(format!("{}.parquet", file.sha256));
        let refused = |source: std::io::Error| match source.kind() {
            ErrorKind::NotFound => StorageFailure::Missing { key: ObjectStorage::key(file) },
            _ => StorageFailure::local("read", &path, source),
        };
        let opened = File::open(&path).map_err(refused)?;
        let mut got = Vec::with_capacity(blocks.ranges().len());
        for block in blocks.ranges() {
            let bytes = read_range(&opened, block).map_err(refused)?;
            if bytes.len() as u64 != block.end - block.start {
                let size = opened.metadata().map_err(refused)?.len();
                return Err(StorageFailure::wrong_size(&ObjectStorage::key(file), size, file));
            }
            got.push(bytes);
        }
        blocks.verified(&sums, &got)
    }

    /// Blocking: bytes `range` of the object `key` as far as it has them, unchecked; `None` where
    /// there is none.
    pub(super) fn read_object(
        &self,
        key: &str,
        range: &Range<u64>,
    ) -> Result<Option<Bytes>, StorageFailure> {
        let path = self.folder.join(key);
        match File::open(&path).and_then(|opened| read_range(&opened, range)) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(source) if source.kind() == ErrorKind::NotFound => Ok(None),
            Err(source) => Err(StorageFailure::local("read", &path, source)),
        }
    }

    /// The file's block sums: [`ObjectStorage::checksums`].
    fn checksums(
        &self,
        file: &StoredFile,
        folder: &Path,
    ) -> Result<Arc<BlockChecksums>, StorageFailure> {
        let load = || {
            let beside = folder.join(format!("{}.crc32", file.sha256));
            // Its own checksum finds a shorter or longer object than expected.
            let size = BlockChecksums::stored_size(file.bytes);
            let stored = File::open(&beside).and_then(|opened| read_range(&opened, &(0..size)));
            let sums = match stored {
                Ok(bytes) => BlockChecksums::parse(&bytes, file.bytes),
                // The file itself may be readable where they are not.
                Err(_) => None,
            };
            if let Some(sums) = sums {
                return Ok(Arc::new(sums));
            }
            super::verified_read::warn_of_lost_checksums(file);
            let path = folder.join(format!("{}.parquet", file.sha256));
            let (found, sums) = File::open(&path)
                .and_then(|mut opened| hash::hash_file(&mut opened))
                .map_err(|source| match source.kind() {
                    ErrorKind::NotFound => {
                        StorageFailure::Missing { key: ObjectStorage::key(file) }
                    }
                    _ => StorageFailure::local("read", &path, source),
                })?;
            super::verified_read::validate_recomputed(file, &found, sums)
        };
        self.sums
            .try_get_with(file.sha256, load)
            .map_err(|shared: Arc<StorageFailure>| StorageFailure::clone(&shared))
    }
}

/// The bytes of `range` as far as the file has them, by one call as a rule. Memory is not zeroed
/// first.
fn read_range(file: &File, range: &Range<u64>) -> std::io::Result<Bytes> {
    let length = usize::try_from(range.end - range.start).map_err(std::io::Error::other)?;
    let mut bytes = Vec::with_capacity(length);
    while bytes.len() < length {
        let place = range.start + bytes.len() as u64;
        match rustix::io::pread(file, spare_capacity(&mut bytes), place) {
            Ok(0) => break,
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    // An allocator may have given more room than was asked for.
    bytes.truncate(length);
    Ok(bytes.into())
}
