//! Fate of each row of two snapshots: found by a merge of their sorted fingerprints, kept as two
//! bits a row.
use yearbook_sort::SortError;

use super::fingerprints::{Fingerprint, SortedFingerprints};

/// Kind of a change, in Delta's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChangeType {
    Insert,
    Preimage,
    Postimage,
    Delete,
}

impl ChangeType {
    /// The value of `_change_type`.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Insert => "insert",
            Self::Preimage => "update_preimage",
            Self::Postimage => "update_postimage",
            Self::Delete => "delete",
        }
    }
}

/// A row of a batch that changed.
pub(super) type ChangedRow = (u32, ChangeType);

/// Fates of the rows of one snapshot.
pub(super) struct RowFates {
    /// Four rows a byte, the first one lowest: 0 stays, 1 leaves or comes, 2 is updated.
    packed: Vec<u8>,
    /// Kinds of a row that leaves or comes, and of one that is updated.
    kinds: [ChangeType; 2],
    changed: u64,
    /// Rows seen by [`Self::next_changes`].
    seen: usize,
}

impl RowFates {
    fn new(rows: u64, kinds: [ChangeType; 2]) -> Self {
        let bytes = usize::try_from(rows.div_ceil(4)).unwrap_or(usize::MAX);
        Self { packed: vec![0; bytes], kinds, changed: 0, seen: 0 }
    }

    fn set(&mut self, row: u64, fate: u8) {
        let place = usize::try_from(row / 4).unwrap_or(usize::MAX);
        if let Some(byte) = self.packed.get_mut(place) {
            *byte |= fate << (row % 4 * 2);
            self.changed += 1;
        }
    }

    /// Returns true when no row changed.
    pub(super) fn is_unchanged(&self) -> bool {
        self.changed == 0
    }

    /// Changes among the next `rows` rows.
    pub(super) fn next_changes(&mut self, rows: usize) -> Vec<ChangedRow> {
        let first = self.seen;
        self.seen += rows;
        let change = |(row, position): (u32, usize)| {
            let fate = self.packed.get(position / 4)? >> (position % 4 * 2) & 3;
            let kind = self.kinds.get(usize::from(fate).checked_sub(1)?)?;
            Some((row, *kind))
        };
        (0_u32..).zip(first..self.seen).filter_map(change).collect()
    }
}

const MOVES: u8 = 1;
const UPDATED: u8 = 2;

/// Fates of the rows of an older and of a newer snapshot. Where rows are compared whole, the same
/// number of equal rows stays; the last ones of the older snapshot leave, and the first ones of the
/// newer one come, whose equal rows are to be sorted last row first.
pub(super) fn compare(
    (mut older, older_rows): (SortedFingerprints, u64),
    (mut newer, newer_rows): (SortedFingerprints, u64),
) -> Result<[RowFates; 2], SortError> {
    let mut before = RowFates::new(older_rows, [ChangeType::Delete, ChangeType::Preimage]);
    let mut after = RowFates::new(newer_rows, [ChangeType::Insert, ChangeType::Postimage]);
    let (mut old, mut new) = (older.next()?, newer.next()?);
    loop {
        match (old, new) {
            (None, None) => return Ok([before, after]),
            (Some(Fingerprint { key, row, .. }), other)
                if other.is_none_or(|other| key < other.key) =>
            {
                before.set(row, MOVES);
                old = older.next()?;
            }
            (Some(left), Some(right)) if left.key == right.key => {
                if left.content != right.content {
                    before.set(left.row, UPDATED);
                    after.set(right.row, UPDATED);
                }
                (old, new) = (older.next()?, newer.next()?);
            }
            (_, Some(right)) => {
                after.set(right.row, MOVES);
                new = newer.next()?;
            }
            // Guarded by the second arm: nothing is less than what is not there.
            (Some(_), None) => old = older.next()?,
        }
    }
}
