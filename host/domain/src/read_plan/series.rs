//! Series of a table (contract-15-series): rows that have one combination of values of some
//! columns, and period codes of one form.

use serde::{Deserialize, Serialize};

use crate::{Column, ColumnRole, Snapshot};

/// Series of a snapshot of which `first` and `last` keep rows at most: their counts are held.
pub const MAX_SERIES: u64 = 1_000_000;

/// Form of a period code (spec-2.2-period).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PeriodForm {
    /// `YYYY`.
    Year,
    /// `YYYY/YY`.
    FinancialYear,
    /// `YYYY-Qn`.
    Quarter,
    /// `YYYY-MM`.
    Month,
}

impl PeriodForm {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Year, Self::FinancialYear, Self::Quarter, Self::Month];

    /// Returns the word for a series of such periods.
    #[must_use]
    pub fn adjective(self) -> &'static str {
        match self {
            Self::Year => "yearly",
            Self::FinancialYear => "by financial year",
            Self::Quarter => "quarterly",
            Self::Month => "monthly",
        }
    }

    /// Returns the form of a period code that publishing accepted.
    #[must_use]
    pub fn from_code(code: &str) -> Self {
        if code.contains('/') {
            Self::FinancialYear
        } else if code.contains('Q') {
            Self::Quarter
        } else if code.contains('-') {
            Self::Month
        } else {
            Self::Year
        }
    }
}

/// Returns the positions of the columns whose values tell series apart: the primary key without
/// date and period columns, where the key has one of them; else the dimension columns outside of
/// the key. `None` without a date axis.
#[must_use]
pub fn series_columns(snapshot: &Snapshot) -> Option<Vec<usize>> {
    snapshot.date_column.as_ref()?;
    Some(series_positions(&snapshot.columns, &snapshot.primary_key))
}

/// Returns the same positions for the columns of a table with a date axis.
#[must_use]
pub fn series_positions(columns: &[Column], primary_key: &[String]) -> Vec<usize> {
    let role = |position: usize| columns.get(position).map(|column| column.role);
    let is_time =
        |position: &usize| matches!(role(*position), Some(ColumnRole::Date | ColumnRole::Period));
    let position = |name: &String| columns.iter().position(|column| column.name == *name);
    let key: Vec<usize> = primary_key.iter().filter_map(position).collect();
    if key.iter().any(is_time) {
        return key.into_iter().filter(|position| !is_time(position)).collect();
    }
    let is_dimension = |position: &usize| {
        role(*position) == Some(ColumnRole::Dimension) && !key.contains(position)
    };
    (0..columns.len()).filter(is_dimension).collect()
}
