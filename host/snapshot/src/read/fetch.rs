//! Where bytes of stored files are read: on a worker where the store is local, so that reading and
//! decoding are one thread's work; wherever the store likes otherwise.

use std::ops::Range;

use bytes::Bytes;
use yearbook_domain::StoredFile;
use yearbook_workers::Workers;

use crate::{ObjectStorage, StorageFailure};

/// [`Files::get_ranges`].
pub(super) async fn fetch(
    files: &ObjectStorage,
    workers: &Workers,
    file: &StoredFile,
    ranges: &[Range<u64>],
) -> Result<Vec<Bytes>, StorageFailure> {
    if !files.is_local() {
        return files.get_ranges(file, ranges).await;
    }
    let (files, stored, ranges) = (files.clone(), file.clone(), ranges.to_vec());
    let done = workers.run(move || files.get_ranges_blocking(&stored, &ranges)).await;
    done.map_err(|_| StorageFailure::damaged(&ObjectStorage::key(file), "reading it panicked"))?
}
