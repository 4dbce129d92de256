//! Statuses of the rows of a line, as runs of dates, so that lines are reduced without them.

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

/// Runs of a line that comes row by row, dates ascending. Rows of the normal status are in none.
#[derive(Debug, Default)]
pub struct StatusRuns {
    runs: Vec<StatusRun>,
    /// True where the last row is in the last run.
    is_open: bool,
}

impl StatusRuns {
    /// Takes in the next row.
    pub fn push(&mut self, day: i32, code: Option<&str>) {
        let Some(code) = code.filter(|code| *code != NORMAL) else {
            self.is_open = false;
            return;
        };
        match self.runs.last_mut() {
            Some(run) if self.is_open && run.code == code => run.last = day,
            _ => self.runs.push(StatusRun { code: code.to_owned(), first: day, last: day }),
        }
        self.is_open = true;
        if self.runs.len() > MAX_STATUS_RUNS {
            self.runs.remove(0);
        }
    }

    /// Returns the runs.
    #[must_use]
    pub fn finish(self) -> Vec<StatusRun> {
        self.runs
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

/// Returns the code of a point of a line with these runs. A break since the point before, of a row
/// that the reduced line lacks, is one at this point.
#[must_use]
pub(super) fn status_at(runs: &[StatusRun], before: Option<i32>, day: i32) -> Option<&str> {
    let since =
        |run: &&StatusRun| run.code == BREAK && before.is_none_or(|before| before < run.first);
    let began = runs.iter().find(|run| since(run) && run.first <= day);
    let within = || runs.iter().find(|run| (run.first..=run.last).contains(&day));
    began.or_else(within).map(|run| run.code.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(codes: &[Option<&str>]) -> Vec<StatusRun> {
        let mut runs = StatusRuns::default();
        (0..).zip(codes).for_each(|(day, code)| runs.push(day, *code));
        runs.finish()
    }

    #[test]
    fn rows_of_one_status_are_a_run_and_normal_ones_are_in_none_contract_21() {
        let (a, b, p) = (Some("A"), Some("B"), Some("P"));
        let found = runs(&[a, b, None, p, p, a, p]);
        let pairs: Vec<_> = found.iter().map(|run| (&*run.code, run.first, run.last)).collect();
        assert_eq!(pairs, [("B", 1, 1), ("P", 3, 4), ("P", 6, 6)]);
        let at = |before, day| status_at(&found, before, day);
        assert_eq!([at(None, 0), at(Some(0), 1), at(Some(1), 2)], [None, b, None]);
        assert_eq!([at(Some(2), 3), at(Some(3), 4), at(Some(4), 5)], [p, p, None]);
        // Of a reduced line: the break is at the next point, and no other status is.
        assert_eq!([at(Some(0), 2), at(Some(2), 5), at(None, 6)], [b, None, b]);
    }

    #[test]
    fn the_newest_runs_stay_contract_21() {
        let codes: Vec<_> = (0..200).map(|row| (row % 2 == 0).then_some("P")).collect();
        let runs = runs(&codes);
        assert_eq!(runs.len(), MAX_STATUS_RUNS);
        assert_eq!(runs.last().map(|run| run.last), Some(198));
    }
}
