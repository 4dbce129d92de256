//! The rows that come first in a sort order: keys and numbers of so many rows, and of no others.

use std::collections::BinaryHeap;

use arrow::row::Rows;

use super::budget::SelectionPermit;
use crate::StorageFailure;

/// Bytes that a held key takes beside its own: its place in the heap, and its allocation.
pub(super) const KEY_OVERHEAD_BYTES: u64 = 64;

/// A row by its key and its number.
type KeyedRow = (Box<[u8]>, u64);

/// The rows that come first of those that were offered. Of equal rows the one with the smaller
/// number comes first.
pub(super) struct BestRows {
    /// Rows that are held at most.
    most: usize,
    /// The row that comes first, where a page before ended; rows before it are left out.
    from: Option<KeyedRow>,
    /// The last one on top.
    held: BinaryHeap<KeyedRow>,
    bytes: u64,
    room: SelectionPermit,
    /// Failure that kept rows from being held; no more are held then.
    failure: Option<StorageFailure>,
}

impl BestRows {
    /// No row yet. Holds `most` at most, of those that come at or behind `from`, in `room`, which
    /// grows with them.
    pub(super) fn new(most: usize, from: Option<KeyedRow>, room: SelectionPermit) -> Self {
        Self { most, from, held: BinaryHeap::new(), bytes: 0, room, failure: None }
    }

    /// Offers rows by their keys and numbers.
    pub(super) fn offer_all(&mut self, keys: &Rows, numbers: &[u64]) {
        for (key, &number) in keys.iter().zip(numbers) {
            if self.failure.is_some() {
                return;
            }
            self.offer(key.data(), number);
        }
    }

    fn offer(&mut self, key: &[u8], number: u64) {
        let is_before = |(other, first): &KeyedRow| (key, number) < (&**other, *first);
        if self.from.as_ref().is_some_and(is_before) {
            return;
        }
        let last = if self.held.len() < self.most { None } else { self.held.peek() };
        if (self.held.len() >= self.most) && !last.is_some_and(is_before) {
            return;
        }
        let freed = last.map_or(0, |(key, _)| held_bytes(key));
        self.bytes = self.bytes - freed + held_bytes(key);
        if let Err(failure) = self.room.grow_to(self.bytes) {
            (self.failure, self.held) = (Some(failure), BinaryHeap::new());
        } else if freed == 0 {
            self.held.push((key.into(), number));
        } else if let Some(mut last) = self.held.peek_mut() {
            *last = (key.into(), number);
        }
    }

    /// Ends the search where keys found no room.
    ///
    /// # Errors
    /// See [`SelectionPermit::grow_to`].
    pub(super) fn check(self) -> Result<Self, StorageFailure> {
        self.failure.clone().map_or(Ok(self), Err)
    }

    /// The rows in order, with their keys, and the room that they take.
    pub(super) fn into_sorted(self) -> (Vec<KeyedRow>, SelectionPermit) {
        (self.held.into_sorted_vec(), self.room)
    }
}

fn held_bytes(key: &[u8]) -> u64 {
    key.len() as u64 + KEY_OVERHEAD_BYTES
}
