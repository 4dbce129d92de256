//! Failure dumps, replayed natively: under a debugger, or in the test that keeps a fault away.
//! Reads what `yearbook plugin check`, `yearbook plugin dev` and servers leave.

use std::fs::File;
use std::path::Path;

use arrow_array::cast::AsArray as _;
use arrow_array::types::Int64Type;
use arrow_array::{Array, RecordBatch};
use arrow_ipc::reader::StreamReader;
use arrow_schema::DataType;
use arrow_schema::ffi::FFI_ArrowSchema;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::Table;
use super::data::Data;
use super::encoding::Instance;
use super::progress::EncodingDriver;
use super::transforming::{TransformedTable, transform_known};
use crate::adapter::{Document, Fact, Framing, Known, Refusal, Reply, Request};
use crate::transform::{Transform, TransformError};
use crate::{Adapter, Encoder, Error, Kind, Note, Options, Parameter, Value};

/// A call that failed, with what it was given.
///
/// ```no_run
/// use yearbook_sdk::testing::{Replay, replay};
///
/// let dump: Replay = replay("3f2a91c0d7e4b855-part-wasm.dump.arrow");
/// ```
pub struct Replay {
    about: About,
    table: Table,
    notes: Vec<Note>,
    adapter: Option<AdapterInput>,
}

/// Result of a call of an adapter.
///
/// ```no_run
#[doc = include_str!("example_adapter.txt")]
/// use yearbook_sdk::testing::{AdapterResult, replay};
///
/// let made = replay("answer.dump.arrow").adapter::<Tables>();
/// assert!(matches!(made, AdapterResult::Reply(_)));
/// ```
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "there is one a test")]
pub enum AdapterResult {
    /// Of `answer`.
    Reply(Reply),
    /// Of `frame`.
    Framing(Framing),
    /// Of `refuse`.
    Refusal(Document),
}

#[derive(Deserialize)]
struct About {
    call: String,
    options: Vec<ChosenOption>,
    #[serde(default)]
    codes: Vec<Option<Vec<String>>>,
    before: Progress,
}

#[derive(Deserialize)]
struct ChosenOption {
    name: String,
    value: serde_json::Value,
}

#[derive(Deserialize)]
struct Progress {
    head: bool,
}

#[derive(Deserialize)]
struct AdapterInput {
    request: Request,
    call: AdapterCall,
}

#[derive(Deserialize)]
enum AdapterCall {
    Answer(Vec<Fact>),
    Frame(Vec<Fact>, Box<Known>),
    Refuse(Refusal),
}

/// Reads a dump.
///
/// ```no_run
#[doc = include_str!("example_encoder.txt")]
/// use yearbook_sdk::testing;
///
/// let dump = testing::replay("target/dumps/3f2a91c0d7e4b855-part-wasm.dump.arrow");
/// assert_eq!(dump.encoder::<Lines>()?, b"north\n");
/// # Ok::<(), yearbook_sdk::Error>(())
/// ```
///
/// # Panics
/// Panics where the file is no dump, or one of a version that this SDK does not know.
#[must_use]
pub fn replay(dump: impl AsRef<Path>) -> Replay {
    let path = dump.as_ref();
    let open = || -> Result<Replay, Box<dyn std::error::Error>> {
        let mut reader = StreamReader::try_new_buffered(File::open(path)?, None)?;
        let schema = reader.schema();
        let batch = reader.next().transpose()?.unwrap_or(RecordBatch::new_empty(schema.clone()));
        let about = |key: &str| schema.metadata().get(key).map(String::as_str);
        let notes: Vec<(u64, String)> = json(about("yearbook.dump.notes").unwrap_or("[]"))?;
        let note = |(offset, text): (u64, String)| {
            Ok::<_, base64::DecodeError>(Note { offset, bytes: STANDARD.decode(text)? })
        };
        Ok(Replay {
            about: json(about("yearbook.dump").ok_or("it is no dump")?)?,
            table: table(&batch)?,
            notes: notes.into_iter().map(note).collect::<Result<_, _>>()?,
            adapter: about("yearbook.dump.adapter").map(json).transpose()?,
        })
    };
    open().unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn json<T: DeserializeOwned>(text: &str) -> serde_json::Result<T> {
    serde_json::from_str(text)
}

impl Replay {
    /// Makes the call of an encoder, with those that it needs before; its bytes.
    ///
    /// ```no_run
    #[doc = include_str!("example_encoder.txt")]
    /// use yearbook_sdk::testing;
    ///
    /// let bytes = testing::replay("part.dump.arrow").encoder::<Lines>()?;
    /// # Ok::<(), yearbook_sdk::Error>(())
    /// ```
    ///
    /// # Errors
    /// The error with which the encoder declines.
    pub fn encoder<E: Encoder>(&self) -> Result<Vec<u8>, Error> {
        let options = self.options(&E::describe().parameters);
        let mut instance = Instance::<E>::open(&self.table, &options)?;
        let mut progress = EncodingDriver::<E>::default();
        let call = self.about.call.as_str();
        if self.about.before.head && call != "head" {
            progress.head(&mut instance.encoder)?;
        }
        let part = |instance: &mut Instance<E>, progress: &mut EncodingDriver<E>| {
            let batch = instance.batch(&self.table, 0..self.table.rows(), false)?;
            progress.part(&mut instance.encoder, batch)
        };
        match call {
            "head" => progress.head(&mut instance.encoder),
            "part" => part(&mut instance, &mut progress),
            "tail" => {
                if self.table.rows() > 0 {
                    part(&mut instance, &mut progress)?;
                }
                progress.notes.clone_from(&self.notes);
                progress.tail(&mut instance.encoder)
            }
            _ => Ok(Vec::new()),
        }
    }

    /// Gives a transform the rows of its call: all that it makes of them.
    ///
    /// ```no_run
    #[doc = include_str!("example_transform.txt")]
    /// use yearbook_sdk::testing;
    ///
    /// let doubled = testing::replay("push.dump.arrow").transform::<Double>()?;
    /// # Ok::<(), TransformError>(())
    /// ```
    ///
    /// # Errors
    /// The error with which the transform declines.
    ///
    /// # Panics
    /// Panics when the transform breaks a rule of the interface, which the host would refuse.
    pub fn transform<T: Transform>(&self) -> Result<TransformedTable, TransformError> {
        let options = self.options(&T::describe().parameters);
        transform_known::<T>(&self.table, &options, &self.about.codes)
    }

    /// Makes the call of an adapter.
    ///
    /// ```no_run
    #[doc = include_str!("example_adapter.txt")]
    /// use yearbook_sdk::testing;
    ///
    /// let made = testing::replay("answer.dump.arrow").adapter::<Tables>();
    /// ```
    ///
    /// # Panics
    /// Panics where the dump is of a plugin of another kind.
    #[must_use]
    pub fn adapter<A: Adapter>(&self) -> AdapterResult {
        let Some(AdapterInput { request, call }) = &self.adapter else {
            panic!("the dump is not of an adapter");
        };
        match call {
            AdapterCall::Answer(facts) => {
                AdapterResult::Reply(super::adapting::call::<A>(request, facts.clone()))
            }
            AdapterCall::Frame(facts, known) => {
                AdapterResult::Framing(A::frame(request, facts, known))
            }
            AdapterCall::Refuse(refusal) => AdapterResult::Refusal(A::refuse(request, refusal)),
        }
    }

    /// Every declared option: as in the dump, or its default.
    fn options(&self, declared: &[Parameter]) -> Options {
        let chosen = self.about.options.iter().filter_map(|option| {
            let parameter = declared.iter().find(|parameter| parameter.name == option.name)?;
            Some((parameter.name, value(parameter.kind, &option.value)?))
        });
        super::complete(declared, &chosen.collect::<Vec<_>>())
    }
}

fn value(kind: Kind, value: &serde_json::Value) -> Option<Value> {
    match kind {
        Kind::Text => value.as_str().map(|text| Value::Text(text.to_owned())),
        Kind::Integer => value.as_i64().map(Value::Integer),
        Kind::Number => value.as_f64().map(Value::Number),
        Kind::Boolean => value.as_bool().map(Value::Boolean),
    }
}

fn table(batch: &RecordBatch) -> Result<Table, String> {
    let schema = batch.schema();
    let mut table = Table::new();
    for (field, column) in schema.fields().iter().zip(batch.columns()) {
        table = table.with(field.name(), data(column)?);
        for (key, value) in field.metadata() {
            table = if key == "yearbook.codes" {
                let codes: Vec<String> = json(value).map_err(|error| error.to_string())?;
                table.known(field.name(), &codes)
            } else {
                table.about(field.name(), key, value)
            };
        }
    }
    let own = schema.metadata().iter().filter(|(key, _)| !key.starts_with("yearbook.dump"));
    Ok(own.fold(table, |table, (key, value)| table.metadata(key, value)))
}

fn data(column: &dyn Array) -> Result<Data, String> {
    let valid = || (0..column.len()).map(|row| column.is_valid(row));
    let unknown = || format!("no column of the type {} is replayed", column.data_type());
    Ok(match column.data_type() {
        DataType::Null => Data::Null(column.len()),
        DataType::Boolean => Data::Boolean(column.as_boolean().iter().collect()),
        DataType::Utf8 => variable("u", column.as_string::<i32>().iter()),
        DataType::LargeUtf8 => variable("U", column.as_string::<i64>().iter()),
        DataType::Binary => variable("z", column.as_binary::<i32>().iter()),
        DataType::LargeBinary => variable("Z", column.as_binary::<i64>().iter()),
        DataType::Dictionary(..) => {
            let dictionary = column.as_any_dictionary();
            let Data::Variable { cells: values, .. } = data(dictionary.values())? else {
                return Err(unknown());
            };
            // Without values no key has a place among them.
            let places = if values.is_empty() {
                vec![0; column.len()]
            } else {
                dictionary.normalized_keys()
            };
            let key =
                |(key, valid): (usize, bool)| valid.then(|| i32::try_from(key).ok()).flatten();
            Data::Dictionary { keys: places.into_iter().zip(valid()).map(key).collect(), values }
        }
        DataType::List(item) if *item.data_type() == DataType::Int64 => {
            let list = |list: Option<arrow_array::ArrayRef>| {
                list.map(|list| list.as_primitive::<Int64Type>().values().to_vec())
            };
            Data::List(column.as_list::<i32>().iter().map(list).collect())
        }
        DataType::Struct(fields) => {
            let columns = fields.iter().zip(column.as_struct().columns());
            let fields = columns.map(|(field, column)| Ok((field.name().clone(), data(column)?)));
            let fields = fields.collect::<Result<_, String>>()?;
            Data::Struct { fields, valid: valid().collect() }
        }
        fixed => {
            let width = fixed.primitive_width().ok_or_else(unknown)?;
            let format = FFI_ArrowSchema::try_from(fixed).map_err(|error| error.to_string())?;
            let values = column.to_data();
            let bytes = values.buffers()[0].chunks(width).skip(values.offset()).zip(valid());
            let cells = bytes.map(|(cell, valid)| valid.then(|| cell.to_vec())).collect();
            Data::Fixed { format: format.format().to_owned(), width, cells }
        }
    })
}

fn variable<'a, T: AsRef<[u8]> + ?Sized + 'a>(
    format: &'static str,
    cells: impl Iterator<Item = Option<&'a T>>,
) -> Data {
    let cells = cells.map(|cell| cell.map(|cell| cell.as_ref().to_vec())).collect();
    Data::Variable { format, cells }
}
