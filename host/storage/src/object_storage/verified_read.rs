//! Reading with every byte checked against the sums that were made when the file was published.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use object_store::ObjectStoreExt;
use object_store::path::Path as Key;
use yearbook_domain::StoredFile;

use super::block_checksums::{BLOCK_BYTES, BlockChecksums};
use super::hash::{FileHasher, run_blocking};
use super::{CHECKSUM_CACHE_BYTES, ObjectStorage, TRANSFER_BYTES};
use crate::StorageFailure;

/// Bytes whose sums are checked where they arrive: less work than handing them to another thread.
const INLINE_VERIFY_BYTES: usize = 256 << 10;

impl ObjectStorage {
    /// [`ObjectStorage::get_ranges`].
    pub(super) async fn get_ranges_verified(
        &self,
        file: &StoredFile,
        ranges: &[Range<u64>],
    ) -> Result<Vec<Bytes>, StorageFailure> {
        if let Some(made) = self.made_file(file) {
            let ranges = ranges.to_vec();
            return run_blocking(move || made.read(&ranges)).await?;
        }
        if let Some(local) = &self.local_folder {
            let (local, file, ranges) = (Arc::clone(local), file.clone(), ranges.to_vec());
            let within = self.folder_of(&file);
            return run_blocking(move || local.read(&file, within, &ranges)).await?;
        }
        let blocks = Arc::new(BlockRanges::covering(file, ranges)?);
        let sums = self.checksums(file).await?;
        blocks.check_number(&sums)?;
        match self.verified(file, &blocks, &sums).await {
            // What is damaged in the store stays so; what was damaged on its way comes whole the
            // next time.
            Err(StorageFailure::Damaged { key, why }) => {
                tracing::warn!(
                    key,
                    why,
                    "what came from the object store is damaged; reading it once more"
                );
                self.verified(file, &blocks, &sums).await
            }
            got => got,
        }
    }

    async fn verified(
        &self,
        file: &StoredFile,
        blocks: &Arc<BlockRanges>,
        sums: &Arc<BlockChecksums>,
    ) -> Result<Vec<Bytes>, StorageFailure> {
        let got = self.fetch_ranges(file, blocks.ranges()).await?;
        let few = got.iter().map(Bytes::len).sum::<usize>() <= INLINE_VERIFY_BYTES;
        let (blocks, sums) = (Arc::clone(blocks), Arc::clone(sums));
        let check = move || blocks.verified(&sums, &got);
        if few { check() } else { run_blocking(check).await? }
    }

    /// Returns whether the store holds exactly these bytes. Reads all of them: for publishing, and
    /// to looks for damage.
    ///
    /// # Errors
    /// The store's refusal; absence and damage are none.
    pub async fn is_intact(&self, file: &StoredFile) -> Result<bool, StorageFailure> {
        Ok(self.exists(file).await? && self.hash_stored_file(file).await?.0 == *file)
    }

    /// Returns whether the store holds every block of a file as its checksums say. Reads the file a
    /// few MiB at a time.
    ///
    /// # Errors
    /// The store's refusal; absence and damage are none.
    pub async fn blocks_are_intact(&self, file: &StoredFile) -> Result<bool, StorageFailure> {
        let mut at = 0;
        while at < file.bytes {
            let end = file.bytes.min(at + TRANSFER_BYTES as u64);
            match self.get_range(file, at..end).await {
                Ok(_) => at = end,
                Err(failure) if failure.is_of_one_snapshot() => return Ok(false),
                Err(failure) => return Err(failure),
            }
        }
        Ok(true)
    }

    /// Bytes as the store has them, within the time that a read may take.
    async fn fetch_ranges(
        &self,
        file: &StoredFile,
        ranges: &[Range<u64>],
    ) -> Result<Vec<Bytes>, StorageFailure> {
        let within = self.remote_settings.settings.read_timeout();
        let late = |_| Err(StorageFailure::Timeout { key: Self::key(file), within });
        tokio::time::timeout(within, self.request_ranges(file, ranges)).await.unwrap_or_else(late)
    }

    async fn request_ranges(
        &self,
        file: &StoredFile,
        ranges: &[Range<u64>],
    ) -> Result<Vec<Bytes>, StorageFailure> {
        let key = self.key_of(file);
        let got = match self.store.get_ranges(&Key::from(key.as_str()), ranges).await {
            Ok(got) => got,
            Err(object_store::Error::NotFound { .. }) => {
                return Err(StorageFailure::Missing { key });
            }
            Err(source) => {
                // A store reports a range past the end in its own words; the size tells which it
                // was.
                return Err(match self.size(file).await {
                    Ok(None) => StorageFailure::Missing { key },
                    Ok(Some(size)) if size != file.bytes => {
                        StorageFailure::wrong_size(&key, size, file)
                    }
                    _ => StorageFailure::store(&key, source),
                });
            }
        };
        let complete = got.len() == ranges.len()
            && got
                .iter()
                .zip(ranges)
                .all(|(bytes, range)| bytes.len() as u64 == range.end - range.start);
        if complete {
            Ok(got)
        } else {
            Err(StorageFailure::damaged(&key, "the store returned fewer bytes than asked for"))
        }
    }

    /// The file's block sums, from memory, from beside the file, or, where those are lost, from the
    /// file itself once its digest has been found right. One load at a time.
    async fn checksums(&self, file: &StoredFile) -> Result<Arc<BlockChecksums>, StorageFailure> {
        let load = async {
            if let Some(sums) = self.stored_checksums(file).await? {
                return Ok(Arc::new(sums));
            }
            warn_of_lost_checksums(file);
            let (found, sums) = self.hash_stored_file(file).await?;
            validate_recomputed(file, &found, sums)
        };
        self.checksums
            .try_get_with(file.sha256, load)
            .await
            .map_err(|shared: Arc<StorageFailure>| StorageFailure::clone(&shared))
    }

    /// Checks that the checksums beside `file`, where they are intact, are of as many blocks as it
    /// has. Without them a file of another size is read whole before it is known to be damaged.
    ///
    /// # Errors
    /// [`StorageFailure::Damaged`] where they are of more or fewer; the store's refusal.
    pub(super) async fn check_block_number(&self, file: &StoredFile) -> Result<(), StorageFailure> {
        if self.checksums.contains_key(&file.sha256) {
            return Ok(());
        }
        let key = self.checksums_key_of(file);
        let place = Key::from(key.as_str());
        let bytes = match self.store.head(&place).await {
            Ok(found) => found.size,
            Err(object_store::Error::NotFound { .. }) => return Ok(()),
            Err(source) => return Err(StorageFailure::store(&key, source)),
        };
        // What lies there may have any size.
        if bytes == BlockChecksums::stored_size(file.bytes) || bytes > CHECKSUM_CACHE_BYTES {
            return Ok(());
        }
        let found = self.store.get(&place).await;
        let found = found.map_err(|source| StorageFailure::store(&key, source))?;
        let bytes = found.bytes().await.map_err(|source| StorageFailure::store(&key, source))?;
        match BlockChecksums::parse_any(&bytes) {
            Some(sums) => BlockRanges::covering(file, &[])?.check_number(&sums),
            None => Ok(()),
        }
    }

    /// The checksums beside the file; `None` when they are missing or damaged.
    pub(super) async fn stored_checksums(
        &self,
        file: &StoredFile,
    ) -> Result<Option<BlockChecksums>, StorageFailure> {
        let key = self.checksums_key_of(file);
        let size = BlockChecksums::stored_size(file.bytes);
        match self.store.get(&Key::from(key.as_str())).await {
            // Checked before it is read: what lies there may have any size.
            Ok(found) if found.meta.size != size => Ok(None),
            Ok(found) => {
                let bytes =
                    found.bytes().await.map_err(|source| StorageFailure::store(&key, source))?;
                Ok(BlockChecksums::parse(&bytes, file.bytes))
            }
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(source) => Err(StorageFailure::store(&key, source)),
        }
    }

    async fn hash_stored_file(
        &self,
        file: &StoredFile,
    ) -> Result<(StoredFile, BlockChecksums), StorageFailure> {
        let mut digest = FileHasher::default();
        let mut at = 0;
        while at < file.bytes {
            let end = file.bytes.min(at + TRANSFER_BYTES as u64);
            let pieces = self.fetch_ranges(file, std::slice::from_ref(&(at..end))).await?;
            for piece in pieces {
                digest = digest.and(piece).await?;
            }
            at = end;
        }
        Ok(digest.finish())
    }
}

/// Says that a file has to be read whole.
pub(super) fn warn_of_lost_checksums(file: &StoredFile) {
    let key = ObjectStorage::key(file);
    tracing::warn!(
        key,
        "the checksums beside a snapshot file are missing or damaged; reading the whole file to make them anew"
    );
}

/// `sums` of a file that was `found` to have this digest, if it is the right one.
pub(super) fn validate_recomputed(
    file: &StoredFile,
    found: &StoredFile,
    sums: BlockChecksums,
) -> Result<Arc<BlockChecksums>, StorageFailure> {
    let wrong = || {
        StorageFailure::damaged(
            &ObjectStorage::key(file),
            "its bytes do not have the digest it is named by",
        )
    };
    (found == file).then(|| Arc::new(sums)).ok_or_else(wrong)
}

/// Whole blocks of a file around some ranges, so that every byte of these can be checked.
pub(super) struct BlockRanges {
    file: StoredFile,
    wanted: Vec<Range<u64>>,
    whole: Vec<Range<u64>>,
}

impl BlockRanges {
    /// The blocks around `wanted`. Ranges are checked first: an absurd length must not become an
    /// allocation.
    pub(super) fn covering(
        file: &StoredFile,
        wanted: &[Range<u64>],
    ) -> Result<Self, StorageFailure> {
        if let Some(range) =
            wanted.iter().find(|range| range.start > range.end || range.end > file.bytes)
        {
            let why = format!("it refers to bytes {range:?} of a file of {} bytes", file.bytes);
            return Err(StorageFailure::damaged(&ObjectStorage::key(file), why));
        }
        Ok(Self {
            file: file.clone(),
            wanted: wanted.to_vec(),
            whole: align_to_blocks(wanted, file.bytes),
        })
    }

    /// Refuses a file of another size than `sums` are of, to the block: a size may be one that
    /// somebody only believes.
    pub(super) fn check_number(&self, sums: &BlockChecksums) -> Result<(), StorageFailure> {
        let bytes = self.file.bytes;
        if sums.are_of(bytes) {
            return Ok(());
        }
        let why = format!("{bytes} bytes are not as many as were published");
        Err(StorageFailure::damaged(&ObjectStorage::key(&self.file), why))
    }

    /// Ranges of whole blocks, ascending and apart from each other.
    pub(super) fn ranges(&self) -> &[Range<u64>] {
        &self.whole
    }

    /// The bytes asked for, cut out of `got`, which are those of [`BlockRanges::ranges`], once
    /// every block has been checked.
    pub(super) fn verified(
        &self,
        sums: &BlockChecksums,
        got: &[Bytes],
    ) -> Result<Vec<Bytes>, StorageFailure> {
        for (at, bytes) in self.whole.iter().zip(got) {
            let why =
                |block| format!("the block at byte {block} does not have its published checksum");
            sums.check(at.start, bytes).map_err(|block| {
                StorageFailure::damaged(&ObjectStorage::key(&self.file), why(block))
            })?;
        }
        Ok(self.wanted.iter().map(|range| slice_range(range, &self.whole, got)).collect())
    }
}

/// The fewest ranges of whole blocks that cover `ranges`, ascending and apart from each other.
fn align_to_blocks(ranges: &[Range<u64>], file_bytes: u64) -> Vec<Range<u64>> {
    let widen = |range: &Range<u64>| {
        range.start / BLOCK_BYTES * BLOCK_BYTES
            ..(range.end.div_ceil(BLOCK_BYTES) * BLOCK_BYTES).min(file_bytes)
    };
    let mut wide: Vec<_> = ranges.iter().filter(|range| !range.is_empty()).map(widen).collect();
    wide.sort_unstable_by_key(|range| range.start);
    let mut merged: Vec<Range<u64>> = Vec::with_capacity(wide.len());
    for range in wide {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

/// The part of `got` that is `range`; no bytes are copied.
fn slice_range(range: &Range<u64>, blocks: &[Range<u64>], got: &[Bytes]) -> Bytes {
    let index = blocks.partition_point(|block| block.end <= range.start);
    match (blocks.get(index), got.get(index)) {
        (Some(block), Some(bytes)) if !range.is_empty() => {
            let at = |offset: u64| usize::try_from(offset - block.start).unwrap_or(usize::MAX);
            bytes.slice(at(range.start)..at(range.end))
        }
        _ => Bytes::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_are_widened_to_blocks_and_neighbours_joined() {
        let file = BLOCK_BYTES * 4 + 9;
        let check = |ranges: &[Range<u64>], expected: &[Range<u64>]| {
            assert_eq!(align_to_blocks(ranges, file), expected)
        };
        let one = |range: Range<u64>| [range];
        check(&[], &[]);
        check(&one(5..5), &[]);
        check(&one(5..6), &one(0..BLOCK_BYTES));
        check(&[BLOCK_BYTES * 3 + 1..file, 0..1], &[0..BLOCK_BYTES, BLOCK_BYTES * 3..file]);
        check(&[1..BLOCK_BYTES, BLOCK_BYTES..BLOCK_BYTES + 1], &one(0..BLOCK_BYTES * 2));
        check(&[1..BLOCK_BYTES, 0..2], &one(0..BLOCK_BYTES));
    }
}
