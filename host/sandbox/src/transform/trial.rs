//! Rows that a transform makes for a check, all of them kept, and a call of a failure dump that is
//! made again. Blocking throughout.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use yearbook_domain::Date;
use yearbook_shares::SlotPermit;

use super::PluginTransform;
use super::budget::ChainBytes;
use super::codes::CodeTable;
use super::columns::{date_column, rows_within};
use super::crossing::{batch_bytes, slice_rows};
use super::groups::host_error;
use super::instance::TransformInstance;
use super::link::{LinkColumns, LinkPlan};
use super::link_run::LinkRun;
use super::needs::{Form, Priming};
use super::output::Relation;
use crate::guest_error::GuestError;
use crate::observe::{CallMetrics, DumpMetadata, DumpTarget, FailureDump, GuestFunction};
use crate::observe::{GuestLogLine, ResourceUsage};
use crate::options::OptionValue;
use crate::read::TrialTable;
use crate::trial::{GuestCall, TrialError};

/// One transform outside of a chain, with its plan.
struct Trial {
    plan: Arc<LinkPlan>,
    columns: Arc<LinkColumns>,
    place: Arc<SlotPermit>,
    work: Arc<CallMetrics>,
    bytes: Arc<ChainBytes>,
    usage: ResourceUsage,
}

impl PluginTransform {
    /// Makes rows of `batches`, which are all of `schema`. `codes`: the distinct values of a
    /// column, where they are known.
    ///
    /// # Errors
    /// [`TrialError`], with the call that failed.
    pub fn trial(
        self: &Arc<Self>,
        schema: &SchemaRef,
        chosen: &[OptionValue],
        codes: impl Fn(&str) -> Option<Vec<String>>,
        batches: &[RecordBatch],
    ) -> Result<TrialTable, TrialError> {
        let dumps = self.host.dump_target.or_in_memory();
        let failed = |(call, error)| TrialError { call, error, dump: dumps.take() };
        let by_name = |column: usize| codes(schema.field(column).name());
        let trial = Trial::plan(self, schema, chosen, by_name, dumps.clone()).map_err(failed)?;
        trial.run(batches, None).map_err(failed)
    }

    /// Makes rows of those of `batches` from the day `start` on, as a request from that day has
    /// them: with the earlier rows that the transform asks for, and without what comes of these.
    /// None where it asks for none, or where a row of the output is not one of the input.
    ///
    /// # Errors
    /// [`TrialError`], with the call that failed.
    pub fn trial_from(
        self: &Arc<Self>,
        schema: &SchemaRef,
        chosen: &[OptionValue],
        codes: impl Fn(&str) -> Option<Vec<String>>,
        batches: &[RecordBatch],
        start: Date,
    ) -> Result<Option<TrialTable>, TrialError> {
        let dumps = self.host.dump_target.or_in_memory();
        let failed = |(call, error)| TrialError { call, error, dump: dumps.take() };
        let by_name = |column: usize| codes(schema.field(column).name());
        let trial = Trial::plan(self, schema, chosen, by_name, dumps.clone()).map_err(failed)?;
        if trial.plan.needs.before.is_none() || trial.plan.output.relation != Relation::Same {
            return Ok(None);
        }
        trial.run(batches, Some(start)).map(Some).map_err(failed)
    }

    /// Makes the call of `dump` again.
    pub(crate) fn replay(
        self: &Arc<Self>,
        dump: &FailureDump,
        hand: DumpTarget,
    ) -> Result<(usize, Vec<GuestLogLine>), GuestError> {
        let DumpMetadata { call, options, codes, .. } = &dump.about;
        let codes = |column: usize| codes.get(column).cloned().flatten();
        let trial = Trial::plan(self, &dump.schema, options, codes, hand);
        let trial = trial.map_err(|(_, error)| error)?;
        let mut run = trial.open()?;
        let mut made = Vec::new();
        if let Some(batch) = &dump.batch {
            match call {
                GuestFunction::Prime => trial.prime(&mut run, batch)?,
                _ => trial.push(&mut run, batch, None, &mut made)?,
            }
        }
        if *call == GuestFunction::Finish {
            trial.finish(&mut run, &mut made)?;
        }
        Ok((made.iter().map(batch_bytes).sum(), run.guest_log().to_vec()))
    }
}

impl Trial {
    fn plan(
        transform: &Arc<PluginTransform>,
        schema: &SchemaRef,
        chosen: &[OptionValue],
        codes: impl Fn(usize) -> Option<Vec<String>>,
        dumps: DumpTarget,
    ) -> Result<Self, (GuestCall, GuestError)> {
        let in_plan = |error| (GuestCall::Plan, error);
        let place = Arc::new(transform.try_acquire().map_err(in_plan)?);
        let work = transform.call_metrics(dumps);
        let options = transform.description.parameters.complete(chosen);
        let (own, counted) = (Arc::clone(&place), Arc::clone(&work));
        let mut instance =
            TransformInstance::new(transform, own, counted, schema, &options).map_err(in_plan)?;
        let needs = instance.plan(schema, &options).map_err(in_plan)?;
        let mut tables = vec![None; schema.fields().len()];
        for (column, _) in needs.columns.iter().filter(|(_, form)| *form == Form::Coded) {
            let table = codes(*column).and_then(CodeTable::new).ok_or_else(|| {
                let name = schema.field(*column).name();
                in_plan(GuestError::Declined(format!("the values of {name} are not known")))
            })?;
            tables[*column] = Some(table);
        }
        let in_open = |error| (GuestCall::Open, error);
        let said = instance.open(schema, &options, &tables).map_err(in_open)?;
        let output = instance.check_output(said.clone(), schema, &needs).map_err(in_open)?;
        let usage = instance.used();
        let known = |column: &Option<usize>| column.and_then(&codes).and_then(CodeTable::new);
        let values_of = output.values_of.iter().map(known).collect();
        let (transform, schema) = (Arc::clone(transform), Arc::clone(schema));
        let codes = tables;
        let plan = LinkPlan { transform, options, schema, needs, codes, values_of, output, said };
        let columns = LinkColumns::new(&plan, (0..plan.output.sources.len()).collect());
        let (plan, columns) = (Arc::new(plan), Arc::new(columns));
        Ok(Self { plan, columns, place, work, bytes: Arc::default(), usage })
    }

    /// Everything that comes of `batches`, or of those rows that a response from the day `start` on
    /// reads.
    fn run(
        &self,
        batches: &[RecordBatch],
        start: Option<Date>,
    ) -> Result<TrialTable, (GuestCall, GuestError)> {
        let mut run = self.open().map_err(|error| (GuestCall::Open, error))?;
        let earlier = |day: Date| self.plan.needs.before.map_or(day, |span| span.before(day));
        let first = start.map(earlier);
        // Rows of certain dates come first whatever the response's are.
        let primed = first.filter(|_| self.plan.needs.prime == Priming::All);
        if self.plan.needs.prime != Priming::None {
            for (at, batch) in batches.iter().enumerate() {
                let given =
                    self.since(batch, primed).and_then(|batch| self.prime(&mut run, &batch));
                given.map_err(|error| (GuestCall::Prime(at + 1), error))?;
            }
        }
        let mut made = Vec::new();
        for (at, batch) in batches.iter().enumerate() {
            let pushed = self
                .since(batch, first)
                .and_then(|batch| self.push(&mut run, &batch, start, &mut made));
            pushed.map_err(|error| (GuestCall::PushRows(at + 1), error))?;
        }
        self.finish(&mut run, &mut made).map_err(|error| (GuestCall::Finish, error))?;
        let usage = self.usage.and(run.used());
        let (schema, cpu) = (Arc::clone(&self.columns.schema), self.work.cpu());
        Ok(TrialTable { schema, batches: made, usage, cpu })
    }

    /// The rows of `batch` from the day `first` on.
    fn since(&self, batch: &RecordBatch, first: Option<Date>) -> Result<RecordBatch, GuestError> {
        let Some((first, date)) = first.zip(date_column(&self.plan.schema)) else {
            return Ok(batch.clone());
        };
        let dates = Arc::clone(batch.column(date));
        rows_within(batch.clone(), &dates, first, Date::MAX).map_err(host_error)
    }

    /// A second instance, which is checked to have the same output.
    fn open(&self) -> Result<LinkRun, GuestError> {
        let (place, work) = (Arc::clone(&self.place), Arc::clone(&self.work));
        LinkRun::open(&self.plan, &self.columns, place, work, &self.bytes)
    }

    fn prime(&self, run: &mut LinkRun, batch: &RecordBatch) -> Result<(), GuestError> {
        let batch = self.read(batch)?;
        let batch = self.columns.primed_rows(&self.plan, batch).map_err(host_error)?;
        self.slices(&batch).try_for_each(|slice| run.prime(&slice))
    }

    fn push(
        &self,
        run: &mut LinkRun,
        batch: &RecordBatch,
        start: Option<Date>,
        made: &mut Vec<RecordBatch>,
    ) -> Result<(), GuestError> {
        let batch = self.read(batch)?;
        for slice in self.slices(&batch) {
            run.push(&slice, start)?;
            take_rows(run, made)?;
        }
        Ok(())
    }

    fn finish(&self, run: &mut LinkRun, made: &mut Vec<RecordBatch>) -> Result<(), GuestError> {
        while run.finish()? {
            take_rows(run, made)?;
        }
        take_rows(run, made)
    }

    /// The columns that a run reads.
    fn read(&self, batch: &RecordBatch) -> Result<RecordBatch, GuestError> {
        let batch = batch.project(&self.columns.read).map_err(host_error)?;
        self.bytes.record_read(batch_bytes(&batch));
        Ok(batch)
    }

    fn slices(&self, batch: &RecordBatch) -> impl Iterator<Item = RecordBatch> {
        let columns = self.columns.crossing(&self.plan.needs);
        let mut at = 0;
        std::iter::from_fn(move || {
            (at < batch.num_rows()).then(|| {
                let count = slice_rows(batch, &columns, at);
                at += count;
                batch.slice(at - count, count)
            })
        })
    }
}

fn take_rows(run: &mut LinkRun, made: &mut Vec<RecordBatch>) -> Result<(), GuestError> {
    while let Some(rows) = run.next()? {
        made.push(rows);
    }
    Ok(())
}
