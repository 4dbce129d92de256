//! The parameters of `/values`: those of `/data` that select rows, and its own
//! (contract-15-values-parameters).

use std::sync::Arc;

use super::{DEFAULT_VALUES, MAX_COLUMNS, MAX_VALUES, ValuesPage};
use crate::dataset::GEOMETRY_COLUMN;
use crate::query::{is_condition, last_value, parse_data_at, refuse_apply, scalar};
use crate::read_plan::{parse_value, resolve_selection};
use crate::{Column, ColumnRole, Millis, ReadPlan, Selection, ValidationError};

/// Parameters of `/data` that mean the same here, besides conditions.
const SHARED_PARAMETERS: [&str; 7] =
    ["start", "end", "dimensions", "snapshot", "columns", "bbox", "as_of"];

/// A request for values, each parameter right in itself.
#[derive(Clone, Debug, PartialEq)]
pub struct ValuesQuery {
    /// Rows that are counted, and columns.
    selection: Selection,
    /// Values of a column at most.
    limit: usize,
    /// Value to go on behind, as sent.
    after: Option<String>,
}

/// Values to find in one snapshot.
#[derive(Clone, Debug, PartialEq)]
pub struct ValuesTarget {
    /// Rows that are counted, with all columns.
    pub plan: ReadPlan,
    /// Positions of the columns whose values are wanted, in the order of the answer.
    pub columns: Vec<usize>,
    /// Values of each column that are wanted.
    pub page: ValuesPage,
}

impl ValuesQuery {
    /// Parses `pairs` (from [`crate::query::parse_pairs`]), as sent `now`. `apply` is refused:
    /// counts of rows without the transform would be wrong. What else `/data` knows is ignored
    /// like any other unknown parameter.
    ///
    /// # Errors
    /// Every problem there is.
    pub fn parse(pairs: &[(String, String)], now: Millis) -> Result<Self, Vec<ValidationError>> {
        let limit = last_value(pairs, "limit")
            .map(|raw| scalar::parse_positive("limit", raw, MAX_VALUES as u64))
            .transpose();
        let is_shared = |name: &str| SHARED_PARAMETERS.contains(&name) || is_condition(name);
        let shared: Vec<(String, String)> =
            pairs.iter().filter(|(name, _)| is_shared(name)).cloned().collect();
        let selection = parse_data_at(&shared, &[], now).and_then(|(selection, _)| {
            let named = selection.columns.as_ref().map_or(0, |sent| sent.value.len());
            if named <= MAX_COLUMNS {
                return Ok(selection);
            }
            let sentence = format!(
                "columns lists {named} names and may list {MAX_COLUMNS} here; ask in several requests"
            );
            let raw = last_value(pairs, "columns").unwrap_or_default();
            Err(vec![ValidationError::value_error("columns", &sentence, raw)])
        });
        let after = last_value(pairs, "after");
        let is_one = last_value(pairs, "columns").is_some_and(|names| !names.contains(','));
        let stray = after.filter(|_| !is_one).map(|raw| {
            let sentence = "after goes on in one column; name it, and no other, in columns";
            ValidationError::value_error("after", sentence, raw)
        });
        let apply = refuse_apply(last_value(pairs, "apply"));
        match (limit, selection, stray, apply) {
            (Ok(limit), Ok(selection), None, None) => Ok(Self {
                selection,
                limit: limit
                    .and_then(|limit| usize::try_from(limit).ok())
                    .unwrap_or(DEFAULT_VALUES),
                after: after.map(str::to_owned),
            }),
            (limit, selection, stray, apply) => Err(limit
                .err()
                .into_iter()
                .chain(selection.err().into_iter().flatten())
                .chain(stray)
                .chain(apply)
                .collect()),
        }
    }

    /// Returns what the request selects.
    #[must_use]
    pub fn selection(&self) -> &Selection {
        &self.selection
    }

    /// Returns the value of `columns` as sent; empty without one.
    #[must_use]
    pub fn sent_columns(&self) -> &str {
        self.selection.columns.as_ref().map_or("", |sent| &sent.raw)
    }

    /// Resolves the request against the snapshot of `all`, a plan of all its rows and columns.
    ///
    /// # Errors
    /// Every problem that only the dataset can judge.
    pub fn resolve(&self, all: ReadPlan) -> Result<ValuesTarget, Vec<ValidationError>> {
        let ReadPlan { dataset, namespace, snapshot, columns: every_column, .. } = all;
        let role = |position: &usize| snapshot.columns.get(*position).map(|column| column.role);
        let named: Vec<&Column> = self
            .selection
            .columns
            .iter()
            .flat_map(|sent| &sent.value)
            .filter_map(|name| snapshot.columns.get(snapshot.column_index(name)?))
            .collect();
        let geometry = named.iter().any(|column| column.role == ColumnRole::Geometry).then(|| {
            let sentence = format!("{GEOMETRY_COLUMN} has no list of values; leave it out");
            ValidationError::value_error("columns", &sentence, self.sent_columns())
        });
        let after = match (&self.after, named.first()) {
            (Some(raw), Some(column)) => parse_value(column.column_type, "after", raw).map(Some),
            _ => Ok(None),
        };
        let selected =
            resolve_selection(dataset, namespace, Arc::clone(&snapshot), &self.selection);
        let (selected, after) = match (geometry, selected, after) {
            (None, Ok(selected), Ok(after)) => (selected, after),
            (geometry, selected, after) => {
                let problems = geometry.into_iter();
                return Err(problems
                    .chain(selected.err().into_iter().flatten())
                    .chain(after.err())
                    .collect());
            }
        };
        let columns = match self.selection.columns {
            Some(_) => selected.columns.clone(),
            None => {
                let is_dimension = |position: &usize| role(position) == Some(ColumnRole::Dimension);
                every_column.iter().copied().filter(is_dimension).take(MAX_COLUMNS).collect()
            }
        };
        Ok(ValuesTarget {
            plan: ReadPlan { columns: every_column, ..selected },
            columns,
            page: ValuesPage { limit: self.limit, after },
        })
    }
}

impl ValuesTarget {
    /// Returns true where every row of the snapshot is counted.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        let ReadPlan { start, end, row, .. } = &self.plan;
        start.is_none() && end.is_none() && row.is_none() && !self.plan.is_filtered()
    }
}
