//! The rows that come first in a sort order: keys and numbers of so many rows, and of no others.

use std::collections::BinaryHeap;

use arrow::row::Rows;

/// The rows that come first of those that were offered. Of equal rows the one with the smaller
/// number comes first.
pub(super) struct BestRows {
    /// Rows that are held at most.
    most: usize,
    /// The row that comes first, where a page before ended; rows before it are left out.
    from: Option<(Box<[u8]>, u64)>,
    /// The last one on top.
    held: BinaryHeap<(Box<[u8]>, u64)>,
}

impl BestRows {
    /// No row yet. Holds `most` at most, of those that come at or behind `from`.
    pub(super) fn new(most: usize, from: Option<(Box<[u8]>, u64)>) -> Self {
        Self { most, from, held: BinaryHeap::new() }
    }

    /// Offers rows by their keys and numbers.
    pub(super) fn offer_all(&mut self, keys: &Rows, numbers: &[u64]) {
        for (key, &number) in keys.iter().zip(numbers) {
            self.offer(key.data(), number);
        }
    }

    fn offer(&mut self, key: &[u8], number: u64) {
        let is_before = |(other, first): &(Box<[u8]>, u64)| (key, number) < (&**other, *first);
        if self.from.as_ref().is_some_and(is_before) {
            return;
        }
        if self.held.len() < self.most {
            self.held.push((key.into(), number));
        } else if let Some(mut last) = self.held.peek_mut()
            && is_before(&last)
        {
            *last = (key.into(), number);
        }
    }

    /// The rows in order, with their keys.
    pub(super) fn into_sorted(self) -> Vec<(Box<[u8]>, u64)> {
        self.held.into_sorted_vec()
    }
}
