//! Rows and columns to read for one response: decided from dataset, limits and query, without I/O.

mod applied;
mod condition;
mod names;
mod planner;
mod row_choice;
mod row_order;
mod series;

use std::sync::Arc;

use crate::{BoundingBox, DatasetName, Date, Namespace, SeriesRows, Snapshot};

pub use applied::{AppliedTransform, AppliedTransforms};
pub(crate) use condition::json_number;
pub use condition::{
    ColumnTest, ColumnValue, Condition, FloatKey, Side, judge_conditions, parse_value,
};
pub use planner::{
    MAX_SORTED_ROWS, UNBOUNDED_ROWS, check_order, plan_read, resolve_made, resolve_selection,
};
pub use row_choice::MAX_SKIPPED_ROWS;
pub use row_order::{RowOrder, SortKey};
pub use series::{MAX_SERIES, PeriodForm, series_columns, series_positions};

/// A decision about the rows and columns to read. Rows are numbered from 0 in the snapshot's order.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadPlan {
    /// Name of the dataset.
    pub dataset: DatasetName,
    /// Its namespace.
    pub namespace: Namespace,
    /// The version.
    pub snapshot: Arc<Snapshot>,
    /// Positions in `snapshot.columns`, in output order; never empty.
    pub columns: Vec<usize>,
    /// Inclusive lower bound on the date column; `None` also where there is no date column.
    pub start: Option<Date>,
    /// Inclusive upper bound on the date column; `None` also where there is no date column.
    pub end: Option<Date>,
    /// Keep rows in which a dimension column contains this, by simple Unicode case folding.
    pub search_text: Option<String>,
    /// Conditions that every row meets.
    pub conditions: Vec<Condition>,
    /// Keep rows whose geometry meets this box.
    pub bbox: Option<BoundingBox>,
    /// Keep the row of this number, of those that all else leaves.
    pub row: Option<u64>,
    /// Keep so many rows of each series, of those that all else leaves.
    pub series_rows: Option<SeriesRows>,
    /// Order of the rows.
    pub order: RowOrder,
    /// Row that comes first, where a cursor stopped; `None` from the beginning.
    pub first_row: Option<u64>,
    /// Rows that are left out before the first one; 0 with `first_row`.
    pub skip: u64,
    /// True where the number of each row is a column behind the others,
    /// [`ROW_NUMBER_COLUMN`](crate::dataset::ROW_NUMBER_COLUMN).
    pub row_numbers: bool,
    /// Rows at most; `None` for all that match.
    pub max_rows: Option<u64>,
    /// The plan's row cap, where it is what bounds `max_rows`.
    pub plan_row_cap: Option<u64>,
    /// Transforms that make the rows. Columns, order, rows of each series and bounds are then those
    /// of what the last one gives, and `snapshot` has its columns in the place of the stored ones.
    pub applied: Option<Arc<AppliedTransforms>>,
}

impl ReadPlan {
    /// Plans every column and row.
    #[must_use]
    pub fn full_scan(dataset: DatasetName, namespace: Namespace, snapshot: Arc<Snapshot>) -> Self {
        let columns = (0..snapshot.columns.len()).collect();
        Self::of_columns(dataset, namespace, snapshot, columns)
    }

    /// Plans every row of `columns`.
    fn of_columns(
        dataset: DatasetName,
        namespace: Namespace,
        snapshot: Arc<Snapshot>,
        columns: Vec<usize>,
    ) -> Self {
        Self {
            columns,
            dataset,
            namespace,
            snapshot,
            start: None,
            end: None,
            search_text: None,
            conditions: Vec::new(),
            bbox: None,
            row: None,
            series_rows: None,
            order: RowOrder::Natural,
            first_row: None,
            skip: 0,
            row_numbers: false,
            max_rows: None,
            plan_row_cap: None,
            applied: None,
        }
    }

    /// Returns true where only reading rows tells which of them are sent.
    #[must_use]
    pub fn is_filtered(&self) -> bool {
        self.search_text.is_some()
            || !self.conditions.is_empty()
            || self.bbox.is_some()
            || self.series_rows.is_some()
            || self.applied.is_some()
    }

    /// Returns the plan of the stored rows: that of what the first transform sees, where there is
    /// one.
    #[must_use]
    pub fn stored_rows(&self) -> &Self {
        self.applied.as_ref().map_or(self, |applied| &applied.input)
    }
}
