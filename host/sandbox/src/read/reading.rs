//! One file being read by one guest: a store, a `reading`, and the checks on what it returns.

use std::sync::Arc;
use std::time::Duration;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use wasmtime::Store;
use wasmtime::component::ResourceAny;
use yearbook_domain::{SourceColumn, SourceType};
use yearbook_engine::{Limits, Trap, sanitize_sentence};
use yearbook_shares::SlotPermit;

use super::rows::{check_batch, check_columns};
use super::{FileColumn, PluginReader};
use crate::guest::bindings::reader::ReaderPlugin;
use crate::guest::bindings::reader::exports::yearbook::plugin::reader as guest;
use crate::guest::parameters::wire_option;
use crate::guest::{HostState, InputSize};
use crate::guest_error::GuestError;
use crate::observe::{DumpTarget, GuestFunction, GuestLogLine, ReadingRecord, ResourceUsage};
use crate::options::OptionValue;

/// Bytes of rows that any file may become, whatever its size.
const FREE_OUTPUT_BYTES: u64 = 64 << 20;

/// Bytes that a batch counts for at least. Each costs a call, and without this a guest could go on
/// for as many calls as it may make bytes. With the default of `read_amplification` a file may have
/// a batch for every four of its bytes.
const MIN_BATCH_BYTES: u64 = 1024;

/// A file that is being read. Dropped at any time, it leaves nothing behind.
pub struct FileReading {
    store: Store<HostState>,
    instance: ReaderPlugin,
    reading: ResourceAny,
    limits: Limits,
    requested: Vec<SourceColumn>,
    columns: Option<(Vec<FileColumn>, SchemaRef)>,
    /// Bytes of rows.
    pulled: u64,
    record: Option<ReadingRecord>,
    /// Given back when the reading is dropped.
    _permit: SlotPermit,
}

impl FileReading {
    pub(crate) fn open(
        reader: &PluginReader,
        requested: &[SourceColumn],
        options: &[OptionValue],
        dump_target: DumpTarget,
    ) -> Result<Self, GuestError> {
        let permit = reader.try_acquire()?;
        let limits = reader.host.limits;
        let work = reader.call_metrics(dump_target);
        let options = reader.description.parameters.complete(options);
        let record = work
            .dump_target()
            .is_enabled()
            .then(|| ReadingRecord::new(work.release(), requested, &options, &limits));
        let plain = reader.description.parameters.are_default(&options);
        let name_bytes = requested.iter().map(|column| column.name.len()).sum();
        let input = InputSize::new(requested.len(), name_bytes, plain);
        let requests: Vec<guest::ColumnRequest<'_>> = requested.iter().map(wire_request).collect();
        let lent: Vec<_> = options.iter().map(wire_option).collect();
        let mut store = HostState::new_store(&reader.host, work, input);
        let opened = HostState::call(&mut store, |store| {
            let instance = reader.linked.instantiate(&mut *store)?;
            let guest = instance.yearbook_plugin_reader();
            let reading = guest.reading().call_open(store, &requests, &lent)?;
            Ok(reading.map(|reading| (instance, reading)))
        });
        match opened {
            Ok((instance, reading)) => Ok(Self {
                store,
                instance,
                reading,
                limits,
                requested: requested.to_vec(),
                columns: None,
                pulled: 0,
                record,
                _permit: permit,
            }),
            Err(error) => {
                if let Some(record) = record {
                    record.write_failure(GuestFunction::Open, &error, store.data());
                }
                Err(error)
            }
        }
    }

    /// Gives it the next bytes of the file; `last` where no more follow.
    ///
    /// # Errors
    /// [`GuestError`]; the reading is spent.
    pub fn push(&mut self, bytes: &[u8], last: bool) -> Result<(), GuestError> {
        self.store.data_mut().push_input(bytes.len());
        self.store.data().work().record_input(0, bytes.len());
        if let Some(record) = &mut self.record {
            record.push(bytes, last);
        }
        let reading = self.reading;
        self.call(GuestFunction::Push, |instance, store| {
            instance.yearbook_plugin_reader().reading().call_push(store, reading, bytes, last)
        })
    }

    /// The columns, as soon as they are known; the types are those of the batches.
    ///
    /// # Errors
    /// [`GuestError`]; the reading is spent.
    pub fn columns(&mut self) -> Result<Option<(&[FileColumn], &SchemaRef)>, GuestError> {
        if self.columns.is_none() {
            let reading = self.reading;
            let found = self.call(GuestFunction::Columns, |instance, store| {
                let columns = instance.yearbook_plugin_reader().reading();
                columns.call_columns(store, reading).map(Ok)
            })?;
            let checked = found.map(|columns| check_columns(columns, &self.requested)).transpose();
            self.columns =
                checked.map_err(|rule| self.broken_rule(GuestFunction::Columns, rule))?;
        }
        Ok(self.columns.as_ref().map(|(columns, schema)| (columns.as_slice(), schema)))
    }

    /// The next rows; none where more bytes are needed, or at the end of the file.
    ///
    /// # Errors
    /// [`GuestError`]; the reading is spent.
    pub fn pull(&mut self) -> Result<Option<RecordBatch>, GuestError> {
        let Some((_, schema)) = self.columns()? else { return Ok(None) };
        let schema = Arc::clone(schema);
        let reading = self.reading;
        let batch = self.call(GuestFunction::Pull, |instance, store| {
            instance.yearbook_plugin_reader().reading().call_pull(store, reading)
        })?;
        let Some(batch) = batch else { return Ok(None) };
        self.count_output(&batch)?;
        let checked = check_batch(&schema, batch);
        checked.map(Some).map_err(|rule| self.broken_rule(GuestFunction::Pull, rule))
    }

    /// Usage of the instance so far.
    #[must_use]
    pub fn used(&self) -> ResourceUsage {
        self.store.data().used()
    }

    /// Processor time so far.
    pub(crate) fn cpu(&self) -> Duration {
        self.store.data().work().cpu()
    }

    /// Lines that it logged, where dumps are enabled.
    pub(crate) fn guest_log(&self) -> &[GuestLogLine] {
        self.store.data().guest_log()
    }

    fn count_output(&mut self, batch: &guest::Batch) -> Result<(), GuestError> {
        let bytes: usize = batch.buffers.iter().map(Vec::len).sum();
        self.pulled = self.pulled.saturating_add((bytes as u64).max(MIN_BATCH_BYTES));
        self.store.data_mut().record_output(bytes);
        let factor = self.limits.read_amplification as u64;
        let pushed = self.store.data().pushed();
        let allowed = pushed.saturating_mul(factor).saturating_add(FREE_OUTPUT_BYTES);
        if self.pulled <= allowed {
            return Ok(());
        }
        let size = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        let trap = Trap::ReadAmplification { returned: size(self.pulled), allowed: size(allowed) };
        let error = self.store.data().stopped(trap);
        Err(self.failed(GuestFunction::Pull, error))
    }

    fn broken_rule(&mut self, call: GuestFunction, rule: String) -> GuestError {
        let error = self.store.data().broken_rule(sanitize_sentence(&rule));
        self.failed(call, error)
    }

    fn call<T: Send>(
        &mut self,
        function: GuestFunction,
        call: impl FnOnce(
            &ReaderPlugin,
            &mut Store<HostState>,
        ) -> wasmtime::Result<Result<T, guest::Refusal>>
        + Send,
    ) -> Result<T, GuestError> {
        let instance = &self.instance;
        let outcome = HostState::call(&mut self.store, |store| call(instance, store));
        outcome.map_err(|error| self.failed(function, error))
    }

    /// Writes a failure dump, where dumps are enabled.
    fn failed(&mut self, call: GuestFunction, error: GuestError) -> GuestError {
        if let Some(record) = self.record.take() {
            record.write_failure(call, &error, self.store.data());
        }
        error
    }
}

fn wire_request(column: &SourceColumn) -> guest::ColumnRequest<'_> {
    let type_ = match column.source_type {
        SourceType::Text => guest::ColumnType::Text,
        SourceType::Integer => guest::ColumnType::Integer,
        SourceType::Number => guest::ColumnType::Number,
        SourceType::Boolean => guest::ColumnType::Boolean,
        SourceType::Date => guest::ColumnType::Date,
        SourceType::Period => guest::ColumnType::Period,
    };
    guest::ColumnRequest { name: &column.name, source: column.source.as_deref(), type_ }
}
