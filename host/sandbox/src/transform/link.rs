//! A transform of a chain as it is planned, and the columns of it that a run reads and makes.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{Schema, SchemaRef};
use arrow::error::ArrowError;

use super::PluginTransform;
use super::codes::CodeTable;
use super::columns::{date_column, rows_within};
use super::instance::Codes;
use super::needs::{Needs, Priming};
use super::output::{Source, TransformOutput};
use crate::guest::bindings::transform::exports::yearbook::plugin::transform as guest;
use crate::options::OptionValue;

/// A transform with its options, the columns of its input and what it said of them.
pub(super) struct LinkPlan {
    pub(super) transform: Arc<PluginTransform>,
    /// Every declared option.
    pub(super) options: Vec<OptionValue>,
    /// All columns of the input.
    pub(super) schema: SchemaRef,
    pub(super) needs: Needs,
    /// Codes of the columns that cross so.
    pub(super) codes: Codes,
    /// Values that made columns may have, where they are known.
    pub(super) values_of: Vec<Option<Arc<CodeTable>>>,
    pub(super) output: TransformOutput,
    /// The same as the transform returned it.
    pub(super) said: guest::Output,
}

/// The columns of a link that a run reads and makes.
pub(super) struct LinkColumns {
    /// Positions in the input of those that its batches have, ascending.
    pub(super) read: Vec<usize>,
    /// Positions in the output of those that leave, ascending.
    pub(super) kept: Vec<usize>,
    /// Positions in the output of those that leave or that rows are sorted by, ascending.
    pub(super) assembled: Vec<usize>,
    pub(super) assembled_schema: SchemaRef,
    /// Columns that leave.
    pub(super) schema: SchemaRef,
}

impl LinkColumns {
    /// For a run of `plan` of whose columns these are wanted, ascending.
    pub(super) fn new(plan: &LinkPlan, kept: Vec<usize>) -> Self {
        let LinkPlan { needs, output, schema: input, .. } = plan;
        let mut assembled: Vec<usize> = kept.iter().chain(&output.order).copied().collect();
        assembled.sort_unstable();
        assembled.dedup();
        let passed = assembled.iter().filter_map(|column| match output.sources[*column] {
            Source::Passed(position) => Some(position),
            Source::Group(_) | Source::Made(..) => None,
        });
        let dated = needs.before.is_some() || matches!(needs.prime, Priming::Dates(..));
        let mut read: Vec<usize> = passed
            .chain(needs.columns.iter().map(|(column, _)| *column))
            .chain(needs.groups.iter().flatten().copied())
            .chain(dated.then(|| date_column(input)).flatten())
            .collect();
        if read.is_empty() && !input.fields().is_empty() {
            // Its rows are counted at least.
            read.push(0);
        }
        read.sort_unstable();
        read.dedup();
        let of = |columns: &[usize]| project_schema(&output.schema, columns);
        let (assembled_schema, schema) = (of(&assembled), of(&kept));
        Self { read, kept, assembled, assembled_schema, schema }
    }

    /// Columns of the batches that cross, by their places there.
    pub(super) fn crossing(&self, needs: &Needs) -> Vec<usize> {
        needs.columns.iter().map(|(column, _)| self.place(*column)).collect()
    }

    /// The rows of a batch that come first, where all of them are pushed later or those of some
    /// dates.
    ///
    /// # Errors
    /// Fails for dates of another type.
    pub(super) fn primed_rows(
        &self,
        plan: &LinkPlan,
        batch: RecordBatch,
    ) -> Result<RecordBatch, ArrowError> {
        match (&plan.needs.prime, date_column(&plan.schema)) {
            (Priming::Dates(from, to), Some(date)) => {
                let dates = Arc::clone(batch.column(self.place(date)));
                rows_within(batch, &dates, *from, *to)
            }
            _ => Ok(batch),
        }
    }

    /// Place of an input column in the batches.
    pub(super) fn place(&self, column: usize) -> usize {
        // Every column that is asked for was put there.
        self.read.binary_search(&column).unwrap_or(0)
    }
}

/// The columns of `schema` at these positions, with its metadata.
pub(super) fn project_schema(schema: &Schema, columns: &[usize]) -> SchemaRef {
    let fields: Vec<_> =
        columns.iter().map(|column| Arc::clone(&schema.fields()[*column])).collect();
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}
