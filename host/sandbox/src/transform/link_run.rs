//! One instance of a transform at work: rows in by slices, checked rows of the output out.
//! Blocking; never more than one result is held, beside rows to be sorted.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, RecordBatch, RecordBatchOptions, UInt32Array};
use arrow::compute::take;
use yearbook_domain::Date;
use yearbook_shares::SlotPermit;

use super::budget::{ChainBytes, HeldBytes};
use super::columns::{date_column, rows_within, whole_batch};
use super::crossing::{SLICE_BYTES, SLICE_ROWS, cross, wire};
use super::groups::{Groups, host_error};
use super::instance::{CrossingRows, TransformInstance};
use super::link::{LinkColumns, LinkPlan};
use super::made::{Expected, MadeRows};
use super::order::{OrderError, RowSorter};
use super::output::{Relation, Source};
use crate::guest::bindings::transform::exports::yearbook::plugin::transform as guest;
use crate::guest_error::GuestError;
use crate::observe::{CallMetrics, GuestFunction, GuestLogLine, ResourceUsage};

/// A transform that is at work on the rows of one response.
pub(super) struct LinkRun {
    plan: Arc<LinkPlan>,
    columns: Arc<LinkColumns>,
    instance: TransformInstance,
    groups: Option<Groups>,
    order: Option<RowSorter>,
    bytes: Arc<ChainBytes>,
    ready: Option<ReadyRows>,
}

/// Rows of a result.
enum ReadyRows {
    /// Rows of the input with what was made for them.
    Joined(RecordBatch),
    /// Rows of their own, of which some have left.
    Own { made: MadeRows, left: usize },
}

impl LinkRun {
    /// Begins a response in a fresh instance.
    ///
    /// # Errors
    /// [`GuestError`].
    pub(super) fn open(
        plan: &Arc<LinkPlan>,
        columns: &Arc<LinkColumns>,
        permit: Arc<SlotPermit>,
        work: Arc<CallMetrics>,
        bytes: &Arc<ChainBytes>,
    ) -> Result<Self, GuestError> {
        let LinkPlan { transform, options, schema, needs, codes, values_of, output, said } =
            &**plan;
        let mut instance = TransformInstance::new(transform, permit, work, schema, options)?;
        if instance.open(schema, options, codes)? != *said {
            let rule = "another output than in an instance before";
            return Err(instance.broken_rule(GuestFunction::Output, rule));
        }
        for (column, values) in output.values_of.iter().zip(values_of) {
            if let (Some(column), Some(values)) = (column, values) {
                instance.keep_codes(*column, values);
            }
        }
        let held = || HeldBytes::new(&transform.host.admission.memory);
        let groups = needs.groups.as_ref().map(|groups| Groups::new(schema, groups, held()));
        let order = (!output.order.is_empty()).then(|| {
            let place = |column: &usize| columns.assembled.binary_search(column).unwrap_or(0);
            let places = output.order.iter().map(place).collect();
            RowSorter::new(&columns.assembled_schema, places, output.made_order, held())
        });
        let (groups, order) = (groups.transpose()?, order.transpose()?);
        let (plan, columns, bytes) = (Arc::clone(plan), Arc::clone(columns), Arc::clone(bytes));
        Ok(Self { plan, columns, instance, groups, order, bytes, ready: None })
    }

    /// Gives it a slice of rows that come first.
    ///
    /// # Errors
    /// [`GuestError`].
    pub(super) fn prime(&mut self, batch: &RecordBatch) -> Result<(), GuestError> {
        let rows = self.cross(batch)?;
        self.instance.prime(&rows)
    }

    /// Gives it a slice of rows. Results of rows before `from` are left out.
    ///
    /// # Errors
    /// [`GuestError`].
    pub(super) fn push(
        &mut self,
        batch: &RecordBatch,
        from: Option<Date>,
    ) -> Result<(), GuestError> {
        let rows = self.cross(batch)?;
        let Some(made) = self.instance.push(&rows)? else {
            return self.check_none(batch);
        };
        let made = self.check(made, GuestFunction::Push, Some(batch.num_rows()))?;
        if self.plan.output.relation == Relation::New {
            self.ready = Some(ReadyRows::Own { made, left: 0 });
            return Ok(());
        }
        let rows = self.assemble(&made, Some(batch), 0, made.rows)?;
        let rows = match from.zip(date_column(&self.plan.schema)) {
            Some((from, date)) => {
                let dates = self.of_input(&made, batch.column(self.columns.place(date)))?;
                rows_within(rows, &dates, from, Date::MAX).map_err(host_error)?
            }
            None => rows,
        };
        self.ready = (rows.num_rows() > 0).then_some(ReadyRows::Joined(rows));
        Ok(())
    }

    /// Asks for rows after the last; false where there are none.
    ///
    /// # Errors
    /// [`GuestError`].
    pub(super) fn finish(&mut self) -> Result<bool, GuestError> {
        match self.instance.finish()? {
            Some(made) => {
                let made = self.check(made, GuestFunction::Finish, None)?;
                self.ready = Some(ReadyRows::Own { made, left: 0 });
                Ok(true)
            }
            None => {
                if let Some(order) = &mut self.order {
                    order.finish()?;
                }
                Ok(false)
            }
        }
    }

    /// Returns whether [`LinkRun::next`] may have rows.
    pub(super) fn has_rows(&self) -> bool {
        self.ready.is_some() || self.order.as_ref().is_some_and(RowSorter::has_rows)
    }

    /// The next rows of the last result, or of those that are in order now.
    ///
    /// # Errors
    /// [`GuestError`].
    pub(super) fn next(&mut self) -> Result<Option<RecordBatch>, GuestError> {
        loop {
            if let Some(order) = &mut self.order
                && let Some(rows) = order.next()?
            {
                return self.project(&rows).map(Some);
            }
            match self.ready.take() {
                None => return Ok(None),
                Some(ReadyRows::Joined(rows)) => return self.project(&rows).map(Some),
                Some(ReadyRows::Own { made, left }) => {
                    let count = self.slice_of(&made, left);
                    let rows = self.assemble(&made, None, left, count)?;
                    let left = left + count;
                    self.ready = (left < made.rows).then_some(ReadyRows::Own { made, left });
                    let Some(order) = &mut self.order else {
                        return self.project(&rows).map(Some);
                    };
                    order.push(rows).map_err(|error| match error {
                        OrderError::Guest(error) => error,
                        OrderError::Descending => {
                            let rule = "rows that do not ascend by the made columns of its order";
                            self.instance.broken_rule(GuestFunction::Push, rule)
                        }
                    })?;
                }
            }
        }
    }

    /// Usage of the instance so far.
    pub(super) fn used(&self) -> ResourceUsage {
        self.instance.used()
    }

    /// Lines that it logged, where dumps are enabled.
    pub(super) fn guest_log(&self) -> &[GuestLogLine] {
        self.instance.guest_log()
    }

    fn cross(&mut self, batch: &RecordBatch) -> Result<CrossingRows, GuestError> {
        let LinkPlan { needs, schema, codes, .. } = &*self.plan;
        let columns = &self.columns;
        self.instance.keep_batch(|| whole_batch(schema, &columns.read, batch));
        let groups = match (&mut self.groups, &needs.groups) {
            (Some(groups), Some(by)) => {
                let places: Vec<usize> = by.iter().map(|column| columns.place(*column)).collect();
                groups.number(batch, &places)?
            }
            _ => Vec::new(),
        };
        let crossed = needs.columns.iter().map(|(column, form)| {
            let codes = codes.get(*column).and_then(Option::as_deref);
            cross(batch.column(columns.place(*column)), *form, codes)
        });
        let crossed = crossed.collect::<Result<Vec<_>, _>>()?;
        let rows = batch.num_rows();
        Ok(CrossingRows { rows, groups, columns: wire(rows, &crossed)? })
    }

    /// Checks a result, and counts it.
    fn check(
        &mut self,
        made: guest::MadeRows,
        call: GuestFunction,
        batch_rows: Option<usize>,
    ) -> Result<MadeRows, GuestError> {
        let LinkPlan { output, values_of, transform, .. } = &*self.plan;
        let expected = Expected { output, values_of, batch_rows, groups: self.groups.as_ref() };
        let made = MadeRows::check(made, &expected)
            .map_err(|rule| self.instance.broken_rule(call, &rule))?;
        self.instance.record_output(made.bytes);
        let state = self.instance.state();
        let values = self.groups.as_ref().and_then(|groups| groups.bytes_of(&made.groups));
        let bytes = made.bytes.saturating_add(values.unwrap_or(0));
        let counted = self.bytes.record_made(bytes, transform.host.limits.transform_amplification);
        let counted = counted.map_err(|trap| state.stopped(trap));
        counted.map_err(|error| self.instance.failed(call, error))?;
        Ok(made)
    }

    /// Checks that a batch may have no result.
    fn check_none(&mut self, batch: &RecordBatch) -> Result<(), GuestError> {
        if self.plan.output.relation == Relation::Same {
            let rule = format!("no rows for a batch of {}", batch.num_rows());
            return Err(self.instance.broken_rule(GuestFunction::Push, &rule));
        }
        Ok(())
    }

    /// Number of rows of their own from `left` on that leave together.
    fn slice_of(&self, made: &MadeRows, left: usize) -> usize {
        let most = (made.rows - left).min(SLICE_ROWS);
        match (&self.groups, made.groups.get(left..left + most)) {
            (Some(groups), Some(numbers)) => groups.count_within(numbers, SLICE_BYTES),
            _ => most,
        }
    }

    /// Rows of the output, with the columns that rows are sorted by.
    fn assemble(
        &self,
        made: &MadeRows,
        batch: Option<&RecordBatch>,
        at: usize,
        count: usize,
    ) -> Result<RecordBatch, GuestError> {
        let sources = &self.plan.output.sources;
        let assembled = &self.columns.assembled;
        let of_groups = assembled.iter().any(|column| matches!(sources[*column], Source::Group(_)));
        let values = match (&self.groups, made.groups.get(at..at + count)) {
            (Some(groups), Some(numbers)) if of_groups => groups.columns(numbers)?,
            _ => Vec::new(),
        };
        let column = |column: &usize| match sources[*column] {
            Source::Made(place, kind) => made.column(place, kind, at, count),
            Source::Group(place) => {
                values.get(place).cloned().ok_or_else(|| host_error("a group without values"))
            }
            Source::Passed(position) => {
                let batch = batch.ok_or_else(|| host_error("a passed column without a batch"))?;
                self.of_input(made, batch.column(self.columns.place(position)))
            }
        };
        let columns = assembled.iter().map(column).collect::<Result<Vec<_>, _>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(count));
        let schema = Arc::clone(&self.columns.assembled_schema);
        RecordBatch::try_new_with_options(schema, columns, &options).map_err(host_error)
    }

    /// A column of the batch for the rows that come out of it.
    fn of_input(&self, made: &MadeRows, column: &ArrayRef) -> Result<ArrayRef, GuestError> {
        if self.plan.output.relation != Relation::Chosen || made.take.len() == column.len() {
            return Ok(Arc::clone(column));
        }
        take(column, &UInt32Array::from(made.take.clone()), None).map_err(host_error)
    }

    /// Leaves out the columns that rows were only sorted by.
    fn project(&self, rows: &RecordBatch) -> Result<RecordBatch, GuestError> {
        let LinkColumns { kept, assembled, schema, .. } = &*self.columns;
        let place = |column: &usize| assembled.binary_search(column).ok();
        let columns = kept.iter().filter_map(place).map(|at| Arc::clone(rows.column(at))).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(rows.num_rows()));
        RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options).map_err(host_error)
    }
}
