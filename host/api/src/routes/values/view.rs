//! Body of `/values`.

use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use yearbook_domain::read_plan::ColumnValue;
use yearbook_domain::values::{ColumnValues, ValueLabels, ValueRows};
use yearbook_domain::{ColumnRole, Date, ReadPlan};
use yearbook_http::body_schema::BodySchema;
use yearbook_http::json_body;

json_body! {
    pub(crate) struct ValuesView<'a> named "Values": "Values that the columns of a dataset have." {
        name: &'a str,
        snapshot_id: &'a str,
        /// Canonical text of the selection.
        selection: &'a str => {"description": "The selection in its canonical text; empty: all rows."},
        rows: u64 => {"description": "Rows of the selection."},
        columns: Vec<ColumnView<'a>>,
    }

    pub(crate) struct ColumnView<'a>: "Values of a column, ascending." {
        name: &'a str,
        role: ColumnRole,
        distinct: Option<u64> => {"description": "Number of distinct values; null if there are more than 100,000."},
        nulls: u64 => {"description": "Rows without a value."},
        values: Vec<ValueView<'a>>,
        next: Option<Scalar<'a>> => {"description": "Value to send as `after`; null at the end."},
    }

    pub(crate) struct ValueView<'a>: "A value, and the rows that have it." {
        value: Scalar<'a>,
        label: Option<&'a str> => {
            "description": "Text that stands for it, where the publisher gave one."
        },
        rows: u64,
        first: Option<Date> => {"description": "First date of these rows; null without a date axis."},
        last: Option<Date>,
    }
}

/// A value as JSON has it.
pub(crate) struct Scalar<'a>(&'a ColumnValue);

impl Serialize for Scalar<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl BodySchema for Scalar<'_> {
    fn schema() -> Value {
        json!({"type": ["string", "integer", "number", "boolean"]})
    }
}

impl<'a> ValuesView<'a> {
    /// The values of `columns`, counted over `rows` rows of `plan`.
    pub(super) fn new(
        plan: &'a ReadPlan,
        selection: &'a str,
        rows: u64,
        columns: &'a [ColumnValues],
        labels: &'a ValueLabels,
    ) -> Self {
        Self {
            name: plan.dataset.as_str(),
            snapshot_id: plan.snapshot.id.as_str(),
            selection,
            rows,
            columns: columns
                .iter()
                .filter_map(|column| ColumnView::new(plan, column, labels))
                .collect(),
        }
    }
}

impl<'a> ColumnView<'a> {
    /// `None` for a column that the snapshot does not have.
    fn new(plan: &'a ReadPlan, counted: &'a ColumnValues, labels: &'a ValueLabels) -> Option<Self> {
        let column = plan.snapshot.columns.get(counted.column)?;
        let view = |(value, rows): &'a (ColumnValue, ValueRows)| ValueView {
            value: Scalar(value),
            label: labels.label(column, counted.column, value),
            rows: rows.rows,
            first: rows.first,
            last: rows.last,
        };
        let last = counted.values.last().filter(|_| counted.has_more);
        Some(Self {
            name: &column.name,
            role: column.role,
            distinct: counted.distinct,
            nulls: counted.nulls,
            values: counted.values.iter().map(view).collect(),
            next: last.map(|(value, _)| Scalar(value)),
        })
    }
}
