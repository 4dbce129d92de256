//! One file being read by one guest: a store, a `reading`, and the checks on what it returns.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use wasmtime::Store;
use wasmtime::component::ResourceAny;
use yearbook_domain::{SourceColumn, SourceType};
use yearbook_shares::{CallerShare, SlotPermit};

use super::rows::{check_batch, check_columns};
use super::{FileColumn, PluginReader, ReadError};
use crate::guest::bindings::reader::ReaderPlugin;
use crate::guest::bindings::reader::exports::yearbook::plugin::reader as guest;
use crate::guest::parameters::wire_option;
use crate::guest::{HostState, InputSize};
use crate::limits::Limits;
use crate::observe::{CallMetrics, DumpTarget, GuestFunction, ReadingRecord, ResourceUsage};
use crate::options::OptionValue;
use crate::trap::Trap;

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
    plugin: String,
    limits: Limits,
    requested: Vec<SourceColumn>,
    columns: Option<(Vec<FileColumn>, SchemaRef)>,
    input: InputSize,
    /// Bytes pushed and bytes of rows pulled.
    pushed: u64,
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
    ) -> Result<Self, ReadError> {
        let plugin = reader.description.format.clone();
        let permit = reader.host.admission.instances.try_acquire(&CallerShare::default());
        let permit =
            permit.map_err(|_| ReadError::Host("no instance is free; try again".to_owned()))?;
        let limits = reader.host.limits;
        let work = CallMetrics::new(Arc::clone(&reader.metrics), dump_target);
        let options = reader.description.complete(options);
        let record = work
            .dump_target()
            .is_enabled()
            .then(|| ReadingRecord::new(work.release(), requested, &options, &limits));
        let plain = reader.description.is_plain(&options);
        let name_bytes = requested.iter().map(|column| column.name.len()).sum();
        let input = InputSize::new(requested.len(), name_bytes, plain);
        let requests: Vec<guest::ColumnRequest<'_>> = requested.iter().map(wire_request).collect();
        let lent: Vec<_> = options.iter().map(wire_option).collect();
        let mut store = HostState::new_store(&reader.host, work);
        let opened = HostState::call(&mut store, |store| {
            let instance = reader.pre.instantiate(&mut *store)?;
            let reading =
                instance.yearbook_plugin_reader().reading().call_open(store, &requests, &lent)?;
            Ok((instance, reading))
        });
        let opened = opened.map_err(|trap| stopped(&plugin, 0, trap, &input, &limits)).and_then(
            |(instance, reading)| match reading {
                Ok(reading) => Ok((instance, reading)),
                Err(refusal) => Err(ReadError::from_guest(&plugin, 0, refusal)),
            },
        );
        match opened {
            Ok((instance, reading)) => Ok(Self {
                store,
                instance,
                reading,
                plugin,
                limits,
                requested: requested.to_vec(),
                columns: None,
                input,
                pushed: 0,
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
    /// [`ReadError`]; the reading is spent.
    pub fn push(&mut self, bytes: &[u8], last: bool) -> Result<(), ReadError> {
        self.input.add(bytes.len());
        self.pushed = self.pushed.saturating_add(bytes.len() as u64);
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
    /// [`ReadError`]; the reading is spent.
    pub fn columns(&mut self) -> Result<Option<(&[FileColumn], &SchemaRef)>, ReadError> {
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
    /// [`ReadError`]; the reading is spent.
    pub fn pull(&mut self) -> Result<Option<RecordBatch>, ReadError> {
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

    /// Lines that it logged, where dumps are enabled.
    pub(crate) fn guest_log(&self) -> &[crate::observe::GuestLogLine] {
        self.store.data().guest_log()
    }

    fn count_output(&mut self, batch: &guest::Batch) -> Result<(), ReadError> {
        let bytes: usize = batch.buffers.iter().map(Vec::len).sum();
        self.pulled = self.pulled.saturating_add((bytes as u64).max(MIN_BATCH_BYTES));
        self.store.data().work().returned(bytes);
        let factor = self.limits.read_amplification as u64;
        let allowed = self.pushed.saturating_mul(factor).saturating_add(FREE_OUTPUT_BYTES);
        if self.pulled <= allowed {
            return Ok(());
        }
        let size = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        let trap = Trap::ReadAmplification { returned: size(self.pulled), allowed: size(allowed) };
        let error = stopped(&self.plugin, self.pushed, trap, &self.input, &self.limits);
        Err(self.failed(GuestFunction::Pull, error))
    }

    fn broken_rule(&mut self, call: GuestFunction, rule: String) -> ReadError {
        let rule = crate::sanitize::sanitize_sentence(&rule);
        let (plugin, at) = (self.plugin.clone(), self.pushed);
        self.failed(call, ReadError::Output { plugin, at, rule })
    }

    fn call<T: Send>(
        &mut self,
        function: GuestFunction,
        call: impl FnOnce(
            &ReaderPlugin,
            &mut Store<HostState>,
        ) -> wasmtime::Result<Result<T, guest::Refusal>>
        + Send,
    ) -> Result<T, ReadError> {
        let instance = &self.instance;
        let outcome = HostState::call(&mut self.store, |store| call(instance, store));
        let outcome = outcome
            .map_err(|trap| stopped(&self.plugin, self.pushed, trap, &self.input, &self.limits))
            .and_then(|returned| {
                returned
                    .map_err(|refusal| ReadError::from_guest(&self.plugin, self.pushed, refusal))
            });
        outcome.map_err(|error| self.failed(function, error))
    }

    /// Writes a failure dump, where dumps are enabled.
    fn failed(&mut self, call: GuestFunction, error: ReadError) -> ReadError {
        if let Some(record) = self.record.take() {
            record.write_failure(call, &error, self.store.data());
        }
        error
    }
}

/// A guest was stopped after it had been given `at` bytes.
fn stopped(plugin: &str, at: u64, trap: Trap, input: &InputSize, limits: &Limits) -> ReadError {
    let plugin = plugin.to_owned();
    match trap {
        Trap::TotalMemory { .. } => ReadError::Host(format!("{trap}; try again")),
        trap if input.attributes_to_input(&trap, limits) => {
            ReadError::TooLarge { plugin, at, trap }
        }
        trap => ReadError::Trapped { plugin, at, trap },
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
