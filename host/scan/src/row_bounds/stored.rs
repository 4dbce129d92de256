//! Stored form of the bounds of a file: a head with the digest of that file, its row groups and
//! checksums, then the bounds of each row group.

use std::ops::Range;

use bytes::Bytes;
use yearbook_domain::Digest;

use super::extent::Extent;

/// First bytes: kind and version.
const MAGIC: [u8; 4] = *b"YBB1";

/// Bytes of the head before its row groups.
const PREFIX_BYTES: usize = 40;

/// Bytes of a row group in the head.
const ENTRY_BYTES: usize = 48;

/// Bounds of a row group, and where those of its rows stand.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct GroupEntry {
    pub(super) rows: u32,
    /// Rows whose geometry is null or empty.
    pub(super) empty_rows: u32,
    pub(super) bounds: Extent,
    /// Bytes of the object.
    pub(super) range: Range<u64>,
    /// CRC-32 of them.
    pub(super) checksum: u32,
}

impl GroupEntry {
    /// Returns the bytes of the row group, `None` where they are not what was stored.
    pub(super) fn verify(&self, bytes: Bytes) -> Option<Bytes> {
        (crc32fast::hash(&bytes) == self.checksum).then_some(bytes)
    }
}

/// Returns the head of the bounds of the file `sha256`. Ranges of `groups` are made anew from their
/// lengths.
pub(super) fn head(sha256: &Digest, groups: &[GroupEntry]) -> Vec<u8> {
    let mut head = MAGIC.to_vec();
    head.extend_from_slice(&sha256.to_bytes());
    let number = u32::try_from(groups.len()).unwrap_or(u32::MAX);
    head.extend_from_slice(&number.to_le_bytes());
    for group in groups {
        let bytes = u32::try_from(group.range.end - group.range.start).unwrap_or(u32::MAX);
        for number in [group.rows, group.empty_rows, bytes, group.checksum] {
            head.extend_from_slice(&number.to_le_bytes());
        }
        group.bounds.iter().for_each(|bound| head.extend_from_slice(&bound.to_le_bytes()));
    }
    head.extend_from_slice(&crc32fast::hash(&head).to_le_bytes());
    head
}

/// Returns the length of a head of so many row groups.
pub(super) fn bytes_of_head(groups: usize) -> u64 {
    (PREFIX_BYTES + groups * ENTRY_BYTES + 4) as u64
}

/// Returns the length that the head that `bytes` begin with says that it has; `None` where it is no
/// head. Nothing of it has been checked.
pub(super) fn head_bytes(bytes: &[u8]) -> Option<u64> {
    if !bytes.starts_with(&MAGIC) {
        return None;
    }
    let number = bytes.get(PREFIX_BYTES - 4..)?.first_chunk()?;
    Some(bytes_of_head(u32::from_le_bytes(*number) as usize))
}

/// Reads the head of the bounds of the file `sha256`; `None` where it is damaged or another's.
pub(super) fn parse_head(bytes: &[u8], sha256: &Digest) -> Option<Vec<GroupEntry>> {
    let (mut head, checksum) = bytes.split_last_chunk()?;
    if crc32fast::hash(head) != u32::from_le_bytes(*checksum)
        || *head.split_off(..MAGIC.len())? != MAGIC
        || *head.split_off(..32)? != sha256.to_bytes()
    {
        return None;
    }
    let mut end = bytes.len() as u64;
    let mut entry = |entry: &[u8; ENTRY_BYTES]| {
        let (numbers, bounds) = entry.split_at(16);
        let number = |at: usize| {
            let bytes = numbers.as_chunks::<4>().0.get(at).copied().unwrap_or_default();
            u32::from_le_bytes(bytes)
        };
        let start = end;
        end += u64::from(number(2));
        let mut group = GroupEntry {
            rows: number(0),
            empty_rows: number(1),
            checksum: number(3),
            range: start..end,
            bounds: [0.0; 4],
        };
        for (bound, bytes) in group.bounds.iter_mut().zip(bounds.as_chunks::<8>().0) {
            *bound = f64::from_le_bytes(*bytes);
        }
        group
    };
    let (entries, rest) = head.get(4..)?.as_chunks::<ENTRY_BYTES>();
    rest.is_empty().then(|| entries.iter().map(&mut entry).collect())
}
