//! One guest at work on one response: a store, an `encoding`, and the checks on what it returns.
//! All of it is blocking and runs on a worker.

use std::sync::Arc;

use arrow::array::RecordBatch;
use wasmtime::Store;
use wasmtime::component::ResourceAny;
use yearbook_domain::json_size::CELL_BYTES;
use yearbook_engine::{Limits, Trap};
use yearbook_shares::SlotPermit;

use super::codelists::{self, ToldCodes};
use crate::encode::{EncodedPart, Notes, PluginEncoder, ResponseSize};
use crate::guest::bindings::EncoderPlugin;
use crate::guest::bindings::exports::yearbook::plugin::encoder::GuestEncoding;
use crate::guest::bindings::yearbook::plugin::types as wire;
use crate::guest::parameters::wire_option;
use crate::guest::{HostState, InputSize, WireConverter, WireSchema};
use crate::guest_error::GuestError;
use crate::observe::{CallMetrics, FailureDump, GuestFunction, GuestLogLine, ResourceUsage};
use crate::options::OptionValue;

/// Bytes that any call may return whatever its input: a header, a footer, a page held back.
const FREE_OUTPUT_BYTES: usize = 1 << 20;

/// A part that failed, and what the guest might have given out before it.
pub(crate) struct PartError {
    pub(crate) error: GuestError,
    allowance: usize,
}

/// A fresh instance with its response begun.
pub(crate) struct EncoderInstance {
    store: Store<HostState>,
    guest: EncoderPlugin,
    encoding: ResourceAny,
    converter: WireConverter,
    limits: Limits,
    /// Mean bytes of a column's name.
    name_bytes: usize,
    /// Bytes that have come in and that the guest may still give out: it may hold rows back.
    allowance: usize,
    /// Filled while the response is made, where its failure would be kept: at most one part is held
    /// for that.
    dump: Option<Box<FailureDump>>,
    /// Given back when the instance is dropped.
    _permit: SlotPermit,
}

impl EncoderInstance {
    /// Instantiates the encoder and opens a response of `size`, counted in `work`.
    pub(crate) fn open(
        encoder: &PluginEncoder,
        size: ResponseSize,
        permit: SlotPermit,
        work: Arc<CallMetrics>,
        schema: &arrow::datatypes::Schema,
        options: &[OptionValue],
    ) -> Result<Self, GuestError> {
        let dictionaries = encoder.description.dictionaries;
        let flattened = WireSchema::new(schema, dictionaries)
            .map_err(|error| GuestError::Host(error.to_string()))?;
        let limits = &encoder.host.limits;
        let kept = work
            .dump_target()
            .is_enabled()
            .then(|| Box::new(FailureDump::for_response(work.release(), schema, options, limits)));
        let plain = encoder.description.parameters.are_default(options);
        let input = InputSize::new(schema.fields().len(), flattened.name_bytes(), plain);
        let options: Vec<wire::OptionValue<'_>> = options.iter().map(wire_option).collect();
        let mut store = HostState::new_store(&encoder.host, work, input);
        let columns = schema.fields().len();
        let is_told = encoder.description.codes;
        let codes = if is_told { codelists::codes(schema) } else { Vec::new() };
        store.data_mut().add_input(codelists::bytes(&codes));
        // Outside of the guest's time.
        let exports = encoder.linked.exports(size);
        let opened = HostState::call(&mut store, |store| {
            let (guest, told) = exports.instantiate(store)?;
            if let Some(told) = told {
                let codes = codes.iter().map(|codes| codes.as_ref().map(ToldCodes::lend));
                let codes: Vec<Option<Vec<_>>> = codes.collect();
                let codes: Vec<_> = codes.iter().map(Option::as_deref).collect();
                told.yearbook_plugin_codelists().call_receive(&mut *store, &codes)?;
            }
            let calls = guest.yearbook_plugin_encoder().encoding();
            let opened =
                flattened.borrow(|schema| calls.call_open(&mut *store, schema, &options))?;
            let encoding = match opened {
                Ok(encoding) => encoding,
                Err(error) => return Ok(Err(error)),
            };
            let views = calls.call_views(store, encoding)?;
            if !views.is_empty() && views.len() != columns {
                let views = views.len();
                return Err(wasmtime::Error::new(Trap::Views { views, columns }));
            }
            Ok(Ok((guest, encoding, views)))
        });
        let (guest, encoding, views) = match opened {
            Ok(opened) => opened,
            Err(error) => {
                if let Some(dump) = kept {
                    store.data().write_dump(*dump, GuestFunction::Open, &error);
                }
                return Err(error);
            }
        };
        Ok(Self {
            store,
            guest,
            encoding,
            converter: WireConverter::new(schema, dictionaries, views),
            limits: *limits,
            name_bytes: flattened.name_bytes().div_ceil(schema.fields().len().max(1)),
            allowance: flattened.name_bytes().saturating_mul(limits.amplification),
            dump: kept,
            _permit: permit,
        })
    }

    /// Bytes before the first row.
    pub(crate) fn encode_header(&mut self) -> Result<Vec<u8>, GuestError> {
        let (encoding, allowance) = (self.encoding, self.allowance);
        let head = self.call(|guest, store| guest.call_head(store, encoding));
        let head = head.map_err(|error| self.failed(GuestFunction::Head, allowance, error))?;
        if let Some(dump) = &mut self.dump {
            dump.about.before.head = true;
        }
        Ok(head)
    }

    /// Encodes a batch.
    pub(crate) fn encode_part(&mut self, batch: &RecordBatch) -> Result<EncodedPart, GuestError> {
        self.try_encode_part(batch).map_err(|unmade| self.dump_part_failure(unmade))
    }

    /// Encodes a batch. A failure is not dumped yet: [`EncoderInstance::dump_part_failure`]
    /// does that, unless there is another way.
    pub(crate) fn try_encode_part(
        &mut self,
        batch: &RecordBatch,
    ) -> Result<EncodedPart, PartError> {
        let allowance = self.allowance;
        self.call_part(batch).map_err(|error| PartError { error, allowance })
    }

    /// Keeps the failure of a part.
    pub(crate) fn dump_part_failure(
        &mut self,
        PartError { error, allowance }: PartError,
    ) -> GuestError {
        // Rows that never reached the guest.
        if matches!(error, GuestError::Host(_)) {
            error
        } else {
            self.failed(GuestFunction::Part, allowance, error)
        }
    }

    /// A fresh instance in the place of this one, which is spent, with the same response begun.
    pub(crate) fn reopen(
        self,
        encoder: &PluginEncoder,
        schema: &arrow::datatypes::Schema,
        options: &[OptionValue],
    ) -> Result<Self, GuestError> {
        let Self { store, _permit: permit, .. } = self;
        let work = store.data().shared_metrics();
        // Its memory first: two of them at once would be more than was admitted.
        drop(store);
        // A part that is made in halves is no small one.
        Self::open(encoder, ResponseSize::OnePart, permit, work, schema, options)
    }

    fn call_part(&mut self, batch: &RecordBatch) -> Result<EncodedPart, GuestError> {
        let crossing =
            self.converter.convert(batch).map_err(|error| GuestError::Host(error.to_string()))?;
        if let Some(dump) = &mut self.dump {
            // Its columns are shared, not copied.
            dump.batch = Some(batch.clone());
        }
        self.store.data().work().record_input(batch.num_rows(), crossing.bytes());
        let weight = crossing
            .bytes()
            .saturating_add(crossing.cells.saturating_mul(self.name_bytes + CELL_BYTES));
        self.store.data_mut().add_input(weight);
        self.allowance =
            self.allowance.saturating_add(weight.saturating_mul(self.limits.amplification));
        let encoding = self.encoding;
        let limit = self.limits.output_bytes_per_call;
        let made = crossing.borrow(|rows| {
            self.call(|guest, store| {
                let piece = match guest.call_part(&mut *store, encoding, rows)? {
                    Ok(piece) => piece,
                    Err(error) => return Ok(Err(error)),
                };
                let buffers = crossing.buffers().iter().map(|buffer| buffer.bytes.clone());
                EncodedPart::check(piece, buffers, limit).map(Ok).map_err(wasmtime::Error::new)
            })
        });
        let made = made
            .map_err(|error| GuestError::Host(error.to_string()))?
            .and_then(|piece| self.count_notes(piece))?;
        if let Some(dump) = &mut self.dump {
            dump.about.before.parts += 1;
        }
        Ok(made)
    }

    /// Counts what a part leaves for the tail.
    fn count_notes(&mut self, piece: EncodedPart) -> Result<EncodedPart, GuestError> {
        let before = self.store.data().work().record_notes(piece.note.len());
        if let Some(dump) = &mut self.dump {
            dump.about.before.noted = before;
        }
        let fits = before.saturating_add(piece.note.len()) <= self.limits.note_bytes;
        if fits {
            Ok(piece)
        } else {
            Err(self.store.data().stopped(Trap::Notes(self.limits.note_bytes)))
        }
    }

    /// Bytes after the last row.
    pub(crate) fn encode_footer(&mut self, notes: &Notes) -> Result<Vec<u8>, GuestError> {
        let allowance = self.allowance;
        self.store.data_mut().add_input(notes.bytes());
        self.allowance =
            self.allowance.saturating_add(notes.bytes().saturating_mul(self.limits.amplification));
        let encoding = self.encoding;
        let made =
            notes.borrow(|notes| self.call(|guest, store| guest.call_tail(store, encoding, notes)));
        made.map_err(|error| {
            if let Some(dump) = &mut self.dump {
                dump.notes = notes.entries().to_vec();
            }
            self.failed(GuestFunction::Tail, allowance, error)
        })
    }

    /// Usage so far. The caller counts the bytes returned.
    pub(crate) fn used(&self) -> ResourceUsage {
        self.store.data().used()
    }

    /// Bytes that it may still give out, without what any call may return whatever its input.
    pub(crate) fn allowance(&self) -> usize {
        self.allowance
    }

    /// Lines that it has logged; none where dumps are disabled.
    pub(crate) fn guest_log(&self) -> &[GuestLogLine] {
        self.store.data().guest_log()
    }

    /// Sets what it may still give out to what it was when a call failed.
    pub(crate) fn set_allowance(&mut self, allowance: usize) {
        self.allowance = allowance;
    }

    /// Writes a failure dump, where dumps are enabled.
    fn failed(&mut self, call: GuestFunction, allowance: usize, error: GuestError) -> GuestError {
        if let Some(mut dump) = self.dump.take() {
            dump.about.before.allowance = allowance;
            self.store.data().write_dump(*dump, call, &error);
        }
        error
    }

    fn call<T: OutputSize + Send>(
        &mut self,
        call: impl FnOnce(
            &GuestEncoding<'_>,
            &mut Store<HostState>,
        ) -> wasmtime::Result<Result<T, wire::Error>>
        + Send,
    ) -> Result<T, GuestError> {
        let guest = self.guest.yearbook_plugin_encoder().encoding();
        let output = HostState::call(&mut self.store, |store| call(&guest, store))?;
        let allowed = self.allowance.saturating_add(FREE_OUTPUT_BYTES);
        let returned = output.weight();
        self.store.data().work().returned(output.bytes());
        if returned > allowed {
            return Err(self.store.data().stopped(Trap::Amplification { returned, allowed }));
        }
        self.allowance = self.allowance.saturating_sub(returned);
        Ok(output)
    }
}

/// Result of a call, with its size.
trait OutputSize {
    /// Bytes that the guest gave out.
    fn bytes(&self) -> usize;

    /// Weight of the result beside the input.
    fn weight(&self) -> usize {
        self.bytes()
    }
}

impl OutputSize for Vec<u8> {
    fn bytes(&self) -> usize {
        self.len()
    }
}

impl OutputSize for EncodedPart {
    fn bytes(&self) -> usize {
        self.len().saturating_add(self.note.len())
    }

    fn weight(&self) -> usize {
        EncodedPart::weight(self)
    }
}
