//! Series of a table (contract-15-series): rows that have one combination of values of some columns,
//! and period codes of one form.

use crate::{ColumnRole, Snapshot};

/// Form of a period code (spec-2.2-period).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
    /// Returns the form of a period code that publishing accepted.
    #[must_use]
    pub fn of(code: &str) -> Self {
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
    let role = |position: usize| snapshot.columns.get(position).map(|column| column.role);
    let is_time = |position: &usize| {
        matches!(role(*position), Some(ColumnRole::Date | ColumnRole::Period))
    };
    let key: Vec<usize> =
        snapshot.primary_key.iter().filter_map(|name| snapshot.column_index(name)).collect();
    if key.iter().any(is_time) {
        return Some(key.into_iter().filter(|position| !is_time(position)).collect());
    }
    let is_dimension = |position: &usize| {
        role(*position) == Some(ColumnRole::Dimension) && !key.contains(position)
    };
    Some((0..snapshot.columns.len()).filter(is_dimension).collect())
}
