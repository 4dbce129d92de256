//! Places of the rows of an old version in a newer one, as runs of rows that stayed beside each
//! other.

use std::ops::Range;

/// Rows of an old version that a newer one still has, in their order, which both versions share.
#[derive(Clone, Debug)]
pub(super) struct RowMap {
    runs: Vec<Run>,
}

/// Rows that follow each other in both versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    /// Number of the first in the newer version.
    pub(super) newer: u64,
    /// Number of the first in the old one.
    pub(super) older: u64,
    /// Number of rows.
    pub(super) rows: u64,
}

/// Finder of rows of the newer version in the old one, by ascending numbers.
pub(super) struct RowFinder<'a> {
    runs: &'a [Run],
}

impl RowMap {
    /// The rows `rows` of a version in that version itself.
    pub(super) fn of_rows(rows: Range<u64>) -> Self {
        let mut runs = Vec::new();
        add(&mut runs, Run { newer: rows.start, older: rows.start, rows: rows.end - rows.start });
        Self { runs }
    }

    pub(super) fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// Finds rows from `newer` on.
    pub(super) fn finder(&self, newer: u64) -> RowFinder<'_> {
        let passed = self.runs.partition_point(|run| run.newer + run.rows <= newer);
        RowFinder { runs: &self.runs[passed..] }
    }

    /// Bytes that the map takes.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(self.runs.as_slice())
    }

    /// Returns whether the runs follow each other in both versions, and end before row `rows` of
    /// the newer one, as those of changes without a fault do.
    pub(super) fn is_ordered(&self, rows: u64) -> bool {
        let follows = |one: &Run, next: &Run| {
            one.newer + one.rows <= next.newer && one.older + one.rows <= next.older
        };
        self.runs.is_sorted_by(follows) && self.newer_end() <= rows
    }

    /// Leaves out the rows `gone` of the newer version, which the next one does not have.
    pub(super) fn remove(&mut self, gone: &[Range<u64>]) {
        if gone.is_empty() {
            return;
        }
        let (mut left, mut removed) = (Vec::new(), 0);
        let mut gone = gone.iter().peekable();
        for run in &self.runs {
            let (mut at, end) = (run.newer, run.newer + run.rows);
            while at < end {
                if let Some(range) = gone.next_if(|range| range.end <= at) {
                    removed += range.end - range.start;
                    continue;
                }
                let until = gone.peek().map_or(end, |range| range.start.clamp(at, end));
                let older = run.older + (at - run.newer);
                // Numbers that do not ascend remove more rows than there are.
                let newer = at.saturating_sub(removed);
                add(&mut left, Run { newer, older, rows: until - at });
                at = gone.peek().map_or(end, |range| range.end.min(end));
            }
        }
        self.runs = left;
    }

    /// Makes room for the rows `came` of the next version, by their numbers there.
    pub(super) fn insert(&mut self, came: &[Range<u64>]) {
        if came.is_empty() {
            return;
        }
        let (mut moved, mut inserted) = (Vec::new(), 0);
        let mut came = came.iter().peekable();
        for run in &self.runs {
            let mut passed = 0;
            while passed < run.rows {
                let at = run.newer + passed + inserted;
                if let Some(range) = came.next_if(|range| range.start <= at) {
                    inserted += range.end - range.start;
                    continue;
                }
                let left = run.rows - passed;
                let rows = came.peek().map_or(left, |range| left.min(range.start - at));
                add(&mut moved, Run { newer: at, older: run.older + passed, rows });
                passed += rows;
            }
        }
        self.runs = moved;
    }

    /// Forgets the rows of the old version from `end` on.
    pub(super) fn truncate(&mut self, end: u64) {
        self.runs.retain_mut(|run| {
            run.rows = run.rows.min(end.saturating_sub(run.older));
            run.rows > 0
        });
    }

    /// The part of the first run that ends behind row `older` of the old version from there on.
    pub(super) fn next_run(&self, older: u64) -> Option<Run> {
        let next = self.runs.partition_point(|run| run.older + run.rows <= older);
        let run = *self.runs.get(next)?;
        let passed = older.saturating_sub(run.older);
        Some(Run { newer: run.newer + passed, older: run.older + passed, rows: run.rows - passed })
    }

    /// The rows of the old version up to the last that the newer one has before its row `newer`.
    pub(super) fn older_end(&self, newer: u64) -> Option<u64> {
        let behind = self.runs.partition_point(|run| run.newer < newer);
        let run = self.runs.get(behind.checked_sub(1)?)?;
        Some(run.older + run.rows.min(newer - run.newer))
    }

    /// Number of rows of the newer version up to the last one in the map.
    pub(super) fn newer_end(&self) -> u64 {
        self.runs.last().map_or(0, |run| run.newer + run.rows)
    }
}

impl RowFinder<'_> {
    /// The number in the old version of row `newer`; `None` if it does not have it.
    pub(super) fn find(&mut self, newer: u64) -> Option<u64> {
        while let [run, rest @ ..] = self.runs
            && run.newer + run.rows <= newer
        {
            self.runs = rest;
        }
        let run = self.runs.first()?;
        Some(run.older + newer.checked_sub(run.newer)?)
    }
}

/// Adds a run, or goes on with the last one where it leads there.
fn add(runs: &mut Vec<Run>, run: Run) {
    match runs.last_mut() {
        _ if run.rows == 0 => {}
        Some(last)
            if last.newer + last.rows == run.newer && last.older + last.rows == run.older =>
        {
            last.rows += run.rows;
        }
        _ => runs.push(run),
    }
}

#[cfg(test)]
mod tests {
    //! Runs against lists of single rows.

    use proptest::prelude::*;

    use super::*;

    /// Numbers as ranges.
    fn ranges(numbers: &[u64]) -> Vec<Range<u64>> {
        numbers.iter().map(|number| *number..number + 1).collect()
    }

    proptest! {
        #[test]
        fn rows_are_found_where_removing_and_inserting_one_by_one_puts_them_contract_21(
            rows in 0_u64..20,
            from in 0_u64..5,
            steps in prop::collection::vec((any::<u32>(), any::<u32>()), 0..5),
        ) {
            let mut map = RowMap::of_rows(from.min(rows)..rows);
            // Each row of the newer version with its number in the old one.
            let mut list: Vec<Option<u64>> =
                (0..rows).map(|row| (row >= from).then_some(row)).collect();
            for (gone, came) in steps {
                let gone: Vec<u64> =
                    (0..list.len() as u64).filter(|row| gone >> (row % 32) & 1 == 1).collect();
                let mut row = 0;
                list.retain(|_| (!gone.contains(&row), row += 1).0);
                map.remove(&ranges(&gone));
                let mut numbers = Vec::new();
                for row in (0..16).filter(|row| came >> row & 1 == 1) {
                    if row <= list.len() {
                        list.insert(row, None);
                        numbers.push(row as u64);
                    }
                }
                map.insert(&ranges(&numbers));
                let mut finder = map.finder(0);
                for (row, older) in (0..).zip(&list) {
                    prop_assert_eq!(finder.find(row), *older, "{:?}", map);
                }
                prop_assert_eq!(map.finder(list.len() as u64).find(list.len() as u64), None);
                let last = list.iter().rposition(Option::is_some).map_or(0, |row| row + 1);
                prop_assert_eq!(map.newer_end(), last as u64);
            }
        }
    }
}
