//! The tree of RFC 6962 by ranges of entries: which ranges a proof is made of, which whole subtrees
//! a range is made of, and the hash of both. Holds no hash.

use std::ops::Range;

use crate::Hash;

/// A subtree whose every leaf is there: `2^height` entries from `index * 2^height` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Subtree {
    /// Levels above the leaves.
    pub(crate) height: u32,
    /// Its place among those of its height.
    pub(crate) index: u64,
}

/// Returns the whole subtrees that a range is made of, from left to right. A range begins where a
/// range of a proof may: at a multiple of the largest of them.
pub(crate) fn subtrees(range: &Range<u64>) -> Vec<Subtree> {
    let mut found = Vec::new();
    let mut begin = range.start;
    while begin < range.end {
        let height = begin.trailing_zeros().min((range.end - begin).ilog2());
        found.push(Subtree { height, index: begin >> height });
        begin += 1 << height;
    }
    found
}

/// Returns the hash of a range from those of its whole subtrees, from left to right; `None` without
/// any.
pub(crate) fn root(hashes: impl DoubleEndedIterator<Item = Hash>) -> Option<Hash> {
    hashes.rev().reduce(|right, left| Hash::parent(left, right))
}

/// Returns the ranges whose hashes prove that the entry `index` stands in the tree of `size`
/// entries, from its sibling up (RFC 6962, section 2.1.1). Empty for an index outside of it.
#[must_use]
pub fn inclusion_ranges(index: u64, size: u64) -> Vec<Range<u64>> {
    let mut ranges = Vec::new();
    if index >= size {
        return ranges;
    }
    let mut range = 0..size;
    while range.end - range.start > 1 {
        let middle = split(&range);
        if index < middle {
            ranges.push(middle..range.end);
            range.end = middle;
        } else {
            ranges.push(range.start..middle);
            range.start = middle;
        }
    }
    ranges.reverse();
    ranges
}

/// Returns the ranges whose hashes prove that the tree of `new` entries goes on from that of `old`
/// ones (RFC 6962, section 2.1.2). Empty where either follows from the other without a proof.
#[must_use]
pub fn consistency_ranges(old: u64, new: u64) -> Vec<Range<u64>> {
    let mut ranges = Vec::new();
    if old == 0 || old >= new {
        return ranges;
    }
    let mut range = 0..new;
    while old != range.end {
        let middle = split(&range);
        if old <= middle {
            ranges.push(middle..range.end);
            range.end = middle;
        } else {
            ranges.push(range.start..middle);
            range.start = middle;
        }
    }
    // The whole of the older tree is known to whoever asks.
    if range.start != 0 {
        ranges.push(range);
    }
    ranges.reverse();
    ranges
}

/// Returns where a range of two entries or more is split: behind the largest power of two that is
/// smaller than it.
fn split(range: &Range<u64>) -> u64 {
    range.start + (1 << (range.end - range.start - 1).ilog2())
}

/// Hashes a tree leaf by leaf, in memory that grows with the logarithm of its size.
#[derive(Clone, Debug, Default)]
pub struct TreeHasher {
    /// Whole subtrees from left to right, with their heights.
    subtrees: Vec<(u32, Hash)>,
    size: u64,
}

impl TreeHasher {
    /// Adds the next leaf.
    pub fn push(&mut self, leaf: Hash) {
        let mut added = (0, leaf);
        while let Some((_, left)) = self.subtrees.pop_if(|(height, _)| *height == added.0) {
            added = (added.0 + 1, Hash::parent(left, added.1));
        }
        self.subtrees.push(added);
        self.size += 1;
    }

    /// Returns the number of leaves.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Returns the root of the tree so far.
    #[must_use]
    pub fn root(&self) -> Hash {
        root(self.subtrees.iter().map(|(_, hash)| *hash)).unwrap_or_else(Hash::empty)
    }
}
