//! Numbers of rows of a read and of a selection, as far as they are known without reading them:
//! from the catalog's count and the place of the dates, which are sorted.

use std::ops::Range;

/// Numbers of rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowCounts {
    /// Rows of this read; `None` if only reading all of them would tell.
    pub rows: Option<u64>,
    /// Rows that the plan's dates leave, before its first row and its maximum; `None` where
    /// only reading rows tells which of them are sent.
    pub total: Option<u64>,
    /// Row of the snapshot at which reading goes on when rows remain after the plan's `max_rows`;
    /// none: all rows that the plan asks for are in this read, as far as it is known.
    pub next: Option<u64>,
}

impl RowCounts {
    /// Counts of `selection` read from `first_row` on, up to `max_rows`; and the rows that are
    /// read.
    pub(crate) fn from_range(
        selection: &Range<u64>,
        first_row: u64,
        max_rows: Option<u64>,
    ) -> (Self, Range<u64>) {
        let start = selection.start.max(first_row).min(selection.end);
        let end =
            max_rows.map_or(selection.end, |rows| selection.end.min(start.saturating_add(rows)));
        let total = selection.end.saturating_sub(selection.start);
        let counts = Self {
            rows: Some(end - start),
            total: Some(total),
            next: (end < selection.end).then_some(end),
        };
        (counts, start..end)
    }

    /// Counts of a filter that left `rows` and goes on at `next`.
    pub(crate) fn from_filter(rows: u64, next: Option<u64>) -> Self {
        Self { rows: Some(rows), total: None, next }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_total_follow_cursor_and_maximum_contract_3() {
        // (selection, first row, maximum, (rows, total, next))
        let cases = [
            (0..10, 0, None, (10, 10, None)),
            (0..10, 0, Some(10), (10, 10, None)),
            (0..10, 0, Some(9), (9, 10, Some(9))),
            (0..10, 4, Some(3), (3, 10, Some(7))),
            (0..10, 8, Some(3), (2, 10, None)),
            (0..10, 99, Some(3), (0, 10, None)),
            (3..7, 0, Some(3), (3, 4, Some(6))),
            (3..7, 5, Some(3), (2, 4, None)),
            (3..7, 2, None, (4, 4, None)),
            (5..5, 0, Some(3), (0, 0, None)),
            (0..0, 0, None, (0, 0, None)),
            (0..10, 0, Some(u64::MAX), (10, 10, None)),
        ];
        for (selection, first_row, max_rows, (rows, total, next)) in cases {
            let (counts, read) = RowCounts::from_range(&selection, first_row, max_rows);
            let expected = RowCounts { rows: Some(rows), total: Some(total), next };
            assert_eq!(counts, expected, "{selection:?} from {first_row}, at most {max_rows:?}");
            assert_eq!(read.end - read.start, rows);
        }
    }
}
