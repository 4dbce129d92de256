//! Values of a column that a selection can have, as publishing stored them: what is known of them
//! before a row is read (contract-16-codes).

use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, Int64Array, StringArray};
use arrow::datatypes::Schema;
use parquet::errors::ParquetError;
use yearbook_domain::read_plan::{ColumnTest, ColumnValue};
use yearbook_domain::values::ValuesPage;
use yearbook_domain::{ColumnRole, Date, ReadPlan};

use crate::filter::passing_values;
use crate::schema::{with_key, with_statuses};
use crate::{Reader, StorageFailure};

impl Reader {
    /// Returns the distinct values of the column at position `column` of the snapshot of `plan`,
    /// ascending, less those that conditions of `plan` on this column exclude; `None` where they
    /// are not stored.
    ///
    /// # Errors
    /// The store's refusal.
    pub async fn selected_values(
        &self,
        plan: &ReadPlan,
        column: usize,
    ) -> Result<Option<Vec<String>>, StorageFailure> {
        let stored = self.stored_values(&plan.snapshot).await?;
        let Some(stored) = stored.as_ref().and_then(|stored| stored.column(column)) else {
            return Ok(None);
        };
        let all = stored.page(&ValuesPage { limit: usize::MAX, after: None });
        if all.has_more {
            return Ok(None);
        }
        let values: Vec<ColumnValue> = all.values.into_iter().map(|(value, _)| value).collect();
        let conditions = plan.conditions.iter().filter(|condition| condition.column == column);
        let kept = retain(values, conditions.map(|condition| &condition.test));
        kept.map(Some).map_err(|error| StorageFailure::Mismatch {
            what: format!("stored values of snapshot {}", plan.snapshot.id),
            why: error.to_string(),
        })
    }
}

impl Reader {
    /// Returns the schema of the rows of `plan` with their key and statuses, and the distinct
    /// values of its columns, ascending, less those that its conditions and dates exclude; `None`
    /// for one that is measured, and where they are not stored.
    ///
    /// # Errors
    /// The store's refusal.
    pub async fn coded_schema(
        &self,
        plan: &ReadPlan,
    ) -> Result<(Schema, Vec<Option<Vec<String>>>), StorageFailure> {
        let snapshot = &plan.snapshot;
        let mut codes = Vec::with_capacity(plan.columns.len());
        for position in &plan.columns {
            let column = snapshot.columns.get(*position);
            let measured = column.is_none_or(|column| {
                matches!(column.role, ColumnRole::Value | ColumnRole::Geometry)
            });
            let mut values =
                if measured { None } else { self.selected_values(plan, *position).await? };
            if snapshot.date_column.as_deref() == column.map(|column| &*column.name)
                && let Some(days) = &mut values
            {
                // As text they have the order of time.
                let bound = |day: Option<Date>| day.map(|day| day.to_string());
                let (start, end) = (bound(plan.start), bound(plan.end));
                days.retain(|day| {
                    start.as_ref().is_none_or(|start| day >= start)
                        && end.as_ref().is_none_or(|end| day <= end)
                });
            }
            codes.push(values);
        }
        let schema = with_key(&*Self::schema(plan)?, snapshot);
        Ok((with_statuses(schema, snapshot), codes))
    }
}

/// The text of those of `values`, which have one type, that pass all of `tests`.
fn retain<'a>(
    values: Vec<ColumnValue>,
    tests: impl Iterator<Item = &'a ColumnTest>,
) -> Result<Vec<String>, ParquetError> {
    let array = to_array(&values);
    let mut kept = vec![true; values.len()];
    for test in tests {
        let rows = passing_values(&array, test)?;
        kept.iter_mut().zip(&rows).for_each(|(kept, passes)| *kept &= passes);
    }
    let values = values.into_iter().zip(kept).filter(|(_, kept)| *kept);
    Ok(values.map(|(value, _)| value.to_string()).collect())
}

fn to_array(values: &[ColumnValue]) -> ArrayRef {
    match values.first() {
        Some(ColumnValue::Boolean(_)) => {
            let boolean = |value: &ColumnValue| matches!(value, ColumnValue::Boolean(true));
            Arc::new(BooleanArray::from_iter(values.iter().map(boolean).map(Some)))
        }
        Some(ColumnValue::Integer(_)) => {
            let integer = |value: &ColumnValue| match value {
                ColumnValue::Integer(integer) => Some(*integer),
                _ => None,
            };
            Arc::new(values.iter().map(integer).collect::<Int64Array>())
        }
        // Numbers are never stored.
        _ => Arc::new(values.iter().map(|value| Some(value.to_string())).collect::<StringArray>()),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use yearbook_domain::read_plan::Side;

    use super::*;

    #[test]
    fn known_values_are_those_that_conditions_let_through_contract_16() {
        let texts: Vec<_> =
            ["Hay", "hops", "Oats"].map(|text| ColumnValue::Text(text.to_owned())).into();
        let integers: Vec<_> = [-1, 2, 10].map(ColumnValue::Integer).into();
        let booleans = vec![ColumnValue::Boolean(false), ColumnValue::Boolean(true)];
        let contains = |text: &str| ColumnTest::Contains(vec![text.to_owned()]);
        for (values, tests, expected) in [
            (&texts, vec![], &["Hay", "hops", "Oats"][..]),
            (&texts, vec![ColumnTest::Starts(vec!["h".to_owned()])], &["Hay", "hops"]),
            (&texts, vec![contains("a"), ColumnTest::NoneOf(texts[..1].to_vec())], &["Oats"]),
            (&texts, vec![ColumnTest::IsNull(true)], &[]),
            (&texts, vec![ColumnTest::IsNull(false)], &["Hay", "hops", "Oats"]),
            (&integers, vec![ColumnTest::Bound(Side::Above, integers[0].clone())], &["2", "10"]),
            (&booleans, vec![ColumnTest::AnyOf(booleans[1..].to_vec())], &["true"]),
        ] {
            assert_eq!(retain(values.clone(), tests.iter()).unwrap(), expected, "{tests:?}");
        }
    }
}
