//! Statuses of the rows of a line, as runs of dates, so that lines are reduced without them, and
//! what is true of all rows beside them.

use serde::{Deserialize, Serialize};

use crate::Column;
use crate::meaning::{KnownCodes, StatusCodes};

/// Runs of a line at most: the newest stay.
pub const MAX_STATUS_RUNS: usize = 32;

/// Codes of `CL_OBS_STATUS`: of a value of which nothing is to be said, and of the first one after
/// a break.
const NORMAL: &str = "A";
const BREAK: &str = "B";

/// Rows of a line, one after another, with the same status of `CL_OBS_STATUS`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(String, i32, i32)", into = "(String, i32, i32)")]
pub struct StatusRun {
    /// Its code.
    pub code: String,
    /// Date of its first row, days since 1970-01-01.
    pub first: i32,
    /// Date of its last row.
    pub last: i32,
}

impl From<(String, i32, i32)> for StatusRun {
    fn from((code, first, last): (String, i32, i32)) -> Self {
        Self { code, first, last }
    }
}

impl From<StatusRun> for (String, i32, i32) {
    fn from(StatusRun { code, first, last }: StatusRun) -> Self {
        (code, first, last)
    }
}

/// Rows of a line with one code: those with a value, and of breaks all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(String, u64, i32, i32)", into = "(String, u64, i32, i32)")]
pub struct StatusTotal {
    /// Its code.
    pub code: String,
    /// Number of rows.
    pub rows: u64,
    /// Date of the first one, days since 1970-01-01.
    pub first: i32,
    /// Date of the last one.
    pub last: i32,
}

impl From<(String, u64, i32, i32)> for StatusTotal {
    fn from((code, rows, first, last): (String, u64, i32, i32)) -> Self {
        Self { code, rows, first, last }
    }
}

impl From<StatusTotal> for (String, u64, i32, i32) {
    fn from(StatusTotal { code, rows, first, last }: StatusTotal) -> Self {
        (code, rows, first, last)
    }
}

/// Statuses of a line; the normal one is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineStatuses {
    /// The newest runs, dates ascending.
    pub runs: Vec<StatusRun>,
    /// Number of older runs that are left out.
    #[serde(default)]
    pub left_out: u64,
    /// Totals of all rows, by code.
    pub totals: Vec<StatusTotal>,
}

/// Statuses of a line that comes row by row, dates ascending.
#[derive(Debug, Default)]
pub struct StatusRuns {
    found: LineStatuses,
    /// True where the last row is in the last run.
    is_open: bool,
}

impl StatusRuns {
    /// Takes in the next row, and whether it has a value.
    pub fn push(&mut self, day: i32, code: Option<&str>, has_value: bool) {
        let Some(code) = code.filter(|code| *code != NORMAL) else {
            self.is_open = false;
            return;
        };
        let runs = &mut self.found.runs;
        match runs.last_mut() {
            Some(run) if self.is_open && run.code == code => run.last = day,
            _ => runs.push(StatusRun { code: code.to_owned(), first: day, last: day }),
        }
        self.is_open = true;
        if runs.len() > MAX_STATUS_RUNS {
            runs.remove(0);
            self.found.left_out += 1;
        }
        if has_value || code == BREAK {
            self.count(day, code);
        }
    }

    fn count(&mut self, day: i32, code: &str) {
        let totals = &mut self.found.totals;
        match totals.iter_mut().find(|total| total.code == code) {
            Some(total) => {
                total.rows += 1;
                total.last = day;
            }
            None => {
                totals.push(StatusTotal { code: code.to_owned(), rows: 1, first: day, last: day });
            }
        }
    }

    /// Returns the statuses.
    #[must_use]
    pub fn finish(mut self) -> LineStatuses {
        self.found.totals.sort_by(|one, other| one.code.cmp(&other.code));
        self.found
    }
}

impl LineStatuses {
    /// Returns whether nothing is to be said of any row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Returns the day before which statuses are not known; `None` where all of them are.
    #[must_use]
    pub fn known_from(&self) -> Option<i32> {
        self.runs.first().filter(|_| self.left_out > 0).map(|run| run.first)
    }

    /// Returns the code of the row of a day.
    #[must_use]
    pub fn at(&self, day: i32) -> Option<&str> {
        let run = self.runs.iter().find(|run| (run.first..=run.last).contains(&day));
        run.map(|run| run.code.as_str())
    }

    /// Returns the days on which runs of breaks begin.
    pub(super) fn breaks(&self) -> impl Iterator<Item = i32> {
        self.runs.iter().filter(|run| run.code == BREAK).map(|run| run.first)
    }
}

/// Returns the position of the column that has the statuses of `CL_OBS_STATUS` of the column called
/// `of`.
#[must_use]
pub fn status_column(columns: &[Column], of: &str) -> Option<usize> {
    columns.iter().position(|column| {
        column.status().is_some_and(|status| {
            status.codes == StatusCodes::Known(KnownCodes::SdmxObs)
                && status.of.iter().any(|name| name == of)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statuses(codes: &[Option<&str>], has_value: fn(i32) -> bool) -> LineStatuses {
        let mut runs = StatusRuns::default();
        (0..).zip(codes).for_each(|(day, code)| runs.push(day, *code, has_value(day)));
        runs.finish()
    }

    fn totals(found: &LineStatuses) -> Vec<(&str, u64, i32, i32)> {
        found.totals.iter().map(|of| (&*of.code, of.rows, of.first, of.last)).collect()
    }

    #[test]
    fn rows_of_one_status_are_a_run_and_normal_ones_are_in_none_contract_21() {
        let (a, b, p) = (Some("A"), Some("B"), Some("P"));
        let found = statuses(&[a, b, None, p, p, a, p, b], |day| day < 6);
        let pairs: Vec<_> =
            found.runs.iter().map(|run| (&*run.code, run.first, run.last)).collect();
        assert_eq!(pairs, [("B", 1, 1), ("P", 3, 4), ("P", 6, 6), ("B", 7, 7)]);
        let at: Vec<_> = (0..8).map(|day| found.at(day)).collect();
        assert_eq!(at, [None, b, None, p, p, None, p, b]);
        assert_eq!(found.breaks().collect::<Vec<_>>(), [1, 7]);
        // No value is provisional where there is none; a break is one all the same.
        assert_eq!(totals(&found), [("B", 2, 1, 7), ("P", 2, 3, 4)]);
        assert_eq!((found.left_out, found.known_from()), (0, None));
    }

    #[test]
    fn the_newest_runs_stay_and_totals_are_of_all_rows_contract_21() {
        let codes: Vec<_> = (0..200).map(|row| (row % 2 == 0).then_some("P")).collect();
        let found = statuses(&codes, |_| true);
        assert_eq!(found.runs.len(), MAX_STATUS_RUNS);
        assert_eq!(found.runs.last().map(|run| run.last), Some(198));
        assert_eq!((found.left_out, found.known_from()), (68, Some(136)));
        assert_eq!(totals(&found), [("P", 100, 0, 198)]);
    }
}
