//! Checksums of a stored file's blocks, so that a flipped bit is noticed wherever it is read
//! without reading the rest of the file. Parquet's own page checksums are optional, leave out the
//! footer, and are not written by the `parquet` crate. Kept beside the file as an object of its
//! own.

use std::sync::Arc;

use bytes::{BufMut, Bytes, BytesMut};
use yearbook_domain::Digest;

/// Bytes covered by one checksum. Reads are widened to whole blocks, so it trades reading a little
/// more against holding a little more: a file's sums are a 4,096th of its size.
pub(super) const BLOCK_BYTES: u64 = BLOCK_USIZE as u64;

/// The same as a length in memory.
const BLOCK_USIZE: usize = 16 << 10;

/// CRC-32 of every [`BLOCK_BYTES`] of a file, in order; the last block may be shorter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct BlockChecksums(Vec<u32>);

impl BlockChecksums {
    /// The stored form: each sum little-endian, then the CRC-32 of all that.
    pub(super) fn to_bytes(&self) -> Bytes {
        let mut bytes = BytesMut::with_capacity(self.size());
        self.0.iter().for_each(|sum| bytes.put_u32_le(*sum));
        bytes.put_u32_le(crc32fast::hash(&bytes));
        bytes.freeze()
    }

    /// Reads the stored form; `None` when it is damaged or is not of a file of `file_bytes`.
    pub(super) fn parse(bytes: &[u8], file_bytes: u64) -> Option<Self> {
        Self::parse_any(bytes).filter(|sums| sums.are_of(file_bytes))
    }

    /// Reads the stored form of a file of any size; `None` when it is damaged.
    pub(super) fn parse_any(bytes: &[u8]) -> Option<Self> {
        let (sums, own) = bytes.split_last_chunk::<4>()?;
        let (sums, rest) = sums.as_chunks::<4>();
        let intact = u32::from_le_bytes(*own) == crc32fast::hash(sums.as_flattened());
        (rest.is_empty() && intact)
            .then(|| Self(sums.iter().map(|sum| u32::from_le_bytes(*sum)).collect()))
    }

    /// Returns whether they are of a file of so many bytes, to the block.
    pub(super) fn are_of(&self, file_bytes: u64) -> bool {
        self.0.len() as u64 == file_bytes.div_ceil(BLOCK_BYTES)
    }

    /// Size of the stored form of a file of `file_bytes`, bytes.
    pub(super) fn stored_size(file_bytes: u64) -> u64 {
        (file_bytes.div_ceil(BLOCK_BYTES) + 1) * 4
    }

    /// Weight of an entry of a cache of checksums, bytes.
    pub(super) fn weight(_: &Digest, sums: &Arc<Self>) -> u32 {
        u32::try_from(size_of::<Digest>() + sums.size()).unwrap_or(u32::MAX)
    }

    /// Size of the stored form in bytes, of the form in memory too.
    pub(super) fn size(&self) -> usize {
        (self.0.len() + 1) * 4
    }

    /// Checks `bytes`, which begin at offset `at` of the file, both ends being those of blocks. On
    /// a mismatch, the offset of the first bad block.
    pub(super) fn check(&self, at: u64, bytes: &[u8]) -> Result<(), u64> {
        let first = usize::try_from(at / BLOCK_BYTES).unwrap_or(usize::MAX);
        let sums = self.0.get(first..).unwrap_or_default();
        for (index, block) in bytes.chunks(BLOCK_USIZE).enumerate() {
            if sums.get(index).is_none_or(|sum| *sum != crc32fast::hash(block)) {
                return Err(at + index as u64 * BLOCK_BYTES);
            }
        }
        Ok(())
    }
}

/// Makes [`BlockChecksums`] of bytes that arrive piece by piece.
#[derive(Default)]
pub(super) struct BlockChecksumBuilder {
    done: Vec<u32>,
    block: crc32fast::Hasher,
    filled: u64,
}

impl BlockChecksumBuilder {
    /// Takes in the next bytes.
    pub(super) fn update(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let room =
                usize::try_from(BLOCK_BYTES - self.filled).unwrap_or(usize::MAX).min(bytes.len());
            let (now, later) = bytes.split_at(room);
            self.block.update(now);
            self.filled += now.len() as u64;
            if self.filled == BLOCK_BYTES {
                self.close_block();
            }
            bytes = later;
        }
    }

    /// The sums of everything taken in.
    pub(super) fn finish(mut self) -> BlockChecksums {
        if self.filled > 0 {
            self.close_block();
        }
        BlockChecksums(self.done)
    }

    fn close_block(&mut self) {
        self.done.push(std::mem::take(&mut self.block).finalize());
        self.filled = 0;
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn sums_do_not_depend_on_how_bytes_arrive_and_notice_every_flip() {
        let bytes: Vec<u8> =
            (0..BLOCK_BYTES * 2 + 77).map(|i| u8::try_from(i * 7 % 251).unwrap()).collect();
        let of = |size: usize| {
            let mut summing = BlockChecksumBuilder::default();
            bytes.chunks(size).for_each(|piece| summing.update(piece));
            summing.finish()
        };
        let sums = of(bytes.len());
        assert!([1, 100, BLOCK_USIZE, BLOCK_USIZE + 1].into_iter().all(|size| of(size) == sums));
        assert_eq!(sums.check(0, &bytes), Ok(()));
        assert_eq!(sums.check(BLOCK_BYTES, &bytes[BLOCK_USIZE..]), Ok(()));
        for at in [0, 5, BLOCK_USIZE, bytes.len() - 1] {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1;
            assert_eq!(sums.check(0, &flipped), Err(at as u64 / BLOCK_BYTES * BLOCK_BYTES));
        }
        assert!(sums.check(BLOCK_BYTES * 3, b"past the end").is_err());
    }

    #[test]
    fn the_stored_form_is_refused_when_any_bit_of_it_flips() {
        for length in [0_u64, 1, BLOCK_BYTES, BLOCK_BYTES + 1] {
            let mut summing = BlockChecksumBuilder::default();
            summing.update(&vec![3; usize::try_from(length).unwrap()]);
            let sums = summing.finish();
            let stored = sums.to_bytes();
            assert_eq!(stored.len(), sums.size());
            assert_eq!(BlockChecksums::parse(&stored, length), Some(sums));
            assert_eq!(BlockChecksums::parse(&stored, length + BLOCK_BYTES), None);
            assert_eq!(BlockChecksums::parse(&stored[1..], length), None);
            for bit in 0..stored.len() * 8 {
                let mut flipped = stored.to_vec();
                flipped[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(BlockChecksums::parse(&flipped, length), None);
            }
        }
    }
}
