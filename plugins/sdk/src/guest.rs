//! The guest's half of the component: generated bindings, and the exports that stand between them
//! and the traits. Only in wasm builds; authors reach it through the export macros alone.

use std::cell::RefCell;
use std::marker::PhantomData;

use crate::batch::Decoder;
use crate::capacity::BufferEstimate;
use crate::log::{self, Level};
use crate::view::{Crossing, HeldText};
use crate::{Encoder, Error, Kind, Note, Options, Output, Parameter, Traits, Value, View, wire};
use encoder_world::exports::yearbook::plugin::encoder as wit;
use encoder_world::yearbook::plugin::{log as wit_log, types};

/// Generated from the WIT package.
#[doc(hidden)]
pub mod encoder_world {
    wit_bindgen::generate!({
        path: "wit/1.1.0",
        world: "encoder-plugin",
        pub_export_macro: true,
        export_macro_name: "export_encoder_world",
    });
}

mod adapter;
mod codelists;
mod generator;
mod reader;
mod transform;
pub use adapter::{AdapterExport, adapter_world};
pub use codelists::{CodelistsExport, codelists_world};
pub use generator::{GeneratorExport, generator_world};
pub use reader::{ReaderExport, Reading, reader_world};
pub use transform::{TransformExport, Transforming, transform_world};

/// The type that [`crate::export_encoder!`] exports.
#[doc(hidden)]
#[derive(Debug)]
pub struct EncoderExport<E>(PhantomData<E>);

/// One response: the encoder and what it needs to see batches.
#[doc(hidden)]
pub struct Encoding<E>(RefCell<ResponseState<E>>);

#[doc(hidden)]
pub struct ResponseState<E> {
    encoder: E,
    decoder: Decoder,
    guess: BufferEstimate,
    views: Vec<View>,
}

impl<E: Encoder> wit::Guest for EncoderExport<E> {
    type Encoding = Encoding<E>;

    fn describe() -> wit::Description {
        install_log(write_log);
        let description = E::describe();
        wit::Description {
            format: description.format.into(),
            version: description.version.into(),
            media_type: description.media_type.into(),
            extension: description.extension.into(),
            separator: description.separator.map(<[u8]>::to_vec),
            part_rows: description.part_rows,
            dictionaries: description.dictionaries,
            compressible: description.compressible,
            parameters: description.parameters.into_iter().map(parameter).collect(),
            docs: description.docs.into(),
        }
    }
}

impl<E: Encoder> wit::GuestEncoding for Encoding<E> {
    fn open(
        schema: wit::Schema,
        chosen: Vec<types::OptionValue>,
    ) -> Result<wit::Encoding, types::Error> {
        install_log(write_log);
        let schema = codelists::schema_with_codes(schema).map_err(wit_error)?;
        let encoder = E::open(schema.clone(), &options(chosen)).map_err(wit_error)?;
        let views = encoder.views();
        let decoder = Decoder::new(schema, &views);
        Ok(wit::Encoding::new(Self(RefCell::new(ResponseState {
            encoder,
            decoder,
            guess: BufferEstimate::default(),
            views,
        }))))
    }

    fn views(&self) -> Vec<wit::View> {
        self.0.borrow().views.iter().map(wit_view).collect()
    }

    fn head(&self) -> Result<Vec<u8>, types::Error> {
        let mut out = Vec::new();
        self.0.borrow_mut().encoder.head(&mut out).map_err(wit_error)?;
        Ok(out)
    }

    fn part(&self, rows: wit::Batch) -> Result<wit::Piece, types::Error> {
        let ResponseState { encoder, decoder, guess, .. } = &mut *self.0.borrow_mut();
        let batch = decoder.decode(wire_batch(rows)).map_err(wit_error)?;
        let rows = batch.rows();
        let mut out = Output::from(guess.buffer(rows));
        encoder.part(batch, &mut out).map_err(wit_error)?;
        guess.update(rows, out.len());
        let (bytes, splices) = out.into_parts();
        let splices = splices.into_iter().map(|splice| wit::Splice {
            at: splice.at,
            buffer: splice.buffer,
            offset: splice.offset,
            length: splice.length,
        });
        Ok(wit::Piece { bytes, splices: splices.collect(), note: encoder.note() })
    }

    fn tail(&self, notes: Vec<wit::Noted>) -> Result<Vec<u8>, types::Error> {
        let notes: Vec<Note> = notes
            .into_iter()
            .map(|noted| Note { offset: noted.offset, bytes: noted.note })
            .collect();
        let mut out = Vec::new();
        self.0.borrow_mut().encoder.tail(&notes, &mut out).map_err(wit_error)?;
        Ok(out)
    }
}

fn wire_schema(schema: types::Schema) -> wire::RawSchema {
    let pairs =
        |pairs: Vec<types::Pair>| pairs.into_iter().map(|pair| (pair.key, pair.value)).collect();
    let fields = schema.fields.into_iter().map(|field| wire::RawField {
        name: field.name,
        format: field.format,
        nullable: field.nullable,
        dictionary: field.dictionary,
        children: field.children,
        metadata: pairs(field.metadata),
    });
    wire::RawSchema { fields: fields.collect(), metadata: pairs(schema.metadata) }
}

fn wire_batch(batch: wit::Batch) -> wire::RawBatch {
    let arrays = batch.arrays.into_iter().map(wire_array).collect();
    let buffers = batch.buffers.into_iter().map(|buffer| match buffer {
        wit::Buffer::Bytes(bytes) => wire::RawBuffer::Bytes(bytes),
        wit::Buffer::Held(length) => wire::RawBuffer::Held(length),
    });
    wire::RawBatch { rows: batch.rows, arrays, buffers: buffers.collect() }
}

fn wire_array(array: types::Array) -> wire::RawArray {
    let types::Array { length, null_count, buffers, repeated } = array;
    wire::RawArray { length, null_count, buffers, repeated }
}

fn wit_array(array: wire::RawArray) -> types::Array {
    let wire::RawArray { length, null_count, buffers, repeated } = array;
    types::Array { length, null_count, buffers, repeated }
}

fn wit_view(view: &View) -> wit::View {
    let crossing = match view.crossing {
        Crossing::Whole => wit::Crossing::Whole,
        Crossing::Offsets(HeldText { mean_bytes, all, each }) => {
            wit::Crossing::Offsets(wit::HeldText {
                mean_bytes,
                all: wit_traits(all),
                each: wit_traits(each),
            })
        }
        Crossing::Lengths => wit::Crossing::Lengths,
    };
    wit::View { plain: view.plain, crossing }
}

/// The SDK's bits are those of the interface.
fn wit_traits(traits: Traits) -> wit::Traits {
    const {
        assert!(Traits::ASCII.bits() == wit::Traits::ASCII.bits());
        assert!(Traits::NO_CONTROL.bits() == wit::Traits::NO_CONTROL.bits());
        assert!(Traits::NO_LINE_BREAK.bits() == wit::Traits::NO_LINE_BREAK.bits());
        assert!(Traits::NO_TAB.bits() == wit::Traits::NO_TAB.bits());
        assert!(Traits::NO_QUOTE.bits() == wit::Traits::NO_QUOTE.bits());
        assert!(Traits::NO_APOSTROPHE.bits() == wit::Traits::NO_APOSTROPHE.bits());
        assert!(Traits::NO_BACKSLASH.bits() == wit::Traits::NO_BACKSLASH.bits());
        assert!(Traits::NO_COMMA.bits() == wit::Traits::NO_COMMA.bits());
        assert!(Traits::NO_SEMICOLON.bits() == wit::Traits::NO_SEMICOLON.bits());
        assert!(Traits::NO_VERTICAL_BAR.bits() == wit::Traits::NO_VERTICAL_BAR.bits());
        assert!(Traits::NO_MARKUP.bits() == wit::Traits::NO_MARKUP.bits());
    }
    wit::Traits::from_bits_truncate(traits.bits())
}

fn options(chosen: Vec<types::OptionValue>) -> Options {
    let value = |value| match value {
        types::Value::Text(value) => Value::Text(value),
        types::Value::Integer(value) => Value::Integer(value),
        types::Value::Number(value) => Value::Number(value),
        types::Value::Boolean(value) => Value::Boolean(value),
    };
    Options(chosen.into_iter().map(|option| (option.name, value(option.value))).collect())
}

fn parameter(parameter: Parameter) -> types::Parameter {
    types::Parameter {
        name: parameter.name.into(),
        kind: match parameter.kind {
            Kind::Text => types::ParameterKind::Text,
            Kind::Integer => types::ParameterKind::Integer,
            Kind::Number => types::ParameterKind::Number,
            Kind::Boolean => types::ParameterKind::Boolean,
        },
        default: parameter.default.into(),
        allowed: parameter.allowed.iter().map(|&value| value.into()).collect(),
        docs: parameter.docs.into(),
    }
}

fn wit_error(error: Error) -> types::Error {
    match error {
        Error::UnsupportedSchema(sentence) => types::Error::UnsupportedSchema(sentence),
        Error::InvalidOption(sentence) => types::Error::InvalidOption(sentence),
        Error::Internal(sentence) => types::Error::Internal(sentence),
    }
}

/// Connects the log with an import of the exported world, and sends a panic's message there: the
/// trap that follows carries none.
fn install_log(sink: fn(Level, &str)) {
    if log::SINK.set(sink).is_ok() {
        std::panic::set_hook(Box::new(|panic| log::write(Level::Error, &panic.to_string())));
    }
}

/// The log of the worlds of 1.1.0.
fn write_log(level: Level, message: &str) {
    let level = match level {
        Level::Trace => wit_log::Level::Trace,
        Level::Debug => wit_log::Level::Debug,
        Level::Info => wit_log::Level::Info,
        Level::Warn => wit_log::Level::Warn,
        Level::Error => wit_log::Level::Error,
    };
    wit_log::write(level, message);
}
