//! Rows that were found: their numbers where they are few, beyond that one bit for each row that
//! was looked at.

use std::ops::Range;

use arrow::array::BooleanBufferBuilder;
use arrow::buffer::BooleanBuffer;

/// Rows of which the numbers are kept. So many take as long to look through as the bits of a row
/// group or two.
pub(crate) const FEW_ROWS: usize = 16 << 10;

/// Rows of a range that were found, at least one, counted within it.
pub(super) enum RangeRows {
    /// Their numbers, ascending.
    Few(Vec<usize>),
    /// One bit for each row of the range.
    Mask(BooleanBuffer),
}

/// Rows of a file that were found.
#[derive(Clone)]
pub(crate) enum FoundRows {
    /// Their numbers, ascending.
    Few(Vec<u64>),
    /// One bit for each row from one on.
    Mask {
        /// The row of the file that the first bit stands for.
        from: u64,
        /// The bits.
        rows: BooleanBuffer,
    },
}

/// Rows of a file as they are found, range by range.
pub(super) struct FoundRowsBuilder {
    few: Vec<u64>,
    /// Once they are many: the row of the first bit, and the bits.
    mask: Option<(u64, BooleanBufferBuilder)>,
    /// Behind the last row to look at: room for all bits is made at once, since grown step by step
    /// they would be copied as often.
    end: u64,
}

impl RangeRows {
    /// The same as one bit for each row of a range of so many.
    pub(super) fn into_mask(self, length: usize) -> BooleanBuffer {
        match self {
            Self::Mask(mask) => mask,
            Self::Few(rows) => {
                let mut mask = BooleanBufferBuilder::new(length);
                mask.append_n(length, false);
                rows.into_iter().for_each(|row| mask.set_bit(row, true));
                mask.finish()
            }
        }
    }
}

impl FoundRows {
    /// Number of rows.
    pub(crate) fn count(&self) -> usize {
        match self {
            Self::Few(rows) => rows.len(),
            Self::Mask { rows, .. } => rows.count_set_bits(),
        }
    }

    /// Rows from the first that may be among them to behind the last.
    pub(crate) fn span(&self) -> Range<u64> {
        match self {
            Self::Few(rows) => {
                rows.first().zip(rows.last()).map_or(0..0, |(first, last)| *first..last + 1)
            }
            Self::Mask { from, rows } => *from..from + rows.len() as u64,
        }
    }

    /// Numbers of all of them, ascending.
    pub(crate) fn numbers(&self) -> Vec<u64> {
        match self {
            Self::Few(rows) => rows.clone(),
            Self::Mask { from, rows } => rows.set_indices().map(|row| from + row as u64).collect(),
        }
    }
}

impl FoundRowsBuilder {
    /// None yet, of those before `end`.
    pub(super) fn new(end: u64) -> Self {
        Self { few: Vec::new(), mask: None, end }
    }

    /// Adds the first `most` of the rows that were found in the range of `length` rows that begins
    /// at `at`. Returns how many were, and the next row, which is not added.
    pub(super) fn add(
        &mut self,
        at: u64,
        length: usize,
        found: Option<RangeRows>,
        most: usize,
    ) -> (usize, Option<u64>) {
        let Some(found) = found else {
            if let Some((_, mask)) = &mut self.mask {
                mask.append_n(length, false);
            }
            return (0, None);
        };
        let count = match &found {
            RangeRows::Few(rows) => rows.len(),
            RangeRows::Mask(mask) => mask.count_set_bits(),
        };
        let added = count.min(most);
        if self.mask.is_none() && self.few.len() + added <= FEW_ROWS {
            let number = |row: usize| at + row as u64;
            let mut next = None;
            let mut take = |rows: &mut dyn Iterator<Item = usize>| {
                self.few.extend(rows.take(added).map(number));
                next = rows.next().map(number);
            };
            match found {
                RangeRows::Few(rows) => take(&mut rows.into_iter()),
                RangeRows::Mask(mask) => take(&mut mask.set_indices()),
            }
            return (added, next);
        }
        let (_, mask) = self.mask.get_or_insert_with(|| {
            let from = self.few.first().copied().unwrap_or(at);
            let bits = |rows: u64| usize::try_from(rows).unwrap_or(0);
            let mut mask = BooleanBufferBuilder::new(bits(self.end.saturating_sub(from)));
            mask.append_n(bits(at - from), false);
            self.few.drain(..).for_each(|row| mask.set_bit(bits(row - from), true));
            (from, mask)
        });
        let rows = found.into_mask(length);
        let behind = if added < count { rows.set_indices().nth(added) } else { None };
        match behind {
            Some(index) => mask.append_buffer(&rows.slice(0, index)),
            None => mask.append_buffer(&rows),
        }
        (added, behind.map(|index| at + index as u64))
    }

    /// The rows that were found.
    pub(super) fn finish(self) -> FoundRows {
        match self.mask {
            Some((from, mut rows)) => FoundRows::Mask { from, rows: rows.finish() },
            None => FoundRows::Few(self.few),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every `step`th row of ranges of a thousand rows, in either form.
    fn find(ranges: u64, step: usize, most: usize) -> (FoundRows, Option<u64>) {
        let mut built = FoundRowsBuilder::new(ranges * 1_000);
        let mut left = most;
        for range in 0..ranges {
            let rows = || (0..1_000).filter(|row| row % step == 7 % step);
            let found = match range % 3 {
                0 => Some(RangeRows::Few(rows().collect())),
                1 => Some(RangeRows::Mask(BooleanBuffer::collect_bool(1_000, |row| {
                    row % step == 7 % step
                }))),
                _ => None,
            };
            let (added, next) = built.add(range * 1_000, 1_000, found, left);
            left -= added;
            if next.is_some() {
                return (built.finish(), next);
            }
        }
        (built.finish(), None)
    }

    #[test]
    fn rows_are_the_same_whether_they_are_few_or_many_contract_3() {
        for (step, most) in [(10, 5), (10, 150), (1, 16_000), (1, 17_000), (1, 40_000), (10, 0)] {
            let (found, next) = find(60, step, most);
            let expected = (0..60_000_usize)
                .filter(|row| row / 1_000 % 3 < 2 && row % step == 7 % step)
                .map(|row| row as u64);
            let first: Vec<u64> = expected.clone().take(most).collect();
            assert_eq!(found.numbers(), first, "every {step}th, {most} of them");
            assert_eq!(found.count(), first.len());
            assert_eq!(next, expected.clone().nth(most));
            assert_eq!(matches!(found, FoundRows::Few(_)), first.len() <= FEW_ROWS);
            let span = found.span();
            assert!(first.iter().all(|row| span.contains(row)));
        }
    }
}
