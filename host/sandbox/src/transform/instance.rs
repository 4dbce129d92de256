//! One guest at work on the rows of one response: a store, a `transforming`, and the limits of each
//! call. All of it is blocking and runs on a worker.

use std::sync::Arc;

use arrow::datatypes::Schema;
use wasmtime::Store;
use wasmtime::component::ResourceAny;
use yearbook_engine::sanitize_sentence;
use yearbook_shares::SlotPermit;

use super::PluginTransform;
use super::codes::CodeTable;
use super::groups::host_error;
use super::needs::{Needs, Unmet};
use super::output::TransformOutput;
use crate::encode::lend;
use crate::guest::bindings::transform::TransformPlugin;
use crate::guest::bindings::transform::exports::yearbook::plugin::transform as guest;
use crate::guest::bindings::transform::yearbook::plugin::statistics::Code;
use crate::guest::parameters::wire_option;
use crate::guest::{HostState, InputSize, WireColumns, WireSchema};
use crate::guest_error::GuestError;
use crate::observe::{CallMetrics, FailureDump, GuestFunction, GuestLogLine, ResourceUsage};
use crate::options::OptionValue;

/// Codes of the columns of an input, for those that cross so.
pub(super) type Codes = Vec<Option<Arc<CodeTable>>>;

/// Rows as they cross.
pub(super) struct CrossingRows {
    pub(super) rows: usize,
    /// Number of each row's group; empty where rows have none.
    pub(super) groups: Vec<u32>,
    pub(super) columns: WireColumns,
}

/// An instance of a transform. Nothing calls it again after an error.
pub(super) struct TransformInstance {
    store: Store<HostState>,
    guest: TransformPlugin,
    /// The response, once it has begun.
    transforming: Option<ResourceAny>,
    /// Dump of a failure, where failures are kept.
    dump: Option<Box<FailureDump>>,
    /// Given back when the instance is dropped.
    _permit: Arc<SlotPermit>,
}

impl TransformInstance {
    /// An instance for `schema` that has not been asked anything.
    pub(super) fn new(
        transform: &PluginTransform,
        permit: Arc<SlotPermit>,
        work: Arc<CallMetrics>,
        schema: &Schema,
        options: &[OptionValue],
    ) -> Result<Self, GuestError> {
        let host = &transform.host;
        let dump = work.dump_target().is_enabled().then(|| {
            Box::new(FailureDump::for_response(work.release(), schema, options, &host.limits))
        });
        let plain = transform.description.parameters.are_default(options);
        let names = schema.fields().iter().map(|field| field.name().len()).sum();
        let input = InputSize::new(schema.fields().len(), names, plain);
        let mut store = HostState::new_store(host, work, input);
        let made = HostState::try_call(&mut store, |store| transform.linked.instantiate(store));
        match made {
            Ok(guest) => Ok(Self { store, guest, transforming: None, dump, _permit: permit }),
            Err(trap) => {
                let error = store.data().stopped(trap);
                if let Some(dump) = dump {
                    store.data().write_dump(*dump, GuestFunction::Open, &error);
                }
                Err(error)
            }
        }
    }

    /// Asks what the transform needs of `schema`.
    pub(super) fn plan(
        &mut self,
        schema: &Schema,
        options: &[OptionValue],
    ) -> Result<Needs, GuestError> {
        let flattened = WireSchema::new(schema, false).map_err(host_error)?;
        let options: Vec<_> = options.iter().map(wire_option).collect();
        let needs = self.call(GuestFunction::Plan, |guest, _, store| {
            let guest = guest.yearbook_plugin_transform();
            flattened.borrow(|schema| guest.call_plan(store, schema, &options))
        })?;
        Needs::check(needs, schema).map_err(|unmet| match unmet {
            Unmet::Broken(rule) => self.broken_rule(GuestFunction::Plan, &rule),
            Unmet::Declined(sentence) => {
                self.failed(GuestFunction::Plan, GuestError::Declined(sentence))
            }
        })
    }

    /// Begins the response, and asks for its columns, which are not checked yet.
    pub(super) fn open(
        &mut self,
        schema: &Schema,
        options: &[OptionValue],
        codes: &Codes,
    ) -> Result<guest::Output, GuestError> {
        if let Some(dump) = &mut self.dump {
            let values = |table: &Option<Arc<CodeTable>>| {
                table.as_ref().map(|table| table.values().to_vec())
            };
            dump.about.codes = codes.iter().map(values).collect();
        }
        let flattened = WireSchema::new(schema, false).map_err(host_error)?;
        let options: Vec<_> = options.iter().map(wire_option).collect();
        let lent: Vec<Option<Vec<Code<'_>>>> =
            codes.iter().map(|table| table.as_deref().map(|table| lend(table.values()))).collect();
        let lent: Vec<Option<&[Code<'_>]>> = lent.iter().map(Option::as_deref).collect();
        let bytes = |table: &Arc<CodeTable>| table.values().iter().map(String::len).sum::<usize>();
        self.store.data_mut().add_input(codes.iter().flatten().map(bytes).sum());
        // One call for both: what is made is known without rows, and clocks are read once.
        let (guest, mut function) = (&self.guest, GuestFunction::Open);
        let opened = HostState::call(&mut self.store, |store| {
            let calls = guest.yearbook_plugin_transform().transforming();
            let opened =
                flattened.borrow(|schema| calls.call_open(&mut *store, schema, &lent, &options))?;
            let transforming = match opened {
                Ok(transforming) => transforming,
                Err(refusal) => return Ok(Err(refusal)),
            };
            function = GuestFunction::Output;
            Ok(Ok((transforming, calls.call_output(store, transforming)?)))
        });
        let (transforming, said) = opened.map_err(|error| self.failed(function, error))?;
        self.transforming = Some(transforming);
        Ok(said)
    }

    /// Checks columns that it was asked for.
    pub(super) fn check_output(
        &mut self,
        output: guest::Output,
        schema: &Schema,
        needs: &Needs,
    ) -> Result<TransformOutput, GuestError> {
        TransformOutput::check(output, schema, needs)
            .map_err(|rule| self.broken_rule(GuestFunction::Output, &rule))
    }

    /// Gives it rows that come first.
    pub(super) fn prime(&mut self, rows: &CrossingRows) -> Result<(), GuestError> {
        self.record_input(rows);
        self.call(GuestFunction::Prime, |guest, transforming, store| {
            let calls = guest.yearbook_plugin_transform().transforming();
            rows.borrow(|rows| calls.call_prime(store, transforming?, rows))
        })
    }

    /// Gives it rows.
    pub(super) fn push(
        &mut self,
        rows: &CrossingRows,
    ) -> Result<Option<guest::MadeRows>, GuestError> {
        self.record_input(rows);
        self.call(GuestFunction::Push, |guest, transforming, store| {
            let calls = guest.yearbook_plugin_transform().transforming();
            rows.borrow(|rows| calls.call_push(store, transforming?, rows))
        })
    }

    /// Asks for rows after the last.
    pub(super) fn finish(&mut self) -> Result<Option<guest::MadeRows>, GuestError> {
        self.call(GuestFunction::Finish, |guest, transforming, store| {
            let calls = guest.yearbook_plugin_transform().transforming();
            calls.call_finish(store, transforming?)
        })
    }

    /// Keeps the rows of the next call for a dump, where failures are kept.
    pub(super) fn keep_batch(&mut self, batch: impl FnOnce() -> Option<arrow::array::RecordBatch>) {
        if let Some(dump) = &mut self.dump {
            dump.batch = batch();
        }
    }

    /// Keeps the values that a column may have for a dump, where failures are kept.
    pub(super) fn keep_codes(&mut self, column: usize, values: &CodeTable) {
        if let Some(dump) = &mut self.dump
            && let Some(kept) = dump.about.codes.get_mut(column)
        {
            *kept = Some(values.values().to_vec());
        }
    }

    /// The error of a result of `call` that breaks `rule`.
    pub(super) fn broken_rule(&mut self, call: GuestFunction, rule: &str) -> GuestError {
        let error = self.store.data().broken_rule(sanitize_sentence(rule));
        self.failed(call, error)
    }

    /// Writes a failure dump, where failures are kept.
    pub(super) fn failed(&mut self, call: GuestFunction, error: GuestError) -> GuestError {
        if let Some(dump) = self.dump.take() {
            self.store.data().write_dump(*dump, call, &error);
        }
        error
    }

    /// Counts bytes that a call returned.
    pub(super) fn record_output(&mut self, bytes: usize) {
        self.store.data_mut().record_output(bytes);
    }

    /// State of the store.
    pub(super) fn state(&self) -> &HostState {
        self.store.data()
    }

    /// Usage of the instance so far.
    pub(super) fn used(&self) -> ResourceUsage {
        self.store.data().used()
    }

    /// Lines that it logged, where dumps are enabled.
    pub(super) fn guest_log(&self) -> &[GuestLogLine] {
        self.store.data().guest_log()
    }

    fn record_input(&mut self, rows: &CrossingRows) {
        let bytes = rows.columns.bytes().saturating_add(rows.groups.len() * size_of::<u32>());
        self.store.data_mut().add_input(bytes);
        self.store.data().work().record_input(rows.rows, bytes);
    }

    fn call<T: Send>(
        &mut self,
        function: GuestFunction,
        call: impl FnOnce(
            &TransformPlugin,
            wasmtime::Result<ResourceAny>,
            &mut Store<HostState>,
        ) -> wasmtime::Result<Result<T, guest::Refusal>>
        + Send,
    ) -> Result<T, GuestError> {
        let guest = &self.guest;
        let transforming = self.transforming;
        let outcome = HostState::call(&mut self.store, |store| {
            let transforming =
                transforming.ok_or_else(|| wasmtime::Error::msg("the response has not begun"));
            call(guest, transforming, store)
        });
        outcome.map_err(|error| self.failed(function, error))
    }
}

impl CrossingRows {
    fn borrow<T>(&self, with: impl FnOnce(guest::Batch<'_>) -> T) -> T {
        let (arrays, buffers) = self.columns.parts();
        let rows = u32::try_from(self.rows).unwrap_or(u32::MAX);
        with(guest::Batch { rows, groups: &self.groups, arrays, buffers: &buffers })
    }
}
