//! A stored file as it is, in chunks (spec-4.3-file): every block checked, never the whole
//! file in memory.

use std::ops::Range;

use bytes::Bytes;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use yearbook_domain::StoredFile;

use super::ObjectStorage;
use super::block_checksums::BLOCK_BYTES;
use crate::StorageFailure;

/// Bytes of a chunk at most. One is in memory for each stream, two while a client takes the last;
/// larger ones would make fewer requests of a remote store. Whole blocks, so that none is read
/// twice.
const MAX_CHUNK_BYTES: u64 = 64 * BLOCK_BYTES;

/// Bytes of the first chunk at most; each that follows has up to four times as many. A client that
/// reads nothing holds a small one, and one that reads has two requests more for each file.
const FIRST_CHUNK_BYTES: u64 = 4 * BLOCK_BYTES;

impl ObjectStorage {
    /// Bytes `range` of a stored file as chunks of [`MAX_CHUNK_BYTES`] at most, none of them empty,
    /// the first ones smaller. Each is fetched when it is asked for and not before, with about as
    /// many bytes as `room` says then, and one block at least. What comes is what was published;
    /// the stream ends after its first failure, so that a file that is damaged further on cannot be
    /// taken for a whole one.
    ///
    /// # Errors
    /// Those of [`ObjectStorage::get_range`], as items.
    #[must_use]
    pub fn stream(
        &self,
        file: &StoredFile,
        range: Range<u64>,
        room: impl Fn() -> u64 + Send + 'static,
    ) -> BoxStream<'static, Result<Bytes, StorageFailure>> {
        let state = (self.clone(), file.clone(), range, FIRST_CHUNK_BYTES, room);
        let steps = stream::unfold(state, |(files, file, range, most, room)| async move {
            if range.is_empty() {
                return None;
            }
            let blocks = (most.min(room()) / BLOCK_BYTES).max(1);
            let end = range.end.min((range.start / BLOCK_BYTES + blocks) * BLOCK_BYTES);
            let got = files.get_range(&file, range.start..end).await;
            // An empty range is the end of the stream.
            let rest = if got.is_ok() { end..range.end } else { 0..0 };
            Some((got, (files, file, rest, MAX_CHUNK_BYTES.min(most * 4), room)))
        });
        steps.boxed()
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use tempfile::TempDir;

    use super::*;

    /// Bytes that differ from block to block, ending within a block.
    fn content() -> Vec<u8> {
        (0..MAX_CHUNK_BYTES * 2 + 12_345).map(|at| u8::try_from(at * 31 % 251).unwrap()).collect()
    }

    async fn stored() -> (TempDir, ObjectStorage, StoredFile) {
        let folder = tempfile::tempdir().unwrap();
        let files =
            ObjectStorage::open(&format!("file:{}", folder.path().join("objects").display()))
                .unwrap();
        let local = folder.path().join("local");
        std::fs::write(&local, content()).unwrap();
        let file = files.put_snapshot(&local).await.unwrap();
        (folder, files, file)
    }

    #[tokio::test]
    async fn any_range_arrives_byte_for_byte_in_bounded_chunks() {
        let (_folder, files, file) = stored().await;
        let content = content();
        for range in [
            0..file.bytes,
            0..1,
            5..5,
            MAX_CHUNK_BYTES - 1..MAX_CHUNK_BYTES + 1,
            MAX_CHUNK_BYTES..MAX_CHUNK_BYTES * 2,
            7..file.bytes - 7,
            file.bytes - 1..file.bytes,
        ] {
            let chunks: Vec<Bytes> =
                files.stream(&file, range.clone(), || u64::MAX).map(Result::unwrap).collect().await;
            assert!(
                chunks
                    .iter()
                    .all(|chunk| !chunk.is_empty() && chunk.len() as u64 <= MAX_CHUNK_BYTES),
                "{range:?}"
            );
            let expected = &content
                [usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap()];
            assert!(chunks.concat() == expected, "{range:?}");
        }
    }

    #[tokio::test]
    async fn chunks_grow_from_a_small_first_one_and_shrink_to_a_block_where_there_is_no_room() {
        let (_folder, files, file) = stored().await;
        let sizes = async |room: u64| {
            let chunks: Vec<Bytes> = files
                .stream(&file, 0..file.bytes, move || room)
                .map(Result::unwrap)
                .collect()
                .await;
            assert!(chunks.concat() == content());
            chunks.iter().map(|chunk| chunk.len() as u64).collect::<Vec<_>>()
        };
        let ample = sizes(u64::MAX).await;
        assert_eq!(ample[..3], [FIRST_CHUNK_BYTES, 4 * FIRST_CHUNK_BYTES, MAX_CHUNK_BYTES]);
        let (last, tight) =
            sizes(0).await.split_last().map(|(last, rest)| (*last, rest.to_vec())).unwrap();
        assert!(tight.iter().all(|bytes| *bytes == BLOCK_BYTES) && last <= BLOCK_BYTES);
        assert!(sizes(3 * BLOCK_BYTES + 1).await.iter().all(|bytes| *bytes <= 3 * BLOCK_BYTES));
    }

    #[tokio::test]
    async fn a_damaged_block_ends_the_stream_with_a_failure() {
        let (folder, files, file) = stored().await;
        let path = folder.path().join("objects").join(ObjectStorage::key(&file));
        let mut damaged = content();
        damaged[usize::try_from(MAX_CHUNK_BYTES * 3 / 2).unwrap()] ^= 1;
        std::fs::write(path, damaged).unwrap();
        let items: Vec<_> = files.stream(&file, 0..file.bytes, || u64::MAX).collect().await;
        let (last, before) = items.split_last().unwrap();
        assert!(!before.is_empty() && before.iter().all(Result::is_ok));
        assert!(matches!(last, Err(StorageFailure::Damaged { .. })), "{last:?}");
    }
}
